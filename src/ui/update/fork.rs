//! Continuing from the past on a new branch, and following the active branch.

use super::lesson;
use crate::domain::{Autonomy, BranchId};
use crate::driver::Health;
use crate::engine::{Command, CommandError, LessonCommand};
use crate::ui::draft::ForkChange;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::{Model, ScrollOffsets, Severity};
use crate::ui::msg::Request;
use crate::ui::selection::{selected_kind, selected_lesson};
use crate::ui::types::{Cursor, Focus};

/// Handles a present-only key pressed in the past: opens the fork dialog with the matching row chosen, or shows why the
/// key does nothing there.
pub(super) fn offer_fork(model: &mut Model, context: &Context<'_>, action: Action) -> Vec<Request> {
    let lanes = model.focus == Focus::Lanes;
    let lesson_change = |requests: Vec<Request>, model: &mut Model| {
        let command = requests.into_iter().find_map(|r| match r {
            Request::Send(command) => Some(command),
            _ => None,
        });
        command.map(|command| {
            model.notice = None;
            ForkChange::Command(Box::new(command.clone()), describe_command(&command, context))
        })
    };
    let change = match action {
        Action::Override => Some(ForkChange::Action),
        Action::RejectOrToggle if !lanes => Some(ForkChange::Reject),
        Action::AskAgain | Action::Retry | Action::GiveUp => Some(ForkChange::AskAgain),
        Action::AddLesson | Action::LessonFromOverride => Some(ForkChange::NewLesson),
        Action::EditLesson => Some(
            selected_lesson(model, context)
                .map_or(ForkChange::NewLesson, |l| ForkChange::EditLesson(l.id.clone())),
        ),
        Action::RejectOrToggle => lesson_change(lesson::toggle(model, context), model),
        Action::PinLesson => lesson_change(lesson::pin(model, context), model),
        Action::DeleteLesson => lesson_change(lesson::delete(model, context), model),
        Action::ChangeLessonScope => lesson_change(lesson::rescope(model, context), model),
        Action::MoveLessonUp => lesson_change(lesson::reorder(model, context, -1), model),
        Action::MoveLessonDown => lesson_change(lesson::reorder(model, context, 1), model),
        Action::ReflectNow => {
            let command = Command::Reflect(selected_kind(model, context));
            Some(ForkChange::Command(Box::new(command.clone()), describe_command(&command, context)))
        }
        Action::ToggleConfirm | Action::ToggleHuman => {
            let to = if action == Action::ToggleConfirm { Autonomy::Confirm } else { Autonomy::Human };
            let to = if context.displayed_state().autonomy == to { Autonomy::Auto } else { to };
            let command = Command::SetAutonomy(to);
            Some(ForkChange::Command(Box::new(command.clone()), describe_command(&command, context)))
        }
        Action::Redo => {
            super::cursor::move_to(model, context, Cursor::Live);
            model.show_notice("back in the present; nothing changed", Severity::Info, context.now);
            return Vec::new();
        }
        Action::Undo | Action::EndEpisode | Action::PlayAgain => {
            let key = context.keymap.key_label(Action::Live).unwrap_or_default();
            let text = format!(
                "you are viewing step {}; {key} returns to the present",
                context.frame.selected_step()
            );
            model.show_notice(text, Severity::Warning, context.now);
            return Vec::new();
        }
        _ => Some(ForkChange::Continue),
    };
    change.map(Request::OpenForkDialog).into_iter().collect()
}

/// Describes a command for the fork dialog and for the reason recorded with the branch.
pub(super) fn describe_command(command: &Command, context: &Context<'_>) -> String {
    match command {
        Command::Lesson(LessonCommand::Add { text, .. }) => format!("a new lesson: {}", text.text),
        Command::Lesson(LessonCommand::Load(lesson)) => format!("a saved lesson: {}", lesson.text().text),
        Command::Lesson(LessonCommand::Edit { text, .. }) => {
            format!("edited lesson: {}", text.text)
        }
        Command::Lesson(change) => {
            lesson::describe_change(change, context).unwrap_or_else(|| "lessons reordered".to_owned())
        }
        Command::Reflect(kind) => format!("reflect now: {}", kind.name()),
        Command::SetAutonomy(Autonomy::Auto) => "auto: the agent decides".to_owned(),
        Command::SetAutonomy(Autonomy::Confirm) => "confirm every proposal".to_owned(),
        Command::SetAutonomy(Autonomy::Human) => "you play".to_owned(),
        _ => "another change".to_owned(),
    }
}

/// Returns whether a fork can be offered before the event that a rejected command names.
pub(super) fn can_offer_fork(model: &Model, context: &Context<'_>, error: &CommandError) -> bool {
    // A dialog must not pop up while the person types in another; the caller then shows the error as a notice.
    error.seq.is_some() && !model.is_covered && !context.is_read_only()
}

/// Resets the cursor, overlays and pending steps when another branch has become active, and shows a notice about it.
pub(super) fn follow_branch(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    let (epoch, branch) = (context.frame.epoch, context.frame.branch.clone());
    if model.branch.is_some() && model.epoch == epoch {
        return Vec::new();
    }
    let left = model.branch.replace(branch.clone()).filter(|old| *old != branch);
    model.epoch = epoch;
    let Some(left) = left else { return Vec::new() };
    model.cursor = Cursor::Live;
    model.scroll = ScrollOffsets::default();
    model.is_covered = false;
    model.undo_scanned_to = None;
    (
        model.step_requested_at,
        model.queued_steps,
        model.prompted_step,
        model.end_card_shown_for,
        model.reported_divergence,
    ) = (None, 0, None, None, None);
    let known = model.branches.iter().any(|t| t.id == branch);
    let tree = context.keymap.key_label(Action::Branches).unwrap_or_default();
    let back = context.keymap.key_label_in(Mode::Branches, Action::PreviousBranch).unwrap_or_default();
    let verb = if known { "on branch" } else { "new branch" };
    let (now, old) = (branch_name(model, &branch), branch_name(model, &left));
    let text = format!("{verb} {now}, {old} is kept; {tree} lists both, {tree} then {back} goes back");
    model.show_notice(text, Severity::Info, context.now);
    model.previous_branch = Some(left);
    vec![Request::CloseOverlays, Request::LoadBranches]
}

/// Returns the display name of a branch, or its id if the branch isn't loaded yet.
pub(super) fn branch_name(model: &Model, id: &BranchId) -> String {
    model.branches.iter().find(|t| t.id == *id).map_or_else(|| id.0.clone(), |t| t.display_name().to_owned())
}

/// Asks what to do, once per difference between the restored environment and the recorded observations.
pub(super) fn show_divergence(model: &mut Model, context: &Context<'_>) -> Option<Request> {
    let head = &context.frame.head;
    let at = head.divergence.as_ref().map(|d| (d.0, d.1));
    if at == model.reported_divergence || context.frame.live.health != Health::Running {
        return None;
    }
    model.reported_divergence = at;
    if at.is_none() || model.is_in_past() || model.is_covered {
        return None;
    }
    model.is_covered = true;
    let parent = model.previous_branch.clone().or_else(|| {
        let active = model.branches.iter().find(|b| Some(&b.id) == model.branch.as_ref())?;
        active.parent.clone()
    });
    let back = parent.map(|id| (branch_name(model, &id), id));
    Some(Request::AskAboutDivergence { back })
}
