//! Words in the steps of the session: those of the listed episode at once, those of the others as they are found.

use super::choice::around;
use super::field::Field;
use super::window::{Line, Place, Pointed, Scroll, Window};
use super::{Answer, Overlay, Response, after};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::find::{self, Hit, Part, Progress};
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::Cursor;
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// A search: first the words are typed, then the places are walked through. Nothing can step while it is open.
pub struct Search {
    field: Field,
    typing: bool,
    /// In the order of the session.
    found: Vec<Hit>,
    /// The other episodes are still being searched.
    going_on: bool,
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
            going_on: false,
            chosen: 0,
            scroll: Scroll::default(),
            from,
        }
    }

    fn look_up(&mut self, look: &Context<'_>) -> Response {
        let words = self.field.text();
        let Some(episode) = look.episode() else { return Response::default() };
        self.found = find::in_episode(episode, &words, find::MOST);
        self.choose_near(look);
        let mut reaction = self.go(look);
        if find::has_others(&look.moment.head, episode.number) {
            self.going_on = !words.is_empty();
            reaction.requests.push(Request::Find { words, shown: episode.number });
        }
        reaction
    }

    /// The nearest place at or after the chosen step is the one to begin with.
    fn choose_near(&mut self, look: &Context<'_>) {
        let now = (look.episode().map_or(0, |e| e.number), look.moment.chosen());
        self.chosen = self.found.iter().position(|m| (m.episode, m.step) >= now).unwrap_or(0);
    }

    /// Takes in what was found elsewhere; the chosen place stays chosen.
    fn learn(&mut self, mut hits: Vec<Hit>, look: &Context<'_>) {
        let first = self.found.is_empty();
        let chosen = self.found.get(self.chosen).map(|m| (m.episode, m.step));
        hits.truncate(find::MOST.saturating_sub(self.found.len()));
        self.chosen += hits.iter().filter(|m| chosen.is_some_and(|c| (m.episode, m.step) < c)).count();
        self.found.append(&mut hits);
        // Stable, so that the places of one step stay in their order.
        self.found.sort_by_key(|m| (m.episode, m.step));
        if first {
            self.choose_near(look);
        }
    }

    fn go(&self, look: &Context<'_>) -> Response {
        let there = self.found.get(self.chosen).and_then(|m| after(look, m.episode, m.step));
        // Where nothing is found, it is as before the first letter.
        Response::want(Request::Go(there.unwrap_or(self.from)))
    }

    /// It goes away, and nothing is looked for any more.
    fn close(&self, first: Option<Request>) -> Response {
        let stop = self.going_on.then(|| Request::Find { words: String::new(), shown: 0 });
        Response { requests: first.into_iter().chain(stop).collect(), close: true }
    }

    fn walk(&mut self, look: &Context<'_>, by: isize) -> Response {
        let all = self.found.len();
        if all == 0 {
            return Response::default();
        }
        self.chosen = around(self.chosen, by, all);
        self.go(look)
    }

    /// The row of a place; where there are several episodes it says which.
    fn row(&self, place: usize, room: usize, several: bool) -> Line {
        let Some(found) = self.found.get(place) else { return Vec::new() };
        // The place stands within the row, also in long texts.
        let before = &found.text[..found.at.start];
        let skip = before.chars().count().saturating_sub(room / 3);
        let lead: String = before.chars().skip(skip).collect();
        let here = place == self.chosen;
        let role = match found.part {
            Part::Thought => Role::Thought,
            Part::Action => Role::Action,
            Part::Observation => Role::Observation,
            Part::Remark => Role::Person,
        };
        let number = found.step.to_string();
        let number = if several { format!("{}.{number}", found.episode) } else { number };
        vec![
            (if here { Role::Chosen } else { Role::Dim }, format!("{number:>5}  ")),
            (role, if skip > 0 { format!("…{lead}") } else { lead }),
            (if here { Role::SearchCurrent } else { Role::Search }, found.text[found.at.clone()].to_owned()),
            (role, found.text[found.at.end..].chars().take(room).collect()),
        ]
    }
}

/// Rows inside its window.
fn rows(screen: Rect) -> u16 {
    if screen.height >= 20 { 7 } else { 4 }
}

impl Overlay for Search {
    fn name(&self) -> &'static str {
        "search"
    }

    fn mode(&self) -> Mode {
        if self.typing { Mode::SearchInput } else { Mode::Search }
    }

    fn act(&mut self, action: Action, look: &Context<'_>) -> Response {
        match action {
            // What was typed is taken back; what was walked to is kept.
            Action::Close if self.typing => self.close(Some(Request::Go(self.from))),
            Action::Accept if self.typing => {
                self.typing = self.found.is_empty();
                self.go(look)
            }
            Action::Close | Action::Open | Action::Accept => self.close(None),
            Action::Search => {
                self.typing = true;
                Response::default()
            }
            Action::NextMatch | Action::Down => self.walk(look, 1),
            Action::PreviousMatch | Action::Up => self.walk(look, -1),
            _ => Response::default(),
        }
    }

    fn key(&mut self, key: KeyEvent, look: &Context<'_>) -> Response {
        if self.typing && self.field.key(key) { self.look_up(look) } else { Response::default() }
    }

    fn paste(&mut self, text: &str, look: &Context<'_>) -> Response {
        if self.typing && self.field.paste(text) { self.look_up(look) } else { Response::default() }
    }

    fn answer(&mut self, answer: Answer, look: &Context<'_>) -> Response {
        if let Answer::Found { words, hits, progress } = answer
            && words == self.field.text()
        {
            self.going_on = progress == Progress::GoesOn;
            self.learn(hits, look);
        }
        Response::default()
    }

    fn mouse(&mut self, event: MouseEvent, look: &Context<'_>) -> Response {
        match self.scroll.pointed(event) {
            Some(Pointed::Row(row)) => self.walk(look, row.cast_signed() - self.chosen.cast_signed()),
            Some(Pointed::Wheel(by)) => self.walk(look, by),
            None => Response::default(),
        }
    }

    fn covers(&self, _: &Context<'_>, screen: Rect) -> u16 {
        Window::covers(rows(screen), screen)
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let more = if self.going_on { ", looking through the other episodes" } else { "" };
        let title = match (self.found.len(), self.field.text().is_empty()) {
            (_, true) => "Search".to_owned(),
            (0, _) => format!("Search: nothing found{}", if self.going_on { " yet" } else { "" }) + more,
            (all, _) => format!("Search: {} of {all}{more}", self.chosen + 1),
        };
        let several = look.moment.head.episode.as_ref().is_some_and(|e| e.number > 1);
        let window = Window {
            title: &title,
            place: Place::Below,
            rows: rows(screen),
            columns: screen.width,
            mode: self.mode(),
        };
        let inside = window.draw(look, screen, canvas);
        canvas.put(inside.x, inside.y, 2, "/", canvas.style(Role::Key));
        let line = Rect { x: inside.x + 2, width: inside.width.saturating_sub(2), height: 1, ..inside };
        self.field.draw(self.typing, line, canvas);
        let list = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
        let room = usize::from(list.width);
        self.scroll.list(self.chosen, self.found.len(), list, canvas, |place| self.row(place, room, several));
    }
}
