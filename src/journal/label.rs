//! Names and notes of branches, and which branches are archived. They are in an append-only file; the last line for
//! each field counts.

use super::branch_header::{LABELS_STEM, is_branch_name};
use super::stream::open_regular;
use super::{JournalError, Session};
use crate::domain::BranchId;
use crate::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};

/// The maximum length of a branch name, in characters.
const MAX_NAME_CHARS: usize = 80;

/// Characters that a branch name must not contain, because they end it in `SESSION@NAME#EPISODE`.
const RESERVED_CHARS: [char; 3] = ['#', '@', '/'];

/// The maximum length of a note, in characters.
const MAX_NOTE_CHARS: usize = 2_000;

/// The maximum length of a line in bytes. Longer lines are ignored; this program never writes one.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// A person's label of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: Option<String>,
    /// A note on it.
    pub note: Option<String>,
    /// Whether it is archived: lists omit it unless all branches are requested. Nothing is deleted.
    pub archived: bool,
}

/// A change of a branch's label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelChange {
    /// Sets the name, or removes it.
    Name(Option<String>),
    /// Sets the note, or removes it.
    Note(Option<String>),
    /// Archives the branch, or restores it.
    Archived(bool),
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct LabelLine {
    branch: BranchId,
    #[serde(flatten)]
    change: LabelChange,
}

impl Session {
    fn labels_path(&self) -> std::path::PathBuf {
        self.dir.join("branches").join(format!("{LABELS_STEM}.jsonl"))
    }

    /// Changes the label of a branch by appending a line.
    ///
    /// # Errors
    /// Returns [`JournalError::NoBranch`] if there is no such branch, [`JournalError::TooLong`] for a name or note that
    /// is too long, [`JournalError::BadName`] for a name that is ambiguous or contains reserved characters, and
    /// [`JournalError::Io`] if the file cannot be written.
    pub fn set_label(&self, branch: &BranchId, change: LabelChange) -> Result<(), JournalError> {
        let path = self.labels_path();
        if !is_branch_name(branch) || !self.branch_file(branch).is_file() {
            return Err(JournalError::NoBranch { path: self.dir.clone(), branch: branch.clone() });
        }
        let change = normalize(change);
        check_length(&change)?;
        if let LabelChange::Name(Some(name)) = &change {
            self.check_name(branch, name)?;
        }
        let io = |action| JournalError::io(&path, action);
        let mut line = Vec::new();
        // Without the line break, this line would be appended to one torn by a power failure.
        if has_torn_line(&path) {
            line.push(b'\n');
        }
        let entry = LabelLine { branch: branch.clone(), change };
        serde_json::to_writer(&mut line, &entry).map_err(|e| io("could not be written")(e.into()))?;
        line.push(b'\n');
        let mut file = files::append_no_follow(&path).map_err(io("could not be opened"))?;
        file.write_all(&line).map_err(io("could not be written"))?;
        file.sync_all().map_err(io("could not be synced"))
    }

    /// Fails for a name that is or may become the id or name of another branch, and for one that can't be used in
    /// `SESSION@NAME#EPISODE`.
    fn check_name(&self, branch: &BranchId, name: &str) -> Result<(), JournalError> {
        let bad_name = |reason: String| Err(JournalError::BadName { name: name.to_owned(), reason });
        if let Some(reserved) = name.chars().find(|c| RESERVED_CHARS.contains(c)) {
            return bad_name(format!("`{reserved}` is reserved for addresses such as SESSION@NAME#EPISODE"));
        }
        if name == branch.0 {
            return Ok(());
        }
        if self.branch_file(&BranchId(name.to_owned())).is_file() || name == BranchId::trunk().0 {
            return bad_name("another branch has this id".to_owned());
        }
        // Later forks get these names.
        if name.strip_prefix('b').is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit())) {
            return bad_name("names such as b1 and b2 are reserved for new branches".to_owned());
        }
        let labels = self.labels()?;
        match labels.iter().find(|(id, label)| *id != branch && label.name.as_deref() == Some(name)) {
            Some((other, _)) => bad_name(format!("branch {other} has this name")),
            None => Ok(()),
        }
    }

    /// Returns the labels of all branches that have one. Invalid lines are ignored. The file may have any length: one
    /// line at a time is held in memory.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`] if the file exists but cannot be read.
    pub fn labels(&self) -> Result<BTreeMap<BranchId, Label>, JournalError> {
        let path = self.labels_path();
        let file = match open_regular(&path) {
            Ok((file, _)) => file,
            Err(JournalError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return Ok(BTreeMap::new());
            }
            Err(error) => return Err(error),
        };
        parse_labels(BufReader::new(file)).map_err(JournalError::io(&path, "could not be read"))
    }
}

/// Parses the content of a label file like [`Session::labels`].
///
/// # Errors
/// Returns the error of the reader.
pub fn parse_labels(mut reader: impl BufRead) -> std::io::Result<BTreeMap<BranchId, Label>> {
    let mut labels: BTreeMap<BranchId, Label> = BTreeMap::new();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if (&mut reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(labels);
        }
        // The pieces of an overlong line are not lines.
        let Ok(LabelLine { branch, change }) = serde_json::from_slice::<LabelLine>(&bytes) else { continue };
        let label = labels.entry(branch).or_default();
        match change {
            LabelChange::Name(name) => label.name = name,
            LabelChange::Note(note) => label.note = note,
            LabelChange::Archived(archived) => label.archived = archived,
        }
    }
}

/// Returns whether the file's last line has no line break.
fn has_torn_line(path: &std::path::Path) -> bool {
    let last_byte = || {
        let mut file = files::open(path)?;
        file.seek(SeekFrom::End(-1))?;
        let mut last_byte = [0];
        file.read_exact(&mut last_byte).map(|()| last_byte[0])
    };
    last_byte().is_ok_and(|last_byte: u8| last_byte != b'\n')
}

/// Fails for a name or note that is too long.
fn check_length(change: &LabelChange) -> Result<(), JournalError> {
    let (field, text, max) = match change {
        LabelChange::Name(Some(name)) => ("name", name, MAX_NAME_CHARS),
        LabelChange::Note(Some(note)) => ("note", note, MAX_NOTE_CHARS),
        _ => return Ok(()),
    };
    match text.chars().count() {
        length if length <= max => Ok(()),
        length => Err(JournalError::TooLong { field, length, max }),
    }
}

/// Turns blank names and notes into `None`.
fn normalize(change: LabelChange) -> LabelChange {
    let trimmed = |text: Option<String>| text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
    match change {
        LabelChange::Name(name) => LabelChange::Name(trimmed(name)),
        LabelChange::Note(note) => LabelChange::Note(trimmed(note)),
        archived @ LabelChange::Archived(_) => archived,
    }
}

#[cfg(test)]
mod tests {
    use super::LabelLine;

    #[test]
    fn documented_lines_round_trip() {
        let page = include_str!("../../docs/JOURNAL.md");
        let block = page.split("```json\n").nth(3).unwrap().split("```").next().unwrap();
        assert_eq!(block.lines().count(), 3);
        for line in block.lines() {
            assert_eq!(
                serde_json::to_string(&serde_json::from_str::<LabelLine>(line).unwrap()).unwrap(),
                line
            );
        }
    }
}
