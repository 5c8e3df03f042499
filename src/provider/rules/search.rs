//! Searches for a thing: which place comes next, and whether to look inside.

use super::belief::{Belief, Door, Place};
use super::forms::Form;
use super::knowledge::Habit;
use super::rule_context::RuleContext;

impl RuleContext<'_> {
    /// Returns the next action of a search for a kind of thing.
    pub(super) fn search(&self, kind: &str) -> String {
        self.try_search(kind).unwrap_or_else(|| "look".to_owned())
    }

    /// Like [`RuleContext::search`], but returns `None` if no place is left to go to.
    pub(super) fn try_search(&self, kind: &str) -> Option<String> {
        let belief = &self.belief;
        let here = belief.current_place.and_then(|here| belief.places.get(here));
        if let Some(place) = here
            && place.door == Door::Closed
            && !place.searched
            && !self.skips_closed_place(place)
        {
            return Some(format!("open {}", place.name));
        }
        if let Some(place) = here
            && place.door == Door::Open
            && !place.searched
        {
            return Some(format!("examine {}", place.name));
        }
        if let Some(line) = self.inspect_colocated_place() {
            return Some(line);
        }
        if let Some(line) = self.take_unrelated_thing(kind) {
            return Some(line);
        }
        let left = belief.places.iter().enumerate().filter(|(index, place)| {
            !belief.is_here(*index)
                && !place.searched
                && (place.door != Door::Closed || !self.skips_closed_place(place))
        });
        let searched = |place: &&Place<'_>| place.searched || place.visits > 0;
        if self.shows_habit(Habit::GoesBack, belief.mistakes.revisits) {
            let mut again = belief.places.iter().enumerate().filter(|(index, _)| !belief.is_here(*index));
            let count = again.clone().filter(|(_, p)| searched(p)).count();
            if count > 0 {
                let pick = (self.random.per_call("which one again") * count as f64) as usize;
                if let Some((_, place)) = again.by_ref().filter(|(_, p)| searched(p)).nth(pick) {
                    return Some(format!("go to {}", place.name));
                }
            }
        }
        let best =
            left.map(|(_, place)| (self.score_place(kind, place), place)).max_by(|a, b| a.0.total_cmp(&b.0));
        let next = best.map(|(_, place)| place).or_else(|| {
            let others = belief.places.iter().enumerate().filter(|(index, _)| !belief.is_here(*index));
            others.min_by_key(|(_, place)| place.last_visit).map(|(_, place)| place)
        })?;
        Some(format!("go to {}", next.name))
    }

    /// Returns an action on another place at the same location, which `go to` refuses.
    fn inspect_colocated_place(&self) -> Option<String> {
        let belief: &Belief<'_> = &self.belief;
        let place = belief
            .places
            .iter()
            .enumerate()
            .find(|(index, place)| {
                belief.current_place != Some(*index) && belief.is_here(*index) && !place.searched
            })?
            .1;
        match place.door {
            Door::Closed if self.skips_closed_place(place) => None,
            Door::Closed => Some(format!("open {}", place.name)),
            Door::Unknown | Door::Open | Door::Absent => {
                let line = format!("examine {}", place.name);
                (belief.failed_action != Some(line.as_str())).then_some(line)
            }
        }
    }

    /// Returns whether it leaves this closed place closed.
    fn skips_closed_place(&self, place: &Place<'_>) -> bool {
        self.shows_habit_at(
            Habit::PassesClosedDoors,
            self.belief.mistakes.passed_closed_doors,
            Form::LookInside,
            place.name.kind,
        )
    }

    /// Returns how promising a place is: common sense (or a lesson), random preference, and less if there are many of
    /// its kind.
    fn score_place(&self, kind: &str, place: &Place<'_>) -> f64 {
        let taught = self.lessons.look_for.iter().any(|(thing, at)| thing == kind && at == place.name.kind);
        let taste = 0.6 + 0.8 * self.random.per_task(place.name.kind, u64::from(place.name.number) + 10);
        if taught {
            return 1000.0 * taste;
        }
        if self.shows_habit(Habit::NoPlan, self.belief.moves) {
            return taste;
        }
        let alike = self.belief.places.iter().filter(|p| p.name.kind == place.name.kind).count().max(1);
        let doors = if place.door == Door::Closed { 0.8 } else { 1.0 };
        self.knowledge.likelihood(kind, place.name.kind) * taste * doors / (alike as f64).sqrt()
    }

    /// Returns the action that picks up something the task doesn't mention, if that habit shows.
    fn take_unrelated_thing(&self, kind: &str) -> Option<String> {
        let here = self.belief.current_place?;
        let goal = self.prompt.goal.as_ref()?;
        if self.belief.held_thing.is_some()
            || !self.shows_habit(Habit::TakesOtherThings, self.belief.mistakes.unrelated_things)
        {
            return None;
        }
        let place = self.belief.places.get(here)?;
        let thing = self.belief.things.iter().find(|t| {
            t.place == Some(here)
                && t.failed_takes == 0
                && t.name.kind != goal.thing
                && t.name.kind != kind
                && !t.name.kind.ends_with("lamp")
                && self.knowledge.thing_kind(&[t.name.kind]).is_some()
        })?;
        Some(format!("take {} from {}", thing.name, place.name))
    }
}
