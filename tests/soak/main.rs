//! Hostile input in great numbers: mutated files and journals, texts, replies, keys, bytes of a server. Whatever comes, the program reads it or
//! says what is wrong with it, soon and in little memory.
//!
//! `cargo test` runs a hundredth; `RETROSPECT_SOAK=full` everything (`cases.rs`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a failing test may panic, and these print their counts"
)]

mod alfworld;
mod babyai;
mod cases;
#[path = "../serving/client.rs"]
mod client;
mod hostile;
mod journal;
mod model_server;
mod pddl;
mod replies;
mod rig;
#[cfg(feature = "tui")]
mod screen;
#[path = "../serving/server.rs"]
mod server;
mod text;
mod wreck;
