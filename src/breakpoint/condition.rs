//! Conditions and their text form. Parsing a formatted condition gives the same condition.

use super::number;
use crate::domain::{BreakpointConfig, ReflectionKind};
use std::fmt;

/// The part of a step whose text is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPart {
    /// The proposed action.
    Action,
    /// The environment's answer, as the agent sees it.
    Observation,
    Thought,
}

/// A search pattern. It is case-sensitive if it contains a capital letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    Regex(String),
    /// Literal text, found anywhere.
    Words(String),
}

/// The part of a step that can repeat step after step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatedPart {
    Action,
    Observation,
    Thought,
}

/// A spending limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpendLimit {
    /// Tokens of prompts and replies.
    Tokens(u64),
    /// Cost, in billionths of the currency unit of the configured prices.
    Cost(u64),
    /// Seconds during which the session is running.
    Time(u64),
}

/// The scope over which spending is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpendScope {
    Run,
    /// The open episode.
    Episode,
}

/// A condition for a breakpoint or watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The given part of the step matches the pattern.
    Text(TextPart, Pattern),
    /// This many actions in a row had no effect, according to the detectors.
    NothingHappened(u32),
    /// The environment did not accept the action this many times in a row.
    Invalid(u32),
    /// The same part repeated this many times in a row.
    Repeated(RepeatedPart, u32),
    /// This many successive reflections on a task gave the same advice.
    SameAdvice(u32),
    /// A detector found that the agent is going in circles.
    GoingInCircles,
    /// The goal is reached.
    Won,
    /// A detector noted a mistake.
    Mistake,
    /// The detector of this name noted something.
    Note(String),
    /// The reward differs from that of the previous step.
    RewardChanged,
    /// The progress rate differs from that of the previous step.
    ProgressChanged,
    /// This many steps in a row made no progress.
    Stalled(u32),
    /// A reflection was written, of this kind if one is given.
    Reflection(Option<ReflectionKind>),
    /// The lesson with this number (6 for `#6`) entered a prompt.
    Lesson(u32),
    /// More than this limit was spent.
    SpentMoreThan(SpendScope, SpendLimit),
    /// The step with this number is complete.
    Step(u32),
    /// An episode ended: any (`None`), a won one (`Some(true)`) or an unsuccessful one (`Some(false)`).
    EpisodeEnded(Option<bool>),
}

/// A condition, and what happens when it becomes true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakpointSpec {
    pub condition: Condition,
    /// Makes it a watch, which marks the step instead of pausing.
    pub is_watch: bool,
    /// Disables the breakpoint after its first hit.
    pub once: bool,
}

impl BreakpointSpec {
    /// Converts to the configuration that the engine stores.
    pub fn to_config(&self) -> BreakpointConfig {
        BreakpointConfig { condition: self.condition.to_string(), is_watch: self.is_watch, once: self.once }
    }
}

impl TextPart {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Observation => "observation",
            Self::Thought => "thought",
        }
    }
}

impl RepeatedPart {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Observation => "observation",
            Self::Thought => "thought",
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write_counted = |f: &mut fmt::Formatter<'_>, word: &str, n: u32| match n {
            1 => f.write_str(word),
            n => write!(f, "{word} {n}"),
        };
        match self {
            Self::Text(part, Pattern::Regex(pattern)) => write!(f, "{} ~ {pattern}", part.name()),
            Self::Text(part, Pattern::Words(words)) => write!(f, "{} = {words}", part.name()),
            Self::NothingHappened(n) => write_counted(f, "nothing", *n),
            Self::Invalid(n) => write_counted(f, "invalid", *n),
            Self::Repeated(part, n) => write!(f, "same {} {n}", part.name()),
            Self::SameAdvice(n) => write!(f, "same advice {n}"),
            Self::GoingInCircles => f.write_str("cycle"),
            Self::Won => f.write_str("won"),
            Self::Mistake => f.write_str("mistake"),
            Self::Note(detector) => write!(f, "note {detector}"),
            Self::RewardChanged => f.write_str("reward changed"),
            Self::ProgressChanged => f.write_str("progress changed"),
            Self::Stalled(n) => write!(f, "stalled {n}"),
            Self::Reflection(None) => f.write_str("reflection"),
            Self::Reflection(Some(kind)) => write!(f, "reflection {}", kind.name().to_lowercase()),
            Self::Lesson(n) => write!(f, "lesson {n}"),
            Self::SpentMoreThan(scope, spend) => {
                if *scope == SpendScope::Episode {
                    f.write_str("episode ")?;
                }
                match spend {
                    SpendLimit::Tokens(n) => write!(f, "tokens > {n}"),
                    SpendLimit::Cost(nano) => write!(f, "cost > {}", number::format_billionths(*nano)),
                    SpendLimit::Time(seconds) => write!(f, "time > {}", number::format_seconds(*seconds)),
                }
            }
            Self::Step(n) => write!(f, "step {n}"),
            Self::EpisodeEnded(None) => f.write_str("end"),
            Self::EpisodeEnded(Some(true)) => f.write_str("end success"),
            Self::EpisodeEnded(Some(false)) => f.write_str("end failure"),
        }
    }
}
