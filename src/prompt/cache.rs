//! Caches rendered prompt text together with the object it was rendered from.

use super::forms;
use crate::domain::{Lesson, LessonText, LessonVersion, Prompt, PromptRecord, SegmentLabel, Step, TextForms};
use std::sync::Arc;

/// Rendered lines of steps and lessons, and the last drafted prompt.
#[derive(Debug)]
pub(super) struct PromptCache {
    /// The format version in which all cached lines are written.
    version: TextForms,
    /// The episode whose steps are cached.
    episode: u32,
    steps: SlotCache<Step, StepLines>,
    lessons: SlotCache<Vec<LessonVersion>, LessonLine>,
    /// The last drafted prompt, which is usually rendered next to be sent.
    pub(super) last_draft: Option<(PromptRecord, Prompt)>,
}

/// The lines of a step and their estimated tokens.
#[derive(Debug)]
pub(super) struct StepLines {
    pub(super) lines: Vec<(SegmentLabel, Arc<str>)>,
    pub(super) tokens: u32,
}

/// The line of a lesson and its estimated tokens.
#[derive(Debug)]
pub(super) struct LessonLine {
    pub(super) text: Arc<str>,
    pub(super) tokens: u32,
}

impl PromptCache {
    /// Creates a cache of at most `capacity` steps and as many lessons. `capacity` must be at least 1.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            version: TextForms::CURRENT,
            episode: 0,
            steps: SlotCache::with_capacity(capacity),
            lessons: SlotCache::with_capacity(capacity),
            last_draft: None,
        }
    }

    /// Makes the cache render in this version of the formats. A change of version empties it.
    pub(super) fn set_version(&mut self, version: TextForms) {
        if self.version != version {
            self.version = version;
            self.steps.slots.clear();
            self.lessons.slots.clear();
        }
    }

    /// Returns the lines of an answered step of this episode.
    pub(super) fn step_lines(&mut self, episode: u32, step: &Arc<Step>) -> &StepLines {
        if self.episode != episode {
            self.episode = episode;
            self.steps.slots.clear();
        }
        let version = self.version;
        self.steps.get_or_render(step.number, step, |step| {
            let lines = forms::step_lines(step, version);
            let tokens = lines.iter().map(|(_, line)| forms::estimate_tokens(line)).sum();
            StepLines { lines: lines.into_iter().map(|(label, line)| (label, line.into())).collect(), tokens }
        })
    }

    /// Returns the line of a lesson's current version. Only the lesson's versions are compared with the cached ones,
    /// because its transition never changes.
    pub(super) fn lesson_line(&mut self, lesson: &Lesson) -> &LessonLine {
        let version = self.version;
        self.lessons.get_or_render(lesson.number, &lesson.versions, |versions| {
            versions.last().map_or_else(LessonLine::empty, |v| LessonLine::new(lesson, &v.text, version))
        })
    }
}

impl LessonLine {
    pub(super) fn new(lesson: &Lesson, text: &LessonText, version: TextForms) -> Self {
        let line = forms::prompt_line(lesson, text, version);
        Self { tokens: forms::estimate_tokens(&line), text: line.into() }
    }

    fn empty() -> Self {
        Self { text: Arc::default(), tokens: 0 }
    }
}

/// A direct-mapped cache: numbers that differ by a multiple of [`SlotCache::capacity`] share a slot.
#[derive(Debug)]
struct SlotCache<T, R> {
    slots: Vec<Option<(Arc<T>, R)>>,
    capacity: usize,
}

impl<T, R> SlotCache<T, R> {
    fn with_capacity(capacity: usize) -> Self {
        Self { slots: Vec::new(), capacity }
    }

    /// Returns what was rendered from this object (compared by pointer), rendering it first if it isn't cached.
    fn get_or_render(&mut self, number: u32, source: &Arc<T>, render: impl FnOnce(&T) -> R) -> &R {
        let index = number as usize % self.capacity;
        if index >= self.slots.len() {
            self.slots.resize_with(index + 1, || None);
        }
        let slot = &mut self.slots[index];
        let cached = slot.take().filter(|(cached_source, _)| Arc::ptr_eq(cached_source, source));
        &slot.insert(cached.unwrap_or_else(|| (source.clone(), render(source)))).1
    }
}
