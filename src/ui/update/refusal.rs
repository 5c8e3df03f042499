//! What cannot be done from where the person stands.

use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{Model, Tone};

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
