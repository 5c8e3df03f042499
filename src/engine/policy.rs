//! What the engine asks when it does not decide itself: the method, and the pure functions of the rooms above.

use super::{LessonWish, State};
use crate::domain::{Asked, EndReason, EpisodeRole, Kind, Note, PromptRecord, Reflection, Task, Turn};
use serde_json::Value;
use std::sync::Arc;

/// What a method wants next. Wants are granted in order; those that only write (`Reflect`, `Lesson`, `Remember`) are
/// granted together, and the method is asked again before anything that calls the outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// Ask the actor for the next step.
    AskActor,
    /// Ask the mentor for a reflection.
    AskMentor(Kind),
    /// Keep this reflection.
    Reflect(Box<Reflection>),
    /// Change the pool.
    Lesson(LessonWish),
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
    Remember(Value),
}

/// A method: the policy over episodes, reflections and prompts. Pure; all memory is in the state.
pub trait Method: Send + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it wants in this state. Granting all wants of an answer must change the answer, or the run stands still.
    fn next(&self, state: &State) -> Vec<Want>;

    /// What it wants when a person asks for a reflection of this kind now.
    fn reflect_now(&self, state: &State, kind: Kind) -> Vec<Want>;
}

/// A question to a model that a prompt is drafted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Which model.
    pub asked: Asked,
    /// The kind of reflection, for a mentor.
    pub kind: Option<Kind>,
    /// The step the prompt is for.
    pub step: u32,
    /// How often this step was asked before.
    pub retry: u32,
}

/// A drafted prompt and the texts it needs that the session does not hold yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// The prompt; call and seed are filled in by the engine.
    pub record: PromptRecord,
    /// New texts, (hash, text).
    pub texts: Vec<(String, String)>,
}

/// What a reply means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The thought, without its label.
    pub thought: Option<String>,
    /// The action.
    pub action: Option<String>,
    /// What could not be used, in words.
    pub complaints: Vec<String>,
}

/// An action as the interface sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// What the world is sent, where it differs.
    pub sent: Option<String>,
    /// The rule that changed it.
    pub rule: Option<String>,
    /// List the admissible actions instead of stepping.
    pub list: bool,
}

/// Puts a prompt together.
pub type Drafter = Arc<dyn Fn(&State, &Ask) -> Draft + Send + Sync>;

/// Looks at the last step.
pub type Detect = Arc<dyn Fn(&State) -> Vec<Note> + Send + Sync>;

/// The method and the pure functions it is surrounded by.
#[derive(Clone)]
pub struct Policy {
    /// The method.
    pub method: Arc<dyn Method>,
    /// Puts a prompt together.
    pub draft: Drafter,
    /// Reads an actor's reply.
    pub read: fn(&str) -> Reading,
    /// What the interface makes of an action on its way to the world.
    pub outgoing: fn(&State, &str) -> Outgoing,
    /// What the interface makes of an answer on its way to the prompt: (state, executed action, answer, admissible).
    pub incoming: fn(&State, &str, &Turn, &[String]) -> Option<String>,
    /// The goal that a world's first answer states.
    pub goal: fn(&Turn) -> String,
    /// What the detectors find in the last step.
    pub detect: Detect,
}
