//! The nouns of the field, one name for one idea. Nothing here reads a file, a clock or a socket.

mod failure;
mod id;
mod lesson;
mod manual_edit;
mod note;
mod partial_reply;
mod prompt;
mod reflection;
mod run;
mod sampling;
mod step;
mod step_result;
mod stop;
mod task;
mod truncation;
mod usage;

pub use failure::FailureKind;
pub use id::{BranchId, CallId, LessonId, Seq, hex};
pub use lesson::{
    ChangeLine, Lesson, LessonOp, LessonOrigin, LessonStatus, LessonText, LessonVersion, PoolChange, Scope,
};
pub use manual_edit::ManualEdit;
pub use note::{Note, NoteKind};
pub use partial_reply::PartialReply;
pub use prompt::{Dropped, Label, ModelRole, Origin, Prompt, PromptRecord, Segment, SegmentRecord, Speaker};
pub use reflection::{Author, Item, Kind, Moment, Purpose, Question, Reflection};
pub use run::{
    Autonomy, CALIBRATION, EXPLORATION, EndReason, EpisodeSummary, Hindsight, Limits, RunSpec, Setting,
    SettingOrigin, Settings,
};
pub use sampling::{SAMPLING_PARAMS, SamplingParam, sampling_param, setting_words, warmed};
pub use step::{By, Executed, Seen, ShownAs, Stage, Step, ThoughtDisposition};
pub use step_result::{Enumeration, EnvInfo, StepResult, merge_patch};
pub use stop::{Stop, StopMark};
pub use task::{EpisodeRole, Task};
pub use truncation::Truncation;
pub use usage::{Counted, Earlier, Usage, price};
