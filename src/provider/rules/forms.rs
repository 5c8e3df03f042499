//! The lessons that the actor understands: whole sentences of documented forms, nothing else
//! (`docs/LESSON_FORMS.md`). A sentence outside the forms leaves no trace, however sensible it is.

use super::knowledge::Knowledge;
use crate::domain::{Label, Prompt};
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

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

/// All forms, ready to match. A sentence is that of the first form that fits it.
#[derive(Debug)]
pub(super) struct Forms {
    sentences: Vec<Sentence>,
    /// For a word, the places of the forms that may begin with it, ascending.
    by_first: HashMap<String, Vec<usize>>,
    /// Those that may begin with a word that no form spells out.
    others: Vec<usize>,
}

/// A form as one sentence.
#[derive(Debug)]
struct Sentence {
    form: Form,
    pattern: Pattern,
    /// How many words it has, at least and at most.
    words: RangeInclusive<usize>,
}

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
#[derive(Clone, Copy, Debug, Default)]
struct Bound<'a> {
    thing: Option<&'a str>,
    place: Option<&'a str>,
    verb: Option<&'a str>,
}

/// A sentence longer than this is no lesson of ours.
const LONGEST: usize = 24;

impl Forms {
    /// Compiles the forms as `forms.toml` writes them.
    pub(super) fn compile(table: &BTreeMap<Form, Vec<String>>) -> Self {
        let all = table.iter().flat_map(|(form, texts)| texts.iter().map(|text| Sentence::of(*form, text)));
        let sentences: Vec<Sentence> = all.collect();
        let firsts: Vec<Option<Vec<&str>>> = sentences.iter().map(|s| firsts(&s.pattern)).collect();
        let that_begin_with = |word: Option<&str>| {
            let may = |f: &Option<Vec<&str>>| f.as_ref().is_none_or(|f| word.is_some_and(|w| f.contains(&w)));
            firsts.iter().enumerate().filter(|(_, f)| may(f)).map(|(place, _)| place).collect()
        };
        let words = firsts.iter().flatten().flatten();
        let by_first = words.map(|word| ((*word).to_owned(), that_begin_with(Some(word)))).collect();
        let others = that_begin_with(None);
        Self { sentences, by_first, others }
    }

    /// The same forms, each tried on each sentence.
    #[cfg(test)]
    pub(super) fn without_shortcuts(mut self) -> Self {
        self.by_first.clear();
        self.others = (0..self.sentences.len()).collect();
        self.sentences.iter_mut().for_each(|s| s.words = 0..=usize::MAX);
        self
    }

    /// Every lesson that stands in the prompt's reflections, memory, guidance, and in a person's reason.
    pub(super) fn lessons(&self, prompt: &Prompt, knowledge: &Knowledge) -> Lessons {
        let mut lessons = Lessons::default();
        for text in taught(prompt) {
            for sentence in sentences(&text) {
                self.learn(sentence, knowledge, &mut lessons);
            }
        }
        lessons
    }

    fn learn<'a>(&self, sentence: &'a str, knowledge: &'a Knowledge, lessons: &mut Lessons) {
        let mut words = [""; LONGEST];
        let Some(words) = words_of(sentence, &mut words).filter(|w| w.len() >= 3) else { return };
        let Some(first) = words.first() else { return };
        for place in self.by_first.get(*first).unwrap_or(&self.others) {
            let Some(Sentence { form, pattern, words: may_be }) = self.sentences.get(*place) else {
                continue;
            };
            let mut bound = Bound::default();
            if may_be.contains(&words.len()) && matches(pattern, words, knowledge, &mut bound) {
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

    fn add(&mut self, form: Form, bound: Bound<'_>) {
        self.found |= 1 << form as u32;
        let word = |word: Option<&str>| word.unwrap_or_default().to_owned();
        let place = word(bound.place);
        match form {
            Form::LookFor => self.look_for.push((word(bound.thing), place)),
            Form::NotAt => self.not_at.push((word(bound.verb), place)),
            Form::OpenFirst | Form::LookInside | Form::GoFirst => self.restricted.push((form, place)),
            Form::ThenPlace | Form::TreatFirst => self.verbs.push((form, word(bound.verb))),
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

/// The texts of a prompt that teach, in lower case.
fn taught(prompt: &Prompt) -> impl Iterator<Item = String> {
    let teaching = prompt.segments.iter().filter(|segment| {
        matches!(
            segment.label,
            Label::Guidance
                | Label::Abstract
                | Label::Error
                | Label::Progress
                | Label::Memory
                | Label::Rejection
        )
    });
    teaching.map(|segment| segment.text.to_lowercase())
}

/// The words of a sentence without what counts for nothing; none where it is longer than any lesson of ours.
fn words_of<'w, 's>(sentence: &'s str, words: &'w mut [&'s str; LONGEST]) -> Option<&'w [&'s str]> {
    let marks = |c: char| matches!(c, ',' | '"' | '\'' | '`' | '(' | ')' | '“' | '”' | '’');
    let mut count = 0;
    for word in sentence.split_whitespace().map(|w| w.trim_matches(marks)).filter(|w| !w.is_empty()) {
        *words.get_mut(count)? = word;
        count += 1;
    }
    words.get(..count)
}

/// A sentence form for itself, of plain words alone.
#[derive(Debug, serde::Deserialize)]
#[serde(from = "String")]
pub(super) struct Phrase(Pattern);

impl From<String> for Phrase {
    fn from(text: String) -> Self {
        Self(text.split(' ').map(slot).collect())
    }
}

impl Phrase {
    /// Whether the prompt holds a lesson of one of these forms.
    pub(super) fn said(phrases: &[Self], prompt: &Prompt) -> bool {
        let fits = |sentence: &str| {
            let mut words = [""; LONGEST];
            let words = words_of(sentence, &mut words).unwrap_or_default();
            phrases.iter().any(|phrase| {
                !words.is_empty()
                    && matches(&phrase.0, words, super::knowledge::knowledge(), &mut Bound::default())
            })
        };
        taught(prompt).any(|text| sentences(&text).any(fits))
    }
}

/// The sentences of a text in lower case: lines without bullets, cut at stops and at the two words of an Error lesson.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| {
            line.trim_start().trim_start_matches(|c: char| "-*•>→ ".contains(c) || c.is_ascii_digit())
        })
        .map(|line| line.trim_start_matches([')', '.', ' ']))
        .flat_map(|line| cut(line, "mistake: "))
        .flat_map(|line| cut(line, "solution: "))
        .flat_map(|line| line.split(['.', '!', ';', '→']))
        .flat_map(|part| cut(part, "\": "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

/// The parts of a text between marks. Every mark has a colon, and most texts have none, which is quickly seen.
fn cut<'a>(text: &'a str, mark: &'static str) -> impl Iterator<Item = &'a str> {
    let marked = text.contains(':');
    let parts = marked.then(|| text.split(mark)).into_iter().flatten();
    parts.chain((!marked).then_some(text))
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

impl Sentence {
    fn of(form: Form, text: &str) -> Self {
        let pattern: Pattern = text.split(' ').map(slot).collect();
        let least = pattern.iter().filter(|(_, optional)| !optional).count();
        let most = pattern.iter().map(|(slot, _)| slot.longest()).sum();
        Self { form, pattern, words: least..=most }
    }
}

/// The words that a form may begin with; none where it may begin with a kind.
fn firsts(pattern: &[(Slot, bool)]) -> Option<Vec<&str>> {
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

fn matches<'a>(
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
    fn longest(&self) -> usize {
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
