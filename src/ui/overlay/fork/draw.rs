//! The dialog as it is drawn: the question, and the choices under the titles of their groups.

use super::super::window::{Line, Place, Window, paragraph, put_line};
use super::entries::Entry;
use super::{ForkBox, Stage, at};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::overlay::Overlay;
use crate::ui::theme::Role;
use crate::ui::view::behind;
use ratatui::layout::Rect;

impl ForkBox {
    /// What is asked, as rows.
    fn question(&self, look: &Context<'_>, columns: u16) -> Vec<Line> {
        let turn = self.turn;
        let words = match &self.refused {
            Some(why) => {
                format!("Too late: {why}. Continue from before it on a new branch? The old line stays.")
            }
            None if self.present && look.moment.head.head != self.shown.head => {
                let now = look.moment.head.episode.as_ref().map_or(0, |e| e.steps.len());
                let place = at::place(&self.shown);
                let gone = format!("the session has gone on since: it is at turn {now} now");
                format!("This is {place}; {gone}. Continue from there on a new branch? The old line stays.")
            }
            None if self.present => {
                format!(
                    "This is the present, turn {turn}. Continue from here on a new branch? The old line stays."
                )
            }
            None => {
                let of = match behind(look) {
                    Some((at, word)) => format!("turn {turn}; live: turn {at}, {word}"),
                    None => format!("turn {turn} of {}", look.episode().map_or(0, |e| e.steps.len())),
                };
                format!("This is the past ({of}). Continue from here on a new branch? The old line stays.")
            }
        };
        paragraph((Role::Past, ""), Role::Past, &words, columns)
    }

    fn title(&self) -> String {
        match &self.stage {
            Stage::Choosing => "Continue on a new branch".to_owned(),
            Stage::Typing(value) => format!("New branch: {}", value.title(self.turn)),
        }
    }

    fn rows(&self, look: &Context<'_>, columns: u16) -> u16 {
        match &self.stage {
            Stage::Choosing => (self.question(look, columns).len() + self.entries.len()) as u16 + 1,
            Stage::Typing(value) => value.rows(),
        }
    }

    fn list(&self, look: &Context<'_>, inside: Rect, canvas: &mut Canvas<'_>) {
        let asked = self.question(look, inside.width);
        let mut y = inside.y;
        for line in asked.iter().take(usize::from(inside.height)) {
            put_line(line, Rect { y, height: 1, ..inside }, canvas);
            y += 1;
        }
        // Where there is room, a blank row sets the choices apart.
        let left = inside.bottom().saturating_sub(y);
        let gap = u16::from(usize::from(left) > self.entries.len());
        let mut list = Rect { y: y + gap, height: left - gap, ..inside };
        let wide = self.entries.iter().map(Entry::columns).max().unwrap_or(0);
        let line = |place: usize| {
            self.entries.get(place).map_or_else(Line::new, |e| e.line(place == self.chosen, wide, look))
        };
        // The title of a group that has scrolled away stands above its rows.
        if let Some(title) = self.scrolled_away(usize::from(list.height)) {
            put_line(&line(title), Rect { height: 1, ..list }, canvas);
            list = Rect { y: list.y + 1, height: list.height - 1, ..list };
        }
        self.scroll.list(self.chosen, self.entries.len(), list, canvas, line);
    }

    /// The title of the first row's group, where rows in so many lines show it no more, and there is a line for it.
    fn scrolled_away(&self, height: usize) -> Option<usize> {
        const LEAST: usize = 3;
        let all = self.entries.len();
        if height < LEAST || height >= all {
            return None;
        }
        let title = |top: usize| self.entries.get(..=top)?.iter().rposition(|e| matches!(e, Entry::Head(_)));
        let seen = |top: usize| (title(top) != Some(top)).then(|| title(top)).flatten();
        self.scroll.show(self.chosen, all, height);
        let first = seen(self.scroll.fit(all, height))?;
        // With a row less the list may begin at a title.
        self.scroll.show(self.chosen, all, height - 1);
        seen(self.scroll.fit(all, height - 1)).or(Some(first))
    }

    /// The whole of it.
    pub(super) fn drawn(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        const COLUMNS: u16 = 78;
        let columns = COLUMNS.min(screen.width.saturating_sub(4));
        let title = self.title();
        let window = Window {
            title: &title,
            place: Place::Middle,
            rows: self.rows(look, columns),
            columns: COLUMNS,
            mode: self.mode(),
        };
        let inside = window.draw(look, screen, canvas);
        match &self.stage {
            Stage::Choosing => self.list(look, inside, canvas),
            Stage::Typing(value) => value.draw(look, self.note.as_deref(), inside, canvas),
        }
    }
}
