//! Reading from outside, but not without end: a device or a runaway program must not fill the memory.

use crate::files;
use std::io::{BufRead, Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// The longest line that is taken from standard input, in bytes.
const MAX_LINE_BYTES: u64 = 8 * 1024 * 1024;
/// The longest text that is taken from a file, in bytes.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a line with its end into `line`; 0 bytes are the end of the input.
///
/// # Errors
/// The system's word, or `FileTooLarge` in words when the line is above 8 MB.
pub(super) fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<usize> {
    read_line_up_to(input, line, MAX_LINE_BYTES)
}

/// Reads a regular file.
///
/// # Errors
/// As [`files::read`]; `FileTooLarge` in words when the file is above 64 MB.
pub(super) fn read_file(path: &Path) -> Result<Vec<u8>> {
    files::read(path, MAX_FILE_BYTES)
}

/// Reads a regular text file.
///
/// # Errors
/// As [`file()`], and where the text is no UTF-8.
pub(super) fn read_text(path: &Path) -> Result<String> {
    files::read_text(path, MAX_FILE_BYTES)
}

fn read_line_up_to(input: &mut impl BufRead, line: &mut Vec<u8>, most: u64) -> Result<usize> {
    let read = input.take(most + 1).read_until(b'\n', line)?;
    if read as u64 > most {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("a line is longer than {most} bytes")));
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_end_is_refused_in_words() {
        let mut read = Vec::new();
        let mut input: &[u8] = b"1234\n123\n1234567";
        assert_eq!(read_line_up_to(&mut input, &mut read, 5).unwrap(), 5);
        assert_eq!(read_line_up_to(&mut input, &mut read, 5).unwrap(), 4);
        let refused = read_line_up_to(&mut input, &mut read, 5).unwrap_err();
        assert_eq!(refused.to_string(), "a line is longer than 5 bytes");
        let mut endless = std::io::BufReader::new(std::io::repeat(b'x'));
        assert_eq!(read_line(&mut endless, &mut Vec::new()).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_file_without_end_is_refused_in_words() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("lessons.txt");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(files::read(&path, 5).unwrap(), b"12345");
        assert_eq!(files::read(&path, 4).unwrap_err().to_string(), "it is longer than 4 bytes");
        std::fs::write(&path, [0xff]).unwrap();
        assert!(read_text(&path).is_err());
    }
}
