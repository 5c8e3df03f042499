//! Keys on the chosen lesson.

use crate::domain::{Lesson, LessonId, LessonStatus, ReflectionKind, Scope};
use crate::engine::{Command, LessonCommand};
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{Model, Severity};
use crate::ui::msg::Request;
use crate::ui::overlay::clamped_index;
use crate::ui::overlay::scope_label;
use crate::ui::view::lanes::selected_lesson_number;

/// The lesson that keys act on.
pub(crate) fn selected_lesson<'a>(model: &Model, look: &Context<'a>) -> Option<&'a Lesson> {
    let lane = look.lanes().get(model.selected_lane_index(look.lanes()))?;
    let state = look.displayed_state();
    state.pool.by_number(selected_lesson_number(model, state, lane)?)
}

fn change_selected(
    model: &mut Model,
    look: &Context<'_>,
    wish: impl FnOnce(&Lesson) -> Option<LessonCommand>,
) -> Vec<Request> {
    let Some(lesson) = selected_lesson(model, look) else {
        let key = look.keymap.key_label(Action::AddLesson).unwrap_or_default();
        let words = "there is no lesson here";
        let words = if look.is_read_only() { words.to_owned() } else { format!("{words}; {key} adds one") };
        model.show_notice(words, Severity::Warning, look.now);
        return Vec::new();
    };
    model.selected_lesson = Some(lesson.id.clone());
    wish(lesson).map(|w| Request::Send(Command::Lesson(w))).into_iter().collect()
}

pub(super) fn toggle(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    change_selected(model, look, |l| {
        let status = if l.is_active() { LessonStatus::Off } else { LessonStatus::On };
        Some(LessonCommand::Status { id: l.id.clone(), status })
    })
}

pub(super) fn pin(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    change_selected(model, look, |l| {
        let status = if l.status == LessonStatus::Pinned { LessonStatus::On } else { LessonStatus::Pinned };
        Some(LessonCommand::Status { id: l.id.clone(), status })
    })
}

/// Gives the lesson the next wider reach, and after the widest the narrowest.
pub(super) fn rescope(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    change_selected(model, look, |l| {
        let scope = match l.scope {
            Scope::Episode => Scope::Task,
            Scope::Task => Scope::TaskType,
            Scope::TaskType => Scope::Environment,
            Scope::Environment => Scope::Episode,
        };
        Some(LessonCommand::Rescope { id: l.id.clone(), scope })
    })
}

/// What a change of a lesson's reach or state comes to, in words short enough for the smallest screen.
pub(super) fn describe_change(wish: &LessonCommand, look: &Context<'_>) -> Option<String> {
    let lesson = |id: &LessonId| look.displayed_state().pool.get(id);
    match wish {
        LessonCommand::Rescope { id, scope } => {
            Some(format!("lesson {} now reaches {}", lesson(id)?.number, scope_label(*scope)))
        }
        LessonCommand::Status { id, status } => {
            let lesson = lesson(id)?;
            let words = match (status, lesson.status) {
                (LessonStatus::Pinned, LessonStatus::Off) => "is on again and pinned: only you remove it",
                (LessonStatus::Pinned, _) => "is pinned: only you remove it",
                (LessonStatus::Off, _) => "is off: it enters no prompt",
                (LessonStatus::On, LessonStatus::Pinned) => "is no longer pinned; it stays on",
                (LessonStatus::On, _) => "is on: it enters the next prompt",
                (LessonStatus::Retired, _) => {
                    let key = look.keymap.key_label(Action::Undo).unwrap_or_default();
                    return Some(format!("lesson {} is deleted; {key} brings it back", lesson.number));
                }
            };
            Some(format!("lesson {} {words}", lesson.number))
        }
        _ => None,
    }
}

/// The kind of the chosen lane; where it holds several, that of the chosen lesson.
pub(crate) fn selected_kind(model: &Model, look: &Context<'_>) -> ReflectionKind {
    let lane = look.lanes().get(model.selected_lane_index(look.lanes()));
    let several =
        lane.filter(|l| l.kinds.len() > 1).and_then(|_| selected_lesson(model, look)).map(|l| l.kind);
    several.or_else(|| lane?.kinds.first().copied()).unwrap_or(ReflectionKind::Error)
}

/// The kind of the method whose lessons are advice, if it has one.
pub(crate) fn advice_kind(look: &Context<'_>) -> Option<ReflectionKind> {
    const ADVICE: [ReflectionKind; 4] =
        [ReflectionKind::Abstract, ReflectionKind::Lesson, ReflectionKind::Plan, ReflectionKind::Positive];
    let kinds = look.lesson_kinds();
    ADVICE.into_iter().find(|kind| kinds.contains(kind))
}

/// Shows the lane of a kind with its newest lesson, so that a lesson that was just saved can be seen.
pub(super) fn show_lane(model: &mut Model, look: &Context<'_>, kind: ReflectionKind) {
    if let Some(lane) = look.lanes().iter().position(|lane| lane.kinds.contains(&kind)) {
        (model.selected_lane, model.selected_lesson) = (Some(lane), None);
    }
}

/// The kind of a lesson that a person begins to type. It is advice unless a lane of another kind has the focus; also over the
/// lane of Errors, for there a sentence alone would be told as a mistake that was made.
pub(crate) fn kind_of_new_lesson(model: &Model, look: &Context<'_>) -> ReflectionKind {
    let kinds = look.lesson_kinds();
    let focused = (model.focus == crate::ui::Focus::Lanes)
        .then(|| selected_kind(model, look))
        .filter(|kind| *kind != ReflectionKind::Error);
    focused
        .or_else(|| advice_kind(look))
        .or_else(|| kinds.first().copied())
        .unwrap_or(ReflectionKind::Abstract)
}

pub(super) fn delete(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    change_selected(model, look, |l| {
        Some(LessonCommand::Status { id: l.id.clone(), status: LessonStatus::Retired })
    })
}

/// Moves the lesson up or down on the screen, where the last in the prompt stands on top.
pub(super) fn reorder(model: &mut Model, look: &Context<'_>, by: isize) -> Vec<Request> {
    let pool = &look.displayed_state().pool;
    change_selected(model, look, |l| {
        let to = pool.position(&l.id)?.checked_add_signed(-by)?;
        (to < pool.visible_of_kind(l.kind).count()).then(|| LessonCommand::Move { id: l.id.clone(), to })
    })
}

/// Chooses the lesson above or below in the chosen lane.
pub(super) fn move_selection(model: &mut Model, look: &Context<'_>, by: isize) {
    let Some(lane) = look.lanes().get(model.selected_lane_index(look.lanes())) else { return };
    let state = look.displayed_state();
    let all = lane.newest_first(state);
    let number = selected_lesson_number(model, state, lane);
    let at = all.iter().position(|l| Some(l.number) == number).unwrap_or(0);
    let to = clamped_index(at, by, all.len());
    model.selected_lesson = all.get(to).map(|l| l.id.clone());
}
