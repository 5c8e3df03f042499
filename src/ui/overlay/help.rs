//! Keys and marks.

use super::window::{Line, Page, Scroll};
use super::{Overlay, Response, scrolled};
use crate::text::width;
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::theme::Role;
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;

/// Help, written from the keys that are in force.
#[derive(Default)]
pub struct Help {
    scroll: Scroll,
}

impl Overlay for Help {
    fn name(&self) -> &'static str {
        "help"
    }

    fn mode(&self) -> Mode {
        Mode::Overlay
    }

    fn act(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Open => Response::close(),
            _ => scrolled(&self.scroll, action),
        }
    }

    fn mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.scroll.wheel(event);
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let page = Page { title: "Help", columns: 96, mode: Mode::Overlay, scroll: &self.scroll };
        page.draw(look, screen, canvas, |columns| {
            let mut lines = marks(look);
            for mode in Mode::ALL {
                keys(look, *mode, columns, &mut lines);
            }
            lines
        });
    }
}

fn marks(look: &Context<'_>) -> Vec<Line> {
    let g = look.glyphs;
    let legend = [
        (Role::Proposal, g.proposal, "what the agent wants to do; nothing is done yet"),
        (Role::New, g.new, "a lesson that no prompt has used yet"),
        (Role::LessonPinned, g.pin, "pinned: only you can remove it"),
        (Role::LessonOff, g.off, "switched off: it enters no prompt"),
        (Role::Dim, g.instead, "what to do instead of the mistake"),
        (Role::Person, g.person, "a person's hand: overridden, rejected, edited"),
        (Role::MarkMistake, g.mistake, "a mistake that a detector saw"),
        (Role::MarkProgress, g.done, "a subgoal reached"),
        (Role::MarkPerson, g.remark, "a remark of yours"),
        (Role::Good, "+", "the turn made progress"),
        (Role::Focus, g.edge, "at the left: the chosen turn or lesson"),
        (Role::MarkNow, g.now, "in Time: the moment that all panes show"),
        (Role::Mark, g.spark[5], "in Time: one column a turn, as high as the progress then"),
        (Role::MarkPerson, g.spark[5], "in Time: you acted or rejected"),
        (Role::MarkReflection, g.spark[5], "in Time: a reflection was written"),
        (Role::MarkMistake, g.spark[5], "in Time: a mistake was seen"),
        (Role::MarkProgress, g.spark[5], "in Time: a subgoal was reached"),
    ];
    let mut lines = vec![vec![(Role::Title, "Marks".to_owned())]];
    lines.extend(legend.map(|(role, mark, words)| {
        vec![(role, format!("  {mark}{}", " ".repeat(14 - width(mark)))), (Role::Text, words.to_owned())]
    }));
    lines.push(Vec::new());
    lines.push(vec![(Role::Title, "Panes, by their digits".to_owned())]);
    let lanes = look.lanes().iter().map(|lane| lane.title);
    let names =
        ["Story", "World"].into_iter().chain(lanes).chain(["Observations, where they are apart", "Time"]);
    lines.extend(
        names
            .zip(1..)
            .map(|(name, digit)| vec![(Role::Key, format!("  {digit:<15}")), (Role::Text, name.to_owned())]),
    );
    lines
}

fn keys(look: &Context<'_>, mode: Mode, columns: u16, lines: &mut Vec<Line>) {
    let mut rows = look.keymap.rows(mode).peekable();
    if rows.peek().is_none() {
        return;
    }
    lines.push(Vec::new());
    lines.push(vec![(Role::Title, mode.title().to_owned())]);
    for row in rows {
        let keys: Vec<String> = row.keys.iter().map(|k| k.label()).collect();
        let lead = format!("  {:<13} ", keys.join(" "));
        lines.extend(super::window::paragraph((Role::Key, &lead), Role::Text, &row.desc, columns));
    }
}
