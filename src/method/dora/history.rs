//! What pictures and lessons tell of a run's searches: of the one that the memory holds, and of those for the types of tasks before.

use super::jobs::{INSTRUCT, NEXT_POINTS};
use super::search::{Expected, OBJECTIVE, Search, groups, searched_type};
use super::settings::{ATTEMPTS, PROMPTER, Prompter, ROUNDS};
use crate::domain::{Job, Lesson, ReflectionKind, SearchHistory, Task};
use crate::engine::State;
use crate::prompt::text_hash;

/// Returns what the searches of a run have evaluated, one for each type of tasks, in their order; none before the first reward.
pub(crate) fn histories(state: &State) -> Vec<SearchHistory> {
    let Some(search) = Search::read(state) else { return Vec::new() };
    let of_type = |group| searched_type(state, group).map(str::to_owned);
    let ended = search.ended.iter().map(|ended| ended.history(of_type(ended.group)));
    let all = ended.chain([search.history(state)]);
    all.filter(|history| !history.points.is_empty()).collect()
}

/// Says of advice in which evaluation it was written, and what its instruction was worth: `evaluation 3, reward 0.42`; of an
/// instruction which vector it is of, how long that is, what is expected of it or its reward, and what made words of it; of the
/// newest record how many evaluations are left, and the expected improvement of the one in progress. The parts are separated by semicolons.
/// `None` for other lessons, and for those of a search that the run's memory doesn't hold.
pub(crate) fn describe_evaluation(state: &State, lesson: &Lesson) -> Option<String> {
    match lesson.kind {
        ReflectionKind::Instruction => return describe_instruction(state, &lesson.text().text),
        ReflectionKind::Progress => return describe_rest(state, lesson),
        ReflectionKind::Advice => {}
        ReflectionKind::Abstract
        | ReflectionKind::Error
        | ReflectionKind::Plan
        | ReflectionKind::Experience
        | ReflectionKind::Lesson
        | ReflectionKind::Positive
        | ReflectionKind::Negative => return None,
    }
    let number = lesson.learnt_at.0;
    let open = state.episode.as_deref().filter(|episode| episode.number == number);
    let (task, trial) = match open {
        Some(open) => (&open.task, open.trial),
        None => state.ended_episode(number).map(|ended| (&ended.task, ended.trial))?,
    };
    let search = Search::read(state)?;
    let index = (u64::from(trial.checked_sub(1)?) / state.setting(ATTEMPTS).max(1)) as usize;
    let group = group_of(state, task)?;
    let reward = if group == search.group {
        search.done.get(index).map(|evaluated| evaluated.reward)
    } else {
        let ended = search.ended.iter().find(|ended| ended.group == group)?;
        ended.reward(index)
    };
    let reward = reward.map_or_else(|| "no reward yet".to_owned(), |reward| format!("reward {reward:.2}"));
    Some(format!("evaluation {}, {reward}", index + 1))
}

/// Returns the round for which a job chooses vectors, or the evaluation for which it makes an instruction.
pub(crate) fn job_position(state: &State, job: &Job) -> Option<String> {
    let search = Search::read(state)?;
    let (evaluation, planned) = (search.done.len() + 1, Search::planned_evaluations(state));
    match job.name.as_str() {
        NEXT_POINTS => Some(format!("round {} of {}", search.round + 1, state.setting(ROUNDS))),
        INSTRUCT => Some(format!("evaluation {evaluation} of at most {planned}")),
        _ => None,
    }
}

/// Returns which group of tasks a task belongs to.
fn group_of(state: &State, task: &Task) -> Option<usize> {
    let key = task.key();
    groups(state).iter().position(|tasks| tasks.iter().any(|task| task.key() == key))
}

fn describe_instruction(state: &State, text: &str) -> Option<String> {
    let search = Search::read(state)?;
    let source = match state.setting(PROMPTER) {
        Prompter::Text => "text steering",
        Prompter::Local => "local model",
    };
    let name = |index: usize, v: &[f64]| format!("v{}, |v| {:.2}", index + 1, norm(v));
    let Some(now) = search.now.as_ref().filter(|now| now.text == text) else {
        let hash = text_hash(text);
        let mut all = search.done.iter().enumerate().rev();
        let (index, evaluated) = all.find(|(_, evaluated)| evaluated.text == hash)?;
        return Some(format!("{}; reward {:.2}; {source}", name(index, &evaluated.v), evaluated.reward));
    };
    let soft_prompt = now.p_norm.map_or_else(String::new, |length| format!(", |p| {length:.2}"));
    let expected = now.candidate.expected.map_or_else(|| "no prediction".to_owned(), Expected::describe_mean);
    let name = name(search.done.len(), &now.candidate.v);
    Some(format!("{name}{soft_prompt}; {expected}; {source}"))
}

/// Describes what follows the newest record: `33 left; v14: EI 0.214`. The improvement is in standardised rewards; the lane of the
/// instruction has the rest.
fn describe_rest(state: &State, lesson: &Lesson) -> Option<String> {
    let newest = state.pool.all().rfind(|other| other.rule.as_deref() == Some(OBJECTIVE))?;
    if newest.id != lesson.id {
        return None;
    }
    let search = Search::read(state)?;
    let left = Search::planned_evaluations(state).saturating_sub(search.done.len() as u64);
    let next = search.now.as_ref().map(|now| &now.candidate).or(search.queue.first());
    let next = next
        .and_then(|candidate| candidate.expected)
        .map_or_else(String::new, |expected| format!("; v{}: EI {:.3}", search.done.len() + 1, expected.ei));
    Some(format!("{left} left{next}"))
}

/// Returns the length of a vector.
fn norm(v: &[f64]) -> f64 {
    v.iter().map(|value| value * value).sum::<f64>().sqrt()
}
