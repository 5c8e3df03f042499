//! The state at any point of a branch, from its events and the checkpoints between them.
//!
//! Memory is bounded: only the newest events are held, and older ones are fetched from the journal. Checkpoints share
//! the parts that grow, and are thinned out when there are many. A clone of a timeline shares its data and doesn't
//! change when the branch grows, so a reader can keep one.

pub mod compare;
pub mod effect;
mod fetch;
mod fold_plan;
mod history;
pub mod lesson_health;
mod memory;
mod progress;
mod recent;

pub use fetch::{EventFetcher, chain_fetchers};
pub use fold_plan::FoldPlan;
pub use memory::{MemoryTimeline, PastPart, ReadPast};
pub use progress::{ReportProgress, no_progress, stage_progress};

use crate::domain::Seq;
use crate::engine::{Envelope, State};
use history::{History, latest_up_to};
use recent::RecentEvents;
use std::sync::Arc;

/// Events between two checkpoints of a short branch; doubled whenever there are too many checkpoints.
const CHECKPOINT_STRIDE: u64 = 64;
/// Maximum number of checkpoints.
const MAX_CHECKPOINTS: usize = 1024;
/// Minimum number of newest events held; the maximum is twice as many.
const MIN_RECENT_EVENTS: usize = 4096;

/// Said of events that are missing although no read failed.
const EVENTS_MISSING: &str = "old events can't be read from the journal";

/// Events held at once while iterating over all of them.
const CHUNK_EVENTS: u64 = 1024;

/// Loads the last readable checkpoint of a [`CheckpointIndex`] at or before an event. Returns `None` if there is none,
/// so that all events must be folded.
pub type LoadCheckpoint = Arc<dyn Fn(Seq) -> Option<State> + Send + Sync>;

/// Checkpoints stored elsewhere, such as beside the journal.
#[derive(Clone)]
pub struct CheckpointIndex {
    /// The events after which checkpoints exist, in ascending order.
    pub seqs: Vec<Seq>,
    /// Loads one of them.
    pub load: LoadCheckpoint,
}

impl CheckpointIndex {
    /// Uses the checkpoints of `self` up to `at`, the last event that two branches share, and those of `own` after it.
    pub fn chain(self, at: Seq, own: Self) -> Self {
        let mut seqs: Vec<Seq> = self.seqs.into_iter().filter(|seq| *seq <= at).collect();
        seqs.extend(&own.seqs);
        let load = move |seq: Seq| {
            let own_checkpoint = if seq > at { (own.load)(seq) } else { None };
            own_checkpoint.or_else(|| (self.load)(seq.min(at)))
        };
        Self { seqs, load: Arc::new(load) }
    }

    /// Returns an index without checkpoints.
    pub fn empty() -> Self {
        Self { seqs: Vec::new(), load: Arc::new(|_| None) }
    }
}

/// The events of a branch, and access to every state it had. Cloning is cheap: it only increments reference counts.
#[derive(Clone)]
pub struct Timeline {
    recent: RecentEvents,
    /// States in ascending order of their heads.
    checkpoints: Arc<Vec<Arc<State>>>,
    /// The number of events between two checkpoints.
    stride: u64,
    head: Arc<State>,
    fetcher: Option<EventFetcher>,
    checkpoint_index: Option<Arc<CheckpointIndex>>,
    history: Arc<History>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            recent: RecentEvents::default(),
            checkpoints: Arc::default(),
            stride: CHECKPOINT_STRIDE,
            head: Arc::default(),
            fetcher: None,
            checkpoint_index: None,
            history: Arc::default(),
        }
    }
}

impl Timeline {
    /// Creates a timeline that may drop old events, because they can be fetched again.
    pub fn with_fetcher(fetch: EventFetcher) -> Self {
        Self { fetcher: Some(fetch), ..Self::default() }
    }

    /// Creates a timeline that starts from a later state: `head` is the state after events that are fetched on demand.
    pub fn from_head(head: Arc<State>, fetch: EventFetcher, stored: CheckpointIndex) -> Self {
        Self {
            recent: RecentEvents::after(head.head),
            checkpoints: Arc::new(vec![head.clone()]),
            head,
            fetcher: Some(fetch),
            checkpoint_index: Some(Arc::new(stored)),
            ..Self::default()
        }
    }

    /// Returns the timeline up to an event, to be continued as another branch whose own events `own` fetches. `head` is
    /// the state after that event.
    pub fn fork(&self, head: Arc<State>, own: EventFetcher) -> Self {
        let at = head.head;
        let before = |s: &&Arc<State>| s.head < at;
        let checkpoints: Vec<_> = self.checkpoints.iter().filter(before).chain([&head]).cloned().collect();
        let fetch = self.fetcher.clone().map_or(own.clone(), |shared| chain_fetchers(shared, at, own));
        let mut recent = RecentEvents::after(Seq(self.recent.dropped_through().min(at.0)));
        self.recent.between(Seq(0), at).for_each(|event| recent.push(event.clone()));
        Self {
            recent,
            checkpoints: Arc::new(checkpoints),
            stride: self.stride,
            head,
            fetcher: Some(fetch),
            checkpoint_index: self
                .checkpoint_index
                .as_deref()
                .map(|shared| Arc::new(shared.clone().chain(at, CheckpointIndex::empty()))),
            history: Arc::default(),
        }
    }

    /// Returns the fetcher of old events.
    pub fn fetcher(&self) -> Option<&EventFetcher> {
        self.fetcher.as_ref()
    }

    /// Sets the index of the checkpoints stored elsewhere.
    pub fn set_checkpoint_index(&mut self, stored: CheckpointIndex) {
        self.checkpoint_index = Some(Arc::new(stored));
    }

    /// Returns why old events could not be fetched, if that happened since the last call.
    pub fn take_fetch_error(&self) -> Option<String> {
        self.history.lock_fetch_error().take()
    }

    /// Sets the fetcher of old events, which allows them to be dropped.
    pub fn set_fetcher(&mut self, fetch: EventFetcher) {
        self.fetcher = Some(fetch);
        self.drop_old_events();
    }

    /// Appends a batch of events and the state after it.
    pub fn push(&mut self, batch: impl IntoIterator<Item = Arc<Envelope>>, after: Arc<State>) {
        batch.into_iter().for_each(|event| self.recent.push(event));
        let last_checkpoint = self.checkpoints.last().map_or(0, |s| s.head.0);
        if after.head.0 >= last_checkpoint + self.stride {
            let checkpoints = Arc::make_mut(&mut self.checkpoints);
            if checkpoints.len() >= MAX_CHECKPOINTS {
                let mut index = 0;
                checkpoints.retain(|_| {
                    index += 1;
                    index % 2 == 0
                });
                self.stride *= 2;
            }
            checkpoints.push(after.clone());
        }
        self.head = after;
        self.drop_old_events();
    }

    /// Returns the state after the last event.
    pub fn head(&self) -> &Arc<State> {
        &self.head
    }

    /// Returns the number of events, which is also the number of the last one.
    pub fn len(&self) -> u64 {
        self.recent.dropped_through() + self.recent.len() as u64
    }

    /// Returns whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an event by its number.
    pub fn event(&self, seq: Seq) -> Option<Arc<Envelope>> {
        let before = seq.0.checked_sub(1)?;
        match before.checked_sub(self.recent.dropped_through()) {
            Some(position) => self.recent.get(usize::try_from(position).ok()?).cloned(),
            None => self
                .history
                .fetch_or_record_error(self.fetcher.as_ref()?, Seq(before), seq)
                .into_iter()
                .next(),
        }
    }

    /// Returns the events with numbers above `after`.
    pub fn events_after(&self, after: Seq) -> Vec<Arc<Envelope>> {
        self.events_between(after, Seq(u64::MAX))
    }

    /// Returns the events with numbers above `after` up to and including `to`. If some can no longer be fetched,
    /// [`take_fetch_error`](Self::take_fetch_error) returns the cause, to its first caller.
    pub fn events_between(&self, after: Seq, to: Seq) -> Vec<Arc<Envelope>> {
        self.read_events(after, to).unwrap_or_else(|error| {
            *self.history.lock_fetch_error() = Some(error);
            self.recent.between(after, to).cloned().collect()
        })
    }

    fn read_events(&self, after: Seq, to: Seq) -> Result<Vec<Arc<Envelope>>, String> {
        self.read_events_reporting(after, to, u64::MAX, &no_progress)
    }

    /// Reads events like [`Self::read_events`], fetches at most `chunk` of them at once, and reports how many have been
    /// fetched.
    fn read_events_reporting(
        &self,
        after: Seq,
        to: Seq,
        chunk: u64,
        report: &ReportProgress<'_>,
    ) -> Result<Vec<Arc<Envelope>>, String> {
        let fetched_to = self.recent.dropped_through().min(to.0);
        let mut events = Vec::new();
        let mut last = after.0;
        while let Some(fetch) = self.fetcher.as_ref().filter(|_| last < fetched_to) {
            report(last - after.0, fetched_to - after.0)?;
            let next = last.saturating_add(chunk).min(fetched_to);
            events.extend(fetch.fetch_all(Seq(last), Seq(next))?);
            last = next;
        }
        events.extend(self.recent.between(after, to).cloned());
        Ok(events)
    }

    /// Iterates over the events with numbers above `after` in chunks, so that a long branch is never held as a whole.
    /// If some can no longer be fetched, the last item is the error.
    pub fn iter_after(&self, after: Seq) -> impl Iterator<Item = Result<Arc<Envelope>, String>> + '_ {
        let mut after = after.0;
        let chunks = std::iter::from_fn(move || {
            if after >= self.head.head.0 {
                return None;
            }
            let to = Seq(after.saturating_add(CHUNK_EVENTS).min(self.head.head.0));
            let read = self.read_events(Seq(after), to);
            let is_complete = |events: &Vec<Arc<Envelope>>| events.last().is_some_and(|last| last.seq == to);
            let chunk = match read {
                Ok(events) if is_complete(&events) => events.into_iter().map(Ok).collect(),
                Ok(_) => vec![Err(EVENTS_MISSING.to_owned())],
                Err(error) => vec![Err(error)],
            };
            after = if chunk.iter().all(Result::is_ok) { to.0 } else { u64::MAX };
            Some(chunk)
        });
        chunks.flatten()
    }

    /// Loads a part of the past, so that a [`MemoryTimeline`] has it. May read the disk, so it belongs on a thread of its
    /// own.
    ///
    /// # Errors
    /// Returns why old events can't be read, or the error of `report`.
    pub fn load(&self, part: PastPart, report: &ReportProgress<'_>) -> Result<(), String> {
        report(0, 1)?;
        let is_complete = match part {
            PastPart::StateAt(seq) => {
                let state = self.fold_plan_to(seq).execute_reporting(report)?;
                let is_complete = state.head >= seq.min(self.head.head);
                self.history.keep_state(state);
                is_complete
            }
            PastPart::Events { after, to } => {
                let events = self.read_events_reporting(after, to, CHUNK_EVENTS, report)?;
                let is_complete = after.0 + events.len() as u64 >= to.min(self.head.head).0;
                self.history.keep_events(after, events);
                is_complete
            }
        };
        self.history.count_load();
        if is_complete {
            return Ok(());
        }
        // Another reader may have taken the reason.
        Err(self.take_fetch_error().unwrap_or_else(|| EVENTS_MISSING.to_owned()))
    }

    /// Returns the state after an event: the nearest checkpoint before it with the later events folded onto it.
    pub fn state_at(&self, seq: Seq) -> Arc<State> {
        self.fold_plan_to(seq).execute()
    }

    /// Returns a plan for computing the state after an event, to be executed without holding the timeline.
    pub fn fold_plan_to(&self, seq: Seq) -> FoldPlan {
        let history = self.history.clone();
        if seq >= self.head.head {
            return FoldPlan {
                start_state: self.head.clone(),
                load_checkpoint: None,
                target: seq,
                recent_events: Vec::new(),
                fetcher: None,
                history,
            };
        }
        let checkpoint = latest_up_to(&self.checkpoints, seq).cloned().unwrap_or_default();
        let start =
            history.latest_up_to(seq).filter(|state| state.head > checkpoint.head).unwrap_or(checkpoint);
        let load_checkpoint = self.checkpoint_index.as_ref().and_then(|index| {
            let checkpoint_seq =
                *index.seqs.get(index.seqs.partition_point(|s| *s <= seq).checked_sub(1)?)?;
            (checkpoint_seq > start.head).then(|| index.load.clone())
        });
        let recent_events = self.recent.between(start.head, seq).cloned().collect();
        let dropped_through = self.recent.dropped_through();
        let fetch = self.fetcher.clone().filter(|_| start.head.0 < dropped_through);
        FoldPlan {
            start_state: start,
            load_checkpoint,
            target: Seq(seq.0.min(dropped_through)),
            recent_events,
            fetcher: fetch,
            history,
        }
    }

    fn drop_old_events(&mut self) {
        if self.fetcher.is_some() && self.recent.len() >= 2 * MIN_RECENT_EVENTS {
            self.recent.keep_newest(MIN_RECENT_EVENTS);
        }
    }
}

#[cfg(test)]
mod tests;
