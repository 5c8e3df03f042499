//! Levels with locked doors.

use super::{MIDDLE, RIGHT, Recipe, describe_kind, describe_thing, single_clause};
use crate::env::babyai::levels::builder::{LevelBuilder, Restart, RoomIndex};
use crate::env::babyai::mission::{ClauseAction, Mission};
use crate::env::babyai::thing::{Cell, Colour, Kind, Thing, ThingId};

/// Adds a locked room, its key in any room (the original intends to exclude the locked one but doesn't), objects in
/// every room, and the agent outside the locked room. Returns the locked room and its door.
pub(super) fn add_locked_room(
    builder: &mut LevelBuilder,
    others: usize,
    may_be_only: bool,
) -> Result<(RoomIndex, ThingId), Restart> {
    let locked = builder.random_room();
    let door = builder.add_door(locked, None, None, Some(true))?;
    let colour = builder.thing(door).colour;
    let at = builder.random_room();
    builder.place_new_thing(at, Some(Kind::Key), Some(colour))?;
    let mut colours = Colour::BY_NAME.to_vec();
    if may_be_only && builder.rng.coin() {
        colours.retain(|other| *other != colour);
    }
    builder.connect_rooms(&colours)?;
    for room in builder.rooms_by_column() {
        builder.place_distractors(Some(room), others, false)?;
    }
    loop {
        builder.place_agent(None)?;
        if builder.agents_room() != locked {
            break;
        }
    }
    builder.require_reachable()?;
    Ok((locked, door))
}

/// Builds missions to open a locked door or to fetch something from behind it.
pub(super) fn build_unlock(recipe: Recipe, builder: &mut LevelBuilder) -> Result<Mission, Restart> {
    match recipe {
        Recipe::Unlock => {
            let (_, door) = add_locked_room(builder, 3, true)?;
            Ok(single_clause(ClauseAction::Open(describe_thing(builder.thing(door)))))
        }
        Recipe::UnlockLocal => {
            let door = builder.add_door(MIDDLE, None, None, Some(true))?;
            let colour = builder.thing(door).colour;
            builder.place_new_thing(MIDDLE, Some(Kind::Key), Some(colour))?;
            builder.place_distractors(Some(MIDDLE), 3, true)?;
            builder.place_agent(Some(MIDDLE))?;
            Ok(single_clause(ClauseAction::Open(describe_kind(Kind::Door))))
        }
        Recipe::KeyInBox => {
            let door = builder.add_door(MIDDLE, None, None, Some(true))?;
            let key = builder.add_thing(Thing::new(Kind::Key, builder.thing(door).colour));
            let colour = builder.random_colour();
            let case = builder.add_thing(Thing { contents: Some(key), ..Thing::new(Kind::Box, colour) });
            builder.place_thing(MIDDLE, case)?;
            builder.place_agent(Some(MIDDLE))?;
            Ok(single_clause(ClauseAction::Open(describe_kind(Kind::Door))))
        }
        Recipe::UnlockPickUp | Recipe::BlockedUnlockPickUp => {
            let goal = builder.place_new_thing((1, 0), Some(Kind::Box), None)?;
            let door = builder.add_door((0, 0), Some(RIGHT), None, Some(true))?;
            let blocked = matches!(recipe, Recipe::BlockedUnlockPickUp);
            if blocked {
                let colour = builder.random_colour();
                let ball = builder.add_thing(Thing::new(Kind::Ball, colour));
                let place = builder.position_of(door).ok_or(Restart)?;
                builder.set_cell((place.0 - 1, place.1), Cell::Thing(ball));
            }
            let colour = builder.thing(door).colour;
            builder.place_new_thing((0, 0), Some(Kind::Key), Some(colour))?;
            if !blocked {
                builder.place_distractors(None, 4, true)?;
            }
            builder.place_agent(Some((0, 0)))?;
            let goal = builder.thing(goal);
            Ok(single_clause(ClauseAction::PickUp(if blocked {
                describe_kind(goal.kind)
            } else {
                describe_thing(goal)
            })))
        }
        Recipe::UnlockToUnlock => {
            let colours = builder.rng.sample(&Colour::BY_NAME, 2);
            builder.add_door((0, 0), Some(RIGHT), Some(colours[0]), Some(true))?;
            builder.place_new_thing((2, 0), Some(Kind::Key), Some(colours[0]))?;
            builder.add_door((1, 0), Some(RIGHT), Some(colours[1]), Some(true))?;
            builder.place_new_thing((1, 0), Some(Kind::Key), Some(colours[1]))?;
            let goal = builder.place_new_thing((0, 0), Some(Kind::Ball), None)?;
            builder.place_agent(Some((1, 0)))?;
            Ok(single_clause(ClauseAction::PickUp(describe_kind(builder.thing(goal).kind))))
        }
        _ => Err(Restart),
    }
}
