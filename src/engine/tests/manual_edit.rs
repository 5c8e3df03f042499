//! Manual edits other than lesson edits.

use super::fixture::{TestEngine, event_names, run_spec, sample_failure, step_result};
use crate::domain::{EndReason, ReflectionKind};
use crate::engine::{Command, Event, Reply};

#[test]
fn a_run_can_be_changed_only_between_calls() {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room. Your task is to: rest."));
    let mut other = run_spec(1, 50);
    "other".clone_into(&mut other.method);
    let error = harness.command(Command::ChangeRun(Box::new(other.clone()))).unwrap_err();
    assert!(error.message.contains("during a model call"), "{error:?}");
    harness.answer_actor("look");
    let events = harness.command(Command::ChangeRun(Box::new(other.clone()))).unwrap();
    assert_eq!(event_names(&events), ["run_changed", "memory_set"]);
    assert_eq!(harness.state().run.as_deref(), Some(&other));
    assert!(harness.state().episode.as_ref().unwrap().assisted);
    assert!(harness.state().step_awaiting_decision().is_some(), "the proposal is still waiting");
    let mut same_method = other.clone();
    "m".clone_into(&mut same_method.actor);
    let events = harness.command(Command::ChangeRun(Box::new(same_method))).unwrap();
    assert!(matches!(events.as_slice(), [Event::RunChanged { .. }]), "the memory is kept");
}

#[test]
fn sampling_parameters_need_a_model_and_enter_its_next_prompt() {
    use crate::domain::ModelRole;
    use serde_json::{Value, json};
    let set = |name: &str, value: Value| Command::ChangeSetting { name: name.to_owned(), value };
    let mut harness = with_answered_step();
    let switch_to = |harness: &mut TestEngine, actor: &str, mentor: &str| {
        let mut other = run_spec(1, 50);
        actor.clone_into(&mut other.actor);
        mentor.clone_into(&mut other.mentor);
        harness.command(Command::ChangeRun(Box::new(other))).unwrap();
    };
    let cases = [
        ("actor.temperature", json!(0.7), "rules", "no sampling parameters"),
        ("actor.seed", json!(false), "rules", "no sampling parameters"),
        ("actor.top_p", json!(0.7), "recorded:s", "as it was recorded"),
        ("mentor.top_p", json!(0.7), "rules", "call no model"),
        ("actor.temprature", json!(0.7), "openai:m", "not a sampling parameter"),
        ("actor.base_url", json!("http://h"), "openai:m", "not a sampling parameter"),
        ("actor.temperature", json!("hot"), "openai:m", "actor.temperature"),
    ];
    for (name, value, actor, reason) in cases {
        switch_to(&mut harness, actor, "symbolic");
        let error = harness.command(set(name, value)).unwrap_err();
        assert!(error.message.contains(reason), "{name} of {actor}: {error:?}");
        switch_to(&mut harness, "another", "none");
    }
    switch_to(&mut harness, "openai:m", "symbolic");
    harness.command(Command::StepStage).unwrap();
    let drafted = harness.state().draft.clone().unwrap();
    assert!(drafted.sampling.is_empty());
    harness.command(set("actor.temperature", json!(0.7))).unwrap();
    harness.command(set("actor.seed", json!(9))).unwrap();
    // Nothing has used it yet, so it can be undone and redone.
    assert_eq!(event_names(&harness.command(Command::Undo).unwrap())[0], "taken_back");
    assert_eq!(harness.state().run.as_ref().unwrap().settings.seed_override(ModelRole::Actor), None);
    assert_eq!(event_names(&harness.command(Command::Redo).unwrap())[0], "made_again");
    harness.command(Command::Step).unwrap();
    let sent = harness.state().actor_prompts.0.clone().unwrap();
    assert_eq!(Value::Object(sent.sampling.clone()), json!({"temperature": 0.7, "seed": true}));
    assert_ne!(sent.seed, drafted.seed, "a waiting prompt is drafted again");
    assert_eq!(sent.seed, crate::engine::request_seed(9, 1, sent.step, ModelRole::Actor, 0));
    let description = harness.state().run.as_ref().unwrap().describe_request_sampling(&sent, &[]).unwrap();
    assert!(
        description.contains("temperature 0.7 (by a person)") && description.contains("its profile"),
        "{description}"
    );
    assert!(harness.command(Command::Undo).unwrap_err().seq.is_some(), "a prompt has used it");
}

/// Returns an engine whose first step is answered and whose second prompt has not been drafted.
fn with_answered_step() -> TestEngine {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room. Your task is to: rest."));
    harness.answer_actor("think: I could look.");
    harness.command(Command::StepStage).unwrap();
    harness.answer_world(step_result("OK."));
    harness
}

fn edit_thought(step: u32, text: &str) -> Command {
    Command::EditThought { step, text: text.to_owned() }
}

fn edit_observation(step: u32, text: &str) -> Command {
    Command::EditObservation { step, text: text.to_owned() }
}

#[test]
fn an_edited_thought_is_what_runs() {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room. Your task is to: rest."));
    harness.answer_actor("think: I could look.");
    assert_eq!(event_names(&harness.command(edit_thought(1, " I look. ")).unwrap()), ["thought_edited"]);
    assert!(harness.command(edit_thought(1, "I look.")).unwrap().is_empty(), "the same text is no change");
    assert!(harness.command(edit_thought(1, "  ")).is_err());
    assert!(harness.command(edit_thought(2, "x")).is_err());
    assert!(harness.command(edit_observation(1, "x")).unwrap_err().message.contains("no observation yet"));
    let step = harness.state().last_step().unwrap();
    assert_eq!((step.thought.as_deref(), step.thought_edited), (Some("I look."), true));
    assert!(harness.state().episode.as_ref().unwrap().assisted);
    assert_eq!(event_names(&harness.command(Command::Undo).unwrap()), ["taken_back"]);
    let step = harness.state().last_step().unwrap();
    assert_eq!((step.thought.as_deref(), step.thought_edited), (Some("I could look."), false));
    assert_eq!(event_names(&harness.command(Command::Redo).unwrap()), ["made_again"]);
    harness.command(Command::StepStage).unwrap();
    let step = harness.state().last_step().unwrap();
    assert_eq!(step.action(), Some("think: I look."), "the environment is sent the edited thought");
}

#[test]
fn an_answered_step_can_be_edited_until_a_prompt_shows_it() {
    let mut harness = with_answered_step();
    harness.command(edit_observation(1, "There is a lamp.")).unwrap();
    harness.command(edit_thought(1, "I am careful.")).unwrap();
    let step = harness.state().last_step().unwrap();
    assert_eq!((step.observation(), step.is_observation_edited()), (Some("There is a lamp."), true));
    assert_eq!(step.answer.as_ref().unwrap().raw, "OK.");
    let executed = step.executed.as_ref().unwrap();
    assert_eq!(
        (executed.action.as_str(), executed.sent.as_deref()),
        ("think: I am careful.", Some("think: I could look.")),
        "a rebuilt environment is sent the original thought"
    );
    harness.command(Command::Undo).unwrap();
    harness.command(Command::Undo).unwrap();
    let step = harness.state().last_step().unwrap();
    assert_eq!((step.observation(), step.is_observation_edited()), (Some("OK."), false));
    assert_eq!(step.action(), Some("think: I could look."));
    harness.command(Command::Redo).unwrap();
    // A prompt has shown the step, so it can be edited only on a fork from before that prompt.
    let answered = harness.state().last_step().unwrap().answered_seq;
    harness.command(Command::Step).unwrap();
    for edit in [edit_observation(1, "x"), edit_thought(1, "x")] {
        let error = harness.command(edit).unwrap_err();
        assert_eq!(error.seq.unwrap().0, answered.0 + 1, "{error:?}");
    }
    assert!(harness.command(Command::Undo).unwrap_err().seq.is_some());
    assert!(harness.command(Command::Redo).unwrap_err().seq.is_some(), "a prompt has already used it");
}

#[test]
fn settings_autonomy_remarks_and_drafts_are_undone_one_by_one() {
    let mut harness = with_answered_step();
    let set = |name: &str, value: serde_json::Value| Command::ChangeSetting { name: name.to_owned(), value };
    let before = harness.state().clone();
    harness.command(set("max_steps", 9.into())).unwrap();
    harness.command(set("max_moves", 3.into())).unwrap();
    harness.command(set("own", "x".into())).unwrap();
    harness.command(Command::SetAutonomy(crate::domain::Autonomy::Confirm)).unwrap();
    harness.command(Command::Remark { step: 1, text: "odd".to_owned() }).unwrap();
    harness.command(Command::Remark { step: 0, text: "odd".to_owned() }).unwrap();
    let changed = harness.state().clone();
    for _ in 0..6 {
        assert_eq!(event_names(&harness.command(Command::Undo).unwrap()), ["taken_back"]);
    }
    assert!(harness.command(Command::Undo).is_err());
    let state = harness.state();
    assert_eq!((&state.run, state.autonomy, &state.remarks), (&before.run, before.autonomy, &before.remarks));
    assert!(state.last_step().unwrap().remarks.is_empty());
    for _ in 0..6 {
        harness.command(Command::Redo).unwrap();
    }
    let state = harness.state();
    assert_eq!(
        (&state.run, state.autonomy, &state.remarks),
        (&changed.run, changed.autonomy, &changed.remarks)
    );
    assert_eq!(state.last_step().unwrap().remarks, ["odd"]);
    // The edit of a draft.
    harness.command(Command::SetAutonomy(crate::domain::Autonomy::Auto)).unwrap();
    harness.command(Command::StepStage).unwrap();
    let draft = harness.state().draft.clone();
    assert!(draft.is_some());
    harness.command(Command::EditPrompt { call: None, segment: 0, text: "other".to_owned() }).unwrap();
    assert!(harness.state().draft != draft);
    harness.command(Command::Undo).unwrap();
    assert_eq!(harness.state().draft, draft);
    harness.command(Command::Redo).unwrap();
    assert!(harness.state().draft.as_ref().unwrap().edited);
    // Another change drafts the prompt again, which discards the edit.
    harness.command(set("max_steps", 8.into())).unwrap();
    harness.command(Command::Undo).unwrap();
    assert_eq!(event_names(&harness.command(Command::Undo).unwrap()), ["taken_back"], "the autonomy change");
}

#[test]
fn an_executed_action_cannot_be_undone_but_offers_a_fork() {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room. Your task is to: rest."));
    harness.answer_actor("look");
    let events = harness
        .command(Command::Override {
            action: "jump".to_owned(),
            shown_as: crate::domain::ShownAs::AgentAction,
            thought_disposition: crate::domain::ThoughtDisposition::Kept,
        })
        .unwrap();
    assert_eq!(event_names(&events)[0], "action_overridden");
    let target_seq =
        harness.journal.iter().find(|e| matches!(e.event, Event::ActionOverridden { .. })).unwrap().seq;
    let error = harness.command(Command::Undo).unwrap_err();
    assert_eq!(error.seq, Some(target_seq));
    assert!(error.hint.contains("go back"));
}

#[test]
fn breakpoint_changes_are_undone_before_an_older_remark() {
    let mut harness = with_answered_step();
    harness.command(Command::Remark { step: 0, text: "odd".to_owned() }).unwrap();
    harness.command(Command::SetBreakpoint { text: "proposed".to_owned(), replaces: None }).unwrap();
    harness.command(Command::SwitchBreakpoint { breakpoint: 1, enabled: false }).unwrap();
    harness.command(Command::RemoveBreakpoint(1)).unwrap();
    let enabled = |harness: &TestEngine| harness.state().breakpoints.get(1).map(|b| b.enabled);
    for expected in [Some(false), Some(true), None] {
        assert_eq!(event_names(&harness.command(Command::Undo).unwrap()), ["taken_back"]);
        assert_eq!(enabled(&harness), expected);
    }
    assert_eq!(harness.state().remarks.len(), 1);
    for expected in [Some(true), Some(false), None] {
        assert_eq!(event_names(&harness.command(Command::Redo).unwrap()), ["made_again"]);
        assert_eq!(enabled(&harness), expected);
    }
}

#[test]
fn undo_after_an_irreversible_action_fails_and_undoes_nothing_older() {
    let mut spec = run_spec(1, 50);
    spec.method = "another".to_owned();
    let fail_call = |harness: &mut TestEngine| {
        harness.command(Command::Step).unwrap();
        let (call, _) = harness.first_call().unwrap();
        harness.reply(Reply::Failed { call, failure: sample_failure() });
    };
    let ask = |harness: &mut TestEngine| drop(harness.command(Command::Step).unwrap());
    let propose = |harness: &mut TestEngine| {
        harness.command(Command::Step).unwrap();
        harness.answer_actor("look");
    };
    let diverge = |harness: &mut TestEngine| {
        let (recorded, actual) = ("OK.".to_owned(), "No.".to_owned());
        harness.reply(Reply::Diverged { episode: 1, step: 1, recorded, actual });
    };
    let end_episode =
        |harness: &mut TestEngine| drop(harness.command(Command::EndEpisode(EndReason::Person)).unwrap());
    let templates = Command::ChangeSetting { name: "templates".to_owned(), value: "other".into() };
    let task = spec.tasks[0].clone();
    let preparations: [&dyn Fn(&mut TestEngine); 9] =
        [&|_| (), &|_| (), &ask, &propose, &|_| (), &fail_call, &diverge, &end_episode, &|_| ()];
    let actions = [
        (Command::ChangeRun(Box::new(spec)), "run_changed", "the run was changed"),
        (Command::EndEpisode(EndReason::Person), "episode_ended", "the episode was ended"),
        (Command::AskAgain, "call_cancelled", "a model call was cancelled"),
        (Command::AskAgain, "asked_again", "the agent was asked again"),
        (templates, "setting_changed", "the prompt templates were replaced"),
        (Command::RetryFromRecording("cache".to_owned()), "retried", "a recorded reply replaced"),
        (Command::Retry, "retried", "the environment's new answer was accepted"),
        (Command::BeginEpisode(Box::new(task)), "episode_started", "an episode was started"),
        (Command::EndRun, "run_ended", "the run was ended"),
    ];
    for (prepare, (command, name, description)) in preparations.iter().zip(actions) {
        let mut harness = with_answered_step();
        prepare(&mut harness);
        harness.command(Command::Remark { step: 0, text: "odd".to_owned() }).unwrap();
        harness.command(command).unwrap();
        let has_name = |e: &&crate::engine::Envelope| event_names(std::slice::from_ref(&e.event)) == [name];
        let target_seq = harness.journal.iter().rev().find(has_name).unwrap().seq;
        let error = harness.command(Command::Undo).unwrap_err();
        assert!(error.message.contains(description), "{error:?}");
        assert_eq!(error.seq, Some(target_seq), "a fork before it is offered");
        assert_eq!(harness.state().remarks.len(), 1);
    }
    // A mentor call can't be undone either.
    let mut harness = TestEngine::with_mentor(1, 50);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room. Your task is to: rest."));
    harness.answer_actor("look");
    harness.command(Command::Remark { step: 0, text: "odd".to_owned() }).unwrap();
    harness.command(Command::Reflect(ReflectionKind::Error)).unwrap();
    assert!(harness.command(Command::Undo).unwrap_err().message.contains("the mentor was called"));
}
