//! Every action by name.

use super::field::Field;
use super::fuzzy::rank;
use super::window::{Line, Place, Pointed, Scroll, Window, put_line};
use super::{Overlay, Response, moved, place, stepped};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// The palette: type a few letters of an action, or the number of a step.
pub struct Palette {
    field: Field,
    fitting: Vec<Action>,
    chosen: usize,
    scroll: Scroll,
}

impl Default for Palette {
    fn default() -> Self {
        let mut palette =
            Self { field: Field::line(""), fitting: Vec::new(), chosen: 0, scroll: Scroll::default() };
        palette.filter();
        palette
    }
}

impl Palette {
    fn filter(&mut self) {
        let all: Vec<Action> = Action::ALL.iter().copied().filter(|a| a.in_palette()).collect();
        let words: Vec<String> = all.iter().map(|a| format!("{} {}", a.name(), a.about())).collect();
        let query = self.field.text();
        // What is in the name counts for more than what is in the words about it.
        let mut order = rank(&query, all.iter().map(|a| a.name()));
        for place in rank(&query, words.iter().map(String::as_str)) {
            if !order.contains(&place) {
                order.push(place);
            }
        }
        self.fitting = order.into_iter().map(|i| all[i]).collect();
        self.chosen = 0;
    }

    /// A number goes to that step; `2.14` to step 14 of episode 2.
    fn step(&self) -> Option<(Option<u32>, u32)> {
        let text = self.field.text();
        let text = text.trim_start_matches(':');
        match text.split_once('.') {
            Some((episode, step)) => Some((Some(episode.parse().ok()?), step.parse().ok()?)),
            None => Some((None, text.parse().ok()?)),
        }
    }

    fn run(&self, look: &Context<'_>) -> Response {
        if let Some((episode, step)) = self.step() {
            return Response::done(place(look, episode, step).map_or_else(Request::Say, Request::Go));
        }
        // A number below none is no word either: in the names it would find what has the same digit.
        if let Ok(below) = self.field.text().trim_start_matches(':').trim().parse::<i64>() {
            return Response::done(Request::Say(format!("there is no turn {below}")));
        }
        self.fitting.get(self.chosen).map_or_else(Response::default, |a| Response::done(Request::Do(*a)))
    }

    fn choose(&mut self, by: isize) {
        self.chosen = stepped(self.chosen, by, self.fitting.len());
    }
}

impl Overlay for Palette {
    fn name(&self) -> &'static str {
        "palette"
    }

    fn mode(&self) -> Mode {
        Mode::Palette
    }

    fn act(&mut self, action: Action, look: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.run(look),
            other => self.choose(moved(other, 10).unwrap_or(0)),
        }
        Response::default()
    }

    fn key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if self.field.key(key) {
            self.filter();
        }
        Response::default()
    }

    fn paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if self.field.paste(text) {
            self.filter();
        }
        Response::default()
    }

    fn mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        match self.scroll.pointed(event) {
            Some(Pointed::Row(row)) => self.chosen = row,
            Some(Pointed::Wheel(by)) => self.choose(by),
            None => {}
        }
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let window =
            Window { title: "Actions", place: Place::Middle, rows: 16, columns: 88, mode: Mode::Palette };
        let inside = window.draw(look, screen, canvas);
        canvas.put(inside.x, inside.y, 2, ":", canvas.style(Role::Key));
        let line = Rect { x: inside.x + 2, width: inside.width.saturating_sub(2), height: 1, ..inside };
        self.field.draw(true, line, canvas);
        let list = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
        if let Some((episode, step)) = self.step() {
            let of = episode.map_or_else(String::new, |e| format!(" of episode {e}"));
            put_line(&[(Role::Chosen, format!("go to turn {step}{of}"))], list, canvas);
            return;
        }
        if self.fitting.is_empty() {
            put_line(&[(Role::Dim, "no action is called so".to_owned())], list, canvas);
            return;
        }
        self.scroll.list(self.chosen, self.fitting.len(), list, canvas, |place| {
            let Some(action) = self.fitting.get(place) else { return Line::new() };
            let role = if place == self.chosen { Role::Chosen } else { Role::Text };
            let key = look.keymap.label(*action).unwrap_or_default();
            vec![
                (Role::Key, format!("{key:<7}")),
                (role, format!("{:<21}", action.name())),
                (Role::Dim, action.about().to_owned()),
            ]
        });
    }
}
