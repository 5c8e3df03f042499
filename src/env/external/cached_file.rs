//! Files that are made from others and kept for the next time.

use std::io;
use std::path::{Path, PathBuf};

/// Writes a file to the user's cache folder, unless it is there already with these bytes, and returns its path.
///
/// # Errors
/// Returns the system's error, or that there is no cache folder because neither `XDG_CACHE_HOME` nor `HOME` is set.
pub fn write_cached_file(name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let folder = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|p| p.is_absolute());
    let root = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    let root = root.ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, "no cache folder: set HOME or XDG_CACHE_HOME")
    })?;
    write_if_changed(&root.join("retrospect"), name, bytes)
}

fn write_if_changed(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    crate::files::create_folder(folder)?;
    let path = folder.join(name);
    // A file that was cut by a power failure, or changed, is written again.
    if crate::files::read(&path, bytes.len() as u64).is_ok_and(|known| known == bytes) {
        return Ok(path);
    }
    crate::files::replace_unsynced(&path, bytes)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        let path = write_if_changed(&folder, "a.jar", b"bytes").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"bytes");
        for other in [&b"byte"[..], b"bites", b"bytes and more"] {
            std::fs::write(&path, other).unwrap();
            assert_eq!(write_if_changed(&folder, "a.jar", b"bytes").unwrap(), path);
            assert_eq!(std::fs::read(&path).unwrap(), b"bytes");
        }
    }
}
