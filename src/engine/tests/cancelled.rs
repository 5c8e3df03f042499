//! Cancelled calls: their partial replies, the possible next commands, and what undo reports.

use super::fixture::{TestEngine, event_names, sample_failure, step_result};
use crate::domain::{CallId, ModelRole, PartialReply, PromptRecord, ReflectionKind, Stage, Usage};
use crate::engine::{Cause, Command, CommandError, Effect, Envelope, Event, Input, Reply, with_model};

/// Executes a command as the driver does, which adds the partial reply to the event of a cancelled call.
fn execute_command(harness: &mut TestEngine, command: Command, partial_reply: &PartialReply) -> Vec<Event> {
    let mut events = harness.engine.decide(&Input::Command(command)).unwrap();
    for (_, event) in &mut events {
        if let Event::CallCancelled { partial_reply: target, .. } = event {
            **target = partial_reply.clone();
        }
    }
    let from = harness.journal.len();
    let fold = |harness: &mut TestEngine, events: Vec<(Cause, Event)>| {
        for (cause, event) in events {
            let seq = crate::domain::Seq(harness.state().head.0 + 1);
            let envelope =
                Envelope { seq, timestamp: harness.timestamp, cause, batch_continues: false, event };
            harness.engine.state.apply(&envelope);
            harness.journal.push(envelope);
        }
    };
    fold(harness, events);
    loop {
        let events = harness.engine.advance();
        if events.is_empty() {
            break;
        }
        fold(harness, events);
    }
    harness.journal[from..].iter().map(|e| e.event.clone()).collect()
}

fn partial_reply() -> PartialReply {
    let usage = Usage { prompt_tokens: 30, reply_tokens: 4, estimated: true, ..Usage::default() };
    PartialReply { text: "go to the".to_owned(), reasoning: "Hm.".to_owned(), usage: Some(usage) }
}

/// Creates an engine with the actor's call in flight.
fn with_actor_call() -> TestEngine {
    let mut run = super::fixture::run_spec(1, 50);
    "openai:m".clone_into(&mut run.actor);
    let mut harness = TestEngine::with_spec(run);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room. Your task is to: rest."));
    harness
}

/// Creates an engine whose actor's call was cancelled in the middle of its reply.
fn with_cancelled_call() -> TestEngine {
    let mut harness = with_actor_call();
    assert_eq!(
        event_names(&execute_command(&mut harness, Command::Cancel, &partial_reply())),
        ["call_cancelled", "paused"]
    );
    harness
}

fn edit_prompt(text: &str) -> Command {
    Command::EditPrompt { call: None, segment: 0, text: text.to_owned() }
}

fn prompt_in_flight(harness: &TestEngine) -> PromptRecord {
    match harness.first_call() {
        Some((_, Effect::Ask { prompt, .. })) => (*prompt).clone(),
        other => panic!("{other:?}"),
    }
}

/// Regression: the partial reply was lost, its tokens counted as none, and the only possible command was to ask again.
#[test]
fn the_partial_reply_of_a_cancelled_step_is_kept_and_counted() {
    let harness = with_cancelled_call();
    let episode = harness.state().open_episode().unwrap();
    let step = episode.last_step().unwrap();
    assert_eq!((step.partial_replies.as_slice(), step.stage), ([partial_reply()].as_slice(), Stage::Prompt));
    assert_eq!((episode.tokens, episode.token_counts.estimated, episode.calls), (34, 34, 1));
    assert_eq!(harness.state().usage.actor_tokens, 34);
    assert!(episode.assisted && harness.state().is_step_cancelled());
    let cancelled = harness.journal.iter().find(|e| matches!(e.event, Event::CallCancelled { .. })).unwrap();
    let written = serde_json::to_value(cancelled).unwrap();
    assert_eq!((&written["text"], &written["reasoning"]), (&"go to the".into(), &"Hm.".into()));
    assert_eq!(serde_json::from_value::<Envelope>(written).unwrap(), *cancelled);
    // The event as written by older versions of the program.
    let old = r#"{"seq":1,"at":"2026-11-20T10:40:00Z","cause":"person","type":"call_cancelled","call":3}"#;
    let Event::CallCancelled { partial_reply, .. } = serde_json::from_str::<Envelope>(old).unwrap().event
    else {
        panic!()
    };
    assert!(partial_reply.is_blank() && partial_reply.usage.is_none());
}

/// For each command that can follow: its events, whether a call is in flight afterwards, and what undo reports.
#[test]
fn each_command_after_a_cancelled_step_has_its_effect() {
    let cancelled = "a model call was cancelled";
    let act = Command::Act("sleep".to_owned());
    let retry_from_cache = Command::RetryFromRecording("cache".to_owned());
    let cases: [(&[Command], &[&str], bool, &str); 8] = [
        (&[], &[], false, cancelled),
        (&[Command::Step], &["step_granted", "prompt_sent"], true, cancelled),
        (&[Command::Retry], &["step_granted", "prompt_sent"], true, cancelled),
        (&[Command::AskAgain], &["step_granted", "prompt_sent"], true, cancelled),
        (&[Command::Run], &["resumed", "prompt_sent"], true, cancelled),
        (&[Command::GiveUp], &["given_up"], false, "a cancelled call was given up"),
        (&[act], &["action_overridden", "step_granted", "action_taken"], true, "has already run"),
        (&[retry_from_cache], &["prompt_sent", "retried"], true, "a recorded reply replaced"),
    ];
    for (commands, events, in_flight, undo) in cases {
        let mut harness = with_cancelled_call();
        let previous = prompt_in_flight(&with_actor_call());
        for command in commands {
            assert_eq!(event_names(&harness.command(command.clone()).unwrap()), events, "{command:?}");
        }
        let state = harness.state();
        assert_eq!(state.calls.is_empty(), !in_flight, "{commands:?}");
        assert_eq!(state.is_step_cancelled(), commands.is_empty(), "{commands:?}");
        if let Some((call, Effect::Ask { prompt, .. })) = harness.first_call() {
            assert!(call > previous.call, "a reply to the old call may still arrive: {commands:?}");
            let recorded = state.reply_override(call).is_some();
            assert_eq!(recorded, matches!(commands, [Command::RetryFromRecording(_)]));
            // Looking up a recording keeps the original seed; asking again uses a new one.
            assert_eq!(prompt.seed == previous.seed, recorded, "{commands:?}");
            assert_eq!((state.open_episode().unwrap().calls, state.usage.actor_calls), (2, 2));
        }
        let error = harness.command(Command::Undo).unwrap_err();
        assert!(error.message.contains(undo), "{commands:?}: {error:?}");
    }
    // After giving up, the actor can still be asked or the person can act.
    let mut harness = with_cancelled_call();
    harness.command(Command::GiveUp).unwrap();
    assert!(harness.state().has_idle_step() && harness.command(Command::GiveUp).is_err());
    assert!(harness.command(Command::Act("sleep".to_owned())).is_ok());
}

#[test]
fn the_prompt_of_a_cancelled_step_can_be_edited_and_restored() {
    let mut harness = with_cancelled_call();
    let previous = prompt_in_flight(&with_actor_call());
    assert_eq!(
        event_names(&harness.command(edit_prompt("Be brief.")).unwrap()),
        ["text_defined", "prompt_drafted"]
    );
    let waiting = harness.state().waiting_prompt(previous.call).cloned().unwrap();
    assert!(waiting.edited && harness.state().has_unsent_edit() && harness.state().is_step_cancelled());
    harness.command(Command::Undo).unwrap();
    assert_eq!(**harness.state().waiting_prompt(previous.call).unwrap(), previous);
    harness.command(Command::Redo).unwrap();
    assert_eq!(event_names(&harness.command(Command::Step).unwrap()), ["step_granted", "prompt_sent"]);
    let sent = prompt_in_flight(&harness);
    assert_eq!((&sent.sha256, sent.edited), (&waiting.sha256, true));
    assert!(sent.call > previous.call && sent.seed != previous.seed);
    assert!(
        harness.state().last_step().unwrap().prompt_edited,
        "the step records that its prompt was edited"
    );
    harness.answer_actor("sleep");
    let step = harness.state().last_step().unwrap();
    assert!(step.prompt_edited && step.partial_replies.len() == 1 && step.proposed.is_some());
    let error = harness.command(Command::Undo).unwrap_err();
    assert!(error.message.contains("already used"), "{error:?}");
}

#[test]
fn another_model_can_be_asked_after_a_cancelled_step() {
    let mut harness = with_cancelled_call();
    let other = with_model(harness.state().run.as_deref().unwrap(), ModelRole::Actor, "openai:big");
    harness.command(Command::ChangeRun(Box::new(other))).unwrap();
    assert!(harness.state().is_step_cancelled(), "it is the same step");
    assert_eq!(event_names(&harness.command(Command::Step).unwrap()), ["step_granted", "prompt_sent"]);
}

#[test]
fn taking_over_during_a_call_cancels_it_and_waits_for_an_action() {
    let mut harness = with_actor_call();
    execute_command(&mut harness, Command::SetAutonomy(crate::domain::Autonomy::Human), &partial_reply());
    assert!(harness.state().is_step_cancelled());
    assert!(harness.command(Command::Step).unwrap_err().message.contains("is waiting for your action"));
    assert!(harness.command(Command::Act("sleep".to_owned())).is_ok());
}

fn call_of_kind(harness: &TestEngine, kind: ReflectionKind) -> CallId {
    let found = harness.state().calls.iter().find(|(_, e)| e.question().is_some_and(|q| q.kind == kind));
    *found.unwrap().0
}

/// Creates an engine with a round of two questions: Error has failed, Abstract was cancelled.
fn with_half_failed_round() -> TestEngine {
    let mut harness = TestEngine::with_mentor_calls();
    let call = call_of_kind(&harness, ReflectionKind::Error);
    harness.reply(Reply::Failed { call, failure: sample_failure() });
    execute_command(&mut harness, Command::Cancel, &partial_reply());
    harness
}

fn call_counts(harness: &TestEngine) -> (usize, usize, usize) {
    let state = harness.state();
    (state.failed_calls().count(), state.cancelled_calls.len(), state.calls.len())
}

/// Regression: retrying a failed call with edited text discarded the questions cancelled with it (retrying it unchanged
/// didn't), and undo then reported that the mentor had been asked.
#[test]
fn a_retry_with_an_edit_keeps_cancelled_questions() {
    type Action = fn(&mut TestEngine) -> Result<Vec<Event>, CommandError>;
    let edit: Action = |harness| harness.command(edit_prompt("Be brief."));
    let change_sampling: Action =
        |harness| harness.command(Command::ChangeSetting { name: "mentor.seed".to_owned(), value: 9.into() });
    let retry: Action = |harness| harness.command(Command::Retry);
    let give_up: Action = |harness| harness.command(Command::GiveUp);
    let recorded: Action = |harness| harness.command(Command::RetryFromRecording("cache".to_owned()));
    let cancel: Action = |harness| Ok(execute_command(harness, Command::Cancel, &partial_reply()));
    let run: Action = |harness| harness.command(Command::Run);
    let fail: Action = |harness| {
        let call = call_of_kind(harness, ReflectionKind::Error);
        Ok(harness.reply(Reply::Failed { call, failure: sample_failure() }))
    };
    let answer: Action = |harness| {
        let (call, text, reasoning) =
            (call_of_kind(harness, ReflectionKind::Error), "Beds.".to_owned(), String::new());
        Ok(harness.reply(Reply::Model { truncated: None, call, text, reasoning, usage: Usage::default() }))
    };
    let cancelled = "a model call was cancelled";
    // The commands; then the numbers of failed calls, cancelled calls and calls in flight; then what undo reports, or
    // `None` if it undoes something.
    type Case<'a> = (&'a [Action], (usize, usize, usize), Option<&'a str>);
    let cases: [Case<'_>; 12] = [
        (&[], (1, 1, 0), Some(cancelled)),
        (&[retry], (0, 1, 1), Some(cancelled)),
        (&[edit], (1, 1, 0), None),
        (&[edit, retry], (0, 1, 1), Some("an edited prompt was sent")),
        (&[change_sampling, retry], (0, 1, 1), Some("a failed call was retried with different sampling")),
        (&[edit, retry, fail], (1, 1, 0), Some("an edited prompt was sent")),
        (&[edit, retry, answer], (0, 1, 0), Some("an edited prompt was sent")),
        (&[edit, retry, answer, give_up], (0, 0, 0), Some("a cancelled call was given up")),
        (&[edit, retry, answer, recorded], (0, 0, 1), Some("a recorded reply replaced")),
        (&[edit, retry, cancel], (0, 2, 0), Some(cancelled)),
        (&[give_up], (0, 0, 0), Some("a cancelled call was given up")),
        (&[retry, answer, run], (0, 0, 1), Some(cancelled)),
    ];
    for (n, (actions, expected, undo)) in cases.into_iter().enumerate() {
        let mut harness = with_half_failed_round();
        for action in actions {
            action(&mut harness).unwrap();
        }
        assert_eq!(call_counts(&harness), expected, "case {n}");
        match (harness.command(Command::Undo), undo) {
            (Ok(_), None) => {}
            (Err(error), Some(text)) => assert!(error.message.contains(text), "case {n}: {error:?}"),
            (other, _) => panic!("case {n}: {other:?}"),
        }
    }
}

/// Regression: cancelling the mentor's question reset a step whose own call had failed meanwhile.
#[test]
fn cancelling_a_mentor_question_leaves_the_step_unchanged() {
    let mut harness = with_actor_call();
    let (call, _) = harness.first_call().unwrap();
    // A person asks for a reflection while the actor's call is in flight.
    let question = crate::domain::Question::reflect(ReflectionKind::Error);
    let mentor_call = CallId(harness.state().next_call);
    let prompt = PromptRecord {
        call: mentor_call,
        role: ModelRole::Mentor,
        question: Some(question),
        ..PromptRecord::default()
    };
    let seq = crate::domain::Seq(harness.state().head.0 + 1);
    let event = Event::PromptSent { prompt: std::sync::Arc::new(prompt) };
    harness.engine.state.apply(&Envelope {
        seq,
        timestamp: harness.timestamp,
        cause: Cause::Person,
        batch_continues: false,
        event,
    });
    harness.reply(Reply::Failed { call, failure: sample_failure() });
    execute_command(&mut harness, Command::Cancel, &partial_reply());
    let step = harness.state().last_step().unwrap();
    assert_eq!((step.stage, step.retry, step.partial_replies.len()), (Stage::Reply, 0, 0));
    assert_eq!(harness.state().cancelled_calls.len(), 1);
}

/// Regression: an edit of the mentor's question wasn't recorded in the reflection.
#[test]
fn a_reflection_records_that_its_question_was_edited() {
    let mut harness = with_half_failed_round();
    harness.command(edit_prompt("Be brief.")).unwrap();
    harness.command(Command::Retry).unwrap();
    let (call, text, reasoning) =
        (call_of_kind(&harness, ReflectionKind::Error), "Beds.".to_owned(), String::new());
    harness.reply(Reply::Model { truncated: None, call, text, reasoning, usage: Usage::default() });
    assert!(harness.state().reflections.last().unwrap().prompt_edited);
    assert!(harness.state().open_episode().unwrap().assisted);
}

/// A prefetched reply that a call uses is counted with the call, even if the call is cancelled.
#[test]
fn a_prefetched_reply_of_a_cancelled_call_counts_once() {
    for has_usage in [true, false] {
        let mut harness = with_actor_call();
        let (call, _) = harness.first_call().unwrap();
        let usage = Usage { prompt_tokens: 10, estimated: true, ..Usage::default() };
        for status in [crate::engine::PrefetchStatus::Requested, crate::engine::PrefetchStatus::Used] {
            let prefetch = crate::engine::Prefetch {
                number: 1,
                role: ModelRole::Actor,
                status,
                call: Some(call),
                usage,
            };
            harness.reply(Reply::Prefetch(Box::new(prefetch)));
        }
        let partial_reply = if has_usage { partial_reply() } else { PartialReply::default() };
        execute_command(&mut harness, Command::Cancel, &partial_reply);
        let prefetch_stats = harness.state().prefetch_stats();
        let expected = if has_usage { (1, 0, 0, 34) } else { (0, 1, 10, 0) };
        let tokens = harness.state().open_episode().unwrap().tokens;
        assert_eq!(
            (prefetch_stats.used, prefetch_stats.dropped, prefetch_stats.wasted.tokens(), tokens),
            expected
        );
    }
}
