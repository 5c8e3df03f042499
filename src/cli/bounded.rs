//! Size-limited reading of outside input, so that a device or a runaway program cannot exhaust memory.

use crate::files;
use std::io::{BufRead, Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// Maximum length of a line of standard input, in bytes.
const MAX_LINE_BYTES: u64 = 8 * 1024 * 1024;
/// Maximum size of a file, in bytes.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Appends a line with its line ending to `line` and returns its length in bytes; 0 means end of input.
///
/// # Errors
/// Fails if reading fails, or with `FileTooLarge` if the line is longer than 8 MiB.
pub(super) fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<usize> {
    read_line_up_to(input, line, MAX_LINE_BYTES)
}

/// Reads a regular file.
///
/// # Errors
/// Fails as [`files::read`] does, with `FileTooLarge` if the file is larger than 64 MiB.
pub(super) fn read_file(path: &Path) -> Result<Vec<u8>> {
    files::read(path, MAX_FILE_BYTES)
}

/// Reads a regular text file.
///
/// # Errors
/// Fails as [`read_file`] does, and if the text is not UTF-8.
pub(super) fn read_text(path: &Path) -> Result<String> {
    files::read_text(path, MAX_FILE_BYTES)
}

fn read_line_up_to(input: &mut impl BufRead, line: &mut Vec<u8>, max_bytes: u64) -> Result<usize> {
    let read = input.take(max_bytes + 1).read_until(b'\n', line)?;
    if read as u64 > max_bytes {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("a line is longer than {max_bytes} bytes")));
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_line_fails_with_a_message() {
        let mut read = Vec::new();
        let mut input: &[u8] = b"1234\n123\n1234567";
        assert_eq!(read_line_up_to(&mut input, &mut read, 5).unwrap(), 5);
        assert_eq!(read_line_up_to(&mut input, &mut read, 5).unwrap(), 4);
        let error = read_line_up_to(&mut input, &mut read, 5).unwrap_err();
        assert_eq!(error.to_string(), "a line is longer than 5 bytes");
        let mut endless = std::io::BufReader::new(std::io::repeat(b'x'));
        assert_eq!(read_line(&mut endless, &mut Vec::new()).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn too_large_file_fails_with_a_message() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("lessons.txt");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(files::read(&path, 5).unwrap(), b"12345");
        assert_eq!(files::read(&path, 4).unwrap_err().to_string(), "it is longer than 4 bytes");
        std::fs::write(&path, [0xff]).unwrap();
        assert!(read_text(&path).is_err());
    }
}
