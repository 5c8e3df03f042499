//! What is done on threads of their own, beside the loop: files are read and states folded for it.

use super::App;
use crate::domain::BranchId;
use crate::ui::branches::BranchEdit;
use crate::ui::compare;
use crate::ui::find;
use crate::ui::msg::Request;
use crate::ui::overlay::Answer;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use tokio::sync::mpsc;

impl App {
    /// Changes what a branch is called, and reads the branches, on a thread of their own: files may be slow.
    pub(super) fn load_branches(&self, change: Option<(BranchId, BranchEdit)>, tell: mpsc::Sender<Answer>) {
        let Some(outside) = self.options.host.clone() else { return };
        let read = move || {
            let changed = change.as_ref().map_or(Ok(()), |change| (outside.edit_branch)(change));
            let told = changed.and_then(|()| (outside.list_branches)(&()));
            // A screen that has gone needs no answer.
            let _ = tell.blocking_send(Answer::Branches(told));
        };
        // Where the system gives no thread, the list stays as it was.
        let _ = std::thread::Builder::new().name("branches".to_owned()).spawn(read);
    }

    /// Searches the other episodes on a thread of its own, until they are through or something else is looked for.
    pub(super) fn search_episodes(&self, words: String, shown: u32, tell: mpsc::Sender<Answer>) {
        let number = self.current_search.fetch_add(1, Ordering::Relaxed) + 1;
        if words.is_empty() {
            return;
        }
        let (wanted, store) = (self.current_search.clone(), self.handle.store.clone());
        let search = std::thread::Builder::new().name("search".to_owned());
        // Where the system gives no thread, the listed episode alone has been searched, and the title goes on saying so.
        let _ = search.spawn(move || {
            find::search_other_episodes(&store, shown, &words, |hits, progress| {
                let answer = Answer::SearchResults { query: words.clone(), hits, progress };
                let stale = wanted.load(Ordering::Relaxed) != number;
                // A screen that has gone needs no answer.
                if stale || tell.blocking_send(answer).is_err() {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
        });
    }

    /// What a comparison wants, on a thread of its own: files are read and states folded for it.
    pub(super) fn run_comparison(&mut self, want: Request, tell: mpsc::Sender<Answer>) {
        let (store, outside) = (self.handle.store.clone(), self.options.host.clone());
        let thread = std::thread::Builder::new().name("compare".to_owned());
        let spawned = thread.spawn(move || {
            let outside = outside.as_ref();
            let none = || Err("this screen has no way to other sessions".to_owned());
            let answer = match want {
                Request::Compare { a, b } => {
                    let found = compare::compare_episodes(&store, outside, &a, &b);
                    Answer::Compared { a: Box::new(a), b: Box::new(b), result: found }
                }
                Request::LoadPreceding { comparison: of, row } => {
                    let before = compare::load_preceding(&of.0, row);
                    Answer::Preceding { comparison: of, row, before }
                }
                _ => Answer::Comparable(outside.map_or_else(none, |o| (o.list_comparable)(&store))),
            };
            // A screen that has gone needs no answer.
            let _ = tell.blocking_send(answer);
        });
        if let Err(why) = spawned {
            self.report_result(Some(Err(format!("the system gave no thread for the comparison: {why}"))), "");
        }
    }
}
