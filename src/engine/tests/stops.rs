//! Breakpoints in the engine: their hits stand with what made them true, and going on goes on.

use super::fixture::{Bench, names, turn, won};
use crate::engine::{Command, Engine, Event, Hit, Pace, PauseReason, State};

fn set(bench: &mut Bench, text: &str) {
    bench.wish(Command::Break { text: text.to_owned(), of: None }).unwrap();
}

fn standing(state: &State) -> Option<&Hit> {
    state.stops.standing.as_deref()
}

#[test]
fn a_proposal_is_stopped_before_it_runs_and_in_the_same_write() {
    let mut bench = Bench::started(1, 9);
    set(&mut bench, "proposed");
    bench.wish(Command::Run).unwrap();
    bench.world(turn("You see a lamp"));
    let from = bench.journal.len();
    let events = bench.says("dance");
    assert_eq!(names(&events), ["reply_received", "proposed", "breakpoint_hit", "paused"]);
    let more: Vec<bool> = bench.journal[from..].iter().map(|e| e.more).collect();
    assert_eq!(more, [true, true, true, false], "one batch");
    let state = bench.state();
    assert_eq!((state.pace, state.pause_reason), (Pace::Paused, Some(PauseReason::Breakpoint)));
    assert_eq!(standing(state).unwrap().sentence(), "breakpoint 1 `proposed`: proposed came");
    assert_eq!(state.last_step().unwrap().stops[0].breakpoint, 1);
    // What is proposed can still be replaced; going on does not meet the same proposal again.
    let events = bench.wish(Command::Run).unwrap();
    assert_eq!(names(&events), ["resumed", "action_taken"]);
    assert_eq!(standing(bench.state()), None);
    bench.world(turn("You dance"));
    bench.says("sing");
    assert_eq!(bench.state().stops.get(1).unwrap().hits, 2);
}

#[test]
fn a_watch_tells_and_marks_and_nothing_stops() {
    let mut bench = Bench::started(1, 9);
    set(&mut bench, "warn observed");
    bench.wish(Command::Run).unwrap();
    bench.world(turn("You see a lamp"));
    bench.says("dance");
    let events = bench.world(turn("You dance"));
    assert_eq!(names(&events), ["observed", "breakpoint_hit", "noted", "prompt_sent"]);
    let state = bench.state();
    assert_eq!((state.pace, standing(state)), (Pace::Running, None));
    assert!(state.last_step().unwrap().stops.is_empty() || state.last_step().unwrap().stops[0].warn);
    assert_eq!(state.stops.get(1).unwrap().hits, 1);
}

#[test]
fn with_a_call_in_flight_it_pauses_when_that_is_answered() {
    let mut bench = Bench::started(1, 9);
    set(&mut bench, "prompt_sent");
    bench.wish(Command::Run).unwrap();
    let events = bench.world(turn("You see a lamp"));
    assert_eq!(names(&events), ["world_reset", "prompt_sent", "breakpoint_hit", "pause_requested"]);
    assert_eq!(bench.state().pace, Pace::Pausing);
    let events = bench.says("dance");
    assert_eq!(names(&events), ["reply_received", "proposed", "paused"]);
    assert_eq!(events.last(), Some(&Event::Paused { reason: PauseReason::Breakpoint }));
}

#[test]
fn once_is_over_after_its_first_hit_and_what_is_off_is_not_looked_at() {
    let mut bench = Bench::started(1, 9);
    set(&mut bench, "warn once observed");
    set(&mut bench, "warn proposed");
    bench.wish(Command::SwitchBreak { breakpoint: 2, on: false }).unwrap();
    bench.wish(Command::Run).unwrap();
    bench.world(turn("You see a lamp"));
    for _ in 0..3 {
        bench.says("dance");
        bench.world(turn("You dance"));
    }
    let stops = &bench.state().stops;
    assert_eq!((stops.get(1).unwrap().hits, stops.get(1).unwrap().on), (1, false));
    assert_eq!((stops.get(2).unwrap().hits, stops.armed()), (0, false));
}

#[test]
fn the_end_of_an_episode_can_stop_the_run_before_the_next() {
    let mut bench = Bench::started(2, 9);
    set(&mut bench, "episode_ended");
    bench.wish(Command::Run).unwrap();
    bench.world(turn("You see a lamp"));
    bench.says("win");
    let events = bench.world(won("Done"));
    assert_eq!(names(&events)[2..], ["episode_ended", "breakpoint_hit", "paused"]);
    let events = bench.wish(Command::Run).unwrap();
    assert_eq!(names(&events), ["resumed", "episode_started"]);
}

#[test]
fn wishes_about_breakpoints_are_granted_or_refused_in_words() {
    let mut bench = Bench::started(1, 9);
    set(&mut bench, "proposed");
    // The same again is the same one.
    assert_eq!(bench.wish(Command::Break { text: "proposed".to_owned(), of: None }).unwrap(), []);
    bench.wish(Command::Break { text: "warn observed".to_owned(), of: Some(1) }).unwrap();
    assert_eq!(bench.state().stops.get(1).unwrap().stop.to_string(), "warn observed");
    let refused = bench.wish(Command::Break { text: String::new(), of: None }).unwrap_err();
    assert_eq!(refused.why, "no condition");
    let refused = bench.wish(Command::RemoveBreak(7)).unwrap_err();
    assert_eq!(
        (refused.why.as_str(), refused.next.as_str()),
        ("there is no breakpoint or watch 7", "there are 1")
    );
    bench.wish(Command::RemoveBreak(1)).unwrap();
    set(&mut bench, "observed");
    assert_eq!(bench.state().stops.all[0].number, 2, "a number is never given twice");
    for n in 0..200 {
        let _ = bench.wish(Command::Break { text: format!("x{n}"), of: None });
    }
    assert_eq!(bench.state().stops.all.len(), crate::engine::MOST_BREAKPOINTS);
}

#[test]
fn folding_the_journal_gives_the_same_stops_without_any_matcher() {
    let mut bench = Bench::started(1, 9);
    set(&mut bench, "proposed");
    set(&mut bench, "warn noted");
    bench.wish(Command::Run).unwrap();
    bench.world(turn("You see a lamp"));
    for action in ["dance", "dance", "sing"] {
        bench.says(action);
        bench.wish(Command::Run).unwrap();
        bench.world(turn("Nothing happens."));
    }
    let mut folded = State::default();
    for envelope in &bench.journal {
        folded.apply(envelope);
    }
    assert_eq!(&folded, bench.state());
    let rows = folded.stops.rows;
    assert_eq!(
        (rows.nothing.count, rows.invalid.count, rows.action.count, rows.observation.count),
        (3, 3, 1, 3)
    );
    let again = serde_json::to_string(&folded.stops).unwrap();
    assert_eq!(serde_json::from_str::<crate::engine::Stops>(&again).unwrap(), folded.stops);
    // An engine that goes on from the folded state stands where it stood.
    let engine = Engine::resume(folded, super::fixture::policy(), crate::domain::BranchId::trunk());
    assert!(engine.advance().is_empty());
}
