//! Environments that are other programs: a child process in a process group of its own, one line for a request and one
//! for the reply, and processes that are kept between episodes.
//!
//! Everything blocks: an environment has a thread of its own, and each request its time limit. What fails is reported,
//! never repeated here: the driver drops the environment, opens another one and replays the recorded actions. A thread
//! that the driver has abandoned starts nothing more, and its processes are killed ([`StopHandle`](super::StopHandle)).

mod cached_file;
mod child_output;
mod child_process;
mod idle_children;
mod loopback_connection;
mod loopback_http;
mod private_folder;
mod process_group;
mod program_check;
mod running_child;
mod wheel;

pub use cached_file::write_cached_file;
pub use child_process::ChildProcess;
pub use idle_children::IdleChildren;
pub use loopback_connection::LoopbackConnection;
pub use loopback_http::{HttpAnswer, HttpFailure, LoopbackHttp};
pub use running_child::{ChildCommand, Farewell};
pub use wheel::read_wheel_member;

#[cfg(test)]
mod tests;
