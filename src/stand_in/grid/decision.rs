//! Chooses the next action in a grid world.

use super::super::seeded_random::SeededRandom;
use super::replay::Replay;
use crate::grid::{Clause, ObjectDesc, VisibleObject};

/// The inputs for choosing one action.
pub(super) struct Decision<'r, 'a> {
    pub(super) replay: &'r Replay<'a>,
    pub(super) random: &'r SeededRandom,
    /// Whether the actor makes the mistake of picking up an object while carrying another.
    pub(super) grabs_with_full_hands: bool,
}

impl Decision<'_, '_> {
    /// Returns the action.
    pub(super) fn next_action(&self) -> String {
        let next_clause = self.replay.clauses_done.iter().position(|done| !done).unwrap_or(0);
        let goal = match self.replay.clauses.get(next_clause) {
            Some(Clause::GoTo(wanted)) => self.go_to(wanted),
            Some(Clause::PickUp(wanted)) => self.fetch(wanted),
            Some(Clause::Open(wanted)) => self.open(wanted),
            Some(Clause::PutNext(moved, fixed)) => self.put_next(moved, fixed),
            None => None,
        };
        goal.or_else(|| self.look_around()).unwrap_or_else(|| self.explore())
    }

    fn go_to(&self, wanted: &ObjectDesc<'_>) -> Option<String> {
        let (direction, object) = self.find_nearest(|object| wanted.matches(object), wanted)?;
        if direction == self.replay.facing && (object.ahead, object.right) == (1, 0) {
            // The environment checks the goal only after an action, so turn away and back.
            return Some("turn left".to_owned());
        }
        self.face_then(direction, format!("go to {}", object.name))
    }

    fn fetch(&self, wanted: &ObjectDesc<'_>) -> Option<String> {
        let (direction, object) =
            self.find_nearest(|object| wanted.matches(object) && object.kind != "door", wanted)?;
        if self.replay.current_view().carrying.is_some() && !self.grabs_with_full_hands {
            return Some(self.drop_carried_thing());
        }
        self.face_then(direction, format!("pickup {}", object.name))
    }

    fn open(&self, wanted: &ObjectDesc<'_>) -> Option<String> {
        let is_shut = |object: &VisibleObject<'_>| {
            wanted.matches(object) && object.kind == "door" && object.door_state != "open"
        };
        let (direction, object) = self.find_nearest(is_shut, wanted)?;
        if object.door_state == "locked" && !self.has_key(object.colour) {
            return self.fetch_key(object.colour);
        }
        if direction == self.replay.facing && (object.ahead, object.right) == (1, 0) {
            return self.unless_refused("toggle".to_owned());
        }
        self.face_then(direction, format!("go to {}", object.name))
    }

    fn put_next(&self, moved: &ObjectDesc<'_>, fixed: &ObjectDesc<'_>) -> Option<String> {
        let view = self.replay.current_view();
        if !view.carrying.is_some_and(|(colour, kind)| moved.matches_kind(colour, kind)) {
            return self.fetch(moved);
        }
        let is_beside = |object: &VisibleObject<'_>| {
            fixed.matches(object) && (object.ahead - 1).abs() + object.right.abs() == 1
        };
        if view.is_free_ahead() && view.objects.iter().any(is_beside) {
            return self.unless_refused("drop".to_owned());
        }
        let (direction, object) = self.find_nearest(|object| fixed.matches(object), fixed)?;
        let direction = match (object.ahead, object.right) {
            (1, 0) => direction,
            (0, 1) => (direction + 1) % 4,
            (0, -1) => (direction + 3) % 4,
            _ => return self.face_then(direction, format!("go to {}", object.name)),
        };
        // The object is on a neighbouring cell, so there is no cell between to drop on: step away first.
        [2, 1, 3].into_iter().map(|turn| (direction + turn) % 4).find_map(|side| {
            match &self.replay.views[side] {
                Some(view) if !view.is_free_ahead() => None,
                _ => self.face_then(side, "move forward".to_owned()),
            }
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
        let is_on_side = |direction: usize, object: &VisibleObject<'_>| {
            let Some(side) = wanted.side.filter(|_| self.replay.at_start) else { return true };
            // The distance along the side that the goal names.
            let distance = match (direction + 4 - usize::from(side)) % 4 {
                0 => object.ahead,
                1 => -object.right,
                2 => -object.ahead,
                _ => object.right,
            };
            distance > 0
        };
        let views = self.replay.views.iter().enumerate();
        let all = views.flat_map(|(direction, view)| {
            view.iter().flat_map(move |v| v.objects.iter().map(move |s| (direction, s)))
        });
        all.filter(|(direction, object)| {
            fits(object) && is_on_side(*direction, object) && !self.is_refused(object)
        })
        .min_by_key(|(direction, object)| {
            (object.ahead + object.right.abs(), count_turns(self.replay.facing, *direction))
        })
    }

    /// Returns whether an action on this object was refused here.
    fn is_refused(&self, object: &VisibleObject<'_>) -> bool {
        let is_on_object = |line: &&&str| {
            line.ends_with(object.name) && !line.starts_with("pick up") && !line.starts_with("go through")
        };
        self.replay.refused_here.iter().any(|line| is_on_object(&line))
    }

    /// Returns the turn towards a direction, or `action` if the agent already faces it. Returns `None` if `action` was
    /// refused here.
    fn face_then(&self, direction: usize, action: String) -> Option<String> {
        match (direction + 4 - self.replay.facing) % 4 {
            0 => self.unless_refused(action),
            3 => Some("turn left".to_owned()),
            _ => Some("turn right".to_owned()),
        }
    }

    fn unless_refused(&self, action: String) -> Option<String> {
        (!self.replay.refused_here.contains(&action.as_str())).then_some(action)
    }

    /// Drops the carried object if the last action was a turn and the cell ahead is free, otherwise turns.
    fn drop_carried_thing(&self) -> String {
        let turned = self.replay.actions.last().is_some_and(|last| last.starts_with("turn"));
        if self.replay.current_view().is_free_ahead() && turned { "drop" } else { "turn right" }.to_owned()
    }

    /// Turns until all four directions have been seen.
    fn look_around(&self) -> Option<String> {
        let unseen = |direction: &usize| self.replay.views[*direction].is_none();
        let next =
            (0..4).filter(unseen).min_by_key(|direction| count_turns(self.replay.facing, *direction))?;
        self.face_then(next, String::new())
    }

    /// Goes somewhere new: through the door used least often, otherwise ahead.
    fn explore(&self) -> String {
        let visible = self.replay.views.iter().flatten().flat_map(|view| &view.objects);
        let key =
            visible.into_iter().find(|s| s.kind == "key" && self.replay.locked_doors.contains(&s.colour));
        if let Some(key) = key.filter(|key| {
            self.replay.current_view().carrying.is_none_or(|(colour, kind)| {
                kind != "key" || !self.replay.locked_doors.contains(&colour) && colour != key.colour
            })
        }) && let Some(line) = self.fetch_key(key.colour)
        {
            return line;
        }
        let views = self.replay.views.iter().enumerate();
        let doors = views.flat_map(|(direction, view)| {
            let objects = view.iter().flat_map(|view| view.objects.iter());
            objects.filter(|object| object.kind == "door").map(move |object| (direction, object))
        });
        let passed = |object: &VisibleObject<'_>| {
            self.replay.passed_doors.iter().filter(|colour| **colour == object.colour).count()
        };
        let usable_doors = doors.filter(|(_, object)| {
            !self.is_refused(object) && (object.door_state != "locked" || self.can_unlock(object))
        });
        let chance = |object: &VisibleObject<'_>| (self.random.draw_for_call(object.name) * 1000.0) as u32;
        let best = usable_doors
            .min_by_key(|(_, object)| (passed(object), object.door_state == "open", chance(object)));
        if let Some((direction, object)) = best
            && (passed(object) < 2 || self.random.draw_for_call("back through a door") < 0.5)
        {
            if object.door_state == "locked" && !self.has_key(object.colour) {
                if let Some(line) = self.fetch_key(object.colour) {
                    return line;
                }
            } else {
                let verb = if object.door_state == "open" { "go through" } else { "toggle and go through" };
                if let Some(line) = self.face_then(direction, format!("{verb} {}", object.name)) {
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
        if self.random.draw_for_call("left or right") < 0.5 { "turn left" } else { "turn right" }.to_owned()
    }

    /// Returns whether the key of a locked door is carried or visible.
    fn can_unlock(&self, door: &VisibleObject<'_>) -> bool {
        let visible = self.replay.views.iter().flatten().flat_map(|view| &view.objects);
        self.has_key(door.colour) || visible.into_iter().any(|s| s.kind == "key" && s.colour == door.colour)
    }
}

/// Returns the number of turns from one direction to another.
fn count_turns(from: usize, to: usize) -> usize {
    match (to + 4 - from) % 4 {
        3 => 1,
        n => n,
    }
}
