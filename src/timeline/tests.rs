//! Every state can be restored, whether its events are held or fetched.

use super::{
    CheckpointIndex, EventFetcher, MIN_RECENT_EVENTS, MemoryTimeline, PastPart, ReadPast as _, Timeline,
    no_progress,
};
use crate::domain::Seq;
use crate::engine::{Cause, Envelope, Event, State};
use std::sync::{Arc, Mutex};

fn remark(seq: u64) -> Arc<Envelope> {
    Arc::new(Envelope {
        seq: Seq(seq),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        cause: Cause::Person,
        batch_continues: false,
        event: Event::Remarked { episode: None, step: 0, text: seq.to_string() },
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

/// A reader that must not wait gets what is held or loaded, and notes the rest.
#[test]
fn a_memory_timeline_fetches_nothing_and_notes_what_it_lacks() {
    let fetched = Arc::new(Mutex::new(0));
    let events = 5 * MIN_RECENT_EVENTS as u64;
    let timeline = timeline_of(events, Some(fetched.clone()));
    let memory = MemoryTimeline::new(timeline.clone());
    let checkpoint = timeline.checkpoints[0].head;
    let (held, old) = (Seq(events - 10), Seq(checkpoint.0 + 20));
    assert_eq!(memory.state_at(held).unwrap().head, held);
    assert_eq!(memory.event(held).unwrap().seq, held);
    assert_eq!(memory.state_at(checkpoint).unwrap().head, checkpoint, "a checkpoint needs no events");
    assert!(!memory.is_missing());

    let parts = [PastPart::StateAt(old), PastPart::Events { after: Seq(30), to: Seq(40) }];
    for _ in 0..2 {
        assert!(memory.state_at(old).is_none() && memory.events_between(Seq(30), Seq(40)).is_none());
    }
    assert_eq!(memory.take_missing(), parts);
    assert_eq!(
        (memory.take_missing(), *fetched.lock().unwrap()),
        (vec![], 0),
        "noted once, and nothing fetched"
    );

    // Any copy of the timeline loads for all of them.
    for part in parts {
        timeline.load(part, &no_progress).unwrap();
    }
    let after_load = *fetched.lock().unwrap();
    assert!(after_load > 0 && memory.load_count() == 2);
    assert_eq!(memory.state_at(old).unwrap().head, old);
    let range = |after, to| memory.events_between(Seq(after), Seq(to)).unwrap();
    assert_eq!(range(32, 35).iter().map(|e| e.seq.0).collect::<Vec<_>>(), [33, 34, 35]);
    assert_eq!(memory.event(Seq(40)).unwrap().seq, Seq(40));
    assert!(memory.event(Seq(41)).is_none() && memory.event(Seq(30)).is_none() && range(35, 35).is_empty());
    assert_eq!(*fetched.lock().unwrap(), after_load);
}

/// A long load reports how far it is and stops when it is told to; what has been folded until then isn't folded again.
#[test]
fn a_load_reports_its_progress_and_stops() {
    let fetched = Arc::new(Mutex::new(0));
    let full = timeline_of(6000, Some(fetched.clone()));
    let fetch = full.fetcher().unwrap().clone();
    let timeline = Timeline::from_head(full.head().clone(), fetch, CheckpointIndex::empty());
    let part = PastPart::StateAt(Seq(5000));
    let stop = |done: u64, all: u64| if done * 2 > all { Err("cancelled".to_owned()) } else { Ok(()) };
    assert_eq!(timeline.load(part, &stop), Err("cancelled".to_owned()));
    assert_eq!(*fetched.lock().unwrap(), 3072);

    let reports = Mutex::new(Vec::new());
    let report = |done: u64, all: u64| {
        reports.lock().unwrap().push((done, all));
        Ok(())
    };
    timeline.load(part, &report).unwrap();
    assert_eq!(*fetched.lock().unwrap(), 5000);
    assert_eq!(*reports.lock().unwrap(), [(0, 1), (0, 1928), (1024, 1928)]);
    assert_eq!(MemoryTimeline::new(timeline).state_at(Seq(5000)).unwrap().head, Seq(5000));
}

/// Regression: all events of a range were read before anybody could stop it.
#[test]
fn a_load_of_events_reports_its_progress_and_stops() {
    let fetched = Arc::new(Mutex::new(0));
    let full = timeline_of(6000, Some(fetched.clone()));
    let fetch = full.fetcher().unwrap().clone();
    let timeline = Timeline::from_head(full.head().clone(), fetch, CheckpointIndex::empty());
    let part = PastPart::Events { after: Seq(10), to: Seq(5010) };
    let stop = |done: u64, _: u64| if done > 2000 { Err("cancelled".to_owned()) } else { Ok(()) };
    assert_eq!(timeline.load(part, &stop), Err("cancelled".to_owned()));
    assert_eq!(*fetched.lock().unwrap(), 2048);
    timeline.load(part, &no_progress).unwrap();
    let loaded = MemoryTimeline::new(timeline).events_between(Seq(10), Seq(5010)).unwrap();
    assert!(loaded.iter().map(|event| event.seq.0).eq(11..=5010));
}

/// Regression: a checkpoint, which can be large, was read for a state that nobody waited for any more.
#[test]
fn no_checkpoint_is_loaded_after_a_stop() {
    let full = timeline_of(6000, Some(Arc::default()));
    let (head, fetch) = (full.head().clone(), full.fetcher().unwrap().clone());
    let load = |_| panic!("loads a checkpoint");
    let index = CheckpointIndex { seqs: vec![Seq(4000)], load: Arc::new(load) };
    let plan = Timeline::from_head(head, fetch, index).fold_plan_to(Seq(5000));
    assert_eq!(
        plan.execute_reporting(&|_, _| Err("cancelled".to_owned())).err(),
        Some("cancelled".to_owned())
    );
}
