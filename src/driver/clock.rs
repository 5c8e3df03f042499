//! The wall clock, which gives events their timestamps.

use super::DriverError;
use jiff::Timestamp;
use std::time::SystemTime;

/// Returns the current wall-clock time. Only this function reads the clock for the journal. If the clock is beyond
/// the last time that can be recorded, returns that time; [`check_clock`] then keeps sessions from starting and
/// lessons from being written.
pub fn wall_clock_now() -> Timestamp {
    to_timestamp(SystemTime::now()).unwrap_or(Timestamp::MAX)
}

/// Checks that the wall clock shows a time that can be recorded in a journal.
///
/// # Errors
/// Returns an error that says why it can't.
pub fn check_clock() -> Result<(), DriverError> {
    to_timestamp(SystemTime::now()).map(drop)
}

fn to_timestamp(at: SystemTime) -> Result<Timestamp, DriverError> {
    Timestamp::try_from(at).map_err(|error| {
        DriverError::Refused(
            format!("the system clock shows a time that cannot be recorded: {error}"),
            "set the clock of this machine; times up to 9999-12-30 can be recorded".to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{SystemTime, to_timestamp};
    use std::time::Duration;

    /// Regression: reading such a clock panicked.
    #[test]
    fn a_clock_at_the_end_of_the_year_9999_is_an_error() {
        let end_of_9999 = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_799);
        let refused = to_timestamp(end_of_9999).unwrap_err().to_string();
        assert!(refused.contains("the system clock") && refused.contains("set the clock"), "{refused}");
        assert!(to_timestamp(SystemTime::UNIX_EPOCH).is_ok());
    }
}
