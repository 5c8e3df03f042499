//! One accepted reply of the actor and what came of it.

use super::{BreakpointMark, CallId, Note, PartialReply, Seq, Usage};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Where an open step stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The prompt is drafted; it has not been sent.
    #[default]
    Prompt,
    /// The actor was asked and has not answered.
    Reply,
    /// A proposal (or, when a person plays, an empty place for one) waits for a decision.
    Decision,
    /// The action was taken and the world has not answered.
    Observation,
    /// The world has answered; detectors and the method look at it.
    Reflection,
    /// Nothing more comes of this step.
    Settled,
}

/// Who decided on an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The actor.
    Actor,
    /// A person.
    Person,
}

/// How an overriding action is shown to the agent in later prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownAs {
    /// As the agent's own action.
    #[default]
    Own,
    /// As an edit by a human (Reflexion's `[human edit]` label).
    HumanEdit,
}

/// What happens to the thought before an overridden action in later prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "thought", content = "text")]
pub enum ThoughtDisposition {
    /// It stays.
    #[default]
    Kept,
    /// It leaves the prompt.
    Dropped,
    /// It is replaced by these words.
    Rewritten(String),
}

/// The action that ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutedAction {
    /// The action as the trajectory shows it.
    pub action: String,
    /// What the world was sent, where a rule of the interface rewrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// The rule that rewrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Who decided.
    #[serde(rename = "by")]
    pub decided_by: DecidedBy,
    /// How it is shown to the agent, when a person decided.
    #[serde(default)]
    pub shown_as: ShownAs,
    /// What became of the thought of this step, when a person decided.
    #[serde(default)]
    #[serde(rename = "fate")]
    pub thought_disposition: ThoughtDisposition,
}

/// What the world answered, and how the agent sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "what a world says beside its words, as the journal has it"
)]
pub struct Observation {
    /// The raw text of the world.
    pub raw: String,
    /// The text that enters prompts, where the interface changes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "seen")]
    pub agent_view: Option<String>,
    /// The world's reward.
    pub reward: f64,
    /// The progress rate after it.
    pub progress: f64,
    /// The world says that the episode is over.
    pub done: bool,
    /// The goal holds.
    pub won: bool,
    /// The world accepted the action.
    pub valid: bool,
    /// A person has written `seen`; the world said `raw`, and is as `raw` says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
}

/// A step of a trajectory; the first is number 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each folded from an event of its own")]
pub struct Step {
    /// Its number in the episode.
    pub number: u32,
    /// Where it stands.
    pub stage: Stage,
    /// What the actor thought, without the label.
    #[serde(default)]
    pub thought: Option<String>,
    /// A person has written the thought.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thought_edited: bool,
    /// The action the actor proposed; none when it only thought.
    #[serde(default)]
    pub proposed: Option<String>,
    /// What the parser could not use of the reply.
    #[serde(default)]
    pub complaints: Vec<String>,
    /// The person approved the proposal.
    #[serde(default)]
    pub approved: bool,
    /// Reasons for which earlier proposals of this step were rejected, with the proposal.
    #[serde(default)]
    pub rejections: Vec<(String, String)>,
    /// The action that ran; none for a step that only thought and was not sent to the world.
    #[serde(default)]
    pub executed: Option<ExecutedAction>,
    /// The world itself was stepped (not for thoughts it is not told, nor for answers of the interface alone).
    #[serde(default)]
    pub reached_world: bool,
    /// The answer.
    #[serde(default)]
    pub answer: Option<Observation>,
    /// What the detectors found.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// The detectors have looked.
    #[serde(default)]
    #[serde(rename = "noted")]
    pub detectors_ran: bool,
    /// Indexes into the state's reflections written after this step.
    #[serde(default)]
    pub reflections: Vec<u32>,
    /// It only thought, and the override of the step of this number dropped it: prompts that show that step do not show
    /// this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_by: Option<u32>,
    /// Remarks of a person.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Breakpoints and watches that came true here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "stops")]
    pub breakpoint_marks: Vec<BreakpointMark>,
    /// What had come of its calls that a person broke off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "broken_off")]
    pub partial_replies: Vec<PartialReply>,
    /// A person has changed the words of its prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prompt_edited: bool,
    /// The call that asked the actor.
    #[serde(default)]
    pub call: Option<CallId>,
    /// The event of the prompt that is in force for this step.
    #[serde(default)]
    pub prompt_seq: Seq,
    /// How often the actor was asked again in this step.
    #[serde(default)]
    pub retry: u32,
    /// How many of its replies could not be used and were asked for again.
    #[serde(default)]
    #[serde(rename = "unusable")]
    pub unusable_replies: u32,
    /// What was learnt with its calls that the actor's server is not sent, each in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "unsent")]
    pub unsent_settings: Vec<String>,
    /// Warnings that were given at it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Lessons in the prompt.
    #[serde(default)]
    #[serde(rename = "lessons")]
    pub lesson_count: u32,
    /// What the reply cost.
    #[serde(default)]
    pub usage: Usage,
    /// The event of the answer.
    #[serde(default, skip_serializing_if = "Seq::is_unset")]
    pub answered_seq: Seq,
    /// Who answered in the actor's place, where a person took a recorded reply: `recorded:SESSION` or `cache`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "from")]
    pub reply_source: Option<String>,
    /// First event of the step.
    #[serde(default)]
    pub first_seq: Seq,
    /// Last event of the step so far.
    #[serde(default)]
    pub last_seq: Seq,
}

impl Step {
    /// The step has nothing but a thought.
    pub fn is_thought_only(&self) -> bool {
        match &self.executed {
            Some(done) => done.action.trim_start().starts_with("think:"),
            None => self.proposed.is_none() && self.thought.is_some(),
        }
    }

    /// What was thought, whether it stood beside an action or alone.
    pub fn thought_text(&self) -> Option<&str> {
        let alone = || self.executed.as_ref().and_then(|e| e.action.trim_start().strip_prefix("think:"));
        self.thought.as_deref().or_else(alone).map(str::trim)
    }

    /// The action that counts: executed if there is one, else proposed.
    pub fn action(&self) -> Option<&str> {
        self.executed.as_ref().map(|e| e.action.as_str()).or(self.proposed.as_deref())
    }

    /// What the actor wanted: its action, or `think: ...` where it only thought.
    pub fn proposal_text(&self) -> Option<Cow<'_, str>> {
        let thought = || self.thought.as_ref().map(|t| Cow::Owned(format!("think: {t}")));
        self.proposed.as_deref().map(Cow::Borrowed).or_else(thought)
    }

    /// The observation as the agent sees it.
    pub fn observation(&self) -> Option<&str> {
        self.answer.as_ref().map(|a| a.agent_view.as_deref().unwrap_or(&a.raw))
    }

    /// A person changed the observation.
    pub fn is_observation_edited(&self) -> bool {
        self.answer.as_ref().is_some_and(|a| a.edited)
    }

    /// A person changed what this step did.
    pub fn is_person_action(&self) -> bool {
        self.executed.as_ref().is_some_and(|e| e.decided_by == DecidedBy::Person)
    }
}
