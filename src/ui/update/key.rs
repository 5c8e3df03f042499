//! Keys of the panes.

use super::action::{cancel_calls, run_action};
use super::availability::notify_read_only;
use crate::domain::EndReason;
use crate::engine::{Command, RunStatus};
use crate::ui::facts::is_driver_required;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::model::{Model, Severity};
use crate::ui::msg::Request;
use crate::ui::selection::keep_selection;
use crate::ui::types::Focus;
use crate::ui::view::cache::ViewCache;

/// A key press that no overlay has taken.
#[derive(Clone, Copy, Debug)]
pub struct PaneKey {
    pub action: Action,
    /// The mode in which the key was read: the panes', or that of the topmost overlay.
    pub mode: Mode,
    /// If the person has just been asked whether to end the episode: whether this key says yes.
    pub confirms_end: Option<bool>,
    /// Whether an overlay has just closed because it was stale, so that the key may have been meant for it.
    pub closed_itself: bool,
}

/// Returns the mode in which the panes read keys.
pub fn pane_mode(model: &Model) -> Mode {
    if model.focus == Focus::Lanes { Mode::Lanes } else { Mode::Main }
}

/// Resets what any key press ends: a notice that has been read, queued steps, the question whether to end the episode.
/// Returns how this key answers that question, if it was asked.
pub fn on_any_key(model: &mut Model, action: Option<Action>) -> Option<bool> {
    if action != Some(Action::Export) || model.notice.is_none() {
        model.offered_report = None;
    }
    // A notice counts as read once the next key does something. Errors stay.
    if (action.is_some() || model.is_covered)
        && model.notice.as_ref().is_some_and(|n| n.severity != Severity::Error)
    {
        model.notice = None;
    }
    if !matches!(action, Some(Action::Step | Action::Open | Action::NextTask)) {
        model.queued_steps = 0;
    }
    std::mem::take(&mut model.confirming_end).then_some(action == Some(Action::EndEpisode))
}

/// Handles a key that no overlay has taken.
pub fn on_pane_key(
    model: &mut Model,
    context: &Context<'_>,
    cache: &ViewCache,
    key: PaneKey,
) -> Vec<Request> {
    let requests = perform_key(model, context, cache, key);
    keep_selection(model, context);
    requests
}

fn perform_key(model: &mut Model, context: &Context<'_>, cache: &ViewCache, key: PaneKey) -> Vec<Request> {
    match key.action {
        Action::EndEpisode if key.confirms_end == Some(true) => {
            vec![Request::Send(Command::EndEpisode(EndReason::Person))]
        }
        Action::Cancel => cancel_calls(model, context),
        Action::PauseRun if model.is_covered => pause_from_overlay(model, context, key.mode),
        Action::Suspend => vec![Request::Suspend],
        Action::Redraw => vec![Request::Redraw],
        // The answer no does nothing else: Enter would run the proposal.
        _ if key.confirms_end == Some(false) => {
            model.show_notice("the episode isn't ended", Severity::Info, context.now);
            Vec::new()
        }
        action if key.closed_itself && (is_driver_required(action) || action == Action::Open) => {
            let text = "the box just closed by itself; if the key was meant for the run, press it again";
            model.show_notice(text, Severity::Warning, context.now);
            Vec::new()
        }
        action => run_action(model, context, cache, action),
    }
}

/// Pauses a running session whatever overlay is open. Never starts one: what would run is hidden.
fn pause_from_overlay(model: &mut Model, context: &Context<'_>, mode: Mode) -> Vec<Request> {
    let state = &context.frame.head;
    if context.is_read_only() {
        notify_read_only(model, context);
        return Vec::new();
    }
    if state.can_proceed() {
        return vec![Request::Send(Command::Pause)];
    }
    let label = |key: Option<String>| key.unwrap_or_default();
    let close = label(context.keymap.key_label_in(mode, Action::Close));
    let text = match state.run_status {
        RunStatus::Pausing => "already pausing".to_owned(),
        _ if state.run_over => format!("the run is over; {close} closes this"),
        _ => format!(
            "nothing is running; {close} closes this, then {} runs",
            label(context.keymap.key_label(Action::PauseRun))
        ),
    };
    model.show_notice(text, Severity::Warning, context.now);
    Vec::new()
}
