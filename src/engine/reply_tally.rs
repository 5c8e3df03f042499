//! What the actor's replies come to: whether any of them was an action so far.

use super::{Event, State};
use crate::domain::Step;
use serde::{Deserialize, Serialize};

/// So many replies in a row that are no actions mean a setup fault rather than a bad guess.
const NO_ACTION_THRESHOLD: u32 = 3;

/// What is said then.
const NO_ACTION_WARNING: &str = "no reply so far was an action; check the model's chat template (doctor)";

/// Detectors of actions whose words the environment does not know.
const UNKNOWN_ACTION_DETECTORS: [&str; 2] = ["unknown_action", "not_understood"];

/// The replies of the run's actor since it was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyTally {
    /// Replies so far without one that was an action. A reply that only thinks, and says so, is not counted.
    pub without_action: u32,
    /// An action of this actor was understood.
    pub acted: bool,
    /// The person was warned.
    pub warned: bool,
    /// The last reply was cut off, which is no fault of its form.
    #[serde(default)]
    pub truncated: bool,
}

impl ReplyTally {
    /// Whether nothing was counted: such a tally is not stored.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A reply could not be used. One that was cut off says nothing about the model's form.
    pub(super) fn count_unusable(&mut self) {
        self.without_action = self.without_action.saturating_add(u32::from(!self.truncated));
    }

    /// A step is settled and the detectors have looked at it. Steps of a person and steps that only think say nothing; prose
    /// that was read as a thought for want of an action, which is complained about, is no action.
    pub(super) fn count_step(&mut self, step: &Step) {
        if step.call.is_none() || step.is_person_action() {
            return;
        }
        if step.is_thought_only() {
            if !step.complaints.is_empty() {
                self.count_unusable();
            }
            return;
        }
        let refused = step.answer.as_ref().is_some_and(|answer| !answer.valid);
        let unknown = || step.notes.iter().any(|n| UNKNOWN_ACTION_DETECTORS.contains(&n.detector.as_str()));
        // An environment without detectors says no more than that it refused.
        if refused && (step.notes.is_empty() || unknown()) {
            self.count_unusable();
        } else {
            self.acted = true;
        }
    }
}

impl State {
    /// The warning that is due because no reply of the actor was an action so far; given once an actor.
    pub(super) fn no_action_warning(&self) -> Option<Event> {
        let tally = &self.actor_replies;
        let due = !tally.acted && !tally.warned && tally.without_action >= NO_ACTION_THRESHOLD;
        let step = self.open_episode().map_or(0, |e| e.steps.len() as u32);
        due.then(|| Event::Warned { step, text: NO_ACTION_WARNING.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::ReplyTally;

    /// Replies that the token limit cut off were blamed on the chat template.
    #[test]
    fn a_reply_that_was_cut_off_says_nothing_about_the_form() {
        let mut tally = ReplyTally { truncated: true, ..ReplyTally::default() };
        tally.count_unusable();
        assert_eq!(tally.without_action, 0);
        tally.truncated = false;
        tally.count_unusable();
        assert_eq!(tally.without_action, 1);
    }
}
