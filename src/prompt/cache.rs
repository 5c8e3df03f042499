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
    steps: SlotCache<Step, StepLines>,
    lessons: SlotCache<Vec<LessonVersion>, LessonLine>,
    /// The prompt drafted last, for whoever sends it.
    pub(super) last_draft: Option<(PromptRecord, Prompt)>,
}

/// The lines of a step, and what they cost.
#[derive(Debug)]
pub(super) struct StepLines {
    pub(super) lines: Vec<(SegmentLabel, Arc<str>)>,
    pub(super) tokens: u32,
}

/// The line of a lesson, and what it costs.
#[derive(Debug)]
pub(super) struct LessonLine {
    pub(super) text: Arc<str>,
    pub(super) tokens: u32,
}

impl PromptCache {
    /// A desk that keeps this many steps and lessons at most (at least one of each).
    pub(super) fn with_capacity(most: usize) -> Self {
        Self {
            episode: 0,
            steps: SlotCache::with_capacity(most),
            lessons: SlotCache::with_capacity(most),
            last_draft: None,
        }
    }

    /// The lines of a settled step of this episode.
    pub(super) fn step_lines(&mut self, episode: u32, step: &Arc<Step>) -> &StepLines {
        if self.episode != episode {
            self.episode = episode;
            self.steps.slots.clear();
        }
        self.steps.get_or_write(step.number, step, |step| {
            let lines = forms::step_lines(step);
            let tokens = lines.iter().map(|(_, line)| forms::estimate_tokens(line)).sum();
            StepLines { lines: lines.into_iter().map(|(label, line)| (label, line.into())).collect(), tokens }
        })
    }

    /// The line of a lesson in the wording in force. The turn it is about never changes, so its wordings tell it apart.
    pub(super) fn lesson_line(&mut self, lesson: &Lesson) -> &LessonLine {
        let moment = lesson.transition.as_deref();
        self.lessons.get_or_write(lesson.number, &lesson.versions, |versions| {
            versions.last().map_or_else(LessonLine::empty, |v| LessonLine::new(&v.text, moment))
        })
    }
}

impl LessonLine {
    pub(super) fn new(lesson: &LessonText, moment: Option<&Transition>) -> Self {
        let line = forms::lesson_line_with_moment(lesson, moment);
        Self { tokens: forms::estimate_tokens(&line), text: line.into() }
    }

    fn empty() -> Self {
        Self { text: Arc::default(), tokens: 0 }
    }
}

/// One place for every number, shared by numbers that lie [`Slots::most`] apart.
#[derive(Debug)]
struct SlotCache<T, W> {
    slots: Vec<Option<(Arc<T>, W)>>,
    capacity: usize,
}

impl<T, W> SlotCache<T, W> {
    fn with_capacity(most: usize) -> Self {
        Self { slots: Vec::new(), capacity: most }
    }

    /// What was written from this object, written now where it is not kept.
    fn get_or_write(&mut self, number: u32, from: &Arc<T>, write: impl FnOnce(&T) -> W) -> &W {
        let place = number as usize % self.capacity;
        if place >= self.slots.len() {
            self.slots.resize_with(place + 1, || None);
        }
        let slot = &mut self.slots[place];
        let kept = slot.take().filter(|(was, _)| Arc::ptr_eq(was, from));
        &slot.insert(kept.unwrap_or_else(|| (from.clone(), write(from)))).1
    }
}
