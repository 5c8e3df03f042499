//! Step through an agent's episode, watch it reflect, teach it, and see whether the lesson helped.
//!
//! The rooms, from the inside out; an arrow only ever points to the left (`docs/ARCHITECTURE.md`):
//! `domain` <- `engine` <- {`prompt`, `symbolic`, `pddl`, `env` native, `timeline`} <- `method`
//! <- {`journal`, `provider`, `driver`} <- {`ui`, `cli`}.

pub mod cli;
pub mod domain;
pub mod driver;
pub mod engine;
pub mod env;
pub mod journal;
pub mod method;
pub mod pddl;
pub mod prompt;
pub mod provider;
pub mod report;
pub mod symbolic;
pub mod text;
pub mod timeline;
#[cfg(feature = "tui")]
pub mod ui;
