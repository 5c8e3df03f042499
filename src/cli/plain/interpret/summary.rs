//! The summary that waits for a person's word, without a screen.

use crate::domain::{LessonText, PoolChange, PoolChangeItem};
use crate::engine::{Command, State};
use std::fmt::Write as _;

/// Its lines, numbered from 1.
///
/// # Errors
/// Where none waits.
pub(super) fn summary_lines(state: &State) -> Result<String, String> {
    let change = pending_summary(state)?;
    let mut out = format!("{}:\n", change.question.name());
    for (place, line) in change.items.iter().enumerate() {
        let (sign, words) = match line {
            PoolChangeItem::Retire { id } => {
                let text = state.pool.get(id).map(|l| format_lesson(l.text()));
                ("-", text.unwrap_or_else(|| "a lesson that is gone already".to_owned()))
            }
            PoolChangeItem::Add { text, .. } => ("+", format_lesson(text)),
        };
        let _ = writeln!(out, "{:>3} {sign} {words}", place + 1);
    }
    out.push_str("`accept` takes all lines, `refuse N` all but those; a refused line changes nothing");
    Ok(out)
}

/// What `accept` or `refuse` with these numbers comes to.
///
/// # Errors
/// Where none waits, or what was typed is no line of it.
pub(super) fn parse_decision(word: &str, rest: &str, state: &State) -> Result<Command, String> {
    let all = pending_summary(state)?.items.len();
    let mut named = Vec::new();
    for number in rest.split([' ', ',']).filter(|n| !n.is_empty()) {
        let place: usize = number.parse().ok().filter(|n| (1..=all).contains(n)).ok_or_else(|| {
            format!("{number:?} is no line of the summary; they are numbered from 1 to {all}")
        })?;
        named.push(place - 1);
    }
    let refused = match (word, named.is_empty()) {
        ("accept", true) => Vec::new(),
        ("refuse", true) => (0..all).collect(),
        ("accept", false) => (0..all).filter(|place| !named.contains(place)).collect(),
        _ => named,
    };
    Ok(Command::SettlePool { refused })
}

fn pending_summary(state: &State) -> Result<&PoolChange, String> {
    state.waiting_summaries.first().ok_or_else(|| "no summary is waiting for review".to_owned())
}

fn format_lesson(text: &LessonText) -> String {
    let solution = text.solution.as_ref().map(|s| format!(" -> {s}"));
    format!("{}{}", text.text, solution.unwrap_or_default())
}
