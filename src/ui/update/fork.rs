//! Continuing from the past, and the line that is followed.

use super::lesson;
use crate::domain::{Autonomy, BranchId, LessonId};
use crate::driver::Health;
use crate::engine::{Command, CommandError, LessonCommand};
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::{Cursor, Focus, Model, ScrollOffsets, Severity};
use crate::ui::msg::Request;
use crate::ui::overlay::{DivergenceDialog, ForkChange, ForkDialog};

/// Opens the dialog for a key that changes what happens, pressed over the past; or says why it means nothing there.
pub(super) fn offer_fork(model: &mut Model, look: &Context<'_>, action: Action) -> Vec<Request> {
    let lanes = model.focus == Focus::Lanes;
    let wish = |wants: Vec<Request>, model: &mut Model| {
        let command = wants.into_iter().find_map(|w| match w {
            Request::Send(command) => Some(command),
            _ => None,
        });
        command.map(|command| {
            model.notice = None;
            ForkChange::Command(Box::new(command.clone()), describe_command(&command, look))
        })
    };
    let change = match action {
        Action::Override => Some(ForkChange::Action),
        Action::RejectOrToggle if !lanes => Some(ForkChange::Reject),
        Action::AskAgain | Action::Retry | Action::GiveUp => Some(ForkChange::AskAgain),
        Action::AddLesson | Action::LessonFromOverride => Some(ForkChange::NewLesson),
        Action::EditLesson => Some(
            super::chosen_lesson(model, look)
                .map_or(ForkChange::NewLesson, |l| ForkChange::EditLesson(l.id.clone())),
        ),
        Action::RejectOrToggle => wish(lesson::toggle(model, look), model),
        Action::PinLesson => wish(lesson::pin(model, look), model),
        Action::DeleteLesson => wish(lesson::delete(model, look), model),
        Action::ChangeLessonScope => wish(lesson::rescope(model, look), model),
        Action::MoveLessonUp => wish(lesson::reorder(model, look, -1), model),
        Action::MoveLessonDown => wish(lesson::reorder(model, look, 1), model),
        Action::ReflectNow => {
            let command = Command::Reflect(lesson::selected_kind(model, look));
            Some(ForkChange::Command(Box::new(command.clone()), describe_command(&command, look)))
        }
        Action::ToggleConfirm | Action::ToggleHuman => {
            let to = if action == Action::ToggleConfirm { Autonomy::Confirm } else { Autonomy::Human };
            let to = if look.displayed_state().autonomy == to { Autonomy::Auto } else { to };
            let command = Command::SetAutonomy(to);
            Some(ForkChange::Command(Box::new(command.clone()), describe_command(&command, look)))
        }
        Action::Redo => {
            super::cursor::move_to(model, look, Cursor::Live);
            model.show_notice("the present again: nothing was changed", Severity::Info, look.now);
            return Vec::new();
        }
        Action::Undo | Action::EndEpisode | Action::PlayAgain => {
            let key = look.keymap.key_label(Action::Live).unwrap_or_default();
            let words = format!(
                "you are looking at turn {}; {key} returns to the present",
                look.frame.selected_step()
            );
            model.show_notice(words, Severity::Warning, look.now);
            return Vec::new();
        }
        _ => Some(ForkChange::Continue),
    };
    if let Some(change) = change {
        open_fork_dialog(model, look, &change);
    }
    Vec::new()
}

/// Opens the dialog over the moment shown.
pub(super) fn open_fork_dialog(model: &mut Model, look: &Context<'_>, change: &ForkChange) {
    if look.displayed_state().run.is_none() {
        model.show_notice("no run has begun there", Severity::Warning, look.now);
        return;
    }
    let lesson: Option<(LessonId, u32)> = super::chosen_lesson(model, look).map(|l| (l.id.clone(), l.number));
    model.overlays.push(Box::new(ForkDialog::new(look, change, lesson)));
}

/// What a wish of a key comes to, as the dialog and the root of the branch name it.
pub(super) fn describe_command(command: &Command, look: &Context<'_>) -> String {
    match command {
        Command::Lesson(LessonCommand::Add { text, .. }) => format!("a new lesson: {}", text.text),
        Command::Lesson(LessonCommand::Edit { text, .. }) => {
            format!("other words for a lesson: {}", text.text)
        }
        Command::Lesson(wish) => {
            lesson::describe_change(wish, look).unwrap_or_else(|| "lessons in another order".to_owned())
        }
        Command::Reflect(kind) => format!("reflect now: {}", kind.name()),
        Command::SetAutonomy(Autonomy::Auto) => "the agent decides".to_owned(),
        Command::SetAutonomy(Autonomy::Confirm) => "stop at every proposal".to_owned(),
        Command::SetAutonomy(Autonomy::Human) => "you play".to_owned(),
        _ => "something else".to_owned(),
    }
}

/// A refused wish that is about an event: a branch from before it is offered.
pub(super) fn offer_fork_on_error(model: &mut Model, look: &Context<'_>, refusal: &CommandError) -> bool {
    // Nothing comes up under the hands of a person who types elsewhere; it is said.
    let free = model.overlays.is_empty() && !look.is_read_only();
    let Some(about) = refusal.seq.filter(|_| free) else { return false };
    model.overlays.push(Box::new(ForkDialog::for_refused_undo(look, refusal, about)));
    true
}

/// Whether another line is followed now than before; the cursor, and whatever lay over the old one, goes then.
pub(super) fn follow_branch(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    let (line, branch) = (look.frame.epoch, look.frame.branch.clone());
    if model.branch.is_some() && model.epoch == line {
        return Vec::new();
    }
    let left = model.branch.replace(branch.clone()).filter(|old| *old != branch);
    model.epoch = line;
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
    let tree = look.keymap.key_label(Action::Branches).unwrap_or_default();
    let back = look.keymap.key_label_in(Mode::Branches, Action::PreviousBranch).unwrap_or_default();
    let verb = if known { "on branch" } else { "new branch" };
    let (now, old) = (branch_name(model, &branch), branch_name(model, &left));
    let words = format!("{verb} {now}; {old} stays: {tree} shows both, {tree} {back} goes back");
    model.show_notice(words, Severity::Info, look.now);
    model.previous_branch = Some(left);
    vec![Request::LoadBranches]
}

/// What a branch is called, as far as that is known.
pub(super) fn branch_name(model: &Model, id: &BranchId) -> String {
    model.branches.iter().find(|t| t.id == *id).map_or_else(|| id.0.clone(), |t| t.display_name().to_owned())
}

/// Shows a difference of the rebuilt world once, with what can be done about it.
pub(super) fn show_divergence(model: &mut Model, look: &Context<'_>) {
    let head = &look.frame.head;
    let at = head.divergence.as_ref().map(|d| (d.0, d.1));
    if at == model.reported_divergence || look.frame.live.health != Health::Running {
        return;
    }
    model.reported_divergence = at;
    if at.is_some() && !model.is_in_past() && model.overlays.is_empty() {
        let parent = model.previous_branch.clone().or_else(|| {
            let twig = model.branches.iter().find(|t| Some(&t.id) == model.branch.as_ref())?;
            twig.parent.clone()
        });
        let back = parent.map(|id| (branch_name(model, &id), id));
        model.overlays.push(Box::new(DivergenceDialog::new(back)));
    }
}
