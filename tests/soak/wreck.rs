//! Corrupts the bytes of a branch file, by lines and by values.

#![allow(dead_code, reason = "each target uses only part of it")]

use crate::cases::Rng;
use serde_json::{Map, Value, json};

/// Returns the lines of a file without their line breaks.
pub(crate) fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    if lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

/// Returns a window of a branch file's lines (header first) with one to four mutations. The events are often
/// renumbered afterwards, so that the reader passes them on to the fold.
pub(crate) fn mutate_branch(rng: &mut Rng, file: &[Vec<u8>], other: &[Vec<u8>]) -> Vec<u8> {
    let line_count = (2 + rng.below(60)).min(file.len());
    let first = if rng.once_in(3) { 1 + rng.below(file.len() - 1) } else { 1 };
    let mut lines: Vec<Vec<u8>> = vec![file[0].clone()];
    lines.extend(file[first..].iter().take(line_count).cloned());
    let mut truncate = false;
    for _ in 0..[1, 1, 1, 2, 4][rng.below(5)] {
        truncate |= mutate_once(rng, &mut lines, other);
    }
    if (first > 1 || rng.once_in(2)) && !rng.once_in(5) {
        renumber(&mut lines);
    }
    let mut bytes = lines.join(&b'\n');
    if !rng.once_in(10) {
        bytes.push(b'\n');
    }
    if truncate || rng.once_in(20) {
        bytes.truncate(rng.below(bytes.len() + 1));
    }
    if rng.once_in(20) {
        bytes.extend(std::iter::repeat_n(0, rng.below(5_000)));
        if rng.once_in(2) {
            bytes.push(b'\n');
        }
    }
    bytes
}

/// Applies one mutation. Returns true if the file should also be truncated.
fn mutate_once(rng: &mut Rng, lines: &mut Vec<Vec<u8>>, other: &[Vec<u8>]) -> bool {
    let index = if rng.once_in(10) { 0 } else { rng.below(lines.len()) };
    match rng.below(16) {
        0 => mutate_bytes(rng, &mut lines[index]),
        1 => return true,
        2 if lines.len() > 1 => drop(lines.remove(index)),
        3 => lines.insert(index, lines[rng.below(lines.len())].clone()),
        4 => lines.insert(index, other[rng.below(other.len())].clone()),
        5 => {
            let other_index = rng.below(lines.len());
            lines.swap(index, other_index);
        }
        6 => {
            let text = crate::hostile::text(rng, 50);
            lines.insert(index, text.into_bytes());
        }
        7 => lines[index] = nested_brackets(rng),
        8 => {
            // A part of a line, followed by a line break.
            let length = rng.below(lines[index].len() + 1);
            lines[index].truncate(length);
        }
        _ => {
            let donor = &other[rng.below(other.len())];
            mutate_value(rng, &mut lines[index], donor);
        }
    }
    false
}

/// Flips, inserts and removes bytes.
pub(crate) fn mutate_bytes(rng: &mut Rng, line: &mut Vec<u8>) {
    for _ in 0..=rng.below(6) {
        if line.is_empty() {
            return;
        }
        let index = rng.below(line.len());
        match rng.below(4) {
            0 => line[index] ^= 1 << rng.below(8),
            1 => line[index] = rng.below(256) as u8,
            2 => line.insert(index, b"{}[]\",:\\0-e\x00\xff\x1b"[rng.below(14)]),
            _ => drop(line.remove(index)),
        }
    }
}

/// Returns a line of nested brackets, closed or not.
fn nested_brackets(rng: &mut Rng) -> Vec<u8> {
    let depth = [10, 100, 127, 128, 129, 1_000, 200_000][rng.below(7)];
    let (open, close) = [("[", "]"), ("{\"a\":", "}"), ("[{\"turn\":", "}]")][rng.below(3)];
    let mut text = String::new();
    if rng.once_in(2) {
        text.push_str(
            r#"{"seq":1,"at":"2026-11-20T10:40:00Z","cause":"policy","type":"memory_set","value":"#,
        );
    }
    text.push_str(&open.repeat(depth));
    if rng.once_in(2) {
        text.push('1');
        text.push_str(&close.repeat(depth));
        text.push('}');
    }
    text.into_bytes()
}

/// Replaces a value inside a line's JSON with another one.
fn mutate_value(rng: &mut Rng, line: &mut Vec<u8>, other: &[u8]) {
    let Ok(mut json) = serde_json::from_slice::<Value>(line) else { return mutate_bytes(rng, line) };
    let donor: Value = serde_json::from_slice(other).unwrap_or(Value::Null);
    let new = random_value(rng, &donor);
    let size = count_values(&json);
    let position = rng.below(size);
    let remove = rng.once_in(6);
    edit_value_at(&mut json, position, &mut |value| {
        if remove && let Value::Object(map) = value {
            let key = map.keys().nth(position % map.len().max(1)).cloned();
            key.map(|k| map.remove(&k));
        } else {
            *value = new.clone();
        }
    });
    if let Value::Object(map) = &mut json
        && rng.once_in(6)
    {
        map.insert("type".to_owned(), random_kind(rng).into());
    }
    let mut text = serde_json::to_string(&json).unwrap();
    for (placeholder, extreme) in [
        ("\"@big\"", "18446744073709551615"),
        ("\"@inf\"", "1e999"),
        ("\"@digits\"", "9999999999999999999999"),
    ] {
        text = text.replace(placeholder, extreme);
    }
    *line = text.into_bytes();
}

fn random_kind(rng: &mut Rng) -> &'static str {
    rng.pick(&[
        "run_started",
        "pool_loaded",
        "text_defined",
        "episode_started",
        "world_reset",
        "prompt_drafted",
        "prompt_sent",
        "step_opened",
        "reply_received",
        "proposed",
        "approved",
        "action_overridden",
        "proposal_rejected",
        "asked_again",
        "action_taken",
        "observed",
        "noted",
        "reflected",
        "lesson_changed",
        "undone",
        "redone",
        "memory_set",
        "remarked",
        "setting_changed",
        "autonomy_set",
        "resumed",
        "pause_requested",
        "paused",
        "step_granted",
        "stage_granted",
        "call_failed",
        "call_cancelled",
        "retried",
        "diverged",
        "episode_ended",
        "run_ended",
        "closed",
        "reopened",
        "branch",
        "from_the_future",
        "",
    ])
}

fn random_value(rng: &mut Rng, donor: &Value) -> Value {
    match rng.below(18) {
        0 => json!(0),
        1 => json!(-1),
        2 => json!(1),
        3 => json!(u32::MAX),
        4 => json!(u64::from(u32::MAX) + 1),
        5 => json!("@big"),
        6 => json!(i64::MIN),
        7 => json!([1e308, -0.0, 5e-324, 0.1 + 0.2, 2.0 / 3.0, 1e16][rng.below(6)]),
        8 => json!(["@inf", "@digits"][rng.below(2)]),
        9 => Value::Null,
        10 => json!(rng.once_in(2)),
        11 => json!(crate::hostile::text(rng, 200)),
        12 => {
            let (from, to) = ([0, 1, 2][rng.below(3)], [0, 7, u32::MAX][rng.below(3)]);
            json!({"steps": {"from": from, "to": to}})
        }
        13 => json!([]),
        14 => Value::Object(Map::new()),
        15 => json!(f64::from_bits(rng.next() & 0x7fef_ffff_ffff_ffff)),
        _ => {
            let position = rng.below(count_values(donor));
            let mut found = Value::Null;
            edit_value_at(&mut donor.clone(), position, &mut |value| found = value.clone());
            found
        }
    }
}

fn count_values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count_values).sum(),
        Value::Object(map) => map.values().map(count_values).sum(),
        _ => 0,
    }
}

/// Calls `edit` with the value at this position of a traversal. Returns the remaining positions if there are too few
/// values.
fn edit_value_at(value: &mut Value, position: usize, edit: &mut impl FnMut(&mut Value)) -> Option<usize> {
    let Some(mut rest) = position.checked_sub(1) else {
        edit(value);
        return None;
    };
    match value {
        Value::Array(items) => {
            for item in items {
                rest = edit_value_at(item, rest, edit)?;
            }
        }
        Value::Object(map) => {
            for item in map.values_mut() {
                rest = edit_value_at(item, rest, edit)?;
            }
        }
        _ => {}
    }
    Some(rest)
}

/// Renumbers all lines that are objects.
fn renumber(lines: &mut [Vec<u8>]) {
    for (seq, line) in lines.iter_mut().enumerate().skip(1) {
        // As text, because parsing would lose extreme numbers.
        let Ok(text) = std::str::from_utf8(line) else { continue };
        let Some(start) = text.find("\"seq\":") else { continue };
        let rest = &text[start + 6..];
        let end = rest.find([',', '}']).unwrap_or(rest.len());
        *line = format!("{}\"seq\":{seq}{}", &text[..start], &rest[end..]).into_bytes();
    }
}
