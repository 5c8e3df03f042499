//! Undo takes back the newest intervention of a person that has not been acted on, and no other; where it cannot, the
//! newest one that can be is offered by name.

use super::fixture::{TestEngine, event_names, sample_failure, step_result};
use super::properties::{TestInput, apply_input, new_engine, test_inputs};
use crate::domain::{Author, Autonomy, LessonOp, LessonStatus, LessonText, ReflectionKind, Scope, Seq};
use crate::engine::{Cause, Command, Envelope, Event, LessonCommand, Reply, State};
use proptest::prelude::*;

/// What a person did, as the journal alone tells it, without what lets the session go on or only comes with a deed.
fn is_intervention(event: &Event) -> bool {
    match event {
        Event::LessonChanged { author: by, .. } => *by == Author::Person,
        Event::Retried { call, reply_source: from } => call.is_none() || from.is_some(),
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

/// The interventions in force, the newest at the end.
fn interventions_in_force(journal: &[Envelope]) -> Vec<&Envelope> {
    let (mut done, mut undone): (Vec<&Envelope>, Vec<Seq>) = (Vec::new(), Vec::new());
    // The runs before they were changed, as long as nobody was asked under the new one.
    let (mut state, mut runs) = (State::default(), Vec::new());
    for envelope in journal {
        let before = state.clone();
        state.apply(envelope);
        let retried = matches!(envelope.event, Event::Retried { .. });
        if state.last_pool_use > before.last_pool_use || (retried && state.calls.len() > before.calls.len()) {
            runs.clear();
        }
        match &envelope.event {
            Event::RunChanged { spec } => {
                let last = done.last().map(|e| e.seq);
                let back = |(of, was): &(Seq, _)| Some(*of) == last && *was == Some(spec.clone());
                if runs.last().is_some_and(back) {
                    runs.pop();
                    done.pop();
                } else {
                    runs.push((envelope.seq, before.run.map(|run| Box::new((*run).clone()))));
                    done.push(envelope);
                    undone.clear();
                }
            }
            Event::LessonUndone { target_seq: of, .. } | Event::EditUndone { target_seq: of, .. } => {
                assert!(done.iter().any(|e| e.seq == *of), "{of:?} was not in force");
                done.retain(|e| e.seq != *of);
                undone.push(*of);
            }
            Event::LessonRedone { target_seq: of, .. } | Event::EditRedone { target_seq: of, .. } => {
                assert_eq!(undone.pop(), Some(*of));
                done.push(envelope);
            }
            event if envelope.cause == Cause::Person && is_intervention(event) => {
                done.push(envelope);
                undone.clear();
            }
            _ => {}
        }
    }
    done
}

/// The newest of them. One that changed a prompt which was then put together anew has nothing left to it.
fn newest_intervention(journal: &[Envelope], state: &State) -> Option<Seq> {
    let gone = |e: &Envelope| {
        let prompt = match &e.event {
            Event::PromptDrafted { prompt } => prompt,
            Event::EditRedone { change, .. } => match &**change {
                crate::domain::ManualEdit::Prompt { prompt, .. } => prompt,
                _ => return false,
            },
            _ => return false,
        };
        // A draft, or the prompt of a failed call.
        state.waiting_prompt(prompt.call) != Some(prompt) && state.last_pool_use <= e.seq
    };
    interventions_in_force(journal).into_iter().rev().find(|e| !gone(e)).map(|e| e.seq)
}

/// Something has used what was changed by then.
fn is_used_since(journal: &[Envelope], change: &Envelope) -> bool {
    let uses = |e: &&Envelope| matches!(e.event, Event::PromptSent { .. } | Event::ActionTaken { .. });
    journal.iter().filter(uses).any(|e| e.seq > change.seq)
}

/// Remarks and new lessons that nothing has used and that are still there: each must have a way back.
fn must_be_undoable(journal: &[Envelope], state: &State) -> Vec<Seq> {
    let there = |e: &&Envelope| match &e.event {
        Event::Remarked { .. } => true,
        Event::EditRedone { change, .. } => matches!(**change, crate::domain::ManualEdit::Remark { .. }),
        Event::LessonChanged { op, .. } => match &**op {
            LessonOp::Add { id, text, .. } => {
                // Those of an episode go with it.
                !is_used_since(journal, e)
                    && state
                        .pool
                        .get(id)
                        .is_some_and(|l| l.status != LessonStatus::Retired && l.text() == text)
            }
            _ => false,
        },
        _ => false,
    };
    interventions_in_force(journal).into_iter().filter(there).map(|e| e.seq).collect()
}

/// Wishes that the other laws do without.
fn more_test_inputs() -> impl Strategy<Value = TestInput> {
    let other = |name: &str| {
        let mut spec = super::fixture::run_spec(2, 6);
        name.clone_into(&mut spec.actor);
        spec
    };
    let task = other("script").tasks[0].clone();
    let wish = prop_oneof![
        Just(Command::ChangeSetting { name: "templates".to_owned(), value: "other".into() }),
        Just(Command::RetryFromRecording("cache".to_owned())),
        Just(Command::ChangeRun(Box::new(other("another")))),
        Just(Command::ChangeRun(Box::new(other("script")))),
        Just(Command::BeginEpisode(Box::new(task))),
        Just(Command::EndRun),
    ];
    prop_oneof![6 => test_inputs(), 1 => wish.prop_map(TestInput::Command)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn undo_takes_back_the_newest_deed_or_says_why_not(
        steps in prop::collection::vec(more_test_inputs(), 1..60), counselled: bool,
    ) {
        let mut bench = new_engine(counselled);
        for step in &steps {
            apply_input(&mut bench, step);
        }
        if bench.state().closed {
            bench.command(Command::Reopen).unwrap();
        }
        for _ in 0..steps.len() {
            let due = newest_intervention(&bench.journal, bench.state());
            let at = bench.journal.len();
            match (bench.command(Command::Undo), due) {
                (Ok(_), _) => match &bench.journal[at].event {
                    Event::LessonUndone { target_seq, .. } | Event::EditUndone { target_seq, .. } => prop_assert_eq!(Some(*target_seq), due),
                    Event::RunChanged { .. } => {
                        let change = bench.journal.iter().find(|e| Some(e.seq) == due).unwrap();
                        prop_assert!(matches!(change.event, Event::RunChanged { .. }), "it was the run");
                        prop_assert!(!is_used_since(&bench.journal[..at], change), "somebody was asked");
                    }
                    other => prop_assert!(false, "{other:?}"),
                },
                (Err(refusal), None) => {
                    prop_assert!(refusal.message.contains("nothing to undo"), "{refusal:?}");
                    break;
                }
                (Err(refusal), _) => {
                    prop_assert_eq!(refusal.seq, due, "{}", refusal.message);
                    prop_assert_eq!(bench.journal.len(), at, "a refusal takes nothing back");
                    let offered = refusal.older_change.map(|older| older.0);
                    let others: Vec<Seq> = interventions_in_force(&bench.journal).iter().map(|e| e.seq).collect();
                    for of in others.into_iter().filter(|of| Some(*of) != offered) {
                        prop_assert!(bench.command(Command::UndoChange(of)).is_err(), "{of:?} was not offered");
                    }
                    let Some(of) = offered else { break };
                    prop_assert!(Some(of) < due, "it is older than what cannot be taken back");
                    let change = bench.journal.iter().find(|e| e.seq == of).unwrap().clone();
                    bench.command(Command::UndoChange(of)).unwrap();
                    match &bench.journal[at].event {
                        Event::LessonUndone { target_seq: back, .. } => {
                            prop_assert_eq!(*back, of);
                            prop_assert!(!is_used_since(&bench.journal[..at], &change), "a prompt has used it");
                        }
                        Event::EditUndone { target_seq: back, change: what } => {
                            prop_assert_eq!(*back, of);
                            prop_assert!(!what.is_intervention() || !is_used_since(&bench.journal[..at], &change));
                        }
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
            }
        }
        let left = must_be_undoable(&bench.journal, bench.state());
        prop_assert!(left.is_empty(), "left behind: {left:?}");
    }
}

fn edit_lesson_command(text: &str) -> Command {
    Command::Lesson(LessonCommand::add(
        ReflectionKind::Abstract,
        Scope::Environment,
        LessonText::plain(text),
        String::new(),
    ))
}

/// Found by review: a lesson typed while the model wrote, then Ctrl-C: it was in no prompt, and yet stayed for good.
#[test]
fn a_lesson_from_before_a_call_was_broken_off_can_be_taken_back_by_name() {
    let mut bench = TestEngine::started(1, 50);
    bench.command(Command::Step).unwrap();
    bench.answer_world(step_result("A room. Your task is to: rest."));
    bench.command(edit_lesson_command("Rest in beds.")).unwrap();
    bench.command(Command::Cancel).unwrap();
    let on = |bench: &TestEngine| bench.state().pool.all().filter(|l| l.is_active()).count();
    let refusal = bench.command(Command::Undo).unwrap_err();
    assert!(refusal.message.contains("a call to a model was broken off"), "{refusal:?}");
    assert!(refusal.hint.contains("lesson 1 added"), "{refusal:?}");
    assert_eq!(on(&bench), 1, "the first press takes nothing back");
    let (of, words) = refusal.older_change.unwrap();
    assert_eq!(words, "lesson 1 added");
    assert_eq!(event_names(&bench.command(Command::UndoChange(of)).unwrap()), ["undone"]);
    assert_eq!(on(&bench), 0);
    assert!(bench.command(Command::UndoChange(of)).is_err(), "once");
    assert_eq!(bench.command(Command::Undo).unwrap_err().older_change, None);
    // Made again, it is the last thing that was done.
    bench.command(Command::Redo).unwrap();
    assert_eq!(on(&bench), 1);
    bench.command(Command::Undo).unwrap();
    assert_eq!(on(&bench), 0);
}

/// What an agent that goes on uses meanwhile is not taken back by a press that comes too late.
#[test]
fn a_change_that_was_offered_and_then_used_is_not_taken_back() {
    let mut bench = TestEngine::started(1, 50);
    bench.command(Command::Step).unwrap();
    bench.answer_world(step_result("A room. Your task is to: rest."));
    bench.command(Command::SetBreakpoint { text: "proposed".to_owned(), replaces: None }).unwrap();
    bench.command(edit_lesson_command("Rest in beds.")).unwrap();
    bench.command(Command::Cancel).unwrap();
    let (of, _) = bench.command(Command::Undo).unwrap_err().older_change.unwrap();
    bench.command(Command::Step).unwrap();
    assert!(bench.command(Command::UndoChange(of)).unwrap_err().message.contains("any more"));
    // The breakpoint before it enters no prompt.
    let (of, words) = bench.command(Command::Undo).unwrap_err().older_change.unwrap();
    assert_eq!(words, "breakpoint 1 set: proposed");
    assert_eq!(event_names(&bench.command(Command::UndoChange(of)).unwrap()), ["taken_back"]);
    assert!(bench.state().breakpoints.get(1).is_none());
}

/// The run that was chosen since says otherwise: taking the older setting back would take back a newer word.
#[test]
fn a_setting_that_a_newer_run_has_otherwise_is_not_offered() {
    let mut bench = TestEngine::started(1, 50);
    let set = |value: u32| Command::ChangeSetting { name: "max_steps".to_owned(), value: value.into() };
    let changed = |bench: &mut TestEngine, steps: u32| {
        let mut other = bench.state().run.as_deref().cloned().unwrap();
        other.limits.steps = steps;
        // Of another method: that cannot be taken back.
        other.method.push('x');
        bench.command(Command::ChangeRun(Box::new(other))).unwrap();
    };
    bench.command(Command::SetAutonomy(Autonomy::Confirm)).unwrap();
    bench.command(set(9)).unwrap();
    changed(&mut bench, 9);
    // It kept the setting as it was set: so that can go.
    let refusal = bench.command(Command::Undo).unwrap_err();
    assert!(refusal.older_change.unwrap().1.contains("max_steps"));
    changed(&mut bench, 20);
    let refusal = bench.command(Command::Undo).unwrap_err();
    let (of, words) = refusal.older_change.unwrap();
    assert_eq!(words, "autonomy confirm");
    bench.command(Command::UndoChange(of)).unwrap();
    assert_eq!(bench.state().autonomy, Autonomy::Auto);
    assert_eq!(bench.state().run.as_ref().unwrap().limits.steps, 20);
    assert_eq!(bench.command(Command::Undo).unwrap_err().older_change, None);
}

/// Found by review: after other words were sent to the actor the refusal said that the mentor had been asked.
#[test]
fn a_changed_prompt_of_the_actor_that_was_sent_is_called_that() {
    let mut bench = TestEngine::started(1, 50);
    bench.command(Command::Step).unwrap();
    bench.answer_world(step_result("A room. Your task is to: rest."));
    let (call, _) = bench.first_call().unwrap();
    bench.reply(Reply::Failed { call, failure: sample_failure() });
    bench.command(Command::EditPrompt { call: None, segment: 0, text: "other".to_owned() }).unwrap();
    assert!(event_names(&bench.command(Command::Retry).unwrap()).iter().any(|n| n == "prompt_sent"));
    let refusal = bench.command(Command::Undo).unwrap_err();
    assert!(refusal.message.contains("a changed prompt was sent"), "{refusal:?}");
}

/// An edited breakpoint that was taken back was told as "breakpoint 1 on".
#[test]
fn what_was_taken_back_and_made_again_is_named() {
    let mut bench = TestEngine::started(1, 50);
    let stop = |text: &str, of: Option<u32>| Command::SetBreakpoint { text: text.to_owned(), replaces: of };
    let text = LessonText::plain("Look first.");
    let lesson = LessonCommand::Add {
        kind: ReflectionKind::Error,
        scope: Scope::Environment,
        text,
        evidence: String::new(),
        transition: None,
        parents: Vec::new(),
        rule: None,
    };
    for (deed, back, again) in [
        (stop("step 6", None), "breakpoint 1 set: step 6", "breakpoint 1 set: step 6"),
        (
            stop("step 7", Some(1)),
            "breakpoint 1 step 7 in the place of step 6",
            "breakpoint 1 step 7 in the place of step 6",
        ),
        (
            Command::SwitchBreakpoint { breakpoint: 1, enabled: false },
            "breakpoint 1 switched off",
            "breakpoint 1 switched off",
        ),
        (Command::Lesson(lesson), "lesson 1 added", "lesson 1 put back"),
    ] {
        bench.command(deed).unwrap();
        for (wish, words) in
            [(Command::Undo, format!("taken back: {back}")), (Command::Redo, format!("made again: {again}"))]
        {
            let events = bench.command(wish).unwrap();
            assert_eq!(bench.state().describe_undo(&events[0]), Some(words));
        }
    }
}

/// Another model could not be taken back even where nobody had been asked anything since.
#[test]
fn another_model_is_taken_back_as_long_as_nobody_was_asked() {
    let change = |bench: &mut TestEngine, actor: &str| {
        let mut other = bench.state().run.as_deref().cloned().unwrap();
        actor.clone_into(&mut other.actor);
        bench.command(Command::ChangeRun(Box::new(other))).unwrap();
    };
    let mut bench = TestEngine::started(1, 50);
    bench.command(Command::Step).unwrap();
    bench.answer_world(step_result("A room. Your task is to: rest."));
    let (call, _) = bench.first_call().unwrap();
    bench.reply(Reply::Failed { call, failure: sample_failure() });
    let first = bench.state().run.clone();
    bench.command(Command::SetAutonomy(Autonomy::Confirm)).unwrap();
    change(&mut bench, "a");
    change(&mut bench, "b");
    assert_eq!(event_names(&bench.command(Command::Undo).unwrap()), ["run_changed"]);
    assert_eq!(bench.state().run.as_ref().unwrap().actor, "a");
    assert_eq!(event_names(&bench.command(Command::Undo).unwrap()), ["run_changed"]);
    assert_eq!(bench.state().run, first);
    assert_eq!(event_names(&bench.command(Command::Undo).unwrap()), ["taken_back"], "the autonomy before it");
    // The failed call asks the other model: that has happened.
    change(&mut bench, "a");
    bench.command(Command::Retry).unwrap();
    assert!(bench.command(Command::Undo).unwrap_err().message.contains("the run was changed"));
    bench.answer_actor("look");
    change(&mut bench, "b");
    bench.command(Command::Step).unwrap();
    bench.answer_world(step_result("Fine."));
    assert!(bench.command(Command::Undo).unwrap_err().message.contains("already used"));
}
