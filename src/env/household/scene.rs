//! One room: the positions of its furniture, what can be opened, and which objects lie where.
//!
//! The furniture of a scene depends only on room, scene number and difficulty, so that several tasks can share a room
//! as in ALFWorld. The objects are drawn separately for each task (`furnish`).

use super::id::Difficulty;
use super::stock::Stock;
use crate::env::EnvError;
use crate::env::labelled_rng::LabelledRng;
use std::collections::BTreeSet;

/// A point in the room, in hundredths of a metre.
pub(super) type Point = (i32, i32, i32);

/// A place where the agent can stand.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) id: String,
    /// Grid coordinates, in units of 25 cm.
    x: i32,
    z: i32,
}

/// A piece of furniture.
#[derive(Debug)]
pub(super) struct Furniture {
    pub(super) kind: &'static str,
    pub(super) id: String,
    /// The spot from which it is used: an index into [`Scene::spots`].
    pub(super) spot: usize,
    pub(super) is_openable: bool,
    pub(super) position: Point,
}

/// An object, or a piece of scenery.
#[derive(Debug)]
pub(super) struct Thing {
    pub(super) kind: &'static str,
    pub(super) id: String,
    pub(super) spot: usize,
    /// Indexes of the furniture it lies in: empty for scenery, occasionally two.
    pub(super) furniture: Vec<usize>,
    /// Index of the object it lies in.
    pub(super) container: Option<usize>,
    pub(super) is_cool: bool,
}

/// A room and everything in it.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) number: i32,
    pub(super) spots: Vec<Spot>,
    /// Where the agent starts: a spot without furniture.
    pub(super) start: usize,
    pub(super) furniture: Vec<Furniture>,
    pub(super) things: Vec<Thing>,
    free_cells: Vec<(i32, i32)>,
    used_ids: BTreeSet<String>,
}

/// Camera tilt at a spot, in degrees downwards; the last part of the spot's id.
const TILTS: [i32; 4] = [0, 30, 45, 60];
/// Half the width of a room, in grid units of 25 cm.
const HALF_WIDTH: i32 = 12;
/// Probability, per 1000, that furniture stands so close to its neighbour that one spot serves both.
const SHARED_SPOT_PERMILLE: u32 = 105;

impl Scene {
    /// Creates the scene with this number, furnished but without objects.
    ///
    /// # Errors
    /// [`EnvError::Refused`] for a room that is not in the stock.
    pub(super) fn empty(
        stock: &'static Stock,
        room: &str,
        number: i32,
        difficulty: Difficulty,
    ) -> Result<Self, EnvError> {
        let Some(supplies) = stock.rooms.get(room) else {
            return Err(EnvError::Refused { what: format!("unknown room `{room}`") });
        };
        let mut rng = LabelledRng::from_label(&format!(
            "{} scene {} {room} {number}",
            super::GENERATION,
            difficulty.word()
        ));
        let mut grid: Vec<(i32, i32)> = (-HALF_WIDTH..=HALF_WIDTH)
            .flat_map(|x| (-HALF_WIDTH..=HALF_WIDTH).map(move |z| (x, z)))
            .collect();
        rng.shuffle(&mut grid);
        let mut scene = Self {
            number,
            spots: Vec::new(),
            start: 0,
            furniture: Vec::new(),
            things: Vec::new(),
            free_cells: grid,
            used_ids: BTreeSet::new(),
        };
        scene.start = scene.new_spot(&mut rng);

        let mut kinds: Vec<&'static str> = Vec::new();
        for (kind, supply) in &supplies.receptacles {
            let count = match difficulty {
                Difficulty::Easy => supply.draw(&mut rng).min(2),
                Difficulty::Normal => supply.draw(&mut rng),
                Difficulty::Hard => supply.draw(&mut rng).max(supply.draw(&mut rng)),
            };
            kinds.extend((0..count).map(|_| kind.as_str()));
        }
        rng.shuffle(&mut kinds);
        for kind in kinds {
            scene.add_furniture(stock, kind, difficulty, &mut rng);
        }
        Ok(scene)
    }

    fn add_furniture(
        &mut self,
        stock: &'static Stock,
        kind: &'static str,
        difficulty: Difficulty,
        rng: &mut LabelledRng,
    ) {
        let Some(about) = stock.receptacles.get(kind) else { return };
        let shared = match (difficulty, &self.furniture[..]) {
            (Difficulty::Easy, _) | (_, []) => None,
            // Three pieces of furniture at one spot are rare.
            (_, [.., first, second]) if first.spot == second.spot => {
                rng.chance_permille(SHARED_SPOT_PERMILLE / 4).then_some(second.spot)
            }
            (_, [.., neighbour]) => rng.chance_permille(SHARED_SPOT_PERMILLE).then_some(neighbour.spot),
        };
        let spot = shared.unwrap_or_else(|| self.new_spot(rng));
        let openable_percent = match (difficulty, about.openable_percent) {
            (_, 0) | (Difficulty::Normal, _) | (Difficulty::Easy, 100) => about.openable_percent,
            (Difficulty::Easy, percent) => percent / 4,
            (Difficulty::Hard, percent) => percent + (100 - percent) / 2,
        };
        let openable = rng.chance_permille(openable_percent * 10);
        let around = self.point_near(spot, about.height, rng);
        // A basin is named after the sink or bathtub it belongs to.
        let basin = about.scenery.as_deref().filter(|scenery| kind.strip_suffix("Basin") == Some(scenery));
        let position = self.free_point(basin.unwrap_or(kind), around);
        let id = match basin {
            Some(scenery) => format!("{}_bar_{kind}", id_at(scenery, position)),
            None => id_at(kind, position),
        };
        self.furniture.push(Furniture { kind, id, spot, is_openable: openable, position });
        if let Some(scenery) = &about.scenery {
            let position = if basin.is_some() {
                position
            } else {
                let around = self.point_near(spot, about.height, rng);
                self.free_point(scenery, around)
            };
            let id = id_at(scenery, position);
            self.things.push(Thing {
                kind: scenery,
                id,
                spot,
                furniture: Vec::new(),
                container: None,
                is_cool: false,
            });
        }
    }

    /// Adds an object in a piece of furniture, or on its own if `place` is `None`.
    pub(super) fn add_thing(&mut self, kind: &'static str, place: Option<usize>, rng: &mut LabelledRng) {
        let (spot, around) = if let Some(place) = place.and_then(|place| self.furniture.get(place)) {
            let (x, y, z) = place.position;
            (place.spot, (x + rng.between(-25, 25), y + rng.between(0, 9), z + rng.between(-25, 25)))
        } else {
            let spot = if rng.chance_permille(900) {
                self.new_spot(rng)
            } else {
                rng.below(self.spots.len() as u32) as usize
            };
            (spot, self.point_near(spot, 100, rng))
        };
        let at = self.free_point(kind, around);
        let places = place.into_iter().collect();
        self.things.push(Thing {
            kind,
            id: id_at(kind, at),
            spot,
            furniture: places,
            container: None,
            is_cool: false,
        });
    }

    fn new_spot(&mut self, rng: &mut LabelledRng) -> usize {
        let (x, z) = self
            .free_cells
            .pop()
            .unwrap_or_else(|| (i32::try_from(self.spots.len()).unwrap_or(0) + HALF_WIDTH, 0));
        let tilt = rng.pick(&TILTS).copied().unwrap_or(0);
        let heading = rng.below(4);
        let id = format!("loc_bar_{}_bar_{}_bar_{heading}_bar_{tilt}", signed_text(x), signed_text(z));
        self.spots.push(Spot { id, x, z });
        self.spots.len() - 1
    }

    /// Draws a point near a spot, at about this height.
    fn point_near(&self, spot: usize, height: i32, rng: &mut LabelledRng) -> Point {
        let (x, z) = self.spots.get(spot).map_or((0, 0), |spot| (spot.x, spot.z));
        (x * 25 + rng.between(-40, 40), height + rng.between(-15, 15), z * 25 + rng.between(-40, 40))
    }

    /// Returns the given point, or the next one that is not yet taken by an object of this kind.
    fn free_point(&mut self, kind: &str, mut at: Point) -> Point {
        while !self.used_ids.insert(id_at(kind, at)) {
            at.2 += 1;
        }
        at
    }
}

fn signed_text(number: i32) -> String {
    if number < 0 { format!("_minus_{}", -number) } else { number.to_string() }
}

/// Formats the id of an object at a point, like the ids of ALFWorld's simulator.
fn id_at(kind: &str, at: Point) -> String {
    let metres = |n: i32| {
        let sign = if n < 0 { "minus" } else { "plus" };
        format!("_bar__{sign}_{:02}_dot_{:02}", n.abs() / 100, n.abs() % 100)
    };
    format!("{kind}{}{}{}", metres(at.0), metres(at.1), metres(at.2))
}
