//! An episode as a row, with as many cells as fit.

use super::sort::Sort;
use crate::domain::{EndReason, EpisodeRole, EpisodeSummary, Task};
use crate::engine::Episode;
use crate::report::metrics::short_type;
use crate::text::{one_line, truncate, width};
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;
use crate::ui::widget::window::Line;

/// Columns of how an episode ended.
const END_COLUMNS: usize = "in progress".len();

/// Returns the end reason in one word.
pub(super) fn end_word(past: &EpisodeSummary) -> &'static str {
    match past.reason {
        EndReason::Won => "won",
        EndReason::Done => "lost",
        EndReason::StepLimit => "limit",
        EndReason::MoveLimit => "moves",
        EndReason::TimeLimit => "time",
        EndReason::PlanEnd => "plan",
        EndReason::UnknownForm => "form",
        EndReason::RepeatedAdvice => "advice",
        EndReason::Loop => "loop",
        EndReason::Person => "person",
        EndReason::Error => "error",
        EndReason::EnvDied | EndReason::EnvTimeout => "env failed",
    }
}

/// The fewest columns of a list with the tasks' types.
const MIN_COLUMNS_WITH_TYPE: usize = 64;

/// The visible columns; the task column takes the remaining width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    task_columns: usize,
    /// 0 without this column.
    type_columns: usize,
    /// 0 without this column.
    trial_columns: usize,
    has_calls: bool,
    has_wide_columns: bool,
}

/// The cells of a row.
struct Cells<'a> {
    number: String,
    task: &'a Task,
    trial: u32,
    end: (Role, String),
    steps: u32,
    progress: f64,
    last_progress_step: u32,
    calls: u32,
    tokens: u64,
}

impl Columns {
    /// Returns the columns that fit. Without a model there are no calls to count. On a narrow screen the task has the room of its
    /// type, and that of the trial if there is only one each.
    pub(super) fn for_width(columns: u16, is_without_model: bool, has_several_trials: bool) -> Self {
        let columns = usize::from(columns);
        let has_type = columns >= MIN_COLUMNS_WITH_TYPE;
        let has_trial = has_type || has_several_trials;
        let (type_columns, trial_columns) = (if has_type { 8 } else { 0 }, if has_trial { 6 } else { 0 });
        let (costs, all) = (columns >= 74 && !is_without_model, columns >= 104);
        let others = 7
            + type_columns
            + trial_columns
            + END_COLUMNS
            + 1
            + 6
            + 6
            + if costs { 7 } else { 0 }
            + if all { 6 + 9 } else { 0 };
        Self {
            task_columns: columns.saturating_sub(others).max(8),
            type_columns,
            trial_columns,
            has_calls: costs,
            has_wide_columns: all,
        }
    }

    /// Returns the header row, with the sort column highlighted.
    pub(super) fn header(self, sort: Sort) -> Line {
        let role = |of: Sort| if of == sort { Role::Title } else { Role::Muted };
        let mut line = vec![
            (role(Sort::Number), format!("{:>6} ", "#")),
            (role(Sort::Task), format!("{:<1$}", "task", self.task_columns)),
        ];
        if self.type_columns > 0 {
            line.push((role(Sort::TaskType), format!("{:<8}", "type")));
        }
        if self.trial_columns > 0 {
            line.push((Role::Muted, format!("{:>5} ", "trial")));
        }
        line.extend([
            (role(Sort::Outcome), format!("{:<1$}", "end", END_COLUMNS + 1)),
            (role(Sort::Steps), format!("{:>5} ", "steps")),
            (role(Sort::Progress), format!("{:>5} ", "prog.")),
        ]);
        if self.has_wide_columns {
            line.push((Role::Muted, format!("{:>5} ", "last")));
        }
        if self.has_calls {
            line.push((Role::Muted, format!("{:>6} ", "calls")));
        }
        if self.has_wide_columns {
            line.push((role(Sort::Tokens), format!("{:>8} ", "tokens")));
        }
        line
    }

    pub(super) fn ended_row(self, past: &EpisodeSummary, here: bool, glyphs: &Glyphs) -> Line {
        let role = if past.won { Role::Good } else { Role::Bad };
        let assisted = if past.assisted { format!(" {}", glyphs.person) } else { String::new() };
        let calibration = if past.role == EpisodeRole::Calibrate { " cal" } else { "" };
        let cells = Cells {
            number: past.number.to_string(),
            task: &past.task,
            trial: past.trial,
            end: (role, format!("{}{assisted}{calibration}", end_word(past))),
            steps: past.steps,
            progress: past.progress,
            last_progress_step: past.stats.progress_step,
            calls: past.calls,
            tokens: past.tokens,
        };
        self.cells_line(&cells, here, glyphs)
    }

    pub(super) fn open_row(self, episode: &Episode, here: bool, glyphs: &Glyphs) -> Line {
        let cells = Cells {
            number: episode.number.to_string(),
            task: &episode.task,
            trial: episode.trial,
            end: (Role::Warning, "in progress".to_owned()),
            steps: episode.answered_steps(),
            progress: episode.progress,
            last_progress_step: episode.progress_step,
            calls: episode.calls,
            tokens: episode.tokens,
        };
        self.cells_line(&cells, here, glyphs)
    }

    fn cells_line(self, cells: &Cells<'_>, here: bool, glyphs: &Glyphs) -> Line {
        let plain = if here { Role::Selection } else { Role::Text };
        let dim = if here { Role::Selection } else { Role::Muted };
        let name = if cells.task.goal.is_empty() { &cells.task.id } else { &cells.task.goal };
        let end = truncate(&cells.end.1, END_COLUMNS, "");
        let mut line = vec![
            (Role::Proposal, cursor_mark(here, glyphs).to_owned()),
            (dim, format!("{:>5} ", cells.number)),
            (plain, padded(&one_line(name), self.task_columns)),
        ];
        if self.type_columns > 0 {
            line.push((dim, padded(&short_type(cells.task), 8)));
        }
        if self.trial_columns > 0 {
            line.push((dim, format!("{:>5} ", cells.trial)));
        }
        line.extend([
            (if here { Role::Selection } else { cells.end.0 }, padded(&end, END_COLUMNS + 1)),
            (plain, format!("{:>5} ", cells.steps)),
            (plain, format!("{:>5.2} ", cells.progress)),
        ]);
        if self.has_wide_columns {
            let last = if cells.last_progress_step == 0 {
                "-".to_owned()
            } else {
                cells.last_progress_step.to_string()
            };
            line.push((dim, format!("{last:>5} ")));
        }
        if self.has_calls {
            line.push((dim, format!("{:>6} ", cells.calls)));
        }
        if self.has_wide_columns {
            line.push((dim, format!("{:>8} ", cells.tokens)));
        }
        line
    }
}

/// Returns the heading of a group, as in "9 never opened the container".
pub(super) fn group_row(words: &str, count: usize, here: bool, glyphs: &Glyphs) -> Line {
    let role = if here { Role::Selection } else { Role::Error };
    vec![(Role::Proposal, cursor_mark(here, glyphs).to_owned()), (role, format!(" {count} {words}"))]
}

/// Returns the mark of the selected row, which shows it independently of colour.
fn cursor_mark(here: bool, glyphs: &Glyphs) -> &'static str {
    if here { glyphs.proposal } else { " " }
}

/// Truncates or pads a text to exactly `columns` columns, the last of which is blank.
fn padded(text: &str, columns: usize) -> String {
    let cut = truncate(text, columns.saturating_sub(1), "…");
    let fill = columns.saturating_sub(width(&cut));
    format!("{cut}{}", " ".repeat(fill))
}
