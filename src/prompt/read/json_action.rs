//! An actor that answers in JSON or a Python dictionary.

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

/// Reads the first dictionary with a thought or an action in it; `None` where the text has none.
pub(super) fn read<'a>(text: &'a str, remarks: &mut Remarks<'a>) -> Option<Said> {
    let start = begins(text)?;
    let mut own = Remarks::new(remarks.reply);
    let (value, after) = value::read(&text[start..], &mut own);
    let mut said = Said::default();
    if !known(&value) {
        return None;
    }
    let around = [&text[..start], after];
    take(value, Part::Other, &mut said, &mut own);
    for part in around {
        let words = part.trim_matches(|c: char| c.is_whitespace() || "`>*".contains(c));
        if says_something(words) && !["json", "python", "text"].contains(&words) {
            own.complain("text around the action was not used", words);
        }
    }
    for complaint in own.complaints {
        remarks.complaints.push(complaint);
    }
    Some(said)
}

/// Where the first line that opens a dictionary does so.
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

/// Takes what a value says. A thought after the action belongs to a later step.
fn take<'a>(value: Value<'a>, of: Part, said: &mut Said, remarks: &mut Remarks<'a>) {
    match value {
        Value::Text(text)
            if !says_something(&text.words) || text.bare && ["None", "null"].contains(&&*text.words) => {}
        Value::Text(text) if text.cut && of == Part::Action => {
            remarks.complain("the reply ends in the middle of the action, so it was not used", text.at);
        }
        Value::Text(text) => match (of, said.action.is_some(), said.thought.is_some()) {
            (Part::Action, false, _) => {
                act(&text.words, said, remarks, text.at);
                // Words without quotes are complete where something stands behind them.
                said.complete = !text.bare || {
                    let behind = &remarks.reply[remarks.place(text.at).end..];
                    !behind.trim().is_empty()
                };
            }
            (Part::Thought, _, false) => said.thought = Some(text.words),
            (Part::Action, true, _) => remarks.complain("one action a step: this was not used", text.at),
            _ => remarks.complain("this was not used", text.at),
        },
        Value::List(values, _) => {
            for value in values {
                take(value, of, said, remarks);
            }
        }
        Value::Dict(_, at) if of == Part::Action => {
            remarks.complain("the action is no text, so it was not used", at);
        }
        Value::Dict(entries, at) if said.action.is_some() => {
            let _ = entries;
            remarks.complain("one action a step: this was not used", at);
        }
        // The thought goes first, wherever it stands.
        Value::Dict(entries, _) => {
            for entry in entries {
                let of = part(&entry.key);
                if of == Part::Other {
                    let what = format!("\"{}\" was not used", entry.key.chars().take(40).collect::<String>());
                    remarks.complain(&what, entry.value.at());
                } else {
                    take(entry.value, of, said, remarks);
                }
            }
        }
    }
}

fn act<'a>(words: &str, said: &mut Said, remarks: &mut Remarks<'a>, at: &'a str) {
    let mut own = Remarks::new(words);
    match words.strip_prefix("think:") {
        Some(thought) if said.thought.is_none() => said.thought = Some(thought.trim().to_owned()),
        _ => said.action = Some(command(words, &mut own).to_owned()),
    }
    // The words were made anew from the reply: a place in them is no place in it.
    for complaint in own.complaints {
        let at = remarks.place(at);
        remarks.complaints.push(super::Complaint { words: complaint.words, at });
    }
}
