//! Extracts the complete parts of a mentor's truncated reply: items of a list, sentences and lines of a text.

use super::label::strip_bullet;
use super::quoted::is_quote;
use super::{Items, ParseLog, ReadItem, list};

/// Parses a truncated list like [`read_items`](super::read_items()), but drops the last item unless the reply shows that it is
/// complete: by a line end, comma or bracket after it, or by its closing quote or bracket. `cause` says what cut the
/// reply off.
pub fn read_truncated_items(reply: &str, cause: &str) -> Items {
    let mut parsed = list::read_items(reply);
    let end = reply.trim_end_matches([' ', '\t']).len();
    let is_incomplete = |item: &ReadItem| {
        item.span.end >= end && !is_closed(reply.get(item.span.clone()).unwrap_or_default())
    };
    let Some(index) = parsed.items.iter().position(is_incomplete) else {
        return parsed;
    };
    let item = parsed.items.remove(index);
    let mut log = ParseLog::new(reply);
    let part = reply.get(item.span).unwrap_or_default();
    log.drop_lesson(&format!("cut off by {cause}, so it was not used"), part, item.text);
    parsed.complaints.append(&mut log.complaints);
    parsed.complaints.sort_by_key(|c| c.span.start);
    parsed.dropped.append(&mut log.dropped);
    parsed
}

/// Returns whether the text of an item at the end of the reply ends with the quote or bracket that closes the one it
/// begins with. If there are other quotes in between, the last one may close only a quoted word within an incomplete
/// sentence.
fn is_closed(words: &str) -> bool {
    let words = words.trim();
    let words = strip_bullet(words).unwrap_or(words);
    let end = words.trim_end_matches(',');
    let Some(last) = end.chars().next_back() else { return false };
    // An apostrophe may be the last character of an incomplete word; it counts as a quote only after the end of a
    // sentence.
    let text = &end[..end.len() - last.len_utf8()];
    let ends_with_quote = is_quote(last) && (!"'’‘`".contains(last) || text.ends_with(['.', '!', '?']));
    // A record cut off inside a text was not parsed as an item, so the last quote completes the record.
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    let inner = chars.as_str().trim_start_matches(first).trim_end_matches(last);
    let closes_quote = ends_with_quote && !text.ends_with(char::is_whitespace);
    match first {
        '{' | '[' | '(' => {
            closes_quote && count_quotes(text, last) % 2 == 1 || closes_bracket(first, text, last)
        }
        _ => closes_quote && is_quote(first) && count_quotes(inner, last) == 0,
    }
}

/// Counts the quotes of a text that may pair with `last`. Escaped quotes, apostrophes inside words and quotes of the
/// other kind (single or double) don't.
fn count_quotes(text: &str, last: char) -> usize {
    let is_single = |c: char| "'’‘`".contains(c);
    let (mut count, mut previous) = (0, ' ');
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let inside_word =
            previous.is_alphanumeric() && chars.peek().is_some_and(|next| next.is_alphanumeric());
        count +=
            usize::from(is_quote(c) && is_single(c) == is_single(last) && previous != '\\' && !inside_word);
        previous = c;
    }
    count
}

/// Returns whether `last`, which follows the text, closes the bracket `open` with which the text begins.
fn closes_bracket(open: char, text: &str, last: char) -> bool {
    let Some(close) =
        [('{', '}'), ('[', ']'), ('(', ')')].into_iter().find_map(|(a, b)| (a == open).then_some(b))
    else {
        return false;
    };
    let mut depth = 0_i64;
    let stays_open = text.chars().all(|c| {
        depth += i64::from(c == open) - i64::from(c == close);
        depth > 0
    });
    stays_open && depth == 1 && last == close
}

/// Splits a truncated text into the complete part and the rest: after the last complete line or, if `by_sentence`, the
/// last complete sentence.
pub fn split_truncated_text(reply: &str, by_sentence: bool) -> (&str, &str) {
    let last_line = reply.rfind('\n').map_or(0, |offset| offset + 1);
    let tail = &reply[last_line..];
    let (mut end, mut word_start) = (0, 0);
    let mut chars = tail.char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        if c.is_whitespace() {
            word_start = offset + c.len_utf8();
        }
        if !by_sentence || !".!?…。".contains(c) || is_number_or_abbreviation(&tail[word_start..offset]) {
            continue;
        }
        let mut after = offset + c.len_utf8();
        while let Some((offset, close)) = chars.next_if(|(_, c)| is_quote(*c) || ")*".contains(*c)) {
            after = offset + close.len_utf8();
        }
        if chars.peek().is_none_or(|(_, next)| next.is_whitespace()) {
            end = after;
        }
    }
    reply.split_at(last_line + end)
}

/// Returns whether the dot after this word belongs to a line number (`2.`) or an abbreviation.
fn is_number_or_abbreviation(word: &str) -> bool {
    let is_number = word.chars().all(|c| c.is_ascii_digit() || "(*#-".contains(c));
    !word.is_empty() && is_number || ["e.g", "i.e", "(e.g", "(i.e", "vs"].contains(&word)
}
