//! Searches and measurements many times over, of which it is known what should come out: how often they are right.
//!
//! `cargo test` runs a few; `RETROSPECT_SOAK=full` as many as the documents state, which takes a good part of an hour.
//! `RETROSPECT_SOAK_SEED` selects other seeds.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a failing test may panic, and these print their counts"
)]

mod bayes;
#[path = "../soak/cases.rs"]
mod cases;
mod dora;
mod driver;
mod effect;
mod household;
mod measurements;
#[path = "../rig/run.rs"]
mod run;
mod scripted;
