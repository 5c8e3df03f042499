//! `verify`: whether a session is what it says. Its files are read, its prompts are rebuilt and compared with their
//! hashes, replies are read again, seeds and the sums of episodes are worked out again, and its actions are taken again in
//! its world, whose whole answer is compared; so are goal and view that the interface made of it.
//!
//! Two kinds of differences are told and are no failure: those of a rebuilt world that a person accepted, and notes,
//! reflections and lessons that the rules of this program would draw otherwise (rules change from version to version).

mod accepted;
mod check;
mod difference;
mod recomputation;

use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::output::Output;
use super::worlds::world_options;
use super::{args, locate};
use crate::domain::Seq;
use crate::driver::worlds::WorldOptions;
use crate::engine::{Envelope, State};
use crate::journal::{BranchHeader, OpenMode, branch_path, stored_checkpoints};
use crate::timeline::{CheckpointIndex, Timeline};
use accepted::AcceptedDifferences;
use check::BranchCheck;
use serde::Serialize;
use std::sync::Arc;

#[derive(Default, Serialize)]
struct VerifyReport {
    session: String,
    branches: usize,
    events: usize,
    episodes: usize,
    prompts: usize,
    observations: usize,
    /// Notes, reflections and lessons that were drawn again.
    drawn: usize,
    torn: Option<String>,
    /// Worlds that could not be opened here; their observations were not compared.
    #[serde(rename = "unopened")]
    unavailable_worlds: Vec<String>,
    /// Answers that differ, as a person has accepted.
    accepted: Vec<String>,
    /// Notes, reflections and lessons that this program's rules draw otherwise.
    #[serde(rename = "drawn_otherwise")]
    recomputed_differently: Vec<String>,
    problems: Vec<String>,
}

/// `verify PATH`.
pub(super) fn verify(config: &Config, args: &args::Verify, out: &mut Output) -> Result<(), CliError> {
    let options = world_options(config);
    let (path, word) = args.path.as_deref().map_or((None, None), |text| {
        let (path, word) = locate::split_branch(text);
        (Some(path), word)
    });
    let mut found = VerifyReport::default();
    // Every byte is read: what is kept beside the journal is looked at, not believed.
    let first = locate::open_session_for(config, args.path.as_deref(), OpenMode::Verify)?;
    found.session.clone_from(&first.meta.session);
    let wanted = match word {
        Some(_) => vec![first.branch.id.clone()],
        None => first.branch_ids()?,
    };
    // A session may have been named by the end of its name.
    let path = match (path, &first.dir) {
        (_, Some(dir)) => dir.display().to_string(),
        (path, None) => path.unwrap_or_default().to_owned(),
    };
    if word.is_none() {
        found.problems.extend(first.skipped_branches()?);
    }
    drop(first);
    for id in &wanted {
        let opened = locate::open_session_for(config, Some(&format!("{path}@{id}")), OpenMode::Verify)?;
        if let Some(torn) = &opened.torn {
            let of = if wanted.len() > 1 { format!("branch {id}: ") } else { String::new() };
            let told = found.torn.take().map_or(String::new(), |told| format!("{told}; "));
            found.torn = Some(format!("{told}{of}{torn}"));
        }
        found.branches += 1;
        let kept = opened.dir.as_ref().map(|dir| stored_checkpoints(&branch_path(dir, id)));
        verify_branch(
            &opened.timeline,
            &opened.branch,
            kept.as_ref(),
            (&options, !args.no_world),
            &mut found,
        )?;
        found.problems.extend(opened.missing.map(|missing| missing.to_string()));
    }
    if found.events == 0 {
        found.problems.push("there is no event in it".to_owned());
    }
    if args.json {
        out.print_json(&serde_json::to_string(&found).unwrap_or_default())?;
    } else {
        out.print_line(&format!(
            "{}: {} events{}, {} episodes, {} prompts rebuilt, {} observations taken again, {} notes and lessons drawn again",
            found.session,
            found.events,
            if found.branches > 1 { format!(" on {} branches", found.branches) } else { String::new() },
            found.episodes,
            found.prompts,
            found.observations,
            found.drawn
        ))?;
        if let Some(torn) = &found.torn {
            out.print_line(&format!("torn: {torn}"))?;
        }
        for world in &found.unavailable_worlds {
            out.print_line(&format!("not compared: {world}"))?;
        }
        for difference in &found.accepted {
            out.print_line(&format!("accepted: {}", crate::text::one_line(difference)))?;
        }
        for difference in &found.recomputed_differently {
            out.print_line(&format!("drawn otherwise: {}", crate::text::one_line(difference)))?;
        }
        for problem in &found.problems {
            out.print_line(&format!("PROBLEM {}", crate::text::one_line(problem)))?;
        }
        if found.observations == 0 {
            out.print_line(PROMPTS_ONLY)?;
        } else if found.problems.is_empty() && found.unavailable_worlds.is_empty() {
            out.print_line(&success_line(&found))?;
        } else if found.problems.is_empty() {
            out.print_line("no problem, but not every world was compared")?;
        }
    }
    let without = found.observations == 0 && !found.unavailable_worlds.is_empty();
    if found.problems.is_empty() && !without {
        return Ok(());
    }
    if args.json {
        // The object has said it; the exit code says it again.
        return Err(CliError { kind: CliErrorKind::Check, message: String::new(), hint: String::new() });
    }
    if found.problems.is_empty() {
        return Err(CliError::new(
            CliErrorKind::Check,
            format!("{}: {PROMPTS_ONLY}", found.session),
            "give the world's data (--data DIR or ALFWORLD_DATA), or leave the world out on purpose with --no-world",
        ));
    }
    Err(CliError::new(
        CliErrorKind::Check,
        format!("{}: {} problem(s)", found.session, found.problems.len()),
        "a journal that was changed by hand, or a program or world of another version, are the usual reasons",
    ))
}

/// Looks at the own events of a branch. A fork's world is brought to where the fork begins first: the episode that is open there
/// is taken again, which counts for the branch that holds it.
fn verify_branch(
    timeline: &Timeline,
    header: &BranchHeader,
    kept: Option<&CheckpointIndex>,
    (options, with_world): (&WorldOptions, bool),
    found: &mut VerifyReport,
) -> Result<(), CliError> {
    let each = |after: Seq, event: &mut dyn FnMut(&Arc<Envelope>)| {
        timeline
            .iter_after(after)
            .try_for_each(|read| read.map(|e| event(&e)).map_err(locate::unreadable_events))
    };
    let mut differences = AcceptedDifferences::default();
    each(Seq(0), &mut |envelope| differences.record_event(envelope))?;
    let at = header.at_seq;
    let begins = timeline.state_at(at).open_episode().map_or(at, |e| Seq(e.first_seq.0.saturating_sub(1)));
    let before = State::clone(&timeline.state_at(begins));
    let mut check = BranchCheck::new(before, header.id.clone(), options.clone(), with_world, differences);
    let (mut shared, mut own) = (VerifyReport::default(), std::mem::take(found));
    each(begins, &mut |envelope| {
        if envelope.seq <= at {
            check.check_event(envelope, &mut shared);
            if envelope.seq == at {
                check.restart_recomputation();
            }
            return;
        }
        check.check_event(envelope, &mut own);
        let state = kept.filter(|k| k.seqs.contains(&envelope.seq)).and_then(|k| (k.load)(envelope.seq));
        if state.is_some_and(|kept| kept.head == envelope.seq && kept != check.state) {
            own.problems.push(format!(
                "{}: the state kept in index/ is not what the events come to; remove that folder, it is made anew",
                check.describe_event(envelope.seq)
            ));
        }
    })?;
    own.drawn += check.recomputation.compared;
    own.recomputed_differently.append(&mut check.recomputation.differing);
    *found = own;
    Ok(())
}

/// The last line, where there is no problem.
fn success_line(found: &VerifyReport) -> String {
    let mut besides = Vec::new();
    if !found.accepted.is_empty() {
        besides.push(format!("{} of another world, as was accepted", found.accepted.len()));
    }
    if !found.recomputed_differently.is_empty() {
        besides.push(format!(
            "{} that the rules of this program draw otherwise",
            found.recomputed_differently.len()
        ));
    }
    if besides.is_empty() {
        return "whole: everything is as the journal says".to_owned();
    }
    format!("whole: everything is as the journal says, but for {}", besides.join(" and "))
}

/// Said where no world answered.
const PROMPTS_ONLY: &str = "prompts only: no world was compared";
