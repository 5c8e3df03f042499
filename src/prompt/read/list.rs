//! Finds the list in a mentor's reply: brackets if there are any, otherwise its lines.

use super::label::{is_empty_list_phrase, is_filler_phrase, strip_bullet};
use super::quoted::{self, QuoteContext};
use super::value::{self, Value};
use super::{Items, ParseLog, ReadItem, dict, has_words, lines, prose};
use std::collections::HashSet;

/// Parses a mentor's reply as a list of lessons (OmniReflect, tables 17 and 18): Python, JSON, JSON lines, numbered,
/// bulleted or plain lines, with or without surrounding prose, complete or cut off. Linear in the length of the reply.
pub fn read_items(reply: &str) -> Items {
    let mut log = ParseLog::new(reply);
    let body = log.after_reasoning();
    let mut items = Vec::new();
    let pieces = split_pieces(body, &mut log);
    let has_list = pieces.iter().any(|p| matches!(p, Piece::Value(v) if is_answer(v)));
    // The first unused line since the last value, and the offset of the end of the last one.
    let mut unused: Option<(&str, usize)> = None;
    let mut lines = Vec::new();
    let mut heading: Option<String> = None;
    for piece in pieces {
        match piece {
            Piece::Value(value) => {
                complain_about_unused(&mut unused, body, &mut log);
                dict::collect_items(value, heading.as_deref(), &mut items, &mut log);
            }
            Piece::Line(line) if !has_list => lines.push(line),
            Piece::Line(line) => {
                let words = strip_bullet(line).unwrap_or(line);
                if !has_words(words) || is_filler_phrase(words) || lines::is_fence(line) {
                    if let Some(new_heading) = lines::parse_heading(words) {
                        heading = Some(new_heading);
                    }
                    log.mark_as_markup(line);
                } else {
                    let end = offset_in(body, line) + line.len();
                    unused = Some(unused.map_or((line, end), |(first, _)| (first, end)));
                }
            }
        }
    }
    complain_about_unused(&mut unused, body, &mut log);
    lines::read_lines(&lines, &mut items, &mut log);
    remove_duplicates(&mut items, &mut log);
    prose::drop_non_lessons(&mut items, &mut log);
    if reply.trim().is_empty() {
        log.complain("the reply is empty", "");
    }
    log.complaints.sort_by_key(|c| c.span.start);
    Items { items, complaints: log.complaints, dropped: log.dropped, markup: log.markup }
}

/// Removes duplicates, keeping the first of equal items.
fn remove_duplicates(items: &mut Vec<ReadItem>, log: &mut ParseLog<'_>) {
    let mut seen = HashSet::new();
    let is_first: Vec<bool> = items.iter().map(|i| seen.insert((&i.text, &i.heading))).collect();
    let mut is_first = is_first.into_iter();
    items.retain(|item| {
        let keep = is_first.next().unwrap_or(true);
        if !keep {
            let duplicate = log.reply.get(item.span.clone()).unwrap_or_default();
            log.complain("this repeats an earlier lesson", duplicate);
        }
        keep
    });
}

/// Adds one complaint about the unused lines since the last value, if any.
fn complain_about_unused<'a>(unused: &mut Option<(&'a str, usize)>, body: &'a str, log: &mut ParseLog<'a>) {
    if let Some((first, end)) = unused.take() {
        let text = &body[offset_in(body, first)..end];
        let problem = if is_empty_list_phrase(text) {
            "read as an empty list"
        } else {
            "text around the list was not used"
        };
        log.complain(problem, text);
    }
}

fn offset_in(body: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(body.as_ptr() as usize)
}

/// A part of a reply: a value, a whole line, or the part of a line before or after a value.
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

fn split_pieces<'a>(body: &'a str, log: &mut ParseLog<'a>) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut rest = body;
    // The properties of a line are computed once, however many values it contains.
    let mut line = LineScan::new(rest);
    while !rest.is_empty() {
        if let Some(start) = line.find_value(rest) {
            if !rest[..start].trim().is_empty() {
                pieces.push(Piece::Line(&rest[..start]));
            }
            let (value, after) = value::read_value(&rest[start..], log);
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

/// Properties of a line, or of what is left of it after a value.
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
        let last_bracket = line.rfind([']', '}']);
        let bracket_ends_line = last_bracket.is_none_or(|offset| !has_words(&line[offset..]));
        Self {
            len,
            last_bracket,
            bracket_ends_line,
            bulleted: strip_bullet(line).is_some(),
            at_line_start: true,
            brackets_left: 64,
        }
    }

    /// Returns the properties of what is left of the line after its first `read` bytes.
    fn after_value(&self, read: usize) -> Self {
        let last_bracket = self.last_bracket.and_then(|offset| offset.checked_sub(read));
        Self { len: self.len - read, last_bracket, at_line_start: false, ..*self }
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
        for (offset, _) in line.match_indices(['[', '{']) {
            // A value within 16 bytes of the previous one is found even if `brackets_left` is 0.
            let follows_value = !self.at_line_start && offset <= 16 && !has_words(&line[..offset]);
            if self.brackets_left == 0 && !follows_value {
                return None;
            }
            self.brackets_left = self.brackets_left.saturating_sub(1);
            // `[object]` in a sentence is not a list.
            let is_introduced = follows_value || is_list_introduction(&line[..offset]);
            let ends_line = (self.bracket_ends_line || self.last_bracket.is_none_or(|last| last < offset))
                && !self.bulleted;
            let is_checkbox =
                self.bulleted && ["[ ]", "[x]", "[X]"].iter().any(|b| rest[offset..].starts_with(b));
            if !is_checkbox && (is_introduced || ends_line) && is_value_start(&rest[offset..], is_introduced)
            {
                return Some(offset);
            }
        }
        None
    }
}

/// Returns whether the text before a bracket introduces a list: nothing, a bullet or number, or text that ends in `:`,
/// `=` or a backtick.
fn is_list_introduction(before: &str) -> bool {
    let before = before.trim();
    let words = strip_bullet(before).unwrap_or(before);
    !has_words(words)
        || words.ends_with([':', '=', '`'])
        || before.trim_end_matches(['.', ')', ':']).bytes().all(|b| b.is_ascii_digit())
}

/// Returns whether a line has quoted texts separated by commas without a bracket before them.
fn is_quote_sequence(line: &str) -> bool {
    let Some(found) = quoted::read_quoted(line, QuoteContext::Entry) else { return false };
    let after = line[found.len..].trim_start();
    !found.truncated && after.starts_with(',') && quoted::opening_quote(after[1..].trim_start()).is_some()
}

/// Returns whether the bracket at the beginning opens a value. If `is_introduced`, the text before it introduces a
/// list, so less evidence is enough.
fn is_value_start(text: &str, is_introduced: bool) -> bool {
    let is_dict = text.starts_with('{');
    let bracket_count = text.chars().take(8).take_while(|c| "[{".contains(*c)).count();
    let next = text[bracket_count..].trim_start();
    let Some(first) = next.chars().next() else { return is_introduced };
    if quoted::opening_quote(next).is_some() {
        return !is_dict || is_introduced || quoted::is_key_start(next);
    }
    if is_dict || text[..bracket_count].contains('{') {
        return quoted::is_key_start(next) || is_introduced && first == '}';
    }
    match first {
        ']' | '}' | '.' | '…' | '#' | '(' => is_introduced,
        'r' | 'f' | 'b' | 'u' if quoted::opening_quote(&next[1..]).is_some() => true,
        'N' if next.starts_with("None") => is_introduced,
        'n' if next.starts_with("null") => is_introduced,
        c if c.is_alphabetic() && is_introduced => is_unquoted_list(next),
        _ => bracket_count >= 2 && is_introduced,
    }
}

/// Returns whether text without quotes after a bracket is a list: the bracket closes at the end of a line, or not
/// within 400 characters.
fn is_unquoted_list(text: &str) -> bool {
    let mut depth = 0_u32;
    for (offset, c) in text.char_indices().take(400) {
        match c {
            '[' => depth += 1,
            ']' if depth > 0 => depth -= 1,
            ']' => {
                let after = text[offset + 1..].trim_start_matches([' ', '\t', '\r', '.', '`', '*']);
                return after.is_empty() || after.starts_with('\n');
            }
            _ => {}
        }
    }
    true
}
