//! What the program needs to know about an environment.

use crate::symbolic::EnvironmentRules;

/// An environment.
pub struct EnvironmentEntry {
    /// The name on the command line and in journals.
    pub name: &'static str,
    /// Its detectors, and the rules behind symbolic reflections.
    pub rules: &'static EnvironmentRules,
}
