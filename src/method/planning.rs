//! Planning-only (ProgPrompt, FCRF's baseline without reasoning; section V-A): the mentor writes all actions of an
//! attempt in advance, from the task alone, in one call. Each step then takes the next action, whatever the environment
//! answers. An impossible action is sent like any other, and at the end of the plan the attempt ends.
//!
//! The plan is a lesson of scope episode, so a person can edit it like any other: line n is the action of step n.

pub mod settings;

use super::{MethodError, mentor, schedule};
use crate::domain::{
    Author, EndReason, LessonId, LessonStatus, LessonText, Purpose, Question, ReflectionKind, RunSpec, Scope,
};
use crate::engine::{Episode, Intent, LessonCommand, MentorReply, Method, State};
use crate::prompt;
use crate::symbolic::SymbolicRules;

/// Asks for all actions of an attempt.
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
        let (actions, complaints) = parse_actions(&text);
        reflection.complaints.extend(complaints);
        if actions.is_empty() && reply.author == Author::Symbolic {
            reflection
                .complaints
                .push("the symbolic mentor is a stand-in that couldn't plan this task".to_owned());
        }
        let item = reply.items.first().filter(|_| !actions.is_empty()).map(|item| {
            let mut item = item.clone();
            item.text = LessonText::plain(actions.join("\n"));
            item
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
    /// Returns [`MethodError::NoPlanner`] if there is no mentor, or a symbolic one that can't plan these tasks.
    pub fn for_run(run: &RunSpec, rules: SymbolicRules) -> Result<Self, MethodError> {
        let unplannable_task = run.tasks.iter().find(|t| !rules.can_plan(&t.env));
        let reason = match (run.mentor.as_str(), unplannable_task) {
            ("none", _) => "the mentor writes the plans, but there is no mentor".to_owned(),
            ("symbolic", Some(task)) => {
                format!("the symbolic mentor is a stand-in that can't plan tasks of {}", task.env)
            }
            _ => return Ok(Self { rules }),
        };
        Err(MethodError::NoPlanner(reason))
    }

    /// Proposes the plan's next action, asks for a plan if there is none, or ends the attempt if no action is left.
    fn next_step(&self, state: &State, open: &Episode) -> Vec<Intent> {
        let Some((_, text)) = active_plan(state, open) else {
            let mut intents = if state.is_answered(PLAN) {
                Vec::new()
            } else {
                mentor::ask_mentor(self, self.rules, state, PLAN)
            };
            intents.push(Intent::EndEpisode(EndReason::PlanEnd));
            return intents;
        };
        let taken = open.answered_steps().saturating_sub(plan_written_after(state, open));
        match parse_actions(text).0.into_iter().nth(taken as usize) {
            Some(action) => vec![Intent::Propose(action)],
            None => vec![Intent::EndEpisode(EndReason::PlanEnd)],
        }
    }
}

/// Returns the active plan: the newest of this episode.
fn active_plan<'a>(state: &'a State, open: &Episode) -> Option<(&'a LessonId, &'a str)> {
    let is_of_episode =
        |l: &&crate::domain::Lesson| l.scope == Scope::Episode && l.learnt_at.0 == open.number;
    let lesson = state.pool.active_of_kind(ReflectionKind::Plan).rfind(is_of_episode)?;
    Some((&lesson.id, lesson.text().text.as_str()))
}

/// Returns the lines of a plan, each with its number (from 1) if it is an action.
pub fn numbered_plan_lines(text: &str) -> Vec<(Option<u32>, String)> {
    let mut number = 0;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| match parse_actions(line).0.into_iter().next() {
            Some(action) => {
                number += 1;
                (Some(number), action)
            }
            None => (None, line.to_owned()),
        })
        .collect()
}

/// Returns the active plan and the number (from 1) of its action for the last step. Returns `None` before the first
/// step.
pub fn current_action(state: &State) -> Option<(&LessonId, u32)> {
    let open = state.episode.as_deref()?;
    let (id, _) = active_plan(state, open)?;
    let step = (open.steps.len() as u32).checked_sub(plan_written_after(state, open))?;
    (step > 0).then_some((id, step))
}

/// Returns the step after which the plan was written: 0, unless a person requested a new one.
fn plan_written_after(state: &State, open: &Episode) -> u32 {
    let reflections = state.reflections.iter().rev().take_while(|r| r.episode == open.number);
    let mut plans = reflections.filter(|r| r.question() == PLAN && !r.items.is_empty());
    plans.next().map_or(0, |r| r.step)
}

/// Parses the actions of a plan, one per line, each like an actor's reply. Returns them with complaints about what
/// could not be used.
fn parse_actions(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut actions, mut complaints) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        // No action ends in a colon: this is the heading of a list.
        if line.ends_with(':') {
            complaints.push(format!("a heading is not an action: {line}"));
            continue;
        }
        let reply = prompt::read_reply(line);
        match (reply.action, reply.thought) {
            (Some(action), _) => actions.push(action),
            (None, Some(thought)) => complaints.push(format!("a thought is not an action: {thought}")),
            (None, None) => {}
        }
        complaints.extend(reply.complaints);
    }
    (actions, complaints)
}
