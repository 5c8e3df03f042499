//! Undo reverts a person's newest intervention and nothing else. If that intervention can't be undone, the error offers
//! the newest change that can be.

use super::fixture::{Harness, event_names, sample_failure, step_result};
use super::properties::{TestInput, apply_input, short_run, start_short_run, test_inputs};
use crate::domain::{Author, Autonomy, LessonOp, LessonStatus, LessonText, ReflectionKind, Scope, Seq};
use crate::engine::{Cause, Command, Envelope, Event, LessonCommand, Reply, State};
use proptest::prelude::*;

/// Returns whether an event that a person caused is an intervention. Events that only continue the session, or that
/// accompany an intervention in the same batch, aren't.
fn is_intervention(event: &Event) -> bool {
    match event {
        Event::LessonChanged { author, .. } => *author == Author::Person,
        Event::Retried { call, reply_source } => call.is_none() || reply_source.is_some(),
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

/// Returns the interventions that haven't been undone, newest last. Determines them from the journal, without the undo
/// stack.
fn interventions_not_undone(journal: &[Envelope]) -> Vec<&Envelope> {
    let (mut done, mut undone): (Vec<&Envelope>, Vec<Seq>) = (Vec::new(), Vec::new());
    // Changes of the run that no call has used yet, each with the run before it.
    let (mut state, mut unused_changes) = (State::default(), Vec::new());
    for envelope in journal {
        let before = state.clone();
        state.apply(envelope);
        let retried = matches!(envelope.event, Event::Retried { .. });
        if state.last_pool_use > before.last_pool_use || (retried && state.calls.len() > before.calls.len()) {
            unused_changes.clear();
        }
        match &envelope.event {
            Event::RunChanged { spec } => {
                // Changing back to the previous run undoes the last change.
                let last = done.iter().rev().find(|e| !is_obsolete(e, &before)).map(|e| e.seq);
                let is_inverse = |(target_seq, previous): &(Seq, _)| {
                    Some(*target_seq) == last && *previous == Some(spec.clone())
                };
                if unused_changes.last().is_some_and(is_inverse) {
                    unused_changes.pop();
                    done.retain(|e| Some(e.seq) != last);
                } else {
                    unused_changes.push((envelope.seq, before.run.map(|run| Box::new((*run).clone()))));
                    done.push(envelope);
                    undone.clear();
                }
            }
            Event::LessonUndone { target_seq, .. } | Event::EditUndone { target_seq, .. } => {
                assert!(
                    done.iter().any(|e| e.seq == *target_seq),
                    "{target_seq:?} is not an intervention that could be undone"
                );
                done.retain(|e| e.seq != *target_seq);
                undone.push(*target_seq);
            }
            Event::LessonRedone { target_seq, .. } | Event::EditRedone { target_seq, .. } => {
                assert_eq!(undone.pop(), Some(*target_seq));
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

/// Returns whether the event is an edit of a prompt that nothing has used and that no longer waits as edited.
fn is_obsolete(event: &Envelope, state: &State) -> bool {
    let prompt = match &event.event {
        Event::PromptDrafted { prompt } => prompt,
        Event::EditRedone { change, .. } => match &**change {
            crate::domain::ManualEdit::Prompt { prompt, .. } => prompt,
            _ => return false,
        },
        _ => return false,
    };
    state.waiting_prompt(prompt.call) != Some(prompt) && state.last_pool_use <= event.seq
}

/// Returns the newest intervention that hasn't been undone and isn't obsolete.
fn newest_intervention(journal: &[Envelope], state: &State) -> Option<Seq> {
    interventions_not_undone(journal).into_iter().rev().find(|e| !is_obsolete(e, state)).map(|e| e.seq)
}

/// Returns whether a prompt was sent or an action was taken after the change.
fn is_used(journal: &[Envelope], change: &Envelope) -> bool {
    let uses = |e: &&Envelope| matches!(e.event, Event::PromptSent { .. } | Event::ActionTaken { .. });
    journal.iter().filter(uses).any(|e| e.seq > change.seq)
}

/// Returns interventions that undo must be able to revert: remarks, and added lessons that still have their text and
/// that no prompt or action has used.
fn must_be_undoable(journal: &[Envelope], state: &State) -> Vec<Seq> {
    let is_undoable = |e: &&Envelope| match &e.event {
        Event::Remarked { .. } => true,
        Event::EditRedone { change, .. } => matches!(**change, crate::domain::ManualEdit::Remark { .. }),
        Event::LessonChanged { op, .. } => match &**op {
            LessonOp::Add { id, text, .. } => {
                // Lessons with episode scope are removed when the episode ends.
                !is_used(journal, e)
                    && state
                        .pool
                        .get(id)
                        .is_some_and(|l| l.status != LessonStatus::Retired && l.text() == text)
            }
            _ => false,
        },
        _ => false,
    };
    interventions_not_undone(journal).into_iter().filter(is_undoable).map(|e| e.seq).collect()
}

/// Returns [`test_inputs`] and, less often, commands that can't be undone or that change the run.
fn undo_test_inputs() -> impl Strategy<Value = TestInput> {
    let run_with_actor = |actor: &str| {
        let mut spec = short_run();
        actor.clone_into(&mut spec.actor);
        spec
    };
    let task = short_run().tasks[0].clone();
    let command = prop_oneof![
        Just(Command::ChangeSetting { name: "templates".to_owned(), value: "other".into() }),
        Just(Command::RetryFromRecording("cache".to_owned())),
        Just(Command::ChangeRun(Box::new(run_with_actor("another")))),
        Just(Command::ChangeRun(Box::new(run_with_actor("script")))),
        Just(Command::BeginEpisode(Box::new(task))),
        Just(Command::EndRun),
    ];
    prop_oneof![6 => test_inputs(), 1 => command.prop_map(TestInput::Command)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn undo_reverts_the_newest_intervention_or_fails_with_its_seq(
        inputs in prop::collection::vec(undo_test_inputs(), 1..60), has_mentor: bool,
    ) {
        let mut harness = start_short_run(has_mentor);
        for input in &inputs {
            apply_input(&mut harness, input);
        }
        if harness.state().closed {
            harness.command(Command::Reopen).unwrap();
        }
        for _ in 0..inputs.len() {
            let newest = newest_intervention(&harness.journal, harness.state());
            let length = harness.journal.len();
            match (harness.command(Command::Undo), newest) {
                (Ok(_), _) => match &harness.journal[length].event {
                    Event::LessonUndone { target_seq, .. } | Event::EditUndone { target_seq, .. } => {
                        prop_assert_eq!(Some(*target_seq), newest);
                    }
                    Event::RunChanged { .. } => {
                        let change = harness.journal.iter().find(|e| Some(e.seq) == newest).unwrap();
                        prop_assert!(
                            matches!(change.event, Event::RunChanged { .. }),
                            "only a change of the run is undone by another"
                        );
                        prop_assert!(
                            !is_used(&harness.journal[..length], change),
                            "undid a change that was already used"
                        );
                    }
                    other => prop_assert!(false, "{other:?}"),
                },
                (Err(error), None) => {
                    prop_assert!(error.message.contains("nothing to undo"), "{error:?}");
                    break;
                }
                (Err(error), _) => {
                    prop_assert_eq!(error.seq, newest, "{}", error.message);
                    prop_assert_eq!(harness.journal.len(), length, "a rejected undo changes nothing");
                    let offered = error.older_change.map(|older| older.0);
                    let others: Vec<Seq> = interventions_not_undone(&harness.journal).iter().map(|e| e.seq).collect();
                    for target_seq in others.into_iter().filter(|target_seq| Some(*target_seq) != offered) {
                        prop_assert!(
                            harness.command(Command::UndoChange(target_seq)).is_err(),
                            "{target_seq:?} was undone although it wasn't offered"
                        );
                    }
                    let Some(target_seq) = offered else { break };
                    prop_assert!(
                        Some(target_seq) < newest,
                        "the offered change is older than the one that can't be undone"
                    );
                    let change = harness.journal.iter().find(|e| e.seq == target_seq).unwrap().clone();
                    harness.command(Command::UndoChange(target_seq)).unwrap();
                    match &harness.journal[length].event {
                        Event::LessonUndone { target_seq: undone, .. } => {
                            prop_assert_eq!(*undone, target_seq);
                            prop_assert!(
                                !is_used(&harness.journal[..length], &change),
                                "undid a change that was already used"
                            );
                        }
                        Event::EditUndone { target_seq: undone, change: edit } => {
                            prop_assert_eq!(*undone, target_seq);
                            prop_assert!(!edit.is_intervention() || !is_used(&harness.journal[..length], &change));
                        }
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
            }
        }
        let not_undone = must_be_undoable(&harness.journal, harness.state());
        prop_assert!(not_undone.is_empty(), "undo could not revert {not_undone:?}");
    }
}

fn add_lesson(text: &str) -> Command {
    Command::Lesson(LessonCommand::add(
        ReflectionKind::Abstract,
        Scope::Environment,
        LessonText::plain(text),
        String::new(),
    ))
}

/// Regression: if a person added a lesson during a model call and then cancelled the call, the lesson couldn't be
/// undone, although no prompt contained it.
#[test]
fn a_lesson_added_before_a_cancellation_is_offered_and_can_be_undone() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.command(add_lesson("Rest in beds.")).unwrap();
    harness.command(Command::Cancel).unwrap();
    let active_lessons = |harness: &Harness| harness.state().pool.all().filter(|l| l.is_active()).count();
    let error = harness.command(Command::Undo).unwrap_err();
    assert!(error.message.contains("a model call was cancelled"), "{error:?}");
    assert!(error.hint.contains("lesson 1 added"), "{error:?}");
    assert_eq!(active_lessons(&harness), 1, "the rejected undo changes nothing");
    let (target_seq, description) = error.older_change.unwrap();
    assert_eq!(description, "lesson 1 added");
    assert_eq!(event_names(&harness.command(Command::UndoChange(target_seq)).unwrap()), ["undone"]);
    assert_eq!(active_lessons(&harness), 0);
    assert!(harness.command(Command::UndoChange(target_seq)).is_err(), "it has already been undone");
    assert_eq!(harness.command(Command::Undo).unwrap_err().older_change, None);
    // After a redo, the lesson is the newest change, so a plain undo reverts it.
    harness.command(Command::Redo).unwrap();
    assert_eq!(active_lessons(&harness), 1);
    harness.command(Command::Undo).unwrap();
    assert_eq!(active_lessons(&harness), 0);
}

#[test]
fn an_offered_change_can_no_longer_be_undone_after_a_prompt_used_it() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.command(Command::SetBreakpoint { text: "proposed".to_owned(), replaces: None }).unwrap();
    harness.command(add_lesson("Rest in beds.")).unwrap();
    harness.command(Command::Cancel).unwrap();
    let (target_seq, _) = harness.command(Command::Undo).unwrap_err().older_change.unwrap();
    harness.command(Command::Step).unwrap();
    assert!(harness.command(Command::UndoChange(target_seq)).unwrap_err().message.contains("no longer"));
    // No prompt uses a breakpoint, so the one that was set before the lesson is offered now.
    let (target_seq, description) = harness.command(Command::Undo).unwrap_err().older_change.unwrap();
    assert_eq!(description, "breakpoint 1 set: proposed");
    assert_eq!(event_names(&harness.command(Command::UndoChange(target_seq)).unwrap()), ["taken_back"]);
    assert!(harness.state().breakpoints.get(1).is_none());
}

/// If a later change of the run gave the setting another value, undoing the older change would overwrite the newer
/// value.
#[test]
fn a_setting_that_a_later_change_of_the_run_overwrote_is_not_offered() {
    let mut harness = Harness::with_tasks(1);
    let set_step_limit =
        |value: u32| Command::ChangeSetting { name: "max_steps".to_owned(), value: value.into() };
    let change_run = |harness: &mut Harness, steps: u32| {
        let mut other = harness.state().run.as_deref().cloned().unwrap();
        other.limits.steps = steps;
        // Another method makes the change irreversible, so undo offers an older one.
        other.method.push('x');
        harness.command(Command::ChangeRun(Box::new(other))).unwrap();
    };
    harness.command(Command::SetAutonomy(Autonomy::Confirm)).unwrap();
    harness.command(set_step_limit(9)).unwrap();
    change_run(&mut harness, 9);
    // The new run has the same value, so the setting can be undone.
    let error = harness.command(Command::Undo).unwrap_err();
    assert!(error.older_change.unwrap().1.contains("max_steps"));
    change_run(&mut harness, 20);
    let error = harness.command(Command::Undo).unwrap_err();
    let (target_seq, description) = error.older_change.unwrap();
    assert_eq!(description, "autonomy confirm");
    harness.command(Command::UndoChange(target_seq)).unwrap();
    assert_eq!(harness.state().autonomy, Autonomy::Auto);
    assert_eq!(harness.state().run.as_ref().unwrap().limits.steps, 20);
    assert_eq!(harness.command(Command::Undo).unwrap_err().older_change, None);
}

/// Regression: after an edited prompt was sent to the actor, the error of an undo said that the mentor had been called.
#[test]
fn the_error_of_an_undo_after_an_edited_actor_prompt_names_that_prompt() {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    let (call, _) = harness.first_call().unwrap();
    harness.reply(Reply::Failed { call, failure: sample_failure() });
    harness.command(Command::EditPrompt { call: None, segment: 0, text: "other".to_owned() }).unwrap();
    assert!(event_names(&harness.command(Command::Retry).unwrap()).iter().any(|n| n == "prompt_sent"));
    let error = harness.command(Command::Undo).unwrap_err();
    assert!(error.message.contains("an edited prompt was sent"), "{error:?}");
}

/// Regression: undoing an edit of a breakpoint was reported as "breakpoint 1 on".
#[test]
fn undo_and_redo_describe_the_change() {
    let mut harness = Harness::with_tasks(1);
    let set_breakpoint =
        |text: &str, replaces: Option<u32>| Command::SetBreakpoint { text: text.to_owned(), replaces };
    let text = LessonText::plain("Look first.");
    let lesson = LessonCommand::Add {
        kind: ReflectionKind::Error,
        scope: Scope::Environment,
        text,
        evidence: String::new(),
        transition: None,
        parents: Vec::new(),
        rule: None,
        pinned: false,
    };
    // (command, what undo reverts, what redo restores)
    for (edit, undone, redone) in [
        (set_breakpoint("step 6", None), "breakpoint 1 set: step 6", "breakpoint 1 set: step 6"),
        (
            set_breakpoint("step 7", Some(1)),
            "breakpoint 1 changed from step 6 to step 7",
            "breakpoint 1 changed from step 6 to step 7",
        ),
        (
            Command::SwitchBreakpoint { breakpoint: 1, enabled: false },
            "breakpoint 1 switched off",
            "breakpoint 1 switched off",
        ),
        (Command::Lesson(lesson), "lesson 1 is gone", "lesson 1 restored"),
    ] {
        harness.command(edit).unwrap();
        for (command, description) in
            [(Command::Undo, format!("undone: {undone}")), (Command::Redo, format!("redone: {redone}"))]
        {
            let events = harness.command(command).unwrap();
            assert_eq!(harness.state().describe_undo(&events[0]), Some(description));
        }
    }
    // Regression: "undone: lesson 1 switched off" left open whether the lesson is on or off.
    let id = harness.state().pool.all().next().unwrap().id.clone();
    for (status, undone, redone) in [
        (LessonStatus::Off, "undone: lesson 1 is on again", "redone: lesson 1 switched off"),
        (LessonStatus::On, "undone: lesson 1 is off again", "redone: lesson 1 switched on"),
        (LessonStatus::Pinned, "undone: lesson 1 is no longer pinned", "redone: lesson 1 pinned"),
        (LessonStatus::Retired, "undone: lesson 1 is back, pinned", "redone: lesson 1 deleted"),
    ] {
        harness.command(Command::Lesson(LessonCommand::Status { id: id.clone(), status })).unwrap();
        for (command, description) in [(Command::Undo, undone), (Command::Redo, redone)] {
            let events = harness.command(command).unwrap();
            assert_eq!(harness.state().describe_undo(&events[0]).as_deref(), Some(description));
        }
    }
}

/// Regression: a change of the model couldn't be undone even if no call had been made since.
#[test]
fn a_change_of_model_can_be_undone_until_it_is_used() {
    let change_actor = |harness: &mut Harness, actor: &str| {
        let mut other = harness.state().run.as_deref().cloned().unwrap();
        actor.clone_into(&mut other.actor);
        harness.command(Command::ChangeRun(Box::new(other))).unwrap();
    };
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    let (call, _) = harness.first_call().unwrap();
    harness.reply(Reply::Failed { call, failure: sample_failure() });
    let first = harness.state().run.clone();
    harness.command(Command::SetAutonomy(Autonomy::Confirm)).unwrap();
    change_actor(&mut harness, "a");
    change_actor(&mut harness, "b");
    assert_eq!(event_names(&harness.command(Command::Undo).unwrap()), ["run_changed"]);
    assert_eq!(harness.state().run.as_ref().unwrap().actor, "a");
    assert_eq!(event_names(&harness.command(Command::Undo).unwrap()), ["run_changed"]);
    assert_eq!(harness.state().run, first);
    assert_eq!(
        event_names(&harness.command(Command::Undo).unwrap()),
        ["taken_back"],
        "undoes the older autonomy change"
    );
    // Retrying the failed call sends it to the new model, so the change can no longer be undone.
    change_actor(&mut harness, "a");
    harness.command(Command::Retry).unwrap();
    assert!(harness.command(Command::Undo).unwrap_err().message.contains("the run was changed"));
    harness.reply_as_actor("look");
    change_actor(&mut harness, "b");
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("Fine."));
    assert!(harness.command(Command::Undo).unwrap_err().message.contains("already used"));
}

/// Regression: after a run change, a prompt was edited and drafted anew. Undoing the run change then counted as another
/// change of the run, so each further undo changed the run back and forth, and older changes couldn't be undone.
#[test]
fn undoing_a_run_change_below_an_obsolete_prompt_edit_undoes_it_once() {
    let mut harness = start_short_run(false);
    let change_run = |harness: &mut Harness, actor: &str| {
        let mut spec = short_run();
        actor.clone_into(&mut spec.actor);
        harness.command(Command::ChangeRun(Box::new(spec))).unwrap();
    };
    harness.command(Command::Step).unwrap();
    change_run(&mut harness, "another");
    harness.command(Command::StepStage).unwrap();
    harness.command(add_lesson("look first")).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    change_run(&mut harness, "script");
    harness.command(Command::StepStage).unwrap();
    let edit = Command::EditPrompt { call: None, segment: 0, text: "other".to_owned() };
    harness.command(edit).unwrap();
    // The draft is written again with the lesson, so the edit is obsolete.
    harness.command(add_lesson("look twice")).unwrap();
    for _ in 0..4 {
        harness.command(Command::Undo).unwrap();
    }
    assert!(harness.state().pool.all().all(|lesson| !lesson.is_active()));
    assert!(harness.command(Command::Undo).unwrap_err().message.contains("nothing to undo"));
}

/// A lesson that is pinned, or taken over from a saved pool, as it is added is one change.
#[test]
fn a_lesson_pinned_from_the_start_is_undone_and_redone_as_one_change() {
    use crate::domain::{LessonId, LessonOrigin};
    let mut harness = Harness::with_tasks(1);
    let lesson = LessonCommand::Add {
        kind: ReflectionKind::Error,
        scope: Scope::Environment,
        text: LessonText::plain("Look first."),
        evidence: String::new(),
        transition: None,
        parents: Vec::new(),
        rule: None,
        pinned: true,
    };
    harness.command(Command::Lesson(lesson)).unwrap();
    let status = |harness: &Harness| harness.state().pool.by_number(1).unwrap().status;
    assert_eq!(status(&harness), LessonStatus::Pinned);
    for (command, after) in [(Command::Undo, LessonStatus::Retired), (Command::Redo, LessonStatus::Pinned)] {
        assert_eq!(harness.command(command).unwrap().len(), 1);
        assert_eq!(status(&harness), after);
    }

    let mut saved = harness.state().pool.by_number(1).unwrap().clone();
    saved.id = LessonId("0123456789ab".into());
    saved.origin = LessonOrigin::Mentor;
    saved.taken_from = Some("pool.jsonl".into());
    let events = harness.command(Command::Lesson(LessonCommand::Load(Box::new(saved)))).unwrap();
    let json = serde_json::to_string(&events[0]).unwrap();
    assert!(json.contains(r#""pinned":true,"taken_from":"pool.jsonl""#), "{json}");
    let taken = harness.state().pool.by_number(2).unwrap();
    assert_eq!(
        (&*taken.id.0, taken.origin, taken.status, taken.taken_from.as_deref(), taken.edited_by_person),
        ("0123456789ab", LessonOrigin::Mentor, LessonStatus::Pinned, Some("pool.jsonl"), true)
    );
}
