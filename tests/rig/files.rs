//! Reads what a run has left on disk.

use std::path::{Path, PathBuf};

/// Returns every file below a folder, with its text.
pub(crate) fn files_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files_below(&path));
        } else {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            all.push((path, text));
        }
    }
    all
}
