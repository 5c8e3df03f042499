//! What the engine doesn't decide itself: the method, and pure functions that other modules supply.

use super::{CommandError, Envelope, LessonCommand, State};
use crate::domain::{
    Author, BreakpointConfig, EndReason, EpisodeRole, LessonId, LessonText, ModelRole, Note, PromptRecord,
    Question, Reflection, ReflectionItem, ReflectionKind, SegmentOrigin, Seq, StepResult, Task, Truncation,
};
use serde_json::Value;
use std::sync::Arc;

/// What a method asks the engine to do next.
///
/// Intents are executed in order. Those that only write to the session (`Reflect`, `Lesson`, `SetMemory`) are executed
/// together; the method is then called again before any other intent is executed.
#[derive(Clone, Debug, PartialEq)]
pub enum Intent {
    /// Ask the actor for the next step.
    AskActor,
    /// Propose this action for the next step without asking the actor.
    Propose(String),
    /// Ask the mentor. Consecutive questions form one round and may be asked at the same time.
    AskMentor(Question),
    /// Record this reflection.
    Reflect(Box<Reflection>),
    /// Change the lesson pool.
    Lesson(LessonCommand),
    /// Start an episode.
    StartEpisode {
        task: Box<Task>,
        /// Counted from 1.
        trial: u32,
        role: EpisodeRole,
    },
    EndEpisode(EndReason),
    EndRun,
    /// Replace the method's memory.
    SetMemory(Value),
}

/// A method: the policy that decides on episodes, reflections and lessons. Pure; all memory is in the state.
pub trait Method: Send + Sync {
    /// Returns its name on the command line.
    fn name(&self) -> &'static str;

    /// Returns what to do in this state. Executing all intents must change what the next call returns, or the run makes
    /// no progress.
    fn next(&self, state: &State) -> Vec<Intent>;

    /// Returns what to do when a person asks for a reflection of this kind now.
    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent>;

    /// Returns what to do with a mentor's reply: intents that only write, with exactly one [`Intent::Reflect`] that has
    /// the question's kind and purpose, even if nothing in the reply could be used. By default every item is kept as a
    /// lesson ([`add_all_lessons`]).
    fn on_mentor_reply(&self, state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
        add_all_lessons(state, reply)
    }
}

/// A mentor's parsed reply with its question.
#[derive(Clone, Debug)]
pub struct MentorReply<'a> {
    /// The prompt it answers, with its question, episode and step, and the lessons it showed.
    pub prompt: &'a PromptRecord,
    pub question: Question,
    /// Who replies: a model, or the symbolic rules in its place.
    pub author: Author,
    /// The parsed items.
    pub items: Vec<ReflectionItem>,
    /// Descriptions of the parts that could not be parsed.
    pub complaints: Vec<String>,
    /// Texts that weren't kept, each as the lesson it would have become.
    pub dropped: Vec<LessonText>,
    /// What ended the reply early; `None` if it is complete.
    pub truncated: Option<Truncation>,
}

/// The result of parsing a mentor's text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedMentorReply {
    pub items: Vec<ReflectionItem>,
    /// Descriptions of the parts that could not be used.
    pub complaints: Vec<String>,
    /// Texts that weren't kept, each as the lesson it would have become.
    pub dropped: Vec<LessonText>,
}

/// Returns the reflection of a reply, and a lesson for each of its items with the default scope of its kind.
pub fn add_all_lessons(_: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
    let mut intents = vec![Intent::Reflect(Box::new(reply.reflection()))];
    intents.extend(reply.items.iter().map(|item| Intent::Lesson(reply.lesson_command(item))));
    intents
}

impl MentorReply<'_> {
    /// Returns the reply as a reflection with all items.
    pub fn reflection(&self) -> Reflection {
        Reflection {
            kind: self.question.kind,
            author: self.author,
            episode: self.prompt.episode,
            step: self.prompt.step,
            purpose: self.question.purpose,
            items: self.items.clone(),
            complaints: self.complaints.clone(),
            dropped: self.dropped.clone(),
            truncated: self.truncated,
            call: (self.author == Author::Mentor).then_some(self.prompt.call),
            reply_source: None,
            prompt_edited: false,
            seq: Seq::default(),
        }
    }

    /// Returns the command that adds an item as a lesson with the default scope of its kind.
    pub fn lesson_command(&self, item: &ReflectionItem) -> LessonCommand {
        LessonCommand::Add {
            kind: self.question.kind,
            scope: self.question.kind.default_scope(),
            text: item.text.clone(),
            rule: item.rule.clone(),
            evidence: item.evidence.clone(),
            parents: Vec::new(),
            transition: item.transition.clone(),
        }
    }

    /// Returns the ids and versions of the lessons in the mentor's prompt, in order.
    pub fn shown_lessons(&self) -> impl Iterator<Item = (&LessonId, u32)> {
        self.prompt.segments.iter().filter_map(|s| match &s.origin {
            SegmentOrigin::Lesson { id, version } => Some((id, *version)),
            _ => None,
        })
    }
}

/// A request to draft a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptRequest {
    pub role: ModelRole,
    /// The question, for a mentor.
    pub question: Option<Question>,
    /// The step the prompt is for.
    pub step: u32,
    /// How many times the actor was asked for this step before.
    pub retry: u32,
}

/// A drafted prompt, and the texts it needs that the session doesn't have yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptDraft {
    /// The prompt; the engine fills in call and seed.
    pub record: PromptRecord,
    /// New texts, as (hash, text).
    pub texts: Vec<(String, String)>,
}

/// The result of parsing an actor's reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedActorReply {
    /// The thought, without its label.
    pub thought: Option<String>,
    pub action: Option<String>,
    /// Descriptions of the parts that could not be used.
    pub complaints: Vec<String>,
    /// Whether the reply itself shows that the action (or the thought, if there is no action) is complete: a line end,
    /// a closing quote or bracket, or further text follows it. The action of a truncated reply is usable only if this
    /// is true.
    pub complete: bool,
}

impl ParsedActorReply {
    /// Adds a complaint about what cut the reply off, if anything did.
    #[must_use]
    pub fn with_truncation_note(mut self, truncated: Option<Truncation>) -> Self {
        if let Some(truncation) = truncated {
            let by = truncation.name();
            self.complaints.push(if self.complete {
                format!("the reply was cut off by {by}, after the part that was used")
            } else {
                format!("the reply was cut off by {by} and is used unchanged (accept_truncated)")
            });
        }
        self
    }
}

/// An action in the form that the interface sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingAction {
    /// What the environment is sent, if it differs from the action.
    pub sent: Option<String>,
    /// The rule that changed it.
    pub rewrite_rule: Option<String>,
    /// Whether to list the admissible actions instead of stepping.
    pub admissible_only: bool,
}

/// Drafts a prompt.
pub type DraftPromptFn = Arc<dyn Fn(&State, &PromptRequest) -> PromptDraft + Send + Sync>;

/// Runs the detectors on the last step.
pub type DetectFn = Arc<dyn Fn(&State) -> Vec<Note> + Send + Sync>;

/// A condition that became true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakpointMatch {
    /// Number of the breakpoint or watch.
    pub breakpoint: u32,
    /// The step; 0 is the reset.
    pub step: u32,
    /// Why the condition is true: a sentence without its full stop.
    pub reason: String,
}

/// Returns the matches for the enabled breakpoints whose condition an event made true: (state before, event, state
/// after).
pub type FindHitsFn = Arc<dyn Fn(&State, &Envelope, &State) -> Vec<BreakpointMatch> + Send + Sync>;

/// Parses a condition, or returns what is wrong with it.
pub type ParseConditionFn = Arc<dyn Fn(&str) -> Result<BreakpointConfig, CommandError> + Send + Sync>;

/// How conditions are parsed and evaluated.
#[derive(Clone)]
pub struct BreakpointRules {
    /// Parses what a person typed; the error says what is wrong and what could be written.
    pub parse: ParseConditionFn,
    /// Returns the matches for the enabled breakpoints whose condition an event made true.
    pub find_hits: FindHitsFn,
}

/// The method and the pure functions that the engine calls.
#[derive(Clone)]
pub struct Policy {
    pub method: Arc<dyn Method>,
    /// Drafts a prompt.
    pub draft_prompt: DraftPromptFn,
    /// Parses an actor's reply.
    pub parse_reply: fn(&str) -> ParsedActorReply,
    /// Parses a mentor's reply. Keeps only the complete parts of one that was cut off.
    pub parse_mentor_reply: fn(Question, &str, Option<Truncation>) -> ParsedMentorReply,
    /// Replaces the text of one rendered segment of a draft, counted from 0. Returns the draft with the texts new to
    /// the session, or `None` if there is no such segment.
    pub edit_prompt: fn(&State, &PromptRecord, usize, &str) -> Option<PromptDraft>,
    /// Rewrites an action on its way to the environment.
    pub rewrite_action: fn(&State, &str) -> OutgoingAction,
    /// Rewrites an observation on its way to the prompt: (state, executed action, result, admissible actions).
    pub rewrite_observation: fn(&State, &str, &StepResult, &[String]) -> Option<String>,
    /// Extracts the goal from an environment's first observation.
    pub extract_goal: fn(&StepResult) -> String,
    /// Runs the detectors on the last step.
    pub detect: DetectFn,
    pub breakpoints: BreakpointRules,
    /// Whether a person is present to decide after a failure. If not, a run may do what the method's public code does.
    pub is_attended: bool,
}
