//! The Time pane: a sparkline of the progress rate, one column per step, coloured by each step's marks.

use crate::domain::{NoteKind, Step};
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::layout::StepRuler;
use crate::ui::mark::MarkKind;
use crate::ui::theme::Role;
use ratatui::layout::Rect;

/// Draws the sparkline around the selected step and returns its mapping from columns to steps.
pub fn draw(context: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) -> Option<StepRuler> {
    let episode = context.episode().filter(|_| !area.is_empty())?;
    let last = episode.steps.len() as u32;
    let chosen = context.frame.selected_step();
    let label = nearest_mark_label(context);
    let label_width = if area.width >= 60 {
        label.as_ref().map_or(0, |(_, text)| text.chars().count() as u16 + 4)
    } else {
        0
    };
    let columns = u32::from(area.width.saturating_sub(2 + label_width).max(1));
    // One column per step. If the episode doesn't fit, show the steps around the selected one.
    let first =
        if last <= columns { 1 } else { chosen.saturating_sub(columns * 3 / 4).clamp(1, last + 1 - columns) };
    let y = area.y;
    for (x, number) in (area.x + 1..).zip(first..(first + columns).min(last + 1)) {
        let Some(step) = context.step(number) else { break };
        let rate = progress_at(context, number);
        let level = (rate.clamp(0.0, 1.0) * 7.0).round() as usize;
        let (glyph, role) = match () {
            () if number == chosen => (canvas.glyphs.now, Role::MarkNow),
            () if has_breakpoint_hit(step) => (canvas.glyphs.breakpoint, Role::MarkBreakpoint),
            () if !step.breakpoint_marks.is_empty() => (canvas.glyphs.watch, Role::MarkBreakpoint),
            () => (canvas.glyphs.sparkline[level], main_mark(step).map_or(Role::Mark, MarkKind::role)),
        };
        canvas.put(x, y, 1, glyph, canvas.style(role));
    }
    if let Some((role, label)) = label.filter(|_| label_width > 0) {
        canvas.put_right(area.right().saturating_sub(1), y, label_width, &label, canvas.style(role));
    }
    (last > 0).then(|| StepRuler {
        first_column: area.x + 1,
        first_step: first,
        last_step: last.min(first + columns - 1),
        episode_steps: last,
    })
}

/// Returns the progress rate after a step. Before its observation arrives, a step has the rate of the previous one.
fn progress_at(context: &Context<'_>, number: u32) -> f64 {
    let answered = |n: u32| context.step(n).and_then(|s| s.answer.as_ref()).map(|a| a.progress);
    answered(number).or_else(|| answered(number.saturating_sub(1))).unwrap_or(0.0)
}

/// Returns whether a breakpoint paused the run at this step. A watch doesn't pause it.
fn has_breakpoint_hit(step: &Step) -> bool {
    step.breakpoint_marks.iter().any(|mark| !mark.is_watch)
}

/// Returns the mark that determines a step's colour; breakpoints and human interventions come first.
fn main_mark(step: &Step) -> Option<MarkKind> {
    const MARK_PRIORITY: [MarkKind; 6] = [
        MarkKind::Breakpoint,
        MarkKind::Override,
        MarkKind::Reflection,
        MarkKind::Mistake,
        MarkKind::Progress,
        MarkKind::Remark,
    ];
    MARK_PRIORITY.into_iter().find(|kind| kind.is_set_on(step))
}

/// Returns the label for the selected step's mark, or for the last marked step up to `MAX_STEPS_BACK` before it.
fn nearest_mark_label(context: &Context<'_>) -> Option<(Role, String)> {
    const MAX_STEPS_BACK: u32 = 8;
    let selected = context.frame.selected_step();
    let number = (selected.saturating_sub(MAX_STEPS_BACK).max(1)..=selected)
        .rev()
        .find(|n| context.step(*n).is_some_and(|s| main_mark(s).is_some()))?;
    let step = context.step(number)?;
    let g = context.glyphs;
    let (role, label) = if let Some(hit) =
        step.breakpoint_marks.iter().find(|mark| !mark.is_watch).or(step.breakpoint_marks.first())
    {
        let (glyph, word) =
            if hit.is_watch { (g.watch, "watch") } else { (g.breakpoint, "stopped by breakpoint") };
        (Role::MarkBreakpoint, format!("{glyph} step {number} {word} {}", hit.breakpoint_number))
    } else if step.is_person_action() {
        (Role::MarkPerson, format!("{} step {number} you acted", g.person))
    } else if !step.rejections.is_empty() {
        (Role::MarkPerson, format!("{} step {number} you rejected", g.person))
    } else if step.thought_edited || step.is_observation_edited() || step.prompt_edited {
        (Role::MarkPerson, format!("{} step {number} you edited", g.person))
    } else if !step.reflections.is_empty() {
        (Role::MarkReflection, format!("{} step {number} reflection", g.new_lesson))
    } else if let Some(note) = step.notes.iter().find(|n| n.kind == NoteKind::Mistake) {
        (Role::MarkMistake, format!("{} step {number} {}", g.mistake, note.detector.replace('_', " ")))
    } else if let Some(note) = step.notes.iter().find(|n| n.kind == NoteKind::Progress) {
        (Role::MarkProgress, format!("{} step {number} {}", g.subgoal, note.detector.replace('_', " ")))
    } else {
        (Role::MarkPerson, format!("{} step {number} remark", g.remark))
    };
    Some((role, label))
}
