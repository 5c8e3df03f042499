//! The figures published in the papers, and which of them a run can be compared with.

use super::{Interval, Metrics};
use crate::catalog::{self, CALIBRATION_METHOD, ModelNeed, find_environment, find_method};
use crate::domain::common_settings::{
    ASK_AGAIN, COMMON_SETTINGS, CONTEXT_TOKENS, LEAST_REPLY, MENTOR_AT_ONCE, WARMER,
};
use crate::domain::{RunSpec, Task, pluralize};
use crate::method::PaperOrCode;
use crate::method::omnireflect::settings::PER_TYPE;
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

    /// Returns the settings that define the row in an environment, by name.
    pub fn settings_in(&self, env: &str) -> BTreeMap<&str, &Value> {
        let of_paper = PAPERS.papers.get(&self.paper).and_then(|paper| paper.environments.get(env));
        let all = of_paper.into_iter().flatten().chain(&self.settings);
        all.map(|(name, value)| (name.as_str(), value)).collect()
    }

    /// Returns the environments that the row's figures are about.
    pub fn environments(&self) -> BTreeSet<&str> {
        self.figures.iter().map(|figure| figure.0.as_str()).collect()
    }

    /// Returns whether a mentor is the model that wrote the row's constitution in the paper, or the row names none. The
    /// names of models differ between servers, so the paper's only has to occur in the mentor's.
    pub fn is_advisor(&self, mentor: &str) -> bool {
        let mentor = mentor.to_lowercase();
        self.advisor.as_ref().is_none_or(|advisor| mentor.contains(&advisor.to_lowercase()))
    }

    fn split(&self) -> Option<&'static str> {
        PAPERS.papers.get(&self.paper)?.split.as_deref()
    }

    /// Returns why a run with this specification doesn't correspond to this row; empty if it does.
    fn differences(&self, metrics: &Metrics, spec: &RunSpec, env: &str) -> Vec<String> {
        let mut reasons = role_differences(spec);
        reasons.extend(self.task_differences(metrics, env));
        if spec.trials != self.trials {
            reasons.push(format!("trials {} in the paper, {} here", self.trials, spec.trials));
        }
        // The public code of Reflexion and FCRF runs 49 steps where the papers say 50.
        if spec.limits.steps != self.steps && spec.limits.steps + 1 != self.steps {
            reasons.push(format!("steps {} in the paper, {} here", self.steps, spec.limits.steps));
        }
        reasons.extend(self.lesson_difference(metrics, spec));
        reasons.extend(self.setting_differences(spec, env));
        reasons.extend(self.caveat.clone());
        reasons
    }

    /// Compares the tasks with those of the paper: the same split, and all of it.
    fn task_differences(&self, metrics: &Metrics, env: &str) -> Vec<String> {
        let mut reasons = Vec::new();
        let tasks: BTreeMap<String, &Task> =
            metrics.attempts.iter().map(|a| (a.task.key(), &a.task)).collect();
        let facts = find_environment(env).map(|entry| &entry.task_facts);
        let split = self.split();
        let outside = match (facts.and_then(|facts| facts.is_published), split) {
            (Some(is_published), _) => tasks.values().filter(|task| !is_published(task)).count(),
            (None, Some(split)) if facts.is_some_and(|facts| facts.split_in_id) => {
                tasks.values().filter(|task| !is_in_split(&task.id, split)).count()
            }
            _ => 0,
        };
        let published = PAPERS.papers.get(&self.paper).and_then(|paper| paper.tasks.get(env)).copied();
        if outside > 0 {
            let name = split
                .filter(|_| facts.is_some_and(|facts| facts.split_in_id))
                .map_or_else(|| "the tasks of the benchmark".to_owned(), |split| format!("tasks of {split}"));
            reasons.push(format!("{name} in the paper, {outside} of {} tasks here are others", tasks.len()));
        } else if let Some(total) = published.filter(|total| *total != tasks.len()) {
            reasons.push(format!("{total} tasks in the paper, {} here", tasks.len()));
        }
        reasons
    }

    /// Compares the lessons at the start: none, or a constitution from one calibration task of each type.
    fn lesson_difference(&self, metrics: &Metrics, spec: &RunSpec) -> Option<String> {
        let calibrates = !spec.calibration_tasks().is_empty();
        let here = match (metrics.started_with_lessons, calibrates) {
            (true, _) => "lessons from a file",
            (false, true) => "a constitution from this run's calibration",
            (false, false) => "no lessons",
        };
        if self.starts_with_lessons {
            let per_type = self.calibration.get(PER_TYPE.spec.name).and_then(Value::as_u64).unwrap_or(1);
            let is_same =
                calibrates && !metrics.started_with_lessons && spec.settings.get(PER_TYPE) == per_type;
            if !is_same {
                return Some(format!(
                    "a constitution from {} of each type in the paper, {here} here (`--calibrate` makes one, with \
                     per_type {per_type})",
                    pluralize(per_type, "calibration task")
                ));
            }
            let advisor = self.advisor.as_ref().filter(|_| !self.is_advisor(&spec.mentor));
            return advisor.map(|advisor| {
                let mentor = spec.mentor.strip_prefix("openai:").unwrap_or(&spec.mentor);
                format!("a constitution by {advisor} in the paper, by {mentor} here")
            });
        }
        (calibrates || metrics.started_with_lessons)
            .then(|| format!("no lessons at the start in the paper, {here} here"))
    }

    /// Returns the settings of a calibration in which the rows with a constitution differ, except the number of tasks, which
    /// [`Self::lesson_difference`] compares.
    fn calibration_settings(&self) -> impl Iterator<Item = &str> {
        let rows = published_results().iter().filter(|_| self.starts_with_lessons);
        let names = rows.flat_map(|row| row.calibration.keys()).map(String::as_str);
        names.filter(|name| *name != PER_TYPE.spec.name)
    }

    /// Compares every setting that has an influence on the result: with the row's value, or else with the method's default, be
    /// it the paper's or the public code's.
    fn setting_differences(&self, spec: &RunSpec, env: &str) -> Vec<String> {
        let (mut reasons, settings) = (Vec::new(), self.settings_in(env));
        let defaults =
            [PaperOrCode::Paper, PaperOrCode::Code].map(|source| catalog::defaults(&self.method, source).1);
        let calibration = catalog::defaults(CALIBRATION_METHOD.name, PaperOrCode::Paper).1;
        let own = find_method(&self.method).map_or(&[][..], |entry| entry.settings);
        let shared = COMMON_SETTINGS.iter().filter(|setting| !WITHOUT_INFLUENCE.contains(&setting.name));
        let names: BTreeSet<&str> = own
            .iter()
            .chain(shared)
            .map(|setting| setting.name)
            .chain(settings.keys().copied())
            .chain(self.calibration_settings())
            .collect();
        for name in names {
            let here = spec.settings.0.get(name).map(|setting| &setting.value);
            let in_paper = match (settings.get(name).copied().or_else(|| self.calibration.get(name)), here) {
                (Some(value), _) => Some(value),
                // A session of an earlier version doesn't have a newer setting.
                (None, None) => None,
                (None, Some(here)) => {
                    let mut known: Vec<&Value> = defaults
                        .iter()
                        .filter_map(|settings| settings.0.get(name))
                        .map(|s| &s.value)
                        .collect();
                    if known.is_empty() {
                        known.extend(calibration.0.get(name).map(|setting| &setting.value));
                    }
                    known.first().filter(|_| !known.contains(&here)).copied()
                }
            };
            if let Some(value) = in_paper.filter(|value| here != Some(*value)) {
                let here = here.map_or_else(|| "not set".to_owned(), ToString::to_string);
                reasons.push(format!("{name} {value} in the paper, {here} here").replace('"', ""));
            }
        }
        reasons
    }
}

/// Settings that change how a run is carried out, but not what is measured.
const WITHOUT_INFLUENCE: &[&str] = &[
    CONTEXT_TOKENS.spec.name,
    MENTOR_AT_ONCE.spec.name,
    ASK_AGAIN.spec.name,
    LEAST_REPLY.spec.name,
    WARMER.spec.name,
];

/// In the papers, actor and mentor are language models; what stands in for one isn't comparable.
fn role_differences(spec: &RunSpec) -> Vec<String> {
    let mut reasons = Vec::new();
    if !is_called_model(&spec.actor) {
        reasons.push(format!("a language model acts in the paper, {} here", describe_role(&spec.actor)));
    }
    let needs_mentor = match find_method(&spec.method).map(|entry| entry.model_need) {
        Some(ModelNeed::Always) => true,
        Some(ModelNeed::If(reason)) => reason(&spec.settings).is_some(),
        _ => false,
    };
    if needs_mentor && !is_called_model(&spec.mentor) {
        reasons.push(format!("a language model reflects in the paper, {} here", describe_role(&spec.mentor)));
    }
    reasons
}

/// Returns whether a model was called. Replies of a recording may be anybody's.
fn is_called_model(name: &str) -> bool {
    name.starts_with("openai:")
}

/// Names who acts or reflects without being a model.
fn describe_role(name: &str) -> String {
    match name {
        _ if name.starts_with("recorded:") => "a recording".to_owned(),
        "rules" => "the built-in rules".to_owned(),
        "human" => "a person".to_owned(),
        "symbolic" => "the symbolic rules".to_owned(),
        "none" => "nobody".to_owned(),
        other => other.to_owned(),
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

/// Returns every row about a configuration's method and environment: its figures beside ours where everything agrees, and
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
    let method_rows: Vec<&PaperRow> = env_rows.into_iter().filter(|r| r.method == spec.method).collect();
    if method_rows.is_empty() {
        return Err(format!("no paper has a table for {} on {env}", spec.method));
    }
    let compare = |row: &PaperRow| {
        let differences = row.differences(metrics, spec, env);
        let figures = row.figures.iter().filter(|figure| figure.0 == env && differences.is_empty());
        let figures = figures.filter_map(|figure| compare_figure(row, figure, metrics)).collect();
        RowComparison { source: row.source(), row: row.label.clone(), figures, differences }
    };
    Ok(method_rows.into_iter().map(compare).collect())
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
