//! The first row: goal, progress, turn, and one word for the mode.

use crate::domain::{Autonomy, ModelRole};
use crate::engine::{Effect, RunStatus, State};
use crate::text::truncate;
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::model::Model;
use crate::ui::theme::Role;
use ratatui::layout::Rect;

/// Columns from which the first row names the branch; below, the title of the story does.
pub(super) const MIN_BRANCH_COLUMNS: u16 = 100;

/// Draws the first row.
pub fn draw(model: &Model, look: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    if area.is_empty() {
        return;
    }
    let state = look.displayed_state();
    let (mut mode, role) = mode_label(look);
    let narrow = area.width < 72;
    if let Some((at, _)) = live_position(look).filter(|_| role == Role::ModePast && area.width < 100) {
        mode = format!("PAST turn {} {} live {at}", look.frame.selected_step(), look.glyphs.separator);
    } else if narrow && let Some((word, _)) = mode.split_once(look.glyphs.separator) {
        mode = word.trim_end().to_owned();
    }
    let right = area.right().saturating_sub(1);
    let mut edge = canvas.put_right(right, area.y, area.width.saturating_sub(1), &mode, canvas.style(role));
    let gap = if area.width >= 76 { 3 } else { 2 };
    if let Some(episode) = &state.episode {
        let turn = step_counter(state, narrow);
        if edge > area.x + 24 {
            edge = canvas.put_right(edge.saturating_sub(gap), area.y, 20, &turn, canvas.style(Role::Muted));
        }
        if edge > area.x + 24 {
            let words = progress_text(episode.progress, state);
            edge = canvas.put_right(edge.saturating_sub(gap), area.y, 8, &words, canvas.style(Role::Text));
            edge =
                draw_progress_bar(episode.progress, bar_cells(state), edge.saturating_sub(1), area, canvas);
        }
        // Where a session has more than one branch, the row says which this is, as long as the goal keeps its room.
        if let Some(branch) = model.branch_name()
            && area.width >= MIN_BRANCH_COLUMNS
        {
            let words = format!("on {branch}");
            edge = canvas.put_right(edge.saturating_sub(gap), area.y, 16, &words, canvas.style(Role::Person));
        }
        let room = edge.saturating_sub(area.x + 1 + gap);
        let goal = if episode.task.goal.is_empty() { &episode.task.id } else { &episode.task.goal };
        // The first words of every PDDL goal are the same and would fill the row.
        let goal = goal.split_once("the following conditions: ").map_or(goal.as_str(), |(_, parts)| parts);
        canvas.put(area.x + 1, area.y, room, goal, canvas.style(Role::Title));
    } else {
        let words = if state.run.is_some() { "the world is being set up" } else { "no episode yet" };
        canvas.put(
            area.x + 1,
            area.y,
            edge.saturating_sub(area.x + 1 + gap),
            words,
            canvas.style(Role::Muted),
        );
    }
}

/// The bar's cells, ending before column `right`; its first column.
fn draw_progress_bar(progress: f64, cells: u16, right: u16, area: Rect, canvas: &mut Canvas<'_>) -> u16 {
    let full = (progress.clamp(0.0, 1.0) * f64::from(cells)).round() as u16;
    let x = right.saturating_sub(cells);
    if x < area.x + 12 {
        return right + 1;
    }
    let [on, off] = canvas.glyphs.progress_cells;
    for cell in 0..cells {
        let (glyph, role) = if cell < full { (on, Role::ProgressFull) } else { (off, Role::ProgressEmpty) };
        canvas.put(x + cell, area.y, 1, glyph, canvas.style(role));
    }
    x
}

/// How many subgoals the task has, where the world says so.
fn subgoal_count(state: &State) -> Option<u64> {
    let episode = state.episode.as_ref()?;
    // A number, or the parts themselves.
    let from = |value: &serde_json::Value| {
        let subgoals = value.get("subgoals")?;
        subgoals.as_u64().or_else(|| Some(subgoals.as_object()?.len() as u64))
    };
    // AgentBoard's patterns of the six task types, and the goal itself (`docs/`, progress rate).
    let of_type = || match episode.task.task_type.as_deref()? {
        "pick_and_place_simple" => Some(3),
        "look_at_obj_in_light"
        | "pick_clean_then_place_in_recep"
        | "pick_heat_then_place_in_recep"
        | "pick_cool_then_place_in_recep"
        | "pick_two_obj_and_place" => Some(4),
        _ => None,
    };
    from(&episode.shown).or_else(of_type).filter(|n| (1..=12).contains(n))
}

fn bar_cells(state: &State) -> u16 {
    subgoal_count(state).map_or(4, |n| n as u16)
}

/// A progress rate in words: `2/4` where the number of subgoals is known, else a percentage.
pub fn progress_text(progress: f64, state: &State) -> String {
    match subgoal_count(state) {
        Some(n) => format!("{}/{n}", (progress * n as f64).round() as u64),
        None => format!("{:.0} %", progress * 100.0),
    }
}

fn step_counter(state: &State, narrow: bool) -> String {
    let Some(episode) = &state.episode else { return String::new() };
    let cap = state.run.as_ref().map_or(0, |r| r.limits.steps);
    let word = if narrow { "" } else { "turn " };
    format!("{word}{}/{cap}", episode.steps.len())
}

/// Where the run is while it goes on behind a moment of the past, with a word for what it does: the turn, of another episode
/// as `2.5`. None where it waits, or where the screen shows the present.
pub fn live_position(look: &Context<'_>) -> Option<(String, &'static str)> {
    let state = &look.frame.head;
    let episode = state.episode.as_ref().filter(|_| look.frame.is_in_past() && !look.is_read_only())?;
    let word = match state.run_status {
        _ if look.halt_reason().is_some() || look.has_driver_died() => return None,
        RunStatus::Running => "running",
        RunStatus::Pausing => "pausing",
        RunStatus::Paused if state.calls.is_empty() => return None,
        RunStatus::Paused => "at work",
    };
    let turn = episode.steps.len();
    let here = look.episode().is_some_and(|e| e.number == episode.number);
    Some((if here { turn.to_string() } else { format!("{}.{turn}", episode.number) }, word))
}

/// The word for the mode, and how it is painted.
pub fn mode_label(look: &Context<'_>) -> (String, Role) {
    let dot = look.glyphs.separator;
    let state = &look.frame.head;
    if let Some(halt) = look.halt_reason() {
        let copied = halt.rescue.as_ref().is_some_and(|saved| saved.dir.is_some());
        let what = if copied { "saved in a copy" } else { "nothing goes on" };
        return (format!("HALTED {dot} {what}"), Role::Danger);
    }
    if look.has_driver_died() {
        return (format!("BROKEN {dot} nothing goes on"), Role::Danger);
    }
    if look.frame.is_in_past() {
        let turn = look.frame.selected_step();
        // How many turns there are says nothing while they become more.
        let words = if let Some((at, word)) = live_position(look) {
            format!("PAST turn {turn} {dot} live: turn {at}, {word}")
        } else {
            format!("PAST turn {turn} of {}", look.episode().map_or(0, |e| e.steps.len()))
        };
        return (words, Role::ModePast);
    }
    if look.is_read_only() {
        return ("READING".to_owned(), Role::ModePaused);
    }
    match state.failed_calls().count() {
        0 => {}
        1 => return (format!("PAUSED {dot} a call failed"), Role::Bad),
        n => return (format!("PAUSED {dot} {n} calls failed"), Role::Bad),
    }
    if state.divergence.is_some() {
        return (format!("PAUSED {dot} the world differs"), Role::Bad);
    }
    if let Some(hit) = &state.breakpoints.current_hit
        && state.calls.is_empty()
        && state.run_status == RunStatus::Paused
    {
        let condition = truncate(&hit.config.condition, 28, look.glyphs.ellipsis);
        return (format!("STOPPED {dot} {condition}"), Role::ModeStopped);
    }
    if let Some(outcome) = state.episode.as_ref().and_then(|e| e.outcome.as_ref())
        && state.calls.is_empty()
    {
        return match (outcome.won, outcome.reason) {
            (true, _) => ("WON".to_owned(), Role::Good),
            (_, reason) => (format!("ENDED {dot} {}", reason.describe()), Role::Warning),
        };
    }
    if look.is_thinking() {
        let since = look.frame.live.calls.iter().map(|c| c.started).min();
        let seconds = since.map_or(0, |s| look.now.saturating_duration_since(s).as_secs());
        let word = match state.run_status {
            RunStatus::Pausing => "PAUSING",
            _ if state.is_asking(ModelRole::Actor) => "THINKING",
            _ => "REFLECTING",
        };
        return (format!("{word} {seconds} s"), Role::ModeThinking);
    }
    if state.calls.values().any(|c| matches!(c, Effect::ResetWorld { .. })) {
        return ("STARTING".to_owned(), Role::ModeThinking);
    }
    match (state.run_status, state.autonomy) {
        (_, Autonomy::Human) if state.step_awaiting_decision().is_some() || state.is_waiting() => {
            ("YOU PLAY".to_owned(), Role::ModeHuman)
        }
        (_, Autonomy::Confirm) if state.step_awaiting_decision().is_some() => {
            (format!("CONFIRM {dot} your turn"), Role::ModeConfirm)
        }
        (RunStatus::Running, Autonomy::Confirm) => ("CONFIRM".to_owned(), Role::ModeConfirm),
        (RunStatus::Running, Autonomy::Human) => ("YOU PLAY".to_owned(), Role::ModeHuman),
        (RunStatus::Running, _) => ("RUNNING".to_owned(), Role::ModeRunning),
        (RunStatus::Pausing, _) => ("PAUSING".to_owned(), Role::ModePaused),
        (RunStatus::Paused, _) => (format!("PAUSED {dot} your turn"), Role::ModePaused),
    }
}
