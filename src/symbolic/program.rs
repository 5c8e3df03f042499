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
    is_move: |_| false,
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
    let failed = answer.raw.split_once(FAILED).map(|(_, failed)| failed);
    let (detector, kind) = match failed {
        _ if !answer.valid => ("unknown_action", NoteKind::Mistake),
        Some(failed) if failed.contains("# output: TIMEOUT") => ("took_too_long", NoteKind::Mistake),
        Some(_) => ("own_test_failed", NoteKind::Mistake),
        None if answer.done && !answer.won => ("hidden_test_failed", NoteKind::Mistake),
        None if answer.raw.starts_with("Kept 0 of ") => ("no_tests", NoteKind::Mistake),
        None if answer.raw.starts_with("Kept ") => ("wrote_tests", NoteKind::Progress),
        None => return Vec::new(),
    };
    let shown = failed.unwrap_or(&answer.raw);
    vec![Note {
        detector: detector.to_owned(),
        kind,
        evidence: evidence_text(action, shown),
        parts: BTreeMap::new(),
    }]
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
