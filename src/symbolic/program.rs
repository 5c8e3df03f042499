//! Detectors and rules for programs that are judged by tests (`docs/PROGRAMMING.md`). They read what the agent is told about its
//! own tests, never the hidden ones.

use super::common_lessons;
use super::environment_rules::{Detector, EnvironmentRules, LessonTemplate, abstract_lesson, error_lesson};
use super::evidence::evidence_text;
use crate::domain::{Note, NoteKind, Observation, Scope, Step};
use crate::engine::{Episode, State};
use std::collections::BTreeMap;

/// The rules of programs.
pub static PROGRAM_RULES: EnvironmentRules = EnvironmentRules {
    detectors: DETECTORS,
    detect,
    abstract_lessons,
    error_lessons,
    progress_text,
    plan: None,
    missing_part: |_| None,
    is_navigation: |_| false,
    describe_finding: |_, _, _| None,
};

const DETECTORS: &[Detector] = &[
    Detector::described("hidden_test_failed", "failed only the hidden tests"),
    Detector::described("no_tests", "wrote no tests"),
    Detector::described("own_test_failed", "failed a test of their own"),
    Detector::described("took_too_long", "wrote a program that took too long"),
    Detector::described("unknown_action", "used an unknown action"),
    Detector::named("wrote_tests"),
];

const FAILED: &str = "Tests failed:\n";

/// Returns the notes of an answered step.
fn detect(_: &State, _: &Episode, step: &Step, answer: &Observation) -> Vec<Note> {
    let action = step.action().unwrap_or_default().lines().next().unwrap_or_default();
    let note = |(detector, kind): (&str, NoteKind)| Note {
        detector: detector.to_owned(),
        kind,
        evidence: evidence_text(action, failed_tests(&answer.raw).unwrap_or(&answer.raw)),
        parts: BTreeMap::new(),
    };
    finding(answer).map(note).into_iter().collect()
}

/// Returns what an answer shows.
fn finding(answer: &Observation) -> Option<(&'static str, NoteKind)> {
    Some(match failed_tests(&answer.raw) {
        _ if !answer.valid => ("unknown_action", NoteKind::Mistake),
        Some(failed) if failed.contains("# output: TIMEOUT") => ("took_too_long", NoteKind::Mistake),
        Some(_) => ("own_test_failed", NoteKind::Mistake),
        None if answer.done && !answer.won => ("hidden_test_failed", NoteKind::Mistake),
        None if answer.raw.starts_with("Kept 0 of ") => ("no_tests", NoteKind::Mistake),
        None if answer.raw.starts_with("Kept ") => ("wrote_tests", NoteKind::Progress),
        None => return None,
    })
}

/// Returns the own tests that failed, if any did. Where none did, a paragraph of its own may follow, such as that there was no
/// sandbox.
fn failed_tests(text: &str) -> Option<&str> {
    let (_, after) = text.split_once(FAILED)?;
    Some(after).filter(|after| !after.starts_with('\n'))
}

/// Returns what a note teaches about programs in general.
fn abstract_lessons(note: &Note) -> Vec<LessonTemplate> {
    let text = match note.detector.as_str() {
        "hidden_test_failed" => {
            "Own tests can miss what the hidden ones check: test the smallest inputs, too."
        }
        _ => return Vec::new(),
    };
    abstract_lesson(note, Scope::Environment, text)
}

/// Returns the mistake a note shows, and what to do instead.
fn error_lessons(note: &Note) -> Vec<LessonTemplate> {
    let (mistake, solution) = match note.detector.as_str() {
        "unknown_action" => (
            "Wrote neither tests nor a program.",
            "Write the whole program between two lines of three back quotes.",
        ),
        "own_test_failed" => (
            "The program failed a test of its own.",
            "Compare what the failed test expects with what the program gave, and find the line that makes the difference.",
        ),
        "took_too_long" => (
            "The program took too long.",
            "Check that each loop ends, and use a method that needs fewer steps.",
        ),
        "hidden_test_failed" => (
            "The program passed its own tests and failed the hidden ones.",
            "Read the task again, and think of the smallest inputs: nothing, one element, zero.",
        ),
        "no_tests" => ("Wrote no line that is a test.", "Write one assertion a line."),
        _ => return common_lessons::error_lessons(note),
    };
    error_lesson(note, Scope::Environment, mistake, solution)
}

/// Says what comes next.
fn progress_text(episode: &Episode) -> Option<String> {
    let has_tests = episode.shown.get("tests").is_some();
    has_tests.then(|| "The tests are written. Next: write the program.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_show_mistakes() {
        let found = |raw: &str, done: bool, won: bool| {
            let answer = Observation {
                raw: raw.to_owned(),
                agent_view: None,
                reward: 0.0,
                progress: 0.0,
                done,
                won,
                valid: true,
                edited: false,
            };
            finding(&answer).map(|(detector, _)| detector)
        };
        for (raw, done, won, expected) in [
            ("Kept 0 of 2 lines.", false, false, Some("no_tests")),
            ("Kept 1 of 2 lines.", false, false, Some("wrote_tests")),
            (
                "Tested passed:\n\nTests failed:\nassert f(1) # output: 2",
                false,
                false,
                Some("own_test_failed"),
            ),
            (
                "Tested passed:\n\nTests failed:\nassert f(1) # output: TIMEOUT",
                true,
                false,
                Some("took_too_long"),
            ),
            ("Tested passed:\nassert f(1)\n\nTests failed:", true, false, Some("hidden_test_failed")),
            ("Tested passed:\nassert f(1)\n\nTests failed:", true, true, None),
            // Regression: what follows was taken for a failed test of the winning program.
            ("Tested passed:\nassert f(1)\n\nTests failed:\n\n(run without a sandbox)", true, true, None),
            (
                "Tested passed:\n\nTests failed:\nassert f(1) # output: 2\n\n(run without a sandbox)",
                true,
                true,
                Some("own_test_failed"),
            ),
        ] {
            assert_eq!(found(raw, done, won), expected, "{raw:?}");
        }
    }
}
