//! The conditions of segments and of texts. Their names and values are resolved when a template is parsed, so that a prompt
//! looks up no name of a template.

use crate::domain::{EpisodeRole, Interface, RunSpec};
use crate::engine::{Episode, State};
use serde_json::Value;

/// When a segment is part of a prompt.
#[derive(Clone, Debug)]
pub(in crate::prompt) enum Condition {
    Method(&'static str),
    Interface(Interface),
    Mentor(String),
    Role(EpisodeRole),
    Outcome(EpisodeOutcome),
    Reply(ReplyRequest),
    Setting(SettingCondition),
    Not(Box<Condition>),
}

/// How the shown episode has ended, if it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::prompt) enum EpisodeOutcome {
    Open,
    Won,
    Failed,
}

/// Whether the reply of the open step is requested for the first time, or again after an unusable one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::prompt) enum ReplyRequest {
    First,
    Repeated,
}

/// A value that a run's setting must have, or its option of an environment.
#[derive(Clone, Debug)]
pub(in crate::prompt) struct SettingCondition {
    pub(super) name: &'static str,
    pub(super) value: Value,
}

impl Condition {
    /// Returns whether the condition holds.
    pub(in crate::prompt) fn is_met(&self, state: &State) -> bool {
        let Some(run) = state.run.as_deref() else { return false };
        match self {
            Self::Method(method) => run.method == *method,
            Self::Interface(interface) => run.interface == *interface,
            Self::Mentor(mentor) => run.mentor == *mentor,
            Self::Role(role) => state.episode.as_ref().map(|e| e.role).unwrap_or_default() == *role,
            Self::Outcome(outcome) => {
                let ended = state.episode.as_ref().and_then(|episode| episode.outcome.as_ref());
                *outcome
                    == match ended {
                        None => EpisodeOutcome::Open,
                        Some(ended) if ended.won => EpisodeOutcome::Won,
                        Some(_) => EpisodeOutcome::Failed,
                    }
            }
            Self::Reply(request) => {
                let step = state.open_episode().and_then(Episode::last_step);
                let is_repeated =
                    step.is_some_and(|step| step.answer.is_none() && step.unusable_since_draft() > 0);
                *request == if is_repeated { ReplyRequest::Repeated } else { ReplyRequest::First }
            }
            Self::Setting(condition) => condition.is_met(run),
            Self::Not(condition) => !condition.is_met(state),
        }
    }
}

impl SettingCondition {
    /// Returns whether a run's setting has the value.
    pub(super) fn is_met(&self, run: &RunSpec) -> bool {
        run.settings.value(self.name).is_some_and(|recorded| {
            // 1 and 1.0 are the same number.
            *recorded == self.value || recorded.as_f64().is_some_and(|n| self.value.as_f64() == Some(n))
        })
    }
}
