//! Words in the steps of the session: those of the listed episode at once, those of the others as they are found.

use super::choice::wrapped_index;
use super::text_field::TextField;
use super::window::{Line, MouseTarget, Scroll, Window, WindowPosition};
use super::{Answer, Overlay, Response, cursor_after};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::find::{self, SearchHit, SearchStatus, StepPart};
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::Cursor;
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// A search: first the words are typed, then the places are walked through. Nothing can step while it is open.
pub struct Search {
    field: TextField,
    is_typing: bool,
    /// In the order of the session.
    hits: Vec<SearchHit>,
    /// The other episodes are still being searched.
    is_searching: bool,
    selected: usize,
    scroll: Scroll,
    /// Where the panes stood when it began.
    return_to: Cursor,
}

impl Search {
    /// A search that returns to this moment when it is closed without staying.
    pub fn new(from: Cursor) -> Self {
        Self {
            field: TextField::single_line(""),
            is_typing: true,
            hits: Vec::new(),
            is_searching: false,
            selected: 0,
            scroll: Scroll::default(),
            return_to: from,
        }
    }

    fn start_search(&mut self, look: &Context<'_>) -> Response {
        let words = self.field.text();
        let Some(episode) = look.episode() else { return Response::default() };
        self.hits = find::search_episode(episode, &words, find::MAX_HITS);
        self.select_nearest(look);
        let mut reaction = self.go_to_selected(look);
        if find::has_other_episodes(&look.frame.head, episode.number) {
            self.is_searching = !words.is_empty();
            reaction.requests.push(Request::Search { query: words, searched_episode: episode.number });
        }
        reaction
    }

    /// The nearest place at or after the chosen step is the one to begin with.
    fn select_nearest(&mut self, look: &Context<'_>) {
        let now = (look.episode().map_or(0, |e| e.number), look.frame.selected_step());
        self.selected = self.hits.iter().position(|m| (m.episode, m.step) >= now).unwrap_or(0);
    }

    /// Takes in what was found elsewhere; the chosen place stays chosen.
    fn add_hits(&mut self, mut hits: Vec<SearchHit>, look: &Context<'_>) {
        let first = self.hits.is_empty();
        let chosen = self.hits.get(self.selected).map(|m| (m.episode, m.step));
        hits.truncate(find::MAX_HITS.saturating_sub(self.hits.len()));
        self.selected += hits.iter().filter(|m| chosen.is_some_and(|c| (m.episode, m.step) < c)).count();
        self.hits.append(&mut hits);
        // Stable, so that the places of one step stay in their order.
        self.hits.sort_by_key(|m| (m.episode, m.step));
        if first {
            self.select_nearest(look);
        }
    }

    fn go_to_selected(&self, look: &Context<'_>) -> Response {
        let there = self.hits.get(self.selected).and_then(|m| cursor_after(look, m.episode, m.step));
        // Where nothing is found, it is as before the first letter.
        Response::request(Request::MoveCursor(there.unwrap_or(self.return_to)))
    }

    /// It goes away, and nothing is looked for any more.
    fn close_search(&self, first: Option<Request>) -> Response {
        let stop = self.is_searching.then(|| Request::Search { query: String::new(), searched_episode: 0 });
        Response { requests: first.into_iter().chain(stop).collect(), close: true }
    }

    fn move_selection(&mut self, look: &Context<'_>, by: isize) -> Response {
        let all = self.hits.len();
        if all == 0 {
            return Response::default();
        }
        self.selected = wrapped_index(self.selected, by, all);
        self.go_to_selected(look)
    }

    /// The row of a place; where there are several episodes it says which.
    fn hit_row(&self, place: usize, room: usize, several: bool) -> Line {
        let Some(found) = self.hits.get(place) else { return Vec::new() };
        // The place stands within the row, also in long texts.
        let before = &found.text[..found.range.start];
        let skip = before.chars().count().saturating_sub(room / 3);
        let lead: String = before.chars().skip(skip).collect();
        let here = place == self.selected;
        let role = match found.part {
            StepPart::Thought => Role::Thought,
            StepPart::Action => Role::Action,
            StepPart::Observation => Role::Observation,
            StepPart::Remark => Role::Person,
        };
        let number = found.step.to_string();
        let number = if several { format!("{}.{number}", found.episode) } else { number };
        vec![
            (if here { Role::Selection } else { Role::Muted }, format!("{number:>5}  ")),
            (role, if skip > 0 { format!("…{lead}") } else { lead }),
            (
                if here { Role::SearchCurrent } else { Role::Search },
                found.text[found.range.clone()].to_owned(),
            ),
            (role, found.text[found.range.end..].chars().take(room).collect()),
        ]
    }
}

/// Rows inside its window.
fn window_rows(screen: Rect) -> u16 {
    if screen.height >= 20 { 7 } else { 4 }
}

impl Overlay for Search {
    fn name(&self) -> &'static str {
        "search"
    }

    fn mode(&self) -> Mode {
        if self.is_typing { Mode::SearchInput } else { Mode::Search }
    }

    fn on_action(&mut self, action: Action, look: &Context<'_>) -> Response {
        match action {
            // What was typed is taken back; what was walked to is kept.
            Action::Close if self.is_typing => self.close_search(Some(Request::MoveCursor(self.return_to))),
            Action::Accept if self.is_typing => {
                self.is_typing = self.hits.is_empty();
                self.go_to_selected(look)
            }
            Action::Close | Action::Open | Action::Accept => self.close_search(None),
            Action::Search => {
                self.is_typing = true;
                Response::default()
            }
            Action::NextMatch | Action::Down => self.move_selection(look, 1),
            Action::PreviousMatch | Action::Up => self.move_selection(look, -1),
            _ => Response::default(),
        }
    }

    fn on_key(&mut self, key: KeyEvent, look: &Context<'_>) -> Response {
        if self.is_typing && self.field.on_key(key) { self.start_search(look) } else { Response::default() }
    }

    fn on_paste(&mut self, text: &str, look: &Context<'_>) -> Response {
        if self.is_typing && self.field.on_paste(text) {
            self.start_search(look)
        } else {
            Response::default()
        }
    }

    fn on_answer(&mut self, answer: Answer, look: &Context<'_>) -> Response {
        if let Answer::SearchResults { query: words, hits, progress } = answer
            && words == self.field.text()
        {
            self.is_searching = progress == SearchStatus::Partial;
            self.add_hits(hits, look);
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, look: &Context<'_>) -> Response {
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) => {
                self.move_selection(look, row.cast_signed() - self.selected.cast_signed())
            }
            Some(MouseTarget::Wheel(by)) => self.move_selection(look, by),
            None => Response::default(),
        }
    }

    fn rows_covered(&self, _: &Context<'_>, screen: Rect) -> u16 {
        Window::rows_covered(window_rows(screen), screen)
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let more = if self.is_searching { ", looking through the other episodes" } else { "" };
        let title = match (self.hits.len(), self.field.text().is_empty()) {
            (_, true) => "Search".to_owned(),
            (0, _) => format!("Search: nothing found{}", if self.is_searching { " yet" } else { "" }) + more,
            (all, _) => format!("Search: {} of {all}{more}", self.selected + 1),
        };
        let several = look.frame.head.episode.as_ref().is_some_and(|e| e.number > 1);
        let window = Window {
            title: &title,
            position: WindowPosition::Bottom,
            rows: window_rows(screen),
            columns: screen.width,
            mode: self.mode(),
        };
        let inside = window.draw(look, screen, canvas);
        canvas.put(inside.x, inside.y, 2, "/", canvas.style(Role::Key));
        let line = Rect { x: inside.x + 2, width: inside.width.saturating_sub(2), height: 1, ..inside };
        self.field.draw(self.is_typing, line, canvas);
        let list = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
        let room = usize::from(list.width);
        self.scroll.draw_list(self.selected, self.hits.len(), list, canvas, |place| {
            self.hit_row(place, room, several)
        });
    }
}
