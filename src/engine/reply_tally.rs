//! Counts of the actor's replies, for the warning that none of them was an action.

use crate::domain::{Note, Step};
use serde::{Deserialize, Serialize};

/// Counts of the replies since the run's actor was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyTally {
    /// Number of replies without an action. A reply that is a thought in the expected format isn't counted.
    pub without_action: u32,
    /// Whether the environment has understood any action of this actor.
    pub acted: bool,
    /// Whether the person was warned.
    pub warned: bool,
    /// Whether the last reply was cut off. Such a reply doesn't show whether the model follows the format.
    #[serde(default)]
    pub truncated: bool,
}

impl ReplyTally {
    /// Returns whether nothing was counted, so that the tally needn't be stored.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts an unusable reply, unless it was cut off.
    pub(super) fn count_unusable(&mut self) {
        self.without_action = self.without_action.saturating_add(u32::from(!self.truncated));
    }

    /// Counts the reply of a step that the detectors have examined. Steps of a person aren't counted. A thought-only
    /// step isn't counted either, unless the parser complained about the reply: then the reply was prose without an
    /// action, which counts as unusable.
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
        let is_not_understood =
            |note: &Note| [Note::UNKNOWN_ACTION, Note::NOT_UNDERSTOOD].contains(&note.detector.as_str());
        let unknown = || step.notes.iter().any(is_not_understood);
        // Without detectors there are no notes, and any rejected action counts as not understood.
        if rejected && (step.notes.is_empty() || unknown()) {
            self.count_unusable();
        } else {
            self.acted = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ReplyTally;

    /// Regression: replies that were cut off by the token limit led to the warning about the chat template.
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
