//! What a world answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A world's answer to a reset or to one action.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    /// The raw text of the world, as its own program prints it.
    pub observation: String,
    /// The world's own reward after this action.
    pub reward: f64,
    /// AgentBoard's progress rate, between 0 and 1.
    pub progress: f64,
    /// The world says that the episode is over.
    pub done: bool,
    /// The goal holds now (it may stop holding later).
    pub won: bool,
    /// The world accepted the action.
    pub valid: bool,
    /// What the agent may now know, as a JSON merge patch (RFC 7396) onto what was shown before.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub shown: Value,
    /// What is true of the world, for the world pane and `play` alone; a merge patch as well.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub truth: Value,
}

/// What an environment can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvInfo {
    /// Snapshots are offered.
    pub snapshots: bool,
    /// The same seed and actions give the same observations.
    pub deterministic: bool,
    /// What listing the admissible actions costs.
    pub enumeration: Enumeration,
}

/// The price of listing admissible actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enumeration {
    /// As cheap as a step.
    Free,
    /// Takes long enough to be asked for only when a person wants it.
    Costly,
    /// Listing is itself an action.
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
