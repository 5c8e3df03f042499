//! Keys on the chosen lesson.

use crate::domain::{Lesson, LessonId, LessonStatus, ReflectionKind, Scope};
use crate::engine::{Command, LessonCommand};
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{Model, Tone};
use crate::ui::msg::Request;
use crate::ui::overlay::scope_word;
use crate::ui::overlay::stepped;
use crate::ui::view::lanes::picked;

/// The lesson that keys act on.
pub(crate) fn chosen<'a>(model: &Model, look: &Context<'a>) -> Option<&'a Lesson> {
    let lane = look.lanes().get(model.lane(look.lanes()))?;
    let state = look.shown();
    state.pool.by_number(picked(model, state, lane)?)
}

fn with(
    model: &mut Model,
    look: &Context<'_>,
    wish: impl FnOnce(&Lesson) -> Option<LessonCommand>,
) -> Vec<Request> {
    let Some(lesson) = chosen(model, look) else {
        let key = look.keymap.label(Action::AddLesson).unwrap_or_default();
        let words = "there is no lesson here";
        let words = if look.reading() { words.to_owned() } else { format!("{words}; {key} adds one") };
        model.say(words, Tone::Refused, look.now);
        return Vec::new();
    };
    model.lesson = Some(lesson.id.clone());
    wish(lesson).map(|w| Request::Send(Command::Lesson(w))).into_iter().collect()
}

pub(super) fn toggle(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    with(model, look, |l| {
        let status = if l.is_active() { LessonStatus::Off } else { LessonStatus::On };
        Some(LessonCommand::Status { id: l.id.clone(), status })
    })
}

pub(super) fn pin(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    with(model, look, |l| {
        let status = if l.status == LessonStatus::Pinned { LessonStatus::On } else { LessonStatus::Pinned };
        Some(LessonCommand::Status { id: l.id.clone(), status })
    })
}

/// Gives the lesson the next wider reach, and after the widest the narrowest.
pub(super) fn rescope(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    with(model, look, |l| {
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
pub(super) fn told(wish: &LessonCommand, look: &Context<'_>) -> Option<String> {
    let lesson = |id: &LessonId| look.shown().pool.get(id);
    match wish {
        LessonCommand::Rescope { id, scope } => {
            Some(format!("lesson {} now reaches {}", lesson(id)?.number, scope_word(*scope)))
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
                    let key = look.keymap.label(Action::Undo).unwrap_or_default();
                    return Some(format!("lesson {} is deleted; {key} brings it back", lesson.number));
                }
            };
            Some(format!("lesson {} {words}", lesson.number))
        }
        _ => None,
    }
}

/// The kind of the chosen lane; where it holds several, that of the chosen lesson.
pub(crate) fn kind(model: &Model, look: &Context<'_>) -> ReflectionKind {
    let lane = look.lanes().get(model.lane(look.lanes()));
    let several = lane.filter(|l| l.kinds.len() > 1).and_then(|_| chosen(model, look)).map(|l| l.kind);
    several.or_else(|| lane?.kinds.first().copied()).unwrap_or(ReflectionKind::Error)
}

/// The kind of the method whose lessons are advice, if it has one.
pub(crate) fn advice_kind(look: &Context<'_>) -> Option<ReflectionKind> {
    const ADVICE: [ReflectionKind; 4] =
        [ReflectionKind::Abstract, ReflectionKind::Lesson, ReflectionKind::Plan, ReflectionKind::Positive];
    let kinds = look.kinds();
    ADVICE.into_iter().find(|kind| kinds.contains(kind))
}

/// Shows the lane of a kind with its newest lesson, so that a lesson that was just saved can be seen.
pub(super) fn show_lane(model: &mut Model, look: &Context<'_>, kind: ReflectionKind) {
    if let Some(lane) = look.lanes().iter().position(|lane| lane.kinds.contains(&kind)) {
        (model.lane, model.lesson) = (Some(lane), None);
    }
}

/// The kind of a lesson that a person begins to type. It is advice unless a lane of another kind has the focus; also over the
/// lane of Errors, for there a sentence alone would be told as a mistake that was made.
pub(crate) fn kind_to_type(model: &Model, look: &Context<'_>) -> ReflectionKind {
    let kinds = look.kinds();
    let focused = (model.focus == crate::ui::Focus::Lanes)
        .then(|| kind(model, look))
        .filter(|kind| *kind != ReflectionKind::Error);
    focused
        .or_else(|| advice_kind(look))
        .or_else(|| kinds.first().copied())
        .unwrap_or(ReflectionKind::Abstract)
}

pub(super) fn delete(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    with(model, look, |l| Some(LessonCommand::Status { id: l.id.clone(), status: LessonStatus::Retired }))
}

/// Moves the lesson up or down on the screen, where the last in the prompt stands on top.
pub(super) fn shift(model: &mut Model, look: &Context<'_>, by: isize) -> Vec<Request> {
    let pool = &look.shown().pool;
    with(model, look, |l| {
        let to = pool.position(&l.id)?.checked_add_signed(-by)?;
        (to < pool.visible_of_kind(l.kind).count()).then(|| LessonCommand::Move { id: l.id.clone(), to })
    })
}

/// Chooses the lesson above or below in the chosen lane.
pub(super) fn choose(model: &mut Model, look: &Context<'_>, by: isize) {
    let Some(lane) = look.lanes().get(model.lane(look.lanes())) else { return };
    let state = look.shown();
    let all = lane.newest_first(state);
    let number = picked(model, state, lane);
    let at = all.iter().position(|l| Some(l.number) == number).unwrap_or(0);
    let to = stepped(at, by, all.len());
    model.lesson = all.get(to).map(|l| l.id.clone());
}
