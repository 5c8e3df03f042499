//! The Timeline pane: the progress rate as a line over the width of the pane, and below it, where there is room, a row with the
//! marks of the steps.

use crate::domain::{LessonOp, LessonStatus, NoteKind, PersonAct, Step};
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::glyphs::Glyphs;
use crate::ui::layout::StepRuler;
use crate::ui::mark::{MarkKind, has_early_intervention};
use crate::ui::theme::Role;
use ratatui::layout::Rect;

/// The most columns of a step.
const MAX_STEP_COLUMNS: u32 = 6;

/// Draws the line of progress, and the marks if there are two rows. Returns the mapping from columns to steps.
///
/// A step has the same columns throughout an episode whose step limit fits: the rest of the row is what is left of it. `forked` are
/// the steps at which branches were forked.
pub fn draw(context: &Context<'_>, forked: &[u32], area: Rect, canvas: &mut Canvas<'_>) -> Option<StepRuler> {
    let episode = context.episode().filter(|_| !area.is_empty())?;
    let last = episode.steps.len() as u32;
    let chosen = context.frame.selected_step();
    let columns = u32::from(area.width.saturating_sub(2).max(1));
    let limit = context.displayed_state().run.as_ref().map_or(0, |run| run.limits.steps);
    let wanted = if limit <= columns { last.max(limit) } else { last };
    let room = wanted.clamp(1, columns);
    // If the episode doesn't fit, show the steps around the selected one.
    let first = if last <= room { 1 } else { chosen.saturating_sub(room * 3 / 4).clamp(1, last + 1 - room) };
    let ruler = StepRuler {
        first_column: area.x + 1,
        first_step: first,
        last_step: last.min(first + room - 1),
        episode_steps: last,
        room,
        columns: columns.min(room * MAX_STEP_COLUMNS) as u16,
    };
    let has_marks_row = area.height >= 2;
    if has_marks_row && ruler.first_step == 1 && has_early_intervention(episode) {
        let (x, style) = (area.x, canvas.style(Role::MarkPerson));
        canvas.put(x, area.y + 1, 1, canvas.glyphs.person, style);
    }
    if chosen == 0 {
        canvas.put(area.x, area.y, 1, canvas.glyphs.now, canvas.style(Role::MarkNow));
    }
    for number in ruler.first_step..=ruler.last_step {
        let Some(step) = context.step(number) else { break };
        let x = ruler.column_of(number);
        let cells = Rect { x, width: ruler.column_of(number + 1) - x, height: 1, ..area };
        draw_progress(context, step, (!has_marks_row).then_some(forked), cells, canvas);
        if has_marks_row {
            draw_marks(step, forked, Rect { y: area.y + 1, ..cells }, canvas);
        }
    }
    draw_steps_left(&ruler, limit, area, canvas);
    (last > 0).then_some(ruler)
}

/// Draws the progress rate after a step. With `forked`, there is no row of marks, so the step's main mark stands in its first column. At the
/// end of the episode the line ends at the selected step: what follows would look like a future.
fn draw_progress(
    context: &Context<'_>,
    step: &Step,
    forked: Option<&[u32]>,
    cells: Rect,
    canvas: &mut Canvas<'_>,
) {
    let rate = progress_at(context, step.number);
    let level = (rate.clamp(0.0, 1.0) * 7.0).round() as usize;
    let bar = canvas.glyphs.sparkline[level];
    let is_selected = step.number == context.frame.selected_step();
    let plain = if forked.is_none() && rate > 0.0 { Role::ProgressFull } else { Role::Mark };
    let (glyph, role) = match forked.and_then(|forked| main_mark(step, forked)) {
        _ if is_selected => (canvas.glyphs.now, Role::MarkNow),
        Some(mark) => mark_glyph(step, mark, canvas.glyphs),
        None => (bar, plain),
    };
    canvas.put(cells.x, cells.y, 1, glyph, canvas.style(role));
    let is_last = context.episode().is_some_and(|e| e.steps.len() == step.number as usize);
    if is_selected && is_last {
        return;
    }
    for x in cells.x + 1..cells.right() {
        canvas.put(x, cells.y, 1, bar, canvas.style(plain));
    }
}

/// Draws the marks of a step, the most important first, as many as fit.
fn draw_marks(step: &Step, forked: &[u32], cells: Rect, canvas: &mut Canvas<'_>) {
    let marks = MARK_PRIORITY.into_iter().filter(|kind| kind.is_set_on(step, forked));
    for (x, kind) in (cells.left()..cells.right()).zip(marks) {
        let (glyph, role) = mark_glyph(step, kind, canvas.glyphs);
        canvas.put(x, cells.y, 1, glyph, canvas.style(role));
    }
}

/// Draws a dot for every tenth step that the episode still has, and for the last one.
fn draw_steps_left(ruler: &StepRuler, limit: u32, area: Rect, canvas: &mut Canvas<'_>) {
    let left = (ruler.last_step.saturating_add(1)..=limit).filter(|step| step % 10 == 0 || *step == limit);
    for number in left.take(usize::from(area.width)) {
        let x = ruler.column_of(number);
        if x >= area.right().saturating_sub(1) {
            break;
        }
        canvas.put(x, area.y, 1, canvas.glyphs.separator, canvas.style(Role::Frame));
    }
}

fn mark_glyph(step: &Step, kind: MarkKind, glyphs: &Glyphs) -> (&'static str, Role) {
    let glyph = match kind {
        MarkKind::Reflection => glyphs.new_lesson,
        MarkKind::Override => glyphs.person,
        MarkKind::Mistake => glyphs.mistake,
        MarkKind::Progress => "+",
        MarkKind::Remark => glyphs.remark,
        MarkKind::Breakpoint if has_breakpoint_hit(step) => glyphs.breakpoint,
        MarkKind::Breakpoint => glyphs.watch,
        MarkKind::Branch => glyphs.branch,
    };
    (glyph, kind.role())
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

/// The kinds of marks; breakpoints and human interventions come first. A reflection is mostly about the mistake or the progress
/// of its step, which says more.
const MARK_PRIORITY: [MarkKind; 7] = [
    MarkKind::Breakpoint,
    MarkKind::Override,
    MarkKind::Branch,
    MarkKind::Mistake,
    MarkKind::Progress,
    MarkKind::Reflection,
    MarkKind::Remark,
];

/// Returns the mark that determines a step's colour.
fn main_mark(step: &Step, forked: &[u32]) -> Option<MarkKind> {
    MARK_PRIORITY.into_iter().find(|kind| kind.is_set_on(step, forked))
}

/// Returns what a person did beside the steps' texts, in a few words.
fn act_label(act: &PersonAct) -> &'static str {
    match act {
        PersonAct::Lesson { change, .. } => match **change {
            LessonOp::Add { .. } => "you taught a lesson",
            LessonOp::Edit { .. } => "you edited a lesson",
            LessonOp::Status { merged_into: Some(_), .. } => "you merged two lessons",
            LessonOp::Status { status, .. } => match status {
                LessonStatus::On => "you switched a lesson on",
                LessonStatus::Off => "you switched a lesson off",
                LessonStatus::Pinned => "you pinned a lesson",
                LessonStatus::Retired => "you deleted a lesson",
            },
            LessonOp::Rescope { .. } => "you changed a lesson's scope",
            LessonOp::Move { .. } => "you moved a lesson",
            _ => "you changed a lesson",
        },
        PersonAct::AskedAgain => "you asked again",
        PersonAct::Setting { .. } | PersonAct::Run { .. } => "you changed a setting",
        PersonAct::Summary { .. } => "you reviewed a summary",
    }
}

/// Returns what happened at the selected step, or at the last marked step up to `MAX_STEPS_BACK` before it.
pub fn nearest_mark_label(context: &Context<'_>, forked: &[u32]) -> Option<(Role, String)> {
    const MAX_STEPS_BACK: u32 = 8;
    let selected = context.frame.selected_step();
    let number = (selected.saturating_sub(MAX_STEPS_BACK).max(1)..=selected)
        .rev()
        .find(|n| context.step(*n).is_some_and(|s| main_mark(s, forked).is_some()))?;
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
    } else if let Some(act) = step.interventions.iter().rfind(|act| !act.undone) {
        (Role::MarkPerson, format!("{} step {number} {}", g.person, act_label(&act.act)))
    } else if forked.contains(&number) {
        (Role::MarkPerson, format!("{} step {number} a branch was forked", g.branch))
    } else if let Some(note) = step.notes.iter().find(|n| n.kind == NoteKind::Mistake) {
        (Role::MarkMistake, format!("{} step {number} {}", g.mistake, note.detector.replace('_', " ")))
    } else if step.answer.as_ref().is_some_and(|answer| answer.won) {
        (Role::MarkProgress, format!("{} step {number} goal", g.subgoal))
    } else if let Some(note) = step.notes.iter().find(|n| n.kind == NoteKind::Progress) {
        (Role::MarkProgress, format!("{} step {number} {}", g.subgoal, note.detector.replace('_', " ")))
    } else if !step.reflections.is_empty() {
        (Role::MarkReflection, format!("{} step {number} reflection", g.new_lesson))
    } else {
        (Role::MarkPerson, format!("{} step {number} remark", g.remark))
    };
    Some((role, label))
}
