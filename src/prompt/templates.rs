//! Prompt templates: for each method, the list of segments in its prompts; for each environment, the texts and examples
//! about it.
//!
//! The catalog lists the built-in files, which lie beside their method or environment; `--prompts DIR` replaces any of
//! them by name (`docs/PROMPTS.md`).

mod condition;
mod env_texts;
mod parse;
mod run_hash;
mod upstream_files;

use super::interface::OtherWording;
use super::{action_forms, forms, text_hash};
use crate::domain::{
    EpisodeRole, MessageRole, Question, ReflectionKind, RunSpec, Scope, SegmentLabel, SettingSpec, Task,
    TypedSetting,
};
use condition::Condition;
pub(super) use env_texts::EnvTexts;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
pub use upstream_files::PublicFiles;

/// The template files of a program.
#[derive(Clone, Debug, Default)]
pub struct TemplateFiles {
    /// Names and texts; a file that a template names must be among them.
    pub files: Vec<(&'static str, &'static str)>,
    /// The method whose layout methods without their own use.
    pub default_method: &'static str,
    /// The method whose layouts the prompts of calibration episodes use, whichever method is tested.
    pub calibration_method: &'static str,
    /// The methods that use their own layouts for calibration episodes instead.
    pub own_calibration: Vec<&'static str>,
    /// The names of all methods, environments and settings, which files may refer to.
    pub methods: Vec<&'static str>,
    pub environments: Vec<&'static str>,
    pub settings: Vec<SettingSpec>,
    /// The recorded options of environments that have a list of words, by name; texts of environments may depend on them.
    pub options: Vec<(&'static str, &'static [&'static str])>,
    /// The other wordings of environments that have one, by their names.
    pub other_wordings: Vec<(&'static str, OtherWording)>,
    /// The environment about which there are files of public code, with these; they replace its examples if a person adds them.
    pub public_files: Option<(&'static str, PublicFiles)>,
}

/// The texts for environments that have none of their own.
pub const GENERAL_TEXTS: (&str, &str) = ("any.toml", include_str!("templates/any.toml"));

/// All templates of a run.
#[derive(Clone, Debug, Default)]
pub struct Templates {
    default_method: &'static str,
    calibration_method: &'static str,
    own_calibration: Vec<&'static str>,
    layouts: BTreeMap<String, Layout>,
    env_texts: Vec<EnvTexts>,
    /// SHA-256 of all files, in hexadecimal.
    hash: String,
}

/// A template that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {reason}")]
pub struct TemplateError {
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// What is wrong, and what to write instead if that is known.
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
    /// [`text_hash`] of the file.
    pub(super) source_hash: String,
}

impl Layout {
    fn has_lessons(&self, kind: ReflectionKind) -> bool {
        self.segments.iter().any(|part| match &part.content {
            Content::Lessons(filter) => filter.kinds_under(part.label).contains(&kind),
            _ => false,
        })
    }
}

/// One segment entry of a layout.
#[derive(Clone, Debug)]
pub(super) struct SegmentTemplate {
    pub(super) label: SegmentLabel,
    pub(super) message_role: MessageRole,
    pub(super) content: Content,
    pub(super) condition: Option<Condition>,
}

/// What an entry contributes to the prompt.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// A text given in the template.
    Text(StoredText),
    /// A text from the environment's file, by name.
    EnvText(String),
    /// A fact about the task or the run, with surrounding text.
    Fact(Fact, String),
    /// The active lessons under the entry's label; the heading appears only if there are any.
    Lessons(LessonFilter),
    /// The last attempt at the task that was not won.
    LastAttempt(Option<StoredText>),
    /// The newest successful attempts that are kept, oldest first, each with a heading. With the open or last episode, if
    /// that was won, there are at most as many as the named setting says.
    RecentSuccesses(Option<StoredText>, TypedSetting<u64>),
    /// Solved episodes from the environment's file. If a setting is named, the kept successes that are most similar to the
    /// task come first, up to its value, and take the places of as many examples.
    Examples(Option<StoredText>, Option<TypedSetting<u64>>),
    /// The first observation and the goal.
    Task(Option<StoredText>),
    /// The answered steps.
    Steps,
    /// Why proposals in the open step were rejected.
    Rejections(Option<StoredText>),
}

/// Which lessons an entry shows.
#[derive(Clone, Debug, Default)]
pub(super) struct LessonFilter {
    pub(super) heading: Option<StoredText>,
    /// Kinds to show; if empty, the kinds of the label.
    pub(super) kinds: Vec<ReflectionKind>,
    /// How many lessons of each kind are shown at most, newest kept; `None` shows all.
    pub(super) max_count: Option<MaxCount>,
    /// If set, only lessons of this scope.
    pub(super) scope: Option<Scope>,
    /// Only lessons learned in the current episode.
    pub(super) this_episode_only: bool,
    /// A text before each lesson, or before each group of them, in which `{}` stands for its number.
    pub(super) number_text: Option<String>,
    /// The number of the first one.
    pub(super) first_number: usize,
    /// A text before each lesson of a kind.
    pub(super) labels: BTreeMap<ReflectionKind, StoredText>,
    /// Groups lessons by the episode they were learned in; `max_count` then counts episodes.
    pub(super) grouped_by_episode: bool,
}

impl LessonFilter {
    /// Returns the kinds that an entry with this label shows.
    pub(super) fn kinds_under(&self, label: SegmentLabel) -> Vec<ReflectionKind> {
        if self.kinds.is_empty() { kinds_for_label(label) } else { self.kinds.clone() }
    }
}

/// A limit of lessons in a template: a number, or that of a setting.
#[derive(Clone, Copy, Debug)]
pub(super) enum MaxCount {
    Number(u32),
    Setting(TypedSetting<u64>),
}

/// A fact about the task or the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    TaskType,
    /// Trial number, from 1.
    Trial,
    /// Reward of the last step.
    Reward,
    /// Reward of the episode so far, plus that of earlier episodes if the method carries it over.
    TotalReward,
    /// How much the last step raised the progress rate.
    ProgressGain,
    /// As [`Self::TotalReward`], where the reward is how much the progress rate rose.
    TotalProgressGain,
    /// The action of the open step that the actor is asked to fit to the present state.
    Draft,
    /// How many plans the actor has been asked for in the episode, this one included.
    Screen,
}

impl Templates {
    /// Parses template files; those of `overrides`, as (file name, text), replace files of the same name.
    ///
    /// # Errors
    /// Returns a [`TemplateError`] for the first file whose name is unknown or whose text cannot be parsed.
    pub fn parse(program: &TemplateFiles, overrides: Vec<(String, String)>) -> Result<Self, TemplateError> {
        let mut files: BTreeMap<String, String> =
            program.files.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
        let public_names = program.public_files.iter().flat_map(|(_, public)| public.names());
        let known: Vec<&str> = program.files.iter().map(|(n, _)| *n).chain(public_names).collect();
        for (name, text) in overrides {
            if !known.contains(&name.as_str()) {
                let reason = format!("unknown template; expected one of {}", known.join(", "));
                return Err(TemplateError { file: name, line: 1, reason });
            }
            files.insert(name, text);
        }
        let mut hash = Sha256::new();
        for (name, text) in &files {
            add_part(&mut hash, name);
            add_part(&mut hash, text);
        }
        let (layouts, mut env_texts) = parse::parse_all(&files, program)?;
        if let Some((env, public)) = &program.public_files {
            upstream_files::add_upstream_texts(&files, env, public, &mut env_texts)?;
        }
        let hash = crate::domain::hex(&hash.finalize());
        let TemplateFiles { default_method, calibration_method, .. } = *program;
        let own_calibration = program.own_calibration.clone();
        Ok(Self { default_method, calibration_method, own_calibration, layouts, env_texts, hash })
    }

    /// Replaces the exemplars of neuro-symbolic generation: `lines` maps a kind of reflection to the lines shown in the
    /// mentor's prompt, for every environment.
    #[must_use]
    pub fn with_exemplars(mut self, lines: Vec<(ReflectionKind, String)>) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.hash.as_bytes());
        for (kind, lines) in lines {
            let name = exemplars_name(kind);
            let text = format!("{EXEMPLARS_HEADING}{lines}");
            add_part(&mut hash, &name);
            add_part(&mut hash, &text);
            let text = StoredText::new(&text);
            for env_texts in &mut self.env_texts {
                // Those of single task types would win over it.
                env_texts.texts.retain(|known, _| known.split('.').next() != Some(&name));
                env_texts.texts.insert(name.clone(), text.clone());
                for variant in &mut env_texts.variants {
                    variant.texts.retain(|known, _| known.split('.').next() != Some(&name));
                }
            }
        }
        self.hash = crate::domain::hex(&hash.finalize());
        self
    }

    /// Returns whether a task's environment has examples of reflections that rules wrote.
    pub fn has_exemplars(&self, task: &Task, kind: ReflectionKind) -> bool {
        let text = self.env_texts(&task.env).text(&exemplars_name(kind), task, None);
        text.is_some_and(|stored| !stored.text.trim().is_empty())
    }

    /// Returns the method whose layouts an episode uses, in a run of this method.
    pub(super) fn layout_method<'a>(&self, method: &'a str, role: EpisodeRole) -> &'a str {
        let is_own = !role.is_calibration() || self.own_calibration.contains(&method);
        if is_own { method } else { self.calibration_method }
    }

    /// Returns the layout of a method; methods without their own use the default method's.
    pub(super) fn layout(&self, method: &str) -> &Layout {
        static NONE: Layout = Layout { segments: Vec::new(), source_hash: String::new() };
        self.layouts.get(method).or_else(|| self.layouts.get(self.default_method)).unwrap_or(&NONE)
    }

    /// Returns the layout of a mentor question, or `None` if the method never asks it.
    pub(super) fn question_layout(&self, method: &str, question: Question) -> Option<&Layout> {
        self.layouts.get(&question_key(method, &question.template_name()))
    }

    /// Returns whether a method has a template for a question to its mentor. Without one, its prompt would be empty.
    pub fn has_question(&self, method: &str, question: Question) -> bool {
        self.question_layout(method, question).is_some_and(|layout| !layout.segments.is_empty())
    }

    /// Returns whether the prompts of a method's actor have a segment for lessons of a kind.
    pub fn has_lessons_for_actor(&self, method: &str, kind: ReflectionKind) -> bool {
        self.layout(method).has_lessons(kind)
    }

    /// Returns whether a question of a method to its mentor has a segment for lessons of a kind.
    pub fn has_lessons_for_mentor(&self, method: &str, kind: ReflectionKind) -> bool {
        let prefix = question_key(method, "");
        self.layouts.iter().any(|(key, layout)| key.starts_with(&prefix) && layout.has_lessons(kind))
    }

    /// Returns whether an action has one of the forms that the instruction for a task lists in a run; also if it lists none.
    pub fn has_known_form(&self, run: Option<&RunSpec>, task: &Task, action: &str) -> bool {
        let texts = self.env_texts(&task.env);
        let names = ["instruction", "agentboard"];
        let instruction = names.into_iter().filter_map(|name| texts.text(name, task, run));
        let instruction: String = instruction.map(|text| &*text.text).collect();
        action_forms::accept(&instruction, action)
    }

    /// Returns the texts of an environment, or the general ones if it has none.
    pub(super) fn env_texts(&self, env: &str) -> &EnvTexts {
        static NONE: EnvTexts = EnvTexts::EMPTY;
        let named = self.env_texts.iter().find(|w| w.envs.iter().any(|e| e == env));
        named.or_else(|| self.env_texts.iter().find(|w| w.envs.is_empty())).unwrap_or(&NONE)
    }
}

/// Adds a text to a hash, with its length, so that two texts are never the same as their concatenation.
fn add_part(hash: &mut Sha256, part: &str) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part.as_bytes());
}

/// The heading above the exemplars of a person's file; those of the environments have the same.
const EXEMPLARS_HEADING: &str =
    "\nReflections of this kind that rules wrote about other tasks; follow their style:\n";

/// Returns the name under which an environment stores its exemplars for a kind of reflection.
fn exemplars_name(kind: ReflectionKind) -> String {
    format!("exemplars_{}", kind.name().to_lowercase())
}

/// Returns the kinds of lessons shown under a label whose segment names none.
fn kinds_for_label(label: SegmentLabel) -> Vec<ReflectionKind> {
    ReflectionKind::ALL.into_iter().filter(|kind| label_of_kind(*kind) == Some(label)).collect()
}

/// Returns the label under which lessons of a kind are shown; `None` if only a segment that names the kind shows them.
fn label_of_kind(kind: ReflectionKind) -> Option<SegmentLabel> {
    match kind {
        ReflectionKind::Abstract => Some(SegmentLabel::Abstract),
        ReflectionKind::Error => Some(SegmentLabel::Error),
        ReflectionKind::Progress => Some(SegmentLabel::Progress),
        ReflectionKind::Plan
        | ReflectionKind::Experience
        | ReflectionKind::Lesson
        | ReflectionKind::Positive
        | ReflectionKind::Negative
        | ReflectionKind::Advice => Some(SegmentLabel::Memory),
        ReflectionKind::Instruction => None,
    }
}

/// Returns the key of a mentor question's layout among the layouts.
fn question_key(method: &str, question: &str) -> String {
    format!("{method} {question}")
}

impl StoredText {
    pub(super) fn new(text: &str) -> Self {
        Self { hash: text_hash(text).into(), text: Arc::from(text), tokens: forms::estimate_tokens(text) }
    }
}
