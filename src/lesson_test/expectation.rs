//! What a proposal must, or must not, be.

use crate::breakpoint::{judge_proposal, parse_proposal_condition};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A proposal of the actor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proposal {
    pub thought: Option<String>,
    /// `None` if the actor only thought, or its reply could not be used.
    pub action: Option<String>,
}

impl Proposal {
    /// Returns what is proposed: the action, or `think: ...`. `None` for an unusable reply.
    pub fn text(&self) -> Option<String> {
        self.action.clone().or_else(|| self.thought.as_ref().map(|thought| format!("think: {thought}")))
    }
}

/// What a proposal is compared with. Exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The proposal itself: an action, or `think: ...`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// A regular expression on the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// A breakpoint condition about an action or a thought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

/// What is expected of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// The proposal must be this.
    Expect(Target),
    /// The proposal may be anything else that can be used.
    Forbid(Target),
}

/// Whether a proposal complies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Complies,
    Differs,
    /// There is no proposal: the reply could not be used.
    NoProposal,
}

impl Expectation {
    /// Parses what a person typed: an action as it is, `/REGEX/`, or `if CONDITION`.
    ///
    /// # Errors
    /// Returns what is wrong and how to write it.
    pub fn parse(text: &str, is_forbidden: bool) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("type an action, /a pattern/ or `if CONDITION`".to_owned());
        }
        let pattern = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        let target = match (pattern.filter(|p| !p.is_empty()), text.strip_prefix("if ")) {
            (Some(pattern), _) => Target { pattern: Some(pattern.to_owned()), ..Target::default() },
            (None, Some(rest)) => Target { condition: Some(rest.trim().to_owned()), ..Target::default() },
            (None, None) => Target { action: Some(text.to_owned()), ..Target::default() },
        };
        let expectation = if is_forbidden { Self::Forbid(target) } else { Self::Expect(target) };
        expectation.check()?;
        Ok(expectation)
    }

    fn target(&self) -> &Target {
        match self {
            Self::Expect(target) | Self::Forbid(target) => target,
        }
    }

    /// Returns the condition that a proposal's texts are matched with; `None` for an action, which is compared.
    fn condition(&self) -> Option<String> {
        let Target { pattern, condition, .. } = self.target();
        pattern.as_ref().map(|pattern| format!("action ~ {pattern}")).or_else(|| condition.clone())
    }

    /// Checks that exactly one thing is compared, and that it can be judged without an environment.
    ///
    /// # Errors
    /// Returns what is wrong and how to write it.
    pub fn check(&self) -> Result<(), String> {
        let Target { action, pattern, condition } = self.target();
        let given = [action, pattern, condition].into_iter().flatten().count();
        if given != 1 {
            return Err(format!("{given} of action, pattern and condition are given; give one"));
        }
        match self.condition() {
            Some(condition) => parse_proposal_condition(&condition).map(drop),
            None => Ok(()),
        }
    }

    /// Judges a proposal. Actions are compared without differences in case and white space.
    pub fn judge(&self, proposal: &Proposal) -> Verdict {
        let Some(text) = proposal.text() else { return Verdict::NoProposal };
        let is_target = match (self.condition(), &self.target().action) {
            (Some(condition), _) => {
                judge_proposal(&condition, proposal.thought.as_deref(), proposal.action.as_deref())
                    .unwrap_or(false)
            }
            (None, Some(action)) => normalized(action) == normalized(&text),
            (None, None) => false,
        };
        let is_wanted = matches!(self, Self::Expect(_));
        if is_target == is_wanted { Verdict::Complies } else { Verdict::Differs }
    }
}

fn normalized(action: &str) -> String {
    action.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Expect(_)) { "expects " } else { "forbids " })?;
        match self.target() {
            Target { pattern: Some(pattern), .. } => write!(f, "/{pattern}/"),
            Target { condition: Some(condition), .. } => write!(f, "if {condition}"),
            Target { action, .. } => f.write_str(action.as_deref().unwrap_or_default()),
        }
    }
}
