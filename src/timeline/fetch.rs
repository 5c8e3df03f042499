//! Access to events that are not held in memory.

use crate::domain::Seq;
use crate::engine::Envelope;
use regex::bytes::Regex;
use std::sync::Arc;

/// Events in order, or why they cannot be read.
type Events = Result<Vec<Arc<Envelope>>, String>;
type FetchAll = dyn Fn(Seq, Seq) -> Events + Send + Sync;
type FetchMatching = dyn Fn(Seq, Seq, &Regex) -> Events + Send + Sync;

/// Fetches the events above one number up to and including another, in order, or reports why they cannot be read.
#[derive(Clone)]
pub struct EventFetcher {
    all: Arc<FetchAll>,
    matching: Option<Arc<FetchMatching>>,
}

impl EventFetcher {
    /// Creates a fetcher from a function that reads all events of a range.
    pub fn new(all: impl Fn(Seq, Seq) -> Events + Send + Sync + 'static) -> Self {
        Self { all: Arc::new(all), matching: None }
    }

    /// Adds a faster function for searches. It must return every event whose journal line matches the pattern and may
    /// return others.
    #[must_use]
    pub fn with_matching(
        mut self,
        fetch: impl Fn(Seq, Seq, &Regex) -> Events + Send + Sync + 'static,
    ) -> Self {
        self.matching = Some(Arc::new(fetch));
        self
    }

    /// Fetches all events with numbers above `after` up to and including `to`.
    ///
    /// # Errors
    /// Returns a message if they cannot be read.
    pub fn fetch_all(&self, after: Seq, to: Seq) -> Events {
        (self.all)(after, to)
    }

    /// Fetches the events whose journal line matches the pattern, possibly with others. Returns `None` if this fetcher
    /// can only fetch all events.
    pub fn fetch_matching(&self, after: Seq, to: Seq, pattern: &Regex) -> Option<Events> {
        self.matching.as_ref().map(|fetch| fetch(after, to, pattern))
    }
}

/// Returns a fetcher for a fork: events up to `at`, which it shares with its parent, are fetched by `shared`, later
/// ones by `own`.
pub fn chain_fetchers(shared: EventFetcher, at: Seq, own: EventFetcher) -> EventFetcher {
    let both = shared.matching.clone().zip(own.matching.clone());
    let (earlier, later) = (shared, own);
    let all = EventFetcher::new(move |after, to| {
        let mut events = if after < at { earlier.fetch_all(after, to.min(at))? } else { Vec::new() };
        if to > at {
            events.extend(later.fetch_all(after.max(at), to)?);
        }
        Ok(events)
    });
    match both {
        None => all,
        Some((earlier, later)) => all.with_matching(move |after, to, pattern| {
            let mut events = if after < at { earlier(after, to.min(at), pattern)? } else { Vec::new() };
            if to > at {
                events.extend(later(after.max(at), to, pattern)?);
            }
            Ok(events)
        }),
    }
}
