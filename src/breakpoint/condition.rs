//! What can be waited for, and how it is written. Written and read again it is the same.

use super::number;
use crate::domain::{BreakpointConfig, ReflectionKind};
use std::fmt;

/// Which text of a step is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
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
pub enum Same {
    /// The action.
    Action,
    /// The observation.
    Observation,
    /// The thought.
    Thought,
}

/// What is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spend {
    /// Tokens of prompts and replies.
    Tokens(u64),
    /// Costs, in billionths of the prices' unit.
    Cost(u64),
    /// Seconds in which the session moves.
    Time(u64),
}

/// What a sum is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole run.
    Run,
    /// The open episode.
    Episode,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A text of a step matches.
    Text(Part, Pattern),
    /// Nothing happened so many times in a row.
    Nothing(u32),
    /// The world did not accept the action so many times in a row.
    Invalid(u32),
    /// The same so many times in a row.
    Same(Same, u32),
    /// The agent goes in circles.
    Cycle,
    /// The goal holds.
    Won,
    /// A detector found a mistake.
    Mistake,
    /// This detector found something.
    Note(String),
    /// The reward is another one than a step before.
    Reward,
    /// The progress rate is another one than a step before.
    Progress,
    /// So many steps without progress.
    Stalled(u32),
    /// A reflection was written, of this kind where one is named.
    Reflection(Option<ReflectionKind>),
    /// The lesson of this short number entered a prompt.
    Lesson(u32),
    /// More than this was spent.
    Above(Scope, Spend),
    /// The step of this number was answered.
    Step(u32),
    /// An episode ended; won or not, where that is said.
    End(Option<bool>),
}

/// A condition and what is done when it comes true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meant {
    /// The condition.
    pub condition: Condition,
    /// It only tells.
    pub warn: bool,
    /// Its first hit switches it off.
    pub once: bool,
}

impl Meant {
    /// As the engine keeps it.
    pub fn stop(&self) -> BreakpointConfig {
        BreakpointConfig { condition: self.condition.to_string(), warn: self.warn, once: self.once }
    }
}

impl Part {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Observation => "observation",
            Self::Thought => "thought",
        }
    }
}

impl Same {
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
            Self::Nothing(n) => row(f, "nothing", *n),
            Self::Invalid(n) => row(f, "invalid", *n),
            Self::Same(what, n) => write!(f, "same {} {n}", what.name()),
            Self::Cycle => f.write_str("cycle"),
            Self::Won => f.write_str("won"),
            Self::Mistake => f.write_str("mistake"),
            Self::Note(detector) => write!(f, "note {detector}"),
            Self::Reward => f.write_str("reward changed"),
            Self::Progress => f.write_str("progress changed"),
            Self::Stalled(n) => write!(f, "stalled {n}"),
            Self::Reflection(None) => f.write_str("reflection"),
            Self::Reflection(Some(kind)) => write!(f, "reflection {}", kind.name().to_lowercase()),
            Self::Lesson(n) => write!(f, "lesson {n}"),
            Self::Above(scope, spend) => {
                if *scope == Scope::Episode {
                    f.write_str("episode ")?;
                }
                match spend {
                    Spend::Tokens(n) => write!(f, "tokens > {n}"),
                    Spend::Cost(nano) => write!(f, "cost > {}", number::decimal(*nano)),
                    Spend::Time(seconds) => write!(f, "time > {}", number::span(*seconds)),
                }
            }
            Self::Step(n) => write!(f, "step {n}"),
            Self::End(None) => f.write_str("end"),
            Self::End(Some(true)) => f.write_str("end success"),
            Self::End(Some(false)) => f.write_str("end failure"),
        }
    }
}
