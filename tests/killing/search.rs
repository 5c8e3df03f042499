//! Kills a run of DORA during its search: the resumed search has the same vectors, instructions, advice and rewards.

use super::{
    Kill, assert_journaled, assert_same_events, find_session, has_run_started, normalized_events,
    play_headless, resume,
};
use crate::cases::Rng;
use retrospect::engine::{Envelope, Event};
use retrospect::journal::read_branch;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Seven evaluations with two fits; the limit of steps is short enough for lost attempts, so that there is advice.
const RUN_ARGS: &[&str] = &[
    "run",
    "--env",
    "household",
    "--task",
    "normal/put/1",
    "--task",
    "normal/put/3",
    "--method",
    "dora",
    "--seed",
    "3",
    "--max-steps",
    "14",
    "--set",
    "n_init=2",
    "--set",
    "rounds=2",
    "--set",
    "batch=3",
    "--set",
    "attempts=2",
];

/// How often at most a fit is waited for, so that one kill happens during a fit.
const FIT_TRIES: usize = 10;

/// What a search found, in order.
#[derive(Debug, Default, PartialEq)]
struct SearchSequence {
    /// The chosen vectors of each fit, with what was expected of them.
    fits: Vec<Value>,
    instructions: Vec<Value>,
    advice: Vec<String>,
    /// The evaluated vectors with their rewards, at the end.
    evaluated: Vec<Value>,
}

#[test]
fn a_killed_search_resumes_to_the_same_vectors_instructions_advice_and_rewards() {
    let (kills, seed) = match std::env::var("RETROSPECT_SOAK") {
        Ok(mode) if mode == "full" => {
            (60, std::env::var("RETROSPECT_SOAK_SEED").map_or(0, |s| s.parse().unwrap()))
        }
        _ => (4, 0),
    };
    let dir = tempfile::tempdir().unwrap();
    let printed = play_headless(RUN_ARGS, dir.path(), None);
    let path = find_session(dir.path()).unwrap();
    let (uninterrupted, sequence) = (normalized_events(&path), search_sequence(&path));
    assert_eq!((sequence.fits.len(), sequence.instructions.len()), (2, 7), "{sequence:#?}");
    assert_eq!(sequence.evaluated.len(), 7);
    // Regression: these seven evaluations were of two instructions.
    let texts: BTreeSet<&str> =
        sequence.evaluated.iter().map(|evaluated| evaluated["text"].as_str().unwrap()).collect();
    assert_eq!(texts.len(), 7, "{:#?}", sequence.evaluated);
    assert!(!sequence.advice.is_empty(), "a lost attempt is followed by advice");
    // The rewards of an evaluation are printed before the fit that follows it.
    let is_reward = |line: &Value| line["type"] == "reflection" && line["kind"] == "progress";
    let rewards: Vec<usize> = (0..printed.len()).filter(|n| is_reward(&printed[*n])).collect();
    assert_eq!(rewards.len(), 7);
    let before_fits = [rewards[1] + 1, rewards[3] + 1];

    let mut rng = Rng::new(seed);
    let (mut during_jobs, mut during_fits) = (0, 0);
    let mut check = |kill: &Kill, kill_name: &str| {
        let dir = tempfile::tempdir().unwrap();
        let printed = play_headless(RUN_ARGS, dir.path(), Some(kill));
        let path = find_session(dir.path()).filter(|path| has_run_started(path));
        assert!(path.is_some(), "{kill_name}: lines were printed, but there is no session");
        let path = path.unwrap();
        let events = read_branch(&path.join("branches/trunk.jsonl")).unwrap().events;
        assert_journaled(&printed, &events, kill_name);
        let job = job_in_flight(&events);
        during_jobs += usize::from(job.is_some());
        let is_fit = job.as_deref() == Some("dora.next_points");
        during_fits += usize::from(is_fit);
        // The resumed program is killed as well, somewhere.
        if rng.once_in(3) {
            resume(dir.path(), &path, Some(Duration::from_millis(rng.below(400) as u64)));
        }
        resume(dir.path(), &path, None);
        assert_eq!(search_sequence(&path), sequence, "{kill_name}");
        assert_same_events(&normalized_events(&path), &uninterrupted, kill_name);
        is_fit
    };
    for n in 0..kills {
        // Somewhere in each part of the run.
        let part = printed.len() / kills;
        let line = 1 + n * part + Rng::new(seed + n as u64).below(part.max(1));
        check(&Kill::Line(line), &format!("kill {n} of seed {seed}, after {line} lines"));
    }
    for line in before_fits {
        let tries = (0..FIT_TRIES).map(|n| check(&Kill::Line(line), &format!("kill {n} before a fit")));
        // One kill during a fit is enough: then the loop ends.
        assert!(tries.into_iter().any(|was_during_fit| was_during_fit), "no kill happened during a fit");
    }
    println!(
        "kill: a search of {} events, {during_jobs} kills during jobs, {during_fits} of them during fits",
        uninterrupted.len()
    );
}

/// Returns the name of the job that was being computed when the journal ends.
fn job_in_flight(events: &[Arc<Envelope>]) -> Option<String> {
    let last = events.iter().rev().find_map(|envelope| match &envelope.event {
        Event::ComputeRequested { job, .. } => Some(Some(job.name.clone())),
        Event::Computed { .. } => Some(None),
        _ => None,
    });
    last.flatten()
}

fn search_sequence(path: &Path) -> SearchSequence {
    let mut sequence = SearchSequence::default();
    for event in normalized_events(path) {
        match event["type"].as_str().unwrap() {
            "computed" if event["result"]["points"].is_array() => {
                sequence.fits.push(event["result"]["points"].clone());
            }
            "computed" => sequence.instructions.push(event["result"].clone()),
            "reflected" if event["reflection"]["kind"] == "advice" => {
                sequence.advice.push(event["reflection"]["items"].to_string());
            }
            "memory_set" => {
                sequence.evaluated = event["value"]["done"].as_array().cloned().unwrap_or_default();
            }
            _ => {}
        }
    }
    sequence
}
