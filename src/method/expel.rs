//! ExpeL (docs/METHODS.md), FCRF's strongest baseline: gathers attempts at training tasks as Reflexion does, draws insights from
//! them with operations on a list (ADD, EDIT, AGREE, REMOVE), and recalls insights and similar successful attempts in later
//! tasks. The training tasks are those of the calibration, or else the run's own tasks as they are played.

pub mod settings;

mod operations;

use super::{mentor, schedule};
use crate::domain::{EpisodeRole, EpisodeSummary, Purpose, Question, ReflectionKind};
use crate::engine::{Intent, MentorReply, Method, State, add_all_lessons};
use crate::symbolic::SymbolicRules;
use settings::{GATHER_TRIALS, SUCCESS_BATCH};

/// Asks for a plan for the next attempt at a training task.
const PLAN: Question = Question { kind: ReflectionKind::Plan, purpose: Purpose::Reflect };
/// Asks for operations on the insights after comparing a failed with a successful attempt at one task.
const COMPARE: Question = Question { kind: ReflectionKind::Abstract, purpose: Purpose::Contrast };
/// Asks for operations on the insights after reading successful attempts at several tasks.
const EXTRACT: Question = Question { kind: ReflectionKind::Abstract, purpose: Purpose::Extract };

/// The method `expel`.
pub struct Expel {
    /// The rules that answer if the run's mentor is symbolic.
    pub rules: SymbolicRules,
}

impl Method for Expel {
    fn name(&self) -> &'static str {
        "expel"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        match state.open_episode() {
            Some(open) if open.first_observation.is_none() => Vec::new(),
            Some(_) => vec![Intent::AskActor],
            None => {
                let due = due_questions(state).into_iter().find(|question| !state.is_answered(*question));
                let mut intents: Vec<Intent> =
                    due.into_iter().flat_map(|q| mentor::ask_mentor(self, self.rules, state, q)).collect();
                intents.extend(next_episode(state));
                intents
            }
        }
    }

    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent> {
        let question = match kind {
            ReflectionKind::Abstract if is_corrected(state) => COMPARE,
            ReflectionKind::Abstract if count_successes(state) == 0 => return Vec::new(),
            ReflectionKind::Abstract => EXTRACT,
            kind => Question::reflect(kind),
        };
        mentor::ask_mentor(self, self.rules, state, question)
    }

    fn on_mentor_reply(&self, state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
        match reply.question {
            COMPARE | EXTRACT => operations::apply(state, reply),
            _ => add_all_lessons(state, reply),
        }
    }
}

/// Returns the questions about the episode that has just ended, each asked after the previous one has been answered.
fn due_questions(state: &State) -> Vec<Question> {
    let Some(ended) = last_outcome(state) else { return Vec::new() };
    let mut questions = Vec::new();
    if !ended.ends_task() && may_be_played_again(state, ended) {
        questions.push(PLAN);
    }
    if !state.is_training(ended.role) {
        return questions;
    }
    if is_corrected(state) {
        questions.push(COMPARE);
    }
    let (successes, batch) = (count_successes(state), state.setting(SUCCESS_BATCH));
    let completes_batch = ended.won && successes.is_multiple_of(batch);
    let is_rest = is_gathering_over(state) && !successes.is_multiple_of(batch);
    if completes_batch || is_rest {
        questions.push(EXTRACT);
    }
    questions
}

fn last_outcome(state: &State) -> Option<&EpisodeSummary> {
    state.episode.as_deref()?.outcome.as_deref()
}

/// Returns whether the next attempt at a task could use a plan.
fn may_be_played_again(state: &State, ended: &EpisodeSummary) -> bool {
    if ended.role == EpisodeRole::Test {
        return schedule::failed_attempt(state).is_some();
    }
    u64::from(ended.trial) < state.setting(GATHER_TRIALS)
}

/// Returns whether the last episode solved a task after a failed attempt that is still kept.
fn is_corrected(state: &State) -> bool {
    last_outcome(state).is_some_and(|ended| ended.won && state.last_attempt(&ended.task).is_some())
}

/// Returns the number of training episodes that were won.
fn count_successes(state: &State) -> u64 {
    state.ended_episodes.iter().filter(|e| e.won && state.is_training(e.role)).count() as u64
}

/// Returns whether the last episode was the last one of the training before the tests. The rerun of an episode doesn't end
/// the training.
fn is_gathering_over(state: &State) -> bool {
    let is_rerun = state.settings().place.first_trial.is_some();
    last_outcome(state).is_some_and(|ended| ended.role == EpisodeRole::Calibrate && !is_rerun)
        && schedule::next_gathering(state, state.setting(GATHER_TRIALS)).is_none()
}

/// Starts the next attempt at a training task, or else the next test.
fn next_episode(state: &State) -> Vec<Intent> {
    match schedule::next_gathering(state, state.setting(GATHER_TRIALS)) {
        Some(start) => vec![start],
        None => schedule::next_test_by_trial(state),
    }
}
