//! `--plain`: an interactive session line by line. Commands are the palette's action names, and output is lines of
//! text. The cursor is never moved back, so screen readers and logs get everything.

mod branches;
mod interpret;
mod labels;
mod seek;
mod view_past;

use super::bounded;
use super::config::Config;
use super::error::{CliError, CliErrorKind, resume_command};
use super::headless::{
    DRIVER_PANICKED, SILENCE_CHECK_INTERVAL, halt_error, new_runtime, print_new_events, with_session,
};
use super::models::server_flags;
use super::output::Output;
use super::printer::{EventPrinter, PrintMode};
use crate::domain::{Autonomy, Seq};
use crate::driver::{Handle, Health, Signal};
use crate::engine::{Command, RunStatus, State};
use crate::env::TaskOptions;
use crate::signals::{self, EndSignal};
use crate::text::{program_name, with_program_name};
use interpret::{LineAction, help_text, parse_line};
use labels::LabelHistory;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::mpsc;

/// Reads commands until the person quits, the input ends or a signal arrives.
pub(super) fn interact(
    handle: &Handle,
    thread: JoinHandle<()>,
    dir: &Path,
    worlds: TaskOptions,
    config: &Config,
    out: Output,
) -> Result<(), CliError> {
    let shared = Arc::new(Mutex::new(out));
    let printer = EventPrinter::new(PrintMode::Transcript, shared.clone(), dir, None, worlds);
    let mut session = PlainSession {
        handle: handle.clone(),
        printer,
        out: shared,
        last_signal: 0,
        last_status: String::new(),
        viewed_step: None,
        label_history: LabelHistory::default(),
    };
    let exit = with_session(handle, Some(thread), || new_runtime()?.block_on(session.run()));
    let path = dir.display().to_string();
    let head = handle.store.head();
    let flags = head.run.as_deref().map_or_else(String::new, |run| server_flags(config, run));
    let resume = format!("resume with `{}{flags}`", resume_command(&path));
    // Check after closing: the failed write may only show up then.
    if let Health::Halted(halt) = handle.store.live().health {
        return Err(halt_error(&halt, &path));
    }
    if exit != Ok(ExitReason::Quit) && signals::pending_signal().is_some() {
        return Err(CliError::interrupted(resume));
    }
    match exit? {
        ExitReason::Quit | ExitReason::Halted => {
            session.print_line(&resume)?;
            Ok(())
        }
        ExitReason::Interrupted => Err(CliError::interrupted(resume)),
        ExitReason::DriverFailed => Err(CliError::new(CliErrorKind::Session, DRIVER_PANICKED, resume)),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum ExitReason {
    Quit,
    Interrupted,
    /// The journal can't be written any more.
    Halted,
    /// The driver ended without being asked to.
    DriverFailed,
}

struct PlainSession {
    handle: Handle,
    printer: EventPrinter,
    out: Arc<Mutex<Output>>,
    /// Number of the last driver signal that was printed.
    last_signal: u64,
    /// The status line printed last.
    last_status: String,
    /// The past step being viewed and its last event; `None` in the present.
    viewed_step: Option<(u32, Seq)>,
    /// Label edits that can be undone. Labels are not journaled, so the journal's undo doesn't cover them.
    label_history: LabelHistory,
}

impl PlainSession {
    async fn run(&mut self) -> Result<ExitReason, CliError> {
        let mut changes = self.handle.store.changes();
        let mut input = read_lines();
        // Lines from a pipe wait until a decision is due; lines from a terminal are handled at once.
        let is_piped = !std::io::stdin().is_terminal();
        signals::set_interrupt_handled_by_caller(true);
        let mut end_signal = Box::pin(signals::wait_for_signal());
        self.print_line(&format!("{}, plain mode: `help` lists the commands", program_name()))?;
        print_new_events(&self.handle, &mut self.printer)?;
        tokio::select! {
            biased;
            _ = &mut end_signal => return Ok(ExitReason::Interrupted),
            () = self.prepare(is_piped) => {}
        }
        let mut running = false;
        // Whether Ctrl-C has paused the run and no command has followed.
        let mut is_interrupted = false;
        loop {
            print_new_events(&self.handle, &mut self.printer)?;
            self.print_signals()?;
            match self.handle.store.live().health {
                Health::Halted(_) => return Ok(ExitReason::Halted),
                // When the person quits, this loop returns before the driver ends.
                Health::Ended => return Ok(ExitReason::DriverFailed),
                Health::Running | Health::ReadOnly => {}
            }
            let state = self.printer.state.clone();
            running &= !needs_decision(&state) && state.breakpoints.current_hit.is_none();
            let is_waiting =
                is_waiting_for_input(&state, running) && self.handle.store.head().head == state.head;
            if is_waiting {
                self.print_status(&state)?;
            }
            let mut signal = None;
            tokio::select! {
                biased;
                received = &mut end_signal => signal = Some(received),
                line = input.recv(), if !is_piped || is_waiting => {
                    let Some(line) = line else { return Ok(ExitReason::Quit) };
                    let line = line.map_err(|e| {
                        CliError::file(std::path::Path::new("standard input"), "could not be read", &e)
                    })?;
                    is_interrupted = false;
                    // The environment may not answer what the line asks.
                    tokio::select! {
                        biased;
                        received = &mut end_signal => signal = Some(received),
                        handled = self.handle_line(&line, &mut running) => {
                            if handled?.is_break() {
                                return Ok(ExitReason::Quit);
                            }
                        }
                    }
                }
                () = tokio::time::sleep(SILENCE_CHECK_INTERVAL) => {}
                changed = changes.changed() => {
                    if changed.is_err() {
                        return Ok(ExitReason::Quit);
                    }
                }
            }
            let Some(signal) = signal else { continue };
            // A call to an environment can't be cancelled, and may be in flight for a long time after the pause.
            if signal != EndSignal::INTERRUPT || is_interrupted || is_idle(&self.printer.state) {
                return Ok(ExitReason::Interrupted);
            }
            is_interrupted = true;
            signals::acknowledge();
            end_signal = Box::pin(signals::wait_for_signal());
            running = false;
            self.handle.send(Command::Cancel);
            self.handle.send(Command::Pause);
            self.print_line("pausing; press Ctrl-C again to quit")?;
        }
    }

    /// Starts an episode if none is open, up to its first proposal.
    async fn prepare(&self, is_piped: bool) {
        if is_piped {
            // Piped commands must apply to the restored environment, so wait twice: until the environment is rebuilt,
            // and for the reply to the pause (a no-op here), which comes once the engine has processed that.
            self.handle.wait_for_environment().await;
            let _ = self.handle.send_and_wait(Command::Pause).await;
        }
        if self.handle.store.head().open_episode().is_none() {
            // If the command is rejected, `print_signals` prints why.
            let _ = self.handle.send_and_wait(Command::Step).await;
        }
    }

    async fn handle_line(
        &mut self,
        line: &str,
        running: &mut bool,
    ) -> Result<std::ops::ControlFlow<()>, CliError> {
        use std::ops::ControlFlow::{Break, Continue};
        // While a past step is viewed, queries read its state, and commands that change the run are rejected below.
        let store = self.handle.store.clone();
        let state = self.viewed_step.map_or_else(|| store.head(), |(_, until)| store.state_at(until));
        let rewritten = self.rewrite_for_past(line);
        let commands = match parse_line(rewritten.as_deref().unwrap_or(line), &state) {
            Ok(LineAction::Seek(target)) => {
                self.seek(target)?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Commands(_) | LineAction::Run) if self.viewed_step.is_some() => {
                let step = self.viewed_step.map_or(0, |(step, _)| step);
                self.print_line(&format!(
                    "viewing the past, after step {step}: `live` returns to the present, `fork` opens a branch from before this step"
                ))?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Empty) => return Ok(Continue(())),
            Ok(LineAction::Quit) => return Ok(Break(())),
            Ok(LineAction::Help) => {
                self.print_text(&help_text())?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Print(text)) => {
                self.print_text(&text)?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Admissible) => {
                let actions = self.handle.admissible().await;
                self.print_line(&format!(
                    "valid actions here (hidden from the agent): {}",
                    actions.join(", ")
                ))?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Hint) => {
                let hint = self.handle.hint().await;
                self.print_line(&match hint {
                    Ok(Some(hint)) => format!("hint (hidden from the agent): {hint}"),
                    Ok(None) => "no hint: this environment can't search for a path to the goal".to_owned(),
                    Err(why) => format!("no hint: {why}"),
                })?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Output) => {
                let text = self.handle.printed_text().await;
                self.print_line(&match text {
                    None => "this environment is part of the program: it prints nothing".to_owned(),
                    Some(text) if text.is_empty() => {
                        "the program has printed nothing besides its replies".to_owned()
                    }
                    Some(text) => format!("the program has printed:\n{text}"),
                })?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Fork { step, action }) => {
                self.last_status.clear();
                self.viewed_step = None;
                self.label_history = LabelHistory::default();
                self.fork_at_step(step, action).await?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Switch(to)) => {
                self.last_status.clear();
                self.viewed_step = None;
                self.switch_branch(&to).await?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Label(branch, change)) => {
                self.edit_label(&branch, change)?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Branches) => {
                self.list_branches()?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Run) => {
                *running = true;
                self.label_history = LabelHistory::default();
                vec![Command::Run]
            }
            Ok(LineAction::Commands(commands)) => match &commands[..] {
                [command @ (Command::Undo | Command::Redo)]
                    if self.undo_or_redo_label(*command == Command::Undo)? =>
                {
                    return Ok(Continue(()));
                }
                [Command::Undo | Command::Redo] => commands,
                _ => {
                    self.label_history = LabelHistory::default();
                    commands
                }
            },
            Err(message) => {
                self.print_message(&message)?;
                return Ok(Continue(()));
            }
        };
        self.last_status.clear();
        for command in commands {
            if matches!(command, Command::Pause | Command::Cancel) {
                *running = false;
            }
            let warning = interpret::unshown_kind_warning(&command, &state);
            if let Err(error) = self.handle.send_and_wait(command).await {
                self.print_message(&format!("{}; {}", error.message, error.hint))?;
                break;
            }
            if let Some(warning) = warning {
                self.print_message(&warning)?;
            }
        }
        Ok(Continue(()))
    }

    /// Prints the driver's signals, which are not events.
    fn print_signals(&mut self) -> Result<(), CliError> {
        for (number, signal) in self.handle.store.live().signals {
            if number <= self.last_signal {
                continue;
            }
            self.last_signal = number;
            match signal {
                Signal::CommandFailed(error) => {
                    self.print_message(&format!("{}; {}", error.message, error.hint))?;
                }
                Signal::Notice(text) => self.print_message(&text)?,
            }
        }
        Ok(())
    }

    /// Prints the status line if it differs from the last one printed.
    fn print_status(&mut self, state: &State) -> Result<(), CliError> {
        let status = interpret::status_line(state);
        if self.last_status == status {
            return Ok(());
        }
        self.print_line(&status)?;
        self.last_status = status;
        Ok(())
    }

    fn print_line(&self, text: &str) -> Result<(), CliError> {
        self.print_text(text)
    }

    /// Prints a message of the program, which may name its commands.
    fn print_message(&self, text: &str) -> Result<(), CliError> {
        self.print_line(&with_program_name(text))
    }

    fn print_text(&self, text: &str) -> Result<(), CliError> {
        self.lock_output().print_text(&format!("{}\n", text.trim_end()))
    }

    fn lock_output(&self) -> MutexGuard<'_, Output> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether the session waits for a person's command.
fn is_waiting_for_input(state: &State, running: bool) -> bool {
    let is_over = state.run_over && state.open_episode().is_none();
    is_over
        || (state.is_waiting()
            && (needs_decision(state) || !(running && state.run_status == RunStatus::Running)))
}

/// Returns whether the person must decide something before the run can continue.
fn needs_decision(state: &State) -> bool {
    let has_summary_to_review = !state.waiting_summaries.is_empty() && state.autonomy != Autonomy::Auto;
    state.divergence.is_some() || state.failed_call.is_some() || has_summary_to_review
}

fn is_idle(state: &State) -> bool {
    state.calls.is_empty() && state.run_status == RunStatus::Paused && state.grant.is_none()
}

/// Reads lines of standard input on a separate thread, so that the session doesn't block while it waits for one.
fn read_lines() -> mpsc::Receiver<std::io::Result<String>> {
    let (sender, lines) = mpsc::channel(16);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            match bounded::read_line(&mut input, &mut line) {
                Err(e) if e.kind() == std::io::ErrorKind::FileTooLarge => {
                    // Stop, or the rest of the oversized line would be read as a command. The receiver may be closed.
                    let _ = sender.blocking_send(Err(e));
                    break;
                }
                Ok(0) | Err(_) => break,
                Ok(_) => {
                    let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
                    if sender.blocking_send(Ok(text)).is_err() {
                        break;
                    }
                }
            }
        }
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Store;

    /// Regression: with piped input, a panic of the driver went unnoticed and the program hung.
    #[test]
    fn an_unexpected_end_of_the_driver_is_noticed() {
        let store = Arc::new(Store::default());
        let (handle, inbox) = Handle::new(store.clone());
        drop(inbox);
        store.edit_live(|live| live.health = Health::Ended);
        let out = Arc::new(Mutex::new(Output::new()));
        let printer =
            EventPrinter::new(PrintMode::Silent, out.clone(), Path::new("s"), None, TaskOptions::default());
        let mut session = PlainSession {
            handle,
            printer,
            out,
            last_signal: 0,
            last_status: String::new(),
            viewed_step: None,
            label_history: LabelHistory::default(),
        };
        let exit = new_runtime().unwrap().block_on(session.run()).unwrap();
        assert_eq!(exit, ExitReason::DriverFailed);
    }
}
