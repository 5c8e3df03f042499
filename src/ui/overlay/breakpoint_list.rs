//! The list of breakpoints and watches, and the input line that sets one, with completion.

mod row;

use crate::breakpoint::{CompletionContext, Suggestion, suggestions};
use crate::catalog::DETECTORS;
use crate::catalog::parse_condition;
use crate::engine::{Breakpoint, Command, State};
use crate::text::one_line;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::types::WorkKind;
use crate::ui::widget::list_index::{clamped_index, row_delta};
use crate::ui::widget::picker::{Picker, marked_row, rank};
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{
    Line, MouseTarget, PresentKeys, Scroll, Window, WindowPosition, paragraph, put_line, put_lines,
};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// Maximum number of actions that completion suggests.
const MAX_ACTIONS: usize = 400;

/// Maximum number of rows for the message below the input line.
const MAX_MESSAGE_ROWS: usize = 3;

const WINDOW_COLUMNS: u16 = 100;

/// The overlay that lists breakpoints and watches above an input line.
pub(super) struct BreakpointList {
    /// The input line and the suggestions for it.
    picker: Picker<Suggestion>,
    /// Whether the input line has the focus, else the list.
    is_typing: bool,
    /// The number of the breakpoint being edited.
    editing: Option<u32>,
    /// The selected row of the list.
    selected: usize,
    completion_data: CompletionContext,
    scroll: Scroll,
    error: Option<String>,
}

impl BreakpointList {
    /// Creates the overlay with an empty input line.
    pub(super) fn new(context: &Context<'_>) -> Self {
        let search =
            |all: &[Suggestion], query: &str| rank(all, query, |o| [o.text.as_str(), o.description.as_str()]);
        let mut list = Self {
            picker: Picker::preferring_text(TextField::single_line(""), search),
            is_typing: !context.is_read_only(),
            editing: None,
            selected: 0,
            completion_data: completion_data(&context.frame.head),
            scroll: Scroll::default(),
            error: None,
        };
        list.suggest();
        list
    }

    /// Updates the suggestions for the typed text.
    fn suggest(&mut self) {
        let offers = suggestions(&format!("{} ", self.picker.text()), &self.completion_data);
        self.picker.update_items(offers, PartialEq::eq);
        self.error = None;
    }

    fn edit_condition(&mut self, text: &str, number: Option<u32>) {
        self.picker.set_text(text);
        self.is_typing = true;
        self.editing = number;
        self.suggest();
    }

    /// Sets the typed or selected condition. An invalid one stays in the line, with the parse error below.
    fn set_breakpoint(&mut self) -> Response {
        let typed = self.picker.selected().map_or_else(|| self.picker.text(), |o| o.text.clone());
        let parsed = match parse_condition(&typed) {
            Ok(parsed) => parsed.to_config(),
            Err(bad) => {
                self.error = Some(if typed.is_empty() {
                    "type a condition or choose one below".to_owned()
                } else {
                    bad.message
                });
                return Response::default();
            }
        };
        let kind = if parsed.is_watch { "watch" } else { "breakpoint" };
        let notice = Request::ShowNotice(format!("{kind} set: `{}`", parsed.condition));
        let command =
            Request::Send(Command::SetBreakpoint { text: parsed.to_string(), replaces: self.editing });
        let requests = vec![notice, command];
        if self.editing.is_none() {
            return Response { requests, close: true };
        }
        self.edit_condition("", None);
        self.is_typing = false;
        Response { requests, close: false }
    }

    fn move_selection(&mut self, by: isize, all: usize) {
        if self.is_typing {
            // The list is above the line.
            if self.picker.selected().is_none() && by < 0 && all > 0 {
                self.is_typing = false;
                self.selected = all - 1;
            } else {
                self.picker.move_selection(by);
            }
        } else if by > 0 && self.selected + 1 >= all {
            self.is_typing = true;
        } else {
            self.selected = clamped_index(self.selected, by, all);
        }
    }

    /// Handles an action on the selected row of the list.
    fn on_row_action(&mut self, action: Action, row: &Breakpoint, all: usize) -> Response {
        let number = row.number;
        let changed = |edit: fn(&mut crate::domain::BreakpointConfig)| {
            let mut config = row.config.clone();
            edit(&mut config);
            Response::request(Request::Send(Command::SetBreakpoint {
                text: config.to_string(),
                replaces: Some(number),
            }))
        };
        match action {
            Action::EditBreakpoint | Action::Open | Action::Accept => {
                self.edit_condition(&row.config.to_string(), Some(number));
                Response::default()
            }
            Action::ToggleBreakpoint => Response::request(Request::Send(Command::SwitchBreakpoint {
                breakpoint: number,
                enabled: !row.enabled,
            })),
            Action::DeleteBreakpoint => {
                // The list becomes empty.
                if all == 1 {
                    self.edit_condition("", None);
                }
                Response::request(Request::Send(Command::RemoveBreakpoint(number)))
            }
            Action::ToggleOneShot => changed(|s| s.once = !s.once),
            Action::ToggleWatch => changed(|s| s.is_watch = !s.is_watch),
            _ => Response::default(),
        }
    }

    /// Returns the number of rows inside the window, and how many of them the list takes.
    fn heights(&self, context: &Context<'_>, screen: Rect) -> (u16, u16) {
        let message =
            self.message(context, Window::inner_columns(WINDOW_COLUMNS, context, screen)).len() as u16;
        let all = context.frame.head.breakpoints.all.len().max(1) as u16;
        let room = screen.height.saturating_sub(7).clamp(5, 18);
        let list = all.min(room.saturating_sub(4).max(1));
        // While typing, the suggestions are below the line.
        let below = if self.is_typing { 8 } else { 1 + message };
        ((list + below).min(room), list)
    }

    /// Returns the message about the input line or the selected row, cut to [`MAX_MESSAGE_ROWS`].
    fn message(&self, context: &Context<'_>, columns: u16) -> Vec<Line> {
        let (role, words) = match &self.error {
            Some(note) => (Role::Warning, note.clone()),
            None => (Role::Muted, self.hint(context)),
        };
        let mut lines = paragraph((role, ""), role, &one_line(&words), columns);
        lines.truncate(MAX_MESSAGE_ROWS);
        lines
    }

    fn hint(&self, context: &Context<'_>) -> String {
        let breakpoints = &context.frame.head.breakpoints;
        if !self.is_typing {
            let last =
                breakpoints.all.get(self.selected).or(breakpoints.all.last()).and_then(|b| b.last.as_ref());
            return last.map_or_else(|| "no hits yet".to_owned(), |h| format!("last: {}", h.reason));
        }
        let typed = self.picker.text();
        match (parse_condition(&typed), self.editing) {
            _ if typed.is_empty() && breakpoints.all.is_empty() => {
                "type a condition; prefix `warn` for a watch, which doesn't pause".to_owned()
            }
            _ if typed.is_empty() => {
                format!("type a condition; {} goes to the list", context.glyphs.scroll_arrows[0])
            }
            (Ok(_), Some(number)) => format!("replaces breakpoint {number}"),
            (Ok(parsed), None) if parsed.is_watch => "watch: marks the step, doesn't pause".to_owned(),
            (Ok(_), None) => "breakpoint: stops there".to_owned(),
            (Err(_), _) => "not a condition yet".to_owned(),
        }
    }
}

/// Collects the current actions, detectors and lessons for completion.
fn completion_data(state: &State) -> CompletionContext {
    let episode = state.episode.as_deref();
    let mut actions: Vec<String> = episode
        .map(|e| {
            e.action_counts.keys().filter(|a| !a.starts_with("think:")).take(MAX_ACTIONS).cloned().collect()
        })
        .unwrap_or_default();
    actions.sort();
    let detectors = DETECTORS.iter().map(|d| (*d).to_owned()).collect();
    let lessons = state.pool.all().filter(|l| l.is_active());
    let lessons = lessons.map(|l| (l.number, one_line(&l.text().text).into_owned())).collect();
    CompletionContext { actions, detectors, lessons }
}

impl Component for BreakpointList {
    fn name(&self) -> &'static str {
        "breaks"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        if self.is_typing { Mode::BreakpointInput } else { Mode::Breakpoints }
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        let breakpoints = &context.frame.head.breakpoints;
        let all = breakpoints.all.len();
        // The last breakpoint may have been deleted.
        self.is_typing |= all == 0;
        self.selected = self.selected.min(all.saturating_sub(1));
        // A read-only session only shows the list.
        if context.is_read_only() {
            return match (action, row_delta(action, 8)) {
                (Action::Close, _) => Response::close(),
                (_, Some(by)) => {
                    self.selected = clamped_index(self.selected, by, all);
                    Response::default()
                }
                _ => Response::request(Request::RunAction(Action::AddLesson)),
            };
        }
        match action {
            Action::Close => return Response::close(),
            Action::AddBreakpoint => self.edit_condition("", None),
            Action::NextField if self.is_typing => {
                if let Some(text) = self.picker.selected_or_first().map(|offer| offer.text.clone()) {
                    self.picker.set_text(&text);
                    self.suggest();
                }
            }
            Action::NextField | Action::PreviousField => self.is_typing = true,
            Action::Accept | Action::Open if self.is_typing => return self.set_breakpoint(),
            Action::EpisodeStart => self.selected = 0,
            Action::Live => self.selected = all.saturating_sub(1),
            other => {
                if let Some(by) = row_delta(other, 8) {
                    self.move_selection(by, all);
                } else if let Some(row) = breakpoints.all.get(self.selected).filter(|_| !self.is_typing) {
                    return self.on_row_action(other, row, all);
                }
            }
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if self.is_typing && self.picker.on_key(key) {
            self.suggest();
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if self.is_typing && self.picker.on_paste(text) {
            self.suggest();
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, context: &Context<'_>) -> Response {
        let all = context.frame.head.breakpoints.all.len();
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) if all > 0 => {
                (self.is_typing, self.selected) = (false, row.min(all - 1));
            }
            Some(MouseTarget::Wheel(by)) => self.move_selection(by, all),
            _ => self.is_typing |= self.picker.on_mouse(event).is_some(),
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let Answer::Admissible(actions) = answer {
            for action in actions.iter().take(MAX_ACTIONS) {
                let action = one_line(action).into_owned();
                if !self.completion_data.actions.contains(&action) {
                    self.completion_data.actions.push(action);
                }
            }
            self.completion_data.actions.sort();
            self.suggest();
        }
        Response::default()
    }

    fn rows_covered(&self, context: &Context<'_>, screen: Rect) -> u16 {
        Window::rows_covered(self.heights(context, screen).0, screen)
    }

    fn awaits(&self) -> Option<WorkKind> {
        Some(WorkKind::Admissible)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let (rows, list) = self.heights(context, screen);
        let all = &context.frame.head.breakpoints.all;
        let title = match self.editing {
            Some(number) => format!("Breakpoints and watches: edit {number}"),
            None if context.is_read_only() => "Breakpoints and watches (read-only)".to_owned(),
            None => "Breakpoints and watches".to_owned(),
        };
        let window = Window {
            title: &title,
            position: WindowPosition::Bottom,
            rows,
            columns: WINDOW_COLUMNS,
            mode: self.mode(context),
        };
        let without_effect: &[Action] = if all.is_empty() { &[Action::Up] } else { &[] };
        let keys = PresentKeys { without_effect, ..PresentKeys::default() };
        let inside = window.draw_with_keys(keys, context, screen, canvas);
        let part = |from: u16, rows: u16| Rect {
            y: inside.y + from.min(inside.height),
            height: rows.min(inside.height.saturating_sub(from)),
            ..inside
        };
        if all.is_empty() {
            put_line(&[(Role::Muted, "none set yet".to_owned())], part(0, 1), canvas);
        } else {
            let chosen = self.selected.min(all.len() - 1);
            let wide = all.iter().map(|b| b.config.condition.chars().count()).max().unwrap_or(0).min(40);
            self.scroll.draw_list(chosen, all.len(), part(0, list), canvas, |place| {
                let here = !self.is_typing && place == chosen;
                all.get(place).map_or_else(Line::new, |b| row::row(b, here, wide, context))
            });
        }
        let line = part(list, 1);
        if line.height > 0 {
            let prompt = (Role::Proposal, context.glyphs.proposal);
            self.picker.draw_field(prompt, self.is_typing, line, canvas);
        }
        let message = self.message(context, inside.width);
        put_lines(&message, part(list + 1, rows), canvas);
        if !self.is_typing {
            return;
        }
        let below = part(list + 1 + message.len() as u16, rows);
        let wide = self.picker.matches().map(|o| o.text.chars().count()).max().unwrap_or(0).clamp(12, 34);
        self.picker.draw_list(below, canvas, |offer, here| {
            let about = format!("  {}", offer.description);
            marked_row(context, "", here, format!("{:<wide$}", offer.text), [about])
        });
    }
}
