//! Cases and properties on the engine: no IO, no waiting.

mod cases;
mod fixture;
mod mentor;
mod properties;
mod time;
