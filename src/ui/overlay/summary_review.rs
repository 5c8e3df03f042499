//! Review of a mentor's summary: the lessons it would remove and add, each to be accepted or rejected.

use crate::domain::{LessonText, PoolSummary, PoolSummaryItem, Seq};
use crate::engine::Command;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::widget::list_index::{clamped_index, row_delta};
use crate::ui::widget::window::{Line, MouseTarget, Page, PresentKeys, Scroll, paragraph};
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;

/// Overlay that lists the changes of a summary and the user's decision on each.
pub(super) struct SummaryReview {
    change_seq: Seq,
    rejected: Vec<bool>,
    selected: usize,
    scroll: Scroll,
}

impl SummaryReview {
    /// Creates the review with every change accepted and the first one selected.
    pub(super) fn new(change: &PoolSummary) -> Self {
        Self {
            change_seq: change.seq,
            rejected: vec![false; change.items.len()],
            selected: 0,
            scroll: Scroll::default(),
        }
    }

    fn pending_change<'a>(&self, context: &'a Context<'_>) -> Option<&'a PoolSummary> {
        context.frame.head.waiting_summaries.first().filter(|c| c.seq == self.change_seq)
    }

    fn move_selection(&mut self, by: isize) {
        self.selected = clamped_index(self.selected, by, self.rejected.len());
    }

    fn submit(&self) -> Response {
        let refused =
            self.rejected.iter().enumerate().filter(|(_, no)| **no).map(|(place, _)| place).collect();
        Response::request_and_close(Request::Send(Command::ApplySummary { refused }))
    }

    /// Returns the rows, and the first row of each change.
    fn lines(&self, change: &PoolSummary, context: &Context<'_>, columns: u16) -> (Vec<Line>, Vec<usize>) {
        let removed = change.items.iter().filter(|l| matches!(l, PoolSummaryItem::Retire { .. })).count();
        let words = format!(
            "The mentor would add {} and remove {}. A rejected line changes nothing: the old lesson stays, the \
             new one is not added.",
            count_text(change.items.len() - removed, "new lesson"),
            count_text(removed, "old one"),
        );
        let mut lines = paragraph((Role::Muted, ""), Role::Muted, &words, columns);
        lines.push(Vec::new());
        let mut starts = Vec::new();
        for (place, line) in change.items.iter().enumerate() {
            let rejected = self.rejected.get(place).copied().unwrap_or_default();
            let (sign, role, text) = match line {
                PoolSummaryItem::Retire { id } => {
                    let lesson = context.frame.head.pool.get(id);
                    let words = lesson.map_or_else(
                        || "a lesson already deleted".to_owned(),
                        |l| format!("{}: {}", l.number, lesson_text(l.text(), context)),
                    );
                    ("-", Role::Removed, words)
                }
                PoolSummaryItem::Add { text, .. } => ("+", Role::Added, lesson_text(text, context)),
            };
            let here = if place == self.selected { context.glyphs.proposal } else { " " };
            // The word shows the decision on screens without colour, too.
            let answer = if rejected { "no " } else { "yes" };
            let lead = format!("{here} {answer} {sign} ");
            let role = if rejected { Role::Muted } else { role };
            starts.push(lines.len());
            let marked = if place == self.selected { Role::Proposal } else { Role::Text };
            lines.extend(paragraph((marked, &lead), role, &text, columns));
        }
        (lines, starts)
    }
}

fn lesson_text(text: &LessonText, context: &Context<'_>) -> String {
    let solution = text.solution.as_ref().map(|s| format!(" {} {s}", context.glyphs.solution));
    format!("{}{}", text.text, solution.unwrap_or_default())
}

fn count_text(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

impl Component for SummaryReview {
    fn name(&self) -> &'static str {
        "summary"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
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
            Action::RejectAll => {
                let all = !self.rejected.iter().all(|no| *no);
                self.rejected.fill(all);
            }
            other => self.move_selection(row_delta(other, self.scroll.page_rows()).unwrap_or(0)),
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, context: &Context<'_>) -> Response {
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) => {
                let Some(change) = self.pending_change(context) else { return Response::default() };
                let (_, starts) = self.lines(change, context, self.scroll.columns());
                self.selected = starts.iter().rposition(|start| *start <= row).unwrap_or(self.selected);
            }
            Some(MouseTarget::Wheel(by)) => self.move_selection(by),
            None => {}
        }
        Response::default()
    }

    fn is_stale(&self, context: &Context<'_>) -> bool {
        self.pending_change(context).is_none()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let Some(change) = self.pending_change(context) else { return };
        let title = format!("The mentor's {} lessons", change.question.name());
        let page = Page { title: &title, columns: 100, mode: Mode::Summary, scroll: &self.scroll };
        page.draw_with_selected(PresentKeys::default(), context, screen, canvas, |columns| {
            let (lines, starts) = self.lines(change, context, columns);
            let start = starts.get(self.selected).copied().unwrap_or_default();
            // The first change also reveals the text above it.
            let revealed = if self.selected == 0 { 0 } else { start };
            (lines, (revealed, revealed))
        });
    }
}
