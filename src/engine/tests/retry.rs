//! Calls that failed and are made again, as what was chosen meanwhile wants them.

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

fn fail_first_call(bench: &mut TestEngine) -> CallId {
    let (call, _) = bench.first_call().unwrap();
    bench.reply(Reply::Failed { call, failure: sample_failure() });
    call
}

/// A bench whose first question to a model has failed.
fn with_failed_call() -> (TestEngine, CallId) {
    let mut run = run_spec(1, 50);
    "openai:m".clone_into(&mut run.actor);
    let mut bench = TestEngine::with_spec(run);
    let wish = LessonCommand::add(
        ReflectionKind::Error,
        ReflectionKind::Error.default_scope(),
        LessonText::plain("Rest."),
        String::new(),
    );
    bench.command(Command::Lesson(wish)).unwrap();
    bench.command(set_setting("actor.temperature", json!(0.7))).unwrap();
    bench.command(Command::Run).unwrap();
    bench.answer_world(step_result("A room. Your task is to: rest."));
    let call = fail_first_call(&mut bench);
    (bench, call)
}

/// A bench of which all questions of a round to the mentor have failed.
fn with_failed_round() -> (TestEngine, Vec<CallId>) {
    let mut bench = TestEngine::with_mentor_calls();
    let calls = (0..2).map(|_| fail_first_call(&mut bench)).collect();
    (bench, calls)
}

fn asked_prompt(bench: &TestEngine, call: CallId) -> PromptRecord {
    match bench.state().calls.get(&call) {
        Some(Effect::Ask { prompt, .. }) => (**prompt).clone(),
        other => panic!("{call:?} is not asked: {other:?}"),
    }
}

/// Its record was frozen: neither `retry` nor other words took what was chosen since.
#[test]
fn a_failed_call_kept_its_old_sampling_for_ever() {
    let (mut bench, call) = with_failed_call();
    let was = bench.state().waiting_prompt(call).cloned().unwrap();
    assert_eq!(Value::Object(was.sampling.clone()), json!({"temperature": 0.7}));
    bench.command(set_setting("actor.max_tokens", json!(64))).unwrap();
    assert_eq!(event_names(&bench.command(Command::Retry).unwrap()), ["prompt_sent"]);
    let now = asked_prompt(&bench, call);
    assert_eq!(Value::Object(now.sampling.clone()), json!({"temperature": 0.7, "max_tokens": 64}));
    assert_eq!(PromptRecord { sampling: was.sampling.clone(), ..now.clone() }, *was, "nothing else is new");
    assert!(bench.state().actor_prompts.1.is_none(), "the same words are not compared with themselves");
    // As it was chosen when it was sent: the same call again.
    fail_first_call(&mut bench);
    assert_eq!(event_names(&bench.command(Command::Retry).unwrap()), ["retried"]);
    fail_first_call(&mut bench);
    bench.command(set_setting("actor.seed", json!(9))).unwrap();
    bench.command(edit_prompt(call, "Be brief.")).unwrap();
    assert_eq!(event_names(&bench.command(Command::Retry).unwrap()), ["prompt_sent"]);
    let edited = asked_prompt(&bench, call);
    assert!(edited.edited && edited.seed != now.seed && edited.sampling["seed"] == json!(true));
    assert_eq!(edited.seed, crate::engine::request_seed(9, 1, 1, ModelRole::Actor, 0));
    // Another model with a profile of its own: what was chosen for the one before it goes.
    fail_first_call(&mut bench);
    let words = "openai:o3 profile openai-reasoning";
    let other = with_model(bench.state().run.as_deref().unwrap(), ModelRole::Actor, words);
    bench.command(Command::ChangeRun(Box::new(other))).unwrap();
    assert_eq!(event_names(&bench.command(Command::Retry).unwrap()), ["prompt_sent"]);
    let there = asked_prompt(&bench, call);
    assert!(there.sampling.is_empty() && there.edited && there.sha256 == edited.sha256, "{there:?}");
    assert_eq!(there.seed, was.seed);
}

#[test]
fn each_failed_call_of_a_round_kept_its_old_sampling() {
    let (mut bench, calls) = with_failed_round();
    bench.command(set_setting("mentor.temperature", json!(0.2))).unwrap();
    assert_eq!(event_names(&bench.command(Command::Retry).unwrap()), ["prompt_sent", "prompt_sent"]);
    for call in calls {
        assert_eq!(Value::Object(asked_prompt(&bench, call).sampling), json!({"temperature": 0.2}));
    }
}

/// One word was two: the difference went with it, and a model was asked before anybody had decided on it.
#[test]
fn a_retry_asked_a_model_while_the_world_differed() {
    for changed in [false, true] {
        let (mut bench, call) = with_failed_call();
        if changed {
            bench.command(edit_prompt(call, "Be brief.")).unwrap();
        }
        let (recorded, now) = ("OK.".to_owned(), "No.".to_owned());
        bench.reply(Reply::Diverged { episode: 1, step: 0, recorded, actual: now });
        let refused = bench.command(Command::RetryFromRecording("cache".to_owned())).unwrap_err();
        assert!(refused.message.contains("comes first"), "{refused:?}");
        let said = bench.command(Command::Retry).unwrap();
        assert_eq!(said, [Event::Retried { call: None, reply_source: None }], "changed: {changed}");
        let state = bench.state();
        assert!(state.divergence.is_none() && state.calls.is_empty() && state.failed_call.is_some());
        let name = if changed { "prompt_sent" } else { "retried" };
        assert_eq!(event_names(&bench.command(Command::Retry).unwrap()), [name]);
        assert!(bench.state().calls.contains_key(&call));
    }
}

/// A call that was made again counted once more where its words were others, and not where they were the same.
#[test]
fn a_call_that_was_made_again_counted_twice_where_it_was_changed() {
    let counts = |bench: &TestEngine| {
        let state = bench.state();
        let uses = state.pool.all().map(|l| l.uses).sum::<u32>();
        (state.open_episode().unwrap().calls, state.usage.actor_calls, state.usage.mentor_calls, uses)
    };
    let (mut bench, call) = with_failed_call();
    let before = counts(&bench);
    assert_eq!(before, (1, 1, 0, 1));
    let deeds =
        [None, Some(set_setting("actor.max_tokens", json!(64))), Some(edit_prompt(call, "Be brief."))];
    for deed in deeds {
        let what = format!("{deed:?}");
        deed.map(|deed| bench.command(deed).unwrap());
        bench.command(Command::Retry).unwrap();
        assert_eq!(counts(&bench), before, "{what}");
        fail_first_call(&mut bench);
    }
    let (mut bench, calls) = with_failed_round();
    let before = counts(&bench);
    bench.command(edit_prompt(calls[1], "Be brief.")).unwrap();
    bench.command(Command::Retry).unwrap();
    assert_eq!(counts(&bench), before);
}

/// After a switch to a model with a profile of its own, a kept reply was looked for as the old one was sampled.
#[test]
fn a_recorded_reply_is_looked_for_as_it_would_be_asked_now() {
    let (mut bench, call) = with_failed_call();
    let other = with_model(bench.state().run.as_deref().unwrap(), ModelRole::Actor, "openai:o profile far");
    bench.command(Command::ChangeRun(Box::new(other))).unwrap();
    let from = || Command::RetryFromRecording("cache".to_owned());
    assert_eq!(event_names(&bench.command(from()).unwrap()), ["prompt_sent", "retried"]);
    assert!(asked_prompt(&bench, call).sampling.is_empty());
    assert_eq!(bench.state().reply_override(call), Some("cache"));
    assert!(bench.command(Command::Undo).unwrap_err().message.contains("a recorded reply was taken"));
    // As it was sent: nothing is sent anew.
    fail_first_call(&mut bench);
    assert_eq!(event_names(&bench.command(from()).unwrap()), ["retried"]);
}

/// The draft of another prompt switched the look at a failed call's words off.
#[test]
fn a_recorded_reply_answered_changed_words_where_a_draft_waited_beside_them() {
    let mut bench = TestEngine::with_mentor(1, 50);
    bench.command(Command::Step).unwrap();
    bench.answer_world(step_result("A room. Your task is to: rest."));
    bench.answer_actor("look");
    bench.command(Command::StepStage).unwrap();
    bench.answer_world(step_result("Fine."));
    bench.command(Command::StepStage).unwrap();
    let draft = bench.state().draft.clone().unwrap();
    assert_eq!(draft.role, ModelRole::Actor);
    bench.command(Command::Reflect(ReflectionKind::Error)).unwrap();
    let call = fail_first_call(&mut bench);
    // Asking the mentor takes the actor's draft with it; whatever leaves one there is no reason to look away.
    let draft = std::sync::Arc::new(PromptRecord { call: CallId(99), ..(*draft).clone() });
    bench.engine.state.draft = Some(draft.clone());
    bench.command(edit_prompt(call, "Be brief.")).unwrap();
    let from = || Command::RetryFromRecording("cache".to_owned());
    let refused = bench.command(from()).unwrap_err();
    assert!(refused.message.contains("never asked"), "{refused:?}");
    bench.command(Command::Undo).unwrap();
    // The words of a draft that waits are nobody's that failed.
    bench.command(edit_prompt(draft.call, "Be kind.")).unwrap();
    assert!(bench.state().draft.as_ref().unwrap().edited);
    assert_eq!(event_names(&bench.command(from()).unwrap()), ["retried"]);
}

/// Five answers counted as four calls: that a call was made again after a useless answer was not counted, that a proposal was
/// asked for again was.
#[test]
fn each_answer_that_was_asked_for_counts_once() {
    type Action = fn(&mut TestEngine);
    let useless: Action = |b| drop(b.answer_actor(""));
    let lost: Action = |b| {
        fail_first_call(b);
    };
    let retry: Action = |b| drop(b.command(Command::Retry).unwrap());
    let reword: Action = |b| {
        let call = b.state().waiting_prompts().next().unwrap().call;
        drop(b.command(edit_prompt(call, "Be brief.")).unwrap());
    };
    let again: Action = |b| drop(b.command(Command::AskAgain).unwrap());
    let says: Action = |b| drop(b.answer_actor("look"));
    let off: Action = |b| drop(b.command(Command::Cancel).unwrap());
    let cases: [(&[Action], u32); 7] = [
        (&[says], 1),
        (&[lost, retry, lost, retry, says], 1),
        (&[useless, retry, says], 2),
        (&[useless, reword, retry, says], 2),
        (&[useless, retry, lost, retry, useless, retry, says], 3),
        (&[says, again, useless, retry, useless, retry, says], 4),
        (&[off, again, says], 2),
    ];
    for (n, (deeds, calls)) in cases.into_iter().enumerate() {
        let mut bench = TestEngine::started(1, 50);
        bench.command(Command::Step).unwrap();
        bench.answer_world(step_result("A room. Your task is to: rest."));
        for deed in deeds {
            deed(&mut bench);
        }
        let state = bench.state();
        let counted = (state.open_episode().unwrap().calls, state.usage.actor_calls);
        assert_eq!(counted, (calls, u64::from(calls)), "case {n}");
    }
}
