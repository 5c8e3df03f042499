//! How each level is made: which things are drawn and laid in which order, and what the mission is.

mod locked;

use self::locked::{behind_lock, unlock};
use super::grammar::{Grammar, Past};
use super::site::{At, Restart, Site};
use crate::env::babyai::mission::{Clause, Deed, Description, Mission, Order, Part, Side};
use crate::env::babyai::thing::{Colour, Kind, Thing, ThingId};

/// The makings of a level; numbers are things laid around.
#[derive(Clone, Copy, Debug)]
pub(super) enum Recipe {
    GoToRedBall { others: usize, grey: bool },
    GoToObject,
    GoToLocal { others: usize },
    GoToInMaze { others: usize },
    GoToBehindLock,
    GoToRedOrBlueBall,
    GoToDoor,
    GoToThingOrDoor,
    Open,
    OpenRedDoor,
    OpenDoorOnSide,
    OpenTwoDoors,
    OpenInOrder { doors: usize },
    PickUp { others: usize, blocked: bool },
    PickUpOneOfFive,
    PickUpAbove,
    PutNextLocal { things: usize },
    PutNextCarrying { things: usize },
    Unlock,
    UnlockLocal,
    KeyInBox,
    UnlockPickUp,
    BlockedUnlockPickUp,
    UnlockToUnlock,
    AnyDeed,
    FindObject,
    KeyCorridor,
    OneRoom,
    MoveTwoAcross { things: usize },
    Random(Grammar),
}

/// The room in the middle of nine.
const MIDDLE: At = (1, 1);
/// Sides of a room.
const RIGHT: usize = 0;
const LEFT: usize = 2;
const UP: usize = 3;

/// Keys that open doors must not be spoken of.
pub(super) fn unblocks(recipe: Recipe) -> bool {
    matches!(recipe, Recipe::Random(grammar) if grammar.unblocking)
}

/// Builds one attempt. `past` is what a random mission remembers of attempts before.
pub(super) fn build(recipe: Recipe, site: &mut Site, past: &mut Past) -> Result<Mission, Restart> {
    use Recipe as R;
    match recipe {
        R::GoToRedBall { .. }
        | R::GoToObject
        | R::GoToLocal { .. }
        | R::GoToInMaze { .. }
        | R::GoToBehindLock
        | R::GoToRedOrBlueBall
        | R::GoToDoor
        | R::GoToThingOrDoor => go_to(recipe, site),
        R::Open | R::OpenRedDoor | R::OpenDoorOnSide | R::OpenTwoDoors | R::OpenInOrder { .. } => {
            open(recipe, site)
        }
        R::PickUp { .. }
        | R::PickUpOneOfFive
        | R::PickUpAbove
        | R::FindObject
        | R::KeyCorridor
        | R::OneRoom
        | R::AnyDeed => pick_up(recipe, site),
        R::PutNextLocal { .. } | R::PutNextCarrying { .. } | R::MoveTwoAcross { .. } => {
            put_next(recipe, site)
        }
        R::Unlock
        | R::UnlockLocal
        | R::KeyInBox
        | R::UnlockPickUp
        | R::BlockedUnlockPickUp
        | R::UnlockToUnlock => unlock(recipe, site),
        R::Random(grammar) => grammar.build(site, past),
    }
}

fn clause(deed: Deed) -> Clause {
    Clause { deed, strict: false }
}

fn only(deed: Deed) -> Mission {
    Mission::Part(Part::One(clause(deed)))
}

/// The description that names kind and colour.
fn like(thing: Thing) -> Description {
    Description::new(Some(thing.kind), Some(thing.colour), None)
}

fn of_kind(kind: Kind) -> Description {
    Description::new(Some(kind), None, None)
}

fn go_to(recipe: Recipe, site: &mut Site) -> Result<Mission, Restart> {
    let goal = match recipe {
        Recipe::GoToRedBall { others, grey } => {
            site.place_agent(None)?;
            let ball = site.add((0, 0), Some(Kind::Ball), Some(Colour::Red))?;
            for other in site.distract(None, others, false)? {
                if grey {
                    site.things[usize::from(other.0)].colour = Colour::Grey;
                }
            }
            site.need_reachable()?;
            ball
        }
        Recipe::GoToObject => {
            site.place_agent(None)?;
            site.distract(None, 1, true)?[0]
        }
        Recipe::GoToRedOrBlueBall => {
            site.place_agent(None)?;
            let rival = |t: Thing| t.kind == Kind::Ball && matches!(t.colour, Colour::Red | Colour::Blue);
            if site.distract(None, 7, false)?.into_iter().any(|other| rival(site.thing(other))) {
                return Err(Restart);
            }
            let colour = site.dice.one(&[Colour::Red, Colour::Blue]);
            let ball = site.add((0, 0), Some(Kind::Ball), Some(colour))?;
            site.need_reachable()?;
            ball
        }
        Recipe::GoToDoor => {
            let doors = four_doors(site, None)?;
            site.place_agent(Some(MIDDLE))?;
            site.dice.one(&doors)
        }
        Recipe::GoToThingOrDoor => {
            site.place_agent(Some(MIDDLE))?;
            let mut goals = site.distract(Some(MIDDLE), 8, false)?;
            goals.extend(four_doors(site, None)?);
            site.need_reachable()?;
            site.dice.one(&goals)
        }
        Recipe::GoToBehindLock => {
            let (locked, _) = behind_lock(site, 2, false)?;
            site.distract(Some(locked), 1, false)?[0]
        }
        Recipe::GoToLocal { others } | Recipe::GoToInMaze { others } => {
            site.place_agent(None)?;
            if matches!(recipe, Recipe::GoToInMaze { .. }) {
                site.connect(&Colour::BY_NAME)?;
            }
            let goals = site.distract(None, others, false)?;
            site.need_reachable()?;
            site.dice.one(&goals)
        }
        _ => return Err(Restart),
    };
    Ok(only(Deed::GoTo(like(site.thing(goal)))))
}

fn four_doors(site: &mut Site, locked: Option<bool>) -> Result<Vec<ThingId>, Restart> {
    (0..4).map(|_| site.door(MIDDLE, None, None, locked)).collect()
}

fn open(recipe: Recipe, site: &mut Site) -> Result<Mission, Restart> {
    let goal = match recipe {
        Recipe::Open => {
            site.place_agent(None)?;
            site.connect(&Colour::BY_NAME)?;
            site.distract(None, 18, false)?;
            site.need_reachable()?;
            let rooms = site.by_columns();
            let doors: Vec<ThingId> =
                rooms.into_iter().flat_map(|room| site.doors(room).collect::<Vec<_>>()).collect();
            let door = site.dice.one(&doors);
            like(site.thing(door))
        }
        Recipe::OpenRedDoor => {
            site.door((0, 0), Some(RIGHT), Some(Colour::Red), Some(false))?;
            site.place_agent(Some((0, 0)))?;
            Description::new(Some(Kind::Door), Some(Colour::Red), None)
        }
        Recipe::OpenDoorOnSide => {
            let colours = site.dice.some(&Colour::BY_NAME, 4);
            for (side, colour) in colours.into_iter().enumerate() {
                site.door(MIDDLE, Some(side), Some(colour), Some(false))?;
            }
            let side = site.dice.one(&Side::ALL);
            site.place_agent(Some(MIDDLE))?;
            Description::new(Some(Kind::Door), None, Some(side))
        }
        Recipe::OpenTwoDoors => {
            // Two colours are drawn and not used.
            site.dice.some(&Colour::BY_NAME, 2);
            let mut add =
                |side: usize, colour: Colour| site.door(MIDDLE, Some(side), Some(colour), Some(false));
            let (first, second) = (add(LEFT, Colour::Red)?, add(RIGHT, Colour::Blue)?);
            site.place_agent(Some(MIDDLE))?;
            let [a, b] = [(first, true), (second, false)]
                .map(|(door, strict)| Part::One(Clause { deed: Deed::Open(like(site.thing(door))), strict }));
            return Ok(Mission::Sequence { order: Order::Before, strict: false, a, b });
        }
        Recipe::OpenInOrder { doors } => {
            let colours = site.dice.some(&Colour::BY_NAME, doors);
            let mut all = Vec::new();
            for colour in colours {
                all.push(site.door(MIDDLE, None, Some(colour), Some(false))?);
            }
            site.place_agent(Some(MIDDLE))?;
            let chosen = site.dice.some(&all, 2);
            let mode = site.dice.integer(0, 3);
            let mut parts = chosen
                .into_iter()
                .map(|door| Part::One(Clause { deed: Deed::Open(like(site.thing(door))), strict: true }));
            let (a, b) = (parts.next().ok_or(Restart)?, parts.next().ok_or(Restart)?);
            let order = if mode == 1 { Order::Before } else { Order::After };
            return Ok(if mode == 0 {
                Mission::Part(a)
            } else {
                Mission::Sequence { order, strict: false, a, b }
            });
        }
        _ => return Err(Restart),
    };
    Ok(only(Deed::Open(goal)))
}

fn pick_up(recipe: Recipe, site: &mut Site) -> Result<Mission, Restart> {
    let goal = match recipe {
        Recipe::PickUp { others, blocked } => {
            site.place_agent(None)?;
            site.connect(&Colour::BY_NAME)?;
            let goals = site.distract(None, others, false)?;
            if site.all_reachable() == blocked {
                return Err(Restart);
            }
            let goal = site.dice.one(&goals);
            like(site.thing(goal))
        }
        Recipe::PickUpOneOfFive => {
            let goals = site.distract(None, 5, true)?;
            site.place_agent(Some((0, 0)))?;
            let goal = site.dice.one(&goals);
            let mut goal = like(site.thing(goal));
            match site.dice.index(3) {
                0 => goal.colour = None,
                1 => goal.kind = None,
                _ => {}
            }
            return Ok(Mission::Part(Part::One(Clause { deed: Deed::PickUp(goal), strict: true })));
        }
        Recipe::PickUpAbove => {
            let goal = site.add((1, 0), None, None)?;
            site.door(MIDDLE, Some(UP), None, Some(false))?;
            site.place_agent(Some(MIDDLE))?;
            site.connect(&Colour::BY_NAME)?;
            like(site.thing(goal))
        }
        Recipe::FindObject => {
            let at = site.any_room();
            let goal = site.add(at, None, None)?;
            site.place_agent(Some(MIDDLE))?;
            site.connect(&Colour::BY_NAME)?;
            of_kind(site.thing(goal).kind)
        }
        Recipe::KeyCorridor => {
            for row in 1..site.rooms.rows as usize {
                site.open_wall((1, row), UP)?;
            }
            let row = site.row();
            let door = site.door((2, row), Some(LEFT), None, Some(true))?;
            let goal = site.add((2, row), Some(Kind::Ball), None)?;
            let (row, colour) = (site.row(), site.thing(door).colour);
            site.add((0, row), Some(Kind::Key), Some(colour))?;
            site.place_agent(Some((1, site.rooms.rows as usize / 2)))?;
            site.connect(&Colour::BY_NAME)?;
            of_kind(site.thing(goal).kind)
        }
        Recipe::OneRoom => {
            let goal = site.add((0, 0), Some(Kind::Ball), None)?;
            site.place_agent(None)?;
            of_kind(site.thing(goal).kind)
        }
        Recipe::AnyDeed => {
            let mut goals = site.distract(Some(MIDDLE), 5, true)?;
            goals.extend(four_doors(site, Some(false))?);
            site.place_agent(Some(MIDDLE))?;
            let goal = site.dice.one(&goals);
            let goal = like(site.thing(goal));
            return Ok(only(match (site.dice.coin(), goal.kind) {
                (true, _) => Deed::GoTo(goal),
                (false, Some(Kind::Door)) => Deed::Open(goal),
                (false, _) => Deed::PickUp(goal),
            }));
        }
        _ => return Err(Restart),
    };
    Ok(only(Deed::PickUp(goal)))
}

fn put_next(recipe: Recipe, site: &mut Site) -> Result<Mission, Restart> {
    let next = |site: &Site, moved: ThingId, fixed: ThingId| {
        Deed::PutNext(like(site.thing(moved)), like(site.thing(fixed)))
    };
    let things = match recipe {
        Recipe::PutNextLocal { things } => {
            site.place_agent(None)?;
            let all = site.distract(None, things, true)?;
            site.need_reachable()?;
            let two = site.dice.some(&all, 2);
            return Ok(only(next(site, two[0], two[1])));
        }
        Recipe::PutNextCarrying { things } | Recipe::MoveTwoAcross { things } => things,
        _ => return Err(Restart),
    };
    site.place_agent(Some((0, 0)))?;
    let left = site.distract(Some((0, 0)), things, true)?;
    let right = site.distract(Some((1, 0)), things, true)?;
    site.open_wall((0, 0), RIGHT)?;
    if matches!(recipe, Recipe::PutNextCarrying { .. }) {
        let (a, b) = (site.dice.one(&left), site.dice.one(&right));
        let (a, b) = if site.dice.coin() { (b, a) } else { (a, b) };
        return Ok(only(next(site, a, b)));
    }
    let (left, right) = (site.dice.some(&left, 2), site.dice.some(&right, 2));
    let a = Part::One(clause(next(site, left[0], right[0])));
    let b = Part::One(clause(next(site, right[1], left[1])));
    Ok(Mission::Sequence { order: Order::Before, strict: false, a, b })
}
