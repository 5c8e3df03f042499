//! Cases that are run in the sandbox: which lines are tests, whether a test passes, and what its tested expression gives.

use super::sandbox::{REPLY_PREFIX, Sandbox};
use crate::env::EnvError;
use crate::text;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long one test of the agent may take, and the hidden tests together.
pub(super) const TEST_LIMIT: Duration = Duration::from_secs(5);
pub(super) const HIDDEN_LIMIT: Duration = Duration::from_secs(10);
/// The word of a test that has taken too long, as in Reflexion's code.
pub(super) const TIMEOUT: &str = "TIMEOUT";
/// What a program did that has ended the process before the test was over, or has printed a false result.
const ENDED_EARLY: &str = "the program ended the process";

/// What came of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    /// It failed; the text says how.
    Failed(String),
}

/// Returns how long a process is waited for: the judge ends a case at its limit, unless the program keeps it from that.
pub(super) fn wait_limit(limit: Duration) -> Duration {
    limit * 2 + Duration::from_secs(1)
}

#[derive(Deserialize)]
struct JudgeResult {
    key: String,
    passed: Option<bool>,
    error: Option<String>,
    value: Option<String>,
    tests: Option<Vec<bool>>,
}

/// Runs a case in a new process. `None` if there is no result, or a false one.
fn run_case(sandbox: &Sandbox, mut case: Value, limit: Duration) -> Result<Option<JudgeResult>, EnvError> {
    let mut child = sandbox.start()?;
    let key = new_key(&case);
    case["key"] = key.clone().into();
    case["limit"] = limit.as_secs().into();
    let reply = match child.exchange(&case.to_string(), wait_limit(limit)) {
        Ok(reply) => reply,
        Err(EnvError::TimedOut { .. }) => {
            return Ok(Some(JudgeResult {
                key,
                passed: None,
                error: Some(TIMEOUT.to_owned()),
                value: None,
                tests: None,
            }));
        }
        // A program that has ended its process, or has printed too much.
        Err(EnvError::Died { .. } | EnvError::Protocol { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    // The judge ends by itself, and so does the sandbox, which cleans up.
    drop(child);
    let result = reply.strip_prefix(REPLY_PREFIX).and_then(|text| text.strip_prefix("result "));
    let result = result.and_then(|text| serde_json::from_str::<JudgeResult>(text).ok());
    Ok(result.filter(|result| result.key == key))
}

/// Returns a key that a program doesn't know.
fn new_key(case: &Value) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let seed = std::collections::hash_map::RandomState::new();
    let random = std::hash::BuildHasher::hash_one(&seed, count);
    let digest = Sha256::digest(format!("{random} {count} {case}").as_bytes());
    let half = digest.iter().take(16).fold(0_u128, |key, byte| key << 8 | u128::from(*byte));
    format!("{half:032x}")
}

/// Returns which lines are tests: a single `assert` each.
///
/// # Errors
/// Returns [`EnvError`] if the sandbox doesn't work.
pub(super) fn check_tests(sandbox: &Sandbox, lines: &[String]) -> Result<Vec<bool>, EnvError> {
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let result = run_case(sandbox, json!({ "mode": "check", "lines": lines }), TEST_LIMIT)?;
    let tests = result.and_then(|result| result.tests).filter(|tests| tests.len() == lines.len());
    Ok(tests.unwrap_or_else(|| vec![false; lines.len()]))
}

/// Runs a program and then a test.
///
/// # Errors
/// Returns [`EnvError`] if the sandbox doesn't work.
pub(super) fn run_test(
    sandbox: &Sandbox,
    program: &str,
    test: &str,
    limit: Duration,
) -> Result<Outcome, EnvError> {
    let case = json!({ "mode": "test", "program": program, "test": test });
    Ok(match run_case(sandbox, case, limit)? {
        Some(JudgeResult { passed: Some(true), .. }) => Outcome::Passed,
        Some(result) => Outcome::Failed(clean(&result.error.unwrap_or_else(|| ENDED_EARLY.to_owned()))),
        None => Outcome::Failed(ENDED_EARLY.to_owned()),
    })
}

/// Returns what the tested expression of a test gives with a program: its value, an error, or that it takes too long.
///
/// # Errors
/// Returns [`EnvError`] if the sandbox doesn't work.
pub(super) fn tested_value(sandbox: &Sandbox, program: &str, test: &str) -> Result<String, EnvError> {
    let case = json!({ "mode": "value", "program": program, "test": test });
    let result = run_case(sandbox, case, TEST_LIMIT)?;
    let text = result.and_then(|result| result.value.or(result.error));
    Ok(text.map_or_else(|| ENDED_EARLY.to_owned(), |text| clean(&text)))
}

/// Removes control characters; a value stays on its line.
fn clean(text: &str) -> String {
    text::clean(text).lines().collect::<Vec<_>>().join(" ")
}
