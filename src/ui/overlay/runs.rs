//! The run: a row for every episode, what they came to so far, and how long the rest may take.

mod list;
mod row;

#[cfg(test)]
mod tests;

use super::window::{MouseTarget, Scroll, Window, WindowPosition, put_line};
use super::{Overlay, Response, clamped_index, row_delta};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::Cursor;
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::MouseEvent;
use list::{EpisodeRows, ListOptions, ListRow};
use ratatui::layout::Rect;
use std::cell::RefCell;
use std::sync::Arc;

/// Rows above the list: the sums, and the heads of its columns.
const HEADER_ROWS: u16 = 2;

/// The list of episodes.
#[derive(Default)]
pub struct EpisodeList {
    options: ListOptions,
    /// The chosen row's place in the list.
    selected: usize,
    /// A person has chosen it: it stays where it is while rows come in behind it.
    person_selected: bool,
    /// The episode that was asked for once, where playing it again leaves a run that goes on.
    rerun_warned_for: Option<u32>,
    scroll: Scroll,
    /// The list as it was made last, and of how many ended episodes.
    cached: RefCell<Option<CachedList>>,
}

struct CachedList {
    ended_episodes: usize,
    wanted: ListOptions,
    list: Arc<EpisodeRows>,
}

impl EpisodeList {
    /// Opened where the panes stand.
    pub fn at_shown_episode(look: &Context<'_>) -> Self {
        let runs = Self::default();
        let number = look.episode().map_or(0, |e| e.number);
        let chosen = runs.list(look).rows.iter().position(|r| r.number(&look.frame.head) == Some(number));
        // The open episode is none of the ended ones: its row is the last.
        let last = runs.row_count(look).saturating_sub(1);
        Self { selected: chosen.unwrap_or(last), ..runs }
    }

    /// The rows in force: made anew when an episode ended or another order is wanted.
    fn list(&self, look: &Context<'_>) -> Arc<EpisodeRows> {
        let state = &look.frame.head;
        let mut made = self.cached.borrow_mut();
        if let Some(m) = made
            .as_ref()
            .filter(|m| m.ended_episodes == state.ended_episodes.len() && m.wanted == self.options)
        {
            return m.list.clone();
        }
        let list = Arc::new(EpisodeRows::build(state, self.options));
        *made = Some(CachedList {
            ended_episodes: state.ended_episodes.len(),
            wanted: self.options,
            list: list.clone(),
        });
        list
    }

    fn move_selection(&mut self, look: &Context<'_>, by: isize) {
        let all = self.row_count(look);
        self.selected = clamped_index(self.selected, by, all);
        self.person_selected = true;
    }

    /// Rows in the list, the open episode's with them.
    fn row_count(&self, look: &Context<'_>) -> usize {
        self.list(look).rows.len() + usize::from(self.has_open_row(look))
    }

    /// The open episode has a row of its own at the end, unless only failed ones are listed.
    fn has_open_row(&self, look: &Context<'_>) -> bool {
        !self.options.failed_only && !self.options.by_cause && look.frame.head.open_episode().is_some()
    }

    fn change_options(&mut self, look: &Context<'_>, edit: impl FnOnce(&mut ListOptions)) -> Response {
        let state = &look.frame.head;
        let before = self.list(look).rows.get(self.selected).and_then(|r| r.number(state));
        edit(&mut self.options);
        // The chosen episode stays chosen where it is still listed.
        let list = self.list(look);
        let place = before.and_then(|n| list.rows.iter().position(|r| r.number(state) == Some(n)));
        self.selected = place.unwrap_or(0);
        Response::default()
    }

    /// Plays the chosen episode again. A run that goes on is left for it: that is said before.
    fn rerun(&mut self, look: &Context<'_>) -> Response {
        let state = &look.frame.head;
        let number = match self.list(look).rows.get(self.selected) {
            Some(row) => row.number(state),
            None => state.open_episode().map(|e| e.number),
        };
        let Some(number) = number else { return Response::default() };
        if look.is_read_only() || state.run_over || self.rerun_warned_for == Some(number) {
            return Response::request(Request::Rerun(number));
        }
        self.rerun_warned_for = Some(number);
        let key = look.keymap.key_label_in(Mode::EpisodeList, Action::Rerun).unwrap_or_default();
        Response::request(Request::ShowNotice(format!(
            "{key} again leaves this run, which can be gone on with, and plays episode {number} as it began"
        )))
    }

    /// The moment an episode ended, or the present for the open one.
    fn go_to_selected(&self, look: &Context<'_>) -> Response {
        let state = &look.frame.head;
        let list = self.list(look);
        match list.rows.get(self.selected) {
            Some(ListRow::Episode(place)) => {
                let Some(past) = state.ended_episodes.get(*place) else { return Response::close() };
                let now = state.episode.as_ref().is_some_and(|e| e.number == past.number);
                let to = if now { Cursor::Live } else { Cursor::At(crate::domain::Seq(past.seq_range.1)) };
                Response::request_and_close(Request::MoveCursor(to))
            }
            Some(ListRow::Group(..)) => Response::default(),
            None if self.has_open_row(look) => Response::request_and_close(Request::MoveCursor(Cursor::Live)),
            None => Response::close(),
        }
    }
}

impl Overlay for EpisodeList {
    fn name(&self) -> &'static str {
        "runs"
    }

    fn mode(&self) -> Mode {
        Mode::EpisodeList
    }

    fn on_action(&mut self, action: Action, look: &Context<'_>) -> Response {
        let page = self.scroll.page_rows();
        match action {
            Action::Close => return Response::close(),
            Action::OnlyFailed => return self.change_options(look, |w| w.failed_only = !w.failed_only),
            Action::SortRows => return self.change_options(look, |w| w.sort = w.sort.next()),
            Action::GroupByCause => return self.change_options(look, |w| w.by_cause = !w.by_cause),
            Action::Open | Action::Accept => return self.go_to_selected(look),
            Action::Rerun => return self.rerun(look),
            Action::Help => return Response::request(Request::RunAction(action)),
            other => {
                if let Some(by) = row_delta(other, page) {
                    self.move_selection(look, by);
                }
            }
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, look: &Context<'_>) -> Response {
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) if row == self.selected && self.person_selected => {
                return self.go_to_selected(look);
            }
            Some(MouseTarget::Row(row)) => {
                self.selected = row;
                self.person_selected = true;
            }
            Some(MouseTarget::Wheel(by)) => self.move_selection(look, by * 3),
            None => {}
        }
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let (state, list) = (&look.frame.head, self.list(look));
        let all = self.row_count(look);
        let rows = u16::try_from(all).unwrap_or(u16::MAX).max(1).saturating_add(HEADER_ROWS);
        let title = self.options.title(state, &list);
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows,
            columns: 150,
            mode: Mode::EpisodeList,
        };
        let inside = window.draw(look, screen, canvas);
        let columns = row::Columns::for_width(inside.width);
        put_line(&list.summary_line(state, inside.width, look.glyphs), Rect { height: 1, ..inside }, canvas);
        if inside.height <= HEADER_ROWS {
            return;
        }
        let head = Rect { y: inside.y + 1, height: 1, ..inside };
        put_line(&columns.header(self.options.sort), head, canvas);
        let body = Rect { y: inside.y + HEADER_ROWS, height: inside.height - HEADER_ROWS, ..inside };
        if all == 0 {
            let words = if state.ended_episodes.is_empty() {
                "no episode has ended yet"
            } else {
                "none of them failed"
            };
            canvas.put(body.x, body.y, body.width, words, canvas.style(Role::Muted));
            return;
        }
        let chosen = self.selected.min(all - 1);
        self.scroll.draw_list(chosen, all, body, canvas, |place| {
            let here = place == chosen;
            match list.rows.get(place) {
                Some(ListRow::Episode(at)) => state
                    .ended_episodes
                    .get(*at)
                    .map_or_else(Vec::new, |past| columns.ended_row(past, here, look.glyphs)),
                Some(ListRow::Group(words, count)) => row::group_row(words, *count, here, look.glyphs),
                None => {
                    state.open_episode().map_or_else(Vec::new, |e| columns.open_row(e, here, look.glyphs))
                }
            }
        });
        self.scroll.draw_scrollbar(body, canvas);
    }
}
