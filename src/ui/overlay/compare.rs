//! Two episodes side by side: first the other side is chosen, then the rows are walked through.

mod choose;
mod details;
mod rows;

use super::window::{Place as Where, Pointed, Scroll, Window, put_line};
use super::{Answer, Overlay, Response, moved};
use crate::timeline::compare::{Comparison, PriorDifferences};
use crate::ui::canvas::Canvas;
use crate::ui::compare::{Place, Shared};
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use choose::Chooser;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use rows::{Rows, Shape};

/// A comparison, from the choice of its other side on.
pub struct Compare {
    left: Place,
    right: Option<Place>,
    stage: Stage,
}

enum Stage {
    Choosing(Box<Chooser>),
    /// The other side is brought and compared.
    Working,
    /// Why there is nothing to be seen.
    Failed(String),
    Shown(Box<Shown>),
}

/// What is looked at.
struct Shown {
    found: Shared<Comparison>,
    rows: Rows,
    /// The chosen row.
    chosen: usize,
    scroll: Scroll,
    details: Option<Details>,
}

/// All about one row.
struct Details {
    row: usize,
    before: Option<Result<Shared<PriorDifferences>, String>>,
    scroll: Scroll,
}

impl Compare {
    /// The episode that is listed on the screen, and a choice of what it is compared with.
    pub fn of(look: &Context<'_>) -> Self {
        let left = Self::here(look);
        let chooser = Chooser::new(look, left.episode);
        Self { left, right: None, stage: Stage::Choosing(Box::new(chooser)) }
    }

    /// The episode that is listed on the screen.
    pub fn here(look: &Context<'_>) -> Place {
        Place { episode: look.episode().map(|e| e.number), ..Place::default() }
    }

    /// Two places that are known, and the request that brings them.
    pub fn between(a: Place, b: Place) -> (Self, Request) {
        let request = Request::Compare { a: a.clone(), b: b.clone() };
        (Self { left: a, right: Some(b), stage: Stage::Working }, request)
    }

    fn take(&mut self, right: Place) -> Response {
        let request = Request::Compare { a: self.left.clone(), b: right.clone() };
        self.right = Some(right);
        self.stage = Stage::Working;
        Response::want(request)
    }
}

impl Shown {
    fn new(found: Shared<Comparison>) -> Self {
        let chosen = found.0.first_difference.unwrap_or(0);
        Self { rows: Rows::default(), found, chosen, scroll: Scroll::default(), details: None }
    }

    fn walk(&mut self, by: isize) {
        self.chosen = self.rows.walk(&self.found.0, self.chosen, by);
    }

    fn jump(&mut self, backwards: bool) -> Response {
        let Some(row) = self.found.0.next_difference(self.chosen, backwards) else {
            let words =
                if backwards { "no difference before this one" } else { "no difference after this one" };
            return Response::want(Request::Say(words.to_owned()));
        };
        self.chosen = row;
        self.rows.centre();
        Response::default()
    }

    fn act(&mut self, action: Action) -> Response {
        if let Some(details) = &mut self.details {
            return match action {
                Action::Close | Action::Open => {
                    self.details = None;
                    Response::default()
                }
                Action::NextMatch | Action::PreviousMatch => {
                    let reaction = self.jump(action == Action::PreviousMatch);
                    if reaction.requests.is_empty() { self.open() } else { reaction }
                }
                Action::Copy => Response::want(Request::Copy(details::text(&self.found.0, self.chosen))),
                _ => super::scrolled(&details.scroll, action),
            };
        }
        let page = self.scroll.page();
        match action {
            Action::Close => return Response::close(),
            Action::NextMatch => return self.jump(false),
            Action::PreviousMatch => return self.jump(true),
            Action::Difference => {
                self.chosen = self.rows.toggle(&self.found.0, self.chosen);
                self.rows.centre();
            }
            Action::Open => return self.open(),
            Action::Copy => return Response::want(Request::Copy(details::text(&self.found.0, self.chosen))),
            other => self.walk(moved(other, page).unwrap_or(0)),
        }
        Response::default()
    }

    /// All about the chosen row; what preceded the first difference is known already.
    fn open(&mut self) -> Response {
        let row = self.chosen;
        self.details = Some(Details { row, before: None, scroll: Scroll::default() });
        Response::want(Request::Precede { of: self.found.clone(), row })
    }

    fn title(&self) -> String {
        let found = &self.found.0;
        let only = if self.rows.only() { ", only what differs" } else { "" };
        let [_, changed, only_a, only_b] = found.counts();
        let waiting = match found.count_pending() {
            0 => String::new(),
            n => format!(", {n} waiting"),
        };
        match found.first_difference {
            None if found.initial_differences.is_empty() && found.later_differences.is_empty() => {
                format!("Compare: no difference{waiting}")
            }
            None => format!("Compare: all turns are the same, the settings are not{waiting}"),
            Some(_) => {
                format!("Compare: {changed} changed, {only_a} only left, {only_b} only right{waiting}{only}")
            }
        }
    }
}

impl Overlay for Compare {
    fn name(&self) -> &'static str {
        "compare"
    }

    fn mode(&self) -> Mode {
        match &self.stage {
            Stage::Choosing(_) => Mode::CompareWith,
            _ => Mode::Compare,
        }
    }

    fn act(&mut self, action: Action, _: &Context<'_>) -> Response {
        match &mut self.stage {
            Stage::Choosing(chooser) => match action {
                Action::Close => Response::close(),
                Action::Accept | Action::Open => match chooser.chosen() {
                    Some(right) => self.take(right),
                    None => Response::want(Request::Say(chooser.nothing().to_owned())),
                },
                _ => {
                    chooser.act(action);
                    Response::default()
                }
            },
            Stage::Shown(shown) => shown.act(action),
            Stage::Working | Stage::Failed(_) if matches!(action, Action::Close | Action::Open) => {
                Response::close()
            }
            Stage::Working | Stage::Failed(_) => Response::default(),
        }
    }

    fn key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if let Stage::Choosing(chooser) = &mut self.stage {
            chooser.key(key);
        }
        Response::default()
    }

    fn paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Stage::Choosing(chooser) = &mut self.stage {
            chooser.paste(text);
        }
        Response::default()
    }

    fn answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        match (answer, &mut self.stage) {
            (Answer::Others(others), Stage::Choosing(chooser)) => chooser.learn(others),
            (Answer::Compared { a, b, found }, Stage::Working)
                if *a == self.left && Some(&*b) == self.right.as_ref() =>
            {
                self.stage = match found {
                    Ok(found) => Stage::Shown(Box::new(Shown::new(found))),
                    Err(why) => Stage::Failed(why),
                };
            }
            (Answer::Preceded { of, row, before }, Stage::Shown(shown)) if of == shown.found => {
                if let Some(details) = shown.details.as_mut().filter(|d| d.row == row) {
                    details.before = Some(before);
                }
            }
            _ => {}
        }
        Response::default()
    }

    fn mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        match &mut self.stage {
            Stage::Choosing(chooser) => chooser.mouse(event),
            Stage::Shown(shown) => match &shown.details {
                Some(details) => details.scroll.wheel(event),
                None => match shown.scroll.pointed(event) {
                    Some(Pointed::Row(at)) => match shown.rows.row(at) {
                        Some(row) if row == shown.chosen => return shown.open(),
                        Some(row) => shown.chosen = row,
                        None => {}
                    },
                    Some(Pointed::Wheel(by)) => shown.walk(by * 3),
                    None => {}
                },
            },
            Stage::Working | Stage::Failed(_) => {}
        }
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let mode = self.mode();
        match &self.stage {
            Stage::Choosing(chooser) => {
                let inside = window("Compare with", 20, mode).draw(look, screen, canvas);
                chooser.draw(look, inside, canvas);
            }
            Stage::Working => {
                let inside = window("Compare", 1, mode).draw(look, screen, canvas);
                put_line(&[(Role::Dim, "both sides are being brought ...".to_owned())], inside, canvas);
            }
            Stage::Failed(why) => {
                let lines = |columns| super::window::paragraph((Role::Bad, ""), Role::Bad, why, columns);
                let high = lines(screen.width.saturating_sub(4).min(196)).len() as u16;
                let inside = window("Compare", high, mode).draw(look, screen, canvas);
                Scroll::default().draw(&lines(inside.width), inside, canvas);
            }
            Stage::Shown(shown) => {
                let inside = window(&shown.title(), u16::MAX, mode).draw(look, screen, canvas);
                shown.draw(look, inside, canvas);
            }
        }
    }
}

impl Shown {
    fn draw(&self, look: &Context<'_>, inside: Rect, canvas: &mut Canvas<'_>) {
        let shape = Shape::of(inside.width);
        let found = &*self.found.0;
        let heads = rows::heads(found, shape, look.glyphs);
        let high = (heads.len() as u16).min(inside.height);
        for (place, line) in heads.iter().take(usize::from(high)).enumerate() {
            put_line(line, Rect { y: inside.y + place as u16, height: 1, ..inside }, canvas);
        }
        let body = Rect { y: inside.y + high, height: inside.height - high, ..inside };
        if let Some(details) = &self.details {
            let lines = details::all(found, details.row, details.before.as_ref(), shape, look.glyphs);
            details.scroll.draw(&lines, body, canvas);
            return;
        }
        let below = rows::preview_rows(body.height);
        let list = Rect { height: body.height - below, ..body };
        self.rows.draw(found, self.chosen, shape, (look.glyphs, &self.scroll), list, canvas);
        if below == 0 {
            return;
        }
        let rule = Rect { y: list.bottom(), height: 1, ..body };
        let line = "-".repeat(usize::from(body.width)).replace('-', look.glyphs.joints[2 | 8]);
        put_line(&[(Role::FrameOverlay, line)], rule, canvas);
        let preview = Rect { y: rule.y + 1, height: below - 1, ..body };
        let high = usize::from(preview.height);
        let lines = details::lower(found, self.chosen, shape, look.glyphs, high);
        Scroll::default().draw(&lines, preview, canvas);
    }
}

fn window(title: &str, rows: u16, mode: Mode) -> Window<'_> {
    Window { title, place: Where::Middle, rows, columns: 196, mode }
}

#[cfg(test)]
mod tests;
