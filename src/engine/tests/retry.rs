//! Retries of failed calls, with the settings and edits made since.

use super::fixture::{TestEngine, event_names, run_spec, sample_failure, step_result};
use crate::domain::{CallId, LessonText, ModelRole, PromptRecord, ReflectionKind};
use crate::engine::{Command, Effect, Event, LessonCommand, Reply, with_model};
use serde_json::{Value, json};

fn set_setting(name: &str, value: Value) -> Command {
    Command::ChangeSetting { name: name.to_owned(), value }
}

fn edit_prompt(call: CallId, text: &str) -> Command {
    Command::EditPrompt { call: Some(call), segment: 0, text: text.to_owned() }
}

fn fail_first_call(harness: &mut TestEngine) -> CallId {
    let (call, _) = harness.first_call().unwrap();
    harness.reply(Reply::Failed { call, failure: sample_failure() });
    call
}

/// Returns a harness whose first call to a model has failed.
fn with_failed_call() -> (TestEngine, CallId) {
    let mut run = run_spec(1, 50);
    "openai:m".clone_into(&mut run.actor);
    let mut harness = TestEngine::with_spec(run);
    let command = LessonCommand::add(
        ReflectionKind::Error,
        ReflectionKind::Error.default_scope(),
        LessonText::plain("Rest."),
        String::new(),
    );
    harness.command(Command::Lesson(command)).unwrap();
    harness.command(set_setting("actor.temperature", json!(0.7))).unwrap();
    harness.command(Command::Run).unwrap();
    harness.answer_world(step_result("A room. Your task is to: rest."));
    let call = fail_first_call(&mut harness);
    (harness, call)
}

/// Returns a harness in which all questions of a mentor round have failed.
fn with_failed_round() -> (TestEngine, Vec<CallId>) {
    let mut harness = TestEngine::with_mentor_calls();
    let calls = (0..2).map(|_| fail_first_call(&mut harness)).collect();
    (harness, calls)
}

fn asked_prompt(harness: &TestEngine, call: CallId) -> PromptRecord {
    match harness.state().calls.get(&call) {
        Some(Effect::Ask { prompt, .. }) => (**prompt).clone(),
        other => panic!("{call:?} is not asked: {other:?}"),
    }
}

/// Regression: the record of a failed call was frozen, so neither `retry` nor an edit used settings changed since.
#[test]
fn a_retried_call_uses_the_current_sampling() {
    let (mut harness, call) = with_failed_call();
    let previous = harness.state().waiting_prompt(call).cloned().unwrap();
    assert_eq!(Value::Object(previous.sampling.clone()), json!({"temperature": 0.7}));
    harness.command(set_setting("actor.max_tokens", json!(64))).unwrap();
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["prompt_sent"]);
    let retried = asked_prompt(&harness, call);
    assert_eq!(Value::Object(retried.sampling.clone()), json!({"temperature": 0.7, "max_tokens": 64}));
    assert_eq!(
        PromptRecord { sampling: previous.sampling.clone(), ..retried.clone() },
        *previous,
        "nothing else is new"
    );
    assert!(harness.state().actor_prompts.1.is_none(), "the same text isn't compared with itself");
    // Nothing has changed since it was sent, so the same call is repeated.
    fail_first_call(&mut harness);
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["retried"]);
    fail_first_call(&mut harness);
    harness.command(set_setting("actor.seed", json!(9))).unwrap();
    harness.command(edit_prompt(call, "Be brief.")).unwrap();
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["prompt_sent"]);
    let edited = asked_prompt(&harness, call);
    assert!(edited.edited && edited.seed != retried.seed && edited.sampling["seed"] == json!(true));
    assert_eq!(edited.seed, crate::engine::request_seed(9, 1, 1, ModelRole::Actor, 0));
    // A model with its own profile drops the sampling that was set for the previous model.
    fail_first_call(&mut harness);
    let provider = "openai:o3 profile openai-reasoning";
    let other = with_model(harness.state().run.as_deref().unwrap(), ModelRole::Actor, provider);
    harness.command(Command::ChangeRun(Box::new(other))).unwrap();
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["prompt_sent"]);
    let switched = asked_prompt(&harness, call);
    assert!(
        switched.sampling.is_empty() && switched.edited && switched.sha256 == edited.sha256,
        "{switched:?}"
    );
    assert_eq!(switched.seed, previous.seed);
}

#[test]
fn every_retried_call_of_a_round_uses_the_current_sampling() {
    let (mut harness, calls) = with_failed_round();
    harness.command(set_setting("mentor.temperature", json!(0.2))).unwrap();
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["prompt_sent", "prompt_sent"]);
    for call in calls {
        assert_eq!(Value::Object(asked_prompt(&harness, call).sampling), json!({"temperature": 0.2}));
    }
}

/// Regression: one retry both settled the divergence and called the model.
#[test]
fn a_retry_calls_no_model_while_the_environment_diverges() {
    for changed in [false, true] {
        let (mut harness, call) = with_failed_call();
        if changed {
            harness.command(edit_prompt(call, "Be brief.")).unwrap();
        }
        let (recorded, actual) = ("OK.".to_owned(), "No.".to_owned());
        harness.reply(Reply::Diverged { episode: 1, step: 0, recorded, actual });
        let error = harness.command(Command::RetryFromRecording("cache".to_owned())).unwrap_err();
        assert!(error.message.contains("settle that first"), "{error:?}");
        let events = harness.command(Command::Retry).unwrap();
        assert_eq!(events, [Event::Retried { call: None, reply_source: None }], "changed: {changed}");
        let state = harness.state();
        assert!(state.divergence.is_none() && state.calls.is_empty() && state.failed_call.is_some());
        let name = if changed { "prompt_sent" } else { "retried" };
        assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), [name]);
        assert!(harness.state().calls.contains_key(&call));
    }
}

/// Regression: a retried call counted again if its text was edited, but not if it was unchanged.
#[test]
fn a_retried_call_counts_once_even_if_edited() {
    let counts = |harness: &TestEngine| {
        let state = harness.state();
        let uses = state.pool.all().map(|l| l.uses).sum::<u32>();
        (state.open_episode().unwrap().calls, state.usage.actor_calls, state.usage.mentor_calls, uses)
    };
    let (mut harness, call) = with_failed_call();
    let before = counts(&harness);
    assert_eq!(before, (1, 1, 0, 1));
    let actions =
        [None, Some(set_setting("actor.max_tokens", json!(64))), Some(edit_prompt(call, "Be brief."))];
    for action in actions {
        let case = format!("{action:?}");
        action.map(|action| harness.command(action).unwrap());
        harness.command(Command::Retry).unwrap();
        assert_eq!(counts(&harness), before, "{case}");
        fail_first_call(&mut harness);
    }
    let (mut harness, calls) = with_failed_round();
    let before = counts(&harness);
    harness.command(edit_prompt(calls[1], "Be brief.")).unwrap();
    harness.command(Command::Retry).unwrap();
    assert_eq!(counts(&harness), before);
}

/// Regression: after a switch to a model with its own profile, a cached reply was looked up with the old sampling.
#[test]
fn a_recorded_reply_is_looked_up_with_the_current_sampling() {
    let (mut harness, call) = with_failed_call();
    let other = with_model(harness.state().run.as_deref().unwrap(), ModelRole::Actor, "openai:o profile far");
    harness.command(Command::ChangeRun(Box::new(other))).unwrap();
    let retry_from_cache = || Command::RetryFromRecording("cache".to_owned());
    assert_eq!(event_names(&harness.command(retry_from_cache()).unwrap()), ["prompt_sent", "retried"]);
    assert!(asked_prompt(&harness, call).sampling.is_empty());
    assert_eq!(harness.state().reply_override(call), Some("cache"));
    assert!(harness.command(Command::Undo).unwrap_err().message.contains("a recorded reply replaced"));
    // Nothing has changed since, so no prompt is sent again.
    fail_first_call(&mut harness);
    assert_eq!(event_names(&harness.command(retry_from_cache()).unwrap()), ["retried"]);
}

/// Regression: a draft of another prompt disabled the check whether a failed call's text was edited.
#[test]
fn no_recorded_reply_answers_an_edited_prompt() {
    let mut harness = TestEngine::with_mentor(1, 50);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room. Your task is to: rest."));
    harness.answer_actor("look");
    harness.command(Command::StepStage).unwrap();
    harness.answer_world(step_result("Fine."));
    harness.command(Command::StepStage).unwrap();
    let draft = harness.state().draft.clone().unwrap();
    assert_eq!(draft.role, ModelRole::Actor);
    harness.command(Command::Reflect(ReflectionKind::Error)).unwrap();
    let call = fail_first_call(&mut harness);
    // Asking the mentor discards the actor's draft. Even if a draft is left, it must not disable the check.
    let draft = std::sync::Arc::new(PromptRecord { call: CallId(99), ..(*draft).clone() });
    harness.engine.state.draft = Some(draft.clone());
    harness.command(edit_prompt(call, "Be brief.")).unwrap();
    let retry_from_cache = || Command::RetryFromRecording("cache".to_owned());
    let error = harness.command(retry_from_cache()).unwrap_err();
    assert!(error.message.contains("an edited prompt"), "{error:?}");
    harness.command(Command::Undo).unwrap();
    // The edit of a waiting draft doesn't belong to any failed call.
    harness.command(edit_prompt(draft.call, "Be kind.")).unwrap();
    assert!(harness.state().draft.as_ref().unwrap().edited);
    assert_eq!(event_names(&harness.command(retry_from_cache()).unwrap()), ["retried"]);
}

/// Regression: five replies counted as four calls, because a retry after an unusable reply wasn't counted.
#[test]
fn each_requested_reply_counts_once() {
    type Action = fn(&mut TestEngine);
    let empty: Action = |harness| drop(harness.answer_actor(""));
    let fail: Action = |harness| {
        fail_first_call(harness);
    };
    let retry: Action = |harness| drop(harness.command(Command::Retry).unwrap());
    let edit: Action = |harness| {
        let call = harness.state().waiting_prompts().next().unwrap().call;
        drop(harness.command(edit_prompt(call, "Be brief.")).unwrap());
    };
    let ask_again: Action = |harness| drop(harness.command(Command::AskAgain).unwrap());
    let reply: Action = |harness| drop(harness.answer_actor("look"));
    let cancel: Action = |harness| drop(harness.command(Command::Cancel).unwrap());
    let cases: [(&[Action], u32); 7] = [
        (&[reply], 1),
        (&[fail, retry, fail, retry, reply], 1),
        (&[empty, retry, reply], 2),
        (&[empty, edit, retry, reply], 2),
        (&[empty, retry, fail, retry, empty, retry, reply], 3),
        (&[reply, ask_again, empty, retry, empty, retry, reply], 4),
        (&[cancel, ask_again, reply], 2),
    ];
    for (n, (actions, calls)) in cases.into_iter().enumerate() {
        let mut harness = TestEngine::started(1, 50);
        harness.command(Command::Step).unwrap();
        harness.answer_world(step_result("A room. Your task is to: rest."));
        for action in actions {
            action(&mut harness);
        }
        let state = harness.state();
        let counted = (state.open_episode().unwrap().calls, state.usage.actor_calls);
        assert_eq!(counted, (calls, u64::from(calls)), "case {n}");
    }
}
