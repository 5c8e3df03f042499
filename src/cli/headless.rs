//! Drives a session without a person: starts it, tells what happens, and ends it in order.

use super::args::OnError;
use super::breakpoints;
use super::error::{CliError, CliErrorKind, resume_command};
use super::printer::{self, EventPrinter};
use crate::domain::{EndReason, Seq};
use crate::driver::{Halt, Handle, Health, RescueOutcome};
use crate::engine::{Command, RunStatus, State};
use crate::report::StepRef;
use crate::signals::{self, Guard};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

/// What is said of a driver that has ended without having been told to.
pub(super) const DRIVER_PANICKED: &str =
    "the part of this program that drives the session broke (a panic); what was written is whole";

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The run is over.
    Finished,
    /// It stopped before its end and can be resumed; why.
    Stopped(String),
    /// The rebuilt world says other things than the journal: only a person can accept that; how they differ.
    Diverged(String),
    /// A signal came.
    Interrupted,
}

impl Ending {
    /// The word in the summary line.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Stopped(_) | Self::Diverged(_) => "stopped",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A session on its way to the screen.
#[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "a build without the screen shows nothing"))]
pub(super) struct ScreenSession<'a> {
    /// The way to it.
    pub(super) handle: &'a Handle,
    /// Its driver's thread; none where it is only looked at.
    pub(super) thread: Option<std::thread::JoinHandle<()>>,
    /// Its folder.
    pub(super) dir: &'a Path,
    /// Where the screen opens; none: at its end.
    pub(super) position: Option<StepRef>,
}

/// A runtime for waiting on one session.
pub(super) fn new_runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| {
        CliError::new(
            CliErrorKind::Session,
            format!("the system gave no runtime: {e}"),
            "close other programs, then try again",
        )
    })
}

/// Runs a session to its end. The driver is told to quit and its last events are told before this returns.
pub(super) fn run_to_end(
    handle: &Handle,
    thread: std::thread::JoinHandle<()>,
    teller: &mut EventPrinter,
    on_error: OnError,
) -> Result<Ending, CliError> {
    let ended = with_session(handle, Some(thread), || {
        new_runtime()?.block_on(drive_to_end(handle, teller, on_error))
    });
    let rest = print_new_events(handle, teller);
    // A journal that another program changed may be found out only as the session is closed.
    if let Health::Halted(halt) = handle.store.live().health {
        return Err(halt_error(&halt, &teller.path));
    }
    if ended != Ok(Ending::Finished) && signals::pending_signal().is_some() {
        return Ok(Ending::Interrupted);
    }
    let ended = ended?;
    rest?;
    Ok(ended)
}

/// Keeps signals from ending the process before the session that is about to be opened is closed.
pub(super) fn guard_session_signals() -> Result<Guard, CliError> {
    Guard::opening().map_err(|e| signal_error(&e))
}

/// Keeps signals from ending the process while a screen is shown that has no session to close.
pub(super) fn guard_screen_signals() -> Result<Guard, CliError> {
    Guard::without_session().map_err(|e| signal_error(&e))
}

fn signal_error(error: &std::io::Error) -> CliError {
    CliError::new(
        CliErrorKind::Session,
        format!("signals cannot be handled: {error}"),
        "close other programs, then try again",
    )
}

/// The session is open: a signal closes it.
pub(super) fn close_on_signal(guard: &Guard, handle: &Handle) {
    let (close, closed) = (handle.clone(), handle.clone());
    guard.set_session(move || close.quit(), move || closed.has_ended());
}

/// Does the work with a session, then closes the session, also when the work panics.
///
/// # Errors
/// Those of the work, and its panic.
pub(super) fn with_session<T>(
    handle: &Handle,
    thread: Option<std::thread::JoinHandle<()>>,
    work: impl FnOnce() -> Result<T, CliError>,
) -> Result<T, CliError> {
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    if let Some(thread) = thread {
        handle.quit();
        // A driver that panicked has said so itself; what it wrote is whole.
        let _ = thread.join();
    }
    done.unwrap_or_else(|_| {
        Err(CliError::new(
            CliErrorKind::Session,
            "this program broke (a panic, told above); the session is closed and nothing of it is lost",
            "resume it; if it breaks again, report what the panic says",
        ))
    })
}

/// How often it is looked whether a model is silent.
pub(super) const SILENCE_CHECK_INTERVAL: std::time::Duration = std::time::Duration::from_secs(5);

async fn drive_to_end(
    handle: &Handle,
    teller: &mut EventPrinter,
    on_error: OnError,
) -> Result<Ending, CliError> {
    let mut news = handle.store.changes();
    let stop = signals::wait_for_signal();
    tokio::pin!(stop);
    let refused = |r: crate::engine::CommandError| CliError::new(CliErrorKind::Session, r.message, r.hint);
    if handle.store.head().failed_call.is_some() {
        // What failed before this session was put down is tried once more; what has been mended since goes on.
        // The list is answered after the rebuilding, and the pause (which changes nothing here) after its result: a
        // retry that overtook a difference of the world would accept it unseen.
        handle.admissible().await;
        handle.send_and_wait(Command::Pause).await.map_err(refused)?;
        if handle.store.head().divergence.is_none() {
            handle.send_and_wait(Command::Retry).await.map_err(refused)?;
        }
    }
    let head = handle.store.head();
    if !head.run_over && head.divergence.is_none() {
        resume_run(handle).await?;
    }
    loop {
        print_new_events(handle, teller)?;
        let state = &teller.state;
        if let Health::Halted(halt) = handle.store.live().health {
            return Err(halt_error(&halt, &teller.path));
        }
        if state.run_over && state.open_episode().is_none() {
            return Ok(Ending::Finished);
        }
        if let Some(trouble) = pending_problem(state) {
            match on_error {
                OnError::Stop if state.divergence.is_some() => return Ok(Ending::Diverged(trouble)),
                OnError::Stop => return Ok(Ending::Stopped(trouble)),
                OnError::SkipTask => {
                    // Between episodes only the mentor can have failed: the run goes on without what it would have said.
                    let wish = match state.open_episode() {
                        Some(_) => Command::EndEpisode(EndReason::Error),
                        None => Command::GiveUp,
                    };
                    handle.send_and_wait(wish).await.map_err(refused)?;
                    let head = handle.store.head();
                    if is_idle(&head) && head.breakpoints.current_hit.is_none() {
                        resume_run(handle).await?;
                    }
                    continue;
                }
            }
        }
        if is_idle(state) && handle.store.head().head == state.head {
            let why = breakpoints::current_hit(state);
            return Ok(Ending::Stopped(
                why.unwrap_or_else(|| "the run stands still and waits for a person".to_owned()),
            ));
        }
        tokio::select! {
            biased;
            _ = &mut stop => return Ok(Ending::Interrupted),
            // A model that is silent makes no news.
            () = tokio::time::sleep(SILENCE_CHECK_INTERVAL) => {}
            changed = news.changed() => {
                if changed.is_err() || handle.store.live().health == Health::Ended {
                    print_new_events(handle, teller)?;
                    return Ok(match (teller.state.run_over, teller.state.closed) {
                        (true, _) => Ending::Finished,
                        (false, true) => Ending::Stopped("the session was closed".to_owned()),
                        (false, false) => Ending::Stopped(DRIVER_PANICKED.to_owned()),
                    });
                }
            }
        }
    }
}

/// Lets the run go on. What failed since it was last looked at refuses that, and is dealt with like any other failure.
async fn resume_run(handle: &Handle) -> Result<(), CliError> {
    let Err(refusal) = handle.send_and_wait(Command::Run).await else { return Ok(()) };
    let head = handle.store.head();
    if head.failed_call.is_some() || head.divergence.is_some() {
        return Ok(());
    }
    Err(CliError::new(CliErrorKind::Session, refusal.message, refusal.hint))
}

/// Nothing moves of itself any more.
fn is_idle(state: &State) -> bool {
    state.calls.is_empty() && state.run_status == RunStatus::Paused && state.grant.is_none()
}

/// A failed write, told by a program that ends with it: nobody is left here to write again.
pub(super) fn halt_error(halt: &Halt, session: &str) -> CliError {
    let why = &halt.reason;
    let (message, hint) = match &halt.rescue {
        None => (
            format!(
                "{session}: {why}; the run has stopped; all events up to {} are saved, what came after is not",
                halt.head
            ),
            format!("free some space on the disk, then go on with `{}`", resume_command(session)),
        ),
        Some(RescueOutcome { dir: Some(dir), message: what, is_complete: complete }) => {
            let resume = resume_command(&dir.display().to_string());
            let hint = if *complete {
                format!("go on with `{resume}`")
            } else {
                format!("put back the journal of {session} from a copy, or go on with `{resume}`")
            };
            (format!("{session}: {why}; the run has stopped; {what} {}", dir.display()), hint)
        }
        Some(RescueOutcome { dir: None, message: what, .. }) => (
            format!("{session}: {why}; the run has stopped; {what}"),
            format!("put the file back from a copy, then go on with `{}`", resume_command(session)),
        ),
    };
    CliError::new(CliErrorKind::File, message, hint)
}

/// The failed call or the difference that waits for a decision, in words.
fn pending_problem(state: &State) -> Option<String> {
    if let Some((episode, step, recorded, now)) = &state.divergence {
        return Some(format!(
            "episode {episode} step {step}: the rebuilt world says {now:?} where the journal has {recorded:?}"
        ));
    }
    let (_, failure) = state.failed_call.as_ref()?;
    Some(format!("{}: {}; {}", failure.source, failure.message, failure.hint))
}

/// Tells what is new.
pub(super) fn print_new_events(handle: &Handle, teller: &mut EventPrinter) -> Result<(), CliError> {
    const BATCH_SIZE: u64 = 1024;
    teller.follow_branch_switch(&handle.store)?;
    let head = handle.store.head().head;
    teller.print_signals(&handle.store);
    teller.print_silences(&handle.store);
    // A long session that is told from its start is never held as a whole.
    while teller.last_printed() < head {
        let after = teller.last_printed();
        for envelope in printer::read_events(&handle.store, after, head.min(Seq(after.0 + BATCH_SIZE)))? {
            teller.print_event(&envelope)?;
        }
    }
    Ok(())
}
