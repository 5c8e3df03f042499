//! Comparisons as text: two columns on wide terminals, else one column with a mark before each line.

use super::compared_branch::ComparedBranch;
use super::{DiffPrinter, Totals};
use crate::cli::error::CliError;
use crate::cli::output::{Output, TextStyle};
use crate::domain::{Step, pluralize};
use crate::text::{one_line, truncate, width, with_program_name, wrap_at_most};
use crate::timeline::compare::{
    Comparison, ComparisonEntry, EpisodePair, Outcome, Row, RowKind, Side, StepPart, action_or_thought,
    pending_label,
};

/// Below this width, in terminal columns, the sides are printed one below the other.
const MIN_WIDTH_OF_TWO_COLUMNS: usize = 72;
/// Maximum number of lines for one text.
const MAX_LINES: usize = 6;
/// Width of the name column.
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
        let is_wide = self.width >= MIN_WIDTH_OF_TWO_COLUMNS;
        let columns =
            if is_wide { (self.width - NAME_COLUMNS - 3) / 2 } else { self.width.saturating_sub(4) };
        let lines = |side: &Option<String>| {
            side.as_deref().map_or_else(|| vec!["-".to_owned()], |t| wrap_text(t, columns))
        };
        let (a, b) = (lines(&entry.left), lines(&entry.right));
        if !is_wide {
            self.print_line(out, &[(TextStyle::Plain, entry.name.clone())])?;
            for (mark, style, side) in [("A ", TextStyle::OnlyLeft, a), ("B ", TextStyle::OnlyRight, b)] {
                for text in side {
                    self.print_line(out, &[(style, format!("  {mark}{text}"))])?;
                }
            }
            return Ok(());
        }
        // A name too long for its column gets a row of its own.
        let has_own_row = width(&entry.name) >= NAME_COLUMNS;
        if has_own_row {
            self.print_line(out, &[(TextStyle::Dim, truncate(&entry.name, self.width, "..."))])?;
        }
        let name = if has_own_row { String::new() } else { entry.name.clone() };
        for index in 0..a.len().max(b.len()) {
            let line_at = |side: &[String]| side.get(index).cloned().unwrap_or_default();
            let name = if index == 0 { name.as_str() } else { "" };
            let line = [
                (TextStyle::Dim, pad_text(name, NAME_COLUMNS)),
                (TextStyle::OnlyLeft, pad_text(&line_at(&a), columns)),
                (TextStyle::Dim, " | ".to_owned()),
                (TextStyle::OnlyRight, line_at(&b)),
            ];
            self.print_line(out, &line)?;
        }
        Ok(())
    }
}

fn wrap_text(text: &str, columns: usize) -> Vec<String> {
    let (mut lines, more) = wrap_at_most(&one_line(text), columns.max(1), MAX_LINES);
    if more && let Some(last) = lines.last_mut() {
        *last = truncate(&format!("{last} ..."), columns.max(4), "...");
    }
    lines
}

fn pad_text(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Prints two episodes: their names, the rows, the first difference and what preceded it, and the outcomes.
pub(super) fn print_comparison(
    printer: &DiffPrinter<'_>,
    comparison: &Comparison,
    out: &mut Output,
) -> Result<(), CliError> {
    let entry = |name: &str, a: &str, b: &str| ComparisonEntry {
        topic: "sides",
        name: name.to_owned(),
        left: Some(a.to_owned()),
        right: Some(b.to_owned()),
    };
    // Below each other, the sides have their letters anyway.
    let name = |letter: &str, side: &Side| match printer.width {
        MIN_WIDTH_OF_TWO_COLUMNS.. => format!("{letter}  {}", side.name),
        _ => side.name.clone(),
    };
    let names = (name("A", &comparison.left), name("B", &comparison.right));
    printer.print_both_sides(&entry("compared", &names.0, &names.1), out)?;
    let task =
        |s: &Side| format!("{}, trial {}: {}", s.episode.task.id, s.episode.trial, s.episode.task.goal);
    printer.print_both_sides(&entry("task", &task(&comparison.left), &task(&comparison.right)), out)?;
    let mut outcome = comparison.outcome_entries();
    outcome.extend(comparison.detailed_outcome_entries());
    for entry in outcome.iter().filter(|entry| entry.differs()) {
        printer.print_both_sides(entry, out)?;
    }
    print_equal(printer, &outcome, out)?;
    print_groups(printer, comparison.run_entries(), out)?;
    printer.print_line(out, &[])?;
    let mut omitted = 0;
    for (index, row) in comparison.rows.iter().enumerate() {
        if row.kind() == RowKind::Same && (printer.args.only_differences || index == 0) {
            omitted += usize::from(index > 0);
            continue;
        }
        print_omitted(printer, std::mem::take(&mut omitted), out)?;
        if comparison.first_difference == Some(index) {
            print_first_difference(printer, comparison, index, out)?;
        }
        print_step_row(printer, comparison, row, out)?;
    }
    print_omitted(printer, omitted, out)?;
    printer.print_line(out, &[])?;
    let [same, changed, only_a, only_b] = comparison.counts();
    // The row of the first observations is not a step.
    let reset_rows = usize::from(comparison.rows.first().is_some_and(|r| r.kind() == RowKind::Same));
    let pending = match comparison.count_pending() {
        0 => String::new(),
        n => format!("; {n} more with a pending proposal on one side or both"),
    };
    let summary = if comparison.first_difference.is_some() {
        let same = same - reset_rows;
        format!("steps: {same} the same, {changed} changed, {only_a} only in A, {only_b} only in B{pending}")
    } else if comparison.first_prompt_difference.is_some() {
        let steps = pluralize((same - reset_rows) as u64, "step");
        format!("actions equal, prompts differ: all {steps} are the same{pending}")
    } else if comparison.initial_differences.is_empty() && comparison.later_differences.is_empty() {
        format!("no difference: all {} are the same{pending}", pluralize((same - reset_rows) as u64, "step"))
    } else {
        format!(
            "all {} are the same, but the settings differ (above){pending}",
            pluralize((same - reset_rows) as u64, "step")
        )
    };
    printer.print_line(out, &[(TextStyle::Heading, summary)])
}

/// Prints the entries that are equal on both sides, each with its value once.
fn print_equal(
    printer: &DiffPrinter<'_>,
    entries: &[ComparisonEntry],
    out: &mut Output,
) -> Result<(), CliError> {
    let equal = entries.iter().filter(|entry| !entry.differs());
    let each: Vec<String> = equal
        .map(|entry| format!("{} {}", entry.name, one_line(entry.left.as_deref().unwrap_or("-"))))
        .collect();
    if each.is_empty() {
        return Ok(());
    }
    let name = "the same";
    let columns = printer.width.saturating_sub(NAME_COLUMNS).max(1);
    for (index, text) in wrap_text(&each.join("; "), columns).into_iter().enumerate() {
        let name = if index == 0 { name } else { "" };
        printer.print_line(out, &[(TextStyle::Dim, format!("{}{text}", pad_text(name, NAME_COLUMNS)))])?;
    }
    Ok(())
}

fn print_omitted(printer: &DiffPrinter<'_>, steps: usize, out: &mut Output) -> Result<(), CliError> {
    if steps == 0 {
        return Ok(());
    }
    printer.print_line(
        out,
        &[(TextStyle::Dim, format!("     ... {} the same ...", pluralize(steps as u64, "step")))],
    )
}

/// Prints the first difference and what preceded it.
fn print_first_difference(
    printer: &DiffPrinter<'_>,
    comparison: &Comparison,
    index: usize,
    out: &mut Output,
) -> Result<(), CliError> {
    printer.print_rule("first difference", out)?;
    for entry in comparison.decision_entries(index) {
        printer.print_both_sides(&entry, out)?;
    }
    let reasons: Vec<&str> =
        comparison.reasons().into_iter().map(crate::timeline::compare::Reason::description).collect();
    for line in wrap_text(&format!("before it: {}", reasons.join("; ")), printer.width) {
        printer.print_line(out, &[(TextStyle::Changed, line)])?;
    }
    print_groups(
        printer,
        comparison
            .prior
            .as_ref()
            .map(crate::timeline::compare::PriorDifferences::entries)
            .unwrap_or_default(),
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

/// Prints one row: the action, and in full what differs.
fn print_step_row(
    printer: &DiffPrinter<'_>,
    comparison: &Comparison,
    row: &Row,
    out: &mut Output,
) -> Result<(), CliError> {
    let kind = row.kind();
    let is_wide = printer.width >= MIN_WIDTH_OF_TWO_COLUMNS;
    let columns = if is_wide { (printer.width - 3) / 2 } else { printer.width - 2 };
    let side = |side: &Side, number: Option<u32>| {
        number.map_or_else(Vec::new, |n| format_side(side, n, row, columns))
    };
    let (a, b) = (side(&comparison.left, row.left), side(&comparison.right, row.right));
    let (left, right) = match kind {
        RowKind::Same => (TextStyle::Plain, TextStyle::Plain),
        _ => (TextStyle::OnlyLeft, TextStyle::OnlyRight),
    };
    if !is_wide {
        let sides: &[(&str, TextStyle, &[String])] = match kind {
            RowKind::Same => &[("  ", left, &a)],
            _ => &[("A ", left, &a), ("B ", right, &b)],
        };
        for (mark, style, lines) in sides {
            for line in *lines {
                printer.print_line(out, &[(*style, format!("{mark}{line}"))])?;
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
    for index in 0..a.len().max(b.len()) {
        let line_at = |side: &[String]| side.get(index).cloned().unwrap_or_default();
        let mark = if index == 0 { mark } else { "   " };
        let line = [
            (left, pad_text(&line_at(&a), columns)),
            (TextStyle::Changed, mark.to_owned()),
            (right, line_at(&b)),
        ];
        printer.print_line(out, &line)?;
    }
    Ok(())
}

/// Formats one side of a row as lines at most `columns` wide.
fn format_side(side: &Side, number: u32, row: &Row, columns: usize) -> Vec<String> {
    let indent = |text: &str| {
        let lines = wrap_text(text, columns.saturating_sub(6));
        lines.into_iter().map(|l| format!("      {l}")).collect::<Vec<_>>()
    };
    let Some(step) = side.episode.step(number) else {
        let observation =
            side.episode.first_observation.as_ref().map(|r| r.agent_view.as_deref().unwrap_or(&r.raw));
        let mut lines = vec![truncate("  0 the first observation", columns, "...")];
        lines.extend(indent(observation.unwrap_or("(none yet)")));
        return lines;
    };
    let mut lines = Vec::new();
    let differs = row.kind() != RowKind::Same;
    let is_one_sided = row.kind() != RowKind::Changed;
    if differs && !step.is_thought_only() && (is_one_sided || row.parts.contains(StepPart::Thought)) {
        lines.extend(step.thought.as_deref().map(|t| indent(&format!("think: {t}"))).unwrap_or_default());
    }
    // An unchanged row takes one line. A pending proposal may take more, so that its note is never truncated.
    let is_one_line = !differs && pending_label(step).is_none();
    let (columns, action) = (columns.saturating_sub(6), format_action(step));
    let wrapped = if is_one_line {
        vec![truncate(&one_line(&action), columns, "...")]
    } else {
        wrap_text(&action, columns)
    };
    for (index, text) in wrapped.into_iter().enumerate() {
        let prefix = if index == 0 { format!("{number:>3} > ") } else { " ".repeat(6) };
        lines.push(format!("{prefix}{text}"));
    }
    if differs && (is_one_sided || row.parts.contains(StepPart::Observation)) {
        lines.extend(step.observation().map(&indent).unwrap_or_default());
    }
    if differs && row.parts.contains(StepPart::Progress) {
        let answer = step.answer.as_ref();
        let won = if answer.is_some_and(|a| a.won) { ", won" } else { "" };
        lines.extend(indent(&format!("progress {:.2}{won}", answer.map_or(0.0, |a| a.progress))));
    }
    lines
}

fn format_action(step: &Step) -> String {
    let author = if step.is_person_action() { "  (by a person)" } else { "" };
    match pending_label(step) {
        Some(pending) => format!("{}{author} ({pending})", action_or_thought(step)).trim_start().to_owned(),
        None => format!("{}{author}", action_or_thought(step)),
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
    comparison: &Comparison,
    out: &mut Output,
) -> Result<(), CliError> {
    let is_identical = comparison.first_difference.is_none()
        && comparison.initial_differences.is_empty()
        && comparison.later_differences.is_empty();
    if is_identical && printer.args.only_differences {
        return Ok(());
    }
    let describe = |o: &Outcome| {
        format!("{}, {}, progress {:.2}", o.ending(), pluralize(u64::from(o.steps), "step"), o.progress)
    };
    let number = |n: Option<u32>| n.map_or_else(String::new, |n| n.to_string());
    let heading =
        format!("#{} | #{}  {}, trial {}", number(pair.left), number(pair.right), pair.task.id, pair.trial);
    printer.print_line(out, &[(TextStyle::Heading, truncate(&heading, printer.width, "..."))])?;
    printer.print_line(
        out,
        &[(
            TextStyle::OnlyLeft,
            truncate(&format!("  A  {}", describe(&comparison.outcomes.0)), printer.width, "..."),
        )],
    )?;
    printer.print_line(
        out,
        &[(
            TextStyle::OnlyRight,
            truncate(&format!("  B  {}", describe(&comparison.outcomes.1)), printer.width, "..."),
        )],
    )?;
    let summary = match comparison.first_difference.map(|at| comparison.rows[at]) {
        None if comparison.first_prompt_difference.is_some() => "actions equal, prompts differ".to_owned(),
        None if comparison.initial_differences.is_empty() && comparison.later_differences.is_empty() => {
            "no difference".to_owned()
        }
        None => {
            let names: Vec<String> = comparison.run_entries().into_iter().map(|s| s.name).collect();
            format!("all steps are the same; these settings differ: {}", names.join(", "))
        }
        Some(row) => {
            let step = row.left.or(row.right).unwrap_or(0);
            let reasons: Vec<&str> =
                comparison.reasons().into_iter().map(crate::timeline::compare::Reason::description).collect();
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
    let (side, style) =
        if pair.left.is_some() { ("A", TextStyle::OnlyLeft) } else { ("B", TextStyle::OnlyRight) };
    let number = pair.left.or(pair.right).unwrap_or(0);
    let text = format!("#{number} only in {side}: {}, trial {}", pair.task.id, pair.trial);
    printer.print_line(out, &[(style, truncate(&text, printer.width, "..."))])
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
    let summary = match different {
        0 => format!("no difference in {}", pluralize(totals.compared as u64, "episode")),
        1 => format!("1 of {} differs", pluralize(totals.compared as u64, "episode")),
        _ => format!("{different} of {} differ", pluralize(totals.compared as u64, "episode")),
    };
    let unpaired = match (totals.only_a, totals.only_b) {
        (0, 0) => String::new(),
        (a, b) => format!("; {a} only in A, {b} only in B"),
    };
    printer.print_line(out, &[(TextStyle::Heading, format!("{summary}{unpaired}"))])?;
    if different > 0 {
        printer.print_line(
            out,
            &[(
                TextStyle::Dim,
                with_program_name("to see one pair side by side: `retrospect diff A#1 B#1`").into_owned(),
            )],
        )?;
    }
    Ok(())
}
