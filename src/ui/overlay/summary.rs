//! A summary of the mentor that waits: what would go and what would come, each line to be accepted or refused.

use super::window::{Line, Page, Pointed, Scroll, paragraph};
use super::{Overlay, Response, moved, stepped};
use crate::domain::{LessonText, PoolChange, PoolChangeItem, Seq};
use crate::engine::Command;
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use std::cell::RefCell;

/// The lines of a summary, with what the person says to each.
pub struct Summary {
    of: Seq,
    refused: Vec<bool>,
    chosen: usize,
    scroll: Scroll,
    /// The first row of each line, as they were drawn last.
    starts: RefCell<Vec<usize>>,
}

impl Summary {
    /// Every line accepted, the first one chosen.
    pub fn of(change: &PoolChange) -> Self {
        Self {
            of: change.seq,
            refused: vec![false; change.items.len()],
            chosen: 0,
            scroll: Scroll::default(),
            starts: RefCell::default(),
        }
    }

    fn change<'a>(&self, look: &'a Context<'_>) -> Option<&'a PoolChange> {
        look.moment.head.waiting_summaries.first().filter(|c| c.seq == self.of)
    }

    fn walk(&mut self, by: isize) {
        self.chosen = stepped(self.chosen, by, self.refused.len());
    }

    fn settle(&self) -> Response {
        let refused =
            self.refused.iter().enumerate().filter(|(_, no)| **no).map(|(place, _)| place).collect();
        Response::done(Request::Send(Command::SettlePool { refused }))
    }

    fn lines(&self, change: &PoolChange, look: &Context<'_>, columns: u16) -> Vec<Line> {
        let go = change.items.iter().filter(|l| matches!(l, PoolChangeItem::Retire { .. })).count();
        let words = format!(
            "The mentor would put {} for {}. A line that is refused changes nothing: the old lesson stays, the new one does \
             not come in.",
            counted(change.items.len() - go, "new lesson"),
            counted(go, "old one"),
        );
        let mut lines = paragraph((Role::Dim, ""), Role::Dim, &words, columns);
        lines.push(Vec::new());
        let mut starts = Vec::new();
        for (place, line) in change.items.iter().enumerate() {
            let refused = self.refused.get(place).copied().unwrap_or_default();
            let (sign, role, text) = match line {
                PoolChangeItem::Retire { id } => {
                    let lesson = look.moment.head.pool.get(id);
                    let words = lesson.map_or_else(
                        || "a lesson that is gone already".to_owned(),
                        |l| format!("{}: {}", l.number, said(l.text(), look)),
                    );
                    ("-", Role::Removed, words)
                }
                PoolChangeItem::Add { text, .. } => ("+", Role::Added, said(text, look)),
            };
            let here = if place == self.chosen { look.glyphs.proposal } else { " " };
            // The word stands beside the colour, for screens that have none.
            let answer = if refused { "no " } else { "yes" };
            let lead = format!("{here} {answer} {sign} ");
            let role = if refused { Role::Dim } else { role };
            starts.push(lines.len());
            let marked = if place == self.chosen { Role::Proposal } else { Role::Text };
            lines.extend(paragraph((marked, &lead), role, &text, columns));
        }
        *self.starts.borrow_mut() = starts;
        lines
    }
}

fn said(text: &LessonText, look: &Context<'_>) -> String {
    let solution = text.solution.as_ref().map(|s| format!(" {} {s}", look.glyphs.instead));
    format!("{}{}", text.text, solution.unwrap_or_default())
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

impl Overlay for Summary {
    fn name(&self) -> &'static str {
        "summary"
    }

    fn mode(&self) -> Mode {
        Mode::Summary
    }

    fn act(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Open | Action::Accept => return self.settle(),
            Action::RejectOrToggle => {
                if let Some(no) = self.refused.get_mut(self.chosen) {
                    *no = !*no;
                }
            }
            Action::RefuseAll => {
                let all = !self.refused.iter().all(|no| *no);
                self.refused.fill(all);
            }
            other => self.walk(moved(other, self.scroll.page()).unwrap_or(0)),
        }
        Response::default()
    }

    fn mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        match self.scroll.pointed(event) {
            Some(Pointed::Row(row)) => {
                let place = self.starts.borrow().iter().rposition(|start| *start <= row);
                self.chosen = place.unwrap_or(self.chosen);
            }
            Some(Pointed::Wheel(by)) => self.walk(by),
            None => {}
        }
        Response::default()
    }

    fn stale(&self, look: &Context<'_>) -> bool {
        self.change(look).is_none()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let Some(change) = self.change(look) else { return };
        let title = format!("The mentor's {}", change.question.name());
        let page = Page { title: &title, columns: 100, mode: Mode::Summary, scroll: &self.scroll };
        page.draw_at(look, screen, canvas, |columns| {
            let lines = self.lines(change, look, columns);
            let start = self.starts.borrow().get(self.chosen).copied().unwrap_or_default();
            // With the first line the words above it are to be seen too.
            (lines, if self.chosen == 0 { 0 } else { start })
        });
    }
}
