//! The rows of the episode list, their order, and the summary.

use super::sort::Sort;
use crate::catalog::main_cause;
use crate::domain::{EpisodeRole, EpisodeSummary, TokenCounts};
use crate::engine::State;
use crate::report::TaskTotals;
use crate::report::metrics::wilson;
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;
use crate::ui::widget::window::Line;
use std::collections::{BTreeMap, HashMap};

/// The fewest tasks of which the list gives a rate.
const MIN_TASKS_OF_RATE: usize = 5;

/// Filter, grouping and order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ListOptions {
    /// Lists failed episodes only.
    pub(super) failed_only: bool,
    /// Groups failed episodes by cause.
    pub(super) by_cause: bool,
    pub(super) sort: Sort,
}

impl ListOptions {
    pub(super) fn title(self, state: &State, list: &EpisodeRows) -> String {
        let what = match (self.by_cause, self.failed_only) {
            (true, _) => format!("{} failed, by cause", list.episode_count()),
            (_, true) => format!("{} failed", list.episode_count()),
            _ => {
                let all = state.ended_episodes.len() + usize::from(state.open_episode().is_some());
                format!("{all} episode{}", if all == 1 { "" } else { "s" })
            }
        };
        format!("Run: {what}, {}", self.sort.label())
    }
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListRow {
    /// An ended episode, by its index.
    Episode(usize),
    /// A cause, and the number of episodes below it.
    Group(String, usize),
}

impl ListRow {
    /// Returns the episode's number. Returns `None` for a group.
    pub(super) fn number(&self, state: &State) -> Option<u32> {
        match self {
            Self::Episode(place) => state.ended_episodes.get(*place).map(|p| p.number),
            Self::Group(..) => None,
        }
    }
}

/// The rows, and totals over all ended episodes.
#[derive(Clone, Debug, Default)]
pub(super) struct EpisodeRows {
    pub(super) rows: Vec<ListRow>,
    /// Success and progress by task.
    by_task: TaskTotals,
    millis: u64,
    spent: TokenCounts,
    /// Maximum number of episodes that haven't begun.
    remaining: usize,
}

impl EpisodeRows {
    /// Builds the rows in one pass over all ended episodes.
    pub(super) fn build(state: &State, options: ListOptions) -> Self {
        let by_task = TaskTotals::from_episodes(state.ended_episodes.iter().map(AsRef::as_ref));
        let mut list = Self { remaining: remaining_episodes(state), by_task, ..Self::default() };
        let mut places: Vec<(usize, &EpisodeSummary)> = Vec::new();
        for (place, past) in state.ended_episodes.iter().enumerate() {
            list.millis = list.millis.saturating_add(past.stats.active_millis);
            list.spent = list.spent.plus(past.stats.token_counts);
            if !past.won || !(options.failed_only || options.by_cause) {
                places.push((place, past));
            }
        }
        sort_places(&mut places, options.sort);
        if options.by_cause {
            list.rows = group_by_cause(&places);
        } else {
            list.rows = places.into_iter().map(|p| ListRow::Episode(p.0)).collect();
        }
        list
    }

    pub(super) fn episode_count(&self) -> usize {
        self.rows.iter().filter(|r| matches!(r, ListRow::Episode(_))).count()
    }

    /// Returns one row with the success and progress so far and the work that is left.
    pub(super) fn summary_line(&self, state: &State, columns: u16, glyphs: &Glyphs) -> Line {
        let mut parts: Vec<(Role, String)> = Vec::new();
        let TaskTotals { tasks, solved, assisted, progress, has_several_trials: several } = self.by_task;
        if let Some(share) = wilson(solved, tasks) {
            let sure = match columns {
                76.. => format!(" ({:.0}-{:.0})", share.low * 100.0, share.high * 100.0),
                _ => String::new(),
            };
            // A rate of a few tasks says less than their number.
            let rate = match tasks {
                0..MIN_TASKS_OF_RATE => String::new(),
                _ => format!(" {:.1} %{sure}", share.value * 100.0),
            };
            // A task with several trials is solved if one of them is won.
            let (word, noun) = if several { ("solved", " tasks") } else { ("won", "") };
            parts.push((Role::Title, format!("{word} {solved} of {tasks}{noun}{rate}")));
            parts.push((Role::Text, format!("progress {:.2}", progress / tasks as f64)));
        }
        if assisted > 0 {
            parts.push((Role::Person, format!("{assisted} assisted")));
        }
        if let Some(cost) = self.spent.format_cost() {
            parts.push((Role::Muted, format!("{} tokens, cost {cost}", self.spent.tokens())));
        }
        if state.run_over {
            parts.push((Role::Muted, "ended".to_owned()));
        } else if self.remaining > 0 {
            parts.push((Role::Muted, self.remaining_text(state)));
        }
        if parts.is_empty() {
            parts.push((Role::Muted, "nothing to count yet".to_owned()));
        }
        let mut line: Line = Vec::new();
        for part in parts {
            if !line.is_empty() {
                line.push((Role::Muted, format!(" {} ", glyphs.separator)));
            }
            line.push(part);
        }
        line
    }

    /// Returns the number of episodes left and the estimated time, from the average of the ended episodes. With several
    /// trials a task the number is an upper bound.
    fn remaining_text(&self, state: &State) -> String {
        let several = state.run.as_ref().is_some_and(|r| r.trials > 1);
        let played = state.ended_episodes.len() as u64;
        let time = match self.millis.checked_div(played).filter(|each| *each > 0) {
            Some(each) => {
                format!(", about {}", duration_text(each.saturating_mul(self.remaining as u64) / 1000))
            }
            None => String::new(),
        };
        format!("{}{} left{time}", if several { "at most " } else { "" }, self.remaining)
    }
}

/// Formats an estimated time, coarsely rounded.
fn duration_text(seconds: u64) -> String {
    match seconds {
        0..=59 => format!("{} s", seconds.max(1)),
        60..=5399 => format!("{} min", (seconds + 30) / 60),
        5400..=172_799 => format!("{} h", (seconds + 1800) / 3600),
        _ => format!("{} days", (seconds + 43_200) / 86_400),
    }
}

/// Returns the maximum number of episodes that haven't begun: the open trials of each unsolved task.
fn remaining_episodes(state: &State) -> usize {
    let Some(run) = state.run.as_deref().filter(|_| !state.run_over) else { return 0 };
    let mut played: HashMap<String, (usize, bool)> = HashMap::new();
    for past in state.ended_episodes.iter().filter(|p| p.role == EpisodeRole::Test) {
        let entry = played.entry(past.task.key()).or_default();
        *entry = (entry.0 + 1, entry.1 || past.ends_task());
    }
    if let Some(open) = state.open_episode().filter(|open| open.role == EpisodeRole::Test) {
        played.entry(open.task.key()).or_default().0 += 1;
    }
    let mut due: HashMap<String, usize> = HashMap::new();
    for task in &run.tasks {
        *due.entry(task.key()).or_default() += run.trials.max(1) as usize;
    }
    due.into_iter()
        .map(|(key, due)| match played.get(&key) {
            Some((_, true)) if run.trials > 1 => 0,
            Some((times, _)) => due.saturating_sub(*times),
            None => due,
        })
        .sum()
}

/// Returns the sort key by outcome: lost episodes first, by their end word.
fn outcome_order(past: &EpisodeSummary) -> (bool, &'static str) {
    (past.won, super::row::end_word(past))
}

fn sort_places(places: &mut [(usize, &EpisodeSummary)], by: Sort) {
    // The sort is stable: equal episodes stay in the order played.
    match by {
        Sort::Number => {}
        Sort::Task => places.sort_by(|a, b| a.1.task.id.cmp(&b.1.task.id)),
        Sort::TaskType => places.sort_by(|a, b| a.1.task.task_type.cmp(&b.1.task.task_type)),
        Sort::Outcome => places.sort_by(|a, b| outcome_order(a.1).cmp(&outcome_order(b.1))),
        Sort::Steps => places.sort_by_key(|p| std::cmp::Reverse(p.1.steps)),
        Sort::Progress => places.sort_by(|a, b| a.1.progress.total_cmp(&b.1.progress)),
        Sort::Tokens => places.sort_by_key(|p| std::cmp::Reverse(p.1.tokens)),
    }
}

/// Groups failed episodes by their main cause, most frequent cause first.
fn group_by_cause(places: &[(usize, &EpisodeSummary)]) -> Vec<ListRow> {
    let mut causes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, past) in places {
        let words = main_cause(&past.task.env, &past.stats.mistakes)
            .unwrap_or_else(|| "no mistake detected".to_owned());
        causes.entry(words).or_default().push(*place);
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|c| std::cmp::Reverse(c.1.len()));
    let mut rows = Vec::new();
    for (words, places) in causes {
        rows.push(ListRow::Group(words, places.len()));
        rows.extend(places.into_iter().map(ListRow::Episode));
    }
    rows
}
