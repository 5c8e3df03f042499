//! What the pictures of the environments share, and the picture of an environment that has none of its own: a list of
//! what is known.

use crate::domain::{Picture, PictureRequest, PictureRole, PictureRow, VERBS};
use crate::text::{prefix, truncate, width, wrap_at_most};
use serde_json::Value;
use std::borrow::Cow;

/// Maximum number of listed values; bounds the work per frame.
const MAX_VALUES: usize = 100;
/// Maximum number of elements of a list, and of bytes of each.
const MAX_ELEMENTS: usize = 100;
const MAX_ELEMENT_BYTES: usize = 1024;
/// Objects nested deeper than this are left out.
const MAX_DEPTH: usize = 4;
/// The columns of the longest goal that is left to the status row.
const MAX_STATUS_GOAL: usize = 30;
/// Maximum number of values in the one-line summary.
const MAX_SUMMARY_VALUES: usize = 4;

/// Returns a text of an object; empty if it has none of this name.
pub(super) fn text_of<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a list of an object; empty if it has none of this name.
pub(super) fn list_of<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// One row of the list: how deep it is nested, its name, and its text.
struct ListedValue<'a> {
    depth: usize,
    name: Cow<'a, str>,
    text: Cow<'a, str>,
}

/// Returns a picture that lists everything known, by name, and a goal that is too long for the status row. Fits any
/// environment.
pub fn list_values(request: &PictureRequest<'_>) -> Picture {
    let glyphs = request.glyphs();
    let mut values = Vec::new();
    match request.truth.unwrap_or(request.shown) {
        Value::Null => {}
        known @ Value::Object(_) => add_children(known, 0, glyphs.ellipsis, &mut values),
        other => add_value("value".into(), other, 0, glyphs.ellipsis, &mut values),
    }
    // The words with which actions begin are for the reading of replies.
    values.retain(|value| value.depth > 0 || value.name != VERBS);
    // An environment that tells the goal with each answer doesn't need it twice.
    values.retain(|value| value.depth > 0 || value.name != "goal" || value.text != request.goal);
    join_scores(&mut values);
    let summaries: Vec<String> = values
        .iter()
        .filter(|value| value.depth == 0 && !value.text.is_empty())
        .take(MAX_SUMMARY_VALUES)
        .map(|value| format!("{} {}", value.name, prefix(&value.text, MAX_ELEMENT_BYTES)))
        .collect();
    let separator = format!(" {} ", glyphs.separator);
    let one_line = (1..=summaries.len()).rev().map(|count| summaries[..count].join(&separator)).collect();
    let is_cut = values.len() > MAX_VALUES;
    values.truncate(MAX_VALUES);
    // A short one is in the status row as a whole.
    if width(request.goal) > MAX_STATUS_GOAL {
        values.insert(0, ListedValue { depth: 0, name: "goal".into(), text: request.goal.into() });
    }
    let columns = request.columns.max(8);
    let labels: Vec<String> = values
        .iter()
        .map(|value| {
            let name = truncate(&value.name, columns / 3, glyphs.ellipsis);
            format!("{}{name}", " ".repeat(2 * value.depth))
        })
        .collect();
    let label_width = labels.iter().map(|label| width(label)).max().unwrap_or(0).min(columns / 2);
    let mut rows = Vec::new();
    for (label, value) in labels.iter().zip(&values) {
        let label = truncate(label, label_width, glyphs.ellipsis);
        let padding = " ".repeat(label_width - width(&label) + 2);
        rows.extend(labelled_rows(&format!("{label}{padding}"), PictureRole::Text, &value.text, columns));
    }
    if is_cut {
        rows.push(vec![(PictureRole::Muted, format!("{} more is known", glyphs.ellipsis))]);
    }
    if rows.is_empty() {
        rows.extend(labelled_rows("", PictureRole::Muted, "nothing is known yet", columns));
    }
    Picture { summary: String::new(), one_line, shows_truth: request.truth.is_some(), rows }
}

/// Makes one row of a score and its maximum: `2 of 4`.
fn join_scores(values: &mut Vec<ListedValue<'_>>) {
    let place = |values: &[ListedValue<'_>], name: &str| {
        values.iter().position(|value| value.depth == 0 && value.name == name && !value.text.is_empty())
    };
    if let (Some(score), Some(most)) = (place(values, "score"), place(values, "max_score")) {
        values[score].text = format!("{} of {}", values[score].text, values[most].text).into();
        values.remove(most);
    }
}

/// Adds what an object or a list contains, until one value more than the maximum is listed.
fn add_children<'a>(parent: &'a Value, depth: usize, ellipsis: &'a str, values: &mut Vec<ListedValue<'a>>) {
    let fields = parent.as_object().into_iter().flatten().map(|(name, value)| (name.as_str().into(), value));
    let numbers = 1..;
    let elements = numbers.zip(parent.as_array().into_iter().flatten());
    let elements = elements.map(|(number, value): (u32, _)| (number.to_string().into(), value));
    for (name, value) in fields.chain(elements) {
        if values.len() > MAX_VALUES {
            return;
        }
        add_value(name, value, depth, ellipsis, values);
    }
}

/// Adds one value. What an object contains follows below its name; so do the elements of a list that contains objects
/// or lists.
fn add_value<'a>(
    name: Cow<'a, str>,
    value: &'a Value,
    depth: usize,
    ellipsis: &'a str,
    values: &mut Vec<ListedValue<'a>>,
) {
    let is_cut = depth >= MAX_DEPTH;
    let text = scalar_text(value).or_else(|| list_text(value, ellipsis)).unwrap_or(if is_cut {
        ellipsis.into()
    } else {
        "".into()
    });
    let has_children = text.is_empty() && !is_cut && !value.is_string();
    values.push(ListedValue { depth, name, text });
    if has_children {
        add_children(value, depth + 1, ellipsis, values);
    }
}

/// Returns the text of a value that contains no others.
fn scalar_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => Some("none".into()),
        Value::Bool(is_true) => Some(if *is_true { "yes" } else { "no" }.into()),
        Value::Number(number) => Some(number.to_string().into()),
        Value::String(text) => Some(text.into()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the text of an empty object, and of a list whose first elements contain no others.
fn list_text<'a>(value: &'a Value, ellipsis: &str) -> Option<Cow<'a, str>> {
    let elements = match value {
        Value::Object(fields) => return fields.is_empty().then(|| "none".into()),
        other => other.as_array()?,
    };
    if elements.is_empty() {
        return Some("none".into());
    }
    let texts: Option<Vec<Cow<'_, str>>> = elements.iter().take(MAX_ELEMENTS).map(scalar_text).collect();
    let mut text = String::new();
    for (index, element) in texts?.iter().enumerate() {
        text.push_str(if index == 0 { "" } else { ", " });
        text.push_str(prefix(element, MAX_ELEMENT_BYTES));
    }
    if elements.len() > MAX_ELEMENTS {
        text.push_str(", ");
        text.push_str(ellipsis);
    }
    Some(text.into())
}

/// Returns a text after a label, in as many rows as it needs.
pub(super) fn labelled_rows(label: &str, role: PictureRole, text: &str, columns: usize) -> Vec<PictureRow> {
    let indent = " ".repeat(width(label));
    let lines = wrap_words(text, columns.saturating_sub(indent.len())).into_iter().enumerate();
    lines
        .map(|(at, line)| {
            let lead = if at == 0 { label } else { &indent };
            vec![(PictureRole::Muted, lead.to_owned()), (role, line)]
        })
        .collect()
}

/// Wraps a text, to a bounded number of lines.
pub(super) fn wrap_words(text: &str, columns: usize) -> Vec<String> {
    const MAX_LINES: usize = 12;
    wrap_at_most(text, columns.max(4), MAX_LINES).0
}

#[cfg(test)]
mod tests;
