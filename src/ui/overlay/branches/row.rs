//! A branch as a row of the tree, and in full.

use super::super::window::{Line, paragraph};
use crate::text::{one_line, truncate, width};
use crate::ui::branches::{Limb, Twig};
use crate::ui::glyphs::Glyphs;
use crate::ui::look::Look;
use crate::ui::theme::Role;

/// How wide each part of a row is.
pub(super) struct Columns {
    name: usize,
    root: usize,
    /// Outcome, steps and tokens; 0: no room for them.
    outcome: usize,
    tokens: bool,
    all: usize,
}

impl Columns {
    /// For the rows there are and the columns there are.
    pub(super) fn of(limbs: &[Limb<'_>], columns: u16) -> Self {
        let all = usize::from(columns);
        let named = limbs.iter().map(|l| 2 * usize::from(l.depth) + width(&one_line(l.twig.called())));
        let name = named.max().unwrap_or(0).clamp(6, (all / 3).max(8)) + 3;
        let outcome = match all {
            ..60 => 0,
            60..100 => 16,
            _ => 26,
        };
        let tokens = all >= 70;
        let taken = name + if outcome > 0 { outcome + 2 + 8 } else { 8 } + if tokens { 10 } else { 0 };
        Self { name, root: all.saturating_sub(taken + 2), outcome, tokens, all }
    }

    fn line(&self, parts: [(Role, String); 5]) -> Line {
        let [name, outcome, steps, tokens, root] = parts;
        let mut line = vec![name];
        if self.outcome > 0 {
            line.push((outcome.0, fitted(&outcome.1, self.outcome + 2)));
        }
        line.push((steps.0, format!("{:>6}  ", steps.1)));
        if self.tokens {
            line.push((tokens.0, format!("{:>8}  ", tokens.1)));
        }
        line.push((root.0, truncate(&root.1, self.root.min(self.all), "…")));
        line
    }

    /// The names of the columns.
    pub(super) fn head(&self) -> Line {
        let dim = |text: &str| (Role::Dim, text.to_owned());
        self.line([
            (Role::Dim, fitted("  branch", self.name)),
            dim("outcome"),
            dim("turns"),
            dim("tokens"),
            dim("where it left, why"),
        ])
    }

    /// A branch.
    pub(super) fn row(&self, limb: &Limb<'_>, chosen: bool, now: bool, look: &Look<'_>) -> Line {
        let twig = limb.twig;
        let mark = if now {
            look.glyphs.now
        } else if chosen {
            look.glyphs.proposal
        } else {
            " "
        };
        let name = format!("{}{}", joints(limb, look.glyphs), one_line(twig.called()));
        let role = match () {
            () if chosen => Role::Chosen,
            () if twig.archived => Role::Dim,
            () if now => Role::Focus,
            () => Role::Text,
        };
        let quiet = if twig.archived { Role::Dim } else { Role::Text };
        let root = if twig.parent.is_none() {
            "the beginning".to_owned()
        } else {
            one_line(&twig.reason).into_owned()
        };
        let outcome =
            if twig.archived { format!("archived, {}", twig.outcome) } else { twig.outcome.clone() };
        let mut line = self.line([
            (role, fitted(&name, self.name - 2)),
            (quiet, outcome),
            (quiet, twig.steps.to_string()),
            (Role::Dim, twig.tokens.to_string()),
            (Role::Dim, root),
        ]);
        line.insert(0, (Role::MarkNow, format!("{mark} ")));
        line
    }
}

/// The lines of the tree before a name.
fn joints(limb: &Limb<'_>, glyphs: &Glyphs) -> String {
    let mut text = String::new();
    for level in 1..limb.depth {
        text.push_str(if limb.goes_on(level) { glyphs.joints[1 | 4] } else { " " });
        text.push(' ');
    }
    if limb.depth > 0 {
        text.push_str(glyphs.joints[if limb.goes_on(limb.depth) { 1 | 2 | 4 } else { 1 | 2 }]);
        text.push(' ');
    }
    text
}

/// A text in exactly so many columns, the last of them free.
fn fitted(text: &str, columns: usize) -> String {
    let text = truncate(&one_line(text), columns.saturating_sub(1), "…");
    let gap = columns.saturating_sub(width(&text));
    format!("{text}{}", " ".repeat(gap))
}

/// A branch in full: where it left its parent, what changed there, and the note on it.
pub(super) fn whole(twig: &Twig, look: &Look<'_>, columns: u16) -> Vec<Line> {
    let dot = look.glyphs.dot;
    let mut lines = Vec::new();
    let came = match &twig.parent {
        Some(parent) => {
            format!("{} {dot} left {parent} after event {} {dot} made {}", twig.id, twig.at, twig.created)
        }
        None => format!("{} {dot} the session's first {dot} made {}", twig.id, twig.created),
    };
    lines.extend(paragraph((Role::Dim, ""), Role::Dim, &came, columns));
    if twig.parent.is_some() {
        let words = if twig.root == twig.reason {
            twig.reason.clone()
        } else {
            format!("{} {dot} {}", twig.reason, twig.root)
        };
        lines.extend(
            paragraph((Role::Dim, "changed  "), Role::Text, &one_line(&words), columns).into_iter().take(2),
        );
    }
    if !twig.note.is_empty() {
        lines.extend(paragraph((Role::Person, "note     "), Role::Person, &one_line(&twig.note), columns));
    }
    lines
}
