//! Facts about the session that several parts of the screen ask for.

use crate::domain::common_settings::LOOP_DETECTOR;
use crate::domain::{
    EndReason, EpisodeSummary, ModelRole, Note, NoteKind, RoleSource, Step, Task, pluralize,
};
use crate::engine::{Episode, RunStatus, State};
use crate::report::{DroppedText, dropped_texts};
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::msg::Request;
use crate::ui::types::{RequestForm, RequestSource};

/// Returns whether two tasks are the same game: environment, id and seed.
pub fn is_same_task(a: &Task, b: &Task) -> bool {
    a.id == b.id && a.env == b.env && a.seed == b.seed
}

/// Returns whether a model sets the pace of a run, so that its speed can't be changed.
pub(crate) fn is_paced_by_model(context: &Context<'_>) -> bool {
    context.frame.head.run.as_ref().is_none_or(|run| run.role_source(ModelRole::Actor).is_model())
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

/// Returns what a summary of an episode counts as its steps: only its moves, if thoughts don't count against the step limit.
pub(crate) fn counted_unit(state: &State) -> &'static str {
    if state.settings().thoughts_count { "step" } else { "move" }
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

/// Returns whether a note gives no reason.
pub(crate) fn is_vague(note: &Note) -> bool {
    [Note::NOTHING_HAPPENED, Note::UNCLEAR].contains(&note.detector.as_str())
}

/// Returns the first step with a mistake, and its note. That nothing happened counts only if no step has a reason.
pub(crate) fn first_mistake(episode: &Episode) -> Option<(&Step, &Note)> {
    let first = |counts: &dyn Fn(&Note) -> bool| {
        let is_mistake = |note: &&Note| note.kind == NoteKind::Mistake && counts(note);
        episode.steps.iter().find_map(|step| Some((&**step, step.notes.iter().find(is_mistake)?)))
    };
    first(&|note| !is_vague(note)).or_else(|| first(&is_vague))
}

/// Returns the number of the latest episode if it has ended.
pub(crate) fn ended_episode(context: &Context<'_>) -> Option<u32> {
    let episode = context.frame.head.episode.as_ref()?;
    episode.outcome.is_some().then_some(episode.number)
}

/// Describes an episode's outcome in a sentence; `limit` is the step limit, and `unit` what counts against it.
pub(crate) fn outcome_sentence(outcome: &EpisodeSummary, limit: u32, unit: &str) -> String {
    let (why, steps) = (outcome.describe_end(), pluralize(u64::from(outcome.steps), unit));
    let how = if outcome.won { "Won" } else { "Lost" };
    match outcome.reason {
        EndReason::Won => format!("Won: the goal was reached in {steps}."),
        EndReason::StepLimit => format!("{how}: step limit reached ({}).", pluralize(limit.into(), "step")),
        EndReason::Loop => format!(
            "{how}: {why}, the same action twice in a row ends the episode ({} = true; false lets it go on).",
            LOOP_DETECTOR.spec.name
        ),
        EndReason::UnknownForm => format!("{how}: {why} after {steps} (form_ends)."),
        EndReason::RepeatedAdvice => {
            format!("{how}: {why} after {steps}, so the task ended early (early_stop).")
        }
        EndReason::Error => format!("{how}: {why}, and the task was skipped."),
        EndReason::EnvDied | EndReason::EnvTimeout => {
            format!("Not counted: {why} after {steps}, and the task was skipped.")
        }
        EndReason::Done if !outcome.won && outcome.ends_task() => {
            format!("{how}: {why} after {steps}, which asks for no further trial.")
        }
        EndReason::Done
        | EndReason::MoveLimit
        | EndReason::TimeLimit
        | EndReason::PlanEnd
        | EndReason::Person => format!("{how}: {why} after {steps}."),
    }
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

/// Returns true if the action changes what happens now, and so is unavailable while the past is shown.
pub(crate) fn is_present_only(action: Action) -> bool {
    matches!(
        action,
        Action::Step
            | Action::StepStage
            | Action::ToggleConfirm
            | Action::ToggleHuman
            | Action::Override
            | Action::RejectOrToggle
            | Action::AskAgain
            | Action::Retry
            | Action::GiveUp
            | Action::ChangeModel
            | Action::UseRecordedReply
            | Action::EndEpisode
            | Action::Summary
            | Action::ReflectNow
            | Action::Undo
            | Action::Redo
            | Action::PinLesson
            | Action::DeleteLesson
            | Action::EditLesson
            | Action::ChangeLessonScope
            | Action::PlayAgain
            | Action::NextTask
            | Action::Fork
            | Action::MoveLessonUp
            | Action::MoveLessonDown
    )
}

/// Returns true if the action needs a driver, which a read-only session doesn't have.
pub(crate) fn is_driver_required(action: Action) -> bool {
    let writes = matches!(action, Action::AddLesson | Action::LessonFromOverride | Action::Remark);
    writes || is_present_only(action) || action == Action::PauseRun
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A lost task that isn't repeated needs a reason.
    #[test]
    fn the_sentence_says_that_the_environment_ends_the_task() {
        let sentence = |won: bool, ends_task: bool| {
            let summary = json!({
                "number": 1, "task": { "env": "household", "id": "a" }, "trial": 1, "role": "test", "won": won,
                "reason": if won { "won" } else { "done" }, "steps": 2, "moves": 2, "progress": 0.0, "calls": 2,
                "tokens": 9, "assisted": false, "span": [1, 9], "hindsight": { "ends_task": ends_task },
            });
            outcome_sentence(&serde_json::from_value(summary).unwrap(), 3, "step")
        };
        assert_eq!(sentence(false, false), "Lost: ended by the environment after 2 steps.");
        assert_eq!(
            sentence(false, true),
            "Lost: ended by the environment after 2 steps, which asks for no further trial."
        );
        assert_eq!(sentence(true, true), "Won: the goal was reached in 2 steps.");
    }

    /// Regression: a wrong answer was "ended by the environment".
    #[test]
    fn the_sentence_says_what_the_environment_says_about_a_lost_episode() {
        let summary = json!({
            "number": 1, "task": { "env": "hotpotqa", "id": "a" }, "trial": 1, "role": "test", "won": false,
            "reason": "done", "steps": 2, "moves": 2, "progress": 0.0, "calls": 2, "tokens": 9, "assisted": false,
            "span": [1, 9], "hindsight": { "lost_because": "wrong answer" },
        });
        let sentence = outcome_sentence(&serde_json::from_value(summary).unwrap(), 6, "step");
        assert_eq!(sentence, "Lost: wrong answer after 2 steps.");
    }

    /// "After 2 steps" stood below "step 3/6": a thought that didn't count was one of the steps.
    #[test]
    fn the_end_is_named_by_what_is_counted() {
        let mut fixture = crate::ui::fixture::Fixture::new();
        fixture.begin_episode();
        fixture.thinking_step("I need an apple.");
        let event =
            crate::engine::Event::SettingChanged { name: "thoughts_count".into(), value: false.into() };
        fixture.write(crate::engine::Cause::Person, event);
        fixture.execute("look", crate::domain::DecidedBy::Actor, "You see.", 0.0, serde_json::Value::Null);
        let end = crate::engine::episode_end(&fixture.state, EndReason::Done);
        fixture.write(crate::engine::Cause::Policy, end);
        let mut screen = crate::ui::tests::TestScreen::new(fixture, 120, 36);
        screen.press("C");
        let shown = crate::ui::tests::screen_text(&screen.draw());
        assert!(shown.contains("after 1 move."), "{shown}");
    }
}
