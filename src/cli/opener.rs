//! Opens a file with the program that the platform's desktop uses for it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long the opener may fail. One that still runs then has started the browser, and ends with it.
const FAILURE_TIME: Duration = Duration::from_secs(3);

/// Returns the platform's opener, if there is one and a desktop on which it can open something. `variable` reads the
/// environment.
pub(super) fn find_opener(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    let name = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(unix) && (is_set("WAYLAND_DISPLAY") || is_set("DISPLAY")) {
        // Without a desktop it would start a browser in this terminal.
        "xdg-open"
    } else {
        return None;
    };
    let path = variable("PATH")?;
    // A relative folder would depend on where the program was started.
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(file).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// Opens a file. The program it starts outlives this one.
///
/// # Errors
/// Returns a message if the opener can't be started or fails at once.
pub(super) fn open_file(opener: &Path, file: &str) -> Result<(), String> {
    let mut command = Command::new(opener);
    command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A signal to this program's group, such as Ctrl-C, doesn't reach the browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let name = opener.display();
    let mut child = command.spawn().map_err(|error| format!("{name} could not be started: {error}"))?;
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || {
        // Nobody listens any more after a while.
        let _ = sender.send(child.wait());
    });
    match ended.recv_timeout(FAILURE_TIME) {
        Ok(Ok(status)) if !status.success() => Err(format!("{name} {file} failed: {status}")),
        Ok(Err(error)) => Err(format!("waiting for {name} failed: {error}")),
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
#[cfg(all(unix, not(target_os = "macos")))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    /// Writes a program that does what a script says.
    fn opener(folder: &Path, script: &str) -> PathBuf {
        let file = folder.join("xdg-open");
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    #[test]
    fn an_opener_is_offered_only_where_it_can_open_something() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().as_os_str();
        let find = |path: &std::ffi::OsStr, display: &str| {
            find_opener(|name| match name {
                "PATH" => Some(path.to_owned()),
                "DISPLAY" => Some(display.into()),
                _ => None,
            })
        };
        assert_eq!(find(path, ":0"), None, "there is no such program");
        let file = opener(temp.path(), "exit 0");
        assert_eq!(find(path, ":0"), Some(file.clone()));
        assert_eq!(find(path, ""), None, "there is no desktop");
        assert_eq!(find(".".as_ref(), ":0"), None, "relative folders don't count");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(find(path, ":0"), None, "it can't be executed");
    }

    #[test]
    fn the_opener_gets_the_path_and_its_failure_is_reported() {
        let temp = tempfile::tempdir().unwrap();
        let told = temp.path().join("told");
        let file = opener(temp.path(), &format!("printf %s \"$1\" > '{}'", told.display()));
        open_file(&file, "/tmp/a b; c.html").unwrap();
        assert_eq!(fs::read_to_string(&told).unwrap(), "/tmp/a b; c.html");
        let file = opener(temp.path(), "exit 3");
        let error = open_file(&file, "/tmp/report.html").unwrap_err();
        assert!(error.contains("/tmp/report.html failed") && error.contains('3'), "{error}");
        assert!(open_file(&temp.path().join("none"), "x").unwrap_err().contains("could not be started"));
    }
}
