//! The desk at which a run's prompts are written. What a prompt says of a settled step or of a lesson is a pure function of
//! something that never changes, so it is written once and kept; a prompt that was drafted is handed out as it is.
//!
//! What is kept decides nothing: it is taken only for the very object that it was written from, which is held along with
//! it and so cannot have changed. A prompt written at an empty desk ([`super::render()`]) is the same, to the byte.

use super::Templates;
use super::cache::PromptCache;
use super::draft::draft;
use super::render::render_with;
use crate::domain::{Prompt, PromptRecord};
use crate::engine::{PromptDraft, PromptRequest, State};
use std::sync::{Arc, Mutex, PoisonError};

/// Steps and lessons that are kept at most, each; more of them are written anew.
const MAX_CACHED: usize = 4096;

/// Drafts and rebuilds the prompts of one run.
#[derive(Debug)]
pub struct PromptBuilder {
    templates: Arc<Templates>,
    cache: Mutex<PromptCache>,
}

impl PromptBuilder {
    /// A desk with these templates.
    pub fn new(templates: Arc<Templates>) -> Self {
        Self { templates, cache: Mutex::new(PromptCache::with_capacity(MAX_CACHED)) }
    }

    /// Drafts the prompt of a question. The order is the template's; lessons and the task are never cut, the oldest steps
    /// are left out first. The work is bounded by the budget, not by the length of the episode.
    pub fn draft(&self, state: &State, ask: &PromptRequest) -> PromptDraft {
        // Whoever panicked here has left whole entries: each is put down in one piece.
        draft(state, ask, &self.templates, &mut self.cache.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// As [`super::render()`]; the prompt drafted last is not written again.
    pub fn render(&self, state: &State, record: &PromptRecord) -> Prompt {
        let mut kept = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |r: &PromptRecord| {
            r.sha256 == record.sha256 && r.episode == record.episode && r.segments == record.segments
        };
        match kept.last_draft.take_if(|(drafted, _)| same(drafted)) {
            Some((_, prompt)) => prompt,
            None => render_with(state, record, &mut kept, |hash| state.texts.get(hash).cloned()),
        }
    }
}
