//! The environment's text that a note is based on.

/// Returns the text that proves a finding: action and answer, short enough for a line.
pub(super) fn evidence_text(action: &str, text: &str) -> String {
    let first_line = text.lines().next().unwrap_or_default();
    format!("{} -> {}", shorten(action), shorten(first_line))
}

/// Shortens a text to at most 100 characters, at a space if there is one.
pub(super) fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 100;
    let Some((end, _)) = text.char_indices().nth(MAX_CHARS) else { return text.to_owned() };
    let cut = text[..end].rfind(' ').unwrap_or(end);
    format!("{} …", text[..cut].trim_end())
}
