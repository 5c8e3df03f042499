//! What the engine asks when it does not decide itself: the method, and the pure functions of the rooms above.

use super::{CommandError, Envelope, LessonCommand, State};
use crate::domain::{
    Author, BreakpointConfig, EndReason, EpisodeRole, LessonId, LessonText, ModelRole, Note, PromptRecord,
    Question, Reflection, ReflectionItem, ReflectionKind, SegmentOrigin, Seq, StepResult, Task, Truncation,
};
use serde_json::Value;
use std::sync::Arc;

/// What a method wants next. Wants are granted in order; those that only write (`Reflect`, `Lesson`, `SetMemory`) are
/// granted together, and the method is asked again before anything that calls the outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Intent {
    /// Ask the actor for the next step.
    AskActor,
    /// Propose this action for the next step; nobody is asked.
    Propose(String),
    /// Ask the mentor. Questions that follow each other in an answer are one round and may be asked at the same time.
    AskMentor(Question),
    /// Keep this reflection.
    Reflect(Box<Reflection>),
    /// Change the pool.
    Lesson(LessonCommand),
    /// Begin an episode.
    StartEpisode {
        /// The task.
        task: Box<Task>,
        /// The trial, counted from 1.
        trial: u32,
        /// What it is for.
        role: EpisodeRole,
    },
    /// End the open episode.
    EndEpisode(EndReason),
    /// End the run.
    EndRun,
    /// Replace the method's own memory.
    SetMemory(Value),
}

/// A method: the policy over episodes, reflections and prompts. Pure; all memory is in the state.
pub trait Method: Send + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it wants in this state. Granting all wants of an answer must change the answer, or the run stands still.
    fn next(&self, state: &State) -> Vec<Intent>;

    /// What it wants when a person asks for a reflection of this kind now.
    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent>;

    /// What a mentor's answer comes to: wants that only write, with exactly one [`Intent::Reflect`] that has the question's kind
    /// and purpose, even where nothing could be used. Without more, every item is kept as a lesson ([`keep`]).
    fn on_mentor_reply(&self, state: &State, heard: &MentorReply<'_>) -> Vec<Intent> {
        keep_all_items(state, heard)
    }
}

/// A mentor's answer, read.
#[derive(Clone, Debug)]
pub struct MentorReply<'a> {
    /// The prompt it answers: its question, its episode and step, and the lessons it showed.
    pub prompt: &'a PromptRecord,
    /// What was asked.
    pub question: Question,
    /// Who answers: a model, or the symbolic rules in its place.
    pub author: Author,
    /// What could be read.
    pub items: Vec<ReflectionItem>,
    /// What could not, in words.
    pub complaints: Vec<String>,
    /// Texts that were not kept, each as the lesson it would have been.
    pub dropped: Vec<LessonText>,
    /// What ended the answer early; none: it is complete.
    pub truncated: Option<Truncation>,
}

/// What a mentor's text comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedMentorReply {
    /// Its items.
    pub items: Vec<ReflectionItem>,
    /// What could not be used, in words.
    pub complaints: Vec<String>,
    /// Texts that were not kept, each as the lesson it would have been.
    pub dropped: Vec<LessonText>,
}

/// The reflection of an answer, and a lesson of each of its items with the reach its kind has.
pub fn keep_all_items(_: &State, heard: &MentorReply<'_>) -> Vec<Intent> {
    let mut wants = vec![Intent::Reflect(Box::new(heard.reflection()))];
    wants.extend(heard.items.iter().map(|item| Intent::Lesson(heard.lesson_command(item))));
    wants
}

impl MentorReply<'_> {
    /// The reflection it is, all items kept in it.
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

    /// The wish for a lesson of one item, with the reach its kind has.
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

    /// The lessons that the mentor was shown, in their order.
    pub fn shown_lessons(&self) -> impl Iterator<Item = (&LessonId, u32)> {
        self.prompt.segments.iter().filter_map(|s| match &s.origin {
            SegmentOrigin::Lesson { id, version } => Some((id, *version)),
            _ => None,
        })
    }
}

/// A question to a model that a prompt is drafted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptRequest {
    /// Which model.
    pub role: ModelRole,
    /// What is asked, for a mentor.
    pub question: Option<Question>,
    /// The step the prompt is for.
    pub step: u32,
    /// How often this step was asked before.
    pub retry: u32,
}

/// A drafted prompt and the texts it needs that the session does not hold yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptDraft {
    /// The prompt; call and seed are filled in by the engine.
    pub record: PromptRecord,
    /// New texts, (hash, text).
    pub texts: Vec<(String, String)>,
}

/// What a reply means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedActorReply {
    /// The thought, without its label.
    pub thought: Option<String>,
    /// The action.
    pub action: Option<String>,
    /// What could not be used, in words.
    pub complaints: Vec<String>,
    /// The reply itself shows that the action is complete (or the thought, where the step only thinks): a line end, a
    /// closing quote or bracket, or further words stand behind it. Only this makes the action of a truncated reply usable.
    pub complete: bool,
}

impl ParsedActorReply {
    /// The same with a complaint about what cut the reply off, where something did.
    #[must_use]
    pub fn with_truncation_note(mut self, truncated: Option<Truncation>) -> Self {
        if let Some(by) = truncated {
            let by = by.name();
            self.complaints.push(if self.complete {
                format!("the reply was cut off by {by}, behind the words that count")
            } else {
                format!("the reply was cut off by {by}; its words are used as they are (accept_truncated)")
            });
        }
        self
    }
}

/// An action as the interface sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingAction {
    /// What the world is sent, where it differs.
    pub sent: Option<String>,
    /// The rule that changed it.
    pub rule: Option<String>,
    /// List the admissible actions instead of stepping.
    pub list_only: bool,
}

/// Puts a prompt together.
pub type DraftPromptFn = Arc<dyn Fn(&State, &PromptRequest) -> PromptDraft + Send + Sync>;

/// Looks at the last step.
pub type DetectFn = Arc<dyn Fn(&State) -> Vec<Note> + Send + Sync>;

/// A condition that came true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakpointMatch {
    /// The number of its breakpoint or watch.
    pub breakpoint: u32,
    /// The step it is about; 0 is the reset.
    pub step: u32,
    /// Why, as a sentence without its dot.
    pub reason: String,
}

/// Which of the state's breakpoints an event makes true: (state before, event, state after).
pub type FindHitsFn = Arc<dyn Fn(&State, &Envelope, &State) -> Vec<BreakpointMatch> + Send + Sync>;

/// Reads a condition, or says what is wrong with it.
pub type ParseConditionFn = Arc<dyn Fn(&str) -> Result<BreakpointConfig, CommandError> + Send + Sync>;

/// How conditions are read and looked at.
#[derive(Clone)]
pub struct BreakpointRules {
    /// Reads what a person typed; a refusal says what is wrong and what could be written.
    pub parse: ParseConditionFn,
    /// Which of the state's breakpoints an event makes true.
    pub find_hits: FindHitsFn,
}

/// The method and the pure functions it is surrounded by.
#[derive(Clone)]
pub struct Policy {
    /// The method.
    pub method: Arc<dyn Method>,
    /// Puts a prompt together.
    pub draft_prompt: DraftPromptFn,
    /// Reads an actor's reply.
    pub parse_reply: fn(&str) -> ParsedActorReply,
    /// Reads a mentor's reply. Of one that was cut off it keeps only what is complete.
    pub parse_mentor_reply: fn(Question, &str, Option<Truncation>) -> ParsedMentorReply,
    /// A draft with other words in one of the segments it is rendered to, counted from 0, and the texts new to the session;
    /// none where it has no such segment.
    pub edit_prompt: fn(&State, &PromptRecord, usize, &str) -> Option<PromptDraft>,
    /// What the interface makes of an action on its way to the world.
    pub rewrite_action: fn(&State, &str) -> OutgoingAction,
    /// What the interface makes of an answer on its way to the prompt: (state, executed action, answer, admissible).
    pub rewrite_observation: fn(&State, &str, &StepResult, &[String]) -> Option<String>,
    /// The goal that a world's first answer states.
    pub extract_goal: fn(&StepResult) -> String,
    /// What the detectors find in the last step.
    pub detect: DetectFn,
    /// Breakpoints and watches.
    pub breakpoints: BreakpointRules,
    /// A person is there to decide on what went wrong. Without one a run may do what its method's public code does.
    pub is_attended: bool,
}
