//! The prompt that would be sent now. Pure: it is put together from the state and thrown away; nothing is written or sent.

use crate::domain::PromptRecord;
use crate::engine::{PromptRequest, State};
use crate::prompt::{PromptBuilder, Templates};
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use std::sync::Arc;

/// A prompt that nobody was sent, and the state it can be rendered from.
pub(crate) struct PromptPreview {
    /// The present, with the texts that the prompt would add.
    pub(crate) state: Arc<State>,
    /// The prompt.
    pub(crate) record: PromptRecord,
}

/// What is said of a turn of planning-only.
pub(crate) const PLANNING_EXPLANATION: &str = "No model is asked for a turn: each takes the next action of the plan, whatever the world answers. The mentor \
     is asked for the plan before the first turn.";

/// Puts together what the actor would be sent if it were asked now: for the turn that waits, else for the next one.
///
/// # Errors
/// Why there is nothing to be sent, in words.
pub(crate) fn preview_prompt(
    look: &Context<'_>,
    templates: Option<&Arc<Templates>>,
) -> Result<PromptPreview, String> {
    let state = &look.frame.head;
    if look.frame.is_in_past() {
        let key = look.keymap.key_label(Action::Live).unwrap_or_default();
        return Err(format!("A preview is of the present; {key} goes there."));
    }
    let templates = templates.ok_or(
        "This session's prompt templates are not the ones in force here, so the next prompt cannot be foretold.",
    )?;
    if look.method() == "planning" {
        return Err(PLANNING_EXPLANATION.to_owned());
    }
    let episode = state.open_episode().filter(|e| e.first_observation.is_some());
    let episode = episode.ok_or("No episode is under way, so no prompt would be sent.")?;
    let (step, retry) = match episode.last_step() {
        Some(open) if open.executed.is_some() && open.answer.is_none() => {
            return Err("The world is answering; the next prompt depends on what it says.".to_owned());
        }
        Some(open) if open.answer.is_none() => (open.number, open.retry),
        _ => (episode.answered_steps() + 1, 0),
    };
    let ask = PromptRequest { role: crate::domain::ModelRole::Actor, question: None, step, retry };
    let drafted = PromptBuilder::new(templates.clone()).draft(state, &ask);
    let mut state = State::clone(state);
    for (hash, text) in drafted.texts {
        state.texts.insert_mut(hash, Arc::from(text));
    }
    let mut record = drafted.record;
    if let Some(run) = &state.run {
        record.sampling = run.settings.sampling_overrides(record.role);
    }
    record.seed = state.seed_for(&record);
    Ok(PromptPreview { state: Arc::new(state), record })
}
