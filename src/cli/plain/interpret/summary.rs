//! The mentor's summary waiting for a person's decision, in plain mode.

use crate::domain::{LessonText, PoolSummary, PoolSummaryItem};
use crate::engine::{Command, State};
use std::fmt::Write as _;

/// Lists the lines of the pending summary, numbered from 1.
///
/// # Errors
/// Fails if no summary is waiting.
pub(super) fn summary_lines(state: &State) -> Result<String, String> {
    let change = pending_summary(state)?;
    let mut out = format!("{}:\n", change.question.name());
    for (index, line) in change.items.iter().enumerate() {
        let (sign, text) = match line {
            PoolSummaryItem::Retire { id } => {
                let lesson = state.pool.get(id).map(|l| format_lesson(l.text()));
                ("-", lesson.unwrap_or_else(|| "(lesson no longer in the pool)".to_owned()))
            }
            PoolSummaryItem::Add { text, .. } => ("+", format_lesson(text)),
        };
        let _ = writeln!(out, "{:>3} {sign} {text}", index + 1);
    }
    out.push_str("`accept` accepts all lines; `refuse N ...` rejects those lines and accepts the rest; a rejected line changes nothing");
    Ok(out)
}

/// Parses the numbers of the lines to accept; all without a number.
///
/// # Errors
/// Fails if no summary is waiting, or if a number is not one of its lines.
pub(super) fn parse_accepted(rest: &str, state: &State) -> Result<Command, String> {
    let (count, chosen) = parse_lines(rest, state)?;
    let is_refused = |line: &usize| !chosen.is_empty() && !chosen.contains(line);
    Ok(Command::ApplySummary { refused: (0..count).filter(is_refused).collect() })
}

/// Parses the numbers of the lines to reject; all without a number.
///
/// # Errors
/// Fails if no summary is waiting, or if a number is not one of its lines.
pub(super) fn parse_refused(rest: &str, state: &State) -> Result<Command, String> {
    let (count, chosen) = parse_lines(rest, state)?;
    Ok(Command::ApplySummary { refused: if chosen.is_empty() { (0..count).collect() } else { chosen } })
}

/// Returns how many lines the summary has, and the given ones, counted from 0.
fn parse_lines(rest: &str, state: &State) -> Result<(usize, Vec<usize>), String> {
    let count = pending_summary(state)?.items.len();
    let mut chosen = Vec::new();
    for number in rest.split(|c: char| c.is_whitespace() || c == ',').filter(|n| !n.is_empty()) {
        let line: usize = number.parse().ok().filter(|n| (1..=count).contains(n)).ok_or_else(|| {
            format!("{number:?} is not a line of the summary; lines are numbered from 1 to {count}")
        })?;
        chosen.push(line - 1);
    }
    Ok((count, chosen))
}

fn pending_summary(state: &State) -> Result<&PoolSummary, String> {
    state.waiting_summaries.first().ok_or_else(|| "no summary is waiting for review".to_owned())
}

fn format_lesson(text: &LessonText) -> String {
    let solution = text.solution.as_ref().map(|s| format!(" -> {s}"));
    format!("{}{}", text.text, solution.unwrap_or_default())
}
