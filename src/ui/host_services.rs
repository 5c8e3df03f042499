//! Services that the program provides to the screen.

use crate::domain::{BranchId, LessonId, ModelRole, RunSpec};
use crate::driver::Store;
use crate::engine::State;
use crate::lesson_test::LessonTest;
use crate::ui::branches::{BranchEdit, BranchInfo};
use crate::ui::effect::{EffectProgress, EffectQuery};
use crate::ui::frame_data::MeasuredResults;
use crate::ui::model::FirstRunHint;
use crate::ui::types::{EpisodeRef, ModelList, ReportQuery, RequestQuery, SavedPool, WorkProgress};
use std::sync::Arc;

/// A function that the program provides. Returns a result, or a message if it failed.
pub type HostFn<T, R> = Arc<dyn Fn(&T) -> Result<R, String> + Send + Sync>;

/// A function that the program provides and that may take long. Reports its progress, and stops with a message when it
/// is cancelled.
pub type WorkFn<T, R> = Arc<dyn Fn(&T, &WorkProgress) -> Result<R, String> + Send + Sync>;

/// What to save in a pool file.
pub struct PromotedLesson {
    /// The state of the session that has the lesson.
    pub state: Arc<State>,
    /// `None` for all lessons that outlast an episode.
    pub lesson: Option<LessonId>,
    /// The path of the file, which needn't exist.
    pub pool: String,
}

/// Plays the episodes of a measurement, and calls the last argument with the pairs so far now and then. Stops when it is
/// cancelled; the same call continues it.
pub type EffectFn = Arc<
    dyn Fn(
            &(Arc<Store>, EffectQuery),
            &WorkProgress,
            &dyn Fn(EffectProgress),
        ) -> Result<EffectProgress, String>
        + Send
        + Sync,
>;

/// Services that open files, start programs or connect to servers; the screen itself does none of this.
#[derive(Clone)]
pub struct HostServices {
    /// Opens a text in the user's editor, which takes over the terminal until it exits. Returns `None` if nothing was
    /// saved.
    pub edit_text: HostFn<str, Option<String>>,
    /// Writes copied text to a file, for terminals without clipboard support, and returns the file's path.
    pub save_copy: HostFn<str, String>,
    /// Writes a picture of the screen, an SVG document, to a new file, and returns the file's full path.
    pub save_picture: HostFn<str, String>,
    /// Writes a request to a model as text, without secrets.
    pub format_request: HostFn<RequestQuery, String>,
    /// Keeps a decision as a test for lessons and returns what was done.
    pub keep_test: HostFn<LessonTest, String>,
    /// Writes a report of the session and returns its full path. Long sessions take seconds.
    pub export_report: WorkFn<(Arc<Store>, ReportQuery), String>,
    /// Opens a file with the platform's program for it, such as a browser; `None` where there is none.
    pub open_file: Option<HostFn<str, ()>>,
    /// Remembers for later sessions which first-run hint comes next.
    pub remember_hint: HostFn<FirstRunHint, ()>,
    /// Lists the sessions, newest first, each as its name and a short description.
    pub list_sessions: WorkFn<(), Vec<(String, String)>>,
    /// Lists the saved pools, for a session in this state: pool files first, the configured one at the top.
    pub list_saved_pools: WorkFn<State, Vec<SavedPool>>,
    /// Saves a lesson in a pool file. Returns what was saved where.
    pub promote_lesson: HostFn<PromotedLesson, String>,
    /// Lists the models of the server that a role of this run uses.
    pub list_models: WorkFn<(Arc<RunSpec>, ModelRole), ModelList>,
    /// Lists what an episode can be compared with: the session's other branches, and other sessions.
    pub list_comparable: WorkFn<Store, Vec<EpisodeRef>>,
    /// Opens an entry of `list_comparable` read-only.
    pub open_comparable: WorkFn<EpisodeRef, Arc<Store>>,
    /// Reads the session's branches.
    pub list_branches: WorkFn<(), Arc<[BranchInfo]>>,
    /// Edits names, notes or archived flags of branches, in order. If one edit fails, the others are made nevertheless, and the
    /// first error is returned.
    pub edit_branches: HostFn<[(BranchId, BranchEdit)], ()>,
    /// Plans the measurement of a lesson of the session, with the pairs that were played earlier.
    pub plan_effect: WorkFn<(Arc<Store>, EffectQuery), EffectProgress>,
    /// Plays the episodes of a measurement.
    pub run_effect: EffectFn,
    /// Reads what the logs of measurements of this session say about its lessons.
    pub list_measured: WorkFn<(), MeasuredResults>,
}
