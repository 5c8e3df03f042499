//! The journal inside an HTML report, so that the report can be opened as the session it was made from.

use crate::text::escape_json;
use std::collections::BTreeMap;

/// The files of a session to embed, by path relative to its folder. `E` is the error of reading or writing.
pub type SessionFiles<'a, E> = BTreeMap<String, ReadLines<'a, E>>;

/// Passes the lines of a file to a function, one by one, each with its line end.
pub type ReadLines<'a, E> = Box<dyn Fn(&mut WritePart<'_, E>) -> Result<(), E> + 'a>;

/// Writes the next part of a document.
pub type WritePart<'a, E> = dyn FnMut(&str) -> Result<(), E> + 'a;

/// The files of a session, by path relative to its folder (`meta.toml`, `branches/trunk.jsonl`, ...).
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct EmbeddedSession {
    /// Version of the embedded format.
    pub v: u32,
    /// The branch shown on the page; `None` in pages from before it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Texts by path.
    pub files: BTreeMap<String, String>,
}

impl EmbeddedSession {
    /// Returns the files as an export embeds them.
    pub fn session_files<E>(&self) -> SessionFiles<'_, E> {
        self.files.iter().map(|(path, text)| (path.clone(), read_text_lines(text))).collect()
    }
}

fn read_text_lines<E>(text: &str) -> ReadLines<'_, E> {
    Box::new(|visit| text.split_inclusive('\n').try_for_each(visit))
}

/// A file cannot be opened as a report with a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddedSessionError {
    /// The file contains no embedded session.
    #[error(
        "no retrospect session in it; only files written by `retrospect export --format html` can be opened"
    )]
    NoBlock,
    /// The embedded session is truncated or malformed.
    #[error("the session in it is damaged: {0}; export it again from the session's folder")]
    Damaged(String),
    /// The embedded session has a newer version.
    #[error(
        "the session in it has format version {0}, which this program is too old to read; update retrospect"
    )]
    Newer(u32),
}

const OPEN_TAG: &str = "<script type=\"application/json\" id=\"retrospect-session\">";
const CLOSE_TAG: &str = "</script>";

/// Writes the [`EmbeddedSession`] as a data element that browsers don't execute, line by line: a journal can be larger than
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
/// Returns [`EmbeddedSessionError`] if the embedded session is missing, malformed or of a newer version.
pub fn extract_session(page: &str) -> Result<EmbeddedSession, EmbeddedSessionError> {
    let (_, rest) = page.split_once(OPEN_TAG).ok_or(EmbeddedSessionError::NoBlock)?;
    let (json, _) = rest
        .split_once(CLOSE_TAG)
        .ok_or_else(|| EmbeddedSessionError::Damaged("it is truncated".to_owned()))?;
    let session: EmbeddedSession =
        serde_json::from_str(json).map_err(|e| EmbeddedSessionError::Damaged(e.to_string()))?;
    if session.v > 1 {
        return Err(EmbeddedSessionError::Newer(session.v));
    }
    let is_session_path = |path: &str| {
        path == "meta.toml"
            || path.strip_prefix("branches/").and_then(|p| p.strip_suffix(".jsonl")).is_some_and(|stem| {
                !stem.is_empty() && stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
            })
    };
    match session.files.keys().find(|path| !is_session_path(path)) {
        Some(path) => Err(EmbeddedSessionError::Damaged(format!("`{path}` is not a file of a session"))),
        None => Ok(session),
    }
}
