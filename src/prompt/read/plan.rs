//! Parses a mentor's free text: a plan, a reflection, or a few labelled parts.

use super::label::parse_role;
use super::quoted::is_quote;
use super::value::{self, Value};
use super::{FreeText, ParseLog, collapse_whitespace, has_words, lines};

/// Labels of sections. The label becomes the section's name.
const LABELS: &[&str] = &[
    "experience",
    "valuable experience",
    "valuable experience summarization",
    "experience summarization",
    "lesson",
    "failure lesson",
    "failure lesson summarization",
    "lesson summarize",
    "lesson summarization",
    "new plan",
    "next plan",
    "plan",
    "updated plan",
    "revised plan",
    "reflection",
    "positive reflection",
    "negative reflection",
    "diagnosis",
    "advice",
];

/// Beginnings of lines with which a model that doesn't stop starts to make up the next trial, in any environment.
const NEXT_TRIAL_MARKERS: &[&str] = &["STATUS:", "Here is the task", "Your task is to:"];

/// Parses a mentor's reply as one text (a plan, an experience, a lesson). Removes fences,
/// reasoning and the leading label, and keeps the lines. A dictionary or list becomes lines. Linear in the length of
/// the reply. The text ends where a trial begins that the model made up: before `Your task is to:` and the like, and
/// before the given beginnings of lines.
pub fn read_free_text(reply: &str, episode_openings: &[&str]) -> FreeText {
    read_text(reply, episode_openings, FreeTextBuilder::default())
}

/// Parses a mentor's reply as a program, one statement per line. Like [`read_free_text`], except that text after `#` is a comment,
/// even if it begins with a label.
pub fn read_program(reply: &str, episode_openings: &[&str]) -> FreeText {
    read_text(reply, episode_openings, FreeTextBuilder { has_comments: true, ..FreeTextBuilder::default() })
}

fn read_text(reply: &str, episode_openings: &[&str], mut builder: FreeTextBuilder) -> FreeText {
    let is_next_trial = |line: &str| {
        let line = line.trim_start_matches(['>', ' ']);
        NEXT_TRIAL_MARKERS.iter().chain(episode_openings).any(|opening| line.starts_with(opening))
    };
    let mut log = ParseLog::new(reply);
    let body = log.after_reasoning();
    let whole = body.trim();
    if let Some((lead, inner)) = split_structure(whole) {
        for line in lead.lines() {
            if lines::is_fence(line) || is_variable_name(line) {
                log.mark_as_markup(line);
            } else {
                builder.add_line(line, &mut log);
            }
        }
        let (value, after) = value::read_value(inner, &mut log);
        builder.add_value(value, &mut log);
        if has_words(after) {
            log.complain("text around the plan was not used", after);
        }
    } else {
        let body = strip_outer_quotes(whole);
        for line in body.lines() {
            if !builder.text.is_empty() && is_next_trial(line) {
                let start = log.span_of(line).start;
                log.complain("a trial that the model made up was not used", &reply[start..]);
                break;
            }
            if lines::is_fence(line) {
                log.mark_as_markup(line);
            } else {
                builder.add_line(line, &mut log);
            }
        }
    }
    let text = builder.text.trim().to_owned();
    if text.is_empty() && log.complaints.is_empty() {
        log.complain(
            if reply.trim().is_empty() { "the reply is empty" } else { "the reply has no text" },
            "",
        );
    }
    let mut sections = builder.sections;
    for (_, text) in &mut sections {
        text.truncate(text.trim_end().len());
        *text = text.trim_start().to_owned();
    }
    FreeText { text, sections, complaints: log.complaints, markup: log.markup }
}

/// Removes the quotes around the whole text.
fn strip_outer_quotes(text: &str) -> &str {
    if text.starts_with("```") {
        return text;
    }
    let inner = text.strip_prefix(is_quote).and_then(|t| t.strip_suffix(is_quote));
    inner.filter(|t| !t.contains(['"', '“', '”'])).map_or(text, str::trim)
}

/// Splits off the list or dictionary that ends the text from what introduces it: a heading, a label, a name.
fn split_structure(text: &str) -> Option<(&str, &str)> {
    let (lead, inner) = text.split_at(text.find(['{', '['])?);
    let line = lead.rsplit('\n').next().unwrap_or(lead).trim();
    (line.is_empty() || line.ends_with([':', '=']) || line == "```").then_some(())?;
    is_structure(inner).then_some((lead, inner))
}

/// Returns whether a line is only a variable name for the list: `actions =`.
fn is_variable_name(line: &str) -> bool {
    let name = line.trim().strip_suffix('=').unwrap_or("-").trim();
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns whether a bracket at the beginning opens a list or dictionary that ends at the end of the text.
fn is_structure(text: &str) -> bool {
    let end = text.trim_end_matches(['`', '\n', '\r', ' ', '.']);
    let next = text[1..].trim_start();
    end.ends_with([']', '}']) && next.starts_with(|c: char| is_quote(c) || c == '{' || c == '[')
}

#[derive(Default)]
struct FreeTextBuilder {
    text: String,
    sections: Vec<(String, String)>,
    /// A line that begins with `#` is a comment, not a heading, unless it is only a label.
    has_comments: bool,
}

impl FreeTextBuilder {
    fn add_line<'a>(&mut self, line: &'a str, log: &mut ParseLog<'a>) {
        let is_comment =
            |words: &str| self.has_comments && !words.trim().is_empty() && line.trim_start().starts_with('#');
        let label = split_section_label(line).filter(|(_, words)| !is_comment(words));
        let Some((name, words)) = label else {
            let line = line.trim_end();
            // Blank lines between paragraphs are kept, those before the first are not.
            if !(line.is_empty() && self.text.is_empty()) {
                self.text.push_str(line);
                self.text.push('\n');
            }
            if let Some((_, section)) = self.sections.last_mut() {
                section.push_str(line);
                section.push('\n');
            }
            return;
        };
        if self.text.trim().is_empty() {
            // The label at the beginning only repeats the question.
            log.mark_as_markup(&line[..line.len() - words.len()]);
            self.text.clear();
            if !words.is_empty() {
                self.text.push_str(words.trim_end());
                self.text.push('\n');
            }
        } else {
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
        self.sections.push((name, format!("{}\n", words.trim_end())));
    }

    fn add_value<'a>(&mut self, value: Value<'a>, log: &mut ParseLog<'a>) {
        match value {
            Value::Text(text) => {
                if text.truncated {
                    log.complain("the reply ends in the middle of this; it was kept", text.source);
                }
                if !text.text.is_empty() {
                    self.text.push_str(&text.text);
                    self.text.push('\n');
                }
                if let Some((_, section)) = self.sections.last_mut() {
                    section.push_str(&text.text);
                    section.push('\n');
                }
            }
            Value::List(values, _) => {
                for value in values {
                    self.add_value(value, log);
                }
            }
            Value::Dict(entries, _) => {
                for entry in entries {
                    log.mark_as_markup(entry.key_source);
                    if has_words(&entry.key) {
                        self.sections
                            .push((collapse_whitespace(&entry.key.replace('_', " ")), String::new()));
                        if !self.text.is_empty() {
                            self.text.push_str(&entry.key);
                            self.text.push_str(": ");
                        }
                    }
                    self.add_value(entry.value, log);
                }
            }
        }
    }
}

/// Returns the known label at the beginning of a line, and the text after it.
fn split_section_label(line: &str) -> Option<(String, &str)> {
    let bare = line.trim_start().trim_start_matches(['#', '*', ' ']);
    let (name, words) = match bare.split_once(':') {
        Some((name, words)) => (name, words.trim_start_matches('*').trim_start()),
        // A heading needs no colon.
        None if line.trim_start().starts_with(['#', '*']) => {
            (bare.trim_end_matches(['*', ' ', '\r']), &line[line.len()..])
        }
        None => return None,
    };
    if name.len() > 40 {
        return None;
    }
    let label = name.trim_end_matches(|c: char| c.is_ascii_digit() || " *#".contains(c)).to_lowercase();
    let known = LABELS.contains(&label.as_str()) || parse_role(&label) == super::label::LabelRole::Advice;
    known.then(|| (collapse_whitespace(name.trim_matches('*')), words))
}
