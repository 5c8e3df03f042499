//! Requests for samples that have not ended.

use crate::domain::SampleRequest;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A request of which some samples have not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenSamples {
    pub request: Arc<SampleRequest>,
    /// The numbers of the samples that have ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<u32>,
}

impl OpenSamples {
    /// Returns how many samples have not ended.
    pub fn missing(&self) -> u32 {
        self.request.count.saturating_sub(self.ended.len() as u32)
    }

    /// Returns whether a sample has not ended.
    pub fn is_open(&self, number: u32) -> bool {
        (1..=self.request.count).contains(&number) && !self.ended.contains(&number)
    }
}
