//! The working folder of a child process.

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// How often to try to remove the folder, and how long to wait in between.
const ATTEMPTS: u32 = 50;
const INTERVAL: Duration = Duration::from_millis(20);

/// A temporary folder that a process works in. Dropping it, after the process was killed, removes it with everything in it.
pub(super) struct PrivateFolder(TempDir);

impl PrivateFolder {
    /// Creates an empty one.
    ///
    /// # Errors
    /// Returns the system's error.
    pub(super) fn create() -> io::Result<Self> {
        crate::files::temporary_folder().map(Self)
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // Other processes of the group, which were killed just before, may still write there for a moment.
        for _ in 0..ATTEMPTS {
            if crate::files::remove_folder(self.path()).is_ok() {
                return;
            }
            thread::sleep(INTERVAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PrivateFolder;
    use std::fs;
    use std::time::{Duration, Instant};

    /// Regression: on a busy machine the writer of this test outlasted every attempt to remove the folder.
    #[test]
    fn a_folder_is_removed_while_something_still_writes_there() {
        let folder = PrivateFolder::create().unwrap();
        let path = folder.path().to_owned();
        let target = path.clone();
        let writer = std::thread::spawn(move || {
            let (mut number, start) = (0, Instant::now());
            // It fails once the folder is gone. What was killed writes for a moment only, shorter than the attempts take.
            let is_writing = || start.elapsed() < Duration::from_millis(200);
            while is_writing() && fs::write(target.join(format!("file-{number}")), "x").is_ok() {
                number += 1;
            }
            number
        });
        while fs::read_dir(&path).unwrap().next().is_none() {
            std::thread::yield_now();
        }
        drop(folder);
        assert!(writer.join().unwrap() > 0 && !path.exists());
    }
}
