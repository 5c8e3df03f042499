//! What prompts said before, kept beside what it was written from.

use super::forms;
use crate::domain::{
    Lesson, LessonText, LessonVersion, Prompt, PromptRecord, SegmentLabel, Step, Transition,
};
use std::sync::Arc;

/// What was written, beside what it was written from.
#[derive(Debug)]
pub(super) struct PromptCache {
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
    pub(super) lines: Vec<(SegmentLabel, Arc<str>)>,
    pub(super) tokens: u32,
}

/// The line of a lesson, and what it costs.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) text: Arc<str>,
    pub(super) tokens: u32,
}

impl PromptCache {
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
        let moment = lesson.transition.as_deref();
        self.lessons.of(lesson.number, &lesson.versions, |versions| {
            versions.last().map_or_else(Line::empty, |v| Line::of(&v.text, moment))
        })
    }
}

impl Line {
    pub(super) fn of(lesson: &LessonText, moment: Option<&Transition>) -> Self {
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
