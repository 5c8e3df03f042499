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

/// Parses the line numbers after `accept` or `refuse`.
///
/// # Errors
/// Fails if no summary is waiting, or if a number is not one of its lines.
pub(super) fn parse_decision(word: &str, rest: &str, state: &State) -> Result<Command, String> {
    let count = pending_summary(state)?.items.len();
    let mut chosen = Vec::new();
    for number in rest.split([' ', ',']).filter(|n| !n.is_empty()) {
        let line: usize = number.parse().ok().filter(|n| (1..=count).contains(n)).ok_or_else(|| {
            format!("{number:?} is not a line of the summary; lines are numbered from 1 to {count}")
        })?;
        chosen.push(line - 1);
    }
    let refused = match (word, chosen.is_empty()) {
        ("accept", true) => Vec::new(),
        ("refuse", true) => (0..count).collect(),
        ("accept", false) => (0..count).filter(|index| !chosen.contains(index)).collect(),
        _ => chosen,
    };
    Ok(Command::ApplySummary { refused })
}

fn pending_summary(state: &State) -> Result<&PoolSummary, String> {
    state.waiting_summaries.first().ok_or_else(|| "no summary is waiting for review".to_owned())
}

fn format_lesson(text: &LessonText) -> String {
    let solution = text.solution.as_ref().map(|s| format!(" -> {s}"));
    format!("{}{}", text.text, solution.unwrap_or_default())
}
