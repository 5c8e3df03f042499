//! Finds the sentences of a prompt that may be lessons.

use crate::domain::{Prompt, SegmentLabel};

/// Maximum number of words in a lesson.
pub(super) const MAX_WORDS: usize = 24;

/// Returns the texts of a prompt that may contain lessons.
pub(super) fn teaching_texts(prompt: &Prompt) -> impl Iterator<Item = &str> {
    let teaching = prompt.segments.iter().filter(|segment| {
        matches!(
            segment.label,
            SegmentLabel::Guidance
                | SegmentLabel::Abstract
                | SegmentLabel::Error
                | SegmentLabel::Progress
                | SegmentLabel::Memory
                | SegmentLabel::Rejection
        )
    });
    teaching.map(|segment| &*segment.text)
}

/// Returns the words of a sentence without punctuation. Returns `None` if the sentence is longer than any lesson.
pub(super) fn split_words<'w, 's>(
    sentence: &'s str,
    words: &'w mut [&'s str; MAX_WORDS],
) -> Option<&'w [&'s str]> {
    let is_punctuation = |c: char| matches!(c, ',' | '"' | '\'' | '`' | '(' | ')' | '“' | '”' | '’');
    let mut count = 0;
    for word in sentence.split_whitespace().map(|w| w.trim_matches(is_punctuation)).filter(|w| !w.is_empty())
    {
        *words.get_mut(count)? = word;
        count += 1;
    }
    words.get(..count)
}

/// Returns the sentences of a lower-case text: its lines without bullets, split at full stops and at the two labels
/// of an Error lesson.
pub(super) fn split_sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| {
            line.trim_start().trim_start_matches(|c: char| "-*•>→ ".contains(c) || c.is_ascii_digit())
        })
        .map(|line| line.trim_start_matches([')', '.', ' ']))
        .flat_map(|line| split_at_separator(line, "mistake: "))
        .flat_map(|line| split_at_separator(line, "solution: "))
        .flat_map(|line| line.split(['.', '!', ';', '→']))
        .flat_map(|part| split_at_separator(part, "\": "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

/// Splits a text at a separator. Every separator contains a colon and most texts have none, so that is checked first.
fn split_at_separator<'a>(text: &'a str, separator: &'static str) -> impl Iterator<Item = &'a str> {
    let has_colon = text.contains(':');
    let parts = has_colon.then(|| text.split(separator)).into_iter().flatten();
    parts.chain((!has_colon).then_some(text))
}
