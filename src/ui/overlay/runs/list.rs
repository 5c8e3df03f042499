//! Which episodes are listed, in which order, and what they come to.

use super::super::window::Line;
use crate::domain::{EpisodeRole, EpisodeSummary, TokenCounts};
use crate::engine::State;
use crate::report::ByTask;
use crate::report::metrics::wilson;
use crate::symbolic::{cause_text, main_cause};
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;
use std::collections::{BTreeMap, HashMap};

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    /// As they were played.
    #[default]
    Number,
    /// By task, its trials together.
    Task,
    /// By type of task.
    Kind,
    /// By why they ended, the lost ones first.
    Outcome,
    /// The longest first.
    Steps,
    /// The least progress first.
    Progress,
    /// The most tokens first.
    Tokens,
}

impl Sort {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Number => Self::Task,
            Self::Task => Self::Kind,
            Self::Kind => Self::Outcome,
            Self::Outcome => Self::Steps,
            Self::Steps => Self::Progress,
            Self::Progress => Self::Tokens,
            Self::Tokens => Self::Number,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Number => "as played",
            Self::Task => "by task",
            Self::Kind => "by type",
            Self::Outcome => "by outcome",
            Self::Steps => "by steps",
            Self::Progress => "by progress",
            Self::Tokens => "by tokens",
        }
    }
}

/// What a person wants to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Only episodes that failed.
    pub(super) failed: bool,
    /// Failed episodes under what went wrong in them.
    pub(super) grouped: bool,
    /// The order.
    pub(super) sort: Sort,
}

impl Wanted {
    pub(super) fn title(self, state: &State, list: &List) -> String {
        let what = match (self.grouped, self.failed) {
            (true, _) => format!("{} failed, by cause", list.episodes()),
            (_, true) => format!("{} failed", list.episodes()),
            _ => {
                let all = state.ended_episodes.len() + usize::from(state.open_episode().is_some());
                format!("{all} episode{}", if all == 1 { "" } else { "s" })
            }
        };
        format!("Run: {what}, {}", self.sort.words())
    }
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// An ended episode, by its place.
    Episode(usize),
    /// A cause, and how many episodes follow.
    Group(String, usize),
}

impl Listed {
    /// The episode's number.
    pub(super) fn number(&self, state: &State) -> Option<u32> {
        match self {
            Self::Episode(place) => state.ended_episodes.get(*place).map(|p| p.number),
            Self::Group(..) => None,
        }
    }
}

/// The rows, and sums over all ended episodes.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    pub(super) rows: Vec<Listed>,
    /// Success by task.
    by_task: ByTask,
    millis: u64,
    spent: TokenCounts,
    /// Episodes that may still come.
    to_come: usize,
}

impl List {
    /// Goes through all ended episodes once.
    pub(super) fn of(state: &State, wanted: Wanted) -> Self {
        let by_task = ByTask::from_episodes(state.ended_episodes.iter().map(AsRef::as_ref));
        let mut list = Self { to_come: to_come(state), by_task, ..Self::default() };
        let mut places: Vec<(usize, &EpisodeSummary)> = Vec::new();
        for (place, past) in state.ended_episodes.iter().enumerate() {
            list.millis = list.millis.saturating_add(past.stats.active_millis);
            list.spent = list.spent.plus(past.stats.token_counts);
            if !past.won || !(wanted.failed || wanted.grouped) {
                places.push((place, past));
            }
        }
        sort(&mut places, wanted.sort);
        if wanted.grouped {
            list.rows = grouped(&places);
        } else {
            list.rows = places.into_iter().map(|p| Listed::Episode(p.0)).collect();
        }
        list
    }

    pub(super) fn episodes(&self) -> usize {
        self.rows.iter().filter(|r| matches!(r, Listed::Episode(_))).count()
    }

    /// Success and progress so far, and what is left, as one row.
    pub(super) fn sums(&self, state: &State, columns: u16, glyphs: &Glyphs) -> Line {
        let mut parts: Vec<(Role, String)> = Vec::new();
        let ByTask { tasks, solved, assisted, progress, has_several_trials: several } = self.by_task;
        if let Some(share) = wilson(solved, tasks) {
            let sure = match columns {
                76.. => format!(" ({:.0}-{:.0})", share.low * 100.0, share.high * 100.0),
                _ => String::new(),
            };
            let per_cent = share.value * 100.0;
            // Of a task with several trials one that is won is enough.
            let (word, noun) = if several { ("solved", " tasks") } else { ("won", "") };
            parts.push((Role::Title, format!("{word} {solved} of {tasks}{noun} {per_cent:.1} %{sure}")));
            parts.push((Role::Text, format!("progress {:.2}", progress / tasks as f64)));
        }
        if assisted > 0 {
            parts.push((Role::Person, format!("{assisted} with your hand")));
        }
        if let Some(cost) = self.spent.format_cost() {
            parts.push((Role::Dim, format!("{} tokens, cost {cost}", self.spent.tokens())));
        }
        if state.run_over {
            parts.push((Role::Dim, "over".to_owned()));
        } else if self.to_come > 0 {
            parts.push((Role::Dim, self.left(state)));
        }
        if parts.is_empty() {
            parts.push((Role::Dim, "nothing to count yet".to_owned()));
        }
        let mut line: Line = Vec::new();
        for part in parts {
            if !line.is_empty() {
                line.push((Role::Dim, format!(" {} ", glyphs.dot)));
            }
            line.push(part);
        }
        line
    }

    /// How much is to be played, and how long that takes if it takes as long as what was played. Where a task gets several
    /// trials nobody knows how many it will need.
    fn left(&self, state: &State) -> String {
        let several = state.run.as_ref().is_some_and(|r| r.trials > 1);
        let played = state.ended_episodes.len() as u64;
        let time = match self.millis.checked_div(played).filter(|each| *each > 0) {
            Some(each) => format!(", about {}", lasting(each.saturating_mul(self.to_come as u64) / 1000)),
            None => String::new(),
        };
        format!("{}{} to go{time}", if several { "at most " } else { "" }, self.to_come)
    }
}

/// A time in words, rounded to what an estimate can know.
fn lasting(seconds: u64) -> String {
    match seconds {
        0..=59 => format!("{} s", seconds.max(1)),
        60..=5399 => format!("{} min", (seconds + 30) / 60),
        5400..=172_799 => format!("{} h", (seconds + 1800) / 3600),
        _ => format!("{} days", (seconds + 43_200) / 86_400),
    }
}

/// Episodes that may still be played, the open one with them: every trial of every task that is not solved.
fn to_come(state: &State) -> usize {
    let Some(run) = state.run.as_deref().filter(|_| !state.run_over) else { return 0 };
    let mut played: HashMap<String, (usize, bool)> = HashMap::new();
    for past in state.ended_episodes.iter().filter(|p| p.role == EpisodeRole::Test) {
        let of = played.entry(past.task.key()).or_default();
        *of = (of.0 + 1, of.1 || past.won);
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

/// Lost ones first, by the word for it.
fn rank(past: &EpisodeSummary) -> (bool, &'static str) {
    (past.won, super::row::why(past))
}

fn sort(places: &mut [(usize, &EpisodeSummary)], by: Sort) {
    // Stable: among equals the order is the one they were played in.
    match by {
        Sort::Number => {}
        Sort::Task => places.sort_by(|a, b| a.1.task.id.cmp(&b.1.task.id)),
        Sort::Kind => places.sort_by(|a, b| a.1.task.task_type.cmp(&b.1.task.task_type)),
        Sort::Outcome => places.sort_by(|a, b| rank(a.1).cmp(&rank(b.1))),
        Sort::Steps => places.sort_by_key(|p| std::cmp::Reverse(p.1.steps)),
        Sort::Progress => places.sort_by(|a, b| a.1.progress.total_cmp(&b.1.progress)),
        Sort::Tokens => places.sort_by_key(|p| std::cmp::Reverse(p.1.tokens)),
    }
}

/// Failed episodes under their main cause, the most frequent cause first.
fn grouped(places: &[(usize, &EpisodeSummary)]) -> Vec<Listed> {
    let mut causes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, past) in places {
        let words =
            main_cause(&past.stats.mistakes).map_or_else(|| "no mistake was noted".to_owned(), cause_text);
        causes.entry(words).or_default().push(*place);
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|c| std::cmp::Reverse(c.1.len()));
    let mut rows = Vec::new();
    for (words, places) in causes {
        rows.push(Listed::Group(words, places.len()));
        rows.extend(places.into_iter().map(Listed::Episode));
    }
    rows
}
