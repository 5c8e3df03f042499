//! DORA (docs/METHODS.md): after each failed attempt the mentor writes advice, and the instruction that it is given for this is
//! tuned. A vector becomes an instruction, the instruction is evaluated on all tasks of a type, and the reward decides by
//! Bayesian optimisation which vectors are tried next.
//!
//! A vector becomes words through the soft prompt of a model on this machine, as in the paper, or it chooses among candidate
//! sentences (text steering), which is ours and named so. The search is the run's memory; instruction, advice and the
//! results of evaluations are lessons, so that a person can change them: changed advice is part of what the evaluation
//! measures, and an evaluation whose instruction was changed isn't given to the optimiser.

pub mod jobs;
pub mod settings;

mod advice;
mod ended_search;
mod history;
mod instruct;
mod reward;
mod screen_plan;
mod search;
mod text_steering;

pub(crate) use history::{
    ADVICE_NOTE, budget_labels, describe_evaluation, has_vector, histories as search_histories,
    is_manual_attempt, job_position, prompter_labels, run_notes,
};
pub(crate) use instruct::compute_instruction;
pub use screen_plan::CountElements;
pub use text_steering::read_advice;

use super::{MethodError, mentor, schedule};
use crate::domain::common_settings::Acting;
use crate::domain::{
    Author, EpisodeRole, EpisodeSummary, LessonStatus, LessonText, Question, Reflection, ReflectionItem,
    ReflectionKind, RunSpec, Scope, Task,
};
use crate::engine::{
    CommandError, Computed, Episode, Intent, LessonCommand, MentorReply, Method, State, add_all_lessons,
};
use crate::symbolic::SymbolicRules;
use jobs::{Choice, INSTRUCT, Instructed, ModelAnswer, NEXT_POINTS};
use reward::Reward;
use search::{Candidate, Evaluation, OBJECTIVE, Search, active_instruction};
use serde::de::DeserializeOwned;
use settings::{ATTEMPTS, PAIRS, Pairs, ROUNDS, SEARCH_POPULATION};
use std::fmt::Write as _;

/// Asks for advice for the next attempt.
const ADVICE: Question = Question { kind: ReflectionKind::Advice, purpose: crate::domain::Purpose::Reflect };
/// The instruction if the first one can't be made and a person continues without it.
const PLAIN_INSTRUCTION: &str = "Say what went wrong and what to do instead.";

/// The method `dora`.
pub struct Dora {
    /// The rules that answer if the run's mentor is symbolic.
    pub rules: SymbolicRules,
    /// Returns how an environment's observations are counted, by its name; `None` if they list no elements.
    pub element_counter: fn(&str) -> Option<CountElements>,
}

impl Method for Dora {
    fn name(&self) -> &'static str {
        "dora"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        match state.open_episode() {
            Some(open) if open.first_observation.is_none() => Vec::new(),
            Some(open) => vec![self.next_action(state, open)],
            // A rerun repeats one episode; there is nothing to search.
            None if state.settings().place.first_trial.is_some() => schedule::next_by_task(state),
            None => self.between_episodes(state),
        }
    }

    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent> {
        match kind {
            ReflectionKind::Instruction => {
                let search = Search::read(state).and_then(|search| search.with_sample_wanted(state));
                search.map_or_else(Vec::new, |search| vec![search.store()])
            }
            ReflectionKind::Advice if active_instruction(state).is_none() => Vec::new(),
            kind => {
                let intents = mentor::ask_mentor(self, self.rules, state, Question::reflect(kind));
                if repeats_advice(&intents) { Vec::new() } else { intents }
            }
        }
    }

    fn why_no_reflection(&self, state: &State, kind: ReflectionKind) -> Option<(&'static str, &'static str)> {
        match kind {
            ReflectionKind::Instruction => Search::read(state)?.why_no_sample(state),
            ReflectionKind::Advice if active_instruction(state).is_some() => {
                let intents = mentor::ask_mentor(self, self.rules, state, ADVICE);
                repeats_advice(&intents).then_some((
                    "the rules write the same advice again",
                    "edit it (e), or write your own (a)",
                ))
            }
            _ => None,
        }
    }

    fn on_mentor_reply(&self, state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
        let mut intents = add_all_lessons(state, reply);
        let known = advice::replaceable_advice(state, (reply.prompt.episode, reply.prompt.step));
        let shows_attempts = state.setting(PAIRS) == Pairs::Trajectory;
        let attempt = state.episode_by_number(reply.prompt.episode).filter(|_| shows_attempts);
        let attempt = attempt.map(advice::describe_attempt);
        let mut replaced = None;
        for intent in &mut intents {
            let Intent::Lesson(command) = intent else { continue };
            let LessonCommand::Add { kind: ReflectionKind::Advice, scope, text, evidence, .. } = command
            else {
                continue;
            };
            // Advice belongs to its task.
            *scope = Scope::Task;
            if let Some(attempt) = &attempt {
                evidence.clone_from(attempt);
            }
            // Another sample replaces the one before, so that one piece stands for the attempt; the same words are no other sample.
            match known {
                Some(known) if known.text() == text => {
                    *command = LessonCommand::Recur { id: known.id.clone() }
                }
                known => replaced = known,
            }
        }
        intents.extend(replaced.map(search::retire));
        intents
    }

    fn check_run(&self, run: &RunSpec) -> Result<(), CommandError> {
        let checked = Self::for_run(run, self.rules, self.element_counter);
        checked.map(|_| ()).map_err(|why| CommandError::new(why.problem, why.hint))
    }

    fn before_manual_episode(&self, state: &State) -> Vec<Intent> {
        let Some(mut search) = Search::read(state) else { return Vec::new() };
        let mut intents = Vec::new();
        // An attempt that just ended is counted now, because its steps are gone afterwards.
        if let Some(ended) = search.task(state).and_then(|task| uncounted_attempt(state, &search, task)) {
            let lacks_advice = !self.due_advice(state, ended).is_empty();
            if let Some(now) = &mut search.now {
                now.assisted |= lacks_advice;
            }
            (search, intents) = count_attempt(state, search, ended);
        }
        search.manual.push(state.next_episode_number());
        intents.push(search.store());
        intents
    }

    fn on_computed(&self, state: &State, computed: &Computed<'_>) -> Vec<Intent> {
        let Some(search) = Search::read(state) else { return Vec::new() };
        match computed.job.name.as_str() {
            NEXT_POINTS => {
                let (found, mut intents) = read_result::<Choice>(
                    state,
                    computed,
                    ("There are no new vectors", "one random vector is tried instead"),
                );
                intents.push(search.with_chosen(state, found).store());
                intents
            }
            INSTRUCT => {
                let instead = match active_instruction(state) {
                    Some(_) => "the one in force stays",
                    None => "a plain one is used",
                };
                let (instructed, mut intents) =
                    read_result::<Instructed>(state, computed, ("There is no new instruction", instead));
                intents.extend(if search.now.is_some() {
                    replace_instruction(state, search, instructed)
                } else {
                    begin_evaluation(state, search, instructed)
                });
                intents
            }
            _ => Vec::new(),
        }
    }
}

impl Dora {
    /// Creates the method for a run.
    ///
    /// # Errors
    /// Returns [`MethodError`] if the actor is to plan for screens whose elements can't be counted, or if a generation of the
    /// search is to have one vector.
    pub fn for_run(
        run: &RunSpec,
        rules: SymbolicRules,
        element_counter: fn(&str) -> Option<CountElements>,
    ) -> Result<Self, MethodError> {
        let has_no_elements = |task: &&Task| element_counter(&task.env).is_none();
        if let Some(task) = run.tasks.iter().find(has_no_elements)
            && run.settings.typed().acting == Acting::ScreenPlan
        {
            return Err(MethodError {
                problem: format!(
                    "acting=screen-plan follows a plan until the number of elements on the page changes, but {} shows no such page",
                    task.env
                ),
                hint: "leave it at one action a reply (--set acting=step), or play web pages",
            });
        }
        // CMA-ES refuses it, but only after the first vectors have been evaluated.
        if run.settings.get(SEARCH_POPULATION) == 1 {
            return Err(MethodError {
                problem: "search_population=1: a generation of the search needs at least 2 vectors"
                    .to_owned(),
                hint: "set it to 2 or more, or to 0 for the number of the setting search",
            });
        }
        Ok(Self { rules, element_counter })
    }

    fn next_action(&self, state: &State, open: &Episode) -> Intent {
        match (state.settings().acting, (self.element_counter)(&open.task.env)) {
            (Acting::ScreenPlan, Some(count)) => screen_plan::next_intent(open, count),
            _ => Intent::AskActor,
        }
    }

    fn between_episodes(&self, state: &State) -> Vec<Intent> {
        let search = match Search::try_read(state) {
            Ok(Some(search)) => search,
            Ok(None) => return vec![Search::new(state, 0).store()],
            Err(why) => return end_unreadable(state, &why),
        };
        let Some(now) = &search.now else {
            return search.exhausted(state).map_or_else(
                || search.next_evaluation(state),
                |(search, count)| {
                    let text = format!(
                        "All {count} candidate texts are evaluated: the search ends in round {} of {}.",
                        search.round,
                        state.setting(ROUNDS)
                    );
                    let mut intents = add_objective(state, text);
                    intents.push(search.store());
                    intents
                },
            );
        };
        if now.wants_sample {
            return vec![search.instruct(state, &now.candidate)];
        }
        let Some(task) = search.task(state) else { return vec![Intent::EndRun] };
        let Some(ended) = uncounted_attempt(state, &search, task) else {
            return vec![start_attempt(state, &search, now, task)];
        };
        let advice = self.due_advice(state, ended);
        if !advice.is_empty() {
            return advice;
        }
        let (search, mut intents) = count_attempt(state, search.clone(), ended);
        intents.push(search.store());
        intents
    }

    /// Returns what asks for the advice after an attempt; nothing if none is due, or without a mentor.
    fn due_advice(&self, state: &State, ended: &EpisodeSummary) -> Vec<Intent> {
        if ended.won || ended.reason.is_env_failure() || state.is_answered(ADVICE) {
            return Vec::new();
        }
        mentor::ask_mentor(self, self.rules, state, ADVICE)
    }
}

/// Returns whether advice of the rules is the same as what they wrote at this place before.
fn repeats_advice(intents: &[Intent]) -> bool {
    intents.iter().any(|intent| matches!(intent, Intent::Lesson(LessonCommand::Recur { .. })))
}

/// Reads the result of a job. Where it can't be read, the intents record what is `missing` and why, and what happens `instead`.
fn read_result<T: DeserializeOwned>(
    state: &State,
    computed: &Computed<'_>,
    (missing, instead): (&str, &str),
) -> (Option<T>, Vec<Intent>) {
    let why = match computed.result.map(T::deserialize) {
        Some(Ok(result)) => return (Some(result), Vec::new()),
        Some(Err(why)) => format!(", because the result can't be read ({why})"),
        // A person continues without a job that has failed or was cancelled.
        None => String::new(),
    };
    (None, add_objective(state, format!("{missing}{why}: {instead}.")))
}

/// Ends a run whose memory can't be read, once the reason is recorded. The memory stays as it is.
fn end_unreadable(state: &State, why: &str) -> Vec<Intent> {
    let text = format!(
        "The search in this session can't be read ({why}), so the run ends here; the session stays as it is for the version of the program that has written it."
    );
    if state.pool.all().any(|lesson| lesson.text().text == text) {
        return vec![Intent::EndRun];
    }
    add_objective(state, text)
}

/// Adds a sentence to the lane of the objective.
fn add_objective(state: &State, text: String) -> Vec<Intent> {
    add_lesson(state, (ReflectionKind::Progress, Author::Symbolic), text, OBJECTIVE, String::new())
}

/// Returns the episode that has just ended, if it is an attempt that the search has made and not counted yet.
fn uncounted_attempt<'a>(state: &'a State, search: &Search, task: &Task) -> Option<&'a EpisodeSummary> {
    let ended = state.episode.as_deref()?.outcome.as_deref()?;
    let is_own = !search.manual.contains(&ended.number) && ended.task.key() == task.key();
    (ended.number > search.counted && is_own).then_some(ended)
}

fn start_attempt(state: &State, search: &Search, now: &Evaluation, task: &Task) -> Intent {
    let before = search.done.len() as u64 * state.setting(ATTEMPTS) + u64::from(now.attempt);
    let task = Box::new(Task { goal: String::new(), ..task.clone() });
    Intent::StartEpisode { task, trial: before as u32 + 1, role: EpisodeRole::Test }
}

/// Returns what a search plays after the attempt that has just ended; `None` if it ends.
pub(crate) fn what_follows(state: &State) -> Option<&'static str> {
    if state.settings().place.first_trial.is_some() {
        return schedule::next_in_list(state);
    }
    let search = Search::read(state)?;
    let ended = search.task(state).and_then(|task| uncounted_attempt(state, &search, task));
    let search = match ended {
        Some(ended) => counted(state, search, ended).0,
        None => search,
    };
    match &search.now {
        Some(now) if now.attempt > 0 => Some("next attempt"),
        // The first task of an evaluation whose instruction is there already.
        Some(now) if now.instance == 0 => Some("next evaluation"),
        Some(_) => Some("next task"),
        None => search.has_next_evaluation(state).then_some("next evaluation"),
    }
}

/// Counts an attempt. Returns the search, and the intents that record the reward after the last task of an evaluation.
fn count_attempt(state: &State, search: Search, ended: &EpisodeSummary) -> (Search, Vec<Intent>) {
    let (search, evaluated) = counted(state, search, ended);
    let intents = evaluated.map_or_else(Vec::new, |reward| record_reward(state, &search, &reward));
    (search, intents)
}

/// Returns the search with an attempt counted, and the reward if it was the last one of an evaluation.
fn counted(state: &State, search: Search, ended: &EpisodeSummary) -> (Search, Option<Reward>) {
    let last_answer = state
        .episode
        .as_deref()
        .and_then(|episode| episode.steps.iter().rev().find_map(|step| step.answer.as_ref()));
    let reward = last_answer.map_or(0.0, |answer| answer.reward);
    // The advice after this attempt may have repeated the one before: then it is the task's last one in this evaluation.
    let ends_early = state.early_stop(&ended.task).is_some_and(|advice| advice.episode == ended.number);
    let attempts = if ends_early { 0 } else { state.setting(ATTEMPTS) };
    search.count_attempt(state, ended.won, reward, attempts)
}

/// Adds the result of the last evaluation to the lane of the objective.
fn record_reward(state: &State, search: &Search, reward: &Reward) -> Vec<Intent> {
    let Some(last) = search.done.last() else { return Vec::new() };
    let (number, planned) = (search.done.len(), search.planned_evaluations(state));
    // A narrow lane shows the beginning.
    let mut text = format!("Evaluation {number}: {:.3}", reward.value);
    if let Some((index, best)) = search.best() {
        let _ = write!(text, ", best {:.3} (evaluation {})", best.reward, index + 1);
    }
    let of_type =
        search::searched_type(state, search.group).map_or_else(String::new, |name| format!(" for {name}"));
    let _ = write!(
        text,
        "; at most {planned} evaluations{of_type}, round {} of {}; solved {:.0} %, diversity {:.2}",
        search.round,
        state.setting(ROUNDS),
        100.0 * reward.performance,
        reward.diversity
    );
    if let Some(expected) = &last.expected {
        let _ = write!(text, "; {}", expected.describe());
    }
    if last.assisted {
        text.push_str("; not given to the optimiser, because a person changed its instruction or acted");
    }
    text.push('.');
    if let Some(fit) = search.fits.last() {
        let _ = write!(
            text,
            " Model: {}, noise {:.4}; blind at {:.0} % of the box.",
            describe_length_scales(&fit.hyper.lengthscales),
            fit.hyper.noise,
            100.0 * fit.blind
        );
    }
    add_objective(state, text)
}

/// Describes fitted length scales: each, or of many how many there are and their range.
fn describe_length_scales(all: &[f64]) -> String {
    const MOST_NAMED: usize = 10;
    match all {
        [one] => format!("length scale {one:.2}"),
        all if all.len() <= MOST_NAMED => {
            let all: Vec<String> = all.iter().map(|length| format!("{length:.2}")).collect();
            format!("length scales {}", all.join(", "))
        }
        all => {
            let (low, high) = (
                all.iter().copied().fold(f64::INFINITY, f64::min),
                all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            );
            format!("{} length scales from {low:.2} to {high:.2}", all.len())
        }
    }
}

/// Puts an instruction in force and begins its evaluation. Without a result the one in force stays, or a plain one is used.
fn begin_evaluation(state: &State, search: Search, instructed: Option<Instructed>) -> Vec<Intent> {
    let old = || state.pool.active_of_kind(ReflectionKind::Instruction);
    let kind = ReflectionKind::Instruction;
    let Some(Instructed { text, chosen, by_model }) = instructed else {
        let text = active_instruction(state).map_or(PLAIN_INSTRUCTION, |lesson| lesson.text().text.as_str());
        let mut intents = Vec::new();
        if old().next().is_none() {
            let kind = (kind, Author::Symbolic);
            intents = add_lesson(state, kind, text.to_owned(), INSTRUCT, String::new());
        }
        intents.push(search.with_instruction(state, text.to_owned(), Vec::new(), true).store());
        return intents;
    };
    let evidence = search
        .queue
        .first()
        .map_or_else(String::new, |candidate| describe_source(candidate, by_model.as_ref()));
    let p_norm = by_model.as_ref().map(|answer| answer.p_norm);
    let (mut intents, text) = put_in_force(state, text, by_model.is_some(), evidence);
    intents.push(search.with_instruction(state, text, chosen, false).with_soft_prompt(p_norm).store());
    intents
}

/// Puts another instruction in force for the vector that is being evaluated, which a person has asked for. Without a result
/// the last one stays.
fn replace_instruction(state: &State, search: Search, instructed: Option<Instructed>) -> Vec<Intent> {
    let (Some(Instructed { text, by_model, .. }), Some(now)) = (instructed, &search.now) else {
        return vec![search.with_sample(None).store()];
    };
    if text == now.text {
        return vec![search.with_sample(Some(text)).store()];
    }
    let evidence = describe_source(&now.candidate, by_model.as_ref());
    let (mut intents, text) = put_in_force(state, text, by_model.is_some(), evidence);
    intents.push(search.with_sample(Some(text)).store());
    intents
}

/// Adds an instruction and retires the others. Returns the text that is in force then.
fn put_in_force(state: &State, text: String, is_by_model: bool, evidence: String) -> (Vec<Intent>, String) {
    let kind = ReflectionKind::Instruction;
    let author = if is_by_model { Author::Mentor } else { Author::Symbolic };
    // A model may end its answer at once. The vector then stands for this instruction.
    let text = if text.trim().is_empty() { PLAIN_INSTRUCTION.to_owned() } else { text };
    let mut intents: Vec<Intent> = state
        .pool
        .active_of_kind(kind)
        // Only a person removes what a person has pinned; then the instruction isn't the vector's alone.
        .filter(|lesson| lesson.status != LessonStatus::Pinned)
        .map(search::retire)
        .collect();
    intents.extend(add_lesson(state, (kind, author), text.clone(), INSTRUCT, evidence));
    (intents, text)
}

/// Says from which vector an instruction comes, what was expected of it, and what made words of it.
fn describe_source(candidate: &Candidate, by_model: Option<&ModelAnswer>) -> String {
    let numbers: Vec<String> = candidate.v.iter().map(|value| format!("{value:.2}")).collect();
    let expected =
        candidate.expected.map_or_else(String::new, |expected| format!("; {}", expected.describe()));
    let source = by_model.map_or_else(|| text_steering::NAME.to_owned(), describe_answer);
    format!("v = ({}){expected}; {source}", numbers.join(", "))
}

/// Says which model wrote an instruction, and how.
fn describe_answer(answer: &ModelAnswer) -> String {
    let mut text = format!(
        "local model {}, soft prompt of length {:.2} (embeddings: deviation {:.3}), {}, {} tokens",
        answer.model_name, answer.p_norm, answer.embed_std, answer.decoding, answer.tokens_out
    );
    if answer.tokens_out == 0 {
        text.push_str("; it wrote nothing, so the plain instruction is used");
    } else if !answer.is_whole {
        text.push_str("; cut off at the limit");
    }
    if answer.demos_dropped > 0 {
        let _ = write!(text, "; {} demonstrations left out, the prompt was too long", answer.demos_dropped);
    }
    text
}

/// Records a text of the method's own as a reflection, and adds it as a lesson of the environment.
fn add_lesson(
    state: &State,
    (kind, author): (ReflectionKind, Author),
    text: String,
    rule: &str,
    evidence: String,
) -> Vec<Intent> {
    let position =
        state.episode.as_ref().map_or((0, 0), |episode| (episode.number, episode.answered_steps()));
    let rule = Some(rule.to_owned());
    let text = LessonText::plain(text);
    let item = ReflectionItem {
        text: text.clone(),
        rule: rule.clone(),
        evidence: evidence.clone(),
        transition: None,
    };
    let reflection = Reflection::new(kind, author, position, vec![item]);
    let scope = Scope::Environment;
    let add = LessonCommand::Add {
        kind,
        scope,
        text,
        rule,
        parents: Vec::new(),
        transition: None,
        evidence,
        pinned: false,
    };
    vec![Intent::Reflect(Box::new(reflection)), Intent::Lesson(add)]
}

#[cfg(test)]
mod tests {
    use super::describe_length_scales;

    /// Regression: the kernel `coupled` has 60 length scales, which all stood in one sentence.
    #[test]
    fn many_length_scales_are_a_range() {
        assert_eq!(describe_length_scales(&[0.5]), "length scale 0.50");
        assert_eq!(describe_length_scales(&[0.5, 0.25]), "length scales 0.50, 0.25");
        let many: Vec<f64> = (1..=60).map(|n| f64::from(n) / 10.0).collect();
        assert_eq!(describe_length_scales(&many), "60 length scales from 0.10 to 6.00");
    }
}
