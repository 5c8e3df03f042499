//! From template files to layouts and worlds; every error names its file and line.

use super::world::Example;
use super::{Content, Layout, Part, StoredText, TemplateError, When, World};
use crate::domain::{Label, Speaker};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLayout {
    method: String,
    #[serde(default, rename = "segment")]
    segments: Vec<Spanned<RawPart>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPart {
    label: String,
    #[serde(default)]
    speaker: Option<Speaker>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    world: Option<String>,
    #[serde(default)]
    heading: Option<String>,
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
            layouts.insert(raw.method, Layout { parts });
        }
    }
    Ok((layouts, worlds))
}

fn world(file: &File<'_>, files: &BTreeMap<String, String>) -> Result<World, TemplateError> {
    let raw: RawWorld = toml::from_str(file.text).map_err(|e| file.broken(&e))?;
    let mut examples = Vec::new();
    for example in raw.examples {
        let at = example.span().start;
        let RawExample { file: named, types } = example.into_inner();
        let text =
            files.get(&named).ok_or_else(|| file.error(at, format!("there is no example file {named}")))?;
        examples.push(Example::new(types, text));
    }
    let texts = raw.texts.iter().map(|(name, text)| (name.clone(), StoredText::new(text))).collect();
    Ok(World { envs: raw.envs, texts, examples })
}

fn part(file: &File<'_>, raw: Spanned<RawPart>) -> Result<Part, TemplateError> {
    let at = raw.span().start;
    let raw = raw.into_inner();
    let heading = raw.heading.as_deref().filter(|h| !h.is_empty()).map(StoredText::new);
    let (label, listed) = match raw.label.as_str() {
        "instruction" => (Label::Instruction, None),
        "guidance" => (Label::Guidance, None),
        "cue" => (Label::Cue, None),
        "abstract" => (Label::Abstract, Some(Content::Lessons(heading))),
        "error" => (Label::Error, Some(Content::Lessons(heading))),
        "progress" => (Label::Progress, Some(Content::Lessons(heading))),
        "memory" => (Label::Memory, Some(Content::Lessons(heading))),
        "example" => (Label::Example, Some(Content::Examples(heading))),
        "task" => (Label::Task, Some(Content::Task(heading))),
        "steps" => (Label::Action, Some(Content::Steps)),
        "rejection" => (Label::Rejection, Some(Content::Rejections(heading))),
        other => {
            let known = "instruction, guidance, abstract, error, progress, memory, example, task, steps, rejection, cue";
            return Err(file.error(at, format!("there is no segment {other:?}; there are {known}")));
        }
    };
    let content = match (listed, raw.text, raw.world) {
        (Some(content), None, None) => content,
        (None, Some(text), None) if raw.heading.is_none() => Content::Text(StoredText::new(&text)),
        (None, None, Some(name)) if raw.heading.is_none() => Content::World(name),
        (Some(_), ..) => {
            return Err(file.error(at, format!("segment {:?} takes a heading, no text", raw.label)));
        }
        (None, ..) => {
            return Err(file.error(at, format!("segment {:?} needs either `text` or `world`", raw.label)));
        }
    };
    let speaker = raw.speaker.unwrap_or(match label {
        Label::Instruction | Label::Guidance => Speaker::System,
        _ => Speaker::User,
    });
    Ok(Part { label, speaker, content, when: raw.when.map(|w| When { setting: w.setting, is: w.is }) })
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
