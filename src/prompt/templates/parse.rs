//! Parses template files into layouts and environment texts. Every error names its file and line.

use super::condition::{Condition, EpisodeOutcome, ReplyRequest, SettingCondition};
use super::env_texts::{Example, TextVariant};
use super::{
    Content, EnvTexts, Fact, Layout, LessonFilter, MaxCount, SegmentTemplate, StoredText, TemplateError,
    TemplateFiles, question_key,
};
use crate::domain::{
    DefaultValue, EpisodeRole, Interface, MessageRole, Purpose, ReflectionKind, Scope, SegmentLabel,
    SettingSpec, TypedSetting,
};
use crate::prompt::interface::OtherWording;
use crate::prompt::text_hash;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLayout {
    method: Spanned<String>,
    /// The mentor question that the layout belongs to, as `PURPOSE.KIND`; `None` for the actor's prompt.
    #[serde(default)]
    question: Option<Spanned<String>>,
    #[serde(default, rename = "segment")]
    segments: Vec<Spanned<RawSegment>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSegment {
    label: String,
    #[serde(default)]
    speaker: Option<MessageRole>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    #[serde(rename = "world")]
    env_text: Option<Spanned<String>>,
    #[serde(default)]
    heading: Option<String>,
    #[serde(default)]
    fact: Option<String>,
    #[serde(default)]
    kinds: Vec<ReflectionKind>,
    #[serde(default)]
    #[serde(rename = "last")]
    max_count: Option<Spanned<RawMaxCount>>,
    #[serde(default)]
    scope: Option<Scope>,
    #[serde(default)]
    #[serde(rename = "here")]
    this_episode_only: bool,
    #[serde(default)]
    #[serde(rename = "together")]
    grouped_by_episode: bool,
    #[serde(default)]
    numbered: RawNumbering,
    #[serde(default)]
    first_number: Option<usize>,
    #[serde(default)]
    recalled: Option<Spanned<String>>,
    #[serde(default)]
    recent: Option<Spanned<String>>,
    #[serde(default)]
    labels: BTreeMap<ReflectionKind, String>,
    #[serde(default)]
    #[serde(rename = "when")]
    condition: Option<RawCondition>,
}

/// `true` for `Lesson {} `, or a text that contains `{}`.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawNumbering {
    Switch(bool),
    Text(String),
}

impl Default for RawNumbering {
    fn default() -> Self {
        Self::Switch(false)
    }
}

/// A number, or the name of a setting.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawMaxCount {
    Number(u32),
    Setting(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCondition {
    setting: Spanned<String>,
    #[serde(default)]
    is: Option<String>,
    #[serde(default)]
    is_not: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOptionCondition {
    setting: Spanned<String>,
    #[serde(rename = "is")]
    value: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEnvTexts {
    envs: Vec<Spanned<String>>,
    #[serde(default)]
    texts: BTreeMap<Spanned<String>, String>,
    #[serde(default, rename = "variant")]
    variants: Vec<RawVariant>,
    #[serde(default, rename = "example")]
    examples: Vec<Spanned<RawExample>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawVariant {
    #[serde(rename = "when")]
    condition: RawOptionCondition,
    texts: BTreeMap<Spanned<String>, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawExample {
    file: String,
    types: Vec<String>,
    #[serde(default)]
    #[serde(rename = "only")]
    own_types_only: bool,
}

type Parsed = (BTreeMap<String, Layout>, Vec<EnvTexts>);

/// Parses all files; a TOML file with a `method` is a layout, one with `envs` holds the texts of environments.
/// Every name of a method, an environment, a setting or a text that a file refers to must exist.
pub(super) fn parse_all(
    files: &BTreeMap<String, String>,
    program: &TemplateFiles,
) -> Result<Parsed, TemplateError> {
    let (mut layouts, mut env_texts) = (BTreeMap::new(), Vec::new());
    let (mut shown_texts, mut defined_texts): (Vec<NameOfText<'_>>, Vec<NameOfText<'_>>) = Default::default();
    for (name, text) in files.iter().filter(|(name, _)| is_toml(name)) {
        let file = File { name, text };
        let table = DeTable::parse(text).map_err(|e| file.toml_error(&e))?;
        if table.get_ref().contains_key("envs") {
            let (texts, names) = parse_env_texts(&file, table, files, program)?;
            env_texts.push(texts);
            defined_texts.extend(names.into_iter().map(|text| (name, text)));
        } else {
            let raw = RawLayout::deserialize(Deserializer::from(table)).map_err(|e| file.toml_error(&e))?;
            let method = file.known_name("method", raw.method, &program.methods)?;
            for segment in &raw.segments {
                let segment = segment.get_ref();
                shown_texts.extend(segment.env_text.iter().map(|text| (name, text.clone())));
            }
            let segments = raw.segments.into_iter();
            let parts = segments.map(|s| parse_segment(&file, s, program)).collect::<Result<_, _>>()?;
            let key = match raw.question {
                None => method,
                Some(question) => {
                    let offset = question.span().start;
                    let question = question.into_inner();
                    if !is_question(&question) {
                        let reason = format!(
                            "{question:?} is not a mentor question; write PURPOSE.KIND, such as reflect.error"
                        );
                        return Err(file.error_at(offset, reason));
                    }
                    question_key(&method, &question)
                }
            };
            layouts.insert(key, Layout { segments: parts, source_hash: text_hash(text) });
        }
    }
    check_names_of_texts(files, &defined_texts, &shown_texts, program)?;
    Ok((layouts, env_texts))
}

/// The name of a text, with the file that contains it.
type NameOfText<'f> = (&'f String, Spanned<String>);

/// Checks that environments have the texts that prompts show, and that prompts show the texts that environments have.
fn check_names_of_texts(
    files: &BTreeMap<String, String>,
    defined: &[NameOfText<'_>],
    shown: &[NameOfText<'_>],
    program: &TemplateFiles,
) -> Result<(), TemplateError> {
    let known: BTreeSet<&str> = defined.iter().map(|(_, text)| text.get_ref().as_str()).collect();
    let known: Vec<&str> = known.into_iter().collect();
    for (name, text) in shown {
        File { name, text: &files[*name] }.known_name("text of an environment", text.clone(), &known)?;
    }
    // A person who replaces a prompt needn't show all texts that the program's own prompt shows.
    let replaced =
        program.files.iter().filter(|(name, text)| files.get(*name).is_some_and(|now| now != text));
    let originals = replaced.filter_map(|(_, text)| toml::from_str::<RawLayout>(text).ok());
    let of_originals: Vec<String> = originals
        .flat_map(|raw| raw.segments)
        .filter_map(|segment| Some(segment.into_inner().env_text?.into_inner()))
        .collect();
    let known: BTreeSet<&str> =
        shown.iter().map(|(_, text)| text.get_ref()).chain(&of_originals).map(String::as_str).collect();
    let known: Vec<&str> = known.into_iter().collect();
    for (name, text) in defined {
        // `NAME.TYPE` is the text for tasks of one type.
        let base = text.get_ref().split('.').next().unwrap_or_default().to_owned();
        let base = Spanned::new(text.span(), base);
        File { name, text: &files[*name] }.known_name("text that a prompt shows", base, &known)?;
    }
    Ok(())
}

fn is_toml(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end == "toml")
}

/// Finds the setting with a number that a segment refers to.
fn parse_count_setting(
    file: &File<'_>,
    name: &Spanned<String>,
    settings: &[SettingSpec],
) -> Result<TypedSetting<u64>, TemplateError> {
    let number = |spec: &SettingSpec| match spec.default {
        DefaultValue::Number(default) => Some(TypedSetting { spec: *spec, if_missing: default }),
        _ => None,
    };
    let known: Vec<TypedSetting<u64>> = settings.iter().filter_map(number).collect();
    let names: Vec<&str> = known.iter().map(|setting| setting.spec.name).collect();
    let index = file.known_index("setting with a whole number", name, &names)?;
    Ok(known[index])
}

fn parse_max_count(
    file: &File<'_>,
    raw: Spanned<RawMaxCount>,
    settings: &[SettingSpec],
) -> Result<MaxCount, TemplateError> {
    let span = raw.span();
    match raw.into_inner() {
        RawMaxCount::Number(0) => {
            let reason = "`last` is 0, so no lesson would ever be shown; leave out the segment".to_owned();
            Err(file.error_at(span.start, reason))
        }
        RawMaxCount::Number(count) => Ok(MaxCount::Number(count)),
        RawMaxCount::Setting(name) => {
            parse_count_setting(file, &Spanned::new(span, name), settings).map(MaxCount::Setting)
        }
    }
}

/// What a condition can refer to besides settings.
const SUBJECTS: [&str; 6] = ["method", "interface", "mentor", "outcome", "role", "reply"];

/// Parses the condition of a segment. One that can't hold would leave the segment out without a word.
fn parse_condition(
    file: &File<'_>,
    RawCondition { setting, is, is_not }: RawCondition,
    program: &TemplateFiles,
) -> Result<Condition, TemplateError> {
    let start = setting.span().start;
    let (value, is_negated) = match (is, is_not) {
        (Some(value), None) => (value, false),
        (None, Some(value)) => (value, true),
        _ => return Err(file.error_at(start, "a condition has either `is` or `is_not`".to_owned())),
    };
    let names: Vec<&str> =
        SUBJECTS.into_iter().chain(program.settings.iter().map(|spec| spec.name)).collect();
    let index = file.known_index("setting", &setting, &names)?;
    let parsed = match names[index] {
        "method" => {
            parse_word(&value, program.methods.iter().map(|name| (*name, *name))).map(Condition::Method)
        }
        "interface" => {
            let words = Interface::WORDS.iter().filter_map(|word| Some((*word, Interface::from_word(word)?)));
            parse_word(&value, words).map(Condition::Interface)
        }
        "mentor" => Ok(Condition::Mentor(value.clone())),
        "outcome" => {
            use EpisodeOutcome::{Failed, Open, Won};
            parse_word(&value, [("open", Open), ("won", Won), ("failed", Failed)]).map(Condition::Outcome)
        }
        "role" => {
            use EpisodeRole::{Calibrate, Explore, Test};
            parse_word(&value, [("test", Test), ("calibrate", Calibrate), ("explore", Explore)])
                .map(Condition::Role)
        }
        "reply" => {
            use ReplyRequest::{First, Repeated};
            parse_word(&value, [("first", First), ("repeated", Repeated)]).map(Condition::Reply)
        }
        _ => parse_setting_value(&program.settings[index - SUBJECTS.len()], &value).map(Condition::Setting),
    };
    let parsed =
        parsed.map(|condition| if is_negated { Condition::Not(Box::new(condition)) } else { condition });
    parsed.map_err(|why| file.error_at(start, format!("{} is never {value:?}; {why}", names[index])))
}

fn parse_setting_value(spec: &SettingSpec, text: &str) -> Result<SettingCondition, String> {
    let value = match spec.default {
        DefaultValue::Choice(..) => Value::from(text),
        _ => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
    };
    spec.validate(&value)?;
    Ok(SettingCondition { name: spec.name, value })
}

/// Returns what a word means.
///
/// # Errors
/// Lists the known words if it is none of them.
fn parse_word<'w, T>(word: &str, known: impl IntoIterator<Item = (&'w str, T)>) -> Result<T, String> {
    let mut words = Vec::new();
    for (known, meaning) in known {
        if known == word {
            return Ok(meaning);
        }
        words.push(known);
    }
    Err(format!("expected one of {}", words.join(", ")))
}

/// Returns whether a name identifies a mentor question: `PURPOSE.KIND`, such as `reflect.error`.
fn is_question(name: &str) -> bool {
    fn is_known<T: serde::de::DeserializeOwned>(word: &str) -> bool {
        serde_json::from_value::<T>(serde_json::Value::from(word)).is_ok()
    }
    name.split_once('.')
        .is_some_and(|(purpose, kind)| is_known::<Purpose>(purpose) && is_known::<ReflectionKind>(kind))
}

/// Parses the texts of environments. Returns also their names, with their places in the file.
fn parse_env_texts(
    file: &File<'_>,
    table: Spanned<DeTable<'_>>,
    files: &BTreeMap<String, String>,
    program: &TemplateFiles,
) -> Result<(EnvTexts, Vec<Spanned<String>>), TemplateError> {
    let raw = RawEnvTexts::deserialize(Deserializer::from(table)).map_err(|e| file.toml_error(&e))?;
    let known_name = |name| file.known_name("environment", name, &program.environments);
    let envs: Vec<String> = raw.envs.into_iter().map(known_name).collect::<Result<_, _>>()?;
    let is_own = |(env, _): &&(&str, OtherWording)| envs.iter().any(|own| own == env);
    let other_wording = program.other_wordings.iter().find(is_own).map(|(_, wording)| *wording);
    let mut examples = Vec::new();
    for example in raw.examples {
        let offset = example.span().start;
        let RawExample { file: name, types, own_types_only } = example.into_inner();
        let text = files
            .get(&name)
            .ok_or_else(|| file.error_at(offset, format!("example file {name} not found")))?;
        examples.push(Example::new(types, own_types_only, text, other_wording));
    }
    let store = |texts: &BTreeMap<Spanned<String>, String>| {
        texts.iter().map(|(name, text)| (name.get_ref().clone(), StoredText::new(text))).collect()
    };
    let texts = store(&raw.texts);
    let mut names: Vec<Spanned<String>> = raw.texts.into_keys().collect();
    let mut variants = Vec::new();
    for RawVariant { condition, texts } in raw.variants {
        let condition = parse_option_condition(file, condition, program)?;
        variants.push(TextVariant { condition, texts: store(&texts) });
        names.extend(texts.into_keys());
    }
    Ok((EnvTexts { envs, texts, variants, examples, other_wording }, names))
}

/// Parses the condition of a variant: a word that an option of an environment can have.
fn parse_option_condition(
    file: &File<'_>,
    RawOptionCondition { setting, value }: RawOptionCondition,
    program: &TemplateFiles,
) -> Result<SettingCondition, TemplateError> {
    let names: Vec<&str> = program.options.iter().map(|(name, _)| *name).collect();
    let (name, words) = program.options[file.known_index("option of an environment", &setting, &names)?];
    let word = parse_word(&value, words.iter().map(|word| (*word, *word)));
    let word =
        word.map_err(|why| file.error_at(setting.span().start, format!("{name} is never {value:?}; {why}")))?;
    Ok(SettingCondition { name, value: Value::from(word) })
}

fn parse_segment(
    file: &File<'_>,
    raw: Spanned<RawSegment>,
    program: &TemplateFiles,
) -> Result<SegmentTemplate, TemplateError> {
    let offset = raw.span().start;
    let raw = raw.into_inner();
    let heading = raw.heading.as_deref().filter(|h| !h.is_empty()).map(StoredText::new);
    let filter = LessonFilter {
        heading: heading.clone(),
        kinds: raw.kinds,
        max_count: raw.max_count.map(|count| parse_max_count(file, count, &program.settings)).transpose()?,
        scope: raw.scope,
        this_episode_only: raw.this_episode_only,
        grouped_by_episode: raw.grouped_by_episode,
        number_text: match raw.numbered {
            RawNumbering::Switch(false) => None,
            RawNumbering::Switch(true) => Some("Lesson {} ".to_owned()),
            RawNumbering::Text(text) if text.contains("{}") => Some(text),
            RawNumbering::Text(text) => {
                let reason = format!("`numbered` {text:?} has no `{{}}` for the number");
                return Err(file.error_at(offset, reason));
            }
        },
        first_number: raw.first_number.unwrap_or(1),
        labels: raw.labels.iter().map(|(kind, text)| (*kind, StoredText::new(text))).collect(),
    };
    let has_filter = !filter.kinds.is_empty()
        || filter.max_count.is_some()
        || filter.scope.is_some()
        || filter.this_episode_only
        || filter.grouped_by_episode
        || filter.number_text.is_some()
        || !filter.labels.is_empty();
    let lessons = || Some(Content::Lessons(filter.clone()));
    let count_setting = |name| parse_count_setting(file, name, &program.settings);
    let recalled = raw.recalled.as_ref().map(count_setting).transpose()?;
    let recent = raw.recent.as_ref().map(count_setting).transpose()?;
    if recalled.is_some() && raw.label != "example" || recent.is_some() && raw.label != "attempt" {
        let reason = "`recalled` belongs to an example, `recent` to an attempt".to_owned();
        return Err(file.error_at(offset, reason));
    }
    let attempts = match recent {
        Some(setting) => Content::RecentSuccesses(heading.clone(), setting),
        None => Content::LastAttempt(heading.clone()),
    };
    let (label, content) = match raw.label.as_str() {
        "instruction" => (SegmentLabel::Instruction, None),
        "guidance" => (SegmentLabel::Guidance, None),
        "cue" => (SegmentLabel::Cue, None),
        "abstract" => (SegmentLabel::Abstract, lessons()),
        "error" => (SegmentLabel::Error, lessons()),
        "progress" => (SegmentLabel::Progress, lessons()),
        "memory" => (SegmentLabel::Memory, lessons()),
        "attempt" => (SegmentLabel::Attempt, Some(attempts)),
        "example" => (SegmentLabel::Example, Some(Content::Examples(heading, recalled))),
        "task" => (SegmentLabel::Task, Some(Content::Task(heading))),
        "steps" => (SegmentLabel::Action, Some(Content::Steps)),
        "rejection" => (SegmentLabel::Rejection, Some(Content::Rejections(heading))),
        other => {
            let known = "instruction, guidance, abstract, error, progress, memory, attempt, example, task, \
                         steps, rejection, cue";
            return Err(file.error_at(offset, format!("unknown segment {other:?}; expected one of {known}")));
        }
    };
    if has_filter && !matches!(content, Some(Content::Lessons(_))) {
        let reason = format!(
            "segment {:?} shows no lessons, so `kinds`, `last`, `scope`, `here`, `together`, `numbered` and `labels` don't apply",
            raw.label
        );
        return Err(file.error_at(offset, reason));
    }
    let fact = raw
        .fact
        .as_deref()
        .map(|name| parse_fact(name).map_err(|reason| file.error_at(offset, reason)))
        .transpose()?;
    let content = match (content, raw.text, raw.env_text.map(Spanned::into_inner)) {
        (Some(content), None, None) if fact.is_none() => content,
        (None, Some(text), None) if raw.heading.is_none() && fact.is_some() && text.contains("{}") => fact
            .map_or_else(|| Content::Text(StoredText::new(&text)), |fact| Content::Fact(fact, text.clone())),
        (None, Some(_), None) if fact.is_some() => {
            return Err(
                file.error_at(offset, "a text with a `fact` needs {} in place of the fact".to_owned())
            );
        }
        (None, Some(text), None) if raw.heading.is_none() => Content::Text(StoredText::new(&text)),
        (None, None, Some(name)) if raw.heading.is_none() => Content::EnvText(name),
        // Examples that an environment provides for a mentor question, such as failed episodes, each followed by its
        // plan.
        (Some(Content::Examples(None, None)), None, Some(name)) => Content::EnvText(name),
        (Some(_), ..) => {
            return Err(file.error_at(offset, format!("segment {:?} takes a heading, not a text", raw.label)));
        }
        (None, ..) => {
            return Err(
                file.error_at(offset, format!("segment {:?} needs either `text` or `world`", raw.label))
            );
        }
    };
    let message_role = raw.speaker.unwrap_or(match label {
        SegmentLabel::Instruction | SegmentLabel::Guidance => MessageRole::System,
        _ => MessageRole::User,
    });
    let condition = raw.condition.map(|condition| parse_condition(file, condition, program)).transpose()?;
    Ok(SegmentTemplate { label, message_role, content, condition })
}

/// The facts, by their names in templates.
const FACTS: [(&str, Fact); 8] = [
    ("task_type", Fact::TaskType),
    ("trial", Fact::Trial),
    ("reward", Fact::Reward),
    ("total_reward", Fact::TotalReward),
    ("progress_gain", Fact::ProgressGain),
    ("total_progress_gain", Fact::TotalProgressGain),
    ("draft", Fact::Draft),
    ("screen", Fact::Screen),
];

fn parse_fact(name: &str) -> Result<Fact, String> {
    parse_word(name, FACTS).map_err(|why| format!("unknown fact {name:?}; {why}"))
}

struct File<'a> {
    name: &'a str,
    text: &'a str,
}

impl File<'_> {
    /// Creates an error for the line that contains a byte offset.
    fn error_at(&self, offset: usize, reason: String) -> TemplateError {
        let line = 1 + self.text.get(..offset).unwrap_or_default().matches('\n').count();
        TemplateError { file: self.name.to_owned(), line, reason }
    }

    /// Returns a name that a file refers to.
    ///
    /// # Errors
    /// Returns an error for its line if nothing has this name.
    fn known_name(&self, what: &str, name: Spanned<String>, known: &[&str]) -> Result<String, TemplateError> {
        self.known_index(what, &name, known).map(|_| name.into_inner())
    }

    /// Returns the place of a name among the known ones.
    ///
    /// # Errors
    /// The same as [`Self::known_name`].
    fn known_index(
        &self,
        what: &str,
        name: &Spanned<String>,
        known: &[&str],
    ) -> Result<usize, TemplateError> {
        known.iter().position(|known| known == name.get_ref()).ok_or_else(|| {
            let reason =
                format!("no {what} is named {:?}; expected one of {}", name.get_ref(), known.join(", "));
            self.error_at(name.span().start, reason)
        })
    }

    fn toml_error(&self, error: &toml::de::Error) -> TemplateError {
        self.error_at(error.span().map_or(0, |s| s.start), error.message().to_owned())
    }
}
