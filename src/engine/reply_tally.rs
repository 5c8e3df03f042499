//! Counts of the actor's replies: whether any of them was an action so far.

use super::{Event, State};
use crate::domain::Step;
use serde::{Deserialize, Serialize};

/// This many replies in a row without an action point to a setup fault rather than a bad guess.
const NO_ACTION_THRESHOLD: u32 = 3;

/// The warning after that many replies.
const NO_ACTION_WARNING: &str = "no reply so far was an action; check the model's chat template (doctor)";

/// Detectors of actions that the environment doesn't understand.
const UNKNOWN_ACTION_DETECTORS: [&str; 2] = ["unknown_action", "not_understood"];

/// Counts of the replies since the run's actor was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyTally {
    /// Replies without an action. A reply that is explicitly only a thought isn't counted.
    pub without_action: u32,
    /// Whether any action of this actor was understood.
    pub acted: bool,
    /// Whether the person was warned.
    pub warned: bool,
    /// Whether the last reply was cut off, which says nothing about the model's format.
    #[serde(default)]
    pub truncated: bool,
}

impl ReplyTally {
    /// Returns whether nothing was counted; such a tally isn't stored.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts an unusable reply. One that was cut off says nothing about the model's format and isn't counted.
    pub(super) fn count_unusable(&mut self) {
        self.without_action = self.without_action.saturating_add(u32::from(!self.truncated));
    }

    /// Counts a step that the detectors have examined. A person's steps and thought-only steps aren't counted. But
    /// prose that was parsed as a thought because it has no action counts as a reply without an action; the parser
    /// complains about it.
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
        let rejected = step.answer.as_ref().is_some_and(|answer| !answer.valid);
        let unknown = || step.notes.iter().any(|n| UNKNOWN_ACTION_DETECTORS.contains(&n.detector.as_str()));
        // An environment without detectors reports only that it rejected the action.
        if rejected && (step.notes.is_empty() || unknown()) {
            self.count_unusable();
        } else {
            self.acted = true;
        }
    }
}

impl State {
    /// Returns the warning that no reply of the actor was an action, if it is due; given once for each actor.
    pub(super) fn no_action_warning(&self) -> Option<Event> {
        let tally = &self.actor_replies;
        let is_due = !tally.acted && !tally.warned && tally.without_action >= NO_ACTION_THRESHOLD;
        let step = self.open_episode().map_or(0, |e| e.steps.len() as u32);
        is_due.then(|| Event::Warned { step, text: NO_ACTION_WARNING.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::ReplyTally;

    /// Regression: replies that the token limit cut off were blamed on the chat template.
    #[test]
    fn a_truncated_reply_is_not_counted() {
        let mut tally = ReplyTally { truncated: true, ..ReplyTally::default() };
        tally.count_unusable();
        assert_eq!(tally.without_action, 0);
        tally.truncated = false;
        tally.count_unusable();
        assert_eq!(tally.without_action, 1);
    }
}
