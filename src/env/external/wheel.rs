//! Reads a member of a Python wheel, which is a ZIP archive.

use std::io::{Cursor, Read as _};
use zip::ZipArchive;
use zip::result::ZipError;

/// The maximum size of an unpacked member.
const MAX_MEMBER_BYTES: u64 = 64 << 20;

/// Returns a member of a wheel, unpacked. Its checksum is compared.
///
/// # Errors
/// Returns what is wrong with the archive, or that it has no such member.
pub fn read_wheel_member(archive: &[u8], name: &str) -> Result<Vec<u8>, String> {
    let damaged = |what: &dyn std::fmt::Display| format!("the archive is damaged: {name}: {what}");
    let mut archive =
        ZipArchive::new(Cursor::new(archive)).map_err(|error| format!("it is not a ZIP archive: {error}"))?;
    let member = archive.by_name(name).map_err(|error| match error {
        ZipError::FileNotFound => format!("the archive has no {name}"),
        error => damaged(&error),
    })?;
    let mut content = Vec::new();
    // One byte more, so that a member of exactly the maximum is told from a longer one.
    member.take(MAX_MEMBER_BYTES + 1).read_to_end(&mut content).map_err(|error| damaged(&error))?;
    if content.len() as u64 > MAX_MEMBER_BYTES {
        return Err(format!("{name} has more than {} MiB", MAX_MEMBER_BYTES >> 20));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in members {
            let method = if name.starts_with("packed") {
                CompressionMethod::Deflated
            } else {
                CompressionMethod::Stored
            };
            writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn members_are_unpacked() {
        let long: Vec<u8> = (0..100_000_u32).flat_map(|n| (n % 977).to_le_bytes()).collect();
        let members: &[(&str, &[u8])] = &[("a/b.txt", b"text"), ("packed/b", &long), ("empty", b"")];
        let archive = archive(members);
        for (name, content) in members {
            assert_eq!(read_wheel_member(&archive, name).unwrap(), *content, "{name}");
        }
        assert_eq!(read_wheel_member(&archive, "a").unwrap_err(), "the archive has no a");
    }

    #[test]
    fn damaged_archives_are_errors() {
        let whole = archive(&[("a", b"some text"), ("packed", &[7; 1000])]);
        for bytes in [&b""[..], b"PK"] {
            assert!(read_wheel_member(bytes, "a").unwrap_err().contains("not a ZIP archive"));
        }
        let at = whole.windows(9).position(|part| part == b"some text").unwrap();
        let mut changed = whole.clone();
        changed[at] ^= 1;
        assert!(read_wheel_member(&changed, "a").unwrap_err().contains("checksum"));
        // No damage makes it panic.
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed[at] ^= 1 << bit;
                for name in ["a", "packed"] {
                    let _ = read_wheel_member(&changed, name);
                }
            }
        }
    }
}
