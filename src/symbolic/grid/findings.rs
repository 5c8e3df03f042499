//! The sentences of findings in a grid world, with the names of the objects (`EnvironmentRules::describe_finding`).

use super::view_before;
use crate::domain::{Note, Step};
use crate::engine::Episode;
use crate::symbolic::common_findings::executed_text;

/// Beginnings of actions that name one object, the longer first.
const VERBS: &[&str] = &["toggle and go through ", "go through ", "go to ", "pickup ", "pick up ", "toggle "];

/// Turns in one direction after which the agent faces the same way again.
const TURNS_OF_A_CIRCLE: u32 = 4;

/// Describes what a note of a step found; `None` if the name of its detector has to do.
pub(super) fn describe_finding(episode: &Episode, step: &Step, note: &Note) -> Option<String> {
    let action = executed_text(step);
    let object = VERBS.iter().find_map(|verb| action.strip_prefix(verb)).map(str::trim);
    let carried = || view_before(episode, step.number)?.carrying;
    let part = |name: &str| note.parts.get(name).map(String::as_str);
    Some(match note.detector.as_str() {
        Note::CIRCLING => {
            let (action, times) = (part("action")?, part("times")?.parse::<u32>().ok()?);
            if times < TURNS_OF_A_CIRCLE {
                return None;
            }
            let since = match step.number.checked_sub(TURNS_OF_A_CIRCLE)? {
                0 => "at the start".to_owned(),
                earlier => format!("after step {earlier}"),
            };
            format!("{action}, {times} times in a row: the same view as {since}")
        }
        "must_drop" => format!("picked up {}, which the task doesn't mention", part("thing")?),
        "hands_full" => {
            let (colour, kind) = carried()?;
            format!("the agent already carries a {colour} {kind}")
        }
        "wrong_verb" => "this world says \"pickup\", not \"pick up\"".to_owned(),
        "door_closed" => format!("{} is closed", object?),
        "no_key" => format!("{} is locked, and the agent carries no key", object?),
        "other_key" => {
            let (colour, kind) = carried()?;
            format!("the {colour} {kind} does not fit {}", object?)
        }
        "no_way" => format!("no path to {}", object?),
        _ => return None,
    })
}
