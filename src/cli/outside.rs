//! What the screen asks of the world around it: an editor, a file for what was copied, a report.

use crate::domain::Seq;
use crate::driver::Store;
use crate::report::{Record, html};
use crate::ui::app::Outside;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes beside a session, or in the working directory where it has no folder.
pub(super) struct Around {
    /// The session's folder; empty where it came out of a report.
    pub(super) dir: PathBuf,
}

impl Outside for Around {
    fn edit(&self, text: &str) -> Result<Option<String>, String> {
        let editor =
            ["VISUAL", "EDITOR"].iter().find_map(|v| std::env::var(v).ok().filter(|e| !e.trim().is_empty()));
        let Some(editor) = editor else {
            return Err("no editor is set; set VISUAL or EDITOR, or write here".to_owned());
        };
        let path = std::env::temp_dir().join(format!("retrospect-{}.txt", std::process::id()));
        write(&path, text)?;
        // The variable may hold flags after the program's name.
        let mut words = editor.split_whitespace();
        let program = words.next().unwrap_or("vi");
        let ended = Command::new(program).args(words).arg(&path).status();
        let edited = fs::read_to_string(&path);
        // Nobody needs the copy any more; a folder that does not let go of it is cleaned by the system.
        let _ = fs::remove_file(&path);
        match (ended, edited) {
            (Ok(status), Ok(new)) if status.success() => {
                let new = new.trim_end().to_owned();
                Ok((new != text.trim_end()).then_some(new))
            }
            (Ok(status), Ok(_)) => Err(format!("{editor} ended with {status}; nothing was changed")),
            (Err(e), _) => Err(format!("{editor} could not be started: {e}")),
            (_, Err(e)) => Err(format!("{}: could not be read back: {e}", path.display())),
        }
    }

    fn keep(&self, text: &str) -> Result<String, String> {
        let path = self.dir.join("copied.txt");
        write(&path, text)?;
        Ok(path.display().to_string())
    }

    fn export(&self, store: &Store) -> Result<String, String> {
        let events = store.timeline().since(Seq(0));
        let record = Record::of(&events);
        let files = super::place::files_of(&self.dir).unwrap_or_else(|_| BTreeMap::new());
        let name = if record.session.is_empty() { "report" } else { "report-" };
        let path = self.dir.join(format!("{name}{}.html", record.session));
        write(&path, &html(&record, record.interesting(), &files))?;
        Ok(path.display().to_string())
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let written =
        options.open(path).and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|e| format!("{}: could not be written: {e}", path.display()))
}
