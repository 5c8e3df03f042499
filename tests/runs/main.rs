//! Whole runs, most of them through driver and journal without the program around them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failing test may panic"
)]

mod breakpoints;
#[path = "../serving/client.rs"]
mod client;
mod episodes;
mod lesson_tests;
mod methods;
#[cfg(feature = "tui")]
#[path = "../rig/pictures.rs"]
mod pictures;
mod prefetch;
#[path = "../rig/rewind.rs"]
mod rewind;
mod rewinds;
#[path = "../rig/run.rs"]
mod run;
mod samples;
#[path = "../serving/server.rs"]
mod server;
mod shipped;
#[path = "../rig/stops.rs"]
mod stops;
mod story;
#[path = "../rig/tables.rs"]
mod tables;
