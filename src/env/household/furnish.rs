//! Chooses what is to be done in a room, and lays the things out so that it can be done and is not done already.

use super::id::{Difficulty, Kind, TaskId};
use super::scene::Scene;
use super::stock::{RoomStock, Stock, ThingKind};
use crate::env::EnvError;
use crate::env::dice::Dice;

/// What is to be done.
#[derive(Debug)]
pub(super) struct Aim {
    pub(super) kind: Kind,
    /// The kind of thing that is wanted.
    pub(super) object: &'static str,
    /// The kind of furniture it has to end up in; empty for [`ValueKind::Look`].
    pub(super) target: &'static str,
    /// The kind of lamp; empty but for [`ValueKind::Look`].
    pub(super) lamp: &'static str,
    /// The goal as a sentence, without its full stop.
    pub(super) sentence: String,
}

/// Rooms by kind of task, each as often as it is named.
const fn rooms(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Heat | Kind::Cool => &["kitchen"],
        Kind::Clean => &["kitchen", "kitchen", "kitchen", "bathroom"],
        Kind::Look => &["bedroom", "bedroom", "bedroom", "living"],
        Kind::Put | Kind::Two => &["kitchen", "kitchen", "living", "bedroom", "bathroom"],
    }
}

/// Draws scene and aim, and furnishes the scene.
///
/// # Errors
/// [`EnvError::BadRequest`] when no scene offers a task of this kind, which a test over all scenes rules out.
pub(super) fn draw(stock: &'static Stock, id: TaskId) -> Result<(Scene, Aim), EnvError> {
    let mut dice = Dice::labelled(&format!("{} task {id}", super::GENERATION));
    for _attempt in 0..50 {
        let room = dice.pick(rooms(id.kind)).copied().unwrap_or_default();
        let Some(supplies) = stock.rooms.get(room) else { continue };
        let number = dice.between(supplies.scenes.0, supplies.scenes.1);
        let mut scene = Scene::empty(stock, room, number, id.difficulty)?;
        if let Some(aim) = choose(stock, supplies, &scene, id, &mut dice) {
            Filling { stock, scene: &mut scene, aim: &aim, difficulty: id.difficulty, dice: &mut dice }
                .fill(supplies);
            return Ok((scene, aim));
        }
    }
    Err(EnvError::Refused { what: format!("no room offers a task like `{id}`") })
}

/// The furniture that prepares a thing for this kind of task.
pub(super) const fn appliance(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Clean => Some("SinkBasin"),
        Kind::Heat => Some("Microwave"),
        Kind::Cool => Some("Fridge"),
        Kind::Put | Kind::Look | Kind::Two => None,
    }
}

fn choose(
    stock: &'static Stock,
    supplies: &'static RoomStock,
    scene: &Scene,
    id: TaskId,
    dice: &mut Dice,
) -> Option<Aim> {
    let verb = match id.kind {
        Kind::Clean => "clean",
        Kind::Heat => "heat",
        Kind::Cool => "cool",
        Kind::Put | Kind::Look | Kind::Two => "take",
    };
    let lamps: Vec<&'static str> = ["DeskLamp", "FloorLamp"]
        .into_iter()
        .filter(|lamp| {
            supplies.things.contains_key(*lamp)
                && stock
                    .things
                    .get(*lamp)
                    .is_some_and(|lamp| scene.places.iter().any(|place| lamp.found(place.kind)))
        })
        .collect();
    let lamp = match id.kind {
        Kind::Look => dice.pick(&lamps).copied()?,
        _ => "",
    };
    // Every pair of a thing and the furniture it could be brought to from elsewhere.
    let mut kinds: Vec<&'static str> = scene.places.iter().map(|place| place.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let wanted = |thing: &'static ThingKind, target: &str| {
        let other = scene.places.iter().any(|place| place.kind != target && thing.fits(place.kind));
        match id.kind {
            Kind::Look => thing.fits(target),
            Kind::Two => {
                thing.fits(target)
                    && other
                    && stock.receptacles.get(target).is_some_and(|about| about.room > 1)
            }
            _ => thing.fits(target) && other && appliance(id.kind) != Some(target),
        }
    };
    let options: Vec<(&'static str, u32, Vec<&'static str>)> = supplies
        .things
        .iter()
        .filter_map(|(name, supply)| {
            let thing = stock.things.get(name).filter(|thing| thing.can("take") && thing.can(verb))?;
            let targets: Vec<&'static str> =
                kinds.iter().copied().filter(|target| wanted(thing, target)).collect();
            Some((name.as_str(), supply.0, targets)).filter(|option| !option.2.is_empty())
        })
        .collect();
    let (object, _, targets) = dice.weighted(&options, |option| option.1)?;
    let target = if id.kind == Kind::Look { "" } else { dice.pick(targets).copied()? };
    let sentence =
        sentence(id.kind, object, if id.kind == Kind::Look { lamp } else { target }, dice.below(2));
    Some(Aim { kind: id.kind, object, target, lamp, sentence })
}

/// The goal in ALFWorld's words; each kind of task has two ways of saying it.
fn sentence(kind: Kind, object: &str, place: &str, way: u32) -> String {
    let (o, r) = (object.to_lowercase(), place.to_lowercase());
    let adjective = match kind {
        Kind::Clean => "clean",
        Kind::Heat => "hot",
        _ => "cool",
    };
    match (kind, way) {
        (Kind::Put, 0) => format!("put a {o} in {r}"),
        (Kind::Put, _) => format!("put some {o} on {r}"),
        (Kind::Look, 0) => format!("look at {o} under the {r}"),
        (Kind::Look, _) => format!("examine the {o} with the {r}"),
        (Kind::Two, 0) => format!("put two {o} in {r}"),
        (Kind::Two, _) => format!("find two {o} and put them in {r}"),
        (Kind::Clean | Kind::Heat | Kind::Cool, 0) => format!("put a {adjective} {o} in {r}"),
        (Kind::Clean | Kind::Heat | Kind::Cool, _) => format!("{} some {o} and put it in {r}", kind.word()),
    }
}

/// A room being filled.
struct Filling<'a> {
    stock: &'static Stock,
    scene: &'a mut Scene,
    aim: &'a Aim,
    difficulty: Difficulty,
    dice: &'a mut Dice,
}

impl Filling<'_> {
    fn fill(&mut self, supplies: &'static RoomStock) {
        for (kind, supply) in &supplies.things {
            let drawn = match self.difficulty {
                Difficulty::Easy if self.dice.chance(500) && supply.0 < 100 => 0,
                Difficulty::Easy => supply.draw(self.dice).div_ceil(2),
                Difficulty::Normal => supply.draw(self.dice),
                Difficulty::Hard => supply.draw(self.dice).max(supply.draw(self.dice)),
            };
            let needed = if self.aim.kind == Kind::Two { 2 } else { 1 };
            let count = if kind == self.aim.object {
                if self.difficulty == Difficulty::Hard { needed } else { drawn.max(needed) }
            } else if kind == self.aim.lamp {
                drawn.max(1)
            } else {
                drawn
            };
            for nth in 0..count {
                let place = self.find_place(kind, nth < needed);
                self.scene.lay(kind, place, self.dice);
            }
        }
        if self.difficulty != Difficulty::Easy {
            self.lean_over();
            self.misplace();
        }
        self.nest();
        self.chill();
    }

    /// Furniture for one more thing of a kind; none for scenery, or where everything is full.
    fn find_place(&mut self, kind: &'static str, needed: bool) -> Option<usize> {
        let thing = self.stock.things.get(kind)?;
        let sought = kind == self.aim.object;
        let crowd =
            |index: usize| self.scene.things.iter().filter(|thing| thing.places.contains(&index)).count();
        let mut options: Vec<(usize, u32)> = Vec::new();
        for (index, place) in self.scene.places.iter().enumerate() {
            let Some(about) = self.stock.receptacles.get(place.kind) else { continue };
            if !thing.found(place.kind) || (sought && place.kind == self.aim.target) {
                continue;
            }
            // What the task needs is laid somewhere even where all is full; nothing else is.
            if crowd(index) >= about.room && !(sought && needed) {
                continue;
            }
            let likes = if thing.home(place.kind) { 8 } else { 1 };
            let weight = match (self.difficulty, place.openable) {
                (Difficulty::Easy, true) if sought => 0,
                // Behind whichever door or lid, not behind the likely one.
                (Difficulty::Hard, true) if sought => 5000,
                _ => about.pull.max(1) * likes,
            };
            options.push((index, weight));
        }
        // Easy games hide nothing, but for things that fit nowhere in the open.
        if options.iter().all(|option| option.1 == 0) {
            for option in &mut options {
                option.1 = 1;
            }
        }
        self.dice.weighted(&options, |option| option.1).map(|option| option.0)
    }

    /// In about 44 of 100 games a thing or two counts as lying in two pieces of furniture that stand close together.
    fn lean_over(&mut self) {
        if !self.dice.chance(500) {
            return;
        }
        let close =
            ["StoveBurner", "CoffeeMachine", "CounterTop", "Desk", "Shelf", "HandTowelHolder", "DiningTable"];
        let mut options = Vec::new();
        for (thing_index, thing) in self.scene.things.iter().enumerate() {
            let [home] = thing.places[..] else { continue };
            let (Some(about), Some(first)) = (self.stock.things.get(thing.kind), self.scene.places.get(home))
            else {
                continue;
            };
            for (place_index, place) in self.scene.places.iter().enumerate() {
                let near =
                    place.spot == first.spot || (close.contains(&place.kind) && close.contains(&first.kind));
                let apart = place.kind != first.kind || place.kind == "StoveBurner";
                let won = thing.kind == self.aim.object && place.kind == self.aim.target;
                let open = !place.openable && !first.openable;
                if near && apart && open && !won && place_index != home && about.found(place.kind) {
                    options.push((thing_index, place_index));
                }
            }
        }
        for _ in 0..=self.dice.below(2) {
            if let Some(&(thing, place)) = self.dice.pick(&options)
                && let Some(thing) = self.scene.things.get_mut(thing)
                && thing.places.len() == 1
            {
                thing.places.push(place);
            }
        }
    }

    /// Now and then a thing lies in a bowl, a mug or the like.
    fn nest(&mut self) {
        if !self.dice.chance(150) {
            return;
        }
        let holds = |kind: &str| self.stock.things.get(kind).is_some_and(|about| about.can("hold"));
        let small = |kind: &str| self.stock.things.get(kind).is_some_and(|about| about.can("small"));
        let mut options = Vec::new();
        for (outer, holder) in self.scene.things.iter().enumerate() {
            for (inner, thing) in self.scene.things.iter().enumerate() {
                if holds(holder.kind)
                    && small(thing.kind)
                    && !holder.places.is_empty()
                    && holder.places == thing.places
                {
                    options.push((inner, outer));
                }
            }
        }
        if let Some(&(inner, outer)) = self.dice.pick(&options)
            && let Some(thing) = self.scene.things.get_mut(inner)
        {
            thing.inside = Some(outer);
        }
    }

    /// In some kitchens what lies in the fridge is cold already.
    fn chill(&mut self) {
        if !self.dice.chance(180) {
            return;
        }
        for thing in &mut self.scene.things {
            let fridge = thing
                .places
                .iter()
                .any(|&place| self.scene.places.get(place).is_some_and(|place| place.kind == "Fridge"));
            thing.cool = fridge && self.stock.things.get(thing.kind).is_some_and(|about| about.can("cool"));
        }
    }

    /// One thing in sixty is recorded at a spot from which its furniture cannot be reached.
    fn misplace(&mut self) {
        let spots = self.scene.spots.len() as u32;
        for thing in &mut self.scene.things {
            if !thing.places.is_empty() && self.dice.chance(17) {
                thing.spot = self.dice.below(spots) as usize;
            }
        }
    }
}
