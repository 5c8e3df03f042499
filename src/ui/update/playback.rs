//! Plays read-only sessions, and sets the pace of live ones.

use super::cursor;
use crate::report::StepRef;
use crate::ui::chapters::{display_time, neighbour, shown_step};
use crate::ui::facts::is_paced_by_model;
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{Model, Severity};
use crate::ui::msg::Request;
use crate::ui::playback::Speed;
use crate::ui::types::WorkKind;
use std::time::Duration;

/// Returns whether playback goes on after an action: it only changes how the session is shown.
pub(super) fn continues_after(action: Action) -> bool {
    matches!(
        action,
        Action::PauseRun
            | Action::Faster
            | Action::Slower
            | Action::ToggleStageMode
            | Action::NextTheme
            | Action::Zoom
            | Action::NextArrangement
            | Action::NextPane
            | Action::PreviousPane
            | Action::Pane(_)
            | Action::Up
            | Action::Down
            | Action::PageUp
            | Action::PageDown
            | Action::ToggleTruth
            | Action::ToggleReasoning
            | Action::ToggleMouse
            | Action::Redraw
            // These stop it before they do anything else.
            | Action::Close
            | Action::Quit
    )
}

/// Plays from the step that is shown, or stops. At the end, plays from the beginning.
pub(super) fn toggle(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    if model.playback.is_playing() {
        model.playback.stop();
        return Vec::new();
    }
    if context.episode().is_none() {
        model.show_notice("nothing to play: the session has no episode", Severity::Info, context.now);
        return Vec::new();
    }
    let requests = if model.is_in_past() { Vec::new() } else { go_to_start(model, context) };
    let from = match requests.first() {
        Some(Request::GoToStep { episode: Some(episode), step }) => {
            StepRef { episode: *episode, step: *step }
        }
        _ => shown_step(context),
    };
    model.playback.show_for(time_at(model, from), context.now);
    requests
}

/// Moves to the start: of a demo, else of the episode on screen.
pub(super) fn go_to_start(model: &Model, context: &Context<'_>) -> Vec<Request> {
    let start = model.chapters.first().map(|chapter| chapter.at);
    let start = start.unwrap_or(StepRef { step: 0, ..shown_step(context) });
    vec![Request::GoToStep { episode: Some(start.episode), step: start.step }]
}

/// Moves to the next step once it is due. Stops below an overlay, which would hide it.
pub(super) fn advance(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    let Some(due) = model.playback.due else { return Vec::new() };
    if model.is_covered {
        model.playback.stop();
        return Vec::new();
    }
    if context.now < due || context.frame.work(WorkKind::Past).is_some() {
        return Vec::new();
    }
    model.playback.show_for(time_at(model, next_step(context)), context.now);
    cursor::move_steps(model, context, 1)
}

/// Returns the step after the one that is shown: after the last one, the start of the next episode.
fn next_step(context: &Context<'_>) -> StepRef {
    let shown = shown_step(context);
    let last = context.episode().map_or(0, |episode| episode.steps.len() as u32);
    if shown.step < last {
        StepRef { step: shown.step + 1, ..shown }
    } else {
        StepRef { episode: shown.episode + 1, step: 0 }
    }
}

/// Returns how long a step is shown: long enough to read the caption that begins there.
fn time_at(model: &Model, step: StepRef) -> Duration {
    display_time(&model.chapters, model.playback.speed, step)
}

/// Moves one step forward in a read-only session.
pub(super) fn step(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    if !model.is_in_past() {
        model.show_notice("this is the last step", Severity::Info, context.now);
        return Vec::new();
    }
    cursor::move_steps(model, context, 1)
}

/// Moves to the previous (`by` = -1) or next (1) chapter.
pub(super) fn go_to_chapter(model: &mut Model, context: &Context<'_>, by: i64) -> Vec<Request> {
    if let Some(at) = neighbour(&model.chapters, shown_step(context), by) {
        return vec![Request::GoToStep { episode: Some(at.episode), step: at.step }];
    }
    let which = if by < 0 { "first" } else { "last" };
    model.show_notice(format!("this is the {which} chapter"), Severity::Info, context.now);
    Vec::new()
}

/// Slows a run that waits for nothing down to what an audience can read. A speed that a person chose stays.
pub fn slow_for_audience(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    if model.run_speed != Speed::FULL || context.is_read_only() || is_paced_by_model(context) {
        return Vec::new();
    }
    model.run_speed = Speed::NORMAL;
    vec![Request::SetStepDelay(model.run_speed.delay())]
}

/// Changes the speed: of the playback in a read-only session, else of the run. A model sets its own pace.
pub(super) fn change_speed(model: &mut Model, context: &Context<'_>, by: i64) -> Vec<Request> {
    let changed = |speed: Speed, limit| if by < 0 { speed.slower() } else { speed.faster(limit) };
    if context.is_read_only() {
        let speed = changed(model.playback.speed, Speed::FASTEST);
        model.playback.speed = speed;
        if model.playback.is_playing() {
            model.playback.show_for(time_at(model, shown_step(context)), context.now);
        } else {
            let text = format!("playback speed: {}", speed.label());
            model.show_notice(text, Severity::Info, context.now);
        }
        return Vec::new();
    }
    if is_paced_by_model(context) {
        let text =
            "the model sets the pace; the speed of the built-in actor and of recordings can be changed";
        model.show_notice(text, Severity::Info, context.now);
        return Vec::new();
    }
    model.run_speed = changed(model.run_speed, Speed::FULL);
    let delay = model.run_speed.delay();
    let text = match model.run_speed {
        Speed::FULL => "full speed: no time between the steps of a run".to_owned(),
        speed => format!("speed {}: {:.1} s between the steps of a run", speed.label(), delay.as_secs_f64()),
    };
    model.show_notice(text, Severity::Info, context.now);
    vec![Request::SetStepDelay(delay)]
}
