//! Splits an action's text into words at the same places as AgentBoard's tokenizer (NLTK's Treebank rules, applied to each
//! sentence).
//!
//! Spaces, brackets and most punctuation separate words; hyphens stay inside words; a full stop separates only at the
//! end of a sentence; a comma or colon before a digit doesn't separate. Plain ASCII texts without quotation marks are split in
//! one pass; other texts go through the tokenizer's rules one by one ([`tokenize_by_rules`]). Both agree on texts that
//! both can read.

use super::sentence_splitter::sentences;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Writes the words of a lower-case text to `out`, as byte ranges. Returns false if the text requires
/// [`tokenize_by_rules`].
pub(super) fn tokenize_ascii(text: &str, out: &mut Vec<(u32, u32)>) -> bool {
    out.clear();
    if !text.bytes().all(|byte| byte.is_ascii() && !matches!(byte, b'\'' | b'"' | b'`')) {
        return false;
    }
    for (offset, sentence) in sentences(text) {
        tokenize_sentence(sentence.as_bytes(), offset, out);
    }
    true
}

/// Writes the words of a sentence to `out`, as byte ranges of the text in which the sentence begins at `offset`.
fn tokenize_sentence(bytes: &[u8], offset: usize, out: &mut Vec<(u32, u32)>) {
    let stop = final_period(bytes);
    let mut push = |from: usize, to: usize| out.push(((offset + from) as u32, (offset + to) as u32));
    let mut start = 0;
    let mut at = 0;
    // The rule that separates a comma or colon also consumes the next character, which is then not examined again.
    let mut consumed = usize::MAX;
    while let Some(&byte) = bytes.get(at) {
        let cut = match byte {
            b' ' | 0x09..=0x0d | 0x1c..=0x1f => 0,
            byte if b";@#$%&?!*()[]{}<>".contains(&byte) => 1,
            b'.' if bytes.get(at + 1) == Some(&b'.') => {
                bytes[at..].iter().take_while(|&&byte| byte == b'.').count()
            }
            b'.' if stop == Some(at) => 1,
            b'-' if bytes.get(at + 1) == Some(&b'-') => 2,
            b',' | b':' => match bytes.get(at + 1) {
                None => 1,
                Some(b'\n') if at + 2 == bytes.len() => 1,
                Some(next) if consumed != at && !next.is_ascii_digit() => {
                    consumed = at + 1;
                    1
                }
                Some(_) => {
                    at += 1;
                    continue;
                }
            },
            _ => {
                at += 1;
                continue;
            }
        };
        if start < at {
            push(start, at);
        }
        if cut > 0 {
            push(at, at + cut);
        }
        at += cut.max(1);
        start = at;
    }
    if start < at {
        push(start, at);
    }
}

/// Returns the offset of the full stop that ends a sentence: no other before it, and only closing brackets and spaces
/// after it.
fn final_period(bytes: &[u8]) -> Option<usize> {
    let blank = |byte: &u8| matches!(byte, b' ' | 0x09..=0x0d | 0x1c..=0x1f);
    let closing = |byte: &u8| matches!(byte, b']' | b')' | b'}' | b'>' | b' ');
    let end = bytes.iter().rposition(|byte| !blank(byte))? + 1;
    let at = bytes[..end].iter().rposition(|byte| !closing(byte))?;
    (at > 0 && bytes[at] == b'.' && bytes[at - 1] != b'.').then_some(at)
}

/// The rules that depend only on adjacent characters, in the order in which they are applied.
static RULES: LazyLock<[Vec<(Regex, &'static str)>; 3]> = LazyLock::new(|| {
    const OPENING: &[(&str, &str)] =
        &[("([«“‘„]|`+)", " $1 "), (r#"\A""#, "``"), ("(``)", " $1 "), (r#"([ (\[{<])("|'{2})"#, "$1 `` ")];
    const MIDDLE: &[(&str, &str)] = &[
        (r#"([^.])(\.)([\])}>"'»”’ ]*)[\s\x1c-\x1f]*\z"#, "$1 $2 $3 "),
        (r"([:,])([^\d])", " $1 $2"),
        (r"([:,])(\n?)\z", " $1 $2"),
        (r"(\.{2,})", " $1 "),
        ("([;@#$%&])", " $1 "),
        (r"([\x{2012}-\x{2015}])", " $1 "),
        (r#"([^.])(\.)([\])}>"']*)[\s\x1c-\x1f]*\z"#, "$1 $2$3 "),
        ("([?!])", " $1 "),
        ("([^'])' ", "$1 ' "),
        ("([*])", " $1 "),
        (r"([\]\[(){}<>])", " $1 "),
        ("(--)", " $1 "),
        (r"\A", " "),
        (r"\z", " "),
        ("([»”’])", " $1 "),
        ("('')", " $1 "),
        ("\"", " '' "),
        (r"[\s\x1c-\x1f]+", " "),
        ("([^' ])('[sm]|'d|') ", "$1 $2 "),
        ("([^' ])('ll|'re|'ve|n't) ", "$1 $2 "),
    ];
    const CLIPPED: &[(&str, &str)] = &[
        (r"\b(can)(not)\b", " $1 $2 "),
        (r"\b(d)('ye)\b", " $1 $2 "),
        (r"\b(gim)(me)\b", " $1 $2 "),
        (r"\b(gon)(na)\b", " $1 $2 "),
        (r"\b(got)(ta)\b", " $1 $2 "),
        (r"\b(lem)(me)\b", " $1 $2 "),
        (r"\b(more)('n)\b", " $1 $2 "),
        // A space follows: by now every character that isn't part of a word has become one.
        (r"\b(wan)(na) ", " $1 $2  "),
        (" ('t)(is)\\b", " $1 $2 "),
        (" ('t)(was)\\b", " $1 $2 "),
    ];
    [OPENING, MIDDLE, CLIPPED].map(|rules| {
        // A test checks that each of them compiles.
        rules.iter().filter_map(|&(rule, to)| Some((Regex::new(rule).ok()?, to))).collect()
    })
});

/// An apostrophe before a word.
static APOSTROPHE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"'(\w+)").ok());

/// Splits a lower-case text into words by applying all rules.
pub(super) fn tokenize_by_rules(text: &str) -> Vec<String> {
    sentences(text).flat_map(|(_, sentence)| tokenize_sentence_by_rules(sentence)).collect()
}

fn tokenize_sentence_by_rules(text: &str) -> Vec<String> {
    let [opening, middle, clipped] = &*RULES;
    let mut text = apply_rules(opening, text.to_owned());
    if let Some(apostrophe) = &*APOSTROPHE {
        let opened = apostrophe.replace_all(&text, |found: &Captures<'_>| {
            let before = found.get(0).and_then(|whole| text[..whole.start()].chars().next_back());
            let inside = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let clipped = matches!(&found[1], "re" | "ve" | "ll" | "m" | "t" | "s" | "d" | "n");
            if inside || clipped { found[0].to_owned() } else { format!("' {}", &found[1]) }
        });
        text = opened.into_owned();
    }
    text = apply_rules(clipped, apply_rules(middle, text));
    text.split(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn apply_rules(rules: &[(Regex, &str)], text: String) -> String {
    rules.iter().fold(text, |text, (rule, to)| rule.replace_all(&text, *to).into_owned())
}

/// Returns whether the contraction rules ("cannot" is "can" and "not") could affect the search for this name.
pub(super) fn is_affected_by_contractions(name: &str) -> bool {
    const PARTS: &[&str] =
        &["can", "not", "gim", "me", "gon", "na", "got", "ta", "lem", "wan", "d", "more", "is", "was"];
    const WHOLES: &[&str] = &["cannot", "gimme", "gonna", "gotta", "lemme", "wanna"];
    PARTS.contains(&name)
        || name.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| WHOLES.contains(&part))
        || name.contains('\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokenize(text: &str) -> Vec<String> {
        let mut ranges = Vec::new();
        if tokenize_ascii(text, &mut ranges) {
            let one = |&(from, to): &(u32, u32)| text[from as usize..to as usize].to_owned();
            ranges.iter().map(one).collect()
        } else {
            tokenize_by_rules(text)
        }
    }

    #[test]
    fn every_rule_compiles() {
        assert_eq!(RULES.each_ref().map(Vec::len), [4, 20, 10]);
        assert!(APOSTROPHE.is_some());
    }

    /// The expected words are those of NLTK's tokenizer.
    #[test]
    fn texts_are_split_where_nltk_splits_them() {
        let cases: &[(&str, &[&str])] = &[
            (
                "pick up ball1 at rooma with arm left. ",
                &["pick", "up", "ball1", "at", "rooma", "with", "arm", "left", "."],
            ),
            ("pick(ball1, rooma, left)", &["pick", "(", "ball1", ",", "rooma", ",", "left", ")"]),
            ("put-away r1 in boot.)", &["put-away", "r1", "in", "boot", ".", ")"]),
            ("stack b1. on b2", &["stack", "b1", ".", "on", "b2"]),
            ("stack b1.on b2", &["stack", "b1.on", "b2"]),
            ("“stack b1. on b2", &["“", "stack", "b1", ".", "on", "b2"]),
            ("stack b1...b2..", &["stack", "b1", "...", "b2", ".."]),
            ("move 1,2 a,b a,:b", &["move", "1,2", "a", ",", "b", "a", ",", ":b"]),
            ("a,", &["a", ","]),
            ("a--b-c", &["a", "--", "b-c"]),
            ("'a' ''b'' \"c\"", &["'", "a", "'", "``", "b", "''", "``", "c", "''"]),
            ("ball1's don't cannot", &["ball1", "'s", "do", "n't", "can", "not"]),
            ("“b1” – b2", &["“", "b1", "”", "–", "b2"]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            let words = if text.contains("cannot") { tokenize_by_rules(text) } else { tokenize(text) };
            assert_eq!(words, *expected, "{text:?}");
        }
    }

    #[test]
    fn the_ascii_tokenizer_agrees_with_the_rules() {
        let pieces = [
            "a", "b1", "-", "--", ".", "..", ",", ":", "1", " ", "\t", "\n", "(", ")", "]", "?", "!", "#",
            "*", "_", "/", "=", "{", ">",
        ];
        let mut seed = 7_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..=(seed >> 20) % 9 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
            }
            seed = seed.wrapping_add(12_345);
            let mut ranges = Vec::new();
            assert!(tokenize_ascii(&text, &mut ranges));
            let words: Vec<&str> =
                ranges.iter().map(|&(from, to)| &text[from as usize..to as usize]).collect();
            assert_eq!(words, tokenize_by_rules(&text), "{text:?}");
        }
    }
}
