//! Levels with locked doors.

use super::{MIDDLE, RIGHT, Recipe, like, of_kind, only};
use crate::env::babyai::levels::site::{At, Restart, Site};
use crate::env::babyai::mission::{Deed, Mission};
use crate::env::babyai::thing::{Cell, Colour, Kind, Thing, ThingId};

/// A locked room, its key anywhere (the original means to choose another room and does not), things in every room, and the
/// agent outside of the locked one. Which room is locked, and its door.
pub(super) fn behind_lock(
    site: &mut Site,
    others: usize,
    may_be_only: bool,
) -> Result<(At, ThingId), Restart> {
    let locked = site.any_room();
    let door = site.door(locked, None, None, Some(true))?;
    let colour = site.thing(door).colour;
    let at = site.any_room();
    site.add(at, Some(Kind::Key), Some(colour))?;
    let mut colours = Colour::BY_NAME.to_vec();
    if may_be_only && site.dice.coin() {
        colours.retain(|other| *other != colour);
    }
    site.connect(&colours)?;
    for room in site.by_columns() {
        site.distract(Some(room), others, false)?;
    }
    loop {
        site.place_agent(None)?;
        if site.agents_room() != locked {
            break;
        }
    }
    site.need_reachable()?;
    Ok((locked, door))
}

/// Missions to open a locked door or to fetch something from behind it.
pub(super) fn unlock(recipe: Recipe, site: &mut Site) -> Result<Mission, Restart> {
    match recipe {
        Recipe::Unlock => {
            let (_, door) = behind_lock(site, 3, true)?;
            Ok(only(Deed::Open(like(site.thing(door)))))
        }
        Recipe::UnlockLocal => {
            let door = site.door(MIDDLE, None, None, Some(true))?;
            let colour = site.thing(door).colour;
            site.add(MIDDLE, Some(Kind::Key), Some(colour))?;
            site.distract(Some(MIDDLE), 3, true)?;
            site.place_agent(Some(MIDDLE))?;
            Ok(only(Deed::Open(of_kind(Kind::Door))))
        }
        Recipe::KeyInBox => {
            let door = site.door(MIDDLE, None, None, Some(true))?;
            let key = site.create(Thing::new(Kind::Key, site.thing(door).colour));
            let colour = site.colour();
            let case = site.create(Thing { inside: Some(key), ..Thing::new(Kind::Box, colour) });
            site.place(MIDDLE, case)?;
            site.place_agent(Some(MIDDLE))?;
            Ok(only(Deed::Open(of_kind(Kind::Door))))
        }
        Recipe::UnlockPickUp | Recipe::BlockedUnlockPickUp => {
            let goal = site.add((1, 0), Some(Kind::Box), None)?;
            let door = site.door((0, 0), Some(RIGHT), None, Some(true))?;
            let blocked = matches!(recipe, Recipe::BlockedUnlockPickUp);
            if blocked {
                let colour = site.colour();
                let ball = site.create(Thing::new(Kind::Ball, colour));
                let place = site.where_is(door).ok_or(Restart)?;
                site.set((place.0 - 1, place.1), Cell::Of(ball));
            }
            let colour = site.thing(door).colour;
            site.add((0, 0), Some(Kind::Key), Some(colour))?;
            if !blocked {
                site.distract(None, 4, true)?;
            }
            site.place_agent(Some((0, 0)))?;
            let goal = site.thing(goal);
            Ok(only(Deed::PickUp(if blocked { of_kind(goal.kind) } else { like(goal) })))
        }
        Recipe::UnlockToUnlock => {
            let colours = site.dice.some(&Colour::BY_NAME, 2);
            site.door((0, 0), Some(RIGHT), Some(colours[0]), Some(true))?;
            site.add((2, 0), Some(Kind::Key), Some(colours[0]))?;
            site.door((1, 0), Some(RIGHT), Some(colours[1]), Some(true))?;
            site.add((1, 0), Some(Kind::Key), Some(colours[1]))?;
            let goal = site.add((0, 0), Some(Kind::Ball), None)?;
            site.place_agent(Some((1, 0)))?;
            Ok(only(Deed::PickUp(of_kind(site.thing(goal).kind))))
        }
        _ => Err(Restart),
    }
}
