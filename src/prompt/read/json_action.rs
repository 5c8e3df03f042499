//! Parses an actor's reply in JSON or as a Python dictionary.

use super::parsed_reply::{ParsedReply, action_in_line};
use super::quoted::is_key_start;
use super::value::{self, Value};
use super::{ParseLog, has_words};

#[derive(Clone, Copy, PartialEq)]
pub(super) enum KeyRole {
    Thought,
    Action,
    Other,
}

/// Parses the first dictionary with a thought or an action. Returns `None` if the text has none.
pub(super) fn read_dict<'a>(text: &'a str, log: &mut ParseLog<'a>) -> Option<ParsedReply> {
    let start = find_dict_start(text)?;
    // Discarded if the dictionary turns out to have no known key.
    let mut dict_log = ParseLog::new(log.reply);
    let (value, after) = value::read_value(&text[start..], &mut dict_log);
    let mut content = ParsedReply::default();
    if !has_known_key(&value) {
        return None;
    }
    apply_value(value, KeyRole::Other, &mut content, &mut dict_log);
    for part in [&text[..start], after] {
        let words = part.trim_matches(|c: char| c.is_whitespace() || "`>*".contains(c));
        if has_words(words) && !["json", "python", "text"].contains(&words) {
            dict_log.complain("text around the action was not used", words);
        }
    }
    for complaint in dict_log.complaints {
        log.complaints.push(complaint);
    }
    Some(content)
}

/// Returns the offset of the first dictionary at the start of a line, or of the list around it.
fn find_dict_start(text: &str) -> Option<usize> {
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim_start_matches([' ', '\t', '>', '`', '[']);
        let words = words.strip_prefix("json").unwrap_or(words).trim_start();
        if let Some(inside) = words.strip_prefix('{') {
            let start = line_start + line.len() - words.len();
            let inside =
                if inside.trim().is_empty() { text[start + 1..].trim_start() } else { inside.trim_start() };
            if is_key_start(inside) {
                let is_in_list = text[..start].trim_end().ends_with('[');
                return Some(if is_in_list { text[..start].trim_end().len() - 1 } else { start });
            }
            return None;
        }
        if line.trim_start().to_lowercase().starts_with("action") {
            return None;
        }
        line_start += line.len();
    }
    None
}

pub(super) fn key_role(key: &str) -> KeyRole {
    let name: String =
        key.chars().take(32).filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    match name.as_str() {
        "thought" | "thoughts" | "think" | "thinking" | "reasoning" | "rationale" | "reason" | "analysis" => {
            KeyRole::Thought
        }
        "action" | "actions" | "act" | "command" | "nextaction" => KeyRole::Action,
        _ => KeyRole::Other,
    }
}

fn has_known_key(value: &Value<'_>) -> bool {
    match value {
        Value::Text(_) => false,
        Value::List(values, _) => values.first().is_some_and(has_known_key),
        Value::Dict(entries, _) => entries.iter().any(|e| key_role(&e.key) != KeyRole::Other),
    }
}

/// Adds the text of a value to `content`. A thought after the action belongs to a later step.
fn apply_value<'a>(value: Value<'a>, role: KeyRole, content: &mut ParsedReply, log: &mut ParseLog<'a>) {
    match value {
        Value::Text(text)
            if !has_words(&text.text) || text.unquoted && ["None", "null"].contains(&&*text.text) => {}
        Value::Text(text) if text.truncated && role == KeyRole::Action => {
            log.complain("the reply ends in the middle of the action, so it was not used", text.source);
        }
        Value::Text(text) => match (role, content.action.is_some(), content.thought.is_some()) {
            (KeyRole::Action, false, _) => {
                apply_action(&text.text, content, log, text.source);
                // Text without quotes is complete only if something follows it.
                content.complete = !text.unquoted || {
                    let rest = &log.reply[log.span_of(text.source).end..];
                    !rest.trim().is_empty()
                };
            }
            (KeyRole::Thought, _, false) => content.thought = Some(text.text),
            (KeyRole::Action, true, _) => {
                log.complain("one action a step: this was not used", text.source);
            }
            _ => log.complain("this was not used", text.source),
        },
        Value::List(values, _) => {
            for value in values {
                apply_value(value, role, content, log);
            }
        }
        Value::Dict(_, source) if role == KeyRole::Action => {
            log.complain("the action is not text, so it was not used", source);
        }
        Value::Dict(_, source) if content.action.is_some() => {
            log.complain("one action a step: this was not used", source);
        }
        // The thought comes first, wherever it appears.
        Value::Dict(entries, _) => {
            for entry in entries {
                let role = key_role(&entry.key);
                if role == KeyRole::Other {
                    let problem =
                        format!("\"{}\" was not used", entry.key.chars().take(40).collect::<String>());
                    log.complain(&problem, entry.value.source());
                } else {
                    apply_value(entry.value, role, content, log);
                }
            }
        }
    }
}

fn apply_action<'a>(text: &str, content: &mut ParsedReply, log: &mut ParseLog<'a>, source: &'a str) {
    let mut text_log = ParseLog::new(text);
    match text.strip_prefix("think:") {
        Some(thought) if content.thought.is_none() => content.thought = Some(thought.trim().to_owned()),
        _ => content.action = Some(action_in_line(text, &mut text_log).to_owned()),
    }
    // This text was rebuilt from the reply, so its offsets are not offsets in the reply.
    for complaint in text_log.complaints {
        let span = log.span_of(source);
        log.complaints.push(super::Complaint { message: complaint.message, span });
    }
}
