//! ScienceWorld (Wang et al. 2022, "ScienceWorld: Is your Agent Smarter than a 5th Grader?"), by its own simulator: a Java
//! program, which `docs/SCIENCEWORLD.md` says how to get. Nothing of it is part of this program.

mod environment;
mod goals;
mod installation;
mod label_goals;
mod labels;
mod picture;
mod py4j;
mod shown_rooms;
mod simplifications;
mod simulator;
mod task_types;
mod tasks;

pub use installation::{JAR_OPTION, JAVA_OPTION, PY4J_OPTION, PYTHON_OPTION};
pub use picture::draw_picture;
pub use tasks::{ENUMERATE_OPTION, SIMPLIFICATIONS_OPTION, ScienceWorldTasks, published_keys, short_goal};

/// The name of the environment.
pub const NAME: &str = "scienceworld";
