//! Sweet&Sour (docs/METHODS.md): a positive reflection at each subgoal, shown from the next step on, and a negative one
//! after a failed attempt. Memories are tuples (reflection, observation, action, reward). Short-term memory is the
//! lessons of scope episode; at the end of an attempt it becomes long-term memory or is forgotten.

pub mod settings;

use super::{mentor, schedule};
use crate::domain::{
    LessonStatus, Observation, Question, ReflectionKind, Scope, Step, Transition, round_to_thousandths,
};
use crate::engine::{CarriedReward, Episode, Intent, LessonCommand, MentorReply, Method, State};
use crate::symbolic::SymbolicRules;
use settings::{
    MANAGED, MEMORY_SCOPE, MemoryScope, NEGATIVE_REFLECTIONS, POSITIVE_REFLECTIONS, REWARD_CARRIES, SUBGOAL,
    Subgoal, TRANSFER, Transfer,
};

const POSITIVE: Question =
    Question { kind: ReflectionKind::Positive, purpose: crate::domain::Purpose::Reflect };
const NEGATIVE: Question =
    Question { kind: ReflectionKind::Negative, purpose: crate::domain::Purpose::Reflect };

/// The method `sweet_sour`.
pub struct SweetSour {
    /// The rules that answer if the run's mentor is symbolic.
    pub rules: SymbolicRules,
}

impl Method for SweetSour {
    fn name(&self) -> &'static str {
        "sweet_sour"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        match state.open_episode() {
            Some(open) if open.first_observation.is_none() => Vec::new(),
            Some(open) => {
                let due = state.setting(POSITIVE_REFLECTIONS)
                    && has_reached_subgoal(state, open)
                    && !state.is_answered(POSITIVE);
                let mut intents =
                    if due { mentor::ask_mentor(self, self.rules, state, POSITIVE) } else { Vec::new() };
                intents.push(Intent::AskActor);
                intents
            }
            None => {
                let mut intents = self.after_attempt(state);
                intents.extend(schedule::next_by_task(state));
                intents
            }
        }
    }

    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent> {
        mentor::ask_mentor(self, self.rules, state, Question::reflect(kind))
    }

    fn on_mentor_reply(&self, state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
        let mut reflection = reply.reflection();
        let transition = state.episode.as_deref().and_then(|episode| last_transition(state, episode));
        for item in &mut reflection.items {
            item.transition.clone_from(&transition);
        }
        // Lessons learned within an attempt start as short-term memory.
        let is_short_term = reply.question == POSITIVE && state.setting(MANAGED);
        let target_scope = if is_short_term { Scope::Episode } else { long_term_scope(state) };
        let mut intents = vec![Intent::Reflect(Box::new(reflection.clone()))];
        for item in &reflection.items {
            let mut command = reply.lesson_command(item);
            if let LessonCommand::Add { scope, .. } = &mut command {
                *scope = target_scope;
            }
            intents.push(Intent::Lesson(command));
        }
        intents
    }
}

impl SweetSour {
    /// Returns the intents after an attempt: makes short-term memory long-term if `transfer` allows it, and reflects on
    /// a failure.
    fn after_attempt(&self, state: &State) -> Vec<Intent> {
        let Some(ended) = state.episode.as_deref().and_then(|e| e.outcome.as_deref()) else {
            return Vec::new();
        };
        let transfers_always = state.setting(TRANSFER) == Transfer::Always;
        let mut intents: Vec<Intent> = carried_reward(state).map(Intent::SetMemory).into_iter().collect();
        if ended.won || transfers_always {
            let short_term =
                state.pool.visible_of_kind(ReflectionKind::Positive).filter(|l| l.scope == Scope::Episode);
            let transferred = short_term.filter(|l| l.status != LessonStatus::Off);
            intents.extend(transferred.map(|l| {
                Intent::Lesson(LessonCommand::Rescope { id: l.id.clone(), scope: long_term_scope(state) })
            }));
        }
        if !ended.won
            && !ended.reason.is_env_failure()
            && state.setting(NEGATIVE_REFLECTIONS)
            && !state.is_answered(NEGATIVE)
        {
            intents.extend(mentor::ask_mentor(self, self.rules, state, NEGATIVE));
        }
        intents
    }
}

/// Returns the reward over all attempts so far; like that of a memory, it is the progress made where progress marks the
/// subgoals. Returns `None` if the memory already includes the last attempt.
fn carried_reward(state: &State) -> Option<serde_json::Value> {
    let episode = state.episode.as_deref()?;
    let carried = CarriedReward::from_memory(&state.memory);
    let is_counted = carried.is_some_and(|carried| carried.episode == episode.number);
    if is_counted || !state.setting(REWARD_CARRIES) {
        return None;
    }
    let of_episode = match state.setting(SUBGOAL) {
        Subgoal::Progress => episode.progress_gain(),
        Subgoal::Reward => episode.total_reward(),
    };
    serde_json::to_value(CarriedReward::after(carried, episode.number, of_episode)).ok()
}

/// Returns whether the last step reached a subgoal: the progress rate is higher than before it, or the step was rewarded.
fn has_reached_subgoal(state: &State, episode: &Episode) -> bool {
    let Some(step) = episode.last_step().filter(|s| s.detectors_ran) else { return false };
    let Some(current) = step.answer.as_ref() else { return false };
    match state.setting(SUBGOAL) {
        Subgoal::Progress => {
            current.progress > previous_observation(episode, step).map_or(0.0, |previous| previous.progress)
        }
        // A reward is that of its step alone, so two rewards in a row are two subgoals.
        Subgoal::Reward => current.reward > 0.0,
    }
}

/// Returns what the agent saw before a step.
fn previous_observation<'a>(episode: &'a Episode, step: &Step) -> Option<&'a Observation> {
    let earlier = step.number.checked_sub(1).and_then(|n| episode.step(n)).and_then(|s| s.answer.as_ref());
    earlier.or(episode.first_observation.as_ref())
}

/// Returns the transition a memory is about: what the agent saw, what it did, and the reward. Most environments reward only
/// the goal; where progress marks the subgoals, the reward is the progress that the step made.
fn last_transition(state: &State, episode: &Episode) -> Option<Transition> {
    let step = episode.step(episode.answered_steps())?;
    let previous = previous_observation(episode, step)?;
    let reward = step.answer.as_ref().map_or(0.0, |current| match state.setting(SUBGOAL) {
        Subgoal::Progress => (current.progress - previous.progress).max(0.0),
        Subgoal::Reward => current.reward,
    });
    Some(Transition {
        observation: previous.agent_view.clone().unwrap_or_else(|| previous.raw.clone()),
        action: step.action().unwrap_or_default().to_owned(),
        reward: round_to_thousandths(reward),
    })
}

/// Returns the scope of long-term memory.
fn long_term_scope(state: &State) -> Scope {
    match state.setting(MEMORY_SCOPE) {
        MemoryScope::Environment => Scope::Environment,
        MemoryScope::TaskType => Scope::TaskType,
        MemoryScope::Task => Scope::Task,
    }
}
