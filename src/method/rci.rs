//! RCI (docs/METHODS.md), DORA's baseline: before the first step the mentor writes a plan, finds the plan's problems and
//! writes it again without them; then the actor acts by the plan. The engine checks the forms of the actions (`irci`).
//!
//! Plan and criticism are lessons of the episode, so a person can edit them like any other.

pub mod settings;

use super::{mentor, schedule};
use crate::domain::{EndReason, Lesson, LessonStatus, Purpose, Question, Reflection, ReflectionKind, Scope};
use crate::engine::{Episode, Intent, LessonCommand, MentorReply, Method, State, add_all_lessons};
use crate::symbolic::SymbolicRules;
use settings::{ERCI, PLAN_FIRST, PLAN_STEPS};
use std::sync::Arc;

/// Asks for the plan of an attempt.
const DRAFT: Question = Question { kind: ReflectionKind::Plan, purpose: Purpose::Draft };
/// Asks what is wrong with the plan.
const CRITICISE: Question = Question { kind: ReflectionKind::Negative, purpose: Purpose::Criticise };
/// Asks for the plan without the problems that were found.
const IMPROVE: Question = Question { kind: ReflectionKind::Plan, purpose: Purpose::Improve };

/// The steps of an episode whose plan says nothing about their number.
const STEPS_WITHOUT_LINES: u32 = 4;

/// The method `rci`.
pub struct Rci {
    /// The rules that answer if the run's mentor is symbolic.
    pub rules: SymbolicRules,
}

impl Method for Rci {
    fn name(&self) -> &'static str {
        "rci"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        match state.open_episode() {
            Some(open) if open.first_observation.is_none() => Vec::new(),
            Some(open) => self.next_step(state, open),
            None => schedule::next_by_task(state),
        }
    }

    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent> {
        let has_plan = state.open_episode().is_some_and(|open| own_lessons(state, open).next().is_some());
        let question = match kind {
            ReflectionKind::Plan if has_plan => IMPROVE,
            ReflectionKind::Plan => DRAFT,
            ReflectionKind::Negative if has_plan => CRITICISE,
            kind => Question::reflect(kind),
        };
        mentor::ask_mentor(self, self.rules, state, question)
    }

    fn on_mentor_reply(&self, state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
        if ![DRAFT, CRITICISE, IMPROVE].contains(&reply.question) {
            return add_all_lessons(state, reply);
        }
        let mut intents = vec![Intent::Reflect(Box::new(reply.reflection()))];
        let Some(episode) = state.episode.as_deref().filter(|_| !reply.items.is_empty()) else {
            return intents;
        };
        // A new plan replaces the old one and what was wrong with it; a new criticism replaces only the old criticism.
        let is_replaced =
            |lesson: &&Lesson| reply.question != CRITICISE || lesson.kind == ReflectionKind::Negative;
        intents.extend(own_lessons(state, episode).filter(is_replaced).map(|lesson| {
            Intent::Lesson(LessonCommand::Status { id: lesson.id.clone(), status: LessonStatus::Retired })
        }));
        intents.extend(reply.items.iter().map(|item| {
            let mut command = reply.lesson_command(item);
            if let LessonCommand::Add { scope, .. } = &mut command {
                *scope = Scope::Episode;
            }
            Intent::Lesson(command)
        }));
        intents
    }
}

impl Rci {
    /// Asks for what the plan still needs, then for the actor's next step, or ends the attempt.
    fn next_step(&self, state: &State, open: &Episode) -> Vec<Intent> {
        if open.answered_steps() == 0 && state.setting(PLAN_FIRST) {
            let due = due_question(state, open);
            let intents = due.map(|question| mentor::ask_mentor(self, self.rules, state, question));
            // Empty without a mentor: then the actor acts without a plan.
            if let Some(intents) = intents.filter(|intents| !intents.is_empty()) {
                return intents;
            }
        }
        if state.setting(PLAN_STEPS) && open.answered_steps() >= planned_steps(state, open) {
            return vec![Intent::EndEpisode(EndReason::PlanEnd)];
        }
        vec![Intent::AskActor]
    }
}

/// Returns the next question about the plan of an episode, `None` if it is ready.
fn due_question(state: &State, open: &Episode) -> Option<Question> {
    if count_replies(state, open, DRAFT) == 0 {
        return Some(DRAFT);
    }
    // There is nothing to criticise in a plan that nobody could write, or that a person has removed.
    active_plan(state, open)?;
    let improved = count_replies(state, open, IMPROVE);
    if improved >= state.setting(ERCI) {
        return None;
    }
    Some(if count_replies(state, open, CRITICISE) > improved { IMPROVE } else { CRITICISE })
}

/// Returns how many times a question was answered in this episode, or given up by a person.
fn count_replies(state: &State, open: &Episode, question: Question) -> u64 {
    let of_episode = |reflection: &&Arc<Reflection>| reflection.episode == open.number;
    let replies = state.reflections.iter().rev().take_while(of_episode);
    replies.filter(|reflection| reflection.question() == question).count() as u64
}

/// Returns the plan and the criticism of this episode.
fn own_lessons<'a>(state: &'a State, open: &Episode) -> impl Iterator<Item = &'a Lesson> {
    let number = open.number;
    let kinds = [ReflectionKind::Plan, ReflectionKind::Negative];
    let lessons = kinds.into_iter().flat_map(|kind| state.pool.active_of_kind(kind));
    lessons.filter(move |lesson| lesson.scope == Scope::Episode && lesson.learnt_at.0 == number)
}

fn active_plan<'a>(state: &'a State, open: &Episode) -> Option<&'a Lesson> {
    own_lessons(state, open).filter(|lesson| lesson.kind == ReflectionKind::Plan).last()
}

/// Returns how many steps an episode has according to its plan. The public code counts line breaks: a first plan begins with
/// one, an improved plan doesn't, and a text without any counts as three.
fn planned_steps(state: &State, open: &Episode) -> u32 {
    let Some(plan) = active_plan(state, open) else { return STEPS_WITHOUT_LINES };
    let text = &plan.text().text;
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count() as u32;
    if count_replies(state, open, IMPROVE) == 0 {
        lines + 1
    } else if lines == 1 {
        STEPS_WITHOUT_LINES
    } else {
        lines
    }
}
