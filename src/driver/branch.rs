//! Going on as another run.

use super::{Driver, DriverError, Launch};
use crate::domain::RunSpec;
use crate::engine::Refusal;

impl Driver {
    /// What another run of this session needs, or why it cannot be had; nothing has happened then.
    pub(super) fn outfit(&self, spec: &RunSpec) -> Result<Launch, Refusal> {
        let Some(outfit) = &self.launch.outfit else {
            return Err(Refusal::new(
                "this session was not given the means to outfit another run",
                "start a session of its own for it",
            ));
        };
        match outfit(spec) {
            Ok(launch) => Ok(launch),
            Err(DriverError::Refused(why, next)) => Err(Refusal::new(why, next)),
            Err(error) => Err(Refusal::new(error.to_string(), "change something else, or mend that first")),
        }
    }
}
