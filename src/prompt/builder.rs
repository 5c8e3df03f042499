//! Drafts and rebuilds the prompts of a run. The text for an answered step or a lesson is a pure function of immutable
//! data, so it is rendered once and cached. A drafted prompt is sent without rendering it again.
//!
//! The cache never changes a result: an entry is used only for the same object that it was rendered from. The entry
//! keeps that object alive, so it cannot have changed. Rendering with an empty cache ([`super::render()`]) is
//! byte-identical.

use super::Templates;
use super::cache::PromptCache;
use super::draft::draft;
use super::render::render_with;
use crate::domain::{Prompt, PromptRecord};
use crate::engine::{PromptDraft, PromptRequest, State};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of cached steps, and of cached lessons; beyond it they are rendered again.
const MAX_CACHED: usize = 4096;

/// Drafts and rebuilds the prompts of one run.
#[derive(Debug)]
pub struct PromptBuilder {
    templates: Arc<Templates>,
    cache: Mutex<PromptCache>,
}

impl PromptBuilder {
    /// Creates a builder with an empty cache.
    pub fn new(templates: Arc<Templates>) -> Self {
        Self { templates, cache: Mutex::new(PromptCache::with_capacity(MAX_CACHED)) }
    }

    /// Returns the templates with which prompts are drafted.
    pub fn templates(&self) -> &Arc<Templates> {
        &self.templates
    }

    /// Drafts the requested prompt. Segments follow the template's order; lessons and the task are never cut, and the
    /// oldest steps are dropped first. The work is bounded by the budget, not by the length of the episode.
    pub fn draft(&self, state: &State, request: &PromptRequest) -> PromptDraft {
        // A poisoned lock is safe to use: each entry is stored with one assignment, so a panic leaves none
        // half-written.
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        draft(state, request, &self.templates, &mut cache)
    }

    /// Renders a record as [`super::render()`] does, without rendering the last drafted prompt again.
    pub fn render(&self, state: &State, record: &PromptRecord) -> Prompt {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |r: &PromptRecord| {
            r.sha256 == record.sha256 && r.episode == record.episode && r.segments == record.segments
        };
        match cache.last_draft.take_if(|(drafted, _)| is_same(drafted)) {
            Some((_, prompt)) => prompt,
            None => render_with(state, record, &mut cache, |hash| state.texts.get(hash).cloned()),
        }
    }
}
