//! Step through an agent's episode, watch it reflect, teach it, and see whether the lesson helped.
//!
//! `docs/ARCHITECTURE.md` says what each module is for and which others it may use.

// Access to the outside (files, clocks, environment variables, processes: clippy.toml) is denied to every module,
// except those below that state a reason.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod actions;
pub mod bayes;
pub mod breakpoint;
pub mod catalog;
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the command line opens the files its arguments name"
)]
pub mod cli;
pub mod domain;
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the driver owns clock, threads and files"
)]
pub mod driver;
pub mod engine;
pub mod env;
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "opens, reads and writes files for the others"
)]
pub mod files;
pub mod grid;
#[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "sessions are files")]
pub mod journal;
pub mod lesson_test;
pub mod method;
pub mod pddl;
pub mod prompt;
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "reads the folder of a local model, which is too large to be given as bytes"
)]
pub mod prompter;
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "reads recordings and cached replies, and connects to model servers"
)]
pub mod provider;
pub mod report;
pub mod rooms;
#[allow(
    clippy::disallowed_methods,
    reason = "after a signal, waits a limited time for a clean exit, then ends the process"
)]
pub mod signals;
pub mod stand_in;
pub mod symbolic;
pub mod text;
pub mod timeline;
#[cfg(feature = "tui")]
#[allow(
    clippy::disallowed_methods,
    reason = "the screen reads the clock and writes to the terminal; `tests/tidy` checks that it opens no files"
)]
pub mod ui;
