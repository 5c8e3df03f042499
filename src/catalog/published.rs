//! The tables of the papers, as the entries of their methods bring them along: the settings behind each row, which are
//! presets (`run --preset NAME`), and its figures, with which `report --against paper` compares.

use super::method_entry::MethodEntry;
use super::methods::METHODS;
use crate::domain::Interface;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

/// One figure: environment, measure, type of task (`all`), model, value (shares in per cent).
pub type PublishedFigure = (String, String, String, String, f64);

/// What holds for all rows of a paper.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    pub title: String,
    /// The number of tasks that it evaluates on, by environment.
    pub tasks: BTreeMap<String, usize>,
    /// How many tasks of each type of its figures it evaluates on, if these are not tasks of a list that is known: the number that
    /// its figures imply, and others that it states. Runs with any of them are as faithful.
    #[serde(default)]
    pub tasks_per_type: Vec<usize>,
    /// Its split of the tasks, if it names one.
    pub split: Option<String>,
    /// The interface of its agents, by environment; not given if unknown.
    #[serde(default)]
    pub interfaces: BTreeMap<String, Interface>,
    /// The step limit of its public code, where that differs from the tables'.
    pub code_steps: Option<u32>,
    /// The sampling parameters of all its requests, by name.
    #[serde(default)]
    pub sampling: BTreeMap<String, Value>,
    /// Settings of all its rows in an environment, by its name.
    #[serde(default)]
    pub environments: BTreeMap<String, BTreeMap<String, Value>>,
    /// The values that it states for settings whose default here is another one, by name; the first is the one that it used, others
    /// are as faithful. A preset doesn't set them unless its row does, because a machine may not have what they need.
    #[serde(default)]
    pub stated: BTreeMap<String, Vec<Value>>,
    /// What isn't known of its runs in an environment, by its name. Said beside the figures, which it doesn't keep from being compared.
    #[serde(default)]
    pub notes: BTreeMap<String, String>,
    /// What isn't known of its rows with several trials; said like these.
    pub trials_note: Option<String>,
    /// The paper truncates figures instead of rounding them.
    #[serde(default, rename = "cuts")]
    pub truncates_figures: bool,
    /// Its shares are printed with two digits.
    #[serde(default)]
    pub whole_per_cents: bool,
}

/// One row of a paper's table: its settings and its figures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperRow {
    #[serde(skip)]
    pub paper: Arc<Paper>,
    /// Name for `run --preset`.
    pub preset: String,
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
    #[serde(default, rename = "pool")]
    pub starts_with_lessons: bool,
    /// The model that wrote the constitution, as the paper names it; `None` if the row has none or the run's own mentor
    /// writes it.
    pub advisor: Option<String>,
    /// The settings of the calibration that writes the constitution, by name.
    #[serde(default)]
    pub calibration: BTreeMap<String, Value>,
    /// Why no run can be compared with this row, if there is such a reason.
    pub caveat: Option<String>,
    /// What isn't known of the row, or can't be here as it was there. Said beside the figures, which it doesn't keep from being
    /// compared.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The settings that define the row, by name.
    #[serde(default, rename = "set")]
    pub settings: BTreeMap<String, Value>,
    /// The configuration keys of environments that define the row ([`EnvironmentOption`](crate::env::EnvironmentOption)), by name.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    #[serde(rename = "cells")]
    pub figures: Vec<PublishedFigure>,
}

/// A file of published tables: a paper, and the rows of its tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedTables {
    paper: Paper,
    #[serde(rename = "row")]
    rows: Vec<PaperRow>,
}

/// Returns the rows of all papers, in the order of the methods' entries.
pub fn published_results() -> &'static [PaperRow] {
    // `extend` has checked the tables of an extension, and a test those of the program.
    static ROWS: LazyLock<Vec<PaperRow>> =
        LazyLock::new(|| METHODS.iter().filter_map(|entry| parse_published(entry).ok()).flatten().collect());
    &ROWS
}

/// Returns the rows of the tables that an entry has.
///
/// # Errors
/// Returns a message with the place of what can't be read.
pub(super) fn parse_published(entry: &MethodEntry) -> Result<Vec<PaperRow>, String> {
    let mut rows = Vec::new();
    for text in entry.published {
        let tables: PublishedTables = toml::from_str(text).map_err(|why| why.to_string())?;
        let paper = Arc::new(tables.paper);
        rows.extend(tables.rows.into_iter().map(|row| PaperRow { paper: paper.clone(), ..row }));
    }
    Ok(rows)
}

impl PaperRow {
    /// Returns paper and table as a citation.
    pub fn source(&self) -> String {
        format!("{}, {}", self.paper.title, self.table)
    }

    /// Returns the number of tasks behind a figure, or `None` if it is unknown (some papers don't state the number per
    /// type).
    pub fn task_count(&self, figure: &PublishedFigure) -> Option<usize> {
        (figure.2 == "all" && figure.1 == "success")
            .then(|| self.paper.tasks.get(&figure.0).copied())
            .flatten()
    }

    /// Returns whether a figure is possible for the paper's number of tasks (k / total for a whole k), or `None` if
    /// that number is unknown.
    pub fn is_possible_figure(&self, figure: &PublishedFigure) -> Option<bool> {
        let total = self.task_count(figure)?;
        Some(if self.paper.whole_per_cents {
            (0..=total).any(|solved| (100.0 * solved as f64 / total as f64 - figure.4).abs() <= 0.5)
        } else {
            is_possible_share(figure.4, total, self.paper.truncates_figures)
        })
    }

    /// Returns the paper's sampling parameters, by name.
    pub fn sampling(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.paper.sampling.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the sampling parameters that requests usually contain and that the paper doesn't state. The row leaves them
    /// to the server.
    pub fn unstated_sampling(&self) -> impl Iterator<Item = &'static str> {
        ["top_p"].into_iter().filter(|name| !self.paper.sampling.contains_key(*name))
    }

    /// Returns the settings that define the row in an environment, by name.
    pub fn settings_in(&self, env: &str) -> BTreeMap<&str, &Value> {
        let all = self.paper.environments.get(env).into_iter().flatten().chain(&self.settings);
        all.map(|(name, value)| (name.as_str(), value)).collect()
    }

    /// Returns the values that the paper states for a setting, apart from its rows.
    pub fn stated_values(&self, name: &str) -> &[Value] {
        self.paper.stated.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the interface of the paper's agents in an environment, or `None` if it is unknown.
    pub fn interface_in(&self, env: &str) -> Option<Interface> {
        self.paper.interfaces.get(env).copied()
    }

    /// Returns what is said beside the row's figures in an environment.
    pub fn notes_in(&self, env: &str) -> Vec<String> {
        let of_trials = self.paper.trials_note.as_ref().filter(|_| self.trials > 1);
        self.paper.notes.get(env).into_iter().chain(of_trials).chain(&self.notes).cloned().collect()
    }

    /// Returns the types of tasks that have figures of their own in an environment.
    pub fn task_types_in(&self, env: &str) -> BTreeSet<&str> {
        let figures = self.figures.iter().filter(|figure| figure.0 == env && figure.2 != "all");
        figures.map(|figure| figure.2.as_str()).collect()
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
