//! A sample whose reply is arriving, as the driver's readers see it.

use crate::domain::Usage;
use crate::provider::Delta;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A sample while its reply arrives. Never part of the state.
#[derive(Clone, Debug)]
pub struct LiveSample {
    pub group: u32,
    pub number: u32,
    progress: Arc<Mutex<Progress>>,
}

/// How far the call of a sample is.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// When its request was sent; `None` while it waits for others to end.
    started: Option<Instant>,
    /// Bytes of the reply and the reasoning so far.
    received: u64,
    /// Tokens and cost, once the server has reported them.
    usage: Option<Usage>,
}

impl LiveSample {
    /// Creates a sample whose request hasn't been sent.
    pub fn waiting(group: u32, number: u32) -> Self {
        Self { group, number, progress: Arc::default() }
    }

    /// Notes that its request is being sent.
    pub(super) fn start(&self, at: Instant) {
        lock(&self.progress).started = Some(at);
    }

    /// Notes what has arrived.
    pub(super) fn record(&self, delta: &Delta) {
        lock(&self.progress).record(delta);
    }

    /// Returns what it has cost so far; `prompt_tokens` is the estimate of its prompt.
    pub(super) fn usage(&self, prompt_tokens: u64) -> Usage {
        lock(&self.progress).usage(prompt_tokens)
    }

    /// Returns when its request was sent; `None` if it hasn't been.
    pub fn started(&self) -> Option<Instant> {
        lock(&self.progress).started
    }

    /// Returns the bytes of the reply and the reasoning that have arrived.
    pub fn received(&self) -> u64 {
        lock(&self.progress).received
    }
}

impl Progress {
    fn record(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(text) | Delta::Reasoning(text) => self.received += text.len() as u64,
            Delta::Usage(usage) => self.usage = Some(*usage),
            _ => {}
        }
    }

    /// Returns the tokens of the call so far: as reported, else estimated; none if its request hasn't been sent.
    fn usage(&self, prompt_tokens: u64) -> Usage {
        let Some(started) = self.started else { return Usage { estimated: true, ..Usage::default() } };
        let millis = started.elapsed().as_millis() as u64;
        let estimate = Usage {
            prompt_tokens,
            reply_tokens: self.received.div_ceil(4),
            estimated: true,
            millis,
            ..Usage::default()
        };
        match self.usage {
            Some(earlier) if earlier.has_only_earlier() => estimate.with_earlier(&earlier),
            Some(usage) => Usage { millis, ..usage },
            None => estimate,
        }
    }
}

fn lock(progress: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}
