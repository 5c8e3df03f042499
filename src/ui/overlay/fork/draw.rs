//! The dialog as it is drawn: the question, and the choices under the titles of their groups.

use super::super::window::{Line, Window, WindowPosition, paragraph, put_line};
use super::entries::Entry;
use super::{ForkDialog, Stage, fork_point};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::overlay::Overlay;
use crate::ui::theme::Role;
use crate::ui::view::live_position;
use ratatui::layout::Rect;

impl ForkDialog {
    /// What is asked, as rows.
    fn question_lines(&self, look: &Context<'_>, columns: u16) -> Vec<Line> {
        let turn = self.step;
        let words = match &self.refusal {
            Some(why) => {
                format!("Too late: {why}. Continue from before it on a new branch? The old line stays.")
            }
            None if self.is_present && look.frame.head.head != self.shown.head => {
                let now = look.frame.head.episode.as_ref().map_or(0, |e| e.steps.len());
                let place = fork_point::describe_moment(&self.shown);
                let gone = format!("the session has gone on since: it is at turn {now} now");
                format!("This is {place}; {gone}. Continue from there on a new branch? The old line stays.")
            }
            None if self.is_present => {
                format!(
                    "This is the present, turn {turn}. Continue from here on a new branch? The old line stays."
                )
            }
            None => {
                let of = match live_position(look) {
                    Some((at, word)) => format!("turn {turn}; live: turn {at}, {word}"),
                    None => format!("turn {turn} of {}", look.episode().map_or(0, |e| e.steps.len())),
                };
                format!("This is the past ({of}). Continue from here on a new branch? The old line stays.")
            }
        };
        paragraph((Role::FramePast, ""), Role::FramePast, &words, columns)
    }

    fn title(&self) -> String {
        match &self.stage {
            Stage::Choosing => "Continue on a new branch".to_owned(),
            Stage::Typing(value) => format!("New branch: {}", value.title(self.step)),
        }
    }

    fn needed_rows(&self, look: &Context<'_>, columns: u16) -> u16 {
        match &self.stage {
            Stage::Choosing => (self.question_lines(look, columns).len() + self.entries.len()) as u16 + 1,
            Stage::Typing(value) => value.needed_rows(),
        }
    }

    fn draw_list(&self, look: &Context<'_>, inside: Rect, canvas: &mut Canvas<'_>) {
        let asked = self.question_lines(look, inside.width);
        let mut y = inside.y;
        for line in asked.iter().take(usize::from(inside.height)) {
            put_line(line, Rect { y, height: 1, ..inside }, canvas);
            y += 1;
        }
        // Where there is room, a blank row sets the choices apart.
        let left = inside.bottom().saturating_sub(y);
        let gap = u16::from(usize::from(left) > self.entries.len());
        let mut list = Rect { y: y + gap, height: left - gap, ..inside };
        let wide = self.entries.iter().map(Entry::name_columns).max().unwrap_or(0);
        let line = |place: usize| {
            self.entries.get(place).map_or_else(Line::new, |e| e.line(place == self.selected, wide, look))
        };
        // The title of a group that has scrolled away stands above its rows.
        if let Some(title) = self.sticky_heading(usize::from(list.height)) {
            put_line(&line(title), Rect { height: 1, ..list }, canvas);
            list = Rect { y: list.y + 1, height: list.height - 1, ..list };
        }
        self.scroll.draw_list(self.selected, self.entries.len(), list, canvas, line);
    }

    /// The title of the first row's group, where rows in so many lines show it no more, and there is a line for it.
    fn sticky_heading(&self, height: usize) -> Option<usize> {
        const MIN_ROWS: usize = 3;
        let all = self.entries.len();
        if height < MIN_ROWS || height >= all {
            return None;
        }
        let title =
            |top: usize| self.entries.get(..=top)?.iter().rposition(|e| matches!(e, Entry::Heading(_)));
        let seen = |top: usize| (title(top) != Some(top)).then(|| title(top)).flatten();
        self.scroll.reveal(self.selected, all, height);
        let first = seen(self.scroll.clamp_top(all, height))?;
        // With a row less the list may begin at a title.
        self.scroll.reveal(self.selected, all, height - 1);
        seen(self.scroll.clamp_top(all, height - 1)).or(Some(first))
    }

    /// The whole of it.
    pub(super) fn draw_dialog(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        const COLUMNS: u16 = 78;
        let columns = COLUMNS.min(screen.width.saturating_sub(4));
        let title = self.title();
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows: self.needed_rows(look, columns),
            columns: COLUMNS,
            mode: self.mode(),
        };
        let inside = window.draw(look, screen, canvas);
        match &self.stage {
            Stage::Choosing => self.draw_list(look, inside, canvas),
            Stage::Typing(value) => value.draw(look, self.error.as_deref(), inside, canvas),
        }
    }
}
