//! Prompts with a person's words that wait: nothing else is lost by them, and they are not lost by anything else.

use super::fixture::{TestEngine, event_names, step_result};
use crate::domain::{Autonomy, CallId, ModelRole, PromptRecord, Question, ReflectionKind, Seq};
use crate::engine::{Command, Effect, Event, Reply, State};

fn edit_prompt(call: Option<CallId>, text: &str) -> Command {
    Command::EditPrompt { call, segment: 0, text: text.to_owned() }
}

/// The actor's call was broken off, by a run whose method can ask a mentor.
fn with_cancelled_actor_call() -> TestEngine {
    let mut bench = TestEngine::with_mentor(1, 50);
    bench.command(Command::Step).unwrap();
    bench.answer_world(step_result("A room. Your task is to: rest."));
    bench.command(Command::Cancel).unwrap();
    bench
}

/// Two questions to the mentor were broken off.
fn with_cancelled_questions() -> TestEngine {
    let mut bench = TestEngine::with_mentor_calls();
    bench.command(Command::Cancel).unwrap();
    bench
}

/// All that is not the count of what was done and undone.
fn without_undo(state: &State) -> State {
    let (head, texts, undo, redo) = Default::default();
    State { head, texts, undo_stack: undo, redo_stack: redo, ..state.clone() }
}

fn prompts_in_flight(bench: &TestEngine) -> Vec<PromptRecord> {
    let asks = bench.state().calls.values().filter_map(|effect| match effect {
        Effect::Ask { prompt, .. } => Some((**prompt).clone()),
        _ => None,
    });
    asks.collect()
}

/// With other words for the prompt nothing but sending them was possible, also after they were taken back.
#[test]
fn other_words_for_a_turn_that_was_broken_off_were_a_trap() {
    let cases: [(Command, &[&str]); 7] = [
        (Command::Act("sleep".to_owned()), &["action_overridden", "step_granted", "action_taken"]),
        (Command::GiveUp, &["given_up"]),
        (Command::Retry, &["step_granted", "prompt_sent"]),
        (Command::AskAgain, &["step_granted", "prompt_sent"]),
        (Command::StepStage, &["stage_granted", "prompt_sent"]),
        (Command::Run, &["resumed", "prompt_sent"]),
        (Command::RetryFromRecording("cache".to_owned()), &["prompt_sent", "retried"]),
    ];
    for (wish, events) in cases {
        for back in [false, true] {
            let mut bench = with_cancelled_actor_call();
            let was = bench.state().waiting_prompts().next().cloned().unwrap();
            let before = without_undo(bench.state());
            assert_eq!(
                event_names(&bench.command(edit_prompt(None, "Be brief.")).unwrap()),
                ["text_defined", "prompt_drafted"]
            );
            assert!(bench.state().has_unsent_edit());
            if back {
                bench.command(Command::Undo).unwrap();
                assert_eq!(without_undo(bench.state()), before);
            }
            if back && wish == Command::StepStage {
                continue; // It is drafted anew.
            }
            assert_eq!(event_names(&bench.command(wish.clone()).unwrap()), events, "{wish:?}");
            let recorded = matches!(wish, Command::RetryFromRecording(_));
            for sent in prompts_in_flight(&bench) {
                assert!(sent.call > was.call);
                assert_eq!(sent.edited, !back && !recorded, "{wish:?}");
                assert_eq!(sent.sha256 == was.sha256, back || recorded, "a recording knows what was asked");
            }
        }
    }
    // Given up, the words are gone with the call, and undo does not bring back half of them.
    let mut bench = with_cancelled_actor_call();
    bench.command(edit_prompt(None, "Be brief.")).unwrap();
    bench.command(Command::GiveUp).unwrap();
    let refusal = bench.command(Command::Undo).unwrap_err();
    assert!(refusal.older_change.is_none() && bench.state().draft.is_none(), "{refusal:?}");
    // A person who plays acts.
    let mut bench = with_cancelled_actor_call();
    bench.command(edit_prompt(None, "Be brief.")).unwrap();
    bench.command(Command::SetAutonomy(Autonomy::Human)).unwrap();
    bench.command(Command::Act("sleep".to_owned())).unwrap();
    assert!(!bench.state().has_unsent_edit());
}

/// The question to the mentor went out under the draft's number, and the next step asked without the words.
#[test]
fn a_reflection_took_the_words_of_a_draft_that_waited() {
    for staged in [false, true] {
        let mut bench = with_cancelled_actor_call();
        if staged {
            bench.command(Command::StepStage).unwrap();
            assert!(bench.state().draft.is_some());
        }
        bench.command(edit_prompt(None, "Be brief.")).unwrap();
        let waits = bench.state().waiting_prompts().next().cloned().unwrap();
        bench.command(Command::Reflect(ReflectionKind::Error)).unwrap();
        let asked = prompts_in_flight(&bench);
        assert!(asked.len() == 1 && asked[0].role == ModelRole::Mentor && asked[0].call > waits.call);
        let (call, text, reasoning) = (asked[0].call, "Beds.".to_owned(), String::new());
        bench.reply(Reply::Model {
            truncated: None,
            call,
            text,
            reasoning,
            usage: crate::domain::Usage::default(),
        });
        bench.command(Command::Step).unwrap();
        let sent = prompts_in_flight(&bench);
        assert_eq!((sent.len(), &sent[0].sha256, sent[0].edited), (1, &waits.sha256, true), "{staged}");
    }
}

/// What older programs wrote, where the question took the draft's number and place.
#[test]
fn a_question_under_the_number_of_a_draft_takes_its_place() {
    let mut bench = with_cancelled_actor_call();
    bench.command(Command::StepStage).unwrap();
    let call = bench.state().draft.as_ref().unwrap().call;
    let question = Some(Question::reflect(ReflectionKind::Error));
    let prompt = PromptRecord { call, role: ModelRole::Mentor, question, ..PromptRecord::default() };
    let (seq, event) = (Seq(bench.state().head.0 + 1), Event::PromptSent { prompt: prompt.into() });
    let cause = crate::engine::Cause::Person;
    bench.engine.state.apply(&crate::engine::Envelope {
        seq,
        timestamp: bench.at,
        cause,
        batch_continues: false,
        event,
    });
    assert!(bench.state().draft.is_none());
}

/// The second of two changed questions took the place of the first.
#[test]
fn each_question_that_was_broken_off_keeps_its_own_words() {
    for at_once in [true, false] {
        let mut bench = with_cancelled_questions();
        bench
            .command(Command::ChangeSetting { name: "mentor_at_once".to_owned(), value: at_once.into() })
            .unwrap();
        let calls: Vec<CallId> = bench.state().waiting_prompts().map(|p| p.call).collect();
        for (call, words) in calls.iter().zip(["first", "second"]) {
            bench.command(edit_prompt(Some(*call), words)).unwrap();
        }
        let words = |bench: &TestEngine| -> Vec<String> {
            bench.state().waiting_prompts().map(|p| p.sha256.clone()).collect()
        };
        assert_eq!(words(&bench), ["edited first", "edited second"]);
        bench.command(Command::Undo).unwrap();
        assert_eq!(words(&bench), ["edited first", ""]);
        bench.command(Command::Redo).unwrap();
        bench.command(Command::Run).unwrap();
        let mut sent = prompts_in_flight(&bench);
        if !at_once {
            let (call, text, reasoning) = (sent[0].call, "Beds.".to_owned(), String::new());
            bench.reply(Reply::Model {
                truncated: None,
                call,
                text,
                reasoning,
                usage: crate::domain::Usage::default(),
            });
            sent.extend(prompts_in_flight(&bench));
        }
        let sent: Vec<&str> = sent.iter().map(|p| p.sha256.as_str()).collect();
        assert_eq!(sent, ["edited first", "edited second"], "{at_once}");
    }
}
