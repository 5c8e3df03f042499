//! What cannot be done from where the person stands.

use crate::engine::Command;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{Model, Severity};
use crate::ui::msg::Request;

/// Whether an action changes what happens now, so that it cannot be done while the past is shown.
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

/// Whether an action comes to nothing where there is no driver.
pub(super) fn is_driver_required(action: Action) -> bool {
    let writes = matches!(
        action,
        Action::AddLesson | Action::LessonFromOverride | Action::Remark | Action::OverrideQuestions
    );
    writes || is_present_only(action) || action == Action::PauseRun
}

/// Says how a session that is only looked at goes on.
pub(super) fn notify_read_only(model: &mut Model, look: &Context<'_>) {
    let words = match &model.resume_command {
        Some(command) => format!("read-only; to go on: {command}"),
        None => "read-only: what a report carries is looked at, not gone on with".to_owned(),
    };
    model.show_notice(words, Severity::Warning, look.now);
}

/// While nothing can be written, what would have to be is refused, and the box that it was typed in stays.
pub(super) fn while_halted(
    model: &mut Model,
    look: &Context<'_>,
    mut requests: Vec<Request>,
) -> Vec<Request> {
    let writes = |request: &Request| match request {
        Request::Send(command) => !matches!(command, Command::Cancel | Command::Pause),
        Request::Fork(_) | Request::SwitchBranch(_) => true,
        _ => false,
    };
    if look.halt_reason().is_none() || !requests.iter().any(writes) {
        return requests;
    }
    requests.retain(|r| !writes(r) && !matches!(r, Request::ShowNotice(_) | Request::SaveDraft { .. }));
    let retry = look.keymap.key_label(Action::AskAgain).unwrap_or_default();
    let words = match model.awaiting_answer.take() {
        Some(gone) => {
            model.overlays.push(gone);
            format!(
                "nothing can be saved now; what you typed stays here, and {retry} outside of this box retries the write"
            )
        }
        None => format!("nothing can be saved now; {retry} retries the write"),
    };
    model.show_notice(words, Severity::Warning, look.now);
    requests
}
