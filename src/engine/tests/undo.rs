//! Undo takes back the newest intervention of a person that has not been acted on, and no other.

use super::properties::{Move, bench, moves, play};
use crate::domain::{Author, Seq};
use crate::engine::{Cause, Command, Envelope, Event, State};
use proptest::prelude::*;

/// What a person did, as the journal alone tells it, without what lets the session go on or only comes with a deed.
fn intervenes(event: &Event) -> bool {
    match event {
        Event::LessonChanged { by, .. } => *by == Author::Person,
        Event::Retried { call, from } => call.is_none() || from.is_some(),
        Event::Reflected { reflection } => reflection.call.is_none(),
        _ => !matches!(
            event,
            Event::Approved { .. }
                | Event::Resumed
                | Event::PauseRequested
                | Event::Paused { .. }
                | Event::StepGranted
                | Event::StageGranted
                | Event::StepOpened { .. }
                | Event::TextDefined { .. }
                | Event::MemorySet { .. }
        ),
    }
}

/// The newest intervention in force. One that changed a prompt which was then put together anew has nothing left to it.
fn newest(journal: &[Envelope], state: &State) -> Option<Seq> {
    let (mut done, mut undone): (Vec<&Envelope>, Vec<Seq>) = (Vec::new(), Vec::new());
    for envelope in journal {
        match &envelope.event {
            Event::Undone { of, .. } | Event::TakenBack { of, .. } => {
                assert!(done.iter().any(|e| e.seq == *of), "{of:?} was not in force");
                done.retain(|e| e.seq != *of);
                undone.push(*of);
            }
            Event::Redone { of, .. } | Event::MadeAgain { of, .. } => {
                assert_eq!(undone.pop(), Some(*of));
                done.push(envelope);
            }
            event if envelope.cause == Cause::Person && intervenes(event) => {
                done.push(envelope);
                undone.clear();
            }
            _ => {}
        }
    }
    let gone = |e: &Envelope| {
        let prompt = match &e.event {
            Event::PromptDrafted { prompt } => prompt,
            Event::MadeAgain { change, .. } => match &**change {
                crate::domain::HandChange::Prompt { prompt, .. } => prompt,
                _ => return false,
            },
            _ => return false,
        };
        state.waits_for(prompt.call) != Some(prompt) && state.pool_used <= e.seq
    };
    done.into_iter().rev().find(|e| !gone(e)).map(|e| e.seq)
}

/// Wishes that the other laws do without.
fn more_moves() -> impl Strategy<Value = Move> {
    let other = |name: &str| {
        let mut spec = super::fixture::spec(2, 6);
        name.clone_into(&mut spec.actor);
        spec
    };
    let task = other("script").tasks[0].clone();
    let wish = prop_oneof![
        Just(Command::Set { name: "templates".to_owned(), value: "other".into() }),
        Just(Command::RetryFrom("cache".to_owned())),
        Just(Command::ChangeRun(Box::new(other("another")))),
        Just(Command::ChangeRun(Box::new(other("script")))),
        Just(Command::Begin(Box::new(task))),
        Just(Command::EndRun),
    ];
    prop_oneof![6 => moves(), 1 => wish.prop_map(Move::Wish)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn undo_takes_back_the_newest_deed_or_says_why_not(
        steps in prop::collection::vec(more_moves(), 1..60), counselled: bool,
    ) {
        let mut bench = bench(counselled);
        for step in &steps {
            play(&mut bench, step);
        }
        if bench.state().closed {
            bench.wish(Command::Reopen).unwrap();
        }
        for _ in 0..steps.len() {
            let due = newest(&bench.journal, bench.state());
            let at = bench.journal.len();
            match (bench.wish(Command::Undo), due) {
                (Ok(_), _) => match &bench.journal[at].event {
                    Event::Undone { of, .. } | Event::TakenBack { of, .. } => prop_assert_eq!(Some(*of), due),
                    other => prop_assert!(false, "{other:?}"),
                },
                (Err(refusal), None) => {
                    prop_assert!(refusal.why.contains("nothing to undo"), "{refusal:?}");
                    break;
                }
                (Err(refusal), _) => {
                    prop_assert_eq!(refusal.about, due, "{}", refusal.why);
                    break;
                }
            }
        }
    }
}
