//! BabyAI, implemented natively: minigrid's grid worlds with AgentBoard's text interface, byte-identical to both
//! ("the original" in comments).
//!
//! A [`Level`] and a seed, or a level file, produce a [`LevelStart`]; a [`World`] plays it. The quirks of the original
//! are reproduced on purpose; `docs/BABYAI.md` lists them.
//!
//! Not supported: files and folders (the caller provides bytes), the pixels of the original, its "done" action.

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
mod picture;
mod primitive_actions;
mod progress;
mod shown;
mod tasks;
mod thing;
mod view;
mod world;

#[cfg(test)]
mod tests;

pub use level_start::{LevelStart, RoomLayout};
pub use levels::Level;
pub use mission::{Clause, ClauseAction, Description, Mission, MissionPart, SequenceOrder, Side};
pub use pcg64::Pcg64;
pub use picture::draw_picture;
pub use primitive_actions::PrimitiveAction;
pub use tasks::{BabyAiTasks, published_key, published_keys};
pub use thing::{Cell, CellCode, Colour, DoorState, Kind, Pose, Thing, ThingId};
pub use view::{Image, VIEW_SIDE};
pub use world::{Reply, World};

/// The environment's name in tasks and journals.
pub const NAME: &str = "babyai";
