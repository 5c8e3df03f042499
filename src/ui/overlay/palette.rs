//! The palette: runs any action by name.

use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::widget::fuzzy::rank;
use crate::ui::widget::list_index::{clamped_index, row_delta};
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, MouseTarget, Scroll, Window, WindowPosition, put_line};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// The palette overlay. Its query is part of an action's name or description, or a step number.
pub(super) struct Palette {
    field: TextField,
    matches: Vec<Action>,
    selected: usize,
    scroll: Scroll,
}

impl Default for Palette {
    fn default() -> Self {
        let mut palette = Self {
            field: TextField::single_line(""),
            matches: Vec::new(),
            selected: 0,
            scroll: Scroll::default(),
        };
        palette.filter();
        palette
    }
}

impl Palette {
    fn filter(&mut self) {
        let all: Vec<Action> = Action::ALL.iter().copied().filter(|a| a.is_in_palette()).collect();
        let descriptions: Vec<String> = all.iter().map(|a| format!("{} {}", a.name(), a.about())).collect();
        let query = self.field.text();
        // Matches in the name rank above matches in the description.
        let mut order = rank(&query, all.iter().map(|a| a.name()));
        for index in rank(&query, descriptions.iter().map(String::as_str)) {
            if !order.contains(&index) {
                order.push(index);
            }
        }
        self.matches = order.into_iter().map(|i| all[i]).collect();
        self.selected = 0;
    }

    /// Parses a position: `14` is step 14, `2.14` is step 14 of episode 2.
    fn typed_step(&self) -> Option<(Option<u32>, u32)> {
        let text = self.field.text();
        let text = text.trim_start_matches(':');
        match text.split_once('.') {
            Some((episode, step)) => Some((Some(episode.parse().ok()?), step.parse().ok()?)),
            None => Some((None, text.parse().ok()?)),
        }
    }

    fn run_selected(&self) -> Response {
        if let Some((episode, step)) = self.typed_step() {
            return Response::request_and_close(Request::GoToStep { episode, step });
        }
        // Don't run a match for a negative number: its digits would match action names such as `pane-1`.
        if let Ok(negative) = self.field.text().trim_start_matches(':').trim().parse::<i64>() {
            return Response::request_and_close(Request::ShowNotice(format!("no step {negative}")));
        }
        self.matches
            .get(self.selected)
            .map_or_else(Response::default, |a| Response::request_and_close(Request::RunAction(*a)))
    }

    fn move_selection(&mut self, by: isize) {
        self.selected = clamped_index(self.selected, by, self.matches.len());
    }
}

impl Component for Palette {
    fn name(&self) -> &'static str {
        "palette"
    }

    fn mode(&self) -> Mode {
        Mode::Palette
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.run_selected(),
            other => self.move_selection(row_delta(other, 10).unwrap_or(0)),
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if self.field.on_key(key) {
            self.filter();
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if self.field.on_paste(text) {
            self.filter();
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) => self.selected = row,
            Some(MouseTarget::Wheel(by)) => self.move_selection(by),
            None => {}
        }
        Response::default()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let window = Window {
            title: "Actions",
            position: WindowPosition::Middle,
            rows: 16,
            columns: 88,
            mode: Mode::Palette,
        };
        let inside = window.draw(context, screen, canvas);
        canvas.put(inside.x, inside.y, 2, ":", canvas.style(Role::Key));
        let line = Rect { x: inside.x + 2, width: inside.width.saturating_sub(2), height: 1, ..inside };
        self.field.draw(true, line, canvas);
        let list = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
        if let Some((episode, step)) = self.typed_step() {
            let suffix = episode.map_or_else(String::new, |e| format!(" of episode {e}"));
            put_line(&[(Role::Selection, format!("go to step {step}{suffix}"))], list, canvas);
            return;
        }
        if self.matches.is_empty() {
            put_line(&[(Role::Muted, "no matching action".to_owned())], list, canvas);
            return;
        }
        self.scroll.draw_list(self.selected, self.matches.len(), list, canvas, |index| {
            let Some(action) = self.matches.get(index) else { return Line::new() };
            let role = if index == self.selected { Role::Selection } else { Role::Text };
            let key = context.keymap.key_label(*action).unwrap_or_default();
            vec![
                (Role::Key, format!("{key:<7}")),
                (role, format!("{:<21}", action.name())),
                (Role::Muted, action.about().to_owned()),
            ]
        });
    }
}
