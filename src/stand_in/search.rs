//! Searches for a thing: which place to visit next, and whether to look inside.

use super::belief::{Belief, Door, Place};
use super::forms::LessonForm;
use super::knowledge::Habit;
use super::rule_context::RuleContext;

impl RuleContext<'_> {
    /// Returns the next action when searching for a kind of thing. An empty `kind` means anything.
    pub(super) fn search(&self, kind: &str) -> String {
        self.try_search(kind).unwrap_or_else(|| "look".to_owned())
    }

    /// Like [`RuleContext::search`], but returns `None` if there is no place to go to.
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
        if let Some(action) = self.inspect_colocated_place() {
            return Some(action);
        }
        if let Some(action) = self.take_unrelated_thing(kind) {
            return Some(action);
        }
        let unsearched = belief.places.iter().enumerate().filter(|(index, place)| {
            !belief.is_here(*index)
                && !place.searched
                && (place.door != Door::Closed || !self.skips_closed_place(place))
        });
        let was_visited = |place: &&Place<'_>| place.searched || place.visits > 0;
        if self.shows_habit(Habit::GoesBack, belief.mistakes.revisits) {
            let mut elsewhere = belief.places.iter().enumerate().filter(|(index, _)| !belief.is_here(*index));
            let count = elsewhere.clone().filter(|(_, p)| was_visited(p)).count();
            if count > 0 {
                let index = (self.random.draw_for_call("which one again") * count as f64) as usize;
                if let Some((_, place)) = elsewhere.by_ref().filter(|(_, p)| was_visited(p)).nth(index) {
                    return Some(format!("go to {}", place.name));
                }
            }
        }
        let best = unsearched
            .map(|(_, place)| (self.score_place(kind, place), place))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let next = best.map(|(_, place)| place).or_else(|| {
            let others = belief.places.iter().enumerate().filter(|(index, _)| !belief.is_here(*index));
            others.min_by_key(|(_, place)| place.last_visit).map(|(_, place)| place)
        })?;
        Some(format!("go to {}", next.name))
    }

    /// Returns an action on another place at the current location. Such a place can be used directly, and the
    /// environment rejects `go to` for it.
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
                let action = format!("examine {}", place.name);
                (belief.failed_action != Some(action.as_str())).then_some(action)
            }
        }
    }

    /// Returns whether the actor makes the mistake of passing this closed place without opening it.
    fn skips_closed_place(&self, place: &Place<'_>) -> bool {
        self.shows_habit_at(
            Habit::PassesClosedDoors,
            self.belief.mistakes.passed_closed_doors,
            LessonForm::LookInside,
            place.name.kind,
        )
    }

    /// Returns how promising a place is: how likely the thing is there by common sense or a lesson, times a random
    /// preference. Places of a common kind score lower.
    fn score_place(&self, kind: &str, place: &Place<'_>) -> f64 {
        let is_taught =
            self.lessons.look_for.iter().any(|(thing, at)| thing == kind && at == place.name.kind);
        let preference =
            0.6 + 0.8 * self.random.draw_for_task(place.name.kind, u64::from(place.name.number) + 10);
        if is_taught {
            return 1000.0 * preference;
        }
        if self.shows_habit(Habit::NoPlan, self.belief.moves) {
            return preference;
        }
        let same_kind = self.belief.places.iter().filter(|p| p.name.kind == place.name.kind).count().max(1);
        let door_factor = if place.door == Door::Closed { 0.8 } else { 1.0 };
        self.knowledge.likelihood(kind, place.name.kind) * preference * door_factor
            / (same_kind as f64).sqrt()
    }

    /// Returns an action that picks up something the task doesn't mention, if the actor makes that mistake now.
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
