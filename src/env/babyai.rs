//! BabyAI, natively: minigrid's grid worlds with AgentBoard's text interface, equal to the original to the byte.
//!
//! A [`Level`] and a seed, or a level file, give a [`Start`]; a [`World`] plays it. What the originals do, quirks included, is
//! kept on purpose; `docs/BABYAI.md` lists it.
//!
//! Does not do: files and folders (the caller brings bytes), the pixels of the original, its "done" action.

#![expect(clippy::cast_possible_wrap, reason = "a grid has at most 128 columns and rows")]

mod credit;
mod dice;
mod environment;
mod file;
mod levels;
mod matching;
mod mission;
mod offers;
mod paths;
mod place;
mod primitive_actions;
mod shown;
mod sight;
mod start;
mod thing;
mod verify;
mod view;
mod world;

#[cfg(test)]
mod tests;

pub use dice::Dice;
pub use levels::Level;
pub use mission::{Clause, Deed, Description, Mission, Order, Part, Side};
pub use primitive_actions::Low;
pub use start::{Rooms, Start};
pub use thing::{Cell, Code, Colour, Kind, Leaf, Pose, Thing, ThingId};
pub use view::{Image, SIDE};
pub use world::{Reply, World};
