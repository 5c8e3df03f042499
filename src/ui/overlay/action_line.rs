//! The line for an action, with completion from what the world accepts: where a person overrides or plays now, and where an
//! action of the past is to be another.

use super::field::Field;
use super::fuzzy::rank;
use super::moved;
use super::window::{Line, Pointed, Scroll, put_line};
use crate::text::one_line;
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// The line and the rows below it.
pub(super) struct ActionLine {
    field: Field,
    /// What the world accepts, or why that is not known; none: it has not been said yet.
    admissible: Option<Result<Vec<String>, String>>,
    fitting: Vec<usize>,
    chosen: Option<usize>,
    scroll: Scroll,
}

impl ActionLine {
    /// A line that is filled beforehand; typing replaces what is there.
    pub(super) fn new(text: &str) -> Self {
        Self {
            field: Field::replaceable(text),
            admissible: None,
            fitting: Vec::new(),
            chosen: None,
            scroll: Scroll::default(),
        }
    }

    /// What is typed, or chosen from the rows.
    pub(super) fn text(&self) -> String {
        self.chosen.and_then(|c| self.row(c)).map_or_else(|| self.field.text(), str::to_owned)
    }

    /// What the world accepts has come in.
    pub(super) fn learn(&mut self, actions: Result<&[String], String>) {
        self.admissible = Some(actions.map(|all| all.iter().map(|a| one_line(a).into_owned()).collect()));
        // What was there beforehand is no query: all rows are listed until something is typed.
        self.filter("");
    }

    fn filter(&mut self, query: &str) {
        let rows = self.rows();
        self.fitting = rank(query, rows.iter().map(String::as_str));
        self.chosen = None;
        self.scroll.to(0);
    }

    fn rows(&self) -> &[String] {
        self.admissible.as_ref().and_then(|a| a.as_deref().ok()).unwrap_or_default()
    }

    fn row(&self, place: usize) -> Option<&str> {
        self.rows().get(*self.fitting.get(place)?).map(String::as_str)
    }

    fn choose(&mut self, by: isize) {
        let last = self.fitting.len().checked_sub(1);
        self.chosen = match (self.chosen, last) {
            (_, None) => None,
            (None, Some(_)) => (by > 0).then_some(0),
            // Above the first row the typed text is chosen again.
            (Some(0), _) if by < 0 => None,
            (Some(at), Some(last)) => Some(at.saturating_add_signed(by).min(last)),
        };
    }

    /// A key that walks through the rows or completes with one.
    pub(super) fn act(&mut self, action: Action) {
        match action {
            Action::NextField => {
                if let Some(row) = self.row(self.chosen.unwrap_or(0)).map(str::to_owned) {
                    self.field.replace(&row);
                    self.filter(&row);
                }
            }
            other => {
                if let Some(by) = moved(other, 8) {
                    self.choose(by);
                }
            }
        }
    }

    /// Typing. Returns whether the text changed.
    pub(super) fn key(&mut self, key: KeyEvent) -> bool {
        let changed = self.field.key(key);
        if changed {
            self.filter(&self.field.text());
        }
        changed
    }

    /// Pasted text. Returns whether the text changed.
    pub(super) fn paste(&mut self, text: &str) -> bool {
        let changed = self.field.paste(text);
        if changed {
            self.filter(&self.field.text());
        }
        changed
    }

    pub(super) fn mouse(&mut self, event: MouseEvent) {
        match self.scroll.pointed(event) {
            Some(Pointed::Row(row)) => self.chosen = Some(row),
            Some(Pointed::Wheel(by)) => self.choose(by),
            None => {}
        }
    }

    /// The line, what is to be known about its rows, and the rows. `waits` is said until they have come; `note` goes before
    /// all else.
    pub(super) fn draw(
        &self,
        look: &Context<'_>,
        (note, waits): (Option<&str>, &str),
        area: Rect,
        canvas: &mut Canvas<'_>,
    ) {
        canvas.put(area.x, area.y, 2, look.glyphs.proposal, canvas.style(Role::Proposal));
        let line = Rect { x: area.x + 2, width: area.width.saturating_sub(2), height: 1, ..area };
        self.field.draw(self.chosen.is_none(), line, canvas);
        let dot = look.glyphs.dot;
        let words = match (&self.admissible, note) {
            (_, Some(note)) => note.to_owned(),
            (None, _) => waits.to_owned(),
            (Some(Err(why)), _) => format!("no list: {why}; type one freely"),
            (Some(Ok(all)), _) if all.is_empty() => "this world lists no actions; type one freely".to_owned(),
            (Some(Ok(all)), _) => {
                format!(
                    "{} of {} {dot} the agent does not see this list {dot} free text goes too",
                    self.fitting.len(),
                    all.len()
                )
            }
        };
        let role = if note.is_some() { Role::Warn } else { Role::Dim };
        put_line(&[(role, words)], Rect { y: area.y + 1, height: area.height.min(1), ..area }, canvas);
        let list = Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
        self.scroll.list(self.chosen.unwrap_or(0), self.fitting.len(), list, canvas, |place| {
            let here = self.chosen == Some(place);
            let (mark, role) = if here { (look.glyphs.proposal, Role::Chosen) } else { (" ", Role::Text) };
            let text = self.row(place).unwrap_or_default().to_owned();
            Line::from([(Role::Proposal, format!("{mark} ")), (role, text)])
        });
    }
}
