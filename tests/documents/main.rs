//! Documents that say what the code does: their examples are read as documented, and the generated page is current.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]

mod glossary;
mod journal;
mod replies;
