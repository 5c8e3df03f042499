//! Edits of prompts that wait to be sent. An edit blocks no other command, and requests for other prompts don't discard
//! it.

use super::fixture::{Harness, event_names, spec_with_tasks, step_result};
use crate::domain::{Autonomy, CallId, ModelRole, PromptRecord, Question, ReflectionKind, Seq};
use crate::engine::{Command, Effect, Event, Reply, State};

fn edit_prompt(call: Option<CallId>, text: &str) -> Command {
    Command::EditPrompt { call, segment: 0, text: text.to_owned() }
}

/// Returns a harness in which the actor's call was cancelled; its method can ask a mentor.
fn with_cancelled_actor_call() -> Harness {
    let mut harness = Harness::with_mentor(spec_with_tasks(1));
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.command(Command::Cancel).unwrap();
    harness
}

/// Returns a harness with two cancelled questions to the mentor.
fn with_cancelled_questions() -> Harness {
    let mut harness = Harness::with_mentor_calls();
    harness.command(Command::Cancel).unwrap();
    harness
}

/// Returns the state without the fields that an edit changes even if it is undone.
fn without_edit_traces(state: &State) -> State {
    let (head, texts, undo, redo) = Default::default();
    State { head, texts, undo_stack: undo, redo_stack: redo, ..state.clone() }
}

fn prompts_in_flight(harness: &Harness) -> Vec<PromptRecord> {
    let prompts = harness.state().calls.values().filter_map(|effect| match effect {
        Effect::Ask { prompt, .. } => Some((**prompt).clone()),
        _ => None,
    });
    prompts.collect()
}

/// Regression: after a cancelled prompt was edited, the only possible command was to send it, even if the edit was
/// undone.
#[test]
fn editing_a_cancelled_prompt_blocks_nothing_else() {
    let cases: [(Command, &[&str]); 7] = [
        (Command::Act("sleep".to_owned()), &["action_overridden", "step_granted", "action_taken"]),
        (Command::GiveUp, &["given_up"]),
        (Command::Retry, &["step_granted", "prompt_sent"]),
        (Command::AskAgain, &["step_granted", "prompt_sent"]),
        (Command::StepStage, &["stage_granted", "prompt_sent"]),
        (Command::Run, &["resumed", "prompt_sent"]),
        (Command::RetryFromRecording("cache".to_owned()), &["prompt_sent", "retried"]),
    ];
    for (command, events) in cases {
        for undone in [false, true] {
            let mut harness = with_cancelled_actor_call();
            let previous = harness.state().waiting_prompts().next().cloned().unwrap();
            let before = without_edit_traces(harness.state());
            assert_eq!(
                event_names(&harness.command(edit_prompt(None, "Be brief.")).unwrap()),
                ["text_defined", "prompt_drafted"]
            );
            assert!(harness.state().has_unsent_edit());
            if undone {
                harness.command(Command::Undo).unwrap();
                assert_eq!(without_edit_traces(harness.state()), before);
            }
            if undone && command == Command::StepStage {
                continue; // Without the edit, this command drafts the prompt again and sends nothing.
            }
            assert_eq!(event_names(&harness.command(command.clone()).unwrap()), events, "{command:?}");
            let uses_recording = matches!(command, Command::RetryFromRecording(_));
            for sent in prompts_in_flight(&harness) {
                assert!(sent.call > previous.call);
                assert_eq!(sent.edited, !undone && !uses_recording, "{command:?}");
                assert_eq!(
                    sent.sha256 == previous.sha256,
                    undone || uses_recording,
                    "{command:?}: only an unedited or recorded prompt keeps its hash"
                );
            }
        }
    }
    // Giving up discards the call and its edit; undo can't restore the edit alone.
    let mut harness = with_cancelled_actor_call();
    harness.command(edit_prompt(None, "Be brief.")).unwrap();
    harness.command(Command::GiveUp).unwrap();
    let error = harness.command(Command::Undo).unwrap_err();
    assert!(error.older_change.is_none() && harness.state().draft.is_none(), "{error:?}");
    // A person who takes over can act, which discards the edit.
    let mut harness = with_cancelled_actor_call();
    harness.command(edit_prompt(None, "Be brief.")).unwrap();
    harness.command(Command::SetAutonomy(Autonomy::Human)).unwrap();
    harness.command(Command::Act("sleep".to_owned())).unwrap();
    assert!(!harness.state().has_unsent_edit());
}

/// Regression: a question to the mentor was sent with the call id of the actor's draft, and the actor was then asked
/// without the person's edit.
#[test]
fn asking_the_mentor_keeps_the_edit_of_the_actors_prompt() {
    for staged in [false, true] {
        let mut harness = with_cancelled_actor_call();
        if staged {
            harness.command(Command::StepStage).unwrap();
            assert!(harness.state().draft.is_some());
        }
        harness.command(edit_prompt(None, "Be brief.")).unwrap();
        let waiting = harness.state().waiting_prompts().next().cloned().unwrap();
        harness.command(Command::Reflect(ReflectionKind::Error)).unwrap();
        let sent = prompts_in_flight(&harness);
        assert!(sent.len() == 1 && sent[0].role == ModelRole::Mentor && sent[0].call > waiting.call);
        let (call, text, reasoning) = (sent[0].call, "Beds.".to_owned(), String::new());
        harness.reply(Reply::Model {
            tool_calls: Vec::new(),
            truncated: None,
            call,
            text,
            reasoning,
            usage: crate::domain::Usage::default(),
        });
        harness.command(Command::Step).unwrap();
        let sent = prompts_in_flight(&harness);
        assert_eq!(
            (sent.len(), &sent[0].sha256, sent[0].edited),
            (1, &waiting.sha256, true),
            "staged: {staged}"
        );
    }
}

/// Older versions of the program could give a question the call id of a waiting draft.
#[test]
fn a_question_with_the_call_id_of_a_draft_replaces_the_draft() {
    let mut harness = with_cancelled_actor_call();
    harness.command(Command::StepStage).unwrap();
    let call = harness.state().draft.as_ref().unwrap().call;
    let question = Some(Question::reflect(ReflectionKind::Error));
    let prompt = PromptRecord { call, role: ModelRole::Mentor, question, ..PromptRecord::default() };
    let (seq, event) = (Seq(harness.state().head.0 + 1), Event::PromptSent { prompt: prompt.into() });
    let cause = crate::engine::Cause::Person;
    harness.engine.state.apply(&crate::engine::Envelope {
        seq,
        timestamp: harness.timestamp,
        cause,
        batch_continues: false,
        event,
    });
    assert!(harness.state().draft.is_none());
}

/// Regression: editing a second cancelled question discarded the edit of the first.
#[test]
fn each_cancelled_question_keeps_its_own_edit() {
    for at_once in [true, false] {
        let mut harness = with_cancelled_questions();
        harness
            .command(Command::ChangeSetting { name: "mentor_at_once".to_owned(), value: at_once.into() })
            .unwrap();
        let calls: Vec<CallId> = harness.state().waiting_prompts().map(|p| p.call).collect();
        for (call, text) in calls.iter().zip(["first", "second"]) {
            harness.command(edit_prompt(Some(*call), text)).unwrap();
        }
        let hashes = |harness: &Harness| -> Vec<String> {
            harness.state().waiting_prompts().map(|p| p.sha256.clone()).collect()
        };
        assert_eq!(hashes(&harness), ["edited first", "edited second"]);
        harness.command(Command::Undo).unwrap();
        assert_eq!(hashes(&harness), ["edited first", ""]);
        harness.command(Command::Redo).unwrap();
        harness.command(Command::Run).unwrap();
        let mut sent = prompts_in_flight(&harness);
        if !at_once {
            let (call, text, reasoning) = (sent[0].call, "Beds.".to_owned(), String::new());
            harness.reply(Reply::Model {
                tool_calls: Vec::new(),
                truncated: None,
                call,
                text,
                reasoning,
                usage: crate::domain::Usage::default(),
            });
            sent.extend(prompts_in_flight(&harness));
        }
        let sent: Vec<&str> = sent.iter().map(|p| p.sha256.as_str()).collect();
        assert_eq!(sent, ["edited first", "edited second"], "mentor_at_once: {at_once}");
    }
}
