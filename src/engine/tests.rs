//! Cases and properties on the engine: no IO, no waiting.

mod cases;
mod ends;
mod fixture;
mod hand;
mod mentor;
mod properties;
mod time;
