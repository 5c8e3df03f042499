//! The lessons that the actor understands: whole sentences in documented forms, nothing else (`docs/LESSON_FORMS.md`).
//! Any other sentence has no effect, however sensible it is.

mod pattern;
mod sentences;

use super::knowledge::{Knowledge, knowledge};
use crate::domain::Prompt;
use pattern::{Captures, Pattern, first_words, match_words, parse_slot};
use sentences::{MAX_WORDS, split_sentences, split_words, teaching_texts};
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::{LazyLock, Mutex, PoisonError};

/// How many texts' lessons are remembered, and the length in bytes up to which a text is.
const MAX_REMEMBERED: usize = 1024;
const MAX_REMEMBERED_LENGTH: usize = 2048;

/// What a form tells the actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LessonForm {
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

/// All forms, compiled. A sentence belongs to the first form that matches it.
#[derive(Debug)]
pub(super) struct Forms {
    sentence_forms: Vec<SentenceForm>,
    /// For a word, the indices of the forms that may begin with it, ascending.
    by_first_word: HashMap<String, Vec<usize>>,
    /// The indices of the forms that may begin with a word that no form spells out.
    open_first_word: Vec<usize>,
    /// The lessons in texts that were searched before: from step to step, prompts repeat nearly all of them.
    remembered: Mutex<HashMap<String, Lessons>>,
}

/// One compiled pattern of a form.
#[derive(Debug)]
struct SentenceForm {
    form: LessonForm,
    pattern: Pattern,
    /// The range of its length in words.
    word_count: RangeInclusive<usize>,
}

/// The lessons found in a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lessons {
    found_forms: u32,
    /// (thing, place) of each look-for lesson.
    pub(super) look_for: Vec<(String, String)>,
    /// (verb, place) of each not-at lesson.
    pub(super) not_at: Vec<(String, String)>,
    /// Places that an open-first, look-inside or go-first lesson is restricted to, with its form.
    places: Vec<(LessonForm, String)>,
    /// Verbs of each then-place or treat-first lesson, with its form.
    verbs: Vec<(LessonForm, String)>,
}

#[derive(serde::Deserialize)]
struct FormsFile {
    forms: BTreeMap<LessonForm, Vec<String>>,
}

static FORMS: LazyLock<Forms> =
    LazyLock::new(|| match toml::from_str::<FormsFile>(include_str!("forms.toml")) {
        Ok(file) => Forms::compile(&file.forms),
        // The file is part of the program, and a test parses it.
        Err(error) => unreachable!("the forms of lessons do not parse: {error}"),
    });

/// Returns the built-in forms.
pub(super) fn forms() -> &'static Forms {
    &FORMS
}

impl Forms {
    /// Compiles the forms as `forms.toml` writes them.
    pub(super) fn compile(table: &BTreeMap<LessonForm, Vec<String>>) -> Self {
        let all =
            table.iter().flat_map(|(form, texts)| texts.iter().map(|text| SentenceForm::parse(*form, text)));
        let sentences: Vec<SentenceForm> = all.collect();
        let firsts: Vec<Option<Vec<&str>>> = sentences.iter().map(|s| first_words(&s.pattern)).collect();
        let indices_for = |word: Option<&str>| {
            let may_begin =
                |f: &Option<Vec<&str>>| f.as_ref().is_none_or(|f| word.is_some_and(|w| f.contains(&w)));
            firsts.iter().enumerate().filter(|(_, f)| may_begin(f)).map(|(index, _)| index).collect()
        };
        let words = firsts.iter().flatten().flatten();
        let by_first = words.map(|word| ((*word).to_owned(), indices_for(Some(word)))).collect();
        let others = indices_for(None);
        Self {
            sentence_forms: sentences,
            by_first_word: by_first,
            open_first_word: others,
            remembered: Mutex::default(),
        }
    }

    /// Returns the same forms without their index: each is tried on each sentence.
    #[cfg(test)]
    pub(super) fn without_index(mut self) -> Self {
        self.by_first_word.clear();
        self.open_first_word = (0..self.sentence_forms.len()).collect();
        self.sentence_forms.iter_mut().for_each(|s| s.word_count = 0..=usize::MAX);
        self
    }

    /// Returns every lesson in the prompt's reflections, memory and guidance, and in a person's reasons for rejections.
    pub(super) fn find_lessons(&self, prompt: &Prompt) -> Lessons {
        let mut lessons = Lessons::default();
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        for text in teaching_texts(prompt) {
            if let Some(known) = remembered.get(text) {
                lessons.extend(known);
                continue;
            }
            let found = self.lessons_of(text);
            lessons.extend(&found);
            if text.len() <= MAX_REMEMBERED_LENGTH {
                if remembered.len() >= MAX_REMEMBERED {
                    remembered.clear();
                }
                remembered.insert(text.to_owned(), found);
            }
        }
        lessons
    }

    /// Returns whether a text contains a lesson.
    pub(super) fn understand(&self, text: &str) -> bool {
        self.lessons_of(text).found_forms != 0
    }

    fn lessons_of(&self, text: &str) -> Lessons {
        let (text, mut lessons) = (text.to_lowercase(), Lessons::default());
        for sentence in split_sentences(&text) {
            self.add_lesson(sentence, knowledge(), &mut lessons);
        }
        lessons
    }

    fn add_lesson<'a>(&self, sentence: &'a str, knowledge: &'a Knowledge, lessons: &mut Lessons) {
        let mut words = [""; MAX_WORDS];
        let Some(words) = split_words(sentence, &mut words).filter(|w| w.len() >= 3) else { return };
        let Some(first) = words.first() else { return };
        for index in self.by_first_word.get(*first).unwrap_or(&self.open_first_word) {
            let Some(SentenceForm { form, pattern, word_count }) = self.sentence_forms.get(*index) else {
                continue;
            };
            let mut captures = Captures::default();
            if word_count.contains(&words.len()) && match_words(pattern, words, knowledge, &mut captures) {
                // A sentence that names several verbs is about all three.
                if words.iter().filter(|w| matches!(**w, "heat" | "cool" | "clean")).count() > 1 {
                    captures.verb = None;
                }
                lessons.add(*form, captures);
                return;
            }
        }
    }
}

impl Lessons {
    /// Returns whether the prompt contains a lesson of this form.
    pub(super) fn has_form(&self, form: LessonForm) -> bool {
        self.found_forms & (1 << form as u32) != 0
    }

    /// Returns whether the prompt contains a lesson of this form for this place: one for all places, or one that
    /// names it.
    pub(super) fn has_for_place(&self, form: LessonForm, place: &str) -> bool {
        self.has_form(form)
            && (self.places.iter().all(|(f, _)| *f != form)
                || self.places.iter().any(|(f, p)| *f == form && (p == place || p.is_empty())))
    }

    /// Returns whether the prompt contains a lesson of this form about this verb, or about all three.
    pub(super) fn has_for_verb(&self, form: LessonForm, verb: &str) -> bool {
        self.has_form(form) && self.verbs.iter().any(|(f, v)| *f == form && (v == verb || v.is_empty()))
    }

    /// Returns whether a lesson says that this verb does not work at this place.
    pub(super) fn is_forbidden(&self, verb: &str, place: &str) -> bool {
        self.not_at.iter().any(|(v, p)| v == verb && p == place)
    }

    fn extend(&mut self, more: &Self) {
        self.found_forms |= more.found_forms;
        self.look_for.extend_from_slice(&more.look_for);
        self.not_at.extend_from_slice(&more.not_at);
        self.places.extend_from_slice(&more.places);
        self.verbs.extend_from_slice(&more.verbs);
    }

    fn add(&mut self, form: LessonForm, captures: Captures<'_>) {
        self.found_forms |= 1 << form as u32;
        let word = |word: Option<&str>| word.unwrap_or_default().to_owned();
        let place = word(captures.place);
        match form {
            LessonForm::LookFor => self.look_for.push((word(captures.thing), place)),
            LessonForm::NotAt => self.not_at.push((word(captures.verb), place)),
            LessonForm::OpenFirst | LessonForm::LookInside | LessonForm::GoFirst => {
                self.places.push((form, place));
            }
            LessonForm::ThenPlace | LessonForm::TreatFirst => self.verbs.push((form, word(captures.verb))),
            LessonForm::HeatOnly
            | LessonForm::CoolOnly
            | LessonForm::CleanOnly
            | LessonForm::HandsFirst
            | LessonForm::Numbers
            | LessonForm::NoRepeat
            | LessonForm::NoReturn
            | LessonForm::OnlyNamed
            | LessonForm::Lamp
            | LessonForm::HoldFirst
            | LessonForm::SayMove
            | LessonForm::SayPut => {}
        }
    }
}

/// A single sentence form that consists of plain words only.
#[derive(Debug, serde::Deserialize)]
#[serde(from = "String")]
pub(super) struct Phrase(Pattern);

impl From<String> for Phrase {
    fn from(text: String) -> Self {
        Self(text.split(' ').map(parse_slot).collect())
    }
}

impl Phrase {
    /// Returns whether the prompt contains a lesson of one of these forms.
    pub(super) fn is_in_prompt(phrases: &[Self], prompt: &Prompt) -> bool {
        let fits = |sentence: &str| {
            let mut words = [""; MAX_WORDS];
            let words = split_words(sentence, &mut words).unwrap_or_default();
            phrases.iter().any(|phrase| {
                !words.is_empty() && match_words(&phrase.0, words, knowledge(), &mut Captures::default())
            })
        };
        teaching_texts(prompt).any(|text| split_sentences(&text.to_lowercase()).any(fits))
    }
}

impl SentenceForm {
    fn parse(form: LessonForm, text: &str) -> Self {
        let pattern: Pattern = text.split(' ').map(parse_slot).collect();
        let min = pattern.iter().filter(|(_, optional)| !optional).count();
        let max = pattern.iter().map(|(slot, _)| slot.max_words()).sum();
        Self { form, pattern, word_count: min..=max }
    }
}
