//! The way to events that are not held.

use crate::domain::Seq;
use crate::engine::Envelope;
use regex::bytes::Regex;
use std::sync::Arc;

/// Some events in order, or why they cannot be had.
type Events = Result<Vec<Arc<Envelope>>, String>;
type All = dyn Fn(Seq, Seq) -> Events + Send + Sync;
type Holding = dyn Fn(Seq, Seq, &Regex) -> Events + Send + Sync;

/// Fetches the events above one number up to and with another, in order; or says why they cannot be had.
#[derive(Clone)]
pub struct Fetch {
    all: Arc<All>,
    holding: Option<Arc<Holding>>,
}

impl Fetch {
    /// From where they are kept.
    pub fn new(all: impl Fn(Seq, Seq) -> Events + Send + Sync + 'static) -> Self {
        Self { all: Arc::new(all), holding: None }
    }

    /// The same, where the events in whose line a pattern stands can be had without reading the others. There may be some
    /// among them that the pattern is not in.
    #[must_use]
    pub fn and_holding(
        mut self,
        holding: impl Fn(Seq, Seq, &Regex) -> Events + Send + Sync + 'static,
    ) -> Self {
        self.holding = Some(Arc::new(holding));
        self
    }

    /// All events between.
    ///
    /// # Errors
    /// In words.
    pub fn all(&self, after: Seq, to: Seq) -> Events {
        (self.all)(after, to)
    }

    /// Those in whose line as the journal writes it the pattern stands, or more; none where they cannot be told apart.
    pub fn holding(&self, after: Seq, to: Seq, pattern: &Regex) -> Option<Events> {
        self.holding.as_ref().map(|holding| holding(after, to, pattern))
    }
}

/// Fetches what a branch shares with another up to an event from there, and what comes after from its own file.
pub fn fetch_then(shared: Fetch, at: Seq, own: Fetch) -> Fetch {
    let both = shared.holding.clone().zip(own.holding.clone());
    let (before, after_it) = (shared, own);
    let all = Fetch::new(move |after, to| {
        let mut events = if after < at { before.all(after, to.min(at))? } else { Vec::new() };
        if to > at {
            events.extend(after_it.all(after.max(at), to)?);
        }
        Ok(events)
    });
    match both {
        None => all,
        Some((before, after_it)) => all.and_holding(move |after, to, pattern| {
            let mut events = if after < at { before(after, to.min(at), pattern)? } else { Vec::new() };
            if to > at {
                events.extend(after_it(after.max(at), to, pattern)?);
            }
            Ok(events)
        }),
    }
}
