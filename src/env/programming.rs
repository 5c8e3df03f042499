//! Programming as Reflexion's code plays it: write tests, then a program, which hidden tests judge (docs/PROGRAMMING.md). The
//! data sets are the user's; a small one of our own is part of the program.
//!
//! What the agent has written runs in a sandbox of its own process for each test.

mod action;
mod environment;
mod exercise;
mod judge;
mod picture;
mod retry_on;
mod sandbox;
mod tasks;

pub use picture::draw_picture;
pub use retry_on::RETRY_ON;
pub use tasks::{
    EXERCISES_OPTION, JUDGE_OPTION, MAX_TESTS_OPTION, PYTHON_OPTION, ProgrammingTasks, SANDBOX_OPTION,
};

/// The name of the environment.
pub const NAME: &str = "programming";
