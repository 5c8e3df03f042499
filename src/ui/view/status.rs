//! The status row at the top: goal, progress, step counter and mode.

use crate::catalog::{short_goal, what_follows};
use crate::domain::common_settings::CONTEXT_TOKENS;
use crate::domain::{Autonomy, CallPhase, EndReason, EpisodeSummary, ModelRole, Step, format_price};
use crate::engine::{Effect, RunStatus, State};
use crate::text::{truncate, width};
use crate::ui::canvas::Canvas;
use crate::ui::chapters::shown_step;
use crate::ui::facts::{counted_unit, is_model, live_position, session_outcome};
use crate::ui::frame_data::Context;
use crate::ui::labels::{progress_text, subgoal_count};
use crate::ui::model::Model;
use crate::ui::overlay::prompt_view::prompt_tokens;
use crate::ui::playback::Speed;
use crate::ui::theme::Role;
use ratatui::layout::Rect;

/// Smallest width at which the first row names the branch; below it, the Story title does.
pub(super) const MIN_BRANCH_COLUMNS: u16 = 100;

/// Draws the status row.
pub fn draw(model: &Model, context: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    if area.is_empty() {
        return;
    }
    let state = context.displayed_state();
    let (mut mode, mut role) = mode_label(context);
    let speed = context.glyphs.playing;
    if model.playback.is_playing() {
        (mode, role) = (format!("{speed} playing {}", model.playback.speed.label()), Role::ModeRunning);
    } else if is_paced(model, context) {
        (mode, role) = (format!("{speed} RUNNING {}", model.run_speed.label()), Role::ModeRunning);
    } else if model.chapters.first().is_some_and(|first| first.at == shown_step(context)) {
        // A demo that has just been opened isn't a look back.
        mode = format!("DEMO {} start", context.glyphs.separator);
        role = Role::ModePaused;
    } else if !model.chapters.is_empty() && role == Role::ModePast {
        // It is being shown, not looked back at; the counter beside it says the step.
        (mode, role) = ended_label(context).unwrap_or_else(|| ("DEMO".to_owned(), Role::Muted));
    } else if model.stage_mode && role == Role::ModePast {
        // A talk doesn't tell the end before it comes.
        (mode, role) = ended_label(context)
            .unwrap_or_else(|| (format!("PAST step {}", context.frame.selected_step()), role));
    } else if (model.stage_mode || !model.chapters.is_empty())
        && context.is_read_only()
        && !context.frame.is_in_past()
    {
        (mode, role) = ended_label(context).unwrap_or((mode, role));
    }
    let narrow = area.width < 72;
    if let Some((at, _)) = live_position(context).filter(|_| role == Role::ModePast && area.width < 100) {
        mode = format!("PAST step {} {} live {at}", context.frame.selected_step(), context.glyphs.separator);
    } else if narrow && let Some((word, _)) = mode.split_once(context.glyphs.separator) {
        let end = word.trim_end().len();
        mode.truncate(end);
    }
    let right = area.right().saturating_sub(1);
    let mut edge = canvas.put_right(right, area.y, area.width.saturating_sub(1), &mode, canvas.style(role));
    let gap = if area.width >= 76 { 3 } else { 2 };
    // A measurement that goes on behind the panes.
    if let Some(label) = measuring_label(model, area.width) {
        edge = canvas.put_right(
            edge.saturating_sub(gap),
            area.y,
            width(&label) as u16,
            &label,
            canvas.style(Role::ModeRunning),
        );
    }
    if let Some(episode) = &state.episode {
        let goal = if episode.task.goal.is_empty() { &episode.task.id } else { &episode.task.goal };
        let goal = &*short_goal(&episode.task.env, goal);
        let counter = step_counter(state, narrow);
        let label = progress_text(episode.progress, state);
        let beside_goal = [width(&counter), width(&label), usize::from(bar_cells(state) + 3 * gap)];
        let fits = beside_goal.iter().sum::<usize>() + width(goal) < usize::from(edge - area.x);
        // In the past the mode says the step too.
        if edge > area.x + 24 && (fits || role != Role::ModePast) {
            edge =
                canvas.put_right(edge.saturating_sub(gap), area.y, 20, &counter, canvas.style(Role::Muted));
        }
        if edge > area.x + 24 {
            edge = canvas.put_right(edge.saturating_sub(gap), area.y, 8, &label, canvas.style(Role::Text));
            edge =
                draw_progress_bar(episode.progress, bar_cells(state), edge.saturating_sub(1), area, canvas);
        }
        // With more than one branch, the row names the current one, as long as the goal keeps its room.
        if let Some(branch) = model.branch_name()
            && area.width >= MIN_BRANCH_COLUMNS
        {
            let label = format!("on {branch}");
            edge = canvas.put_right(edge.saturating_sub(gap), area.y, 16, &label, canvas.style(Role::Person));
        }
        // What the run has used comes last: the goal needs its room first.
        let usage = usage_label(state, canvas.glyphs.separator);
        let used = width(&usage) as u16;
        if !usage.is_empty() && !model.stage_mode && edge > area.x + 1 + width(goal) as u16 + 2 * gap + used {
            edge =
                canvas.put_right(edge.saturating_sub(gap), area.y, used, &usage, canvas.style(Role::Muted));
        }
        let room = edge.saturating_sub(area.x + 1 + gap);
        canvas.put(area.x + 1, area.y, room, goal, canvas.style(Role::Title));
    } else {
        let label = if state.run.is_some() { "setting up the environment" } else { "no episode yet" };
        canvas.put(
            area.x + 1,
            area.y,
            edge.saturating_sub(area.x + 1 + gap),
            label,
            canvas.style(Role::Muted),
        );
    }
}

/// Returns how the episode ended that is shown up to its end, for an audience.
fn ended_label(context: &Context<'_>) -> Option<(String, Role)> {
    let outcome = context.displayed_state().episode.as_ref()?.outcome.as_ref()?;
    let (word, role) = end_word(outcome);
    Some((word.to_owned(), role))
}

/// Returns how an episode ended in a word. One that a person or a failure ended is neither won nor lost.
fn end_word(outcome: &EpisodeSummary) -> (&'static str, Role) {
    match outcome.reason {
        _ if outcome.won => ("WON", Role::Good),
        EndReason::Person | EndReason::Error | EndReason::EnvDied | EndReason::EnvTimeout => {
            ("ENDED", Role::Warning)
        }
        _ => ("LOST", Role::Bad),
    }
}

/// Returns how far the running measurement is: `measuring 57 of 400 pairs`.
fn measuring_label(model: &Model, columns: u16) -> Option<String> {
    let (settled, all) = model.effect.as_ref().filter(|effect| effect.0.is_running())?.0.open_pairs();
    Some(match columns {
        0..72 => format!("% {settled}/{all}"),
        72..120 => format!("measuring {settled}/{all}"),
        _ => format!("measuring {settled} of {all} pairs"),
    })
}

/// Returns how much of its window the actor's last prompt fills, and the tokens and cost of the run. Empty before the first
/// prompt.
fn usage_label(state: &State, dot: &str) -> String {
    let (Some(prompt), Some(run)) = (&state.actor_prompts.0, &state.run) else { return String::new() };
    let mut parts = Vec::new();
    if let Some(window) = run.settings.recorded(CONTEXT_TOKENS.spec.name).and_then(|s| s.value.as_u64()) {
        parts.push(format!("prompt {} of {}", thousands(prompt_tokens(state, prompt)), thousands(window)));
    }
    let samples = match state.usage.samples.spent.tokens() {
        0 => String::new(),
        tokens => format!(", {} of them for samples", thousands(tokens)),
    };
    parts.push(format!("run {} tokens{samples}", thousands(state.usage.tokens())));
    if state.usage.cost_nano() > 0 {
        parts.push(format_price(state.usage.cost_nano()));
    }
    parts.join(&format!(" {dot} "))
}

/// Rounds a number to at most three digits, such as 950, 2.1k or 24k.
fn thousands(number: u64) -> String {
    let tenths = |unit: u64| (number + unit / 20) / (unit / 10);
    match number {
        0..1000 => number.to_string(),
        1000..9950 => format!("{}.{}k", tenths(1000) / 10, tenths(1000) % 10),
        9950..999_500 => format!("{}k", (number + 500) / 1000),
        _ => format!("{}.{}M", tenths(1_000_000) / 10, tenths(1_000_000) % 10),
    }
}

/// Returns whether the run continues at a speed that a person chose. Its actor's calls then say nothing new.
fn is_paced(model: &Model, context: &Context<'_>) -> bool {
    let state = &context.frame.head;
    model.run_speed != Speed::FULL
        && state.run_status == RunStatus::Running
        && state.autonomy == Autonomy::Auto
        && state.open_episode().is_some()
        && !context.frame.is_in_past()
        && !state.is_asking(ModelRole::Mentor)
        && context.halt_reason().is_none()
        && !context.has_driver_died()
        && state.failed_calls().count() == 0
        && state.divergence.is_none()
}

/// Draws the progress bar, ending before column `right`, and returns its first column.
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

fn bar_cells(state: &State) -> u16 {
    subgoal_count(state).map_or(4, |n| n as u16)
}

/// Returns how much of the step limit is used, in the unit that the limit counts.
fn step_counter(state: &State, narrow: bool) -> String {
    let Some(episode) = &state.episode else { return String::new() };
    let limit = state.run.as_ref().map_or(0, |r| r.limits.steps);
    let unit = if narrow { String::new() } else { format!("{} ", counted_unit(state)) };
    // The open step counts, too.
    let open = episode.last_step().filter(|step| step.answer.is_none());
    let is_counted = |step: &Step| state.settings().thoughts_count || !step.is_thought_only();
    let counted = state.counted_steps(episode) + u32::from(open.is_some_and(is_counted));
    format!("{unit}{counted}/{limit}")
}

/// Returns whether all that is in flight are calls of an actor that is no model: it answers at once and doesn't think.
pub(super) fn is_asking_rules(context: &Context<'_>) -> bool {
    let state = &context.frame.head;
    !is_model(context, ModelRole::Actor)
        && state.is_asking(ModelRole::Actor)
        && !state.is_asking(ModelRole::Mentor)
        && !state.is_computing()
}

/// Returns the mode's label and its role.
pub fn mode_label(context: &Context<'_>) -> (String, Role) {
    let dot = context.glyphs.separator;
    let state = &context.frame.head;
    if let Some(halt) = context.halt_reason() {
        let copied = halt.rescue.as_ref().is_some_and(|saved| saved.dir.is_some());
        let what = if copied { "saved in a copy" } else { "can't save" };
        return (format!("HALTED {dot} {what}"), Role::Danger);
    }
    if context.has_driver_died() {
        return (format!("BROKEN {dot} driver crashed"), Role::Danger);
    }
    if context.frame.is_in_past() {
        let step = context.frame.selected_step();
        // While the run continues, the total number of steps would be outdated at once.
        let label = if let Some((at, word)) = live_position(context) {
            format!("PAST step {step} {dot} live: step {at}, {word}")
        } else {
            let steps = context.episode().map_or(0, |e| e.steps.len());
            // The steps are those of the episode on screen, and so is the outcome.
            let verdict = context.episode().and_then(|e| e.outcome.as_ref()).map(|outcome| outcome.verdict());
            let outcome = session_outcome(state).map(|how| verdict.unwrap_or(how));
            let outcome = outcome.map_or_else(String::new, |how| format!(" {dot} {how}"));
            format!("PAST step {step} of {steps}{outcome}")
        };
        return (label, Role::ModePast);
    }
    if context.is_read_only() {
        let outcome = session_outcome(state).map_or_else(String::new, |how| format!(" {dot} {how}"));
        return (format!("READ-ONLY{outcome}"), Role::ModePaused);
    }
    match state.failed_calls().count() {
        0 => {}
        1 => return (format!("PAUSED {dot} a call failed"), Role::Bad),
        n => return (format!("PAUSED {dot} {n} calls failed"), Role::Bad),
    }
    if state.divergence.is_some() {
        return (format!("PAUSED {dot} environment differs"), Role::Bad);
    }
    if let Some(hit) = &state.breakpoints.current_hit
        && state.calls.is_empty()
        && state.run_status == RunStatus::Paused
    {
        let condition = truncate(&hit.config.condition, 28, context.glyphs.ellipsis);
        return (format!("STOPPED {dot} {condition}"), Role::ModeStopped);
    }
    if let Some(outcome) = state.episode.as_ref().and_then(|e| e.outcome.as_ref())
        && state.calls.is_empty()
        && !state.awaits_mentor_or_job()
    {
        let (word, role) = end_word(outcome);
        let why = outcome.describe_end();
        let why = why.strip_prefix("ended ").unwrap_or(why);
        // Between two attempts the run goes on; how the last one ended isn't its state.
        let label = match what_follows(state) {
            Some(next) => format!("{} {dot} {}", next.to_uppercase(), word.to_lowercase()),
            None if outcome.won => word.to_owned(),
            None => format!("{word} {dot} {why}"),
        };
        return (label, role);
    }
    if context.is_thinking() && !is_asking_rules(context) {
        let live = &context.frame.live;
        let actor = live.calls.iter().find(|call| call.role == ModelRole::Actor);
        if let Some(seconds) = actor.and_then(|call| call.seconds_to_retry(context.now))
            && state.run_status != RunStatus::Pausing
        {
            return (format!("RETRYING in {seconds} s"), Role::Warning);
        }
        let since = live.calls.iter().map(|c| c.started).chain(live.jobs.iter().map(|j| j.started)).min();
        let seconds = since.map_or(0, |s| context.now.saturating_duration_since(s).as_secs());
        let word = match state.run_status {
            RunStatus::Pausing => "PAUSING",
            _ if actor
                .is_some_and(|call| call.phase == CallPhase::Connecting && is_model(context, call.role)) =>
            {
                "CONNECTING"
            }
            _ if state.is_asking(ModelRole::Actor) => "THINKING",
            _ if state.is_computing() => "COMPUTING",
            _ => "REFLECTING",
        };
        // What is asked or computed after an attempt, the next one waits for.
        let ended = state.episode.as_ref().and_then(|episode| episode.outcome.as_ref());
        let ended = ended
            .map_or_else(String::new, |outcome| format!(" {dot} {}", end_word(outcome).0.to_lowercase()));
        return (format!("{word} {seconds} s{ended}"), Role::ModeThinking);
    }
    let env_seconds = context.env_work_seconds();
    if context.is_restoring_environment() {
        return (format!("RESTORING {} s", env_seconds.unwrap_or(0)), Role::ModeThinking);
    }
    if state.calls.values().any(|c| matches!(c, Effect::ResetWorld { .. })) {
        let seconds = env_seconds.map_or_else(String::new, |seconds| format!(" {seconds} s"));
        return (format!("STARTING{seconds}"), Role::ModeThinking);
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
        (RunStatus::Paused, _) if state.grant.is_some() || is_asking_rules(context) => {
            ("STEPPING".to_owned(), Role::ModeThinking)
        }
        (RunStatus::Paused, _) if state.is_world_busy() => ("PAUSING".to_owned(), Role::ModePaused),
        (RunStatus::Paused, _) => (format!("PAUSED {dot} your turn"), Role::ModePaused),
    }
}

#[cfg(test)]
mod tests {
    use super::thousands;

    /// Regression: 7981 tokens of 8192 were "7.9k of 8.1k".
    #[test]
    fn numbers_of_tokens_are_rounded() {
        let cases = [
            (999, "999"),
            (1000, "1.0k"),
            (7981, "8.0k"),
            (8192, "8.2k"),
            (9949, "9.9k"),
            (9950, "10k"),
            (24_600, "25k"),
            (999_499, "999k"),
            (999_500, "1.0M"),
            (1_250_000, "1.3M"),
        ];
        for (number, expected) in cases {
            assert_eq!(thousands(number), expected, "{number}");
        }
    }
}
