//! Which actions and requests are unavailable: in the past, in read-only sessions, and while nothing can be written.

use crate::engine::Command;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{Model, Severity};
use crate::ui::msg::Request;

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
    let writes = matches!(
        action,
        Action::AddLesson | Action::LessonFromOverride | Action::Remark | Action::OverrideQuestions
    );
    writes || is_present_only(action) || action == Action::PauseRun
}

/// Shows that the session is read-only, and how to resume it.
pub(super) fn notify_read_only(model: &mut Model, context: &Context<'_>) {
    let text = match &model.resume_command {
        Some(command) => format!("read-only; to continue: {command}"),
        None => "read-only: a session inside a report can't be continued".to_owned(),
    };
    model.show_notice(text, Severity::Warning, context.now);
}

/// Drops the requests that would have to be journaled while writing fails, and reopens the box they were typed in.
pub(super) fn while_halted(
    model: &mut Model,
    context: &Context<'_>,
    mut requests: Vec<Request>,
) -> Vec<Request> {
    let writes = |request: &Request| match request {
        Request::Send(command) => !matches!(command, Command::Cancel | Command::Pause),
        Request::Fork(_) | Request::SwitchBranch(_) => true,
        _ => false,
    };
    if context.halt_reason().is_none() || !requests.iter().any(writes) {
        return requests;
    }
    requests.retain(|r| !writes(r) && !matches!(r, Request::ShowNotice(_) | Request::SaveDraft { .. }));
    let retry = context.keymap.key_label(Action::AskAgain).unwrap_or_default();
    let text = match model.awaiting_answer.take() {
        Some(closed) => {
            model.overlays.push(closed);
            format!("nothing can be saved now; your text stays here ({retry} outside this box retries)")
        }
        None => format!("nothing can be saved now; {retry} retries the write"),
    };
    model.show_notice(text, Severity::Warning, context.now);
    requests
}
