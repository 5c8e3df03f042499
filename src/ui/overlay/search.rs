//! Search in the session's steps. Hits in the episode on screen appear immediately, those in other episodes as they are
//! found.

use crate::domain::pluralize;
use crate::text::width;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::find::{self, SearchHit, SearchStatus, SearchedText};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::types::{Cursor, WorkKind};
use crate::ui::widget::list_index::wrapped_index;
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, MouseTarget, Scroll, Window, WindowPosition};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use std::cmp::{Ordering, Reverse};

/// Search overlay: first the query is typed, then keys move through the hits. No key can step while it is open.
pub(super) struct Search {
    field: TextField,
    is_typing: bool,
    /// The hits, in session order.
    hits: Vec<SearchHit>,
    /// Whether other episodes are still being searched.
    is_searching: bool,
    /// In how many of the oldest episodes only the texts of steps were searched.
    only_steps: usize,
    selected: usize,
    scroll: Scroll,
    /// The cursor when the search was opened.
    return_to: Cursor,
    /// The episode and the step that were selected then.
    from_step: Option<(u32, u32)>,
}

impl Search {
    /// Creates a search that returns to `from` if it is closed while typing.
    pub(super) fn new(from: Cursor) -> Self {
        Self {
            field: TextField::single_line(""),
            is_typing: true,
            hits: Vec::new(),
            is_searching: false,
            only_steps: 0,
            selected: 0,
            scroll: Scroll::default(),
            return_to: from,
            from_step: None,
        }
    }

    fn start_search(&mut self, context: &Context<'_>) -> Response {
        let words = self.field.text();
        let Some(episode) = context.episode() else { return Response::default() };
        let now = (episode.number, context.frame.selected_step());
        // What is typed moves the selection; the search stays where it began.
        let from = *self.from_step.get_or_insert(now);
        self.hits = find::search_story(&context.frame.story, &words, find::MAX_HITS);
        self.only_steps = 0;
        self.select_nearest(from);
        let mut response = self.go_to_selected();
        self.is_searching =
            !words.is_empty() && find::has_other_episodes(&context.frame.head, episode.number);
        if self.is_searching {
            response.requests.push(Request::Search { query: words, searched_episode: episode.number });
        }
        response
    }

    /// Selects the hit that is nearest to a step, the later one of two.
    fn select_nearest(&mut self, (episode, step): (u32, u32)) {
        let distance = |hit: &SearchHit| (hit.episode.abs_diff(episode), hit.step.abs_diff(step));
        // Of another episode, the end that is nearer: its last steps, or its first ones.
        let key = |hit: &SearchHit| match hit.episode.cmp(&episode) {
            Ordering::Equal => distance(hit),
            Ordering::Less => (distance(hit).0, u32::MAX - hit.step),
            Ordering::Greater => (distance(hit).0, hit.step),
        };
        let hits = self.hits.iter().enumerate();
        let nearest = hits.min_by_key(|(_, hit)| (key(hit), Reverse((hit.episode, hit.step))));
        self.selected = nearest.map_or(0, |(place, _)| place);
    }

    /// Adds hits of other episodes; the selected hit stays selected.
    fn add_hits(&mut self, mut hits: Vec<SearchHit>) {
        let first = self.hits.is_empty();
        let chosen = self.hits.get(self.selected).map(|m| (m.episode, m.step));
        hits.truncate(find::MAX_HITS.saturating_sub(self.hits.len()));
        self.selected += hits.iter().filter(|m| chosen.is_some_and(|c| (m.episode, m.step) < c)).count();
        self.hits.append(&mut hits);
        // The sort is stable, so the hits of one step stay in order.
        self.hits.sort_by_key(|m| (m.episode, m.step));
        if let Some(from) = self.from_step.filter(|_| first) {
            self.select_nearest(from);
        }
    }

    fn go_to_selected(&self) -> Response {
        Response::request(match self.hits.get(self.selected) {
            Some(hit) => Request::GoToStep { episode: Some(hit.episode), step: hit.step },
            // Without hits, restore the cursor from before the search.
            None => Request::MoveCursor(self.return_to),
        })
    }

    fn move_selection(&mut self, by: isize) -> Response {
        let all = self.hits.len();
        if all == 0 {
            return Response::default();
        }
        self.selected = wrapped_index(self.selected, by, all);
        self.go_to_selected()
    }

    /// Says what wasn't searched of old episodes.
    fn only_steps_text(&self) -> String {
        let episodes = self.only_steps as u64;
        if episodes == 0 {
            return String::new();
        }
        format!(", without reasoning, mistakes and lessons of the oldest {}", pluralize(episodes, "episode"))
    }

    /// Returns the row of a hit. With several episodes the row includes the episode's number.
    fn hit_row(&self, place: usize, room: usize, several: bool) -> Line {
        let Some(found) = self.hits.get(place) else { return Vec::new() };
        let room = room.saturating_sub(NUMBER_COLUMNS);
        let lead = lead_before(&found.text[..found.range.start], &found.text[found.range.clone()], room);
        let here = place == self.selected;
        let role = match found.part {
            SearchedText::Thought => Role::Thought,
            SearchedText::Action => Role::Action,
            SearchedText::Observation => Role::Observation,
            SearchedText::Remark | SearchedText::Act => Role::Person,
            SearchedText::Finding => Role::Bad,
            SearchedText::Lesson => Role::Lesson,
        };
        let number = found.step.to_string();
        let number = if several { format!("{}.{number}", found.episode) } else { number };
        vec![
            (if here { Role::Selection } else { Role::Muted }, format!("{number:>0$}  ", NUMBER_COLUMNS - 2)),
            (role, lead),
            (
                if here { Role::SearchCurrent } else { Role::Search },
                found.text[found.range.clone()].to_owned(),
            ),
            (role, found.text[found.range.end..].chars().take(room).collect()),
        ]
    }
}

/// The columns of a hit's step, with the gap after it.
const NUMBER_COLUMNS: usize = 7;

/// Returns as much of the text before a hit as leaves the hit visible: all of it if there is room, else the last words.
fn lead_before(before: &str, hit: &str, room: usize) -> String {
    if width(before) + width(hit) <= room {
        return before.to_owned();
    }
    let chars = before.char_indices().rev().take(room / 3);
    let start = chars.last().map_or(before.len(), |(at, _)| at);
    let is_word_start = before[..start].ends_with(' ');
    let start = match before[start..].find(' ').filter(|_| !is_word_start) {
        Some(at) => start + at + 1,
        None => start,
    };
    format!("…{}", &before[start..])
}

/// Returns the number of rows inside the window.
fn window_rows(screen: Rect) -> u16 {
    if screen.height >= 20 { 7 } else { 4 }
}

impl Component for Search {
    fn name(&self) -> &'static str {
        "search"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        if self.is_typing { Mode::SearchInput } else { Mode::Search }
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            // Closing while typing returns to the start; closing at a hit stays there.
            Action::Close if self.is_typing => {
                Response::request_and_close(Request::MoveCursor(self.return_to))
            }
            Action::Accept if self.is_typing => {
                self.is_typing = self.hits.is_empty();
                self.go_to_selected()
            }
            Action::Close | Action::Open | Action::Accept => Response::close(),
            Action::Search => {
                self.is_typing = true;
                Response::default()
            }
            Action::NextMatch | Action::Down => self.move_selection(1),
            Action::PreviousMatch | Action::Up => self.move_selection(-1),
            _ => Response::default(),
        }
    }

    fn on_key(&mut self, key: KeyEvent, context: &Context<'_>) -> Response {
        if self.is_typing && self.field.on_key(key) {
            self.start_search(context)
        } else {
            Response::default()
        }
    }

    fn on_paste(&mut self, text: &str, context: &Context<'_>) -> Response {
        if self.is_typing && self.field.on_paste(text) {
            self.start_search(context)
        } else {
            Response::default()
        }
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let Answer::SearchResults { query: words, hits, progress } = answer
            && words == self.field.text()
        {
            self.is_searching = progress == SearchStatus::Partial;
            if let SearchStatus::Complete { only_steps } = progress {
                self.only_steps = only_steps;
            }
            self.add_hits(hits);
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) => {
                self.move_selection(row.cast_signed() - self.selected.cast_signed())
            }
            Some(MouseTarget::Wheel(by)) => self.move_selection(by),
            None => Response::default(),
        }
    }

    fn awaits(&self) -> Option<WorkKind> {
        self.is_searching.then_some(WorkKind::Search)
    }

    fn rows_covered(&self, _: &Context<'_>, screen: Rect) -> u16 {
        Window::rows_covered(window_rows(screen), screen)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let more = match self.awaits() {
            Some(work) => context.work_text(", searching other episodes", work),
            None => self.only_steps_text(),
        };
        let title = match (self.hits.len(), self.field.text().is_empty()) {
            (_, true) => "Search".to_owned(),
            (0, _) => format!("Search: no match{}{more}", if self.is_searching { " yet" } else { "" }),
            (all, _) => format!("Search: {} of {all}{more}", self.selected + 1),
        };
        let several = context.frame.head.episode.as_ref().is_some_and(|e| e.number > 1);
        let window = Window {
            title: &title,
            position: WindowPosition::Bottom,
            rows: window_rows(screen),
            columns: screen.width,
            mode: self.mode(context),
        };
        let inside = window.draw(context, screen, canvas);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: `You arrive at shelf 2` was shown as `…rrive at shelf 2` beside empty columns.
    #[test]
    fn the_text_before_a_hit_is_cut_only_if_needed_and_between_words() {
        let before = "You arrive at cabinet 3. The cabinet 3 is closed. You see a ";
        assert_eq!(lead_before(before, "mug", 80), before);
        assert_eq!(lead_before(before, "mug", 40), "…You see a ");
        assert_eq!(lead_before("aaaaaaaaaaaaaaaaaaaa", "mug", 15), "…aaaaa");
    }
}
