//! Finds a way to do what is asked, by knowing the room: the walkthrough of a generated game.
//!
//! It is not the shortest way, but every command in it is one a careful person would type.

use super::furnish::{Aim, appliance};
use super::id::Kind;
use super::problem::Names;
use super::scene::Scene;

/// The commands that win the game.
///
/// None when the room lacks what is asked for, which the generator rules out when it lays the room out.
pub(super) fn walkthrough(scene: &Scene, names: &Names, aim: &Aim) -> Option<Vec<String>> {
    let mut walk = Walk { scene, names, spot: scene.start, opened: Vec::new(), commands: Vec::new() };
    let sought: Vec<usize> = (0..scene.things.len())
        .filter(|&index| {
            scene.things.get(index).is_some_and(|thing| thing.kind == aim.object && !thing.places.is_empty())
        })
        .filter(|&index| !walk.lies_in(index, aim.target))
        .collect();
    let first = *sought.first()?;
    if aim.kind == Kind::Look {
        let lamp = (0..scene.things.len()).find(|&index| {
            scene.things.get(index).is_some_and(|thing| thing.kind == aim.lamp && !thing.places.is_empty())
        })?;
        walk.take(first)?;
        walk.go(*scene.things.get(lamp)?.places.first()?)?;
        walk.commands.push(format!("use {}", names.things.get(lamp)?));
        return Some(walk.commands);
    }
    let target = scene.places.iter().position(|place| place.kind == aim.target)?;
    walk.take(first)?;
    if let Some(kind) = appliance(aim.kind) {
        let tool = scene.places.iter().position(|place| place.kind == kind)?;
        walk.go(tool)?;
        walk.commands.push(format!(
            "{} {} with {}",
            aim.kind.word(),
            names.things.get(first)?,
            names.places.get(tool)?
        ));
    }
    walk.put(first, target)?;
    if aim.kind == Kind::Two {
        let second = *sought.get(1)?;
        walk.take(second)?;
        walk.put(second, target)?;
    }
    Some(walk.commands)
}

struct Walk<'a> {
    scene: &'a Scene,
    names: &'a Names,
    spot: usize,
    opened: Vec<usize>,
    commands: Vec<String>,
}

impl Walk<'_> {
    fn lies_in(&self, thing: usize, kind: &str) -> bool {
        self.scene.things.get(thing).is_some_and(|thing| {
            thing
                .places
                .iter()
                .any(|&place| self.scene.places.get(place).is_some_and(|place| place.kind == kind))
        })
    }

    /// Walks to a piece of furniture, unless one stands there already.
    fn go(&mut self, place: usize) -> Option<()> {
        let spot = self.scene.places.get(place)?.spot;
        if spot != self.spot {
            self.commands.push(format!("go to {}", self.names.places.get(place)?));
            self.spot = spot;
        }
        Some(())
    }

    /// Walks there and sees to it that it is open.
    fn reach(&mut self, place: usize) -> Option<()> {
        self.go(place)?;
        if self.scene.places.get(place)?.openable && !self.opened.contains(&place) {
            self.commands.push(format!("open {}", self.names.places.get(place)?));
            self.opened.push(place);
        }
        Some(())
    }

    fn take(&mut self, thing: usize) -> Option<()> {
        let place = *self.scene.things.get(thing)?.places.first()?;
        self.reach(place)?;
        self.commands.push(format!(
            "take {} from {}",
            self.names.things.get(thing)?,
            self.names.places.get(place)?
        ));
        Some(())
    }

    fn put(&mut self, thing: usize, place: usize) -> Option<()> {
        self.reach(place)?;
        self.commands.push(format!(
            "move {} to {}",
            self.names.things.get(thing)?,
            self.names.places.get(place)?
        ));
        Some(())
    }
}
