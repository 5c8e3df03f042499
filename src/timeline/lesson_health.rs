//! Health of reflection (`docs/EFFECT.md`): repeated advice, lessons that say the same or the opposite, lessons
//! that are never used or not obeyed, and how much of the prompt lessons take.
//!
//! [`check_lessons`] needs only the lessons, such as those of a pool file. [`HealthCollector`] reads the events of a session
//! and checks everything. Nothing here judges whether a lesson helps; only a measurement does, whose verdict is quoted.

mod advice;
mod measured;
mod pairs;
#[cfg(test)]
mod tests;
mod usage;

pub use advice::{RepeatedAdvice, repeated_advice};
pub use usage::HealthCollector;

use crate::domain::{AdviceCounts, Lesson, LessonId, SameAdvice};
use serde::Serialize;

/// The cosine from which successive reflections count as the same advice in a run without the setting `early_stop_cosine`.
pub const REPEATED_COSINE: f64 = 0.90;
/// The number of successive reflections with the same advice from which it is reported.
pub const REPEATED_TIMES: usize = SameAdvice::ALARM as usize;
/// The cosine from which two lessons count as duplicates.
pub const DUPLICATE_COSINE: f64 = 0.80;
/// The number of episodes in force without a prompt from which a lesson counts as never used.
pub const UNUSED_EPISODES: usize = 3;
/// The share of the prompt from which lessons take too much of it.
pub const LARGE_SHARE: f64 = 0.5;

/// A lesson that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LessonRef {
    /// The short number on the screen.
    pub number: u32,
    pub id: LessonId,
    /// The wording in force; for an Error lesson, what to do instead.
    pub text: String,
}

impl LessonRef {
    /// Returns a lesson as it is worded now.
    pub fn new(lesson: &Lesson) -> Self {
        let text = lesson.text();
        Self {
            number: lesson.number,
            id: lesson.id.clone(),
            text: text.solution.as_deref().unwrap_or(&text.text).to_owned(),
        }
    }
}

/// Something that a person may want to change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// Two active lessons ask for opposite things.
    Contradiction { lessons: [LessonRef; 2] },
    /// Two active lessons say nearly the same.
    Duplicate {
        lessons: [LessonRef; 2],
        /// The similarity of their words.
        cosine: f64,
    },
    /// Successive reflections on a task say the same.
    RepeatedAdvice(RepeatedAdvice),
    /// A lesson was in no prompt during several episodes of its scope.
    NeverUsed {
        lesson: LessonRef,
        /// The number of ended episodes in which it could have been used.
        episodes: usize,
    },
    /// The agent made the mistake that a lesson is about while the lesson was in its prompt.
    NotObeyed {
        lesson: LessonRef,
        /// The detector that noted the mistake.
        detector: String,
        /// The number of steps with the mistake.
        times: usize,
        /// The number of prompts that had the lesson.
        uses: u32,
    },
    /// A measurement has shown that a lesson is harmful, and more pairs needed more steps with it than fewer.
    Toxic {
        lesson: LessonRef,
        /// The result, with its column and interval.
        measured: String,
        /// Pairs by their steps (DORA's paper, question 3).
        pairs: AdviceCounts,
    },
    /// A measurement has shown that a lesson has no effect that matters, and none that it has one.
    WithoutEffect {
        lesson: LessonRef,
        /// The result, with its column and interval.
        measured: String,
    },
    /// Lessons take a large part of the prompts.
    LargeShare {
        /// The median over steps, between 0 and 1.
        share: f64,
    },
}

/// What a person can do about a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Join two lessons into one.
    Merge,
    /// Remove a lesson from prompts.
    Retire,
    /// Make lessons shorter, or use fewer.
    Shorten,
    /// Measure whether a lesson helps.
    Measure,
}

impl Finding {
    /// Returns the name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Contradiction { .. } => "contradiction",
            Self::Duplicate { .. } => "duplicate",
            Self::RepeatedAdvice(_) => "repeated_advice",
            Self::NeverUsed { .. } => "never_used",
            Self::NotObeyed { .. } => "not_obeyed",
            Self::Toxic { .. } => "toxic",
            Self::WithoutEffect { .. } => "without_effect",
            Self::LargeShare { .. } => "large_share",
        }
    }

    /// Returns what a person can do about it, the most likely first.
    pub fn remedies(&self) -> &'static [Remedy] {
        match self {
            Self::Contradiction { .. } | Self::Toxic { .. } | Self::WithoutEffect { .. } => {
                &[Remedy::Retire, Remedy::Measure]
            }
            Self::Duplicate { .. } => &[Remedy::Merge, Remedy::Retire],
            Self::RepeatedAdvice(_) => &[Remedy::Measure],
            Self::NeverUsed { .. } => &[Remedy::Retire],
            Self::NotObeyed { .. } => &[Remedy::Measure, Remedy::Retire],
            Self::LargeShare { .. } => &[Remedy::Shorten],
        }
    }

    /// Returns the lessons it is about.
    pub fn lessons(&self) -> &[LessonRef] {
        match self {
            Self::Contradiction { lessons } | Self::Duplicate { lessons, .. } => lessons,
            Self::NeverUsed { lesson, .. }
            | Self::NotObeyed { lesson, .. }
            | Self::Toxic { lesson, .. }
            | Self::WithoutEffect { lesson, .. } => std::slice::from_ref(lesson),
            Self::RepeatedAdvice(_) | Self::LargeShare { .. } => &[],
        }
    }

    /// Describes it in one line, without the texts of the lessons.
    pub fn describe(&self) -> String {
        match self {
            Self::Contradiction { lessons: [first, second] } => {
                format!("lessons {} and {} contradict each other", first.number, second.number)
            }
            Self::Duplicate { lessons: [first, second], cosine } => {
                format!(
                    "lessons {} and {} say the same (similarity {cosine:.2})",
                    first.number, second.number
                )
            }
            Self::RepeatedAdvice(repeated) => repeated.describe(),
            Self::NeverUsed { lesson, episodes } => {
                format!("lesson {} was in no prompt of {episodes} episodes", lesson.number)
            }
            Self::NotObeyed { lesson, detector, times, uses } => format!(
                "lesson {} was not obeyed at {times} {} ({}), in {uses} {}",
                lesson.number,
                if *times == 1 { "step" } else { "steps" },
                detector.replace('_', " "),
                if *uses == 1 { "prompt" } else { "prompts" },
            ),
            Self::Toxic { lesson, measured, pairs } => {
                format!("lesson {} is toxic: {measured}; {}", lesson.number, pairs.describe())
            }
            Self::WithoutEffect { lesson, measured } => {
                format!("lesson {} is without effect: {measured}", lesson.number)
            }
            Self::LargeShare { share } => {
                format!("lessons take {:.0} % of the prompt (median over steps)", share * 100.0)
            }
        }
    }
}

impl LessonHealth {
    /// Describes the share of the prompt that lessons take; empty without prompts. The median counts the steps before the first
    /// lesson, too.
    pub fn describe_share(&self) -> String {
        let (Some(now), Some(median)) = (self.last_prompt_share, self.prompt_share) else {
            return String::new();
        };
        format!(", {:.0} % of the prompt now, median over all steps {:.0} %", now * 100.0, median * 100.0)
    }
}

/// The health of the lessons of a pool or a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LessonHealth {
    /// The number of active lessons.
    pub lessons: usize,
    /// The median share of the prompt that lessons take, between 0 and 1; `None` without prompts.
    pub prompt_share: Option<f64>,
    /// The share of the last prompt, between 0 and 1; `None` without prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_prompt_share: Option<f64>,
    pub findings: Vec<Finding>,
}

/// Compares active lessons with each other, and looks at what was measured of them. `tasks` gives the task on which a lesson of the scope task applies, if it is
/// known: lessons for different tasks are never in the same prompt.
pub fn check_lessons<'a>(
    lessons: impl IntoIterator<Item = &'a Lesson>,
    tasks: impl Fn(&Lesson) -> Option<String>,
) -> LessonHealth {
    let active: Vec<&Lesson> = lessons.into_iter().filter(|lesson| lesson.is_active()).collect();
    let mut findings = pairs::compare_lessons(&active, tasks);
    findings.extend(active.iter().filter_map(|lesson| measured::measured_finding(lesson)));
    LessonHealth { lessons: active.len(), findings, ..LessonHealth::default() }
}
