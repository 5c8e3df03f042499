//! What a model is shown, as labelled segments with their origin.

use super::{CallId, LessonId, Question};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a segment is to its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentLabel {
    /// What the agent is and which actions there are.
    Instruction,
    /// Rules of the environment written by hand for symbolic generation (OmniReflect, Tables 14-16).
    Guidance,
    /// Abstract lessons and their heading.
    Abstract,
    /// Error lessons and their heading.
    Error,
    /// Progress lessons and their heading.
    Progress,
    /// Memory of earlier trials (Reflexion and its kin) and its heading.
    Memory,
    /// A whole solved episode.
    Example,
    /// The task: first observation and goal.
    Task,
    /// An earlier attempt at the task, whole.
    Attempt,
    /// A thought of the agent.
    Thought,
    /// An action of the agent.
    Action,
    /// What the world answered.
    Observation,
    /// An action that a person put in, shown as such.
    HumanEdit,
    /// Why a person rejected a proposal of this step.
    Rejection,
    /// The cue that asks for the next line.
    Cue,
}

/// Who speaks a segment in a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The system message.
    System,
    /// The user's side.
    User,
    /// The model's own side.
    Assistant,
}

/// Where the words of a segment come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentOrigin {
    /// A text of a template, stored once under its hash.
    Text(Arc<str>),
    /// A lesson in one of its wordings.
    Lesson {
        /// Which lesson.
        id: LessonId,
        /// Which wording, counted from 1.
        version: u32,
    },
    /// The first observation of the episode.
    Task,
    /// The parts of one step.
    Step(u32),
    /// The parts of all steps from the first to the last number, in order.
    Steps {
        /// First step.
        from: u32,
        /// Last step.
        to: u32,
    },
    /// The task and some steps of an attempt at it that has ended.
    Attempt {
        /// Its episode.
        episode: u32,
        /// First step.
        from: u32,
        /// Last step.
        to: u32,
    },
}

/// A piece of a prompt as the model gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What it is.
    pub label: SegmentLabel,
    /// Where its words come from.
    pub origin: SegmentOrigin,
    /// Who speaks it.
    pub message_role: MessageRole,
    /// Its words, exactly as sent.
    pub text: Arc<str>,
}

/// A whole prompt; the body is the texts of its segments in order, with nothing between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Its segments, in order.
    pub segments: Vec<Segment>,
}

/// Which model a call is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    /// The one that acts.
    #[default]
    Actor,
    /// The one that reflects.
    Mentor,
}

impl ModelRole {
    /// The word for it, as the names of settings begin.
    pub fn name(self) -> &'static str {
        match self {
            Self::Actor => "actor",
            Self::Mentor => "mentor",
        }
    }
}

/// A segment as the journal keeps it: everything but words that stand elsewhere already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentRecord {
    /// What it is.
    pub label: SegmentLabel,
    /// Where its words stand. [`SegmentOrigin::Steps`] stands for the parts of several steps.
    pub origin: SegmentOrigin,
    /// Who speaks it.
    #[serde(rename = "role")]
    pub message_role: MessageRole,
    /// Estimated tokens.
    pub tokens: u32,
}

/// Segments that did not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedSegment {
    /// What was left out.
    pub origin: SegmentOrigin,
    /// Why.
    pub reason: String,
    /// Estimated tokens it would have cost.
    pub tokens: u32,
}

/// A prompt as the journal keeps it; the body is rebuilt from it and checked against the hash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptRecord {
    /// The call it is for.
    pub call: CallId,
    /// Which model is asked.
    #[serde(rename = "asked")]
    pub role: ModelRole,
    /// What a mentor is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// Episode number.
    pub episode: u32,
    /// Step the prompt belongs to.
    pub step: u32,
    /// How often this step was asked before.
    #[serde(default)]
    pub retry: u32,
    /// Rung of the ladder of temperatures: 0 is the run's own, each further one 0.2 warmer (Reflexion's public code).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(rename = "rung")]
    pub temperature_level: u32,
    /// Seed of the request.
    pub seed: u64,
    /// What of the sampling a person wanted otherwise, as [`super::Settings::sampling`] has it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub sampling: Map<String, Value>,
    /// Its segments.
    pub segments: Vec<SegmentRecord>,
    /// What did not fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<DroppedSegment>,
    /// Estimated tokens in all.
    pub tokens: u32,
    /// The same as the role's server counts, by what it had counted when this was drafted; 0: as estimated.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(rename = "counted")]
    pub counted_tokens: u32,
    /// SHA-256 of the body, in hexadecimal.
    pub sha256: String,
    /// A person changed its words before it was sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl SegmentLabel {
    /// The word for it on the screen and in exports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Guidance => "guidance",
            Self::Abstract => "abstract",
            Self::Error => "error",
            Self::Progress => "progress",
            Self::Memory => "memory",
            Self::Example => "example",
            Self::Task => "task",
            Self::Attempt => "attempt",
            Self::Thought => "thought",
            Self::Action => "action",
            Self::Observation => "observation",
            Self::HumanEdit => "human edit",
            Self::Rejection => "rejection",
            Self::Cue => "cue",
        }
    }
}

impl Prompt {
    /// The body: all texts in order.
    pub fn body(&self) -> String {
        let mut body = String::with_capacity(self.segments.iter().map(|s| s.text.len()).sum());
        for segment in &self.segments {
            body.push_str(&segment.text);
        }
        body
    }
}
