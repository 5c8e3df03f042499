//! Runs a session without a screen: starts it, prints its events, and closes it.

use super::breakpoints;
use super::config::keys::OnError;
use super::error::{CliError, CliErrorKind, resume_command};
use super::printer::{self, EventPrinter};
use super::shipped_demos::ShippedDemo;
use crate::domain::{EndReason, Seq};
use crate::driver::{Halt, Handle, Health, RescueOutcome};
use crate::engine::{Command, PauseReason, RunStatus, State};
use crate::report::StepRef;
use crate::signals::{self, Guard};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

/// Message for a driver thread that ended on its own.
pub(super) const DRIVER_PANICKED: &str =
    "the session's driver thread panicked (a bug); everything written so far is intact";

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The run finished.
    Finished,
    /// The run stopped early and can be resumed; contains the reason.
    Stopped(String),
    /// The rebuilt environment differs from the journal; contains the difference, which only a person can accept.
    Diverged(String),
    /// A signal arrived.
    Interrupted,
}

impl Ending {
    /// Returns the word for the summary line.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Stopped(_) | Self::Diverged(_) => "stopped",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A session to show on the screen.
#[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "a build without the screen shows nothing"))]
pub(super) struct ScreenSession<'a> {
    pub(super) handle: &'a Handle,
    /// Thread of its driver; `None` if the session is read-only.
    pub(super) thread: Option<std::thread::JoinHandle<()>>,
    /// Folder of the session; empty if it has none.
    pub(super) dir: &'a Path,
    /// The shipped session that it is, if it is one.
    pub(super) demo: Option<&'static ShippedDemo>,
    /// Whether it is played as a demo, with captions.
    pub(super) is_demo: bool,
    /// Step at which the screen opens; `None` for the end.
    pub(super) position: Option<StepRef>,
}

/// Creates a single-threaded runtime for waiting on one session.
pub(super) fn new_runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| {
        CliError::new(
            CliErrorKind::Session,
            format!("cannot create an async runtime: {e}"),
            "close other programs, then try again",
        )
    })
}

/// Runs a session to its end. Stops the driver and prints the last events before returning.
pub(super) fn run_to_end(
    handle: &Handle,
    thread: std::thread::JoinHandle<()>,
    printer: &mut EventPrinter,
    on_error: OnError,
) -> Result<Ending, CliError> {
    let ending = with_session(handle, Some(thread), || {
        new_runtime()?.block_on(drive_to_end(handle, printer, on_error))
    });
    let printed = print_new_events(handle, printer);
    // A journal changed by another program may be detected only when the session is closed.
    if let Health::Halted(halt) = handle.store.live().health {
        return Err(halt_error(&halt, &printer.path));
    }
    if ending != Ok(Ending::Finished) && signals::pending_signal().is_some() {
        return Ok(Ending::Interrupted);
    }
    let ending = ending?;
    printed?;
    Ok(ending)
}

/// Defers termination signals until the session that is about to be opened is closed.
pub(super) fn guard_session_signals() -> Result<Guard, CliError> {
    Guard::opening().map_err(|e| signal_error(&e))
}

/// Defers termination signals while a screen without a session is shown.
pub(super) fn guard_screen_signals() -> Result<Guard, CliError> {
    Guard::without_session().map_err(|e| signal_error(&e))
}

fn signal_error(error: &std::io::Error) -> CliError {
    CliError::new(
        CliErrorKind::Session,
        format!("cannot install signal handlers: {error}"),
        "close other programs, then try again",
    )
}

/// Makes a signal close the session.
pub(super) fn close_on_signal(guard: &Guard, handle: &Handle) {
    let (close, closed) = (handle.clone(), handle.clone());
    guard.set_session(move || close.quit(), move || closed.has_ended());
}

/// Does `work` with a session, then closes the session, even if `work` panics.
///
/// # Errors
/// Returns the error of `work`, or an error if it panics.
pub(super) fn with_session<T>(
    handle: &Handle,
    thread: Option<std::thread::JoinHandle<()>>,
    work: impl FnOnce() -> Result<T, CliError>,
) -> Result<T, CliError> {
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    if let Some(thread) = thread {
        handle.quit();
        // A driver that panicked has printed its message; what it wrote is intact.
        let _ = thread.join();
    }
    result.unwrap_or_else(|_| {
        Err(CliError::new(
            CliErrorKind::Session,
            "internal error (see the panic above); the session is closed and nothing is lost",
            "resume the session; if it fails again, report the panic message",
        ))
    })
}

/// How often to check whether a model is silent.
pub(super) const SILENCE_CHECK_INTERVAL: std::time::Duration = std::time::Duration::from_secs(5);

async fn drive_to_end(
    handle: &Handle,
    printer: &mut EventPrinter,
    on_error: OnError,
) -> Result<Ending, CliError> {
    let mut changes = handle.store.changes();
    let end_signal = signals::wait_for_signal();
    tokio::pin!(end_signal);
    let rejected = |r: crate::engine::CommandError| CliError::new(CliErrorKind::Session, r.message, r.hint);
    let head = handle.store.head();
    if head.failed_call.is_some() || head.divergence.is_some() {
        // Retries the call that failed before the session was stopped; its cause may be fixed by now.
        // The first wait ends once the environment is rebuilt, which settles a difference that is no longer there, and the
        // pause (a no-op here) once the result is known. A retry sent earlier could accept a difference that nobody has seen.
        handle.wait_for_environment().await;
        handle.send_and_wait(Command::Pause).await.map_err(rejected)?;
        let head = handle.store.head();
        if head.divergence.is_none() && head.failed_call.is_some() {
            handle.send_and_wait(Command::Retry).await.map_err(rejected)?;
        }
    }
    let head = handle.store.head();
    if !head.run_over && head.divergence.is_none() {
        resume_run(handle).await?;
    }
    loop {
        print_new_events(handle, printer)?;
        let state = &printer.state;
        if let Health::Halted(halt) = handle.store.live().health {
            return Err(halt_error(&halt, &printer.path));
        }
        if state.run_over && state.open_episode().is_none() {
            return Ok(Ending::Finished);
        }
        if let Some(problem) = pending_problem(state) {
            match on_error {
                OnError::Stop if state.divergence.is_some() => return Ok(Ending::Diverged(problem)),
                OnError::Stop => return Ok(Ending::Stopped(problem)),
                OnError::SkipTask => {
                    // Between episodes only a mentor call or a job can have failed: the run continues without its reply or
                    // result.
                    let command = match state.open_episode() {
                        Some(_) => Command::EndEpisode(EndReason::Error),
                        None => Command::GiveUp,
                    };
                    handle.send_and_wait(command).await.map_err(rejected)?;
                    let head = handle.store.head();
                    if is_idle(&head) && head.breakpoints.current_hit.is_none() {
                        resume_run(handle).await?;
                    }
                    continue;
                }
            }
        }
        if is_idle(state) && handle.store.head().head == state.head {
            let why = match breakpoints::current_hit(state) {
                Some(hit) => hit,
                None if state.pause_reason == Some(PauseReason::MethodStalled) => {
                    "the method makes no progress (see the warning)".to_owned()
                }
                None => "the run is paused and waits for a person".to_owned(),
            };
            return Ok(Ending::Stopped(why));
        }
        tokio::select! {
            biased;
            _ = &mut end_signal => return Ok(Ending::Interrupted),
            // A silent model causes no changes.
            () = tokio::time::sleep(SILENCE_CHECK_INTERVAL) => {}
            changed = changes.changed() => {
                if changed.is_err() || handle.store.live().health == Health::Ended {
                    print_new_events(handle, printer)?;
                    return Ok(match (printer.state.run_over, printer.state.closed) {
                        (true, _) => Ending::Finished,
                        (false, true) => Ending::Stopped("the session was closed".to_owned()),
                        (false, false) => Ending::Stopped(DRIVER_PANICKED.to_owned()),
                    });
                }
            }
        }
    }
}

/// Continues the run. Returns `Ok` if a call failed meanwhile, which the caller handles like any other failure.
async fn resume_run(handle: &Handle) -> Result<(), CliError> {
    let Err(rejection) = handle.send_and_wait(Command::Run).await else { return Ok(()) };
    let head = handle.store.head();
    if head.failed_call.is_some() || head.divergence.is_some() {
        return Ok(());
    }
    Err(CliError::new(CliErrorKind::Session, rejection.message, rejection.hint))
}

/// Returns whether nothing more happens without a command: no call in flight, and paused.
fn is_idle(state: &State) -> bool {
    state.calls.is_empty() && state.run_status == RunStatus::Paused && state.grant.is_none()
}

/// Returns the error for a failed write. The program then ends instead of retrying the write.
pub(super) fn halt_error(halt: &Halt, session: &str) -> CliError {
    let why = &halt.reason;
    let (message, hint) = match &halt.rescue {
        None => (
            format!(
                "{session}: {why}; the run has stopped; events up to {} are saved, later ones are not",
                halt.head
            ),
            format!("free some disk space, then continue with `{}`", resume_command(session)),
        ),
        Some(RescueOutcome { dir: Some(dir), message, is_complete: complete }) => {
            let resume = resume_command(&dir.display().to_string());
            let hint = if *complete {
                format!("continue with `{resume}`")
            } else {
                format!("restore the journal of {session} from a copy, or continue with `{resume}`")
            };
            (format!("{session}: {why}; the run has stopped; {message} {}", dir.display()), hint)
        }
        Some(RescueOutcome { dir: None, message, .. }) => (
            format!("{session}: {why}; the run has stopped; {message}"),
            format!("restore the file from a copy, then continue with `{}`", resume_command(session)),
        ),
    };
    CliError::new(CliErrorKind::File, message, hint)
}

/// Describes the failed call or the environment difference that waits for a decision, if any.
fn pending_problem(state: &State) -> Option<String> {
    if let Some((episode, step, recorded, now)) = &state.divergence {
        return Some(format!(
            "episode {episode} step {step}: the rebuilt environment replies {now:?}, the journal has {recorded:?}"
        ));
    }
    let (_, failure) = state.failed_call.as_ref()?;
    Some(format!("{}: {}; {}", failure.source, failure.message, failure.hint))
}

/// Prints the events since the last call.
pub(super) fn print_new_events(handle: &Handle, printer: &mut EventPrinter) -> Result<(), CliError> {
    const BATCH_SIZE: u64 = 1024;
    printer.follow_branch_switch(&handle.store)?;
    let head = handle.store.head().head;
    printer.print_signals(&handle.store);
    printer.print_silences(&handle.store);
    // In batches, so that a long session is never in memory as a whole.
    while printer.last_printed() < head {
        let after = printer.last_printed();
        for envelope in printer::read_events(&handle.store, after, head.min(Seq(after.0 + BATCH_SIZE)))? {
            printer.print_event(&envelope)?;
        }
    }
    Ok(())
}
