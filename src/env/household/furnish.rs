//! Chooses the goal of a task and places the objects so that it can be achieved but isn't achieved already.

use super::id::{Difficulty, TaskId, TaskKind};
use super::scene::Scene;
use super::stock::{RoomStock, Stock, ThingKind};
use crate::env::EnvError;
use crate::env::labelled_rng::LabelledRng;

/// The goal of a task.
#[derive(Debug)]
pub(super) struct TaskGoal {
    pub(super) kind: TaskKind,
    /// The kind of object to find.
    pub(super) object: &'static str,
    /// The kind of furniture that the object must end up in; empty for [`TaskKind::Look`].
    pub(super) target: &'static str,
    /// The kind of lamp; empty except for [`TaskKind::Look`].
    pub(super) lamp: &'static str,
    /// The goal as a sentence, without its full stop.
    pub(super) sentence: String,
}

/// Returns the rooms for a kind of task. A room that is listed several times is drawn more often.
const fn room_choices(kind: TaskKind) -> &'static [&'static str] {
    match kind {
        TaskKind::Heat | TaskKind::Cool => &["kitchen"],
        TaskKind::Clean => &["kitchen", "kitchen", "kitchen", "bathroom"],
        TaskKind::Look => &["bedroom", "bedroom", "bedroom", "living"],
        TaskKind::Put | TaskKind::Two => &["kitchen", "kitchen", "living", "bedroom", "bathroom"],
    }
}

/// Draws the scene and the goal, and furnishes the scene.
///
/// # Errors
/// [`EnvError::Refused`] if no scene offers a task of this kind, which a test over all scenes rules out.
pub(super) fn draw_task(stock: &'static Stock, id: TaskId) -> Result<(Scene, TaskGoal), EnvError> {
    let mut rng = LabelledRng::from_label(&format!("{} task {id}", super::GENERATION));
    for _attempt in 0..50 {
        let room = rng.pick(room_choices(id.kind)).copied().unwrap_or_default();
        let Some(supplies) = stock.rooms.get(room) else { continue };
        let number = rng.between(supplies.scenes.0, supplies.scenes.1);
        let mut scene = Scene::empty(stock, room, number, id.difficulty)?;
        if let Some(goal) = choose_goal(stock, supplies, &scene, id, &mut rng) {
            RoomFiller { stock, scene: &mut scene, goal: &goal, difficulty: id.difficulty, rng: &mut rng }
                .fill(supplies);
            return Ok((scene, goal));
        }
    }
    Err(EnvError::Refused { what: format!("no room offers a task like `{id}`") })
}

/// Returns the furniture that prepares an object for this kind of task.
pub(super) const fn appliance(kind: TaskKind) -> Option<&'static str> {
    match kind {
        TaskKind::Clean => Some("SinkBasin"),
        TaskKind::Heat => Some("Microwave"),
        TaskKind::Cool => Some("Fridge"),
        TaskKind::Put | TaskKind::Look | TaskKind::Two => None,
    }
}

fn choose_goal(
    stock: &'static Stock,
    supplies: &'static RoomStock,
    scene: &Scene,
    id: TaskId,
    rng: &mut LabelledRng,
) -> Option<TaskGoal> {
    let verb = match id.kind {
        TaskKind::Clean => "clean",
        TaskKind::Heat => "heat",
        TaskKind::Cool => "cool",
        TaskKind::Put | TaskKind::Look | TaskKind::Two => "take",
    };
    let lamps: Vec<&'static str> = ["DeskLamp", "FloorLamp"]
        .into_iter()
        .filter(|lamp| {
            supplies.things.contains_key(*lamp)
                && stock
                    .things
                    .get(*lamp)
                    .is_some_and(|lamp| scene.furniture.iter().any(|place| lamp.can_start_in(place.kind)))
        })
        .collect();
    let lamp = match id.kind {
        TaskKind::Look => rng.pick(&lamps).copied()?,
        _ => "",
    };
    // Every pair of an object kind and the furniture to which it could be brought from elsewhere.
    let mut kinds: Vec<&'static str> = scene.furniture.iter().map(|place| place.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let is_possible_target = |thing: &'static ThingKind, target: &str| {
        let can_start_elsewhere =
            scene.furniture.iter().any(|place| place.kind != target && thing.can_be_put_in(place.kind));
        match id.kind {
            TaskKind::Look => thing.can_be_put_in(target),
            TaskKind::Two => {
                thing.can_be_put_in(target)
                    && can_start_elsewhere
                    && stock.receptacles.get(target).is_some_and(|about| about.capacity > 1)
            }
            _ => thing.can_be_put_in(target) && can_start_elsewhere && appliance(id.kind) != Some(target),
        }
    };
    let options: Vec<(&'static str, u32, Vec<&'static str>)> = supplies
        .things
        .iter()
        .filter_map(|(name, supply)| {
            let thing = stock.things.get(name).filter(|thing| thing.allows("take") && thing.allows(verb))?;
            let targets: Vec<&'static str> =
                kinds.iter().copied().filter(|target| is_possible_target(thing, target)).collect();
            Some((name.as_str(), supply.0, targets)).filter(|option| !option.2.is_empty())
        })
        .collect();
    let (object, _, targets) = rng.pick_weighted(&options, |option| option.1)?;
    let target = if id.kind == TaskKind::Look { "" } else { rng.pick(targets).copied()? };
    let sentence =
        goal_sentence(id.kind, object, if id.kind == TaskKind::Look { lamp } else { target }, rng.below(2));
    Some(TaskGoal { kind: id.kind, object, target, lamp, sentence })
}

/// Returns the goal in ALFWorld's wording, which has two variants for each kind of task.
fn goal_sentence(kind: TaskKind, object: &str, place: &str, variant: u32) -> String {
    let (o, r) = (object.to_lowercase(), place.to_lowercase());
    let adjective = match kind {
        TaskKind::Clean => "clean",
        TaskKind::Heat => "hot",
        _ => "cool",
    };
    match (kind, variant) {
        (TaskKind::Put, 0) => format!("put a {o} in {r}"),
        (TaskKind::Put, _) => format!("put some {o} on {r}"),
        (TaskKind::Look, 0) => format!("look at {o} under the {r}"),
        (TaskKind::Look, _) => format!("examine the {o} with the {r}"),
        (TaskKind::Two, 0) => format!("put two {o} in {r}"),
        (TaskKind::Two, _) => format!("find two {o} and put them in {r}"),
        (TaskKind::Clean | TaskKind::Heat | TaskKind::Cool, 0) => format!("put a {adjective} {o} in {r}"),
        (TaskKind::Clean | TaskKind::Heat | TaskKind::Cool, _) => {
            format!("{} some {o} and put it in {r}", kind.word())
        }
    }
}

/// Places objects in a room.
struct RoomFiller<'a> {
    stock: &'static Stock,
    scene: &'a mut Scene,
    goal: &'a TaskGoal,
    difficulty: Difficulty,
    rng: &'a mut LabelledRng,
}

impl RoomFiller<'_> {
    fn fill(&mut self, supplies: &'static RoomStock) {
        for (kind, supply) in &supplies.things {
            let drawn = match self.difficulty {
                Difficulty::Easy if self.rng.chance_permille(500) && supply.0 < 100 => 0,
                Difficulty::Easy => supply.draw(self.rng).div_ceil(2),
                Difficulty::Normal => supply.draw(self.rng),
                Difficulty::Hard => supply.draw(self.rng).max(supply.draw(self.rng)),
            };
            let needed = if self.goal.kind == TaskKind::Two { 2 } else { 1 };
            let count = if kind == self.goal.object {
                if self.difficulty == Difficulty::Hard { needed } else { drawn.max(needed) }
            } else if kind == self.goal.lamp {
                drawn.max(1)
            } else {
                drawn
            };
            for nth in 0..count {
                let place = self.find_place(kind, nth < needed);
                self.scene.add_thing(kind, place, self.rng);
            }
        }
        if self.difficulty != Difficulty::Easy {
            self.share_neighbouring_furniture();
            self.misplace_things();
        }
        self.nest_things();
        self.chill_fridge_contents();
    }

    /// Draws furniture for one more object of a kind. Returns `None` for scenery, and if everything is full.
    fn find_place(&mut self, kind: &'static str, needed: bool) -> Option<usize> {
        let thing = self.stock.things.get(kind)?;
        let sought = kind == self.goal.object;
        let object_count =
            |index: usize| self.scene.things.iter().filter(|thing| thing.furniture.contains(&index)).count();
        let mut options: Vec<(usize, u32)> = Vec::new();
        for (index, place) in self.scene.furniture.iter().enumerate() {
            let Some(about) = self.stock.receptacles.get(place.kind) else { continue };
            if !thing.can_start_in(place.kind) || (sought && place.kind == self.goal.target) {
                continue;
            }
            // Objects that the task needs are placed even if everything is full; others are not.
            if object_count(index) >= about.capacity && !(sought && needed) {
                continue;
            }
            let preference = if thing.prefers(place.kind) { 8 } else { 1 };
            let weight = match (self.difficulty, place.is_openable) {
                (Difficulty::Easy, true) if sought => 0,
                // Any container with a door or lid is equally likely, not just the typical ones.
                (Difficulty::Hard, true) if sought => 5000,
                _ => about.weight.max(1) * preference,
            };
            options.push((index, weight));
        }
        // Easy games hide nothing, except objects that fit nowhere in the open.
        if options.iter().all(|option| option.1 == 0) {
            for option in &mut options {
                option.1 = 1;
            }
        }
        self.rng.pick_weighted(&options, |option| option.1).map(|option| option.0)
    }

    /// In about 44 of 100 games, makes one or two objects count as lying in two neighbouring pieces of furniture.
    fn share_neighbouring_furniture(&mut self) {
        if !self.rng.chance_permille(500) {
            return;
        }
        let adjacent_kinds =
            ["StoveBurner", "CoffeeMachine", "CounterTop", "Desk", "Shelf", "HandTowelHolder", "DiningTable"];
        let mut options = Vec::new();
        for (thing_index, thing) in self.scene.things.iter().enumerate() {
            let [home] = thing.furniture[..] else { continue };
            let (Some(about), Some(first)) =
                (self.stock.things.get(thing.kind), self.scene.furniture.get(home))
            else {
                continue;
            };
            for (place_index, place) in self.scene.furniture.iter().enumerate() {
                let is_near = place.spot == first.spot
                    || (adjacent_kinds.contains(&place.kind) && adjacent_kinds.contains(&first.kind));
                let is_distinct = place.kind != first.kind || place.kind == "StoveBurner";
                let would_win = thing.kind == self.goal.object && place.kind == self.goal.target;
                let is_open = !place.is_openable && !first.is_openable;
                if is_near
                    && is_distinct
                    && is_open
                    && !would_win
                    && place_index != home
                    && about.can_start_in(place.kind)
                {
                    options.push((thing_index, place_index));
                }
            }
        }
        for _ in 0..=self.rng.below(2) {
            if let Some(&(thing, place)) = self.rng.pick(&options)
                && let Some(thing) = self.scene.things.get_mut(thing)
                && thing.furniture.len() == 1
            {
                thing.furniture.push(place);
            }
        }
    }

    /// Occasionally places an object in a bowl, a mug or a similar container.
    fn nest_things(&mut self) {
        if !self.rng.chance_permille(150) {
            return;
        }
        let holds = |kind: &str| self.stock.things.get(kind).is_some_and(|about| about.allows("hold"));
        let small = |kind: &str| self.stock.things.get(kind).is_some_and(|about| about.allows("small"));
        let mut options = Vec::new();
        for (outer, holder) in self.scene.things.iter().enumerate() {
            for (inner, thing) in self.scene.things.iter().enumerate() {
                if holds(holder.kind)
                    && small(thing.kind)
                    && !holder.furniture.is_empty()
                    && holder.furniture == thing.furniture
                {
                    options.push((inner, outer));
                }
            }
        }
        if let Some(&(inner, outer)) = self.rng.pick(&options)
            && let Some(thing) = self.scene.things.get_mut(inner)
        {
            thing.container = Some(outer);
        }
    }

    /// In some kitchens, makes the content of the fridge cold at the start.
    fn chill_fridge_contents(&mut self) {
        if !self.rng.chance_permille(180) {
            return;
        }
        for thing in &mut self.scene.things {
            let fridge = thing
                .furniture
                .iter()
                .any(|&place| self.scene.furniture.get(place).is_some_and(|place| place.kind == "Fridge"));
            thing.is_cool =
                fridge && self.stock.things.get(thing.kind).is_some_and(|about| about.allows("cool"));
        }
    }

    /// Records one object in sixty at a spot from which its furniture cannot be reached.
    fn misplace_things(&mut self) {
        let spots = self.scene.spots.len() as u32;
        for thing in &mut self.scene.things {
            if !thing.furniture.is_empty() && self.rng.chance_permille(17) {
                thing.spot = self.rng.below(spots) as usize;
            }
        }
    }
}
