//! Cancelled calls: their partial replies, the commands that can follow, and what undo reports.

use super::fixture::{Harness, event_names, sample_failure, spec_with_tasks, step_result};
use crate::domain::{
    CallId, ModelRole, PartialReply, PromptRecord, ReflectionKind, Stage, Usage, with_model,
};
use crate::engine::{Cause, Command, CommandError, Effect, Envelope, Event, Input, Reply};

/// Executes a command and, as the driver does, adds the partial reply to the event of each cancelled call.
fn execute_command(harness: &mut Harness, command: Command, partial_reply: &PartialReply) -> Vec<Event> {
    let mut events = harness.engine.decide(&Input::Command(command)).unwrap();
    for (_, event) in &mut events {
        if let Event::CallCancelled { partial_reply: in_event, .. } = event {
            **in_event = partial_reply.clone();
        }
    }
    let old_len = harness.journal.len();
    let fold = |harness: &mut Harness, events: Vec<(Cause, Event)>| {
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
    harness.journal[old_len..].iter().map(|e| e.event.clone()).collect()
}

fn partial_reply() -> PartialReply {
    let usage = Usage { prompt_tokens: 30, reply_tokens: 4, estimated: true, ..Usage::default() };
    PartialReply { text: "go to the".to_owned(), reasoning: "Hm.".to_owned(), usage: Some(usage) }
}

/// Returns a harness with the actor's call in flight; the actor is a model.
fn with_actor_call() -> Harness {
    let mut spec = spec_with_tasks(1);
    "openai:m".clone_into(&mut spec.actor);
    let mut harness = Harness::with_spec(spec);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness
}

/// Returns a harness in which a person cancelled the actor's call in the middle of its reply.
fn with_cancelled_call() -> Harness {
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

fn prompt_in_flight(harness: &Harness) -> PromptRecord {
    match harness.first_call() {
        Some((_, Effect::Ask { prompt, .. })) => (*prompt).clone(),
        other => panic!("{other:?}"),
    }
}

/// Regression: the partial reply was lost, its tokens weren't counted, and the only possible command was to ask again.
#[test]
fn the_partial_reply_of_a_cancelled_call_is_kept_and_counted() {
    let harness = with_cancelled_call();
    let episode = harness.state().open_episode().unwrap();
    let step = episode.last_step().unwrap();
    assert_eq!((step.partial_replies.as_slice(), step.stage), ([partial_reply()].as_slice(), Stage::Prompt));
    assert_eq!((episode.tokens, episode.token_counts.estimated, episode.calls), (34, 34, 1));
    assert_eq!(harness.state().usage.actor_tokens, 34);
    assert!(episode.assisted && harness.state().is_step_cancelled());
    let cancelled = harness.journal.iter().find(|e| matches!(e.event, Event::CallCancelled { .. })).unwrap();
    let json = serde_json::to_value(cancelled).unwrap();
    assert_eq!((&json["text"], &json["reasoning"]), (&"go to the".into(), &"Hm.".into()));
    assert_eq!(serde_json::from_value::<Envelope>(json).unwrap(), *cancelled);
    // Older versions of the program wrote the event without a partial reply.
    let old = r#"{"seq":1,"at":"2026-11-20T10:40:00Z","cause":"person","type":"call_cancelled","call":3}"#;
    let Event::CallCancelled { partial_reply, .. } = serde_json::from_str::<Envelope>(old).unwrap().event
    else {
        panic!()
    };
    assert!(partial_reply.is_blank() && partial_reply.usage.is_none());
}

#[test]
fn every_command_that_can_follow_a_cancelled_call_works() {
    let cancelled = "a model call was cancelled";
    let act = Command::Act("sleep".to_owned());
    let retry_from_cache = Command::RetryFromRecording("cache".to_owned());
    // (commands, events of each command, whether a call is in flight afterwards, what the error of an undo then says)
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
    for (commands, events, in_flight, undo_message) in cases {
        let mut harness = with_cancelled_call();
        // The prompt that was cancelled, from a harness in the state before the cancellation.
        let previous = prompt_in_flight(&with_actor_call());
        for command in commands {
            assert_eq!(event_names(&harness.command(command.clone()).unwrap()), events, "{command:?}");
        }
        let state = harness.state();
        assert_eq!(state.calls.is_empty(), !in_flight, "{commands:?}");
        assert_eq!(state.is_step_cancelled(), commands.is_empty(), "{commands:?}");
        if let Some((call, Effect::Ask { prompt, .. })) = harness.first_call() {
            assert!(
                call > previous.call,
                "a new id, because a reply to the old call may still arrive: {commands:?}"
            );
            let is_recorded = state.reply_override(call).is_some();
            assert_eq!(is_recorded, matches!(commands, [Command::RetryFromRecording(_)]));
            // A recorded reply is looked up with the original seed; the model is asked again with a new one.
            assert_eq!(prompt.seed == previous.seed, is_recorded, "{commands:?}");
            assert_eq!((state.open_episode().unwrap().calls, state.usage.actor_calls), (2, 2));
        }
        let error = harness.command(Command::Undo).unwrap_err();
        assert!(error.message.contains(undo_message), "{commands:?}: {error:?}");
    }
    // After `GiveUp`, a second one is rejected, and the person can act.
    let mut harness = with_cancelled_call();
    harness.command(Command::GiveUp).unwrap();
    assert!(harness.state().has_idle_step() && harness.command(Command::GiveUp).is_err());
    assert!(harness.command(Command::Act("sleep".to_owned())).is_ok());
}

#[test]
fn the_prompt_of_a_cancelled_call_can_be_edited_and_the_edit_undone() {
    let mut harness = with_cancelled_call();
    // The prompt that was cancelled, from a harness in the state before the cancellation.
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
    harness.reply_as_actor("sleep");
    let step = harness.state().last_step().unwrap();
    assert!(step.prompt_edited && step.partial_replies.len() == 1 && step.proposed.is_some());
    let error = harness.command(Command::Undo).unwrap_err();
    assert!(error.message.contains("already used"), "{error:?}");
}

#[test]
fn another_model_can_be_asked_after_a_cancelled_call() {
    let mut harness = with_cancelled_call();
    let other = with_model(harness.state().run.as_deref().unwrap(), ModelRole::Actor, "openai:big").unwrap();
    harness.command(Command::ChangeRun(Box::new(other))).unwrap();
    assert!(harness.state().is_step_cancelled(), "the cancelled call still waits for a decision");
    assert_eq!(event_names(&harness.command(Command::Step).unwrap()), ["step_granted", "prompt_sent"]);
}

#[test]
fn taking_over_during_a_call_cancels_it_and_waits_for_the_persons_action() {
    let mut harness = with_actor_call();
    execute_command(&mut harness, Command::SetAutonomy(crate::domain::Autonomy::Human), &partial_reply());
    assert!(harness.state().is_step_cancelled());
    assert!(harness.command(Command::Step).unwrap_err().message.contains("is waiting for your action"));
    assert!(harness.command(Command::Act("sleep".to_owned())).is_ok());
}

/// Returns the call in flight that asks the mentor for this kind of reflection.
fn question_call(harness: &Harness, kind: ReflectionKind) -> CallId {
    let found = harness.state().calls.iter().find(|(_, e)| e.question().is_some_and(|q| q.kind == kind));
    *found.unwrap().0
}

/// Returns a harness after a round of two questions to the mentor: the call for Error failed, and then the call for
/// Abstract was cancelled.
fn with_failed_and_cancelled_question() -> Harness {
    let mut harness = Harness::with_mentor_calls();
    let call = question_call(&harness, ReflectionKind::Error);
    harness.reply(Reply::Failed { call, failure: sample_failure() });
    execute_command(&mut harness, Command::Cancel, &partial_reply());
    harness
}

/// Returns the numbers of failed calls, cancelled calls and calls in flight.
fn call_counts(harness: &Harness) -> (usize, usize, usize) {
    let state = harness.state();
    (state.failed_calls().count(), state.cancelled_calls.len(), state.calls.len())
}

/// Regression: retrying a failed call after editing its prompt discarded the cancelled questions of the same round
/// (retrying it unchanged didn't), and undo then reported that the mentor had been called.
#[test]
fn retrying_an_edited_prompt_keeps_cancelled_questions() {
    type Action = fn(&mut Harness) -> Result<Vec<Event>, CommandError>;
    let edit: Action = |harness| harness.command(edit_prompt("Be brief."));
    let change_sampling: Action =
        |harness| harness.command(Command::ChangeSetting { name: "mentor.seed".to_owned(), value: 9.into() });
    let retry: Action = |harness| harness.command(Command::Retry);
    let give_up: Action = |harness| harness.command(Command::GiveUp);
    let use_recording: Action = |harness| harness.command(Command::RetryFromRecording("cache".to_owned()));
    let cancel: Action = |harness| Ok(execute_command(harness, Command::Cancel, &partial_reply()));
    let run: Action = |harness| harness.command(Command::Run);
    let fail: Action = |harness| {
        let call = question_call(harness, ReflectionKind::Error);
        Ok(harness.reply(Reply::Failed { call, failure: sample_failure() }))
    };
    let answer: Action = |harness| {
        let (call, text, reasoning) =
            (question_call(harness, ReflectionKind::Error), "Beds.".to_owned(), String::new());
        Ok(harness.reply(Reply::Model {
            tool_calls: Vec::new(),
            truncated: None,
            call,
            text,
            reasoning,
            usage: Usage::default(),
        }))
    };
    let cancelled = "a model call was cancelled";
    // (actions, call counts after them, what the error of an undo then says, or `None` if the undo succeeds)
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
        (&[edit, retry, answer, use_recording], (0, 0, 1), Some("a recorded reply replaced")),
        (&[edit, retry, cancel], (0, 2, 0), Some(cancelled)),
        (&[give_up], (0, 0, 0), Some("a cancelled call was given up")),
        (&[retry, answer, run], (0, 0, 1), Some(cancelled)),
    ];
    for (n, (actions, expected, undo_message)) in cases.into_iter().enumerate() {
        let mut harness = with_failed_and_cancelled_question();
        for action in actions {
            action(&mut harness).unwrap();
        }
        assert_eq!(call_counts(&harness), expected, "case {n}");
        match (harness.command(Command::Undo), undo_message) {
            (Ok(_), None) => {}
            (Err(error), Some(text)) => assert!(error.message.contains(text), "case {n}: {error:?}"),
            (other, _) => panic!("case {n}: {other:?}"),
        }
    }
}

/// Regression: if the actor's call failed while a question to the mentor was in flight, cancelling the question reset
/// the actor's step.
#[test]
fn cancelling_a_mentor_question_leaves_the_step_unchanged() {
    let mut harness = with_actor_call();
    let (call, _) = harness.first_call().unwrap();
    // The event of a person who asks the mentor while the actor's call is in flight.
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

/// Regression: a reflection didn't record that a person had edited the mentor's prompt.
#[test]
fn a_reflection_records_that_its_prompt_was_edited() {
    let mut harness = with_failed_and_cancelled_question();
    harness.command(edit_prompt("Be brief.")).unwrap();
    harness.command(Command::Retry).unwrap();
    let (call, text, reasoning) =
        (question_call(&harness, ReflectionKind::Error), "Beds.".to_owned(), String::new());
    harness.reply(Reply::Model {
        tool_calls: Vec::new(),
        truncated: None,
        call,
        text,
        reasoning,
        usage: Usage::default(),
    });
    assert!(harness.state().reflections.last().unwrap().prompt_edited);
    assert!(harness.state().open_episode().unwrap().assisted);
}

/// The tokens of a prefetch that a cancelled call used are counted once: with the call if its partial reply reports
/// usage, or else as wasted.
#[test]
fn a_prefetch_of_a_cancelled_call_is_counted_once() {
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
        // (used, dropped, wasted tokens, tokens of the episode)
        let expected = if has_usage { (1, 0, 0, 34) } else { (0, 1, 10, 0) };
        let tokens = harness.state().open_episode().unwrap().tokens;
        assert_eq!(
            (prefetch_stats.used, prefetch_stats.dropped, prefetch_stats.wasted.tokens(), tokens),
            expected
        );
    }
}
