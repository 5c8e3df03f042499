//! Retries of failed calls after changes of their settings or prompts.

use super::fixture::{Harness, event_names, sample_failure, spec_with_tasks, step_result};
use crate::domain::{CallId, LessonText, ModelRole, PromptRecord, ReflectionKind, with_model};
use crate::engine::{Command, Effect, Event, LessonCommand, Reply};
use serde_json::{Value, json};

fn set_setting(name: &str, value: Value) -> Command {
    Command::ChangeSetting { name: name.to_owned(), value }
}

fn edit_prompt(call: CallId, text: &str) -> Command {
    Command::EditPrompt { call: Some(call), segment: 0, text: text.to_owned() }
}

fn fail_first_call(harness: &mut Harness) -> CallId {
    let (call, _) = harness.first_call().unwrap();
    harness.reply(Reply::Failed { call, failure: sample_failure() });
    call
}

/// Returns a harness whose first call to the actor has failed. Its prompt contains a lesson, and a person set its
/// temperature to 0.7.
fn with_failed_call() -> (Harness, CallId) {
    let mut spec = spec_with_tasks(1);
    "openai:m".clone_into(&mut spec.actor);
    let mut harness = Harness::with_spec(spec);
    let command = LessonCommand::add(
        ReflectionKind::Error,
        ReflectionKind::Error.default_scope(),
        LessonText::plain("Rest."),
        String::new(),
    );
    harness.command(Command::Lesson(command)).unwrap();
    harness.command(set_setting("actor.temperature", json!(0.7))).unwrap();
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    let call = fail_first_call(&mut harness);
    (harness, call)
}

/// Returns a harness in which both calls of a round of questions to the mentor have failed.
fn with_failed_round() -> (Harness, Vec<CallId>) {
    let mut harness = Harness::with_mentor_calls();
    let calls = (0..2).map(|_| fail_first_call(&mut harness)).collect();
    (harness, calls)
}

fn switch_to_model_with_profile(harness: &mut Harness) {
    let provider = "openai:o3 profile openai-reasoning";
    let other = with_model(harness.state().run.as_deref().unwrap(), ModelRole::Actor, provider).unwrap();
    harness.command(Command::ChangeRun(Box::new(other))).unwrap();
}

fn prompt_in_flight(harness: &Harness, call: CallId) -> PromptRecord {
    match harness.state().calls.get(&call) {
        Some(Effect::Ask { prompt, .. }) => (**prompt).clone(),
        other => panic!("{call:?} is not in flight: {other:?}"),
    }
}

/// Regression: a failed call kept its sampling parameters. Neither a retry nor an edit of its prompt used settings that
/// had changed since.
#[test]
fn a_retried_call_uses_the_current_sampling() {
    let (mut harness, call) = with_failed_call();
    let previous = harness.state().waiting_prompt(call).cloned().unwrap();
    assert_eq!(Value::Object(previous.sampling.clone()), json!({"temperature": 0.7}));
    harness.command(set_setting("actor.max_tokens", json!(64))).unwrap();
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["prompt_sent"]);
    let retried = prompt_in_flight(&harness, call);
    assert_eq!(Value::Object(retried.sampling.clone()), json!({"temperature": 0.7, "max_tokens": 64}));
    assert_eq!(
        PromptRecord { sampling: previous.sampling.clone(), ..retried.clone() },
        *previous,
        "only the sampling has changed"
    );
    assert!(
        harness.state().actor_prompts.1.is_none(),
        "a prompt with the same text doesn't become the previous prompt"
    );
    // Nothing has changed since the prompt was sent, so it is retried unchanged.
    fail_first_call(&mut harness);
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["retried"]);
    fail_first_call(&mut harness);
    harness.command(set_setting("actor.seed", json!(9))).unwrap();
    harness.command(edit_prompt(call, "Be brief.")).unwrap();
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["prompt_sent"]);
    let edited = prompt_in_flight(&harness, call);
    // `true` means that a seed is sent. It is derived from the setting and stored in `seed`.
    assert!(edited.edited && edited.seed != retried.seed && edited.sampling["seed"] == json!(true));
    assert_eq!(edited.seed, crate::engine::request_seed(9, 1, 1, ModelRole::Actor, 0));
    // Switching to a model with its own profile drops the sampling that was set for the previous model.
    fail_first_call(&mut harness);
    switch_to_model_with_profile(&mut harness);
    assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), ["prompt_sent"]);
    let switched = prompt_in_flight(&harness, call);
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
        assert_eq!(Value::Object(prompt_in_flight(&harness, call).sampling), json!({"temperature": 0.2}));
    }
}

/// Regression: one retry both accepted the divergence and called the model.
#[test]
fn a_retry_accepts_a_divergence_without_calling_the_model() {
    for prompt_edited in [false, true] {
        let (mut harness, call) = with_failed_call();
        if prompt_edited {
            harness.command(edit_prompt(call, "Be brief.")).unwrap();
        }
        let (recorded, actual) = ("OK.".to_owned(), "No.".to_owned());
        harness.reply(Reply::Diverged { episode: 1, step: 0, recorded, actual });
        let error = harness.command(Command::RetryFromRecording("cache".to_owned())).unwrap_err();
        assert!(error.message.contains("decide about that first"), "{error:?}");
        let events = harness.command(Command::Retry).unwrap();
        assert_eq!(
            events,
            [Event::Retried { call: None, reply_source: None }],
            "prompt_edited: {prompt_edited}"
        );
        let state = harness.state();
        assert!(state.divergence.is_none() && state.calls.is_empty() && state.failed_call.is_some());
        let name = if prompt_edited { "prompt_sent" } else { "retried" };
        assert_eq!(event_names(&harness.command(Command::Retry).unwrap()), [name]);
        assert!(harness.state().calls.contains_key(&call));
    }
}

/// Regression: a retry was counted as another call if the prompt had been edited, but not if it was unchanged.
#[test]
fn a_retried_call_is_counted_once_even_if_its_prompt_was_edited() {
    // (calls of the episode, calls to the actor, calls to the mentor, uses of lessons)
    let counts = |harness: &Harness| {
        let state = harness.state();
        let uses = state.pool.all().map(|l| l.uses).sum::<u32>();
        (state.open_episode().unwrap().calls, state.usage.actor_calls, state.usage.mentor_calls, uses)
    };
    let (mut harness, call) = with_failed_call();
    let before = counts(&harness);
    assert_eq!(before, (1, 1, 0, 1));
    let changes =
        [None, Some(set_setting("actor.max_tokens", json!(64))), Some(edit_prompt(call, "Be brief."))];
    for change in changes {
        let case = format!("{change:?}");
        change.map(|command| harness.command(command).unwrap());
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
    switch_to_model_with_profile(&mut harness);
    let retry_from_cache = || Command::RetryFromRecording("cache".to_owned());
    assert_eq!(event_names(&harness.command(retry_from_cache()).unwrap()), ["prompt_sent", "retried"]);
    assert!(prompt_in_flight(&harness, call).sampling.is_empty());
    assert_eq!(harness.state().reply_override(call), Some("cache"));
    assert!(harness.command(Command::Undo).unwrap_err().message.contains("a recorded reply replaced"));
    // Nothing has changed since, so the prompt isn't sent again.
    fail_first_call(&mut harness);
    assert_eq!(event_names(&harness.command(retry_from_cache()).unwrap()), ["retried"]);
}

/// Regression: while another prompt was drafted, the engine didn't check whether a failed call's prompt had been
/// edited.
#[test]
fn no_recorded_reply_answers_an_edited_prompt() {
    let mut harness = Harness::with_mentor(spec_with_tasks(1));
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.reply_as_actor("look");
    harness.command(Command::StepStage).unwrap();
    harness.reply_as_env(step_result("Fine."));
    harness.command(Command::StepStage).unwrap();
    let draft = harness.state().draft.clone().unwrap();
    assert_eq!(draft.role, ModelRole::Actor);
    harness.command(Command::Reflect(ReflectionKind::Error)).unwrap();
    let call = fail_first_call(&mut harness);
    // Gives the actor's waiting draft an unused call id, so that it can't be taken for the failed call's prompt.
    let draft = std::sync::Arc::new(PromptRecord { call: CallId(99), ..(*draft).clone() });
    harness.engine.state.draft = Some(draft.clone());
    harness.command(edit_prompt(call, "Be brief.")).unwrap();
    let retry_from_cache = || Command::RetryFromRecording("cache".to_owned());
    let error = harness.command(retry_from_cache()).unwrap_err();
    assert!(error.message.contains("an edited prompt"), "{error:?}");
    harness.command(Command::Undo).unwrap();
    // An edit of the draft doesn't change the failed call's prompt, so a recorded reply is allowed.
    harness.command(edit_prompt(draft.call, "Be kind.")).unwrap();
    assert!(harness.state().draft.as_ref().unwrap().edited);
    assert_eq!(event_names(&harness.command(retry_from_cache()).unwrap()), ["retried"]);
}

/// Regression: a retry after an unusable reply wasn't counted as a call.
#[test]
fn a_retry_is_counted_as_a_call_only_after_an_unusable_reply() {
    type Action = fn(&mut Harness);
    // An empty reply has no action, so its call fails as unusable.
    let empty_reply: Action = |harness| drop(harness.reply_as_actor(""));
    let fail: Action = |harness| {
        fail_first_call(harness);
    };
    let retry: Action = |harness| drop(harness.command(Command::Retry).unwrap());
    let edit: Action = |harness| {
        let call = harness.state().waiting_prompts().next().unwrap().call;
        drop(harness.command(edit_prompt(call, "Be brief.")).unwrap());
    };
    let ask_again: Action = |harness| drop(harness.command(Command::AskAgain).unwrap());
    let reply: Action = |harness| drop(harness.reply_as_actor("look"));
    let cancel: Action = |harness| drop(harness.command(Command::Cancel).unwrap());
    // (actions, expected number of calls)
    let cases: [(&[Action], u32); 7] = [
        (&[reply], 1),
        (&[fail, retry, fail, retry, reply], 1),
        (&[empty_reply, retry, reply], 2),
        (&[empty_reply, edit, retry, reply], 2),
        (&[empty_reply, retry, fail, retry, empty_reply, retry, reply], 3),
        (&[reply, ask_again, empty_reply, retry, empty_reply, retry, reply], 4),
        (&[cancel, ask_again, reply], 2),
    ];
    for (n, (actions, expected)) in cases.into_iter().enumerate() {
        let mut harness = Harness::with_tasks(1);
        harness.command(Command::Step).unwrap();
        harness.reply_as_env(step_result("A room. Your task is to: rest."));
        for action in actions {
            action(&mut harness);
        }
        let state = harness.state();
        let counted = (state.open_episode().unwrap().calls, state.usage.actor_calls);
        assert_eq!(counted, (expected, u64::from(expected)), "case {n}");
    }
}

/// Regression: a step whose environment had crashed ended before the next proposal when it was retried, so that the step on
/// screen was one behind.
#[test]
fn a_retried_step_of_a_crashed_environment_goes_on_to_the_next_proposal() {
    for is_running in [false, true] {
        let mut harness = Harness::with_tasks(1);
        let go = if is_running { Command::Run } else { Command::Step };
        harness.command(go.clone()).unwrap();
        let reset = fail_first_call(&mut harness);
        let retried = harness.command(Command::Retry).unwrap();
        assert_eq!(event_names(&retried), ["retried", "step_granted"]);
        assert_eq!(harness.first_call().unwrap().0, reset);
        harness.reply_as_env(step_result("A room. Your task is to: rest."));
        harness.reply_as_actor("look");
        assert!(harness.state().step_awaiting_decision().is_some_and(|step| step.number == 1));
        harness.command(go).unwrap();
        fail_first_call(&mut harness);
        harness.command(Command::Retry).unwrap();
        harness.reply_as_env(step_result("A bed."));
        harness.reply_as_actor("rest");
        assert!(harness.state().is_waiting());
        assert!(harness.state().step_awaiting_decision().is_some_and(|step| step.number == 2));
    }
}
