//! Reflexion (docs/METHODS.md): plays the unsolved tasks trial by trial. After each failed attempt the mentor writes a
//! plan for the next one; the prompts of a trial contain the newest plans of its task.

pub mod settings;

use super::{mentor, schedule};
use crate::domain::{Lesson, LessonStatus, Question, ReflectionKind};
use crate::engine::{Episode, Intent, LessonCommand, MentorReply, Method, State, add_all_lessons};
use crate::symbolic::SymbolicRules;
use settings::{REPEAT_OPENING, STRATEGY, Strategy};

/// The method `reflexion`.
pub struct Reflexion {
    /// The rules that answer if the run's mentor is symbolic.
    pub rules: SymbolicRules,
}

impl Method for Reflexion {
    fn name(&self) -> &'static str {
        "reflexion"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        match state.open_episode() {
            Some(open) if open.first_observation.is_none() => Vec::new(),
            Some(open) => match repeated_opening(state, open) {
                Some(action) => vec![Intent::Propose { thought: None, action }],
                None => vec![Intent::AskActor],
            },
            None => {
                let plan = Question::reflect(ReflectionKind::Plan);
                let due = writes_plans(state)
                    && schedule::failed_attempt(state).is_some()
                    && !state.is_answered(plan);
                let mut intents =
                    if due { mentor::ask_mentor(self, self.rules, state, plan) } else { Vec::new() };
                intents.extend(schedule::next_by_trial(state));
                intents
            }
        }
    }

    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent> {
        mentor::ask_mentor(self, self.rules, state, Question::reflect(kind))
    }

    fn on_mentor_reply(&self, state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
        let mut intents = add_all_lessons(state, reply);
        // Strategy `both` shows the last attempt and only the newest plan, so the new plan replaces earlier ones.
        if state.setting(STRATEGY) == Strategy::Both && !reply.items.is_empty() {
            let task = state.episode.as_ref().map(|e| e.task.key());
            let is_about_task = |lesson: &Lesson| {
                let learnt_in = || state.ended_episode(lesson.learnt_at.0).map(|e| e.task.key());
                lesson.task_key.as_deref().map(str::to_owned).or_else(learnt_in) == task
            };
            let old = state
                .pool
                .active_of_kind(ReflectionKind::Plan)
                .filter(|l| !l.edited_by_person && is_about_task(l));
            intents.extend(old.map(|l| {
                Intent::Lesson(LessonCommand::Status { id: l.id.clone(), status: LessonStatus::Retired })
            }));
        }
        intents
    }
}

/// Returns the first action of the last attempt at the task, if the episode is to begin with it. A person may reject it.
fn repeated_opening(state: &State, open: &Episode) -> Option<String> {
    let is_due = state.setting(REPEAT_OPENING)
        && open.answered_steps() == 0
        && open.step(1).is_none_or(|step| step.rejections.is_empty());
    let first = state.last_attempt(&open.task).filter(|_| is_due)?.step(1)?;
    let was_accepted = first.answer.as_ref().is_some_and(|answer| answer.valid && !answer.done);
    first.action().filter(|_| was_accepted).map(str::to_owned)
}

/// Returns whether the strategy uses plans.
fn writes_plans(state: &State) -> bool {
    matches!(state.setting(STRATEGY), Strategy::Reflexion | Strategy::Both)
}
