//! Calls that failed and are made again, as what was chosen meanwhile wants them.

use super::fixture::{Bench, names, no_answer, spec, turn};
use crate::domain::{CallId, Kind, LessonText, ModelRole, PromptRecord};
use crate::engine::{Command, Effect, Event, LessonCommand, Reply, with_model};
use serde_json::{Value, json};

fn set(name: &str, value: Value) -> Command {
    Command::Set { name: name.to_owned(), value }
}

fn edit(call: CallId, text: &str) -> Command {
    Command::EditPrompt { call: Some(call), segment: 0, text: text.to_owned() }
}

fn fail(bench: &mut Bench) -> CallId {
    let (call, _) = bench.call().unwrap();
    bench.reply(Reply::Failed { call, failure: no_answer() });
    call
}

/// A bench whose first question to a model has failed.
fn failed() -> (Bench, CallId) {
    let mut run = spec(1, 50);
    "openai:m".clone_into(&mut run.actor);
    let mut bench = Bench::with(run);
    let wish =
        LessonCommand::add(Kind::Error, Kind::Error.scope(), LessonText::plain("Rest."), String::new());
    bench.wish(Command::Lesson(wish)).unwrap();
    bench.wish(set("actor.temperature", json!(0.7))).unwrap();
    bench.wish(Command::Run).unwrap();
    bench.world(turn("A room. Your task is to: rest."));
    let call = fail(&mut bench);
    (bench, call)
}

/// A bench of which all questions of a round to the mentor have failed.
fn failed_round() -> (Bench, Vec<CallId>) {
    let mut bench = Bench::asking_the_mentor();
    let calls = (0..2).map(|_| fail(&mut bench)).collect();
    (bench, calls)
}

fn asked(bench: &Bench, call: CallId) -> PromptRecord {
    match bench.state().calls.get(&call) {
        Some(Effect::Ask { prompt, .. }) => (**prompt).clone(),
        other => panic!("{call:?} is not asked: {other:?}"),
    }
}

/// Its record was frozen: neither `retry` nor other words took what was chosen since.
#[test]
fn a_failed_call_kept_its_old_sampling_for_ever() {
    let (mut bench, call) = failed();
    let was = bench.state().waits_for(call).cloned().unwrap();
    assert_eq!(Value::Object(was.sampling.clone()), json!({"temperature": 0.7}));
    bench.wish(set("actor.max_tokens", json!(64))).unwrap();
    assert_eq!(names(&bench.wish(Command::Retry).unwrap()), ["prompt_sent"]);
    let now = asked(&bench, call);
    assert_eq!(Value::Object(now.sampling.clone()), json!({"temperature": 0.7, "max_tokens": 64}));
    assert_eq!(PromptRecord { sampling: was.sampling.clone(), ..now.clone() }, *was, "nothing else is new");
    assert!(bench.state().prompts.1.is_none(), "the same words are not compared with themselves");
    // As it was chosen when it was sent: the same call again.
    fail(&mut bench);
    assert_eq!(names(&bench.wish(Command::Retry).unwrap()), ["retried"]);
    fail(&mut bench);
    bench.wish(set("actor.seed", json!(9))).unwrap();
    bench.wish(edit(call, "Be brief.")).unwrap();
    assert_eq!(names(&bench.wish(Command::Retry).unwrap()), ["prompt_sent"]);
    let edited = asked(&bench, call);
    assert!(edited.edited && edited.seed != now.seed && edited.sampling["seed"] == json!(true));
    assert_eq!(edited.seed, crate::engine::request_seed(9, 1, 1, ModelRole::Actor, 0));
    // Another model with a profile of its own: what was chosen for the one before it goes.
    fail(&mut bench);
    let words = "openai:o3 profile openai-reasoning";
    let other = with_model(bench.state().run.as_deref().unwrap(), ModelRole::Actor, words);
    bench.wish(Command::ChangeRun(Box::new(other))).unwrap();
    assert_eq!(names(&bench.wish(Command::Retry).unwrap()), ["prompt_sent"]);
    let there = asked(&bench, call);
    assert!(there.sampling.is_empty() && there.edited && there.sha256 == edited.sha256, "{there:?}");
    assert_eq!(there.seed, was.seed);
}

#[test]
fn each_failed_call_of_a_round_kept_its_old_sampling() {
    let (mut bench, calls) = failed_round();
    bench.wish(set("mentor.temperature", json!(0.2))).unwrap();
    assert_eq!(names(&bench.wish(Command::Retry).unwrap()), ["prompt_sent", "prompt_sent"]);
    for call in calls {
        assert_eq!(Value::Object(asked(&bench, call).sampling), json!({"temperature": 0.2}));
    }
}

/// One word was two: the difference went with it, and a model was asked before anybody had decided on it.
#[test]
fn a_retry_asked_a_model_while_the_world_differed() {
    for changed in [false, true] {
        let (mut bench, call) = failed();
        if changed {
            bench.wish(edit(call, "Be brief.")).unwrap();
        }
        let (recorded, now) = ("OK.".to_owned(), "No.".to_owned());
        bench.reply(Reply::Diverged { episode: 1, step: 0, recorded, now });
        let refused = bench.wish(Command::RetryFrom("cache".to_owned())).unwrap_err();
        assert!(refused.why.contains("comes first"), "{refused:?}");
        let said = bench.wish(Command::Retry).unwrap();
        assert_eq!(said, [Event::Retried { call: None, from: None }], "changed: {changed}");
        let state = bench.state();
        assert!(state.divergence.is_none() && state.calls.is_empty() && state.failed_call.is_some());
        let name = if changed { "prompt_sent" } else { "retried" };
        assert_eq!(names(&bench.wish(Command::Retry).unwrap()), [name]);
        assert!(bench.state().calls.contains_key(&call));
    }
}

/// A call that was made again counted once more where its words were others, and not where they were the same.
#[test]
fn a_call_that_was_made_again_counted_twice_where_it_was_changed() {
    let counts = |bench: &Bench| {
        let state = bench.state();
        let uses = state.pool.all().map(|l| l.uses).sum::<u32>();
        (state.open_episode().unwrap().calls, state.spent.actor_calls, state.spent.mentor_calls, uses)
    };
    let (mut bench, call) = failed();
    let before = counts(&bench);
    assert_eq!(before, (1, 1, 0, 1));
    let deeds = [None, Some(set("actor.max_tokens", json!(64))), Some(edit(call, "Be brief."))];
    for deed in deeds {
        let what = format!("{deed:?}");
        deed.map(|deed| bench.wish(deed).unwrap());
        bench.wish(Command::Retry).unwrap();
        assert_eq!(counts(&bench), before, "{what}");
        fail(&mut bench);
    }
    let (mut bench, calls) = failed_round();
    let before = counts(&bench);
    bench.wish(edit(calls[1], "Be brief.")).unwrap();
    bench.wish(Command::Retry).unwrap();
    assert_eq!(counts(&bench), before);
}

/// After a switch to a model with a profile of its own, a kept reply was looked for as the old one was sampled.
#[test]
fn a_recorded_reply_is_looked_for_as_it_would_be_asked_now() {
    let (mut bench, call) = failed();
    let other = with_model(bench.state().run.as_deref().unwrap(), ModelRole::Actor, "openai:o profile far");
    bench.wish(Command::ChangeRun(Box::new(other))).unwrap();
    let from = || Command::RetryFrom("cache".to_owned());
    assert_eq!(names(&bench.wish(from()).unwrap()), ["prompt_sent", "retried"]);
    assert!(asked(&bench, call).sampling.is_empty());
    assert_eq!(bench.state().stand_in(call), Some("cache"));
    assert!(bench.wish(Command::Undo).unwrap_err().why.contains("a recorded reply was taken"));
    // As it was sent: nothing is sent anew.
    fail(&mut bench);
    assert_eq!(names(&bench.wish(from()).unwrap()), ["retried"]);
}

/// The draft of another prompt switched the look at a failed call's words off.
#[test]
fn a_recorded_reply_answered_changed_words_where_a_draft_waited_beside_them() {
    let mut bench = Bench::counselled(1, 50);
    bench.wish(Command::Step).unwrap();
    bench.world(turn("A room. Your task is to: rest."));
    bench.says("look");
    bench.wish(Command::StepStage).unwrap();
    bench.world(turn("Fine."));
    bench.wish(Command::StepStage).unwrap();
    let draft = bench.state().draft.clone().unwrap();
    assert_eq!(draft.asked, ModelRole::Actor);
    bench.wish(Command::Reflect(Kind::Error)).unwrap();
    let call = fail(&mut bench);
    // Asking the mentor takes the actor's draft with it; whatever leaves one there is no reason to look away.
    let draft = std::sync::Arc::new(PromptRecord { call: CallId(99), ..(*draft).clone() });
    bench.engine.state.draft = Some(draft.clone());
    bench.wish(edit(call, "Be brief.")).unwrap();
    let from = || Command::RetryFrom("cache".to_owned());
    let refused = bench.wish(from()).unwrap_err();
    assert!(refused.why.contains("never asked"), "{refused:?}");
    bench.wish(Command::Undo).unwrap();
    // The words of a draft that waits are nobody's that failed.
    bench.wish(edit(draft.call, "Be kind.")).unwrap();
    assert!(bench.state().draft.as_ref().unwrap().edited);
    assert_eq!(names(&bench.wish(from()).unwrap()), ["retried"]);
}

/// Five answers counted as four calls: that a call was made again after a useless answer was not counted, that a proposal was
/// asked for again was.
#[test]
fn each_answer_that_was_asked_for_counts_once() {
    type Do = fn(&mut Bench);
    let useless: Do = |b| drop(b.says(""));
    let lost: Do = |b| {
        fail(b);
    };
    let retry: Do = |b| drop(b.wish(Command::Retry).unwrap());
    let reword: Do = |b| {
        let call = b.state().waiting().next().unwrap().call;
        drop(b.wish(edit(call, "Be brief.")).unwrap());
    };
    let again: Do = |b| drop(b.wish(Command::AskAgain).unwrap());
    let says: Do = |b| drop(b.says("look"));
    let off: Do = |b| drop(b.wish(Command::Cancel).unwrap());
    let cases: [(&[Do], u32); 7] = [
        (&[says], 1),
        (&[lost, retry, lost, retry, says], 1),
        (&[useless, retry, says], 2),
        (&[useless, reword, retry, says], 2),
        (&[useless, retry, lost, retry, useless, retry, says], 3),
        (&[says, again, useless, retry, useless, retry, says], 4),
        (&[off, again, says], 2),
    ];
    for (n, (deeds, calls)) in cases.into_iter().enumerate() {
        let mut bench = Bench::started(1, 50);
        bench.wish(Command::Step).unwrap();
        bench.world(turn("A room. Your task is to: rest."));
        for deed in deeds {
            deed(&mut bench);
        }
        let state = bench.state();
        let counted = (state.open_episode().unwrap().calls, state.spent.actor_calls);
        assert_eq!(counted, (calls, u64::from(calls)), "case {n}");
    }
}
