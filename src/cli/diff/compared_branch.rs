//! The sides of a comparison: parses their names and opens them.

use crate::cli::config::Config;
use crate::cli::error::{CliError, CliErrorKind};
use crate::cli::locate::{self, OpenedSession};
use crate::domain::BranchId;
use crate::engine::State;
use crate::journal::{self, JournalError, OpenMode, Session};
use crate::timeline::compare::Side;
use crate::timeline::{ReportProgress, Timeline, no_progress};
use std::path::Path;
use std::sync::Arc;

/// A side as named on the command line: `PATH`, `PATH@BRANCH`, `PATH#EPISODE` or `PATH@BRANCH#EPISODE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct ComparisonTarget {
    pub(in crate::cli) path: String,
    /// Branch id or name.
    pub(in crate::cli) branch: Option<String>,
    pub(in crate::cli) episode: Option<u32>,
}

/// A branch opened for comparison.
pub(in crate::cli) struct ComparedBranch {
    /// Display name, with which the command line finds the branch again: the session, followed by `@branch` unless it is the trunk and
    /// no branch was named.
    pub(in crate::cli) name: String,
    pub(super) session: String,
    pub(super) branch: BranchId,
    /// The named episode, if any.
    pub(super) episode: Option<u32>,
    /// Describes what is missing from its journal, if anything.
    pub(super) missing: Option<String>,
    timeline: Arc<Timeline>,
}

impl ComparisonTarget {
    /// Parses a target. If a file with the whole text as its name exists, `#` and what follows belong to the path.
    pub(in crate::cli) fn parse(text: &str) -> Result<Self, CliError> {
        let mut target = Self { path: text.to_owned(), branch: None, episode: None };
        let exists = |text: &str| Path::new(text).exists();
        if !exists(&target.path)
            && let Some((path, number)) = text.rsplit_once('#')
        {
            let episode = number.parse().ok().filter(|n| *n > 0);
            let bad = || {
                CliError::usage(
                    format!("{text:?}: {number:?} is not an episode number; diff compares whole episodes"),
                    "name an episode by its number, such as sessions/NAME#2",
                )
            };
            (target.path, target.episode) = (path.to_owned(), Some(episode.ok_or_else(bad)?));
        }
        let (path, branch) = locate::split_branch(&target.path);
        let (path, branch) = (path.to_owned(), branch.map(str::to_owned));
        Ok(Self { path, branch, ..target })
    }
}

impl ComparedBranch {
    /// Opens the branch that `target` names, read-only.
    pub(in crate::cli) fn open(config: &Config, target: &ComparisonTarget) -> Result<Self, CliError> {
        let (opened, branch) = open_branch(config, target, &no_progress)?;
        let session = opened.meta.session.clone();
        // Without a branch, the name is that of the one written last.
        let is_default = branch == BranchId::trunk() && target.branch.is_none();
        let name = if is_default { session.clone() } else { format!("{session}@{branch}") };
        let lacks = opened.missing_summary();
        Ok(Self {
            name,
            session,
            branch,
            episode: target.episode,
            missing: lacks,
            timeline: Arc::new(opened.timeline),
        })
    }

    /// Returns the latest state.
    pub(super) fn head(&self) -> Arc<State> {
        self.timeline.head().clone()
    }

    /// Loads one of its episodes.
    pub(super) fn open_episode(&self, number: u32) -> Result<Side, CliError> {
        let (timeline, head) = (self.timeline.clone(), self.head());
        let last = head.episode.as_ref().map_or(0, |e| e.number);
        if number != last && !head.ended_episodes.iter().any(|e| e.number == number) {
            let message = match last {
                0 => "it has no episode yet".to_owned(),
                last => format!("no episode {number}; the last is {last}"),
            };
            return Err(CliError::usage(
                format!("{}#{number}: {message}", self.name),
                "choose an existing episode, or omit the `#`",
            ));
        }
        let states = Arc::new(move |seq, report: &ReportProgress<'_>| {
            timeline.fold_plan_to(seq).execute_reporting(report)
        });
        let name = format!("{}#{number}", self.name);
        Side::load(&name, &head, Some(number), states, &no_progress).map_err(|why| {
            CliError::new(
                CliErrorKind::Session,
                why,
                "`retrospect export PATH --format text` shows the session",
            )
        })
    }
}

/// Opens a branch read-only: the named one, else the one written last. An error of `report` stops it. What is imported
/// or shipped is read as a whole.
pub(in crate::cli) fn open_branch(
    config: &Config,
    target: &ComparisonTarget,
    report: &ReportProgress<'_>,
) -> Result<(OpenedSession, BranchId), CliError> {
    report(0, 1).map_err(JournalError::Stopped)?;
    let path = (!target.path.is_empty()).then_some(target.path.as_str());
    let is_demo = |path| locate::find_demo(config, path).is_some();
    if path.is_some_and(|path| locate::is_import(Path::new(path)) || is_demo(path)) {
        let branch = target.branch.as_ref().map(|branch| format!("@{branch}")).unwrap_or_default();
        let opened = locate::open_session(config, Some(&format!("{}{branch}", target.path)))?;
        let id = opened.branch.id.clone();
        return Ok((opened, id));
    }
    let dir = locate::find_session_dir(config, path)?;
    let session = Session::open(&dir)?;
    let branch = match &target.branch {
        Some(word) => locate::find_branch(&session, word)?,
        None => session.last_written(),
    };
    let file = session.existing_branch_file(&branch)?;
    let opened = journal::open_branch_reporting(&file, OpenMode::Read, report)?;
    Ok((OpenedSession::from_branch(dir, session.meta, opened), branch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_name_a_path_a_branch_and_an_episode() {
        let cases = [
            ("s/one", Some(("s/one", None, None))),
            ("s/one@b2", Some(("s/one", Some("b2"), None))),
            ("s/one#3", Some(("s/one", None, Some(3)))),
            ("s/one@shelf first#3", Some(("s/one", Some("shelf first"), Some(3)))),
            ("s@home/one", Some(("s@home/one", None, None))),
            ("s/one@b2#3", Some(("s/one", Some("b2"), Some(3)))),
            ("@b2#3", Some(("", Some("b2"), Some(3)))),
            ("s/one#0", None),
            ("s/one#1.4", None),
            ("s/one#", None),
        ];
        for (text, expected) in cases {
            let target = ComparisonTarget::parse(text).ok();
            let expected = expected.map(|(path, branch, episode)| ComparisonTarget {
                path: path.to_owned(),
                branch: branch.map(str::to_owned),
                episode,
            });
            assert_eq!(target, expected, "{text}");
        }
    }
}
