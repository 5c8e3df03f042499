//! A form of a lesson, word by word.

use crate::provider::rules::knowledge::Knowledge;

/// What a word of a form may be.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// One of these words.
    Words(Vec<String>),
    /// A kind of thing or a general word for one.
    What,
    /// A kind of thing.
    Thing,
    /// A kind of place.
    Place,
    /// A lamp.
    Lamp,
}

/// A form, word by word; the flag says that the word may be missing.
pub(super) type Pattern = Vec<(Slot, bool)>;

/// What a match has bound.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bound<'a> {
    pub(super) thing: Option<&'a str>,
    pub(super) place: Option<&'a str>,
    pub(super) verb: Option<&'a str>,
}

/// A word as `forms.toml` writes it, and whether it may be missing.
pub(super) fn slot(word: &str) -> (Slot, bool) {
    let (word, optional) = match word.strip_prefix('[').and_then(|w| w.strip_suffix(']')) {
        Some(inner) => (inner, true),
        None => (word, false),
    };
    let slot = match word {
        "WHAT" => Slot::What,
        "THING" => Slot::Thing,
        "PLACE" => Slot::Place,
        "LAMP" => Slot::Lamp,
        "PUT" => Slot::Words(["put", "place", "move"].map(str::to_owned).into()),
        _ => Slot::Words(word.split('|').map(str::to_owned).collect()),
    };
    (slot, optional)
}

/// The words that a form may begin with; none where it may begin with a kind.
pub(super) fn firsts(pattern: &[(Slot, bool)]) -> Option<Vec<&str>> {
    let mut firsts = Vec::new();
    for (slot, optional) in pattern {
        let Slot::Words(words) = slot else { return None };
        if words.iter().any(|w| w == "PLACE" || w == "WHAT") {
            return None;
        }
        firsts.extend(words.iter().map(String::as_str));
        if !optional {
            return Some(firsts);
        }
    }
    None
}

/// Whether the words are of this form; if so, `bound` has what they name.
pub(super) fn matches<'a>(
    pattern: &[(Slot, bool)],
    words: &[&'a str],
    knowledge: &'a Knowledge,
    bound: &mut Bound<'a>,
) -> bool {
    let Some(((slot, optional), rest)) = pattern.split_first() else { return words.is_empty() };
    for length in 1..=slot.longest().min(words.len()) {
        let Some((taken, left)) = words.split_at_checked(length) else { break };
        let mut attempt = *bound;
        if slot.takes(taken, knowledge, &mut attempt) && matches(rest, left, knowledge, &mut attempt) {
            *bound = attempt;
            return true;
        }
    }
    *optional && matches(rest, words, knowledge, bound)
}

impl Slot {
    /// Words it takes at most.
    pub(super) fn longest(&self) -> usize {
        match self {
            Self::Words(_) => 1,
            Self::What => 3,
            Self::Thing | Self::Place | Self::Lamp => 2,
        }
    }

    fn takes<'a>(&self, words: &[&'a str], knowledge: &'a Knowledge, bound: &mut Bound<'a>) -> bool {
        match self {
            Self::Words(options) => {
                let &[word] = words else { return false };
                let taken =
                    options.iter().any(|o| o == word || (o == "PLACE" && bound.place_of(word, knowledge)));
                if taken && matches!(word, "heat" | "cool" | "clean") {
                    bound.verb.get_or_insert(word);
                }
                taken || (options.iter().any(|o| o == "WHAT") && Self::What.takes(words, knowledge, bound))
            }
            Self::What => match words {
                ["object" | "objects" | "thing" | "things" | "item" | "items" | "food" | "it" | "them"]
                | ["what", "you", "hold"] => true,
                _ => Self::Thing.takes(words, knowledge, &mut Bound::default()),
            },
            Self::Thing => {
                let kind = knowledge.thing_kind(words);
                bound.thing = kind.or(bound.thing);
                kind.is_some()
            }
            Self::Place => {
                let kind = knowledge.place_kind(words);
                bound.place = kind.or(bound.place);
                kind.is_some()
            }
            Self::Lamp => {
                matches!(words, ["lamp" | "desklamp" | "floorlamp"] | ["desk" | "floor", "lamp"])
            }
        }
    }
}

impl<'a> Bound<'a> {
    fn place_of(&mut self, word: &str, knowledge: &'a Knowledge) -> bool {
        let kind = knowledge.place_kind(&[word]);
        self.place = kind.or(self.place);
        kind.is_some()
    }
}
