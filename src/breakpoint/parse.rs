//! Parses conditions. Never panics: returns a condition, or an error with a hint about what to write instead.

use super::condition::{BreakpointSpec, Condition, Pattern, RepeatedPart, SpendLimit, SpendScope, TextPart};
use super::{hint, number};
use crate::domain::{ReflectionKind, SameAdvice};
use crate::text::{nearest_name, similar_names};
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
    /// What to write instead.
    pub hint: String,
}

/// First words that are suggested for a mistyped one.
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

/// Parses `[warn] [once] CONDITION [once]`. `warn` makes it a watch, which marks the step instead of pausing. The old
/// spellings `step=5`, `note=X`, `reflection=KIND`, `action=WORDS` and `seen=WORDS` keep their meaning.
///
/// # Errors
/// Returns a [`ParseError`] that explains what is wrong.
pub fn parse(text: &str) -> Result<BreakpointSpec, ParseError> {
    let text = text.trim();
    let error = |reason: String, word: &str| ParseError {
        message: format!("{:?}: {reason}", shorten(text)),
        hint: hint(word),
    };
    if text.is_empty() {
        return Err(ParseError { message: "missing condition".to_owned(), hint: hint("") });
    }
    if text.chars().count() > MAX_CONDITION_CHARS || text.chars().any(char::is_control) {
        return Err(error(
            format!("a condition is one line of at most {MAX_CONDITION_CHARS} characters"),
            "",
        ));
    }
    let (mut rest, mut is_watch, mut once) = (text, false, false);
    loop {
        let (word, more) = split_word(rest);
        match word.to_ascii_lowercase().as_str() {
            "warn" | "watch" if !is_watch => is_watch = true,
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
    let condition = parse_condition(&word, arguments).map_err(|reason| error(reason, &word))?;
    Ok(BreakpointSpec { condition, is_watch, once })
}

/// Parses like [`parse`], but fails if the condition names a detector that isn't one of these. Conditions from a
/// journal are not checked this way: one that names an unknown detector never becomes true.
///
/// # Errors
/// Returns a [`ParseError`] that lists similar names.
pub fn parse_checked(text: &str, detectors: &[&str]) -> Result<BreakpointSpec, ParseError> {
    let spec = parse(text)?;
    let Condition::Note(name) = &spec.condition else { return Ok(spec) };
    if detectors.contains(&name.as_str()) {
        return Ok(spec);
    }
    let near_names: Vec<String> =
        similar_names(name, detectors).into_iter().map(|d| format!("`{d}`")).collect();
    let suggestion = if near_names.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", near_names.join(" or "))
    };
    Err(ParseError {
        message: format!("{:?}: unknown detector `{}`{suggestion}", shorten(text.trim()), shorten(name)),
        hint: "docs/SYMBOLIC.md lists the detectors, and the page of an environment lists its own".to_owned(),
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
    let argument = rest.strip_prefix('=').map_or(rest, str::trim_start);
    let without_argument = |condition: Condition| match rest {
        "" => Ok(condition),
        more => Err(format!("`{word}` takes no argument, got {more:?}")),
    };
    let count = |min: u32, default: Option<u32>| match (argument, default) {
        ("", Some(n)) => Ok(n),
        ("", None) => Err(format!("missing number, such as `{word} 3`")),
        (n, _) => {
            number::parse_count(n, min).ok_or_else(|| format!("{n:?} is not a number from {min} to 1000000"))
        }
    };
    Ok(match word {
        "action" => parse_text(TextPart::Action, rest)?,
        "observation" | "seen" => parse_text(TextPart::Observation, rest)?,
        "thought" => parse_text(TextPart::Thought, rest)?,
        "nothing" => Condition::NothingHappened(count(1, Some(1))?),
        "invalid" => Condition::Invalid(count(1, Some(1))?),
        "stalled" => Condition::Stalled(count(1, None)?),
        "step" | "turn" => Condition::Step(count(1, None)?),
        "lesson" => {
            let n = argument.strip_prefix('#').unwrap_or(argument);
            let number = number::parse_count(n, 1);
            Condition::Lesson(number.ok_or("expected the number of a lesson, such as `lesson 6`")?)
        }
        "same" => parse_repeated(rest)?,
        "cycle" => without_argument(Condition::GoingInCircles)?,
        "won" => without_argument(Condition::Won)?,
        "mistake" => without_argument(Condition::Mistake)?,
        "note" if argument.is_empty() => {
            return Err("missing detector, such as `note wrong_object`".to_owned());
        }
        "note" => {
            let name = argument.split_whitespace().collect::<Vec<_>>().join("_").to_ascii_lowercase();
            if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return Err(format!("{argument:?} is not a detector name, such as `note wrong_object`"));
            }
            Condition::Note(name)
        }
        "reward" if rest == "changed" => Condition::RewardChanged,
        "progress" if rest == "changed" => Condition::ProgressChanged,
        "reward" | "progress" => return Err(format!("expected `{word} changed`")),
        "reflection" if argument.is_empty() => Condition::Reflection(None),
        "reflection" => Condition::Reflection(Some(parse_kind(argument)?)),
        "tokens" | "cost" | "time" => Condition::SpentMoreThan(SpendScope::Run, parse_spend(word, rest)?),
        "episode" => {
            let (quantity, rest) = split_word(rest);
            let quantity = quantity.to_ascii_lowercase();
            if !matches!(quantity.as_str(), "tokens" | "cost" | "time") {
                return Err("expected tokens, cost or time after `episode`".to_owned());
            }
            Condition::SpentMoreThan(SpendScope::Episode, parse_spend(&quantity, rest)?)
        }
        "end" => Condition::EpisodeEnded(match rest.to_ascii_lowercase().as_str() {
            "" => None,
            "failure" | "failed" | "lost" => Some(false),
            "success" | "won" => Some(true),
            other => return Err(format!("expected `end failure` or `end success`, got {other:?}")),
        }),
        "" if rest.is_empty() => return Err("missing condition".to_owned()),
        "" => return Err("a condition begins with a word".to_owned()),
        other => {
            return Err(match nearest_name(other, FIRST_WORDS.iter().copied()) {
                Some(similar) => format!("unknown condition `{other}`; did you mean `{similar}`?"),
                None => format!("unknown condition `{other}`"),
            });
        }
    })
}

fn parse_text(part: TextPart, rest: &str) -> Result<Condition, String> {
    let name = part.name();
    let missing = || format!("missing pattern: write `{name} ~ REGEX` or `{name} = WORDS`");
    let sign = rest.chars().next().ok_or_else(missing)?;
    let pattern_text = rest.get(1..).unwrap_or_default().trim();
    if pattern_text.is_empty() {
        return Err(missing());
    }
    match sign {
        '~' => {
            let pattern = Pattern::Regex(pattern_text.to_owned());
            compile_pattern(&pattern).map_err(|why| format!("invalid pattern: {why}"))?;
            Ok(Condition::Text(part, pattern))
        }
        '=' => Ok(Condition::Text(part, Pattern::Words(pattern_text.to_owned()))),
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

/// Returns whether a pattern contains a literal capital letter. One after a backslash belongs to an escape such as
/// `\S`.
fn is_case_sensitive(source: &str) -> bool {
    let mut escaped = false;
    source.chars().any(|c| {
        let is_literal = c.is_uppercase() && !escaped;
        escaped = c == '\\' && !escaped;
        is_literal
    })
}

fn parse_repeated(rest: &str) -> Result<Condition, String> {
    let (part, n) = split_word(rest);
    let count = |default: u32| match n {
        "" => Ok(default),
        n => number::parse_count(n, 2).ok_or_else(|| format!("{n:?} is not a number from 2 to 1000000")),
    };
    let part = match part.to_ascii_lowercase().as_str() {
        "action" => RepeatedPart::Action,
        "observation" => RepeatedPart::Observation,
        "thought" => RepeatedPart::Thought,
        "advice" => return count(SameAdvice::ALARM).map(Condition::SameAdvice),
        _ => {
            return Err(
                "expected `same action 3`, `same observation 3`, `same thought 3` or `same advice 3`"
                    .to_owned(),
            );
        }
    };
    count(2).map(|count| Condition::Repeated(part, count))
}

fn parse_kind(text: &str) -> Result<ReflectionKind, String> {
    let name = text.to_lowercase();
    ReflectionKind::ALL.iter().copied().find(|k| k.name().to_lowercase() == name).ok_or_else(|| {
        let names: Vec<String> = ReflectionKind::ALL.iter().map(|k| k.name().to_lowercase()).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        match nearest_name(&name, known.iter().copied()) {
            Some(similar) => format!("unknown kind of reflection {text:?}; did you mean `{similar}`?"),
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
    let limit_text = rest.strip_prefix('>').map(str::trim).filter(|b| !b.is_empty());
    let limit_text = limit_text.ok_or_else(|| format!("missing limit, such as `{example}`"))?;
    let limit = match word {
        "tokens" => number::parse_tokens(limit_text).map(SpendLimit::Tokens),
        "cost" => number::parse_cost(limit_text).map(SpendLimit::Cost),
        _ => number::parse_seconds(limit_text).map(SpendLimit::Time),
    };
    limit.ok_or_else(|| format!("{limit_text:?} is not a valid limit; write for example `{example}`"))
}

fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    if text.chars().count() <= MAX_CHARS {
        text.to_owned()
    } else {
        text.chars().take(MAX_CHARS).chain(['…']).collect()
    }
}
