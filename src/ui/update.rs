//! What happened, turned into changes of the model and wishes for the outside.

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

/// Handles a message. What the outside must do is returned, in order.
pub fn update(model: &mut Model, look: &Context<'_>, scratch: &ViewCache, msg: UiMessage) -> Vec<Request> {
    model.expire_notice(look.now);
    // What has nothing left to show takes no key either.
    let there = model.overlays.len();
    model.overlays.retain(|o| !o.is_stale(look));
    let gone = model.overlays.len() < there;
    let requests = match msg {
        UiMessage::Key(key) if key.kind == KeyEventKind::Press => {
            key::on_key(model, look, scratch, key, gone)
        }
        UiMessage::Key(_) => Vec::new(),
        UiMessage::Paste(text) => on_top_overlay(model, |top| top.on_paste(&text, look)),
        UiMessage::Mouse(event) => mouse::on_mouse(model, look, scratch, event),
        UiMessage::Resize(columns, rows) => {
            model.size = (columns, rows);
            Vec::new()
        }
        UiMessage::Answer(overlay::Answer::Hint(hint)) => {
            let (words, tone) = match hint {
                Some(hint) => (format!("hint: {hint}"), Severity::Info),
                None => ("this world cannot look for a way to its goal".to_owned(), Severity::Warning),
            };
            model.show_notice(words, tone, look.now);
            Vec::new()
        }
        UiMessage::Answer(overlay::Answer::Branches(told)) => {
            match &told {
                Ok(twigs) => model.branches = twigs.clone(),
                Err(why) if model.overlays.is_empty() => {
                    model.show_notice(why.clone(), Severity::Warning, look.now);
                }
                Err(_) => {}
            }
            on_top_overlay(model, |top| top.on_answer(overlay::Answer::Branches(told), look))
        }
        UiMessage::Answer(answer) => on_top_overlay(model, |top| top.on_answer(answer, look)),
        UiMessage::StoreChanged | UiMessage::Tick => {
            let mut wants = fork::follow_branch(model, look);
            on_store_change(model, look);
            fork::show_divergence(model, look);
            wants.extend(stepping::continue_stepping(model, look));
            wants
        }
    };
    handle_requests(model, look, scratch, requests)
}

/// Carries out what concerns the screen itself and keeps the rest.
fn handle_requests(
    model: &mut Model,
    look: &Context<'_>,
    scratch: &ViewCache,
    requests: Vec<Request>,
) -> Vec<Request> {
    let mut rest = Vec::new();
    let requests = availability::while_halted(model, look, requests);
    for request in requests {
        if let Some(kind) = added_lesson_kind(&request).filter(|_| !look.is_read_only()) {
            lesson::show_lane(model, look, kind);
        }
        match request {
            Request::MoveCursor(cursor) => cursor::move_to(model, look, cursor),
            Request::SetMarkFilter(marks) => model.mark_filter = marks,
            Request::ShowNotice(text) => model.show_notice(text, Severity::Info, look.now),
            // What an action wants in turn is settled as well; an action never wants another action.
            Request::RunAction(action) => {
                let wants = run_action(model, look, scratch, action);
                rest.extend(handle_requests(model, look, scratch, wants));
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
            | Request::TeachOnFork { .. }
            | Request::AcceptAsLesson { .. }
            | Request::SwitchBranch(_)
            | Request::EditBranch(..)
                if look.is_read_only() =>
            {
                notify_read_only(model, look);
            }
            // A change of the past's lessons is one on a branch of its own.
            Request::Send(command @ Command::Lesson(_))
                if model.is_in_past() && !is_accept_command(&command) =>
            {
                let words = fork::describe_command(&command, look);
                fork::open_fork_dialog(model, look, &overlay::ForkChange::Command(Box::new(command), words));
            }
            Request::CompareWith(place) => {
                let (compare, want) =
                    overlay::CompareDialog::between(overlay::CompareDialog::shown_episode(look), place);
                model.overlays.push(Box::new(compare));
                rest.push(want);
            }
            Request::TeachOnFork { fork, lesson: of } => {
                model.overlays.extend(overlay::open_branch_lesson_editor(model, look, fork, of.as_ref()));
            }
            Request::AcceptAsLesson { draft, evidence } => {
                let editor = overlay::LessonEditor::new(&draft, draft.clone(), &look.lesson_kinds(), 0);
                model.overlays.push(Box::new(editor.with_evidence(evidence).written_by_mentor()));
            }
            other => {
                let other = undo::apply_branch_undo(model, look, other);
                let edit = matches!(
                    other,
                    Request::Send(
                        Command::Lesson(_) | Command::Undo | Command::UndoChange(_) | Command::Redo
                    )
                );
                let mut words = match &other {
                    Request::Send(Command::Lesson(wish)) => {
                        lesson::describe_change(wish, look).unwrap_or_default()
                    }
                    _ => String::new(),
                };
                if edit && look.is_thinking() && words.is_empty() {
                    let key = look.keymap.key_label(Action::AskAgain).unwrap_or_default();
                    words = format!("counts from the next prompt; {key} asks this turn again");
                }
                if !words.is_empty() {
                    model.show_notice(words, Severity::Info, look.now);
                }
                rest.push(other);
            }
        }
    }
    rest
}

/// Lets the topmost overlay react, and takes it away when it is done.
fn on_top_overlay(
    model: &mut Model,
    react: impl FnOnce(&mut Box<dyn overlay::Overlay>) -> Response,
) -> Vec<Request> {
    let Some(top) = model.overlays.last_mut() else { return Vec::new() };
    let Response { requests, close } = react(top);
    if close {
        let gone = model.overlays.pop();
        if requests.iter().any(|r| matches!(r, Request::Fork(_) | Request::Send(_))) {
            model.awaiting_answer = gone;
        }
    }
    requests
}

/// An action of the main screen.
fn run_action(model: &mut Model, look: &Context<'_>, scratch: &ViewCache, action: Action) -> Vec<Request> {
    let state = &look.frame.head;
    if look.is_read_only() && is_driver_required(action) {
        notify_read_only(model, look);
        return Vec::new();
    }
    let story = model.focus == Focus::Story && action == Action::Open && !look.is_read_only();
    if model.is_in_past() && (is_present_only(action) || action == Action::AddLesson || story) {
        return fork::offer_fork(model, look, action);
    }
    dismiss_hint(model, action);
    let send = |command| vec![Request::Send(command)];
    match action {
        _ if stepping::is_summary_due(model, look, action) => open_overlay(model, look, Action::Summary),
        Action::Step | Action::NextTask => stepping::request_step(model, look),
        Action::StepStage => send(Command::StepStage),
        Action::Open => match model.focus {
            Focus::Story if !model.is_in_past() && !look.is_read_only() => match ended_episode(look) {
                Some(_) => open_overlay(model, look, Action::EndCard),
                None => stepping::request_step(model, look),
            },
            _ => open_overlay(model, look, action),
        },
        Action::PauseRun if state.run_over && state.open_episode().is_none() => {
            let key = look.keymap.key_label(Action::AskAgain).unwrap_or_default();
            model.show_notice(
                format!("the run is over; {key} plays the task again"),
                Severity::Warning,
                look.now,
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
        Action::RejectOrToggle if model.focus == Focus::Lanes => lesson::toggle(model, look),
        Action::PinLesson => lesson::pin(model, look),
        Action::DeleteLesson => lesson::delete(model, look),
        Action::ChangeLessonScope => lesson::rescope(model, look),
        Action::ReflectNow => match lesson::selected_kind(model, look) {
            kind if look.lesson_kinds().contains(&kind) => send(Command::Reflect(kind)),
            kind => {
                let words = format!("{} writes no {} reflections", look.method(), kind.name());
                model.show_notice(words, Severity::Warning, look.now);
                Vec::new()
            }
        },
        Action::MoveLessonUp => lesson::reorder(model, look, -1),
        Action::MoveLessonDown => lesson::reorder(model, look, 1),
        Action::AskAgain | Action::Retry if look.halt_reason().is_some() => vec![Request::RetryWrite],
        Action::AskAgain if state.failed_call.is_some() || state.divergence.is_some() => send(Command::Retry),
        Action::AskAgain if ended_episode(look).is_some() => play_again(model, look),
        Action::AskAgain => send(Command::AskAgain),
        Action::Retry => send(Command::Retry),
        Action::GiveUp => send(Command::GiveUp),
        Action::Undo => send(Command::Undo),
        Action::Redo => send(Command::Redo),
        Action::PlayAgain => play_again(model, look),
        Action::LastProgress => cursor::go_to_last_progress(model, look),
        Action::Export => vec![Request::Export],
        Action::NextTheme => vec![Request::NextTheme],
        Action::EndEpisode if state.open_episode().is_some() => {
            let key = look.keymap.key_label(action).unwrap_or_default();
            model.show_notice(
                format!("end this episode? {key} again ends it; any other key does not"),
                Severity::Warning,
                look.now,
            );
            model.confirming_end = true;
            Vec::new()
        }
        Action::EndEpisode => send(Command::EndEpisode(EndReason::Person)),
        Action::Back => cursor::move_steps(model, look, -1),
        Action::Forward => cursor::move_steps(model, look, 1),
        Action::PreviousMark => cursor::go_to_mark(model, look, -1),
        Action::NextMark => cursor::go_to_mark(model, look, 1),
        Action::Fork => {
            fork::open_fork_dialog(model, look, &overlay::ForkChange::Continue);
            Vec::new()
        }
        Action::Branches => {
            let wants = open_overlay(model, look, action);
            wants.into_iter().chain([Request::LoadBranches]).collect()
        }
        Action::PreviousEpisode => cursor::move_episodes(model, look, -1),
        Action::NextEpisode => cursor::move_episodes(model, look, 1),
        Action::EpisodeStart => cursor::go_to_episode_start(model, look),
        Action::Live => {
            cursor::move_to(model, look, Cursor::Live);
            Vec::new()
        }
        Action::Up => scroll::scroll_rows(model, look, scratch, -1),
        Action::Down => scroll::scroll_rows(model, look, scratch, 1),
        Action::PageUp => scroll::scroll_page(model, look, scratch, -1),
        Action::PageDown => scroll::scroll_page(model, look, scratch, 1),
        Action::NextPane => scroll::focus_next_pane(model, look, scratch, 1),
        Action::PreviousPane => scroll::focus_next_pane(model, look, scratch, -1),
        Action::Pane(number) => scroll::focus_pane(model, look, number),
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
            let words = if model.mouse_captured {
                "the mouse belongs to the terminal"
            } else {
                "the mouse belongs to the screen"
            };
            model.show_notice(words, Severity::Info, look.now);
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
        Action::Copy => copy::copy_step(look),
        Action::Cancel => cancel_calls(model, look),
        Action::Suspend => vec![Request::Suspend],
        Action::Redraw => vec![Request::Redraw],
        _ => open_overlay(model, look, action),
    }
}

/// Opens the overlay of an action.
fn open_overlay(model: &mut Model, look: &Context<'_>, action: Action) -> Vec<Request> {
    if action == Action::Breakpoints && look.is_read_only() && look.frame.head.breakpoints.all.is_empty() {
        notify_read_only(model, look);
        return Vec::new();
    }
    match overlay::open_for_action(action, model, look) {
        Ok(overlay) => {
            model.overlays.push(overlay);
            // What the world accepts now fills the box; a world at work is not asked for a mere list of words.
            let waits = !look.is_read_only() && look.frame.head.step_awaiting_decision().is_some();
            match action {
                Action::Override => vec![Request::ListAdmissible],
                Action::Breakpoints if waits => vec![Request::ListAdmissible],
                Action::Compare => vec![Request::ListComparable],
                Action::UseRecordedReply => vec![Request::ListSessions],
                Action::ChangeModel => vec![Request::ListModels(overlay::default_role(&look.frame.head))],
                _ => Vec::new(),
            }
        }
        Err(why) => {
            model.show_notice(why, Severity::Warning, look.now);
            Vec::new()
        }
    }
}

/// Closes the topmost thing: zoom, then the past. Never cancels anything.
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

/// Ctrl-C: breaks the calls off and pauses; twice within two seconds it quits.
fn cancel_calls(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    let again = model.last_interrupt.is_some_and(|at| look.now.saturating_duration_since(at) <= QUIT_WINDOW);
    if again {
        return vec![Request::Quit];
    }
    model.last_interrupt = Some(look.now);
    let state = &look.frame.head;
    let words = if look.is_thinking() || !state.calls.is_empty() {
        "cancelled; once more within two seconds quits"
    } else if state.run_status != RunStatus::Paused || state.grant.is_some() {
        "paused; once more within two seconds quits"
    } else {
        "nothing is going on; once more within two seconds quits"
    };
    model.show_notice(words, Severity::Info, look.now);
    vec![Request::Send(Command::Cancel)]
}

/// Plays the task of the listed episode once more.
fn play_again(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    let Some(episode) = look.episode() else {
        model.show_notice("there is no task to play again", Severity::Warning, look.now);
        return Vec::new();
    };
    // It stops at its first proposal, also where the run before it did not stop.
    let mut wants = Vec::new();
    if look.frame.head.run_status != RunStatus::Paused {
        wants.push(Request::Send(Command::Pause));
    }
    wants.push(Request::Send(Command::BeginEpisode(Box::new(episode.task.clone()))));
    wants
}

/// The kind of a lesson that a request adds.
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

/// Words of the mentor that a person accepts are a lesson from now on, also where they were found in the past.
fn is_accept_command(command: &Command) -> bool {
    matches!(command, Command::Lesson(LessonCommand::Accept { .. }))
}
