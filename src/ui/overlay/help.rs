//! Keys and marks.

use super::window::{Line, Page, Scroll};
use super::{Overlay, Response, scroll_or_close};
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

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Open => Response::close(),
            _ => scroll_or_close(&self.scroll, action),
        }
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.scroll.on_wheel(event);
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let page = Page { title: "Help", columns: 96, mode: Mode::Overlay, scroll: &self.scroll };
        page.draw(look, screen, canvas, |columns| {
            let mut lines = legend_lines(look);
            for mode in Mode::ALL {
                push_key_lines(look, *mode, columns, &mut lines);
            }
            lines
        });
    }
}

fn legend_lines(look: &Context<'_>) -> Vec<Line> {
    let g = look.glyphs;
    let legend = [
        (Role::Proposal, g.proposal, "what the agent wants to do; nothing is done yet"),
        (Role::LessonNew, g.new_lesson, "a lesson that no prompt has used yet"),
        (Role::LessonPinned, g.pin, "pinned: only you can remove it"),
        (Role::LessonOff, g.off, "switched off: it enters no prompt"),
        (Role::Muted, g.solution, "what to do instead of the mistake"),
        (Role::Person, g.person, "a person's hand: overridden, rejected, edited"),
        (Role::MarkMistake, g.mistake, "a mistake that a detector saw"),
        (Role::MarkProgress, g.subgoal, "a subgoal reached"),
        (Role::MarkPerson, g.remark, "a remark of yours"),
        (Role::Good, "+", "the turn made progress"),
        (Role::TitleFocus, g.selection_edge, "at the left: the chosen turn or lesson"),
        (Role::MarkNow, g.now, "in Time: the moment that all panes show"),
        (Role::Mark, g.sparkline[5], "in Time: one column a turn, as high as the progress then"),
        (Role::MarkPerson, g.sparkline[5], "in Time: you acted or rejected"),
        (Role::MarkReflection, g.sparkline[5], "in Time: a reflection was written"),
        (Role::MarkMistake, g.sparkline[5], "in Time: a mistake was seen"),
        (Role::MarkProgress, g.sparkline[5], "in Time: a subgoal was reached"),
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

fn push_key_lines(look: &Context<'_>, mode: Mode, columns: u16, lines: &mut Vec<Line>) {
    let mut rows = look.keymap.bindings_in(mode).peekable();
    if rows.peek().is_none() {
        return;
    }
    lines.push(Vec::new());
    lines.push(vec![(Role::Title, mode.title().to_owned())]);
    for row in rows {
        let keys: Vec<String> = row.keys.iter().map(|k| k.label()).collect();
        let lead = format!("  {:<13} ", keys.join(" "));
        lines.extend(super::window::paragraph((Role::Key, &lead), Role::Text, &row.description, columns));
    }
}
