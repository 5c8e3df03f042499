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

/// The beginning of an address that contains a picture itself.
const PICTURE_PREFIX: &str = "data:image/png;base64,";
/// The maximum length of such an address. A small web page takes about 20 kB.
const MAX_PICTURE_BYTES: usize = 512 << 10;

/// Returns the address that contains a picture, given in base64, for [`SCREENSHOT`]. `None` if the picture is too large, or none at all.
pub fn picture_url(base64: &str) -> Option<String> {
    let url = format!("{PICTURE_PREFIX}{base64}");
    is_picture(&url).then_some(url)
}

/// Returns whether a text, which may come from another person's journal, is nothing but a picture.
fn is_picture(url: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    url.len() <= MAX_PICTURE_BYTES
        && url
            .strip_prefix(PICTURE_PREFIX)
            .is_some_and(|data| !data.is_empty() && data.bytes().all(is_base64))
}

/// Returns the picture of the end of an episode, as an address that contains it and nothing else. The truth is that of the episode.
pub fn screenshot_url(truth: &Value) -> Option<&str> {
    truth.get(SCREENSHOT).and_then(Value::as_str).filter(|url| is_picture(url))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_picture_of_limited_size_is_shown() {
        let url = picture_url("iVBORw0KGgo=").unwrap();
        assert_eq!(screenshot_url(&json!({"screenshot": url})), Some("data:image/png;base64,iVBORw0KGgo="));
        assert_eq!(picture_url(&"A".repeat(MAX_PICTURE_BYTES)), None);
        for hostile in [
            json!({}),
            json!({"screenshot": 3}),
            json!({"screenshot": "data:image/png;base64,"}),
            json!({"screenshot": "https://example.org/a.png"}),
            json!({"screenshot": "data:image/svg+xml;base64,AAAA"}),
            json!({"screenshot": "data:image/png;base64,AA\" onerror=\"x"}),
        ] {
            assert_eq!(screenshot_url(&hostile), None, "{hostile}");
        }
    }
}
