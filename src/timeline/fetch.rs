//! The way to events that are not held.

use crate::domain::Seq;
use crate::engine::Envelope;
use regex::bytes::Regex;
use std::sync::Arc;

/// Some events in order, or why they cannot be had.
type Events = Result<Vec<Arc<Envelope>>, String>;
type FetchAll = dyn Fn(Seq, Seq) -> Events + Send + Sync;
type FetchMatching = dyn Fn(Seq, Seq, &Regex) -> Events + Send + Sync;

/// Fetches the events above one number up to and with another, in order; or says why they cannot be had.
#[derive(Clone)]
pub struct EventFetcher {
    all: Arc<FetchAll>,
    matching: Option<Arc<FetchMatching>>,
}

impl EventFetcher {
    /// From where they are kept.
    pub fn new(all: impl Fn(Seq, Seq) -> Events + Send + Sync + 'static) -> Self {
        Self { all: Arc::new(all), matching: None }
    }

    /// The same, where the events in whose line a pattern stands can be had without reading the others. There may be some
    /// among them that the pattern is not in.
    #[must_use]
    pub fn with_matching(
        mut self,
        holding: impl Fn(Seq, Seq, &Regex) -> Events + Send + Sync + 'static,
    ) -> Self {
        self.matching = Some(Arc::new(holding));
        self
    }

    /// All events between.
    ///
    /// # Errors
    /// In words.
    pub fn fetch_all(&self, after: Seq, to: Seq) -> Events {
        (self.all)(after, to)
    }

    /// Those in whose line as the journal writes it the pattern stands, or more; none where they cannot be told apart.
    pub fn fetch_matching(&self, after: Seq, to: Seq, pattern: &Regex) -> Option<Events> {
        self.matching.as_ref().map(|holding| holding(after, to, pattern))
    }
}

/// Fetches what a branch shares with another up to an event from there, and what comes after from its own file.
pub fn chain_fetchers(shared: EventFetcher, at: Seq, own: EventFetcher) -> EventFetcher {
    let both = shared.matching.clone().zip(own.matching.clone());
    let (before, after_it) = (shared, own);
    let all = EventFetcher::new(move |after, to| {
        let mut events = if after < at { before.fetch_all(after, to.min(at))? } else { Vec::new() };
        if to > at {
            events.extend(after_it.fetch_all(after.max(at), to)?);
        }
        Ok(events)
    });
    match both {
        None => all,
        Some((before, after_it)) => all.with_matching(move |after, to, pattern| {
            let mut events = if after < at { before(after, to.min(at), pattern)? } else { Vec::new() };
            if to > at {
                events.extend(after_it(after.max(at), to, pattern)?);
            }
            Ok(events)
        }),
    }
}
