//! The nouns of the field, one name for one idea. Nothing here reads a file, a clock or a socket.

mod hand;
mod id;
mod lesson;
mod note;
mod prompt;
mod reflection;
mod run;
mod step;
mod task;
mod turn;

pub use hand::HandChange;
pub use id::{BranchId, CallId, LessonId, Seq, hex};
pub use lesson::{Lesson, LessonOp, LessonOrigin, LessonStatus, LessonText, LessonVersion, Scope};
pub use note::{Note, NoteKind};
pub use prompt::{Asked, Dropped, Label, Origin, Prompt, PromptRecord, Segment, SegmentRecord, Speaker};
pub use reflection::{Author, Item, Kind, Moment, Purpose, Question, Reflection};
pub use run::{
    Autonomy, CALIBRATION, EXPLORATION, EndReason, EpisodeSummary, Hindsight, Limits, RunSpec, Setting,
    SettingOrigin, Settings, Usage,
};
pub use step::{By, Executed, Fate, Seen, ShownAs, Stage, Step};
pub use task::{EpisodeRole, Task};
pub use turn::{Enumeration, EnvInfo, Turn, merge_patch};
