//! The events of each command and reply, as short scenarios.

use super::fixture::{TestEngine, event_names, run_spec, sample_failure, step_result, won_result};
use super::wall_time::{time_up, with_time_limit};
use crate::domain::{
    Autonomy, BranchId, DecidedBy, EndReason, LessonStatus, LessonText, ReflectionKind, Scope, ShownAs,
    Stage, ThoughtDisposition,
};
use crate::engine::{Command, LessonCommand, Reply, RunStatus};

/// Returns a harness at its first proposal.
fn with_proposal(action: &str) -> TestEngine {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room. Your task is to: rest."));
    harness.answer_actor(action);
    harness
}

fn add_lesson(text: &str) -> Command {
    let text = LessonText::plain(text);
    Command::Lesson(LessonCommand::add(ReflectionKind::Error, Scope::Environment, text, String::new()))
}

#[test]
fn a_new_run_waits_for_the_first_step() {
    let harness = TestEngine::started(1, 50);
    assert_eq!(
        event_names(&harness.journal.iter().map(|e| e.event.clone()).collect::<Vec<_>>()),
        ["run_started"]
    );
    assert!(harness.state().is_waiting());
}

#[test]
fn step_continues_to_the_next_proposal() {
    let mut harness = with_proposal("go to shelf 1");
    assert_eq!(harness.state().step_awaiting_decision().unwrap().proposed.as_deref(), Some("go to shelf 1"));
    assert!(harness.state().is_waiting());
    assert_eq!(harness.state().episode.as_ref().unwrap().task.goal, "rest.");
    let events = harness.command(Command::Step).unwrap();
    assert_eq!(event_names(&events), ["step_granted", "approved", "action_taken"]);
    let events = harness.answer_world(step_result("You arrive."));
    assert_eq!(event_names(&events), ["observed", "noted", "prompt_sent"]);
    let events = harness.answer_actor("look");
    assert_eq!(event_names(&events), ["reply_received", "proposed"]);
    assert!(harness.state().is_waiting());
}

#[test]
fn stage_stepping_stops_after_prompt_and_observation() {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room."));
    harness.answer_actor("look");
    harness.command(Command::StepStage).unwrap();
    assert_eq!(event_names(&harness.answer_world(step_result("You see."))), ["observed", "noted"]);
    assert!(harness.state().is_waiting());
    assert_eq!(
        event_names(&harness.command(Command::StepStage).unwrap()),
        ["stage_granted", "prompt_drafted"]
    );
    assert_eq!(harness.state().last_step().unwrap().stage, Stage::Prompt);
    assert_eq!(event_names(&harness.command(Command::StepStage).unwrap()), ["stage_granted", "prompt_sent"]);
    harness.answer_actor("look");
    assert_eq!(harness.state().last_step().unwrap().number, 2);
}

#[test]
fn running_continues_to_the_end_of_the_run() {
    let mut harness = TestEngine::started(2, 50);
    harness.command(Command::Run).unwrap();
    for _ in 0..2 {
        harness.answer_world(step_result("A room."));
        harness.answer_actor("win");
        harness.answer_world(won_result("You win."));
    }
    let state = harness.state();
    assert!(state.run_over);
    assert_eq!(state.ended_episodes.len(), 2);
    assert!(
        state
            .ended_episodes
            .iter()
            .all(|p| p.won && p.steps == 1 && p.reason == EndReason::Won && !p.assisted)
    );
}

#[test]
fn pause_during_a_call_waits_for_it() {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room."));
    assert_eq!(event_names(&harness.command(Command::Pause).unwrap()), ["pause_requested"]);
    assert_eq!(harness.state().run_status, RunStatus::Pausing);
    assert_eq!(event_names(&harness.answer_actor("look")), ["reply_received", "proposed", "paused"]);
    assert!(harness.state().is_waiting());
}

#[test]
fn an_overridden_action_is_the_one_that_runs() {
    let mut harness = with_proposal("take plate 2");
    let events = harness
        .command(Command::Override {
            action: " go to\nsidetable 1 ".to_owned(),
            shown_as: ShownAs::HumanEdit,
            thought_disposition: ThoughtDisposition::Dropped,
        })
        .unwrap();
    assert_eq!(event_names(&events), ["action_overridden", "step_granted", "action_taken"]);
    let step = harness.state().last_step().unwrap();
    let executed = step.executed.as_ref().unwrap();
    assert_eq!(
        (executed.action.as_str(), executed.decided_by, &executed.thought_disposition),
        ("go to sidetable 1", DecidedBy::Person, &ThoughtDisposition::Dropped)
    );
    assert_eq!(step.proposed.as_deref(), Some("take plate 2"));
    assert!(harness.state().episode.as_ref().unwrap().assisted);
    harness.answer_world(step_result("You arrive."));
    harness.answer_actor("look");
    assert!(harness.state().is_waiting(), "an override while paused stops at the next proposal");
}

#[test]
fn a_rejected_proposal_is_asked_again_in_the_same_step() {
    let mut harness = with_proposal("heat apple 1 with stoveburner 1");
    let events = harness.command(Command::Reject("a stove does not heat food".to_owned())).unwrap();
    assert_eq!(event_names(&events), ["proposal_rejected", "step_granted", "prompt_sent"]);
    let step = harness.state().last_step().unwrap();
    assert_eq!((step.number, step.retry, step.rejections.len()), (1, 1, 1));
    harness.answer_actor("go to microwave 1");
    assert_eq!(
        harness.state().step_awaiting_decision().unwrap().proposed.as_deref(),
        Some("go to microwave 1")
    );
    assert_eq!(
        harness.state().step_awaiting_decision().unwrap().rejections[0].0,
        "heat apple 1 with stoveburner 1"
    );
}

#[test]
fn asking_again_cancels_the_call_and_ignores_its_late_reply() {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room."));
    let (old, _) = harness.first_call().unwrap();
    let events = harness.command(Command::AskAgain).unwrap();
    assert_eq!(event_names(&events), ["call_cancelled", "prompt_sent"]);
    let stale = Reply::Model {
        truncated: None,
        call: old,
        text: "look".to_owned(),
        reasoning: String::new(),
        usage: crate::domain::Usage::default(),
    };
    assert!(harness.reply(stale).is_empty());
    harness.answer_actor("wait");
    assert_eq!(harness.state().step_awaiting_decision().unwrap().proposed.as_deref(), Some("wait"));
}

#[test]
fn a_lesson_is_in_the_very_next_prompt() {
    let mut harness = with_proposal("look");
    harness.command(add_lesson("Heat food in a microwave only.")).unwrap();
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("You see."));
    let state = harness.state();
    assert_eq!(state.last_step().unwrap().lesson_count, 1);
    assert_eq!(state.pool.by_number(1).unwrap().uses, 1);
}

#[test]
fn undo_reverts_only_unused_changes() {
    let mut harness = with_proposal("look");
    harness.command(add_lesson("One.")).unwrap();
    harness.command(Command::Undo).unwrap();
    assert_eq!(harness.state().pool.by_number(1).unwrap().status, LessonStatus::Retired);
    harness.command(Command::Redo).unwrap();
    assert_eq!(harness.state().pool.by_number(1).unwrap().status, LessonStatus::On);
    harness.command(Command::Undo).unwrap();
    harness.command(Command::Redo).unwrap();
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("You see."));
    let error = harness.command(Command::Undo).unwrap_err();
    assert!(error.message.contains("already used"), "{error:?}");
    assert!(error.seq.is_some());
}

#[test]
fn confirm_stops_at_every_proposal_and_continues_when_approved() {
    let mut run = run_spec(1, 50);
    run.autonomy = Autonomy::Confirm;
    let mut harness = TestEngine::with_spec(run);
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room."));
    harness.answer_actor("look");
    assert!(harness.state().is_waiting());
    assert_eq!(event_names(&harness.command(Command::Approve).unwrap()), ["approved", "action_taken"]);
    harness.answer_world(step_result("You see."));
    harness.answer_actor("wait");
    assert!(harness.state().is_waiting());
}

#[test]
fn a_person_plays_and_returns_control() {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::SetAutonomy(Autonomy::Human)).unwrap();
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room."));
    assert!(harness.state().is_waiting());
    harness.command(Command::Act("look".to_owned())).unwrap();
    harness.answer_world(step_result("You see."));
    harness.command(Command::Act("think: hm".to_owned())).unwrap();
    harness.answer_world(step_result("Nothing happens."));
    assert_eq!(harness.state().episode.as_ref().unwrap().step(2).unwrap().observation(), Some("OK."));
    assert_eq!(harness.state().step_awaiting_decision().unwrap().number, 3);
    harness.command(Command::SetAutonomy(Autonomy::Auto)).unwrap();
    harness.command(Command::Step).unwrap();
    harness.answer_actor("wait");
    assert_eq!(harness.state().step_awaiting_decision().unwrap().number, 3);
}

#[test]
fn a_failed_call_pauses_and_can_be_retried() {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room."));
    let (call, _) = harness.first_call().unwrap();
    let failure = sample_failure();
    assert_eq!(event_names(&harness.reply(Reply::Failed { call, failure })), ["call_failed", "paused"]);
    assert!(harness.command(Command::Step).is_err());
    harness.command(Command::Retry).unwrap();
    assert_eq!(harness.first_call().unwrap().0, call);
    harness.answer_actor("look");
    assert!(harness.state().is_waiting());
}

/// Regression: `Run` was accepted when `Step` was rejected, and then nothing happened.
#[test]
fn a_run_does_not_continue_while_something_is_undecided() {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room."));
    let (call, _) = harness.first_call().unwrap();
    let failure = sample_failure();
    harness.reply(Reply::Failed { call, failure });
    let error = harness.command(Command::Run).unwrap_err();
    assert_eq!(harness.command(Command::Step).unwrap_err(), error);
    assert!(error.message.contains("no answer"), "{error:?}");
    harness.command(Command::Retry).unwrap();
    harness.command(Command::Run).unwrap();
    let (recorded, actual) = ("A room.".to_owned(), "A hall.".to_owned());
    harness.reply(Reply::Diverged { episode: 1, step: 0, recorded, actual });
    let error = harness.command(Command::Run).unwrap_err();
    assert_eq!(harness.command(Command::Step).unwrap_err(), error);
    assert!(error.message.contains("rebuilt environment"), "{error:?}");
    harness.command(Command::Retry).unwrap();
    harness.command(Command::Run).unwrap();
}

#[test]
fn limits_end_the_episode() {
    /// (steps, moves, loop detector, actions, reason, steps at the end)
    type Case = (u32, Option<u32>, bool, &'static [&'static str], EndReason, u32);
    let cases: [Case; 5] = [
        (3, None, false, &["a", "b", "c", "d"], EndReason::StepLimit, 3),
        (9, Some(2), false, &["a", "think: x", "b", "c"], EndReason::MoveLimit, 3),
        (9, None, true, &["a", "b", "b", "c"], EndReason::Loop, 3),
        (4, None, true, &["a", "b", "a", "b", "c"], EndReason::StepLimit, 4),
        (9, None, true, &["think: x", "think: x", "c"], EndReason::Loop, 2),
    ];
    for (steps, moves, loop_detector, actions, reason, steps_at_end) in cases {
        let mut run = run_spec(1, steps);
        run.limits.moves = moves;
        run.loop_detector = loop_detector;
        let mut harness = TestEngine::with_spec(run);
        harness.command(Command::Run).unwrap();
        harness.answer_world(step_result("A room."));
        for action in actions {
            if harness.state().open_episode().is_none() {
                break;
            }
            harness.answer_actor(action);
            harness.answer_world(step_result("Fine."));
        }
        let last = harness.state().ended_episodes.last().expect("the episode ended");
        assert_eq!((last.reason, last.steps), (reason, steps_at_end), "{actions:?}");
    }
}

#[test]
fn the_time_limit_ends_an_episode_during_a_call() {
    let mut harness = with_time_limit(1, 60);
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room."));
    harness.reply(time_up(7, 60));
    assert!(harness.state().open_episode().is_some(), "another episode's timer is ignored");
    harness.reply(time_up(1, 60));
    assert_eq!(harness.state().ended_episodes.last().unwrap().reason, EndReason::TimeLimit);
    assert!(harness.state().calls.is_empty());
}

/// Regression: a lesson of a fork had the same id as one of the trunk.
#[test]
fn lesson_ids_depend_on_the_branch() {
    // The trunk's id is that of the first version. It must not change, or pool files lose their lessons.
    for (branch, id) in [("trunk", "5dc31aa47bf1"), ("b2", "340ae449efc7")] {
        let mut harness = TestEngine::started(1, 50);
        harness.engine.branch = BranchId(branch.to_owned());
        harness.command(add_lesson("Look first.")).unwrap();
        assert_eq!(harness.state().pool.all().next().unwrap().id.0.as_ref(), id, "{branch}");
    }
}

#[test]
fn a_thought_that_is_not_sent_is_answered_by_the_interface() {
    let mut run = run_spec(1, 50);
    run.settings.set("thoughts_sent", false, crate::domain::SettingOrigin::BuiltIn);
    let mut harness = TestEngine::with_spec(run);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room."));
    harness.answer_actor("think: hm");
    let events = harness.command(Command::Step).unwrap();
    assert_eq!(
        event_names(&events),
        ["step_granted", "approved", "action_taken", "observed", "noted", "prompt_sent"]
    );
    let episode = harness.state().episode.as_ref().unwrap();
    assert_eq!((episode.moves, episode.step(1).unwrap().observation()), (0, Some("OK.")));
}

#[test]
fn a_task_can_be_started_again_after_the_run() {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room."));
    harness.answer_actor("win");
    harness.answer_world(won_result("You win."));
    assert!(harness.state().run_over);
    let task = harness.state().episode.as_ref().unwrap().task.clone();
    harness.command(Command::BeginEpisode(Box::new(task))).unwrap();
    harness.answer_world(step_result("A room."));
    assert_eq!(harness.state().episode.as_ref().unwrap().trial, 2);
}

#[test]
fn loading_a_pool_is_not_an_intervention_and_cannot_be_undone() {
    let mut harness = TestEngine::new();
    let command = LessonCommand::add(
        ReflectionKind::Error,
        Scope::Environment,
        LessonText::plain("Heat food in a microwave only."),
        String::new(),
    );
    let pool = vec![("pool.jsonl".to_owned(), command.clone()), ("pool.jsonl".to_owned(), command)];
    let spec = Box::new(run_spec(1, 50));
    harness
        .command(Command::Start {
            session: "s".to_owned(),
            spec,
            pool,
            replay_seed: None,
            breakpoints: Vec::new(),
        })
        .unwrap();
    let ids: Vec<_> = harness.state().pool.all().map(|l| l.id.clone()).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
    assert!(harness.command(Command::Undo).is_err());
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room."));
    assert_eq!(harness.state().last_step().unwrap().lesson_count, 2);
    assert!(!harness.state().episode.as_ref().unwrap().assisted);
}

/// Regression: a lesson typed while a drafted prompt waited was missing from that prompt.
#[test]
fn a_lesson_added_while_a_draft_waits_is_in_that_prompt() {
    let mut harness = with_proposal("look");
    harness.command(Command::StepStage).unwrap();
    harness.answer_world(step_result("You see."));
    harness.command(Command::StepStage).unwrap();
    assert!(harness.state().draft.is_some());
    harness.command(add_lesson("Heat food in a microwave only.")).unwrap();
    assert!(harness.state().draft.is_none());
    assert_eq!(
        event_names(&harness.command(Command::StepStage).unwrap()),
        ["stage_granted", "prompt_drafted"]
    );
    harness.command(Command::StepStage).unwrap();
    assert_eq!(harness.state().actor_prompts.0.as_ref().unwrap().segments.len(), 2);
}

/// Regression: asking again, or playing with a lesson typed between episodes, didn't count as human intervention.
#[test]
fn every_intervention_makes_an_episode_assisted() {
    let mut harness = with_proposal("look");
    harness.command(Command::AskAgain).unwrap();
    assert!(harness.state().episode.as_ref().unwrap().assisted);
    let mut harness = TestEngine::started(2, 50);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room."));
    harness.answer_actor("win");
    harness.command(Command::Step).unwrap();
    harness.answer_world(won_result("You win."));
    harness.command(add_lesson("One.")).unwrap();
    assert!(!harness.state().ended_episodes.last().unwrap().assisted);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room."));
    assert!(harness.state().episode.as_ref().unwrap().assisted, "it plays with a lesson a person typed");
}

/// Regression: a Progress lesson was reworded every few steps but still named the first step as its source.
#[test]
fn an_edited_lesson_is_dated_to_the_step_of_its_edit() {
    let mut harness = with_proposal("look");
    harness.command(add_lesson("One.")).unwrap();
    let before = harness.state().pool.by_number(1).unwrap().clone();
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("You see."));
    harness.answer_actor("wait");
    harness
        .command(Command::Lesson(LessonCommand::Edit {
            id: before.id.clone(),
            text: LessonText::plain("Two."),
        }))
        .unwrap();
    let after = harness.state().pool.by_number(1).unwrap();
    // Both are dated to the step that was open.
    assert_eq!((before.learnt_at, after.learnt_at), ((1, 1), (1, 2)));
}
