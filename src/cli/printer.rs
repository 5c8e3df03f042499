//! Prints a session's events as they happen: as a transcript, as JSON lines, or only outcomes.

use super::error::{CliError, CliErrorKind};
use super::output::Output;
use crate::catalog;
use crate::domain::{CallId, Seq};
use crate::driver::worlds;
use crate::driver::{Signal, Store};
use crate::engine::{Envelope, Event, State};
use crate::env::Environment;
use crate::env::TaskOptions;
use crate::report::{RunLines, StepExtras, Transcript};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// How events are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrintMode {
    /// Lines of text.
    Transcript,
    /// JSON lines.
    Json,
    /// One line per episode.
    Outcomes,
    /// No events.
    Silent,
}

/// Prints the events of one session. It folds the events itself, so that each line is made from the state that it
/// belongs to.
pub(super) struct EventPrinter {
    mode: PrintMode,
    /// The state after the last printed event.
    pub(super) state: State,
    out: Arc<Mutex<Output>>,
    transcript: Transcript,
    lines: RunLines,
    pub(super) path: String,
    /// Number of the last driver signal that was printed.
    last_signal: u64,
    mirror: MirrorEnv,
    /// Shown before the progress bar if several sessions share one output.
    label: String,
    /// The store's epoch; it changes when the driver switches to another branch.
    epoch: u64,
    /// Number of notes printed about each silent call in flight.
    reported_silences: Vec<(CallId, u64)>,
}

/// Interval in seconds at which a silent model call is reported.
const SILENCE_INTERVAL_SECONDS: u64 = 45;

impl EventPrinter {
    /// Creates a printer for the session in `dir`. `session` is its name if several sessions share one output.
    pub(super) fn new(
        mode: PrintMode,
        out: Arc<Mutex<Output>>,
        dir: &Path,
        session: Option<String>,
        worlds: TaskOptions,
    ) -> Self {
        Self {
            mode,
            state: State::default(),
            out,
            transcript: Transcript::default(),
            label: session.as_ref().map(|s| format!("{s} ")).unwrap_or_default(),
            lines: RunLines { session },
            path: dir.display().to_string(),
            last_signal: 0,
            epoch: 0,
            reported_silences: Vec::new(),
            mirror: MirrorEnv { worlds, world: None, pending_action: None },
        }
    }

    /// Continues from a state without printing the events before it. In JSON mode, fetches the events of the open
    /// episode up to that state (after the first number, up to and including the second) to bring the mirror
    /// environment up to date.
    pub(super) fn continue_from(
        &mut self,
        state: &State,
        mut fetch: impl FnMut(Seq, Seq) -> Result<Vec<Arc<Envelope>>, CliError>,
    ) -> Result<(), CliError> {
        const BATCH_SIZE: u64 = 1024;
        self.state = state.clone();
        if let Some(run) = &state.run {
            self.mirror.worlds = self.mirror.worlds.with_recorded(&run.settings);
        }
        self.transcript = Transcript::from_state(state);
        let Some(episode) = state.open_episode().filter(|_| self.mode == PrintMode::Json) else {
            return Ok(());
        };
        let mut after = episode.first_seq.0.saturating_sub(1);
        while after < state.head.0 {
            let to = state.head.0.min(after + BATCH_SIZE);
            for envelope in fetch(Seq(after), Seq(to))? {
                self.mirror.apply_event(&envelope);
            }
            after = to;
        }
        Ok(())
    }

    /// If the driver has switched to another branch, continues from where that branch was resumed.
    pub(super) fn follow_branch_switch(&mut self, store: &Store) -> Result<(), CliError> {
        /// Number of events at the end of the branch to search for the one that reopened it.
        const SEARCH_WINDOW: u64 = 256;
        let epoch = store.epoch();
        if std::mem::replace(&mut self.epoch, epoch) == epoch {
            return Ok(());
        }
        let head = store.head().head;
        let recent = store.timeline().events_after(Seq(head.0.saturating_sub(SEARCH_WINDOW)));
        let reopened = recent.iter().rev().find(|e| matches!(e.event, Event::Reopened));
        let before = store.state_at(reopened.map_or(head, |e| Seq(e.seq.0 - 1)));
        self.continue_from(&before, |after, to| read_events(store, after, to))?;
        if self.mode == PrintMode::Transcript {
            let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
            let step = before.last_step().map_or(0, |s| s.number);
            out.print_line(&format!("Branch {}, from step {step}", store.branch()))?;
        }
        Ok(())
    }

    /// Folds and prints one event.
    pub(super) fn print_event(&mut self, envelope: &Envelope) -> Result<(), CliError> {
        self.state.apply(envelope);
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        match self.mode {
            PrintMode::Transcript => out.print_text(&self.transcript.event_lines(envelope, &self.state))?,
            PrintMode::Json => {
                let extras = self.mirror.apply_event(envelope);
                if let Some(line) = self.lines.event_line(envelope, &self.state, &self.path, || extras) {
                    out.print_json(&line)?;
                }
            }
            PrintMode::Outcomes => {
                if matches!(envelope.event, Event::EpisodeEnded { .. } | Event::Warned { .. }) {
                    out.print_text(&self.transcript.event_lines(envelope, &self.state))?;
                }
            }
            PrintMode::Silent => {}
        }
        if matches!(envelope.event, Event::Observed { .. } | Event::EpisodeEnded { .. })
            && !(self.mode == PrintMode::Transcript && out.is_terminal())
        {
            out.show_progress(&self.progress_line());
        }
        Ok(())
    }

    /// Reports model calls that have been silent for a long time, once every [`SILENCE_INTERVAL_SECONDS`].
    pub(super) fn print_silences(&mut self, store: &Store) {
        let live = store.live();
        self.reported_silences.retain(|(call, _)| live.calls.iter().any(|c| c.call == *call));
        for (call, seconds, message) in live.list_silences() {
            let times = seconds / SILENCE_INTERVAL_SECONDS;
            let reported =
                self.reported_silences.iter().find(|(c, _)| *c == call).map_or(0, |(_, times)| *times);
            if times > reported {
                self.out
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .print_note(&format!("{message}; Ctrl-C stops"));
            }
            self.reported_silences.retain(|(c, _)| *c != call);
            self.reported_silences.push((call, times));
        }
    }

    /// Prints the driver's notices, which are not events: a retry, a parameter that a server rejected.
    pub(super) fn print_signals(&mut self, store: &Store) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, signal) in store.live().signals {
            if number > self.last_signal
                && let Signal::Notice(text) = signal
            {
                out.print_note(&text);
            }
            self.last_signal = self.last_signal.max(number);
        }
    }

    /// Returns the number of the last printed event.
    pub(super) fn last_printed(&self) -> Seq {
        self.state.head
    }

    fn progress_line(&self) -> String {
        let (done, won) =
            (self.state.ended_episodes.len(), self.state.ended_episodes.iter().filter(|e| e.won).count());
        let tasks = self.state.run.as_ref().map_or(1, |r| r.tasks.len() as u64 * u64::from(r.trials));
        let step = self.state.open_episode().map_or(0, |e| e.steps.len());
        let filled = (done as u64 * 20 / tasks.max(1)).min(20) as usize;
        format!(
            "{}[{}{}] {done}/{tasks} episodes, {won} won, step {step}",
            self.label,
            "#".repeat(filled),
            ".".repeat(20 - filled)
        )
    }
}

/// A second copy of a deterministic environment that executes the same actions. It supplies the fields `admissible` and
/// `world` of JSON lines, which the journal doesn't record. They are empty if the environment can't be mirrored.
///
/// One that is another program isn't mirrored: a second process would take as much memory and time as the run's own, and
/// might not answer in the same way.
struct MirrorEnv {
    worlds: TaskOptions,
    world: Option<Box<dyn Environment>>,
    pending_action: Option<String>,
}

impl MirrorEnv {
    fn apply_event(&mut self, envelope: &Envelope) -> StepExtras {
        match &envelope.event {
            Event::RunStarted { spec, .. } => self.worlds = self.worlds.with_recorded(&spec.settings),
            Event::EpisodeStarted { task, .. } => {
                let is_external = catalog::find_environment(&task.env).is_some_and(|e| e.tasks.is_external());
                self.world = if is_external { None } else { worlds::open_guarded(task, &self.worlds).ok() }
                    .filter(|world| world.info().deterministic);
                self.pending_action = None;
            }
            Event::WorldReset { .. } => {
                if self.world.as_mut().is_some_and(|w| w.reset().is_err()) {
                    self.world = None;
                }
                return self.current_view();
            }
            Event::ActionTaken { executed, call: Some(_), admissible_only: false, .. } => {
                self.pending_action = Some(executed.sent.clone().unwrap_or_else(|| executed.action.clone()));
            }
            Event::Observed { .. } => {
                if let (Some(world), Some(sent)) = (&mut self.world, self.pending_action.take())
                    && world.step(&sent).is_err()
                {
                    self.world = None;
                }
                return self.current_view();
            }
            _ => {}
        }
        StepExtras::default()
    }

    fn current_view(&mut self) -> StepExtras {
        let empty_object = || serde_json::Value::Object(serde_json::Map::new());
        match &mut self.world {
            Some(world) => StepExtras {
                admissible: world.admissible().unwrap_or_default(),
                world: world.world_summary(),
            },
            None => StepExtras { admissible: Vec::new(), world: empty_object() },
        }
    }
}

/// Returns the events after `after`, up to and including `to`.
pub(super) fn read_events(store: &Store, after: Seq, to: Seq) -> Result<Vec<Arc<Envelope>>, CliError> {
    let timeline = store.timeline();
    let events = timeline.events_between(after, to);
    timeline.take_fetch_error().map_or(Ok(events), |why| {
        Err(CliError::new(
            CliErrorKind::Session,
            why,
            "events on disk are kept; check the session with `retrospect verify`",
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::CallPhase;
    use crate::domain::ModelRole;
    use crate::driver::{LiveCall, StreamedText};
    use std::time::{Duration, Instant};

    /// Regression: without a screen, a server could be silent for minutes without any message.
    #[test]
    fn a_silent_model_is_reported_every_45_seconds() {
        let store = Store::default();
        let worlds = TaskOptions::default();
        let out = Arc::new(Mutex::new(Output::new()));
        let mut printer = EventPrinter::new(PrintMode::Transcript, out, Path::new("x"), None, worlds);
        let mut counts = Vec::new();
        for seconds in [0, 20, 44, 46, 60, 89, 91] {
            let silent_since = Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
            let (phase, role) = (CallPhase::Waiting, ModelRole::Actor);
            let (reasoning, text) = (StreamedText::default(), StreamedText::default());
            let live = LiveCall {
                call: CallId(3),
                role,
                phase,
                reasoning,
                text,
                delta_count: 0,
                started: silent_since,
                last_progress: silent_since,
                only_keep_alives: true,
                usage: None,
                notice: None,
            };
            store.edit_live(|l| l.calls = vec![live]);
            printer.print_silences(&store);
            counts.push(printer.reported_silences.last().map_or(0, |q| q.1));
        }
        assert_eq!(counts, [0, 0, 0, 1, 1, 1, 2]);
        store.edit_live(|l| l.calls.clear());
        printer.print_silences(&store);
        assert!(printer.reported_silences.is_empty(), "an answered call is forgotten");
    }
}
