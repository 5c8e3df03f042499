//! Continuing from the past on a new branch, and following the active branch.

use super::lesson;
use crate::domain::{Autonomy, BranchId, LessonId};
use crate::driver::Health;
use crate::engine::{Command, CommandError, LessonCommand};
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::{Cursor, Focus, Model, ScrollOffsets, Severity};
use crate::ui::msg::Request;
use crate::ui::overlay::{DivergenceDialog, ForkChange, ForkDialog};

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
            super::chosen_lesson(model, context)
                .map_or(ForkChange::NewLesson, |l| ForkChange::EditLesson(l.id.clone())),
        ),
        Action::RejectOrToggle => lesson_change(lesson::toggle(model, context), model),
        Action::PinLesson => lesson_change(lesson::pin(model, context), model),
        Action::DeleteLesson => lesson_change(lesson::delete(model, context), model),
        Action::ChangeLessonScope => lesson_change(lesson::rescope(model, context), model),
        Action::MoveLessonUp => lesson_change(lesson::reorder(model, context, -1), model),
        Action::MoveLessonDown => lesson_change(lesson::reorder(model, context, 1), model),
        Action::ReflectNow => {
            let command = Command::Reflect(lesson::selected_kind(model, context));
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
    if let Some(change) = change {
        open_fork_dialog(model, context, &change);
    }
    Vec::new()
}

/// Opens the fork dialog for the position shown.
pub(super) fn open_fork_dialog(model: &mut Model, context: &Context<'_>, change: &ForkChange) {
    if context.displayed_state().run.is_none() {
        model.show_notice("the run has not started at this point", Severity::Warning, context.now);
        return;
    }
    let lesson: Option<(LessonId, u32)> =
        super::chosen_lesson(model, context).map(|l| (l.id.clone(), l.number));
    model.overlays.push(Box::new(ForkDialog::new(context, change, lesson)));
}

/// Describes a command for the fork dialog and for the reason recorded with the branch.
pub(super) fn describe_command(command: &Command, context: &Context<'_>) -> String {
    match command {
        Command::Lesson(LessonCommand::Add { text, .. }) => format!("a new lesson: {}", text.text),
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

/// Offers to fork before the event that a failed command names. Returns false if the command names none or another
/// overlay is open.
pub(super) fn offer_fork_on_error(model: &mut Model, context: &Context<'_>, error: &CommandError) -> bool {
    // A dialog must not pop up while the person types in another; the caller then shows the error as a notice.
    let is_free = model.overlays.is_empty() && !context.is_read_only();
    let Some(seq) = error.seq.filter(|_| is_free) else { return false };
    model.overlays.push(Box::new(ForkDialog::for_failed_undo(context, error, seq)));
    true
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
    model.overlays.clear();
    model.awaiting_answer = None;
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
    let text = format!("{verb} {now}; {old} is kept: {tree} shows both, {tree} {back} goes back");
    model.show_notice(text, Severity::Info, context.now);
    model.previous_branch = Some(left);
    vec![Request::LoadBranches]
}

/// Returns the display name of a branch, or its id if the branch isn't loaded yet.
pub(super) fn branch_name(model: &Model, id: &BranchId) -> String {
    model.branches.iter().find(|t| t.id == *id).map_or_else(|| id.0.clone(), |t| t.display_name().to_owned())
}

/// Opens the divergence dialog, once per difference between the restored environment and the recorded observations.
pub(super) fn show_divergence(model: &mut Model, context: &Context<'_>) {
    let head = &context.frame.head;
    let at = head.divergence.as_ref().map(|d| (d.0, d.1));
    if at == model.reported_divergence || context.frame.live.health != Health::Running {
        return;
    }
    model.reported_divergence = at;
    if at.is_some() && !model.is_in_past() && model.overlays.is_empty() {
        let parent = model.previous_branch.clone().or_else(|| {
            let active = model.branches.iter().find(|b| Some(&b.id) == model.branch.as_ref())?;
            active.parent.clone()
        });
        let back = parent.map(|id| (branch_name(model, &id), id));
        model.overlays.push(Box::new(DivergenceDialog::new(back)));
    }
}
