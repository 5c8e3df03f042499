//! A session in the layout of a run directory of Reflexion's public code: `env_results_trial_N.json`,
//! `trial_N.log`, `world.log`. Trials and environments are numbered from 0 there.

use crate::domain::{
    Lesson, LessonStatus, ModelRole, ReflectionKind, SegmentLabel, SegmentOrigin, ShownAs, Task,
};
use crate::engine::{Envelope, Episode, Event, State};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Maximum number of plans shown, as in the public code.
const MAX_SHOWN_PLANS: usize = 3;

/// A row of `env_results_trial_N.json`.
#[derive(Serialize)]
struct ResultRow {
    name: String,
    memory: Vec<String>,
    is_success: bool,
    skip: bool,
}

/// A played episode, with the text before its memory and task.
struct Attempt {
    episode: Arc<Episode>,
    prompt_start: String,
}

/// Returns names and contents of the files for all completed trials.
pub fn run_directory_files(events: &[Arc<Envelope>]) -> Vec<(String, String)> {
    let mut state = State::default();
    let mut prompt_starts: BTreeMap<u32, String> = BTreeMap::new();
    let mut attempts: Vec<Attempt> = Vec::new();
    for envelope in events {
        state.apply(envelope);
        match &envelope.event {
            Event::PromptSent { prompt } if prompt.role == ModelRole::Actor => {
                prompt_starts.entry(prompt.episode).or_insert_with(|| {
                    let texts = prompt.segments.iter().filter_map(|s| match (&s.origin, s.label) {
                        (SegmentOrigin::Text(hash), SegmentLabel::Instruction | SegmentLabel::Example) => {
                            state.texts.get(&**hash)
                        }
                        _ => None,
                    });
                    texts.map(|t| &**t).collect()
                });
            }
            Event::EpisodeEnded { summary } if summary.is_attempt() => {
                if let Some(episode) = &state.episode {
                    let prompt_start = prompt_starts.remove(&summary.number).unwrap_or_default();
                    attempts.push(Attempt { episode: episode.clone(), prompt_start });
                }
            }
            _ => {}
        }
    }
    let Some(run) = state.run.clone() else { return Vec::new() };
    let mut files = Vec::new();
    let mut world = String::new();
    for trial in 0..run.trials {
        let Some(trial_output) = trial_files(&state, run.test_tasks(), &attempts, trial) else { break };
        let _ = write!(world, "\n\n***** Start Trial #{trial} *****\n\n{}", trial_output.world);
        let _ = write!(world, "\n\n***** End Trial #{trial} *****\n\n");
        files.push((format!("env_results_trial_{trial}.json"), trial_output.results));
        files.push((format!("trial_{trial}.log"), trial_output.log));
    }
    files.push(("world.log".to_owned(), world));
    files
}

struct TrialFiles {
    results: String,
    log: String,
    world: String,
}

/// Returns the files of one trial, or `None` if it was not completed.
fn trial_files(state: &State, tasks: &[Task], attempts: &[Attempt], trial: u32) -> Option<TrialFiles> {
    let (mut rows, mut log, mut world) = (Vec::new(), String::new(), String::new());
    let (mut won, mut newly_won, mut played) = (0_usize, 0_usize, 0_usize);
    for (index, task) in tasks.iter().enumerate() {
        let is_of_task = |a: &&Attempt| a.episode.task.key() == task.key();
        let is_won = |a: &Attempt| a.episode.outcome.as_ref().is_some_and(|o| o.won);
        let won_earlier = attempts.iter().filter(is_of_task).any(|a| a.episode.trial <= trial && is_won(a));
        let attempt_now = attempts.iter().filter(is_of_task).find(|a| a.episode.trial == trial + 1);
        let has_ended = attempts
            .iter()
            .filter(is_of_task)
            .any(|a| a.episode.trial <= trial && a.episode.outcome.as_ref().is_some_and(|o| o.ends_task()));
        let success = won_earlier || attempt_now.is_some_and(is_won);
        let status = if success { "SUCCESS" } else { "FAIL" };
        let _ = writeln!(world, "Environment #{index} Trial #{trial}: {status}");
        match attempt_now {
            _ if won_earlier => {
                let _ = write!(log, "\n#####\n\nEnvironment #{index}: Success\n\n#####\n");
            }
            Some(attempt) => {
                played += 1;
                newly_won += usize::from(success);
                let memory = plans_before_trial(state, task, trial);
                let shown = &memory[memory.len().saturating_sub(MAX_SHOWN_PLANS)..];
                let history = attempt_history(attempt, shown);
                let status = if success { "OK" } else { "FAIL" };
                let _ =
                    write!(log, "\n#####\n\nEnvironment #{index}:\n{history}\n\nSTATUS: {status}\n\n#####\n");
            }
            // Its environment asked for no further trial.
            None if has_ended => {}
            None => return None,
        }
        won += usize::from(success);
        let memory = plans_before_trial(state, task, trial + 1);
        rows.push(ResultRow { name: format!("env_{index}"), memory, is_success: success, skip: false });
    }
    if played == 0 {
        return None;
    }
    let (total, failed) = (rows.len(), rows.len() - won);
    #[expect(clippy::cast_precision_loss, reason = "a share of tasks")]
    let share = (won as f64 / total.max(1) as f64 * 100.0).round() / 100.0;
    let totals = format!(
        "\n-----\nSUCCESS: {won}\nADDITIONAL SUCCESS: {newly_won}\nFAIL: {failed}\nTOTAL: {total}\nACCURACY: {share:?}\n-----"
    );
    log.push_str(&totals);
    let _ = writeln!(world, "{totals}");
    Some(TrialFiles { results: python_json(&rows), log, world })
}

/// Returns the plans about a task from its first `trials` trials, and those the run started with.
fn plans_before_trial(state: &State, task: &Task, trials: u32) -> Vec<String> {
    let key = task.key();
    let is_about_task = |lesson: &&Lesson| {
        if let Some(task_key) = lesson.task_key.as_deref() {
            return *task_key == *key;
        }
        let learnt_in = state.ended_episode(lesson.learnt_at.0);
        learnt_in.is_some_and(|e| e.task.key() == key && e.trial <= trials)
    };
    let plans =
        state.pool.all().filter(|l| l.kind == ReflectionKind::Plan && l.status != LessonStatus::Retired);
    plans.filter(is_about_task).map(|l| l.text().text.clone()).collect()
}

/// Returns the prompt of an attempt followed by all its actions and observations.
fn attempt_history(attempt: &Attempt, memory: &[String]) -> String {
    let mut text = attempt.prompt_start.trim_end().to_owned();
    if !memory.is_empty() {
        text.push_str("\n\nYour memory for the task below:");
        for (number, plan) in memory.iter().enumerate() {
            let _ = write!(text, "\nTrial {number}:\n{}", plan.trim());
        }
    }
    let episode = &attempt.episode;
    let first = episode
        .first_observation
        .as_ref()
        .map_or("", |r| r.agent_view.as_deref().unwrap_or(&r.raw))
        .trim_end();
    let _ = write!(text, "\nHere is the task:\n{first}");
    let goal = &episode.task.goal;
    if !goal.is_empty() && !first.contains(goal.as_str()) {
        let _ = write!(text, "\nYour task is to: {goal}");
    }
    for step in &episode.steps {
        let action = step.action().unwrap_or_default();
        if let Some(thought) = step.thought.as_deref().filter(|_| !action.trim_start().starts_with("think:"))
        {
            let _ = write!(text, "\n> think: {}\nOK.", one_line(thought));
        }
        let edited = step.executed.as_ref().is_some_and(|e| e.shown_as == ShownAs::HumanEdit);
        let mark = if edited { "[human edit]:" } else { ">" };
        let _ = write!(text, "\n{mark} {}", one_line(action));
        let _ = write!(text, "\n{}", step.observation().unwrap_or_default().trim_end());
    }
    text
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formats JSON as Python does with an indent of four: non-ASCII characters are escaped.
fn python_json(rows: &[ResultRow]) -> String {
    let mut out = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    if rows.serialize(&mut serde_json::Serializer::with_formatter(&mut out, format)).is_err() {
        return String::new();
    }
    let mut text = String::new();
    for character in String::from_utf8_lossy(&out).chars() {
        if character.is_ascii() {
            text.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    text
}
