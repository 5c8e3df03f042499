//! The sentences of findings: what the agent did wrong at one step, with the names of the objects and places
//! (`EnvironmentRules::describe_finding`).
//!
//! They are derived from the steps whenever they are shown and never recorded, so that old sessions have them too.

use super::sentences::with_article;
use super::situation::{NAME as SITUATION, Situation};
use crate::domain::{Note, Step};
use crate::engine::Episode;
use crate::symbolic::common_findings::{MAX_STEPS_BACK, executed_text};
use crate::symbolic::goal::Treatment;
use crate::symbolic::parsing::{ParsedAction, parse_action, parse_observation};

/// Describes what a note of a step found; `None` if the name of its detector has to do.
pub(super) fn describe_finding(episode: &Episode, step: &Step, note: &Note) -> Option<String> {
    let action = parse_action(executed_text(step));
    let (object, place) = named_in(&action);
    let before = situation_before(episode, step.number);
    let here = Some(before.location.as_str()).filter(|here| !here.is_empty());
    let part = |name: &str| note.parts.get(name).map(String::as_str);
    let treated = || part("how").and_then(Treatment::from_word).map(Treatment::participle);
    Some(match note.detector.as_str() {
        "not_at_place" => {
            let target = place.or(object)?;
            match here {
                Some(here) => format!("{target} is elsewhere: the agent is at {here}"),
                None => format!("{target} is elsewhere: the agent has not gone anywhere yet"),
            }
        }
        "container_closed" => format!("{} is closed", place?),
        "hand_full" if !before.held.is_empty() => format!("the agent already holds {}", before.held),
        "number_missing" => format!("\"{}\" has no number", part("name")?),
        "wrong_appliance" => {
            let how = part("how").and_then(Treatment::from_word)?;
            let (verb, appliance) = (how.verb(), with_article(how.appliance()));
            format!("{} can't {verb} {}: that takes {appliance}", place?, object?)
        }
        "not_holding" => format!("the agent does not hold {}", object?),
        "wrong_form" if part("said") == Some("put") => "this household says \"move\", not \"put\"".to_owned(),
        "wrong_form" => "this household says \"put\", not \"move\"".to_owned(),
        "unknown_place" => format!("there is no {} here", place?),
        "already_there" => format!("the agent is already at {}", place?),
        "already_open" => format!("{} is already open", place?),
        "already_closed" => format!("{} is already closed", place?),
        "no_door" => format!("{} has no door", place?),
        "object_not_here" => match place.or(here) {
            Some(place) => format!("{} is not at {place}", object?),
            None => format!("{} is not here", object?),
        },
        "cannot_take" => format!("{} can't be taken from {}", object?, place?),
        "cannot_treat" => format!("{} can't be {}", object?, treated()?),
        "does_not_fit" => format!("{} does not accept {}", place?, object?),
        "left_closed" => left_closed(episode, step, here?),
        "left_target" => {
            let here = here?;
            let seen = before
                .seen_objects
                .iter()
                .find(|(object, place)| *place == here && !before.placed.contains(object));
            format!("{} was in sight at {here}, but was not taken", seen?.0)
        }
        "searched_again" => {
            let earlier = earlier_visit(episode, step.number, place?)?;
            format!("{} was searched before, at step {earlier}", place?)
        }
        "wrong_object" => {
            format!("took {}, but the task asks for {}", object?, with_article(part("wanted")?))
        }
        "took_back" => format!("{} was already where it belongs: {}", object?, place?),
        "wrong_treatment" => format!("{} was {}, but the task doesn't ask for it", object?, treated()?),
        "placed_untreated" => format!("{} was put in/on {} before it was {}", object?, place?, treated()?),
        "examined_without_lamp" => format!("{} was examined without the lamp", object?),
        "lamp_without_object" => {
            format!("{} was used without holding {}", object?, with_article(part("object")?))
        }
        _ => return None,
    })
}

/// Returns the object and the place that an action names, with their numbers.
fn named_in(action: &ParsedAction) -> (Option<&str>, Option<&str>) {
    match action {
        ParsedAction::GoTo(place) | ParsedAction::Open(place) | ParsedAction::Close(place) => {
            (None, Some(place))
        }
        ParsedAction::Take { object, place }
        | ParsedAction::Put { object, place, .. }
        | ParsedAction::Treat { object, place, .. } => (Some(object), Some(place)),
        ParsedAction::Use(object) | ParsedAction::Examine(object) | ParsedAction::Slice { object, .. } => {
            (Some(object), None)
        }
        ParsedAction::AlwaysAccepted | ParsedAction::Unknown => (None, None),
    }
}

/// Returns what was known before a step: the situation that the last of the steps before it noted.
fn situation_before(episode: &Episode, number: u32) -> Situation {
    let notes = earlier_steps(episode, number).flat_map(|step| &step.notes);
    let last = notes.into_iter().find(|note| note.detector == SITUATION);
    last.map_or_else(Situation::default, |note| Situation::from_parts(&note.parts))
}

/// Says since when the agent stood before the container, and whether it opened it in that time.
fn left_closed(episode: &Episode, step: &Step, container: &str) -> String {
    let mut was_opened = false;
    for earlier in earlier_steps(episode, step.number) {
        match parse_action(executed_text(earlier)) {
            ParsedAction::GoTo(place) if place == container && has_arrived(earlier) => {
                let opened = if was_opened { "and closed again" } else { "never opened" };
                return format!("{container} was left closed: reached at step {}, {opened}", earlier.number);
            }
            ParsedAction::Open(place) if place == container => was_opened = true,
            _ => {}
        }
    }
    format!("{container} was left closed")
}

/// Returns the last step before this one at which the agent went to a place.
fn earlier_visit(episode: &Episode, number: u32, place: &str) -> Option<u32> {
    let is_visit = |step: &&Step| {
        has_arrived(step)
            && matches!(parse_action(executed_text(step)), ParsedAction::GoTo(to) if to == place)
    };
    earlier_steps(episode, number).find(is_visit).map(|step| step.number)
}

fn has_arrived(step: &Step) -> bool {
    step.answer.as_ref().is_some_and(|answer| parse_observation(answer.raw.trim()).arrived.is_some())
}

/// Returns the steps before this one, the last first, at most [`MAX_STEPS_BACK`].
fn earlier_steps(episode: &Episode, number: u32) -> impl Iterator<Item = &Step> {
    let first = number.saturating_sub(MAX_STEPS_BACK).max(1);
    (first..number).rev().filter_map(|number| episode.step(number))
}
