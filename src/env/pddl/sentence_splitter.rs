//! Splits an action's text into sentences where AgentBoard's tokenizer does (NLTK's Punkt with its English data), because
//! a full stop is a word of its own at the end of each sentence.
//!
//! Texts are lower-case, so the rules about capital letters never apply. Question and exclamation marks are words
//! anywhere, so it doesn't matter whether they end a sentence.

/// English abbreviations, sorted. A full stop after one of them doesn't end a sentence.
#[rustfmt::skip]
const ABBREVIATIONS: &[&str] = &[
    "a.a", "a.c", "a.d", "a.g", "a.h", "a.m", "a.m.e", "a.s", "a.t", "adm", "ala", "ariz", "aug", "ave", "b.f", "b.v", "bros",
    "c", "c.i.t", "c.o.m.b", "c.v", "calif", "chg", "cie", "co", "col", "colo", "conn", "corp", "cos", "ct", "d", "d.c", "d.h",
    "d.w", "dec", "dr", "e", "e.f", "e.h", "e.l", "e.m", "f", "f.g", "f.j", "feb", "fla", "fri", "ft", "g", "g.d", "g.f", "g.k",
    "ga", "gen", "h", "h.c", "h.f", "h.m", "i.m.s", "ill", "inc", "j.b", "j.c", "j.j", "j.k", "j.p", "j.r", "jan", "jr", "k",
    "kan", "ky", "l", "l.a", "l.f", "l.p", "lt", "ltd", "m", "m.b.a", "m.d.c", "m.j", "maj", "messrs", "mg", "mich", "minn", "mr",
    "mrs", "ms", "n", "n.c", "n.d", "n.h", "n.j", "n.m", "n.v", "n.y", "nev", "nov", "oct", "ok", "okla", "ore", "p", "p.a.m",
    "p.m", "pa", "ph.d", "prof", "r", "r.a", "r.h", "r.i", "r.j", "r.k", "r.t", "rep", "reps", "s", "s.a", "s.a.y", "s.c", "s.g",
    "s.p.a", "s.s", "sen", "sep", "sept", "sr", "st", "sw", "t", "t.j", "tenn", "tues", "u.k", "u.n", "u.s", "u.s.a", "u.s.s.r",
    "v", "va", "vs", "vt", "w", "w.c", "w.r", "w.va", "w.w", "wash", "wed", "wis", "yr",
];

/// Characters that end a word and are words of their own.
const SEPARATE: &[char] = &[')', '"', ';', '}', ']', '*', ':', '@', '\'', '(', '{', '[', '?', '!'];

/// Characters that no word begins with, besides [`SEPARATE`].
const NO_BEGINNING: &[char] = &['`', '&', '#', ',', '-'];

/// Iterates over the sentences of a lower-case text, each with its byte offset. Together they are the whole text.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let stops = rest.match_indices('.').map(|(at, _)| start + at);
        let end = stops.into_iter().find(|&at| ends_sentence(text, at)).map_or(text.len(), |at| at + 1);
        let sentence = (start, &text[start..end]);
        start = end;
        Some(sentence)
    })
}

/// Returns whether the full stop at a byte offset ends a sentence that is followed by something else.
fn ends_sentence(text: &str, at: usize) -> bool {
    let (before, after) = (&text[..at], &text[at + 1..]);
    let next = match after.chars().next() {
        Some(c) if is_blank(c) => match after.trim_start_matches(is_blank).chars().next() {
            Some(next) => next,
            None => return false,
        },
        Some(c) if SEPARATE.contains(&c) && !matches!(c, '?' | '!') => c,
        _ => return false,
    };
    let word = last_word(before);
    if word.ends_with('.') || is_abbreviation(word) {
        return false;
    }
    // "2. floor", "b. smith"
    !(is_initial(word) || is_number(word)) || !(next.is_lowercase() || ";:,.!?".contains(next))
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Returns the word at the end of a text; empty if the text ends with something else.
fn last_word(text: &str) -> &str {
    let word = text.rsplit(|c| is_blank(c) || SEPARATE.contains(&c)).next().unwrap_or_default();
    word.rsplit("--").next().unwrap_or_default().trim_start_matches(NO_BEGINNING)
}

fn is_abbreviation(word: &str) -> bool {
    let last_part = word.rsplit('-').next().unwrap_or_default();
    [word, last_part].iter().any(|word| ABBREVIATIONS.binary_search(word).is_ok())
}

/// Returns whether a word is one letter, such as a first name's.
fn is_initial(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|c| c.is_alphabetic() || c == '_') && letters.next().is_none()
}

fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('.').unwrap_or(word);
    digits.starts_with(char::is_numeric)
        && digits.chars().all(|c| c.is_numeric() || matches!(c, ',' | '.' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_are_sorted() {
        assert!(ABBREVIATIONS.is_sorted());
    }

    /// The expected sentences are those of NLTK, apart from blanks between them.
    #[test]
    fn texts_are_split_where_nltk_splits_them() {
        for (text, expected) in [
            (
                "pick up ball1 at rooma with arm left. then carry it.",
                &["pick up ball1 at rooma with arm left.", "then carry it."][..],
            ),
            ("stack b1 on b2. , stack b3 on b4.", &["stack b1 on b2.", ", stack b3 on b4."]),
            ("(open boot.) close boot.", &["(open boot.", ") close boot."]),
            ("open boot. ", &["open boot. "]),
            ("open dr. boot now", &["open dr. boot now"]),
            ("use the left-st. side", &["use the left-st. side"]),
            ("use b. or c. here", &["use b. or c. here"]),
            ("use b. (or c)", &["use b.", "(or c)"]),
            ("take 2. balls, take 2. 3", &["take 2. balls, take 2.", "3"]),
            ("wait... then go", &["wait... then go"]),
            ("wait. . then", &["wait.", ".", "then"]),
            ("open boot.close it", &["open boot.close it"]),
        ] {
            let found: Vec<&str> = sentences(text).map(|(_, sentence)| sentence.trim_start()).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
