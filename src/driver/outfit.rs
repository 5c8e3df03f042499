//! From the words of a run to what its driver needs.

use super::{DriverError, Launch, OpenWorld};
use crate::domain::RunSpec;
use crate::method;
use crate::prompt::{self, Templates};
use crate::provider::Provider;
use crate::provider::rules::Rules;
use std::sync::Arc;
use std::time::Duration;

impl Launch {
    /// Outfits a run: its method with these templates, its actor and mentor by name, and a way to open its worlds.
    /// `typing` is the pause between two pieces of the built-in actor's answers (nothing without a screen).
    ///
    /// # Errors
    /// [`DriverError::Refused`] when the method, the actor or the mentor is unknown here.
    pub fn of(
        spec: &RunSpec,
        templates: Arc<Templates>,
        open: OpenWorld,
        typing: Duration,
    ) -> Result<Self, DriverError> {
        let policy = method::policy(spec, templates).map_err(|e| {
            DriverError::Refused(e.to_string(), format!("choose one of: {}", method::NAMES.join(", ")))
        })?;
        let actor: Arc<dyn Provider> = match spec.actor.as_str() {
            // Where a person plays, the rules stand ready for when the turn is given back.
            "rules" | "human" => Arc::new(Rules::with_delay(typing)),
            other => {
                return Err(DriverError::Refused(
                    format!("there is no actor {other:?} in this version"),
                    "choose `rules` (built in, a stand-in for a model) or `human`".to_owned(),
                ));
            }
        };
        match spec.mentor.as_str() {
            "symbolic" | "none" => {}
            other => {
                return Err(DriverError::Refused(
                    format!("there is no mentor {other:?} in this version"),
                    "choose `symbolic` (rules over the trajectory) or `none`".to_owned(),
                ));
            }
        }
        Ok(Self { policy, render: prompt::render, actor, mentor: None, open })
    }
}
