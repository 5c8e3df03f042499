//! Breakpoints and watches in the engine. A hit is in the same batch as the event that caused it.

use super::fixture::{Harness, event_names, step_result, won_result};
use crate::engine::{BreakpointHit, Command, Engine, Event, PauseReason, RunStatus, State};

fn set_breakpoint(harness: &mut Harness, text: &str) {
    harness.command(Command::SetBreakpoint { text: text.to_owned(), replaces: None }).unwrap();
}

fn current_hit(state: &State) -> Option<&BreakpointHit> {
    state.breakpoints.current_hit.as_deref()
}

#[test]
fn a_proposal_its_hit_and_the_pause_are_one_batch() {
    let mut harness = Harness::with_tasks(1);
    set_breakpoint(&mut harness, "proposed");
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("You see a lamp"));
    let batch_start = harness.journal.len();
    let events = harness.reply_as_actor("dance");
    assert_eq!(event_names(&events), ["reply_received", "proposed", "breakpoint_hit", "paused"]);
    let continues: Vec<bool> = harness.journal[batch_start..].iter().map(|e| e.batch_continues).collect();
    assert_eq!(continues, [true, true, true, false], "only the last event ends the batch");
    let state = harness.state();
    assert_eq!((state.run_status, state.pause_reason), (RunStatus::Paused, Some(PauseReason::Breakpoint)));
    assert_eq!(current_hit(state).unwrap().describe(), "breakpoint 1 `proposed`: event proposed occurred");
    assert_eq!(state.last_step().unwrap().breakpoint_marks[0].breakpoint_number, 1);
    // Resuming runs the proposal without a second hit.
    let events = harness.command(Command::Run).unwrap();
    assert_eq!(event_names(&events), ["resumed", "action_taken"]);
    assert_eq!(current_hit(harness.state()), None);
    harness.reply_as_env(step_result("You dance"));
    harness.reply_as_actor("sing");
    assert_eq!(harness.state().breakpoints.get(1).unwrap().hits, 2);
}

#[test]
fn a_watch_is_recorded_and_marks_its_step_without_pausing() {
    let mut harness = Harness::with_tasks(1);
    set_breakpoint(&mut harness, "warn observed");
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("You see a lamp"));
    harness.reply_as_actor("dance");
    let events = harness.reply_as_env(step_result("You dance"));
    assert_eq!(event_names(&events), ["observed", "breakpoint_hit", "noted", "prompt_sent"]);
    let state = harness.state();
    assert_eq!((state.run_status, current_hit(state)), (RunStatus::Running, None));
    // The prompt has already opened step 2.
    let answered_step = state.open_episode().unwrap().step(1).unwrap();
    assert!(answered_step.breakpoint_marks[0].is_watch);
    assert_eq!(state.breakpoints.get(1).unwrap().hits, 1);
}

#[test]
fn a_hit_while_a_call_is_in_flight_pauses_after_the_reply() {
    let mut harness = Harness::with_tasks(1);
    set_breakpoint(&mut harness, "prompt_sent");
    harness.command(Command::Run).unwrap();
    let events = harness.reply_as_env(step_result("You see a lamp"));
    assert_eq!(event_names(&events), ["world_reset", "prompt_sent", "breakpoint_hit", "pause_requested"]);
    assert_eq!(harness.state().run_status, RunStatus::Pausing);
    let events = harness.reply_as_actor("dance");
    assert_eq!(event_names(&events), ["reply_received", "proposed", "paused"]);
    assert_eq!(events.last(), Some(&Event::Paused { reason: PauseReason::Breakpoint }));
}

#[test]
fn the_first_hit_disables_a_once_breakpoint_and_disabled_ones_have_no_hits() {
    let mut harness = Harness::with_tasks(1);
    set_breakpoint(&mut harness, "warn once observed");
    set_breakpoint(&mut harness, "warn proposed");
    harness.command(Command::SwitchBreakpoint { breakpoint: 2, enabled: false }).unwrap();
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("You see a lamp"));
    for _ in 0..3 {
        harness.reply_as_actor("dance");
        harness.reply_as_env(step_result("You dance"));
    }
    let breakpoints = &harness.state().breakpoints;
    assert_eq!((breakpoints.get(1).unwrap().hits, breakpoints.get(1).unwrap().enabled), (1, false));
    assert_eq!((breakpoints.get(2).unwrap().hits, breakpoints.has_enabled()), (0, false));
}

#[test]
fn a_breakpoint_on_the_end_of_an_episode_pauses_before_the_next_episode() {
    let mut harness = Harness::with_tasks(2);
    set_breakpoint(&mut harness, "episode_ended");
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("You see a lamp"));
    harness.reply_as_actor("win");
    let events = harness.reply_as_env(won_result("Done"));
    assert_eq!(event_names(&events)[2..], ["episode_ended", "breakpoint_hit", "paused"]);
    let events = harness.command(Command::Run).unwrap();
    assert_eq!(event_names(&events), ["resumed", "episode_started"]);
}

#[test]
fn breakpoint_commands_succeed_or_fail_with_a_reason() {
    let mut harness = Harness::with_tasks(1);
    set_breakpoint(&mut harness, "proposed");
    // Setting the same condition again adds nothing.
    assert_eq!(
        harness.command(Command::SetBreakpoint { text: "proposed".to_owned(), replaces: None }).unwrap(),
        []
    );
    harness.command(Command::SetBreakpoint { text: "warn observed".to_owned(), replaces: Some(1) }).unwrap();
    assert_eq!(harness.state().breakpoints.get(1).unwrap().config.to_string(), "warn observed");
    let error = harness.command(Command::SetBreakpoint { text: String::new(), replaces: None }).unwrap_err();
    assert_eq!(error.message, "no condition");
    let error = harness.command(Command::RemoveBreakpoint(7)).unwrap_err();
    assert_eq!((error.message.as_str(), error.hint.as_str()), ("no breakpoint or watch 7", "existing: 1"));
    harness.command(Command::RemoveBreakpoint(1)).unwrap();
    set_breakpoint(&mut harness, "observed");
    assert_eq!(harness.state().breakpoints.all[0].number, 2, "a number is never reused");
    // Beyond the maximum, new breakpoints are rejected.
    for n in 0..200 {
        let _ = harness.command(Command::SetBreakpoint { text: format!("x{n}"), replaces: None });
    }
    assert_eq!(harness.state().breakpoints.all.len(), crate::engine::MAX_BREAKPOINTS);
}

#[test]
fn folding_the_journal_gives_the_same_hits_without_evaluating_conditions() {
    let mut harness = Harness::with_tasks(1);
    set_breakpoint(&mut harness, "proposed");
    set_breakpoint(&mut harness, "warn noted");
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("You see a lamp"));
    for action in ["dance", "dance", "sing"] {
        harness.reply_as_actor(action);
        harness.command(Command::Run).unwrap();
        harness.reply_as_env(step_result("Nothing happens."));
    }
    let mut folded = State::default();
    for envelope in &harness.journal {
        folded.apply(envelope);
    }
    assert_eq!(&folded, harness.state());
    let streaks = folded.breakpoints.streaks;
    assert_eq!(
        (streaks.nothing.count, streaks.invalid.count, streaks.action.count, streaks.observation.count),
        (3, 3, 1, 3)
    );
    let json = serde_json::to_string(&folded.breakpoints).unwrap();
    assert_eq!(serde_json::from_str::<crate::engine::Breakpoints>(&json).unwrap(), folded.breakpoints);
    // An engine that resumes from the folded state is paused too.
    let engine = Engine::resume(folded, super::fixture::policy(), crate::domain::BranchId::trunk());
    assert!(engine.advance().is_empty());
}
