//! Comparisons as text: two columns on wide terminals, else one column with a mark before each line.

use super::compared_branch::ComparedBranch;
use super::{DiffPrinter, Totals};
use crate::cli::error::CliError;
use crate::cli::output::{Output, TextStyle};
use crate::domain::Step;
use crate::text::{one_line, truncate, width, wrap_at_most};
use crate::timeline::compare::{
    Comparison, ComparisonEntry, EpisodePair, Outcome, Row, RowKind, Side, StepPart, action_or_thought,
    pending_label,
};

/// Below this width, in terminal columns, the sides are printed one below the other.
const MIN_WIDTH_OF_TWO_COLUMNS: usize = 72;
/// Maximum number of lines for one text.
const MAX_LINES: usize = 6;
/// Width of the column of names.
const NAME_COLUMNS: usize = 16;

type StyledText = (TextStyle, String);

impl DiffPrinter<'_> {
    fn print_line(&self, out: &mut Output, line: &[StyledText]) -> Result<(), CliError> {
        out.print_styled(line, self.colour)
    }

    fn print_rule(&self, title: &str, out: &mut Output) -> Result<(), CliError> {
        let title = truncate(title, self.width.saturating_sub(8), "...");
        let rest = self.width.saturating_sub(width(&title) + 4);
        self.print_line(
            out,
            &[
                (TextStyle::Dim, "-- ".to_owned()),
                (TextStyle::Heading, title),
                (TextStyle::Dim, format!(" {}", "-".repeat(rest))),
            ],
        )
    }

    /// Prints both sides of one entry, in two columns or one below the other.
    fn print_both_sides(&self, entry: &ComparisonEntry, out: &mut Output) -> Result<(), CliError> {
        let two = self.width >= MIN_WIDTH_OF_TWO_COLUMNS;
        let room = if two { (self.width - NAME_COLUMNS - 3) / 2 } else { self.width.saturating_sub(4) };
        let lines = |side: &Option<String>| {
            side.as_deref().map_or_else(|| vec!["-".to_owned()], |t| wrap_text(t, room))
        };
        let (a, b) = (lines(&entry.left), lines(&entry.right));
        if !two {
            self.print_line(out, &[(TextStyle::Plain, entry.name.clone())])?;
            for (mark, paint, side) in [("- ", TextStyle::OnlyLeft, a), ("+ ", TextStyle::OnlyRight, b)] {
                for text in side {
                    self.print_line(out, &[(paint, format!("  {mark}{text}"))])?;
                }
            }
            return Ok(());
        }
        // A name too long for its column gets a row of its own.
        let cut = width(&entry.name) >= NAME_COLUMNS;
        if cut {
            self.print_line(out, &[(TextStyle::Dim, truncate(&entry.name, self.width, "..."))])?;
        }
        let name = if cut { String::new() } else { entry.name.clone() };
        for place in 0..a.len().max(b.len()) {
            let at = |side: &[String]| side.get(place).cloned().unwrap_or_default();
            let name = if place == 0 { name.as_str() } else { "" };
            let line = [
                (TextStyle::Dim, pad_text(name, NAME_COLUMNS)),
                (TextStyle::OnlyLeft, pad_text(&at(&a), room)),
                (TextStyle::Dim, " | ".to_owned()),
                (TextStyle::OnlyRight, at(&b)),
            ];
            self.print_line(out, &line)?;
        }
        Ok(())
    }
}

fn wrap_text(text: &str, room: usize) -> Vec<String> {
    let (mut lines, more) = wrap_at_most(&one_line(text), room.max(1), MAX_LINES);
    if more && let Some(last) = lines.last_mut() {
        *last = truncate(&format!("{last} ..."), room.max(4), "...");
    }
    lines
}

fn pad_text(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Prints two episodes: their names, the rows, the first difference and what preceded it, and the outcomes.
pub(super) fn print_comparison(
    printer: &DiffPrinter<'_>,
    found: &Comparison,
    out: &mut Output,
) -> Result<(), CliError> {
    let about = |name: &str, a: &str, b: &str| ComparisonEntry {
        topic: "sides",
        name: name.to_owned(),
        left: Some(a.to_owned()),
        right: Some(b.to_owned()),
    };
    printer.print_both_sides(
        &about("compared", &format!("A  {}", found.left.name), &format!("B  {}", found.right.name)),
        out,
    )?;
    let task =
        |s: &Side| format!("{}, trial {}: {}", s.episode.task.id, s.episode.trial, s.episode.task.goal);
    printer.print_both_sides(&about("task", &task(&found.left), &task(&found.right)), out)?;
    print_groups(printer, found.run_entries(), out)?;
    printer.print_line(out, &[])?;
    let mut left_out = 0;
    for (place, row) in found.rows.iter().enumerate() {
        if row.kind() == RowKind::Same && (printer.args.only_differences || place == 0) {
            left_out += usize::from(place > 0);
            continue;
        }
        print_omitted(printer, std::mem::take(&mut left_out), out)?;
        if found.first_difference == Some(place) {
            print_first_difference(printer, found, place, out)?;
        }
        print_step_row(printer, found, row, out)?;
    }
    print_omitted(printer, left_out, out)?;
    printer.print_line(out, &[])?;
    for result in found.outcome_entries() {
        printer.print_both_sides(&result, out)?;
    }
    printer.print_line(out, &[])?;
    let [same, changed, only_a, only_b] = found.counts();
    // The row of the first observations is not a step.
    let start = usize::from(found.rows.first().is_some_and(|r| r.kind() == RowKind::Same));
    let waiting = match found.count_pending() {
        0 => String::new(),
        n => format!("; {n} more with a pending proposal on one side or both"),
    };
    let summary = if found.first_difference.is_some() {
        let same = same - start;
        format!("steps: {same} the same, {changed} changed, {only_a} only in A, {only_b} only in B{waiting}")
    } else if found.initial_differences.is_empty() && found.later_differences.is_empty() {
        format!("no difference: all {} are the same{waiting}", pluralized(same - start, "step"))
    } else {
        format!(
            "all {} are the same, but the settings differ (above){waiting}",
            pluralized(same - start, "step")
        )
    };
    printer.print_line(out, &[(TextStyle::Heading, summary)])
}

fn print_omitted(printer: &DiffPrinter<'_>, steps: usize, out: &mut Output) -> Result<(), CliError> {
    if steps == 0 {
        return Ok(());
    }
    printer
        .print_line(out, &[(TextStyle::Dim, format!("     ... {} the same ...", pluralized(steps, "step")))])
}

fn pluralized(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Prints the first difference and what preceded it.
fn print_first_difference(
    printer: &DiffPrinter<'_>,
    found: &Comparison,
    place: usize,
    out: &mut Output,
) -> Result<(), CliError> {
    printer.print_rule("first difference", out)?;
    for entry in found.decision_entries(place) {
        printer.print_both_sides(&entry, out)?;
    }
    let reasons: Vec<&str> =
        found.reasons().into_iter().map(crate::timeline::compare::Reason::description).collect();
    for line in wrap_text(&format!("before it: {}", reasons.join("; ")), printer.width) {
        printer.print_line(out, &[(TextStyle::Changed, line)])?;
    }
    print_groups(
        printer,
        found.prior.as_ref().map(crate::timeline::compare::PriorDifferences::entries).unwrap_or_default(),
        out,
    )?;
    printer.print_rule("", out)
}

/// Prints entries side by side under a heading for each topic.
fn print_groups(
    printer: &DiffPrinter<'_>,
    entries: Vec<ComparisonEntry>,
    out: &mut Output,
) -> Result<(), CliError> {
    let mut topic = "";
    for entry in entries {
        if std::mem::replace(&mut topic, entry.topic) != entry.topic {
            printer.print_line(out, &[(TextStyle::Heading, entry.topic.to_owned())])?;
        }
        let name = format!("  {}", entry.name);
        printer.print_both_sides(&ComparisonEntry { name, ..entry }, out)?;
    }
    Ok(())
}

/// Prints one row: the action, and everything that differs in full.
fn print_step_row(
    printer: &DiffPrinter<'_>,
    found: &Comparison,
    row: &Row,
    out: &mut Output,
) -> Result<(), CliError> {
    let kind = row.kind();
    let two = printer.width >= MIN_WIDTH_OF_TWO_COLUMNS;
    let room = if two { (printer.width - 3) / 2 } else { printer.width - 2 };
    let side =
        |side: &Side, number: Option<u32>| number.map_or_else(Vec::new, |n| format_side(side, n, row, room));
    let (a, b) = (side(&found.left, row.left), side(&found.right, row.right));
    let (left, right) = match kind {
        RowKind::Same => (TextStyle::Plain, TextStyle::Plain),
        _ => (TextStyle::OnlyLeft, TextStyle::OnlyRight),
    };
    if !two {
        let sides: &[(&str, TextStyle, &[String])] = match kind {
            RowKind::Same => &[("  ", left, &a)],
            _ => &[("- ", left, &a), ("+ ", right, &b)],
        };
        for (mark, paint, lines) in sides {
            for line in *lines {
                printer.print_line(out, &[(*paint, format!("{mark}{line}"))])?;
            }
        }
        return Ok(());
    }
    let mark = match kind {
        RowKind::Same => "   ",
        RowKind::Changed => " ~ ",
        RowKind::OnlyLeft => " < ",
        RowKind::OnlyRight => " > ",
    };
    for place in 0..a.len().max(b.len()) {
        let at = |side: &[String]| side.get(place).cloned().unwrap_or_default();
        let mark = if place == 0 { mark } else { "   " };
        let line = [(left, pad_text(&at(&a), room)), (TextStyle::Changed, mark.to_owned()), (right, at(&b))];
        printer.print_line(out, &line)?;
    }
    Ok(())
}

/// Formats one side of a row as lines at most `room` columns wide.
fn format_side(side: &Side, number: u32, row: &Row, room: usize) -> Vec<String> {
    let indent = |text: &str| {
        let lines = wrap_text(text, room.saturating_sub(6));
        lines.into_iter().map(|l| format!("      {l}")).collect::<Vec<_>>()
    };
    let Some(step) = side.episode.step(number) else {
        let seen = side.episode.first_observation.as_ref().map(|r| r.agent_view.as_deref().unwrap_or(&r.raw));
        let mut lines = vec![truncate("  0 the first observation", room, "...")];
        lines.extend(indent(seen.unwrap_or("(none yet)")));
        return lines;
    };
    let mut lines = Vec::new();
    let shown = row.kind() != RowKind::Same;
    let apart = row.kind() != RowKind::Changed;
    if shown && !step.is_thought_only() && (apart || row.parts.contains(StepPart::Thought)) {
        lines.extend(step.thought.as_deref().map(|t| indent(&format!("think: {t}"))).unwrap_or_default());
    }
    // An unchanged row takes one line, except for a pending proposal: its note is never cut.
    let one = !shown && pending_label(step).is_none();
    let (room, action) = (room.saturating_sub(6), format_action(step));
    let wrapped =
        if one { vec![truncate(&one_line(&action), room, "...")] } else { wrap_text(&action, room) };
    for (place, text) in wrapped.into_iter().enumerate() {
        let head = if place == 0 { format!("{number:>3} > ") } else { " ".repeat(6) };
        lines.push(format!("{head}{text}"));
    }
    if shown && (apart || row.parts.contains(StepPart::Observation)) {
        lines.extend(step.observation().map(&indent).unwrap_or_default());
    }
    if shown && row.parts.contains(StepPart::Progress) {
        let answer = step.answer.as_ref();
        let won = if answer.is_some_and(|a| a.won) { ", won" } else { "" };
        lines.extend(indent(&format!("progress {:.2}{won}", answer.map_or(0.0, |a| a.progress))));
    }
    lines
}

fn format_action(step: &Step) -> String {
    let by = if step.is_person_action() { "  (by a person)" } else { "" };
    match pending_label(step) {
        Some(pending) => format!("{}{by} ({pending})", action_or_thought(step)).trim_start().to_owned(),
        None => format!("{}{by}", action_or_thought(step)),
    }
}

/// Prints the names of both sides above a list of episodes.
pub(super) fn print_session_names(
    printer: &DiffPrinter<'_>,
    a: &ComparedBranch,
    b: &ComparedBranch,
    out: &mut Output,
) -> Result<(), CliError> {
    printer.print_line(out, &[(TextStyle::OnlyLeft, format!("A  {}", a.name))])?;
    printer.print_line(out, &[(TextStyle::OnlyRight, format!("B  {}", b.name))])?;
    printer.print_line(out, &[])
}

/// Prints one pair of a list of episodes.
pub(super) fn print_pair_row(
    printer: &DiffPrinter<'_>,
    pair: &EpisodePair,
    found: &Comparison,
    out: &mut Output,
) -> Result<(), CliError> {
    let alike = found.first_difference.is_none()
        && found.initial_differences.is_empty()
        && found.later_differences.is_empty();
    if alike && printer.args.only_differences {
        return Ok(());
    }
    let describe = |o: &Outcome| {
        format!("{}, {}, progress {:.2}", o.verdict(), pluralized(o.steps as usize, "step"), o.progress)
    };
    let number = |n: Option<u32>| n.map_or_else(String::new, |n| n.to_string());
    let head =
        format!("#{} | #{}  {}, trial {}", number(pair.left), number(pair.right), pair.task.id, pair.trial);
    printer.print_line(out, &[(TextStyle::Heading, truncate(&head, printer.width, "..."))])?;
    printer.print_line(
        out,
        &[(
            TextStyle::OnlyLeft,
            truncate(&format!("  A  {}", describe(&found.outcomes.0)), printer.width, "..."),
        )],
    )?;
    printer.print_line(
        out,
        &[(
            TextStyle::OnlyRight,
            truncate(&format!("  B  {}", describe(&found.outcomes.1)), printer.width, "..."),
        )],
    )?;
    let summary = match found.first_difference.map(|at| found.rows[at]) {
        None if found.initial_differences.is_empty() && found.later_differences.is_empty() => {
            "no difference".to_owned()
        }
        None => {
            let names: Vec<String> = found.run_entries().into_iter().map(|s| s.name).collect();
            format!("all steps are the same; these settings differ: {}", names.join(", "))
        }
        Some(row) => {
            let step = row.left.or(row.right).unwrap_or(0);
            let reasons: Vec<&str> =
                found.reasons().into_iter().map(crate::timeline::compare::Reason::description).collect();
            format!("first difference at step {step}: {}", reasons.join("; "))
        }
    };
    for line in wrap_text(&summary, printer.width.saturating_sub(5)) {
        printer.print_line(out, &[(TextStyle::Changed, format!("     {line}"))])?;
    }
    Ok(())
}

/// Prints an episode that only one side has.
pub(super) fn print_unpaired(
    printer: &DiffPrinter<'_>,
    pair: &EpisodePair,
    out: &mut Output,
) -> Result<(), CliError> {
    let (side, paint) =
        if pair.left.is_some() { ("A", TextStyle::OnlyLeft) } else { ("B", TextStyle::OnlyRight) };
    let number = pair.left.or(pair.right).unwrap_or(0);
    let words = format!("#{number} only in {side}: {}, trial {}", pair.task.id, pair.trial);
    printer.print_line(out, &[(paint, truncate(&words, printer.width, "..."))])
}

/// Prints the totals over all pairs.
pub(super) fn print_totals(
    printer: &DiffPrinter<'_>,
    totals: &Totals,
    out: &mut Output,
) -> Result<(), CliError> {
    printer.print_line(out, &[])?;
    let row = |name: &str, a: u64, b: u64| ComparisonEntry {
        topic: "outcome",
        name: name.to_owned(),
        left: Some(a.to_string()),
        right: Some(b.to_string()),
    };
    let rows = [
        row("won", totals.won.0.into(), totals.won.1.into()),
        row("steps", totals.steps.0, totals.steps.1),
        row("mistakes", totals.mistakes.0, totals.mistakes.1),
        row("tokens", totals.tokens.0, totals.tokens.1),
    ];
    rows.iter().try_for_each(|r| printer.print_both_sides(r, out))?;
    printer.print_line(out, &[])?;
    let different = totals.compared - totals.identical;
    let words = match different {
        0 => format!("no difference in {}", pluralized(totals.compared as usize, "episode")),
        1 => format!("1 of {} differs", pluralized(totals.compared as usize, "episode")),
        _ => format!("{different} of {} differ", pluralized(totals.compared as usize, "episode")),
    };
    let alone = match (totals.only_a, totals.only_b) {
        (0, 0) => String::new(),
        (a, b) => format!("; {a} only in A, {b} only in B"),
    };
    printer.print_line(out, &[(TextStyle::Heading, format!("{words}{alone}"))])?;
    if different > 0 {
        printer.print_line(
            out,
            &[(TextStyle::Dim, "to see one pair side by side: `retrospect diff A#1 B#1`".to_owned())],
        )?;
    }
    Ok(())
}
