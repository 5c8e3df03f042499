//! Samples: further replies to the prompt of a step, requested by a person to see what else the actor would propose. They
//! are recorded and counted beside the run; nothing is executed and no prompt ever shows them.

use super::{LessonId, PromptRecord, TokenCounts, ToolCall, Truncation, Usage, pluralize};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::sync::Arc;

/// The most samples that one request may ask for.
pub const MAX_SAMPLES: u32 = 100;

/// How many samples of a request are asked for at the same time.
pub const SAMPLES_AT_ONCE: u32 = 4;

/// A sample request asks for several replies to the prompt of one step, each with a seed of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SampleRequest {
    /// Its number on the branch, counted from 1.
    pub group: u32,
    pub episode: u32,
    pub step: u32,
    /// Number of samples.
    pub count: u32,
    /// The number of retries that the seed of the first sample is derived from; each further sample has one more. The
    /// step's own reply has the number of its prompt.
    #[serde(rename = "retry")]
    pub first_retry: u32,
    /// Hash of the step's prompt.
    #[serde(rename = "of")]
    pub prompt_sha256: String,
    /// The lesson that is left out or added; `None` for the step's own prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lesson: Option<SampledLesson>,
    /// The prompt that is sent; `None` for the step's own prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Arc<PromptRecord>>,
    /// Estimated number of tokens of the prompt.
    pub tokens: u32,
}

/// A sampled lesson is the one lesson by which the prompt of a sample request differs from that of its step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledLesson {
    pub id: LessonId,
    /// Its short number.
    pub number: u32,
    /// True if the lesson was added to the prompt, false if it was left out.
    pub added: bool,
}

/// How the call of a sample ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleStatus {
    /// A reply arrived.
    #[default]
    Replied,
    Failed,
    /// A person cancelled it, or the branch was left before its reply arrived.
    Cancelled,
}

/// A sample is one reply to a sample request, or the reason why there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Number of its request.
    pub group: u32,
    /// Its number in the request, counted from 1.
    pub number: u32,
    pub status: SampleStatus,
    /// Seed of the request to the model.
    pub seed: u64,
    /// The reply's thought, without its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought: Option<String>,
    /// The proposed action; `None` if the reply has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The whole reply.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The model's reasoning.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The tools that the model called; none of them ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// What cut the reply off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncation>,
    /// Why the call failed, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub usage: Usage,
}

impl Sample {
    /// Returns what the sample proposes: its action, or `think: ...` if it only thinks. Returns `None` if there is no
    /// usable reply.
    pub fn proposal(&self) -> Option<String> {
        if self.status != SampleStatus::Replied {
            return None;
        }
        let thought = || self.thought.as_ref().map(|thought| format!("think: {thought}"));
        self.action.clone().or_else(thought)
    }
}

/// A sample group is a request with the samples that have arrived, as the step keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleGroup {
    pub request: Arc<SampleRequest>,
    /// In the order of their arrival; without cancelled ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Arc<Sample>>,
}

/// A proposal with the number of samples that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalCount {
    /// The action, or `think: ...`.
    pub proposal: String,
    pub count: usize,
}

/// Returns the distinct proposals of samples, the most frequent first and equally frequent ones in the order of their
/// first arrival.
pub fn count_proposals<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Vec<ProposalCount> {
    let mut counts: Vec<ProposalCount> = Vec::new();
    for proposal in samples.into_iter().filter_map(Sample::proposal) {
        match counts.iter_mut().find(|known| known.proposal == proposal) {
            Some(known) => known.count += 1,
            None => counts.push(ProposalCount { proposal, count: 1 }),
        }
    }
    counts.sort_by_key(|known| std::cmp::Reverse(known.count));
    counts
}

/// The counts of a run's samples, which are part of no other count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleStats {
    /// Samples that were requested.
    pub requested: u64,
    /// Those that arrived.
    pub replied: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Those that a person cancelled, or that were in progress when the program ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cancelled: u64,
    /// Tokens and cost of all of them.
    pub spent: TokenCounts,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl SampleStats {
    /// Returns whether nothing was sampled.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts the end of a sample's call.
    pub fn count(&mut self, status: SampleStatus, usage: &Usage) {
        let count = match status {
            SampleStatus::Replied => &mut self.replied,
            SampleStatus::Failed => &mut self.failed,
            SampleStatus::Cancelled => &mut self.cancelled,
        };
        *count = count.saturating_add(1);
        self.spent.add(usage);
    }

    /// Returns the sums of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            requested: self.requested.saturating_add(other.requested),
            replied: self.replied.saturating_add(other.replied),
            failed: self.failed.saturating_add(other.failed),
            cancelled: self.cancelled.saturating_add(other.cancelled),
            spent: self.spent.plus(other.spent),
        }
    }

    /// Describes the counts for a person. Returns `None` if nothing was sampled.
    pub fn describe(&self) -> Option<String> {
        if self.requested == 0 {
            return None;
        }
        let mut text = pluralize(self.requested, "sample");
        for (count, what) in [(self.failed, "failed"), (self.cancelled, "cancelled")] {
            if count > 0 {
                let _ = write!(text, ", {count} {what}");
            }
        }
        if self.spent.tokens() > 0 {
            let _ = write!(text, ", {} tokens", self.spent.tokens());
        }
        text += &self.spent.format_cost().map_or_else(String::new, |cost| format!(", cost {cost}"));
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(action: Option<&str>, thought: Option<&str>, status: SampleStatus) -> Sample {
        Sample {
            action: action.map(str::to_owned),
            thought: thought.map(str::to_owned),
            status,
            ..Sample::default()
        }
    }

    #[test]
    fn distinct_proposals_are_counted_most_frequent_first() {
        use SampleStatus::{Failed, Replied};
        let samples = [
            sample(Some("look"), None, Replied),
            sample(Some("go"), Some("first"), Replied),
            sample(None, Some("I wait."), Replied),
            sample(None, None, Failed),
            // Unusable: it proposes nothing.
            sample(None, None, Replied),
            sample(Some("go"), Some("second"), Replied),
        ];
        let counts = count_proposals(&samples);
        let rows: Vec<_> = counts.iter().map(|row| (row.proposal.as_str(), row.count)).collect();
        assert_eq!(rows, [("go", 2), ("look", 1), ("think: I wait.", 1)]);
        assert!(count_proposals(&[]).is_empty());
    }

    #[test]
    fn statistics_say_what_was_spent_and_what_failed() {
        let mut stats = SampleStats::default();
        assert_eq!(stats.describe(), None);
        stats.requested = 3;
        let usage = Usage { prompt_tokens: 100, reply_tokens: 7, cost_nano: 1_500_000, ..Usage::default() };
        stats.count(SampleStatus::Replied, &usage);
        stats.count(SampleStatus::Failed, &Usage::default());
        stats.count(SampleStatus::Cancelled, &Usage { cost_nano: 0, ..usage });
        let text = "3 samples, 1 failed, 1 cancelled, 214 tokens, cost 0.001500";
        assert_eq!(stats.describe().as_deref(), Some(text));
        let both = stats.plus(stats);
        assert_eq!((both.requested, both.replied, both.spent.tokens()), (6, 2, 428));
    }
}
