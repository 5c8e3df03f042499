//! `--plain`: the same session, line by line. Commands are the palette's words, answers are lines of text; the cursor is
//! never moved, so that screen readers and logs have all of it.

mod interpret;
mod labels;
mod lines;
mod past;
mod seek;

use super::bounded;
use super::error::{CliError, CliErrorKind, resume_command};
use super::headless::{
    DRIVER_PANICKED, SILENCE_CHECK_INTERVAL, halt_error, new_runtime, print_new_events, with_session,
};
use super::output::Output;
use super::printer::{EventPrinter, PrintMode};
use crate::domain::{Autonomy, Seq};
use crate::driver::worlds::WorldOptions;
use crate::driver::{Handle, Health, Signal};
use crate::engine::{Command, RunStatus, State};
use crate::signals::{self, EndSignal};
use interpret::{HELP, LineAction, parse_line};
use labels::LabelHistory;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::mpsc;

/// Talks with a person until they quit, the input ends, or a signal comes.
pub(super) fn interact(
    handle: &Handle,
    thread: JoinHandle<()>,
    dir: &Path,
    worlds: WorldOptions,
    out: Output,
) -> Result<(), CliError> {
    let shared = Arc::new(Mutex::new(out));
    let teller = EventPrinter::new(PrintMode::Transcript, shared.clone(), dir, None, worlds);
    let mut talk = PlainSession {
        handle: handle.clone(),
        printer: teller,
        out: shared,
        last_signal: 0,
        last_mode: String::new(),
        viewed_moment: None,
        label_history: LabelHistory::default(),
    };
    let left = with_session(handle, Some(thread), || new_runtime()?.block_on(talk.run()));
    let path = dir.display().to_string();
    let resume = format!("go on with `{}`", resume_command(&path));
    // Also where it is found out only as the session is closed.
    if let Health::Halted(halt) = handle.store.live().health {
        return Err(halt_error(&halt, &path));
    }
    if left != Ok(ExitReason::Quit) && signals::pending_signal().is_some() {
        return Err(CliError::interrupted(resume));
    }
    match left? {
        ExitReason::Quit | ExitReason::Halted => {
            talk.print_line(&resume)?;
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
    /// Nothing can be written any more.
    Halted,
    /// The driver ended of itself.
    DriverFailed,
}

struct PlainSession {
    handle: Handle,
    printer: EventPrinter,
    out: Arc<Mutex<Output>>,
    /// The last signal of the driver that was told.
    last_signal: u64,
    last_mode: String,
    /// The step after which the moment is that was told last, and its event; none: the present.
    viewed_moment: Option<(u32, Seq)>,
    /// What branches were called, to be taken back.
    label_history: LabelHistory,
}

impl PlainSession {
    async fn run(&mut self) -> Result<ExitReason, CliError> {
        let mut news = self.handle.store.changes();
        let mut input = read_lines();
        // What is typed ahead into a pipe waits for its turn; a person at a terminal is heard at once.
        let patient = !std::io::stdin().is_terminal();
        signals::set_interrupt_is_command(true);
        let mut stop = Box::pin(signals::wait_for_signal());
        self.print_line("retrospect, line by line. `help` lists the commands.")?;
        print_new_events(&self.handle, &mut self.printer)?;
        if patient {
            // Lines of a pipe are for the world as it is once it has been brought back. The list is answered after the
            // rebuilding, and the pause (which changes nothing here) after its result.
            self.handle.admissible().await;
            let _ = self.handle.send_and_wait(Command::Pause).await;
        }
        if self.handle.store.head().open_episode().is_none() {
            // The first proposal is what there is to talk about.
            // A refusal is told with the other signals.
            let _ = self.handle.send_and_wait(Command::Step).await;
        }
        let mut running = false;
        loop {
            print_new_events(&self.handle, &mut self.printer)?;
            self.print_signals()?;
            match self.handle.store.live().health {
                Health::Halted(_) => return Ok(ExitReason::Halted),
                // Whoever quits has left this loop.
                Health::Ended => return Ok(ExitReason::DriverFailed),
                Health::Running | Health::ReadOnly => {}
            }
            let state = self.printer.state.clone();
            running &= !needs_decision(&state) && state.breakpoints.current_hit.is_none();
            let waiting =
                is_waiting_for_input(&state, running) && self.handle.store.head().head == state.head;
            if waiting {
                self.print_mode(&state)?;
            }
            tokio::select! {
                biased;
                signal = &mut stop => {
                    if signal != EndSignal::INTERRUPT || is_idle(&self.printer.state) {
                        return Ok(ExitReason::Interrupted);
                    }
                    signals::acknowledge();
                    stop = Box::pin(signals::wait_for_signal());
                    running = false;
                    self.handle.send(Command::Cancel);
                    self.handle.send(Command::Pause);
                    self.print_line("pausing; Ctrl-C once more quits")?;
                }
                line = input.recv(), if !patient || waiting => {
                    let Some(line) = line else { return Ok(ExitReason::Quit) };
                    let line = line.map_err(|e| {
                        CliError::file(std::path::Path::new("standard input"), "could not be read", &e)
                    })?;
                    match self.handle_line(&line, &mut running).await? {
                        std::ops::ControlFlow::Break(()) => return Ok(ExitReason::Quit),
                        std::ops::ControlFlow::Continue(()) => {}
                    }
                }
                () = tokio::time::sleep(SILENCE_CHECK_INTERVAL) => {}
                changed = news.changed() => {
                    if changed.is_err() {
                        return Ok(ExitReason::Quit);
                    }
                }
            }
        }
    }

    async fn handle_line(
        &mut self,
        line: &str,
        running: &mut bool,
    ) -> Result<std::ops::ControlFlow<()>, CliError> {
        use std::ops::ControlFlow::{Break, Continue};
        // What is read over the past is of that moment; what would act is refused below.
        let store = self.handle.store.clone();
        let state = self.viewed_moment.map_or_else(|| store.head(), |(_, until)| store.state_at(until));
        let over = self.rewrite_for_past(line);
        let commands = match parse_line(over.as_deref().unwrap_or(line), &state) {
            Ok(LineAction::Seek(look)) => {
                self.seek(look)?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Commands(_) | LineAction::Run) if self.viewed_moment.is_some() => {
                let step = self.viewed_moment.map_or(0, |(step, _)| step);
                self.print_line(&format!(
                    "this is the past, after step {step}: `live` returns to the present, `fork` goes on from here"
                ))?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Empty) => return Ok(Continue(())),
            Ok(LineAction::Quit) => return Ok(Break(())),
            Ok(LineAction::Help) => {
                self.print_text(HELP)?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Print(text)) => {
                self.print_text(&text)?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Admissible) => {
                let actions = self.handle.admissible().await;
                self.print_line(&format!(
                    "the world would accept (the agent does not see this list): {}",
                    actions.join(", ")
                ))?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Hint) => {
                let hint = self.handle.hint().await;
                let words = hint.map(|hint| format!("hint (the agent does not see it): {hint}"));
                self.print_line(
                    &words.unwrap_or_else(|| "this world cannot look for a way to its goal".to_owned()),
                )?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Fork { step, commands: then }) => {
                self.last_mode.clear();
                self.viewed_moment = None;
                self.label_history = LabelHistory::default();
                self.fork_at_step(step, then).await?;
                return Ok(Continue(()));
            }
            Ok(LineAction::Switch(to)) => {
                self.last_mode.clear();
                self.viewed_moment = None;
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
                [wish @ (Command::Undo | Command::Redo)]
                    if self.undo_or_redo_label(*wish == Command::Undo)? =>
                {
                    return Ok(Continue(()));
                }
                [Command::Undo | Command::Redo] => commands,
                _ => {
                    self.label_history = LabelHistory::default();
                    commands
                }
            },
            Err(why) => {
                self.print_line(&why)?;
                return Ok(Continue(()));
            }
        };
        self.last_mode.clear();
        for command in commands {
            if matches!(command, Command::Pause | Command::Cancel) {
                *running = false;
            }
            if let Err(refusal) = self.handle.send_and_wait(command).await {
                self.print_line(&format!("{}; {}", refusal.message, refusal.hint))?;
                break;
            }
        }
        Ok(Continue(()))
    }

    /// What the driver says beside the events.
    fn print_signals(&mut self) -> Result<(), CliError> {
        for (number, signal) in self.handle.store.live().signals {
            if number <= self.last_signal {
                continue;
            }
            self.last_signal = number;
            match signal {
                Signal::CommandFailed(refusal) => {
                    self.print_line(&format!("{}; {}", refusal.message, refusal.hint))?;
                }
                Signal::Notice(text) => self.print_line(&text)?,
            }
        }
        Ok(())
    }

    /// One line that tells whose turn it is; said once for each standing.
    fn print_mode(&mut self, state: &State) -> Result<(), CliError> {
        let told = interpret::status_line(state);
        if self.last_mode == told {
            return Ok(());
        }
        self.print_line(&told)?;
        self.last_mode = told;
        Ok(())
    }

    fn print_line(&self, text: &str) -> Result<(), CliError> {
        self.print_text(text)
    }

    fn print_text(&self, text: &str) -> Result<(), CliError> {
        self.lock_output().print_text(&format!("{}\n", text.trim_end()))
    }

    fn lock_output(&self) -> MutexGuard<'_, Output> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nothing more comes of itself: a person's word is due.
fn is_waiting_for_input(state: &State, running: bool) -> bool {
    let over = state.run_over && state.open_episode().is_none();
    over || (state.is_waiting()
        && (needs_decision(state) || !(running && state.run_status == RunStatus::Running)))
}

/// Nothing goes on before this is decided on, at whatever pace.
fn needs_decision(state: &State) -> bool {
    let summary = !state.waiting_summaries.is_empty() && state.autonomy != Autonomy::Auto;
    state.divergence.is_some() || state.failed_call.is_some() || summary
}

fn is_idle(state: &State) -> bool {
    state.calls.is_empty() && state.run_status == RunStatus::Paused && state.grant.is_none()
}

/// Lines of standard input, read on a thread of its own so that nothing waits for them.
fn read_lines() -> mpsc::Receiver<std::io::Result<String>> {
    let (tell, told) = mpsc::channel(16);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            match bounded::read_line(&mut input, &mut line) {
                Err(e) if e.kind() == std::io::ErrorKind::FileTooLarge => {
                    // What comes after half a line is no line; whether anybody still listens does not matter.
                    let _ = tell.blocking_send(Err(e));
                    break;
                }
                Ok(0) | Err(_) => break,
                Ok(_) => {
                    let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
                    if tell.blocking_send(Ok(text)).is_err() {
                        break;
                    }
                }
            }
        }
    });
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Store;

    /// A driver that panicked was not noticed: a pipe waited for ever.
    #[test]
    fn a_driver_that_ended_of_itself_is_noticed() {
        let store = Arc::new(Store::default());
        let (handle, inbox) = Handle::new(store.clone());
        drop(inbox);
        store.edit_live(|live| live.health = Health::Ended);
        let out = Arc::new(Mutex::new(Output::new()));
        let teller =
            EventPrinter::new(PrintMode::Silent, out.clone(), Path::new("s"), None, WorldOptions::default());
        let (told_mode, labels) = (String::new(), LabelHistory::default());
        let mut talk = PlainSession {
            handle,
            printer: teller,
            out,
            last_signal: 0,
            last_mode: told_mode,
            viewed_moment: None,
            label_history: labels,
        };
        let left = new_runtime().unwrap().block_on(talk.run()).unwrap();
        assert_eq!(left, ExitReason::DriverFailed);
    }
}
