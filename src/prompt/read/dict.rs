//! Converts parsed values to lessons, according to the role that each key names: mistake, solution, priority and so on.

use super::label::{self, LabelRole};
use super::value::{Entry, Text, Value, is_literal};
use super::{ParseLog, ReadItem, collapse_whitespace, has_words};
use crate::domain::LessonText;

/// Appends the lessons of a value to `items`. `heading` is the heading or key above the value, if any.
pub(super) fn collect_items<'a>(
    value: Value<'a>,
    heading: Option<&str>,
    items: &mut Vec<ReadItem>,
    log: &mut ParseLog<'a>,
) {
    match value {
        Value::Text(text) => items.extend(item_from_text(&text, heading, log)),
        Value::List(values, _) => {
            for value in values {
                collect_items(value, heading, items, log);
            }
        }
        Value::Dict(entries, source) => collect_dict(entries, source, heading, items, log),
    }
}

/// Returns the lesson in a text, if there is one.
fn item_from_text<'a>(text: &Text<'a>, heading: Option<&str>, log: &mut ParseLog<'a>) -> Option<ReadItem> {
    if !is_usable(text, log) {
        return None;
    }
    let lesson = match label::split_pair(&text.text) {
        Some((mistake, solution)) if has_words(mistake) && has_words(solution) => {
            LessonText::error(mistake, solution)
        }
        _ => LessonText::plain(text.text.clone()),
    };
    let span = log.span_of(text.source);
    Some(ReadItem { text: lesson, priority: None, heading: heading.map(str::to_owned), span })
}

/// Returns whether a text can be a lesson, and adds a complaint if it can't.
fn is_usable<'a>(text: &Text<'a>, log: &mut ParseLog<'a>) -> bool {
    if text.truncated {
        let lesson = LessonText::plain(text.text.clone());
        log.drop_lesson("the reply ends in the middle of this, so it was not used", text.source, lesson);
        return false;
    }
    if !has_words(&text.text) {
        log.mark_as_markup(text.source);
        return false;
    }
    if text.unquoted && is_literal(&text.text) || label::is_empty_list_phrase(&text.text) {
        log.complain("this is not a lesson", text.source);
        return false;
    }
    true
}

/// An item whose parts are still being collected.
#[derive(Default)]
struct PendingRecord<'a> {
    text: Option<(String, &'a str, LabelRole)>,
    solution: Option<(String, &'a str, LabelRole)>,
    priority: Option<String>,
}

impl<'a> PendingRecord<'a> {
    /// Ends the item and returns it.
    fn finish_item(
        &mut self,
        heading: Option<&str>,
        source: &'a str,
        log: &mut ParseLog<'a>,
    ) -> Option<ReadItem> {
        let priority = self.priority.take();
        let (text, solution) = (self.text.take(), self.solution.take());
        let lesson = match (text, solution) {
            (Some((text, _, _)), Some((solution, _, _))) => LessonText::error(text, solution),
            (Some((text, source, role)), None) => {
                if role == LabelRole::Mistake {
                    log.complain("this mistake has no solution", source);
                }
                LessonText::plain(text)
            }
            (None, Some((solution, source, role))) => {
                if role == LabelRole::Solution {
                    log.complain("this solution has no mistake", source);
                }
                LessonText::plain(solution)
            }
            (None, None) => {
                if let Some(priority) = priority {
                    log.complain(&format!("the priority {priority} has no lesson"), source);
                }
                return None;
            }
        };
        Some(ReadItem {
            text: lesson,
            priority,
            heading: heading.map(str::to_owned),
            span: log.span_of(source),
        })
    }
}

fn collect_dict<'a>(
    mut entries: Vec<Entry<'a>>,
    source: &'a str,
    heading: Option<&str>,
    items: &mut Vec<ReadItem>,
    log: &mut ParseLog<'a>,
) {
    drop_lone_key(&mut entries, source, log);
    let roles: Vec<LabelRole> = entries.iter().map(|e| label::parse_role(&e.key)).collect();
    let is_record = entries.iter().zip(&roles).any(|(entry, role)| match role {
        LabelRole::Mistake | LabelRole::Solution | LabelRole::Advice => true,
        LabelRole::Lesson => matches!(entry.value, Value::Text(_)),
        _ => false,
    }) && entries
        .iter()
        .zip(&roles)
        .any(|(e, r)| matches!(e.value, Value::Text(_)) && *r != LabelRole::Unknown);
    // A mistake without its solution is misleading, and a lesson outlives its episode, so an incomplete record is
    // dropped.
    let is_closed = source.ends_with(['}', ']', ')']);
    let lacks_solution = !is_closed
        && roles.contains(&LabelRole::Mistake)
        && !roles.contains(&LabelRole::Solution)
        && !roles.contains(&LabelRole::Advice);
    let is_truncated = entries.last().is_some_and(|e| matches!(&e.value, Value::Text(t) if t.truncated));
    if is_record && (is_truncated || lacks_solution) && !has_repeated_mistake(&roles) {
        log.complain("the reply ends in the middle of this, so it was not used", source);
        return;
    }
    let mut pending = PendingRecord::default();
    for (entry, role) in entries.into_iter().zip(roles) {
        let role = if role == LabelRole::Advice
            && pending.text.as_ref().is_some_and(|t| t.2 == LabelRole::Mistake)
        {
            LabelRole::Solution
        } else {
            role
        };
        let text = match entry.value {
            Value::Text(text) => text,
            Value::List(values, inner) if is_record && role == LabelRole::Solution => {
                join_values(values, inner, log)
            }
            nested => {
                if entry.key.is_empty() {
                    // A record begins inside this one, because the brace between them is missing.
                    items.extend(pending.finish_item(heading, source, log));
                }
                let key = Some(entry.key.as_str()).filter(|k| has_words(k)).or(heading);
                log.mark_as_markup(entry.key_source);
                collect_items(nested, key, items, log);
                continue;
            }
        };
        if !is_record {
            items.extend(item_from_entry(&entry.key, entry.key_source, role, &text, heading, log));
            continue;
        }
        if role == LabelRole::Priority && !text.text.is_empty() && !text.truncated {
            log.mark_as_markup(entry.key_source);
            pending.priority = Some(text.text);
            continue;
        }
        if role == LabelRole::Unknown && !entry.key.is_empty() || role == LabelRole::Number && text.unquoted {
            log.complain(
                &format!("\"{}\" of a lesson was not used", entry.key),
                slice_between(entry.key_source, text.source, log.reply),
            );
            continue;
        }
        log.mark_as_markup(entry.key_source);
        if !is_usable(&text, log) {
            continue;
        }
        match role {
            LabelRole::Solution | LabelRole::Advice => {
                if pending.solution.is_some() {
                    items.extend(pending.finish_item(heading, source, log));
                }
                pending.solution = Some((text.text, text.source, role));
            }
            _ => {
                if pending.text.is_some() {
                    items.extend(pending.finish_item(heading, source, log));
                }
                pending.text = Some((text.text, text.source, role));
            }
        }
    }
    items.extend(pending.finish_item(heading, source, log));
}

/// Drops the last entry if the reply ends after its quoted text and other entries have keys, because the text was
/// probably going to be a key.
fn drop_lone_key<'a>(entries: &mut Vec<Entry<'a>>, source: &'a str, log: &mut ParseLog<'a>) {
    let has_keys = entries.len() == 1 || entries.iter().any(|e| !e.key.is_empty());
    let ends_reply = log.reply[log.span_of(source).end..].trim().is_empty();
    let Some(last) = entries.last().filter(|_| has_keys && ends_reply) else { return };
    if let Value::Text(text) = &last.value
        && last.key.is_empty()
        && !text.unquoted
        && !text.truncated
        && source.trim_end().ends_with(text.source)
    {
        log.complain("the reply ends in the middle of this, so it was not used", text.source);
        entries.pop();
    }
}

/// Returns whether a dictionary contains several mistakes, as when the braces between two records are missing.
fn has_repeated_mistake(roles: &[LabelRole]) -> bool {
    roles.iter().filter(|r| **r == LabelRole::Mistake).count() > 1
}

/// Joins a solution that is a list into one text.
fn join_values<'a>(values: Vec<Value<'a>>, source: &'a str, log: &mut ParseLog<'a>) -> Text<'a> {
    let mut joined = String::new();
    let mut stack = values;
    stack.reverse();
    while let Some(value) = stack.pop() {
        match value {
            Value::Text(text) if is_usable(&text, log) => {
                if !joined.is_empty() {
                    joined.push_str(if joined.ends_with(['.', '!', '?']) { " " } else { "; " });
                }
                joined.push_str(&text.text);
            }
            Value::Text(_) => {}
            Value::List(inner, _) => stack.extend(inner.into_iter().rev()),
            Value::Dict(_, nested) => log.complain("a dictionary inside a solution was not used", nested),
        }
    }
    Text { text: joined, source, unquoted: false, truncated: false }
}

/// Returns the lesson in an entry of a dictionary that isn't a record. The key becomes part of the lesson, unless it
/// has a known role or repeats words of the text.
fn item_from_entry<'a>(
    key: &str,
    key_source: &'a str,
    role: LabelRole,
    text: &Text<'a>,
    heading: Option<&str>,
    log: &mut ParseLog<'a>,
) -> Option<ReadItem> {
    let omits_key = key.is_empty() || role != LabelRole::Unknown || contains_all_words(key, &text.text);
    if omits_key {
        log.mark_as_markup(key_source);
        return item_from_text(text, heading, log);
    }
    let entry_source = slice_between(key_source, text.source, log.reply);
    if text.truncated || !has_words(&text.text) {
        let problem = if text.truncated {
            "the reply ends in the middle of this, so it was not used"
        } else {
            "this is not a lesson"
        };
        log.complain(problem, entry_source);
        return None;
    }
    if text.unquoted && is_literal(&text.text) {
        log.complain("this is not a lesson", entry_source);
        return None;
    }
    let lesson = collapse_whitespace(&format!("{key}: {}", text.text));
    Some(ReadItem {
        text: LessonText::plain(lesson),
        priority: None,
        heading: heading.map(str::to_owned),
        span: log.span_of(entry_source),
    })
}

/// Returns whether every word of a name occurs in a text.
fn contains_all_words(name: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).take(16);
    name.len() < 200 && words.all(|w| text.contains(&w.to_lowercase()))
}

/// Returns the part of the reply from the start of `first` to the end of `last`.
fn slice_between<'a>(first: &str, last: &'a str, reply: &'a str) -> &'a str {
    let start = (first.as_ptr() as usize).saturating_sub(reply.as_ptr() as usize);
    let end = (last.as_ptr() as usize).saturating_sub(reply.as_ptr() as usize) + last.len();
    reply.get(start..end).unwrap_or(last)
}
