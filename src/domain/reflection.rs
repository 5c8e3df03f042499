//! Reflections: what a mentor or a rule writes about a trajectory.

use super::{CallId, LessonText, Scope, Seq, Truncation, WordCounts};
use serde::{Deserialize, Serialize};

/// A reflection's kind says what it contains, such as a mistake or a plan. Lessons kept from it have the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReflectionKind {
    /// A general insight.
    Abstract,
    /// A mistake and its solution.
    Error,
    /// How far this episode has got and what comes next.
    Progress,
    /// A plan for the next trial.
    Plan,
    /// What is worth keeping from a failed trial.
    Experience,
    /// A lesson from a corrected failure.
    Lesson,
    /// What worked.
    Positive,
    /// What failed.
    Negative,
    /// Advice from a chosen prompt.
    Advice,
    /// The instruction with which the mentor writes advice.
    Instruction,
}

impl ReflectionKind {
    /// Every kind, in display order.
    pub const ALL: [Self; 10] = [
        Self::Abstract,
        Self::Error,
        Self::Progress,
        Self::Plan,
        Self::Experience,
        Self::Lesson,
        Self::Positive,
        Self::Negative,
        Self::Advice,
        Self::Instruction,
    ];

    /// Returns whether the symbolic rules write reflections of this kind while an episode is played.
    pub const fn is_written_in_episode(self) -> bool {
        match self {
            Self::Abstract | Self::Error | Self::Progress => true,
            Self::Plan
            | Self::Experience
            | Self::Lesson
            | Self::Positive
            | Self::Negative
            | Self::Advice
            | Self::Instruction => false,
        }
    }
}

/// A purpose says what a mentor is asked to do, such as reflecting on a trajectory or summarizing lessons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Reflect on a trajectory.
    #[default]
    Reflect,
    /// Shorten the given list of lessons.
    Summarise,
    /// Choose the lesson that fits best.
    Choose,
    /// Build a plan from earlier reflections.
    Build,
    /// Compare a failed with a corrected attempt and find the decisive difference.
    Contrast,
    /// Draw insights from several successful attempts.
    Extract,
    /// Write the actions of a whole attempt before its first step.
    #[serde(rename = "actions")]
    PlanActions,
    /// Write a plan for an attempt before its first step.
    Draft,
    /// Find the problems of a plan.
    Criticise,
    /// Write the plan again without the problems that were found.
    Improve,
}

/// A question to the mentor has a purpose and the kind of reflection expected in reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Question {
    pub kind: ReflectionKind,
    #[serde(default, skip_serializing_if = "Purpose::is_reflect")]
    pub purpose: Purpose,
}

/// A transition is one observation, action and reward of a trajectory that a reflection is about. A method
/// may store it with the reflection as one tuple.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transition {
    /// What the agent saw before the action.
    pub observation: String,
    pub action: String,
    pub reward: f64,
}

/// The author of a reflection or of a lesson change is a set of symbolic rules, a mentor, a person or a loaded file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The rules of symbolic generation.
    Symbolic,
    /// A model.
    Mentor,
    Person,
    /// The pool file with which the run started.
    File,
}

/// A reflection item is one statement of a reflection, with the evidence for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReflectionItem {
    pub text: LessonText,
    /// The detector or rule that produced it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The passage of the trajectory that supports it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// The transition it is about, if the method records one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "moment")]
    pub transition: Option<Transition>,
}

/// A reflection is a text about a trajectory, written by a mentor or by rules; each of its items that is kept becomes a
/// lesson.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reflection {
    pub kind: ReflectionKind,
    pub author: Author,
    /// The episode it is about.
    pub episode: u32,
    /// The step after which it was written; 0 if before the first.
    pub step: u32,
    /// What the mentor was asked to do; rules only reflect.
    #[serde(default, skip_serializing_if = "Purpose::is_reflect")]
    pub purpose: Purpose,
    /// Empty if nothing could be parsed, or if a person abandoned the question.
    pub items: Vec<ReflectionItem>,
    /// Descriptions of the parts of the mentor's reply that could not be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<String>,
    /// Rejected parts of the reply in the form of lessons, so that a person can still add them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<LessonText>,
    /// What ended the mentor's reply early; `None` if it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncation>,
    /// The call that returned it, if a model wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// The source of the reply if a person used a recorded one in place of the model's: `recorded:SESSION` or `cache`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "from")]
    pub reply_source: Option<String>,
    /// Set if it says the same as the reflection of its kind before it on the same task (`docs/EFFECT.md`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_advice: Option<SameAdvice>,
    /// Whether a person had edited the mentor's prompt (set by the fold).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prompt_edited: bool,
    /// The event that introduced it (set by the fold).
    #[serde(default, skip_serializing_if = "Seq::is_unset")]
    pub seq: Seq,
}

/// How a reflection repeats the ones before it: successive ones of its kind on the same task.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SameAdvice {
    /// How many of them say the same, this one included; at least 2.
    pub times: u32,
    /// The smallest similarity of one of them to the one before, between 0 and 1.
    pub cosine: f64,
    /// Whether the task ends early because of it (setting `early_stop`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_task: bool,
}

impl SameAdvice {
    /// The number of successive reflections with the same advice from which it is reported.
    pub const ALARM: u32 = 3;

    /// Describes it in a few words.
    pub fn describe(self) -> String {
        let end = if self.ends_task { ": the task ends early" } else { "" };
        format!("same advice {} times{end}", self.times)
    }
}

impl Question {
    /// Creates a question for a reflection of this kind.
    pub fn reflect(kind: ReflectionKind) -> Self {
        Self { kind, purpose: Purpose::Reflect }
    }

    /// Returns the question's name in template files: `reflect.error`, `summarise.abstract`.
    pub fn template_name(self) -> String {
        format!("{}.{}", self.purpose.name(), self.kind.name().to_lowercase())
    }

    /// Returns the question's name on the screen and in reports.
    pub fn name(self) -> String {
        let kind = self.kind.name();
        match self.purpose {
            Purpose::Reflect => kind.to_owned(),
            Purpose::Summarise => format!("summary of {kind}"),
            Purpose::Choose => format!("best-fitting {kind}"),
            Purpose::Build => format!("{kind} from reflections"),
            Purpose::Contrast => format!("{kind} from comparison"),
            Purpose::Extract => format!("{kind} from successes"),
            Purpose::PlanActions => format!("{kind} of actions"),
            Purpose::Draft => format!("first {kind}"),
            Purpose::Criticise => "criticism of the plan".to_owned(),
            Purpose::Improve => format!("improved {kind}"),
        }
    }
}

impl Reflection {
    /// Creates a reflection of these items, written after a step of an episode.
    pub fn new(
        kind: ReflectionKind,
        author: Author,
        (episode, step): (u32, u32),
        items: Vec<ReflectionItem>,
    ) -> Self {
        Self {
            kind,
            author,
            episode,
            step,
            purpose: Purpose::Reflect,
            items,
            complaints: Vec::new(),
            dropped: Vec::new(),
            truncated: None,
            call: None,
            reply_source: None,
            same_advice: None,
            prompt_edited: false,
            seq: Seq::default(),
        }
    }

    /// Returns whether it advises the next steps or attempts, so that repeating it says nothing new. Rules write Abstract, Error and
    /// Progress reflections at every step in the same words, so these are advice only if a model wrote them.
    pub fn is_advice(&self) -> bool {
        let asks_for_advice = matches!(self.purpose, Purpose::Reflect | Purpose::Build);
        let is_of_model = self.author == Author::Mentor;
        !self.items.is_empty() && asks_for_advice && (is_of_model || !self.kind.is_written_in_episode())
    }

    /// Returns the words of its items, by which it is compared with the one before.
    pub fn word_counts(&self) -> WordCounts {
        let parts = self.items.iter().flat_map(|item| [Some(&item.text.text), item.text.solution.as_ref()]);
        let texts: Vec<&str> = parts.flatten().map(String::as_str).collect();
        WordCounts::of(&texts.join("\n"))
    }

    /// Returns how it repeats those before it, from [`SameAdvice::ALARM`] reflections on.
    pub fn repeated_advice(&self) -> Option<SameAdvice> {
        self.same_advice.filter(|same| same.times >= SameAdvice::ALARM)
    }

    /// Returns the question it answers.
    pub fn question(&self) -> Question {
        Question { kind: self.kind, purpose: self.purpose }
    }
}

impl Purpose {
    /// Returns the purpose's name in templates and on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reflect => "reflect",
            Self::Summarise => "summarise",
            Self::Choose => "choose",
            Self::Build => "build",
            Self::Contrast => "contrast",
            Self::Extract => "extract",
            Self::PlanActions => "actions",
            Self::Draft => "draft",
            Self::Criticise => "criticise",
            Self::Improve => "improve",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_reflect(&self) -> bool {
        *self == Self::Reflect
    }
}

impl ReflectionKind {
    /// Returns the scope of lessons of this kind unless a person or method sets another: the task for Plan and
    /// Experience, the episode for Progress, the environment for the rest.
    pub fn default_scope(self) -> Scope {
        match self {
            Self::Plan | Self::Experience => Scope::Task,
            Self::Progress => Scope::Episode,
            _ => Scope::Environment,
        }
    }

    /// Returns the scope that a person's new lesson of this kind has if none is chosen.
    pub fn scope_of_new_lesson(self) -> Scope {
        match self {
            Self::Progress => Scope::Episode,
            Self::Plan | Self::Advice => Scope::Task,
            _ => Scope::Environment,
        }
    }

    /// Returns the kind's name on the screen.
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
            Self::Instruction => "Instruction",
        }
    }
}
