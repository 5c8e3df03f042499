//! What cannot be done from where the person stands.

use crate::engine::Command;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{Model, Tone};
use crate::ui::msg::Request;

/// Whether an action changes what happens now, so that it cannot be done while the past is shown.
pub(super) fn acts_on_the_present(action: Action) -> bool {
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
            | Action::Model
            | Action::Recorded
            | Action::EndEpisode
            | Action::Summary
            | Action::ReflectNow
            | Action::Undo
            | Action::Redo
            | Action::PinLesson
            | Action::DeleteLesson
            | Action::EditLesson
            | Action::ScopeLesson
            | Action::Again
            | Action::NextTask
            | Action::Fork
            | Action::MoveUp
            | Action::MoveDown
    )
}

/// Whether an action comes to nothing where there is no driver.
pub(super) fn wants_a_driver(action: Action) -> bool {
    let writes = matches!(
        action,
        Action::AddLesson | Action::LessonFromOverride | Action::Remark | Action::OverrideQuestions
    );
    writes || acts_on_the_present(action) || action == Action::PauseRun
}

/// Says how a session that is only looked at goes on.
pub(super) fn only_read(model: &mut Model, look: &Context<'_>) {
    let words = match &model.resume {
        Some(command) => format!("read-only; to go on: {command}"),
        None => "read-only: what a report carries is looked at, not gone on with".to_owned(),
    };
    model.say(words, Tone::Refused, look.now);
}

/// While nothing can be written, what would have to be is refused, and the box that it was typed in stays.
pub(super) fn while_halted(
    model: &mut Model,
    look: &Context<'_>,
    mut requests: Vec<Request>,
) -> Vec<Request> {
    let writes = |request: &Request| match request {
        Request::Send(command) => !matches!(command, Command::Cancel | Command::Pause),
        Request::Fork(_) | Request::Switch(_) => true,
        _ => false,
    };
    if look.halted().is_none() || !requests.iter().any(writes) {
        return requests;
    }
    requests.retain(|r| !writes(r) && !matches!(r, Request::Say(_) | Request::Keep { .. }));
    let retry = look.keymap.label(Action::AskAgain).unwrap_or_default();
    let words = match model.awaiting_answer.take() {
        Some(gone) => {
            model.overlays.push(gone);
            format!(
                "nothing can be saved now; what you typed stays here, and {retry} outside of this box retries the write"
            )
        }
        None => format!("nothing can be saved now; {retry} retries the write"),
    };
    model.say(words, Tone::Refused, look.now);
    requests
}
