//! Parses quoted text as models write it: every kind of quotes, unescaped apostrophes, and quotes that are never
//! closed.

pub(super) struct Quoted<'a> {
    /// The text between the quotes, with escapes unresolved.
    pub(super) inner: &'a str,
    /// Bytes from the opening quote to the end of the closing one.
    pub(super) len: usize,
    /// Whether the reply ends inside the text.
    pub(super) truncated: bool,
    /// Whether the closing quote is missing although another text begins on the next line.
    pub(super) unclosed: bool,
}

/// The context of a quoted text, which decides what may follow it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum QuoteContext {
    /// A key: a colon may follow.
    Key,
    Entry,
    /// An entry between parentheses.
    Tuple,
}

/// Opening quotes with their possible closing quotes, longer ones first.
const QUOTES: &[(&str, &[&str])] = &[
    ("\"\"\"", &["\"\"\""]),
    ("'''", &["'''"]),
    ("``", &["''", "``", "\""]),
    ("\\\"", &["\\\""]),
    ("\"", &["\"", "”", "“"]),
    ("'", &["'", "’", "‘", "`"]),
    ("“", &["”", "\"", "“"]),
    ("”", &["”", "\""]),
    ("„", &["“", "”", "\""]),
    ("‘", &["’", "'", "‘"]),
    ("’", &["’", "'"]),
    ("`", &["`", "'", "’"]),
    ("«", &["»"]),
    ("»", &["«"]),
    ("‹", &["›"]),
    ("「", &["」"]),
    ("『", &["』"]),
    ("＂", &["＂"]),
];

/// Returns the opening quote at the beginning of a text, and the quotes that can close it.
pub(super) fn opening_quote(text: &str) -> Option<(&'static str, &'static [&'static str])> {
    // A code fence is not a quote.
    if text.starts_with("```") {
        return None;
    }
    QUOTES.iter().find(|(open, _)| text.starts_with(open)).copied()
}

/// Returns whether a character is any kind of quote.
pub(super) fn is_quote(c: char) -> bool {
    "\"'“”„‘’`«»‹›「」『』＂".contains(c)
}

/// Parses the quoted text at the beginning of `text`. A quote closes only where an entry can end, so apostrophes and
/// quotes inside need no escape. Takes linear time, because the lookahead after a quote stops at the next word.
pub(super) fn read_quoted(text: &str, context: QuoteContext) -> Option<Quoted<'_>> {
    let (open, closers) = opening_quote(text)?;
    let body = &text[open.len()..];
    let quoted = |inner_len: usize, close_len: usize, unclosed: bool| Quoted {
        inner: &body[..inner_len],
        len: open.len() + inner_len + close_len,
        truncated: false,
        unclosed,
    };
    let (mut escaped, mut last, mut line_end_checked) = (false, ' ', true);
    for (offset, c) in body.char_indices() {
        let rest = &body[offset..];
        if c == '\n' && last == ',' && !line_end_checked {
            // Check only the first line end after a comma, so that a run of blank lines is scanned once.
            line_end_checked = true;
            if rest.trim_start().strip_prefix(open).is_some_and(|r| r.starts_with(char::is_alphanumeric)) {
                return Some(quoted(body[..offset].trim_end().len(), 0, true));
            }
        }
        if !escaped
            && let Some(close) = closers.iter().find(|q| rest.starts_with(**q))
            && (open.len() >= 3 && open.is_ascii() || is_entry_end(&rest[close.len()..], last, context))
        {
            return Some(quoted(offset, close.len(), false));
        }
        if !c.is_whitespace() {
            last = c;
            line_end_checked = false;
        }
        escaped = c == '\\' && !escaped && open != "\\\"";
    }
    Some(Quoted { inner: body, len: text.len(), truncated: true, unclosed: false })
}

/// Returns whether an entry can end before `after`.
fn is_entry_end(after: &str, last: char, context: QuoteContext) -> bool {
    let next = after.trim_start();
    let gap = &after[..after.len() - next.len()];
    let Some(first) = next.chars().next() else { return true };
    match first {
        ',' | '，' | ';' => {
            let after_comma = &next[first.len_utf8()..];
            let value = after_comma.trim_start();
            let line_end = after_comma[..after_comma.len() - value.len()].contains('\n');
            line_end || is_entry_start(value)
        }
        ']' | '}' => true,
        ')' => context == QuoteContext::Tuple,
        ':' => context == QuoteContext::Key,
        '#' => !gap.is_empty(),
        '/' => !gap.is_empty() && next.starts_with("//"),
        '.' | '…' => next.starts_with("...") || first == '…',
        '`' if next.starts_with("```") => true,
        '{' | '[' => gap.contains('\n'),
        c if is_quote(c) && !gap.is_empty() => {
            let word_follows = next[c.len_utf8()..].starts_with(char::is_alphanumeric);
            word_follows && (gap.contains('\n') || c == '"') && last != ' '
        }
        _ => false,
    }
}

/// Returns whether a text begins like an entry of a list or dictionary, or like its end.
fn is_entry_start(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return true };
    is_quote(first)
        || "[{(]}),.…#/-\\".contains(first)
        || first.is_ascii_digit()
        || ["None", "null", "True", "False", "true", "false"].iter().any(|w| text.starts_with(w))
        || is_key_start(text)
        || opening_quote(text.trim_start_matches(['r', 'f', 'b', 'u'])).is_some()
}

/// Returns whether a text begins with a key and its colon, quoted or not.
pub(super) fn is_key_start(text: &str) -> bool {
    let mut has_letters = false;
    for c in text.chars().take(48) {
        match c {
            ':' => return has_letters,
            c if c.is_alphanumeric() => has_letters = true,
            '_' | '-' | ' ' => {}
            c if is_quote(c) => {}
            _ => return false,
        }
    }
    false
}

/// Resolves the escapes of Python and JSON; unknown ones are kept.
pub(super) fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(backslash) = rest.find('\\') {
        plain.push_str(&rest[..backslash]);
        let code = &rest[backslash + 1..];
        let Some(c) = code.chars().next() else {
            rest = "";
            plain.push('\\');
            break;
        };
        rest = &code[c.len_utf8()..];
        match c {
            'n' | 't' | 'r' | '\n' => plain.push(' '),
            '\\' | '"' | '\'' | '/' | '`' => plain.push(c),
            'u' | 'x' => match decode_hex_escape(c, rest) {
                Some((decoded, len)) => {
                    plain.push(decoded);
                    rest = &rest[len..];
                }
                None => plain.extend(['\\', c]),
            },
            _ => plain.extend(['\\', c]),
        }
    }
    plain.push_str(rest);
    plain
}

/// Decodes the digits of `\uXXXX` (with the second escape of a surrogate pair) or `\xXX`. Returns the character and the
/// number of bytes read.
fn decode_hex_escape(kind: char, digits: &str) -> Option<(char, usize)> {
    let width = if kind == 'u' { 4 } else { 2 };
    let number = |text: &str| {
        let hex = text.get(..width).filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()))?;
        u32::from_str_radix(hex, 16).ok()
    };
    let first = number(digits)?;
    if (0xd800..0xdc00).contains(&first) {
        let low = number(digits[width..].strip_prefix("\\u")?).filter(|l| (0xdc00..0xe000).contains(l))?;
        let code_point = 0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00);
        return Some((char::from_u32(code_point)?, 2 * width + 2));
    }
    Some((char::from_u32(first)?, width))
}
