//! Parses conditions. Never panics: returns a condition, or what is wrong with the text and what to write instead.

use super::condition::{BreakpointSpec, Condition, Pattern, RepeatedPart, SpendLimit, SpendScope, TextPart};
use super::similar::{most_similar, similar_names};
use super::{hint, number};
use crate::domain::ReflectionKind;
use regex::{Regex, RegexBuilder};

/// Maximum length of a condition in characters.
pub const MAX_CONDITION_CHARS: usize = 600;

/// Maximum size of a compiled pattern in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// What is wrong with a text, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// Every first word, including old spellings that still work.
const FIRST_WORDS: &[&str] = &[
    "action",
    "observation",
    "thought",
    "nothing",
    "invalid",
    "same",
    "cycle",
    "mistake",
    "note",
    "reward",
    "progress",
    "stalled",
    "step",
    "won",
    "reflection",
    "lesson",
    "tokens",
    "cost",
    "time",
    "episode",
    "end",
    "warn",
    "once",
    "seen",
];

/// Parses `[warn] [once] CONDITION [once]`. The old spellings `step=5`, `note=X`, `reflection=KIND`, `action=WORDS` and
/// `seen=WORDS` keep their meaning.
///
/// # Errors
/// Returns a [`ParseError`] that explains what is wrong.
pub fn parse(text: &str) -> Result<BreakpointSpec, ParseError> {
    let text = text.trim();
    let bad = |what: String, word: &str| ParseError {
        message: format!("{:?}: {what}", shorten(text)),
        hint: hint(word),
    };
    if text.is_empty() {
        return Err(ParseError { message: "missing condition".to_owned(), hint: hint("") });
    }
    if text.chars().count() > MAX_CONDITION_CHARS || text.chars().any(char::is_control) {
        return Err(bad(format!("a condition is one line of at most {MAX_CONDITION_CHARS} characters"), ""));
    }
    let (mut rest, mut warn, mut once) = (text, false, false);
    loop {
        let (word, more) = split_word(rest);
        match word.to_ascii_lowercase().as_str() {
            "warn" | "watch" if !warn => warn = true,
            "once" if !once => once = true,
            _ => break,
        }
        rest = more;
    }
    let (word, _) = split_word(rest);
    let word = word.to_ascii_lowercase();
    // A pattern extends to the end of the line, so its own last word is not a modifier.
    let is_text = matches!(word.as_str(), "action" | "observation" | "thought" | "seen");
    if !is_text && let Some(before) = rest.strip_suffix("once").filter(|b| b.ends_with(' ')) {
        once = true;
        rest = before.trim_end();
    }
    let (_, arguments) = split_word(rest);
    let condition = parse_condition(&word, arguments).map_err(|what| bad(what, &word))?;
    Ok(BreakpointSpec { condition, warn, once })
}

/// Parses like [`parse`], but requires that a detector in the condition is one of these. Conditions from a journal are
/// not checked: a detector of another program never notes anything here.
///
/// # Errors
/// Returns a [`ParseError`] that lists similar names.
pub fn parse_checked(text: &str, detectors: &[&str]) -> Result<BreakpointSpec, ParseError> {
    let spec = parse(text)?;
    let Condition::Note(name) = &spec.condition else { return Ok(spec) };
    if detectors.contains(&name.as_str()) {
        return Ok(spec);
    }
    let near: Vec<String> = similar_names(name, detectors).into_iter().map(|d| format!("`{d}`")).collect();
    let suggestion =
        if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
    Err(ParseError {
        message: format!("{:?}: unknown detector `{}`{suggestion}", shorten(text.trim()), shorten(name)),
        hint: "detectors are listed in docs/SYMBOLIC.md, those of planning problems in docs/PDDL.md"
            .to_owned(),
    })
}

/// Splits off the first word, which consists of letters only.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.trim())
}

fn parse_condition(word: &str, rest: &str) -> Result<Condition, String> {
    // The old spelling has an equals sign before every argument.
    let given = rest.strip_prefix('=').map_or(rest, str::trim_start);
    let bare = |condition: Condition| match rest {
        "" => Ok(condition),
        more => Err(format!("`{word}` takes no argument, got {more:?}")),
    };
    let counted = |least: u32, or: Option<u32>| match (given, or) {
        ("", Some(n)) => Ok(n),
        ("", None) => Err(format!("missing number, such as `{word} 3`")),
        (n, _) => number::parse_count(n, least)
            .ok_or_else(|| format!("{n:?} is not a number from {least} to 1000000")),
    };
    Ok(match word {
        "action" => parse_text(TextPart::Action, rest)?,
        "observation" | "seen" => parse_text(TextPart::Observation, rest)?,
        "thought" => parse_text(TextPart::Thought, rest)?,
        "nothing" => Condition::NothingHappened(counted(1, Some(1))?),
        "invalid" => Condition::Invalid(counted(1, Some(1))?),
        "stalled" => Condition::Stalled(counted(1, None)?),
        "step" | "turn" => Condition::Step(counted(1, None)?),
        "lesson" => {
            let n = given.strip_prefix('#').unwrap_or(given);
            let number = number::parse_count(n, 1);
            Condition::Lesson(number.ok_or("expected the number of a lesson, such as `lesson 6`")?)
        }
        "same" => parse_repeated(rest)?,
        "cycle" => bare(Condition::GoingInCircles)?,
        "won" => bare(Condition::Won)?,
        "mistake" => bare(Condition::Mistake)?,
        "note" if given.is_empty() => return Err("missing detector, such as `note wrong_object`".to_owned()),
        "note" => {
            let name = given.split_whitespace().collect::<Vec<_>>().join("_").to_ascii_lowercase();
            if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return Err(format!("{given:?} is not a detector name, such as `note wrong_object`"));
            }
            Condition::Note(name)
        }
        "reward" if rest == "changed" => Condition::RewardChanged,
        "progress" if rest == "changed" => Condition::ProgressChanged,
        "reward" | "progress" => return Err(format!("expected `{word} changed`")),
        "reflection" if given.is_empty() => Condition::Reflection(None),
        "reflection" => Condition::Reflection(Some(parse_kind(given)?)),
        "tokens" | "cost" | "time" => Condition::SpentMoreThan(SpendScope::Run, parse_spend(word, rest)?),
        "episode" => {
            let (what, rest) = split_word(rest);
            let what = what.to_ascii_lowercase();
            if !matches!(what.as_str(), "tokens" | "cost" | "time") {
                return Err("expected tokens, cost or time after `episode`".to_owned());
            }
            Condition::SpentMoreThan(SpendScope::Episode, parse_spend(&what, rest)?)
        }
        "end" => Condition::EpisodeEnded(match rest.to_ascii_lowercase().as_str() {
            "" => None,
            "failure" | "failed" | "lost" => Some(false),
            "success" | "won" => Some(true),
            other => return Err(format!("expected `end failure` or `end success`, got {other:?}")),
        }),
        "" => return Err("a condition begins with a word".to_owned()),
        other => {
            return Err(match most_similar(other, FIRST_WORDS) {
                Some(near) => format!("unknown condition `{other}`; did you mean `{near}`?"),
                None => format!("unknown condition `{other}`"),
            });
        }
    })
}

fn parse_text(part: TextPart, rest: &str) -> Result<Condition, String> {
    let name = part.name();
    let missing = || format!("missing pattern: write `{name} ~ REGEX` or `{name} = WORDS`");
    let (sign, wanted) = (rest.chars().next().ok_or_else(missing)?, rest.get(1..).unwrap_or_default().trim());
    if wanted.is_empty() {
        return Err(missing());
    }
    match sign {
        '~' => {
            let pattern = Pattern::Regex(wanted.to_owned());
            compile_pattern(&pattern).map_err(|why| format!("invalid pattern: {why}"))?;
            Ok(Condition::Text(part, pattern))
        }
        '=' => Ok(Condition::Text(part, Pattern::Words(wanted.to_owned()))),
        _ => Err(missing()),
    }
}

/// Compiles a pattern, within size limits that protect against hostile patterns.
pub(super) fn compile_pattern(pattern: &Pattern) -> Result<Regex, String> {
    let source = match pattern {
        Pattern::Regex(source) => source.clone(),
        Pattern::Words(words) => regex::escape(words),
    };
    let mut builder = RegexBuilder::new(&source);
    builder.case_insensitive(!is_case_sensitive(&source)).multi_line(true).nest_limit(64);
    builder.size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES);
    builder.build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
        other => {
            let message = other.to_string();
            let last = message.lines().last().unwrap_or_default().trim();
            last.strip_prefix("error: ").unwrap_or(last).to_owned()
        }
    })
}

/// Returns whether a pattern contains a capital letter that is meant literally; one after a backslash is a class.
fn is_case_sensitive(source: &str) -> bool {
    let mut escaped = false;
    source.chars().any(|c| {
        let is_literal = c.is_uppercase() && !escaped;
        escaped = c == '\\' && !escaped;
        is_literal
    })
}

fn parse_repeated(rest: &str) -> Result<Condition, String> {
    let (what, n) = split_word(rest);
    let what = match what.to_ascii_lowercase().as_str() {
        "action" => RepeatedPart::Action,
        "observation" => RepeatedPart::Observation,
        "thought" => RepeatedPart::Thought,
        _ => {
            return Err("expected `same action 3`, `same observation 3` or `same thought 3`".to_owned());
        }
    };
    if n.is_empty() {
        return Ok(Condition::Repeated(what, 2));
    }
    let count =
        number::parse_count(n, 2).ok_or_else(|| format!("{n:?} is not a number from 2 to 1000000"))?;
    Ok(Condition::Repeated(what, count))
}

fn parse_kind(text: &str) -> Result<ReflectionKind, String> {
    let wanted = text.to_lowercase();
    ReflectionKind::ALL.iter().copied().find(|k| k.name().to_lowercase() == wanted).ok_or_else(|| {
        let names: Vec<String> = ReflectionKind::ALL.iter().map(|k| k.name().to_lowercase()).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        match most_similar(&wanted, &known) {
            Some(near) => format!("unknown kind of reflection {text:?}; did you mean `{near}`?"),
            None => format!("unknown kind of reflection {text:?}; known: {}", known.join(", ")),
        }
    })
}

fn parse_spend(word: &str, rest: &str) -> Result<SpendLimit, String> {
    let example = match word {
        "tokens" => "tokens > 20k",
        "cost" => "cost > 0.5",
        _ => "time > 10m",
    };
    let bound = rest.strip_prefix('>').map(str::trim).filter(|b| !b.is_empty());
    let bound = bound.ok_or_else(|| format!("missing limit, such as `{example}`"))?;
    let read = match word {
        "tokens" => number::parse_tokens(bound).map(SpendLimit::Tokens),
        "cost" => number::parse_cost(bound).map(SpendLimit::Cost),
        _ => number::parse_seconds(bound).map(SpendLimit::Time),
    };
    read.ok_or_else(|| format!("{bound:?} is not a valid limit; write for example `{example}`"))
}

fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    if text.chars().count() <= MAX_CHARS {
        text.to_owned()
    } else {
        text.chars().take(MAX_CHARS).chain(['…']).collect()
    }
}
