//! The help screen: marks, panes and keys.

use crate::text::width;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::theme::Role;
use crate::ui::widget::window::{Line, Page, Scroll, paragraph, scroll_or_close};
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;

/// The help overlay, generated from the active key bindings.
#[derive(Default)]
pub(super) struct Help {
    scroll: Scroll,
}

impl Component for Help {
    fn name(&self) -> &'static str {
        "help"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
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

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let page = Page { title: "Help", columns: 96, mode: Mode::Overlay, scroll: &self.scroll };
        page.draw(context, screen, canvas, |columns| {
            let mut lines = legend_lines(context);
            for mode in Mode::ALL {
                push_key_lines(context, *mode, columns, &mut lines);
            }
            lines
        });
    }
}

fn legend_lines(context: &Context<'_>) -> Vec<Line> {
    let g = context.glyphs;
    let legend = [
        (Role::Proposal, g.proposal, "the proposed action; not run yet"),
        (Role::LessonNew, g.new_lesson, "a lesson not in any prompt yet"),
        (Role::LessonPinned, g.pin, "pinned: only you can remove it"),
        (Role::LessonOff, g.off, "off: not in prompts"),
        (Role::Muted, g.solution, "what to do instead of the mistake"),
        (Role::Person, g.person, "assisted: a person stepped in"),
        (Role::MarkMistake, g.mistake, "a detected mistake"),
        (Role::MarkProgress, g.subgoal, "a subgoal was reached"),
        (Role::MarkPerson, g.remark, "your remark"),
        (Role::Good, "+", "the step made progress"),
        (Role::TitleFocus, g.selection_edge, "on the left: the selected step or lesson"),
        (Role::MarkNow, g.now, "timeline: the step that all panes show"),
        (Role::Mark, g.sparkline[5], "timeline: one column per step; its height is the progress"),
        (Role::MarkPerson, g.sparkline[5], "timeline: you acted, or rejected a proposal"),
        (Role::MarkReflection, g.sparkline[5], "timeline: a reflection was written"),
        (Role::MarkMistake, g.sparkline[5], "timeline: a mistake was detected"),
        (Role::MarkProgress, g.sparkline[5], "timeline: a subgoal was reached"),
    ];
    let mut lines = vec![vec![(Role::Title, "Marks".to_owned())]];
    lines.extend(legend.map(|(role, mark, words)| {
        vec![(role, format!("  {mark}{}", " ".repeat(14 - width(mark)))), (Role::Text, words.to_owned())]
    }));
    lines.push(Vec::new());
    lines.push(vec![(Role::Title, "Panes by digit".to_owned())]);
    let lanes = context.lanes().iter().map(|lane| lane.title);
    let names = ["Story", "World"].into_iter().chain(lanes).chain(["Observations (in wide layouts)", "Time"]);
    lines.extend(
        names
            .zip(1..)
            .map(|(name, digit)| vec![(Role::Key, format!("  {digit:<15}")), (Role::Text, name.to_owned())]),
    );
    lines
}

fn push_key_lines(context: &Context<'_>, mode: Mode, columns: u16, lines: &mut Vec<Line>) {
    let mut rows = context.keymap.bindings_in(mode).peekable();
    if rows.peek().is_none() {
        return;
    }
    lines.push(Vec::new());
    lines.push(vec![(Role::Title, mode.title().to_owned())]);
    for row in rows {
        let keys: Vec<String> = row.keys.iter().map(|k| k.label()).collect();
        let lead = format!("  {:<13} ", keys.join(" "));
        lines.extend(paragraph((Role::Key, &lead), Role::Text, &row.description, columns));
    }
}
