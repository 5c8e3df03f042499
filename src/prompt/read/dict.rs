//! Converts values to lessons: finds which key is the mistake, which the solution, and what the other keys mean.

use super::label::{self, Role};
use super::value::{Entry, Text, Value, is_literal};
use super::{ReadItem, Remarks, collapse_whitespace, has_words};
use crate::domain::LessonText;

/// Appends the lessons of a value to `items`. `under` is the heading or key it is listed under.
pub(super) fn collect_items<'a>(
    value: Value<'a>,
    under: Option<&str>,
    items: &mut Vec<ReadItem>,
    remarks: &mut Remarks<'a>,
) {
    match value {
        Value::Text(text) => items.extend(item_from_text(&text, under, remarks)),
        Value::List(values, _) => {
            for value in values {
                collect_items(value, under, items, remarks);
            }
        }
        Value::Dict(entries, at) => collect_dict(entries, at, under, items, remarks),
    }
}

/// Returns the lesson in a text, if there is one.
fn item_from_text<'a>(text: &Text<'a>, under: Option<&str>, remarks: &mut Remarks<'a>) -> Option<ReadItem> {
    if !is_usable(text, remarks) {
        return None;
    }
    let words = match label::split_pair(&text.words) {
        Some((mistake, solution)) if has_words(mistake) && has_words(solution) => {
            LessonText::error(mistake, solution)
        }
        _ => LessonText::plain(text.words.clone()),
    };
    let at = remarks.span_of(text.source);
    Some(ReadItem { text: words, priority: None, heading: under.map(str::to_owned), at })
}

/// Returns whether a text has content that can be a lesson, and complains if it doesn't.
fn is_usable<'a>(text: &Text<'a>, remarks: &mut Remarks<'a>) -> bool {
    if text.truncated {
        let words = LessonText::plain(text.words.clone());
        remarks.drop_lesson("the reply ends in the middle of this, so it was not used", text.source, words);
        return false;
    }
    if !has_words(&text.words) {
        remarks.add_markup(text.source);
        return false;
    }
    if text.unquoted && is_literal(&text.words) || label::is_empty_list_phrase(&text.words) {
        remarks.complain("this is not a lesson", text.source);
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
    fn finish_item(
        &mut self,
        under: Option<&str>,
        whole: &'a str,
        remarks: &mut Remarks<'a>,
    ) -> Option<ReadItem> {
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
        Some(ReadItem {
            text: words,
            priority,
            heading: under.map(str::to_owned),
            at: remarks.span_of(whole),
        })
    }
}

fn collect_dict<'a>(
    mut entries: Vec<Entry<'a>>,
    at: &'a str,
    under: Option<&str>,
    items: &mut Vec<ReadItem>,
    remarks: &mut Remarks<'a>,
) {
    drop_lone_key(&mut entries, at, remarks);
    let roles: Vec<Role> = entries.iter().map(|e| label::parse_role(&e.key)).collect();
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
    let cut = entries.last().is_some_and(|e| matches!(&e.value, Value::Text(t) if t.truncated));
    if is_record && (cut || half) && !has_repeated_mistake(&roles) {
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
                join_values(values, inner, remarks)
            }
            nested => {
                if entry.key.is_empty() {
                    // A record that begins inside another one: the brace before it is missing.
                    items.extend(pending.finish_item(under, at, remarks));
                }
                let key = Some(entry.key.as_str()).filter(|k| has_words(k)).or(under);
                remarks.add_markup(entry.key_source);
                collect_items(nested, key, items, remarks);
                continue;
            }
        };
        if !is_record {
            items.extend(item_from_entry(&entry.key, entry.key_source, role, &text, under, remarks));
            continue;
        }
        if role == Role::Priority && !text.words.is_empty() && !text.truncated {
            remarks.add_markup(entry.key_source);
            pending.priority = Some(text.words);
            continue;
        }
        if role == Role::Unknown && !entry.key.is_empty() || role == Role::Number && text.unquoted {
            remarks.complain(
                &format!("\"{}\" of a lesson was not used", entry.key),
                slice_between(entry.key_source, text.source, remarks.reply),
            );
            continue;
        }
        remarks.add_markup(entry.key_source);
        if !is_usable(&text, remarks) {
            continue;
        }
        match role {
            Role::Solution | Role::Advice => {
                if pending.solution.is_some() {
                    items.extend(pending.finish_item(under, at, remarks));
                }
                pending.solution = Some((text.words, text.source, role));
            }
            _ => {
                if pending.text.is_some() {
                    items.extend(pending.finish_item(under, at, remarks));
                }
                pending.text = Some((text.words, text.source, role));
            }
        }
    }
    items.extend(pending.finish_item(under, at, remarks));
}

/// Drops a quoted word at the end of the reply that no colon follows: like the entries before it, it was meant to be a
/// key.
fn drop_lone_key<'a>(entries: &mut Vec<Entry<'a>>, at: &'a str, remarks: &mut Remarks<'a>) {
    let keyed = entries.len() == 1 || entries.iter().any(|e| !e.key.is_empty());
    let ends = remarks.reply[remarks.span_of(at).end..].trim().is_empty();
    let Some(last) = entries.last().filter(|_| keyed && ends) else { return };
    if let Value::Text(text) = &last.value
        && last.key.is_empty()
        && !text.unquoted
        && !text.truncated
        && at.trim_end().ends_with(text.source)
    {
        remarks.complain("the reply ends in the middle of this, so it was not used", text.source);
        entries.pop();
    }
}

/// Returns whether one dictionary contains several records, for example because a brace is missing.
fn has_repeated_mistake(roles: &[Role]) -> bool {
    roles.iter().filter(|r| **r == Role::Mistake).count() > 1
}

/// Joins a solution that is a list into one text.
fn join_values<'a>(values: Vec<Value<'a>>, at: &'a str, remarks: &mut Remarks<'a>) -> Text<'a> {
    let mut words = String::new();
    let mut waiting = values;
    waiting.reverse();
    while let Some(value) = waiting.pop() {
        match value {
            Value::Text(text) if is_usable(&text, remarks) => {
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
    Text { words, source: at, unquoted: false, truncated: false }
}

/// Returns the lesson of an entry whose key names no known part. If the key adds nothing, the lesson is the value's
/// text alone.
fn item_from_entry<'a>(
    key: &str,
    key_at: &'a str,
    role: Role,
    text: &Text<'a>,
    under: Option<&str>,
    remarks: &mut Remarks<'a>,
) -> Option<ReadItem> {
    let silent = key.is_empty() || role != Role::Unknown || contains_all_words(key, &text.words);
    if silent {
        remarks.add_markup(key_at);
        return item_from_text(text, under, remarks);
    }
    let at = slice_between(key_at, text.source, remarks.reply);
    if text.truncated || !has_words(&text.words) {
        let what = if text.truncated {
            "the reply ends in the middle of this, so it was not used"
        } else {
            "this is not a lesson"
        };
        remarks.complain(what, at);
        return None;
    }
    if text.unquoted && is_literal(&text.words) {
        remarks.complain("this is not a lesson", at);
        return None;
    }
    let words = collapse_whitespace(&format!("{key}: {}", text.words));
    Some(ReadItem {
        text: LessonText::plain(words),
        priority: None,
        heading: under.map(str::to_owned),
        at: remarks.span_of(at),
    })
}

/// Returns whether every word of a name occurs in a text.
fn contains_all_words(name: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).take(16);
    name.len() < 200 && words.all(|w| text.contains(&w.to_lowercase()))
}

/// Returns the part of the reply from the beginning of one part to the end of another.
fn slice_between<'a>(from: &str, to: &'a str, reply: &'a str) -> &'a str {
    let start = (from.as_ptr() as usize).saturating_sub(reply.as_ptr() as usize);
    let end = (to.as_ptr() as usize).saturating_sub(reply.as_ptr() as usize) + to.len();
    reply.get(start..end).unwrap_or(to)
}
