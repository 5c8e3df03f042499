//! The update half of the screen: a message changes the model and may return requests for the application.

use self::availability::notify_read_only;
use self::lesson::describe_change;
use self::store_changes::on_store_change;
use crate::domain::ReflectionKind;
use crate::engine::{Command, LessonCommand};
use crate::ui::draft::ForkChange;
use crate::ui::facts::ended_episode;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::{Model, Severity};
use crate::ui::msg::{Answer, Request, UiMessage};
use crate::ui::position::find_step;
use crate::ui::selection::keep_selection;
use crate::ui::types::{Cursor, PtrEqArc};
use crate::ui::view::cache::ViewCache;
use std::sync::Arc;

mod action;
mod availability;
mod breakpoint_hits;
mod copy;
mod cursor;
mod fork;
mod key;
mod lesson;
mod measured;
mod mouse;
mod playback;
mod scroll;
mod stepping;
mod store_changes;
mod undo;

pub use action::run_action;
pub use key::{PaneKey, on_any_key, on_pane_key, pane_mode};
pub use measured::keep_measured;
pub use playback::slow_for_audience;

/// Handles a message that concerns the panes. Keys and answers have functions of their own ([`on_pane_key`],
/// [`on_answer`]).
pub fn update(model: &mut Model, context: &Context<'_>, cache: &ViewCache, msg: &UiMessage) -> Vec<Request> {
    match msg {
        UiMessage::Mouse(event) => {
            let requests = mouse::on_mouse(model, context, cache, *event);
            keep_selection(model, context);
            // A person who goes to a step wants to stay there.
            if !requests.is_empty() {
                model.playback.stop();
            }
            requests
        }
        UiMessage::Resize(columns, rows) => {
            model.size = (*columns, *rows);
            Vec::new()
        }
        UiMessage::StoreChanged | UiMessage::Tick => {
            keep_selection(model, context);
            let mut requests = fork::follow_branch(model, context);
            requests.extend(on_store_change(model, context));
            requests.extend(fork::show_divergence(model, context));
            requests.extend(stepping::continue_stepping(model, context));
            requests.extend(playback::advance(model, context));
            requests
        }
        UiMessage::Key(_) | UiMessage::Paste(_) | UiMessage::Answer(_) => Vec::new(),
    }
}

/// Handles an answer that concerns the panes. Returns the answer if the topmost overlay gets it too.
pub fn on_answer(model: &mut Model, context: &Context<'_>, answer: Answer) -> Option<Answer> {
    let (text, severity) = match answer {
        Answer::FileWritten(Ok(text)) => (text, Severity::Info),
        Answer::FileWritten(Err(error))
        | Answer::HintRemembered(Err(error))
        | Answer::Measured(Err(error))
        | Answer::RequestText(Err(error)) => (error, Severity::Warning),
        Answer::HintRemembered(Ok(())) | Answer::Measured(Ok(_)) => return None,
        Answer::Effect(Ok(progress)) => {
            model.effect = Some(progress.clone());
            return Some(Answer::Effect(Ok(progress)));
        }
        Answer::Effect(Err(error)) => {
            // What is known stays, and it can be continued.
            model.effect = model.effect.take().map(|known| PtrEqArc(Arc::new(known.0.stopped())));
            model.show_notice(error.clone(), Severity::Warning, context.now);
            return Some(Answer::Effect(Err(error)));
        }
        Answer::Branches(loaded) => {
            match &loaded {
                Ok(branches) => model.branches = branches.clone(),
                // Nobody asked for the first list, which a report lacks; the branch tree says why there is none.
                Err(_) if model.branches.is_empty() && !model.is_covered => {}
                Err(error) => model.show_notice(error.clone(), Severity::Warning, context.now),
            }
            return Some(Answer::Branches(loaded));
        }
        other => return Some(other),
    };
    model.show_notice(text, severity, context.now);
    None
}

/// Shows where a report was written, copies the path, and offers to open the report.
pub fn on_report_written(
    model: &mut Model,
    context: &Context<'_>,
    path: Result<String, String>,
    can_open: bool,
) -> Vec<Request> {
    let path = match path {
        Ok(path) => path,
        Err(error) => {
            let text = format!("no report written: {error}");
            model.show_notice(text, Severity::Warning, context.now);
            return Vec::new();
        }
    };
    let key = context.keymap.key_label(Action::Export).filter(|_| can_open);
    let offer = key.as_ref().map_or_else(String::new, |key| format!("; {key} again opens it"));
    let what = if model.stage_mode { "report without hosts and folders" } else { "report" };
    model.show_notice(format!("{what} written to {path} (copied){offer}"), Severity::Info, context.now);
    model.offered_report = key.map(|_| path.clone());
    vec![Request::CopyToClipboard(path)]
}

/// Performs a request that concerns the model; one that needs a part of the past that isn't in memory does nothing, and the
/// frame's timeline notes the part. Returns the request, or the one that takes its place, if something is
/// left to do.
pub fn perform(model: &mut Model, context: &Context<'_>, request: Request) -> Option<Request> {
    if let Some(kind) = added_lesson_kind(&request).filter(|_| !context.is_read_only()) {
        lesson::show_lane(model, context, kind);
    }
    match request {
        Request::MoveCursor(Cursor::At(seq)) if !context.frame.can_show(seq) => {}
        Request::MoveCursor(cursor) => cursor::move_to(model, context, cursor),
        Request::GoToStep { episode, step } => match find_step(context, episode, step) {
            Ok(cursor) => return perform(model, context, Request::MoveCursor(cursor?)),
            Err(reason) => model.show_notice(reason, Severity::Info, context.now),
        },
        Request::SetMarkFilter(marks) => model.mark_filter = marks,
        Request::ShowNotice(text) => model.show_notice(text, Severity::Info, context.now),
        Request::SaveDraft { of, draft } => {
            model.drafts.retain(|d| d.lesson != of);
            model.drafts.extend(draft);
        }
        Request::MeasureWhenTaught(taught) => model.measured_next = Some(taught),
        Request::CaptureMouse(on) => {
            model.mouse_captured = on;
            return Some(Request::CaptureMouse(on));
        }
        Request::Send(_)
        | Request::ListAdmissible
        | Request::ListAdmissibleAt(_)
        | Request::Hint
        | Request::ReadProgramOutput
        | Request::RetryWrite
        | Request::Fork(_)
        | Request::AddLessonOnFork { .. }
        | Request::AcceptAsLesson { .. }
        | Request::SwitchBranch(_)
        | Request::EditBranches(_)
            if context.is_read_only() =>
        {
            notify_read_only(model, context);
        }
        // Lessons of the past can only change on a new branch.
        Request::Send(command @ Command::Lesson(_)) if model.is_in_past() && !is_about_present(&command) => {
            let description = fork::describe_command(&command, context);
            return Some(Request::OpenForkDialog(ForkChange::Command(Box::new(command), description)));
        }
        other => {
            let other = undo::apply_branch_undo(model, context, other);
            announce_lesson_edit(model, context, &other);
            return Some(other);
        }
    }
    None
}

/// Shows what a command changes about a lesson, or from when on an edit counts.
fn announce_lesson_edit(model: &mut Model, context: &Context<'_>, request: &Request) {
    let Request::Send(command) = request else { return };
    let notice = match command {
        Command::Lesson(LessonCommand::Measured { .. }) => return,
        Command::Lesson(command) => describe_change(command, context),
        Command::Override { .. } => return offer_lesson(model, context),
        Command::Undo | Command::UndoChange(_) | Command::Redo => None,
        _ => return,
    };
    // At the end of an episode it helps only in another one.
    let is_added =
        matches!(command, Command::Lesson(LessonCommand::Add { .. } | LessonCommand::Accept { .. }));
    let notice = notice.or_else(|| {
        let key = context.keymap.key_label(Action::AskAgain).unwrap_or_default();
        let text = format!("the lesson is saved; {key} plays the task again with it");
        (is_added && ended_episode(context).is_some()).then_some(text)
    });
    let notice = notice.or_else(|| {
        let key = context.keymap.key_label(Action::AskAgain).unwrap_or_default();
        let is_asking = context.asks_actor() && context.is_thinking();
        is_asking.then(|| format!("counts from the next prompt; {key} retries this step with it"))
    });
    if let Some(notice) = notice {
        model.show_notice(notice, Severity::Info, context.now);
    }
}

/// Says how an override becomes a lesson, and how that is measured.
fn offer_lesson(model: &mut Model, context: &Context<'_>) {
    let teach = context.keymap.key_label(Action::LessonFromOverride);
    let measure = context.keymap.key_label_in(Mode::LessonEditor, Action::TeachAndMeasure);
    let is_used = context.asks_actor() && !context.lesson_kinds().is_empty();
    if let Some((teach, measure)) = teach.zip(measure).filter(|_| is_used) {
        let undo = context.keymap.key_label(Action::Undo);
        let undo = undo.map_or_else(String::new, |key| format!("; {key} goes back before it"));
        let text =
            format!("{teach} teaches it as a lesson; {measure} in the box measures whether that helps{undo}");
        model.show_notice(text, Severity::Info, context.now);
    }
}

/// Returns the kind of the lesson that a request adds, if it adds one.
fn added_lesson_kind(request: &Request) -> Option<ReflectionKind> {
    let commands = match request {
        Request::Send(command) => std::slice::from_ref(command),
        Request::Fork(fork) => fork.commands.as_slice(),
        _ => return None,
    };
    commands.iter().find_map(|command| match command {
        Command::Lesson(LessonCommand::Add { kind, .. } | LessonCommand::Accept { kind, .. }) => Some(*kind),
        Command::Lesson(LessonCommand::Load(lesson)) => Some(lesson.kind),
        _ => None,
    })
}

/// Returns true if the command keeps a dropped item of the mentor as a lesson.
///
/// Such a lesson is added in the present, even if the past is on screen; so is what was measured of one.
fn is_about_present(command: &Command) -> bool {
    matches!(command, Command::Lesson(LessonCommand::Accept { .. } | LessonCommand::Measured { .. }))
}
