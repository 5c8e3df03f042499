//! The lessons that the actor understands: whole sentences of documented forms, nothing else
//! (`docs/LESSON_FORMS.md`). A sentence outside the forms leaves no trace, however sensible it is.

use super::knowledge::Knowledge;
use crate::domain::{Label, Prompt};
use std::collections::BTreeMap;

/// What a form tells the actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Form {
    HeatOnly,
    CoolOnly,
    CleanOnly,
    NotAt,
    OpenFirst,
    LookInside,
    HandsFirst,
    Numbers,
    GoFirst,
    NoRepeat,
    NoReturn,
    OnlyNamed,
    LookFor,
    Lamp,
    ThenPlace,
    TreatFirst,
    HoldFirst,
    SayMove,
    SayPut,
}

/// What a word of a form may be.
#[derive(Clone, Debug)]
enum Slot {
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
type Pattern = Vec<(Slot, bool)>;

/// All forms, ready to match.
#[derive(Debug)]
pub(super) struct Forms(Vec<(Form, Pattern)>);

/// The lessons found in a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lessons {
    found: u32,
    /// (thing, place) that a look-for lesson names.
    pub(super) look_for: Vec<(String, String)>,
    /// (verb, place) that a not-at lesson names.
    pub(super) not_at: Vec<(String, String)>,
    /// Places that an open-first or look-inside lesson is restricted to, with its form.
    restricted: Vec<(Form, String)>,
    /// Verbs that a then-place or treat-first lesson names, with its form.
    verbs: Vec<(Form, String)>,
}

/// What a match has bound.
#[derive(Clone, Debug, Default)]
struct Bound {
    thing: Option<String>,
    place: Option<String>,
    verb: Option<String>,
}

/// A sentence longer than this is no lesson of ours.
const LONGEST: usize = 24;

impl Forms {
    /// Compiles the forms as `forms.toml` writes them.
    pub(super) fn compile(table: &BTreeMap<Form, Vec<String>>) -> Self {
        let pattern = |text: &String| text.split(' ').map(slot).collect::<Pattern>();
        Self(table.iter().flat_map(|(form, texts)| texts.iter().map(move |t| (*form, pattern(t)))).collect())
    }

    /// Every lesson that stands in the prompt's reflections, memory, guidance, and in a person's reason.
    pub(super) fn lessons(&self, prompt: &Prompt, knowledge: &Knowledge) -> Lessons {
        let mut lessons = Lessons::default();
        for segment in &prompt.segments {
            if matches!(
                segment.label,
                Label::Guidance
                    | Label::Abstract
                    | Label::Error
                    | Label::Progress
                    | Label::Memory
                    | Label::Rejection
            ) {
                let text = segment.text.to_lowercase();
                for sentence in sentences(&text) {
                    self.learn(sentence, knowledge, &mut lessons);
                }
            }
        }
        lessons
    }

    fn learn(&self, sentence: &str, knowledge: &Knowledge, lessons: &mut Lessons) {
        let mut words = [""; LONGEST];
        let mut count = 0;
        let marks = |c: char| matches!(c, ',' | '"' | '\'' | '`' | '(' | ')' | '“' | '”' | '’');
        for word in sentence.split_whitespace().map(|w| w.trim_matches(marks)).filter(|w| !w.is_empty()) {
            let Some(place) = words.get_mut(count) else { return };
            *place = word;
            count += 1;
        }
        let Some(words) = words.get(..count).filter(|w| w.len() >= 3) else { return };
        for (form, pattern) in &self.0 {
            let mut bound = Bound::default();
            if matches(pattern, words, knowledge, &mut bound) {
                // A sentence that names several verbs speaks of all three.
                if words.iter().filter(|w| matches!(**w, "heat" | "cool" | "clean")).count() > 1 {
                    bound.verb = None;
                }
                lessons.add(*form, bound);
                return;
            }
        }
    }
}

impl Lessons {
    /// The prompt holds a lesson of this form.
    pub(super) fn has(&self, form: Form) -> bool {
        self.found & (1 << form as u32) != 0
    }

    /// The prompt holds a lesson of this form that reaches this place: one for all places, or one that names it.
    pub(super) fn has_for_place(&self, form: Form, place: &str) -> bool {
        self.has(form)
            && (self.restricted.iter().all(|(f, _)| *f != form)
                || self.restricted.iter().any(|(f, p)| *f == form && (p == place || p.is_empty())))
    }

    /// The prompt holds a lesson of this form that speaks of this verb, or of all three.
    pub(super) fn has_for_verb(&self, form: Form, verb: &str) -> bool {
        self.has(form) && self.verbs.iter().any(|(f, v)| *f == form && (v == verb || v.is_empty()))
    }

    /// A lesson says that this place does not do this.
    pub(super) fn forbids(&self, verb: &str, place: &str) -> bool {
        self.not_at.iter().any(|(v, p)| v == verb && p == place)
    }

    fn add(&mut self, form: Form, bound: Bound) {
        self.found |= 1 << form as u32;
        let place = bound.place.unwrap_or_default();
        match form {
            Form::LookFor => self.look_for.push((bound.thing.unwrap_or_default(), place)),
            Form::NotAt => self.not_at.push((bound.verb.unwrap_or_default(), place)),
            Form::OpenFirst | Form::LookInside | Form::GoFirst => self.restricted.push((form, place)),
            Form::ThenPlace | Form::TreatFirst => self.verbs.push((form, bound.verb.unwrap_or_default())),
            Form::HeatOnly
            | Form::CoolOnly
            | Form::CleanOnly
            | Form::HandsFirst
            | Form::Numbers
            | Form::NoRepeat
            | Form::NoReturn
            | Form::OnlyNamed
            | Form::Lamp
            | Form::HoldFirst
            | Form::SayMove
            | Form::SayPut => {}
        }
    }
}

/// The sentences of a text in lower case: lines without bullets, cut at stops and at the two words of an Error lesson.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| {
            line.trim_start().trim_start_matches(|c: char| "-*•>→ ".contains(c) || c.is_ascii_digit())
        })
        .map(|line| line.trim_start_matches([')', '.', ' ']))
        .flat_map(|line| line.split("mistake: "))
        .flat_map(|line| line.split("solution: "))
        .flat_map(|line| line.split(['.', '!', ';', '→']))
        .flat_map(|part| part.split("\": "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

fn slot(word: &str) -> (Slot, bool) {
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

fn matches(pattern: &[(Slot, bool)], words: &[&str], knowledge: &Knowledge, bound: &mut Bound) -> bool {
    let Some(((slot, optional), rest)) = pattern.split_first() else { return words.is_empty() };
    for length in 1..=slot.longest().min(words.len()) {
        let Some((taken, left)) = words.split_at_checked(length) else { break };
        let mut attempt = bound.clone();
        if slot.takes(taken, knowledge, &mut attempt) && matches(rest, left, knowledge, &mut attempt) {
            *bound = attempt;
            return true;
        }
    }
    *optional && matches(rest, words, knowledge, bound)
}

impl Slot {
    fn longest(&self) -> usize {
        match self {
            Self::Words(_) => 1,
            Self::What => 3,
            Self::Thing | Self::Place | Self::Lamp => 2,
        }
    }

    fn takes(&self, words: &[&str], knowledge: &Knowledge, bound: &mut Bound) -> bool {
        match self {
            Self::Words(options) => {
                let &[word] = words else { return false };
                let taken =
                    options.iter().any(|o| o == word || (o == "PLACE" && bound.place_of(word, knowledge)));
                if taken && matches!(word, "heat" | "cool" | "clean") {
                    bound.verb.get_or_insert_with(|| word.to_owned());
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
                bound.thing = kind.map(str::to_owned).or(bound.thing.take());
                kind.is_some()
            }
            Self::Place => {
                let kind = knowledge.place_kind(words);
                bound.place = kind.map(str::to_owned).or(bound.place.take());
                kind.is_some()
            }
            Self::Lamp => {
                matches!(words, ["lamp" | "desklamp" | "floorlamp"] | ["desk" | "floor", "lamp"])
            }
        }
    }
}

impl Bound {
    fn place_of(&mut self, word: &str, knowledge: &Knowledge) -> bool {
        let kind = knowledge.place_kind(&[word]);
        self.place = kind.map(str::to_owned).or(self.place.take());
        kind.is_some()
    }
}
