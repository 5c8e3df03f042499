//! What is kept for reuse.

use super::{LessonId, ReflectionKind, Seq, Transition};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How far a lesson reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This episode alone.
    Episode,
    /// Every trial of this task.
    Task,
    /// Tasks of this type.
    TaskType,
    /// The whole environment.
    Environment,
}

/// Who a lesson comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LessonOrigin {
    /// The rules of symbolic generation.
    Symbolic,
    /// A model as mentor.
    Mentor,
    /// A person typed it.
    Person,
    /// It was loaded with the run's pool.
    File,
}

/// Whether a lesson enters prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LessonStatus {
    /// It enters prompts.
    #[default]
    On,
    /// It enters prompts and nothing but a person removes it.
    Pinned,
    /// It is kept, but enters no prompt.
    Off,
    /// It was deleted; only the history shows it.
    Retired,
}

/// The words of a lesson: one sentence, and for an Error what to do instead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LessonText {
    /// The lesson; for an Error, the mistake.
    pub text: String,
    /// For an Error, the solution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution: Option<String>,
}

/// One wording of a lesson.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LessonVersion {
    /// The event that brought it.
    pub seq: Seq,
    /// The words.
    pub text: LessonText,
}

/// A lesson with its history. Every prompt counts its lessons' uses, so that its words are shared between its copies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lesson {
    /// Its name everywhere.
    pub id: LessonId,
    /// Its short number on the screen, counted from 1 in a session.
    pub number: u32,
    /// The kind of reflection it belongs to.
    pub kind: ReflectionKind,
    /// How far it reaches.
    pub scope: Scope,
    /// Who it comes from.
    pub origin: LessonOrigin,
    /// Whether it enters prompts.
    pub status: LessonStatus,
    /// Every wording, the oldest first; the last is in force.
    pub versions: Arc<Vec<LessonVersion>>,
    /// Episode and step it was learnt at (0, 0: loaded).
    pub learnt_at: (u32, u32),
    /// The file that it was loaded from, where the run began with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Arc<str>>,
    /// The words of the trajectory it rests on.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub evidence: Arc<str>,
    /// The rule that wrote it, if a rule did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Arc<str>>,
    /// The lessons it was made from (a summary's).
    #[serde(default, skip_serializing_if = "<[LessonId]>::is_empty")]
    pub parents: Arc<[LessonId]>,
    /// The turn it is about, where the method keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "moment")]
    pub transition: Option<Arc<Transition>>,
    /// The task it is about ([`Task::key`](crate::domain::Task::key)), where it was not learnt in it but loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "about")]
    pub task_key: Option<Arc<str>>,
    /// How often it was drawn again from new evidence.
    #[serde(default)]
    pub recurred: u32,
    /// A person wrote or changed it in this session, or changed the prompt that a mentor drew it from.
    #[serde(default)]
    #[serde(rename = "by_person")]
    pub edited_by_person: bool,
    /// In how many prompts it has been.
    pub uses: u32,
    /// The last prompt it was in.
    #[serde(default)]
    pub last_used: Option<Seq>,
}

/// A change of the lesson pool. `Add` carries the whole lesson; the rest name it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum LessonOp {
    /// A new lesson at the end of its kind.
    Add {
        /// Its id.
        id: LessonId,
        /// Its kind.
        kind: ReflectionKind,
        /// Its reach.
        scope: Scope,
        /// Who it comes from.
        origin: LessonOrigin,
        /// Its words.
        text: LessonText,
        /// The words of the trajectory it rests on.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        evidence: String,
        /// The rule that wrote it; lessons of the same rule and words are one lesson.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// The lessons it was made from (a summary's).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parents: Vec<LessonId>,
        /// The turn it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "moment")]
        transition: Option<Transition>,
        /// The task it is about, where it was not learnt in it; `env_N` in a pool file is the run's task of this number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "about")]
        task_key: Option<String>,
    },
    /// The same lesson was drawn again from new evidence.
    Recur {
        /// Which lesson.
        id: LessonId,
    },
    /// New words.
    Edit {
        /// Which lesson.
        id: LessonId,
        /// The words before.
        #[serde(rename = "was")]
        previous: LessonText,
        /// The words now.
        text: LessonText,
    },
    /// On, off, pinned or retired.
    Status {
        /// Which lesson.
        id: LessonId,
        /// The status before.
        #[serde(rename = "was")]
        previous: LessonStatus,
        /// The status now.
        status: LessonStatus,
    },
    /// Another reach.
    Rescope {
        /// Which lesson.
        id: LessonId,
        /// The reach before.
        #[serde(rename = "was")]
        previous: Scope,
        /// The reach now.
        scope: Scope,
    },
    /// Another place among the lessons of its kind, counted from 0.
    Move {
        /// Which lesson.
        id: LessonId,
        /// The place before.
        #[serde(rename = "was")]
        previous: usize,
        /// The place now.
        to: usize,
    },
}

/// A line of a change of the pool that waits for a person's word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum PoolChangeItem {
    /// This lesson gives way.
    Retire {
        /// Which lesson.
        id: LessonId,
    },
    /// This lesson joins.
    Add {
        /// Its kind.
        kind: ReflectionKind,
        /// Its reach.
        scope: Scope,
        /// Its words.
        text: LessonText,
        /// What it rests on.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        evidence: String,
        /// The lessons it is made from.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parents: Vec<LessonId>,
    },
}

/// A change of the pool that waits for a person's word: a summary of the mentor, where every line is agreed to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolChange {
    /// What the mentor was asked.
    #[serde(flatten)]
    pub question: super::Question,
    /// What would change, in order.
    #[serde(rename = "lines")]
    pub items: Vec<PoolChangeItem>,
    /// The event that brought it (set when it is folded).
    #[serde(default, skip_serializing_if = "Seq::is_unset")]
    pub seq: Seq,
}

impl Lesson {
    /// The name of the file that it was loaded from, without its folders; none where it was learnt here, or in the session
    /// that this one plays again.
    pub fn file_name(&self) -> Option<&str> {
        let file = self.file.as_deref().filter(|_| self.learnt_at == (0, 0))?;
        Some(file.rsplit(['/', '\\']).next().unwrap_or(file))
    }

    /// The wording in force.
    pub fn text(&self) -> &LessonText {
        static EMPTY: LessonText = LessonText { text: String::new(), solution: None };
        self.versions.last().map_or(&EMPTY, |v| &v.text)
    }

    /// The version in force, counted from 1.
    pub fn version(&self) -> u32 {
        self.versions.len() as u32
    }

    /// Whether it enters the next prompt.
    pub fn is_active(&self) -> bool {
        matches!(self.status, LessonStatus::On | LessonStatus::Pinned)
    }
}

impl LessonText {
    /// A lesson of one sentence.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), solution: None }
    }

    /// What it comes to, for the comparison of lessons: the solution where there is one, without case and final dot.
    pub fn normalized(&self) -> String {
        let words = self.solution.as_deref().unwrap_or(&self.text);
        words.trim().trim_end_matches('.').to_lowercase()
    }

    /// A mistake and what to do instead.
    pub fn error(mistake: impl Into<String>, solution: impl Into<String>) -> Self {
        Self { text: mistake.into(), solution: Some(solution.into()) }
    }
}

impl LessonOp {
    /// The lesson it is about.
    pub fn id(&self) -> &LessonId {
        match self {
            Self::Add { id, .. }
            | Self::Recur { id }
            | Self::Edit { id, .. }
            | Self::Status { id, .. }
            | Self::Rescope { id, .. }
            | Self::Move { id, .. } => id,
        }
    }

    /// What undoes it. An `Add` is undone by retiring the lesson; a recurrence is only counted, and stays.
    pub fn inverse(&self) -> Self {
        match self.clone() {
            Self::Recur { id } => Self::Recur { id },
            Self::Add { id, .. } => {
                Self::Status { id, previous: LessonStatus::On, status: LessonStatus::Retired }
            }
            Self::Edit { id, previous: was, text } => Self::Edit { id, previous: text, text: was },
            Self::Status { id, previous: was, status } => Self::Status { id, previous: status, status: was },
            Self::Rescope { id, previous: was, scope } => Self::Rescope { id, previous: scope, scope: was },
            Self::Move { id, previous: was, to } => Self::Move { id, previous: to, to: was },
        }
    }
}
