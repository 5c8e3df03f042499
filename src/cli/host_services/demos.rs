//! What the screen asks for about a demo. It has no folder: what is written goes to the folder of the sessions.

use super::{write_error, write_report};
use crate::cli::locate;
use crate::cli::shipped_demos::{DEMOS, ShippedDemo};
use crate::domain::{BranchId, Seq, pluralize};
use crate::driver::Store;
use crate::files;
use crate::journal::{Summary, summarize};
use crate::ui::branches::BranchInfo;
use crate::ui::types::{EpisodeRef, ReportQuery, WorkProgress};
use std::path::Path;
use std::sync::Arc;

impl ShippedDemo {
    fn summary(&'static self) -> Result<(Summary, String), String> {
        let opened = locate::open_demo(self, None).map_err(|error| error.message)?;
        Ok((summarize(opened.timeline.head(), &BranchId::trunk(), opened.bytes_read), opened.meta.title))
    }

    /// Returns the only branch of a demo.
    pub(in crate::cli) fn branches(&'static self) -> Result<Arc<[BranchInfo]>, String> {
        let (summary, _) = self.summary()?;
        Ok(Arc::new([BranchInfo {
            id: BranchId::trunk(),
            parent: None,
            fork_seq: Seq(0),
            name: String::new(),
            note: String::new(),
            archived: false,
            outcome: summary.outcome(),
            episodes: summary.episodes,
            steps: summary.steps,
            tokens: summary.tokens,
            last: summary.last.map(Arc::new),
            reason: "start".to_owned(),
            first_change: String::new(),
            created: String::new(),
        }]))
    }

    /// Returns the other demos, to compare this one with.
    pub(in crate::cli) fn others(&self) -> Result<Vec<EpisodeRef>, String> {
        let others = DEMOS.iter().filter(|demo| demo.name != self.name);
        let describe = |demo: &'static Self| {
            let (summary, title) = demo.summary()?;
            Ok(EpisodeRef {
                session: Some(demo.name.to_owned()),
                title: format!("demo {}: {title}", demo.name),
                outcome: format!("{}, {}", summary.outcome(), pluralize(u64::from(summary.steps), "step")),
                goal: summary.goal,
                tasks: summary.tasks.into(),
                ..EpisodeRef::default()
            })
        };
        others.map(describe).collect()
    }

    /// Writes a report of the demo into a folder, which is created if it doesn't exist, and returns the report's path.
    pub(in crate::cli) fn export(
        &self,
        folder: &Path,
        store: &Store,
        query: ReportQuery,
        progress: &WorkProgress,
    ) -> Result<String, String> {
        files::create_folder(folder).map_err(|error| write_error(folder, &error))?;
        let session = self.session();
        write_report(folder, (None, Vec::new()), || Ok(session.session_files()), (store, query), progress)
    }
}
