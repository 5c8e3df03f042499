//! Renders metrics as text, Markdown and JSON.

use super::{Improvement, Interval, Metrics, PaperComparison, Rates, compare_with_papers, improvement};
use crate::text::{escape_markdown, one_line, width};
use serde_json::{Value, json};
use std::fmt::Write as _;

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

/// Renders all metrics of these configurations; with `paper`, the published figures beside ours.
pub fn render_metrics(all: &[Metrics], form: Format, paper: bool) -> String {
    if form == Format::Json {
        return json_document(all, paper).to_string();
    }
    let mut out = String::new();
    for metrics in all {
        write_heading(&mut out, form, &metrics.label);
        for line in remark_lines(metrics) {
            let _ = writeln!(out, "{}", escape_line(form, &line));
        }
        out.push('\n');
        write_table(&mut out, form, &rates_table(metrics));
        if metrics.by_trial.len() > 1 {
            write_table(&mut out, form, &trials_table(metrics));
        }
        if !metrics.by_round.is_empty() && metrics.reflections.is_some() {
            write_table(&mut out, form, &rounds_table(metrics));
        }
        write_table(&mut out, form, &aggregates_table(metrics));
        if metrics.reflections.is_some() {
            write_table(&mut out, form, &reflections_table(metrics));
        }
        if paper {
            write_published(&mut out, form, metrics);
        }
    }
    for (first, second, found) in improvements(all) {
        let _ = match found {
            Some(i) => writeln!(
                out,
                "Probability that {} improves over {}: {} over {} tasks",
                escape_line(form, &first.label),
                escape_line(form, &second.label),
                format_interval(&i.probability),
                i.tasks
            ),
            None => writeln!(
                out,
                "{} and {} have no task in common.",
                escape_line(form, &first.label),
                escape_line(form, &second.label)
            ),
        };
    }
    out
}

/// Compares the first configuration with each of the others.
fn improvements(all: &[Metrics]) -> Vec<(&Metrics, &Metrics, Option<Improvement>)> {
    let Some((first, rest)) = all.split_first() else { return Vec::new() };
    rest.iter().map(|other| (other, first, improvement(&other.attempts, &first.attempts))).collect()
}

fn json_document(all: &[Metrics], paper: bool) -> Value {
    let ways: Vec<Value> = all
        .iter()
        .map(|metrics| {
            let mut value = serde_json::to_value(metrics).unwrap_or_default();
            if paper && let Some(fields) = value.as_object_mut() {
                let (found, why) = match compare_with_papers(metrics) {
                    Ok(found) => (found, Vec::new()),
                    Err(why) => (Vec::new(), why),
                };
                fields.insert("against_paper".to_owned(), json!({"figures": found, "nothing_because": why}));
            }
            value
        })
        .collect();
    let improvements: Vec<Value> = improvements(all)
        .into_iter()
        .map(|(better, other, found)| json!({"of": better.label, "over": other.label, "improvement": found}))
        .collect();
    json!({"ways": ways, "improvements": improvements})
}

fn remark_lines(metrics: &Metrics) -> Vec<String> {
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
        lines.push(format!("{} still in progress: counted as far as played.", metrics.open_sessions));
    }
    if metrics.assisted > 0 {
        lines.push(format!("Assisted tasks, excluded from rates: {}.", metrics.assisted));
    }
    if !metrics.counted.is_empty() {
        let cost = metrics.counted.format_cost().map_or_else(String::new, |cost| format!("; cost {cost}"));
        lines.push(format!("Tokens: {}{cost}.", metrics.counted.describe()));
    }
    if let Some(words) = metrics.prefetch.describe() {
        lines.push(format!("Prefetched: {words}; unused requests are in no other count."));
    }
    if metrics.calibration > 0 {
        lines.push(format!("Calibration episodes, excluded from rates: {}.", metrics.calibration));
    }
    lines
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

fn trials_table(metrics: &Metrics) -> Table {
    let rows = metrics.by_trial.iter().map(|t| {
        let share = 100.0 * t.solved_so_far as f64 / metrics.all.tasks.max(1) as f64;
        vec![t.trial.to_string(), t.played.to_string(), t.solved.to_string(), format!("{share:.1}")]
    });
    Table { head: vec!["trial", "tasks played", "newly solved", "solved so far %"], rows: rows.collect() }
}

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
        let v = r.revision;
        vec![
            vec!["reflections".to_owned(), r.count.to_string(), String::new()],
            vec![
                "words, mean".to_owned(),
                format!("{:.1}", r.words),
                format!("deviation {:.1}", r.deviation),
            ],
            vec![
                "recall of experience".to_owned(),
                format_number(r.recall.map(|x| x * 100.0), 1),
                format!("{} of {} correct actions", v.retained, v.correct),
            ],
            vec![
                "precision of correction".to_owned(),
                format_number(r.precision.map(|x| x * 100.0), 1),
                format!("{} of {} erroneous actions", v.corrected, v.erroneous),
            ],
        ]
    });
    Table { head: vec!["reflections", "value", "of"], rows }
}

fn write_published(out: &mut String, form: Format, metrics: &Metrics) {
    match compare_with_papers(metrics) {
        Err(why) => {
            let _ = writeln!(out, "No published figures to compare with:");
            for reason in why {
                let _ = writeln!(out, "- {}", escape_line(form, &reason));
            }
            out.push('\n');
        }
        Ok(found) => {
            if metrics.has_stand_in_actor || metrics.has_stand_in_mentor {
                let _ = writeln!(out, "The published figures are from models, ours from stand-ins.");
            }
            let row = |c: &PaperComparison| {
                let of = c.published_tasks.map_or_else(|| "?".to_owned(), |n| n.to_string());
                let (n, what) = c.sample;
                let what = if what == "tasks" { String::new() } else { format!(" {what}") };
                vec![
                    format!("{}: {}", c.source, c.row),
                    c.model.clone(),
                    if c.task_type == "all" {
                        c.measure.clone()
                    } else {
                        format!("{} {}", c.measure, c.task_type)
                    },
                    format!("{} (n {of})", c.published),
                    format!("{:.1} ({:.1}-{:.1}) (n {n}{what})", c.ours.value, c.ours.low, c.ours.high),
                    c.note.clone().unwrap_or_default(),
                ]
            };
            let head = vec!["source", "their model", "measure", "published", "ours (95 %)", "note"];
            write_table(out, form, &Table { head, rows: found.iter().map(row).collect() });
        }
    }
}

/// Formats a text as a single line.
fn escape_line(form: Format, text: &str) -> String {
    if form == Format::Markdown { escape_markdown(text) } else { one_line(text).into_owned() }
}

fn write_heading(out: &mut String, form: Format, text: &str) {
    let text = escape_line(form, text);
    let _ = if form == Format::Markdown { writeln!(out, "## {text}\n") } else { writeln!(out, "{text}") };
}

fn write_table(out: &mut String, form: Format, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    let head: Vec<String> = table.head.iter().map(|h| (*h).to_owned()).collect();
    if form == Format::Markdown {
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
        let mut wide: Vec<usize> = head.iter().map(|h| width(h)).collect();
        for row in &rows {
            for (wide, cell) in wide.iter_mut().zip(row) {
                *wide = (*wide).max(width(cell));
            }
        }
        for row in std::iter::once(&head).chain(&rows) {
            let cells = row
                .iter()
                .zip(&wide)
                .map(|(cell, wide)| format!("{cell}{}", " ".repeat(wide.saturating_sub(width(cell)))));
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
