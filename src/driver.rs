//! Owns engine, journal, runner and world; one inbox; the only place that orders things.

mod store;

pub use store::{Handle, Health, Live, LiveCall, Message, Signal, Store};
