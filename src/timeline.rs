//! The state at any point of a branch: its events, and checkpoints between them.
//!
//! Memory is bounded: only the newest events are held, older ones are fetched from where they were written; checkpoints
//! share what grows, and are thinned out when there are many.

pub mod compare;
mod fetch;
mod fold_plan;

pub use fetch::{Fetch, fetch_then};
pub use fold_plan::FoldPlan;

use crate::domain::Seq;
use crate::engine::{Envelope, State};
use fold_plan::{FoldCache, before};
use std::collections::VecDeque;
use std::sync::Arc;

/// Events between two checkpoints of a short branch; doubled each time there are too many checkpoints.
const STRIDE: u64 = 64;
/// Checkpoints kept at most.
const CHECKPOINTS: usize = 1024;
/// Newest events held at least; twice as many at most.
const RECENT: usize = 4096;

/// Events held at once while all are gone through.
const PIECE: u64 = 1024;

/// Recalls the last state of [`CheckpointIndex`] that can be had and is not after an event; none where all must be folded.
pub type LoadCheckpoint = Arc<dyn Fn(Seq) -> Option<State> + Send + Sync>;

/// States that are kept elsewhere, such as beside the journal.
#[derive(Clone)]
pub struct CheckpointIndex {
    /// After which events, in ascending order.
    pub at: Vec<Seq>,
    /// Brings one of them.
    pub recall: LoadCheckpoint,
}

impl CheckpointIndex {
    /// Those of a branch up to the event it shares with another one, and then that one's own.
    pub fn then(self, at: Seq, own: Self) -> Self {
        let mut places: Vec<Seq> = self.at.into_iter().filter(|seq| *seq <= at).collect();
        places.extend(&own.at);
        let recall = move |seq: Seq| {
            let late = if seq > at { (own.recall)(seq) } else { None };
            late.or_else(|| (self.recall)(seq.min(at)))
        };
        Self { at: places, recall: Arc::new(recall) }
    }

    /// None at all.
    pub fn none() -> Self {
        Self { at: Vec::new(), recall: Arc::new(|_| None) }
    }
}

/// The events of a branch, and the way back to every state it had.
pub struct Timeline {
    /// Events up to this one are not held.
    base: u64,
    recent: VecDeque<Arc<Envelope>>,
    /// In ascending order of their heads.
    checkpoints: Vec<Arc<State>>,
    stride: u64,
    head: Arc<State>,
    fetch: Option<Fetch>,
    stored: Option<CheckpointIndex>,
    walked: Arc<FoldCache>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            base: 0,
            recent: VecDeque::new(),
            checkpoints: Vec::new(),
            stride: STRIDE,
            head: Arc::default(),
            fetch: None,
            stored: None,
            walked: Arc::default(),
        }
    }
}

impl Timeline {
    /// A timeline that may let go of old events, because they can be fetched again.
    pub fn fetching(fetch: Fetch) -> Self {
        Self { fetch: Some(fetch), ..Self::default() }
    }

    /// A timeline that begins in the middle: `head` is the state after events that are fetched when they are wanted.
    pub fn going_on(head: Arc<State>, fetch: Fetch, stored: CheckpointIndex) -> Self {
        Self {
            base: head.head.0,
            checkpoints: vec![head.clone()],
            head,
            fetch: Some(fetch),
            stored: Some(stored),
            ..Self::default()
        }
    }

    /// The line up to an event, to go on from there as another one whose own events `own` fetches. `head` is the state after
    /// that event.
    pub fn fork(&self, head: Arc<State>, own: Fetch) -> Self {
        let at = head.head;
        let before = |s: &&Arc<State>| s.head < at;
        let checkpoints = self.checkpoints.iter().filter(before).chain([&head]).cloned().collect();
        let fetch = self.fetch.clone().map_or(own.clone(), |shared| fetch_then(shared, at, own));
        Self {
            base: self.base.min(at.0),
            recent: self.held(Seq(0), at).collect(),
            checkpoints,
            stride: self.stride,
            head,
            fetch: Some(fetch),
            stored: self.stored.clone().map(|shared| shared.then(at, CheckpointIndex::none())),
            walked: Arc::default(),
        }
    }

    /// How old events are fetched.
    pub fn fetch(&self) -> Option<&Fetch> {
        self.fetch.as_ref()
    }

    /// From now on these states are known to be kept elsewhere.
    pub fn recall_with(&mut self, stored: CheckpointIndex) {
        self.stored = Some(stored);
    }

    /// Why old events could not be fetched, if that happened since this was asked last.
    pub fn fault(&self) -> Option<String> {
        self.walked.fault().take()
    }

    /// From now on old events can be let go of.
    pub fn fetch_with(&mut self, fetch: Fetch) {
        self.fetch = Some(fetch);
        self.let_go();
    }

    /// Appends a batch of events and the state after it.
    pub fn push(&mut self, batch: impl IntoIterator<Item = Arc<Envelope>>, after: Arc<State>) {
        self.recent.extend(batch);
        let kept = self.checkpoints.last().map_or(0, |s| s.head.0);
        if after.head.0 >= kept + self.stride {
            if self.checkpoints.len() >= CHECKPOINTS {
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
        self.let_go();
    }

    /// The state after the last event.
    pub fn head(&self) -> &Arc<State> {
        &self.head
    }

    /// How many events there are; the last has this number.
    pub fn len(&self) -> u64 {
        self.base + self.recent.len() as u64
    }

    /// There is no event yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An event by its number.
    pub fn event(&self, seq: Seq) -> Option<Arc<Envelope>> {
        let before = seq.0.checked_sub(1)?;
        match before.checked_sub(self.base) {
            Some(place) => self.recent.get(usize::try_from(place).ok()?).cloned(),
            None => self.walked.fetch(self.fetch.as_ref()?, Seq(before), seq).into_iter().next(),
        }
    }

    /// The events with numbers above `after`.
    pub fn since(&self, after: Seq) -> Vec<Arc<Envelope>> {
        self.between(after, Seq(u64::MAX))
    }

    /// The events with numbers above `after` up to and with `to`.
    pub fn between(&self, after: Seq, to: Seq) -> Vec<Arc<Envelope>> {
        let mut events = match &self.fetch {
            Some(fetch) if after.0 < self.base => self.walked.fetch(fetch, after, Seq(self.base.min(to.0))),
            _ => Vec::new(),
        };
        events.extend(self.held(after, to));
        events
    }

    /// Goes through the events with numbers above `after`, a piece at a time: a long branch is never held as a whole. Where
    /// some cannot be fetched any more, the last item says why.
    pub fn walk(&self, after: Seq) -> impl Iterator<Item = Result<Arc<Envelope>, String>> + '_ {
        let mut after = after.0;
        let pieces = std::iter::from_fn(move || {
            let piece = self.between(Seq(after), Seq(after.saturating_add(PIECE)));
            if let Some(why) = self.fault() {
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
        self.way_to(seq).walk()
    }

    /// The way to the state after an event, to be walked when the timeline is no longer held.
    pub fn way_to(&self, seq: Seq) -> FoldPlan {
        let walked = self.walked.clone();
        if seq >= self.head.head {
            return FoldPlan {
                from: self.head.clone(),
                stored: None,
                to: seq,
                held: Vec::new(),
                fetch: None,
                walked,
            };
        }
        let near = before(&self.checkpoints, seq).cloned().unwrap_or_default();
        let from = walked.nearest(seq).filter(|w| w.head > near.head).unwrap_or(near);
        let stored = self.stored.as_ref().and_then(|stored| {
            let at = *stored.at.get(stored.at.partition_point(|at| *at <= seq).checked_sub(1)?)?;
            (at > from.head).then(|| stored.recall.clone())
        });
        let held = self.held(from.head, seq).collect();
        let fetch = self.fetch.clone().filter(|_| from.head.0 < self.base);
        FoldPlan { from, stored, to: Seq(seq.0.min(self.base)), held, fetch, walked }
    }

    fn held(&self, after: Seq, to: Seq) -> impl Iterator<Item = Arc<Envelope>> + '_ {
        let index = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).min(self.recent.len());
        let from = index(after.0.saturating_sub(self.base));
        let until = index(to.0.saturating_sub(self.base)).max(from);
        self.recent.range(from..until).cloned()
    }

    fn let_go(&mut self) {
        if self.fetch.is_some() && self.recent.len() >= 2 * RECENT {
            let old = self.recent.len() - RECENT;
            self.recent.drain(..old);
            self.base += old as u64;
        }
    }
}

#[cfg(test)]
mod tests;
