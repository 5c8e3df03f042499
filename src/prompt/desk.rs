//! The desk at which a run's prompts are written. What a prompt says of a settled step or of a lesson is a pure function of
//! something that never changes, so it is written once and kept; a prompt that was drafted is handed out as it is.
//!
//! What is kept decides nothing: it is taken only for the very object that it was written from, which is held along with
//! it and so cannot have changed. A prompt written at an empty desk ([`super::render()`]) is the same, to the byte.

use super::draft::draft;
use super::render::expand;
use super::{Templates, forms};
use crate::domain::{Label, Lesson, LessonText, LessonVersion, Moment, Prompt, PromptRecord, Step};
use crate::engine::{Ask, Draft, State};
use std::sync::{Arc, Mutex, PoisonError};

/// Steps and lessons that are kept at most, each; more of them are written anew.
const MOST: usize = 4096;

/// Drafts and rebuilds the prompts of one run.
#[derive(Debug)]
pub struct Desk {
    templates: Arc<Templates>,
    kept: Mutex<Kept>,
}

impl Desk {
    /// A desk with these templates.
    pub fn new(templates: Arc<Templates>) -> Self {
        Self { templates, kept: Mutex::new(Kept::up_to(MOST)) }
    }

    /// Drafts the prompt of a question. The order is the template's; lessons and the task are never cut, the oldest steps
    /// are left out first. The work is bounded by the budget, not by the length of the episode.
    pub fn draft(&self, state: &State, ask: &Ask) -> Draft {
        // Whoever panicked here has left whole entries: each is put down in one piece.
        draft(state, ask, &self.templates, &mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// As [`super::render()`]; the prompt drafted last is not written again.
    pub fn render(&self, state: &State, record: &PromptRecord) -> Prompt {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |r: &PromptRecord| {
            r.sha256 == record.sha256 && r.episode == record.episode && r.segments == record.segments
        };
        match kept.drafted.take_if(|(drafted, _)| same(drafted)) {
            Some((_, prompt)) => prompt,
            None => expand(state, record, &mut kept, |hash| state.texts.get(hash).cloned()),
        }
    }
}

/// What was written, beside what it was written from.
#[derive(Debug)]
pub(super) struct Kept {
    /// The episode whose steps are kept.
    episode: u32,
    steps: Slots<Step, Lines>,
    lessons: Slots<Vec<LessonVersion>, Line>,
    /// The prompt drafted last, for whoever sends it.
    pub(super) drafted: Option<(PromptRecord, Prompt)>,
}

/// The lines of a step, and what they cost.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) lines: Vec<(Label, Arc<str>)>,
    pub(super) tokens: u32,
}

/// The line of a lesson, and what it costs.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) text: Arc<str>,
    pub(super) tokens: u32,
}

impl Kept {
    /// A desk that keeps this many steps and lessons at most (at least one of each).
    pub(super) fn up_to(most: usize) -> Self {
        Self { episode: 0, steps: Slots::up_to(most), lessons: Slots::up_to(most), drafted: None }
    }

    /// The lines of a settled step of this episode.
    pub(super) fn step(&mut self, episode: u32, step: &Arc<Step>) -> &Lines {
        if self.episode != episode {
            self.episode = episode;
            self.steps.slots.clear();
        }
        self.steps.of(step.number, step, |step| {
            let lines = forms::step_lines(step);
            let tokens = lines.iter().map(|(_, line)| forms::estimate_tokens(line)).sum();
            Lines { lines: lines.into_iter().map(|(label, line)| (label, line.into())).collect(), tokens }
        })
    }

    /// The line of a lesson in the wording in force. The turn it is about never changes, so its wordings tell it apart.
    pub(super) fn lesson(&mut self, lesson: &Lesson) -> &Line {
        let moment = lesson.moment.as_deref();
        self.lessons.of(lesson.number, &lesson.versions, |versions| {
            versions.last().map_or_else(Line::empty, |v| Line::of(&v.text, moment))
        })
    }
}

impl Line {
    pub(super) fn of(lesson: &LessonText, moment: Option<&Moment>) -> Self {
        let line = forms::memory_line(lesson, moment);
        Self { tokens: forms::estimate_tokens(&line), text: line.into() }
    }

    fn empty() -> Self {
        Self { text: Arc::default(), tokens: 0 }
    }
}

/// One place for every number, shared by numbers that lie [`Slots::most`] apart.
#[derive(Debug)]
struct Slots<T, W> {
    slots: Vec<Option<(Arc<T>, W)>>,
    most: usize,
}

impl<T, W> Slots<T, W> {
    fn up_to(most: usize) -> Self {
        Self { slots: Vec::new(), most }
    }

    /// What was written from this object, written now where it is not kept.
    fn of(&mut self, number: u32, from: &Arc<T>, write: impl FnOnce(&T) -> W) -> &W {
        let place = number as usize % self.most;
        if place >= self.slots.len() {
            self.slots.resize_with(place + 1, || None);
        }
        let slot = &mut self.slots[place];
        let kept = slot.take().filter(|(was, _)| Arc::ptr_eq(was, from));
        &slot.insert(kept.unwrap_or_else(|| (from.clone(), write(from)))).1
    }
}
