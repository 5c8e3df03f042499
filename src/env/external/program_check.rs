//! Whether the program of a child can be executed. The shell that starts it would report only an exit status, like that of a
//! program which ends by itself.

use super::running_child::ChildCommand;
use rustix::fs::{Access, access};
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// How much of a script is read to find its interpreter.
const FIRST_LINE_BYTES: u64 = 256;

/// Looks for a command's program where the child looks for it: a name without a slash in the folders of `PATH`, any other
/// in the working folder.
///
/// # Errors
/// Returns why it can't be executed, and what to do.
pub(super) fn check_program(command: &ChildCommand) -> Result<(), String> {
    if let Some(folder) = &command.folder
        && !folder.is_dir()
    {
        return Err(format!("the folder {} in which it is started doesn't exist", folder.display()));
    }
    let Some(program) = command.words.first().filter(|word| !word.is_empty()) else {
        return Err("its command is empty".to_owned());
    };
    if program.as_bytes().contains(&b'/') {
        return check_path(Path::new(program), command.folder.as_deref());
    }
    // Without `PATH` the shell has folders of its own.
    let Some(folders) = search_path(command) else { return Ok(()) };
    let places: Vec<PathBuf> = std::env::split_paths(&folders)
        .filter_map(|folder| resolve(&folder.join(program), command.folder.as_deref()))
        .filter(|place| place.is_file())
        .collect();
    match (places.iter().find(|place| is_executable(place)), places.first()) {
        (Some(place), _) => check_interpreter(place),
        (None, Some(place)) => Err(not_executable(place)),
        (None, None) => Err(format!(
            "{} is in no folder of PATH: install it, correct its name, or give its path",
            program.display()
        )),
    }
}

fn search_path(command: &ChildCommand) -> Option<OsString> {
    let own = command.variables.iter().rev().find(|(name, _)| name == "PATH");
    own.map(|(_, value)| value.clone()).or_else(|| std::env::var_os("PATH"))
}

/// Returns a path that finds the file from here. `None` if it is in the private temporary folder, which is empty.
fn resolve(path: &Path, folder: Option<&Path>) -> Option<PathBuf> {
    if path.is_absolute() { Some(path.to_owned()) } else { Some(folder?.join(path)) }
}

fn check_path(path: &Path, folder: Option<&Path>) -> Result<(), String> {
    let Some(place) = resolve(path, folder) else {
        return Err(format!(
            "{} is a path in the folder in which it is started, an empty temporary one: give the whole path, or \
             another folder",
            path.display()
        ));
    };
    if place.is_dir() {
        return Err(format!("{} is a folder", place.display()));
    }
    if !place.is_file() {
        return Err(format!(
            "there is no file {}: correct the path, or install the program",
            place.display()
        ));
    }
    if !is_executable(&place) {
        return Err(not_executable(&place));
    }
    check_interpreter(&place)
}

fn is_executable(path: &Path) -> bool {
    access(path, Access::EXEC_OK).is_ok()
}

fn not_executable(path: &Path) -> String {
    format!(
        "{} is not executable: allow it with `chmod +x`, or begin the command with its interpreter",
        path.display()
    )
}

/// Checks that the interpreter which the first line of a script names exists.
fn check_interpreter(program: &Path) -> Result<(), String> {
    let mut start = Vec::new();
    // A program that can be executed but not read is no script.
    let read =
        crate::files::open(program).and_then(|file| file.take(FIRST_LINE_BYTES).read_to_end(&mut start));
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(rest) = line.strip_prefix(b"#!").filter(|_| read.is_ok()) else { return Ok(()) };
    let mut words = rest.split(u8::is_ascii_whitespace);
    let Some(interpreter) = words.find(|word| !word.is_empty()) else { return Ok(()) };
    let interpreter = Path::new(OsStr::from_bytes(interpreter));
    if !interpreter.is_absolute() || interpreter.is_file() {
        return Ok(());
    }
    Err(format!(
        "the first line of {} names the interpreter {}, which doesn't exist: install it, or begin the command with another \
         one",
        program.display(),
        interpreter.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn write(folder: &Path, name: &str, text: &str, mode: u32) {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Regression: a program that doesn't exist, or can't be executed, was said to have crashed.
    #[test]
    fn a_program_that_cannot_be_executed_is_named_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        write(path, "plain", "text", 0o644);
        write(path, "good", "#!/bin/sh\n", 0o755);
        write(path, "env", "#! /usr/bin/env nosuch\n", 0o755);
        write(path, "binary", "\u{7f}ELF", 0o755);
        write(path, "orphan", "#!/no/such/interpreter -x\n", 0o755);
        fs::create_dir(path.join("folder")).unwrap();
        let check = |word: &str, folder: Option<&Path>, search: Option<&Path>| {
            let variables = search.map(|value| vec![("PATH".into(), value.into())]).unwrap_or_default();
            check_program(&ChildCommand {
                words: vec![word.into()],
                variables,
                folder: folder.map(Path::to_owned),
                reply_prefix: "",
                has_events: false,
            })
        };
        let (here, no_folder) = (Some(path), None);
        for (word, folder, search) in [
            ("sh", no_folder, None),
            ("/bin/sh", no_folder, None),
            ("./good", here, None),
            ("./env", here, None),
            ("./binary", here, None),
            ("good", no_folder, here),
        ] {
            assert_eq!(check(word, folder, search), Ok(()), "{word}");
        }
        for (word, folder, search, part) in [
            ("", here, None, "its command is empty"),
            ("nosuch", here, None, "nosuch is in no folder of PATH"),
            ("sh", here, here, "sh is in no folder of PATH"),
            ("plain", here, here, "plain is not executable: allow it with `chmod +x`"),
            ("./plain", here, None, "plain is not executable"),
            ("./nosuch", here, None, "/nosuch: correct the path"),
            ("/no/such/program", no_folder, None, "there is no file /no/such/program"),
            ("./good", no_folder, None, "an empty temporary one: give the whole path"),
            ("./folder", here, None, "folder is a folder"),
            ("./orphan", here, None, "names the interpreter /no/such/interpreter, which doesn't exist"),
            ("sh", Some(&path.join("nosuch")), None, "nosuch in which it is started doesn't exist"),
        ] {
            let why = check(word, folder, search).unwrap_err();
            assert!(why.contains(part), "{word}: {why}");
        }
    }
}
