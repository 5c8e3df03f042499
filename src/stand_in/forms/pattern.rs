//! Matches the words of a sentence against a form.

use crate::stand_in::knowledge::Knowledge;

/// What a word of a form stands for.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// One of these words.
    Words(Vec<String>),
    /// A kind of thing, or a general word for one.
    ThingOrPronoun,
    /// A kind of thing.
    Thing,
    /// A kind of place.
    Place,
    /// A lamp.
    Lamp,
}

/// The words of a form; the flag says whether the word is optional.
pub(super) type Pattern = Vec<(Slot, bool)>;

/// What a match has captured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Captures<'a> {
    pub(super) thing: Option<&'a str>,
    pub(super) place: Option<&'a str>,
    pub(super) verb: Option<&'a str>,
}

/// Parses a word as written in `forms.toml`, and whether it is optional.
pub(super) fn parse_slot(word: &str) -> (Slot, bool) {
    let (word, optional) = match word.strip_prefix('[').and_then(|w| w.strip_suffix(']')) {
        Some(inner) => (inner, true),
        None => (word, false),
    };
    let slot = match word {
        "WHAT" => Slot::ThingOrPronoun,
        "THING" => Slot::Thing,
        "PLACE" => Slot::Place,
        "LAMP" => Slot::Lamp,
        "PUT" => Slot::Words(["put", "place", "move"].map(str::to_owned).into()),
        _ => Slot::Words(word.split('|').map(str::to_owned).collect()),
    };
    (slot, optional)
}

/// Returns the words that a form may begin with. Returns `None` if it may begin with a kind.
pub(super) fn first_words(pattern: &[(Slot, bool)]) -> Option<Vec<&str>> {
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

/// Returns whether the words match this form; if so, `captures` holds what they name.
pub(super) fn match_words<'a>(
    pattern: &[(Slot, bool)],
    words: &[&'a str],
    knowledge: &'a Knowledge,
    captures: &mut Captures<'a>,
) -> bool {
    let Some(((slot, optional), rest)) = pattern.split_first() else { return words.is_empty() };
    for length in 1..=slot.max_words().min(words.len()) {
        let Some((taken, left)) = words.split_at_checked(length) else { break };
        let mut attempt = *captures;
        if slot.accepts(taken, knowledge, &mut attempt) && match_words(rest, left, knowledge, &mut attempt) {
            *captures = attempt;
            return true;
        }
    }
    *optional && match_words(rest, words, knowledge, captures)
}

impl Slot {
    /// Returns the maximum number of words it matches.
    pub(super) fn max_words(&self) -> usize {
        match self {
            Self::Words(_) => 1,
            Self::ThingOrPronoun => 3,
            Self::Thing | Self::Place | Self::Lamp => 2,
        }
    }

    fn accepts<'a>(&self, words: &[&'a str], knowledge: &'a Knowledge, captures: &mut Captures<'a>) -> bool {
        match self {
            Self::Words(options) => {
                let &[word] = words else { return false };
                let taken = options
                    .iter()
                    .any(|o| o == word || (o == "PLACE" && captures.capture_place(word, knowledge)));
                if taken && matches!(word, "heat" | "cool" | "clean") {
                    captures.verb.get_or_insert(word);
                }
                taken
                    || (options.iter().any(|o| o == "WHAT")
                        && Self::ThingOrPronoun.accepts(words, knowledge, captures))
            }
            Self::ThingOrPronoun => match words {
                ["object" | "objects" | "thing" | "things" | "item" | "items" | "food" | "it" | "them"]
                | ["what", "you", "hold"] => true,
                _ => Self::Thing.accepts(words, knowledge, &mut Captures::default()),
            },
            Self::Thing => {
                let kind = knowledge.thing_kind(words);
                captures.thing = kind.or(captures.thing);
                kind.is_some()
            }
            Self::Place => {
                let kind = knowledge.place_kind(words);
                captures.place = kind.or(captures.place);
                kind.is_some()
            }
            Self::Lamp => {
                matches!(words, ["lamp" | "desklamp" | "floorlamp"] | ["desk" | "floor", "lamp"])
            }
        }
    }
}

impl<'a> Captures<'a> {
    fn capture_place(&mut self, word: &str, knowledge: &'a Knowledge) -> bool {
        let kind = knowledge.place_kind(&[word]);
        self.place = kind.or(self.place);
        kind.is_some()
    }
}
