//! Breakpoints and watches: all of them in a list, and the line that sets one, with completion.

mod row;

use super::field::Field;
use super::fuzzy::rank;
use super::window::{Line, Place, Pointed, Scroll, Window, paragraph, put_line};
use super::{Answer, Overlay, Response, moved, stepped};
use crate::breakpoint::{CompletionContext, Suggestion, suggestions};
use crate::engine::{Breakpoint, Command, State};
use crate::method::parse_condition;
use crate::symbolic::DETECTORS;
use crate::text::one_line;
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// Actions that completion offers at most.
const MOST_ACTIONS: usize = 400;

/// Rows that a message takes at most.
const MESSAGE: usize = 3;

/// Columns of the window.
const COLUMNS: u16 = 100;

/// The list, and the line below it.
pub struct Breaks {
    field: Field,
    /// The line has the keys, else the list.
    typing: bool,
    /// The one whose condition is being changed.
    of: Option<u32>,
    /// The chosen row of the list.
    chosen: usize,
    known: CompletionContext,
    fitting: Vec<Suggestion>,
    /// The chosen row of what could be typed; none: what is typed.
    offer: Option<usize>,
    rows: Scroll,
    offered: Scroll,
    note: Option<String>,
}

impl Breaks {
    /// With an empty line.
    pub fn new(look: &Context<'_>) -> Self {
        let mut breaks = Self {
            field: Field::line(""),
            typing: !look.reading(),
            of: None,
            chosen: 0,
            known: known(&look.moment.head),
            fitting: Vec::new(),
            offer: None,
            rows: Scroll::default(),
            offered: Scroll::default(),
            note: None,
        };
        breaks.filter();
        breaks
    }

    fn filter(&mut self) {
        let typed = self.field.text();
        let all = suggestions(&format!("{typed} "), &self.known);
        let order = match typed.as_str() {
            "" => (0..all.len()).collect(),
            query => {
                let mut order = rank(query, all.iter().map(|o| o.text.as_str()));
                for place in rank(query, all.iter().map(|o| o.description.as_str())) {
                    if !order.contains(&place) {
                        order.push(place);
                    }
                }
                order
            }
        };
        self.fitting = order.into_iter().filter_map(|i| all.get(i).cloned()).collect();
        self.offer = None;
        self.offered.to(0);
        self.note = None;
    }

    fn line(&mut self, text: &str, of: Option<u32>) {
        self.field.replace(text);
        self.typing = true;
        self.of = of;
        self.filter();
    }

    /// Sets what is typed or chosen; what cannot be read stays in the line, with what is wrong.
    fn accept(&mut self) -> Response {
        let typed = self
            .offer
            .and_then(|o| self.fitting.get(o))
            .map_or_else(|| self.field.text(), |o| o.text.clone());
        let meant = match parse_condition(&typed) {
            Ok(meant) => meant.to_record(),
            Err(bad) => {
                self.note = Some(if typed.is_empty() {
                    "type a condition, or choose one below".to_owned()
                } else {
                    bad.message
                });
                return Response::default();
            }
        };
        let told = if meant.warn { "tells where" } else { "stops where" };
        let said = Request::Say(format!("{told} `{}` comes true", meant.condition));
        let wish = Request::Send(Command::SetBreakpoint { text: meant.to_string(), replaces: self.of });
        let requests = vec![said, wish];
        if self.of.is_none() {
            return Response { requests, close: true };
        }
        self.line("", None);
        self.typing = false;
        Response { requests, close: false }
    }

    fn walk(&mut self, by: isize, all: usize) {
        if self.typing {
            let last = self.fitting.len().checked_sub(1);
            match (self.offer, last) {
                // Above the line lies the list.
                (None, _) if by < 0 && all > 0 => {
                    self.typing = false;
                    self.chosen = all - 1;
                }
                (None, Some(_)) if by > 0 => self.offer = Some(0),
                (Some(0), _) if by < 0 => self.offer = None,
                (Some(at), Some(last)) => self.offer = Some(at.saturating_add_signed(by).min(last)),
                _ => {}
            }
        } else if by > 0 && self.chosen + 1 >= all {
            self.typing = true;
        } else {
            self.chosen = stepped(self.chosen, by, all);
        }
    }

    /// A key on the chosen row of the list.
    fn on_row(&mut self, action: Action, row: &Breakpoint, all: usize) -> Response {
        let number = row.number;
        let changed = |edit: fn(&mut crate::domain::BreakpointConfig)| {
            let mut stop = row.config.clone();
            edit(&mut stop);
            Response::want(Request::Send(Command::SetBreakpoint {
                text: stop.to_string(),
                replaces: Some(number),
            }))
        };
        match action {
            Action::EditBreak | Action::Open | Action::Accept => {
                self.line(&row.config.to_string(), Some(number));
                Response::default()
            }
            Action::ToggleBreak => Response::want(Request::Send(Command::SwitchBreakpoint {
                breakpoint: number,
                enabled: !row.enabled,
            })),
            Action::DeleteBreak => {
                // Behind the last one there is nothing to choose.
                if all == 1 {
                    self.line("", None);
                }
                Response::want(Request::Send(Command::RemoveBreakpoint(number)))
            }
            Action::OnceBreak => changed(|s| s.once = !s.once),
            Action::WarnBreak => changed(|s| s.warn = !s.warn),
            _ => Response::default(),
        }
    }

    /// Rows inside the window, and how many of them the list has; the message's rows are among the former.
    fn heights(&self, look: &Context<'_>, screen: Rect) -> (u16, u16) {
        let told = self.message(look, screen.width.saturating_sub(4).min(COLUMNS)).len() as u16;
        let all = look.moment.head.breakpoints.all.len().max(1) as u16;
        let room = screen.height.saturating_sub(7).clamp(5, 18);
        let list = all.min(room.saturating_sub(4).max(1));
        // Below the line lies what could be typed.
        let below = if self.typing { 8 } else { 1 + told };
        ((list + below).min(room), list)
    }

    /// What is to be known of the line or the chosen row, as a whole as far as it has room.
    fn message(&self, look: &Context<'_>, columns: u16) -> Vec<Line> {
        let (role, words) = match &self.note {
            Some(note) => (Role::Warn, note.clone()),
            None => (Role::Dim, self.told(look)),
        };
        let mut lines = paragraph((role, ""), role, &one_line(&words), columns);
        lines.truncate(MESSAGE);
        lines
    }

    fn told(&self, look: &Context<'_>) -> String {
        let stops = &look.moment.head.breakpoints;
        if !self.typing {
            let last = stops.all.get(self.chosen).or(stops.all.last()).and_then(|b| b.last.as_ref());
            return last
                .map_or_else(|| "it has not come true yet".to_owned(), |h| format!("last: {}", h.reason));
        }
        let typed = self.field.text();
        match (parse_condition(&typed), self.of) {
            _ if typed.is_empty() && stops.all.is_empty() => {
                "one condition; `warn` before it only tells".to_owned()
            }
            _ if typed.is_empty() => {
                format!("one condition; {} goes to the list above", look.glyphs.beyond[0])
            }
            (Ok(_), Some(number)) => format!("changes number {number}"),
            (Ok(meant), None) if meant.warn => "it will tell and mark, and not stop".to_owned(),
            (Ok(_), None) => "it will stop there".to_owned(),
            (Err(_), _) => "not a condition yet".to_owned(),
        }
    }
}

/// What can be filled in just now.
fn known(state: &State) -> CompletionContext {
    let episode = state.episode.as_deref();
    let mut actions: Vec<String> = episode
        .map(|e| {
            e.action_counts.keys().filter(|a| !a.starts_with("think:")).take(MOST_ACTIONS).cloned().collect()
        })
        .unwrap_or_default();
    actions.sort();
    let detectors = DETECTORS.iter().map(|d| (*d).to_owned()).collect();
    let lessons = state.pool.all().filter(|l| l.is_active());
    let lessons = lessons.map(|l| (l.number, one_line(&l.text().text).into_owned())).collect();
    CompletionContext { actions, detectors, lessons }
}

impl Overlay for Breaks {
    fn name(&self) -> &'static str {
        "breaks"
    }

    fn mode(&self) -> Mode {
        if self.typing { Mode::BreakLine } else { Mode::Breaks }
    }

    fn act(&mut self, action: Action, look: &Context<'_>) -> Response {
        let stops = &look.moment.head.breakpoints;
        let all = stops.all.len();
        // The last one may have been deleted.
        self.typing |= all == 0;
        self.chosen = self.chosen.min(all.saturating_sub(1));
        // Where nothing is granted the list is looked at alone.
        if look.reading() {
            return match (action, moved(action, 8)) {
                (Action::Close, _) => Response::close(),
                (_, Some(by)) => {
                    self.chosen = stepped(self.chosen, by, all);
                    Response::default()
                }
                _ => Response::want(Request::Do(Action::PauseRun)),
            };
        }
        match action {
            Action::Close => return Response::close(),
            Action::AddBreak => self.line("", None),
            Action::NextField if self.typing => {
                if let Some(offer) = self.fitting.get(self.offer.unwrap_or(0)) {
                    let text = offer.text.clone();
                    self.field.replace(&text);
                    self.filter();
                }
            }
            Action::NextField | Action::PreviousField => self.typing = true,
            Action::Accept | Action::Open if self.typing => return self.accept(),
            Action::First => self.chosen = 0,
            Action::Live => self.chosen = all.saturating_sub(1),
            other => {
                if let Some(by) = moved(other, 8) {
                    self.walk(by, all);
                } else if let Some(row) = stops.all.get(self.chosen).filter(|_| !self.typing) {
                    return self.on_row(other, row, all);
                }
            }
        }
        Response::default()
    }

    fn key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if self.typing && self.field.key(key) {
            self.filter();
        }
        Response::default()
    }

    fn paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if self.typing && self.field.paste(text) {
            self.filter();
        }
        Response::default()
    }

    fn mouse(&mut self, event: MouseEvent, look: &Context<'_>) -> Response {
        let all = look.moment.head.breakpoints.all.len();
        if let Some(Pointed::Row(row)) = self.rows.pointed(event).filter(|_| all > 0) {
            (self.typing, self.chosen) = (false, row.min(all - 1));
            return Response::default();
        }
        match self.offered.pointed(event) {
            Some(Pointed::Row(row)) if row < self.fitting.len() => {
                (self.typing, self.offer) = (true, Some(row));
            }
            Some(Pointed::Wheel(by)) => self.walk(by, all),
            _ => {}
        }
        Response::default()
    }

    fn answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let Answer::Admissible(actions) = answer {
            for action in actions.iter().take(MOST_ACTIONS) {
                let action = one_line(action).into_owned();
                if !self.known.actions.contains(&action) {
                    self.known.actions.push(action);
                }
            }
            self.known.actions.sort();
            let chosen = self.offer;
            self.filter();
            self.offer = chosen.filter(|c| *c < self.fitting.len());
        }
        Response::default()
    }

    fn covers(&self, look: &Context<'_>, screen: Rect) -> u16 {
        Window::covers(self.heights(look, screen).0, screen)
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let (rows, list) = self.heights(look, screen);
        let all = &look.moment.head.breakpoints.all;
        let title = match self.of {
            Some(number) => format!("Breakpoints and watches: change number {number}"),
            None if look.reading() => "Breakpoints and watches (read-only)".to_owned(),
            None => "Breakpoints and watches".to_owned(),
        };
        let window = Window { title: &title, place: Place::Below, rows, columns: COLUMNS, mode: self.mode() };
        let inside = window.draw(look, screen, canvas);
        let part = |from: u16, rows: u16| Rect {
            y: inside.y + from.min(inside.height),
            height: rows.min(inside.height.saturating_sub(from)),
            ..inside
        };
        if all.is_empty() {
            put_line(&[(Role::Dim, "none is set yet".to_owned())], part(0, 1), canvas);
        } else {
            let chosen = self.chosen.min(all.len() - 1);
            let wide = all.iter().map(|b| b.config.condition.chars().count()).max().unwrap_or(0).min(40);
            self.rows.list(chosen, all.len(), part(0, list), canvas, |place| {
                let here = !self.typing && place == chosen;
                all.get(place).map_or_else(Line::new, |b| row::row(b, here, wide, look))
            });
        }
        let line = part(list, 1);
        if line.height > 0 {
            canvas.put(line.x, line.y, 2, look.glyphs.proposal, canvas.style(Role::Proposal));
            let field = Rect { x: line.x + 2, width: line.width.saturating_sub(2), ..line };
            self.field.draw(self.typing && self.offer.is_none(), field, canvas);
        }
        let told = self.message(look, inside.width);
        for (place, row) in (list + 1..).zip(&told) {
            if part(place, 1).height > 0 {
                put_line(row, part(place, 1), canvas);
            }
        }
        if !self.typing {
            return;
        }
        let below = part(list + 1 + told.len() as u16, rows);
        let wide = self.fitting.iter().map(|o| o.text.chars().count()).max().unwrap_or(0).clamp(12, 34);
        self.offered.list(self.offer.unwrap_or(0), self.fitting.len(), below, canvas, |place| {
            let Some(offer) = self.fitting.get(place) else { return Line::new() };
            let here = self.offer == Some(place);
            let (mark, role) = if here { (look.glyphs.proposal, Role::Chosen) } else { (" ", Role::Text) };
            vec![
                (Role::Proposal, format!("{mark} ")),
                (role, format!("{:<wide$}", offer.text)),
                (Role::Dim, format!("  {}", offer.description)),
            ]
        });
    }
}
