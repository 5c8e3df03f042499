//! Planning-only (ProgPrompt; the baseline without reasoning of FCRF's paper, section V-A): the mentor writes a program for a whole
//! attempt in advance, from the task alone, in one call. Each step then takes the program's next action, whatever the
//! environment answers; only the program's own assertions look at what was observed, and recover if they fail. An
//! impossible action is sent like any other, and at the end of the program the attempt ends.
//!
//! The plan is a lesson of scope episode, so a person can edit it like any other. Nothing else is stored: where the program
//! stands follows from the steps, so each step looks at the earlier ones again, as far back as its assertions need.

pub mod settings;

mod condition;
mod program;
#[cfg(test)]
mod tests;

use super::{MethodError, mentor, schedule};
use crate::domain::{
    Author, EndReason, LessonId, LessonStatus, LessonText, ModelRole, Purpose, Question, Reflection,
    ReflectionItem, ReflectionKind, RoleSource, RunSpec, Scope,
};
use crate::engine::{Episode, Intent, LessonCommand, MentorReply, Method, State};
use crate::symbolic::SymbolicRules;
use program::{Position, Statement};
use std::sync::Arc;

/// Asks for the program of an attempt.
const PLAN: Question = Question { kind: ReflectionKind::Plan, purpose: Purpose::PlanActions };

/// The method `planning`.
pub struct Planning {
    /// The rules that answer if the run's mentor is symbolic.
    pub rules: SymbolicRules,
}

impl Method for Planning {
    fn name(&self) -> &'static str {
        "planning"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        match state.open_episode() {
            Some(open) if open.first_observation.is_none() => Vec::new(),
            Some(open) => self.next_step(state, open),
            None => schedule::next_by_trial(state),
        }
    }

    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent> {
        let question = if kind == ReflectionKind::Plan { PLAN } else { Question::reflect(kind) };
        mentor::ask_mentor(self, self.rules, state, question)
    }

    fn on_mentor_reply(&self, state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
        if reply.question != PLAN {
            return crate::engine::add_all_lessons(state, reply);
        }
        let mut reflection = reply.reflection();
        let text = reply.items.iter().map(|i| i.text.text.as_str()).collect::<Vec<_>>().join("\n");
        let (program, complaints) = program::parse(&text);
        reflection.complaints.extend(complaints);
        let has_action = program.iter().any(|statement| statement.action().is_some());
        if !has_action && reply.author == Author::Symbolic {
            reflection
                .complaints
                .push("the symbolic mentor is a stand-in that couldn't plan this task".to_owned());
        } else if !has_action {
            reflection.complaints.push("the reply has no action, so it is not a plan".to_owned());
            reflection.dropped.extend(reply.items.iter().map(|item| item.text.clone()));
        }
        let item = reply.items.first().filter(|_| has_action).map(|item| {
            let lines: Vec<String> = program.iter().map(Statement::line).collect();
            ReflectionItem { text: LessonText::plain(lines.join("\n")), ..item.clone() }
        });
        reflection.items = item.iter().cloned().collect();
        let mut intents = vec![Intent::Reflect(Box::new(reflection))];
        let Some(item) = item else { return intents };
        intents.extend(state.episode.as_deref().and_then(|open| active_plan(state, open)).map(|(id, _)| {
            Intent::Lesson(LessonCommand::Status { id: id.clone(), status: LessonStatus::Retired })
        }));
        let mut command = reply.lesson_command(&item);
        if let LessonCommand::Add { scope, .. } = &mut command {
            *scope = Scope::Episode;
        }
        intents.push(Intent::Lesson(command));
        intents
    }
}

impl Planning {
    /// Creates the method for a run whose mentor can write plans.
    ///
    /// # Errors
    /// Returns [`MethodError`] if there is no mentor, or a symbolic one that can't plan these tasks.
    pub fn for_run(run: &RunSpec, rules: SymbolicRules) -> Result<Self, MethodError> {
        let unplannable_task = run.tasks.iter().find(|t| !rules.can_plan(&t.env));
        let reason = match (run.role_source(ModelRole::Mentor), unplannable_task) {
            (RoleSource::Nobody, _) => "the mentor writes the plans, but there is no mentor".to_owned(),
            (RoleSource::Symbolic, Some(task)) => {
                format!("the symbolic mentor is a stand-in that can't plan tasks of {}", task.env)
            }
            _ => return Ok(Self { rules }),
        };
        Err(MethodError {
            problem: format!("planning: {reason}"),
            hint: "choose a model to write the plans with --mentor openai:MODEL",
        })
    }

    /// Proposes the plan's next action, asks for a plan if there is none, or ends the attempt if no action is left.
    fn next_step(&self, state: &State, open: &Episode) -> Vec<Intent> {
        let Some((_, text)) = active_plan(state, open) else {
            let mut intents = if state.is_answered(PLAN) && !may_ask_again(state, open) {
                Vec::new()
            } else {
                mentor::ask_mentor(self, self.rules, state, PLAN)
            };
            intents.push(Intent::EndEpisode(EndReason::PlanEnd));
            return intents;
        };
        let (first, next) = (plan_written_after(state, open) + 1, open.answered_steps() + 1);
        match action_for_step(&program::parse(text).0, open, first, next) {
            Some(next) => vec![Intent::Propose { thought: next.thought, action: next.action }],
            None => vec![Intent::EndEpisode(EndReason::PlanEnd)],
        }
    }
}

/// Returns whether the mentor is asked for the plan again: its last reply could not be read, and `ask_again` allows one more
/// request. A person who has given up on a failed call isn't asked to wait for another one.
fn may_ask_again(state: &State, open: &Episode) -> bool {
    let here = |r: &&Arc<Reflection>| r.episode == open.number && r.step == open.answered_steps();
    let replies = state.reflections.iter().rev().take_while(here).filter(|r| r.question() == PLAN);
    let is_unreadable = |r: &Arc<Reflection>| r.items.is_empty() && !r.dropped.is_empty();
    let unreadable = replies.take_while(|r| is_unreadable(r)).count() as u64;
    unreadable > 0 && unreadable <= state.settings().ask_again
}

/// Returns the active plan: the newest of this episode.
fn active_plan<'a>(state: &'a State, open: &Episode) -> Option<(&'a LessonId, &'a str)> {
    let is_of_episode =
        |l: &&crate::domain::Lesson| l.scope == Scope::Episode && l.learnt_at.0 == open.number;
    let lesson = state.pool.active_of_kind(ReflectionKind::Plan).rfind(is_of_episode)?;
    Some((&lesson.id, lesson.text().text.as_str()))
}

/// Returns the lines of a plan, each with its number (from 1) if it has an action.
pub fn numbered_plan_lines(text: &str) -> Vec<(Option<u32>, String)> {
    let mut number = 0;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| match program::parse_line(line).0 {
            Some(statement) => {
                let has_action = statement.action().is_some();
                number += u32::from(has_action);
                (has_action.then_some(number), statement.line())
            }
            None => (None, line.to_owned()),
        })
        .collect()
}

/// Returns the active plan and the number (from 1) of its action for the last step. Returns `None` before the first
/// step, and after the end of the plan.
pub fn current_action(state: &State) -> Option<(&LessonId, u32)> {
    let open = state.episode.as_deref()?;
    let (id, text) = active_plan(state, open)?;
    let first = plan_written_after(state, open) + 1;
    let last = open.steps.len() as u32;
    if last < first {
        return None;
    }
    let program = program::parse(text).0;
    let current = action_for_step(&program, open, first, last)?;
    let up_to = program.iter().take(current.index + 1);
    Some((id, up_to.filter(|statement| statement.action().is_some()).count() as u32))
}

/// Returns the action that a program takes in step `step`, having taken its first one in step `first`. A step that a
/// person overrode counts like any other.
fn action_for_step(
    program: &[Statement],
    episode: &Episode,
    first: u32,
    step: u32,
) -> Option<program::NextAction> {
    let mut position = Position::default();
    for earlier in first..step {
        position = program::next_action(program, position, episode, earlier)?.after();
    }
    program::next_action(program, position, episode, step)
}

/// Returns the step after which the plan was written: 0, unless a person requested a new one.
fn plan_written_after(state: &State, open: &Episode) -> u32 {
    let reflections = state.reflections.iter().rev().take_while(|r| r.episode == open.number);
    let mut plans = reflections.filter(|r| r.question() == PLAN && !r.items.is_empty());
    plans.next().map_or(0, |r| r.step)
}
