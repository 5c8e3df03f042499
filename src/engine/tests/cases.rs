//! Short scenarios that check the events of commands and replies.

use super::fixture::{Harness, event_names, sample_failure, spec_with_tasks, step_result, won_result};
use crate::domain::{
    Autonomy, BranchId, DecidedBy, EndReason, LessonStatus, LessonText, ReflectionKind, Scope, ShownAs,
    Stage, ThoughtDisposition,
};
use crate::engine::{Command, Failure, LessonCommand, Reply, RunStatus};
use std::time::Duration;

/// Returns a harness in which the actor has proposed this action in step 1.
fn with_proposal(action: &str) -> Harness {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.reply_as_actor(action);
    harness
}

fn add_lesson(text: &str) -> Command {
    let text = LessonText::plain(text);
    Command::Lesson(LessonCommand::add(ReflectionKind::Error, Scope::Environment, text, String::new()))
}

#[test]
fn a_new_run_waits_for_a_command() {
    let harness = Harness::with_tasks(1);
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
    let events = harness.reply_as_env(step_result("You arrive."));
    assert_eq!(event_names(&events), ["observed", "noted", "prompt_sent"]);
    let events = harness.reply_as_actor("look");
    assert_eq!(event_names(&events), ["reply_received", "proposed"]);
    assert!(harness.state().is_waiting());
}

#[test]
fn stepping_by_stages_stops_after_the_observation_and_after_the_draft() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room."));
    harness.reply_as_actor("look");
    harness.command(Command::StepStage).unwrap();
    assert_eq!(event_names(&harness.reply_as_env(step_result("You see."))), ["observed", "noted"]);
    assert!(harness.state().is_waiting());
    assert_eq!(
        event_names(&harness.command(Command::StepStage).unwrap()),
        ["stage_granted", "prompt_drafted"]
    );
    assert_eq!(harness.state().last_step().unwrap().stage, Stage::Prompt);
    assert_eq!(event_names(&harness.command(Command::StepStage).unwrap()), ["stage_granted", "prompt_sent"]);
    harness.reply_as_actor("look");
    assert_eq!(harness.state().last_step().unwrap().number, 2);
}

#[test]
fn running_continues_to_the_end_of_the_run() {
    let mut harness = Harness::with_tasks(2);
    harness.command(Command::Run).unwrap();
    for _ in 0..2 {
        harness.reply_as_env(step_result("A room."));
        harness.reply_as_actor("win");
        harness.reply_as_env(won_result("You win."));
    }
    let state = harness.state();
    assert!(state.run_over);
    assert_eq!(state.ended_episodes.len(), 2);
    assert!(
        state
            .ended_episodes
            .iter()
            .all(|e| e.won && e.steps == 1 && e.reason == EndReason::Won && !e.assisted)
    );
}

#[test]
fn a_pause_during_a_call_waits_for_its_reply() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room."));
    assert_eq!(event_names(&harness.command(Command::Pause).unwrap()), ["pause_requested"]);
    assert_eq!(harness.state().run_status, RunStatus::Pausing);
    assert_eq!(event_names(&harness.reply_as_actor("look")), ["reply_received", "proposed", "paused"]);
    assert!(harness.state().is_waiting());
}

#[test]
fn an_override_runs_instead_of_the_proposal() {
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
    harness.reply_as_env(step_result("You arrive."));
    harness.reply_as_actor("look");
    assert!(harness.state().is_waiting(), "an override while paused stops at the next proposal");
}

#[test]
fn after_a_rejection_the_actor_is_asked_again_in_the_same_step() {
    let mut harness = with_proposal("heat apple 1 with stoveburner 1");
    let events = harness.command(Command::Reject("a stove does not heat food".to_owned())).unwrap();
    assert_eq!(event_names(&events), ["proposal_rejected", "step_granted", "prompt_sent"]);
    let step = harness.state().last_step().unwrap();
    assert_eq!((step.number, step.retry, step.rejections.len()), (1, 1, 1));
    harness.reply_as_actor("go to microwave 1");
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
fn asking_again_cancels_the_call_and_its_late_reply_is_ignored() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room."));
    let (cancelled, _) = harness.first_call().unwrap();
    let events = harness.command(Command::AskAgain).unwrap();
    assert_eq!(event_names(&events), ["call_cancelled", "prompt_sent"]);
    let late_reply = Reply::Model {
        tool_calls: Vec::new(),
        truncated: None,
        call: cancelled,
        text: "look".to_owned(),
        reasoning: String::new(),
        usage: crate::domain::Usage::default(),
    };
    assert!(harness.reply(late_reply).is_empty());
    harness.reply_as_actor("wait");
    assert_eq!(harness.state().step_awaiting_decision().unwrap().proposed.as_deref(), Some("wait"));
}

#[test]
fn a_new_lesson_is_in_the_next_prompt() {
    let mut harness = with_proposal("look");
    harness.command(add_lesson("Heat food in a microwave only.")).unwrap();
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("You see."));
    let state = harness.state();
    assert_eq!(state.last_step().unwrap().lesson_count, 1);
    assert_eq!(state.pool.by_number(1).unwrap().uses, 1);
}

#[test]
fn a_new_lesson_can_be_undone_and_redone_until_a_prompt_uses_it() {
    let mut harness = with_proposal("look");
    harness.command(add_lesson("One.")).unwrap();
    // Undoing the addition retires the lesson.
    harness.command(Command::Undo).unwrap();
    assert_eq!(harness.state().pool.by_number(1).unwrap().status, LessonStatus::Retired);
    harness.command(Command::Redo).unwrap();
    assert_eq!(harness.state().pool.by_number(1).unwrap().status, LessonStatus::On);
    harness.command(Command::Undo).unwrap();
    harness.command(Command::Redo).unwrap();
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("You see."));
    let error = harness.command(Command::Undo).unwrap_err();
    assert!(error.message.contains("already used"), "{error:?}");
    assert!(error.seq.is_some());
}

#[test]
fn with_autonomy_confirm_a_run_stops_at_every_proposal_until_it_is_approved() {
    let mut spec = spec_with_tasks(1);
    spec.autonomy = Autonomy::Confirm;
    let mut harness = Harness::with_spec(spec);
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room."));
    harness.reply_as_actor("look");
    assert!(harness.state().is_waiting());
    assert_eq!(event_names(&harness.command(Command::Approve).unwrap()), ["approved", "action_taken"]);
    harness.reply_as_env(step_result("You see."));
    harness.reply_as_actor("wait");
    assert!(harness.state().is_waiting());
}

#[test]
fn a_person_can_play_and_return_control() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::SetAutonomy(Autonomy::Human)).unwrap();
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room."));
    assert!(harness.state().is_waiting());
    harness.command(Command::Act("look".to_owned())).unwrap();
    harness.reply_as_env(step_result("You see."));
    harness.command(Command::Act("think: hm".to_owned())).unwrap();
    harness.reply_as_env(step_result("Nothing happens."));
    assert_eq!(harness.state().episode.as_ref().unwrap().step(2).unwrap().observation(), Some("OK."));
    assert_eq!(harness.state().step_awaiting_decision().unwrap().number, 3);
    harness.command(Command::SetAutonomy(Autonomy::Auto)).unwrap();
    harness.command(Command::Step).unwrap();
    harness.reply_as_actor("wait");
    assert_eq!(harness.state().step_awaiting_decision().unwrap().number, 3);
}

#[test]
fn a_failed_call_pauses_and_can_be_retried() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room."));
    let (call, _) = harness.first_call().unwrap();
    let failure = sample_failure();
    assert_eq!(event_names(&harness.reply(Reply::Failed { call, failure })), ["call_failed", "paused"]);
    assert!(harness.command(Command::Step).is_err());
    harness.command(Command::Retry).unwrap();
    assert_eq!(harness.first_call().unwrap().0, call);
    harness.reply_as_actor("look");
    assert!(harness.state().is_waiting());
}

/// Regression: a person could write a program in one line only.
#[test]
fn a_persons_action_keeps_its_lines_where_a_whole_reply_is_the_action() {
    use crate::domain::SettingOrigin;
    use crate::domain::common_settings::{ACTOR_REPLY, ActorReply};
    for (form, expected) in
        [(ActorReply::Line, "code def f(x): return x"), (ActorReply::Whole, "code\ndef f(x):\n    return x")]
    {
        let mut spec = spec_with_tasks(1);
        spec.settings.set(ACTOR_REPLY.spec.name, form.word(), SettingOrigin::Person);
        let mut harness = Harness::with_spec(spec);
        harness.command(Command::SetAutonomy(Autonomy::Human)).unwrap();
        harness.command(Command::Step).unwrap();
        harness.reply_as_env(step_result("def f(x):"));
        harness.command(Command::Act("code\r\ndef f(x):\n    return x\n".to_owned())).unwrap();
        assert_eq!(harness.state().open_episode().unwrap().step(1).unwrap().action(), Some(expected));
    }
}

/// Regression: an action after the environment's failure was refused with "the environment hasn't answered yet: wait a
/// moment", or for lack of a proposal.
#[test]
fn an_action_after_the_environments_failure_is_refused_with_what_works() {
    let mut harness = with_proposal("crash");
    harness.command(Command::Step).unwrap();
    let (call, _) = harness.first_call().unwrap();
    harness.reply(Reply::Failed { call, failure: sample_failure() });
    let override_it = Command::Override {
        action: "look".to_owned(),
        shown_as: ShownAs::AgentAction,
        thought_disposition: ThoughtDisposition::Kept,
    };
    for command in [Command::Act("look".to_owned()), override_it, Command::Reject("no".to_owned())] {
        let error = harness.command(command).unwrap_err();
        let said = (error.message.as_str(), error.hint.as_str());
        let works = "`retry` tries again, `fork 1 ACTION` runs another action instead";
        assert_eq!(said, ("the environment failed", works));
    }
    harness.command(Command::Retry).unwrap();
}

/// Regression: an environment's crash counted as a failure of the agent.
#[test]
fn a_task_given_up_after_a_failure_of_the_environment_is_no_attempt() {
    use crate::domain::FailureKind;
    for (fails_in_step, kind, reason) in [
        (false, None, EndReason::EnvDied),
        (true, None, EndReason::EnvDied),
        (true, Some(FailureKind::TimedOut), EndReason::EnvTimeout),
    ] {
        let mut harness = Harness::with_tasks(1);
        harness.command(Command::Run).unwrap();
        if fails_in_step {
            harness.reply_as_env(step_result("A room."));
            harness.reply_as_actor("look");
        }
        let (call, _) = harness.first_call().unwrap();
        harness.reply(Reply::Failed { call, failure: Failure { kind, ..sample_failure() } });
        harness.command(Command::EndEpisode(EndReason::Error)).unwrap();
        let ended = harness.state().ended_episodes.last().unwrap();
        assert_eq!((ended.reason, ended.is_attempt(), ended.assisted), (reason, false, false));
    }
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room."));
    let (call, _) = harness.first_call().unwrap();
    harness.reply(Reply::Failed { call, failure: sample_failure() });
    harness.command(Command::EndEpisode(EndReason::Error)).unwrap();
    let ended = harness.state().ended_episodes.last().unwrap();
    assert_eq!((ended.reason, ended.is_attempt()), (EndReason::Error, true), "a model's failure counts");
}

/// Regression: while a failed call or a divergence waited for a decision, `Step` was rejected, but `Run` was accepted
/// and then did nothing.
#[test]
fn run_and_step_are_rejected_while_a_failed_call_or_a_divergence_waits() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room."));
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
fn limits_and_the_loop_detector_end_the_episode() {
    /// (step limit, move limit, whether the loop detector is on, actions, why the episode ends, its number of steps)
    type Case = (u32, Option<u32>, bool, &'static [&'static str], EndReason, u32);
    let cases: [Case; 5] = [
        (3, None, false, &["a", "b", "c", "d"], EndReason::StepLimit, 3),
        (9, Some(2), false, &["a", "think: x", "b", "c"], EndReason::MoveLimit, 3),
        (9, None, true, &["a", "b", "b", "c"], EndReason::Loop, 3),
        (4, None, true, &["a", "b", "a", "b", "c"], EndReason::StepLimit, 4),
        (9, None, true, &["think: x", "think: x", "c"], EndReason::Loop, 2),
    ];
    for (step_limit, move_limit, loop_detector, actions, reason, step_count) in cases {
        let mut spec = spec_with_tasks(1);
        spec.limits.steps = step_limit;
        spec.limits.moves = move_limit;
        spec.loop_detector = loop_detector;
        let mut harness = Harness::with_spec(spec);
        harness.command(Command::Run).unwrap();
        harness.reply_as_env(step_result("A room."));
        for action in actions {
            if harness.state().open_episode().is_none() {
                break;
            }
            harness.reply_as_actor(action);
            harness.reply_as_env(step_result("Fine."));
        }
        let last = harness.state().ended_episodes.last().expect("the episode ended");
        assert_eq!((last.reason, last.steps), (reason, step_count), "{actions:?}");
    }
}

#[test]
fn the_time_limit_ends_an_episode_during_a_call() {
    let time_up = |episode| Reply::TimeUp { episode, elapsed: Duration::from_secs(60) };
    let mut spec = spec_with_tasks(1);
    spec.limits.wall_seconds = Some(60);
    let mut harness = Harness::with_spec(spec);
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room."));
    harness.reply(time_up(7));
    assert!(harness.state().open_episode().is_some(), "another episode's timer is ignored");
    harness.reply(time_up(1));
    assert_eq!(harness.state().ended_episodes.last().unwrap().reason, EndReason::TimeLimit);
    assert!(harness.state().calls.is_empty());
}

/// Regression: a lesson added on a fork could get the same id as a lesson on the trunk.
#[test]
fn lesson_ids_depend_on_the_branch() {
    // The trunk's id is the one that the program's first version computed. It must not change, because sessions and
    // pool files refer to lessons by their ids.
    for (branch, id) in [("trunk", "5dc31aa47bf1"), ("b2", "340ae449efc7")] {
        let mut harness = Harness::with_tasks(1);
        harness.engine.branch = BranchId(branch.to_owned());
        harness.command(add_lesson("Look first.")).unwrap();
        assert_eq!(harness.state().pool.all().next().unwrap().id.0.as_ref(), id, "{branch}");
    }
}

#[test]
fn the_interface_answers_a_thought_that_is_not_sent_to_the_environment() {
    let mut spec = spec_with_tasks(1);
    spec.settings.set("thoughts_sent", false, crate::domain::SettingOrigin::BuiltIn);
    let mut harness = Harness::with_spec(spec);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room."));
    harness.reply_as_actor("think: hm");
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
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room."));
    harness.reply_as_actor("win");
    harness.reply_as_env(won_result("You win."));
    assert!(harness.state().run_over);
    let task = harness.state().episode.as_ref().unwrap().task.clone();
    harness.command(Command::BeginEpisode(Box::new(task))).unwrap();
    harness.reply_as_env(step_result("A room."));
    assert_eq!(harness.state().episode.as_ref().unwrap().trial, 2);
}

#[test]
fn loading_a_pool_is_not_an_intervention_and_cannot_be_undone() {
    let mut harness = Harness::new();
    let command = LessonCommand::add(
        ReflectionKind::Error,
        Scope::Environment,
        LessonText::plain("Heat food in a microwave only."),
        String::new(),
    );
    // The same lesson twice.
    let pool = vec![("pool.jsonl".to_owned(), command.clone()), ("pool.jsonl".to_owned(), command)];
    let spec = Box::new(spec_with_tasks(1));
    harness
        .command(Command::Start {
            session: "s".to_owned(),
            spec,
            pool,
            replay_start: None,
            breakpoints: Vec::new(),
        })
        .unwrap();
    let ids: Vec<_> = harness.state().pool.all().map(|l| l.id.clone()).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1], "two equal lessons have different ids");
    assert!(harness.command(Command::Undo).is_err());
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room."));
    assert_eq!(harness.state().last_step().unwrap().lesson_count, 2);
    assert!(!harness.state().episode.as_ref().unwrap().assisted);
}

/// Regression: a lesson that a person added while a draft waited was missing from the prompt that was then sent.
#[test]
fn a_lesson_added_while_a_draft_waits_is_in_the_new_draft() {
    let mut harness = with_proposal("look");
    harness.command(Command::StepStage).unwrap();
    harness.reply_as_env(step_result("You see."));
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

/// Regression: an episode wasn't assisted if a person only asked the actor again, or had added a lesson between
/// episodes.
#[test]
fn asking_again_and_lessons_of_a_person_make_an_episode_assisted() {
    let mut harness = with_proposal("look");
    harness.command(Command::AskAgain).unwrap();
    assert!(harness.state().episode.as_ref().unwrap().assisted);
    let mut harness = Harness::with_tasks(2);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room."));
    harness.reply_as_actor("win");
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(won_result("You win."));
    harness.command(add_lesson("One.")).unwrap();
    assert!(!harness.state().ended_episodes.last().unwrap().assisted);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room."));
    assert!(harness.state().episode.as_ref().unwrap().assisted, "its prompt contains a person's lesson");
}

/// Regression: a Progress lesson that was reworded every few steps still named the step at which it was added.
#[test]
fn an_edited_lesson_names_the_step_of_its_edit() {
    let mut harness = with_proposal("look");
    harness.command(add_lesson("One.")).unwrap();
    let before = harness.state().pool.by_number(1).unwrap().clone();
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("You see."));
    harness.reply_as_actor("wait");
    harness
        .command(Command::Lesson(LessonCommand::Edit {
            id: before.id.clone(),
            text: LessonText::plain("Two."),
        }))
        .unwrap();
    let after = harness.state().pool.by_number(1).unwrap();
    // (episode, step that was open)
    assert_eq!((before.worded_at(), after.worded_at()), ((1, 1), (1, 2)));
    assert_eq!(after.learnt_at, (1, 1), "its origin stays");
}
