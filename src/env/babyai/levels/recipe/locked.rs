//! Levels with locked doors.

use super::{MIDDLE, RIGHT, Recipe, describe_kind, describe_thing, single_clause};
use crate::env::babyai::levels::builder::{LevelBuilder, Restart, RoomIndex};
use crate::env::babyai::mission::{ClauseAction, Mission};
use crate::env::babyai::thing::{Cell, Colour, Kind, Thing, ThingId};

/// A locked room, its key anywhere (the original means to choose another room and does not), things in every room, and the
/// agent outside of the locked one. Which room is locked, and its door.
pub(super) fn add_locked_room(
    site: &mut LevelBuilder,
    others: usize,
    may_be_only: bool,
) -> Result<(RoomIndex, ThingId), Restart> {
    let locked = site.random_room();
    let door = site.add_door(locked, None, None, Some(true))?;
    let colour = site.thing(door).colour;
    let at = site.random_room();
    site.place_new_thing(at, Some(Kind::Key), Some(colour))?;
    let mut colours = Colour::BY_NAME.to_vec();
    if may_be_only && site.rng.coin() {
        colours.retain(|other| *other != colour);
    }
    site.connect_rooms(&colours)?;
    for room in site.rooms_by_column() {
        site.place_distractors(Some(room), others, false)?;
    }
    loop {
        site.place_agent(None)?;
        if site.agents_room() != locked {
            break;
        }
    }
    site.require_reachable()?;
    Ok((locked, door))
}

/// Missions to open a locked door or to fetch something from behind it.
pub(super) fn build_unlock(recipe: Recipe, site: &mut LevelBuilder) -> Result<Mission, Restart> {
    match recipe {
        Recipe::Unlock => {
            let (_, door) = add_locked_room(site, 3, true)?;
            Ok(single_clause(ClauseAction::Open(describe_thing(site.thing(door)))))
        }
        Recipe::UnlockLocal => {
            let door = site.add_door(MIDDLE, None, None, Some(true))?;
            let colour = site.thing(door).colour;
            site.place_new_thing(MIDDLE, Some(Kind::Key), Some(colour))?;
            site.place_distractors(Some(MIDDLE), 3, true)?;
            site.place_agent(Some(MIDDLE))?;
            Ok(single_clause(ClauseAction::Open(describe_kind(Kind::Door))))
        }
        Recipe::KeyInBox => {
            let door = site.add_door(MIDDLE, None, None, Some(true))?;
            let key = site.add_thing(Thing::new(Kind::Key, site.thing(door).colour));
            let colour = site.random_colour();
            let case = site.add_thing(Thing { contents: Some(key), ..Thing::new(Kind::Box, colour) });
            site.place_thing(MIDDLE, case)?;
            site.place_agent(Some(MIDDLE))?;
            Ok(single_clause(ClauseAction::Open(describe_kind(Kind::Door))))
        }
        Recipe::UnlockPickUp | Recipe::BlockedUnlockPickUp => {
            let goal = site.place_new_thing((1, 0), Some(Kind::Box), None)?;
            let door = site.add_door((0, 0), Some(RIGHT), None, Some(true))?;
            let blocked = matches!(recipe, Recipe::BlockedUnlockPickUp);
            if blocked {
                let colour = site.random_colour();
                let ball = site.add_thing(Thing::new(Kind::Ball, colour));
                let place = site.position_of(door).ok_or(Restart)?;
                site.set_cell((place.0 - 1, place.1), Cell::Thing(ball));
            }
            let colour = site.thing(door).colour;
            site.place_new_thing((0, 0), Some(Kind::Key), Some(colour))?;
            if !blocked {
                site.place_distractors(None, 4, true)?;
            }
            site.place_agent(Some((0, 0)))?;
            let goal = site.thing(goal);
            Ok(single_clause(ClauseAction::PickUp(if blocked {
                describe_kind(goal.kind)
            } else {
                describe_thing(goal)
            })))
        }
        Recipe::UnlockToUnlock => {
            let colours = site.rng.sample(&Colour::BY_NAME, 2);
            site.add_door((0, 0), Some(RIGHT), Some(colours[0]), Some(true))?;
            site.place_new_thing((2, 0), Some(Kind::Key), Some(colours[0]))?;
            site.add_door((1, 0), Some(RIGHT), Some(colours[1]), Some(true))?;
            site.place_new_thing((1, 0), Some(Kind::Key), Some(colours[1]))?;
            let goal = site.place_new_thing((0, 0), Some(Kind::Ball), None)?;
            site.place_agent(Some((1, 0)))?;
            Ok(single_clause(ClauseAction::PickUp(describe_kind(site.thing(goal).kind))))
        }
        _ => Err(Restart),
    }
}
