//! Files that are parsed once and kept: data sets are read again for every episode, and parsing them takes long.

use super::task_access::{EnvironmentOption, TaskAccess};
use super::task_error::TaskError;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Splits a task's id `FILE#ID` into the file and the id in it. Without a file that exists, the id is one of the file that the option
/// names.
pub(in crate::env) fn split_file_id<'a>(
    id: &'a str,
    option: &EnvironmentOption,
    access: TaskAccess,
) -> (Option<PathBuf>, &'a str) {
    let named = id.rsplit_once('#').map(|(file, id)| (PathBuf::from(file), id));
    match named.filter(|(file, _)| access.files.is_file(file)) {
        Some((file, id)) => (Some(file), id),
        None => (access.options.path(option).map(Path::to_owned), id),
    }
}

/// The last parsed file of a kind. A file that has changed is parsed again.
pub(in crate::env) struct ParsedFile<T>(Mutex<Option<Parsed<T>>>);

struct Parsed<T> {
    path: PathBuf,
    hash: u64,
    content: Arc<T>,
}

impl<T> ParsedFile<T> {
    pub(in crate::env) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns the content of a file.
    ///
    /// # Errors
    /// Returns [`TaskError::Io`], or what `parse` returns.
    pub(in crate::env) fn load(
        &self,
        path: &Path,
        access: TaskAccess,
        parse: impl FnOnce(&[u8]) -> Result<T, TaskError>,
    ) -> Result<Arc<T>, TaskError> {
        let bytes = access.read(path)?;
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let hash = hasher.finish();
        let mut parsed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = parsed.as_ref().filter(|known| known.path == path && known.hash == hash) {
            return Ok(known.content.clone());
        }
        let content = Arc::new(parse(&bytes)?);
        *parsed = Some(Parsed { path: path.to_owned(), hash, content: content.clone() });
        Ok(content)
    }
}
