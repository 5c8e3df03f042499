//! Finds the list in a mentor's reply: brackets if there are any, otherwise its lines.

use super::label::{is_empty_list_phrase, is_filler_phrase, strip_bullet};
use super::quoted::{self, QuoteContext};
use super::value::{self, Value};
use super::{Items, ParseLog, ReadItem, dict, has_words, lines, prose};
use std::collections::HashSet;

/// Parses a mentor's reply as a list of lessons (OmniReflect, tables 17 and 18): Python, JSON, JSON lines, numbered,
/// bulleted or plain lines, with or without surrounding prose, complete or cut off. Linear in the length of the reply.
pub fn read_items(reply: &str) -> Items {
    let mut remarks = ParseLog::new(reply);
    let body = remarks.after_reasoning();
    let mut items = Vec::new();
    let pieces = split_pieces(body, &mut remarks);
    let has_list = pieces.iter().any(|p| matches!(p, Piece::Value(v) if is_answer(v)));
    let mut aside: Option<(&str, usize)> = None;
    let mut lines = Vec::new();
    let mut heading: Option<String> = None;
    for piece in pieces {
        match piece {
            Piece::Value(value) => {
                complain_about_aside(&mut aside, body, &mut remarks);
                dict::collect_items(value, heading.as_deref(), &mut items, &mut remarks);
            }
            Piece::Line(line) if !has_list => lines.push(line),
            Piece::Line(line) => {
                let words = strip_bullet(line).unwrap_or(line);
                if !has_words(words) || is_filler_phrase(words) || lines::is_fence(line) {
                    if let Some(new_heading) = lines::parse_heading(words) {
                        heading = Some(new_heading);
                    }
                    remarks.add_markup(line);
                } else {
                    let end = offset_in(body, line) + line.len();
                    aside = Some(aside.map_or((line, end), |(first, _)| (first, end)));
                }
            }
        }
    }
    complain_about_aside(&mut aside, body, &mut remarks);
    lines::read_lines(&lines, &mut items, &mut remarks);
    remove_duplicates(&mut items, &mut remarks);
    prose::drop_non_lessons(&mut items, &mut remarks);
    if reply.trim().is_empty() {
        remarks.complain("the reply is empty", "");
    }
    remarks.complaints.sort_by_key(|c| c.span.start);
    Items { items, complaints: remarks.complaints, dropped: remarks.dropped, markup: remarks.markup }
}

/// Removes duplicates, keeping the first of equal items.
fn remove_duplicates(items: &mut Vec<ReadItem>, remarks: &mut ParseLog<'_>) {
    let mut seen = HashSet::new();
    let is_first: Vec<bool> = items.iter().map(|i| seen.insert((&i.text, &i.heading))).collect();
    let mut is_first = is_first.into_iter();
    items.retain(|item| {
        let keep = is_first.next().unwrap_or(true);
        if !keep {
            let duplicate = remarks.reply.get(item.span.clone()).unwrap_or_default();
            remarks.complain("this repeats an earlier lesson", duplicate);
        }
        keep
    });
}

/// Adds one complaint about all lines outside the list.
fn complain_about_aside<'a>(aside: &mut Option<(&'a str, usize)>, body: &'a str, remarks: &mut ParseLog<'a>) {
    if let Some((first, end)) = aside.take() {
        let text = &body[offset_in(body, first)..end];
        let what = if is_empty_list_phrase(text) {
            "read as an empty list"
        } else {
            "text around the list was not used"
        };
        remarks.complain(what, text);
    }
}

fn offset_in(body: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(body.as_ptr() as usize)
}

/// A part of a reply: a value, or a line or the part of a line before or after a value.
enum Piece<'a> {
    Line(&'a str),
    Value(Value<'a>),
}

/// Returns whether a value is an answer: an empty list, or one with content.
fn is_answer(value: &Value<'_>) -> bool {
    match value {
        Value::Text(text) => has_words(&text.text),
        Value::List(values, _) => values.is_empty() || values.iter().any(is_answer),
        Value::Dict(entries, _) => entries.is_empty() || entries.iter().any(|e| is_answer(&e.value)),
    }
}

fn split_pieces<'a>(body: &'a str, remarks: &mut ParseLog<'a>) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut rest = body;
    // The properties of a line are computed once, however many values it contains.
    let mut line = LineScan::new(rest);
    while !rest.is_empty() {
        if let Some(start) = line.find_value(rest) {
            if !rest[..start].trim().is_empty() {
                pieces.push(Piece::Line(&rest[..start]));
            }
            let (value, after) = value::read_value(&rest[start..], remarks);
            pieces.push(Piece::Value(value));
            let read = rest.len() - after.len();
            rest = after;
            line = if read < line.len { line.after_value(read) } else { LineScan::new(rest) };
        } else {
            let words = &rest[..line.len];
            if !words.trim().is_empty() || matches!(pieces.last(), Some(Piece::Line(_))) {
                pieces.push(Piece::Line(words.trim_end_matches(['\n', '\r'])));
            }
            rest = &rest[line.len..];
            line = LineScan::new(rest);
        }
    }
    pieces
}

/// What the search for values knows about a line or its remainder.
struct LineScan {
    /// Bytes to the line's end, including the line feed.
    len: usize,
    /// Offset of the last closing bracket, if any.
    last_bracket: Option<usize>,
    /// Whether nothing with content follows that bracket.
    bracket_ends_line: bool,
    bulleted: bool,
    at_line_start: bool,
    /// Number of brackets still to be examined.
    brackets_left: u32,
}

impl LineScan {
    fn new(rest: &str) -> Self {
        let len = rest.find('\n').map_or(rest.len(), |n| n + 1);
        let line = &rest[..len];
        let last = line.rfind([']', '}']);
        let bracket_ends_line = last.is_none_or(|at| !has_words(&line[at..]));
        Self {
            len,
            last_bracket: last,
            bracket_ends_line,
            bulleted: strip_bullet(line).is_some(),
            at_line_start: true,
            brackets_left: 64,
        }
    }

    fn after_value(&self, read: usize) -> Self {
        let last = self.last_bracket.and_then(|l| l.checked_sub(read));
        Self { len: self.len - read, last_bracket: last, at_line_start: false, ..*self }
    }

    /// Returns the offset at which a value begins in this line, if any. `rest` continues past the line.
    fn find_value(&mut self, rest: &str) -> Option<usize> {
        let line = &rest[..self.len];
        if self.at_line_start {
            let start = line.len() - line.trim_start().len();
            if is_quote_sequence(&line[start..]) {
                return Some(start);
            }
        }
        for (at, _) in line.match_indices(['[', '{']) {
            // After one value in a line, adjacent ones are found without a limit.
            let near = !self.at_line_start && at <= 16 && !has_words(&line[..at]);
            if self.brackets_left == 0 && !near {
                return None;
            }
            self.brackets_left = self.brackets_left.saturating_sub(1);
            // `[object]` in a sentence is not a list.
            let alone = near || is_list_introduction(&line[..at]);
            let placed =
                (self.bracket_ends_line || self.last_bracket.is_none_or(|l| l < at)) && !self.bulleted;
            let boxed = self.bulleted && ["[ ]", "[x]", "[X]"].iter().any(|b| rest[at..].starts_with(b));
            if !boxed && (alone || placed) && is_value_start(&rest[at..], alone) {
                return Some(at);
            }
        }
        None
    }
}

/// Returns whether only a bullet, a name or a phrase precedes a bracket.
fn is_list_introduction(before: &str) -> bool {
    let before = before.trim();
    let words = strip_bullet(before).unwrap_or(before);
    !has_words(words)
        || words.ends_with([':', '=', '`'])
        || before.trim_end_matches(['.', ')', ':']).bytes().all(|b| b.is_ascii_digit())
}

/// Returns whether a line has quoted texts separated by commas without a bracket before them: the list lost its bracket
/// or never had one.
fn is_quote_sequence(line: &str) -> bool {
    let Some(found) = quoted::read_quoted(line, QuoteContext::Entry) else { return false };
    let after = line[found.len..].trim_start();
    !found.truncated && after.starts_with(',') && quoted::opening_quote(after[1..].trim_start()).is_some()
}

/// Returns whether the bracket at the beginning opens a value.
fn is_value_start(text: &str, alone: bool) -> bool {
    let dict = text.starts_with('{');
    let inside = text.chars().take(8).take_while(|c| "[{".contains(*c)).count();
    let next = text[inside..].trim_start();
    let Some(first) = next.chars().next() else { return alone };
    if quoted::opening_quote(next).is_some() {
        return !dict || alone || quoted::is_key_start(next);
    }
    if dict || text[..inside].contains('{') {
        return quoted::is_key_start(next) || alone && first == '}';
    }
    match first {
        ']' | '}' | '.' | '…' | '#' | '(' => alone,
        'r' | 'f' | 'b' | 'u' if quoted::opening_quote(&next[1..]).is_some() => true,
        'N' if next.starts_with("None") => alone,
        'n' if next.starts_with("null") => alone,
        c if c.is_alphabetic() && alone => is_unquoted_list(next),
        _ => inside >= 2 && alone,
    }
}

/// Returns whether text without quotes after a bracket is a list: the bracket closes at the end of a line, or far away.
fn is_unquoted_list(text: &str) -> bool {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices().take(400) {
        match c {
            '[' => depth += 1,
            ']' if depth > 0 => depth -= 1,
            ']' => {
                let after = text[at + 1..].trim_start_matches([' ', '\t', '\r', '.', '`', '*']);
                return after.is_empty() || after.starts_with('\n');
            }
            _ => {}
        }
    }
    true
}
