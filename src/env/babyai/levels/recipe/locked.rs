//! Levels with locked doors.

use super::{MIDDLE, RIGHT, Recipe, describe_kind, describe_thing, single_clause};
use crate::env::babyai::levels::builder::{LevelBuilder, Restart, RoomIndex};
use crate::env::babyai::mission::{ClauseAction, Mission};
use crate::env::babyai::thing::{Cell, Colour, Kind, Thing, ThingId};

/// Adds a locked room, its key in a random room, `distractors_per_room` objects in every room, and the agent outside
/// the locked room. The key may be in the locked room itself: the original intends to prevent this but doesn't. If
/// `may_have_unique_colour`, half of the levels have no other door of the locked door's colour. Returns the locked
/// room and its door.
pub(super) fn add_locked_room(
    builder: &mut LevelBuilder,
    distractors_per_room: usize,
    may_have_unique_colour: bool,
) -> Result<(RoomIndex, ThingId), Restart> {
    let locked = builder.random_room();
    let door = builder.add_door(locked, None, None, Some(true))?;
    let colour = builder.thing(door).colour;
    let key_room = builder.random_room();
    builder.place_new_thing(key_room, Some(Kind::Key), Some(colour))?;
    let mut colours = Colour::BY_NAME.to_vec();
    if may_have_unique_colour && builder.rng.coin() {
        colours.retain(|other| *other != colour);
    }
    builder.connect_rooms(&colours)?;
    for room in builder.rooms_by_column() {
        builder.place_distractors(Some(room), distractors_per_room, false)?;
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
            let key_box = builder.add_thing(Thing { contents: Some(key), ..Thing::new(Kind::Box, colour) });
            builder.place_thing(MIDDLE, key_box)?;
            builder.place_agent(Some(MIDDLE))?;
            Ok(single_clause(ClauseAction::Open(describe_kind(Kind::Door))))
        }
        Recipe::UnlockPickUp | Recipe::BlockedUnlockPickUp => {
            let goal = builder.place_new_thing((1, 0), Some(Kind::Box), None)?;
            let door = builder.add_door((0, 0), Some(RIGHT), None, Some(true))?;
            let is_blocked = matches!(recipe, Recipe::BlockedUnlockPickUp);
            if is_blocked {
                let colour = builder.random_colour();
                let ball = builder.add_thing(Thing::new(Kind::Ball, colour));
                let position = builder.position_of(door).ok_or(Restart)?;
                builder.set_cell((position.0 - 1, position.1), Cell::Thing(ball));
            }
            let colour = builder.thing(door).colour;
            builder.place_new_thing((0, 0), Some(Kind::Key), Some(colour))?;
            if !is_blocked {
                builder.place_distractors(None, 4, true)?;
            }
            builder.place_agent(Some((0, 0)))?;
            let goal = builder.thing(goal);
            Ok(single_clause(ClauseAction::PickUp(if is_blocked {
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
