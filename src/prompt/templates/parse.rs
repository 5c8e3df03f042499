//! From template files to layouts and worlds; every error names its file and line.

use super::world::Example;
use super::{Choice, Content, Fact, Layout, Part, StoredText, TemplateError, When, World, question_key};
use crate::domain::{MessageRole, Purpose, ReflectionKind, Scope, SegmentLabel};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLayout {
    method: String,
    #[serde(default)]
    question: Option<Spanned<String>>,
    #[serde(default, rename = "segment")]
    segments: Vec<Spanned<RawPart>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPart {
    label: String,
    #[serde(default)]
    speaker: Option<MessageRole>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    world: Option<String>,
    #[serde(default)]
    heading: Option<String>,
    #[serde(default)]
    fact: Option<String>,
    #[serde(default)]
    kinds: Vec<ReflectionKind>,
    #[serde(default)]
    last: Option<String>,
    #[serde(default)]
    scope: Option<Scope>,
    #[serde(default)]
    here: bool,
    #[serde(default)]
    together: bool,
    #[serde(default)]
    numbered: bool,
    #[serde(default)]
    when: Option<RawWhen>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWhen {
    setting: String,
    is: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWorld {
    envs: Vec<String>,
    #[serde(default)]
    texts: BTreeMap<String, String>,
    #[serde(default, rename = "example")]
    examples: Vec<Spanned<RawExample>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawExample {
    file: String,
    types: Vec<String>,
    #[serde(default)]
    only: bool,
}

type Parsed = (BTreeMap<String, Layout>, Vec<World>);

/// Parses all files; a toml file with a `method` is a layout, one with `envs` a world.
pub(super) fn all(files: &BTreeMap<String, String>) -> Result<Parsed, TemplateError> {
    let (mut layouts, mut worlds) = (BTreeMap::new(), Vec::new());
    for (name, text) in
        files.iter().filter(|(name, _)| name.rsplit_once('.').is_some_and(|(_, end)| end == "toml"))
    {
        let file = File { name, text };
        let table: toml::Table = toml::from_str(text).map_err(|e| file.broken(&e))?;
        if table.contains_key("envs") {
            worlds.push(world(&file, files)?);
        } else {
            let raw: RawLayout = toml::from_str(text).map_err(|e| file.broken(&e))?;
            let parts = raw.segments.into_iter().map(|s| part(&file, s)).collect::<Result<_, _>>()?;
            let key = match raw.question {
                None => raw.method,
                Some(named) => {
                    let at = named.span().start;
                    let named = named.into_inner();
                    if !is_question(&named) {
                        let reason =
                            format!("{named:?} is no question; write PURPOSE.KIND, such as reflect.error");
                        return Err(file.error(at, reason));
                    }
                    question_key(&raw.method, &named)
                }
            };
            layouts.insert(key, Layout { parts });
        }
    }
    Ok((layouts, worlds))
}

/// Whether a name is `PURPOSE.KIND`.
fn is_question(name: &str) -> bool {
    fn known<T: serde::de::DeserializeOwned>(word: &str) -> bool {
        serde_json::from_value::<T>(serde_json::Value::from(word)).is_ok()
    }
    name.split_once('.')
        .is_some_and(|(purpose, kind)| known::<Purpose>(purpose) && known::<ReflectionKind>(kind))
}

fn world(file: &File<'_>, files: &BTreeMap<String, String>) -> Result<World, TemplateError> {
    let raw: RawWorld = toml::from_str(file.text).map_err(|e| file.broken(&e))?;
    let mut examples = Vec::new();
    for example in raw.examples {
        let at = example.span().start;
        let RawExample { file: named, types, only } = example.into_inner();
        let text =
            files.get(&named).ok_or_else(|| file.error(at, format!("there is no example file {named}")))?;
        examples.push(Example::new(types, only, text));
    }
    let texts = raw.texts.iter().map(|(name, text)| (name.clone(), StoredText::new(text))).collect();
    Ok(World { envs: raw.envs, texts, examples })
}

fn part(file: &File<'_>, raw: Spanned<RawPart>) -> Result<Part, TemplateError> {
    let at = raw.span().start;
    let raw = raw.into_inner();
    let heading = raw.heading.as_deref().filter(|h| !h.is_empty()).map(StoredText::new);
    let choice = Choice {
        heading: heading.clone(),
        kinds: raw.kinds,
        last: raw.last,
        scope: raw.scope,
        here: raw.here,
        together: raw.together,
        numbered: raw.numbered,
    };
    let choosy = !choice.kinds.is_empty()
        || choice.last.is_some()
        || choice.scope.is_some()
        || choice.here
        || choice.together
        || choice.numbered;
    let chosen = || Some(Content::Lessons(choice.clone()));
    let (label, listed) = match raw.label.as_str() {
        "instruction" => (SegmentLabel::Instruction, None),
        "guidance" => (SegmentLabel::Guidance, None),
        "cue" => (SegmentLabel::Cue, None),
        "abstract" => (SegmentLabel::Abstract, chosen()),
        "error" => (SegmentLabel::Error, chosen()),
        "progress" => (SegmentLabel::Progress, chosen()),
        "memory" => (SegmentLabel::Memory, chosen()),
        "attempt" => (SegmentLabel::Attempt, Some(Content::Attempt(heading))),
        "example" => (SegmentLabel::Example, Some(Content::Examples(heading))),
        "task" => (SegmentLabel::Task, Some(Content::Task(heading))),
        "steps" => (SegmentLabel::Action, Some(Content::Steps)),
        "rejection" => (SegmentLabel::Rejection, Some(Content::Rejections(heading))),
        other => {
            let known = "instruction, guidance, abstract, error, progress, memory, attempt, example, task, \
                         steps, rejection, cue";
            return Err(file.error(at, format!("there is no segment {other:?}; there are {known}")));
        }
    };
    if choosy && !matches!(listed, Some(Content::Lessons(_))) {
        return Err(file.error(at, format!("segment {:?} shows no lessons to choose from", raw.label)));
    }
    let fact =
        raw.fact.as_deref().map(|name| fact(name).map_err(|reason| file.error(at, reason))).transpose()?;
    let content = match (listed, raw.text, raw.world) {
        (Some(content), None, None) if fact.is_none() => content,
        (None, Some(text), None) if raw.heading.is_none() && fact.is_some() && text.contains("{}") => fact
            .map_or_else(|| Content::Text(StoredText::new(&text)), |fact| Content::Fact(fact, text.clone())),
        (None, Some(_), None) if fact.is_some() => {
            return Err(file.error(at, "a text with a `fact` needs {} where it stands".to_owned()));
        }
        (None, Some(text), None) if raw.heading.is_none() => Content::Text(StoredText::new(&text)),
        (None, None, Some(name)) if raw.heading.is_none() => Content::World(name),
        // A world's own examples for a question, such as failures with the plans written after them.
        (Some(Content::Examples(None)), None, Some(name)) => Content::World(name),
        (Some(_), ..) => {
            return Err(file.error(at, format!("segment {:?} takes a heading, no text", raw.label)));
        }
        (None, ..) => {
            return Err(file.error(at, format!("segment {:?} needs either `text` or `world`", raw.label)));
        }
    };
    let speaker = raw.speaker.unwrap_or(match label {
        SegmentLabel::Instruction | SegmentLabel::Guidance => MessageRole::System,
        _ => MessageRole::User,
    });
    Ok(Part { label, speaker, content, when: raw.when.map(|w| When { setting: w.setting, is: w.is }) })
}

fn fact(name: &str) -> Result<Fact, String> {
    match name {
        "task_type" => Ok(Fact::TaskType),
        "trial" => Ok(Fact::Trial),
        "reward" => Ok(Fact::Reward),
        "total_reward" => Ok(Fact::TotalReward),
        other => Err(format!("there is no fact {other:?}; there are task_type, trial, reward, total_reward")),
    }
}

struct File<'a> {
    name: &'a str,
    text: &'a str,
}

impl File<'_> {
    fn error(&self, at: usize, reason: String) -> TemplateError {
        let line = 1 + self.text.get(..at).unwrap_or_default().matches('\n').count();
        TemplateError { file: self.name.to_owned(), line, reason }
    }

    fn broken(&self, error: &toml::de::Error) -> TemplateError {
        self.error(error.span().map_or(0, |s| s.start), error.message().to_owned())
    }
}
