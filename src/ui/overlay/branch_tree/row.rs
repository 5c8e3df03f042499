//! A branch as a row of the tree, and its details below the list.

use crate::domain::EpisodeSummary;
use crate::text::{one_line, truncate, width};
use crate::ui::branches::{BranchInfo, TreeRow};
use crate::ui::frame_data::Context;
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;
use crate::ui::widget::window::{Line, paragraph};
use std::fmt::Write as _;

/// Titles of the columns that, like the outcome, are about one episode. They are as wide as these.
const STEPS_TITLE: &str = "ep. steps";
const TOKENS_TITLE: &str = "ep. tokens";

/// Columns that the reason of a fork keeps before outcomes are abbreviated.
const REASON_COLUMNS: usize = 18;

/// Columns below which the reason isn't shown.
const MIN_REASON_COLUMNS: usize = 8;

/// Widths of a row's cells.
pub(super) struct Columns {
    name: usize,
    root: usize,
    outcome: usize,
    has_short_outcomes: bool,
    has_tokens: bool,
    total: usize,
}

impl Columns {
    /// Fits the cells to the rows and the available columns.
    pub(super) fn for_rows(rows: &[TreeRow], columns: u16) -> Self {
        let all = usize::from(columns);
        let named = rows.iter().map(|l| 2 * usize::from(l.depth) + width(&one_line(l.branch.display_name())));
        let name = named.max().unwrap_or(0).clamp(6, (all / 3).max(8)) + 3;
        let tokens = all >= 70;
        let taken = STEPS_TITLE.len() + 2 + if tokens { TOKENS_TITLE.len() + 2 } else { 0 };
        let rest = all.saturating_sub(2 + name + taken);
        let widest = |short: bool| {
            rows.iter()
                .map(|row| width(&outcome_text(&row.branch, short)))
                .max()
                .unwrap_or(0)
                .max("outcome".len())
                + 2
        };
        // How a branch ended matters more than why it was begun.
        let short = widest(false) + REASON_COLUMNS > rest;
        let outcome = widest(short).min(rest);
        Self {
            name,
            root: Some(rest - outcome).filter(|root| *root >= MIN_REASON_COLUMNS).unwrap_or(0),
            outcome,
            has_short_outcomes: short,
            has_tokens: tokens,
            total: all,
        }
    }

    fn join_cells(&self, parts: [(Role, String); 5]) -> Line {
        let [name, outcome, steps, tokens, root] = parts;
        let mut line = vec![name, (outcome.0, padded(&outcome.1, self.outcome))];
        line.push((steps.0, format!("{:>1$}  ", steps.1, STEPS_TITLE.len())));
        if self.has_tokens {
            line.push((tokens.0, format!("{:>1$}  ", tokens.1, TOKENS_TITLE.len())));
        }
        if self.root == 0 {
            return line;
        }
        line.push((root.0, truncate(&root.1, self.root.min(self.total), "…")));
        line
    }

    /// Returns the header row.
    pub(super) fn header(&self) -> Line {
        let dim = |text: &str| (Role::Muted, text.to_owned());
        self.join_cells([
            (Role::Muted, padded("  branch", self.name)),
            dim("outcome"),
            dim(STEPS_TITLE),
            dim(TOKENS_TITLE),
            dim("forked at, reason"),
        ])
    }

    /// Returns the row of a branch.
    pub(super) fn row(
        &self,
        tree_row: &TreeRow,
        chosen: bool,
        is_marked: bool,
        context: &Context<'_>,
    ) -> Line {
        let branch = &tree_row.branch;
        let now = branch.id == context.frame.branch;
        let mark = if now {
            context.glyphs.now
        } else if chosen {
            context.glyphs.proposal
        } else {
            " "
        };
        let name = format!("{}{}", tree_lines(tree_row, context.glyphs), one_line(branch.display_name()));
        let role = match () {
            () if chosen => Role::Selection,
            () if branch.archived => Role::Muted,
            () if now => Role::TitleFocus,
            () => Role::Text,
        };
        let quiet = if branch.archived { Role::Muted } else { Role::Text };
        let root = if branch.parent.is_none() {
            "the start".to_owned()
        } else {
            one_line(&branch.reason).into_owned()
        };
        let outcome = outcome_text(branch, self.has_short_outcomes);
        let mut line = self.join_cells([
            (role, padded(&name, self.name - 2)),
            (quiet, outcome),
            (quiet, branch.steps.to_string()),
            (Role::Muted, branch.tokens.to_string()),
            (Role::Muted, root),
        ]);
        let marked = if is_marked { context.glyphs.marked } else { " " };
        line.insert(0, (Role::MarkNow, format!("{mark}{marked}")));
        line
    }
}

/// Returns the tree's guide lines before a name.
fn tree_lines(tree_row: &TreeRow, glyphs: &Glyphs) -> String {
    let mut text = String::new();
    for level in 1..tree_row.depth {
        text.push_str(if tree_row.has_guide(level) { glyphs.box_drawing[1 | 4] } else { " " });
        text.push(' ');
    }
    if tree_row.depth > 0 {
        text.push_str(glyphs.box_drawing[if tree_row.has_guide(tree_row.depth) { 1 | 2 | 4 } else { 1 | 2 }]);
        text.push(' ');
    }
    text
}

/// Truncates or pads a text to exactly `columns` columns, the last of which is blank.
fn padded(text: &str, columns: usize) -> String {
    let text = truncate(&one_line(text), columns.saturating_sub(1), "…");
    let gap = columns.saturating_sub(width(&text));
    format!("{text}{}", " ".repeat(gap))
}

/// Returns how a branch ended, whether a person helped, and whether it is archived.
fn outcome_text(branch: &BranchInfo, short: bool) -> String {
    let mut outcome = if short { short_outcome(&branch.outcome) } else { branch.outcome.clone() };
    let was_helped = |last: &EpisodeSummary| last.assisted && branch.outcome.ends_with(&last.verdict());
    if branch.last.as_deref().is_some_and(was_helped) {
        outcome.push_str(", assisted");
    }
    match (branch.archived, short) {
        (false, _) => outcome,
        (true, true) => format!("{outcome}, archived"),
        (true, false) => format!("archived, {outcome}"),
    }
}

/// Abbreviates an outcome for narrow screens, with the most important fact first.
fn short_outcome(outcome: &str) -> String {
    if let Some(step) = outcome.strip_prefix("in progress at ") {
        return format!("at {step}");
    }
    if let Some((episode, step)) =
        outcome.strip_prefix("episode ").and_then(|rest| rest.split_once(" in progress at "))
    {
        return format!("at {step} of ep. {episode}");
    }
    if let Some((episode, verdict)) = outcome.strip_prefix("ep. ").and_then(|rest| rest.split_once(' ')) {
        return format!("{episode} {}", short_outcome(verdict));
    }
    let reason = outcome.strip_prefix("lost (").and_then(|rest| rest.strip_suffix(')'));
    let Some(why) = reason else {
        return outcome.to_owned();
    };
    let why = match why {
        "ended by the environment" => "ended",
        "repeated action" => "loop",
        "end of the plan" => "plan ended",
        "ended by a person" => "by a person",
        other => other,
    };
    format!("lost: {why}")
}

/// Returns a branch's details: where it forked from its parent, what changed there, and its note. If they don't fit in
/// `rows`, each part is cut to one row except the note, which takes the rest; a cut part ends in an ellipsis.
pub(super) fn branch_details(
    branch: &BranchInfo,
    context: &Context<'_>,
    columns: u16,
    rows: usize,
) -> Vec<Line> {
    let (dot, more) = (context.glyphs.separator, context.glyphs.ellipsis);
    let mut created = match &branch.parent {
        Some(parent) => format!("{} {dot} forked from {parent}", branch.id),
        None => format!("{} {dot} the session's first", branch.id),
    };
    // A demo doesn't know when.
    if !branch.created.is_empty() {
        let _ = write!(created, " {dot} created {}", branch.created);
    }
    let (full, brief) = match (&branch.parent, branch.first_change == branch.reason) {
        (None, _) => (String::new(), String::new()),
        (_, true) => (branch.reason.clone(), branch.reason.clone()),
        // Both texts name the kind of change. The short form keeps the place and the change itself.
        _ => (
            format!("{} {dot} {}", branch.reason, branch.first_change),
            format!(
                "{}: {}",
                branch.reason.split_once(": ").map_or(&*branch.reason, |r| r.0),
                branch.first_change
            ),
        ),
    };
    let labelled = |head: &'static str, role: Role, words: &str| match words {
        "" => Vec::new(),
        words => paragraph((role, head), role, &one_line(words), columns),
    };
    let parts = |changed: &str| {
        [
            paragraph((Role::Muted, ""), Role::Muted, &created, columns),
            labelled("changed  ", Role::Text, changed),
            labelled("note     ", Role::Person, &branch.note),
        ]
    };
    let all = parts(&full);
    if all.iter().map(Vec::len).sum::<usize>() <= rows {
        return all.concat();
    }
    let [created, changed, note] = parts(&brief);
    let left = rows.saturating_sub(usize::from(!changed.is_empty()) + 1);
    let room = if note.is_empty() { left + 1 } else { 1 };
    [
        limit_rows(created, 1, columns, more),
        limit_rows(changed, room, columns, more),
        limit_rows(note, left, columns, more),
    ]
    .concat()
}

/// Cuts a text to at most `rows` rows; a cut text ends in an ellipsis.
fn limit_rows(mut lines: Vec<Line>, rows: usize, columns: u16, more: &str) -> Vec<Line> {
    if lines.len() > rows {
        lines.truncate(rows);
        if let Some([(_, head), (_, words)]) = lines.last_mut().map(Vec::as_mut_slice) {
            let room = usize::from(columns).saturating_sub(width(head));
            *words = truncate(&format!("{words} {more}"), room, more);
        }
    }
    lines
}
