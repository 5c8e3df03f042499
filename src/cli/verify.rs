//! The `verify` verb: checks that a session is consistent. It reads all files, rebuilds the prompts and compares their
//! hashes, parses the replies again, and recomputes seeds and episode summaries. It replays the actions in the
//! environment and compares every field of each result, as well as the goal and the view that the interface derives
//! from it.
//!
//! Two kinds of differences are reported but are not failures: differences of a rebuilt environment that a person
//! accepted, and notes, reflections and lessons that this version's rules derive differently (rules change between
//! versions). Without the environment or the method, the rest is checked, and the last line says what wasn't.

mod accepted;
mod check;
mod difference;
mod recomputation;

use super::config::{Config, keys};
use super::error::{CliError, CliErrorKind};
use super::output::Output;
use super::worlds::world_options;
use super::{args, locate};
use crate::domain::{Seq, pluralize};
use crate::engine::{Envelope, State};
use crate::env::TaskOptions;
use crate::journal::{BranchHeader, OpenMode, branch_path, stored_checkpoints};
use crate::timeline::{CheckpointIndex, Timeline};
use accepted::AcceptedDifferences;
use check::BranchCheck;
use serde::Serialize;
use std::sync::Arc;

/// What was checked and what was found; also the object printed by `--json`.
#[derive(Default, Serialize)]
struct VerifyReport {
    session: String,
    branches: usize,
    events: usize,
    episodes: usize,
    prompts: usize,
    observations: usize,
    /// Number of recomputed notes, reflections, lessons and memories.
    drawn: usize,
    torn: Option<String>,
    /// Environments that could not be opened here; their observations were not compared.
    #[serde(rename = "unopened")]
    unavailable_worlds: Vec<String>,
    /// Why the last one of them could not be opened.
    #[serde(skip)]
    obstacle: Option<WorldObstacle>,
    /// The run was imported, so its environment isn't known.
    #[serde(rename = "imported")]
    is_imported: bool,
    /// Differences that a person accepted.
    accepted: Vec<String>,
    /// Notes, reflections and lessons that this version's rules derive differently.
    #[serde(rename = "drawn_otherwise")]
    recomputed_differently: Vec<String>,
    /// Why notes, reflections and lessons could not be recomputed.
    not_recomputed: Vec<String>,
    problems: Vec<String>,
}

/// Why an environment can't be compared with the recorded answers, where something can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorldObstacle {
    /// This program doesn't have it.
    Foreign,
    /// It is a program whose command was not given.
    NoCommand,
    /// It may answer differently each time.
    NotDeterministic,
    /// Its program doesn't work.
    Failed,
}

/// Runs `verify PATH`.
pub(super) fn verify(config: &mut Config, args: &args::Verify, out: &mut Output) -> Result<(), CliError> {
    args.program.apply_to_session(config)?;
    let config = &*config;
    let options = world_options(config);
    let (path, branch) = args.path.as_deref().map_or((None, None), |text| {
        let (path, branch) = locate::split_branch(text);
        (Some(path), branch)
    });
    let mut report = VerifyReport::default();
    // `OpenMode::Verify` reads every byte: indexes and checkpoints are checked, not trusted.
    let first = locate::open_session_for(config, args.path.as_deref(), OpenMode::Verify)?;
    report.session.clone_from(&first.meta.session);
    let branch_ids = match branch {
        Some(_) => vec![first.branch.id.clone()],
        None => first.branch_ids()?,
    };
    // The session may have been given by the end of its name.
    let path = match (path, &first.dir) {
        (_, Some(dir)) => dir.display().to_string(),
        (path, None) => path.unwrap_or_default().to_owned(),
    };
    if branch.is_none() {
        report.problems.extend(first.skipped_branches()?);
    }
    drop(first);
    for id in &branch_ids {
        let opened = locate::open_session_for(config, Some(&format!("{path}@{id}")), OpenMode::Verify)?;
        if let Some(torn) = &opened.truncated_tail {
            let prefix = if branch_ids.len() > 1 { format!("branch {id}: ") } else { String::new() };
            let previous = report.torn.take().map_or(String::new(), |text| format!("{text}; "));
            report.torn = Some(format!("{previous}{prefix}{torn}"));
        }
        report.branches += 1;
        let checkpoints = opened.dir.as_ref().map(|dir| stored_checkpoints(&branch_path(dir, id)));
        verify_branch(
            &opened.timeline,
            &opened.branch,
            checkpoints.as_ref(),
            (&options, !args.no_world),
            &mut report,
        )?;
        report.problems.extend(opened.missing.map(|missing| missing.to_string()));
    }
    if report.events == 0 {
        report.problems.push("the session has no events".to_owned());
    }
    if args.json {
        out.print_json(&serde_json::to_string(&report).unwrap_or_default())?;
    } else {
        let count = |number: usize, noun: &str| pluralize(number as u64, noun);
        out.print_line(&format!(
            "{}: {}{}, {}, {} rebuilt, {} replayed, {} notes and lessons recomputed",
            report.session,
            count(report.events, "event"),
            if report.branches > 1 { format!(" on {} branches", report.branches) } else { String::new() },
            count(report.episodes, "episode"),
            count(report.prompts, "prompt"),
            count(report.observations, "observation"),
            report.drawn
        ))?;
        if let Some(torn) = &report.torn {
            out.print_line(&format!("incomplete: {torn}"))?;
        }
        for world in &report.unavailable_worlds {
            out.print_line(&format!("not compared: {world}"))?;
        }
        for reason in &report.not_recomputed {
            out.print_line(&format!("not recomputed: {}", crate::text::one_line(reason)))?;
        }
        if report.is_imported {
            out.print_line(NOTHING_TO_REPLAY)?;
        }
        for difference in &report.accepted {
            out.print_line(&format!("accepted: {}", crate::text::one_line(difference)))?;
        }
        for difference in &report.recomputed_differently {
            out.print_line(&format!("rules differ: {}", crate::text::one_line(difference)))?;
        }
        for problem in &report.problems {
            out.print_line(&format!("PROBLEM {}", crate::text::one_line(problem)))?;
        }
        if report.observations == 0 {
            out.print_line(PROMPTS_ONLY)?;
        } else if report.problems.is_empty() {
            out.print_line(&success_line(&report))?;
        }
    }
    let nothing_compared = report.observations == 0 && !report.unavailable_worlds.is_empty();
    if report.problems.is_empty() && !nothing_compared {
        return Ok(());
    }
    if args.json {
        // The JSON object has the problems; only the exit code is left to set.
        return Err(CliError { kind: CliErrorKind::Check, message: String::new(), hint: String::new() });
    }
    if report.problems.is_empty() {
        return Err(CliError::new(
            CliErrorKind::Check,
            format!("{}: {PROMPTS_ONLY}", report.session),
            no_comparison_hint(&report),
        ));
    }
    Err(CliError::new(
        CliErrorKind::Check,
        format!(
            "{}: {} {}",
            report.session,
            report.problems.len(),
            if report.problems.len() == 1 { "problem" } else { "problems" }
        ),
        "see the problems above; usual causes are an edited journal, or another version of the program or the environment",
    ))
}

/// Returns what to do if no environment could be compared.
fn no_comparison_hint(report: &VerifyReport) -> String {
    let remedy = match report.obstacle {
        Some(WorldObstacle::Foreign) => {
            "the session is of another program, which has this environment: verify it there".to_owned()
        }
        Some(WorldObstacle::NoCommand) => format!(
            "give the command of the environment's program after `--`, as in `retrospect verify {} -- COMMAND`",
            report.session
        ),
        Some(WorldObstacle::NotDeterministic) => {
            "the environment may answer differently each time, so only the rest can be checked".to_owned()
        }
        Some(WorldObstacle::Failed) => "correct what is said about the environment above".to_owned(),
        None => {
            format!("name the environment's data ({} DIR or {})", keys::DATA.flag, keys::DATA.variable)
        }
    };
    format!("{remedy}, or skip the environment with --no-world")
}

/// Checks a branch's own events. For a fork, first replays the episode that is open at the fork point, to bring the
/// environment there; results of that part count for the branch that holds those events.
fn verify_branch(
    timeline: &Timeline,
    header: &BranchHeader,
    checkpoints: Option<&CheckpointIndex>,
    (options, with_world): (&TaskOptions, bool),
    report: &mut VerifyReport,
) -> Result<(), CliError> {
    let for_each_event = |after: Seq, event: &mut dyn FnMut(&Arc<Envelope>)| {
        timeline
            .iter_after(after)
            .try_for_each(|read| read.map(|e| event(&e)).map_err(locate::unreadable_events))
    };
    let mut differences = AcceptedDifferences::default();
    for_each_event(Seq(0), &mut |envelope| differences.record_event(envelope))?;
    let fork_seq = header.at_seq;
    let start =
        timeline.state_at(fork_seq).open_episode().map_or(fork_seq, |e| Seq(e.first_seq.0.saturating_sub(1)));
    let before = State::clone(&timeline.state_at(start));
    let mut check = BranchCheck::new(before, header.id.clone(), options.clone(), with_world, differences);
    let (mut inherited, mut own) = (VerifyReport::default(), std::mem::take(report));
    for_each_event(start, &mut |envelope| {
        if envelope.seq <= fork_seq {
            check.check_event(envelope, &mut inherited);
            if envelope.seq == fork_seq {
                check.restart_recomputation();
            }
            return;
        }
        check.check_event(envelope, &mut own);
        let state =
            checkpoints.filter(|k| k.seqs.contains(&envelope.seq)).and_then(|k| (k.load)(envelope.seq));
        if state.is_some_and(|stored| stored.head == envelope.seq && stored != check.state) {
            own.problems.push(format!(
                "{}: the checkpoint in index/ differs from the folded events; delete that folder, it is rebuilt",
                check.describe_event(envelope.seq)
            ));
        }
    })?;
    own.drawn += check.recomputation.compared;
    own.recomputed_differently.append(&mut check.recomputation.differing);
    own.not_recomputed.append(&mut check.recomputation.obstacles);
    *report = own;
    Ok(())
}

/// Returns the last line if there are no problems.
fn success_line(report: &VerifyReport) -> String {
    match (report.unavailable_worlds.is_empty(), report.not_recomputed.is_empty()) {
        (true, true) => {}
        (false, true) => return "no problems, but some environments were not compared".to_owned(),
        (true, false) => return "no problems, but notes and lessons were not recomputed".to_owned(),
        (false, false) => {
            return "no problems, but some environments were not compared, and notes and lessons not recomputed"
                .to_owned();
        }
    }
    let mut exceptions = Vec::new();
    if !report.accepted.is_empty() {
        exceptions.push(pluralize(report.accepted.len() as u64, "accepted environment difference"));
    }
    if !report.recomputed_differently.is_empty() {
        exceptions.push(format!(
            "{} that this version's rules derive differently",
            pluralize(report.recomputed_differently.len() as u64, "result")
        ));
    }
    if exceptions.is_empty() {
        return "OK: journal, prompts and world agree".to_owned();
    }
    format!("OK: journal, prompts and world agree, except for {}", exceptions.join(" and "))
}

/// What is said about an imported run; it is no failure, since nothing can change it.
const NOTHING_TO_REPLAY: &str = "an imported run has nothing to replay: its environment is unknown";

/// The last line if no environment was compared.
const PROMPTS_ONLY: &str = "prompts only: no environment was compared";
