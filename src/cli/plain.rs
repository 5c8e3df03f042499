//! `--plain`: the same session, line by line. Commands are the palette's words, answers are lines of text; the cursor is
//! never moved, so that screen readers and logs have all of it.

mod labels;
mod lines;
mod look;
mod past;
mod words;

use super::bounded;
use super::error::{CliError, CliErrorKind, resume_command};
use super::out::Out;
use super::printer::{EventPrinter, Voice};
use super::watch::{BROKEN, LOOK_AGAIN, closing, halted, runtime, tell_news};
use crate::domain::{Autonomy, Seq};
use crate::driver::worlds::WorldOptions;
use crate::driver::{Handle, Health, Signal};
use crate::engine::{Command, RunStatus, State};
use crate::signals::{self, EndSignal};
use labels::Labels;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::mpsc;
use words::{HELP, Said, understand};

/// Talks with a person until they quit, the input ends, or a signal comes.
pub(super) fn interact(
    handle: &Handle,
    thread: JoinHandle<()>,
    dir: &Path,
    worlds: WorldOptions,
    out: Out,
) -> Result<(), CliError> {
    let shared = Arc::new(Mutex::new(out));
    let teller = EventPrinter::new(Voice::Transcript, shared.clone(), dir, None, worlds);
    let mut talk = Talk {
        handle: handle.clone(),
        teller,
        out: shared,
        heard: 0,
        told_mode: String::new(),
        past: None,
        labels: Labels::default(),
    };
    let left = closing(handle, Some(thread), || runtime()?.block_on(talk.run()));
    let path = dir.display().to_string();
    let resume = format!("go on with `{}`", resume_command(&path));
    // Also where it is found out only as the session is closed.
    if let Health::Halted(halt) = handle.store.live().health {
        return Err(halted(&halt, &path));
    }
    if left != Ok(Left::Quit) && signals::pending_signal().is_some() {
        return Err(CliError::interrupted(resume));
    }
    match left? {
        Left::Quit | Left::Halted => {
            talk.line(&resume)?;
            Ok(())
        }
        Left::Interrupted => Err(CliError::interrupted(resume)),
        Left::Broken => Err(CliError::new(CliErrorKind::Session, BROKEN, resume)),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Left {
    Quit,
    Interrupted,
    /// Nothing can be written any more.
    Halted,
    /// The driver ended of itself.
    Broken,
}

struct Talk {
    handle: Handle,
    teller: EventPrinter,
    out: Arc<Mutex<Out>>,
    /// The last signal of the driver that was told.
    heard: u64,
    told_mode: String,
    /// The step after which the moment is that was told last, and its event; none: the present.
    past: Option<(u32, Seq)>,
    /// What branches were called, to be taken back.
    labels: Labels,
}

impl Talk {
    async fn run(&mut self) -> Result<Left, CliError> {
        let mut news = self.handle.store.changes();
        let mut input = lines();
        // What is typed ahead into a pipe waits for its turn; a person at a terminal is heard at once.
        let patient = !std::io::stdin().is_terminal();
        signals::set_interrupt_is_command(true);
        let mut stop = Box::pin(signals::wait_for_signal());
        self.line("retrospect, line by line. `help` lists the commands.")?;
        tell_news(&self.handle, &mut self.teller)?;
        if patient {
            // Lines of a pipe are for the world as it is once it has been brought back. The list is answered after the
            // rebuilding, and the pause (which changes nothing here) after its result.
            self.handle.admissible().await;
            let _ = self.handle.ask(Command::Pause).await;
        }
        if self.handle.store.head().open_episode().is_none() {
            // The first proposal is what there is to talk about.
            // A refusal is told with the other signals.
            let _ = self.handle.ask(Command::Step).await;
        }
        let mut running = false;
        loop {
            tell_news(&self.handle, &mut self.teller)?;
            self.signals()?;
            match self.handle.store.live().health {
                Health::Halted(_) => return Ok(Left::Halted),
                // Whoever quits has left this loop.
                Health::Ended => return Ok(Left::Broken),
                Health::Running | Health::Reading => {}
            }
            let state = self.teller.state.clone();
            running &= !undecided(&state) && state.breakpoints.current_hit.is_none();
            let waiting = settled(&state, running) && self.handle.store.head().head == state.head;
            if waiting {
                self.mode(&state)?;
            }
            tokio::select! {
                biased;
                signal = &mut stop => {
                    if signal != EndSignal::INTERRUPT || stands(&self.teller.state) {
                        return Ok(Left::Interrupted);
                    }
                    signals::acknowledge();
                    stop = Box::pin(signals::wait_for_signal());
                    running = false;
                    self.handle.send(Command::Cancel);
                    self.handle.send(Command::Pause);
                    self.line("pausing; Ctrl-C once more quits")?;
                }
                line = input.recv(), if !patient || waiting => {
                    let Some(line) = line else { return Ok(Left::Quit) };
                    let line = line.map_err(|e| {
                        CliError::file(std::path::Path::new("standard input"), "could not be read", &e)
                    })?;
                    match self.said(&line, &mut running).await? {
                        std::ops::ControlFlow::Break(()) => return Ok(Left::Quit),
                        std::ops::ControlFlow::Continue(()) => {}
                    }
                }
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                changed = news.changed() => {
                    if changed.is_err() {
                        return Ok(Left::Quit);
                    }
                }
            }
        }
    }

    async fn said(&mut self, line: &str, running: &mut bool) -> Result<std::ops::ControlFlow<()>, CliError> {
        use std::ops::ControlFlow::{Break, Continue};
        // What is read over the past is of that moment; what would act is refused below.
        let store = self.handle.store.clone();
        let state = self.past.map_or_else(|| store.head(), |(_, until)| store.state_at(until));
        let over = self.in_past(line);
        let commands = match understand(over.as_deref().unwrap_or(line), &state) {
            Ok(Said::Look(look)) => {
                self.look(look)?;
                return Ok(Continue(()));
            }
            Ok(Said::Do(_) | Said::Run) if self.past.is_some() => {
                let step = self.past.map_or(0, |(step, _)| step);
                self.line(&format!(
                    "this is the past, after step {step}: `live` returns to the present, `fork` goes on from here"
                ))?;
                return Ok(Continue(()));
            }
            Ok(Said::Nothing) => return Ok(Continue(())),
            Ok(Said::Quit) => return Ok(Break(())),
            Ok(Said::Help) => {
                self.text(HELP)?;
                return Ok(Continue(()));
            }
            Ok(Said::Tell(text)) => {
                self.text(&text)?;
                return Ok(Continue(()));
            }
            Ok(Said::Admissible) => {
                let actions = self.handle.admissible().await;
                self.line(&format!(
                    "the world would accept (the agent does not see this list): {}",
                    actions.join(", ")
                ))?;
                return Ok(Continue(()));
            }
            Ok(Said::Hint) => {
                let hint = self.handle.hint().await;
                let words = hint.map(|hint| format!("hint (the agent does not see it): {hint}"));
                self.line(
                    &words.unwrap_or_else(|| "this world cannot look for a way to its goal".to_owned()),
                )?;
                return Ok(Continue(()));
            }
            Ok(Said::Fork { step, then }) => {
                self.told_mode.clear();
                self.past = None;
                self.labels = Labels::default();
                self.fork(step, then).await?;
                return Ok(Continue(()));
            }
            Ok(Said::Switch(to)) => {
                self.told_mode.clear();
                self.past = None;
                self.switch(&to).await?;
                return Ok(Continue(()));
            }
            Ok(Said::Label(branch, change)) => {
                self.label(&branch, change)?;
                return Ok(Continue(()));
            }
            Ok(Said::Branches) => {
                self.branches()?;
                return Ok(Continue(()));
            }
            Ok(Said::Run) => {
                *running = true;
                self.labels = Labels::default();
                vec![Command::Run]
            }
            Ok(Said::Do(commands)) => match &commands[..] {
                [wish @ (Command::Undo | Command::Redo)] if self.relabel(*wish == Command::Undo)? => {
                    return Ok(Continue(()));
                }
                [Command::Undo | Command::Redo] => commands,
                _ => {
                    self.labels = Labels::default();
                    commands
                }
            },
            Err(why) => {
                self.line(&why)?;
                return Ok(Continue(()));
            }
        };
        self.told_mode.clear();
        for command in commands {
            if matches!(command, Command::Pause | Command::Cancel) {
                *running = false;
            }
            if let Err(refusal) = self.handle.ask(command).await {
                self.line(&format!("{}; {}", refusal.message, refusal.hint))?;
                break;
            }
        }
        Ok(Continue(()))
    }

    /// What the driver says beside the events.
    fn signals(&mut self) -> Result<(), CliError> {
        for (number, signal) in self.handle.store.live().signals {
            if number <= self.heard {
                continue;
            }
            self.heard = number;
            match signal {
                Signal::Refused(refusal) => self.line(&format!("{}; {}", refusal.message, refusal.hint))?,
                Signal::Said(text) => self.line(&text)?,
            }
        }
        Ok(())
    }

    /// One line that tells whose turn it is; said once for each standing.
    fn mode(&mut self, state: &State) -> Result<(), CliError> {
        let told = words::mode(state);
        if self.told_mode == told {
            return Ok(());
        }
        self.line(&told)?;
        self.told_mode = told;
        Ok(())
    }

    fn line(&self, text: &str) -> Result<(), CliError> {
        self.text(text)
    }

    fn text(&self, text: &str) -> Result<(), CliError> {
        self.lock().text(&format!("{}\n", text.trim_end()))
    }

    fn lock(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nothing more comes of itself: a person's word is due.
fn settled(state: &State, running: bool) -> bool {
    let over = state.run_over && state.open_episode().is_none();
    over || (state.is_waiting() && (undecided(state) || !(running && state.run_status == RunStatus::Running)))
}

/// Nothing goes on before this is decided on, at whatever pace.
fn undecided(state: &State) -> bool {
    let summary = !state.waiting_summaries.is_empty() && state.autonomy != Autonomy::Auto;
    state.divergence.is_some() || state.failed_call.is_some() || summary
}

fn stands(state: &State) -> bool {
    state.calls.is_empty() && state.run_status == RunStatus::Paused && state.grant.is_none()
}

/// Lines of standard input, read on a thread of its own so that nothing waits for them.
fn lines() -> mpsc::Receiver<std::io::Result<String>> {
    let (tell, told) = mpsc::channel(16);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            match bounded::line(&mut input, &mut line) {
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
        let out = Arc::new(Mutex::new(Out::new()));
        let teller =
            EventPrinter::new(Voice::Silent, out.clone(), Path::new("s"), None, WorldOptions::default());
        let (told_mode, labels) = (String::new(), Labels::default());
        let mut talk = Talk { handle, teller, out, heard: 0, told_mode, past: None, labels };
        let left = runtime().unwrap().block_on(talk.run()).unwrap();
        assert_eq!(left, Left::Broken);
    }
}
