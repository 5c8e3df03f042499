//! A model server that fails for a while: the call waits and is sent again, so that no episode and no pair is lost to it.

use crate::domain::FailureKind;
use std::time::{Duration, Instant};

/// The longest delay before a call is sent again.
const LONGEST_DELAY: Duration = Duration::from_secs(60);

/// How often a call is sent to a server that is busy or times out, but answers another call meanwhile, before its pair is left. Their
/// delays make two minutes, after which a rate limit by the minute and a model that was being loaded have passed.
pub(super) const TRIES_OF_A_CALL: u32 = 8;

/// A model server that can't be used at present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOutage {
    /// What failed, with what to do about it.
    pub failure: String,
    /// How often in a row.
    pub attempts: u32,
    /// When the call is sent again, from the failure on.
    pub retry_in: Duration,
}

impl ServerOutage {
    /// Describes it: `waiting for the model server: ...; trying again in 8 s (4 attempts failed)`.
    pub fn describe(&self) -> String {
        let times = if self.attempts == 1 { "attempt" } else { "attempts" };
        format!(
            "waiting for the model server: {}; trying again in {} s ({} {times} failed)",
            self.failure,
            self.retry_in.as_secs_f64().ceil(),
            self.attempts
        )
    }
}

/// How calls wait for a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// The first delay. Each further one is twice as long.
    pub(super) first_delay: Duration,
    /// When nobody wants to wait any more.
    pub(super) deadline: Option<Instant>,
}

impl Patience {
    /// Returns how long to wait after so many failures in a row.
    pub(super) fn delay(self, attempts: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(attempts.saturating_sub(1).min(16));
        self.first_delay.saturating_mul(doubled).min(LONGEST_DELAY)
    }

    /// Returns whether it is too late to wait.
    pub(super) fn is_over(self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Returns how often in a row a call is sent again after such a failure. A server that is down, overloaded or out of credit is waited
/// for; if it is busy or times out, only while it answers no other call ([`may_be_due_to_prompt`]). A fault or a lost connection may be due
/// to this very prompt, which would then hold up all pairs. What a server refuses for good, and what the model itself causes, doesn't pass.
pub(super) fn most_attempts(kind: FailureKind) -> u32 {
    match kind {
        FailureKind::Unreachable | FailureKind::OutOfCredit | FailureKind::Busy | FailureKind::TimedOut => {
            u32::MAX
        }
        FailureKind::ServerFault | FailureKind::Interrupted => 5,
        FailureKind::NoAnswer
        | FailureKind::Misconfigured
        | FailureKind::Credentials
        | FailureKind::Forbidden
        | FailureKind::NotFound
        | FailureKind::BadRequest
        | FailureKind::TooLong
        | FailureKind::EmptyReply
        | FailureKind::InvalidResponse
        | FailureKind::Unusable
        | FailureKind::Panicked
        | FailureKind::Unknown => 0,
    }
}

/// Returns whether a server that is waited for may fail at this very prompt only: a gateway gives up after a minute (504), which a long
/// prompt can take every time.
pub(super) fn may_be_due_to_prompt(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Busy | FailureKind::TimedOut)
}

/// Returns whether a failed call was answered after all, though with nothing that could be used.
pub(super) fn is_answer(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::EmptyReply | FailureKind::Unusable)
}

/// Returns whether a server refuses for good, so that sending the call again changes nothing.
pub(super) fn is_refusal(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::Misconfigured
            | FailureKind::Credentials
            | FailureKind::Forbidden
            | FailureKind::NotFound
            | FailureKind::BadRequest
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a prompt that a server always answers with a fault held up a measurement for ever.
    #[test]
    fn only_a_server_that_is_away_is_waited_for_without_end() {
        assert_eq!(most_attempts(FailureKind::Unreachable), u32::MAX);
        assert_eq!(most_attempts(FailureKind::Busy), u32::MAX);
        assert!((1..10).contains(&most_attempts(FailureKind::ServerFault)));
        assert_eq!(most_attempts(FailureKind::Credentials), 0);
    }

    #[test]
    fn delays_grow_to_a_minute() {
        let patience = Patience { first_delay: Duration::from_secs(1), deadline: None };
        let delays: Vec<u64> = (1..=9).map(|attempts| patience.delay(attempts).as_secs()).collect();
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(patience.delay(u32::MAX), LONGEST_DELAY);
        let outage = ServerOutage {
            failure: "no connection; start it".to_owned(),
            attempts: 2,
            retry_in: patience.delay(2),
        };
        assert_eq!(
            outage.describe(),
            "waiting for the model server: no connection; start it; trying again in 2 s (2 attempts failed)"
        );
    }
}
