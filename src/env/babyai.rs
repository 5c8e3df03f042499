//! BabyAI, natively: minigrid's grid worlds with AgentBoard's text interface, equal to the original to the byte.
//!
//! A [`Level`] and a seed, or a level file, give a [`Start`]; a [`World`] plays it. What the originals do, quirks included, is
//! kept on purpose; `docs/BABYAI.md` lists it.
//!
//! Does not do: files and folders (the caller brings bytes), the pixels of the original, its "done" action.

#![expect(clippy::cast_possible_wrap, reason = "a grid has at most 128 columns and rows")]

mod action_list;
mod environment;
mod file;
mod grid_state;
mod level_start;
mod levels;
mod matching;
mod mission;
mod mission_check;
mod observation;
mod path_planner;
mod pcg64;
mod primitive_actions;
mod progress;
mod shown;
mod thing;
mod view;
mod world;

#[cfg(test)]
mod tests;

pub use level_start::{LevelStart, RoomLayout};
pub use levels::Level;
pub use mission::{Clause, ClauseAction, Description, Mission, MissionPart, SequenceOrder, Side};
pub use pcg64::Pcg64;
pub use primitive_actions::PrimitiveAction;
pub use thing::{Cell, CellCode, Colour, DoorState, Kind, Pose, Thing, ThingId};
pub use view::{Image, VIEW_SIDE};
pub use world::{Reply, World};
