//! What people call branches: names, notes, and which ones are put away. A file of its own that only grows; the last line on
//! a matter counts.

use super::open::is_name;
use super::session::{private, read_small};
use super::{JournalError, Session};
use crate::domain::BranchId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};

/// The stem of the file of labels; no branch has this name.
pub const LABELS: &str = "labels";

/// What a person calls a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: Option<String>,
    /// A note on it.
    pub note: Option<String>,
    /// It is put away: lists leave it out unless they are asked for all. Nothing of it is removed.
    pub archived: bool,
}

/// A change of a branch's label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelChange {
    /// Another name; none takes it away.
    Name(Option<String>),
    /// Another note; none takes it away.
    Note(Option<String>),
    /// Put away, or taken out again.
    Archived(bool),
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    branch: BranchId,
    #[serde(flatten)]
    change: LabelChange,
}

impl Session {
    fn labels_path(&self) -> std::path::PathBuf {
        self.dir.join("branches").join(format!("{LABELS}.jsonl"))
    }

    /// Changes the label of a branch, by a line more.
    ///
    /// # Errors
    /// [`JournalError::NoBranch`] when there is no such branch, [`JournalError::Io`] when the file cannot be written.
    pub fn label(&self, branch: &BranchId, change: LabelChange) -> Result<(), JournalError> {
        let path = self.labels_path();
        if !is_name(branch) || !self.branch_file(branch).is_file() {
            return Err(JournalError::NoBranch { path: self.dir.clone(), branch: branch.clone() });
        }
        let io = |action| JournalError::io(&path, action);
        let mut line = Vec::new();
        // A line that a power cut tore must not swallow this one.
        if std::fs::read(&path).is_ok_and(|b| b.last().is_some_and(|last| *last != b'\n')) {
            line.push(b'\n');
        }
        let entry = Line { branch: branch.clone(), change: clean(change) };
        serde_json::to_writer(&mut line, &entry).map_err(|e| io("could not be written")(e.into()))?;
        line.push(b'\n');
        let mut file = private().append(true).create(true).open(&path).map_err(io("could not be opened"))?;
        file.write_all(&line).map_err(io("could not be written"))?;
        file.sync_all().map_err(io("could not be synced"))
    }

    /// The labels of all branches that have one. A line that is not understood says nothing.
    ///
    /// # Errors
    /// [`JournalError::Io`] when the file is there and cannot be read.
    pub fn labels(&self) -> Result<BTreeMap<BranchId, Label>, JournalError> {
        let path = self.labels_path();
        let bytes = match read_small(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(JournalError::io(&path, "could not be read")(e)),
        };
        let mut labels: BTreeMap<BranchId, Label> = BTreeMap::new();
        for line in bytes.split(|b| *b == b'\n') {
            let Ok(Line { branch, change }) = serde_json::from_slice::<Line>(line) else { continue };
            let label = labels.entry(branch).or_default();
            match change {
                LabelChange::Name(name) => label.name = name,
                LabelChange::Note(note) => label.note = note,
                LabelChange::Archived(archived) => label.archived = archived,
            }
        }
        Ok(labels)
    }
}

/// Blank words are none.
fn clean(change: LabelChange) -> LabelChange {
    let said = |text: Option<String>| text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
    match change {
        LabelChange::Name(name) => LabelChange::Name(said(name)),
        LabelChange::Note(note) => LabelChange::Note(said(note)),
        archived @ LabelChange::Archived(_) => archived,
    }
}

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn the_lines_of_the_document_are_read_and_written_as_they_stand() {
        let page = include_str!("../../docs/JOURNAL.md");
        let block = page.split("```json\n").nth(3).unwrap().split("```").next().unwrap();
        assert_eq!(block.lines().count(), 3);
        for line in block.lines() {
            assert_eq!(serde_json::to_string(&serde_json::from_str::<Line>(line).unwrap()).unwrap(), line);
        }
    }
}
