//! Previews the prompt that would be sent now. It is built from the state only, and is never recorded or sent.

use crate::catalog::{ActionSource, action_source, has_no_mentor};
use crate::domain::PromptRecord;
use crate::engine::{PromptRequest, State};
use crate::prompt::{PromptBuilder, Templates};
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use std::sync::Arc;

/// A prompt that hasn't been sent, and the state to render it from.
pub(crate) struct PromptPreview {
    /// The current state, plus the texts that the prompt refers to.
    pub(crate) state: Arc<State>,
    pub(crate) record: PromptRecord,
}

/// Explains why a step has no prompt if the method plans ahead.
const NO_STEP_PROMPT: &str =
    "No model is called for a step: each step runs the next action of the plan, whatever was observed.";

/// Explains why a step has no prompt if the method proposes each action by itself.
const METHOD_PROPOSES: &str = "No model is called for a step: the method proposes each action by itself.";

/// Explains why a step has no prompt if the mentor has written the plan.
pub(crate) fn explain_plan_of_mentor() -> String {
    format!("{NO_STEP_PROMPT} The mentor writes the plan before the first step.")
}

/// Builds the prompt that would be sent to the actor now: for the step without an observation, else for the next one.
///
/// # Errors
/// Returns the reason if no prompt would be sent.
pub(crate) fn preview_prompt(
    context: &Context<'_>,
    templates: Option<&Arc<Templates>>,
) -> Result<PromptPreview, String> {
    let state = &context.frame.head;
    if context.frame.is_in_past() {
        let key = context.keymap.key_label(Action::Live).unwrap_or_default();
        return Err(format!("The past has no preview; {key} goes to the present."));
    }
    let templates = templates
        .ok_or("This session used other prompt templates, so its next prompt can't be previewed.")?;
    match action_source(context.method()) {
        ActionSource::Actor => {}
        ActionSource::Method => return Err(METHOD_PROPOSES.to_owned()),
        ActionSource::Plan if has_no_mentor(context.method()) => return Err(NO_STEP_PROMPT.to_owned()),
        ActionSource::Plan => return Err(explain_plan_of_mentor()),
    }
    let episode = state.open_episode().filter(|e| e.first_observation.is_some());
    let episode = episode.ok_or("No episode in progress, so no prompt would be sent.")?;
    let (step, retry) = match episode.last_step() {
        Some(open) if open.executed.is_some() && open.answer.is_none() => {
            return Err(
                "The environment is executing the action; the next prompt depends on its observation."
                    .to_owned(),
            );
        }
        Some(open) if open.answer.is_none() => (open.number, open.retry),
        _ => (episode.answered_steps() + 1, 0),
    };
    let request = PromptRequest { role: crate::domain::ModelRole::Actor, question: None, step, retry };
    let drafted = PromptBuilder::new(templates.clone()).draft(state, &request);
    let mut state = State::clone(state);
    for (hash, text) in drafted.texts {
        state.texts.insert_mut(hash, Arc::from(text));
    }
    let mut record = drafted.record;
    if let Some(run) = &state.run {
        record.sampling.clone_from(&run.settings.typed().role(record.role).sampling);
    }
    record.seed = state.seed_for(&record);
    Ok(PromptPreview { state: Arc::new(state), record })
}
