//! Reward that a method carries over from episode to episode.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The total reward of ended episodes, as a method's memory ([`State::memory`](super::State)); totals in prompts include it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CarriedReward {
    /// The last episode that the total includes.
    pub episode: u32,
    pub reward: f64,
}

impl CarriedReward {
    /// Reads a method's memory; `None` if it keeps something else there.
    pub fn from_memory(memory: &Value) -> Option<Self> {
        Self::deserialize(memory).ok()
    }

    /// Returns the total after an episode with this reward, which is counted only once.
    #[must_use]
    pub fn after(carried: Option<Self>, episode: u32, reward: f64) -> Self {
        match carried {
            Some(carried) if carried.episode == episode => carried,
            Some(carried) => Self { episode, reward: carried.reward + reward },
            None => Self { episode, reward },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_episode_is_counted_once() {
        let first = CarriedReward::after(None, 1, 0.5);
        let again = CarriedReward::after(Some(first), 1, 0.5);
        let second = CarriedReward::after(Some(again), 2, 0.25);
        assert_eq!((again, second.reward), (first, 0.75));
        assert_eq!(CarriedReward::from_memory(&json!(second)), Some(second));
    }

    /// Regression: a memory of another method that had a field `reward` was added to the totals in prompts.
    #[test]
    fn the_memory_of_another_method_is_no_reward() {
        for memory in
            [json!(null), json!({}), json!({"reward": 3.0}), json!({"episode": "last", "reward": 3.0})]
        {
            assert_eq!(CarriedReward::from_memory(&memory), None, "{memory}");
        }
    }
}
