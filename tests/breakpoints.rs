//! Where each kind of condition fires on recorded sessions: a condition and the (episode, step) of all its hits.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

use retrospect::domain::{Seq, Stop};
use retrospect::engine::{Cause, Envelope, Event, State};
use retrospect::journal::{Session, Use, open_branch};
use retrospect::stop::{FORMS, parse, rules};
use std::path::Path;
use std::sync::Arc;

fn recorded(name: &str) -> Vec<Arc<Envelope>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples").join(name);
    let session = Session::open(&dir).unwrap();
    let branch = open_branch(&session.trunk(), Use::Look).unwrap();
    branch.timeline.between(Seq(0), branch.timeline.head().head)
}

fn apply(state: &mut State, event: Event) {
    let at = jiff::Timestamp::UNIX_EPOCH;
    state.apply(&Envelope { seq: state.head, at, cause: Cause::Policy, more: false, event });
}

/// Every hit of a condition, with why.
fn hits(events: &[Arc<Envelope>], condition: &str) -> Vec<(u32, u32, String)> {
    let rules = rules();
    let stop: Stop = (rules.read)(condition).unwrap();
    let mut state = State::default();
    apply(&mut state, Event::BreakpointSet { breakpoint: 1, stop });
    let mut found = Vec::new();
    for envelope in events {
        let before = state.clone();
        state.apply(envelope);
        for hit in (rules.look)(&before, envelope, &state) {
            let episode = state.episode.as_ref().map_or(0, |e| e.number);
            found.push((episode, hit.step, hit.why.clone()));
            apply(&mut state, Event::BreakpointHit { breakpoint: 1, episode, step: hit.step, why: hit.why });
        }
    }
    found
}

#[test]
#[ignore = "prints what the table below is checked against"]
fn dump() {
    for name in ["lamp", "hot-mug-taught", "hot-mug-untaught"] {
        let events = recorded(name);
        println!("== {name}: {} events", events.len());
        for form in FORMS {
            println!("{:<26} {:?}", form.example, hits(&events, form.example));
        }
        for more in [
            "nothing",
            "nothing 2",
            "invalid",
            "same action 2",
            "same observation 2",
            "stalled 3",
            "stalled 5",
            "lesson 1",
            "lesson 2",
            "tokens > 2000",
            "episode tokens > 1000",
            "observation ~ open",
            "observation ~ Nothing",
            "step 3",
            "end",
            "mistake",
            "reflection",
            "thought ~ .",
            "action ~ ^go to (microwave|desk)",
            "time > 1s",
            "note subgoal",
        ] {
            println!("{more:<26} {:?}", hits(&events, more));
        }
    }
    assert!(parse("end").is_ok());
}
