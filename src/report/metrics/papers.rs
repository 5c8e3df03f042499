//! The figures published in the papers, and which of them a run can be compared with.

mod differences;

use super::{Interval, Metrics};
use crate::domain::{Interface, PRESET_SETTING};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
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
    /// The run starts with a constitution, learned from calibration tasks of each type (one, unless `calibration` says
    /// otherwise).
    #[serde(default)]
    #[serde(rename = "pool")]
    pub starts_with_lessons: bool,
    /// The model that wrote the constitution, as the paper names it; `None` if the row has none or the run's own mentor
    /// writes it.
    #[serde(default)]
    pub advisor: Option<String>,
    /// The settings of the calibration that writes the constitution, by name.
    #[serde(default)]
    pub calibration: BTreeMap<String, Value>,
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
    /// The interface of its agents, by environment; not given if unknown.
    #[serde(default)]
    interfaces: BTreeMap<String, Interface>,
    /// The step limit of its public code, where that differs from the tables'.
    #[serde(default)]
    code_steps: Option<u32>,
    /// The sampling parameters of all its requests, by name.
    #[serde(default)]
    sampling: BTreeMap<String, Value>,
    /// Settings of all its rows in an environment, by its name.
    #[serde(default)]
    environments: BTreeMap<String, BTreeMap<String, Value>>,
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

    /// Returns the paper's sampling parameters, by name.
    pub fn sampling(&self) -> impl Iterator<Item = (&'static str, &'static Value)> {
        let sampling = PAPERS.papers.get(&self.paper).map(|paper| &paper.sampling);
        sampling.into_iter().flatten().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the sampling parameters that requests usually contain and that the paper doesn't state. The row leaves them
    /// to the server.
    pub fn unstated_sampling(&self) -> impl Iterator<Item = &'static str> {
        let is_stated = |name: &str| self.sampling().any(|(stated, _)| stated == name);
        ["top_p"].into_iter().filter(move |name| !is_stated(name))
    }

    /// Returns the settings that define the row in an environment, by name.
    pub fn settings_in(&self, env: &str) -> BTreeMap<&str, &Value> {
        let of_paper = PAPERS.papers.get(&self.paper).and_then(|paper| paper.environments.get(env));
        let all = of_paper.into_iter().flatten().chain(&self.settings);
        all.map(|(name, value)| (name.as_str(), value)).collect()
    }

    /// Returns the interface of the paper's agents in an environment, or `None` if it is unknown.
    pub fn interface_in(&self, env: &str) -> Option<Interface> {
        PAPERS.papers.get(&self.paper)?.interfaces.get(env).copied()
    }

    /// Returns the environments that the row's figures are about.
    pub fn environments(&self) -> BTreeSet<&str> {
        self.figures.iter().map(|figure| figure.0.as_str()).collect()
    }

    /// Returns whether a mentor is the model that wrote the row's constitution in the paper, or the row names none. The
    /// names of models differ between servers, so the letters and digits of the paper's only have to occur in the mentor's.
    pub fn is_advisor(&self, mentor: &str) -> bool {
        let mentor = mentor.to_lowercase();
        self.advisor.as_ref().is_none_or(|advisor| {
            // `gpt-4o` is the paper's GPT-4; `gpt-4.1` and `gpt-4o-mini` are other models.
            after_name(&mentor, advisor).is_some_and(|rest| {
                let is_other_version = rest.starts_with(|c: char| c == '.' || c.is_ascii_digit());
                !is_other_version && !["mini", "nano", "lite"].iter().any(|size| rest.contains(size))
            })
        })
    }

    fn split(&self) -> Option<&'static str> {
        PAPERS.papers.get(&self.paper)?.split.as_deref()
    }
}

/// Returns the rest of a text in lower case after the first occurrence of a name, of which only letters and digits count:
/// `qwen3:4b` is `Qwen3-4B`. `None` if the name doesn't occur.
fn after_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let letters: Vec<(usize, char)> = text.char_indices().filter(|(_, c)| c.is_alphanumeric()).collect();
    let name: Vec<char> = name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    let found = letters.windows(name.len().max(1)).find(|window| window.iter().map(|(_, c)| c).eq(&name))?;
    let (start, last) = found.last()?;
    text.get(start + last.len_utf8()..)
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
        RowComparison { source: row.source(), row: row.label.clone(), figures, differences }
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
