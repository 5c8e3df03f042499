//! Placebo texts: what replaces a lesson whose content must not matter (`docs/EFFECT.md`).

use super::random::SplitMix64;
use sha2::{Digest, Sha256};

/// True, neutral sentences about nothing that occurs in an environment, one a line.
const SENTENCES: &str = include_str!("placebo_sentences.txt");

/// Words without meaning for the sentence they end; the one of each length from two to thirteen letters.
const FILLERS: [&str; 12] = [
    "so",
    "too",
    "also",
    "again",
    "indeed",
    "usually",
    "normally",
    "generally",
    "ordinarily",
    "undoubtedly",
    "incidentally",
    "approximately",
];

/// Returns the neutral sentences that placebo texts are made of.
pub fn placebo_sentences() -> impl Iterator<Item = &'static str> {
    SENTENCES.lines().filter(|line| !line.is_empty())
}

/// Returns a neutral text with as many characters as `text`, for a version of a lesson. Equal arguments give equal texts. The
/// sentences are cut at the end of a word, and a short word fills the rest.
pub fn placebo_text(text: &str, lesson_id: &str, version: u32) -> String {
    let length = text.chars().count();
    // The final full stop is the last character; a word needs two more.
    if length < 3 {
        return ".".repeat(length);
    }
    let mut sentences: Vec<([u8; 32], &str)> = (0_u64..)
        .zip(placebo_sentences())
        .map(|(n, sentence)| (lesson_hash(lesson_id, version, n), sentence))
        .collect();
    sentences.sort_unstable();
    let words = sentences.iter().cycle().flat_map(|(_, sentence)| sentence.split(' '));
    // All prefixes of words that fit; the longest one whose rest can be filled is taken.
    let mut text = String::new();
    let mut longest = String::new();
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
        let trimmed = text.trim_end_matches(['.', ',']);
        let used = trimmed.chars().count();
        if used >= length {
            break;
        }
        if can_fill(length - 1 - used) {
            trimmed.clone_into(&mut longest);
        }
    }
    let missing = length - 1 - longest.chars().count();
    fill(&mut longest, missing);
    longest.push('.');
    longest
}

/// Returns a lesson's own words in a random order: the same vocabulary and length, without the meaning. White space stays
/// where it is. A text in which all words are equal stays as it is.
pub fn shuffled_text(text: &str, lesson_id: &str, version: u32) -> String {
    let original: Vec<&str> = text.split_whitespace().collect();
    if original.iter().all(|word| Some(word) == original.first()) {
        return text.to_owned();
    }
    // The first eight bytes of the hash, big-endian.
    let seed = lesson_hash(lesson_id, version, 0).into_iter().take(8);
    let mut random = SplitMix64::new(seed.fold(0, |seed, byte| seed << 8 | u64::from(byte)));
    let mut words = original.clone();
    while words == original {
        random.shuffle(&mut words);
    }
    let mut words = words.into_iter();
    let mut shuffled = String::with_capacity(text.len());
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        if !word.is_empty() {
            shuffled.extend(words.next());
        }
        shuffled.extend(piece.chars().skip(word.chars().count()));
    }
    shuffled
}

/// Returns sha256 over lesson id, a zero byte, the version and a number.
fn lesson_hash(lesson_id: &str, version: u32, n: u64) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(lesson_id.as_bytes());
    hash.update([0]);
    hash.update(version.to_be_bytes());
    hash.update(n.to_be_bytes());
    hash.finalize().into()
}

/// Returns whether words, each after a space, can fill this many characters.
fn can_fill(missing: usize) -> bool {
    !matches!(missing, 1 | 2)
}

/// Appends words that take exactly this many characters, which [`can_fill`] accepts.
fn fill(text: &mut String, mut missing: usize) {
    if text.is_empty() {
        // The first word has no space before it and begins with a capital letter.
        let word = filler(missing.min(FILLERS.len() + 1));
        text.push_str(&word.chars().take(1).flat_map(char::to_uppercase).collect::<String>());
        text.push_str(word.get(1..).unwrap_or_default());
        missing = missing.saturating_sub(word.len());
    }
    while missing >= 3 {
        // A rest of one or two characters couldn't be filled.
        let length = (2..=FILLERS.len() + 1)
            .rev()
            .find(|length| missing.checked_sub(length + 1).is_some_and(can_fill));
        let Some(length) = length else { break };
        text.push(' ');
        text.push_str(filler(length));
        missing -= length + 1;
    }
}

fn filler(length: usize) -> &'static str {
    length.checked_sub(2).and_then(|index| FILLERS.get(index)).copied().unwrap_or_default()
}
