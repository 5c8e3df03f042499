//! Conditions at which a run stops.

use super::fault::Fault;
use crate::domain::NoteKind;
use crate::engine::{Envelope, Event};
use std::fmt;

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Break {
    /// A step of this number is answered.
    Step(u32),
    /// The goal is reached.
    Won,
    /// A detector found a mistake.
    Mistake,
    /// This detector found something.
    Note(String),
    /// A reflection was written, of this kind where one is named.
    Reflection(Option<String>),
    /// An action with these words in it ran.
    Action(String),
    /// An observation with these words in it came.
    Seen(String),
}

impl Break {
    /// Reads a condition.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (text.trim(), None),
        };
        let bad = || {
            Fault::usage(
                format!("--break {text:?}: no such condition"),
                "write step=N, won, mistake, note=DETECTOR, reflection, reflection=KIND, action=WORDS or seen=WORDS",
            )
        };
        Ok(match (name, value.filter(|v| !v.is_empty())) {
            ("step", Some(n)) => Self::Step(n.parse().map_err(|_error| bad())?),
            ("won", None) => Self::Won,
            ("mistake", None) => Self::Mistake,
            ("note", Some(detector)) => Self::Note(detector.replace(' ', "_")),
            ("reflection", kind) => Self::Reflection(kind.map(str::to_lowercase)),
            ("action", Some(words)) => Self::Action(words.to_owned()),
            ("seen", Some(words)) => Self::Seen(words.to_owned()),
            _ => return Err(bad()),
        })
    }

    /// Whether it holds at this event.
    pub(super) fn holds(&self, envelope: &Envelope) -> bool {
        match (self, &envelope.event) {
            (Self::Step(n), Event::Observed { step, .. }) => n == step,
            (Self::Won, Event::Observed { turn, .. }) => turn.won,
            (Self::Mistake, Event::Noted { notes, .. }) => notes.iter().any(|n| n.kind == NoteKind::Mistake),
            (Self::Note(detector), Event::Noted { notes, .. }) => {
                notes.iter().any(|n| n.detector == *detector)
            }
            (Self::Reflection(kind), Event::Reflected { reflection }) => {
                kind.as_ref().is_none_or(|k| reflection.kind.name().to_lowercase() == *k)
            }
            (Self::Action(words), Event::ActionTaken { executed, .. }) => {
                executed.action.contains(words.as_str())
            }
            (Self::Seen(words), Event::Observed { turn, .. }) => turn.observation.contains(words.as_str()),
            _ => false,
        }
    }
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(n) => write!(f, "step={n}"),
            Self::Won => f.write_str("won"),
            Self::Mistake => f.write_str("mistake"),
            Self::Note(detector) => write!(f, "note={detector}"),
            Self::Reflection(None) => f.write_str("reflection"),
            Self::Reflection(Some(kind)) => write!(f, "reflection={kind}"),
            Self::Action(words) => write!(f, "action={words}"),
            Self::Seen(words) => write!(f, "seen={words}"),
        }
    }
}
