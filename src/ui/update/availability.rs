//! Which actions and requests are unavailable: in the past, in read-only sessions, and while nothing can be written.

use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{Model, Severity};

/// Returns true if the action changes what happens now, and so is unavailable while the past is shown.
pub(super) fn is_present_only(action: Action) -> bool {
    matches!(
        action,
        Action::Step
            | Action::StepStage
            | Action::ToggleConfirm
            | Action::ToggleHuman
            | Action::Override
            | Action::RejectOrToggle
            | Action::AskAgain
            | Action::Retry
            | Action::GiveUp
            | Action::ChangeModel
            | Action::UseRecordedReply
            | Action::EndEpisode
            | Action::Summary
            | Action::ReflectNow
            | Action::Undo
            | Action::Redo
            | Action::PinLesson
            | Action::DeleteLesson
            | Action::EditLesson
            | Action::ChangeLessonScope
            | Action::PlayAgain
            | Action::NextTask
            | Action::Fork
            | Action::MoveLessonUp
            | Action::MoveLessonDown
    )
}

/// Returns true if the action needs a driver, which a read-only session doesn't have.
pub(super) fn is_driver_required(action: Action) -> bool {
    let writes = matches!(action, Action::AddLesson | Action::LessonFromOverride | Action::Remark);
    writes || is_present_only(action) || action == Action::PauseRun
}

/// Shows that the session is read-only, and how to resume it.
pub(super) fn notify_read_only(model: &mut Model, context: &Context<'_>) {
    model.show_notice(model.read_only_message(), Severity::Warning, context.now);
}
