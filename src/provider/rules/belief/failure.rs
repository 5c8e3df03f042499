//! Actions that did nothing: what a looker-on would call the reason.

use super::{Belief, Door, Event};
use crate::provider::rules::knowledge::Habit;
use crate::provider::rules::read::Reading;
use crate::provider::rules::text::{Act, Name, Treatment, Wording};

impl<'a> Belief<'a> {
    pub(super) fn failure(&mut self, line: &'a str, act: Act<'a>, reading: &Reading<'a>) {
        if self.failed == Some(line) {
            self.faults.repeats += 1;
            self.faults.in_a_row += 1;
        } else {
            self.faults.in_a_row = 1;
        }
        self.failed = Some(line);
        self.last = Event::Failed;
        self.why = None;
        match act {
            Act::Go(name) => {
                if let (Some(there), Some(here)) = (self.place(name), self.here)
                    && there != here
                    && let Some(place) = self.places.get_mut(there)
                {
                    place.beside = Some(here);
                    place.visits += 1;
                    place.last = self.now;
                }
            }
            Act::Take(thing, from) => self.failed_take(thing, from),
            Act::Put(thing, to, wording) => self.failed_put(thing, to, wording, reading),
            Act::Treat(what, thing, with) => {
                let here = self.place(with).is_some_and(|p| self.is_here(p));
                if thing.number == 0 || with.number == 0 {
                    self.blame(Habit::OmitsNumbers);
                } else if self.held.is_none() {
                    self.blame(Habit::TreatsUnheld);
                } else if with.kind != what.place() {
                    self.blame(match what {
                        Treatment::Heat => Habit::HeatsElsewhere,
                        Treatment::Cool => Habit::CoolsElsewhere,
                        Treatment::Clean => Habit::CleansElsewhere,
                    });
                } else if !here {
                    self.blame(Habit::ActsFromAfar);
                } else {
                    let thing = self.thing(thing);
                    if let Some(thing) = self.things.get_mut(thing) {
                        thing.unfit += 1;
                    }
                }
            }
            Act::Use(name) => {
                if name.number == 0 {
                    self.blame(Habit::OmitsNumbers);
                } else {
                    self.blame(Habit::ActsFromAfar);
                }
            }
            Act::Open(_) => self.blame(Habit::ActsFromAfar),
            Act::Examine(name) => {
                if self.holding().is_some_and(|held| held.name == name) {
                    self.faults.examined += 1;
                }
            }
            // The goal's own words are no action: `examine mug 1 with desklamp 1`, `look at mug 1 under desklamp 1`.
            Act::Other => {
                let goal = reading.goal.as_ref().filter(|goal| goal.look);
                self.faults.examined += u32::from(goal.is_some_and(|g| line.contains(g.target)));
            }
            Act::Close(_) => {}
        }
    }

    /// Counts a failure for the habit that is its reason.
    fn blame(&mut self, habit: Habit) {
        self.why = Some(habit);
        let faults = &mut self.faults;
        let [heat, cool, clean] = &mut faults.elsewhere;
        let count = match habit {
            Habit::HeatsElsewhere => heat,
            Habit::CoolsElsewhere => cool,
            Habit::CleansElsewhere => clean,
            Habit::OmitsNumbers => &mut faults.no_number,
            Habit::ActsFromAfar => &mut faults.afar,
            Habit::ReachesThroughDoors => &mut faults.closed,
            Habit::GrabsWithFullHands => &mut faults.full_hands,
            Habit::TreatsUnheld => &mut faults.unheld,
            // The others bring no failure at once; their marks are counted where they are made.
            Habit::PassesClosedDoors
            | Habit::TakesLookAlikes
            | Habit::TakesOtherThings
            | Habit::ForgetsTreatment
            | Habit::LeavesItThere
            | Habit::LightsItWrongly
            | Habit::RepeatsFailures
            | Habit::GoesBack
            | Habit::NoPlan => return,
        };
        *count += 1;
    }

    fn failed_take(&mut self, thing: Name<'a>, from: Name<'a>) {
        let place = self.place(from);
        if thing.number == 0 || from.number == 0 {
            self.blame(Habit::OmitsNumbers);
        } else if self.held.is_some() {
            self.blame(Habit::GrabsWithFullHands);
        } else if !place.is_some_and(|p| self.is_here(p)) {
            self.blame(Habit::ActsFromAfar);
        } else if place.and_then(|p| self.places.get(p)).is_some_and(|p| p.door == Door::Closed) {
            self.blame(Habit::ReachesThroughDoors);
        } else {
            let thing = self.thing(thing);
            if let Some(thing) = self.things.get_mut(thing) {
                thing.refused += 1;
            }
            self.puzzled = true;
        }
    }

    fn failed_put(&mut self, thing: Name<'a>, to: Name<'a>, wording: Wording, reading: &Reading<'a>) {
        let place = self.place(to);
        if thing.number == 0 || to.number == 0 {
            self.blame(Habit::OmitsNumbers);
        } else if !place.is_some_and(|p| self.is_here(p)) {
            self.blame(Habit::ActsFromAfar);
        } else if place.and_then(|p| self.places.get(p)).is_some_and(|p| p.door == Door::Closed) {
            self.blame(Habit::ReachesThroughDoors);
        } else if let Some(place) = place {
            self.refused_puts.push((thing, place, wording));
            // A look-alike that the target does not take has shown that it does not count.
            let goal = reading.goal.as_ref();
            let alike = goal.is_some_and(|g| !g.look && g.target == to.kind && g.thing != thing.kind);
            self.faults.look_alikes += u32::from(alike);
        }
    }
}
