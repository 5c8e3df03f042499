//! The update half of the screen: a message changes the model and may return requests for the application.

mod availability;
mod breakpoint_hits;
mod copy;
mod cursor;
mod fork;
mod key;
mod lesson;
mod mouse;
mod scroll;
mod stepping;
mod store_changes;
mod undo;

pub(crate) use cursor::{cursor_after, resolve_position};
pub(crate) use lesson::{advice_kind, kind_of_new_lesson, selected_lesson as chosen_lesson};
pub(crate) use store_changes::ended_episode;
pub use undo::BranchEditHistory;

use self::availability::{is_driver_required, is_present_only, notify_read_only};
use self::store_changes::{dismiss_hint, on_store_change};
use super::context::Context;
use super::keymap::Action;
use super::model::{Cursor, Focus, Model, Severity};
use super::msg::{Request, UiMessage};
use super::overlay::{self, Response};
use super::view::ViewCache;
use crate::domain::{Autonomy, EndReason, ReflectionKind};
use crate::engine::{Command, LessonCommand, RunStatus};
use crossterm::event::KeyEventKind;
use std::time::Duration;

/// Two presses of Ctrl-C within this time quit.
const QUIT_WINDOW: Duration = Duration::from_secs(2);

/// Handles a message and returns what the application must do, in order.
pub fn update(model: &mut Model, context: &Context<'_>, cache: &ViewCache, msg: UiMessage) -> Vec<Request> {
    model.expire_notice(context.now);
    // Close an overlay that has nothing left to show before the message is handled, so that it can't consume a key.
    let open_before = model.overlays.len();
    model.overlays.retain(|o| !o.is_stale(context));
    let closed_itself = model.overlays.len() < open_before;
    let requests = match msg {
        UiMessage::Key(key) if key.kind == KeyEventKind::Press => {
            key::on_key(model, context, cache, key, closed_itself)
        }
        UiMessage::Key(_) => Vec::new(),
        UiMessage::Paste(text) => on_top_overlay(model, |top| top.on_paste(&text, context)),
        UiMessage::Mouse(event) => mouse::on_mouse(model, context, cache, event),
        UiMessage::Resize(columns, rows) => {
            model.size = (columns, rows);
            Vec::new()
        }
        UiMessage::Answer(overlay::Answer::Hint(hint)) => {
            let (text, severity) = match hint {
                Some(hint) => (format!("hint: {hint}"), Severity::Info),
                None => ("no hint: this environment has no solver".to_owned(), Severity::Warning),
            };
            model.show_notice(text, severity, context.now);
            Vec::new()
        }
        UiMessage::Answer(overlay::Answer::FileWritten(written)) => {
            let (text, severity) = match written {
                Ok(text) => (text, Severity::Info),
                Err(error) => (error, Severity::Warning),
            };
            model.show_notice(text, severity, context.now);
            Vec::new()
        }
        UiMessage::Answer(overlay::Answer::Branches(loaded)) => {
            match &loaded {
                Ok(branches) => model.branches = branches.clone(),
                Err(error) if model.overlays.is_empty() => {
                    model.show_notice(error.clone(), Severity::Warning, context.now);
                }
                Err(_) => {}
            }
            on_top_overlay(model, |top| top.on_answer(overlay::Answer::Branches(loaded), context))
        }
        UiMessage::Answer(answer) => on_top_overlay(model, |top| top.on_answer(answer, context)),
        UiMessage::StoreChanged | UiMessage::Tick => {
            let mut requests = fork::follow_branch(model, context);
            on_store_change(model, context);
            fork::show_divergence(model, context);
            requests.extend(stepping::continue_stepping(model, context));
            requests
        }
    };
    handle_requests(model, context, cache, requests)
}

/// Handles the requests that concern only the screen and returns the rest for the application.
fn handle_requests(
    model: &mut Model,
    context: &Context<'_>,
    cache: &ViewCache,
    requests: Vec<Request>,
) -> Vec<Request> {
    let mut rest = Vec::new();
    let requests = availability::while_halted(model, context, requests);
    for request in requests {
        if let Some(kind) = added_lesson_kind(&request).filter(|_| !context.is_read_only()) {
            lesson::show_lane(model, context, kind);
        }
        match request {
            Request::MoveCursor(cursor) => cursor::move_to(model, context, cursor),
            Request::SetMarkFilter(marks) => model.mark_filter = marks,
            Request::ShowNotice(text) => model.show_notice(text, Severity::Info, context.now),
            // The requests of an action are handled here too. The recursion ends: no action returns `RunAction`.
            Request::RunAction(action) => {
                let requests = run_action(model, context, cache, action);
                rest.extend(handle_requests(model, context, cache, requests));
            }
            Request::SaveDraft { of, draft } => {
                model.drafts.retain(|d| d.lesson != of);
                model.drafts.extend(draft);
            }
            Request::CaptureMouse(on) => {
                model.mouse_captured = on;
                rest.push(Request::CaptureMouse(on));
            }
            Request::Send(_)
            | Request::ListAdmissible
            | Request::ListAdmissibleAt(_)
            | Request::Hint
            | Request::RetryWrite
            | Request::Fork(_)
            | Request::AddLessonOnFork { .. }
            | Request::AcceptAsLesson { .. }
            | Request::SwitchBranch(_)
            | Request::EditBranch(..)
                if context.is_read_only() =>
            {
                notify_read_only(model, context);
            }
            // Lessons of the past can only change on a new branch.
            Request::Send(command @ Command::Lesson(_))
                if model.is_in_past() && !is_accept_command(&command) =>
            {
                let description = fork::describe_command(&command, context);
                let change = overlay::ForkChange::Command(Box::new(command), description);
                fork::open_fork_dialog(model, context, &change);
            }
            Request::CompareWith(place) => {
                let (compare, request) =
                    overlay::CompareDialog::between(overlay::CompareDialog::shown_episode(context), place);
                model.overlays.push(Box::new(compare));
                rest.push(request);
            }
            Request::AddLessonOnFork { fork, lesson } => {
                model.overlays.extend(overlay::open_branch_lesson_editor(
                    model,
                    context,
                    fork,
                    lesson.as_ref(),
                ));
            }
            Request::AcceptAsLesson { draft, evidence } => {
                let editor = overlay::LessonEditor::new(&draft, draft.clone(), &context.lesson_kinds(), 0);
                model.overlays.push(Box::new(editor.with_evidence(evidence).written_by_mentor()));
            }
            other => {
                let other = undo::apply_branch_undo(model, context, other);
                let edits_lessons = matches!(
                    other,
                    Request::Send(
                        Command::Lesson(_) | Command::Undo | Command::UndoChange(_) | Command::Redo
                    )
                );
                let mut notice = match &other {
                    Request::Send(Command::Lesson(command)) => {
                        lesson::describe_change(command, context).unwrap_or_default()
                    }
                    _ => String::new(),
                };
                if edits_lessons && context.is_thinking() && notice.is_empty() {
                    let key = context.keymap.key_label(Action::AskAgain).unwrap_or_default();
                    notice = format!("counts from the next prompt; {key} retries this step with it");
                }
                if !notice.is_empty() {
                    model.show_notice(notice, Severity::Info, context.now);
                }
                rest.push(other);
            }
        }
    }
    rest
}

/// Lets the topmost overlay respond and removes it if it asks to close.
///
/// If an overlay closes with a fork or a command, it is kept until the command is accepted, so that typed text isn't
/// lost if the command fails.
fn on_top_overlay(
    model: &mut Model,
    react: impl FnOnce(&mut Box<dyn overlay::Overlay>) -> Response,
) -> Vec<Request> {
    let Some(top) = model.overlays.last_mut() else { return Vec::new() };
    let Response { requests, close } = react(top);
    if close {
        let closed = model.overlays.pop();
        if requests.iter().any(|r| matches!(r, Request::Fork(_) | Request::Send(_))) {
            model.awaiting_answer = closed;
        }
    }
    requests
}

/// Runs an action of the main screen.
fn run_action(model: &mut Model, context: &Context<'_>, cache: &ViewCache, action: Action) -> Vec<Request> {
    let state = &context.frame.head;
    if context.is_read_only() && is_driver_required(action) {
        notify_read_only(model, context);
        return Vec::new();
    }
    let opens_proposal = model.focus == Focus::Story && action == Action::Open && !context.is_read_only();
    if model.is_in_past() && (is_present_only(action) || action == Action::AddLesson || opens_proposal) {
        return fork::offer_fork(model, context, action);
    }
    dismiss_hint(model, action);
    let send = |command| vec![Request::Send(command)];
    match action {
        _ if stepping::is_summary_due(model, context, action) => {
            open_overlay(model, context, Action::Summary)
        }
        Action::Step | Action::NextTask => stepping::request_step(model, context),
        Action::StepStage => send(Command::StepStage),
        Action::Open => match model.focus {
            Focus::Story if !model.is_in_past() && !context.is_read_only() => match ended_episode(context) {
                Some(_) => open_overlay(model, context, Action::EndCard),
                None => stepping::request_step(model, context),
            },
            _ => open_overlay(model, context, action),
        },
        Action::PauseRun if state.run_over && state.open_episode().is_none() => {
            let key = context.keymap.key_label(Action::AskAgain).unwrap_or_default();
            model.show_notice(
                format!("the run is over; {key} plays the task again"),
                Severity::Warning,
                context.now,
            );
            Vec::new()
        }
        Action::PauseRun => match state.run_status {
            RunStatus::Running => send(Command::Pause),
            RunStatus::Paused if state.grant.is_some() => send(Command::Pause),
            RunStatus::Paused | RunStatus::Pausing => send(Command::Run),
        },
        Action::ToggleConfirm => {
            let to = if state.autonomy == Autonomy::Confirm { Autonomy::Auto } else { Autonomy::Confirm };
            send(Command::SetAutonomy(to))
        }
        Action::ToggleHuman => {
            let to = if state.autonomy == Autonomy::Human { Autonomy::Auto } else { Autonomy::Human };
            send(Command::SetAutonomy(to))
        }
        Action::RejectOrToggle if model.focus == Focus::Lanes => lesson::toggle(model, context),
        Action::PinLesson => lesson::pin(model, context),
        Action::DeleteLesson => lesson::delete(model, context),
        Action::ChangeLessonScope => lesson::rescope(model, context),
        Action::ReflectNow => match lesson::selected_kind(model, context) {
            kind if context.lesson_kinds().contains(&kind) => send(Command::Reflect(kind)),
            kind => {
                let text = format!("{} writes no {} reflections", context.method(), kind.name());
                model.show_notice(text, Severity::Warning, context.now);
                Vec::new()
            }
        },
        Action::MoveLessonUp => lesson::reorder(model, context, -1),
        Action::MoveLessonDown => lesson::reorder(model, context, 1),
        Action::AskAgain | Action::Retry if context.halt_reason().is_some() => vec![Request::RetryWrite],
        Action::AskAgain if state.failed_call.is_some() || state.divergence.is_some() => send(Command::Retry),
        Action::AskAgain if ended_episode(context).is_some() => play_again(model, context),
        Action::AskAgain => send(Command::AskAgain),
        Action::Retry => send(Command::Retry),
        Action::GiveUp => send(Command::GiveUp),
        Action::Undo => send(Command::Undo),
        Action::Redo => send(Command::Redo),
        Action::PlayAgain => play_again(model, context),
        Action::LastProgress => cursor::go_to_last_progress(model, context),
        Action::Export => vec![Request::Export],
        Action::NextTheme => vec![Request::NextTheme],
        Action::EndEpisode if state.open_episode().is_some() => {
            let key = context.keymap.key_label(action).unwrap_or_default();
            model.show_notice(
                format!("end this episode? press {key} again; any other key keeps it"),
                Severity::Warning,
                context.now,
            );
            model.confirming_end = true;
            Vec::new()
        }
        Action::EndEpisode => send(Command::EndEpisode(EndReason::Person)),
        Action::Back => cursor::move_steps(model, context, -1),
        Action::Forward => cursor::move_steps(model, context, 1),
        Action::PreviousMark => cursor::go_to_mark(model, context, -1),
        Action::NextMark => cursor::go_to_mark(model, context, 1),
        Action::Fork => {
            fork::open_fork_dialog(model, context, &overlay::ForkChange::Continue);
            Vec::new()
        }
        Action::Branches => {
            let requests = open_overlay(model, context, action);
            requests.into_iter().chain([Request::LoadBranches]).collect()
        }
        Action::PreviousEpisode => cursor::move_episodes(model, context, -1),
        Action::NextEpisode => cursor::move_episodes(model, context, 1),
        Action::EpisodeStart => cursor::go_to_episode_start(model, context),
        Action::Live => {
            cursor::move_to(model, context, Cursor::Live);
            Vec::new()
        }
        Action::Up => scroll::scroll_rows(model, context, cache, -1),
        Action::Down => scroll::scroll_rows(model, context, cache, 1),
        Action::PageUp => scroll::scroll_page(model, context, cache, -1),
        Action::PageDown => scroll::scroll_page(model, context, cache, 1),
        Action::NextPane => scroll::focus_next_pane(model, context, cache, 1),
        Action::PreviousPane => scroll::focus_next_pane(model, context, cache, -1),
        Action::Pane(number) => scroll::focus_pane(model, context, number),
        Action::Zoom => {
            model.zoomed = !model.zoomed;
            Vec::new()
        }
        Action::NextArrangement => {
            model.arrangement = Some(model.arrangement().next(model.size.0));
            Vec::new()
        }
        Action::ToggleTruth => {
            model.show_truth = !model.show_truth;
            Vec::new()
        }
        Action::ToggleReasoning => {
            model.show_reasoning = !model.show_reasoning;
            Vec::new()
        }
        Action::ToggleMouse => {
            let text = if model.mouse_captured {
                "mouse off: the terminal selects text again"
            } else {
                "mouse on: click, drag and scroll"
            };
            model.show_notice(text, Severity::Info, context.now);
            vec![Request::CaptureMouse(!model.mouse_captured)]
        }
        Action::Close => close_topmost(model),
        Action::Quit => {
            if model.zoomed || model.is_in_past() {
                close_topmost(model)
            } else {
                vec![Request::Quit]
            }
        }
        Action::Hint => vec![Request::Hint],
        Action::Copy => copy::copy_step(context),
        Action::Cancel => cancel_calls(model, context),
        Action::Suspend => vec![Request::Suspend],
        Action::Redraw => vec![Request::Redraw],
        _ => open_overlay(model, context, action),
    }
}

/// Opens the overlay of an action, or shows a notice that says why it can't.
fn open_overlay(model: &mut Model, context: &Context<'_>, action: Action) -> Vec<Request> {
    if action == Action::Breakpoints
        && context.is_read_only()
        && context.frame.head.breakpoints.all.is_empty()
    {
        notify_read_only(model, context);
        return Vec::new();
    }
    match overlay::open_for_action(action, model, context) {
        Ok(overlay) => {
            model.overlays.push(overlay);
            // The override box lists the admissible commands. For completions alone, only an idle environment is asked.
            let is_idle = !context.is_read_only() && context.frame.head.step_awaiting_decision().is_some();
            match action {
                Action::Override => vec![Request::ListAdmissible],
                Action::Breakpoints if is_idle => vec![Request::ListAdmissible],
                Action::Compare => vec![Request::ListComparable],
                Action::UseRecordedReply => vec![Request::ListSessions],
                Action::ChangeModel => vec![Request::ListModels(overlay::default_role(&context.frame.head))],
                _ => Vec::new(),
            }
        }
        Err(reason) => {
            model.show_notice(reason, Severity::Warning, context.now);
            Vec::new()
        }
    }
}

/// Leaves the zoomed pane, else the past, else dismisses the notice. Never cancels a call.
fn close_topmost(model: &mut Model) -> Vec<Request> {
    if model.zoomed {
        model.zoomed = false;
    } else if model.is_in_past() {
        model.cursor = Cursor::Live;
        model.scroll = super::model::ScrollOffsets::default();
    } else {
        model.notice = None;
    }
    Vec::new()
}

/// Handles Ctrl-C: cancels the calls in flight and pauses; pressed twice within [`QUIT_WINDOW`], quits.
fn cancel_calls(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    let again =
        model.last_interrupt.is_some_and(|at| context.now.saturating_duration_since(at) <= QUIT_WINDOW);
    if again {
        return vec![Request::Quit];
    }
    model.last_interrupt = Some(context.now);
    let state = &context.frame.head;
    let text = if context.is_thinking() || !state.calls.is_empty() {
        "call cancelled; again within two seconds quits"
    } else if state.run_status != RunStatus::Paused || state.grant.is_some() {
        "paused; again within two seconds quits"
    } else {
        "nothing to cancel; again within two seconds quits"
    };
    model.show_notice(text, Severity::Info, context.now);
    vec![Request::Send(Command::Cancel)]
}

/// Starts another episode of the task of the episode on screen.
fn play_again(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    let Some(episode) = context.episode() else {
        model.show_notice("no task to play again", Severity::Warning, context.now);
        return Vec::new();
    };
    // Pausing first makes it stop at its first proposal, even if the run was not paused before.
    let mut requests = Vec::new();
    if context.frame.head.run_status != RunStatus::Paused {
        requests.push(Request::Send(Command::Pause));
    }
    requests.push(Request::Send(Command::BeginEpisode(Box::new(episode.task.clone()))));
    requests
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
        _ => None,
    })
}

/// Returns true if the command keeps a dropped item of the mentor as a lesson.
///
/// Such a lesson is added in the present, even if the past is on screen.
fn is_accept_command(command: &Command) -> bool {
    matches!(command, Command::Lesson(LessonCommand::Accept { .. }))
}
