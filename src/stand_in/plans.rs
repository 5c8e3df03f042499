//! The plans: fetch a thing, treat it, place it, hold it under a lamp. A plan returns only its next action; the next
//! call plans again from the new prompt.

use super::belief::{Door, Place, Thing};
use super::forms::LessonForm;
use super::knowledge::Habit;
use super::prompt_parser::Goal;
use super::rule_context::RuleContext;
use super::vocabulary::{PutWording, Treatment};

/// Kinds of places where a thing that is in the way can be left.
const SURFACES: [&str; 13] = [
    "countertop",
    "sidetable",
    "diningtable",
    "desk",
    "dresser",
    "coffeetable",
    "shelf",
    "bed",
    "sofa",
    "armchair",
    "garbagecan",
    "cabinet",
    "drawer",
];

impl<'a> RuleContext<'a> {
    /// Puts one or two things somewhere, possibly heated, cooled or cleaned.
    pub(super) fn placing_action(&self, goal: &Goal<'a>) -> String {
        let target = self.find_target(goal);
        let is_done = |thing: &Thing<'_>| {
            let is_treated = goal.treatment.is_none_or(|treatment| thing.is_treated(treatment));
            let is_there = if goal.wants_two {
                thing.place.is_some() && thing.place == target
            } else {
                thing
                    .place
                    .and_then(|at| self.belief.places.get(at))
                    .is_some_and(|p| p.name.kind == goal.target)
            };
            // This includes a look-alike: once put there, it is not tried again.
            is_treated && is_there
        };
        if let Some(held) = self.belief.holding() {
            if self.is_useful(goal, held.name.kind) {
                return self.action_with_useful_thing(goal, held, target, is_done);
            }
            return self.action_with_wrong_thing(goal, held, is_done);
        }
        match self.find_wanted_thing(goal, is_done) {
            Some(thing) => self.fetch(goal, thing),
            None => self.search(goal.thing),
        }
    }

    fn action_with_useful_thing(
        &self,
        goal: &Goal<'a>,
        held: &Thing<'a>,
        target: Option<usize>,
        is_done: impl Fn(&Thing<'_>) -> bool,
    ) -> String {
        if let Some(treatment) = goal.treatment {
            let mistakes = &self.belief.mistakes;
            if held.is_treated(treatment) {
                let at_appliance =
                    self.belief.current_place.and_then(|here| self.belief.places.get(here)).filter(|place| {
                        place.name.kind == treatment.appliance() && place.name.kind != goal.target
                    });
                if let Some(place) = at_appliance
                    && self.shows_habit_for(
                        Habit::LeavesAtAppliance,
                        mistakes.left_at_appliance,
                        LessonForm::ThenPlace,
                        treatment,
                    )
                    && let Some(line) = self.put_into(held, place)
                {
                    return line;
                }
            } else if held.failed_treatments < 3 * (1 + held.times_put_at_target)
                && !self.forgets_treatment(treatment)
            {
                // Three attempts, and three more for each time the target did not accept it.
                return self.treat(treatment, held);
            }
        }
        if goal.wants_two
            && self.shows_habit(Habit::GrabsWithFullHands, self.belief.mistakes.full_hands)
            && let Some(second) = self.find_wanted_thing(goal, is_done)
        {
            return self.fetch(goal, second);
        }
        self.bring(held, target)
    }

    /// Returns whether it skips the treatment. Lessons of both forms about the order prevent that.
    fn forgets_treatment(&self, treatment: Treatment) -> bool {
        !self.lessons.has_for_verb(LessonForm::ThenPlace, treatment.verb())
            && self.shows_habit_for(
                Habit::ForgetsTreatment,
                self.belief.mistakes.placed_untreated,
                LessonForm::TreatFirst,
                treatment,
            )
    }

    fn action_with_wrong_thing(
        &self,
        goal: &Goal<'a>,
        held: &Thing<'a>,
        is_done: impl Fn(&Thing<'_>) -> bool,
    ) -> String {
        let Some(wanted) = self.find_wanted_thing(goal, is_done) else { return self.search(goal.thing) };
        let at_hand = wanted.place.is_some_and(|at| self.belief.is_here(at));
        let grabs = self.shows_habit(Habit::GrabsWithFullHands, self.belief.mistakes.full_hands);
        // If the held thing doesn't fit where the wanted one is, put it down first.
        let no_room = wanted.place.is_some_and(|at| self.has_refused(held, at));
        if grabs || !(at_hand || no_room) {
            return self.fetch(goal, wanted);
        }
        self.put_down(held)
    }

    /// Carries the thing to the lamp and uses the lamp.
    pub(super) fn examining_action(&self, goal: &Goal<'a>) -> String {
        let lamp = self.belief.things.iter().find(|t| t.name.kind == goal.target && t.place.is_some());
        let mistakes = &self.belief.mistakes;
        let misuses = mistakes.examined_thing + mistakes.put_under_lamp;
        let misuses_lamp = self.shows_habit(Habit::MisusesLamp, misuses);
        // Three kinds of beginners: one examines the thing, one repeats the goal's words, one leaves the thing at the
        // lamp.
        let variant = self.random.draw_for_task("light", 3);
        let (examines, recites) = (variant < 0.35, (0.35..0.8).contains(&variant));
        let Some(held) = self.belief.holding() else {
            if let Some(lamp) = lamp
                && misuses_lamp
                && !examines
                && !recites
                && lamp.place.is_some_and(|at| self.belief.is_here(at))
                && mistakes.lamp_without_thing < mistakes.put_under_lamp
            {
                return format!("use {}", self.format_name(lamp.name));
            }
            return match self.find_wanted_thing(goal, |_| false) {
                Some(thing) => self.fetch(goal, thing),
                None => self.search(goal.thing),
            };
        };
        if !self.is_useful(goal, held.name.kind) {
            return self.action_with_wrong_thing(goal, held, |_| false);
        }
        if misuses_lamp && examines {
            return format!("examine {}", held.name);
        }
        let Some((lamp, at)) = lamp.and_then(|lamp| Some((lamp, lamp.place?))) else {
            return self.search(goal.target);
        };
        let Some(place) = self.belief.places.get(at) else { return self.search(goal.target) };
        if !self.belief.is_here(at) {
            let acts_from_afar = self.shows_habit_at(
                Habit::ActsFromAfar,
                mistakes.acted_from_afar,
                LessonForm::GoFirst,
                place.name.kind,
            );
            return if acts_from_afar {
                format!("use {}", lamp.name)
            } else {
                format!("go to {}", place.name)
            };
        }
        if misuses_lamp && recites {
            return format!("examine {} with {}", held.name, lamp.name);
        }
        if misuses_lamp && let Some(line) = self.put_into(held, place) {
            return line;
        }
        format!("use {}", self.format_name(lamp.name))
    }

    /// Goes to the thing, opens its place if that is closed, and takes it.
    fn fetch(&self, goal: &Goal<'_>, thing: &Thing<'a>) -> String {
        let Some(at) = thing.place else { return self.search(goal.thing) };
        let Some(place) = self.belief.places.get(at) else { return self.search(goal.thing) };
        let mistakes = &self.belief.mistakes;
        let take = || format!("take {} from {}", self.format_name(thing.name), place.name);
        if !self.belief.is_here(at) {
            let acts_from_afar = self.shows_habit_at(
                Habit::ActsFromAfar,
                mistakes.acted_from_afar,
                LessonForm::GoFirst,
                place.name.kind,
            );
            return if acts_from_afar { take() } else { format!("go to {}", place.name) };
        }
        if place.door == Door::Closed
            && !self.shows_habit_at(
                Habit::ReachesThroughDoors,
                mistakes.reached_into_closed,
                LessonForm::OpenFirst,
                place.name.kind,
            )
        {
            return format!("open {}", place.name);
        }
        if let Some(treatment) = goal.treatment
            && self.belief.held_thing.is_none()
            && !thing.is_treated(treatment)
            && self.shows_habit(Habit::TreatsUnheld, mistakes.treated_unheld)
            && let Some(appliance) = self.belief.places.iter().find(|p| p.name.kind == treatment.appliance())
        {
            return format!("{} {} with {}", treatment.verb(), thing.name, appliance.name);
        }
        take()
    }

    /// Takes the thing to the place where it is heated, cooled or cleaned, or where a beginner thinks it is.
    fn treat(&self, treatment: Treatment, held: &Thing<'a>) -> String {
        let mistakes = &self.belief.mistakes;
        let habit = match treatment {
            Treatment::Heat => Habit::HeatsElsewhere,
            Treatment::Cool => Habit::CoolsElsewhere,
            Treatment::Clean => Habit::CleansElsewhere,
        };
        let tried = mistakes.wrong_places(treatment);
        let wrong = self.shows_habit(habit, tried).then(|| self.wrong_place_for(treatment, tried)).flatten();
        let right = || {
            let mut places =
                self.belief.places.iter().enumerate().filter(|(_, p)| p.name.kind == treatment.appliance());
            let first = places.clone().next();
            places.find(|(index, _)| self.belief.is_here(*index)).or(first)
        };
        let Some((index, place)) = wrong.or_else(right) else { return self.search(treatment.appliance()) };
        let line = || format!("{} {} with {}", treatment.verb(), self.format_name(held.name), place.name);
        if self.belief.is_here(index) {
            return line();
        }
        let acts_from_afar = self.shows_habit_at(
            Habit::ActsFromAfar,
            mistakes.acted_from_afar,
            LessonForm::GoFirst,
            place.name.kind,
        );
        if acts_from_afar { line() } else { format!("go to {}", place.name) }
    }

    /// Returns the wrong place where a beginner tries the treatment after `tried` failures. Returns `None` if the
    /// room has no more of them.
    fn wrong_place_for(&self, treatment: Treatment, tried: u32) -> Option<(usize, &Place<'a>)> {
        let (kinds, tries) = self.knowledge.wrong_places(treatment);
        let tries_per_place = if self.lessons.has_form(LessonForm::NoRepeat) { 1 } else { tries };
        kinds
            .iter()
            .filter(|kind| !self.lessons.is_forbidden(treatment.verb(), kind))
            .flat_map(|kind| self.belief.places.iter().enumerate().filter(move |(_, p)| p.name.kind == *kind))
            .nth((tried / tries_per_place) as usize)
    }

    /// Takes the held thing to the target and puts it there.
    fn bring(&self, held: &Thing<'a>, target: Option<usize>) -> String {
        let found = target.and_then(|index| Some((index, self.belief.places.get(index)?)));
        let Some((index, place)) = found else { return self.put_down(held) };
        let mistakes = &self.belief.mistakes;
        if !self.belief.is_here(index) {
            let acts_from_afar = self.shows_habit_at(
                Habit::ActsFromAfar,
                mistakes.acted_from_afar,
                LessonForm::GoFirst,
                place.name.kind,
            );
            return if acts_from_afar {
                self.put_action(held, place, self.wording())
            } else {
                format!("go to {}", place.name)
            };
        }
        self.put_into(held, place).unwrap_or_else(|| self.search(""))
    }

    /// Puts the held thing into this place, where the actor is, opening the place first unless the actor has the
    /// habit of ignoring doors. Returns `None` if both wordings have failed here.
    fn put_into(&self, held: &Thing<'a>, place: &Place<'a>) -> Option<String> {
        if place.door == Door::Closed
            && !self.shows_habit_at(
                Habit::ReachesThroughDoors,
                self.belief.mistakes.reached_into_closed,
                LessonForm::OpenFirst,
                place.name.kind,
            )
        {
            return Some(format!("open {}", place.name));
        }
        let failed = |wording: PutWording| {
            self.belief.failed_puts.iter().any(|(thing, at, failed)| {
                *thing == held.name
                    && *failed == wording
                    && self.belief.places.get(*at).is_some_and(|p| p.name == place.name)
            })
        };
        let usual = self.wording();
        let other = if usual == PutWording::Move { PutWording::Put } else { PutWording::Move };
        let wording = if !failed(usual) {
            usual
        } else if self.belief.working_wording.is_none() && !failed(other) {
            other
        } else {
            return None;
        };
        Some(self.put_action(held, place, wording))
    }

    fn put_action(&self, held: &Thing<'a>, place: &Place<'a>, wording: PutWording) -> String {
        match wording {
            PutWording::Move => format!("move {} to {}", self.format_name(held.name), place.name),
            PutWording::Put => format!("put {} in/on {}", self.format_name(held.name), place.name),
        }
    }

    /// Puts down what is in the hand: here, where it came from, or on some surface.
    fn put_down(&self, held: &Thing<'a>) -> String {
        let here = self.belief.current_place.filter(|here| !self.has_refused(held, *here));
        if let Some(place) = here.and_then(|here| self.belief.places.get(here))
            && let Some(line) = self.put_into(held, place)
        {
            return line;
        }
        let surface = |place: &Place<'_>| SURFACES.iter().position(|kind| *kind == place.name.kind);
        let somewhere = self
            .belief
            .places
            .iter()
            .enumerate()
            .filter(|(index, _)| !self.has_refused(held, *index) && !self.belief.is_here(*index))
            .filter_map(|(index, place)| Some((surface(place)?, index)))
            .min()
            .map(|(_, index)| index);
        let destination = held
            .taken_from
            .filter(|from| !self.has_refused(held, *from) && !self.belief.is_here(*from))
            .or(somewhere);
        match destination.and_then(|index| self.belief.places.get(index)) {
            Some(place) => format!("go to {}", place.name),
            None => self.search(""),
        }
    }

    /// Returns whether putting the thing there failed with the working wording, or with both while that is unknown.
    fn has_refused(&self, held: &Thing<'_>, place: usize) -> bool {
        let refused = |wording: PutWording| {
            self.belief
                .failed_puts
                .iter()
                .any(|(thing, at, failed)| *thing == held.name && *at == place && *failed == wording)
        };
        match self.belief.working_wording {
            Some(wording) => refused(wording),
            None => refused(PutWording::Move) && refused(PutWording::Put),
        }
    }

    /// Returns the index of the place of the target's kind where the things are to go.
    fn find_target(&self, goal: &Goal<'_>) -> Option<usize> {
        let belief = &self.belief;
        let count_gathered = |index: usize| {
            belief.things.iter().filter(|t| t.place == Some(index) && t.name.kind == goal.thing).count()
        };
        let refuses = |index: usize| belief.holding().is_some_and(|held| self.has_refused(held, index));
        belief
            .places
            .iter()
            .enumerate()
            .filter(|(_, place)| place.name.kind == goal.target)
            .min_by_key(|(index, _)| {
                let is_full = refuses(*index);
                let gathered = if goal.wants_two { count_gathered(*index) } else { 0 };
                // With two things, the second must go to the same place as the first, wherever the actor is.
                let is_away = !goal.wants_two && !belief.is_here(*index);
                (is_full, std::cmp::Reverse(gathered), is_away, *index)
            })
            .map(|(index, _)| index)
    }
}
