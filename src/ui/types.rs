//! Plain data that messages, the model and the views share.

use crate::domain::{BranchId, Lesson, Prompt, PromptRecord, RunSpec, Seq};
use crate::report::StepRef;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The focused pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Focus {
    #[default]
    Story,
    /// Observations; without such a pane, Story has the focus.
    Observations,
    World,
    Lanes,
    /// The Timeline pane.
    Timeline,
}

/// The point in time that all panes show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cursor {
    /// The present; follows new events.
    #[default]
    Live,
    /// The state after this event.
    At(Seq),
}

/// How long work takes before it is shown.
pub const WORK_SHOWN_AFTER: Duration = Duration::from_millis(100);

/// What a piece of work beside the event loop does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// Write a report of the session.
    Export,
    /// Write copied text, or a picture of the screen, to a file.
    SaveCopy,
    /// Edit a branch's name, note or archived flag, and list the branches.
    EditBranch,
    /// List the branches.
    Branches,
    /// Search the other episodes.
    Search,
    /// Load parts of the past that a request needs.
    Past,
    /// Load parts of the past that a frame lacks.
    FramePast,
    /// List the sessions.
    Sessions,
    /// List the models of a role's server.
    Models,
    /// List the episodes that can be compared.
    Comparable,
    /// Load two episodes and compare them.
    Comparison,
    /// Compute the differences that precede a row of a comparison.
    PriorDifferences,
    /// List the actions that are admissible now, or were at a past event.
    Admissible,
    /// Ask the environment for a hint.
    Hint,
    /// Open a file with the platform's program for it.
    OpenFile,
    /// Remember which first-run hint comes next.
    RememberHint,
    /// List the saved pools.
    SavedPools,
    /// Save a lesson in a pool file.
    PromoteLesson,
    /// Write a request as text.
    RequestText,
    /// Plan a measurement of a lesson.
    EffectPlan,
    /// Play the episodes of a measurement.
    Effect,
    /// List what was measured.
    Measured,
    /// Check the health of the lessons.
    Health,
    /// Read what the environment's program has printed.
    ProgramOutput,
    /// Keep a decision as a test.
    KeepTest,
}

impl WorkKind {
    /// Returns the name of its threads.
    pub fn name(self) -> &'static str {
        match self {
            Self::Export => "export",
            Self::SaveCopy => "save-copy",
            Self::EditBranch => "edit-branch",
            Self::Branches => "branches",
            Self::Search => "search",
            Self::Past => "past",
            Self::FramePast => "frame-past",
            Self::Sessions => "sessions",
            Self::Models => "models",
            Self::Comparable => "comparable",
            Self::Comparison => "comparison",
            Self::PriorDifferences => "differences",
            Self::Admissible => "admissible",
            Self::Hint => "hint",
            Self::OpenFile => "open-file",
            Self::RememberHint => "remember-hint",
            Self::SavedPools => "saved-pools",
            Self::PromoteLesson => "promote-lesson",
            Self::RequestText => "request-text",
            Self::EffectPlan => "effect-plan",
            Self::Effect => "effect",
            Self::Measured => "measured",
            Self::Health => "health",
            Self::ProgramOutput => "program-output",
            Self::KeepTest => "keep-test",
        }
    }

    /// Returns whether the work can take seconds of processor time.
    pub fn is_long(self) -> bool {
        matches!(
            self,
            Self::Export
                | Self::Search
                | Self::Comparable
                | Self::Comparison
                | Self::PriorDifferences
                | Self::SavedPools
                | Self::EffectPlan
                | Self::Measured
                | Self::Health
                | Self::Effect
        )
    }

    /// Returns whether the work writes files. Newer work of the kind waits for it instead of replacing it, and so does
    /// the screen before it closes.
    pub fn writes_files(self) -> bool {
        matches!(
            self,
            Self::Export
                | Self::SaveCopy
                | Self::EditBranch
                | Self::PromoteLesson
                | Self::RememberHint
                | Self::Effect
                | Self::KeepTest
        )
    }
}

/// Work that is running, as of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkStatus {
    pub kind: WorkKind,
    /// When a person began to wait for it.
    pub since: Instant,
    /// How much is done, if the work can tell.
    pub percent: Option<u8>,
    /// Whether a person has cancelled it; it ends soon.
    pub is_cancelled: bool,
}

/// The progress of work on another thread, which can be cancelled. Clones belong to the same work.
#[derive(Clone, Debug)]
pub struct WorkProgress {
    shared: Arc<SharedProgress>,
    /// The part of the whole work, from 0 to 1, that the reports through this clone are about.
    part: Range<f64>,
}

#[derive(Debug)]
struct SharedProgress {
    /// [`UNKNOWN_PERCENT`] until the first report.
    percent: AtomicU8,
    is_cancelled: AtomicBool,
    cancelled: Notify,
}

const UNKNOWN_PERCENT: u8 = u8::MAX;

impl Default for WorkProgress {
    fn default() -> Self {
        let shared = SharedProgress {
            percent: AtomicU8::new(UNKNOWN_PERCENT),
            is_cancelled: AtomicBool::default(),
            cancelled: Notify::new(),
        };
        Self { shared: Arc::new(shared), part: 0.0..1.0 }
    }
}

impl WorkProgress {
    /// Reports that `done` of `all` parts are done.
    ///
    /// # Errors
    /// Returns a message if the work was cancelled.
    pub fn report(&self, done: u64, all: u64) -> Result<(), String> {
        let done = if all == 0 { 1.0 } else { (done as f64 / all as f64).min(1.0) };
        let whole = self.part.start + (self.part.end - self.part.start) * done;
        self.shared.percent.store((whole * 100.0) as u8, Ordering::Relaxed);
        if self.is_cancelled() { Err("cancelled".to_owned()) } else { Ok(()) }
    }

    /// Returns the progress of one of `stages` equally long stages of this work, counted from 0.
    #[must_use]
    pub fn stage(&self, stage: u64, stages: u64) -> Self {
        let width = (self.part.end - self.part.start) / stages as f64;
        let start = self.part.start + width * stage as f64;
        Self { shared: self.shared.clone(), part: start..start + width }
    }

    /// Collects items that are read one after the other, and reports each.
    ///
    /// # Errors
    /// Returns a message if the work was cancelled.
    pub fn collect<T>(&self, items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, String> {
        let all = items.len() as u64;
        self.report(0, all)?;
        (1..).zip(items).map(|(done, item)| self.report(done, all).map(|()| item)).collect()
    }

    /// Returns how much is done, in percent, or `None` before the first report.
    pub fn percent(&self) -> Option<u8> {
        Some(self.shared.percent.load(Ordering::Relaxed)).filter(|percent| *percent != UNKNOWN_PERCENT)
    }

    /// Makes the next report fail.
    pub fn cancel(&self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
        self.shared.cancelled.notify_one();
    }

    /// Returns whether the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled.load(Ordering::Relaxed)
    }

    /// Waits until the work is cancelled. Only one caller may wait.
    pub async fn cancelled(&self) {
        self.shared.cancelled.notified().await;
    }
}

/// An event and the epoch it belongs to: in another epoch, the same number means another event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRef {
    /// The store's epoch.
    pub epoch: u64,
    pub seq: Seq,
}

/// An episode that can be compared: of the session on the screen, of another branch of it, or of another session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpisodeRef {
    /// Another session, by the name that the host services use for it, or `None` for the session on screen.
    pub session: Option<String>,
    /// A branch by its id. `None` means the branch on the screen, or the most recently written branch of another
    /// session.
    pub branch: Option<String>,
    /// Whether the branch on the screen was forked from this one.
    pub is_parent: bool,
    /// An episode by its number. `None` means the episode with the other side's task and trial.
    pub episode: Option<u32>,
    /// What a comparison calls it; by default its session and number.
    pub label: Option<String>,
    /// Title for lists; one line.
    pub title: String,
    /// Outcome, always shown in lists; one line.
    pub outcome: String,
    /// Goal of its task (the newest of several), or empty if unknown.
    pub goal: String,
    /// Hashes of its episodes' tasks ([`crate::domain::Task::key_hash`]).
    pub tasks: Arc<[u64]>,
}

impl EpisodeRef {
    /// Names the episode of another branch with the same task and trial.
    pub fn on_branch(branch: &BranchId) -> Self {
        Self { branch: Some(branch.0.clone()), title: format!("branch {branch}"), ..Self::default() }
    }
}

/// Saved lessons: those of a pool file, or of another session.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedPool {
    /// Short name for lists.
    pub name: String,
    /// The path of the file, or the name of the session.
    pub path: String,
    /// Whether it is a pool file, into which lessons can be promoted.
    pub is_file: bool,
    /// Its lessons, without deleted ones.
    pub lessons: Vec<Lesson>,
}

/// The models that a server offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelList {
    /// Host and port.
    pub server: String,
    /// Model names, as the server lists them.
    pub names: Vec<String>,
}

/// The form in which a request is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestForm {
    /// Its body as JSON.
    Json,
    /// A command that sends it, with variables in place of keys.
    Curl,
}

/// The prompt of a request to copy.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestSource {
    /// The prompt that this event sent.
    Event(Seq),
    /// A prompt with its text.
    Prompt(Arc<PromptRecord>, Arc<Prompt>),
}

/// A request that is to be written as text.
#[derive(Clone, Debug)]
pub struct RequestQuery {
    pub run: Arc<RunSpec>,
    pub record: Arc<PromptRecord>,
    pub prompt: Arc<Prompt>,
    pub form: RequestForm,
}

/// A shared large value. Two are equal only if they are the same allocation.
pub struct PtrEqArc<T>(pub Arc<T>);

impl<T> Clone for PtrEqArc<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> PartialEq for PtrEqArc<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Eq for PtrEqArc<T> {}

impl<T> fmt::Debug for PtrEqArc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }
}

/// A report that the screen writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportQuery {
    /// The name of its format, as `export --format` takes it.
    pub format: &'static str,
    /// The step that a page marks.
    pub at: StepRef,
    /// Whether hosts and folders are hidden. The session's files, which name them, are left out then.
    pub for_audience: bool,
}

impl Default for ReportQuery {
    fn default() -> Self {
        Self { format: "html", at: StepRef::default(), for_audience: false }
    }
}
