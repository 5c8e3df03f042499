//! What the program needs to know about an environment.

use crate::env::TaskSource;
use crate::method::SettingSpec;
use crate::prompt::interface::EnvironmentTexts;
use crate::symbolic::EnvironmentRules;

/// An environment.
pub struct EnvironmentEntry {
    /// The name on the command line and in journals.
    pub name: &'static str,
    /// Its tasks: how they are found, listed and opened.
    pub tasks: &'static dyn TaskSource,
    /// Its detectors, and the rules behind symbolic reflections.
    pub rules: &'static EnvironmentRules,
    /// Settings that concern it. Every run has them, since a run may play tasks of several environments.
    pub settings: &'static [SettingSpec],
    /// Its prompt templates and examples, as (file name, text).
    pub templates: &'static [(&'static str, &'static str)],
    /// Whether the examples of ReAct's and Reflexion's public code are about it.
    pub has_public_examples: bool,
    /// How the interfaces treat its texts.
    pub texts: EnvironmentTexts,
}
