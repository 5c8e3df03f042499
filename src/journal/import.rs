//! Reads sessions from other formats. Each format is one file here that implements [`Importer`], and one entry of
//! `IMPORTERS`.

mod event_recorder;
pub(super) mod exported_report;
mod reflexion;

use crate::domain::{JSON_EXPORT_FORMAT, RunSpec};
use crate::files;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

pub use reflexion::{EnvResult, parse_results, plan_id, plan_lesson, results_trial};

/// A format that can be opened as a session.
pub trait Importer: Sync {
    /// Returns its name in messages, in the plural.
    fn name(&self) -> &'static str;

    /// Returns whether a source has this format, judged by its content: of a
    /// folder, by the names in it.
    fn detect(&self, source: &Source) -> bool;

    /// Converts a source to a session.
    ///
    /// # Errors
    /// Returns an error that says which file can't be used, where, and what to do.
    fn import(&self, source: &Source) -> Result<ImportedSession, ImportError>;
}

/// The setting of an imported run that names the format it was imported from.
const FORMAT_SETTING: &str = "imported.format";

/// Returns the format that a run was imported from, or `None` if this program played it. An imported run can't be played
/// again or checked by the rules of its method: neither its prompts nor the data of its environment are known.
pub fn imported_format(run: &RunSpec) -> Option<&str> {
    run.settings.recorded(FORMAT_SETTING)?.value.as_str()
}

/// All formats; the first that recognizes a source reads it.
static IMPORTERS: [&dyn Importer; 2] = [&exported_report::ExportedReport, &reflexion::ReflexionRun];

/// What is imported: a file, or the files of a folder.
pub struct Source {
    path: PathBuf,
    modified: Timestamp,
    content: Content,
}

enum Content {
    File(Vec<u8>),
    /// The names in the folder; the files are read when they are needed.
    Folder(Vec<String>),
}

/// An imported session, as the files of a session's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedSession {
    /// The branch to show; `None`: the one written last.
    pub branch: Option<String>,
    /// Texts by path (`meta.toml`, `branches/trunk.jsonl`, ...).
    pub files: BTreeMap<String, String>,
}

/// A source can't be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct ImportError {
    /// The file or folder.
    pub path: String,
    /// What is wrong with it, and where.
    pub problem: String,
    /// What to do next.
    pub hint: String,
}

impl ImportError {
    fn new(path: &Path, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { path: path.display().to_string(), problem: problem.into(), hint: hint.into() }
    }
}

impl Source {
    /// Opens a file, which is read at once, or a folder.
    ///
    /// # Errors
    /// Returns an error if it can't be read, or if the file is larger than 1 GiB: it is held in memory as a whole.
    pub fn open(path: &Path) -> Result<Self, ImportError> {
        let metadata = path.metadata().map_err(|e| unreadable(path, &e))?;
        let content = if metadata.is_dir() {
            let entries = std::fs::read_dir(path).map_err(|e| unreadable(path, &e))?;
            Content::Folder(entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect())
        } else {
            Content::File(files::read(path, 1 << 30).map_err(|e| unreadable(path, &e))?)
        };
        let modified = metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
        Ok(Self { path: path.to_owned(), modified: modified.unwrap_or(Timestamp::UNIX_EPOCH), content })
    }

    /// Returns the importer of its format, if there is one.
    pub fn importer(&self) -> Option<&'static dyn Importer> {
        IMPORTERS.into_iter().find(|importer| importer.detect(self))
    }

    /// Converts it to a session.
    ///
    /// # Errors
    /// Returns an error if no importer knows its format, or the importer's error.
    pub fn import(&self) -> Result<ImportedSession, ImportError> {
        let Some(importer) = self.importer() else {
            let names: Vec<&str> = IMPORTERS.iter().map(|importer| importer.name()).collect();
            let what = if self.is_exported_json() {
                "a JSON export, which contains the steps but no journal"
            } else {
                "no retrospect session in it"
            };
            let problem = format!("{what}; this can be opened: {}", names.join(", "));
            return Err(ImportError::new(&self.path, problem, EXPORT_AGAIN));
        };
        importer.import(self)
    }

    /// Returns whether it is what `retrospect export --format json` writes. Such a document is for other programs: it
    /// lacks the prompts, the replies and most events, so no session can be restored from it.
    fn is_exported_json(&self) -> bool {
        #[derive(serde::Deserialize)]
        struct Document {
            format: String,
        }
        matches!(&self.content, Content::File(bytes)
            if serde_json::from_slice::<Document>(bytes).is_ok_and(|d| d.format == JSON_EXPORT_FORMAT))
    }
}

/// The hint for a file that contains no readable session.
const EXPORT_AGAIN: &str = "open the session's folder instead, if you have it, and export with `--format html`, which can be opened again";

fn unreadable(path: &Path, error: &io::Error) -> ImportError {
    match error.kind() {
        ErrorKind::FileTooLarge => ImportError::new(
            path,
            "too large for an exported report (at most 1 GiB)",
            "open the session's folder instead, which can be of any size",
        ),
        _ => ImportError::new(
            path,
            format!("could not be read: {error}"),
            "check the path and its permissions",
        ),
    }
}
