//! What pictures and lessons tell of a run's searches: of the one that the memory holds, and of those for the types of tasks before.

use super::jobs::{INSTRUCT, NEXT_POINTS};
use super::search::{Expected, OBJECTIVE, Search, groups, searched_type};
use super::settings::{ATTEMPTS, MODEL_SETTING, PROMPTER, Prompter, ROUNDS};
use super::text_steering;
use crate::domain::{
    Job, Lesson, LessonStatus, ModelRole, ReflectionKind, RoleSource, RunSpec, SearchHistory, Task, pluralize,
};
use crate::engine::State;
use crate::prompt::text_hash;
use std::sync::Arc;

/// About how many tokens a call of a model has, prompt and reply together: a step in a text world, with
/// two examples in its prompt, has as many.
const TOKENS_PER_CALL: u64 = 1000;

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
        ReflectionKind::Instruction => return describe_instruction(state, lesson),
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
    if search.manual.contains(&number) {
        return Some("of no evaluation".to_owned());
    }
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
    let (evaluation, planned) = (search.done.len() + 1, search.planned_evaluations(state));
    match job.name.as_str() {
        NEXT_POINTS => Some(format!("round {} of {}", search.round + 1, state.setting(ROUNDS))),
        INSTRUCT => Some(format!("evaluation {evaluation} of at most {planned}")),
        _ => None,
    }
}

/// Returns whether a person has started an episode, so that the search doesn't count it.
pub(crate) fn is_manual_attempt(state: &State, episode: u32) -> bool {
    Search::read(state).is_some_and(|search| search.manual.contains(&episode))
}

/// Returns which group of tasks a task belongs to.
fn group_of(state: &State, task: &Task) -> Option<usize> {
    let key = task.key();
    groups(state).iter().position(|tasks| tasks.iter().any(|task| task.key() == key))
}

/// Returns whether an instruction in its present words is that of a vector, whose reward the optimiser gets: pinning it fixes the
/// vector.
pub(crate) fn has_vector(state: &State, lesson: &Lesson) -> bool {
    let text = &lesson.text().text;
    let has_search = |search: Search| {
        let is_evaluated = search.now.as_ref().is_some_and(|now| now.text == *text && !now.assisted);
        is_evaluated || search.known_text(text).is_some()
    };
    lesson.kind == ReflectionKind::Instruction && Search::read(state).is_some_and(has_search)
}

fn describe_instruction(state: &State, lesson: &Lesson) -> Option<String> {
    let search = Search::read(state)?;
    let source = match state.setting(PROMPTER) {
        Prompter::Text => "text steering",
        Prompter::Local => "local model",
    };
    let pin = if lesson.status == LessonStatus::Pinned && has_vector(state, lesson) { ", fixed" } else { "" };
    let name = |index: usize, v: &[f64]| format!("v{}, |v| {:.2}", index + 1, norm(v));
    let describe = |text: &str| {
        let Some(now) = search.now.as_ref().filter(|now| now.text == text) else {
            let hash = text_hash(text);
            let mut all = search.done.iter().enumerate().rev();
            let (index, evaluated) = all.find(|(_, evaluated)| evaluated.text == hash)?;
            return Some((name(index, &evaluated.v), format!("reward {:.2}", evaluated.reward)));
        };
        let soft_prompt = now.p_norm.map_or_else(String::new, |length| format!(", |p| {length:.2}"));
        let expected =
            now.candidate.expected.map_or_else(|| "no prediction".to_owned(), Expected::describe_mean);
        Some((format!("{}{soft_prompt}", name(search.done.len(), &now.candidate.v)), expected))
    };
    if let Some((name, worth)) = describe(&lesson.text().text) {
        return Some(format!("{name}{pin}; {worth}; {source}"));
    }
    let mut earlier = lesson.versions.iter().rev().skip(1);
    let (name, _) = earlier.find_map(|version| describe(&version.text.text))?;
    Some(format!("{name}; edited: not given to the optimiser"))
}

/// Describes what follows the newest record: `33 left; v14: EI 0.214`. The improvement is in standardised rewards; the lane of the
/// instruction has the rest.
fn describe_rest(state: &State, lesson: &Lesson) -> Option<String> {
    let newest = state.pool.all().rfind(|other| other.rule.as_deref() == Some(OBJECTIVE))?;
    if newest.id != lesson.id {
        return None;
    }
    let search = Search::read(state)?;
    let left = left_evaluations(state, &search);
    let next = expected_improvement(&search)
        .map_or_else(String::new, |ei| format!("; v{}: EI {ei:.3}", search.done.len() + 1));
    Some(format!("{left}{next}"))
}

/// Describes how many evaluations a search may still make: `33 left`; once the run is over, how many it didn't need.
fn left_evaluations(state: &State, search: &Search) -> String {
    let left = search.planned_evaluations(state).saturating_sub(search.done.len() as u64);
    if state.run_over && left > 0 { format!("{left} unused") } else { format!("{left} left") }
}

/// Returns the expected improvement of the vector that is evaluated, or comes next, in standardised rewards.
fn expected_improvement(search: &Search) -> Option<f64> {
    let next = search.now.as_ref().map(|now| &now.candidate).or(search.queue.first());
    Some(next?.expected?.ei)
}

/// Returns the best reward so far, what is left of the budget and the expected improvement, longest form first:
/// `best 0.412, 33 left, EI 0.214`. Once the run is over, the improvement is that of the last vector.
pub(crate) fn budget_labels(state: &State) -> Vec<String> {
    let Some(search) = Search::read(state) else { return Vec::new() };
    let left = left_evaluations(state, &search);
    let last = search.done.last().and_then(|evaluated| evaluated.expected).filter(|_| state.run_over);
    let ei = match (expected_improvement(&search), last) {
        (Some(ei), _) => format!("EI {ei:.3}"),
        (None, Some(last)) => format!("last EI {:.3}", last.ei),
        (None, None) => "no EI".to_owned(),
    };
    let short = format!("{left}, {ei}");
    let best = search.best().map(|(_, best)| format!("best {:.3}, {short}", best.reward));
    best.into_iter().chain([short, left]).collect()
}

/// Names what makes an instruction of a vector, longest form first. Text steering is never called the paper's.
pub(crate) fn prompter_labels(run: &RunSpec) -> Vec<String> {
    match run.settings.get(PROMPTER) {
        Prompter::Text => [
            text_steering::NAME,
            "text steering, no soft prompt",
            "not the paper's soft prompt",
            "text steering",
        ]
        .map(str::to_owned)
        .to_vec(),
        Prompter::Local => {
            let folder = run.settings.value(MODEL_SETTING).and_then(|folder| folder.as_str());
            let name = folder.and_then(|folder| folder.trim_end_matches('/').rsplit('/').next());
            let named = name.map(|name| format!("local model {name}"));
            named.into_iter().chain(["local model".to_owned()]).collect()
        }
    }
}

/// The name of the note about rules as mentor.
pub(crate) const ADVICE_NOTE: &str = "advice";
/// What a run without a model as mentor says, so that nobody takes its rewards for those of the whole text of an instruction.
const SYMBOLIC_ADVICE: &str = "by rules, which follow some words of an instruction; a model reads all of it";

/// Returns what the first lines of a run and its exports say: what makes the instructions, and how long the search may become.
pub(crate) fn run_notes(run: &RunSpec) -> Vec<(&'static str, String)> {
    let prompter = prompter_labels(run).into_iter().next().unwrap_or_default();
    let mut notes = vec![("instructions", prompter), ("search", describe_effort(run))];
    if matches!(run.role_source(ModelRole::Mentor), RoleSource::Symbolic) {
        notes.push((ADVICE_NOTE, SYMBOLIC_ADVICE.to_owned()));
    }
    notes
}

/// Describes how many episodes a search has at most, and about how many tokens.
fn describe_effort(run: &RunSpec) -> String {
    let state = State { run: Some(Arc::new(run.clone())), ..State::default() };
    let groups = groups(&state);
    let tasks = groups.iter().map(|tasks| tasks.len() as u64).sum::<u64>();
    let (evaluations, attempts) =
        (Search::new(&state, 0).planned_evaluations(&state), state.setting(ATTEMPTS));
    let episodes = evaluations.saturating_mul(tasks).saturating_mul(attempts);
    let is_model = |role| matches!(run.role_source(role), RoleSource::Model(_));
    let actor_calls = if is_model(ModelRole::Actor) { u64::from(run.limits.steps) } else { 0 };
    let calls = episodes.saturating_mul(actor_calls + u64::from(is_model(ModelRole::Mentor)));
    let tokens = match calls {
        0 => "no tokens, because neither actor nor mentor is a model".to_owned(),
        calls => {
            let thousands = calls.saturating_mul(TOKENS_PER_CALL) / 1000;
            let tokens = match thousands {
                0..10_000 => format!("{thousands} thousand"),
                _ => format!("{} million", thousands / 1000),
            };
            format!("{}, some {tokens} tokens at {TOKENS_PER_CALL} each", pluralize(calls, "model call"))
        }
    };
    let types = if groups.len() > 1 { format!(" of {} types", groups.len()) } else { String::new() };
    format!(
        "at most {} of {}{types}, with up to {} each: {}; {tokens}",
        pluralize(evaluations, "evaluation"),
        pluralize(tasks, "task"),
        pluralize(attempts, "attempt"),
        pluralize(episodes, "episode"),
    )
}

/// Returns the length of a vector.
fn norm(v: &[f64]) -> f64 {
    v.iter().map(|value| value * value).sum::<f64>().sqrt()
}
