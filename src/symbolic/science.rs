//! Detectors and rules for ScienceWorld (`docs/SCIENCEWORLD.md`). They read the answers and the score, never the simulator's list
//! of goals, which would name the solution.

use super::common_lessons;
use super::environment_rules::{Detector, EnvironmentRules, LessonTemplate, abstract_lesson, error_lesson};
use super::evidence::evidence_text;
use crate::domain::{Note, NoteKind, Observation, Scope, Step};
use crate::engine::{Episode, State};
use serde_json::Value;
use std::fmt::Write as _;

/// The rules of science experiments.
pub static SCIENCE_RULES: EnvironmentRules = EnvironmentRules {
    detectors: DETECTORS,
    detect,
    abstract_lessons,
    error_lessons,
    progress_text,
    plan: None,
    missing_part: |_| None,
    is_navigation: |action| action.trim_start().to_lowercase().starts_with("go "),
    describe_finding: |_, _, _| None,
};

const DETECTORS: &[Detector] = &[
    Detector::described("door_closed", "walked into a closed door"),
    Detector::described("no_way", "tried to go to a room that is not next to theirs"),
    Detector::described("nothing_happened", "did what changes nothing"),
    Detector::named("opened_door"),
    Detector::named("progress"),
    Detector::described("repeat", "repeated an action that did nothing"),
    Detector::named("several_meanings"),
    Detector::described("unknown_action", "used an unknown action"),
    Detector::described("wrong_focus", "focused on the wrong thing"),
    Detector::described("wrong_place", "put something in the wrong place"),
];

/// The maximum number of names in a sentence.
const MAX_NAMES: usize = 6;

/// Returns the notes of an answered step.
fn detect(state: &State, episode: &Episode, step: &Step, answer: &Observation) -> Vec<Note> {
    let executed = step.executed.as_ref();
    let action = executed.map_or("", |e| e.sent.as_deref().unwrap_or(&e.action)).trim();
    let lower = action.to_lowercase();
    let mut notes = Vec::new();
    let mut note = |detector: &str, kind: NoteKind, parts: &[(&str, &str)]| {
        let parts = parts.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let evidence = evidence_text(action, answer.raw.trim());
        notes.push(Note { detector: detector.to_owned(), kind, evidence, parts });
    };
    let raw = answer.raw.trim();
    let mistake = match raw {
        "The door is not open." => Some("door_closed"),
        "It's not clear how to get there from here." => Some("no_way"),
        _ if !answer.valid => Some("unknown_action"),
        _ => None,
    };
    if let Some(mistake) = mistake {
        note("nothing_happened", NoteKind::Mistake, &[("why", mistake), ("action", action)]);
        note(mistake, NoteKind::Mistake, &[]);
        let count = episode.action_counts.get(step.action().unwrap_or_default()).map_or(0, |a| a.0);
        if u64::from(count) >= state.settings().repeat_after {
            note("repeat", NoteKind::Mistake, &[("action", action), ("times", &count.to_string())]);
        }
        return notes;
    }
    if raw.starts_with("Ambiguous request:") {
        note("several_meanings", NoteKind::Fact, &[]);
    }
    if raw == "The door is now open." {
        note("opened_door", NoteKind::Fact, &[]);
    }
    if answer.reward > 0.0 {
        note("progress", NoteKind::Progress, &[("points", &answer.reward.to_string())]);
    } else if answer.done && !answer.won && answer.reward < 0.0 {
        let detector = if lower.contains("focus") { "wrong_focus" } else { "wrong_place" };
        note(detector, NoteKind::Mistake, &[("action", action)]);
    }
    notes
}

/// Returns what a note teaches about the environment in general.
fn abstract_lessons(note: &Note) -> Vec<LessonTemplate> {
    let text = match note.detector.as_str() {
        "opened_door" => "Rooms are joined by doors: if a door is closed, open it before you go through it.",
        "several_meanings" => "After an ambiguous request, answer with the number of the action you mean.",
        _ => return Vec::new(),
    };
    abstract_lesson(note, Scope::Environment, text)
}

/// Returns the mistake a note shows, and what to do instead.
fn error_lessons(note: &Note) -> Vec<LessonTemplate> {
    let (mistake, solution) = match note.detector.as_str() {
        "unknown_action" => (
            "Wrote something that is no action here.",
            "Use the forms of actions that exist, and the names of things as the observations have them.",
        ),
        "door_closed" => ("Tried to go through a closed door.", "Open a door before you go through it."),
        "no_way" => (
            "Tried to go to a room that is not next to this one.",
            "Go from room to room, through the doors that you see when you look around.",
        ),
        "wrong_focus" => (
            "Focused on something that the task is not about, which lost the task.",
            "Focus only on what the task names, and only when you have found it.",
        ),
        "wrong_place" => (
            "Put something where it did not belong, which lost the task.",
            "Check with the task where a thing belongs before you move it there.",
        ),
        _ => return common_lessons::error_lessons(note),
    };
    error_lesson(note, Scope::Environment, mistake, solution)
}

/// Says how many points the episode has, what the agent carries, and which rooms it has not seen.
fn progress_text(episode: &Episode) -> Option<String> {
    let shown = &episode.shown;
    let score = shown["score"].as_i64()?;
    let location = shown["location"].as_str()?;
    let mut text = if score > 0 {
        format!("{score} of 100 points so far.")
    } else {
        "No part of the task is done yet.".to_owned()
    };
    if let Some(focus) = shown["focus"].as_str() {
        let _ = write!(text, " The focus is on the {focus}.");
    }
    let rooms = shown["rooms"].as_object();
    let names = |known: &Value| -> Vec<String> {
        known["doors"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let mut unseen: Vec<String> = rooms
        .into_iter()
        .flatten()
        .flat_map(|(_, room)| names(room))
        .filter(|name| rooms.is_some_and(|rooms| !rooms.contains_key(name)))
        .collect();
    unseen.sort_unstable();
    unseen.dedup();
    unseen.truncate(MAX_NAMES);
    let _ = write!(text, " You are in the {location}.");
    if !unseen.is_empty() {
        let _ = write!(text, " Next: look around in the rooms not seen yet: {}.", unseen.join(", "));
    }
    Some(text)
}
