//! HTML pages that contain the session they were made from, so that they can be opened as that session. The format is
//! ours, so this file also writes it.

use super::{Content, EXPORT_AGAIN, ImportError, ImportedSession, Importer, Source};
use crate::text::escape_json;
use std::collections::BTreeMap;

/// Reads what `retrospect export --format html` writes.
pub(super) struct ExportedReport;

impl Importer for ExportedReport {
    fn name(&self) -> &'static str {
        "HTML pages written by `retrospect export`"
    }

    fn detect(&self, source: &Source) -> bool {
        matches!(&source.content, Content::File(bytes) if String::from_utf8_lossy(bytes).contains(OPEN_TAG))
    }

    fn import(&self, source: &Source) -> Result<ImportedSession, ImportError> {
        let page = match &source.content {
            Content::File(bytes) => String::from_utf8_lossy(bytes),
            Content::Folder(_) => "".into(),
        };
        extract_session(&page).map_err(|why| ImportError::new(&source.path, why, EXPORT_AGAIN))
    }
}

/// The files of a session to embed, by path relative to its folder. `E` is the error of reading or writing.
pub type SessionFiles<'a, E> = BTreeMap<String, ReadLines<'a, E>>;

/// Passes the lines of a file to a function, one by one, each with its line end.
pub type ReadLines<'a, E> = Box<dyn Fn(&mut WritePart<'_, E>) -> Result<(), E> + 'a>;

/// Writes the next part of a document.
pub type WritePart<'a, E> = dyn FnMut(&str) -> Result<(), E> + 'a;

impl ImportedSession {
    /// Returns the files as an export embeds them.
    pub fn session_files<E>(&self) -> SessionFiles<'_, E> {
        self.files.iter().map(|(path, text)| (path.clone(), read_text_lines(text))).collect()
    }
}

fn read_text_lines<E>(text: &str) -> ReadLines<'_, E> {
    Box::new(|visit| text.split_inclusive('\n').try_for_each(visit))
}

/// The embedded data.
#[derive(serde::Deserialize)]
struct Block {
    /// Version of the format.
    v: u32,
    /// The branch shown on the page; `None` in pages from before it was recorded.
    #[serde(default)]
    branch: Option<String>,
    files: BTreeMap<String, String>,
}

const OPEN_TAG: &str = "<script type=\"application/json\" id=\"retrospect-session\">";
const CLOSE_TAG: &str = "</script>";

/// Writes the files of a session as a data element that browsers don't execute, line by line: a journal can be larger than
/// the memory. The element contains no `<`, so nothing in a journal can end it early.
///
/// # Errors
/// Returns the first error of reading a file or of writing.
pub fn embed_session<E>(
    files: &SessionFiles<'_, E>,
    branch: Option<&str>,
    write: &mut WritePart<'_, E>,
) -> Result<(), E> {
    let branch = branch.map(|id| format!("\"branch\":\"{}\",", inside_json_string(id)));
    write(&format!("{OPEN_TAG}{{\"v\":1,{}\"files\":{{", branch.unwrap_or_default()))?;
    for (number, (path, read_lines)) in files.iter().enumerate() {
        let separator = if number == 0 { "" } else { "," };
        write(&format!("{separator}\"{}\":\"", inside_json_string(path)))?;
        read_lines(&mut |line| write(&inside_json_string(line)))?;
        write("\"")?;
    }
    write(&format!("}}}}{CLOSE_TAG}"))
}

/// Escapes a text for the inside of a JSON string, without a `<`.
fn inside_json_string(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    escape_json(&quoted[1..quoted.len() - 1]).replace('<', "\\u003c")
}

/// Extracts the files from a report, byte for byte. Paths that would leave the session's folder are rejected.
///
/// # Errors
/// Returns a message if the embedded session is missing, malformed or of a newer version.
pub fn extract_session(page: &str) -> Result<ImportedSession, String> {
    let damaged =
        |why: &str| format!("the session in it is damaged: {why}; export it again from the session's folder");
    let (_, rest) = page.split_once(OPEN_TAG).ok_or_else(|| damaged("it is missing"))?;
    let (json, _) = rest.split_once(CLOSE_TAG).ok_or_else(|| damaged("it is truncated"))?;
    let Block { v, branch, files } = serde_json::from_str(json).map_err(|e| damaged(&e.to_string()))?;
    if v > 1 {
        return Err(format!(
            "the session in it has format version {v}, which this program is too old to read; update retrospect"
        ));
    }
    let is_session_path = |path: &str| {
        path == "meta.toml"
            || path.strip_prefix("branches/").and_then(|p| p.strip_suffix(".jsonl")).is_some_and(|stem| {
                !stem.is_empty() && stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
            })
    };
    match files.keys().find(|path| !is_session_path(path)) {
        Some(path) => Err(damaged(&format!("`{path}` is not a file of a session"))),
        None => Ok(ImportedSession { branch, files }),
    }
}
