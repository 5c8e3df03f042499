//! The figures published in the papers, and which of them a run can be compared with.

use super::{Interval, Metrics};
use crate::catalog::find_environment;
use crate::domain::RunSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// One figure: environment, measure, type of task (`all`), model, value (shares in per cent).
pub type PublishedFigure = (String, String, String, String, f64);

/// One row of a paper's table: its settings and its figures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PaperRow {
    /// Name for `run --preset`.
    pub preset: String,
    /// The paper, by its key in the table of papers.
    pub paper: String,
    /// The table or section that contains the row.
    pub table: String,
    /// The paper's name for the row.
    pub label: String,
    pub method: String,
    /// Trials per task.
    pub trials: u32,
    /// Maximum steps per episode.
    pub steps: u32,
    /// The run starts with existing lessons.
    #[serde(default)]
    #[serde(rename = "pool")]
    pub starts_with_lessons: bool,
    /// Why no run can be compared with this row, if there is such a reason.
    #[serde(default)]
    pub caveat: Option<String>,
    /// The settings that define the row, by name.
    #[serde(default)]
    #[serde(rename = "set")]
    pub settings: BTreeMap<String, Value>,
    #[serde(rename = "cells")]
    pub figures: Vec<PublishedFigure>,
}

#[derive(Deserialize)]
struct Paper {
    title: String,
    tasks: BTreeMap<String, usize>,
    split: Option<String>,
    /// The paper truncates figures instead of rounding them.
    #[serde(default)]
    #[serde(rename = "cuts")]
    truncates_figures: bool,
}

#[derive(Deserialize, Default)]
struct Papers {
    #[serde(rename = "paper")]
    papers: BTreeMap<String, Paper>,
    #[serde(rename = "row")]
    rows: Vec<PaperRow>,
}

// The file is part of the program; a test reads it and counts its rows, so an unreadable one is never shipped.
static PAPERS: LazyLock<Papers> =
    LazyLock::new(|| toml::from_str(include_str!("papers.toml")).unwrap_or_default());

/// Returns every row, in the order of the file.
pub fn published_results() -> &'static [PaperRow] {
    &PAPERS.rows
}

impl PaperRow {
    /// Returns paper and table as a citation.
    pub fn source(&self) -> String {
        let title = PAPERS.papers.get(&self.paper).map_or(self.paper.as_str(), |p| p.title.as_str());
        format!("{title}, {}", self.table)
    }

    /// Returns the number of tasks behind a figure, or `None` if it is unknown (some papers don't state the number per
    /// type).
    pub fn task_count(&self, figure: &PublishedFigure) -> Option<usize> {
        let paper = PAPERS.papers.get(&self.paper)?;
        (figure.2 == "all" && figure.1 == "success").then(|| paper.tasks.get(&figure.0).copied()).flatten()
    }

    /// Returns whether a figure is possible for the paper's number of tasks (k / total for a whole k), or `None` if
    /// that number is unknown.
    pub fn is_possible_figure(&self, figure: &PublishedFigure) -> Option<bool> {
        let truncates = PAPERS.papers.get(&self.paper).is_some_and(|p| p.truncates_figures);
        self.task_count(figure).map(|total| is_possible_share(figure.4, total, truncates))
    }

    fn split(&self) -> Option<&'static str> {
        PAPERS.papers.get(&self.paper)?.split.as_deref()
    }

    /// Returns why a run with this specification doesn't correspond to this row; empty if it does.
    fn differences(&self, metrics: &Metrics, spec: &RunSpec) -> Vec<String> {
        let mut reasons = Vec::new();
        if spec.trials != self.trials {
            reasons.push(format!("trials {} in the paper, {} here", self.trials, spec.trials));
        }
        // The public code of Reflexion and FCRF runs 49 steps where the papers say 50.
        if spec.limits.steps != self.steps && spec.limits.steps + 1 != self.steps {
            reasons.push(format!("steps {} in the paper, {} here", self.steps, spec.limits.steps));
        }
        if self.starts_with_lessons != metrics.started_with_lessons {
            let describe =
                |has_lessons: bool| if has_lessons { "lessons beforehand" } else { "no lessons beforehand" };
            reasons.push(format!(
                "{} in the paper, {} here",
                describe(self.starts_with_lessons),
                describe(metrics.started_with_lessons)
            ));
        }
        for (name, value) in &self.settings {
            let here = spec.settings.0.get(name).map(|s| &s.value);
            if here != Some(value) {
                let here = here.map_or_else(|| "not set".to_owned(), ToString::to_string);
                reasons.push(format!("{name} {value} in the paper, {here} here").replace('"', ""));
            }
        }
        reasons.extend(self.caveat.clone());
        reasons
    }
}

/// Returns whether `value`, a share in per cent with at least one decimal, equals k / `total` for some whole k. Some
/// published figures don't. Most papers round; FCRF truncates.
pub fn is_possible_share(value: f64, total: usize, truncates: bool) -> bool {
    (0..=total).any(|k| {
        let exact = 100.0 * k as f64 / total as f64;
        (exact - value).abs() <= 0.051 || (truncates && exact >= value && exact - value < 0.1)
    })
}

/// A published figure beside ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PaperComparison {
    /// Paper and table.
    pub source: String,
    /// The paper's name for the row.
    pub row: String,
    /// `success`, `words`, `words_deviation`, `recall` or `precision`; shares in per cent.
    pub measure: String,
    /// The type of task, or `all`.
    #[serde(rename = "kind")]
    pub task_type: String,
    /// The model used in the paper.
    pub model: String,
    /// The published figure.
    pub published: f64,
    /// The number of tasks behind it, if known.
    pub published_tasks: Option<usize>,
    /// Our figure.
    pub ours: Interval,
    /// The number of tasks behind ours.
    pub tasks: usize,
    /// The sample behind ours: tasks, reflections, or actions of failed attempts.
    #[serde(rename = "over")]
    pub sample: (usize, &'static str),
    /// A caveat about the published figure.
    pub note: Option<String>,
}

/// Returns the published figures that a configuration can be compared with.
///
/// # Errors
/// Returns the reasons if no table matches: which environment, split, method or settings differ.
pub fn compare_with_papers(metrics: &Metrics) -> Result<Vec<PaperComparison>, Vec<String>> {
    let Some(spec) = metrics.spec.as_deref() else { return Err(vec!["the session has no run".to_owned()]) };
    let mut envs: Vec<&str> = metrics.attempts.iter().map(|a| a.task.env.as_str()).collect();
    envs.sort_unstable();
    envs.dedup();
    let env = match envs.as_slice() {
        [one] => *one,
        [] => return Err(vec!["no task has ended without a person's intervention".to_owned()]),
        _ => return Err(vec!["the tasks are from several environments".to_owned()]),
    };
    let env_rows: Vec<&PaperRow> =
        published_results().iter().filter(|r| r.figures.iter().any(|c| c.0 == env)).collect();
    if env_rows.is_empty() {
        return Err(vec![format!("no paper has a table for {env}")]);
    }
    let method_rows: Vec<&PaperRow> = env_rows.into_iter().filter(|r| r.method == spec.method).collect();
    if method_rows.is_empty() {
        return Err(vec![format!("no paper has a table for {} on {env}", spec.method)]);
    }
    let split_in_id = find_environment(env).is_some_and(|entry| entry.task_facts.split_in_id);
    let mut reasons = Vec::new();
    let mut comparisons = Vec::new();
    for row in method_rows {
        let mut differences = row.differences(metrics, spec);
        if let Some(split) = row.split().filter(|_| split_in_id) {
            let outside = metrics.attempts.iter().filter(|a| !is_in_split(&a.task.id, split)).count();
            if outside > 0 {
                differences.push(format!(
                    "{split} in the paper, {outside} of {} tasks from another split here",
                    metrics.attempts.len()
                ));
            }
        }
        if differences.is_empty() {
            comparisons.extend(
                row.figures.iter().filter(|c| c.0 == env).filter_map(|c| compare_figure(row, c, metrics)),
            );
        } else {
            reasons.push(format!("{} ({}): {}", row.source(), row.label, differences.join("; ")));
        }
    }
    if comparisons.is_empty() { Err(reasons) } else { Ok(comparisons) }
}

/// Returns whether an id is in a split: it is a path that contains the split's folder, whatever precedes it.
fn is_in_split(id: &str, split: &str) -> bool {
    id.split(['/', '\\']).any(|part| part == split)
}

fn compare_figure(row: &PaperRow, figure: &PublishedFigure, metrics: &Metrics) -> Option<PaperComparison> {
    let (_, measure, task_type, model, published) = figure;
    let rates = if task_type == "all" { Some(&metrics.all) } else { metrics.by_type.get(task_type) }?;
    let per_cent =
        |i: Interval| Interval { value: i.value * 100.0, low: i.low * 100.0, high: i.high * 100.0 };
    let reflections = metrics.reflections.as_ref();
    let reflection_count = || reflections.map_or(0, |r| r.count);
    let (ours, sample) = match measure.as_str() {
        "success" => (per_cent(rates.success?), (rates.tasks, "tasks")),
        "words" => (reflections?.words_interval, (reflection_count(), "reflections")),
        "words_deviation" => (reflections?.deviation_interval, (reflection_count(), "reflections")),
        "recall" => {
            let r = reflections?.revision;
            (per_cent(super::wilson(r.retained, r.correct)?), (r.correct, "actions"))
        }
        "precision" => {
            let r = reflections?.revision;
            (per_cent(super::wilson(r.corrected, r.erroneous)?), (r.erroneous, "actions"))
        }
        _ => return None,
    };
    let published_tasks = row.task_count(figure);
    let note = match published_tasks {
        Some(total) if row.is_possible_figure(figure) == Some(false) => Some(format!(
            "not a share of {total} tasks: the number of tasks differs, or the paper has an error"
        )),
        None if measure == "success" => Some("the paper doesn't state the number of tasks".to_owned()),
        None if measure != "words" && measure != "words_deviation" => {
            Some("the paper doesn't say how actions were labelled; METRICS.md describes ours".to_owned())
        }
        _ => None,
    };
    Some(PaperComparison {
        source: row.source(),
        row: row.label.clone(),
        measure: measure.clone(),
        task_type: task_type.clone(),
        model: model.clone(),
        published: *published,
        published_tasks,
        ours,
        tasks: rates.tasks,
        sample,
        note,
    })
}
