//! Prompts as labelled segments with their origin.

use super::{CallId, LessonId, Question};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A segment label says which part of a prompt a segment is, such as the instruction, a lesson or an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentLabel {
    /// What the agent is and which actions it has.
    Instruction,
    /// Rules of the environment written by hand for symbolic generation (OmniReflect, Tables 14-16).
    Guidance,
    /// Abstract lessons and their heading.
    Abstract,
    /// Error lessons and their heading.
    Error,
    /// Progress lessons and their heading.
    Progress,
    /// Memory of earlier trials and its heading.
    Memory,
    /// A complete solved episode.
    Example,
    /// The task: first observation and goal.
    Task,
    /// A complete earlier attempt at the task.
    Attempt,
    Thought,
    Action,
    Observation,
    /// An action with which a person replaced the agent's, labelled as such.
    HumanEdit,
    /// Why a person rejected a proposal of this step.
    Rejection,
    /// The text that asks for the next line.
    Cue,
}

/// A message role is the role of the chat message in which a segment is sent: system, user or assistant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    System,
    User,
    Assistant,
}

/// A segment's origin says where its text comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentOrigin {
    /// A text of a template, stored once under its hash.
    Text(Arc<str>),
    /// One version of a lesson.
    Lesson {
        id: LessonId,
        /// Counted from 1.
        version: u32,
    },
    /// The first observation of the episode.
    Task,
    /// The parts of one step.
    Step(u32),
    /// The parts of a range of steps, in order.
    Steps {
        /// First step.
        from: u32,
        /// Last step, inclusive.
        to: u32,
    },
    /// The task and a range of steps of an earlier, finished attempt at it.
    Attempt {
        episode: u32,
        /// First step.
        from: u32,
        /// Last step, inclusive.
        to: u32,
    },
}

/// A segment is a labelled part of a prompt, with its text exactly as the model gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub label: SegmentLabel,
    pub origin: SegmentOrigin,
    pub message_role: MessageRole,
    /// The text, exactly as sent.
    pub text: Arc<str>,
}

/// A prompt is the list of segments that is sent to a model; its body is their texts in order, with no separators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    pub segments: Vec<Segment>,
}

/// A model role is the part a model plays in a run: the actor proposes actions, the mentor writes reflections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    /// Proposes actions.
    #[default]
    Actor,
    /// Writes reflections.
    Mentor,
}

impl ModelRole {
    pub const ALL: [Self; 2] = [Self::Actor, Self::Mentor];

    /// Returns the role's name, which is also the prefix of its settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Actor => "actor",
            Self::Mentor => "mentor",
        }
    }
}

/// A segment record is a segment in its journal form: its origin in place of text that is recorded elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentRecord {
    pub label: SegmentLabel,
    /// Where its text is recorded. [`SegmentOrigin::Steps`] covers the parts of several steps.
    pub origin: SegmentOrigin,
    #[serde(rename = "role")]
    pub message_role: MessageRole,
    /// Estimated number of tokens.
    pub tokens: u32,
}

/// A dropped segment is a segment that was left out because the prompt was too long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedSegment {
    pub origin: SegmentOrigin,
    pub reason: String,
    /// Estimated number of tokens it would have added.
    pub tokens: u32,
}

/// The line format version is the version of the fixed line formats (`prompt::forms`) in which a record's segments are
/// written. A record is always rendered with its own version, so that formats can improve without changing the prompts
/// of old sessions. Stored as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub enum TextForms {
    /// The formats of program version 0.1, whose records name no version.
    #[default]
    V1,
    /// A lesson's transition is written with the labels observation, action and reward.
    V2,
    /// An action of several lines keeps its line breaks.
    V3,
    /// So does the plan of an episode.
    V4,
}

impl TextForms {
    /// The version of new prompts.
    pub const CURRENT: Self = Self::V4;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_first(&self) -> bool {
        *self == Self::V1
    }
}

impl From<TextForms> for u32 {
    fn from(version: TextForms) -> Self {
        match version {
            TextForms::V1 => 1,
            TextForms::V2 => 2,
            TextForms::V3 => 3,
            TextForms::V4 => 4,
        }
    }
}

impl TryFrom<u32> for TextForms {
    type Error = String;

    fn try_from(number: u32) -> Result<Self, Self::Error> {
        match number {
            1 => Ok(Self::V1),
            2 => Ok(Self::V2),
            3 => Ok(Self::V3),
            4 => Ok(Self::V4),
            newer => Err(format!(
                "unknown prompt text format version {newer}; was the session written by a newer version of retrospect?"
            )),
        }
    }
}

/// A prompt record is a prompt in its journal form; the body is rebuilt from it and checked against the hash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptRecord {
    pub call: CallId,
    #[serde(rename = "asked")]
    pub role: ModelRole,
    /// What a mentor is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    pub episode: u32,
    pub step: u32,
    /// How many times the actor was already asked in this step.
    #[serde(default)]
    pub retry: u32,
    /// Level of the temperature ladder: 0 is the run's own temperature, each further level adds 0.2 (Reflexion's public
    /// code).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(rename = "rung")]
    pub temperature_level: u32,
    /// Seed of the request.
    pub seed: u64,
    /// Sampling parameters that a person set, as in `RoleSettings::sampling`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub sampling: Map<String, Value>,
    /// The token limit of a reply that is longer than others of its role; 0: that of the role.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub summary_tokens: u32,
    /// Whether the whole reply is the action or a plan, so that no line break ends it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_reply: bool,
    #[serde(default, skip_serializing_if = "TextForms::is_first")]
    pub text_forms: TextForms,
    pub segments: Vec<SegmentRecord>,
    /// Segments left out for space.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<DroppedSegment>,
    /// Estimated number of tokens of all segments.
    pub tokens: u32,
    /// `tokens`, corrected with the counts that the role's server had reported by the time of the draft; 0 if not
    /// corrected.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(rename = "counted")]
    pub corrected_tokens: u32,
    /// SHA-256 of the body, in hexadecimal.
    pub sha256: String,
    /// Whether a person edited it before it was sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl SegmentLabel {
    /// Returns the label's name on the screen and in exports.
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
    /// Returns the body: all texts in order.
    pub fn body(&self) -> String {
        let mut body = String::with_capacity(self.segments.iter().map(|s| s.text.len()).sum());
        for segment in &self.segments {
            body.push_str(&segment.text);
        }
        body
    }
}
