//! What the detectors know from earlier steps: where the agent is, what it holds, and where the objects of its task
//! have been seen. Each change is stored in a `situation` note. The latest one is read from the note tallies, so a step
//! costs the same however long the episode is.

use crate::domain::{Note, NoteKind};
use crate::engine::Episode;
use crate::symbolic::goal::Goal;
use crate::symbolic::parsing::{Door, ParsedAction, ParsedObservation, type_of_name};
use std::collections::BTreeMap;

/// The detector's name.
pub(super) const NAME: &str = "situation";

/// What is known after a step. All names include their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Situation {
    /// The agent's place; empty at the start.
    pub(super) location: String,
    /// The door of that place.
    pub(super) door: Door,
    /// The last step whose answer described the current place (0: none).
    pub(super) last_view_step: u32,
    /// The object held; empty if none.
    pub(super) held: String,
    /// Whether the game uses the old wording `put X in/on Y` (data version 2.1.1); known after the first arrival.
    pub(super) old_wording: Option<bool>,
    /// Objects of the goal's type with their current place (`hand` while held).
    pub(super) seen_objects: BTreeMap<String, String>,
    /// Target objects that were heated, cooled or cleaned as the goal demands.
    pub(super) treated: Vec<String>,
    /// Target objects in the goal's destination, treated if the goal demands it.
    pub(super) placed: Vec<String>,
    /// The goal's lamp, and its place.
    pub(super) lamp: Option<(String, String)>,
    /// The lamp was switched on; it stays on.
    pub(super) lamp_on: bool,
}

impl Situation {
    /// Returns what was known after the last step that changed it.
    pub(super) fn from_episode(episode: &Episode) -> Self {
        episode.note_tallies.get(NAME).map_or_else(Self::default, |t| Self::from_parts(&t.last.parts))
    }

    /// Returns what is known after one more action and observation.
    pub(super) fn after_step(
        &self,
        action: &ParsedAction,
        observation: &ParsedObservation,
        goal: Option<&Goal>,
        step: u32,
    ) -> Self {
        let mut now = self.clone();
        if let (Some(old), ParsedAction::GoTo(place)) = (observation.arrived, action) {
            now.old_wording = Some(old);
            now.location.clone_from(place);
            now.door = Door::None;
            now.last_view_step = step;
        }
        if let Some((place, door)) = &observation.view {
            if *place == now.location {
                now.door = *door;
                now.last_view_step = step;
            }
            let wanted = |thing: &&String| goal.is_some_and(|g| type_of_name(thing) == g.object());
            for thing in observation.objects.iter().filter(wanted) {
                if now.seen_objects.get(thing).is_none_or(|w| w != IN_HAND) && now.seen_objects.len() < 16 {
                    now.seen_objects.insert(thing.clone(), place.clone());
                    if goal.is_some_and(|g| now.is_wanted_placement(g, thing, place))
                        && !now.placed.contains(thing)
                    {
                        now.placed.push(thing.clone());
                    }
                }
            }
            if let Some(lamp) =
                observation.objects.iter().find(|t| goal.and_then(Goal::lamp) == Some(type_of_name(t)))
            {
                now.lamp = Some((lamp.clone(), place.clone()));
            }
        }
        if observation.closed.as_ref() == Some(&now.location) {
            now.door = Door::Closed;
        }
        if let Some((object, _)) = &observation.taken {
            now.held.clone_from(object);
            now.placed.retain(|p| p != object);
            if goal.is_some_and(|g| type_of_name(object) == g.object()) {
                now.seen_objects.insert(object.clone(), IN_HAND.to_owned());
            }
        }
        if let (Some((how, object, _)), Some(goal)) = (&observation.treated, goal)
            && goal.treatment() == Some(*how)
            && type_of_name(object) == goal.object()
            && !now.treated.contains(object)
        {
            now.treated.push(object.clone());
        }
        now.lamp_on |= observation
            .lamp_switched_on
            .as_ref()
            .is_some_and(|l| goal.and_then(Goal::lamp) == Some(type_of_name(l)));
        if let Some((object, place)) = &observation.placed {
            now.held.clear();
            if let Some(goal) = goal.filter(|g| type_of_name(object) == g.object()) {
                now.seen_objects.insert(object.clone(), place.clone());
                if now.is_wanted_placement(goal, object, place) && !now.placed.contains(object) {
                    now.placed.push(object.clone());
                }
            }
        }
        now
    }

    /// Returns whether the goal demands this object in this place.
    pub(super) fn is_wanted_placement(&self, goal: &Goal, object: &str, place: &str) -> bool {
        type_of_name(object) == goal.object()
            && goal.destination() == Some(type_of_name(place))
            && (goal.treatment().is_none() || self.treated.iter().any(|t| t == object))
    }

    /// Returns a target object that was seen but is neither held nor placed yet, and its current place.
    pub(super) fn unplaced_target(&self) -> Option<(&str, &str)> {
        let is_unplaced =
            |(object, place): &(&String, &String)| *place != IN_HAND && !self.placed.contains(object);
        self.seen_objects.iter().find(is_unplaced).map(|(o, p)| (o.as_str(), p.as_str()))
    }

    /// Returns whether the object is held at the lamp's place and the lamp is on.
    pub(super) fn is_examining(&self, goal: &Goal) -> bool {
        let is_at_lamp = self.lamp.as_ref().is_some_and(|(_, place)| *place == self.location);
        self.lamp_on && is_at_lamp && type_of_name(&self.held) == goal.object()
    }

    /// Returns whether the agent is searching: for a target that it neither holds nor has seen, or, holding the target,
    /// for the lamp.
    pub(super) fn is_searching(&self, goal: &Goal) -> bool {
        let for_target = type_of_name(&self.held) != goal.object() && self.unplaced_target().is_none();
        let for_lamp =
            goal.lamp().is_some() && type_of_name(&self.held) == goal.object() && self.lamp.is_none();
        for_target || for_lamp
    }

    /// Converts the situation to the note that stores it.
    pub(super) fn to_note(&self, evidence: String) -> Note {
        let mut fields = BTreeMap::new();
        let mut put = |name: &str, value: String| {
            if !value.is_empty() {
                fields.insert(name.to_owned(), value);
            }
        };
        put("at", self.location.clone());
        put("door", door_name(self.door).to_owned());
        put(
            "shown_in",
            if self.last_view_step == 0 { String::new() } else { self.last_view_step.to_string() },
        );
        put("hand", self.held.clone());
        put("words", self.old_wording.map_or("", |old| if old { "put" } else { "move" }).to_owned());
        put(
            "targets",
            self.seen_objects.iter().map(|(o, p)| format!("{o}@{p}")).collect::<Vec<_>>().join(";"),
        );
        put("treated", self.treated.join(";"));
        put("placed", self.placed.join(";"));
        put("lamp", self.lamp.as_ref().map_or(String::new(), |(l, p)| format!("{l}@{p}")));
        put("lit", if self.lamp_on { "yes" } else { "" }.to_owned());
        Note { detector: NAME.to_owned(), kind: NoteKind::Fact, evidence, parts: fields }
    }

    /// Reads the situation from a note's key-value fields, the inverse of [`Self::to_note`].
    pub(super) fn from_parts(fields: &BTreeMap<String, String>) -> Self {
        let field = |name: &str| fields.get(name).map_or("", String::as_str);
        let list = |name: &str| {
            field(name).split(';').filter(|w| !w.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        let pair = |text: &str| text.split_once('@').map(|(a, b)| (a.to_owned(), b.to_owned()));
        Self {
            location: field("at").to_owned(),
            door: match field("door") {
                "open" => Door::Open,
                "closed" => Door::Closed,
                _ => Door::None,
            },
            last_view_step: field("shown_in").parse().unwrap_or(0),
            held: field("hand").to_owned(),
            old_wording: match field("words") {
                "put" => Some(true),
                "move" => Some(false),
                _ => None,
            },
            seen_objects: list("targets").iter().filter_map(|t| pair(t)).collect(),
            treated: list("treated"),
            placed: list("placed"),
            lamp: pair(field("lamp")),
            lamp_on: !field("lit").is_empty(),
        }
    }
}

/// The place recorded for a held target.
const IN_HAND: &str = "hand";

fn door_name(door: Door) -> &'static str {
    match door {
        Door::None => "",
        Door::Open => "open",
        Door::Closed => "closed",
    }
}
