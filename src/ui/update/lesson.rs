//! Actions on the selected lesson.

use crate::catalog::{LessonReader, pin_effect};
use crate::domain::{Lesson, LessonId, LessonStatus, ReflectionKind, Scope};
use crate::engine::{Command, LessonCommand};
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::labels::scope_text;
use crate::ui::model::{Model, Severity};
use crate::ui::msg::Request;
use crate::ui::selection::{selected_lesson, selected_lesson_number};
use crate::ui::widget::list_index::clamped_index;

/// Sends the command that `change` returns for the selected lesson, or shows a notice if there is none.
fn change_selected(
    model: &mut Model,
    context: &Context<'_>,
    change: impl FnOnce(&Lesson) -> Option<LessonCommand>,
) -> Vec<Request> {
    let Some(lesson) = selected_lesson(model, context) else {
        let key = context.keymap.key_label(Action::AddLesson).unwrap_or_default();
        let text = "no lesson here";
        let text = if context.is_read_only() { text.to_owned() } else { format!("{text}; {key} adds one") };
        model.show_notice(text, Severity::Warning, context.now);
        return Vec::new();
    };
    model.selected_lesson = Some(lesson.id.clone());
    change(lesson).map(|command| Request::Send(Command::Lesson(command))).into_iter().collect()
}

/// Switches the selected lesson on or off.
pub(super) fn toggle(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    change_selected(model, context, |l| {
        let status = if l.is_active() { LessonStatus::Off } else { LessonStatus::On };
        Some(LessonCommand::Status { id: l.id.clone(), status })
    })
}

/// Pins or unpins the selected lesson.
pub(super) fn pin(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    change_selected(model, context, |l| {
        let status = if l.status == LessonStatus::Pinned { LessonStatus::On } else { LessonStatus::Pinned };
        Some(LessonCommand::Status { id: l.id.clone(), status })
    })
}

/// Widens the scope of the selected lesson by one; after the widest comes the narrowest.
pub(super) fn rescope(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    change_selected(model, context, |l| {
        let scope = match l.scope {
            Scope::Episode => Scope::Task,
            Scope::Task => Scope::TaskType,
            Scope::TaskType => Scope::Environment,
            Scope::Environment => Scope::Episode,
        };
        Some(LessonCommand::Rescope { id: l.id.clone(), scope })
    })
}

/// Describes a change of a lesson's scope or status in a few words, for the smallest screen. Returns `None` for other
/// commands.
pub(super) fn describe_change(command: &LessonCommand, context: &Context<'_>) -> Option<String> {
    let lesson = |id: &LessonId| context.displayed_state().pool.get(id);
    match command {
        LessonCommand::Rescope { id, scope } => {
            let lesson = lesson(id)?;
            let own_scope = Some(lesson.own_scope.unwrap_or(lesson.scope));
            let changed = Lesson { scope: *scope, own_scope, ..lesson.clone() };
            Some(format!(
                "lesson {} scope: {}",
                lesson.number,
                scope_text(&changed, context.displayed_state())
            ))
        }
        LessonCommand::Status { id, status } => {
            let lesson = lesson(id)?;
            if *status == LessonStatus::Pinned
                && let Some(effect) = pin_effect(context.displayed_state(), lesson)
            {
                let on = if lesson.status == LessonStatus::Off { "on and " } else { "" };
                return Some(format!(
                    "lesson {} {on}pinned: {effect}; only you can remove it",
                    lesson.number
                ));
            }
            let text = match (status, lesson.status) {
                (LessonStatus::Pinned, LessonStatus::Off) => "on and pinned: only you can remove it",
                (LessonStatus::Pinned, _) => "pinned: only you can remove it",
                (LessonStatus::Off, _) => "off: left out of prompts",
                (LessonStatus::On, LessonStatus::Pinned) => "unpinned; it stays on",
                (LessonStatus::On, _) if context.lesson_reader(lesson.kind) == LessonReader::Mentor => {
                    "on: in the mentor's next question"
                }
                (LessonStatus::On, _) if context.asks_actor() => "on: in the next prompt",
                (LessonStatus::On, _) => "on",
                (LessonStatus::Retired, _) => {
                    let key = context.keymap.key_label(Action::Undo).unwrap_or_default();
                    return Some(format!("lesson {} deleted; {key} restores it", lesson.number));
                }
            };
            Some(format!("lesson {} {text}", lesson.number))
        }
        _ => None,
    }
}

/// Selects the lane of a kind and its newest lesson, so that a lesson just saved is visible.
pub(super) fn show_lane(model: &mut Model, context: &Context<'_>, kind: ReflectionKind) {
    if let Some(lane) = context.lanes().iter().position(|lane| lane.kinds.contains(&kind)) {
        (model.selected_lane, model.selected_lesson) = (Some(lane), None);
        model.first_seen_lesson = None;
        model.lessons_before_added = Some(context.frame.head.pool.len());
    }
}

/// Deletes (retires) the selected lesson.
pub(super) fn delete(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    change_selected(model, context, |l| {
        Some(LessonCommand::Status { id: l.id.clone(), status: LessonStatus::Retired })
    })
}

/// Moves the selected lesson up (`by` = -1) or down (1) on the screen, where the last lesson of the prompt is on top.
pub(super) fn reorder(model: &mut Model, context: &Context<'_>, by: isize) -> Vec<Request> {
    let pool = &context.displayed_state().pool;
    change_selected(model, context, |l| {
        let to = pool.position(&l.id)?.checked_add_signed(-by)?;
        (to < pool.visible_of_kind(l.kind).count()).then(|| LessonCommand::Move { id: l.id.clone(), to })
    })
}

/// Selects the lesson `by` rows below (negative: above) in the selected lane.
pub(super) fn move_selection(model: &mut Model, context: &Context<'_>, by: isize) {
    let Some(lane) = context.lanes().get(model.selected_lane_index(context)) else { return };
    let state = context.displayed_state();
    let all = lane.newest_first(state);
    let number = selected_lesson_number(model, state, lane);
    let at = all.iter().position(|l| Some(l.number) == number).unwrap_or(0);
    let to = clamped_index(at, by, all.len());
    model.selected_lesson = all.get(to).map(|l| l.id.clone());
}
