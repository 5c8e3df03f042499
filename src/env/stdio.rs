//! Environments that are any program: it reads requests and writes replies, one JSON object a line
//! (`docs/ENVIRONMENTS.md` describes the protocol).

mod connection;
mod environment;
mod hello;
mod message;
mod step_reply;
mod tasks;

pub use tasks::StdioTasks;
