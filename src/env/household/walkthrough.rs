//! Plans a solution with full knowledge of the room: the walkthrough of a generated game.
//!
//! It isn't the shortest solution, but every command in it is one that a careful person would type.

use super::furnish::{TaskGoal, appliance};
use super::id::TaskKind;
use super::problem::Names;
use super::scene::Scene;

/// Returns the commands that win the game.
///
/// Returns `None` if the room lacks something that the task needs, which the generator rules out.
pub(super) fn find_walkthrough(scene: &Scene, names: &Names, goal: &TaskGoal) -> Option<Vec<String>> {
    let mut walk =
        WalkthroughBuilder { scene, names, spot: scene.start, opened: Vec::new(), commands: Vec::new() };
    let sought: Vec<usize> = (0..scene.things.len())
        .filter(|&index| {
            scene
                .things
                .get(index)
                .is_some_and(|thing| thing.kind == goal.object && !thing.furniture.is_empty())
        })
        .filter(|&index| !walk.is_in(index, goal.target))
        .collect();
    let first = *sought.first()?;
    if goal.kind == TaskKind::Look {
        let lamp = (0..scene.things.len()).find(|&index| {
            scene
                .things
                .get(index)
                .is_some_and(|thing| thing.kind == goal.lamp && !thing.furniture.is_empty())
        })?;
        walk.take_thing(first)?;
        walk.walk_to(*scene.things.get(lamp)?.furniture.first()?)?;
        walk.commands.push(format!("use {}", names.things.get(lamp)?));
        return Some(walk.commands);
    }
    let target = scene.furniture.iter().position(|place| place.kind == goal.target)?;
    walk.take_thing(first)?;
    if let Some(kind) = appliance(goal.kind) {
        let tool = scene.furniture.iter().position(|place| place.kind == kind)?;
        walk.walk_to(tool)?;
        walk.commands.push(format!(
            "{} {} with {}",
            goal.kind.word(),
            names.things.get(first)?,
            names.furniture.get(tool)?
        ));
    }
    walk.put_thing(first, target)?;
    if goal.kind == TaskKind::Two {
        let second = *sought.get(1)?;
        walk.take_thing(second)?;
        walk.put_thing(second, target)?;
    }
    Some(walk.commands)
}

struct WalkthroughBuilder<'a> {
    scene: &'a Scene,
    names: &'a Names,
    spot: usize,
    opened: Vec<usize>,
    commands: Vec<String>,
}

impl WalkthroughBuilder<'_> {
    fn is_in(&self, thing: usize, kind: &str) -> bool {
        self.scene.things.get(thing).is_some_and(|thing| {
            thing
                .furniture
                .iter()
                .any(|&place| self.scene.furniture.get(place).is_some_and(|place| place.kind == kind))
        })
    }

    /// Walks to a piece of furniture, unless already there.
    fn walk_to(&mut self, place: usize) -> Option<()> {
        let spot = self.scene.furniture.get(place)?.spot;
        if spot != self.spot {
            self.commands.push(format!("go to {}", self.names.furniture.get(place)?));
            self.spot = spot;
        }
        Some(())
    }

    /// Walks to a piece of furniture and opens it if necessary.
    fn walk_to_and_open(&mut self, place: usize) -> Option<()> {
        self.walk_to(place)?;
        if self.scene.furniture.get(place)?.is_openable && !self.opened.contains(&place) {
            self.commands.push(format!("open {}", self.names.furniture.get(place)?));
            self.opened.push(place);
        }
        Some(())
    }

    fn take_thing(&mut self, thing: usize) -> Option<()> {
        let place = *self.scene.things.get(thing)?.furniture.first()?;
        self.walk_to_and_open(place)?;
        self.commands.push(format!(
            "take {} from {}",
            self.names.things.get(thing)?,
            self.names.furniture.get(place)?
        ));
        Some(())
    }

    fn put_thing(&mut self, thing: usize, place: usize) -> Option<()> {
        self.walk_to_and_open(place)?;
        self.commands.push(format!(
            "move {} to {}",
            self.names.things.get(thing)?,
            self.names.furniture.get(place)?
        ));
        Some(())
    }
}
