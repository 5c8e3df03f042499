//! The sentences of findings that detectors of several environments note.

use crate::domain::{Note, NoteKind, Step};
use crate::engine::Episode;

/// How many steps before a finding are searched for what it repeats, so that a long episode costs no more than a short one.
pub(super) const MAX_STEPS_BACK: u32 = 500;

/// Describes what a note of a step found; `None` if the name of its detector has to do.
pub(super) fn describe_finding(episode: &Episode, step: &Step, note: &Note) -> Option<String> {
    if note.kind != NoteKind::Mistake {
        return None;
    }
    let name = note.detector.replace('_', " ");
    let part = |name: &str| note.parts.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
    Some(match (note.detector.as_str(), part("action"), part("times")) {
        ("only_thoughts", ..) => {
            format!("three thoughts in a row without an action, since step {}", step.number.saturating_sub(2))
        }
        (Note::NOTHING_HAPPENED, Some(action), _) => format!("no effect: {action}"),
        (Note::UNKNOWN_ACTION, action, _) => {
            let action = action.unwrap_or(executed_text(step));
            format!("not an action here: {action}")
        }
        (Note::CIRCLING | "repeat", Some(action), Some(times)) => {
            let before =
                earlier_step(episode, step).map_or_else(String::new, |n| format!(", last at step {n}"));
            let what = if note.detector == Note::CIRCLING { "going in circles" } else { "repeated" };
            format!("{what}: {action}, {times} times{before}")
        }
        (_, Some(action), _) => format!("{name}: {action}"),
        _ => return None,
    })
}

/// Returns the text that was sent to the environment.
pub(super) fn executed_text(step: &Step) -> &str {
    step.executed.as_ref().map_or("", |e| e.sent.as_deref().unwrap_or(&e.action)).trim()
}

/// Returns the last step before this one with the same action.
fn earlier_step(episode: &Episode, step: &Step) -> Option<u32> {
    let first = step.number.saturating_sub(MAX_STEPS_BACK).max(1);
    let same = |number: &u32| {
        episode.step(*number).is_some_and(|earlier| executed_text(earlier) == executed_text(step))
    };
    (first..step.number).rev().find(same)
}
