//! The warning that no reply of the actor was an action.

use super::{Event, State};
use crate::domain::ModelRole;

/// If no reply so far was an action, this many replies suggest that the setup is wrong, not just the model's guesses.
const NO_ACTION_THRESHOLD: u32 = 3;

/// The warning that is given after [`NO_ACTION_THRESHOLD`] replies.
const NO_ACTION_WARNING: &str = "no reply so far was an action: the actor doesn't suit this environment";
/// What else may be wrong with a model.
const WRONG_TEMPLATE: &str = ", or its chat template is wrong (doctor)";

impl State {
    /// Returns the warning that no reply of the actor was an action, if it is due. It is given only once for each
    /// actor.
    pub(super) fn no_action_warning(&self) -> Option<Event> {
        let tally = &self.actor_replies;
        let is_due = !tally.acted && !tally.warned && tally.without_action >= NO_ACTION_THRESHOLD;
        let step = self.open_episode().map_or(0, |e| e.steps.len() as u32);
        // Rules and scripts have no chat template.
        let is_model =
            self.run.as_deref().is_none_or(|run| run.role_source(ModelRole::Actor).replies_as_model());
        let more = if is_model { WRONG_TEMPLATE } else { "" };
        is_due.then(|| Event::Warned { step, text: format!("{NO_ACTION_WARNING}{more}") })
    }
}
