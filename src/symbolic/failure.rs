//! Finds out why an action had no effect. The environment only answers that nothing happens; the reason is inferred
//! from earlier observations.

use super::goal::Treatment;
use super::parsing::{Door, ParsedAction, has_number, listed_places, parse_observation, type_of_name};
use super::situation::Situation;
use crate::engine::Episode;
use std::collections::BTreeMap;

/// Returns the reason as the name of its detector, with the parts of the note, from which lesson sentences are built.
pub(super) fn failure_reason(
    episode: &Episode,
    action: &ParsedAction,
    known: &Situation,
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
            if known.held == *knife { "object_not_here" } else { "not_holding" }
        }
        ParsedAction::GoTo(place) => {
            part("place", type_of_name(place));
            if *place == known.location {
                "already_there"
            } else if is_listed(episode, place) {
                // An existing place that cannot be gone to is at the same location as the agent's place.
                "already_there"
            } else {
                "unknown_place"
            }
        }
        ParsedAction::Open(place) | ParsedAction::Close(place) => {
            part("place", type_of_name(place));
            match (action, known.door) {
                _ if *place != known.location => "not_at_place",
                (_, Door::None) => "no_door",
                (ParsedAction::Open(_), Door::Open) => "already_open",
                (ParsedAction::Close(_), Door::Closed) => "already_closed",
                _ => "unclear",
            }
        }
        ParsedAction::Take { object, place } => {
            part("object", type_of_name(object));
            part("place", type_of_name(place));
            if !known.held.is_empty() {
                part("holding", type_of_name(&known.held));
                "hand_full"
            } else if *place != known.location {
                "not_at_place"
            } else if known.door == Door::Closed {
                "container_closed"
            } else if objects_here(episode, known).iter().any(|t| t == object) {
                "cannot_take"
            } else {
                "object_not_here"
            }
        }
        ParsedAction::Put { object, place, old_wording: old } => {
            part("object", type_of_name(object));
            part("place", type_of_name(place));
            if known.held != *object {
                "not_holding"
            } else if *place != known.location {
                "not_at_place"
            } else if known.door == Door::Closed {
                "container_closed"
            } else if known.old_wording.is_some_and(|game_uses_old| game_uses_old != *old) {
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
            treatment_failure(*treatment, object, place, known)
        }
        ParsedAction::Use(lamp) => {
            part("object", type_of_name(lamp));
            if known.lamp.as_ref().is_some_and(|(l, place)| l == lamp && *place != known.location) {
                "not_at_place"
            } else {
                "object_not_here"
            }
        }
        ParsedAction::Examine(what) => {
            part("object", type_of_name(what));
            if is_listed(episode, what) && *what != known.location { "not_at_place" } else { "not_holding" }
        }
    };
    (detector, parts)
}

fn treatment_failure(treatment: Treatment, object: &str, place: &str, known: &Situation) -> &'static str {
    if type_of_name(place) != treatment.appliance() {
        "wrong_appliance"
    } else if known.held != object {
        "not_holding"
    } else if place != known.location {
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

/// Returns the objects seen in the last view of this place.
fn objects_here(episode: &Episode, known: &Situation) -> Vec<String> {
    episode
        .step(known.last_view_step)
        .and_then(|s| s.answer.as_ref())
        .map(|a| parse_observation(&a.raw).objects)
        .unwrap_or_default()
}
