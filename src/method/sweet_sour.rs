//! Sweet&Sour (methods.md 2.5): a positive reflection at each sub-goal, shown from the next turn on, and a negative one after an
//! attempt that failed. Memories are tuples (reflection, observation, action, reward). Short-term memory is the lessons of
//! scope episode; at the end of an attempt it becomes long-term memory or is forgotten.

use super::{mentor, schedule};
use crate::domain::{LessonStatus, Question, ReflectionKind, Scope, Transition};
use crate::engine::{Episode, Intent, LessonCommand, MentorReply, Method, State};

const POSITIVE: Question =
    Question { kind: ReflectionKind::Positive, purpose: crate::domain::Purpose::Reflect };
const NEGATIVE: Question =
    Question { kind: ReflectionKind::Negative, purpose: crate::domain::Purpose::Reflect };

/// The method `sweet_sour`.
pub struct SweetSour;

impl Method for SweetSour {
    fn name(&self) -> &'static str {
        "sweet_sour"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        match state.open_episode() {
            Some(open) if open.first_observation.is_none() => Vec::new(),
            Some(open) => {
                let due = state.setting_flag("positive", true)
                    && has_reached_subgoal(state, open)
                    && !state.is_answered(POSITIVE);
                let mut wants = if due { mentor::ask_mentor(self, state, POSITIVE) } else { Vec::new() };
                wants.push(Intent::AskActor);
                wants
            }
            None => {
                let mut wants = self.after_attempt(state);
                wants.extend(schedule::next_by_task(state));
                wants
            }
        }
    }

    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent> {
        mentor::ask_mentor(self, state, Question::reflect(kind))
    }

    fn on_mentor_reply(&self, state: &State, heard: &MentorReply<'_>) -> Vec<Intent> {
        let mut reflection = heard.reflection();
        let moment = state.episode.as_deref().and_then(last_moment);
        for item in &mut reflection.items {
            item.transition.clone_from(&moment);
        }
        // What is learnt within an attempt is short-term memory first.
        let short = heard.question == POSITIVE && state.setting_flag("managed", true);
        let reach = if short { Scope::Episode } else { long_term_scope(state) };
        let mut wants = vec![Intent::Reflect(Box::new(reflection.clone()))];
        for item in &reflection.items {
            let mut wish = heard.lesson_command(item);
            if let LessonCommand::Add { scope, .. } = &mut wish {
                *scope = reach;
            }
            wants.push(Intent::Lesson(wish));
        }
        wants
    }
}

impl SweetSour {
    /// What follows an attempt: short-term memory becomes long-term where it may, and a failure is reflected on.
    fn after_attempt(&self, state: &State) -> Vec<Intent> {
        let Some(ended) = state.episode.as_deref().and_then(|e| e.outcome.as_deref()) else {
            return Vec::new();
        };
        let always = state.run.as_ref().is_some_and(|r| r.settings.text("transfer", "success") == "always");
        let mut wants: Vec<Intent> = reward_to_carry(state).map(Intent::SetMemory).into_iter().collect();
        if ended.won || always {
            let short =
                state.pool.visible_of_kind(ReflectionKind::Positive).filter(|l| l.scope == Scope::Episode);
            let kept = short.filter(|l| l.status != LessonStatus::Off);
            wants.extend(kept.map(|l| {
                Intent::Lesson(LessonCommand::Rescope { id: l.id.clone(), scope: long_term_scope(state) })
            }));
        }
        if !ended.won && state.setting_flag("negative", true) && !state.is_answered(NEGATIVE) {
            wants.extend(mentor::ask_mentor(self, state, NEGATIVE));
        }
        wants
    }
}

/// The reward over all attempts so far, where the memory does not hold that of the last one yet.
fn reward_to_carry(state: &State) -> Option<serde_json::Value> {
    let episode = state.episode.as_deref()?;
    let counted = state.memory.get("episode").and_then(serde_json::Value::as_u64);
    if counted == Some(u64::from(episode.number)) || !state.setting_flag("reward_carries", true) {
        return None;
    }
    let before = state.memory.get("reward").and_then(serde_json::Value::as_f64).unwrap_or(0.0);
    Some(serde_json::json!({ "episode": episode.number, "reward": before + episode.total_reward() }))
}

/// The last turn reached a sub-goal: the progress rate, or the reward, is higher than before it.
fn has_reached_subgoal(state: &State, episode: &Episode) -> bool {
    let Some(step) = episode.last_step().filter(|s| s.detectors_ran) else { return false };
    let by_reward = state.run.as_ref().is_some_and(|r| r.settings.text("subgoal", "progress") == "reward");
    let measure = |seen: &crate::domain::Observation| if by_reward { seen.reward } else { seen.progress };
    let before = match step.number.checked_sub(1) {
        None | Some(0) => episode.first_observation.as_ref(),
        Some(n) => episode.step(n).and_then(|s| s.answer.as_ref()),
    };
    step.answer.as_ref().is_some_and(|now| measure(now) > before.map_or(0.0, measure))
}

/// The turn a memory is about: what the agent saw, what it did, and the reward.
fn last_moment(episode: &Episode) -> Option<Transition> {
    let step = episode.step(episode.answered_steps())?;
    let before = step
        .number
        .checked_sub(1)
        .and_then(|n| episode.step(n))
        .and_then(|s| s.answer.as_ref())
        .or(episode.first_observation.as_ref())?;
    Some(Transition {
        observation: before.agent_view.clone().unwrap_or_else(|| before.raw.clone()),
        action: step.action().unwrap_or_default().to_owned(),
        reward: step.answer.as_ref().map_or(0.0, |a| a.reward),
    })
}

/// How far long-term memory reaches.
fn long_term_scope(state: &State) -> Scope {
    match state.run.as_ref().map_or("task", |r| r.settings.text("memory_scope", "task")) {
        "environment" => Scope::Environment,
        "type" => Scope::TaskType,
        _ => Scope::Task,
    }
}
