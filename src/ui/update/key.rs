//! What a key means where it is pressed.

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

/// A key was pressed. `gone`: what lay on top has just gone of itself, and the key may have been meant for it.
pub(super) fn on_key(
    model: &mut Model,
    look: &Context<'_>,
    scratch: &ViewCache,
    key: KeyEvent,
    gone: bool,
) -> Vec<Request> {
    let panes = if model.focus == Focus::Lanes { Mode::Lanes } else { Mode::Main };
    let mode = model.overlays.last().map_or(panes, |o| o.mode());
    let action = look.keymap.action_for(mode, key);
    // News has been read when the next key does something.
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
        Some(Action::Cancel) => cancel_calls(model, look),
        Some(Action::PauseRun) if !model.overlays.is_empty() => pause_from_overlay(model, look, mode),
        Some(Action::Suspend) => vec![Request::Suspend],
        Some(Action::Redraw) => vec![Request::Redraw],
        Some(action) if !model.overlays.is_empty() => {
            on_top_overlay(model, |top| top.on_action(action, look))
        }
        Some(action) if gone && (is_driver_required(action) || action == Action::Open) => {
            let words = "what lay here has gone of itself; press the key again if it is meant for the run";
            model.show_notice(words, Severity::Warning, look.now);
            Vec::new()
        }
        Some(action) => run_action(model, look, scratch, action),
        None => on_top_overlay(model, |top| top.on_key(key, look)),
    }
}

/// Whatever lies on top, what runs can be stopped; nothing is ever let run from behind it.
fn pause_from_overlay(model: &mut Model, look: &Context<'_>, mode: Mode) -> Vec<Request> {
    let state = &look.frame.head;
    if look.is_read_only() {
        notify_read_only(model, look);
        return Vec::new();
    }
    if state.run_status == RunStatus::Running
        || (state.run_status == RunStatus::Paused && state.grant.is_some())
    {
        return vec![Request::Send(Command::Pause)];
    }
    let label = |key: Option<String>| key.unwrap_or_default();
    let close = label(look.keymap.key_label_in(mode, Action::Close));
    let words = match state.run_status {
        RunStatus::Pausing => "it is pausing already".to_owned(),
        _ => format!(
            "nothing runs; {close} closes this, then {} runs",
            label(look.keymap.key_label(Action::PauseRun))
        ),
    };
    model.show_notice(words, Severity::Warning, look.now);
    Vec::new()
}
