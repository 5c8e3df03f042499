//! `verify`: whether a session is what it says. Its files are read, its prompts are rebuilt and compared with their
//! hashes, replies are read again, seeds and the sums of episodes are worked out again, and its actions are taken again in
//! its world, whose whole answer is compared; so are goal and view that the interface made of it.
//!
//! Two kinds of differences are told and are no failure: those of a rebuilt world that a person accepted, and notes,
//! reflections and lessons that the rules of this program would draw otherwise (rules change from version to version).

mod accepted;
mod check;
mod differing;
mod drawn;

use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::out::Out;
use super::worlds::world_options;
use super::{args, locate};
use crate::domain::Seq;
use crate::driver::worlds::WorldOptions;
use crate::engine::{Envelope, State};
use crate::journal::{BranchHeader, Use, branch_path, kept_states};
use crate::timeline::{CheckpointIndex, Timeline};
use accepted::Differences;
use check::Check;
use serde::Serialize;
use std::sync::Arc;

#[derive(Default, Serialize)]
struct Found {
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
    unopened: Vec<String>,
    /// Answers that differ, as a person has accepted.
    accepted: Vec<String>,
    /// Notes, reflections and lessons that this program's rules draw otherwise.
    drawn_otherwise: Vec<String>,
    problems: Vec<String>,
}

/// `verify PATH`.
pub(super) fn verify(config: &Config, args: &args::Verify, out: &mut Out) -> Result<(), CliError> {
    let options = world_options(config);
    let (path, word) = args.path.as_deref().map_or((None, None), |text| {
        let (path, word) = locate::split_branch(text);
        (Some(path), word)
    });
    let mut found = Found::default();
    // Every byte is read: what is kept beside the journal is looked at, not believed.
    let first = locate::open_for(config, args.path.as_deref(), Use::Check)?;
    found.session.clone_from(&first.meta.session);
    let wanted = match word {
        Some(_) => vec![first.branch.id.clone()],
        None => first.branches()?,
    };
    // A session may have been named by the end of its name.
    let path = match (path, &first.dir) {
        (_, Some(dir)) => dir.display().to_string(),
        (path, None) => path.unwrap_or_default().to_owned(),
    };
    if word.is_none() {
        found.problems.extend(first.passed_over()?);
    }
    drop(first);
    for id in &wanted {
        let opened = locate::open_for(config, Some(&format!("{path}@{id}")), Use::Check)?;
        if let Some(torn) = &opened.torn {
            let of = if wanted.len() > 1 { format!("branch {id}: ") } else { String::new() };
            let told = found.torn.take().map_or(String::new(), |told| format!("{told}; "));
            found.torn = Some(format!("{told}{of}{torn}"));
        }
        found.branches += 1;
        let kept = opened.dir.as_ref().map(|dir| kept_states(&branch_path(dir, id)));
        branch(&opened.timeline, &opened.branch, kept.as_ref(), (&options, !args.no_world), &mut found)?;
        found.problems.extend(opened.missing.map(|missing| missing.to_string()));
    }
    if found.events == 0 {
        found.problems.push("there is no event in it".to_owned());
    }
    if args.json {
        out.json(&serde_json::to_string(&found).unwrap_or_default())?;
    } else {
        out.line(&format!(
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
            out.line(&format!("torn: {torn}"))?;
        }
        for world in &found.unopened {
            out.line(&format!("not compared: {world}"))?;
        }
        for difference in &found.accepted {
            out.line(&format!("accepted: {}", crate::text::one_line(difference)))?;
        }
        for difference in &found.drawn_otherwise {
            out.line(&format!("drawn otherwise: {}", crate::text::one_line(difference)))?;
        }
        for problem in &found.problems {
            out.line(&format!("PROBLEM {}", crate::text::one_line(problem)))?;
        }
        if found.observations == 0 {
            out.line(PROMPTS_ONLY)?;
        } else if found.problems.is_empty() && found.unopened.is_empty() {
            out.line(&whole(&found))?;
        } else if found.problems.is_empty() {
            out.line("no problem, but not every world was compared")?;
        }
    }
    let without = found.observations == 0 && !found.unopened.is_empty();
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
fn branch(
    timeline: &Timeline,
    header: &BranchHeader,
    kept: Option<&CheckpointIndex>,
    (options, with_world): (&WorldOptions, bool),
    found: &mut Found,
) -> Result<(), CliError> {
    let each = |after: Seq, event: &mut dyn FnMut(&Arc<Envelope>)| {
        timeline.iter_after(after).try_for_each(|read| read.map(|e| event(&e)).map_err(locate::lost))
    };
    let mut differences = Differences::default();
    each(Seq(0), &mut |envelope| differences.look(envelope))?;
    let at = header.at_seq;
    let begins = timeline.state_at(at).open_episode().map_or(at, |e| Seq(e.first_seq.0.saturating_sub(1)));
    let before = State::clone(&timeline.state_at(begins));
    let mut check = Check::from(before, header.id.clone(), options.clone(), with_world, differences);
    let (mut shared, mut own) = (Found::default(), std::mem::take(found));
    each(begins, &mut |envelope| {
        if envelope.seq <= at {
            check.event(envelope, &mut shared);
            if envelope.seq == at {
                check.redraw();
            }
            return;
        }
        check.event(envelope, &mut own);
        let state = kept.filter(|k| k.seqs.contains(&envelope.seq)).and_then(|k| (k.load)(envelope.seq));
        if state.is_some_and(|kept| kept.head == envelope.seq && kept != check.state) {
            own.problems.push(format!(
                "{}: the state kept in index/ is not what the events come to; remove that folder, it is made anew",
                check.place(envelope.seq)
            ));
        }
    })?;
    own.drawn += check.drawn.compared;
    own.drawn_otherwise.append(&mut check.drawn.otherwise);
    *found = own;
    Ok(())
}

/// The last line, where there is no problem.
fn whole(found: &Found) -> String {
    let mut besides = Vec::new();
    if !found.accepted.is_empty() {
        besides.push(format!("{} of another world, as was accepted", found.accepted.len()));
    }
    if !found.drawn_otherwise.is_empty() {
        besides
            .push(format!("{} that the rules of this program draw otherwise", found.drawn_otherwise.len()));
    }
    if besides.is_empty() {
        return "whole: everything is as the journal says".to_owned();
    }
    format!("whole: everything is as the journal says, but for {}", besides.join(" and "))
}

/// Said where no world answered.
const PROMPTS_ONLY: &str = "prompts only: no world was compared";
