//! The sentences of reflections in grid worlds (`docs/LESSON_FORMS.md`).

use crate::domain::{LessonText, Note, Scope};
use crate::engine::Episode;
use crate::grid::{Clause, View, parse_clauses};
use crate::symbolic::environment_rules::{LessonTemplate, abstract_lesson};

/// Returns what a note teaches about grid worlds in general.
pub(in crate::symbolic) fn abstract_lessons(note: &Note) -> Vec<LessonTemplate> {
    let text = match note.detector.as_str() {
        "unlocked" => "A key opens locked doors of its own colour; after that you no longer need it.",
        "found_door" => "Rooms are joined by doors: if a door is closed, toggle and go through it.",
        _ => return Vec::new(),
    };
    abstract_lesson(note, Scope::Environment, text)
}

/// Returns the mistake a note shows, and what to do instead.
pub(in crate::symbolic) fn error_lessons(note: &Note) -> Vec<LessonTemplate> {
    let (mistake, solution) = match note.detector.as_str() {
        "wrong_verb" => {
            ("Used \"pick up\", which does not exist here.", "Use \"pickup COLOUR KIND NUMBER\".")
        }
        "hands_full" | "must_drop" => (
            "Was carrying something that the next step did not need.",
            "Drop what you carry on a free cell out of your way before you take another object; keep a key until its door is open.",
        ),
        "unknown_action" => (
            "Used an action that does not exist here.",
            "Use names and numbers exactly as in the last observation; \"check available actions\" lists what you can do.",
        ),
        "door_closed" => (
            "Tried to go through a closed door.",
            "Use \"toggle and go through COLOUR closed door NUMBER\" if a door is closed.",
        ),
        "no_key" => (
            "Tried to open a locked door without its key.",
            "First find the key of the door's colour, and carry it to the door.",
        ),
        "other_key" => (
            "Tried to open a locked door with the wrong key.",
            "A locked door needs the key of its own colour.",
        ),
        "no_way" => (
            "Picked a target with no path to it.",
            "Approach it from another side, or pick up what blocks the path and drop it somewhere else.",
        ),
        "barrier" => ("Walked into a wall or a box.", "Turn left or right when a wall or a box is ahead."),
        "no_room" => {
            ("Tried to drop something on an occupied cell.", "Turn to a free cell before you drop something.")
        }
        "empty_hands" => ("Tried to drop something with empty hands.", "You can drop only what you carry."),
        "no_change" => (
            "Tried to go to something that was already right ahead.",
            "When you face the target, act right away: pick it up, toggle it, or turn away and back.",
        ),
        "repeat" => ("Repeated an action that changed nothing.", "Do not repeat an action that did nothing."),
        "circling" => (
            "Kept turning the same way.",
            "After one full turn, stop turning: walk on, or go through a door you have not used yet.",
        ),
        _ => return Vec::new(),
    };
    let detector = if note.detector == "must_drop" { "hands_full" } else { note.detector.as_str() };
    vec![(format!("error.{detector}"), Scope::Environment, LessonText::error(mistake, solution))]
}

/// Describes the next step towards the goal from the visible and carried objects. Returns `None` if none of them
/// suggests one.
pub(in crate::symbolic) fn progress_text(episode: &Episode) -> Option<String> {
    let view = View::parse(episode.last_step()?.answer.as_ref()?.raw.as_str())?;
    let goal = parse_clauses(&episode.task.goal);
    if let Some((colour, "key")) = view.carrying {
        let is_wanted = goal.iter().any(|clause| match clause {
            Clause::PickUp(wanted) | Clause::PutNext(wanted, _) => wanted.matches_kind(colour, "key"),
            _ => false,
        });
        if !is_wanted {
            return Some(format!(
                "You are carrying the {colour} key. Next: open the {colour} locked door with it, and don't drop it until then."
            ));
        }
    }
    for clause in &goal {
        let (wanted, action) = match clause {
            Clause::GoTo(wanted) | Clause::Open(wanted) => (wanted, "go to"),
            Clause::PickUp(wanted) => (wanted, "pickup"),
            Clause::PutNext(moved, fixed) => {
                let carried = view.carrying.is_some_and(|(colour, kind)| moved.matches_kind(colour, kind));
                if carried { (fixed, "go near") } else { (moved, "pickup") }
            }
        };
        let Some(object) = view.objects.iter().find(|object| wanted.matches(object)) else { continue };
        let suffix = match (clause, object.door_state) {
            (Clause::Open(_), "locked") => ", carrying a key of the same colour, and toggle it",
            (Clause::Open(_), "closed") => " and toggle it",
            (Clause::PutNext(..), _) if action == "go near" => {
                " and drop what you are carrying on a free cell next to it"
            }
            _ => "",
        };
        return Some(format!(
            "You see {}, which the task mentions. Next: {action} {}{suffix}.",
            object.name, object.name
        ));
    }
    let unlocked = view.objects.iter().find(|object| object.kind == "door" && object.door_state != "locked");
    let door = unlocked.or_else(|| view.objects.iter().find(|object| object.kind == "door"))?;
    let verb = if door.door_state == "open" { "go through" } else { "toggle and go through" };
    Some(format!("Nothing the task mentions is in sight. Next: {verb} {}.", door.name))
}
