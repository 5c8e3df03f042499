//! Measures whether a lesson helps: plays paired episodes, the arms of which differ only in their lessons.
//!
//! Episodes are played here, in memory, by the same engine, method, prompts and environments as a run, but without a
//! journal, a store or a screen. What a pair says about the lesson is computed in `timeline::effect`, from the log that is
//! written here.

mod design;
mod estimate;
mod frozen;
mod kept;
mod log_file;
mod merge;
mod moment;
mod outage;
mod player;
mod results;
mod runner;
mod session_design;
mod starting_point;
mod turns;

pub use crate::timeline::effect::Keep;
pub use design::{
    ALL, Arm, EDITED, Measurement, MeasurementDesign, NONE, PLACEBO, WITH, WITHOUT, arms_adding_one_in,
    arms_for_lesson, arms_leaving_one_out, similar_lessons,
};
pub use estimate::{Detectable, Estimate};
pub use log_file::{LOG_NAME, LogFile, LogFileError, read_log};
pub use merge::{MergeError, is_earlier_part, merge_logs, missing_shards};
pub use moment::{MomentError, moment_before_step};
pub use outage::ServerOutage;
pub use player::Wanted;
pub use results::{day_of, measurements_folder, modified, newest_logs, read_results};
pub use runner::{MeasureError, MeasureOptions, MeasureUpdate, OnUpdate, measure};
pub use session_design::{
    DesignError, EpisodePlace, FEW_PAIRS, MANY_PAIRS, MeasureChoices, MeasuredSession, PlaceboKind,
    SeveralLessons, measure_each, measure_over_tasks,
};
pub use starting_point::{FreshStart, Moment, PoolChange, StartingPoint};
pub use turns::{OnUpdateInTurn, OpenMeasurement, measure_in_turn};
