//! Every state can be restored, whether its events are held or fetched.

use super::{EventFetcher, MIN_RECENT_EVENTS, Timeline};
use crate::domain::Seq;
use crate::engine::{Cause, Envelope, Event, State};
use std::sync::{Arc, Mutex};

fn remark(seq: u64) -> Arc<Envelope> {
    Arc::new(Envelope {
        seq: Seq(seq),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        cause: Cause::Person,
        batch_continues: false,
        event: Event::Remarked { step: 0, text: seq.to_string() },
    })
}

/// Returns a timeline of `events` events in batches of seven.
fn timeline_of(events: u64, fetch_count: Option<Arc<Mutex<u64>>>) -> Timeline {
    let all: Arc<Vec<_>> = Arc::new((1..=events).map(remark).collect());
    let mut timeline = match fetch_count {
        Some(count) => {
            let source = all.clone();
            let fetch = EventFetcher::new(move |after, to| {
                let events = &source[after.0 as usize..to.0 as usize];
                *count.lock().unwrap() += events.len() as u64;
                Ok(events.to_vec())
            });
            Timeline::with_fetcher(fetch)
        }
        None => Timeline::default(),
    };
    let mut state = State::default();
    for batch in all.chunks(7) {
        for envelope in batch {
            state.apply(envelope);
        }
        // Without this, every state would hold all remarks; the tests compare only heads.
        state.remarks.clear();
        timeline.push(batch.iter().cloned(), Arc::new(state.clone()));
    }
    timeline
}

#[test]
fn every_state_can_be_restored() {
    let timeline = timeline_of(1000, None);
    for seq in 0..=1000 {
        assert_eq!(timeline.state_at(Seq(seq)).head, Seq(seq));
    }
    assert_eq!(timeline.state_at(Seq(2000)).head, Seq(1000));
    assert_eq!(timeline.event(Seq(500)).unwrap().seq, Seq(500));
    assert!(timeline.event(Seq(0)).is_none() && timeline.event(Seq(1001)).is_none());
}

#[test]
fn old_events_are_dropped_and_fetched_again() {
    let fetched = Arc::new(Mutex::new(0));
    let events = 5 * MIN_RECENT_EVENTS as u64;
    let timeline = timeline_of(events, Some(fetched.clone()));
    assert!(timeline.recent.len() < 2 * MIN_RECENT_EVENTS);
    assert_eq!(timeline.len(), events);
    for seq in (1..events).step_by(977) {
        assert_eq!(timeline.state_at(Seq(seq)).head, Seq(seq));
        assert_eq!(timeline.event(Seq(seq)).unwrap().seq, Seq(seq));
    }
    assert_eq!(timeline.events_after(Seq(3)).len() as u64, events - 3);
    assert_eq!(
        timeline.events_between(Seq(3), Seq(9)).iter().map(|e| e.seq.0).collect::<Vec<_>>(),
        [4, 5, 6, 7, 8, 9]
    );
    assert!(*fetched.lock().unwrap() > 0);
}

#[test]
fn the_number_of_checkpoints_is_bounded() {
    let timeline = timeline_of(300_000, Some(Arc::default()));
    assert!(timeline.checkpoints.len() <= super::MAX_CHECKPOINTS);
    assert!(timeline.stride >= 256);
    assert_eq!(timeline.state_at(Seq(123_456)).head, Seq(123_456));
}

#[test]
fn a_clone_does_not_change_while_the_branch_grows() {
    let mut timeline = timeline_of(300, None);
    let before = timeline.clone();
    let state = State { head: Seq(301), ..State::clone(timeline.head()) };
    timeline.push([remark(301)], Arc::new(state));
    assert_eq!((before.len(), timeline.len()), (300, 301));
    assert_eq!((before.head().head, timeline.head().head), (Seq(300), Seq(301)));
    assert!(before.event(Seq(301)).is_none() && timeline.event(Seq(301)).is_some());
    assert_eq!(before.events_after(Seq(290)).len(), 10);
    assert_eq!(
        timeline.events_between(Seq(250), Seq(258)).iter().map(|e| e.seq.0).collect::<Vec<_>>(),
        (251..=258).collect::<Vec<_>>()
    );
}
