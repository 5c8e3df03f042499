//! Converts values to lessons: finds which key is the mistake, which the solution, and what the other keys mean.

use super::label::{self, Role};
use super::value::{Entry, Text, Value, is_literal};
use super::{ReadItem, Remarks, says_something, squeeze};
use crate::domain::LessonText;

/// Appends the lessons of a value to `items`. `under` is the heading or key it is listed under.
pub(super) fn gather<'a>(
    value: Value<'a>,
    under: Option<&str>,
    items: &mut Vec<ReadItem>,
    remarks: &mut Remarks<'a>,
) {
    match value {
        Value::Text(text) => items.extend(lesson(&text, under, remarks)),
        Value::List(values, _) => {
            for value in values {
                gather(value, under, items, remarks);
            }
        }
        Value::Dict(entries, at) => dict(entries, at, under, items, remarks),
    }
}

/// Returns the lesson in a text, if there is one.
fn lesson<'a>(text: &Text<'a>, under: Option<&str>, remarks: &mut Remarks<'a>) -> Option<ReadItem> {
    if !usable(text, remarks) {
        return None;
    }
    let words = match label::pair(&text.words) {
        Some((mistake, solution)) if says_something(mistake) && says_something(solution) => {
            LessonText::error(mistake, solution)
        }
        _ => LessonText::plain(text.words.clone()),
    };
    let at = remarks.place(text.at);
    Some(ReadItem { text: words, priority: None, under: under.map(str::to_owned), at })
}

/// Returns whether a text has content that can be a lesson, and complains if it doesn't.
fn usable<'a>(text: &Text<'a>, remarks: &mut Remarks<'a>) -> bool {
    if text.cut {
        let words = LessonText::plain(text.words.clone());
        remarks.drop_lesson("the reply ends in the middle of this, so it was not used", text.at, words);
        return false;
    }
    if !says_something(&text.words) {
        remarks.skip(text.at);
        return false;
    }
    if text.bare && is_literal(&text.words) || label::says_none(&text.words) {
        remarks.complain("this is no lesson", text.at);
        return false;
    }
    true
}

/// An item whose parts are still being collected.
#[derive(Default)]
struct Pending<'a> {
    text: Option<(String, &'a str, Role)>,
    solution: Option<(String, &'a str, Role)>,
    priority: Option<String>,
}

impl<'a> Pending<'a> {
    /// Ends the item and returns it.
    fn flush(&mut self, under: Option<&str>, whole: &'a str, remarks: &mut Remarks<'a>) -> Option<ReadItem> {
        let priority = self.priority.take();
        let (text, solution) = (self.text.take(), self.solution.take());
        let words = match (text, solution) {
            (Some((text, _, _)), Some((solution, _, _))) => LessonText::error(text, solution),
            (Some((text, at, role)), None) => {
                if role == Role::Mistake {
                    remarks.complain("this mistake has no solution", at);
                }
                LessonText::plain(text)
            }
            (None, Some((solution, at, role))) => {
                if role == Role::Solution {
                    remarks.complain("this solution has no mistake", at);
                }
                LessonText::plain(solution)
            }
            (None, None) => {
                if let Some(priority) = priority {
                    remarks.complain(&format!("the priority {priority} has no lesson"), whole);
                }
                return None;
            }
        };
        Some(ReadItem { text: words, priority, under: under.map(str::to_owned), at: remarks.place(whole) })
    }
}

fn dict<'a>(
    mut entries: Vec<Entry<'a>>,
    at: &'a str,
    under: Option<&str>,
    items: &mut Vec<ReadItem>,
    remarks: &mut Remarks<'a>,
) {
    drop_lone_key(&mut entries, at, remarks);
    let roles: Vec<Role> = entries.iter().map(|e| label::role(&e.key)).collect();
    let is_record = entries.iter().zip(&roles).any(|(entry, role)| match role {
        Role::Mistake | Role::Solution | Role::Advice => true,
        Role::Lesson => matches!(entry.value, Value::Text(_)),
        _ => false,
    }) && entries
        .iter()
        .zip(&roles)
        .any(|(e, r)| matches!(e.value, Value::Text(_)) && *r != Role::Unknown);
    // Half of a pair is misleading, and a lesson outlives its episode, so the whole pair is dropped.
    let closed = at.ends_with(['}', ']', ')']);
    let half = !closed
        && roles.contains(&Role::Mistake)
        && !roles.contains(&Role::Solution)
        && !roles.contains(&Role::Advice);
    let cut = entries.last().is_some_and(|e| matches!(&e.value, Value::Text(t) if t.cut));
    if is_record && (cut || half) && !repeats(&roles) {
        remarks.complain("the reply ends in the middle of this, so it was not used", at);
        return;
    }
    let mut pending = Pending::default();
    for (entry, role) in entries.into_iter().zip(roles) {
        let role = if role == Role::Advice && pending.text.as_ref().is_some_and(|t| t.2 == Role::Mistake) {
            Role::Solution
        } else {
            role
        };
        let text = match entry.value {
            Value::Text(text) => text,
            Value::List(values, inner) if is_record && role == Role::Solution => {
                joined(values, inner, remarks)
            }
            nested => {
                if entry.key.is_empty() {
                    // A record that begins inside another one: the brace before it is missing.
                    items.extend(pending.flush(under, at, remarks));
                }
                let key = Some(entry.key.as_str()).filter(|k| says_something(k)).or(under);
                remarks.skip(entry.key_at);
                gather(nested, key, items, remarks);
                continue;
            }
        };
        if !is_record {
            items.extend(lone(&entry.key, entry.key_at, role, &text, under, remarks));
            continue;
        }
        if role == Role::Priority && !text.words.is_empty() && !text.cut {
            remarks.skip(entry.key_at);
            pending.priority = Some(text.words);
            continue;
        }
        if role == Role::Unknown && !entry.key.is_empty() || role == Role::Number && text.bare {
            remarks.complain(
                &format!("\"{}\" of a lesson was not used", entry.key),
                span(entry.key_at, text.at, remarks.reply),
            );
            continue;
        }
        remarks.skip(entry.key_at);
        if !usable(&text, remarks) {
            continue;
        }
        match role {
            Role::Solution | Role::Advice => {
                if pending.solution.is_some() {
                    items.extend(pending.flush(under, at, remarks));
                }
                pending.solution = Some((text.words, text.at, role));
            }
            _ => {
                if pending.text.is_some() {
                    items.extend(pending.flush(under, at, remarks));
                }
                pending.text = Some((text.words, text.at, role));
            }
        }
    }
    items.extend(pending.flush(under, at, remarks));
}

/// Drops a quoted word at the end of the reply that no colon follows: like the entries before it, it was meant to be a
/// key.
fn drop_lone_key<'a>(entries: &mut Vec<Entry<'a>>, at: &'a str, remarks: &mut Remarks<'a>) {
    let keyed = entries.len() == 1 || entries.iter().any(|e| !e.key.is_empty());
    let ends = remarks.reply[remarks.place(at).end..].trim().is_empty();
    let Some(last) = entries.last().filter(|_| keyed && ends) else { return };
    if let Value::Text(text) = &last.value
        && last.key.is_empty()
        && !text.bare
        && !text.cut
        && at.trim_end().ends_with(text.at)
    {
        remarks.complain("the reply ends in the middle of this, so it was not used", text.at);
        entries.pop();
    }
}

/// Returns whether one dictionary contains several records, for example because a brace is missing.
fn repeats(roles: &[Role]) -> bool {
    roles.iter().filter(|r| **r == Role::Mistake).count() > 1
}

/// Joins a solution that is a list into one text.
fn joined<'a>(values: Vec<Value<'a>>, at: &'a str, remarks: &mut Remarks<'a>) -> Text<'a> {
    let mut words = String::new();
    let mut waiting = values;
    waiting.reverse();
    while let Some(value) = waiting.pop() {
        match value {
            Value::Text(text) if usable(&text, remarks) => {
                if !words.is_empty() {
                    words.push_str(if words.ends_with(['.', '!', '?']) { " " } else { "; " });
                }
                words.push_str(&text.words);
            }
            Value::Text(_) => {}
            Value::List(inner, _) => waiting.extend(inner.into_iter().rev()),
            Value::Dict(_, at) => remarks.complain("a dictionary inside a solution was not used", at),
        }
    }
    Text { words, at, bare: false, cut: false }
}

/// Returns the lesson of an entry whose key names no known part. If the key adds nothing, the lesson is the value's
/// text alone.
fn lone<'a>(
    key: &str,
    key_at: &'a str,
    role: Role,
    text: &Text<'a>,
    under: Option<&str>,
    remarks: &mut Remarks<'a>,
) -> Option<ReadItem> {
    let silent = key.is_empty() || role != Role::Unknown || stands_in(key, &text.words);
    if silent {
        remarks.skip(key_at);
        return lesson(text, under, remarks);
    }
    let at = span(key_at, text.at, remarks.reply);
    if text.cut || !says_something(&text.words) {
        let what = if text.cut {
            "the reply ends in the middle of this, so it was not used"
        } else {
            "this is no lesson"
        };
        remarks.complain(what, at);
        return None;
    }
    if text.bare && is_literal(&text.words) {
        remarks.complain("this is no lesson", at);
        return None;
    }
    let words = squeeze(&format!("{key}: {}", text.words));
    Some(ReadItem {
        text: LessonText::plain(words),
        priority: None,
        under: under.map(str::to_owned),
        at: remarks.place(at),
    })
}

/// Returns whether every word of a name occurs in a text.
fn stands_in(name: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).take(16);
    name.len() < 200 && words.all(|w| text.contains(&w.to_lowercase()))
}

/// Returns the part of the reply from the beginning of one part to the end of another.
fn span<'a>(from: &str, to: &'a str, reply: &'a str) -> &'a str {
    let start = (from.as_ptr() as usize).saturating_sub(reply.as_ptr() as usize);
    let end = (to.as_ptr() as usize).saturating_sub(reply.as_ptr() as usize) + to.len();
    reply.get(start..end).unwrap_or(to)
}
