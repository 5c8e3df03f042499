//! Opens, reads and writes files in folders that another user may be able to write to.
//!
//! Reads open regular files only, never block on a pipe and are bounded. Writes follow no symbolic link and never
//! leave a partial file under the final name. Files that this program writes for itself are readable by their owner
//! only, whatever the umask is.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Error, ErrorKind, IntoInnerError, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Opens a regular file for reading. Follows symbolic links.
///
/// # Errors
/// Returns the system's error, or `InvalidInput` for a pipe, a socket, a device or a folder. Never blocks on them.
pub fn open(path: &Path) -> io::Result<File> {
    // Opening a device can have side effects, so the path is checked first. The check of the open file is
    // authoritative.
    check_regular(&fs::metadata(path)?)?;
    open_regular(OpenOptions::new().read(true), path, LinkPolicy::Follow)
}

/// Opens a regular file for reading. Doesn't follow symbolic links.
///
/// # Errors
/// The same as [`open`], and `InvalidInput` for a symbolic link.
pub fn open_no_follow(path: &Path) -> io::Result<File> {
    check_regular(&fs::symlink_metadata(path)?)?;
    open_regular(OpenOptions::new().read(true), path, LinkPolicy::Refuse)
}

/// Reads a regular file of at most `max_bytes` bytes.
///
/// # Errors
/// The same as [`open`], and `FileTooLarge` for a longer file, which is not read.
pub fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    // The usual name for an empty file.
    if path == Path::new("/dev/null") {
        return Ok(Vec::new());
    }
    read_bounded(&open(path)?, max_bytes)
}

/// Reads a regular UTF-8 file of at most `max_bytes` bytes.
///
/// # Errors
/// The same as [`read`], and `InvalidData` if the file is not UTF-8.
pub fn read_text(path: &Path, max_bytes: u64) -> io::Result<String> {
    String::from_utf8(read(path, max_bytes)?).map_err(|e| Error::new(ErrorKind::InvalidData, e.utf8_error()))
}

/// Creates a folder that only its owner can access, and its missing parents.
///
/// # Errors
/// Returns the system's error. It is not an error if the folder exists.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Creates an empty folder that only its owner can access, among the system's temporary files. Its path is absolute, so that
/// a process that works elsewhere can be given it. Dropping it removes it with everything in it.
///
/// # Errors
/// Returns the system's error, with the path.
pub fn temporary_folder() -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("retrospect-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder.tempdir_in(std::path::absolute(std::env::temp_dir())?)
}

/// Removes a folder with everything in it.
///
/// # Errors
/// Returns the system's error. It is not an error if there is none.
pub fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Creates a file that only its owner can access, open for reading and appending.
///
/// # Errors
/// Returns the system's error; `AlreadyExists` if the path exists, even as a symbolic link.
pub fn create_new(path: &Path) -> io::Result<File> {
    create_with_mode(path, PRIVATE_MODE)
}

/// Opens a file for reading and appending.
///
/// # Errors
/// The same as [`open`].
pub fn open_to_append(path: &Path) -> io::Result<File> {
    check_regular(&fs::metadata(path)?)?;
    open_regular(OpenOptions::new().read(true).append(true), path, LinkPolicy::Follow)
}

/// Opens a file for reading and appending, following symbolic links, or creates it for its owner only. If other programs
/// create it at the same time, all of them open the same file.
///
/// # Errors
/// The same as [`open`]; `NotFound` also if the path is a symbolic link to nothing.
pub fn open_or_create_to_append(path: &Path) -> io::Result<File> {
    match open_to_append(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => match create_new(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => open_to_append(path),
            created => created,
        },
        opened => opened,
    }
}

/// Opens a file for reading and appending, or creates it for its owner only.
///
/// # Errors
/// The same as [`open_no_follow`].
pub fn append_no_follow(path: &Path) -> io::Result<File> {
    match create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            check_regular(&fs::symlink_metadata(path)?)?;
            open_regular(OpenOptions::new().read(true).append(true), path, LinkPolicy::Refuse)
        }
        created => created,
    }
}

/// Writes a whole file that only its owner can access: to a temporary file in the same folder, which is synced and
/// then renamed. Replaces a symbolic link instead of following it.
///
/// # Errors
/// Returns the system's error. The previous file is then unchanged.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(bytes))
}

/// Like [`replace`], for files too long to be held in memory: `write` writes the file's bytes.
///
/// # Errors
/// The same as [`replace`], and the errors of `write`.
pub fn replace_with(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    write_atomically(path, write, PRIVATE_MODE, Durability::Synced)
}

/// Like [`replace`], for files that can be recreated: not synced, so a power failure may leave an empty file.
///
/// # Errors
/// The same as [`replace`].
pub fn replace_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_atomically(path, |file| file.write_all(bytes), PRIVATE_MODE, Durability::Unsynced)
}

/// Like [`replace`], but with the permissions that the umask allows: for files meant for others, such as manual
/// pages.
///
/// # Errors
/// The same as [`replace`].
pub fn replace_shared(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_atomically(path, |file| file.write_all(bytes), SHARED_MODE, Durability::Synced)
}

/// Writes to a path given by the user. Like [`replace_with`], but writes into an existing pipe or device.
///
/// # Errors
/// Returns the system's error.
pub fn write_output(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            let mut buffered = BufWriter::new(OpenOptions::new().write(true).open(path)?);
            write(&mut buffered)?;
            buffered.flush()
        }
        _ => replace_with(path, write),
    }
}

/// Syncs a folder's entries to the disk. Does nothing where the system can't open folders; such systems sync entries
/// themselves.
pub fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Returns whether both are the same file on the same file system. Returns true for any two files if the system can't
/// tell.
pub fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        (a.dev(), a.ino()) == (b.dev(), b.ino())
    }
    #[cfg(not(unix))]
    {
        a.is_file() && b.is_file()
    }
}

/// Returns whether the file is no longer in any folder.
pub fn is_removed(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        metadata.nlink() == 0
    }
    #[cfg(not(unix))]
    {
        !metadata.is_file()
    }
}

/// Read and write for the owner only.
const PRIVATE_MODE: u32 = 0o600;
/// Read and write for everybody, less the umask.
const SHARED_MODE: u32 = 0o666;

#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkPolicy {
    Follow,
    Refuse,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Durability {
    Synced,
    Unsynced,
}

fn read_bounded(file: &File, max_bytes: u64) -> io::Result<Vec<u8>> {
    let too_large = || Error::new(ErrorKind::FileTooLarge, format!("it is longer than {max_bytes} bytes"));
    if file.metadata()?.len() > max_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_large()) } else { Ok(bytes) }
}

fn check_regular(metadata: &Metadata) -> io::Result<()> {
    let reason = match metadata.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "it is a folder, not a file",
        kind if kind.is_symlink() => "it is a symbolic link, which is not followed here",
        _ => "it is a pipe, a socket or a device, not a file",
    };
    Err(Error::new(ErrorKind::InvalidInput, reason))
}

/// Opens a path just checked to be a regular file. If it was replaced meanwhile, this fails without blocking.
fn open_regular(options: &mut OpenOptions, path: &Path, links: LinkPolicy) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        if links == LinkPolicy::Refuse {
            flags |= OFlags::NOFOLLOW;
        }
        options.custom_flags(flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    let _ = links;
    let file = options.open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

fn create_with_mode(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(mode);
    }
    let file = options.open(path)?;
    #[cfg(unix)]
    if mode == PRIVATE_MODE {
        use std::os::unix::fs::PermissionsExt as _;
        // A umask can remove even the owner's permissions.
        if file.metadata()?.permissions().mode() & 0o777 != PRIVATE_MODE {
            file.set_permissions(fs::Permissions::from_mode(PRIVATE_MODE))?;
        }
    }
    #[cfg(not(unix))]
    let _ = mode;
    Ok(file)
}

fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    mode: u32,
    durability: Durability,
) -> io::Result<()> {
    let temporary = temporary_path(path);
    // A killed process with the same id may have left it behind.
    let _ = fs::remove_file(&temporary);
    let written = create_with_mode(&temporary, mode).and_then(|file| {
        let mut buffered = BufWriter::new(file);
        write(&mut buffered)?;
        let file = buffered.into_inner().map_err(IntoInnerError::into_error)?;
        if durability == Durability::Synced { file.sync_all() } else { Ok(()) }
    });
    if let Err(error) = written.and_then(|()| fs::rename(&temporary, path)) {
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    if durability == Durability::Synced {
        sync_folder(temporary.parent().unwrap_or(Path::new(".")));
    }
    Ok(())
}

/// Returns a name in the same folder that no other thread or program writes to. It ends in `.new`.
fn temporary_path(path: &Path) -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    folder.join(format!(".retrospect-{}-{number}.new", std::process::id()))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn make_pipe(path: &Path) {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn only_bounded_regular_files_are_read() {
        let temp = tempfile::tempdir().unwrap();
        let (file, link, fifo) = (temp.path().join("f"), temp.path().join("l"), temp.path().join("p"));
        fs::write(&file, "12345").unwrap();
        symlink(&file, &link).unwrap();
        make_pipe(&fifo);
        assert_eq!(read(&link, 5).unwrap(), b"12345");
        assert_eq!(read(&file, 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        for (path, reason) in [
            (fifo.as_path(), "a pipe, a socket or a device"),
            (Path::new("/dev/zero"), "a pipe, a socket or a device"),
            (temp.path(), "a folder"),
        ] {
            let errors = [read(path, 5).unwrap_err(), open_to_append(path).unwrap_err()];
            assert!(errors.iter().all(|e| e.to_string().contains(reason)), "{}: {errors:?}", path.display());
        }
        assert!(open_no_follow(&link).unwrap_err().to_string().contains("a symbolic link"));
        assert!(append_no_follow(&link).unwrap_err().to_string().contains("a symbolic link"));
        assert_eq!(read(Path::new("/dev/null"), 5).unwrap(), b"");
        // A file of 3 GB is rejected by its length, before any of it is read.
        let large = temp.path().join("large");
        File::create(&large).unwrap().set_len(3 << 30).unwrap();
        assert_eq!(read(&large, 64 << 20).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    /// A cancelled export fails while it is being written.
    #[test]
    fn a_failed_write_keeps_the_old_file_and_leaves_no_other() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("report");
        replace(&path, b"old").unwrap();
        let failed = replace_with(&path, |file| {
            file.write_all(&vec![b'x'; 100_000])?;
            Err(Error::other("cancelled"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "cancelled");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }

    /// The path may be replaced with a pipe between the check and the opening.
    #[test]
    fn opening_a_pipe_that_replaced_a_file_does_not_block() {
        let temp = tempfile::tempdir().unwrap();
        let fifo = temp.path().join("p");
        make_pipe(&fifo);
        let opened = open_regular(OpenOptions::new().read(true), &fifo, LinkPolicy::Follow);
        assert_eq!(opened.unwrap_err().kind(), ErrorKind::InvalidInput);
    }

    /// Regression: of two programs that created a pool at the same time, one failed with "File exists".
    #[test]
    fn a_file_created_by_several_at_once_is_opened_by_all() {
        let temp = tempfile::tempdir().unwrap();
        let start = std::sync::Barrier::new(4);
        for round in 0..200 {
            let path = temp.path().join(round.to_string());
            std::thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| {
                        start.wait();
                        open_or_create_to_append(&path).unwrap().write_all(b"x").unwrap();
                    });
                }
            });
            assert_eq!(fs::read(&path).unwrap(), b"xxxx");
        }
        let link = temp.path().join("link");
        std::os::unix::fs::symlink(temp.path().join("missing"), &link).unwrap();
        assert_eq!(open_or_create_to_append(&link).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn replace_follows_no_link_and_creates_private_files() {
        let temp = tempfile::tempdir().unwrap();
        let (victim, link) = (temp.path().join("victim"), temp.path().join("copied.txt"));
        fs::write(&victim, "mine").unwrap();
        symlink(&victim, &link).unwrap();
        replace(&link, b"copied").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"mine");
        assert_eq!(fs::read(&link).unwrap(), b"copied");
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
        assert_eq!(fs::metadata(&link).unwrap().permissions().mode() & 0o777, 0o600);
        let shared = temp.path().join("page.1");
        replace_shared(&shared, b"page").unwrap();
        assert_eq!(fs::metadata(&shared).unwrap().permissions().mode() & 0o700, 0o600);
        // No temporary file is left, even if the file can't be renamed.
        assert!(replace(temp.path(), b"x").is_err());
        let folder = temp.path().join("folder");
        fs::create_dir(&folder).unwrap();
        assert!(replace(&folder, b"x").is_err());
        let names: Vec<_> = fs::read_dir(temp.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names.len(), 4, "{names:?}");
    }

    #[test]
    fn write_output_writes_to_a_device() {
        write_output(Path::new("/dev/null"), |file| file.write_all(b"x")).unwrap();
        assert!(!fs::symlink_metadata("/dev/null").unwrap().is_file());
    }
}
