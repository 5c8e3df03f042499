//! Actions that worked, and what their answers show.

use super::{Belief, Door, Event, index};
use crate::provider::rules::read::Reading;
use crate::provider::rules::text::{Act, Name, Treatment, Wording, list};

impl<'a> Belief<'a> {
    pub(super) fn success(&mut self, act: Act<'a>, answer: &'a str, reading: &Reading<'a>) {
        let goal = reading.goal.as_ref();
        match act {
            Act::Go(name) => self.arrive(name),
            // The oldest games open without listing what is inside.
            Act::Open(name) => {
                let place = self.known_place(name);
                self.set_door(place, Door::Open);
            }
            Act::Examine(name) if self.place(name).is_some() => {}
            Act::Examine(name) => {
                if self.holding().is_some_and(|held| held.name == name) {
                    self.faults.examined += 1;
                }
            }
            Act::Close(name) => {
                let place = self.known_place(name);
                self.set_door(place, Door::Closed);
            }
            Act::Take(name, from) => self.took(name, from, goal.map_or("", |g| g.thing)),
            Act::Put(name, to, wording) => self.put(name, to, wording, reading),
            Act::Treat(what, name, _) => {
                let thing = self.thing(name);
                if let Some(thing) = self.things.get_mut(thing) {
                    // What was heated is no longer cool, and the other way round; clean is for ever.
                    thing.treated = match what {
                        Treatment::Heat => [true, false, thing.treated[2]],
                        Treatment::Cool => [false, true, thing.treated[2]],
                        Treatment::Clean => [thing.treated[0], thing.treated[1], true],
                    };
                }
                self.last = Event::Treated;
            }
            Act::Use(_) => {
                match self.holding().map(|held| goal.is_some_and(|g| g.thing == held.name.kind)) {
                    None => self.faults.bare_lamp += 1,
                    Some(wanted) => self.faults.look_alikes += u32::from(!wanted),
                }
                self.last = Event::Lit;
            }
            Act::Other => {}
        }
        self.look(answer);
    }

    fn arrive(&mut self, name: Name<'a>) {
        if let Some(left) = self.here.and_then(|here| self.places.get(here))
            && left.door == Door::Closed
            && !left.searched
        {
            self.faults.passed += 1;
        }
        let place = self.known_place(name);
        let now = self.now;
        if let Some(place) = self.places.get_mut(place) {
            if place.searched && self.held.is_none() {
                self.faults.went_back += 1;
            }
            place.visits += 1;
            place.last = now;
        }
        self.here = Some(place);
    }

    fn took(&mut self, name: Name<'a>, from: Name<'a>, wanted: &str) {
        if name.kind != wanted {
            self.faults.others += 1;
        }
        let from = self.place(from);
        let thing = self.thing(name);
        if let Some(thing) = self.things.get_mut(thing) {
            thing.at = None;
            thing.from = from;
        }
        self.held = Some(thing);
        self.last = Event::Took;
    }

    fn put(&mut self, name: Name<'a>, to: Name<'a>, wording: Wording, reading: &Reading<'a>) {
        let place = self.known_place(to);
        let thing = self.thing(name);
        self.wording = Some(wording);
        self.held = None;
        self.last = Event::Placed;
        let Some(thing) = self.things.get_mut(thing) else { return };
        thing.at = Some(place);
        let Some(goal) = reading.goal.as_ref() else { return };
        let treated = goal.treatment.is_none_or(|what| thing.treated.get(index(what)) == Some(&true));
        if goal.look {
            self.faults.put_under_lamp += 1;
        } else if to.kind == goal.target {
            thing.put_at_target += 1;
            self.faults.untreated += u32::from(name.kind == goal.thing && !treated);
            self.faults.look_alikes += u32::from(name.kind != goal.thing);
        } else if goal.treatment.is_some_and(|what| what.place() == to.kind) && treated {
            self.faults.left_there += 1;
        }
    }
    fn set_door(&mut self, place: usize, door: Door) {
        if let Some(place) = self.places.get_mut(place) {
            place.door = door;
        }
    }

    /// Takes up what an answer shows: doors and contents.
    fn look(&mut self, answer: &'a str) {
        for sentence in answer.split(['.', '\n']) {
            let sentence = sentence.trim();
            if let Some(rest) = sentence.strip_prefix("On the ")
                && let Some((place, things)) = rest.split_once(", you see ")
            {
                self.contents(place, things, Door::Without);
            } else if let Some(things) = sentence.strip_prefix("In it, you see ") {
                self.inside(things);
            } else if let Some(rest) = sentence.strip_prefix("The ") {
                if let Some(place) = rest.strip_suffix(" is closed").and_then(Name::read) {
                    let place = self.known_place(place);
                    self.set_door(place, Door::Closed);
                } else if let Some(place) = rest.strip_suffix(" is open").and_then(Name::read) {
                    let place = self.known_place(place);
                    self.set_door(place, Door::Open);
                    self.opened(place);
                }
            } else if let Some(things) = sentence.strip_prefix("You are carrying: ") {
                let thing = list(things).next().map(|name| self.thing(name));
                self.held = thing;
                if let Some(thing) = thing.and_then(|t| self.things.get_mut(t)) {
                    thing.at = None;
                }
            } else if sentence == "You are not carrying anything" {
                self.held = None;
            }
        }
    }

    /// Remembers which open place the next `In it` speaks of, by making it the most recent one.
    fn opened(&mut self, place: usize) {
        let now = self.now;
        if let Some(place) = self.places.get_mut(place) {
            place.last = now;
        }
    }

    fn inside(&mut self, things: &'a str) {
        let now = self.now;
        let place = self.places.iter().position(|p| p.last == now && p.door == Door::Open);
        if let Some(place) = place {
            self.fill(place, things);
        }
    }

    fn contents(&mut self, place: &'a str, things: &'a str, door: Door) {
        let Some(name) = Name::read(place) else { return };
        let place = self.known_place(name);
        self.set_door(place, door);
        self.fill(place, things);
    }

    fn fill(&mut self, place: usize, things: &'a str) {
        if let Some(place) = self.places.get_mut(place) {
            place.searched = true;
        }
        for thing in &mut self.things {
            if thing.at == Some(place) {
                thing.at = None;
            }
        }
        for name in list(things) {
            let thing = self.thing(name);
            if self.held != Some(thing)
                && let Some(thing) = self.things.get_mut(thing)
            {
                thing.at = Some(place);
            }
        }
    }
}
