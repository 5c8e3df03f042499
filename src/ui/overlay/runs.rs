//! The episode list: a row for every episode of the run, a summary so far, and an estimate of the time left.

mod list;
mod row;
mod sort;

#[cfg(test)]
mod tests;

use crate::domain::RunSpec;
use crate::engine::State;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::types::Cursor;
use crate::ui::widget::list_index::{clamped_index, row_delta};
use crate::ui::widget::window::{MouseTarget, PresentKeys, Scroll, Window, WindowPosition, put_line};
use crossterm::event::MouseEvent;
use list::{EpisodeRows, ListOptions, ListRow};
use ratatui::layout::Rect;
use std::cell::RefCell;
use std::sync::Arc;

/// Rows above the list: the summary and the column headers.
const HEADER_ROWS: u16 = 2;

/// Overlay that lists the run's episodes.
#[derive(Default)]
pub(super) struct EpisodeList {
    options: ListOptions,
    /// The row that was selected, and its episode, which the selection follows to another row.
    selected: usize,
    selected_episode: Option<u32>,
    /// Whether a person has moved the selection.
    person_selected: bool,
    /// The episode whose rerun was requested once, with a warning that it leaves an unfinished run.
    rerun_warned_for: Option<u32>,
    scroll: Scroll,
    /// The rows built last.
    cached: RefCell<Option<CachedList>>,
}

struct CachedList {
    ended_episodes: usize,
    options: ListOptions,
    list: Arc<EpisodeRows>,
}

impl EpisodeList {
    /// Creates the overlay with the episode on screen selected.
    pub(super) fn at_shown_episode(context: &Context<'_>) -> Self {
        let mut list = Self::default();
        let number = context.episode().map_or(0, |e| e.number);
        // The row of an open episode is the last one.
        let last = list.row_count(context).saturating_sub(1);
        list.select(list.row_of(number, context).unwrap_or(last), context);
        list
    }

    fn select(&mut self, row: usize, context: &Context<'_>) {
        (self.selected, self.selected_episode) = (row, self.episode_of(row, context));
    }

    /// Returns the selected row: that of the episode which was selected, wherever it is by now.
    fn selected_row(&self, context: &Context<'_>) -> usize {
        let row = self.selected_episode.and_then(|number| self.row_of(number, context));
        row.unwrap_or(self.selected).min(self.row_count(context).saturating_sub(1))
    }

    fn row_of(&self, number: u32, context: &Context<'_>) -> Option<usize> {
        (0..self.row_count(context)).find(|row| self.episode_of(*row, context) == Some(number))
    }

    fn episode_of(&self, row: usize, context: &Context<'_>) -> Option<u32> {
        let state = &context.frame.head;
        match self.list(context).rows.get(row) {
            Some(listed) => listed.number(state),
            None => state.open_episode().filter(|_| self.has_open_row(context)).map(|open| open.number),
        }
    }

    /// Returns the rows, rebuilt if an episode has ended or the options have changed.
    fn list(&self, context: &Context<'_>) -> Arc<EpisodeRows> {
        let state = &context.frame.head;
        let mut made = self.cached.borrow_mut();
        if let Some(m) = made
            .as_ref()
            .filter(|m| m.ended_episodes == state.ended_episodes.len() && m.options == self.options)
        {
            return m.list.clone();
        }
        let list = Arc::new(EpisodeRows::build(state, self.options));
        *made = Some(CachedList {
            ended_episodes: state.ended_episodes.len(),
            options: self.options,
            list: list.clone(),
        });
        list
    }

    fn move_selection(&mut self, context: &Context<'_>, by: isize) {
        let all = self.row_count(context);
        self.select(clamped_index(self.selected_row(context), by, all), context);
        self.person_selected = true;
    }

    /// Returns the number of rows, including the open episode's.
    fn row_count(&self, context: &Context<'_>) -> usize {
        self.list(context).rows.len() + usize::from(self.has_open_row(context))
    }

    /// Returns whether the episode in progress has a row at the end; it has none if only failed episodes are listed.
    fn has_open_row(&self, context: &Context<'_>) -> bool {
        !self.options.failed_only && !self.options.by_cause && context.frame.head.open_episode().is_some()
    }

    fn change_options(&mut self, context: &Context<'_>, edit: impl FnOnce(&mut ListOptions)) -> Response {
        let before = self.episode_of(self.selected_row(context), context);
        edit(&mut self.options);
        // Keep the episode selected if it is still listed.
        let row = before.and_then(|number| self.row_of(number, context));
        self.select(row.unwrap_or(0), context);
        Response::default()
    }

    /// Reruns the selected episode. If that leaves an unfinished run, warns first and asks for the key again.
    fn rerun(&mut self, context: &Context<'_>) -> Response {
        let state = &context.frame.head;
        let Some(number) = self.episode_of(self.selected_row(context), context) else {
            return Response::default();
        };
        if context.is_read_only() || state.run_over || self.rerun_warned_for == Some(number) {
            return Response::request(Request::Rerun(number));
        }
        self.rerun_warned_for = Some(number);
        let key = context.keymap.key_label_in(Mode::EpisodeList, Action::Rerun).unwrap_or_default();
        Response::request(Request::ShowNotice(format!(
            "press {key} again to leave this run (it can be resumed) and rerun episode {number}"
        )))
    }

    /// Goes to the end of the selected episode, or to the present for the open one.
    fn go_to_selected(&self, context: &Context<'_>) -> Response {
        let state = &context.frame.head;
        let list = self.list(context);
        match list.rows.get(self.selected_row(context)) {
            Some(ListRow::Episode(place)) => {
                let Some(past) = state.ended_episodes.get(*place) else { return Response::close() };
                let now = state.episode.as_ref().is_some_and(|e| e.number == past.number);
                let to = if now { Cursor::Live } else { Cursor::At(crate::domain::Seq(past.seq_range.1)) };
                Response::request_and_close(Request::MoveCursor(to))
            }
            Some(ListRow::Group(..)) => Response::default(),
            None if self.has_open_row(context) => {
                Response::request_and_close(Request::MoveCursor(Cursor::Live))
            }
            None => Response::close(),
        }
    }
}

impl Component for EpisodeList {
    fn name(&self) -> &'static str {
        "runs"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::EpisodeList
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        let page = self.scroll.page_rows();
        match action {
            Action::Close => return Response::close(),
            Action::OnlyFailed => return self.change_options(context, |w| w.failed_only = !w.failed_only),
            Action::SortRows => return self.change_options(context, |w| w.sort = w.sort.next()),
            Action::GroupByCause => return self.change_options(context, |w| w.by_cause = !w.by_cause),
            Action::Open | Action::Accept => return self.go_to_selected(context),
            Action::Rerun => return self.rerun(context),
            Action::Help => return Response::request(Request::RunAction(action)),
            other => {
                if let Some(by) = row_delta(other, page) {
                    self.move_selection(context, by);
                }
            }
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, context: &Context<'_>) -> Response {
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) if row == self.selected_row(context) && self.person_selected => {
                return self.go_to_selected(context);
            }
            Some(MouseTarget::Row(row)) => {
                self.select(row, context);
                self.person_selected = true;
            }
            Some(MouseTarget::Wheel(by)) => self.move_selection(context, by * 3),
            None => {}
        }
        Response::default()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let (state, list) = (&context.frame.head, self.list(context));
        let all = self.row_count(context);
        let rows = u16::try_from(all).unwrap_or(u16::MAX).max(1).saturating_add(HEADER_ROWS);
        let title = self.options.title(state, &list);
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows,
            columns: 120,
            mode: Mode::EpisodeList,
        };
        // A cause is no episode.
        let has_episode = self.episode_of(self.selected_row(context), context).is_some();
        let without_effect = if has_episode { &[] } else { &[Action::Open, Action::Rerun][..] };
        let keys = PresentKeys { without_effect, ..PresentKeys::default() };
        let inside = window.draw_with_keys(keys, context, screen, canvas);
        let is_without_model = state.run.as_deref().is_some_and(RunSpec::is_without_model);
        let columns = row::Columns::for_width(inside.width, is_without_model, has_several_trials(state));
        put_line(
            &list.summary_line(state, inside.width, context.glyphs),
            Rect { height: 1, ..inside },
            canvas,
        );
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
                "no failed episode"
            };
            canvas.put(body.x, body.y, body.width, words, canvas.style(Role::Muted));
            return;
        }
        let chosen = self.selected_row(context);
        self.scroll.draw_list(chosen, all, body, canvas, |place| {
            let here = place == chosen;
            match list.rows.get(place) {
                Some(ListRow::Episode(at)) => state
                    .ended_episodes
                    .get(*at)
                    .map_or_else(Vec::new, |past| columns.ended_row(past, here, context.glyphs)),
                Some(ListRow::Group(words, count)) => row::group_row(words, *count, here, context.glyphs),
                None => {
                    state.open_episode().map_or_else(Vec::new, |e| columns.open_row(e, here, context.glyphs))
                }
            }
        });
        self.scroll.draw_scrollbar(body, canvas);
    }
}

/// Returns whether any task was played more than once.
fn has_several_trials(state: &State) -> bool {
    let open = state.open_episode().map(|episode| episode.trial);
    state.ended_episodes.iter().map(|past| past.trial).chain(open).any(|trial| trial > 1)
}
