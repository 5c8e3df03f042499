//! Work that runs on its own thread beside the event loop, because it reads files and folds states.

use super::App;
use crate::domain::BranchId;
use crate::driver::Store;
use crate::ui::branches::BranchEdit;
use crate::ui::host_services::HostServices;
use crate::ui::model::ExportStatus;
use crate::ui::msg::{Answer, PastLoad, Request};
use crate::ui::types::WorkProgress;
use crate::ui::{compare, find};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::mpsc;

/// A thread that writes a report. Dropping it cancels the work and waits, so that no partial file stays behind.
pub(super) struct RunningExport {
    pub(super) progress: Arc<WorkProgress>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for RunningExport {
    fn drop(&mut self) {
        self.progress.cancel();
        // A panic of the thread has been reported by then.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl App {
    /// Applies an edit to a branch, if one is given, and reads the branches, on a separate thread: files may be slow.
    pub(super) fn load_branches(&self, edit: Option<(BranchId, BranchEdit)>, answers: mpsc::Sender<Answer>) {
        // Only one thread at a time, so that the last answer contains all edits.
        static LOADING: Mutex<()> = Mutex::new(());
        let Some(host) = self.options.host.clone() else { return };
        let read = move || {
            let _loading = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
            let edited = edit.as_ref().map_or(Ok(()), |edit| (host.edit_branch)(edit));
            let branches = edited.and_then(|()| (host.list_branches)(&()));
            // The answer is dropped if the screen has closed.
            let _ = answers.blocking_send(Answer::Branches(branches));
        };
        // If no thread can be started, the list stays as it was.
        let _ = std::thread::Builder::new().name("branches".to_owned()).spawn(read);
    }

    /// Loads parts of the past on a separate thread, because it reads files and folds states.
    pub(super) fn load_past(&mut self, load: PastLoad, answers: mpsc::Sender<Answer>) {
        let is_for_request = load.then.is_some();
        let number = self.current_load.load(Ordering::Relaxed) + u64::from(is_for_request);
        self.current_load.store(number, Ordering::Relaxed);
        let (current, timeline) = (self.current_load.clone(), self.handle.store.timeline());
        // A load that was replaced or cancelled stops early; what a frame lacks is loaded in any case.
        let is_replaced = move || is_for_request && current.load(Ordering::Relaxed) != number;
        let thread = std::thread::Builder::new().name("past".to_owned());
        let spawned = thread.spawn(move || {
            let mut result = Ok(());
            for part in &load.parts {
                if is_replaced() {
                    return;
                }
                result = result.and(timeline.load(*part, &crate::timeline::no_progress));
            }
            // The answer is dropped if the screen has closed.
            let _ = answers.blocking_send(Answer::PastLoaded { load, result });
        });
        if let Err(why) = spawned {
            (self.model.loading, self.model.frame_loading_since) = (None, None);
            self.show_error(format!("starting a thread to load the past failed: {why}"));
        }
    }

    /// Searches the other episodes on a separate thread until all are searched or another search begins.
    pub(super) fn search_episodes(
        &self,
        query: String,
        searched_episode: u32,
        answers: mpsc::Sender<Answer>,
    ) {
        let number = self.current_search.fetch_add(1, Ordering::Relaxed) + 1;
        if query.is_empty() {
            return;
        }
        let (current, store) = (self.current_search.clone(), self.handle.store.clone());
        let search = std::thread::Builder::new().name("search".to_owned());
        // If no thread can be started, only the episode on screen has been searched, and the title keeps saying so.
        let _ = search.spawn(move || {
            find::search_other_episodes(&store, searched_episode, &query, |hits, progress| {
                let answer = Answer::SearchResults { query: query.clone(), hits, progress };
                let stale = current.load(Ordering::Relaxed) != number;
                // The answer is dropped if the screen has closed.
                if stale || answers.blocking_send(answer).is_err() {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
        });
    }

    /// Writes a file on a separate thread: a report of a long session takes seconds, and disks may be slow. The answer is
    /// `prefix` and the file's path.
    pub(super) fn write_file(
        &mut self,
        prefix: &'static str,
        answers: mpsc::Sender<Answer>,
        write: impl FnOnce(&HostServices, &Store) -> Result<String, String> + Send + 'static,
    ) {
        let Some(host) = self.options.host.clone() else {
            return self.show_error("this screen can't write files".to_owned());
        };
        let store = self.handle.store.clone();
        let thread = std::thread::Builder::new().name("write-file".to_owned());
        let spawned = thread.spawn(move || {
            let written = write(&host, &store).map(|path| format!("{prefix}{path}"));
            // The answer is dropped if the screen has closed.
            let _ = answers.blocking_send(Answer::FileWritten(written));
        });
        if let Err(why) = spawned {
            self.show_error(format!("starting a thread to write the file failed: {why}"));
        }
    }

    /// Writes a report on a separate thread, with progress in the footer.
    pub(super) fn export_report(&mut self, answers: mpsc::Sender<Answer>) {
        let Some(host) = self.options.host.clone() else {
            return self.show_error("this screen can't write files".to_owned());
        };
        let progress = Arc::new(WorkProgress::default());
        let work = (self.handle.store.clone(), progress.clone());
        let spawned = std::thread::Builder::new().name("export".to_owned()).spawn(move || {
            let written = (host.export_report)(&work).map(|path| format!("report written to {path}"));
            let written = written.map_err(|error| format!("no report written: {error}"));
            // The answer is dropped if the screen has closed.
            let _ = answers.blocking_send(Answer::ReportWritten(written));
        });
        match spawned {
            Ok(thread) => {
                let since = std::time::Instant::now();
                self.model.export = Some(ExportStatus { since, percent: 0, is_cancelled: false });
                self.export = Some(RunningExport { progress, thread: Some(thread) });
            }
            Err(why) => self.show_error(format!("starting a thread to write the report failed: {why}")),
        }
    }

    /// Runs a request of the comparison on a separate thread, which reads files and folds states.
    pub(super) fn run_comparison(&mut self, request: Request, answers: mpsc::Sender<Answer>) {
        let (store, host) = (self.handle.store.clone(), self.options.host.clone());
        let thread = std::thread::Builder::new().name("compare".to_owned());
        let spawned = thread.spawn(move || {
            let host = host.as_ref();
            let none = || Err("this screen can't open other sessions".to_owned());
            let answer = match request {
                Request::Compare { a, b } => {
                    let found = compare::compare_episodes(&store, host, &a, &b);
                    Answer::Compared { a: Box::new(a), b: Box::new(b), result: found }
                }
                Request::LoadPriorDifferences { comparison, row } => {
                    let before = compare::load_prior_differences(&comparison.0, row);
                    Answer::PriorDifferences { comparison, row, before }
                }
                _ => Answer::Comparable(host.map_or_else(none, |o| (o.list_comparable)(&store))),
            };
            // The answer is dropped if the screen has closed.
            let _ = answers.blocking_send(answer);
        });
        if let Err(why) = spawned {
            self.show_error(format!("starting a thread for the comparison failed: {why}"));
        }
    }
}
