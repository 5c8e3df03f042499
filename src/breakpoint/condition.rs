//! What can be waited for, and how it is written. Written and read again it is the same.

use super::number;
use crate::domain::{BreakpointConfig, ReflectionKind};
use std::fmt;

/// Which text of a step is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPart {
    /// The proposed action.
    Action,
    /// What the world answered, as the agent sees it.
    Observation,
    /// What the agent thought.
    Thought,
}

/// What is looked for in a text. Case counts where there is a capital letter in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// A regular expression.
    Regex(String),
    /// These words as they stand.
    Words(String),
}

/// What can be the same step after step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatedPart {
    /// The action.
    Action,
    /// The observation.
    Observation,
    /// The thought.
    Thought,
}

/// What is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpendLimit {
    /// Tokens of prompts and replies.
    Tokens(u64),
    /// Costs, in billionths of the prices' unit.
    Cost(u64),
    /// Seconds in which the session moves.
    Time(u64),
}

/// What a sum is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpendScope {
    /// The whole run.
    Run,
    /// The open episode.
    Episode,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A text of a step matches.
    Text(TextPart, Pattern),
    /// Nothing happened so many times in a row.
    NothingHappened(u32),
    /// The world did not accept the action so many times in a row.
    Invalid(u32),
    /// The same so many times in a row.
    Repeated(RepeatedPart, u32),
    /// The agent goes in circles.
    GoingInCircles,
    /// The goal holds.
    Won,
    /// A detector found a mistake.
    Mistake,
    /// This detector found something.
    Note(String),
    /// The reward is another one than a step before.
    RewardChanged,
    /// The progress rate is another one than a step before.
    ProgressChanged,
    /// So many steps without progress.
    Stalled(u32),
    /// A reflection was written, of this kind where one is named.
    Reflection(Option<ReflectionKind>),
    /// The lesson of this short number entered a prompt.
    Lesson(u32),
    /// More than this was spent.
    SpentMoreThan(SpendScope, SpendLimit),
    /// The step of this number was answered.
    Step(u32),
    /// An episode ended; won or not, where that is said.
    EpisodeEnded(Option<bool>),
}

/// A condition and what is done when it comes true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakpointSpec {
    /// The condition.
    pub condition: Condition,
    /// It only tells.
    pub warn: bool,
    /// Its first hit switches it off.
    pub once: bool,
}

impl BreakpointSpec {
    /// As the engine keeps it.
    pub fn to_record(&self) -> BreakpointConfig {
        BreakpointConfig { condition: self.condition.to_string(), warn: self.warn, once: self.once }
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
        let row = |f: &mut fmt::Formatter<'_>, word: &str, n: u32| match n {
            1 => f.write_str(word),
            n => write!(f, "{word} {n}"),
        };
        match self {
            Self::Text(part, Pattern::Regex(pattern)) => write!(f, "{} ~ {pattern}", part.name()),
            Self::Text(part, Pattern::Words(words)) => write!(f, "{} = {words}", part.name()),
            Self::NothingHappened(n) => row(f, "nothing", *n),
            Self::Invalid(n) => row(f, "invalid", *n),
            Self::Repeated(what, n) => write!(f, "same {} {n}", what.name()),
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
