//! The journal inside an HTML report, so that the report can be opened as the session it was made from.

use std::collections::BTreeMap;

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

/// Formats the embedded session as a data element that browsers don't execute. It contains no `<`, so nothing in a
/// journal can end it early.
pub fn embed_session(files: &BTreeMap<String, String>, branch: Option<&str>) -> String {
    let session = EmbeddedSession { v: 1, branch: branch.map(str::to_owned), files: files.clone() };
    let json = serde_json::to_string(&session).unwrap_or_default();
    let json = crate::text::escape_json(&json).replace('<', "\\u003c");
    format!("{OPEN_TAG}{json}{CLOSE_TAG}")
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
