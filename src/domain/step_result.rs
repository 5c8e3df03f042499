//! What environments return, and what they can do.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The field of [`StepResult::shown`] with which an environment asks, as `true`, for no further trial of the task, whether the
/// attempt is won or lost.
pub const ENDS_TASK: &str = "ends_task";

/// The field of [`StepResult::shown`] in which an environment says, in a few words, why the episode that it ends is lost.
pub const LOST_BECAUSE: &str = "lost_because";

/// The field of [`StepResult::shown`] in which an environment lists, as texts, the words with which its actions begin; a reset says
/// it, so that a reply's action is known after prose without a label. Not needed where the instruction lists the forms of the actions.
pub const VERBS: &str = "verbs";

/// The field of [`StepResult::truth`] with a picture of the end of the episode, for a person. Two results that differ only in it are
/// equal to whoever compares an environment with its past: each version of a browser draws in another way.
pub const SCREENSHOT: &str = "screenshot";

/// A step result is an environment's answer to a reset or to one action.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    /// The text as the environment's own program prints it.
    pub observation: String,
    /// The environment's own reward for this action.
    pub reward: f64,
    /// AgentBoard's progress rate, between 0 and 1.
    pub progress: f64,
    /// Whether the environment says that the episode is over.
    pub done: bool,
    /// Whether the goal is reached now (a later action can undo it).
    pub won: bool,
    /// Whether the environment accepted the action.
    pub valid: bool,
    /// What the agent may now know, as a JSON merge patch (RFC 7396) onto what was shown before.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub shown: Value,
    /// The ground truth, for the world pane and `play` only; also a merge patch.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub truth: Value,
}

/// Environment info says whether an environment has snapshots and is deterministic, and what listing its actions costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvInfo {
    /// Whether it can take and restore snapshots.
    pub snapshots: bool,
    /// Whether the same seed and actions give the same observations.
    pub deterministic: bool,
    /// The cost of listing the admissible actions.
    pub listing_cost: ListingCost,
}

/// The cost of listing (enumerating) all admissible actions of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListingCost {
    /// Listing costs at most as much as a step.
    Free,
    /// Listing costs so much that it is done only at a person's request.
    Costly,
    /// Listing is itself an action and may change the environment's state.
    ChangesWorld,
}

/// Applies a JSON merge patch (RFC 7396): objects merge, `null` removes, anything else replaces.
/// A patch that is `null` as a whole changes nothing.
pub fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        if !patch.is_null() {
            target.clone_from(patch);
        }
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(map) = target else { return };
    for (key, change) in changes {
        if change.is_null() {
            map.remove(key);
        } else if change.is_object() {
            merge_patch(map.entry(key.clone()).or_insert(Value::Null), change);
        } else {
            map.insert(key.clone(), change.clone());
        }
    }
}

impl StepResult {
    /// Returns the progress rate after this step. An environment without sub-goals may report its reward as `progress`, of which a
    /// late success has less than 1; a reached goal is always all of it.
    pub fn progress_rate(&self) -> f64 {
        if self.won { 1.0 } else { self.progress }
    }
}
