//! The sentences of reflections in grid worlds (`docs/LESSON_FORMS.md`).

use crate::domain::{LessonText, Note, Scope};
use crate::engine::Episode;
use crate::grid::{Clause, View, parse_clauses};

type Sentence = (String, Scope, LessonText);

/// Returns what a note teaches about grid worlds in general.
pub(in crate::symbolic) fn abstract_lessons(note: &Note) -> Vec<Sentence> {
    let text = match note.detector.as_str() {
        "unlocked" => "A key opens the locked doors of its colour; after that you no longer need it.",
        "found_door" => "Rooms are joined by doors: toggle and go through a closed one to get on.",
        _ => return Vec::new(),
    };
    vec![(format!("abstract.{}", note.detector), Scope::Environment, LessonText::plain(text))]
}

/// Returns the mistake a note shows, and what to do instead.
pub(in crate::symbolic) fn error_lessons(note: &Note) -> Vec<Sentence> {
    let (mistake, solution) = match note.detector.as_str() {
        "wrong_verb" => {
            ("Said \"pick up\", which this world does not know.", "Say \"pickup COLOUR KIND NUMBER\".")
        }
        "hands_full" | "must_drop" => (
            "Had something in the hand that the next step does not need.",
            "Drop it on a free cell that is not on your way before you take another thing; keep a key until its door is open.",
        ),
        "unknown_action" => (
            "Used words that are no action here.",
            "Use names and numbers as the last observation has them; \"check available actions\" lists what can be done.",
        ),
        "door_closed" => (
            "Went at a closed door.",
            "Say \"toggle and go through COLOUR closed door NUMBER\" where a door is closed.",
        ),
        "no_key" => (
            "Went at a locked door without its key.",
            "Find the key of the door's colour first, and carry it to the door.",
        ),
        "other_key" => {
            ("Went at a locked door with another key.", "A locked door needs the key of its own colour.")
        }
        "no_way" => (
            "Chose something that no way leads to.",
            "Go nearer another way, or take what stands in the way and drop it elsewhere.",
        ),
        "barrier" => ("Walked at a wall or a box.", "Turn left or right where a wall or a box is ahead."),
        "no_room" => ("Tried to drop where something lies.", "Turn to a free cell before you drop."),
        "empty_hands" => ("Tried to drop with empty hands.", "Drop only what you carry."),
        "no_change" => (
            "Went to what was already in front.",
            "Act at once when you face the thing: pick it up, toggle it, or turn away and back.",
        ),
        "repeat" => ("Repeated an action that changed nothing.", "Do not repeat an action that did nothing."),
        "circling" => (
            "Kept turning the same way.",
            "After one round turn no more: walk on, or go through a door you have not been through.",
        ),
        _ => return Vec::new(),
    };
    let detector = if note.detector == "must_drop" { "hands_full" } else { note.detector.as_str() };
    vec![(format!("error.{detector}"), Scope::Environment, LessonText::error(mistake, solution))]
}

/// Returns where the task stands, judged by what is in sight and in the hand. Returns `None` if nothing relevant is.
pub(in crate::symbolic) fn progress_text(episode: &Episode) -> Option<String> {
    let view = View::parse(episode.last_step()?.answer.as_ref()?.raw.as_str())?;
    let goal = parse_clauses(&episode.task.goal);
    if let Some((colour, "key")) = view.carrying {
        let wanted = goal.iter().any(|clause| match clause {
            Clause::PickUp(wanted) | Clause::PutNext(wanted, _) => wanted.matches_kind(colour, "key"),
            _ => false,
        });
        if !wanted {
            return Some(format!(
                "You carry the {colour} key. Next: open the {colour} locked door with it; do not drop it before."
            ));
        }
    }
    for clause in &goal {
        let (wanted, next) = match clause {
            Clause::GoTo(wanted) | Clause::Open(wanted) => (wanted, "go to"),
            Clause::PickUp(wanted) => (wanted, "pickup"),
            Clause::PutNext(moved, fixed) => {
                let carried = view.carrying.is_some_and(|(colour, kind)| moved.matches_kind(colour, kind));
                if carried { (fixed, "go near") } else { (moved, "pickup") }
            }
        };
        let Some(spot) = view.objects.iter().find(|spot| wanted.matches(spot)) else { continue };
        let after = match (clause, spot.door_state) {
            (Clause::Open(_), "locked") => ", with the key of its colour in your hand, and toggle it",
            (Clause::Open(_), "closed") => " and toggle it",
            (Clause::PutNext(..), _) if next == "go near" => {
                " and drop what you carry on a free cell beside it"
            }
            _ => "",
        };
        return Some(format!("You see {} of the task. Next: {next} {}{after}.", spot.name, spot.name));
    }
    let unlocked = view.objects.iter().find(|spot| spot.kind == "door" && spot.door_state != "locked");
    let door = unlocked.or_else(|| view.objects.iter().find(|spot| spot.kind == "door"))?;
    let verb = if door.door_state == "open" { "go through" } else { "toggle and go through" };
    Some(format!("Nothing of the task is in sight. Next: {verb} {}.", door.name))
}
