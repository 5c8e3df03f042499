//! What the engine doesn't decide itself: the method, and pure functions that other modules supply.

use super::{CommandError, Envelope, LessonCommand, State};
use crate::domain::{
    Author, BreakpointConfig, EndReason, EpisodeRole, Job, LessonId, LessonText, ModelRole, Note,
    PlannedAction, PromptRecord, Question, Reflection, ReflectionItem, ReflectionKind, RunSpec,
    SegmentOrigin, StepResult, Task, Truncation,
};
use serde_json::Value;
use std::sync::Arc;

/// What a method asks the engine to do next.
///
/// Intents are executed in order. If the first ones only write to the session (`Reflect`, `Lesson`, `SetMemory`), those
/// are executed together, and the method is called again before any other intent is executed.
#[derive(Clone, Debug, PartialEq)]
pub enum Intent {
    /// Ask the actor for the next step.
    AskActor,
    /// Propose this action for the next step without asking the actor, with a thought to show beside it.
    Propose {
        thought: Option<String>,
        action: String,
    },
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
    /// Have a job computed. It runs alone: nothing else is in flight, and nothing goes on until it has ended.
    Compute {
        job: Box<Job>,
        /// The long texts that its inputs name by their hash, as (hash, text). Each is journaled once.
        texts: Vec<(String, String)>,
    },
    /// Replace the method's memory.
    SetMemory(Value),
}

/// A method: the policy that decides on episodes, reflections and lessons. Its functions are pure; all its memory is in
/// the state.
pub trait Method: Send + Sync {
    /// Returns its name on the command line.
    fn name(&self) -> &'static str;

    /// Returns what to do in this state. Executing the intents must change what the next call returns; otherwise the
    /// run makes no progress and is paused.
    fn next(&self, state: &State) -> Vec<Intent>;

    /// Returns what to do when a person asks for a reflection of this kind now.
    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent>;

    /// Says why [`Self::reflect_now`] returns nothing, and what to do instead, if the method knows more than that nothing new
    /// follows from the trajectory.
    fn why_no_reflection(
        &self,
        _state: &State,
        _kind: ReflectionKind,
    ) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Returns what to do with a mentor's reply. All intents must be ones that only write. Exactly one must be an
    /// [`Intent::Reflect`], with the question's kind and purpose, even if nothing in the reply could be used. The
    /// default implementation keeps every item as a lesson ([`add_all_lessons`]).
    fn on_mentor_reply(&self, state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
        add_all_lessons(state, reply)
    }

    /// Checks a run in which a person changes a setting. The default implementation accepts every run.
    ///
    /// # Errors
    /// Returns why the method can't go on with it, and what to do instead.
    fn check_run(&self, _run: &RunSpec) -> Result<(), CommandError> {
        Ok(())
    }

    /// Returns what to record before a person starts an episode: the last chance to look at the steps of the episode before it. All
    /// intents must be ones that only write. The default implementation does nothing.
    fn before_manual_episode(&self, _state: &State) -> Vec<Intent> {
        Vec::new()
    }

    /// Returns what to do with the result of a job. All intents must be ones that only write, and one of them must record
    /// that the job has ended, so that `next` doesn't request it again. The default implementation does nothing.
    fn on_computed(&self, state: &State, computed: &Computed<'_>) -> Vec<Intent> {
        let _ = (state, computed);
        Vec::new()
    }
}

/// A job that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Computed<'a> {
    pub job: &'a Job,
    /// The result; `None` if a person continues without it.
    pub result: Option<&'a Value>,
}

/// A mentor's parsed reply with its question.
#[derive(Clone, Debug)]
pub struct MentorReply<'a> {
    /// The prompt that was answered. It records the episode, the step and the lessons that the mentor was shown.
    pub prompt: &'a PromptRecord,
    pub question: Question,
    /// Who replied: a model, or the symbolic rules in its place.
    pub author: Author,
    /// The parsed items.
    pub items: Vec<ReflectionItem>,
    /// Descriptions of the parts that could not be parsed.
    pub complaints: Vec<String>,
    /// Parts of the reply that weren't kept, each as the text of the lesson it would have become.
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
    /// Parts of the reply that weren't kept, each as the text of the lesson it would have become.
    pub dropped: Vec<LessonText>,
}

/// Returns the intents that record a reply as a reflection and add each of its items as a lesson, with the default
/// scope of the question's kind.
pub fn add_all_lessons(_: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
    let mut intents = vec![Intent::Reflect(Box::new(reply.reflection()))];
    intents.extend(reply.items.iter().map(|item| Intent::Lesson(reply.lesson_command(item))));
    intents
}

impl MentorReply<'_> {
    /// Returns the reply as a reflection with all items.
    pub fn reflection(&self) -> Reflection {
        let position = (self.prompt.episode, self.prompt.step);
        Reflection {
            purpose: self.question.purpose,
            complaints: self.complaints.clone(),
            dropped: self.dropped.clone(),
            truncated: self.truncated,
            call: (self.author == Author::Mentor).then_some(self.prompt.call),
            ..Reflection::new(self.question.kind, self.author, position, self.items.clone())
        }
    }

    /// Returns the command that adds an item as a lesson, with the default scope of the question's kind.
    pub fn lesson_command(&self, item: &ReflectionItem) -> LessonCommand {
        LessonCommand::Add {
            kind: self.question.kind,
            scope: self.question.kind.default_scope(),
            text: item.text.clone(),
            rule: item.rule.clone(),
            evidence: item.evidence.clone(),
            parents: Vec::new(),
            transition: item.transition.clone(),
            pinned: false,
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
    /// The question to the mentor; `None` for the actor.
    pub question: Option<Question>,
    /// The step the prompt is for.
    pub step: u32,
    /// How many times the actor has already been asked for this step, or the mentor this question after it.
    pub retry: u32,
}

/// A drafted prompt, and the texts it refers to that the session doesn't contain yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptDraft {
    /// The prompt. The engine then sets its call, episode, sampling and seed, and the fields of the [`PromptRequest`].
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
    /// The actions planned after it, if the actor may plan several.
    pub planned: Vec<PlannedAction>,
    /// Descriptions of the parts that could not be used.
    pub complaints: Vec<String>,
    /// Whether the reply itself shows that the action (or the thought, if there is no action) is complete: a line end,
    /// a closing quote or bracket, or further text follows it. The action of a truncated reply is usable only if this
    /// is true.
    pub complete: bool,
    /// Whether there is only a thought, and nothing but its wording says that it is one: no label, no `think:`.
    pub is_unlabelled: bool,
}

impl ParsedActorReply {
    /// If the reply was cut off, adds a complaint that says by what.
    #[must_use]
    pub fn with_truncation_note(mut self, truncated: Option<Truncation>) -> Self {
        if let Some(truncation) = truncated {
            let by = truncation.name();
            // The last line of a plan may be incomplete.
            let _ = self.planned.pop();
            self.complaints.push(if self.complete {
                format!("the reply was cut off by {by}, after the part that was used")
            } else {
                format!("the reply was cut off by {by} and is used unchanged (accept_truncated)")
            });
        }
        self
    }
}

/// What the interface makes of an action before it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingAction {
    /// The text to send to the environment, if the interface changed the action.
    pub sent: Option<String>,
    /// The rule of the interface that changed the action.
    pub rewrite_rule: Option<String>,
    /// Whether the action only asks for the list of admissible actions, so that the environment isn't stepped.
    pub admissible_only: bool,
}

/// Drafts a prompt.
pub type DraftPromptFn = Arc<dyn Fn(&State, &PromptRequest) -> PromptDraft + Send + Sync>;

/// Runs the detectors on the last step.
pub type DetectFn = Arc<dyn Fn(&State) -> Vec<Note> + Send + Sync>;

/// A breakpoint whose condition became true, before the hit is recorded as an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakpointMatch {
    /// Number of the breakpoint or watch.
    pub breakpoint: u32,
    /// The step; 0 is the reset.
    pub step: u32,
    /// Why the condition is true: a sentence without its full stop.
    pub reason: String,
}

/// Takes (state before the event, event, state after the event) and returns a match for each enabled breakpoint whose
/// condition the event made true.
pub type FindHitsFn = Arc<dyn Fn(&State, &Envelope, &State) -> Vec<BreakpointMatch> + Send + Sync>;

/// Parses a condition, or returns what is wrong with it.
pub type ParseConditionFn = Arc<dyn Fn(&str) -> Result<BreakpointConfig, CommandError> + Send + Sync>;

/// How conditions are parsed and evaluated.
#[derive(Clone)]
pub struct BreakpointRules {
    /// Parses a condition that a person typed. The error says what is wrong and how to write it instead.
    pub parse: ParseConditionFn,
    /// Finds the enabled breakpoints whose condition an event made true.
    pub find_hits: FindHitsFn,
}

/// Parses a mentor's reply to a question.
pub type ParseMentorReplyFn =
    Arc<dyn Fn(Question, &str, Option<Truncation>) -> ParsedMentorReply + Send + Sync>;

/// Checks the form of an action: (state, action).
pub type HasKnownFormFn = Arc<dyn Fn(&State, &str) -> bool + Send + Sync>;

/// The method and the pure functions that the engine calls.
#[derive(Clone)]
pub struct Policy {
    pub method: Arc<dyn Method>,
    /// Drafts a prompt.
    pub draft_prompt: DraftPromptFn,
    /// Parses an actor's reply to a prompt, of which a line is the action, or the whole text, or each line.
    pub parse_reply: fn(&State, &PromptRecord, &str) -> ParsedActorReply,
    /// Parses a mentor's reply. If the reply was cut off, keeps only its complete parts.
    pub parse_mentor_reply: ParseMentorReplyFn,
    /// Replaces the text of one rendered segment of a prompt: (state, prompt, index of the segment from 0, new text).
    /// Returns the edited prompt with the texts that are new to the session, or `None` if there is no such segment.
    pub edit_prompt: fn(&State, &PromptRecord, usize, &str) -> Option<PromptDraft>,
    /// Rewrites an action on its way to the environment.
    pub rewrite_action: fn(&State, &str) -> OutgoingAction,
    /// Returns whether an action may be one of the environment's own, however short it is.
    pub is_short_action: fn(&State, &str) -> bool,
    /// Returns whether an action has one of the forms that the actor's instruction lists; also if it lists none.
    pub has_known_form: HasKnownFormFn,
    /// Rewrites an observation on its way to the prompt: (state, executed action, result, admissible actions). Returns
    /// `None` if prompts show the observation unchanged.
    pub rewrite_observation: fn(&State, &str, &StepResult, &[String]) -> Option<String>,
    /// Extracts the goal from an environment's first observation.
    pub extract_goal: fn(&StepResult) -> String,
    /// Runs the detectors on the last step.
    pub detect: DetectFn,
    pub breakpoints: BreakpointRules,
    /// Whether a person is present to decide after a failure. If not, an actor's empty reply may be executed as an
    /// empty action, as in the methods' public code (setting `empty_action`).
    pub is_attended: bool,
}
