//! Renders metrics as text, Markdown and JSON.

mod comparison;

use super::{
    ConstitutionStats, Improvement, Interval, Metrics, PaperComparison, Rates, RevisionCounts, RewardRange,
    RowComparison, TrialTotals, compare_with_papers, improvement,
};
use crate::catalog::find_environment;
use crate::domain::pluralize;
use crate::text::{escape_markdown, one_line, width};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The most tasks that are listed in text and Markdown; JSON has all.
const MAX_LISTED: usize = 20;

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns.
    Text,
    /// Markdown tables.
    Markdown,
    /// One JSON document.
    Json,
}

/// A table: header and rows.
struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

/// Renders all metrics of these configurations; with `paper`, the published figures next to ours.
pub fn render_metrics(all: &[Metrics], format: Format, paper: bool) -> String {
    if format == Format::Json {
        return json_document(all, paper).to_string();
    }
    let mut out = String::new();
    for metrics in all {
        write_heading(&mut out, format, &metrics.label);
        for line in note_lines(metrics) {
            let _ = writeln!(out, "{}", escape_line(format, &line));
        }
        out.push('\n');
        write_table(&mut out, format, &rates_table(metrics));
        if metrics.by_trial.len() > 1 {
            write_table(&mut out, format, &trials_table(metrics));
            write_table(&mut out, format, &first_success_table(metrics));
            write_table(&mut out, format, &rewards_table(metrics));
        }
        if !metrics.by_round.is_empty() && metrics.reflections.is_some() {
            write_table(&mut out, format, &rounds_table(metrics));
        }
        write_table(&mut out, format, &aggregates_table(metrics));
        if metrics.reflections.is_some() {
            write_table(&mut out, format, &reflections_table(metrics));
        }
        if let Some(constitution) = &metrics.constitution {
            write_table(&mut out, format, &constitution_table(constitution));
        }
        if paper {
            write_published(&mut out, format, metrics);
        }
    }
    comparison::write_comparisons(&mut out, format, all);
    for (first, second, improvement) in improvements(all) {
        let _ = match improvement {
            Some(i) => writeln!(
                out,
                "Probability that {} improves over {}: {} over {}",
                escape_line(format, &first.label),
                escape_line(format, &second.label),
                format_interval(&i.probability),
                pluralize(i.tasks as u64, "task")
            ),
            None => writeln!(
                out,
                "{} and {} have no task in common.",
                escape_line(format, &first.label),
                escape_line(format, &second.label)
            ),
        };
    }
    out
}

/// Compares each of the other configurations with the first.
fn improvements(all: &[Metrics]) -> Vec<(&Metrics, &Metrics, Option<Improvement>)> {
    let Some((first, rest)) = all.split_first() else { return Vec::new() };
    rest.iter().map(|other| (other, first, improvement(&other.attempts, &first.attempts))).collect()
}

fn json_document(all: &[Metrics], paper: bool) -> Value {
    let configurations: Vec<Value> = all
        .iter()
        .map(|metrics| {
            let mut value = serde_json::to_value(metrics).unwrap_or_default();
            if paper && let Some(fields) = value.as_object_mut() {
                let (rows, mut reasons) = match compare_with_papers(metrics) {
                    Ok(rows) => (rows, Vec::new()),
                    Err(reason) => (Vec::new(), vec![reason]),
                };
                reasons
                    .extend(rows.iter().filter(|row| !row.differences.is_empty()).map(describe_differences));
                let figures: Vec<&PaperComparison> = rows.iter().flat_map(|row| &row.figures).collect();
                let notes: Vec<String> = rows.iter().filter_map(describe_notes).collect();
                fields.insert(
                    "against_paper".to_owned(),
                    json!({"figures": figures, "notes": notes, "differences": reasons}),
                );
            }
            value
        })
        .collect();
    let improvements: Vec<Value> = improvements(all)
        .into_iter()
        .map(|(first, second, improvement)| {
            json!({"of": first.label, "over": second.label, "improvement": improvement})
        })
        .collect();
    json!({
        "configurations": configurations,
        "improvements": improvements,
        "advice": comparison::advice_values(all),
        "by_setting": comparison::settings_values(all),
    })
}

/// Names tasks, and counts those that are too many to list.
fn name_tasks<'t>(tasks: impl ExactSizeIterator<Item = &'t String>) -> String {
    let more = tasks.len().saturating_sub(MAX_LISTED);
    let named: Vec<&str> = tasks.take(MAX_LISTED).map(String::as_str).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

fn note_lines(metrics: &Metrics) -> Vec<String> {
    let mut lines = vec![match metrics.sessions.as_slice() {
        [one] => format!("session {one}"),
        many => format!("{} sessions", many.len()),
    }];
    if metrics.has_stand_in_actor {
        lines.push(
            "The actor is a stand-in (rules or a recording): these numbers say nothing about a model."
                .to_owned(),
        );
    }
    if metrics.has_stand_in_mentor {
        lines.push("The mentor's replies come from a recording, not from a model.".to_owned());
    }
    if metrics.open_sessions > 0 {
        lines.push(format!("Sessions in progress, counted as far as played: {}.", metrics.open_sessions));
    }
    lines.extend(solved_note(metrics));
    for (name, value) in &metrics.all.measures {
        lines.push(format!("{name}: {value:.3}, the mean over tasks of their last trials."));
    }
    if metrics.assisted > 0 {
        lines.push(format!("Assisted tasks, excluded from rates: {}.", metrics.assisted));
    }
    if metrics.env_failures > 0 {
        let count = metrics.env_failures;
        let tasks = name_tasks(metrics.env_failed_tasks.iter());
        lines.push(format!(
            "Episodes at which the environment failed, excluded from rates: {count} ({tasks})."
        ));
    }
    if !metrics.token_counts.is_empty() {
        let cost =
            metrics.token_counts.format_cost().map_or_else(String::new, |cost| format!("; cost {cost}"));
        lines.push(format!("Tokens: {}{cost}.", metrics.token_counts.describe()));
    }
    if let Some(words) = metrics.prefetch.describe() {
        lines.push(format!("Prefetched: {words}; unused requests are in no other count."));
    }
    if let Some(words) = metrics.samples.describe() {
        lines.push(format!("Sampled: {words}; samples are in no other count."));
    }
    if metrics.calibration > 0 {
        lines.push(format!("Calibration episodes, excluded from rates: {}.", metrics.calibration));
    }
    lines
}

/// Returns what the field calls the success of these tasks, if it has a name of its own.
fn solved_note(metrics: &Metrics) -> Option<String> {
    let name = find_environment(&metrics.attempts.first()?.task.env)?.task_facts.solved_name;
    (!name.is_empty()).then(|| format!("A task is solved by the measure {name}."))
}

fn rates_table(metrics: &Metrics) -> Table {
    let row = |name: &str, r: &Rates| {
        vec![
            name.to_owned(),
            r.tasks.to_string(),
            r.solved.to_string(),
            r.success.as_ref().map_or_else(|| "-".to_owned(), format_percent_interval),
            format_number(r.progress, 3),
            format_number(r.grounding, 3),
            format_number(r.steps, 1),
            format_number(r.steps_per_task, 1),
            format_number(r.calls_per_task, 1),
        ]
    };
    let mut rows = vec![row("all", &metrics.all)];
    rows.extend(metrics.by_difficulty.iter().map(|(name, r)| row(name, r)));
    rows.extend(metrics.by_type.iter().map(|(name, r)| row(name, r)));
    let head = vec![
        "group",
        "tasks",
        "solved",
        "success % (95 %)",
        "progress",
        "grounding",
        "steps/episode",
        "steps/task",
        "calls/task",
    ];
    Table { head, rows }
}

/// The tasks solved by trial and, if plans were written, what they retain and correct: the series of FCRF's figure 5.
fn trials_table(metrics: &Metrics) -> Table {
    let plans = metrics.reflections.as_ref().map_or(&[][..], |r| &r.by_trial);
    let rows = metrics.by_trial.iter().map(|t| {
        let mut row = vec![t.trial.to_string(), t.played.to_string(), t.solved.to_string()];
        row.extend(trial_point(metrics, t));
        if !plans.is_empty() {
            let plan = plans.iter().find(|plan| plan.trial == t.trial);
            let per_cent = |part: Option<f64>| format_number(part.map(|x| x * 100.0), 1);
            row.extend([per_cent(plan.and_then(|p| p.recall)), per_cent(plan.and_then(|p| p.precision))]);
        }
        row
    });
    let mut head = vec!["trial", "tasks played", "newly solved"];
    head.extend(POINT_HEAD);
    if !plans.is_empty() {
        head.extend(["recall of its plans %", "precision of its plans %"]);
    }
    Table { head, rows: rows.collect() }
}

/// The columns of [`trial_point`].
const POINT_HEAD: [&str; 3] = ["solved so far %", "calls/task so far", "steps/episode"];

/// Returns what a trial and those before it achieved, and at what cost.
fn trial_point(metrics: &Metrics, trial: &TrialTotals) -> [String; 3] {
    let share = 100.0 * trial.solved_so_far as f64 / metrics.all.tasks.max(1) as f64;
    [format!("{share:.1}"), format!("{:.1}", trial.calls_per_task_so_far), format!("{:.1}", trial.steps)]
}

fn constitution_table(stats: &ConstitutionStats) -> Table {
    let share = |part: usize| {
        let share = stats.share_of_replies(part).map(|share| 100.0 * share);
        (format_number(share, 1), format!("{part} of {} replies", stats.replies))
    };
    let row = |name: &str, (value, of): (String, String)| vec![name.to_owned(), value, of];
    let per_session = |value: f64| (format!("{value:.1}"), "mean over sessions".to_owned());
    let per_episode = |value: f64| (format!("{value:.1}"), "mean over episodes".to_owned());
    let mut rows = Vec::new();
    if stats.has_constitution_kinds {
        rows.extend([
            row("Abstract lessons at the end", per_session(stats.abstract_lessons)),
            row("Error lessons at the end", per_session(stats.error_lessons)),
            row("Progress items written", per_episode(stats.progress_per_episode)),
        ]);
    }
    let others = stats.other_items_per_episode.iter();
    rows.extend(others.map(|(kind, mean)| row(&format!("{kind} items written"), per_episode(*mean))));
    rows.extend([
        row("replies partly unreadable %", share(stats.malformed)),
        row("replies wholly unreadable %", share(stats.unreadable)),
    ]);
    let title = if stats.has_constitution_kinds { "constitution" } else { "mentor" };
    Table { head: vec![title, "value", "of"], rows }
}

/// The histogram of the attempts that solved tasks: where a limit on attempts would have stopped too early.
fn first_success_table(metrics: &Metrics) -> Table {
    let most = metrics.by_attempt.values().copied().max().unwrap_or(1).max(1);
    let share = |tasks: usize| format!("{:.1}", 100.0 * tasks as f64 / metrics.all.tasks.max(1) as f64);
    let bar = |tasks: usize| "█".repeat((tasks * MAX_BAR).div_ceil(most));
    let row = |(attempt, tasks): (&u32, &usize)| {
        vec![attempt.to_string(), tasks.to_string(), share(*tasks), bar(*tasks)]
    };
    let rows = metrics.by_attempt.iter().map(row).collect();
    Table { head: vec!["first success in attempt", "tasks", "share of all %", "histogram"], rows }
}

/// The histograms of the attempts' rewards: of all, and of each type of tasks (DORA's figures 10 and 11).
fn rewards_table(metrics: &Metrics) -> Table {
    let row = |range: &RewardRange| {
        let bar = (range.share * MAX_BAR as f64).round().max(1.0) as usize;
        vec![
            range.task_type.clone(),
            format!("{:.1} to {:.1}", range.from, range.to),
            range.attempts.to_string(),
            format!("{:.1}", 100.0 * range.share),
            "█".repeat(bar),
        ]
    };
    let rows = metrics.rewards.iter().map(row).collect();
    Table { head: vec!["rewards of attempts", "reward", "attempts", "share of these %", "histogram"], rows }
}

/// The length of the longest bar of a histogram.
const MAX_BAR: usize = 20;

fn rounds_table(metrics: &Metrics) -> Table {
    let rows = metrics.by_round.iter().map(|(rounds, n)| vec![rounds.to_string(), n.to_string()]);
    Table { head: vec!["rounds of reflection before success", "tasks"], rows: rows.collect() }
}

fn aggregates_table(metrics: &Metrics) -> Table {
    let rows = metrics.aggregate.as_ref().map_or_else(Vec::new, |a| {
        [("IQM", &a.iqm), ("mean", &a.mean), ("median", &a.median), ("optimality gap", &a.optimality_gap)]
            .into_iter()
            .map(|(name, i)| {
                vec![
                    name.to_owned(),
                    if a.scores > 1 { format_interval(i) } else { format!("{:.3} (-)", i.value) },
                    a.scores.to_string(),
                    a.strata.to_owned(),
                ]
            })
            .collect()
    });
    Table { head: vec!["score", "value (95 %)", "scores", "resampled"], rows }
}

fn reflections_table(metrics: &Metrics) -> Table {
    let rows = metrics.reflections.as_ref().map_or_else(Vec::new, |r| {
        let per_cent = |part: Option<f64>| format_number(part.map(|x| x * 100.0), 1);
        let retained = |v: RevisionCounts| format!("{} of {} correct actions", v.retained, v.correct);
        let corrected = |v: RevisionCounts| format!("{} of {} erroneous actions", v.corrected, v.erroneous);
        let row = |name: &str, value: Option<f64>, of: String| vec![name.to_owned(), per_cent(value), of];
        vec![
            vec!["reflections".to_owned(), r.count.to_string(), String::new()],
            vec![
                "words, mean".to_owned(),
                format!("{:.1}", r.words),
                format!("deviation {:.1}", r.deviation),
            ],
            row("recall of experience", r.recall, retained(r.plan)),
            row("precision of correction", r.precision, corrected(r.plan)),
            row("recall in the next attempt", r.next_recall, retained(r.revision)),
            row("precision in the next attempt", r.next_precision, corrected(r.revision)),
        ]
    });
    Table { head: vec!["reflections", "value", "of"], rows }
}

fn write_published(out: &mut String, format: Format, metrics: &Metrics) {
    match compare_with_papers(metrics) {
        Err(reason) => {
            let _ = writeln!(out, "No published figures to compare with: {}\n", escape_line(format, &reason));
        }
        Ok(rows) => {
            let row = |c: &PaperComparison| {
                let total = c.published_tasks.map_or_else(|| "?".to_owned(), |n| n.to_string());
                let (n, unit) = c.sample;
                let unit = if unit == "tasks" { String::new() } else { format!(" {unit}") };
                vec![
                    format!("{}: {}", c.source, c.row),
                    c.model.clone(),
                    if c.task_type == "all" {
                        c.measure.clone()
                    } else {
                        format!("{} {}", c.measure, c.task_type)
                    },
                    format!("{} (n {total})", c.published),
                    format!("{:.1} ({:.1}-{:.1}) (n {n}{unit})", c.ours.value, c.ours.low, c.ours.high),
                    c.note.clone().unwrap_or_default(),
                ]
            };
            let head = vec!["source", "their model", "measure", "published", "ours (95 %)", "note"];
            let figures = rows.iter().flat_map(|row| &row.figures).map(row).collect();
            write_table(out, format, &Table { head, rows: figures });
            let notes: Vec<String> = rows.iter().filter_map(describe_notes).collect();
            if !notes.is_empty() {
                let _ = writeln!(out, "What these figures leave open, or have otherwise than here:");
                for line in notes {
                    let _ = writeln!(out, "- {}", escape_line(format, &line));
                }
                out.push('\n');
            }
            let different: Vec<&RowComparison> =
                rows.iter().filter(|row| !row.differences.is_empty()).collect();
            if !different.is_empty() {
                let _ =
                    writeln!(out, "Published figures that this can't be compared with, and what differs:");
                for line in describe_all_differences(&different) {
                    let _ = writeln!(out, "- {}", escape_line(format, &line));
                }
                out.push('\n');
            }
        }
    }
}

/// Describes what differs from rows of the papers' tables, a line each: first what differs from all of them, then from each
/// what else does.
fn describe_all_differences(rows: &[&RowComparison]) -> Vec<String> {
    let [first, _, ..] = rows else { return rows.iter().map(|row| describe_differences(row)).collect() };
    let is_common = |difference: &&String| rows.iter().all(|row| row.differences.contains(difference));
    let common: Vec<&str> = first.differences.iter().filter(is_common).map(String::as_str).collect();
    let describe_rest = |row: &&RowComparison| {
        let rest = row.differences.iter().filter(|difference| !is_common(difference));
        let rest: Vec<&str> = rest.map(String::as_str).collect();
        let rest = if rest.is_empty() { "only the above".to_owned() } else { rest.join("; ") };
        format!("{} ({}): {rest}", row.source, row.row)
    };
    let all = (!common.is_empty()).then(|| format!("from all {} rows: {}", rows.len(), common.join("; ")));
    all.into_iter().chain(rows.iter().map(describe_rest)).collect()
}

/// Describes what a row with figures leaves open. `None` if it has no figures, or nothing is open.
fn describe_notes(row: &RowComparison) -> Option<String> {
    (!row.figures.is_empty() && !row.notes.is_empty())
        .then(|| format!("{} ({}): {}", row.source, row.row, row.notes.join("; ")))
}

/// Describes what differs from a row of a paper's table.
fn describe_differences(row: &RowComparison) -> String {
    format!("{} ({}): {}", row.source, row.row, row.differences.join("; "))
}

/// Formats a text as a single line.
fn escape_line(format: Format, text: &str) -> String {
    if format == Format::Markdown { escape_markdown(text) } else { one_line(text).into_owned() }
}

fn write_heading(out: &mut String, format: Format, text: &str) {
    let text = escape_line(format, text);
    let _ = if format == Format::Markdown { writeln!(out, "## {text}\n") } else { writeln!(out, "{text}") };
}

fn write_table(out: &mut String, format: Format, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    let head: Vec<String> = table.head.iter().map(|h| (*h).to_owned()).collect();
    if format == Format::Markdown {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|c| escape_markdown(c)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        out.push_str(&line(&head));
        let _ = writeln!(out, "|{}", " --- |".repeat(head.len()));
        table.rows.iter().for_each(|row| out.push_str(&line(row)));
    } else {
        let rows: Vec<Vec<String>> = table
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| one_line(cell).into_owned()).collect())
            .collect();
        let mut column_widths: Vec<usize> = head.iter().map(|h| width(h)).collect();
        for row in &rows {
            for (column_width, cell) in column_widths.iter_mut().zip(row) {
                *column_width = (*column_width).max(width(cell));
            }
        }
        for row in std::iter::once(&head).chain(&rows) {
            let cells = row.iter().zip(&column_widths).map(|(cell, column_width)| {
                format!("{cell}{}", " ".repeat(column_width.saturating_sub(width(cell))))
            });
            let _ = writeln!(out, "  {}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
    }
    out.push('\n');
}

fn format_number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{v:.decimals$}"))
}

fn format_interval(i: &Interval) -> String {
    format!("{:.3} ({:.3}-{:.3})", i.value, i.low, i.high)
}

fn format_percent_interval(i: &Interval) -> String {
    format!("{:.1} ({:.1}-{:.1})", i.value * 100.0, i.low * 100.0, i.high * 100.0)
}
