//! Recognizes what surrounds a lesson: bullets, numbers, keys, labels, and the phrases before and after a list.

use super::has_words;
use super::quoted::is_quote;

/// What the name of a key or label says about the text after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelRole {
    Lesson,
    Mistake,
    /// What to do instead.
    Solution,
    /// What to do: a solution if it belongs to a mistake, otherwise a lesson.
    Advice,
    /// How much the lesson matters.
    Priority,
    /// The name is only a number: `1`.
    Number,
    /// Any other name.
    Unknown,
}

const ROLES: &[(LabelRole, &[&str])] = &[
    (
        LabelRole::Lesson,
        &[
            "abstract",
            "constitution",
            "content",
            "feedback",
            "guideline",
            "insight",
            "instruction",
            "item",
            "lesson",
            "principle",
            "progress",
            "reflection",
            "rule",
            "statement",
            "summary",
            "text",
            "tip",
        ],
    ),
    (
        LabelRole::Mistake,
        &["error", "failure", "issue", "mistake", "potential mistake", "problem", "what went wrong", "wrong"],
    ),
    (
        LabelRole::Solution,
        &[
            "correction",
            "fix",
            "how to fix",
            "how to fix it",
            "instead",
            "potential solution",
            "remedy",
            "resolution",
            "solution",
            "suggested fix",
            "suggested solution",
        ],
    ),
    (LabelRole::Advice, &["advice", "improvement", "recommendation", "suggested action", "suggestion"]),
    (LabelRole::Priority, &["confidence", "importance", "priority", "weight"]),
];

/// Normalizes a name: lower case, single spaces, no numbers or punctuation.
fn normalize_name(name: &str) -> String {
    let mut plain = String::new();
    for word in name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        if word.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        if !plain.is_empty() {
            plain.push(' ');
        }
        plain.push_str(&word.to_lowercase());
    }
    plain.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned()
}

/// Returns the role of a key or label, in any case, singular or plural, numbered or not.
pub(super) fn parse_role(name: &str) -> LabelRole {
    if name.len() > 48 {
        return LabelRole::Unknown;
    }
    let plain = normalize_name(name);
    if plain.is_empty() {
        return if name.trim().is_empty() { LabelRole::Unknown } else { LabelRole::Number };
    }
    let singular = plain.strip_suffix('s').unwrap_or(&plain);
    let known = ROLES.iter().find(|(_, names)| names.iter().any(|n| *n == plain || *n == singular));
    known.map_or(LabelRole::Unknown, |(role, _)| *role)
}

/// Returns the text after a line's bullet or number: `- `, `* `, `•`, `1.`, `2)`, `(3)`, `[4] `, `#5`, `a)`, `Rule 6:`,
/// `- [x] `. Returns `None` if it has neither.
pub(super) fn strip_bullet(line: &str) -> Option<&str> {
    let text = strip_one_bullet(line)?;
    // A number may follow a dash.
    let inner = if line.trim_start().starts_with(['-', '*', '+']) { strip_one_bullet(text) } else { None };
    Some(inner.unwrap_or(text))
}

fn strip_one_bullet(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let first = line.chars().next()?;
    let rest = &line[first.len_utf8()..];
    if "•‣◦▪●·∙○■□➤➢✓✔".contains(first) {
        return Some(rest.trim_start());
    }
    if "-*+–—".contains(first) && rest.starts_with([' ', '\t']) {
        return Some(strip_checkbox(rest).trim_start());
    }
    if "([#".contains(first)
        && let Some((_, after)) = split_number(rest)
    {
        let text = match first {
            '(' => after.strip_prefix(')'),
            '[' => after.strip_prefix(']'),
            _ => after.strip_prefix([':', '.', ')', ' ']),
        };
        return text.filter(|t| has_words(t)).map(str::trim_start);
    }
    if let Some((_, after)) = split_number(line) {
        let text = after.strip_prefix("**").unwrap_or(after).strip_prefix(['.', ')', ':'])?;
        // `1.5` is a number, not the first item of a list.
        return (!text.starts_with(|c: char| c.is_ascii_digit())).then(|| text.trim_start());
    }
    if first.is_ascii_alphabetic() && rest.starts_with(") ") {
        return Some(rest[1..].trim_start());
    }
    let (name, text) = line.split_once(':').filter(|(name, _)| name.len() < 32)?;
    let numbered = name.trim_end_matches('*').ends_with(|c: char| c.is_ascii_digit());
    (numbered && parse_role(name) == LabelRole::Lesson).then(|| text.trim_start_matches('*').trim_start())
}

/// Splits off a number of at most three digits.
fn split_number(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (1..=3).contains(&end).then(|| text.split_at(end))
}

/// Removes the checkbox of a task list.
fn strip_checkbox(text: &str) -> &str {
    let text = text.trim_start();
    ["[ ]", "[x]", "[X]"].iter().find_map(|b| text.strip_prefix(b)).unwrap_or(text)
}

/// Splits off the label at the beginning of a line, `Mistake:`, `**Solution 2**:`, `'mistake':`. Returns its role, the
/// label and the text after it.
pub(super) fn split_label(line: &str) -> Option<(LabelRole, &str, &str)> {
    let (name, text) = line.split_once(':').filter(|(name, _)| name.len() <= 32)?;
    let role = parse_role(name);
    let text = text.trim_start_matches('*').trim_start();
    matches!(role, LabelRole::Mistake | LabelRole::Solution | LabelRole::Advice).then_some((role, name, text))
}

/// Splits `Mistake: X Solution: Y`, on one line or more, into the texts after the labels.
pub(super) fn split_pair(text: &str) -> Option<(&str, &str)> {
    let (LabelRole::Mistake, _, body) = split_label(text.trim_start())? else { return None };
    let mut search_start = 0;
    while let Some(colon) = body[search_start..].find(':').map(|c| c + search_start) {
        let name = body[..colon].trim_end_matches('*').trim_end();
        for label in ["Solution", "solution", "SOLUTION", "Fix", "fix", "Suggestion", "Correction"] {
            let Some(before) = name.strip_suffix(label) else { continue };
            if before.ends_with(|c: char| c.is_alphanumeric()) {
                continue;
            }
            let solution = body[colon + 1..].trim_start_matches('*').trim();
            let mistake = before.trim_end_matches(|c: char| c.is_whitespace() || "*-(|,;'\"".contains(c));
            return Some((mistake, solution));
        }
        search_start = colon + 1;
    }
    None
}

/// Returns whether a line is a phrase that only introduces a list or closes the reply.
pub(super) fn is_filler_phrase(line: &str) -> bool {
    const PHRASES: &[&str] = &[
        "certainly",
        "feel free",
        "hope this",
        "i hope",
        "let me know",
        "of course",
        "sure",
        "here is",
        "here are",
        "here's",
    ];
    let line = line.trim().trim_matches('*');
    if line.ends_with(':') || line.ends_with('=') {
        return true;
    }
    let start: String = line.chars().take(16).collect::<String>().to_lowercase();
    line.len() < 120 && PHRASES.iter().any(|s| start.starts_with(s))
}

/// Returns whether a sentence says that there is nothing to list.
pub(super) fn is_empty_list_phrase(text: &str) -> bool {
    const PHRASES: &[&str] = &[
        "empty list",
        "n a",
        "na",
        "nil",
        "no",
        "no errors",
        "no errors so far",
        "no lessons",
        "no mistake",
        "no mistakes",
        "no mistakes found",
        "no mistakes have been made",
        "no mistakes have been made so far",
        "no mistakes so far",
        "no mistakes were made",
        "no mistakes were made so far",
        "none",
        "none so far",
        "nothing",
        "null",
        "there are no mistakes",
        "there are no mistakes so far",
        "there were no mistakes",
    ];
    text.len() < 64 && PHRASES.contains(&normalize_name(text).as_str())
}

/// Returns a line without decoration: bold markers, the quotes around the whole line, a comma after the quotes.
pub(super) fn strip_decoration(text: &str) -> String {
    let text = text.trim();
    let inner = text.trim_end_matches(',').trim_end();
    let first = inner.chars().next();
    let quoted =
        first.is_some_and(is_quote) && inner.chars().next_back().is_some_and(is_quote) && inner.len() > 2;
    let text = if quoted { inner.trim_matches(is_quote) } else { text };
    super::collapse_whitespace(&text.replace("**", ""))
}
