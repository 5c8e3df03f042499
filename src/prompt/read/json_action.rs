//! Parses an actor's reply in JSON or as a Python dictionary.

use super::quoted::begins_key;
use super::said::{Said, command};
use super::value::{self, Value};
use super::{Remarks, says_something};

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Thought,
    Action,
    Other,
}

/// Parses the first dictionary with a thought or an action. Returns `None` if the text has none.
pub(super) fn read<'a>(text: &'a str, remarks: &mut Remarks<'a>) -> Option<Said> {
    let start = begins(text)?;
    let mut own = Remarks::new(remarks.reply);
    let (value, after) = value::read(&text[start..], &mut own);
    let mut content = Said::default();
    if !known(&value) {
        return None;
    }
    let around = [&text[..start], after];
    take(value, Part::Other, &mut content, &mut own);
    for part in around {
        let words = part.trim_matches(|c: char| c.is_whitespace() || "`>*".contains(c));
        if says_something(words) && !["json", "python", "text"].contains(&words) {
            own.complain("text around the action was not used", words);
        }
    }
    for complaint in own.complaints {
        remarks.complaints.push(complaint);
    }
    Some(content)
}

/// Returns the offset of the first dictionary that a line opens.
fn begins(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim_start_matches([' ', '\t', '>', '`', '[']);
        let words = words.strip_prefix("json").unwrap_or(words).trim_start();
        if let Some(inside) = words.strip_prefix('{') {
            let start = at + line.len() - words.len();
            let inside =
                if inside.trim().is_empty() { text[start + 1..].trim_start() } else { inside.trim_start() };
            if begins_key(inside) {
                let list = text[..start].trim_end().ends_with('[');
                return Some(if list { text[..start].trim_end().len() - 1 } else { start });
            }
            return None;
        }
        if line.trim_start().to_lowercase().starts_with("action") {
            return None;
        }
        at += line.len();
    }
    None
}

fn part(key: &str) -> Part {
    let name: String =
        key.chars().take(32).filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    match name.as_str() {
        "thought" | "thoughts" | "think" | "thinking" | "reasoning" | "rationale" | "reason" | "analysis" => {
            Part::Thought
        }
        "action" | "actions" | "act" | "command" | "nextaction" => Part::Action,
        _ => Part::Other,
    }
}

fn known(value: &Value<'_>) -> bool {
    match value {
        Value::Text(_) => false,
        Value::List(values, _) => values.first().is_some_and(known),
        Value::Dict(entries, _) => entries.iter().any(|e| part(&e.key) != Part::Other),
    }
}

/// Adds the text of a value to `content`. A thought after the action belongs to a later step.
fn take<'a>(value: Value<'a>, kind: Part, content: &mut Said, remarks: &mut Remarks<'a>) {
    match value {
        Value::Text(text)
            if !says_something(&text.words) || text.bare && ["None", "null"].contains(&&*text.words) => {}
        Value::Text(text) if text.cut && kind == Part::Action => {
            remarks.complain("the reply ends in the middle of the action, so it was not used", text.at);
        }
        Value::Text(text) => match (kind, content.action.is_some(), content.thought.is_some()) {
            (Part::Action, false, _) => {
                act(&text.words, content, remarks, text.at);
                // Text without quotes is complete only if something follows it.
                content.complete = !text.bare || {
                    let behind = &remarks.reply[remarks.place(text.at).end..];
                    !behind.trim().is_empty()
                };
            }
            (Part::Thought, _, false) => content.thought = Some(text.words),
            (Part::Action, true, _) => remarks.complain("one action a step: this was not used", text.at),
            _ => remarks.complain("this was not used", text.at),
        },
        Value::List(values, _) => {
            for value in values {
                take(value, kind, content, remarks);
            }
        }
        Value::Dict(_, at) if kind == Part::Action => {
            remarks.complain("the action is no text, so it was not used", at);
        }
        Value::Dict(entries, at) if content.action.is_some() => {
            let _ = entries;
            remarks.complain("one action a step: this was not used", at);
        }
        // The thought comes first, wherever it appears.
        Value::Dict(entries, _) => {
            for entry in entries {
                let kind = part(&entry.key);
                if kind == Part::Other {
                    let what = format!("\"{}\" was not used", entry.key.chars().take(40).collect::<String>());
                    remarks.complain(&what, entry.value.at());
                } else {
                    take(entry.value, kind, content, remarks);
                }
            }
        }
    }
}

fn act<'a>(words: &str, content: &mut Said, remarks: &mut Remarks<'a>, at: &'a str) {
    let mut own = Remarks::new(words);
    match words.strip_prefix("think:") {
        Some(thought) if content.thought.is_none() => content.thought = Some(thought.trim().to_owned()),
        _ => content.action = Some(command(words, &mut own).to_owned()),
    }
    // This text was rebuilt from the reply, so its offsets are not offsets in the reply.
    for complaint in own.complaints {
        let at = remarks.place(at);
        remarks.complaints.push(super::Complaint { words: complaint.words, at });
    }
}
