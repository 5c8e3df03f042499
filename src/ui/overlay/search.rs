//! Words in the steps of the episode.

use super::choice::around;
use super::field::Field;
use super::window::{Line, Place, Pointed, Scroll, Window};
use super::{Overlay, Reaction, after_step};
use crate::text::{one_line, search};
use crate::ui::canvas::Canvas;
use crate::ui::keymap::{Action, Mode};
use crate::ui::look::Look;
use crate::ui::model::Cursor;
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use std::ops::Range;
use std::sync::Arc;

/// Places that are listed at most; nobody walks through more.
const MOST: usize = 5000;

/// One place found.
struct Match {
    step: u32,
    role: Role,
    text: Arc<str>,
    at: Range<usize>,
}

/// A search: first the words are typed, then the places are walked through. Nothing can step while it is open.
pub struct Search {
    field: Field,
    typing: bool,
    found: Vec<Match>,
    chosen: usize,
    scroll: Scroll,
    /// Where the panes stood when it began.
    from: Cursor,
}

impl Search {
    /// A search that returns to this moment when it is closed without staying.
    pub fn new(from: Cursor) -> Self {
        Self {
            field: Field::line(""),
            typing: true,
            found: Vec::new(),
            chosen: 0,
            scroll: Scroll::default(),
            from,
        }
    }

    fn look_up(&mut self, look: &Look<'_>) -> Reaction {
        let words = self.field.text();
        self.found.clear();
        let Some(episode) = look.episode() else { return Reaction::default() };
        for step in &episode.steps {
            let thought = step.thought.as_deref().map(|t| (Role::Thought, t));
            let done = step.action().filter(|a| !a.starts_with("think:")).map(|a| (Role::Action, a));
            let seen = step.observation().map(|o| (Role::Observation, o));
            let remarks = step.remarks.iter().map(|r| (Role::Person, r.as_str()));
            for (role, text) in thought.into_iter().chain(done).chain(seen).chain(remarks) {
                let text = one_line(text);
                let places = search(&text, &words);
                if places.is_empty() {
                    continue;
                }
                // One text for all of its matches: a line of a megabyte can hold a hundred thousand.
                let text: Arc<str> = text.into();
                let room = MOST.saturating_sub(self.found.len());
                self.found.extend(places.into_iter().take(room).map(|at| Match {
                    step: step.number,
                    role,
                    text: text.clone(),
                    at,
                }));
            }
            if self.found.len() >= MOST {
                break;
            }
        }
        // The nearest place at or after the chosen step is the one to begin with.
        let now = look.moment.chosen();
        self.chosen = self.found.iter().position(|m| m.step >= now).unwrap_or(0);
        self.go(look)
    }

    fn go(&self, look: &Look<'_>) -> Reaction {
        let there = self.found.get(self.chosen).and_then(|m| after_step(look, m.step));
        there.map_or_else(Reaction::default, |c| Reaction::want(Request::Go(c)))
    }

    fn walk(&mut self, look: &Look<'_>, by: isize) -> Reaction {
        let all = self.found.len();
        if all == 0 {
            return Reaction::default();
        }
        self.chosen = around(self.chosen, by, all);
        self.go(look)
    }

    fn row(&self, place: usize, room: usize) -> Line {
        let Some(found) = self.found.get(place) else { return Vec::new() };
        // The place stands within the row, also in long texts.
        let before = &found.text[..found.at.start];
        let skip = before.chars().count().saturating_sub(room / 3);
        let lead: String = before.chars().skip(skip).collect();
        let here = place == self.chosen;
        vec![
            (if here { Role::Chosen } else { Role::Dim }, format!("{:>5}  ", found.step)),
            (found.role, if skip > 0 { format!("…{lead}") } else { lead }),
            (if here { Role::SearchCurrent } else { Role::Search }, found.text[found.at.clone()].to_owned()),
            (found.role, found.text[found.at.end..].chars().take(room).collect()),
        ]
    }
}

impl Overlay for Search {
    fn name(&self) -> &'static str {
        "search"
    }

    fn mode(&self) -> Mode {
        if self.typing { Mode::SearchInput } else { Mode::Search }
    }

    fn act(&mut self, action: Action, look: &Look<'_>) -> Reaction {
        match action {
            // What was typed is taken back; what was walked to is kept.
            Action::Close if self.typing => Reaction::done(Request::Go(self.from)),
            Action::Accept if self.typing => {
                self.typing = self.found.is_empty();
                Reaction::default()
            }
            Action::Close | Action::Open | Action::Accept => Reaction::close(),
            Action::Search => {
                self.typing = true;
                Reaction::default()
            }
            Action::NextMatch | Action::Down => self.walk(look, 1),
            Action::PreviousMatch | Action::Up => self.walk(look, -1),
            _ => Reaction::default(),
        }
    }

    fn key(&mut self, key: KeyEvent, look: &Look<'_>) -> Reaction {
        if self.typing && self.field.key(key) { self.look_up(look) } else { Reaction::default() }
    }

    fn paste(&mut self, text: &str, look: &Look<'_>) -> Reaction {
        if self.typing && self.field.paste(text) { self.look_up(look) } else { Reaction::default() }
    }

    fn mouse(&mut self, event: MouseEvent, look: &Look<'_>) -> Reaction {
        match self.scroll.pointed(event) {
            Some(Pointed::Row(row)) => self.walk(look, row.cast_signed() - self.chosen.cast_signed()),
            Some(Pointed::Wheel(by)) => self.walk(look, by),
            None => Reaction::default(),
        }
    }

    fn draw(&self, look: &Look<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = match (self.found.len(), self.field.text().is_empty()) {
            (_, true) => "Search".to_owned(),
            (0, _) => "Search: nothing found".to_owned(),
            (all, _) => format!("Search: {} of {all}", self.chosen + 1),
        };
        let rows = if screen.height >= 20 { 7 } else { 4 };
        let window =
            Window { title: &title, place: Place::Below, rows, columns: screen.width, mode: self.mode() };
        let inside = window.draw(look, screen, canvas);
        canvas.put(inside.x, inside.y, 2, "/", canvas.style(Role::Key));
        let line = Rect { x: inside.x + 2, width: inside.width.saturating_sub(2), height: 1, ..inside };
        self.field.draw(self.typing, line, canvas);
        let list = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
        let room = usize::from(list.width);
        self.scroll.list(self.chosen, self.found.len(), list, canvas, |place| self.row(place, room));
    }
}
