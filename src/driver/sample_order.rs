//! A request for samples.

use crate::domain::LessonId;

/// What a person wants to see sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleOrder {
    /// A step of the open or last episode.
    pub step: u32,
    /// The number of samples, from 1 to [`MAX_SAMPLES`](crate::domain::MAX_SAMPLES).
    pub count: u32,
    /// The lesson that is left out of the step's prompt if it is there, else added to it.
    pub lesson: Option<LessonId>,
}
