//! Steps of a trajectory and their parts.

use super::setting_words;
use super::{BreakpointMark, CallId, Intervention, Note, PartialReply, SampleGroup, Seq, ToolCall, Usage};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// A stage is how far a step has got: prompt, reply, decision, observation, reflection or settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The prompt is drafted but not sent.
    #[default]
    Prompt,
    /// The actor was asked and hasn't replied.
    Reply,
    /// A proposal waits for a decision; in human play, there is no proposal yet.
    Decision,
    /// The action was decided on and the environment hasn't answered.
    Observation,
    /// The environment has answered; detectors and the method process the observation.
    Reflection,
    /// The step is complete.
    Settled,
}

/// A decision on an action is made by the actor or by a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    Actor,
    Person,
}

setting_words! {
    /// How later prompts show an action that a person substituted: as the agent's own or as a human edit.
    #[derive(Default, Serialize, Deserialize)]
    pub enum ShownAs {
        /// As the agent's own action.
        #[default]
        #[serde(rename = "own")]
        AgentAction = "own",
        /// As an edit by a human (the label `[human edit]` of Reflexion's code).
        #[serde(rename = "human_edit")]
        HumanEdit = "human_edit",
    }
}

/// A thought disposition says what later prompts do with the thought that preceded an overridden action.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "thought", content = "text")]
pub enum ThoughtDisposition {
    /// Keep it.
    #[default]
    Kept,
    /// Remove it.
    Dropped,
    /// Replace it with this text.
    Rewritten(String),
}

/// An executed action is the action that ran in a step, which may differ from the proposed one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutedAction {
    /// The action as the trajectory shows it.
    pub action: String,
    /// What was sent to the environment, if a rule of the interface rewrote the action. The interface is the layer
    /// between agent and environment that may rewrite actions and observations
    /// ([`RunSpec::interface`](super::RunSpec)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// The rule that rewrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "rule")]
    pub rewrite_rule: Option<String>,
    #[serde(rename = "by")]
    pub decided_by: DecidedBy,
    /// How prompts present it, if a person decided.
    #[serde(default)]
    pub shown_as: ShownAs,
    /// What happens to the thought of this step, if a person decided.
    #[serde(default)]
    #[serde(rename = "fate")]
    pub thought_disposition: ThoughtDisposition,
}

/// An observation is what the environment answered to an action, and how the agent sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each bool is a field of the journal")]
pub struct Observation {
    /// The environment's text, unchanged.
    pub raw: String,
    /// The text that enters prompts, if it differs from `raw`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "seen")]
    pub agent_view: Option<String>,
    /// The environment's reward.
    pub reward: f64,
    /// The progress rate after the action.
    pub progress: f64,
    /// Whether the environment says that the episode is over.
    pub done: bool,
    /// Whether the goal is reached.
    pub won: bool,
    /// Whether the environment accepted the action.
    pub valid: bool,
    /// Whether a person wrote `agent_view`. The environment itself returned `raw`; editing the view doesn't change its
    /// state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
}

/// An action draft is an action that the actor is asked to fit to the present state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionDraft {
    pub action: String,
    /// How many unusable replies the step had before it.
    #[serde(default)]
    pub unusable_before: u32,
    /// Whether a person wanted another reply since, which begins with a draft of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discarded: bool,
}

/// A planned action is one that the actor replied beside the first, for a step after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedAction {
    /// The thought before it, without its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought: Option<String>,
    pub action: String,
}

/// A step is one accepted reply of the actor, or the next action of a plan, with the action that ran and the observation that followed; the first has
/// number 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each folded from an event of its own")]
pub struct Step {
    pub number: u32,
    pub stage: Stage,
    /// The reasoning that the model showed before its last reply; empty if none.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub reasoning: Arc<str>,
    /// The tools that the model called in its last reply; none of them ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The actor's thought, without its label.
    #[serde(default)]
    pub thought: Option<String>,
    /// Whether a person wrote the thought.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thought_edited: bool,
    /// The action the actor proposed; `None` if it only thought.
    #[serde(default)]
    pub proposed: Option<String>,
    /// The actions that the same reply planned after the proposed one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planned: Vec<PlannedAction>,
    /// Descriptions of the parts of the reply that could not be parsed.
    #[serde(default)]
    pub complaints: Vec<String>,
    /// Whether a person approved the proposal.
    #[serde(default)]
    pub approved: bool,
    /// Rejected proposals of this step, as (proposal, reason).
    #[serde(default)]
    pub rejections: Vec<(String, String)>,
    /// The actions that the actor replied first and was asked to fit to the present state (setting `grounding`): one, and
    /// another for each time that a person wanted another reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drafts: Vec<ActionDraft>,
    /// The action that ran; `None` for a thought that wasn't sent to the environment.
    #[serde(default)]
    pub executed: Option<ExecutedAction>,
    /// Whether the action was sent to the environment. False for thoughts that aren't sent and for actions that the
    /// interface answers itself.
    #[serde(default)]
    #[serde(rename = "reached_world")]
    pub sent_to_env: bool,
    #[serde(default)]
    pub answer: Option<Observation>,
    /// The detectors' findings.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Whether the detectors have run.
    #[serde(default)]
    #[serde(rename = "noted")]
    pub detectors_ran: bool,
    /// The reflections written after this step, as indices into `State::reflections`.
    #[serde(default)]
    pub reflections: Vec<u32>,
    /// For a step with only a thought: the later step whose override removed it from prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_by: Option<u32>,
    /// A person's comments on the step.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Breakpoints and watches that were hit at this step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "stops")]
    pub breakpoint_marks: Vec<BreakpointMark>,
    /// What a person did at it, beside the changes of its texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interventions: Vec<Intervention>,
    /// Samples of its prompt, which a person requested beside the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<SampleGroup>,
    /// Partial replies of its calls that a person cancelled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "broken_off")]
    pub partial_replies: Vec<PartialReply>,
    /// Whether a person edited its prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prompt_edited: bool,
    /// The call to the actor.
    #[serde(default)]
    pub call: Option<CallId>,
    /// The event of the prompt in force for this step.
    #[serde(default)]
    pub prompt_seq: Seq,
    /// How often a proposal of this step was discarded and the actor asked again, including for unusable replies.
    #[serde(default)]
    pub retry: u32,
    /// How many unusable replies were discarded and requested again.
    #[serde(default)]
    #[serde(rename = "unusable")]
    pub unusable_replies: u32,
    /// Settings that the actor's server rejected during this step and that are no longer sent, each as a phrase such as
    /// `top_k: rejected by the server`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "unsent")]
    pub setting_deviations: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Number of lessons in the prompt.
    #[serde(default)]
    #[serde(rename = "lessons")]
    pub lesson_count: u32,
    /// The numbers of the lessons by a person whose present wording is in a prompt to the actor for the first time, each
    /// after the event that sent the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "new_lessons")]
    pub first_shown_lessons: Vec<(Seq, u32)>,
    #[serde(default)]
    pub usage: Usage,
    /// The event of the observation.
    #[serde(default, skip_serializing_if = "Seq::is_unset")]
    pub answered_seq: Seq,
    /// The source of the reply if a person used a recorded one instead of the actor's: `recorded:SESSION` or `cache`.
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
    /// Returns whether the step has only a thought.
    pub fn is_thought_only(&self) -> bool {
        match &self.executed {
            Some(executed) => executed.action.trim_start().starts_with("think:"),
            None => self.proposed.is_none() && self.thought.is_some(),
        }
    }

    /// Returns the thought, whether it accompanied an action or was the whole reply.
    pub fn thought_text(&self) -> Option<&str> {
        let think_action =
            || self.executed.as_ref().and_then(|e| e.action.trim_start().strip_prefix("think:"));
        self.thought.as_deref().or_else(think_action).map(str::trim)
    }

    /// Returns the thought as later prompts show it: without one that a person dropped, with one that a person rewrote.
    pub fn shown_thought(&self) -> Option<&str> {
        match self.executed.as_ref().map(|e| &e.thought_disposition) {
            Some(ThoughtDisposition::Dropped) => None,
            Some(ThoughtDisposition::Rewritten(text)) => Some(text),
            Some(ThoughtDisposition::Kept) | None => self.thought.as_deref(),
        }
    }

    /// Returns the executed action, or the proposed one if none was executed.
    pub fn action(&self) -> Option<&str> {
        self.executed.as_ref().map(|e| e.action.as_str()).or(self.proposed.as_deref())
    }

    /// Returns what the actor proposed: its action, or `think: ...` if it only thought.
    pub fn proposal_text(&self) -> Option<Cow<'_, str>> {
        let thought = || self.thought.as_ref().map(|t| Cow::Owned(format!("think: {t}")));
        self.proposed.as_deref().map(Cow::Borrowed).or_else(thought)
    }

    /// Returns the draft that the actor is asked to fit, or has fitted, to the present state.
    pub fn current_draft(&self) -> Option<&ActionDraft> {
        self.drafts.last().filter(|draft| !draft.discarded)
    }

    /// Returns how many unusable replies the step's present request has had: drafting an action and fitting it are two.
    pub fn unusable_since_draft(&self) -> u32 {
        self.unusable_replies.saturating_sub(self.current_draft().map_or(0, |draft| draft.unusable_before))
    }

    /// Returns the observation as the agent sees it.
    pub fn observation(&self) -> Option<&str> {
        self.answer.as_ref().map(|a| a.agent_view.as_deref().unwrap_or(&a.raw))
    }

    /// Returns whether a person changed the observation.
    pub fn is_observation_edited(&self) -> bool {
        self.answer.as_ref().is_some_and(|a| a.edited)
    }

    /// Returns whether a person decided on the executed action.
    pub fn is_person_action(&self) -> bool {
        self.executed.as_ref().is_some_and(|e| e.decided_by == DecidedBy::Person)
    }
}
