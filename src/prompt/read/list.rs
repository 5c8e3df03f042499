//! Finds the list in a mentor's reply: brackets if there are any, otherwise its lines.

use super::label::{is_phrase, says_none, unbulleted};
use super::quoted::{self, Place};
use super::value::{self, Value};
use super::{Items, ReadItem, Remarks, dict, lines, prose, says_something};
use std::collections::HashSet;

/// Parses a mentor's reply as a list of lessons (OmniReflect, tables 17 and 18): Python, JSON, JSON lines, numbered,
/// bulleted or plain lines, with or without surrounding prose, complete or cut off. Linear in the length of the reply.
pub fn items(reply: &str) -> Items {
    let mut remarks = Remarks::new(reply);
    let body = remarks.after_reasoning();
    let mut items = Vec::new();
    let pieces = pieces(body, &mut remarks);
    let answered = pieces.iter().any(|p| matches!(p, Piece::Value(v) if is_answer(v)));
    let mut aside: Option<(&str, usize)> = None;
    let mut lines = Vec::new();
    let mut under: Option<String> = None;
    for piece in pieces {
        match piece {
            Piece::Value(value) => {
                tell(&mut aside, body, &mut remarks);
                dict::gather(value, under.as_deref(), &mut items, &mut remarks);
            }
            Piece::Line(line) if !answered => lines.push(line),
            Piece::Line(line) => {
                let words = unbulleted(line).unwrap_or(line);
                if !says_something(words) || is_phrase(words) || lines::is_fence(line) {
                    if let Some(heading) = lines::heading(words) {
                        under = Some(heading);
                    }
                    remarks.skip(line);
                } else {
                    let end = offset(body, line) + line.len();
                    aside = Some(aside.map_or((line, end), |(first, _)| (first, end)));
                }
            }
        }
    }
    tell(&mut aside, body, &mut remarks);
    lines::read(&lines, &mut items, &mut remarks);
    once(&mut items, &mut remarks);
    prose::drop_unfit(&mut items, &mut remarks);
    if reply.trim().is_empty() {
        remarks.complain("the reply is empty", "");
    }
    remarks.complaints.sort_by_key(|c| c.at.start);
    Items { items, complaints: remarks.complaints, dropped: remarks.dropped, markup: remarks.markup }
}

/// Removes duplicates, keeping the first of equal items.
fn once(items: &mut Vec<ReadItem>, remarks: &mut Remarks<'_>) {
    let mut seen = HashSet::new();
    let new: Vec<bool> = items.iter().map(|i| seen.insert((&i.text, &i.under))).collect();
    let mut new = new.into_iter();
    items.retain(|item| {
        let new = new.next().unwrap_or(true);
        if !new {
            let again = remarks.reply.get(item.at.clone()).unwrap_or_default();
            remarks.complain("this was said before", again);
        }
        new
    });
}

/// Adds one complaint about all lines outside the list.
fn tell<'a>(aside: &mut Option<(&'a str, usize)>, body: &'a str, remarks: &mut Remarks<'a>) {
    if let Some((first, end)) = aside.take() {
        let text = &body[offset(body, first)..end];
        let what =
            if says_none(text) { "taken for an empty list" } else { "text around the list was not used" };
        remarks.complain(what, text);
    }
}

fn offset(body: &str, part: &str) -> usize {
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
        Value::Text(text) => says_something(&text.words),
        Value::List(values, _) => values.is_empty() || values.iter().any(is_answer),
        Value::Dict(entries, _) => entries.is_empty() || entries.iter().any(|e| is_answer(&e.value)),
    }
}

fn pieces<'a>(body: &'a str, remarks: &mut Remarks<'a>) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut rest = body;
    // The properties of a line are computed once, however many values it contains.
    let mut line = Line::at(rest);
    while !rest.is_empty() {
        if let Some(start) = line.value(rest) {
            if !rest[..start].trim().is_empty() {
                pieces.push(Piece::Line(&rest[..start]));
            }
            let (value, after) = value::read(&rest[start..], remarks);
            pieces.push(Piece::Value(value));
            let read = rest.len() - after.len();
            rest = after;
            line = if read < line.len { line.behind(read) } else { Line::at(rest) };
        } else {
            let words = &rest[..line.len];
            if !words.trim().is_empty() || matches!(pieces.last(), Some(Piece::Line(_))) {
                pieces.push(Piece::Line(words.trim_end_matches(['\n', '\r'])));
            }
            rest = &rest[line.len..];
            line = Line::at(rest);
        }
    }
    pieces
}

/// What the search for values knows about a line or its remainder.
struct Line {
    /// Bytes to the line's end, including the line feed.
    len: usize,
    /// Offset of the last closing bracket, if any.
    last: Option<usize>,
    /// Nothing with content follows that bracket.
    to_the_end: bool,
    bulleted: bool,
    fresh: bool,
    /// Number of brackets still to be examined.
    brackets: u32,
}

impl Line {
    fn at(rest: &str) -> Self {
        let len = rest.find('\n').map_or(rest.len(), |n| n + 1);
        let line = &rest[..len];
        let last = line.rfind([']', '}']);
        let to_the_end = last.is_none_or(|at| !says_something(&line[at..]));
        Self { len, last, to_the_end, bulleted: unbulleted(line).is_some(), fresh: true, brackets: 64 }
    }

    fn behind(&self, read: usize) -> Self {
        let last = self.last.and_then(|l| l.checked_sub(read));
        Self { len: self.len - read, last, fresh: false, ..*self }
    }

    /// Returns the offset at which a value begins in this line, if any. `rest` continues past the line.
    fn value(&mut self, rest: &str) -> Option<usize> {
        let line = &rest[..self.len];
        if self.fresh {
            let start = line.len() - line.trim_start().len();
            if runs_of_quotes(&line[start..]) {
                return Some(start);
            }
        }
        for (at, _) in line.match_indices(['[', '{']) {
            // After one value in a line, adjacent ones are found without a limit.
            let near = !self.fresh && at <= 16 && !says_something(&line[..at]);
            if self.brackets == 0 && !near {
                return None;
            }
            self.brackets = self.brackets.saturating_sub(1);
            // `[object]` in a sentence is not a list.
            let alone = near || stands_alone(&line[..at]);
            let placed = (self.to_the_end || self.last.is_none_or(|l| l < at)) && !self.bulleted;
            let boxed = self.bulleted && ["[ ]", "[x]", "[X]"].iter().any(|b| rest[at..].starts_with(b));
            if !boxed && (alone || placed) && begins_value(&rest[at..], alone) {
                return Some(at);
            }
        }
        None
    }
}

/// Returns whether only a bullet, a name or a phrase precedes a bracket.
fn stands_alone(before: &str) -> bool {
    let before = before.trim();
    let words = unbulleted(before).unwrap_or(before);
    !says_something(words)
        || words.ends_with([':', '=', '`'])
        || before.trim_end_matches(['.', ')', ':']).bytes().all(|b| b.is_ascii_digit())
}

/// Returns whether a line has quoted texts separated by commas without a bracket before them: the list lost its bracket
/// or never had one.
fn runs_of_quotes(line: &str) -> bool {
    let Some(found) = quoted::read(line, Place::Entry) else { return false };
    let after = line[found.len..].trim_start();
    !found.cut && after.starts_with(',') && quoted::opening(after[1..].trim_start()).is_some()
}

/// Returns whether the bracket at the beginning opens a value.
fn begins_value(text: &str, alone: bool) -> bool {
    let dict = text.starts_with('{');
    let inside = text.chars().take(8).take_while(|c| "[{".contains(*c)).count();
    let next = text[inside..].trim_start();
    let Some(first) = next.chars().next() else { return alone };
    if quoted::opening(next).is_some() {
        return !dict || alone || quoted::begins_key(next);
    }
    if dict || text[..inside].contains('{') {
        return quoted::begins_key(next) || alone && first == '}';
    }
    match first {
        ']' | '}' | '.' | '…' | '#' | '(' => alone,
        'r' | 'f' | 'b' | 'u' if quoted::opening(&next[1..]).is_some() => true,
        'N' if next.starts_with("None") => alone,
        'n' if next.starts_with("null") => alone,
        c if c.is_alphabetic() && alone => bare_list(next),
        _ => inside >= 2 && alone,
    }
}

/// Returns whether text without quotes after a bracket is a list: the bracket closes at the end of a line, or far away.
fn bare_list(text: &str) -> bool {
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
