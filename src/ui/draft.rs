//! What a person has typed or chosen and not yet sent: an unsaved lesson, the change that a new branch starts with.

use crate::domain::{Lesson, LessonId, LessonStatus, ModelRole, ReflectionKind, Scope, Seq, Step};
use crate::engine::Command;

/// An unsaved lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LessonDraft {
    /// The edited lesson. `None` for a new one.
    pub lesson: Option<LessonId>,
    pub kind: ReflectionKind,
    pub scope: Scope,
    pub text: String,
    /// What to do instead.
    pub solution: String,
    pub pinned: bool,
}

/// A choice of the fork dialog: the change that a new branch starts with, or an alternative to a branch.
#[derive(Clone, Debug, PartialEq)]
pub enum ForkChange {
    /// No change: only continues.
    Continue,
    /// Replaces the step's action.
    Action,
    /// Replaces the step's thought.
    Thought,
    /// Replaces the observation that the agent reads.
    Observation,
    /// Calls the actor again for the step.
    AskAgain,
    /// Rejects the proposal with a reason.
    Reject,
    NewLesson,
    EditLesson(LessonId),
    /// Sends the command of a pressed key; the text describes it.
    Command(Box<Command>, String),
    Method,
    Actor,
    Mentor,
    /// Changes a role's sampling parameters.
    Sampling(ModelRole),
    Setting,
    /// Forks after this event, the last one before the change that could not be undone. Changes nothing else.
    BeforeEvent(Seq),
    /// Opens no branch: undoes this older change, the newest one that can still be undone.
    UndoOlder(Seq),
}

impl LessonDraft {
    /// Creates an empty draft.
    pub fn new(kind: ReflectionKind) -> Self {
        Self {
            lesson: None,
            kind,
            scope: kind.scope_of_new_lesson(),
            text: String::new(),
            solution: String::new(),
            pinned: false,
        }
    }

    /// Creates a draft of an existing lesson.
    pub fn from_lesson(lesson: &Lesson) -> Self {
        Self {
            lesson: Some(lesson.id.clone()),
            kind: lesson.kind,
            scope: lesson.scope,
            text: lesson.text().text.clone(),
            solution: lesson.text().solution.clone().unwrap_or_default(),
            pinned: lesson.status == LessonStatus::Pinned,
        }
    }

    /// Creates a draft from an override: the proposal is the mistake, the person's action the solution. Object numbers
    /// are removed, so that the lesson also applies to other objects of the kind, unless only they differ. Returns `None` if the
    /// step has no override.
    pub fn from_override(step: &Step, kind: ReflectionKind) -> Option<Self> {
        let wanted = step.proposal_text()?;
        let done = step.executed.as_ref().filter(|_| step.is_person_action())?;
        let words = |action: &str| action.split_whitespace().collect::<Vec<_>>().join(" ");
        let without = (without_numbers(&wanted), without_numbers(&done.action));
        let (wanted, done) =
            if without.0 == without.1 { (words(&wanted), words(&done.action)) } else { without };
        let mut draft = Self::new(kind);
        if kind == ReflectionKind::Error {
            draft.text = format!("Wanted to {wanted}.");
            draft.solution = format!("Do this instead: {done}.");
        } else {
            draft.text = format!("Do not {wanted}; {done}.");
        }
        Some(draft)
    }
}

fn without_numbers(action: &str) -> String {
    let words = action.split_whitespace().filter(|w| w.parse::<u32>().is_err());
    words.collect::<Vec<_>>().join(" ")
}
