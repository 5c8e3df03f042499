//! A summary of the mentor that waits: what would go and what would come, each line to be accepted or refused.

use super::window::{Line, MouseTarget, Page, Scroll, paragraph};
use super::{Overlay, Response, clamped_index, row_delta};
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
pub struct SummaryReview {
    change_seq: Seq,
    rejected: Vec<bool>,
    selected: usize,
    scroll: Scroll,
    /// The first row of each line, as they were drawn last.
    line_starts: RefCell<Vec<usize>>,
}

impl SummaryReview {
    /// Every line accepted, the first one chosen.
    pub fn new(change: &PoolChange) -> Self {
        Self {
            change_seq: change.seq,
            rejected: vec![false; change.items.len()],
            selected: 0,
            scroll: Scroll::default(),
            line_starts: RefCell::default(),
        }
    }

    fn pending_change<'a>(&self, look: &'a Context<'_>) -> Option<&'a PoolChange> {
        look.frame.head.waiting_summaries.first().filter(|c| c.seq == self.change_seq)
    }

    fn move_selection(&mut self, by: isize) {
        self.selected = clamped_index(self.selected, by, self.rejected.len());
    }

    fn submit(&self) -> Response {
        let refused =
            self.rejected.iter().enumerate().filter(|(_, no)| **no).map(|(place, _)| place).collect();
        Response::request_and_close(Request::Send(Command::SettlePool { refused }))
    }

    fn lines(&self, change: &PoolChange, look: &Context<'_>, columns: u16) -> Vec<Line> {
        let go = change.items.iter().filter(|l| matches!(l, PoolChangeItem::Retire { .. })).count();
        let words = format!(
            "The mentor would put {} for {}. A line that is refused changes nothing: the old lesson stays, the new one does \
             not come in.",
            count_text(change.items.len() - go, "new lesson"),
            count_text(go, "old one"),
        );
        let mut lines = paragraph((Role::Muted, ""), Role::Muted, &words, columns);
        lines.push(Vec::new());
        let mut starts = Vec::new();
        for (place, line) in change.items.iter().enumerate() {
            let refused = self.rejected.get(place).copied().unwrap_or_default();
            let (sign, role, text) = match line {
                PoolChangeItem::Retire { id } => {
                    let lesson = look.frame.head.pool.get(id);
                    let words = lesson.map_or_else(
                        || "a lesson that is gone already".to_owned(),
                        |l| format!("{}: {}", l.number, lesson_text(l.text(), look)),
                    );
                    ("-", Role::Removed, words)
                }
                PoolChangeItem::Add { text, .. } => ("+", Role::Added, lesson_text(text, look)),
            };
            let here = if place == self.selected { look.glyphs.proposal } else { " " };
            // The word stands beside the colour, for screens that have none.
            let answer = if refused { "no " } else { "yes" };
            let lead = format!("{here} {answer} {sign} ");
            let role = if refused { Role::Muted } else { role };
            starts.push(lines.len());
            let marked = if place == self.selected { Role::Proposal } else { Role::Text };
            lines.extend(paragraph((marked, &lead), role, &text, columns));
        }
        *self.line_starts.borrow_mut() = starts;
        lines
    }
}

fn lesson_text(text: &LessonText, look: &Context<'_>) -> String {
    let solution = text.solution.as_ref().map(|s| format!(" {} {s}", look.glyphs.solution));
    format!("{}{}", text.text, solution.unwrap_or_default())
}

fn count_text(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

impl Overlay for SummaryReview {
    fn name(&self) -> &'static str {
        "summary"
    }

    fn mode(&self) -> Mode {
        Mode::Summary
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Open | Action::Accept => return self.submit(),
            Action::RejectOrToggle => {
                if let Some(no) = self.rejected.get_mut(self.selected) {
                    *no = !*no;
                }
            }
            Action::RefuseAll => {
                let all = !self.rejected.iter().all(|no| *no);
                self.rejected.fill(all);
            }
            other => self.move_selection(row_delta(other, self.scroll.page_rows()).unwrap_or(0)),
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) => {
                let place = self.line_starts.borrow().iter().rposition(|start| *start <= row);
                self.selected = place.unwrap_or(self.selected);
            }
            Some(MouseTarget::Wheel(by)) => self.move_selection(by),
            None => {}
        }
        Response::default()
    }

    fn is_stale(&self, look: &Context<'_>) -> bool {
        self.pending_change(look).is_none()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let Some(change) = self.pending_change(look) else { return };
        let title = format!("The mentor's {}", change.question.name());
        let page = Page { title: &title, columns: 100, mode: Mode::Summary, scroll: &self.scroll };
        page.draw_with_selected(look, screen, canvas, |columns| {
            let lines = self.lines(change, look, columns);
            let start = self.line_starts.borrow().get(self.selected).copied().unwrap_or_default();
            // With the first line the words above it are to be seen too.
            (lines, if self.selected == 0 { 0 } else { start })
        });
    }
}
