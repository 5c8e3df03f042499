//! Tasks with reflections against as many attempts without any: effective, ineffective or toxic (DORA, question 3, figure 6).

use super::{Metrics, TaskAttempts};
use crate::catalog::run_roles;
use crate::domain::{AdviceCounts, AdviceEffect, Attempts, RunSpec};
use serde::Serialize;
use std::collections::BTreeMap;

/// What reflections did to the steps of each task that both configurations played.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AdviceComparison {
    /// The most attempts at a task that are compared: those of the side that had fewer.
    pub attempts: u32,
    pub counts: AdviceCounts,
    /// Pairs whose runs have different seeds.
    pub other_seeds: usize,
    pub pairs: Vec<AdvicePair>,
    pub left_out: Vec<LeftOut>,
}

/// A task, played with and without reflections.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AdvicePair {
    /// The task's id.
    pub task: String,
    /// The seed of its environment.
    pub seed: u64,
    /// The seeds of both runs, with reflections first.
    pub run_seeds: [Option<u64>; 2],
    pub steps_with: u64,
    pub steps_without: u64,
    pub effect: AdviceEffect,
}

/// A run of a task that isn't compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOut {
    /// The task's id.
    pub task: String,
    /// The seed of its environment.
    pub seed: u64,
    pub reason: LeftOutReason,
}

/// Why a run of a task isn't compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutReason {
    /// There is no other unassisted run of it without reflections.
    OnlyWith,
    /// There is no other unassisted run of it with reflections.
    OnlyWithout,
    /// A side didn't solve it, and has played fewer attempts than are compared.
    Unfinished,
}

impl LeftOutReason {
    /// Describes the reason, for a list of tasks.
    pub fn describe(self) -> &'static str {
        match self {
            Self::OnlyWith => "played only with reflections",
            Self::OnlyWithout => "played only without reflections",
            Self::Unfinished => "unsolved, with attempts still to play",
        }
    }
}

/// Compares a configuration that reflects with one that doesn't. `None` if they aren't such a pair; an error names what else
/// differs, so that steps would not tell what the reflections did.
pub fn compare_advice(
    with: &Metrics,
    without: &Metrics,
) -> Option<Result<AdviceComparison, Vec<&'static str>>> {
    let (reflecting, plain) = (with.spec.as_deref()?, without.spec.as_deref()?);
    if !has_reflections(with) || !is_without_advice(without, plain) {
        return None;
    }
    let differences = differences(reflecting, plain);
    Some(if differences.is_empty() {
        Ok(compare_tasks(with, without, step_limit(plain)))
    } else {
        Err(differences)
    })
}

fn has_reflections(metrics: &Metrics) -> bool {
    metrics.reflections.as_ref().is_some_and(|reflections| reflections.count > 0)
}

/// Returns whether nobody could advise the agent: no mentor, no reflection, no lessons at the start.
fn is_without_advice(metrics: &Metrics, spec: &RunSpec) -> bool {
    let has_mentor = run_roles(spec).any(|(role, _)| role == "mentor");
    !has_mentor && !has_reflections(metrics) && !metrics.started_with_lessons
}

/// Returns what differs besides the method: what changes steps whether or not anybody reflects.
fn differences(with: &RunSpec, without: &RunSpec) -> Vec<&'static str> {
    let checks = [
        ("actor", with.actor == without.actor),
        ("interface", with.interface == without.interface),
        ("step limit", step_limit(with) == step_limit(without)),
    ];
    checks.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect()
}

/// Returns the environment steps that an attempt may have.
fn step_limit(spec: &RunSpec) -> u64 {
    let steps = u64::from(spec.limits.steps);
    spec.limits.moves.map_or(steps, |moves| steps.min(u64::from(moves)))
}

fn compare_tasks(with: &Metrics, without: &Metrics, step_limit: u64) -> AdviceComparison {
    let attempts = most_attempts(with).min(most_attempts(without));
    let mut comparison = AdviceComparison {
        attempts,
        counts: AdviceCounts::default(),
        other_seeds: 0,
        pairs: Vec::new(),
        left_out: Vec::new(),
    };
    let mut tasks: BTreeMap<String, [Vec<&TaskAttempts>; 2]> = BTreeMap::new();
    for (side, metrics) in [with, without].into_iter().enumerate() {
        for run in &metrics.attempts {
            tasks.entry(run.task.key()).or_default()[side].push(run);
        }
    }
    for [with, without] in tasks.into_values() {
        let matched = match_runs(with, without);
        for (first, second) in matched.pairs {
            let both = counted_attempts(first, attempts, step_limit)
                .zip(counted_attempts(second, attempts, step_limit));
            let Some((first_attempts, second_attempts)) = both else {
                comparison.left_out.push(left_out(first, LeftOutReason::Unfinished));
                continue;
            };
            let steps = [first_attempts.counted_steps(), second_attempts.counted_steps()];
            let effect = AdviceEffect::from_steps(steps[0], steps[1]);
            comparison.counts.add(effect);
            comparison.other_seeds += usize::from(first.run_seed != second.run_seed);
            comparison.pairs.push(AdvicePair {
                task: first.task.id.clone(),
                seed: first.task.seed,
                run_seeds: [first.run_seed, second.run_seed],
                steps_with: steps[0],
                steps_without: steps[1],
                effect,
            });
        }
        comparison.left_out.extend(matched.rest.into_iter().map(|(run, reason)| left_out(run, reason)));
    }
    comparison
}

/// Returns how many attempts at a task a configuration has: those of its run, or more if a method has attempts of its own.
fn most_attempts(metrics: &Metrics) -> u32 {
    let of_run = metrics.spec.as_ref().map_or(1, |spec| spec.trials);
    let played = metrics.attempts.iter().map(|task| task.episodes.len() as u32).max();
    let trials = metrics.attempts.iter().flat_map(|task| &task.episodes).map(|episode| episode.trial).max();
    [Some(of_run), played, trials].into_iter().flatten().max().unwrap_or(1)
}

/// The runs of a task on both sides.
struct MatchedRuns<'a> {
    pairs: Vec<(&'a TaskAttempts, &'a TaskAttempts)>,
    rest: Vec<(&'a TaskAttempts, LeftOutReason)>,
}

/// Matches the runs of a task, first those with equal seeds, then the others in their order.
fn match_runs<'a>(with: Vec<&'a TaskAttempts>, mut without: Vec<&'a TaskAttempts>) -> MatchedRuns<'a> {
    let (mut pairs, mut rest) = (Vec::new(), Vec::new());
    for run in with {
        match without.iter().position(|other| other.run_seed == run.run_seed) {
            Some(index) => pairs.push((run, without.remove(index))),
            None => rest.push(run),
        }
    }
    let further = rest.len().min(without.len());
    let other_seeds = rest.drain(..further).zip(without.drain(..further)).collect::<Vec<_>>();
    pairs.extend(other_seeds);
    let rest = rest.into_iter().map(|run| (run, LeftOutReason::OnlyWith));
    let rest = rest.chain(without.into_iter().map(|run| (run, LeftOutReason::OnlyWithout)));
    MatchedRuns { pairs, rest: rest.collect() }
}

/// Returns the first attempts at a task, at most `limit`, up to its success. `None` if it isn't solved and not all were played.
fn counted_attempts(task: &TaskAttempts, limit: u32, step_limit: u64) -> Option<Attempts> {
    let played = task.episodes.get(..task.episodes.len().min(limit as usize))?;
    let solved_at = played.iter().position(|episode| episode.won);
    let counted = played.get(..solved_at.map_or(played.len(), |index| index + 1))?;
    (solved_at.is_some() || played.len() == limit as usize).then(|| Attempts {
        steps: counted.iter().map(|episode| u64::from(episode.moves)).sum(),
        solved: solved_at.is_some(),
        allowed: u64::from(limit) * step_limit,
    })
}

fn left_out(run: &TaskAttempts, reason: LeftOutReason) -> LeftOut {
    LeftOut { task: run.task.id.clone(), seed: run.task.seed, reason }
}
