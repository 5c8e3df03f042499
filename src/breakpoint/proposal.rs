//! Conditions about a proposal alone, which can be judged without an environment.

use super::condition::{BreakpointSpec, Condition, TextPart};
use super::parse::{compile_pattern, parse};

/// Parses a condition about the action or the thought of a proposal.
///
/// # Errors
/// Returns what is wrong, also if the condition needs more than a proposal.
pub fn parse_proposal_condition(text: &str) -> Result<BreakpointSpec, String> {
    let spec = parse(text).map_err(|error| format!("{}; {}", error.message, error.hint))?;
    match &spec.condition {
        Condition::Text(TextPart::Action | TextPart::Thought, _) => Ok(spec),
        other => Err(format!(
            "`{other}`: only the action and the thought of a proposal are known; write `action = WORDS`, `action ~ REGEX`, \
             `thought = WORDS` or `thought ~ REGEX`"
        )),
    }
}

/// Returns whether a proposal meets a condition.
///
/// # Errors
/// The same as [`parse_proposal_condition`].
pub fn judge_proposal(text: &str, thought: Option<&str>, action: Option<&str>) -> Result<bool, String> {
    let Condition::Text(part, pattern) = parse_proposal_condition(text)?.condition else { return Ok(false) };
    let regex = compile_pattern(&pattern)?;
    let matched = if part == TextPart::Thought { thought } else { action };
    Ok(matched.is_some_and(|text| regex.is_match(text)))
}
