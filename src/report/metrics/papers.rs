//! Which of the papers' published figures a run can be compared with, and both side by side.

mod differences;

use super::aggregate::mean_score;
use super::{Interval, Metrics};
use crate::catalog::{PaperRow, PublishedFigure, published_results};
use crate::domain::PRESET_SETTING;
use serde::Serialize;
use serde_json::Value;

/// A published figure beside ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PaperComparison {
    /// Paper and table.
    pub source: String,
    /// The paper's name for the row.
    pub row: String,
    /// `success`, `score`, `words`, `words_deviation`, `recall` or `precision`; shares and scores in per cent.
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

/// A row of a paper's table beside a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct RowComparison {
    /// Paper and table.
    pub source: String,
    /// The paper's name for the row.
    pub row: String,
    /// The row's figures beside ours; empty if the configuration isn't comparable.
    pub figures: Vec<PaperComparison>,
    /// What differs; empty if the configuration is comparable.
    pub differences: Vec<String>,
    /// What isn't known of the paper's runs, or can't be here as it was there.
    pub notes: Vec<String>,
}

/// Returns every row about a configuration's method and environment, that of its own preset first: its figures beside ours where everything agrees, and
/// otherwise what differs.
///
/// # Errors
/// Returns why there is no such row.
pub fn compare_with_papers(metrics: &Metrics) -> Result<Vec<RowComparison>, String> {
    let Some(spec) = metrics.spec.as_deref() else { return Err("the session has no run".to_owned()) };
    let mut envs: Vec<&str> = metrics.attempts.iter().map(|a| a.task.env.as_str()).collect();
    envs.sort_unstable();
    envs.dedup();
    let env = match envs.as_slice() {
        [one] => *one,
        [] => return Err("no task has ended without a person's intervention".to_owned()),
        _ => return Err("the tasks are from several environments".to_owned()),
    };
    let env_rows: Vec<&PaperRow> =
        published_results().iter().filter(|r| r.figures.iter().any(|c| c.0 == env)).collect();
    if env_rows.is_empty() {
        return Err(format!("no paper has a table for {env}"));
    }
    let mut method_rows: Vec<&PaperRow> = env_rows.into_iter().filter(|r| r.method == spec.method).collect();
    if method_rows.is_empty() {
        return Err(format!("no paper has a table for {} on {env}", spec.method));
    }
    let preset = spec.settings.value(PRESET_SETTING).and_then(Value::as_str);
    method_rows.sort_by_key(|row| preset != Some(row.preset.as_str()));
    let compare = |row: &PaperRow| {
        let differences = row.differences(metrics, spec, env);
        let figures = row.figures.iter().filter(|figure| figure.0 == env && differences.is_empty());
        let figures = figures.filter_map(|figure| compare_figure(row, figure, metrics)).collect();
        let notes = row.notes_in(env);
        RowComparison { source: row.source(), row: row.label.clone(), figures, differences, notes }
    };
    Ok(method_rows.into_iter().map(compare).collect())
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
        "score" => {
            let only_type = (task_type != "all").then_some(task_type.as_str());
            let (score, tasks) = mean_score(&metrics.attempts, only_type)?;
            (per_cent(score), (tasks, "tasks"))
        }
        "words" => (reflections?.words_interval, (reflection_count(), "reflections")),
        "words_deviation" => (reflections?.deviation_interval, (reflection_count(), "reflections")),
        "recall" => {
            let r = reflections?.plan;
            (per_cent(super::wilson(r.retained, r.correct)?), (r.correct, "actions"))
        }
        "precision" => {
            let r = reflections?.plan;
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
        None if measure == "score" && task_type == "all" => {
            Some("both are means over the types of tasks".to_owned())
        }
        None if measure == "score" => None,
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
