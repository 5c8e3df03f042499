//! Which hints of the first run a person has followed. They are remembered for all later sessions.

use crate::files;
use crate::ui::FirstRunHint;
use std::path::{Path, PathBuf};

/// Each followed hint, as in the file, and the hint that comes next.
const FOLLOWED: [(&str, FirstRunHint); 2] =
    [("step", FirstRunHint::WaitForMistake), ("lesson", FirstRunHint::None)];

/// Returns the file in the user's state folder.
pub(super) fn hints_file() -> Option<PathBuf> {
    use etcetera::BaseStrategy as _;
    let strategy = etcetera::choose_base_strategy().ok()?;
    let folder = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
    Some(folder.join("retrospect").join("hints"))
}

/// Returns the hint that a session begins with. Without a file, or with one of another program, it is the first.
pub(super) fn next_hint(file: Option<&Path>) -> FirstRunHint {
    let text = file.and_then(|file| super::bounded::read_text(file).ok()).unwrap_or_default();
    let followed = FOLLOWED.iter().rfind(|(word, _)| text.lines().any(|line| line.trim() == *word));
    followed.map_or(FirstRunHint::Step, |(_, next)| *next)
}

/// Remembers which hint comes next, because the one before was followed.
///
/// # Errors
/// Returns a message if the file can't be written.
pub(super) fn remember(file: Option<&Path>, next: FirstRunHint) -> Result<(), String> {
    let Some(file) = file else { return Ok(()) };
    let Some(at) = FOLLOWED.iter().position(|(_, after)| *after == next) else { return Ok(()) };
    let text: String = FOLLOWED[..=at].iter().flat_map(|(word, _)| [word, "\n"]).collect();
    let failed = |error: std::io::Error| {
        format!("{}: could not be written: {error}; the hint will be shown again", file.display())
    };
    if let Some(folder) = file.parent() {
        files::create_folder(folder).map_err(failed)?;
    }
    files::replace(file, text.as_bytes()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_followed_hint_is_never_shown_again() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("state/retrospect/hints");
        let next = || next_hint(Some(&file));
        assert_eq!((next(), next_hint(None)), (FirstRunHint::Step, FirstRunHint::Step));
        for hint in [FirstRunHint::WaitForMistake, FirstRunHint::None] {
            remember(Some(&file), hint).unwrap();
            assert_eq!(next(), hint);
        }
        std::fs::write(&file, "something else\n").unwrap();
        assert_eq!(next(), FirstRunHint::Step);
        // It says so if it can't be written.
        let below_a_file = file.join("hints");
        assert!(remember(Some(&below_a_file), FirstRunHint::None).unwrap_err().contains("shown again"));
    }
}
