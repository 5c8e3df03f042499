//! Records actions that did nothing, with the apparent reason.

use super::{Belief, Door, HistoryEvent};
use crate::stand_in::knowledge::Habit;
use crate::stand_in::prompt_parser::ParsedPrompt;
use crate::stand_in::vocabulary::{HouseholdAction, ObjectName, PutWording, Treatment};

impl<'a> Belief<'a> {
    pub(super) fn record_failure(
        &mut self,
        line: &'a str,
        action: HouseholdAction<'a>,
        parsed: &ParsedPrompt<'a>,
    ) {
        if self.failed_action == Some(line) {
            self.mistakes.repeated_failures += 1;
            self.mistakes.failures_in_a_row += 1;
        } else {
            self.mistakes.failures_in_a_row = 1;
        }
        self.failed_action = Some(line);
        self.last_event = HistoryEvent::Failed;
        self.failure_habit = None;
        match action {
            HouseholdAction::Go(name) => {
                if let (Some(there), Some(here)) = (self.find_place(name), self.current_place)
                    && there != here
                    && let Some(place) = self.places.get_mut(there)
                {
                    place.same_spot_as = Some(here);
                    place.visits += 1;
                    place.last_visit = self.current_item;
                }
            }
            HouseholdAction::Take(thing, from) => self.record_failed_take(thing, from),
            HouseholdAction::Put(thing, to, wording) => self.record_failed_put(thing, to, wording, parsed),
            HouseholdAction::Treat(treatment, thing, appliance) => {
                let here = self.find_place(appliance).is_some_and(|p| self.is_here(p));
                if thing.number == 0 || appliance.number == 0 {
                    self.count_habit(Habit::OmitsNumbers);
                } else if self.held_thing.is_none() {
                    self.count_habit(Habit::TreatsUnheld);
                } else if appliance.kind != treatment.appliance() {
                    self.count_habit(match treatment {
                        Treatment::Heat => Habit::HeatsElsewhere,
                        Treatment::Cool => Habit::CoolsElsewhere,
                        Treatment::Clean => Habit::CleansElsewhere,
                    });
                } else if !here {
                    self.count_habit(Habit::ActsFromAfar);
                } else {
                    let thing = self.find_or_add_thing(thing);
                    if let Some(thing) = self.things.get_mut(thing) {
                        thing.failed_treatments += 1;
                    }
                }
            }
            HouseholdAction::Use(name) => {
                if name.number == 0 {
                    self.count_habit(Habit::OmitsNumbers);
                } else {
                    self.count_habit(Habit::ActsFromAfar);
                }
            }
            HouseholdAction::Open(_) => self.count_habit(Habit::ActsFromAfar),
            HouseholdAction::Examine(name) => {
                if self.holding().is_some_and(|held| held.name == name) {
                    self.mistakes.examined_thing += 1;
                }
            }
            // The goal's own words are not an action: `examine mug 1 with desklamp 1`, `look at mug 1 under desklamp
            // 1`.
            HouseholdAction::Other => {
                let goal = parsed.goal.as_ref().filter(|goal| goal.under_lamp);
                self.mistakes.examined_thing += u32::from(goal.is_some_and(|g| line.contains(g.target)));
            }
            HouseholdAction::Close(_) => {}
        }
    }

    /// Counts a failure for the habit that caused it.
    fn count_habit(&mut self, habit: Habit) {
        self.failure_habit = Some(habit);
        let mistakes = &mut self.mistakes;
        let [heat, cool, clean] = &mut mistakes.wrong_places;
        let count = match habit {
            Habit::HeatsElsewhere => heat,
            Habit::CoolsElsewhere => cool,
            Habit::CleansElsewhere => clean,
            Habit::OmitsNumbers => &mut mistakes.missing_numbers,
            Habit::ActsFromAfar => &mut mistakes.acted_from_afar,
            Habit::ReachesThroughDoors => &mut mistakes.reached_into_closed,
            Habit::GrabsWithFullHands => &mut mistakes.full_hands,
            Habit::TreatsUnheld => &mut mistakes.treated_unheld,
            // The other habits don't fail immediately; they are counted where they become visible.
            Habit::PassesClosedDoors
            | Habit::TakesLookAlikes
            | Habit::TakesOtherThings
            | Habit::ForgetsTreatment
            | Habit::LeavesAtAppliance
            | Habit::MisusesLamp
            | Habit::RepeatsFailures
            | Habit::GoesBack
            | Habit::NoPlan => return,
        };
        *count += 1;
    }

    fn record_failed_take(&mut self, thing: ObjectName<'a>, from: ObjectName<'a>) {
        let place = self.find_place(from);
        if thing.number == 0 || from.number == 0 {
            self.count_habit(Habit::OmitsNumbers);
        } else if self.held_thing.is_some() {
            self.count_habit(Habit::GrabsWithFullHands);
        } else if !place.is_some_and(|p| self.is_here(p)) {
            self.count_habit(Habit::ActsFromAfar);
        } else if place.and_then(|p| self.places.get(p)).is_some_and(|p| p.door == Door::Closed) {
            self.count_habit(Habit::ReachesThroughDoors);
        } else {
            let thing = self.find_or_add_thing(thing);
            if let Some(thing) = self.things.get_mut(thing) {
                thing.failed_takes += 1;
            }
            self.has_unexplained_failure = true;
        }
    }

    fn record_failed_put(
        &mut self,
        thing: ObjectName<'a>,
        to: ObjectName<'a>,
        wording: PutWording,
        parsed: &ParsedPrompt<'a>,
    ) {
        let place = self.find_place(to);
        if thing.number == 0 || to.number == 0 {
            self.count_habit(Habit::OmitsNumbers);
        } else if !place.is_some_and(|p| self.is_here(p)) {
            self.count_habit(Habit::ActsFromAfar);
        } else if place.and_then(|p| self.places.get(p)).is_some_and(|p| p.door == Door::Closed) {
            self.count_habit(Habit::ReachesThroughDoors);
        } else if let Some(place) = place {
            self.failed_puts.push((thing, place, wording));
            // The target refused the look-alike, so nothing was placed; the attempt still counts as a mistake.
            let goal = parsed.goal.as_ref();
            let is_look_alike =
                goal.is_some_and(|g| !g.under_lamp && g.target == to.kind && g.thing != thing.kind);
            self.mistakes.wrong_things_handled += u32::from(is_look_alike);
        }
    }
}
