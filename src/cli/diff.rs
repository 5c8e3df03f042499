//! The `diff` verb: compares episodes or whole sessions.

mod compared_branch;
mod json;
mod text;

use compared_branch::ComparedBranch;
pub(super) use compared_branch::ComparisonTarget;
#[cfg(feature = "tui")]
pub(super) use compared_branch::open_branch;

use super::args;
use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::output::Output;
use crate::prompt::render;
use crate::timeline::compare::{Comparison, EpisodePair, find_counterpart, pair_episodes};
use crate::timeline::no_progress;

/// Runs `diff A B`: shows two episodes side by side, or pairs all episodes of two sessions by task and trial.
pub(super) fn diff(config: &Config, args: &args::Diff, out: &mut Output) -> Result<(), CliError> {
    let mut open = |text: &str| -> Result<ComparedBranch, CliError> {
        let branch = ComparedBranch::open(config, &ComparisonTarget::parse(text)?)?;
        if let Some(lacks) = &branch.missing {
            out.print_note(&format!("{}: {lacks}", branch.name));
        }
        Ok(branch)
    };
    let (a, b) = (open(&args.a)?, open(&args.b)?);
    let pairs = pairs_to_compare(&a, &b)?;
    let paired = pairs.iter().filter(|p| p.left.is_some() && p.right.is_some()).count();
    let mut totals = Totals::default();
    let printer = DiffPrinter {
        args,
        has_many_pairs: pairs.len() > 1,
        width: output_width(args, out),
        colour: is_coloured(out),
    };
    if paired == 0 {
        return Err(CliError::new(
            CliErrorKind::Usage,
            format!("{} and {} have no episodes in common (same task and trial)", a.name, b.name),
            "name the episodes, such as `retrospect diff A#1 B#2`",
        ));
    }
    printer.print_header(&a, &b, out)?;
    for pair in &pairs {
        let (Some(x), Some(y)) = (pair.left, pair.right) else {
            totals.add_unpaired(pair);
            printer.print_unpaired(pair, out)?;
            continue;
        };
        let comparison = Comparison::new(a.open_episode(x)?, b.open_episode(y)?, render, &no_progress);
        let comparison = comparison
            .map_err(|why| CliError::new(CliErrorKind::Session, why, "restore the session from a backup"))?;
        totals.add_pair(&comparison);
        printer.print_pair(pair, &comparison, (&a, &b), out)?;
    }
    printer.print_totals(&totals, out)
}

/// Returns the pairs to compare: the named episodes, or all episodes of both sides.
fn pairs_to_compare(a: &ComparedBranch, b: &ComparedBranch) -> Result<Vec<EpisodePair>, CliError> {
    let (one, other) = match (a.episode, b.episode) {
        (None, None) => return Ok(pair_episodes(&a.head(), &b.head())),
        (Some(x), Some(y)) => (a.open_episode(x)?, b.open_episode(y)?),
        (Some(x), None) => {
            let side = a.open_episode(x)?;
            let other = require_counterpart((&side.episode.task, side.episode.trial), b, x)?;
            (side, b.open_episode(other)?)
        }
        (None, Some(y)) => {
            let side = b.open_episode(y)?;
            let other = require_counterpart((&side.episode.task, side.episode.trial), a, y)?;
            (a.open_episode(other)?, side)
        }
    };
    let (task, trial) = (one.episode.task.clone(), one.episode.trial);
    Ok(vec![EpisodePair { task, trial, left: Some(one.episode.number), right: Some(other.episode.number) }])
}

fn require_counterpart(
    task_and_trial: (&crate::domain::Task, u32),
    branch: &ComparedBranch,
    number: u32,
) -> Result<u32, CliError> {
    find_counterpart(task_and_trial, &branch.head()).ok_or_else(|| {
        let name = &branch.name;
        CliError::usage(
            format!(
                "{name} has no episode of the same task and trial as episode {number} ({})",
                task_and_trial.0.id
            ),
            format!("name the episode, such as `{name}#1`"),
        )
    })
}

/// Sums over all compared pairs; tuples hold (A, B).
#[derive(Default)]
struct Totals {
    compared: u32,
    identical: u32,
    only_a: u32,
    only_b: u32,
    won: (u32, u32),
    steps: (u64, u64),
    mistakes: (u64, u64),
    tokens: (u64, u64),
}

impl Totals {
    fn add_pair(&mut self, comparison: &Comparison) {
        self.compared += 1;
        self.identical += u32::from(comparison.first_difference.is_none());
        let (x, y) = &comparison.outcomes;
        self.won.0 += u32::from(x.won);
        self.won.1 += u32::from(y.won);
        for (sum, x, y) in [
            (&mut self.steps, u64::from(x.steps), u64::from(y.steps)),
            (&mut self.mistakes, u64::from(x.mistake_count()), u64::from(y.mistake_count())),
            (&mut self.tokens, x.tokens, y.tokens),
        ] {
            sum.0 = sum.0.saturating_add(x);
            sum.1 = sum.1.saturating_add(y);
        }
    }

    fn add_unpaired(&mut self, pair: &EpisodePair) {
        self.only_a += u32::from(pair.left.is_some());
        self.only_b += u32::from(pair.right.is_some());
    }
}

/// Writes a comparison as text or JSON.
struct DiffPrinter<'a> {
    args: &'a args::Diff,
    /// Prints each pair as one short entry; a single pair is printed in full.
    has_many_pairs: bool,
    width: usize,
    colour: bool,
}

impl DiffPrinter<'_> {
    fn print_header(&self, a: &ComparedBranch, b: &ComparedBranch, out: &mut Output) -> Result<(), CliError> {
        if self.args.json || !self.has_many_pairs {
            return Ok(());
        }
        text::print_session_names(self, a, b, out)
    }

    fn print_pair(
        &self,
        pair: &EpisodePair,
        comparison: &Comparison,
        branches: (&ComparedBranch, &ComparedBranch),
        out: &mut Output,
    ) -> Result<(), CliError> {
        if self.args.json {
            return out.print_json(&json::comparison_json(comparison, branches, self.args.only_differences));
        }
        if self.has_many_pairs {
            text::print_pair_row(self, pair, comparison, out)
        } else {
            text::print_comparison(self, comparison, out)
        }
    }

    fn print_unpaired(&self, pair: &EpisodePair, out: &mut Output) -> Result<(), CliError> {
        if self.args.json {
            out.print_json(&json::unpaired_json(pair))
        } else {
            text::print_unpaired(self, pair, out)
        }
    }

    fn print_totals(&self, totals: &Totals, out: &mut Output) -> Result<(), CliError> {
        match (self.args.json, self.has_many_pairs) {
            (true, _) => out.print_json(&json::summary_json(totals)),
            (false, true) => text::print_totals(self, totals, out),
            (false, false) => Ok(()),
        }
    }
}

/// Returns the width in columns: `--width`, else the terminal's, else 80.
fn output_width(args: &args::Diff, out: &Output) -> usize {
    let requested = args.width.map(usize::from);
    let terminal = || terminal_columns().filter(|_| out.is_terminal());
    requested.or_else(terminal).unwrap_or(80).clamp(40, 500)
}

#[cfg(feature = "tui")]
fn terminal_columns() -> Option<usize> {
    crossterm::terminal::size().ok().map(|size| usize::from(size.0))
}

#[cfg(not(feature = "tui"))]
fn terminal_columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// Returns whether to use colour: only on a terminal, and not with `NO_COLOR` or `TERM=dumb`.
fn is_coloured(out: &Output) -> bool {
    let non_empty_var = |name| std::env::var(name).ok().filter(|v: &String| !v.is_empty());
    out.is_terminal()
        && non_empty_var("NO_COLOR").is_none()
        && non_empty_var("TERM").is_none_or(|t| t != "dumb")
}
