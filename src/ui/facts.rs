//! Facts about the session that several parts of the screen ask for.

use crate::domain::{EpisodeRole, ModelRole, NoteKind, RoleSource, Step, Task};
use crate::engine::{RunStatus, State};
use crate::report::{DroppedText, dropped_texts};
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::msg::Request;
use crate::ui::types::{RequestForm, RequestSource};

/// Returns whether two tasks are the same game: environment, id and seed.
pub fn is_same_task(a: &Task, b: &Task) -> bool {
    a.id == b.id && a.env == b.env && a.seed == b.seed
}

/// Returns whether the run hasn't ended and a task is left to play, by the same schedule as the methods use.
pub(crate) fn has_remaining_task(state: &State) -> bool {
    let Some(run) = state.run.as_deref().filter(|_| !state.run_over) else { return false };
    run.tasks.iter().any(|task| {
        let played = || {
            state.ended_episodes.iter().filter(|p| p.role == EpisodeRole::Test && is_same_task(&p.task, task))
        };
        if run.trials > 1 {
            return played().count() < run.trials as usize && !played().any(|p| p.ends_task());
        }
        played().count() < run.tasks.iter().filter(|other| is_same_task(other, task)).count()
    })
}

/// Returns whether nobody has proposed anything for a step: a person plays it, or its call was cancelled before.
pub(crate) fn has_no_proposal(step: &Step) -> bool {
    step.call.is_none() && step.proposed.is_none() && step.executed.is_none()
}

/// Returns the role to offer first: the one whose call failed, else the actor.
pub fn default_role(state: &State) -> ModelRole {
    let mentor = state.has_undecided_call(ModelRole::Mentor) && !state.has_undecided_call(ModelRole::Actor);
    if mentor { ModelRole::Mentor } else { ModelRole::Actor }
}

/// Returns whether a role is played by a model on a server.
pub fn is_model(context: &Context<'_>, role: ModelRole) -> bool {
    let run = context.frame.head.run.as_deref();
    run.is_some_and(|run| matches!(run.role_source(role), RoleSource::Model(_)))
}

/// Returns the actions on a prompt to a role that do nothing: without a server there is no command that calls it.
pub fn actions_without_server(context: &Context<'_>, role: ModelRole) -> &'static [Action] {
    if is_model(context, role) { &[] } else { &[Action::CopyCurl] }
}

/// Counts the dropped texts of a step's reflections that haven't become lessons.
pub(crate) fn open_text_count(step: &Step, context: &Context<'_>) -> usize {
    dropped_texts_of(step, context).filter(|text| text.lesson(&context.frame.head).is_none()).count()
}

/// Returns the dropped texts of a step's reflections, in order.
pub fn dropped_texts_of<'a>(
    step: &'a Step,
    context: &'a Context<'_>,
) -> impl Iterator<Item = DroppedText<'a>> + use<'a> {
    dropped_texts(step, context.state_for_step(step.number))
}

/// Returns whether one of the last steps was a mistake.
pub fn has_recent_mistake(state: &State) -> bool {
    const RECENT_STEPS: usize = 3;
    let steps = state.episode.iter().flat_map(|e| e.steps.iter().rev().take(RECENT_STEPS));
    steps.into_iter().any(|s| s.notes.iter().any(|n| n.kind == NoteKind::Mistake))
}

/// Returns the number of the latest episode if it has ended.
pub(crate) fn ended_episode(context: &Context<'_>) -> Option<u32> {
    let episode = context.frame.head.episode.as_ref()?;
    episode.outcome.is_some().then_some(episode.number)
}

/// Returns how the session ended, if it did: `won`, `lost` ..., or `stopped` if it was closed in the middle of an episode.
pub(crate) fn session_outcome(state: &State) -> Option<String> {
    let last = state.episode.as_ref().and_then(|episode| episode.outcome.as_ref());
    match last {
        Some(_) if state.run_over && state.ended_episodes.len() > 1 => Some("run ended".to_owned()),
        Some(outcome) if state.run_over || state.closed => Some(outcome.verdict()),
        None if state.run_over || state.closed => Some("stopped".to_owned()),
        _ => None,
    }
}

/// While the cursor is in the past and the run continues, returns the run's current step (`2.5` is step 5 of episode 2
/// if another episode is on screen) and what it is doing. Returns `None` in the present or if the run is paused.
pub fn live_position(context: &Context<'_>) -> Option<(String, &'static str)> {
    let state = &context.frame.head;
    let is_live = context.frame.is_in_past() && !context.is_read_only() && !state.run_over;
    let episode = state.episode.as_ref().filter(|_| is_live)?;
    let word = match state.run_status {
        _ if context.halt_reason().is_some() || context.has_driver_died() => return None,
        RunStatus::Running => "running",
        RunStatus::Pausing => "pausing",
        RunStatus::Paused if state.calls.is_empty() => return None,
        RunStatus::Paused => "working",
    };
    let step = episode.steps.len();
    let here = context.episode().is_some_and(|e| e.number == episode.number);
    Some((if here { step.to_string() } else { format!("{}.{step}", episode.number) }, word))
}

/// Returns a request to copy the request of a step; `None` if the step has none.
pub fn step_request(context: &Context<'_>, number: u32, form: RequestForm) -> Option<Request> {
    let step = context.step(number)?;
    step.call?;
    Some(Request::CopyRequest { source: RequestSource::Event(step.prompt_seq), form })
}
