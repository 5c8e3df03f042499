//! Lessons and the operations on the lesson pool.

use super::{Author, LessonId, LessonText, MeasuredEffect, Question, ReflectionKind, Scope, Seq, Transition};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A lesson's origin says who wrote it: symbolic rules, a mentor, a person, or the author of a loaded pool file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LessonOrigin {
    /// The rules of symbolic generation.
    Symbolic,
    /// A model in the role of mentor.
    Mentor,
    Person,
    /// The pool file with which the run started.
    File,
}

/// A lesson's status says whether the lesson enters prompts: on, pinned, off or retired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LessonStatus {
    /// Enters prompts.
    #[default]
    On,
    /// Enters prompts; only a person can remove it.
    Pinned,
    /// Stays in the pool but enters no prompt.
    Off,
    /// Deleted; only the history shows it.
    Retired,
}

/// A lesson version is one wording of a lesson.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LessonVersion {
    /// The event that introduced it.
    pub seq: Seq,
    pub text: LessonText,
    /// Who changed the wording before to this one, and when; `None` for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<LessonEdit>,
    /// Number of prompts it was in before the next version replaced it; 0 for the last one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uses: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Who edited a lesson, and at which episode and step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LessonEdit {
    pub author: Author,
    pub at: (u32, u32),
}

/// A lesson is an item of a reflection, or a sentence a person wrote, that is kept for reuse in later prompts.
///
/// Every prompt increments `uses` of its lessons, which copies each lesson; `Arc` lets the copies share their texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lesson {
    pub id: LessonId,
    /// Short number on the screen, counted from 1 in a session.
    pub number: u32,
    pub kind: ReflectionKind,
    pub scope: Scope,
    pub origin: LessonOrigin,
    pub status: LessonStatus,
    /// All wordings, oldest first; the last one is in force.
    pub versions: Arc<Vec<LessonVersion>>,
    /// Episode and step at which it was learnt, in its first wording; (0, 0) if it was loaded.
    pub learnt_at: (u32, u32),
    /// The file it was loaded from, if the run started with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Arc<str>>,
    /// The passage of the trajectory that supports it.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub evidence: Arc<str>,
    /// The rule that wrote it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Arc<str>>,
    /// The lessons that a summary merged into this one.
    #[serde(default, skip_serializing_if = "<[LessonId]>::is_empty")]
    pub parents: Arc<[LessonId]>,
    /// The transition it is about, if the method records one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "moment")]
    pub transition: Option<Arc<Transition>>,
    /// The task it is about ([`Task::key`](crate::domain::Task::key)), if it was loaded from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "about")]
    pub task_key: Option<Arc<str>>,
    /// The type of task it is about, if it was loaded from a file that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<Arc<str>>,
    /// The saved pool or session that a person took it over from during the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_from: Option<Arc<str>>,
    /// The tasks on which it was learned elsewhere ([`Task::key`](crate::domain::Task::key)), by the pool or session that it was loaded
    /// from; `None` if nothing recorded them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Arc<[String]>>,
    /// How many times new evidence has led to it again.
    #[serde(default)]
    #[serde(rename = "recurred")]
    pub recurrences: u32,
    /// Whether a person wrote or changed it in this session, or changed the prompt from which a mentor derived it.
    #[serde(default)]
    #[serde(rename = "by_person")]
    pub edited_by_person: bool,
    /// The scope that it had before a person changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_scope: Option<Scope>,
    /// Number of prompts it has been in.
    pub uses: u32,
    /// The last prompt it was in.
    #[serde(default)]
    pub last_used: Option<Seq>,
    /// The first prompt to the actor that has the wording in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "shown")]
    pub first_shown: Option<Seq>,
    /// What was measured of it, oldest first, of every version.
    #[serde(default, skip_serializing_if = "<[MeasuredEffect]>::is_empty")]
    pub measured: Arc<[MeasuredEffect]>,
}

/// A lesson operation is a change to one lesson of the pool. `Add` carries the whole lesson; the others refer to it by
/// id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum LessonOp {
    /// Appends a new lesson to its kind.
    Add {
        id: LessonId,
        kind: ReflectionKind,
        scope: Scope,
        origin: LessonOrigin,
        text: LessonText,
        /// The passage of the trajectory that supports it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        evidence: String,
        /// The rule that wrote it; lessons with the same rule and text are one lesson.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// The lessons that a summary merged into this one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parents: Vec<LessonId>,
        /// The transition it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "moment")]
        transition: Option<Transition>,
        /// The task it is about, if it wasn't learnt there; `env_N` in a pool file means the run's task number N.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "about")]
        task_key: Option<String>,
        /// The type of task it is about, if it wasn't learnt there and has this scope.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_type: Option<String>,
        /// Whether it is pinned from the start.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pinned: bool,
        /// The saved pool or session that a person took it over from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        taken_from: Option<String>,
        /// The tasks on which it was learned elsewhere, if they are known; older sessions don't say so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sources: Option<Vec<String>>,
    },
    /// Counts that new evidence led to the same lesson again.
    Recur { id: LessonId },
    /// Replaces the text.
    Edit {
        id: LessonId,
        #[serde(rename = "was")]
        previous: LessonText,
        text: LessonText,
    },
    /// Changes the status.
    Status {
        id: LessonId,
        #[serde(rename = "was")]
        previous: LessonStatus,
        status: LessonStatus,
        /// The number of the lesson that says the same and is kept, if a person merged the two.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        merged_into: Option<u32>,
    },
    /// Changes the scope.
    Rescope {
        id: LessonId,
        #[serde(rename = "was")]
        previous: Scope,
        scope: Scope,
    },
    /// Moves the lesson within its kind; positions are counted from 0.
    Move {
        id: LessonId,
        #[serde(rename = "was")]
        previous: usize,
        to: usize,
    },
    /// Adds the result of a measurement. The lesson stays the same.
    Measured { id: LessonId, measured: Box<MeasuredEffect> },
}

/// A pool summary item is a lesson that a [`PoolSummary`] proposes to retire or to add.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum PoolSummaryItem {
    /// Retires a lesson.
    Retire { id: LessonId },
    /// Adds a lesson.
    Add {
        kind: ReflectionKind,
        scope: Scope,
        text: LessonText,
        /// The passage of the trajectory that supports it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        evidence: String,
        /// The lessons it merges.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parents: Vec<LessonId>,
    },
}

/// A pool summary is a mentor's summary of the lesson pool, whose items wait for a person's approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolSummary {
    /// The question the mentor answered.
    #[serde(flatten)]
    pub question: Question,
    /// The proposed changes, in order.
    #[serde(rename = "lines")]
    pub items: Vec<PoolSummaryItem>,
    /// The event that introduced it (set by the fold).
    #[serde(default, skip_serializing_if = "Seq::is_unset")]
    pub seq: Seq,
}

impl LessonOp {
    /// Returns the operation that adds a lesson about which nothing else is known.
    pub fn plain(
        id: LessonId,
        kind: ReflectionKind,
        scope: Scope,
        origin: LessonOrigin,
        text: LessonText,
    ) -> Self {
        Self::Add {
            id,
            kind,
            scope,
            origin,
            text,
            evidence: String::new(),
            rule: None,
            parents: Vec::new(),
            transition: None,
            task_key: None,
            task_type: None,
            pinned: false,
            taken_from: None,
            sources: None,
        }
    }
}

impl Author {
    /// Returns the origin of a lesson by this author.
    pub fn origin(self) -> LessonOrigin {
        match self {
            Self::Symbolic => LessonOrigin::Symbolic,
            Self::Mentor => LessonOrigin::Mentor,
            Self::Person => LessonOrigin::Person,
            Self::File => LessonOrigin::File,
        }
    }
}

impl Lesson {
    /// Returns the operation that adds it as it is now, without its earlier versions.
    pub fn add_op(&self) -> LessonOp {
        LessonOp::Add {
            id: self.id.clone(),
            kind: self.kind,
            scope: self.scope,
            origin: self.origin,
            text: self.text().clone(),
            evidence: self.evidence.to_string(),
            rule: self.rule.as_deref().map(str::to_owned),
            parents: self.parents.to_vec(),
            transition: self.transition.as_deref().cloned(),
            task_key: self.task_key.as_deref().map(str::to_owned),
            task_type: self.task_type.as_deref().map(str::to_owned),
            pinned: self.status == LessonStatus::Pinned,
            taken_from: self.taken_from.as_deref().map(str::to_owned),
            sources: self.sources.as_deref().map(Vec::from),
        }
    }

    /// Returns the number of prompts it has been in as it is worded now.
    pub fn uses_of_wording(&self) -> u32 {
        let others = self.versions.iter().filter(|version| version.text != *self.text());
        self.uses - others.map(|version| version.uses).sum::<u32>().min(self.uses)
    }

    /// Returns the name, without folders, of the file it was loaded from. Returns `None` if it was learnt in this
    /// session or in the session that this one replays.
    pub fn file_name(&self) -> Option<&str> {
        let file = self.file.as_deref().filter(|_| self.learnt_at == (0, 0))?;
        Some(file.rsplit(['/', '\\']).next().unwrap_or(file))
    }

    /// Returns episode and step at which its author worded it last. What others changed since doesn't count.
    pub fn worded_at(&self) -> (u32, u32) {
        let own = |edit: &LessonEdit| edit.at.0 == self.learnt_at.0 && self.origin == edit.author.origin();
        let mut edits = self.versions.iter().rev().filter_map(|version| version.edit);
        edits.find(own).map_or(self.learnt_at, |edit| edit.at)
    }

    /// Returns the edit that led to the wording in force, if its author isn't the lesson's and it isn't undone.
    pub fn edit_by_another(&self) -> Option<LessonEdit> {
        let (first, last) = self.versions.first().zip(self.versions.last())?;
        last.edit.filter(|edit| edit.author.origin() != self.origin && first.text != last.text)
    }

    /// Returns the wording in force.
    pub fn text(&self) -> &LessonText {
        static EMPTY: LessonText = LessonText { text: String::new(), solution: None };
        self.versions.last().map_or(&EMPTY, |v| &v.text)
    }

    /// Returns the number of the version in force, counted from 1.
    pub fn version(&self) -> u32 {
        self.versions.len() as u32
    }

    /// Returns whether it enters the next prompt.
    pub fn is_active(&self) -> bool {
        matches!(self.status, LessonStatus::On | LessonStatus::Pinned)
    }

    /// Returns whether prompts always leave it out where its scope doesn't cover the task. A lesson about a task applies only to that
    /// task, and a memory of a task type only to that type. So does a loaded lesson of a known type, and any for which a person chose
    /// this scope; other Abstract and Error lessons of a run are one list for all of its tasks (OmniReflect, Algorithm 1).
    pub fn is_scope_bound(&self) -> bool {
        match self.scope {
            Scope::Task => true,
            Scope::TaskType => {
                let is_memory = !matches!(
                    self.kind,
                    ReflectionKind::Abstract | ReflectionKind::Error | ReflectionKind::Progress
                );
                let is_chosen = self.origin == LessonOrigin::Person
                    || self.own_scope.is_some_and(|own| own != self.scope);
                is_memory || self.task_type.is_some() || is_chosen
            }
            Scope::Episode | Scope::Environment => false,
        }
    }

    /// Returns whether it belongs to the constitution: active Abstract and Error lessons with environment scope.
    pub fn is_in_constitution(&self) -> bool {
        self.is_general() && self.scope == Scope::Environment
    }

    /// Returns whether it is an active Abstract or Error lesson that other tasks can use: all of the environment, or those of a
    /// type.
    pub fn is_general(&self) -> bool {
        matches!(self.kind, ReflectionKind::Abstract | ReflectionKind::Error)
            && matches!(self.scope, Scope::Environment | Scope::TaskType)
            && self.is_active()
    }
}

impl LessonOp {
    /// Returns the id of the lesson it changes.
    pub fn id(&self) -> &LessonId {
        match self {
            Self::Add { id, .. }
            | Self::Recur { id }
            | Self::Measured { id, .. }
            | Self::Edit { id, .. }
            | Self::Status { id, .. }
            | Self::Rescope { id, .. }
            | Self::Move { id, .. } => id,
        }
    }

    /// Returns the operation that undoes this one. An `Add` is undone by retiring the lesson; a recurrence is only
    /// counted, and a measurement only noted: neither is undone.
    pub fn inverse(&self) -> Self {
        match self.clone() {
            Self::Recur { id } => Self::Recur { id },
            Self::Measured { id, measured } => Self::Measured { id, measured },
            Self::Add { id, pinned, .. } => {
                let previous = if pinned { LessonStatus::Pinned } else { LessonStatus::On };
                Self::Status { id, previous, status: LessonStatus::Retired, merged_into: None }
            }
            Self::Edit { id, previous, text } => Self::Edit { id, previous: text, text: previous },
            Self::Status { id, previous, status, .. } => {
                Self::Status { id, previous: status, status: previous, merged_into: None }
            }
            Self::Rescope { id, previous, scope } => Self::Rescope { id, previous: scope, scope: previous },
            Self::Move { id, previous, to } => Self::Move { id, previous: to, to: previous },
        }
    }
}
