//! Finds the action of a key in the current mode and runs it.

use super::availability::{is_driver_required, notify_read_only};
use super::{cancel_calls, on_top_overlay, run_action};
use crate::domain::EndReason;
use crate::engine::{Command, RunStatus};
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::{Focus, Model, Severity};
use crate::ui::msg::Request;
use crate::ui::view::ViewCache;
use crossterm::event::KeyEvent;

/// Handles a key press. `closed_itself` means that an overlay has just closed because it was stale, so that the key
/// may have been meant for it.
pub(super) fn on_key(
    model: &mut Model,
    context: &Context<'_>,
    cache: &ViewCache,
    key: KeyEvent,
    closed_itself: bool,
) -> Vec<Request> {
    let panes = if model.focus == Focus::Lanes { Mode::Lanes } else { Mode::Main };
    let mode = model.overlays.last().map_or(panes, |o| o.mode());
    let action = context.keymap.action_for(mode, key);
    // A notice counts as read once the next key does something. Errors stay.
    if (action.is_some() || !model.overlays.is_empty())
        && model.notice.as_ref().is_some_and(|n| n.severity != Severity::Error)
    {
        model.notice = None;
    }
    if !matches!(action, Some(Action::Step | Action::Open | Action::NextTask)) {
        model.queued_steps = 0;
    }
    let ending = std::mem::take(&mut model.confirming_end);
    model.awaiting_answer = None;
    match action {
        Some(Action::EndEpisode) if ending => vec![Request::Send(Command::EndEpisode(EndReason::Person))],
        Some(Action::Cancel) => cancel_calls(model, context),
        Some(Action::PauseRun) if !model.overlays.is_empty() => pause_from_overlay(model, context, mode),
        Some(Action::Suspend) => vec![Request::Suspend],
        Some(Action::Redraw) => vec![Request::Redraw],
        Some(action) if !model.overlays.is_empty() => {
            on_top_overlay(model, |top| top.on_action(action, context))
        }
        Some(action) if closed_itself && (is_driver_required(action) || action == Action::Open) => {
            let text = "the box just closed by itself; if the key was meant for the run, press it again";
            model.show_notice(text, Severity::Warning, context.now);
            Vec::new()
        }
        Some(action) => run_action(model, context, cache, action),
        None => on_top_overlay(model, |top| top.on_key(key, context)),
    }
}

/// Pauses a running session whatever overlay is open. Never starts one: what would run is hidden.
fn pause_from_overlay(model: &mut Model, context: &Context<'_>, mode: Mode) -> Vec<Request> {
    let state = &context.frame.head;
    if context.is_read_only() {
        notify_read_only(model, context);
        return Vec::new();
    }
    if state.run_status == RunStatus::Running
        || (state.run_status == RunStatus::Paused && state.grant.is_some())
    {
        return vec![Request::Send(Command::Pause)];
    }
    let label = |key: Option<String>| key.unwrap_or_default();
    let close = label(context.keymap.key_label_in(mode, Action::Close));
    let text = match state.run_status {
        RunStatus::Pausing => "already pausing".to_owned(),
        _ => format!(
            "nothing is running; {close} closes this, then {} runs",
            label(context.keymap.key_label(Action::PauseRun))
        ),
    };
    model.show_notice(text, Severity::Warning, context.now);
    Vec::new()
}
