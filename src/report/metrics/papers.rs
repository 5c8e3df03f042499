//! The figures of the papers, and which of them a run of ours may stand beside.

use super::{Interval, Metrics};
use crate::domain::RunSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// One figure: environment, measure, type of task (`all`), model, value (shares in per cent).
pub type Cell = (String, String, String, String, f64);

/// One row of a paper's table: the settings it was run with, and its figures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Row {
    /// Its name for `run --preset`.
    pub preset: String,
    /// The paper, by its key in the table of papers.
    pub paper: String,
    /// The table or section it stands in.
    pub table: String,
    /// What the paper calls it.
    pub label: String,
    /// The method.
    pub method: String,
    /// Trials a task gets.
    pub trials: u32,
    /// Steps of an episode.
    pub steps: u32,
    /// It begins with lessons that were made beforehand.
    #[serde(default)]
    pub pool: bool,
    /// What keeps it from being compared.
    #[serde(default)]
    pub caveat: Option<String>,
    /// The settings that make the row what it is, by name.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
    /// Its figures.
    pub cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Paper {
    title: String,
    tasks: BTreeMap<String, usize>,
    split: Option<String>,
    /// It cuts figures instead of rounding them.
    #[serde(default)]
    cuts: bool,
}

#[derive(Deserialize, Default)]
struct Papers {
    paper: BTreeMap<String, Paper>,
    row: Vec<Row>,
}

// The file is part of the program; a test reads it and counts its rows, so an unreadable one is never shipped.
static PAPERS: LazyLock<Papers> =
    LazyLock::new(|| toml::from_str(include_str!("papers.toml")).unwrap_or_default());

/// Every row, in the order of the file.
pub fn rows() -> &'static [Row] {
    &PAPERS.row
}

impl Row {
    /// Paper and table, as one names them.
    pub fn source(&self) -> String {
        let title = PAPERS.paper.get(&self.paper).map_or(self.paper.as_str(), |p| p.title.as_str());
        format!("{title}, {}", self.table)
    }

    /// How many tasks a figure is over; none where that is not known (the split of types is not printed everywhere).
    pub fn tasks(&self, cell: &Cell) -> Option<usize> {
        let paper = PAPERS.paper.get(&self.paper)?;
        (cell.2 == "all" && cell.1 == "success").then(|| paper.tasks.get(&cell.0).copied()).flatten()
    }

    /// Whether a figure is the share of a whole number of its paper's tasks; none where their number is not known.
    pub fn reproduces(&self, cell: &Cell) -> Option<bool> {
        let cuts = PAPERS.paper.get(&self.paper).is_some_and(|p| p.cuts);
        self.tasks(cell).map(|of| cell_reproduces(cell.4, of, cuts))
    }

    fn split(&self) -> Option<&'static str> {
        PAPERS.paper.get(&self.paper)?.split.as_deref()
    }

    /// Why a run in this way is none of this row, in words; empty where it is.
    fn differs(&self, metrics: &Metrics, spec: &RunSpec) -> Vec<String> {
        let mut why = Vec::new();
        if spec.trials != self.trials {
            why.push(format!("trials {} there, {} here", self.trials, spec.trials));
        }
        // The public code counts one step less for what its paper calls 50.
        if spec.limits.steps != self.steps && spec.limits.steps + 1 != self.steps {
            why.push(format!("steps {} there, {} here", self.steps, spec.limits.steps));
        }
        if self.pool != metrics.pool_given {
            let given =
                |given: bool| if given { "lessons given beforehand" } else { "no lessons beforehand" };
            why.push(format!("{} there, {} here", given(self.pool), given(metrics.pool_given)));
        }
        for (name, value) in &self.set {
            let here = spec.settings.0.get(name).map(|s| &s.value);
            if here != Some(value) {
                let here = here.map_or_else(|| "not set".to_owned(), ToString::to_string);
                why.push(format!("{name} {value} there, {here} here").replace('"', ""));
            }
        }
        why.extend(self.caveat.clone());
        why
    }
}

/// Whether a share in per cent, as printed with one decimal or more, is that of whole tasks out of `of`. Some of the
/// papers' cells are not. Most papers round; FCRF cuts (`cuts`).
pub fn cell_reproduces(value: f64, of: usize, cuts: bool) -> bool {
    (0..=of).any(|k| {
        let exact = 100.0 * k as f64 / of as f64;
        (exact - value).abs() <= 0.051 || (cuts && exact >= value && exact - value < 0.1)
    })
}

/// A published figure beside ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Paper and table.
    pub source: String,
    /// What the paper calls the row.
    pub row: String,
    /// success, words, `words_deviation`, recall, precision; shares in per cent.
    pub measure: String,
    /// The type of task, or `all`.
    pub kind: String,
    /// The model of the paper.
    pub model: String,
    /// The published figure.
    pub published: f64,
    /// The number of tasks behind it, where it is known.
    pub published_tasks: Option<usize>,
    /// Ours.
    pub ours: Interval,
    /// The number of tasks behind ours.
    pub tasks: usize,
    /// What ours is over: tasks, reflections, or actions of failed attempts.
    pub over: (usize, &'static str),
    /// What has to be known of the published figure.
    pub note: Option<String>,
}

/// Figures of the papers that a way of running may be held against, or why there are none.
///
/// # Errors
/// In words: what of environment, split, method or settings is in no table.
pub fn against(metrics: &Metrics) -> Result<Vec<Comparison>, Vec<String>> {
    let Some(spec) = metrics.spec.as_deref() else { return Err(vec!["the session has no run".to_owned()]) };
    let mut envs: Vec<&str> = metrics.attempts.iter().map(|a| a.task.env.as_str()).collect();
    envs.sort_unstable();
    envs.dedup();
    let env = match envs.as_slice() {
        [one] => *one,
        [] => return Err(vec!["no task has been played to its end without a person".to_owned()]),
        _ => return Err(vec!["the tasks are of several environments".to_owned()]),
    };
    let here: Vec<&Row> = rows().iter().filter(|r| r.cells.iter().any(|c| c.0 == env)).collect();
    if here.is_empty() {
        return Err(vec![format!("no table of the papers is about {env}: its tasks are ours")]);
    }
    let method: Vec<&Row> = here.into_iter().filter(|r| r.method == spec.method).collect();
    if method.is_empty() {
        return Err(vec![format!("no table has {} on {env}", spec.method)]);
    }
    let mut why = Vec::new();
    let mut found = Vec::new();
    for row in method {
        let mut differs = row.differs(metrics, spec);
        if let Some(split) = row.split().filter(|_| env == "alfworld") {
            let outside = metrics.attempts.iter().filter(|a| !in_split(&a.task.id, split)).count();
            if outside > 0 {
                differs.push(format!(
                    "{split} there, {outside} of {} tasks of another split here",
                    metrics.attempts.len()
                ));
            }
        }
        if differs.is_empty() {
            found.extend(row.cells.iter().filter(|c| c.0 == env).filter_map(|c| compare(row, c, metrics)));
        } else {
            why.push(format!("{} ({}): {}", row.source(), row.label, differs.join("; ")));
        }
    }
    if found.is_empty() { Err(why) } else { Ok(found) }
}

/// ALFWorld's ids are paths that begin with the split's folder, whatever stands above it.
fn in_split(id: &str, split: &str) -> bool {
    id.split(['/', '\\']).any(|part| part == split)
}

fn compare(row: &Row, cell: &Cell, metrics: &Metrics) -> Option<Comparison> {
    let (_, measure, kind, model, published) = cell;
    let rates = if kind == "all" { Some(&metrics.all) } else { metrics.by_type.get(kind) }?;
    let per_cent =
        |i: Interval| Interval { value: i.value * 100.0, low: i.low * 100.0, high: i.high * 100.0 };
    let reflected = metrics.reflections.as_ref();
    let written = || reflected.map_or(0, |r| r.count);
    let (ours, over) = match measure.as_str() {
        "success" => (per_cent(rates.success?), (rates.tasks, "tasks")),
        "words" => (reflected?.words_interval, (written(), "reflections")),
        "words_deviation" => (reflected?.deviation_interval, (written(), "reflections")),
        "recall" => {
            let r = reflected?.revision;
            (per_cent(super::wilson(r.retained, r.correct)?), (r.correct, "actions"))
        }
        "precision" => {
            let r = reflected?.revision;
            (per_cent(super::wilson(r.corrected, r.erroneous)?), (r.erroneous, "actions"))
        }
        _ => return None,
    };
    let published_tasks = row.tasks(cell);
    let note = match published_tasks {
        Some(of) if row.reproduces(cell) == Some(false) => {
            Some(format!("no whole number of {of} tasks rounds to it: another number of tasks, or an error"))
        }
        None if measure == "success" => Some("the paper does not say over how many tasks".to_owned()),
        None if measure != "words" && measure != "words_deviation" => {
            Some("the paper does not say how actions were labelled; ours is in METRICS.md".to_owned())
        }
        _ => None,
    };
    Some(Comparison {
        source: row.source(),
        row: row.label.clone(),
        measure: measure.clone(),
        kind: kind.clone(),
        model: model.clone(),
        published: *published,
        published_tasks,
        ours,
        tasks: rates.tasks,
        over,
        note,
    })
}
