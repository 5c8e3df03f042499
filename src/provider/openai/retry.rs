//! Decides whether and when a failed request is retried. Deterministic: a date from a server is compared with the
//! server's own clock, and the jitter comes from the request's seed.

use super::endpoint::Retry;
use crate::domain::hex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::time::Duration;

/// Looks up a response header by its lower-case name.
pub(super) type HeaderLookup<'a> = &'a dyn Fn(&str) -> Option<&'a str>;

/// Returns whether a request with this response may be retried at all.
pub(super) fn is_retryable(status: u16, header: HeaderLookup<'_>) -> bool {
    match status {
        408 | 409 | 429 | 500 | 502 | 503 | 504 => header("x-should-retry") != Some("false"),
        _ => false,
    }
}

/// Returns how long the response headers ask to wait.
pub(super) fn requested_wait(header: HeaderLookup<'_>) -> Option<Duration> {
    let seconds = |text: &str| {
        let number: f64 = text.trim().trim_end_matches('s').parse().ok()?;
        (number >= 0.0).then(|| Duration::try_from_secs_f64(number).unwrap_or(Duration::MAX))
    };
    if let Some(millis) = header("retry-after-ms").and_then(seconds) {
        return Some(millis / 1000);
    }
    let named = ["retry-after", "llm_provider-retry-after"];
    let text = named.iter().find_map(|name| header(name))?;
    seconds(text).or_else(|| {
        // A date refers to the server's clock, which is in the response's `date` header.
        let until = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
        let now = jiff::fmt::rfc2822::parse(header("date")?.trim()).ok()?;
        let wait = until.timestamp().as_second() - now.timestamp().as_second();
        Some(Duration::from_secs(u64::try_from(wait).unwrap_or(0)))
    })
}

/// Returns how long an error body asks to wait; Google's APIs put this in the error's details (`RetryInfo`).
pub(super) fn requested_wait_in_body(body: &str) -> Option<Duration> {
    let value: Value = serde_json::from_str(body).ok()?;
    let error = value.get(0).unwrap_or(&value).get("error")?;
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Returns the wait before retry number `attempt` (the first is 1): the larger of what the server asks for and our own.
/// Returns `None` if the total wait would exceed the policy's maximum.
pub(super) fn next_wait(
    policy: &Retry,
    seed: u64,
    attempt: u32,
    requested: Option<Duration>,
    waited: Duration,
) -> Option<Duration> {
    let doubled =
        policy.first_wait.saturating_mul(1_u32 << attempt.saturating_sub(1).min(16)).min(policy.max_wait);
    let our_wait = doubled.mul_f64(0.5 + jitter(seed, attempt) / 2.0);
    let wait = requested.map_or(our_wait, |requested| requested.max(our_wait));
    (wait.saturating_add(waited) <= policy.max_total_wait).then_some(wait)
}

/// Returns a number from 0 to 1 that depends only on the seed and the attempt.
fn jitter(seed: u64, attempt: u32) -> f64 {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    hash.update(attempt.to_le_bytes());
    let digits = hex(&hash.finalize()[..4]);
    u32::from_str_radix(&digits, 16).map_or(0.5, |n| f64::from(n) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wait_header_is_parsed() {
        let date = ("date", "Sun, 06 Nov 1994 08:49:30 GMT");
        type Sent<'a> = &'a [(&'a str, &'a str)];
        let cases: &[(Sent<'_>, Option<u64>)] = &[
            (&[("retry-after", "60")], Some(60_000)),
            (&[("retry-after", "1.5")], Some(1_500)),
            (&[("retry-after", "7s")], Some(7_000)),
            (&[("retry-after-ms", "250"), ("retry-after", "9")], Some(250)),
            (&[("llm_provider-retry-after", "60")], Some(60_000)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), date], Some(7_000)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT"), date], Some(0)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], None),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "NaN")], None),
            (&[], None),
        ];
        for (headers, want) in cases {
            let header = |name: &str| headers.iter().find(|h| h.0 == name).map(|h| h.1);
            assert_eq!(requested_wait(&header), want.map(Duration::from_millis), "{headers:?}");
        }
        assert!(requested_wait(&|_| Some("1e300")).is_some());
    }

    #[test]
    fn wait_in_the_body_is_parsed() {
        let gemini = r#"[{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}]}}]"#;
        let plain = r#"{"error":{"details":[{"retryDelay":"0.5s"}]}}"#;
        let cases = [
            (gemini, Some(17_000)),
            (plain, Some(500)),
            (r#"{"error":{"details":[{"retryDelay":"-1s"}]}}"#, None),
            (r#"{"error":{"details":[{"retryDelay":"soon"}]}}"#, None),
            (r#"{"error":"wait"}"#, None),
            ("wait", None),
        ];
        for (body, want) in cases {
            assert_eq!(requested_wait_in_body(body), want.map(Duration::from_millis), "{body}");
        }
    }

    #[test]
    fn only_temporary_failures_are_retried() {
        for status in 100..600 {
            let known = [408, 409, 429, 500, 502, 503, 504].contains(&status);
            assert_eq!(is_retryable(status, &|_| None), known, "{status}");
            assert!(!is_retryable(status, &|name| (name == "x-should-retry").then_some("false")));
            assert_eq!(
                is_retryable(status, &|_| Some("true")),
                known,
                "a 400 is not retried, whatever the header says"
            );
        }
    }

    #[test]
    fn waits_grow_within_bounds_and_depend_on_the_seed() {
        let policy = Retry::default();
        let own = |seed, attempt| next_wait(&policy, seed, attempt, None, Duration::ZERO).unwrap();
        for seed in 0..50 {
            for attempt in 1..40 {
                let max = policy.first_wait.saturating_mul(1 << (attempt - 1).min(16)).min(policy.max_wait);
                let wait = own(seed, attempt);
                assert!(wait >= max / 2 && wait <= max, "{wait:?} of {max:?}");
            }
        }
        assert_eq!(own(3, 2), own(3, 2));
        assert_ne!(own(3, 2), own(4, 2));
        let minute = Some(Duration::from_secs(60));
        assert_eq!(next_wait(&policy, 0, 1, minute, Duration::ZERO), minute);
        assert_eq!(next_wait(&policy, 0, 1, minute, Duration::from_secs(61)), None);
        assert_eq!(next_wait(&policy, 0, 1, Some(Duration::MAX), Duration::ZERO), None);
    }
}
