//! The real files, for environments that read tasks from them.

use crate::env::{TaskAccess, TaskFiles, TaskOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The maximum size of a task file or a game, in bytes. Their parsers have lower limits.
const MAX_FILE_BYTES: u64 = 64 << 20;

struct DiskFiles;

impl TaskFiles for DiskFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        crate::files::read(path, MAX_FILE_BYTES)
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn list(&self, folder: &Path) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        entries.flatten().map(|entry| entry.path()).collect()
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }
}

/// Returns access to the real files.
pub(super) fn access(options: &TaskOptions) -> TaskAccess<'_> {
    TaskAccess { files: &DiskFiles, options }
}
