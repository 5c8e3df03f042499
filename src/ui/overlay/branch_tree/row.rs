//! A branch as a row of the tree, and in full.

use super::super::window::{Line, paragraph};
use crate::text::{one_line, truncate, width};
use crate::ui::branches::{BranchInfo, TreeRow};
use crate::ui::context::Context;
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;

/// Columns of an outcome in whole words.
const FULL_OUTCOME_COLUMNS: usize = 26;

/// How wide each part of a row is.
pub(super) struct Columns {
    name: usize,
    root: usize,
    /// Outcome, steps and tokens; 0: no room for them.
    outcome: usize,
    has_tokens: bool,
    total: usize,
}

impl Columns {
    /// For the rows there are and the columns there are.
    pub(super) fn for_rows(limbs: &[TreeRow<'_>], columns: u16) -> Self {
        let all = usize::from(columns);
        let named =
            limbs.iter().map(|l| 2 * usize::from(l.depth) + width(&one_line(l.branch.display_name())));
        let name = named.max().unwrap_or(0).clamp(6, (all / 3).max(8)) + 3;
        let outcome = match all {
            ..60 => 0,
            60..100 => 16,
            _ => FULL_OUTCOME_COLUMNS,
        };
        let tokens = all >= 70;
        let taken = name + if outcome > 0 { outcome + 2 + 8 } else { 8 } + if tokens { 10 } else { 0 };
        Self { name, root: all.saturating_sub(taken + 2), outcome, has_tokens: tokens, total: all }
    }

    fn join_cells(&self, parts: [(Role, String); 5]) -> Line {
        let [name, outcome, steps, tokens, root] = parts;
        let mut line = vec![name];
        if self.outcome > 0 {
            line.push((outcome.0, padded(&outcome.1, self.outcome + 2)));
        }
        line.push((steps.0, format!("{:>6}  ", steps.1)));
        if self.has_tokens {
            line.push((tokens.0, format!("{:>8}  ", tokens.1)));
        }
        line.push((root.0, truncate(&root.1, self.root.min(self.total), "…")));
        line
    }

    /// The names of the columns.
    pub(super) fn header(&self) -> Line {
        let dim = |text: &str| (Role::Muted, text.to_owned());
        self.join_cells([
            (Role::Muted, padded("  branch", self.name)),
            dim("outcome"),
            dim("turns"),
            dim("tokens"),
            dim("where it left, why"),
        ])
    }

    /// A branch.
    pub(super) fn row(&self, limb: &TreeRow<'_>, chosen: bool, now: bool, look: &Context<'_>) -> Line {
        let twig = limb.branch;
        let mark = if now {
            look.glyphs.now
        } else if chosen {
            look.glyphs.proposal
        } else {
            " "
        };
        let name = format!("{}{}", tree_lines(limb, look.glyphs), one_line(twig.display_name()));
        let role = match () {
            () if chosen => Role::Selection,
            () if twig.archived => Role::Muted,
            () if now => Role::TitleFocus,
            () => Role::Text,
        };
        let quiet = if twig.archived { Role::Muted } else { Role::Text };
        let root = if twig.parent.is_none() {
            "the beginning".to_owned()
        } else {
            one_line(&twig.reason).into_owned()
        };
        let narrow = self.outcome < FULL_OUTCOME_COLUMNS;
        let outcome = if narrow { short_outcome(&twig.outcome) } else { twig.outcome.clone() };
        let outcome = match (twig.archived, narrow) {
            (false, _) => outcome,
            (true, true) => format!("{outcome}, archived"),
            (true, false) => format!("archived, {outcome}"),
        };
        let mut line = self.join_cells([
            (role, padded(&name, self.name - 2)),
            (quiet, outcome),
            (quiet, twig.steps.to_string()),
            (Role::Muted, twig.tokens.to_string()),
            (Role::Muted, root),
        ]);
        line.insert(0, (Role::MarkNow, format!("{mark} ")));
        line
    }
}

/// The lines of the tree before a name.
fn tree_lines(limb: &TreeRow<'_>, glyphs: &Glyphs) -> String {
    let mut text = String::new();
    for level in 1..limb.depth {
        text.push_str(if limb.has_guide(level) { glyphs.box_drawing[1 | 4] } else { " " });
        text.push(' ');
    }
    if limb.depth > 0 {
        text.push_str(glyphs.box_drawing[if limb.has_guide(limb.depth) { 1 | 2 | 4 } else { 1 | 2 }]);
        text.push(' ');
    }
    text
}

/// A text in exactly so many columns, the last of them free.
fn padded(text: &str, columns: usize) -> String {
    let text = truncate(&one_line(text), columns.saturating_sub(1), "…");
    let gap = columns.saturating_sub(width(&text));
    format!("{text}{}", " ".repeat(gap))
}

/// An outcome in few columns: what counts of it first.
fn short_outcome(outcome: &str) -> String {
    if let Some(step) = outcome.strip_prefix("in progress at ") {
        return format!("{step}, open");
    }
    if let Some((episode, step)) =
        outcome.strip_prefix("episode ").and_then(|rest| rest.split_once(" in progress at "))
    {
        return format!("{step} of ep. {episode}");
    }
    let Some(why) = outcome.strip_prefix("lost (").and_then(|rest| rest.strip_suffix(')')) else {
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

/// A branch in full: where it left its parent, what changed there, and the note on it. In fewer rows than that takes each
/// has one, the note what is left, and what is cut says so.
pub(super) fn branch_details(twig: &BranchInfo, look: &Context<'_>, columns: u16, rows: usize) -> Vec<Line> {
    let (dot, more) = (look.glyphs.separator, look.glyphs.ellipsis);
    let came = match &twig.parent {
        Some(parent) => {
            format!(
                "{} {dot} left {parent} after event {} {dot} made {}",
                twig.id, twig.fork_seq, twig.created
            )
        }
        None => format!("{} {dot} the session's first {dot} made {}", twig.id, twig.created),
    };
    let (full, brief) = match (&twig.parent, twig.root_change == twig.reason) {
        (None, _) => (String::new(), String::new()),
        (_, true) => (twig.reason.clone(), twig.reason.clone()),
        // The deed itself is what counts; the place is before it, and its kind is said by both.
        _ => (
            format!("{} {dot} {}", twig.reason, twig.root_change),
            format!("{}: {}", twig.reason.split_once(": ").map_or(&*twig.reason, |r| r.0), twig.root_change),
        ),
    };
    let said = |head: &'static str, role: Role, words: &str| match words {
        "" => Vec::new(),
        words => paragraph((role, head), role, &one_line(words), columns),
    };
    let parts = |changed: &str| {
        [
            paragraph((Role::Muted, ""), Role::Muted, &came, columns),
            said("changed  ", Role::Text, changed),
            said("note     ", Role::Person, &twig.note),
        ]
    };
    let all = parts(&full);
    if all.iter().map(Vec::len).sum::<usize>() <= rows {
        return all.concat();
    }
    let [came, changed, note] = parts(&brief);
    let left = rows.saturating_sub(usize::from(!changed.is_empty()) + 1);
    let room = if note.is_empty() { left + 1 } else { 1 };
    [
        limit_rows(came, 1, columns, more),
        limit_rows(changed, room, columns, more),
        limit_rows(note, left, columns, more),
    ]
    .concat()
}

/// At most so many rows of a text; one that is cut says so.
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
