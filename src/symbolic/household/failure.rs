//! Finds out why an action had no effect. The environment only answers that nothing happens; the reason is inferred
//! from earlier observations.

use super::situation::Situation;
use crate::engine::Episode;
use crate::symbolic::goal::Treatment;
use crate::symbolic::parsing::{
    Door, ParsedAction, has_number, listed_places, parse_observation, type_of_name,
};
use std::collections::BTreeMap;

/// Returns the reason as the name of its detector, with the parts of the note, from which lesson sentences are built.
pub(super) fn failure_reason(
    episode: &Episode,
    action: &ParsedAction,
    situation: &Situation,
) -> (&'static str, BTreeMap<String, String>) {
    let mut parts = BTreeMap::new();
    let mut part = |name: &str, value: &str| {
        parts.insert(name.to_owned(), value.to_owned());
    };
    let names: Vec<&str> = match action {
        ParsedAction::GoTo(a)
        | ParsedAction::Open(a)
        | ParsedAction::Close(a)
        | ParsedAction::Use(a)
        | ParsedAction::Examine(a) => vec![a],
        ParsedAction::Take { object, place }
        | ParsedAction::Put { object, place, .. }
        | ParsedAction::Treat { object, place, .. } => {
            vec![object, place]
        }
        ParsedAction::Slice { object, knife } => vec![object, knife],
        ParsedAction::AlwaysAccepted | ParsedAction::Unknown => Vec::new(),
    };
    if let Some(unnumbered) = names.iter().find(|n| !has_number(n)) {
        part("name", unnumbered);
        return ("number_missing", parts);
    }
    let detector = match action {
        ParsedAction::Unknown => "unknown_action",
        ParsedAction::AlwaysAccepted => "unclear",
        ParsedAction::Slice { object, knife } => {
            part("object", type_of_name(object));
            if situation.held == *knife { "object_not_here" } else { "not_holding" }
        }
        ParsedAction::GoTo(place) => {
            part("place", type_of_name(place));
            if *place == situation.location {
                "already_there"
            } else if is_listed(episode, place) {
                // A listed place that `go to` rejects is at the agent's current location.
                "already_there"
            } else {
                "unknown_place"
            }
        }
        ParsedAction::Open(place) | ParsedAction::Close(place) => {
            part("place", type_of_name(place));
            match (action, situation.door) {
                _ if *place != situation.location => "not_at_place",
                (_, Door::None) => "no_door",
                (ParsedAction::Open(_), Door::Open) => "already_open",
                (ParsedAction::Close(_), Door::Closed) => "already_closed",
                _ => "unclear",
            }
        }
        ParsedAction::Take { object, place } => {
            part("object", type_of_name(object));
            part("place", type_of_name(place));
            if !situation.held.is_empty() {
                part("holding", type_of_name(&situation.held));
                "hand_full"
            } else if *place != situation.location {
                "not_at_place"
            } else if situation.door == Door::Closed {
                "container_closed"
            } else if objects_here(episode, situation).iter().any(|t| t == object) {
                "cannot_take"
            } else {
                "object_not_here"
            }
        }
        ParsedAction::Put { object, place, old_wording: old } => {
            part("object", type_of_name(object));
            part("place", type_of_name(place));
            if situation.held != *object {
                "not_holding"
            } else if *place != situation.location {
                "not_at_place"
            } else if situation.door == Door::Closed {
                "container_closed"
            } else if situation.old_wording.is_some_and(|game_uses_old| game_uses_old != *old) {
                part("said", if *old { "put" } else { "move" });
                "wrong_form"
            } else {
                "does_not_fit"
            }
        }
        ParsedAction::Treat { treatment, object, place } => {
            part("object", type_of_name(object));
            part("place", type_of_name(place));
            part("how", treatment.verb());
            treatment_failure(*treatment, object, place, situation)
        }
        ParsedAction::Use(lamp) => {
            part("object", type_of_name(lamp));
            if situation.lamp.as_ref().is_some_and(|(l, place)| l == lamp && *place != situation.location) {
                "not_at_place"
            } else {
                "object_not_here"
            }
        }
        ParsedAction::Examine(name) => {
            part("object", type_of_name(name));
            if is_listed(episode, name) && *name != situation.location {
                "not_at_place"
            } else {
                "not_holding"
            }
        }
    };
    (detector, parts)
}

fn treatment_failure(treatment: Treatment, object: &str, place: &str, situation: &Situation) -> &'static str {
    if type_of_name(place) != treatment.appliance() {
        "wrong_appliance"
    } else if situation.held != object {
        "not_holding"
    } else if place != situation.location {
        "not_at_place"
    } else {
        "cannot_treat"
    }
}

/// Returns whether the first observation lists a place of this name. If it lists no places, every name may be valid.
fn is_listed(episode: &Episode, place: &str) -> bool {
    let places = episode.first_observation.as_ref().map(|r| listed_places(&r.raw)).unwrap_or_default();
    places.is_empty() || places.contains(&place)
}

/// Returns the objects in the last view of the agent's current place.
fn objects_here(episode: &Episode, situation: &Situation) -> Vec<String> {
    episode
        .step(situation.last_view_step)
        .and_then(|s| s.answer.as_ref())
        .map(|a| parse_observation(&a.raw).objects)
        .unwrap_or_default()
}
