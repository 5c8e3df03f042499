//! Calls that a person broke off: what had come of them, what can be done then, and what undo says of it.

use super::fixture::{TestEngine, event_names, sample_failure, step_result};
use crate::domain::{CallId, ModelRole, PartialReply, PromptRecord, ReflectionKind, Stage, Usage};
use crate::engine::{Cause, Command, CommandError, Effect, Envelope, Event, Input, Reply, with_model};

/// Carries a wish out as the driver does: what had come of a call that is broken off is added to its event.
fn execute_command(bench: &mut TestEngine, command: Command, came: &PartialReply) -> Vec<Event> {
    let mut events = bench.engine.decide(&Input::Command(command)).unwrap();
    for (_, event) in &mut events {
        if let Event::CallCancelled { partial_reply: of, .. } = event {
            **of = came.clone();
        }
    }
    let from = bench.journal.len();
    let fold = |bench: &mut TestEngine, events: Vec<(Cause, Event)>| {
        for (cause, event) in events {
            let seq = crate::domain::Seq(bench.state().head.0 + 1);
            let envelope = Envelope { seq, timestamp: bench.at, cause, batch_continues: false, event };
            bench.engine.state.apply(&envelope);
            bench.journal.push(envelope);
        }
    };
    fold(bench, events);
    loop {
        let events = bench.engine.advance();
        if events.is_empty() {
            break;
        }
        fold(bench, events);
    }
    bench.journal[from..].iter().map(|e| e.event.clone()).collect()
}

fn partial_reply() -> PartialReply {
    let usage = Usage { prompt_tokens: 30, reply_tokens: 4, estimated: true, ..Usage::default() };
    PartialReply { text: "go to the".to_owned(), reasoning: "Hm.".to_owned(), usage: Some(usage) }
}

/// The actor's own call is under way.
fn with_actor_call() -> TestEngine {
    let mut run = super::fixture::run_spec(1, 50);
    "openai:m".clone_into(&mut run.actor);
    let mut bench = TestEngine::with_spec(run);
    bench.command(Command::Step).unwrap();
    bench.answer_world(step_result("A room. Your task is to: rest."));
    bench
}

/// It was broken off in the middle of its answer.
fn with_cancelled_call() -> TestEngine {
    let mut bench = with_actor_call();
    assert_eq!(
        event_names(&execute_command(&mut bench, Command::Cancel, &partial_reply())),
        ["call_cancelled", "paused"]
    );
    bench
}

fn edit_prompt(text: &str) -> Command {
    Command::EditPrompt { call: None, segment: 0, text: text.to_owned() }
}

fn prompt_in_flight(bench: &TestEngine) -> PromptRecord {
    match bench.first_call() {
        Some((_, Effect::Ask { prompt, .. })) => (*prompt).clone(),
        other => panic!("{other:?}"),
    }
}

/// What was there was gone, its tokens were counted as none, and nothing could be done but ask again.
#[test]
fn what_had_come_of_a_turn_that_was_broken_off_is_kept_and_counted() {
    let bench = with_cancelled_call();
    let episode = bench.state().open_episode().unwrap();
    let step = episode.last_step().unwrap();
    assert_eq!((step.partial_replies.as_slice(), step.stage), ([partial_reply()].as_slice(), Stage::Prompt));
    assert_eq!((episode.tokens, episode.token_counts.estimated, episode.calls), (34, 34, 1));
    assert_eq!(bench.state().usage.actor_tokens, 34);
    assert!(episode.assisted && bench.state().is_step_cancelled());
    let cancelled = bench.journal.iter().find(|e| matches!(e.event, Event::CallCancelled { .. })).unwrap();
    let written = serde_json::to_value(cancelled).unwrap();
    assert_eq!((&written["text"], &written["reasoning"]), (&"go to the".into(), &"Hm.".into()));
    assert_eq!(serde_json::from_value::<Envelope>(written).unwrap(), *cancelled);
    // As older programs wrote it.
    let old = r#"{"seq":1,"at":"2026-11-20T10:40:00Z","cause":"person","type":"call_cancelled","call":3}"#;
    let Event::CallCancelled { partial_reply: came, .. } =
        serde_json::from_str::<Envelope>(old).unwrap().event
    else {
        panic!()
    };
    assert!(came.is_blank() && came.usage.is_none());
}

/// Each way on from there: the events, whether a call is under way then, and what undo says.
#[test]
fn the_ways_on_from_a_turn_that_was_broken_off() {
    let off = "a call to a model was broken off";
    let act = Command::Act("sleep".to_owned());
    let from = Command::RetryFromRecording("cache".to_owned());
    let cases: [(&[Command], &[&str], bool, &str); 8] = [
        (&[], &[], false, off),
        (&[Command::Step], &["step_granted", "prompt_sent"], true, off),
        (&[Command::Retry], &["step_granted", "prompt_sent"], true, off),
        (&[Command::AskAgain], &["step_granted", "prompt_sent"], true, off),
        (&[Command::Run], &["resumed", "prompt_sent"], true, off),
        (&[Command::GiveUp], &["given_up"], false, "a call that was broken off was given up"),
        (&[act], &["action_overridden", "step_granted", "action_taken"], true, "has run"),
        (&[from], &["prompt_sent", "retried"], true, "a recorded reply was taken"),
    ];
    for (wishes, events, flies, undo) in cases {
        let mut bench = with_cancelled_call();
        let was = prompt_in_flight(&with_actor_call());
        for wish in wishes {
            assert_eq!(event_names(&bench.command(wish.clone()).unwrap()), events, "{wish:?}");
        }
        let state = bench.state();
        assert_eq!(state.calls.is_empty(), !flies, "{wishes:?}");
        assert_eq!(state.is_step_cancelled(), wishes.is_empty(), "{wishes:?}");
        if let Some((call, Effect::Ask { prompt, .. })) = bench.first_call() {
            assert!(call > was.call, "an answer to the old one may be on its way: {wishes:?}");
            let recorded = state.reply_override(call).is_some();
            assert_eq!(recorded, matches!(wishes, [Command::RetryFromRecording(_)]));
            // A recording knows the question as it was asked; whoever asks again draws anew.
            assert_eq!(prompt.seed == was.seed, recorded, "{wishes:?}");
            assert_eq!((state.open_episode().unwrap().calls, state.usage.actor_calls), (2, 2));
        }
        let refused = bench.command(Command::Undo).unwrap_err();
        assert!(refused.message.contains(undo), "{wishes:?}: {refused:?}");
    }
    // Given up it still can be asked or played.
    let mut bench = with_cancelled_call();
    bench.command(Command::GiveUp).unwrap();
    assert!(bench.state().has_idle_step() && bench.command(Command::GiveUp).is_err());
    assert!(bench.command(Command::Act("sleep".to_owned())).is_ok());
}

#[test]
fn the_prompt_of_a_turn_that_was_broken_off_can_be_changed_and_changed_back() {
    let mut bench = with_cancelled_call();
    let was = prompt_in_flight(&with_actor_call());
    assert_eq!(
        event_names(&bench.command(edit_prompt("Be brief.")).unwrap()),
        ["text_defined", "prompt_drafted"]
    );
    let waits = bench.state().waiting_prompt(was.call).cloned().unwrap();
    assert!(waits.edited && bench.state().has_unsent_edit() && bench.state().is_step_cancelled());
    bench.command(Command::Undo).unwrap();
    assert_eq!(**bench.state().waiting_prompt(was.call).unwrap(), was);
    bench.command(Command::Redo).unwrap();
    assert_eq!(event_names(&bench.command(Command::Step).unwrap()), ["step_granted", "prompt_sent"]);
    let sent = prompt_in_flight(&bench);
    assert_eq!((&sent.sha256, sent.edited), (&waits.sha256, true));
    assert!(sent.call > was.call && sent.seed != was.seed);
    assert!(bench.state().last_step().unwrap().prompt_edited, "it stays to be seen");
    bench.answer_actor("sleep");
    let step = bench.state().last_step().unwrap();
    assert!(step.prompt_edited && step.partial_replies.len() == 1 && step.proposed.is_some());
    let refused = bench.command(Command::Undo).unwrap_err();
    assert!(refused.message.contains("already used"), "{refused:?}");
}

#[test]
fn another_model_is_asked_for_a_turn_that_was_broken_off() {
    let mut bench = with_cancelled_call();
    let other = with_model(bench.state().run.as_deref().unwrap(), ModelRole::Actor, "openai:big");
    bench.command(Command::ChangeRun(Box::new(other))).unwrap();
    assert!(bench.state().is_step_cancelled(), "it is the same turn");
    assert_eq!(event_names(&bench.command(Command::Step).unwrap()), ["step_granted", "prompt_sent"]);
}

#[test]
fn a_person_who_takes_over_while_the_model_writes_is_not_asked_for_a_step() {
    let mut bench = with_actor_call();
    execute_command(&mut bench, Command::SetAutonomy(crate::domain::Autonomy::Human), &partial_reply());
    assert!(bench.state().is_step_cancelled());
    assert!(bench.command(Command::Step).unwrap_err().message.contains("you play"));
    assert!(bench.command(Command::Act("sleep".to_owned())).is_ok());
}

fn call_of_kind(bench: &TestEngine, kind: ReflectionKind) -> CallId {
    let found = bench.state().calls.iter().find(|(_, e)| e.question().is_some_and(|q| q.kind == kind));
    *found.unwrap().0
}

/// A round of two questions: Error has failed, Abstract was broken off.
fn with_half_failed_round() -> TestEngine {
    let mut bench = TestEngine::with_mentor_calls();
    let call = call_of_kind(&bench, ReflectionKind::Error);
    bench.reply(Reply::Failed { call, failure: sample_failure() });
    execute_command(&mut bench, Command::Cancel, &partial_reply());
    bench
}

fn call_counts(bench: &TestEngine) -> (usize, usize, usize) {
    let state = bench.state();
    (state.failed_calls().count(), state.cancelled_calls.len(), state.calls.len())
}

/// A failed call that was tried again with other words took the questions that had been broken off with it, one that was tried
/// as it was did not; and undo then said that the mentor had been asked.
#[test]
fn a_retry_with_other_words_forgot_what_was_broken_off() {
    type Action = fn(&mut TestEngine) -> Result<Vec<Event>, CommandError>;
    let edit: Action = |b| b.command(edit_prompt("Be brief."));
    let sample: Action =
        |b| b.command(Command::ChangeSetting { name: "mentor.seed".to_owned(), value: 9.into() });
    let retry: Action = |b| b.command(Command::Retry);
    let give_up: Action = |b| b.command(Command::GiveUp);
    let recorded: Action = |b| b.command(Command::RetryFromRecording("cache".to_owned()));
    let cancel: Action = |b| Ok(execute_command(b, Command::Cancel, &partial_reply()));
    let run: Action = |b| b.command(Command::Run);
    let fail: Action = |b| {
        let call = call_of_kind(b, ReflectionKind::Error);
        Ok(b.reply(Reply::Failed { call, failure: sample_failure() }))
    };
    let answer: Action = |b| {
        let (call, text, reasoning) =
            (call_of_kind(b, ReflectionKind::Error), "Beds.".to_owned(), String::new());
        Ok(b.reply(Reply::Model { truncated: None, call, text, reasoning, usage: Usage::default() }))
    };
    let off = "a call to a model was broken off";
    // What is done; then what has failed, was broken off and is under way; what undo says, none: it takes something back.
    type Case<'a> = (&'a [Action], (usize, usize, usize), Option<&'a str>);
    let cases: [Case<'_>; 12] = [
        (&[], (1, 1, 0), Some(off)),
        (&[retry], (0, 1, 1), Some(off)),
        (&[edit], (1, 1, 0), None),
        (&[edit, retry], (0, 1, 1), Some("a changed prompt was sent")),
        (&[sample, retry], (0, 1, 1), Some("a failed call was made again with other sampling")),
        (&[edit, retry, fail], (1, 1, 0), Some("a changed prompt was sent")),
        (&[edit, retry, answer], (0, 1, 0), Some("a changed prompt was sent")),
        (&[edit, retry, answer, give_up], (0, 0, 0), Some("a call that was broken off was given up")),
        (&[edit, retry, answer, recorded], (0, 0, 1), Some("a recorded reply was taken")),
        (&[edit, retry, cancel], (0, 2, 0), Some(off)),
        (&[give_up], (0, 0, 0), Some("a call that was broken off was given up")),
        (&[retry, answer, run], (0, 0, 1), Some(off)),
    ];
    for (n, (deeds, want, undo)) in cases.into_iter().enumerate() {
        let mut bench = with_half_failed_round();
        for deed in deeds {
            deed(&mut bench).unwrap();
        }
        assert_eq!(call_counts(&bench), want, "case {n}");
        match (bench.command(Command::Undo), undo) {
            (Ok(_), None) => {}
            (Err(refused), Some(words)) => assert!(refused.message.contains(words), "case {n}: {refused:?}"),
            (other, _) => panic!("case {n}: {other:?}"),
        }
    }
}

/// The mentor's question that was broken off put the turn back whose own call had failed meanwhile.
#[test]
fn a_mentors_question_that_is_broken_off_leaves_the_turn_as_it_is() {
    let mut bench = with_actor_call();
    let (call, _) = bench.first_call().unwrap();
    // Asked for by a person while the agent thinks.
    let question = crate::domain::Question::reflect(ReflectionKind::Error);
    let asked = CallId(bench.state().next_call);
    let prompt = PromptRecord {
        call: asked,
        role: ModelRole::Mentor,
        question: Some(question),
        ..PromptRecord::default()
    };
    let seq = crate::domain::Seq(bench.state().head.0 + 1);
    let event = Event::PromptSent { prompt: std::sync::Arc::new(prompt) };
    bench.engine.state.apply(&Envelope {
        seq,
        timestamp: bench.at,
        cause: Cause::Person,
        batch_continues: false,
        event,
    });
    bench.reply(Reply::Failed { call, failure: sample_failure() });
    execute_command(&mut bench, Command::Cancel, &partial_reply());
    let step = bench.state().last_step().unwrap();
    assert_eq!((step.stage, step.retry, step.partial_replies.len()), (Stage::Reply, 0, 0));
    assert_eq!(bench.state().cancelled_calls.len(), 1);
}

/// Other words for the question to the mentor were nowhere to be seen afterwards.
#[test]
fn a_reflection_says_that_a_person_changed_its_question() {
    let mut bench = with_half_failed_round();
    bench.command(edit_prompt("Be brief.")).unwrap();
    bench.command(Command::Retry).unwrap();
    let (call, text, reasoning) =
        (call_of_kind(&bench, ReflectionKind::Error), "Beds.".to_owned(), String::new());
    bench.reply(Reply::Model { truncated: None, call, text, reasoning, usage: Usage::default() });
    assert!(bench.state().reflections.last().unwrap().prompt_edited);
    assert!(bench.state().open_episode().unwrap().assisted);
}

/// An answer asked ahead that was given to a call is counted with that, also where the call is broken off in its middle.
#[test]
fn an_early_answer_of_a_call_that_was_broken_off_counts_once() {
    for known in [true, false] {
        let mut bench = with_actor_call();
        let (call, _) = bench.first_call().unwrap();
        let usage = Usage { prompt_tokens: 10, estimated: true, ..Usage::default() };
        for now in [crate::engine::PrefetchStatus::Requested, crate::engine::PrefetchStatus::Used] {
            let told = crate::engine::Prefetch {
                number: 1,
                role: ModelRole::Actor,
                status: now,
                call: Some(call),
                usage,
            };
            bench.reply(Reply::Prefetch(Box::new(told)));
        }
        let came = if known { partial_reply() } else { PartialReply::default() };
        execute_command(&mut bench, Command::Cancel, &came);
        let ahead = bench.state().prefetch_stats();
        let want = if known { (1, 0, 0, 34) } else { (0, 1, 10, 0) };
        let tokens = bench.state().open_episode().unwrap().tokens;
        assert_eq!((ahead.used, ahead.dropped, ahead.wasted.tokens(), tokens), want);
    }
}
