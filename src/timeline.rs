//! The state at any point of a branch: its events, and checkpoints between them.
//!
//! Memory is bounded: only the newest events are held, older ones are fetched from where they were written; checkpoints
//! share what grows, and are thinned out when there are many.

pub mod compare;
mod fetch;
mod fold_plan;

pub use fetch::{EventFetcher, chain_fetchers};
pub use fold_plan::FoldPlan;

use crate::domain::Seq;
use crate::engine::{Envelope, State};
use fold_plan::{FoldCache, latest_not_after};
use std::collections::VecDeque;
use std::sync::Arc;

/// Events between two checkpoints of a short branch; doubled each time there are too many checkpoints.
const CHECKPOINT_STRIDE: u64 = 64;
/// Checkpoints kept at most.
const MAX_CHECKPOINTS: usize = 1024;
/// Newest events held at least; twice as many at most.
const MIN_RECENT_EVENTS: usize = 4096;

/// Events held at once while all are gone through.
const CHUNK_EVENTS: u64 = 1024;

/// Recalls the last state of [`CheckpointIndex`] that can be had and is not after an event; none where all must be folded.
pub type LoadCheckpoint = Arc<dyn Fn(Seq) -> Option<State> + Send + Sync>;

/// States that are kept elsewhere, such as beside the journal.
#[derive(Clone)]
pub struct CheckpointIndex {
    /// After which events, in ascending order.
    pub seqs: Vec<Seq>,
    /// Brings one of them.
    pub load: LoadCheckpoint,
}

impl CheckpointIndex {
    /// Those of a branch up to the event it shares with another one, and then that one's own.
    pub fn chain(self, at: Seq, own: Self) -> Self {
        let mut places: Vec<Seq> = self.seqs.into_iter().filter(|seq| *seq <= at).collect();
        places.extend(&own.seqs);
        let recall = move |seq: Seq| {
            let late = if seq > at { (own.load)(seq) } else { None };
            late.or_else(|| (self.load)(seq.min(at)))
        };
        Self { seqs: places, load: Arc::new(recall) }
    }

    /// None at all.
    pub fn empty() -> Self {
        Self { seqs: Vec::new(), load: Arc::new(|_| None) }
    }
}

/// The events of a branch, and the way back to every state it had.
pub struct Timeline {
    /// Events up to this one are not held.
    dropped_through: u64,
    recent: VecDeque<Arc<Envelope>>,
    /// In ascending order of their heads.
    checkpoints: Vec<Arc<State>>,
    stride: u64,
    head: Arc<State>,
    fetcher: Option<EventFetcher>,
    checkpoint_index: Option<CheckpointIndex>,
    fold_cache: Arc<FoldCache>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            dropped_through: 0,
            recent: VecDeque::new(),
            checkpoints: Vec::new(),
            stride: CHECKPOINT_STRIDE,
            head: Arc::default(),
            fetcher: None,
            checkpoint_index: None,
            fold_cache: Arc::default(),
        }
    }
}

impl Timeline {
    /// A timeline that may let go of old events, because they can be fetched again.
    pub fn with_fetcher(fetch: EventFetcher) -> Self {
        Self { fetcher: Some(fetch), ..Self::default() }
    }

    /// A timeline that begins in the middle: `head` is the state after events that are fetched when they are wanted.
    pub fn from_head(head: Arc<State>, fetch: EventFetcher, stored: CheckpointIndex) -> Self {
        Self {
            dropped_through: head.head.0,
            checkpoints: vec![head.clone()],
            head,
            fetcher: Some(fetch),
            checkpoint_index: Some(stored),
            ..Self::default()
        }
    }

    /// The line up to an event, to go on from there as another one whose own events `own` fetches. `head` is the state after
    /// that event.
    pub fn fork(&self, head: Arc<State>, own: EventFetcher) -> Self {
        let at = head.head;
        let before = |s: &&Arc<State>| s.head < at;
        let checkpoints = self.checkpoints.iter().filter(before).chain([&head]).cloned().collect();
        let fetch = self.fetcher.clone().map_or(own.clone(), |shared| chain_fetchers(shared, at, own));
        Self {
            dropped_through: self.dropped_through.min(at.0),
            recent: self.recent_between(Seq(0), at).collect(),
            checkpoints,
            stride: self.stride,
            head,
            fetcher: Some(fetch),
            checkpoint_index: self
                .checkpoint_index
                .clone()
                .map(|shared| shared.chain(at, CheckpointIndex::empty())),
            fold_cache: Arc::default(),
        }
    }

    /// How old events are fetched.
    pub fn fetcher(&self) -> Option<&EventFetcher> {
        self.fetcher.as_ref()
    }

    /// From now on these states are known to be kept elsewhere.
    pub fn set_checkpoint_index(&mut self, stored: CheckpointIndex) {
        self.checkpoint_index = Some(stored);
    }

    /// Why old events could not be fetched, if that happened since this was asked last.
    pub fn take_fetch_error(&self) -> Option<String> {
        self.fold_cache.lock_fetch_error().take()
    }

    /// From now on old events can be let go of.
    pub fn set_fetcher(&mut self, fetch: EventFetcher) {
        self.fetcher = Some(fetch);
        self.drop_old_events();
    }

    /// Appends a batch of events and the state after it.
    pub fn push(&mut self, batch: impl IntoIterator<Item = Arc<Envelope>>, after: Arc<State>) {
        self.recent.extend(batch);
        let kept = self.checkpoints.last().map_or(0, |s| s.head.0);
        if after.head.0 >= kept + self.stride {
            if self.checkpoints.len() >= MAX_CHECKPOINTS {
                let mut n = 0;
                self.checkpoints.retain(|_| {
                    n += 1;
                    n % 2 == 0
                });
                self.stride *= 2;
            }
            self.checkpoints.push(after.clone());
        }
        self.head = after;
        self.drop_old_events();
    }

    /// The state after the last event.
    pub fn head(&self) -> &Arc<State> {
        &self.head
    }

    /// How many events there are; the last has this number.
    pub fn len(&self) -> u64 {
        self.dropped_through + self.recent.len() as u64
    }

    /// There is no event yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An event by its number.
    pub fn event(&self, seq: Seq) -> Option<Arc<Envelope>> {
        let before = seq.0.checked_sub(1)?;
        match before.checked_sub(self.dropped_through) {
            Some(place) => self.recent.get(usize::try_from(place).ok()?).cloned(),
            None => self
                .fold_cache
                .fetch_or_record_error(self.fetcher.as_ref()?, Seq(before), seq)
                .into_iter()
                .next(),
        }
    }

    /// The events with numbers above `after`.
    pub fn events_after(&self, after: Seq) -> Vec<Arc<Envelope>> {
        self.events_between(after, Seq(u64::MAX))
    }

    /// The events with numbers above `after` up to and with `to`.
    pub fn events_between(&self, after: Seq, to: Seq) -> Vec<Arc<Envelope>> {
        let mut events = match &self.fetcher {
            Some(fetch) if after.0 < self.dropped_through => {
                self.fold_cache.fetch_or_record_error(fetch, after, Seq(self.dropped_through.min(to.0)))
            }
            _ => Vec::new(),
        };
        events.extend(self.recent_between(after, to));
        events
    }

    /// Goes through the events with numbers above `after`, a piece at a time: a long branch is never held as a whole. Where
    /// some cannot be fetched any more, the last item says why.
    pub fn iter_after(&self, after: Seq) -> impl Iterator<Item = Result<Arc<Envelope>, String>> + '_ {
        let mut after = after.0;
        let pieces = std::iter::from_fn(move || {
            let piece = self.events_between(Seq(after), Seq(after.saturating_add(CHUNK_EVENTS)));
            if let Some(why) = self.take_fetch_error() {
                after = u64::MAX;
                return Some(vec![Err(why)]);
            }
            after = piece.last()?.seq.0;
            Some(piece.into_iter().map(Ok).collect())
        });
        pieces.flatten()
    }

    /// The state after an event: the nearest checkpoint before it, and the events since folded onto it.
    pub fn state_at(&self, seq: Seq) -> Arc<State> {
        self.fold_plan_to(seq).execute()
    }

    /// The way to the state after an event, to be walked when the timeline is no longer held.
    pub fn fold_plan_to(&self, seq: Seq) -> FoldPlan {
        let walked = self.fold_cache.clone();
        if seq >= self.head.head {
            return FoldPlan {
                start_state: self.head.clone(),
                load_checkpoint: None,
                target: seq,
                recent_events: Vec::new(),
                fetcher: None,
                fold_cache: walked,
            };
        }
        let near = latest_not_after(&self.checkpoints, seq).cloned().unwrap_or_default();
        let from = walked.nearest(seq).filter(|w| w.head > near.head).unwrap_or(near);
        let stored = self.checkpoint_index.as_ref().and_then(|stored| {
            let at = *stored.seqs.get(stored.seqs.partition_point(|at| *at <= seq).checked_sub(1)?)?;
            (at > from.head).then(|| stored.load.clone())
        });
        let held = self.recent_between(from.head, seq).collect();
        let fetch = self.fetcher.clone().filter(|_| from.head.0 < self.dropped_through);
        FoldPlan {
            start_state: from,
            load_checkpoint: stored,
            target: Seq(seq.0.min(self.dropped_through)),
            recent_events: held,
            fetcher: fetch,
            fold_cache: walked,
        }
    }

    fn recent_between(&self, after: Seq, to: Seq) -> impl Iterator<Item = Arc<Envelope>> + '_ {
        let index = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).min(self.recent.len());
        let from = index(after.0.saturating_sub(self.dropped_through));
        let until = index(to.0.saturating_sub(self.dropped_through)).max(from);
        self.recent.range(from..until).cloned()
    }

    fn drop_old_events(&mut self) {
        if self.fetcher.is_some() && self.recent.len() >= 2 * MIN_RECENT_EVENTS {
            let old = self.recent.len() - MIN_RECENT_EVENTS;
            self.recent.drain(..old);
            self.dropped_through += old as u64;
        }
    }
}

#[cfg(test)]
mod tests;
