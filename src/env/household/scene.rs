//! One room: where its furniture stands, what has a door, and what lies where.
//!
//! The furniture of a scene depends only on room, scene number and difficulty, so that several tasks can share a room
//! as ALFWorld's do. What lies in it is drawn for each task anew (`furnish`).

use super::id::Difficulty;
use super::stock::Stock;
use crate::env::EnvError;
use crate::env::labelled_rng::LabelledRng;
use std::collections::BTreeSet;

/// A point in the room, in hundredths of a metre.
pub(super) type Point = (i32, i32, i32);

/// Where an agent can stand.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) id: String,
    /// Grid coordinates, in quarter metres.
    x: i32,
    z: i32,
}

/// A piece of furniture.
#[derive(Debug)]
pub(super) struct Furniture {
    pub(super) kind: &'static str,
    pub(super) id: String,
    /// Where one stands to use it: an index into [`Scene::spots`].
    pub(super) spot: usize,
    pub(super) is_openable: bool,
    pub(super) position: Point,
}

/// A thing, or a piece of scenery.
#[derive(Debug)]
pub(super) struct Thing {
    pub(super) kind: &'static str,
    pub(super) id: String,
    pub(super) spot: usize,
    /// The furniture it lies in: none for scenery, now and then two.
    pub(super) furniture: Vec<usize>,
    /// The thing it lies in.
    pub(super) container: Option<usize>,
    pub(super) is_cool: bool,
}

/// A room and all that is in it.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) number: i32,
    pub(super) spots: Vec<Spot>,
    /// Where the agent begins: a spot without furniture.
    pub(super) start: usize,
    pub(super) furniture: Vec<Furniture>,
    pub(super) things: Vec<Thing>,
    free_cells: Vec<(i32, i32)>,
    used_ids: BTreeSet<String>,
}

/// How far down one looks from a spot, in degrees; the last part of its id.
const TILTS: [i32; 4] = [0, 30, 45, 60];
/// Half the width of a room, in grid steps of a quarter metre.
const HALF_WIDTH: i32 = 12;
/// In how many of 1000 cases furniture stands so close to its neighbour that one spot serves both.
const SHARED_SPOT_PERMILLE: u32 = 105;

impl Scene {
    /// The scene of this number, furnished but empty.
    ///
    /// # Errors
    /// [`EnvError::BadRequest`] for a room that the stock does not know.
    pub(super) fn empty(
        stock: &'static Stock,
        room: &str,
        number: i32,
        difficulty: Difficulty,
    ) -> Result<Self, EnvError> {
        let Some(supplies) = stock.rooms.get(room) else {
            return Err(EnvError::Refused { what: format!("there is no room `{room}` to generate") });
        };
        let mut dice = LabelledRng::from_label(&format!(
            "{} scene {} {room} {number}",
            super::GENERATION,
            difficulty.word()
        ));
        let mut grid: Vec<(i32, i32)> = (-HALF_WIDTH..=HALF_WIDTH)
            .flat_map(|x| (-HALF_WIDTH..=HALF_WIDTH).map(move |z| (x, z)))
            .collect();
        dice.shuffle(&mut grid);
        let mut scene = Self {
            number,
            spots: Vec::new(),
            start: 0,
            furniture: Vec::new(),
            things: Vec::new(),
            free_cells: grid,
            used_ids: BTreeSet::new(),
        };
        scene.start = scene.new_spot(&mut dice);

        let mut kinds: Vec<&'static str> = Vec::new();
        for (kind, supply) in &supplies.receptacles {
            let count = match difficulty {
                Difficulty::Easy => supply.draw(&mut dice).min(2),
                Difficulty::Normal => supply.draw(&mut dice),
                Difficulty::Hard => supply.draw(&mut dice).max(supply.draw(&mut dice)),
            };
            kinds.extend((0..count).map(|_| kind.as_str()));
        }
        dice.shuffle(&mut kinds);
        for kind in kinds {
            scene.add_furniture(stock, kind, difficulty, &mut dice);
        }
        Ok(scene)
    }

    fn add_furniture(
        &mut self,
        stock: &'static Stock,
        kind: &'static str,
        difficulty: Difficulty,
        dice: &mut LabelledRng,
    ) {
        let Some(about) = stock.receptacles.get(kind) else { return };
        let shared = match (difficulty, &self.furniture[..]) {
            (Difficulty::Easy, _) | (_, []) => None,
            // A third piece of furniture at one spot is rare.
            (_, [.., first, second]) if first.spot == second.spot => {
                dice.chance(SHARED_SPOT_PERMILLE / 4).then_some(second.spot)
            }
            (_, [.., neighbour]) => dice.chance(SHARED_SPOT_PERMILLE).then_some(neighbour.spot),
        };
        let spot = shared.unwrap_or_else(|| self.new_spot(dice));
        let doors = match (difficulty, about.openable_percent) {
            (_, 0) | (Difficulty::Normal, _) | (Difficulty::Easy, 100) => about.openable_percent,
            (Difficulty::Easy, share) => share / 4,
            (Difficulty::Hard, share) => share + (100 - share) / 2,
        };
        let openable = dice.chance(doors * 10);
        let around = self.point_near(spot, about.height, dice);
        // A basin is named after the sink or bathtub it belongs to.
        let basin = about.scenery.as_deref().filter(|scenery| kind.strip_suffix("Basin") == Some(scenery));
        let at = self.free_point(basin.unwrap_or(kind), around);
        let id = match basin {
            Some(scenery) => format!("{}_bar_{kind}", id_at(scenery, at)),
            None => id_at(kind, at),
        };
        self.furniture.push(Furniture { kind, id, spot, is_openable: openable, position: at });
        if let Some(scenery) = &about.scenery {
            let at = if basin.is_some() {
                at
            } else {
                let around = self.point_near(spot, about.height, dice);
                self.free_point(scenery, around)
            };
            let id = id_at(scenery, at);
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

    /// Adds a thing that lies in furniture, or stands alone where no furniture is given.
    pub(super) fn add_thing(&mut self, kind: &'static str, place: Option<usize>, dice: &mut LabelledRng) {
        let (spot, around) = if let Some(place) = place.and_then(|place| self.furniture.get(place)) {
            let (x, y, z) = place.position;
            (place.spot, (x + dice.between(-25, 25), y + dice.between(0, 9), z + dice.between(-25, 25)))
        } else {
            let spot = if dice.chance(900) {
                self.new_spot(dice)
            } else {
                dice.below(self.spots.len() as u32) as usize
            };
            (spot, self.point_near(spot, 100, dice))
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

    fn new_spot(&mut self, dice: &mut LabelledRng) -> usize {
        let (x, z) = self
            .free_cells
            .pop()
            .unwrap_or_else(|| (i32::try_from(self.spots.len()).unwrap_or(0) + HALF_WIDTH, 0));
        let tilt = dice.pick(&TILTS).copied().unwrap_or(0);
        let heading = dice.below(4);
        let id = format!("loc_bar_{}_bar_{}_bar_{heading}_bar_{tilt}", signed_text(x), signed_text(z));
        self.spots.push(Spot { id, x, z });
        self.spots.len() - 1
    }

    /// A point near a spot, at about this height.
    fn point_near(&self, spot: usize, height: i32, dice: &mut LabelledRng) -> Point {
        let (x, z) = self.spots.get(spot).map_or((0, 0), |spot| (spot.x, spot.z));
        (x * 25 + dice.between(-40, 40), height + dice.between(-15, 15), z * 25 + dice.between(-40, 40))
    }

    /// The given point, or the next one where nothing of this kind is yet.
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

/// The id of something at a point, written as ALFWorld writes the ids of its simulator.
fn id_at(kind: &str, at: Point) -> String {
    let metres = |n: i32| {
        let sign = if n < 0 { "minus" } else { "plus" };
        format!("_bar__{sign}_{:02}_dot_{:02}", n.abs() / 100, n.abs() % 100)
    };
    format!("{kind}{}{}{}", metres(at.0), metres(at.1), metres(at.2))
}
