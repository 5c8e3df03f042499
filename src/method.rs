//! The methods. Each decides about episodes, reflections and prompts as a pure function; all memory is in the state.
//!
//! `catalog` finds a method by its name and knows its settings, lanes and defaults.

mod calibration;
mod constitution;
pub mod dora;
pub mod expel;
pub mod fcrf;
mod mentor;
pub mod omnireflect;
pub mod planning;
pub mod rci;
mod react;
pub mod reflexion;
mod schedule;
pub mod settings;
pub mod sweet_sour;

pub use calibration::WithCalibration;
pub use constitution::failed_summary;
pub use dora::Dora;
pub use expel::Expel;
pub use fcrf::{Depth, Difficulty, Fcrf};
pub use mentor::ask_mentor;
pub use omnireflect::OmniReflect;
pub use planning::{Planning, numbered_plan_lines};
pub use rci::Rci;
pub use react::ReAct;
pub use reflexion::Reflexion;
pub use schedule::{next_by_task, next_by_trial, next_in_list};
pub use settings::take_limits;
pub use sweet_sour::SweetSour;

/// A run that a method can't play: what is wrong, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct MethodError {
    pub problem: String,
    pub hint: &'static str,
}
