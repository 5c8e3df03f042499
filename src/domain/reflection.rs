//! Text about a trajectory.

use super::{CallId, LessonText, Scope, Seq, Truncation};
use serde::{Deserialize, Serialize};

/// The kind of a reflection, and of the lessons kept from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReflectionKind {
    /// OmniReflect: a general aspect learnt.
    Abstract,
    /// OmniReflect: a mistake and its solution.
    Error,
    /// OmniReflect: where this episode stands and what comes next.
    Progress,
    /// Reflexion and FCRF: a plan for the next trial.
    Plan,
    /// FCRF: what was worth keeping of a failed trial.
    Experience,
    /// FCRF: a lesson from a corrected failure.
    Lesson,
    /// Sweet&Sour: what worked.
    Positive,
    /// Sweet&Sour: what failed.
    Negative,
    /// DORA: advice from a chosen prompt.
    Advice,
}

impl ReflectionKind {
    /// Every kind, in the order in which lists show them.
    pub const ALL: [Self; 9] = [
        Self::Abstract,
        Self::Error,
        Self::Progress,
        Self::Plan,
        Self::Experience,
        Self::Lesson,
        Self::Positive,
        Self::Negative,
        Self::Advice,
    ];
}

/// What a mentor is asked to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To reflect on a trajectory.
    #[default]
    Reflect,
    /// To make a shorter list of the lessons it is shown (OmniReflect's constitution).
    Summarise,
    /// To choose the lesson that fits best (FCRF's extraction of a tip).
    Choose,
    /// To build a plan from what was drawn before (FCRF's construction).
    Build,
    /// To find what made the difference between a failed and a corrected attempt (FCRF's pool).
    Contrast,
    /// To write the actions of a whole attempt before its first (planning-only).
    #[serde(rename = "actions")]
    PlanActions,
}

/// A question to the mentor: what to do, and what kind of reflection comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Question {
    /// The kind of reflection that is asked for.
    pub kind: ReflectionKind,
    /// What to do.
    #[serde(default, skip_serializing_if = "Purpose::is_reflect")]
    pub purpose: Purpose,
}

/// The turn a memory is about (Sweet&Sour's tuple, without its reflection).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transition {
    /// What the agent saw before it.
    pub observation: String,
    /// What it did.
    pub action: String,
    /// The reward it got for it.
    pub reward: f64,
}

/// Who wrote a reflection, or changed the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The rules of symbolic generation.
    Symbolic,
    /// A model.
    Mentor,
    /// A person.
    Person,
    /// A pool file that the run was started with.
    File,
}

/// One item of a reflection, and where the evidence for it stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReflectionItem {
    /// What it says.
    pub text: LessonText,
    /// The detector or rule behind it, if one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The words of the trajectory it rests on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// The turn it is about, where the method keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "moment")]
    pub transition: Option<Transition>,
}

/// A reflection as it was written; its kept items live on as lessons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reflection {
    /// Its kind.
    pub kind: ReflectionKind,
    /// Its author.
    pub author: Author,
    /// Episode it is about.
    pub episode: u32,
    /// Step it was written after (0: before the first).
    pub step: u32,
    /// What the mentor was asked to do; rules only reflect.
    #[serde(default, skip_serializing_if = "Purpose::is_reflect")]
    pub purpose: Purpose,
    /// Its items; none where nothing could be read, or where a person gave the question up.
    pub items: Vec<ReflectionItem>,
    /// What of the mentor's answer could not be used, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<String>,
    /// Texts of the answer that were not kept, each as the lesson it would have been: a person may add them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<LessonText>,
    /// What ended the mentor's answer early; none: it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncation>,
    /// The call that brought it, where a model wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// Who answered in the model's place, where a person took a recorded reply: `recorded:SESSION` or `cache`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "from")]
    pub reply_source: Option<String>,
    /// A person had changed the words of the question (set when it is folded).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prompt_edited: bool,
    /// The event that brought it (set when it is folded).
    #[serde(default, skip_serializing_if = "Seq::is_unset")]
    pub seq: Seq,
}

impl Question {
    /// The question for a reflection of a kind.
    pub fn reflect(kind: ReflectionKind) -> Self {
        Self { kind, purpose: Purpose::Reflect }
    }

    /// The words for it on the screen and in reports: what is asked for.
    pub fn name(self) -> String {
        let kind = self.kind.name();
        match self.purpose {
            Purpose::Reflect => kind.to_owned(),
            Purpose::Summarise => format!("summary of {kind}"),
            Purpose::Choose => format!("{kind} that fits"),
            Purpose::Build => format!("{kind} built of both"),
            Purpose::Contrast => format!("{kind} by contrast"),
            Purpose::PlanActions => format!("{kind} of actions"),
        }
    }
}

impl Reflection {
    /// The question it answers.
    pub fn question(&self) -> Question {
        Question { kind: self.kind, purpose: self.purpose }
    }
}

impl Purpose {
    /// The word for it in templates and on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reflect => "reflect",
            Self::Summarise => "summarise",
            Self::Choose => "choose",
            Self::Build => "build",
            Self::Contrast => "contrast",
            Self::PlanActions => "actions",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    fn is_reflect(&self) -> bool {
        *self == Self::Reflect
    }
}

impl ReflectionKind {
    /// How far a lesson of this kind reaches by itself: Plan and Experience their task, Progress its episode, the rest the
    /// environment.
    pub fn default_scope(self) -> Scope {
        match self {
            Self::Plan | Self::Experience => Scope::Task,
            Self::Progress => Scope::Episode,
            _ => Scope::Environment,
        }
    }

    /// The word for it on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Abstract => "Abstract",
            Self::Error => "Error",
            Self::Progress => "Progress",
            Self::Plan => "Plan",
            Self::Experience => "Experience",
            Self::Lesson => "Lesson",
            Self::Positive => "Positive",
            Self::Negative => "Negative",
            Self::Advice => "Advice",
        }
    }
}
