//! The methods. Each decides about episodes, reflections and prompts as a pure function; all memory is in the state.
//!
//! [`build_policy`] finds a method by its name on the command line; [`SETTINGS`] lists every setting that methods read.

mod calibration;
mod constitution;
mod fcrf;
mod mentor;
mod omnireflect;
mod planning;
mod react;
mod reflexion;
mod schedule;
mod settings;
mod sweet_sour;

pub use fcrf::{Depth, Difficulty, Fcrf};
pub use mentor::{derive_generation, derived_generation, switch_model, unused_mentor_reason};
pub use omnireflect::OmniReflect;
pub use planning::{Planning, current_plan_action, numbered_plan_lines};
pub use react::ReAct;
pub use reflexion::Reflexion;
pub use settings::{
    DefaultValue, PaperOrCode, SETTINGS, SettingSpec, apply_limits, default_trials, defaults,
};
pub use sweet_sour::SweetSour;

use crate::domain::RunSpec;
use crate::engine::{Method, Policy};
use crate::prompt::{self, PromptBuilder, Templates};
use std::sync::Arc;

/// The names of all methods, in the order in which screens list them.
pub const METHOD_NAMES: &[&str] = &["react", "omnireflect", "reflexion", "fcrf", "sweet_sour", "planning"];

/// A method that this program cannot provide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MethodError {
    /// No method has this name.
    #[error("unknown method {0:?}; known: {list}", list = METHOD_NAMES.join(", "))]
    Name(String),
    /// OmniReflect has no such generation of reflections.
    #[error("unknown generation {0:?} for OmniReflect; known: symbolic, neural and neuro-symbolic")]
    Generation(String),
    /// The method `planning` has no mentor that can plan these tasks.
    #[error("planning: {0}; name a model to write the plans, such as --mentor openai:MODEL")]
    NoPlanner(String),
}

/// Returns the policy of a run: its method and the pure functions it needs.
///
/// # Errors
/// Returns [`MethodError`] if the run names an unknown method or generation.
pub fn build_policy(spec: &RunSpec, templates: Arc<Templates>) -> Result<Policy, MethodError> {
    build_policy_with(spec, Arc::new(PromptBuilder::new(templates)))
}

/// Like [`build_policy`], but drafts prompts with `builder`, so that the sender of the prompts can use its cache.
///
/// # Errors
/// See [`build_policy`].
pub fn build_policy_with(spec: &RunSpec, builder: Arc<PromptBuilder>) -> Result<Policy, MethodError> {
    let method: Arc<dyn Method> = match spec.method.as_str() {
        "react" => Arc::new(ReAct),
        "omnireflect" => match spec.settings.text("generation", "symbolic") {
            "symbolic" | "neural" | "neuro-symbolic" => Arc::new(OmniReflect),
            other => return Err(MethodError::Generation(other.to_owned())),
        },
        "reflexion" => Arc::new(Reflexion),
        "fcrf" => Arc::new(Fcrf),
        "sweet_sour" => Arc::new(SweetSour),
        "planning" => Arc::new(Planning::for_run(spec)?),
        other => return Err(MethodError::Name(other.to_owned())),
    };
    let calibrates = !spec.calibration_tasks().is_empty() || !spec.exploration_tasks().is_empty();
    let method = if calibrates { Arc::new(calibration::WithCalibration(method)) } else { method };
    Ok(Policy {
        method,
        draft_prompt: Arc::new(move |state, ask| builder.draft(state, ask)),
        parse_reply: prompt::read_reply,
        parse_mentor_reply: prompt::read_mentor,
        edit_prompt: prompt::edit_segment,
        rewrite_action: prompt::interface::outgoing_action,
        rewrite_observation: prompt::interface::shown_observation,
        extract_goal: prompt::interface::goal_from_reset,
        detect: Arc::new(crate::symbolic::detect),
        breakpoints: crate::breakpoint::breakpoint_rules(parse_condition),
        is_attended: true,
    })
}

/// Parses the condition of a breakpoint or watch; a detector in it must be one of
/// [`DETECTORS`](crate::symbolic::DETECTORS).
///
/// # Errors
/// Returns a [`ParseError`](crate::breakpoint::ParseError) that explains what is wrong.
pub fn parse_condition(
    text: &str,
) -> Result<crate::breakpoint::BreakpointSpec, crate::breakpoint::ParseError> {
    crate::breakpoint::parse_checked(text, crate::symbolic::DETECTORS)
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
