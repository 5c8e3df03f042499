//! Updates the belief after an action that succeeded, from the action and its observation.

use super::{Belief, Door, HistoryEvent, treatment_index};
use crate::stand_in::prompt_parser::ParsedPrompt;
use crate::stand_in::vocabulary::{HouseholdAction, ObjectName, PutWording, Treatment, parse_list};

impl<'a> Belief<'a> {
    pub(super) fn record_success(
        &mut self,
        action: HouseholdAction<'a>,
        observation: &'a str,
        parsed: &ParsedPrompt<'a>,
    ) {
        let goal = parsed.goal.as_ref();
        match action {
            HouseholdAction::Go(name) => self.record_arrival(name),
            // The oldest games don't list the contents after `open`, so the place is not searched yet.
            HouseholdAction::Open(name) => {
                let place = self.find_or_add_place(name);
                self.set_door(place, Door::Open);
            }
            HouseholdAction::Examine(name) if self.find_place(name).is_some() => {}
            HouseholdAction::Examine(name) => {
                if self.holding().is_some_and(|held| held.name == name) {
                    self.mistakes.examined_thing += 1;
                }
            }
            HouseholdAction::Close(name) => {
                let place = self.find_or_add_place(name);
                self.set_door(place, Door::Closed);
            }
            HouseholdAction::Take(name, from) => self.record_take(name, from, goal.map_or("", |g| g.thing)),
            HouseholdAction::Put(name, to, wording) => self.record_put(name, to, wording, parsed),
            HouseholdAction::Treat(treatment, name, _) => {
                let thing = self.find_or_add_thing(name);
                if let Some(thing) = self.things.get_mut(thing) {
                    // Heating undoes cooling and vice versa; a clean thing stays clean.
                    thing.treated = match treatment {
                        Treatment::Heat => [true, false, thing.treated[2]],
                        Treatment::Cool => [false, true, thing.treated[2]],
                        Treatment::Clean => [thing.treated[0], thing.treated[1], true],
                    };
                }
                self.last_event = HistoryEvent::Treated;
            }
            HouseholdAction::Use(_) => {
                match self.holding().map(|held| goal.is_some_and(|g| g.thing == held.name.kind)) {
                    None => self.mistakes.lamp_without_thing += 1,
                    Some(is_wanted) => self.mistakes.wrong_things_handled += u32::from(!is_wanted),
                }
                self.last_event = HistoryEvent::UsedLamp;
            }
            HouseholdAction::Other => {}
        }
        self.read_observation(observation);
    }

    fn record_arrival(&mut self, name: ObjectName<'a>) {
        if let Some(left) = self.current_place.and_then(|here| self.places.get(here))
            && left.door == Door::Closed
            && !left.searched
        {
            self.mistakes.passed_closed_doors += 1;
        }
        let place = self.find_or_add_place(name);
        let now = self.current_item;
        if let Some(place) = self.places.get_mut(place) {
            if place.searched && self.held_thing.is_none() {
                self.mistakes.revisits += 1;
            }
            place.visits += 1;
            place.last_visit = now;
        }
        self.current_place = Some(place);
    }

    fn record_take(&mut self, name: ObjectName<'a>, from: ObjectName<'a>, wanted: &str) {
        if name.kind != wanted {
            self.mistakes.unrelated_things += 1;
        }
        let from = self.find_place(from);
        let thing = self.find_or_add_thing(name);
        if let Some(thing) = self.things.get_mut(thing) {
            thing.place = None;
            thing.taken_from = from;
        }
        self.held_thing = Some(thing);
        self.last_event = HistoryEvent::Took;
    }

    fn record_put(
        &mut self,
        name: ObjectName<'a>,
        to: ObjectName<'a>,
        wording: PutWording,
        parsed: &ParsedPrompt<'a>,
    ) {
        let place = self.find_or_add_place(to);
        let thing = self.find_or_add_thing(name);
        self.working_wording = Some(wording);
        self.held_thing = None;
        self.last_event = HistoryEvent::Placed;
        let Some(thing) = self.things.get_mut(thing) else { return };
        thing.place = Some(place);
        let Some(goal) = parsed.goal.as_ref() else { return };
        let is_treated = goal
            .treatment
            .is_none_or(|treatment| thing.treated.get(treatment_index(treatment)) == Some(&true));
        if goal.under_lamp {
            self.mistakes.put_under_lamp += 1;
        } else if to.kind == goal.target {
            thing.times_put_at_target += 1;
            self.mistakes.placed_untreated += u32::from(name.kind == goal.thing && !is_treated);
            self.mistakes.wrong_things_handled += u32::from(name.kind != goal.thing);
        } else if goal.treatment.is_some_and(|treatment| treatment.appliance() == to.kind) && is_treated {
            self.mistakes.left_at_appliance += 1;
        }
    }

    fn set_door(&mut self, place: usize, door: Door) {
        if let Some(place) = self.places.get_mut(place) {
            place.door = door;
        }
    }

    /// Records the doors and contents that an observation shows.
    fn read_observation(&mut self, observation: &'a str) {
        for sentence in observation.split(['.', '\n']) {
            let sentence = sentence.trim();
            if let Some(rest) = sentence.strip_prefix("On the ")
                && let Some((place, things)) = rest.split_once(", you see ")
            {
                self.record_contents_by_name(place, things, Door::Absent);
            } else if let Some(things) = sentence.strip_prefix("In it, you see ") {
                self.set_contents_of_most_recent(things);
            } else if let Some(rest) = sentence.strip_prefix("The ") {
                if let Some(place) = rest.strip_suffix(" is closed").and_then(ObjectName::parse) {
                    let place = self.find_or_add_place(place);
                    self.set_door(place, Door::Closed);
                } else if let Some(place) = rest.strip_suffix(" is open").and_then(ObjectName::parse) {
                    let place = self.find_or_add_place(place);
                    self.set_door(place, Door::Open);
                    self.mark_most_recent(place);
                }
            } else if let Some(things) = sentence.strip_prefix("You are carrying: ") {
                let thing = parse_list(things).next().map(|name| self.find_or_add_thing(name));
                self.held_thing = thing;
                if let Some(thing) = thing.and_then(|t| self.things.get_mut(t)) {
                    thing.place = None;
                }
            } else if sentence == "You are not carrying anything" {
                self.held_thing = None;
            }
        }
    }

    /// Marks an open place as the most recent one, because the next sentence that begins with `In it` refers to it.
    fn mark_most_recent(&mut self, place: usize) {
        let now = self.current_item;
        if let Some(place) = self.places.get_mut(place) {
            place.last_visit = now;
        }
    }

    fn set_contents_of_most_recent(&mut self, things: &'a str) {
        let now = self.current_item;
        let place = self.places.iter().position(|p| p.last_visit == now && p.door == Door::Open);
        if let Some(place) = place {
            self.set_contents(place, things);
        }
    }

    fn record_contents_by_name(&mut self, place: &'a str, things: &'a str, door: Door) {
        let Some(name) = ObjectName::parse(place) else { return };
        let place = self.find_or_add_place(name);
        self.set_door(place, door);
        self.set_contents(place, things);
    }

    fn set_contents(&mut self, place: usize, things: &'a str) {
        if let Some(place) = self.places.get_mut(place) {
            place.searched = true;
        }
        for thing in &mut self.things {
            if thing.place == Some(place) {
                thing.place = None;
            }
        }
        for name in parse_list(things) {
            let thing = self.find_or_add_thing(name);
            if self.held_thing != Some(thing)
                && let Some(thing) = self.things.get_mut(thing)
            {
                thing.place = Some(place);
            }
        }
    }
}
