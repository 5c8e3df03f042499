//! The nouns of the field, one name for one idea. Nothing here reads a file, a clock or a socket.

mod came;
mod failure;
mod hand;
mod id;
mod lesson;
mod note;
mod prompt;
mod reflection;
mod run;
mod sampling;
mod step;
mod stop;
mod task;
mod truncation;
mod turn;
mod usage;

pub use came::Came;
pub use failure::FailureKind;
pub use hand::HandChange;
pub use id::{BranchId, CallId, LessonId, Seq, hex};
pub use lesson::{
    ChangeLine, Lesson, LessonOp, LessonOrigin, LessonStatus, LessonText, LessonVersion, PoolChange, Scope,
};
pub use note::{Note, NoteKind};
pub use prompt::{Asked, Dropped, Label, Origin, Prompt, PromptRecord, Segment, SegmentRecord, Speaker};
pub use reflection::{Author, Item, Kind, Moment, Purpose, Question, Reflection};
pub use run::{
    Autonomy, CALIBRATION, EXPLORATION, EndReason, EpisodeSummary, Hindsight, Limits, RunSpec, Setting,
    SettingOrigin, Settings,
};
pub use sampling::{KNOBS, Knob, knob_of, setting_words, warmed};
pub use step::{By, Executed, Fate, Seen, ShownAs, Stage, Step};
pub use stop::{Stop, StopMark};
pub use task::{EpisodeRole, Task};
pub use truncation::Truncation;
pub use turn::{Enumeration, EnvInfo, Turn, merge_patch};
pub use usage::{Counted, Earlier, Usage, price};
