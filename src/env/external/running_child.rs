//! A running child process, its group, and the exchange of lines with it.
//!
//! The child leads a process group. A small shell in that group waits until this program's end of a pipe is closed, which
//! the system does however the program ends, also after `kill -9`; then it kills the group. So nothing that the child has
//! started survives, unless it has left the group.

use super::child_output::{Awaited, ChildOutput};
use super::private_folder::PrivateFolder;
use super::process_group::ProcessGroup;
use crate::env::EnvError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::any::Any;
use std::ffi::OsString;
use std::io::{self, ErrorKind, PipeWriter, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Starts the command after the first two arguments: a file descriptor and a folder. Once the other end of that pipe is
/// closed, the process group is asked to end, the folder is removed, and the group is killed. Something may still write to the
/// folder, so removing it may take several attempts, and seconds on a busy machine; after 5 s the group is killed anyway, and what
/// removes the folder with it. The waiting shell is not a child of the command, keeps none of its streams open, and ignores the signal
/// that asks the command to end.
const WATCH_SCRIPT: &str = r#"( ( trap "" HUP INT TERM; read _ <"/dev/fd/$1"; cd /; kill -TERM 0; ( sleep 5; kill -9 0 ) &
sleep 0.1; until rm -rf -- "$2"; do sleep 0.05; done; kill -9 0 ) </dev/null >/dev/null 2>&1 & )
shift 2; exec "$@""#;
/// The variables that a child gets from this program's own environment.
const INHERITED_VARIABLES: [&str; 3] = ["PATH", "HOME", "LANG"];
/// How long a child may take to end after its standard input is closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// How long to wait for what a process that has ended may have left in its pipes.
const LAST_OUTPUT: Duration = Duration::from_millis(500);
/// How often to check, while waiting for a reply, whether the process has ended.
const EXIT_CHECK: Duration = Duration::from_millis(100);
/// How often to check, while waiting for its end, whether a process has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How to start a child process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildCommand {
    /// The program and its arguments, which no shell interprets.
    pub words: Vec<OsString>,
    /// Environment variables. The child gets these, `PATH`, `HOME` and `LANG`, and no others: no key of this program.
    pub variables: Vec<(OsString, OsString)>,
    /// The working folder; if `None`, the private temporary folder.
    pub folder: Option<PathBuf>,
    /// How the lines of standard output that are replies begin. All others are ignored, except in error messages.
    pub reply_prefix: &'static str,
    /// Whether a JSON object with `event` and without `id` is no reply, but ignored like other lines.
    pub has_events: bool,
}

/// The last request of a process, and the limit for its reply. The function gets the request's number.
pub type Farewell = (fn(u64) -> String, Duration);

impl ChildCommand {
    /// Returns the program's name, for error messages.
    pub(super) fn program(&self) -> String {
        self.words.first().map(|word| word.display().to_string()).unwrap_or_default()
    }
}

/// A running child process. Whoever has it calls [`RunningChild::end`] or [`RunningChild::end_after`]; if nobody does, it
/// is killed without a grace period.
pub(super) struct RunningChild {
    pub(super) command: ChildCommand,
    child: Child,
    /// Another thread may kill it.
    pub(super) group: Arc<ProcessGroup>,
    stdin: ChildStdin,
    /// Nothing is written here. The watching shell sees when it is closed.
    _life: PipeWriter,
    output: ChildOutput,
    folder: PrivateFolder,
    /// How many requests have been numbered.
    pub(super) request_count: u64,
    pub(super) farewell: Option<Farewell>,
    /// What its environment keeps with it between episodes.
    pub(super) notes: Option<Box<dyn Any + Send>>,
}

/// Why there is no reply.
pub(super) enum Failure {
    /// None came within this time.
    TimedOut(Duration),
    /// The process ended, or closed its output.
    Died,
    /// The process ended, or closed its connection.
    Disconnected,
    Protocol(String),
    /// The process says that it can't continue.
    Reported(String),
}

impl RunningChild {
    pub(super) fn start(command: &ChildCommand) -> io::Result<Self> {
        let folder = PrivateFolder::create()?;
        let (life_reader, life) = io::pipe()?;
        // Any process that is started meanwhile inherits this end, too, which does no harm: only the other end counts.
        fcntl_setfd(&life_reader, FdFlags::empty())?;
        let inherited =
            INHERITED_VARIABLES.map(|name| std::env::var_os(name).map(|value| (name.into(), value)));
        let mut child = Command::new("/bin/sh")
            .args(["-c", WATCH_SCRIPT, "sh"])
            .arg(life_reader.as_raw_fd().to_string())
            .arg(folder.path())
            .args(&command.words)
            .env_clear()
            .envs(inherited.into_iter().flatten().chain(command.variables.iter().cloned()))
            .current_dir(command.folder.as_deref().unwrap_or(folder.path()))
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("it has no pipes"));
        };
        // A child that doesn't read must not block a request beyond its limit.
        fcntl_setfl(&stdin, OFlags::NONBLOCK)?;
        let output = ChildOutput::read(stdout, stderr, command.reply_prefix, command.has_events)?;
        let group = Arc::new(ProcessGroup::new(Pid::from_child(&child)));
        Ok(Self {
            command: command.clone(),
            child,
            group,
            stdin,
            output,
            _life: life,
            folder,
            request_count: 0,
            farewell: None,
            notes: None,
        })
    }

    /// Sends a line and returns the line that is its reply.
    pub(super) fn exchange(&mut self, request: &str, limit: Duration) -> Result<String, Failure> {
        let deadline = Instant::now() + limit;
        self.send(request, deadline)
            .and_then(|()| self.receive(deadline))
            .map_err(|failure| failure.unwrap_or(Failure::TimedOut(limit)))
    }

    /// Waits for the line that the process prints by itself when it has started. What it has printed before says nothing
    /// about later failures and is forgotten.
    pub(super) fn wait_for_start(&mut self, limit: Duration) -> Result<String, Failure> {
        let line = self.receive(Instant::now() + limit);
        let line = line.map_err(|failure| failure.unwrap_or(Failure::TimedOut(limit)))?;
        self.output.clear();
        Ok(line)
    }

    /// Returns the private temporary folder of the process.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Waits for a line that is printed without a request.
    pub(super) fn wait_for_line(&mut self, limit: Duration) -> Result<String, Failure> {
        self.receive(Instant::now() + limit).map_err(|failure| failure.unwrap_or(Failure::TimedOut(limit)))
    }

    /// Treats everything that the process prints from now on as no replies.
    pub(super) fn ignore_output(&self) {
        self.output.ignore_replies();
    }

    /// Returns a function that returns the end of what the process has printed, apart from replies.
    pub(super) fn printed_text(&self) -> impl Fn() -> String + Send + use<> {
        self.output.printed_text()
    }

    /// Returns whether the process is running and every reply was asked for, so that it can be used for another episode.
    pub(super) fn is_healthy(&self) -> bool {
        !self.group.is_killed() && !has_exited(&self.child) && !self.output.has_unasked_reply()
    }

    /// `Err(None)` if the deadline has passed.
    fn send(&mut self, request: &str, deadline: Instant) -> Result<(), Option<Failure>> {
        if self.output.has_unasked_reply() {
            return Err(Some(Failure::Protocol("it replied without a request".to_owned())));
        }
        let line = format!("{request}\n");
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            match self.stdin.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(None);
                    }
                    let timeout = Timespec::try_from(left).ok();
                    // Whatever it returns, the next attempt to write decides.
                    let _ = poll(&mut [PollFd::new(&self.stdin, PollFlags::OUT)], timeout.as_ref());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // It has closed its input; its output says whether it has ended.
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// `Err(None)` if the deadline has passed.
    fn receive(&mut self, mut deadline: Instant) -> Result<String, Option<Failure>> {
        let mut is_last_wait = false;
        loop {
            let now = Instant::now();
            // What it has started may keep its output open, so the end of the process is noticed on its own.
            match self.output.wait_for_reply(deadline.saturating_duration_since(now).min(EXIT_CHECK)) {
                Awaited::Reply(reply) => return reply.map_err(|what| Some(Failure::Protocol(what))),
                Awaited::Closed => return Err(Some(Failure::Died)),
                Awaited::TimedOut if now >= deadline => return Err(is_last_wait.then_some(Failure::Died)),
                Awaited::TimedOut => {}
            }
            if !is_last_wait && has_exited(&self.child) {
                is_last_wait = true;
                deadline = deadline.min(Instant::now() + LAST_OUTPUT);
            }
        }
    }

    /// Kills the process group at once, and returns the error to report.
    pub(super) fn end_after(mut self, failure: Failure) -> EnvError {
        let has_ended = matches!(failure, Failure::Died | Failure::Disconnected);
        let had_exited = has_ended && wait_for_exit(&self.child, LAST_OUTPUT);
        let status = kill_group(&mut self.child, &self.group);
        self.output.wait_for_end(LAST_OUTPUT);
        let excerpt = self.output.excerpt();
        let last_output =
            if excerpt.is_empty() { String::new() } else { format!("; last output: {excerpt}") };
        match (failure, status) {
            (Failure::TimedOut(limit), _) => EnvError::TimedOut {
                millis: limit.as_millis() as u64,
                request: String::new(),
                last_output: excerpt,
            },
            (Failure::Reported(what), _) => EnvError::Died { what: format!("{what}{last_output}") },
            (Failure::Protocol(what), _) => EnvError::Protocol { what: format!("{what}{last_output}") },
            (Failure::Died | Failure::Disconnected, Some(status)) if had_exited => {
                EnvError::Died { what: format!("its process ended ({status}){last_output}") }
            }
            (Failure::Disconnected, _) => {
                EnvError::Died { what: format!("its process closed its connection{last_output}") }
            }
            (Failure::Died, _) => {
                EnvError::Died { what: format!("its process closed its standard output{last_output}") }
            }
        }
    }

    /// Sends the last request, if there is one, and closes the standard input of the process; then sends SIGTERM to its group, then SIGKILL, and waits before each
    /// whether the process ends. The last one also ends what the process has left behind.
    pub(super) fn end(mut self) {
        if let Some((line, limit)) = self.farewell.filter(|_| self.is_healthy()) {
            self.request_count += 1;
            // Whatever it answers, it is ended now.
            let _ = self.exchange(&line(self.request_count), limit);
        }
        drop(self.stdin);
        if !wait_for_exit(&self.child, GRACE) {
            self.group.terminate();
            wait_for_exit(&self.child, GRACE);
        }
        kill_group(&mut self.child, &self.group);
    }
}

/// Returns whether the process has ended. It is not reaped, so that its number stays that of its group.
fn has_exited(child: &Child) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(Pid::from_child(child)), options), Ok(None))
}

fn wait_for_exit(child: &Child, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    while !has_exited(child) {
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
    }
    true
}

/// Kills the process group. Returns how the process ended; `None` if the system can't end it in time.
fn kill_group(child: &mut Child, group: &ProcessGroup) -> Option<ExitStatus> {
    group.kill();
    if !wait_for_exit(child, GRACE) {
        return None;
    }
    group.release();
    child.wait().ok()
}
