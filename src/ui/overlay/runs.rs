//! The run: a row for every episode, what they came to so far, and how long the rest may take.

mod list;
mod row;

#[cfg(test)]
mod tests;

use super::window::{Place, Pointed, Scroll, Window, put_line};
use super::{Overlay, Response, moved, stepped};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::Cursor;
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::MouseEvent;
use list::{List, Listed, Wanted};
use ratatui::layout::Rect;
use std::cell::RefCell;
use std::sync::Arc;

/// Rows above the list: the sums, and the heads of its columns.
const ABOVE: u16 = 2;

/// The list of episodes.
#[derive(Default)]
pub struct Runs {
    wanted: Wanted,
    /// The chosen row's place in the list.
    chosen: usize,
    /// A person has chosen it: it stays where it is while rows come in behind it.
    moved: bool,
    /// The episode that was asked for once, where playing it again leaves a run that goes on.
    asked: Option<u32>,
    scroll: Scroll,
    /// The list as it was made last, and of how many ended episodes.
    made: RefCell<Option<Made>>,
}

struct Made {
    of: usize,
    wanted: Wanted,
    list: Arc<List>,
}

impl Runs {
    /// Opened where the panes stand.
    pub fn at(look: &Context<'_>) -> Self {
        let runs = Self::default();
        let number = look.episode().map_or(0, |e| e.number);
        let chosen = runs.list(look).rows.iter().position(|r| r.number(&look.moment.head) == Some(number));
        // The open episode is none of the ended ones: its row is the last.
        let last = runs.rows(look).saturating_sub(1);
        Self { chosen: chosen.unwrap_or(last), ..runs }
    }

    /// The rows in force: made anew when an episode ended or another order is wanted.
    fn list(&self, look: &Context<'_>) -> Arc<List> {
        let state = &look.moment.head;
        let mut made = self.made.borrow_mut();
        if let Some(m) =
            made.as_ref().filter(|m| m.of == state.ended_episodes.len() && m.wanted == self.wanted)
        {
            return m.list.clone();
        }
        let list = Arc::new(List::of(state, self.wanted));
        *made = Some(Made { of: state.ended_episodes.len(), wanted: self.wanted, list: list.clone() });
        list
    }

    fn walk(&mut self, look: &Context<'_>, by: isize) {
        let all = self.rows(look);
        self.chosen = stepped(self.chosen, by, all);
        self.moved = true;
    }

    /// Rows in the list, the open episode's with them.
    fn rows(&self, look: &Context<'_>) -> usize {
        self.list(look).rows.len() + usize::from(self.open_row(look))
    }

    /// The open episode has a row of its own at the end, unless only failed ones are listed.
    fn open_row(&self, look: &Context<'_>) -> bool {
        !self.wanted.failed && !self.wanted.grouped && look.moment.head.open_episode().is_some()
    }

    fn change(&mut self, look: &Context<'_>, edit: impl FnOnce(&mut Wanted)) -> Response {
        let state = &look.moment.head;
        let before = self.list(look).rows.get(self.chosen).and_then(|r| r.number(state));
        edit(&mut self.wanted);
        // The chosen episode stays chosen where it is still listed.
        let list = self.list(look);
        let place = before.and_then(|n| list.rows.iter().position(|r| r.number(state) == Some(n)));
        self.chosen = place.unwrap_or(0);
        Response::default()
    }

    /// Plays the chosen episode again. A run that goes on is left for it: that is said before.
    fn rerun(&mut self, look: &Context<'_>) -> Response {
        let state = &look.moment.head;
        let number = match self.list(look).rows.get(self.chosen) {
            Some(row) => row.number(state),
            None => state.open_episode().map(|e| e.number),
        };
        let Some(number) = number else { return Response::default() };
        if look.reading() || state.run_over || self.asked == Some(number) {
            return Response::want(Request::Rerun(number));
        }
        self.asked = Some(number);
        let key = look.keymap.label_in(Mode::Runs, Action::Rerun).unwrap_or_default();
        Response::want(Request::Say(format!(
            "{key} again leaves this run, which can be gone on with, and plays episode {number} as it began"
        )))
    }

    /// The moment an episode ended, or the present for the open one.
    fn go(&self, look: &Context<'_>) -> Response {
        let state = &look.moment.head;
        let list = self.list(look);
        match list.rows.get(self.chosen) {
            Some(Listed::Episode(place)) => {
                let Some(past) = state.ended_episodes.get(*place) else { return Response::close() };
                let now = state.episode.as_ref().is_some_and(|e| e.number == past.number);
                let to = if now { Cursor::Live } else { Cursor::At(crate::domain::Seq(past.seq_range.1)) };
                Response::done(Request::Go(to))
            }
            Some(Listed::Group(..)) => Response::default(),
            None if self.open_row(look) => Response::done(Request::Go(Cursor::Live)),
            None => Response::close(),
        }
    }
}

impl Overlay for Runs {
    fn name(&self) -> &'static str {
        "runs"
    }

    fn mode(&self) -> Mode {
        Mode::Runs
    }

    fn act(&mut self, action: Action, look: &Context<'_>) -> Response {
        let page = self.scroll.page();
        match action {
            Action::Close => return Response::close(),
            Action::OnlyFailed => return self.change(look, |w| w.failed = !w.failed),
            Action::SortRows => return self.change(look, |w| w.sort = w.sort.next()),
            Action::GroupCauses => return self.change(look, |w| w.grouped = !w.grouped),
            Action::Open | Action::Accept => return self.go(look),
            Action::Rerun => return self.rerun(look),
            Action::Help => return Response::want(Request::Do(action)),
            other => {
                if let Some(by) = moved(other, page) {
                    self.walk(look, by);
                }
            }
        }
        Response::default()
    }

    fn mouse(&mut self, event: MouseEvent, look: &Context<'_>) -> Response {
        match self.scroll.pointed(event) {
            Some(Pointed::Row(row)) if row == self.chosen && self.moved => return self.go(look),
            Some(Pointed::Row(row)) => {
                self.chosen = row;
                self.moved = true;
            }
            Some(Pointed::Wheel(by)) => self.walk(look, by * 3),
            None => {}
        }
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let (state, list) = (&look.moment.head, self.list(look));
        let all = self.rows(look);
        let rows = u16::try_from(all).unwrap_or(u16::MAX).max(1).saturating_add(ABOVE);
        let title = self.wanted.title(state, &list);
        let window = Window { title: &title, place: Place::Middle, rows, columns: 150, mode: Mode::Runs };
        let inside = window.draw(look, screen, canvas);
        let columns = row::Columns::for_width(inside.width);
        put_line(&list.sums(state, inside.width, look.glyphs), Rect { height: 1, ..inside }, canvas);
        if inside.height <= ABOVE {
            return;
        }
        let head = Rect { y: inside.y + 1, height: 1, ..inside };
        put_line(&columns.head(self.wanted.sort), head, canvas);
        let body = Rect { y: inside.y + ABOVE, height: inside.height - ABOVE, ..inside };
        if all == 0 {
            let words = if state.ended_episodes.is_empty() {
                "no episode has ended yet"
            } else {
                "none of them failed"
            };
            canvas.put(body.x, body.y, body.width, words, canvas.style(Role::Dim));
            return;
        }
        let chosen = self.chosen.min(all - 1);
        self.scroll.list(chosen, all, body, canvas, |place| {
            let here = place == chosen;
            match list.rows.get(place) {
                Some(Listed::Episode(at)) => state
                    .ended_episodes
                    .get(*at)
                    .map_or_else(Vec::new, |past| columns.ended(past, here, look.glyphs)),
                Some(Listed::Group(words, count)) => row::group(words, *count, here, look.glyphs),
                None => state.open_episode().map_or_else(Vec::new, |e| columns.open(e, here, look.glyphs)),
            }
        });
        self.scroll.bar(body, canvas);
    }
}
