//! Starts Python in a sandbox: bubblewrap without network, files and other processes, and limits of time and memory.

use crate::env::external::{ChildCommand, ChildProcess};
use crate::env::{EnvError, TaskAccess, TaskError};
use rustix::process::geteuid;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

/// How the lines begin that the judge prints.
pub(super) const REPLY_PREFIX: &str = "retrospect-";
const JUDGE: &str = include_str!("judge.py");
/// Where the programs are looked for.
const FOLDERS: [&str; 4] = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin"];
/// How long Python may take to start.
pub(super) const START_LIMIT: Duration = Duration::from_secs(20);
/// How often, and at what intervals, to try again while there are too many processes.
const MAX_ATTEMPTS: u32 = 20;
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(250);
/// Bytes of memory, seconds of computing time, bytes of a file, and open files of a tested program.
const LIMITS: [&str; 5] = ["--as=536870912", "--cpu=11", "--fsize=1048576", "--nofile=64", "--core=0"];
/// Bytes of each of the two folders that a tested program may write to. They are in memory, which `--as` doesn't count.
const WRITABLE_BYTES: &str = "16777216";
/// Processes of a tested program. All processes of its user count, so it can only be set where the program has a user of its own: in
/// the sandbox's user namespace, or as the user without rights.
const PROCESS_LIMIT: &str = "--nproc=32";
/// The user without rights, which a tested program is if this program runs as root: the limit of processes doesn't hold for root.
const NOBODY: [&str; 4] = ["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"];
const BUBBLEWRAP_HINT: &str = "install bubblewrap (Debian: `apt-get install bubblewrap`), or allow programs to run without a sandbox with --unsandboxed";
const TOOLS_HINT: &str = "install util-linux, which has prlimit and setpriv";
const PYTHON_HINT: &str = "install Python 3, or name it with programming.python";

/// How programs are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sandbox {
    words: Vec<OsString>,
    /// Whether bubblewrap keeps the program in.
    pub(super) is_closed: bool,
}

fn find_program(name: &str, access: TaskAccess) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| access.files.is_file(path))
}

fn require(name: &str, hint: &'static str, access: TaskAccess) -> Result<PathBuf, TaskError> {
    find_program(name, access).ok_or_else(|| TaskError::NoData {
        what: format!("programs can't be run: {name} is not installed"),
        hint,
    })
}

/// Returns the folder that has to be visible for an interpreter outside of `/usr`: that of its installation.
fn installation_of(python: &Path) -> Option<&Path> {
    if python.starts_with("/usr") || python.starts_with("/bin") {
        return None;
    }
    python.parent()?.parent().filter(|folder| folder.parent().is_some())
}

impl Sandbox {
    /// Finds what is needed. `python` is the interpreter, if one is named; `is_closed` demands bubblewrap.
    ///
    /// # Errors
    /// Returns [`TaskError::NoData`], which says what to install.
    pub(super) fn find(
        python: Option<&Path>,
        is_closed: bool,
        access: TaskAccess,
    ) -> Result<Self, TaskError> {
        let python = match python {
            Some(path) if access.files.is_file(path) => access.absolute_path(path),
            Some(path) => {
                let what = format!("programming.python: there is no file {}", path.display());
                return Err(TaskError::NoData { what, hint: PYTHON_HINT });
            }
            None => require("python3", PYTHON_HINT, access)?,
        };
        let mut words: Vec<OsString> = Vec::new();
        let is_root = geteuid().is_root();
        if is_root {
            words.push(require("setpriv", TOOLS_HINT, access)?.into());
            words.extend(NOBODY.map(OsString::from));
        }
        let prlimit = require("prlimit", TOOLS_HINT, access)?;
        words.push(prlimit.clone().into());
        words.extend(LIMITS.map(OsString::from));
        if is_closed {
            words.push(require("bwrap", BUBBLEWRAP_HINT, access)?.into());
            words.extend(bubblewrap_arguments(&python));
            words.extend([prlimit.into(), PROCESS_LIMIT.into()]);
        } else if is_root {
            words.push(PROCESS_LIMIT.into());
        }
        words.push(python.into());
        words.extend(["-I", "-B", "-c", JUDGE].map(OsString::from));
        Ok(Self { words, is_closed })
    }

    /// Starts a process that waits for its case.
    ///
    /// # Errors
    /// Returns [`EnvError`] if the sandbox itself doesn't work.
    pub(super) fn start(&self) -> Result<ChildProcess, EnvError> {
        let variables = [("LANG", "C.UTF-8"), ("PYTHONHASHSEED", "0")];
        let command = ChildCommand {
            words: self.words.clone(),
            variables: variables.map(|(name, value)| (name.into(), value.into())).into(),
            // Its own folder can't be entered by another user.
            folder: Some("/".into()),
            reply_prefix: REPLY_PREFIX,
            has_events: false,
        };
        let mut attempts = 0;
        loop {
            let mut child = ChildProcess::start(&command)?;
            match child.wait_for_start(START_LIMIT) {
                Ok(_) => return Ok(child),
                // The system may need a moment to remove killed processes, which count until then.
                Err(EnvError::Died { what })
                    if attempts < MAX_ATTEMPTS && what.contains("Resource temporarily unavailable") =>
                {
                    attempts += 1;
                    std::thread::sleep(ATTEMPT_INTERVAL);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Checks once whether the sandbox works, such as whether user namespaces are allowed.
    ///
    /// # Errors
    /// Returns [`TaskError::NoData`] with what the sandbox has printed.
    pub(super) fn check(&self) -> Result<(), TaskError> {
        static CHECKED: Mutex<Vec<Sandbox>> = Mutex::new(Vec::new());
        let mut checked = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
        if !checked.contains(self) {
            self.start().map_err(|error| TaskError::NoData {
                what: format!("programs can't be run: the sandbox doesn't work here: {error}"),
                hint: "allow unprivileged user namespaces, or allow programs to run without a sandbox with --unsandboxed",
            })?;
            checked.push(self.clone());
        }
        Ok(())
    }
}

fn bubblewrap_arguments(python: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = [
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--setenv",
        "PATH",
        "/usr/bin",
        "--setenv",
        "LANG",
        "C.UTF-8",
        "--setenv",
        "PYTHONHASHSEED",
        "0",
        "--setenv",
        "TMPDIR",
        "/scratch",
        "--ro-bind",
        "/usr",
        "/usr",
        "--symlink",
        "usr/lib",
        "/lib",
        "--symlink",
        "usr/lib64",
        "/lib64",
        "--symlink",
        "usr/bin",
        "/bin",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--size",
        WRITABLE_BYTES,
        "--tmpfs",
        "/scratch",
        // Semaphores of Python's multiprocessing live there.
        "--size",
        WRITABLE_BYTES,
        "--tmpfs",
        "/dev/shm",
    ]
    .map(OsString::from)
    .into();
    if let Some(folder) = installation_of(python) {
        words.extend(["--ro-bind".into(), folder.into(), folder.into()]);
    }
    // What bubblewrap mounts everything on is kept in memory too, and has no limit of its own.
    words.extend(["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/scratch"].map(OsString::from));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{TaskFiles, TaskOptions};

    /// Every program is installed but this one.
    struct AllBut(&'static str);

    impl TaskFiles for AllBut {
        fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
            Err(std::io::ErrorKind::NotFound.into())
        }

        fn is_file(&self, path: &Path) -> bool {
            !path.ends_with(self.0)
        }

        fn is_dir(&self, _: &Path) -> bool {
            true
        }

        fn list(&self, _: &Path) -> Vec<PathBuf> {
            Vec::new()
        }

        fn canonicalize(&self, path: &Path) -> std::io::Result<PathBuf> {
            Ok(path.to_owned())
        }
    }

    #[test]
    fn what_is_missing_is_named_with_what_to_install() {
        for (missing, hint) in [
            ("bwrap", "apt-get install bubblewrap"),
            ("prlimit", "install util-linux"),
            ("python3", "install Python 3"),
        ] {
            let access = TaskAccess { files: &AllBut(missing), options: &TaskOptions::default() };
            let error = Sandbox::find(None, true, access).unwrap_err();
            let TaskError::NoData { what, hint: found } = error else { panic!("{error}") };
            assert_eq!(what, format!("programs can't be run: {missing} is not installed"));
            assert!(found.contains(hint), "{found}");
        }
        let access = TaskAccess { files: &AllBut("bwrap"), options: &TaskOptions::default() };
        assert!(!Sandbox::find(None, false, access).unwrap().is_closed);
    }

    #[test]
    fn a_system_without_user_namespaces_is_refused_with_its_own_words() {
        let script = "echo 'bwrap: No permissions to create new namespace' >&2; exit 1";
        let words = ["/bin/sh", "-c", script].map(OsString::from).into();
        let error = Sandbox { words, is_closed: true }.check().unwrap_err();
        let TaskError::NoData { what, hint } = error else { panic!("{error}") };
        assert!(
            what.contains("the sandbox doesn't work here") && what.contains("create new namespace"),
            "{what}"
        );
        assert!(
            hint.contains("allow unprivileged user namespaces") && hint.contains("--unsandboxed"),
            "{hint}"
        );
    }

    #[test]
    fn only_the_installation_of_an_interpreter_elsewhere_is_added() {
        for (python, folder) in [
            ("/usr/bin/python3", None),
            ("/usr/local/bin/python3", None),
            ("/opt/python/bin/python3", Some("/opt/python")),
            ("/bin/python3", None),
            ("/python3", None),
            // Never the whole disk.
            ("/opt/python3", None),
        ] {
            assert_eq!(installation_of(Path::new(python)), folder.map(Path::new), "{python}");
        }
    }
}
