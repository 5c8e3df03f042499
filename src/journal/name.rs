//! Names of session folders: `<utc as 20261120T104000Z>-<slug>-<id>`.

use jiff::{Timestamp, tz::TimeZone};
use sha2::{Digest, Sha256};

/// Returns the name of a new session's folder. `salt` distinguishes sessions of the same second and title.
pub fn session_name(created: Timestamp, title: &str, salt: u64) -> String {
    let stamp = created.to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ").to_string();
    let mut hash = Sha256::new();
    hash.update(created.as_nanosecond().to_le_bytes());
    hash.update(salt.to_le_bytes());
    hash.update(title.as_bytes());
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let digest = hash.finalize();
    let id: String = digest.iter().take(6).map(|b| LETTERS[usize::from(b & 31)] as char).collect();
    format!("{stamp}-{}-{id}", slug(title))
}

/// Returns the text as lower-case words joined by hyphens, at most 40 bytes; `session` if nothing is left.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if slug.len() >= 40 {
            break;
        }
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "session".to_owned() } else { slug.to_owned() }
}
