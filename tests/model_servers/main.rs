//! Whole runs of the real program with a model server on this machine: one that fails, replies oddly, asks for a key, or is reached by
//! https.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test may panic")]

mod choices;
#[cfg(feature = "tls")]
#[path = "../serving/client.rs"]
mod client;
mod failing;
#[path = "../rig/files.rs"]
mod files;
#[cfg(feature = "tls")]
#[path = "../serving/front.rs"]
mod front;
#[cfg(feature = "tls")]
mod https;
mod jobs;
mod odd_models;
mod presets;
mod secret_headers;
#[path = "../serving/server.rs"]
mod server;
