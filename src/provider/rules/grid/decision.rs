//! Chooses the next action in a grid world.

use super::super::seeded_random::SeededRandom;
use super::replay::Replay;
use crate::grid::{Clause, ObjectDesc, VisibleObject};

/// One decision.
pub(super) struct Decision<'r, 'a> {
    pub(super) replay: &'r Replay<'a>,
    pub(super) random: &'r SeededRandom,
    /// Whether it now tries to take a thing with full hands.
    pub(super) grabs_with_full_hands: bool,
}

impl Decision<'_, '_> {
    /// Returns the action.
    pub(super) fn next_action(&self) -> String {
        let open = self.replay.clauses_done.iter().position(|done| !done).unwrap_or(0);
        let goal = match self.replay.clauses.get(open) {
            Some(Clause::GoTo(wanted)) => self.go_to(wanted),
            Some(Clause::PickUp(wanted)) => self.fetch(wanted),
            Some(Clause::Open(wanted)) => self.open(wanted),
            Some(Clause::PutNext(moved, fixed)) => self.put_next(moved, fixed),
            None => None,
        };
        goal.or_else(|| self.look_around()).unwrap_or_else(|| self.explore())
    }

    fn go_to(&self, wanted: &ObjectDesc<'_>) -> Option<String> {
        let (way, spot) = self.find_nearest(|spot| wanted.matches(spot), wanted)?;
        if way == self.replay.facing && (spot.ahead, spot.right) == (1, 0) {
            // Facing it counts only after an action.
            return Some("turn left".to_owned());
        }
        self.face_then(way, format!("go to {}", spot.name))
    }

    fn fetch(&self, wanted: &ObjectDesc<'_>) -> Option<String> {
        let (way, spot) = self.find_nearest(|spot| wanted.matches(spot) && spot.kind != "door", wanted)?;
        if self.replay.current_view().carrying.is_some() && !self.grabs_with_full_hands {
            return Some(self.drop_carried_thing());
        }
        self.face_then(way, format!("pickup {}", spot.name))
    }

    fn open(&self, wanted: &ObjectDesc<'_>) -> Option<String> {
        let shut = |spot: &VisibleObject<'_>| {
            wanted.matches(spot) && spot.kind == "door" && spot.door_state != "open"
        };
        let (way, spot) = self.find_nearest(shut, wanted)?;
        if spot.door_state == "locked" && !self.has_key(spot.colour) {
            return self.fetch_key(spot.colour);
        }
        if way == self.replay.facing && (spot.ahead, spot.right) == (1, 0) {
            return self.unless_refused("toggle".to_owned());
        }
        self.face_then(way, format!("go to {}", spot.name))
    }

    fn put_next(&self, moved: &ObjectDesc<'_>, fixed: &ObjectDesc<'_>) -> Option<String> {
        let now = self.replay.current_view();
        if !now.carrying.is_some_and(|(colour, kind)| moved.matches_kind(colour, kind)) {
            return self.fetch(moved);
        }
        let beside =
            |spot: &VisibleObject<'_>| fixed.matches(spot) && (spot.ahead - 1).abs() + spot.right.abs() == 1;
        if now.is_free_ahead() && now.objects.iter().any(beside) {
            return self.unless_refused("drop".to_owned());
        }
        let (way, spot) = self.find_nearest(|spot| fixed.matches(spot), fixed)?;
        let way = match (spot.ahead, spot.right) {
            (1, 0) => way,
            (0, 1) => (way + 1) % 4,
            (0, -1) => (way + 3) % 4,
            _ => return self.face_then(way, format!("go to {}", spot.name)),
        };
        // Too close: one step to another side leaves a free cell.
        [2, 1, 3].into_iter().map(|turn| (way + turn) % 4).find_map(|side| match &self.replay.views[side] {
            Some(view) if !view.is_free_ahead() => None,
            _ => self.face_then(side, "move forward".to_owned()),
        })
    }

    fn has_key(&self, colour: &str) -> bool {
        self.replay.current_view().carrying == Some((colour, "key"))
    }

    fn fetch_key(&self, colour: &str) -> Option<String> {
        self.fetch(&ObjectDesc { colour: Some(colour), kind: Some("key"), side: None })
    }

    /// Returns the nearest matching object seen from this cell, and the direction in which it was seen.
    fn find_nearest(
        &self,
        fits: impl Fn(&VisibleObject<'_>) -> bool,
        wanted: &ObjectDesc<'_>,
    ) -> Option<(usize, &VisibleObject<'_>)> {
        let on_side = |way: usize, spot: &VisibleObject<'_>| {
            let Some(side) = wanted.side.filter(|_| self.replay.at_start) else { return true };
            // Relative to that direction.
            let there = match (way + 4 - usize::from(side)) % 4 {
                0 => spot.ahead,
                1 => -spot.right,
                2 => -spot.ahead,
                _ => spot.right,
            };
            there > 0
        };
        let views = self.replay.views.iter().enumerate();
        let all = views
            .flat_map(|(way, view)| view.iter().flat_map(move |v| v.objects.iter().map(move |s| (way, s))));
        all.filter(|(way, spot)| fits(spot) && on_side(*way, spot) && !self.is_refused(spot))
            .min_by_key(|(way, spot)| (spot.ahead + spot.right.abs(), count_turns(self.replay.facing, *way)))
    }

    /// Returns whether an action on this object was refused here.
    fn is_refused(&self, spot: &VisibleObject<'_>) -> bool {
        let is_on_object = |line: &&&str| {
            line.ends_with(spot.name) && !line.starts_with("pick up") && !line.starts_with("go through")
        };
        self.replay.refused_here.iter().any(|line| is_on_object(&line))
    }

    /// Turns towards a direction, or returns `action` if the agent already faces it.
    fn face_then(&self, way: usize, action: String) -> Option<String> {
        match (way + 4 - self.replay.facing) % 4 {
            0 => self.unless_refused(action),
            3 => Some("turn left".to_owned()),
            _ => Some("turn right".to_owned()),
        }
    }

    fn unless_refused(&self, action: String) -> Option<String> {
        (!self.replay.refused_here.contains(&action.as_str())).then_some(action)
    }

    /// Drops what is carried on a free cell.
    fn drop_carried_thing(&self) -> String {
        let turned = self.replay.actions.last().is_some_and(|last| last.starts_with("turn"));
        if self.replay.current_view().is_free_ahead() && turned { "drop" } else { "turn right" }.to_owned()
    }

    /// Turns until all four directions have been seen.
    fn look_around(&self) -> Option<String> {
        let unseen = |way: &usize| self.replay.views[*way].is_none();
        let next = (0..4).filter(unseen).min_by_key(|way| count_turns(self.replay.facing, *way))?;
        self.face_then(next, String::new())
    }

    /// Goes somewhere new: through the door used least often, otherwise ahead.
    fn explore(&self) -> String {
        let lies = self.replay.views.iter().flatten().flat_map(|view| &view.objects);
        let key = lies.into_iter().find(|s| s.kind == "key" && self.replay.locked_doors.contains(&s.colour));
        if let Some(key) = key.filter(|key| {
            self.replay.current_view().carrying.is_none_or(|(colour, kind)| {
                kind != "key" || !self.replay.locked_doors.contains(&colour) && colour != key.colour
            })
        }) && let Some(line) = self.fetch_key(key.colour)
        {
            return line;
        }
        let views = self.replay.views.iter().enumerate();
        let doors = views.flat_map(|(way, view)| {
            let spots = view.iter().flat_map(|view| view.objects.iter());
            spots.filter(|spot| spot.kind == "door").map(move |spot| (way, spot))
        });
        let passed = |spot: &VisibleObject<'_>| {
            self.replay.passed_doors.iter().filter(|colour| **colour == spot.colour).count()
        };
        let open = doors.filter(|(_, spot)| {
            !self.is_refused(spot) && (spot.door_state != "locked" || self.can_unlock(spot))
        });
        let chance = |spot: &VisibleObject<'_>| (self.random.per_call(spot.name) * 1000.0) as u32;
        let best = open.min_by_key(|(_, spot)| (passed(spot), spot.door_state == "open", chance(spot)));
        if let Some((way, spot)) = best
            && (passed(spot) < 2 || self.random.per_call("back through a door") < 0.5)
        {
            if spot.door_state == "locked" && !self.has_key(spot.colour) {
                if let Some(line) = self.fetch_key(spot.colour) {
                    return line;
                }
            } else {
                let verb = if spot.door_state == "open" { "go through" } else { "toggle and go through" };
                if let Some(line) = self.face_then(way, format!("{verb} {}", spot.name)) {
                    return line;
                }
            }
        }
        if self.replay.steps_since_walk < 9
            && self.replay.current_view().is_free_ahead()
            && !self.replay.refused_here.contains(&"move forward")
        {
            return "move forward".to_owned();
        }
        if self.random.per_call("left or right") < 0.5 { "turn left" } else { "turn right" }.to_owned()
    }

    /// Returns whether the key of a locked door is in the hand or in sight.
    fn can_unlock(&self, door: &VisibleObject<'_>) -> bool {
        let lies = self.replay.views.iter().flatten().flat_map(|view| &view.objects);
        self.has_key(door.colour) || lies.into_iter().any(|s| s.kind == "key" && s.colour == door.colour)
    }
}

/// Returns the number of turns from one direction to another.
fn count_turns(from: usize, to: usize) -> usize {
    match (to + 4 - from) % 4 {
        3 => 1,
        n => n,
    }
}
