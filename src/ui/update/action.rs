//! The actions of the main screen.

use super::availability::notify_read_only;
use super::store_changes::dismiss_hint;
use super::{copy, cursor, fork, lesson, playback, scroll, stepping, undo};
use crate::domain::{Autonomy, EndReason, ModelRole, RoleSource};
use crate::engine::{Command, Effect, RunStatus};
use crate::ui::chapters::shown_step;
use crate::ui::draft::ForkChange;
use crate::ui::facts::{ended_episode, is_driver_required, is_present_only};
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::layout::{MIN_COLUMNS_BESIDE, Pane};
use crate::ui::model::{Model, ScrollOffsets, Severity};
use crate::ui::msg::Request;
use crate::ui::selection::selected_kind;
use crate::ui::types::{Cursor, Focus, ReportQuery, RequestForm, WorkKind};
use crate::ui::view::cache::ViewCache;
use std::time::Duration;

/// Two presses of Ctrl-C within this time quit.
const QUIT_WINDOW: Duration = Duration::from_secs(2);

/// Runs an action of the main screen.
pub fn run_action(
    model: &mut Model,
    context: &Context<'_>,
    cache: &ViewCache,
    action: Action,
) -> Vec<Request> {
    if !playback::continues_after(action) {
        model.playback.stop();
    }
    match action {
        Action::PauseRun if context.is_read_only() => return playback::toggle(model, context),
        Action::Step if context.is_read_only() => return playback::step(model, context),
        Action::Faster => return playback::change_speed(model, context, 1),
        Action::Slower => return playback::change_speed(model, context, -1),
        _ => {}
    }
    if context.is_read_only() && is_driver_required(action) {
        notify_read_only(model, context);
        return Vec::new();
    }
    let opens_proposal = model.focus == Focus::Story && action == Action::Open && !context.is_read_only();
    if model.is_in_past() && (is_present_only(action) || action == Action::AddLesson || opens_proposal) {
        return fork::offer_fork(model, context, action);
    }
    let next_hint = dismiss_hint(model, action);
    let mut requests = run_present_action(model, context, cache, action);
    requests.extend(next_hint.map(Request::RememberHint));
    requests
}

/// Runs an action that is available now.
fn run_present_action(
    model: &mut Model,
    context: &Context<'_>,
    cache: &ViewCache,
    action: Action,
) -> Vec<Request> {
    let state = &context.frame.head;
    let has_chapters = !model.chapters.is_empty();
    let send = |command| vec![Request::Send(command)];
    match action {
        _ if stepping::is_summary_due(model, context, action) => {
            vec![Request::Open(Action::Summary)]
        }
        Action::Step | Action::NextTask => stepping::request_step(model, context),
        Action::StepStage => send(Command::StepStage),
        Action::Open => match model.focus {
            Focus::Story if !model.is_in_past() && !context.is_read_only() => match ended_episode(context) {
                Some(_) => vec![Request::Open(Action::EndCard)],
                None => stepping::request_step(model, context),
            },
            _ => vec![Request::Open(action)],
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
        // A single step under way stops by itself, unless this key keeps it running.
        Action::PauseRun => send(match state.run_status {
            RunStatus::Running => Command::Pause,
            RunStatus::Pausing | RunStatus::Paused => Command::Run,
        }),
        Action::ToggleConfirm => {
            let to = if state.autonomy == Autonomy::Confirm { Autonomy::Auto } else { Autonomy::Confirm };
            send(Command::SetAutonomy(to))
        }
        Action::ToggleHuman => {
            let to = if state.autonomy == Autonomy::Human { Autonomy::Auto } else { Autonomy::Human };
            // The failure stays on the screen until there is an action.
            if to == Autonomy::Human && state.has_failed_call(ModelRole::Actor) {
                let key = context.keymap.key_label(Action::Override);
                let key = key.unwrap_or_else(|| Action::Override.name().to_owned());
                model.show_notice(
                    format!("you play now: {key} takes your action"),
                    Severity::Info,
                    context.now,
                );
            }
            send(Command::SetAutonomy(to))
        }
        Action::RejectOrToggle if model.focus == Focus::Lanes => lesson::toggle(model, context),
        Action::PinLesson => lesson::pin(model, context),
        Action::DeleteLesson => lesson::delete(model, context),
        Action::ChangeLessonScope => lesson::rescope(model, context),
        Action::ReflectNow => match selected_kind(model, context) {
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
        // What was cancelled after an episode is retried like what has failed.
        Action::AskAgain if ended_episode(context).is_some() && state.retryable_calls().next().is_some() => {
            send(Command::Retry)
        }
        Action::AskAgain if ended_episode(context).is_some() => play_again(model, context),
        Action::AskAgain => send(Command::AskAgain),
        Action::Retry => send(Command::Retry),
        Action::GiveUp => send(Command::GiveUp),
        Action::Undo if undo::is_about_failed_action(model, context) => {
            vec![Request::OpenForkDialog(ForkChange::Action)]
        }
        Action::Undo => send(Command::Undo),
        Action::Redo => send(Command::Redo),
        Action::PlayAgain => play_again(model, context),
        Action::LastProgress => cursor::go_to_last_progress(model, context),
        Action::FirstMistake => cursor::go_to_first_mistake(model, context),
        Action::Export => match model.offered_report.take() {
            Some(path) => vec![Request::OpenFile(path)],
            None => vec![export_request(model, context, "html")],
        },
        Action::ExportMarkdown => vec![export_request(model, context, "markdown")],
        Action::ExportPicture => vec![Request::DrawPicture],
        Action::NextTheme => vec![Request::SwitchTheme(None)],
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
        Action::Fork => vec![Request::OpenForkDialog(ForkChange::Continue)],
        Action::Branches => vec![Request::Open(action), Request::LoadBranches],
        Action::PreviousEpisode if has_chapters => playback::go_to_chapter(model, context, -1),
        Action::NextEpisode if has_chapters => playback::go_to_chapter(model, context, 1),
        Action::EpisodeStart if has_chapters => playback::go_to_start(model, context),
        Action::PreviousEpisode => cursor::move_episodes(model, context, -1),
        Action::NextEpisode => cursor::move_episodes(model, context, 1),
        Action::EpisodeStart => cursor::go_to_episode_start(context),
        Action::Live => {
            cursor::move_to(model, context, Cursor::Live);
            Vec::new()
        }
        Action::Up => scroll::scroll_rows(model, context, cache, -1),
        Action::Down => scroll::scroll_rows(model, context, cache, 1),
        Action::PageUp => scroll::scroll_page(model, context, cache, -1),
        Action::PageDown => scroll::scroll_page(model, context, cache, 1),
        Action::ToggleReasoning if gives_no_reasoning(context) => {
            model.show_reasoning = !model.show_reasoning;
            model.show_notice("the rules give no reasoning", Severity::Info, context.now);
            Vec::new()
        }
        Action::ToggleReasoning if model.stage_mode => {
            let key = |action| context.keymap.key_label(action).unwrap_or_default();
            let text = format!(
                "stage mode leaves reasoning out: {} shows it, {} shows all",
                key(Action::ShowDetails),
                key(Action::ToggleStageMode)
            );
            model.show_notice(text, Severity::Info, context.now);
            Vec::new()
        }
        Action::NextPane
        | Action::PreviousPane
        | Action::Pane(_)
        | Action::Zoom
        | Action::NextArrangement
        | Action::ToggleTruth
            if model.stage_mode =>
        {
            let key = context.keymap.key_label(Action::ToggleStageMode).unwrap_or_default();
            let what = match action {
                Action::ToggleTruth => "shows nothing that the agent can't see",
                _ => "has no other panes",
            };
            let text = format!("stage mode {what}; {key} shows the whole screen");
            model.show_notice(text, Severity::Info, context.now);
            Vec::new()
        }
        Action::NextPane => scroll::focus_next_pane(model, context, cache, 1),
        Action::PreviousPane => scroll::focus_next_pane(model, context, cache, -1),
        Action::Pane(number) => {
            let requests = scroll::focus_pane(model, context, number);
            let is_hidden = !cache.layout.areas.iter().any(|area| area.pane == Pane::World);
            if model.focus == Focus::World && is_hidden && !model.zoomed {
                let zoom = context.keymap.key_label(Action::Zoom).unwrap_or_default();
                let text = format!("World has no room on this screen; {zoom} shows it alone");
                model.show_notice(text, Severity::Info, context.now);
            }
            requests
        }
        Action::Zoom => {
            model.zoomed = !model.zoomed;
            Vec::new()
        }
        Action::NextArrangement => {
            let next = model.arrangement().next(model.size.0);
            if next == model.arrangement() {
                let text =
                    format!("one column: panes stand beside each other from {MIN_COLUMNS_BESIDE} columns on");
                model.show_notice(text, Severity::Info, context.now);
            }
            model.arrangement = Some(next);
            Vec::new()
        }
        Action::ToggleStageMode => {
            model.stage_mode = !model.stage_mode;
            // The other panes aren't there, so no key may go to them.
            model.focus = Focus::Story;
            model.zoomed = false;
            if model.stage_mode { playback::slow_for_audience(model, context) } else { Vec::new() }
        }
        Action::ToggleTruth => {
            model.show_truth = !model.show_truth;
            if !cache.layout.areas.iter().any(|area| area.pane == Pane::World) {
                let key = |action| context.keymap.key_label(action).unwrap_or_default();
                let what = if model.show_truth { "the ground truth" } else { "what the agent knows" };
                let (world, zoom) = (key(Action::Pane(2)), key(Action::Zoom));
                let text = format!(
                    "World now shows {what}; it isn't on the screen: {world} goes there, {zoom} zooms"
                );
                model.show_notice(text, Severity::Info, context.now);
            }
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
        Action::Close => close_topmost(model, context),
        Action::Quit => {
            // The present of a demo is its end, which nobody wants to see before its time.
            let is_demo = !model.chapters.is_empty();
            if model.playback.is_playing() || model.zoomed || model.is_in_past() && !is_demo {
                close_topmost(model, context)
            } else {
                vec![Request::Quit]
            }
        }
        Action::Copy => copy::copy_step(context),
        Action::CopyRequest => copy::copy_request(model, context, RequestForm::Json),
        Action::CopyCurl => copy::copy_request(model, context, RequestForm::Curl),
        Action::Cancel => cancel_calls(model, context),
        Action::Suspend => vec![Request::Suspend],
        Action::Redraw => vec![Request::Redraw],
        _ => vec![Request::Open(action)],
    }
}

fn export_request(model: &Model, context: &Context<'_>, format: &'static str) -> Request {
    Request::Export(ReportQuery { format, at: shown_step(context), for_audience: model.stage_mode })
}

/// Returns whether no model plays or reflects, so that there is no reasoning to unfold, unless a model has given some before.
fn gives_no_reasoning(context: &Context<'_>) -> bool {
    let is_shown = context.frame.live.calls.iter().any(|call| !call.reasoning.is_empty())
        || context.episode().is_some_and(|e| e.steps.iter().any(|step| !step.reasoning.is_empty()));
    let run = context.frame.head.run.as_deref();
    let is_rules = |role| {
        run.is_some_and(|run| matches!(run.role_source(role), RoleSource::Rules | RoleSource::Symbolic))
    };
    !is_shown && ModelRole::ALL.into_iter().all(is_rules)
}

/// Cancels the export, else stops the playback, else leaves the zoomed pane, else closes the stored measurement of a demo, else
/// leaves the past, else dismisses the notice. Never cancels a call.
fn close_topmost(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    if context.frame.work(WorkKind::Export).is_some_and(|export| !export.is_cancelled) {
        return vec![Request::CancelExport];
    }
    if model.playback.is_playing() {
        model.playback.stop();
    } else if model.zoomed {
        model.zoomed = false;
    } else if model.shown_measurement(context).is_some() {
        model.closed_still = Some(shown_step(context));
    } else if model.is_in_past() && !model.chapters.is_empty() {
        // The present of a demo is its end, which nobody wants to see before its time.
        model.notice = None;
    } else if model.is_in_past() {
        model.cursor = Cursor::Live;
        model.scroll = ScrollOffsets::default();
    } else {
        model.notice = None;
    }
    Vec::new()
}

/// Handles Ctrl-C: cancels the calls in flight and pauses; pressed twice within [`QUIT_WINDOW`], quits.
pub(super) fn cancel_calls(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    let again =
        model.last_interrupt.is_some_and(|at| context.now.saturating_duration_since(at) <= QUIT_WINDOW);
    if again {
        return vec![Request::Quit];
    }
    model.last_interrupt = Some(context.now);
    let state = &context.frame.head;
    let text = if context.is_thinking() || state.calls.values().any(Effect::is_cancellable) {
        "call cancelled; again within two seconds quits"
    } else if !state.calls.is_empty() {
        "pausing after the environment's answer; again within two seconds quits"
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
