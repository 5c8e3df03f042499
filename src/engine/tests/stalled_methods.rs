//! A method that makes no progress pauses the run instead of writing forever or keeping everyone waiting.

use super::fixture::{ActorOnlyMethod, Harness, spec_with_tasks, step_result};
use crate::domain::{ModelRole, Purpose, Question, ReflectionKind, RunSpec, Usage};
use crate::engine::{Command, Event, Intent, MentorReply, Method, PauseReason, Reply, RunStatus, State};
use serde_json::json;
use std::sync::Arc;

/// Writes the same memory forever, once the agent has acted.
struct Forgetful;

impl Method for Forgetful {
    fn name(&self) -> &'static str {
        "forgetful"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        match state.last_step() {
            Some(step) if step.answer.is_some() => vec![Intent::SetMemory(json!("the same"))],
            _ => ActorOnlyMethod.next(state),
        }
    }

    fn reflect_now(&self, _: &State, _: ReflectionKind) -> Vec<Intent> {
        Vec::new()
    }
}

/// Does nothing after the first episode, without ending the run.
struct Absent;

impl Method for Absent {
    fn name(&self) -> &'static str {
        "absent"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        if state.ended_episodes.is_empty() { ActorOnlyMethod.next(state) } else { Vec::new() }
    }

    fn reflect_now(&self, _: &State, _: ReflectionKind) -> Vec<Intent> {
        Vec::new()
    }
}

/// Asks the mentor after each step, and keeps only lessons of the reply.
struct NeverReflects;

const CAUTION: Question = Question { kind: ReflectionKind::Negative, purpose: Purpose::Reflect };

impl Method for NeverReflects {
    fn name(&self) -> &'static str {
        "never_reflects"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        let is_due =
            state.last_step().is_some_and(|step| step.answer.is_some()) && !state.is_answered(CAUTION);
        if is_due { vec![Intent::AskMentor(CAUTION)] } else { ActorOnlyMethod.next(state) }
    }

    fn reflect_now(&self, _: &State, _: ReflectionKind) -> Vec<Intent> {
        Vec::new()
    }

    fn on_mentor_reply(&self, _: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
        reply.items.iter().map(|item| Intent::Lesson(reply.lesson_command(item))).collect()
    }
}

/// Plays the first step of a run.
fn play_a_step(harness: &mut Harness) {
    harness.command(Command::Run).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.reply_as_actor("look");
    harness.reply_as_env(step_result("You see nothing."));
}

fn last_warning(harness: &Harness) -> String {
    let warning = |event: &Event| match event {
        Event::Warned { text, .. } => Some(text.clone()),
        _ => None,
    };
    harness.journal.iter().rev().find_map(|e| warning(&e.event)).unwrap_or_default()
}

/// Regression: such a run filled the disk and could only be killed.
#[test]
fn a_method_that_only_writes_pauses_the_run() {
    let mut harness = Harness::with_any_method(Arc::new(Forgetful), spec_with_tasks(1));
    play_a_step(&mut harness);
    let state = harness.state();
    assert_eq!((state.run_status, state.pause_reason), (RunStatus::Paused, Some(PauseReason::MethodStalled)));
    assert!(last_warning(&harness).starts_with("the method forgetful wrote 1000 times without"));
    let before = harness.journal.len();
    // A person may try again, for example after an override.
    harness.command(Command::Run).unwrap();
    assert_eq!(harness.state().run_status, RunStatus::Paused);
    assert_eq!(harness.journal.len() - before, 1_003, "resumed, 1,000 writes, warned, paused");
    harness.command(Command::Close).unwrap();
    assert!(harness.state().closed);
}

/// Regression: such a method asked its mentor the same question without end, which only the bill would have shown.
#[test]
fn a_reply_without_a_reflection_answers_its_question() {
    let spec = RunSpec { mentor: "script".to_owned(), ..spec_with_tasks(1) };
    let mut harness = Harness::with_any_method(Arc::new(NeverReflects), spec);
    play_a_step(&mut harness);
    let (call, _) = harness.first_call().unwrap();
    assert!(harness.state().is_asking(ModelRole::Mentor));
    harness.reply(Reply::Model {
        truncated: None,
        call,
        text: "Look behind the door.".to_owned(),
        reasoning: String::new(),
        tool_calls: Vec::new(),
        usage: Usage::default(),
    });
    let state = harness.state();
    assert!(state.is_answered(CAUTION) && state.pool.all().count() == 1);
    assert!(state.is_asking(ModelRole::Actor), "the next step begins");
}

/// Regression: without a mentor `ask_mentor` returned nothing and the question stayed open, so that a method written as
/// `docs/EXTENDING.md` shows it paused the run for good.
#[test]
fn a_question_in_a_run_without_a_mentor_is_not_waited_for() {
    let mut harness = Harness::with_any_method(Arc::new(NeverReflects), spec_with_tasks(1));
    play_a_step(&mut harness);
    let state = harness.state();
    assert!(state.is_answered(CAUTION) && state.reflections.is_empty());
    assert_eq!((state.run_status, state.pause_reason), (RunStatus::Running, None));
    assert!(state.is_asking(ModelRole::Actor), "the next step begins");
}

#[test]
fn a_method_with_nothing_to_do_pauses_the_run() {
    let mut harness = Harness::with_any_method(Arc::new(Absent), spec_with_tasks(1));
    play_a_step(&mut harness);
    harness.command(Command::EndEpisode(crate::domain::EndReason::Person)).unwrap();
    harness.command(Command::Run).unwrap();
    assert_eq!(harness.state().pause_reason, Some(PauseReason::MethodStalled));
    assert!(last_warning(&harness).contains("absent returned nothing to do"), "{}", last_warning(&harness));
}
