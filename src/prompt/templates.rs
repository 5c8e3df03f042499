//! The templates: for each method the list of segments of its prompts, for each world the texts they speak of it.
//!
//! All are files beside this one, parsed once; `--prompts DIR` replaces any of them by name (`docs/PROMPTS.md`).

mod env_texts;
mod parse;
mod upstream_files;

use super::{forms, text_hash};
use crate::domain::{EpisodeRole, MessageRole, Question, ReflectionKind, Scope, SegmentLabel};
use crate::engine::State;
pub(super) use env_texts::{EnvTexts, Wording};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Every built-in file by name.
const BUILTIN: &[(&str, &str)] = &[
    ("react.toml", include_str!("templates/react.toml")),
    ("omnireflect.toml", include_str!("templates/omnireflect.toml")),
    ("omnireflect-abstract.toml", include_str!("templates/omnireflect-abstract.toml")),
    ("omnireflect-error.toml", include_str!("templates/omnireflect-error.toml")),
    ("omnireflect-progress.toml", include_str!("templates/omnireflect-progress.toml")),
    ("omnireflect-summary-abstract.toml", include_str!("templates/omnireflect-summary-abstract.toml")),
    ("omnireflect-summary-error.toml", include_str!("templates/omnireflect-summary-error.toml")),
    ("reflexion.toml", include_str!("templates/reflexion.toml")),
    ("reflexion-plan.toml", include_str!("templates/reflexion-plan.toml")),
    ("fcrf.toml", include_str!("templates/fcrf.toml")),
    ("fcrf-experience.toml", include_str!("templates/fcrf-experience.toml")),
    ("fcrf-plan.toml", include_str!("templates/fcrf-plan.toml")),
    ("fcrf-tip.toml", include_str!("templates/fcrf-tip.toml")),
    ("fcrf-build.toml", include_str!("templates/fcrf-build.toml")),
    ("fcrf-contrast.toml", include_str!("templates/fcrf-contrast.toml")),
    ("fcrf-summary.toml", include_str!("templates/fcrf-summary.toml")),
    ("sweet_sour.toml", include_str!("templates/sweet_sour.toml")),
    ("sweet_sour-positive.toml", include_str!("templates/sweet_sour-positive.toml")),
    ("sweet_sour-negative.toml", include_str!("templates/sweet_sour-negative.toml")),
    ("planning-plan.toml", include_str!("templates/planning-plan.toml")),
    ("household.toml", include_str!("templates/household.toml")),
    ("babyai.toml", include_str!("templates/babyai.toml")),
    ("pddl.toml", include_str!("templates/pddl.toml")),
    ("any.toml", include_str!("templates/any.toml")),
    ("put.txt", include_str!("examples/put.txt")),
    ("clean.txt", include_str!("examples/clean.txt")),
    ("heat.txt", include_str!("examples/heat.txt")),
    ("cool.txt", include_str!("examples/cool.txt")),
    ("examine.txt", include_str!("examples/examine.txt")),
    ("puttwo.txt", include_str!("examples/puttwo.txt")),
    ("door.txt", include_str!("examples/door.txt")),
    ("key.txt", include_str!("examples/key.txt")),
    ("gripper-1.txt", include_str!("examples/gripper-1.txt")),
    ("gripper-2.txt", include_str!("examples/gripper-2.txt")),
    ("blockworld-1.txt", include_str!("examples/blockworld-1.txt")),
    ("blockworld-2.txt", include_str!("examples/blockworld-2.txt")),
    ("barman-1.txt", include_str!("examples/barman-1.txt")),
    ("barman-2.txt", include_str!("examples/barman-2.txt")),
    ("tyreworld-1.txt", include_str!("examples/tyreworld-1.txt")),
    ("tyreworld-2.txt", include_str!("examples/tyreworld-2.txt")),
];

/// All templates of a run.
#[derive(Clone, Debug)]
pub struct Templates {
    layouts: BTreeMap<String, Layout>,
    env_texts: Vec<EnvTexts>,
    hash: String,
}

/// A template that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {reason}")]
pub struct TemplateError {
    /// The file's name.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong, and what to write instead where that is known.
    pub reason: String,
}

/// A text with the hash under which sessions store it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredText {
    pub(super) hash: Arc<str>,
    pub(super) text: Arc<str>,
    pub(super) tokens: u32,
}

/// The segments of a method's prompts, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) segments: Vec<SegmentTemplate>,
}

/// One entry of a layout.
#[derive(Clone, Debug)]
pub(super) struct SegmentTemplate {
    pub(super) label: SegmentLabel,
    pub(super) speaker: MessageRole,
    pub(super) content: Content,
    pub(super) condition: Option<Condition>,
}

/// What an entry contributes.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// A text of the template.
    Text(StoredText),
    /// A text of the world's file, by name.
    EnvText(String),
    /// Something that is known of the task or the run, with words around it.
    Fact(Fact, String),
    /// The lessons in force under the entry's label; the heading stands only where there are any.
    Lessons(LessonFilter),
    /// The last attempt at the task that was not won.
    LastAttempt(Option<StoredText>),
    /// Solved episodes of the world's file.
    Examples(Option<StoredText>),
    /// The first observation and the goal.
    Task(Option<StoredText>),
    /// The settled steps.
    Steps,
    /// Why proposals of the open step were refused.
    Rejections(Option<StoredText>),
}

/// Which lessons an entry shows.
#[derive(Clone, Debug, Default)]
pub(super) struct LessonFilter {
    pub(super) heading: Option<StoredText>,
    /// Kinds; none: those of the label.
    pub(super) kinds: Vec<ReflectionKind>,
    /// The setting that says how many of the newest are shown; none: all.
    pub(super) count_setting: Option<String>,
    /// Only those of this reach.
    pub(super) scope: Option<Scope>,
    /// Only those that were learnt in this episode.
    pub(super) this_episode_only: bool,
    /// What was learnt in one episode stands together, and `last` counts episodes.
    pub(super) grouped_by_episode: bool,
    /// Each has its number before it, from 1, so that an answer can name one.
    pub(super) numbered: bool,
}

/// Something that is known of the task or the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// The type of the task.
    TaskType,
    /// The trial, counted from 1.
    Trial,
    /// The reward of the last turn.
    Reward,
    /// The reward of the episode so far, with that of those before it where the method carries it over.
    TotalReward,
}

/// A condition on a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    setting: String,
    value: String,
}

impl Templates {
    /// The templates of this program.
    pub fn builtin() -> Self {
        let files = BUILTIN.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
        // A test parses every built-in file, so the other side is never taken.
        Self::parse(&files).unwrap_or_else(|_| Self {
            layouts: BTreeMap::new(),
            env_texts: Vec::new(),
            hash: String::new(),
        })
    }

    /// The templates of this program with some files replaced, (file name, text) each.
    ///
    /// # Errors
    /// [`TemplateError`] for the first file that has a name nobody reads, or that cannot be parsed.
    pub fn with_overrides(overrides: Vec<(String, String)>) -> Result<Self, TemplateError> {
        let mut files: BTreeMap<String, String> =
            BUILTIN.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
        for (name, text) in overrides {
            if !files.contains_key(&name) && !upstream_files::FILE_NAMES.contains(&name.as_str()) {
                let known: Vec<&str> = BUILTIN
                    .iter()
                    .map(|(n, _)| *n)
                    .chain(upstream_files::FILE_NAMES.iter().copied())
                    .collect();
                let reason = format!("no template has this name; there are {}", known.join(", "));
                return Err(TemplateError { file: name, line: 1, reason });
            }
            files.insert(name, text);
        }
        Self::parse(&files)
    }

    /// These templates with other exemplars for neuro-symbolic generation: for a kind of reflection the lines that stand in
    /// the mentor's prompt, in every world.
    #[must_use]
    pub fn with_exemplars(mut self, lines: Vec<(ReflectionKind, String)>) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.hash.as_bytes());
        for (kind, lines) in lines {
            let name = exemplars_name(kind);
            let text = format!("{EXEMPLARS_HEADING}{lines}");
            for part in [name.as_str(), &text] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part.as_bytes());
            }
            let text = StoredText::new(&text);
            for world in &mut self.env_texts {
                world.texts.insert(name.clone(), text.clone());
            }
        }
        self.hash = crate::domain::hex(&hash.finalize());
        self
    }

    /// Names and texts of the built-in files, for `config init` and the documents.
    pub fn files() -> &'static [(&'static str, &'static str)] {
        BUILTIN
    }

    /// SHA-256 of all files in force, in hexadecimal.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    fn parse(files: &BTreeMap<String, String>) -> Result<Self, TemplateError> {
        let mut hash = Sha256::new();
        for (name, text) in files {
            for part in [name, text] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part.as_bytes());
            }
        }
        let (layouts, mut worlds) = parse::parse_all(files)?;
        upstream_files::add_upstream_texts(files, &mut worlds)?;
        Ok(Self { layouts, env_texts: worlds, hash: crate::domain::hex(&hash.finalize()) })
    }

    /// The layout of a method; methods without one of their own use ReAct's.
    pub(super) fn layout(&self, method: &str) -> &Layout {
        static NONE: Layout = Layout { segments: Vec::new() };
        self.layouts.get(method).or_else(|| self.layouts.get("react")).unwrap_or(&NONE)
    }

    /// The layout of a question to the mentor; none where the method never asks it.
    pub(super) fn question_layout(&self, method: &str, question: Question) -> Option<&Layout> {
        self.layouts.get(&question_key(method, &question_name(question)))
    }

    /// The texts of an environment; those that have none get the general ones.
    pub(super) fn env_texts(&self, env: &str) -> &EnvTexts {
        static NONE: EnvTexts = EnvTexts::EMPTY;
        let named = self.env_texts.iter().find(|w| w.envs.iter().any(|e| e == env));
        named.or_else(|| self.env_texts.iter().find(|w| w.envs.is_empty())).unwrap_or(&NONE)
    }
}

/// What stands before exemplars.
const EXEMPLARS_HEADING: &str =
    "\nReflections of this kind that rules wrote about other tasks; write in their manner:\n";

/// The name of a world's exemplars for a kind of reflection.
fn exemplars_name(kind: ReflectionKind) -> String {
    format!("exemplars_{}", kind.name().to_lowercase())
}

/// The name of a question in templates: `reflect.error`, `summarise.abstract`.
fn question_name(question: Question) -> String {
    format!("{}.{}", question.purpose.name(), question.kind.name().to_lowercase())
}

/// Where the layout of a question stands among the layouts.
fn question_key(method: &str, question: &str) -> String {
    format!("{method} {question}")
}

impl StoredText {
    pub(super) fn new(text: &str) -> Self {
        Self { hash: text_hash(text).into(), text: Arc::from(text), tokens: forms::estimate_tokens(text) }
    }
}

impl Condition {
    /// Whether it holds: `method`, `interface` and `mentor` are the run's, `outcome` is the episode's (open, won or failed),
    /// and so is `role` (test, calibrate or explore); every other name is a setting's.
    pub(super) fn is_met(&self, state: &State) -> bool {
        let Some(run) = state.run.as_deref() else { return false };
        match self.setting.as_str() {
            "method" => run.method == self.value,
            "interface" => run.interface == self.value,
            "mentor" => run.mentor == self.value,
            "role" => {
                let role = state.episode.as_ref().map(|e| e.role).unwrap_or_default();
                let word = match role {
                    EpisodeRole::Test => "test",
                    EpisodeRole::Calibrate => "calibrate",
                    EpisodeRole::Explore => "explore",
                };
                word == self.value
            }
            "outcome" => {
                let outcome = match state.episode.as_ref().map(|e| &e.outcome) {
                    Some(Some(outcome)) if outcome.won => "won",
                    Some(Some(_)) => "failed",
                    _ => "open",
                };
                outcome == self.value
            }
            name => match run.settings.0.get(name).map(|s| &s.value) {
                Some(serde_json::Value::String(word)) => *word == self.value,
                // As it is written: `true`, `3`.
                Some(other) => {
                    let written = other.to_string();
                    written == self.value
                }
                None => false,
            },
        }
    }
}
