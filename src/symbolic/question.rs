//! Detectors and rules for questions that are answered from pages (`docs/HOTPOTQA.md`). They read the answers to actions, never
//! the right answer.

use super::common_lessons;
use super::environment_rules::{Detector, EnvironmentRules, LessonTemplate, abstract_lesson, error_lesson};
use super::evidence::evidence_text;
use crate::domain::{Note, NoteKind, Observation, Scope, Step};
use crate::engine::{Episode, State};
use serde_json::Value;

/// The rules of questions.
pub static QUESTION_RULES: EnvironmentRules = EnvironmentRules {
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
    Detector::named("found_page"),
    Detector::described("no_page", "looked for words without a page"),
    Detector::described("nothing_happened", "did what changes nothing"),
    Detector::described("page_not_found", "searched for a page that does not exist"),
    Detector::described("repeat", "repeated an action that did nothing"),
    Detector::described("term_not_found", "looked for words that are not on the page"),
    Detector::described("unknown_action", "used an unknown action"),
    Detector::described("wrong_answer", "gave a wrong answer"),
];

/// The maximum number of titles in a sentence.
const MAX_TITLES: usize = 4;

/// Returns what an answer says about its action. The two public codes word it differently.
fn kind_of_answer(answer: &str, is_search: bool) -> Option<(&'static str, NoteKind)> {
    let starts = |text: &str| answer.starts_with(text);
    Some(if starts("Invalid Action") || starts("Invalid action") {
        ("unknown_action", NoteKind::Mistake)
    } else if starts("The last page Searched was not found") {
        ("no_page", NoteKind::Mistake)
    } else if starts("Could not find ") {
        ("page_not_found", NoteKind::Mistake)
    } else if answer == "No Results" {
        ("term_not_found", NoteKind::Mistake)
    } else if answer == "Answer is INCORRECT" || answer == "Episode finished, reward = 0" {
        ("wrong_answer", NoteKind::Mistake)
    } else if is_search {
        ("found_page", NoteKind::Progress)
    } else {
        return None;
    })
}

/// Returns the notes of an answered step.
fn detect(state: &State, episode: &Episode, step: &Step, answer: &Observation) -> Vec<Note> {
    let executed = step.executed.as_ref();
    let action = executed.map_or("", |e| e.sent.as_deref().unwrap_or(&e.action)).trim();
    let raw = answer.raw.trim();
    let evidence = evidence_text(action, raw);
    let note = |detector: &str, kind: NoteKind, parts: &[(&str, &str)]| {
        let parts = parts.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Note { detector: detector.to_owned(), kind, evidence: evidence.clone(), parts }
    };
    let is_search = action.to_lowercase().starts_with("search[");
    let mut notes = Vec::new();
    let found = kind_of_answer(raw, is_search);
    if matches!(found, Some((_, NoteKind::Mistake))) && !answer.done {
        notes.push(note("nothing_happened", NoteKind::Mistake, &[("action", action)]));
    }
    let count = episode.action_counts.get(step.action().unwrap_or_default()).map_or(0, |a| a.0);
    let repeats = u64::from(count) >= state.settings().repeat_after;
    match found {
        // A page that was found before teaches nothing new.
        Some(("found_page", _)) if count > 1 => {}
        Some((detector, kind)) => notes.push(note(detector, kind, &[("action", action)])),
        None => {}
    }
    // The same term again shows the next result, so only what has failed or is a search is a repetition.
    if repeats && (is_search || matches!(found, Some((_, NoteKind::Mistake)))) && !answer.done {
        notes.push(note("repeat", NoteKind::Mistake, &[("action", action), ("times", &count.to_string())]));
    }
    notes
}

/// Returns what a note teaches about such questions in general.
fn abstract_lessons(note: &Note) -> Vec<LessonTemplate> {
    let text = match note.detector.as_str() {
        "page_not_found" => {
            "Pages are found by their titles, which are names: search for a name alone, without other words."
        }
        "term_not_found" => "A lookup finds words only as they are written on the page: use a single word.",
        "found_page" => "A question may need two pages: the first one names what to search for next.",
        _ => return Vec::new(),
    };
    abstract_lesson(note, Scope::Environment, text)
}

/// Returns the mistake a note shows, and what to do instead.
fn error_lessons(note: &Note) -> Vec<LessonTemplate> {
    let (mistake, solution) = match note.detector.as_str() {
        "unknown_action" => (
            "Wrote something that is no action here.",
            "Use one of the three actions, with the text in brackets right after its name.",
        ),
        "page_not_found" => (
            "Searched for a page that does not exist.",
            "Search for a name alone, or for one of the similar titles.",
        ),
        "no_page" => {
            ("Looked for words without a page.", "Search for a page before you look for words on it.")
        }
        "term_not_found" => (
            "Looked for words that are not on the page.",
            "Look for a single word, or search for another page.",
        ),
        "wrong_answer" => (
            "Gave an answer that is wrong.",
            "Read a second page before you answer, and answer with the name or word that the question asks for.",
        ),
        _ => return common_lessons::error_lessons(note),
    };
    error_lesson(note, Scope::Environment, mistake, solution)
}

/// Says which pages were found, and what comes next.
fn progress_text(episode: &Episode) -> Option<String> {
    let searches = episode.shown.get("searches").and_then(Value::as_array)?;
    let mut titles: Vec<&str> = Vec::new();
    for search in searches.iter().filter(|search| search["found"] == true) {
        titles.extend(search["title"].as_str().filter(|title| !titles.contains(title)));
    }
    if titles.is_empty() {
        return Some("No page has been found yet. Next: search for a name of the question alone.".to_owned());
    }
    let shown = titles[titles.len().saturating_sub(MAX_TITLES)..].join(", ");
    let next = if titles.len() == 1 {
        "search for what this page says about the question"
    } else {
        "answer, or search for what is still missing"
    };
    Some(format!("Pages read: {shown}. Next: {next}."))
}
