//! Tells a session's events as they come: transcript, JSON lines, or nothing but the end.

use super::error::{CliError, CliErrorKind};
use super::output::Output;
use crate::domain::{CallId, Seq};
use crate::driver::worlds::{self, WorldOptions};
use crate::driver::{Signal, Store};
use crate::engine::{Envelope, Event, State};
use crate::env::Environment;
use crate::report::{RunLines, StepExtras, Transcript};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// How events are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrintMode {
    /// As lines of text.
    Transcript,
    /// As JSON lines.
    Json,
    /// One line an episode.
    Outcomes,
    /// Not at all.
    Silent,
}

/// Follows one session. It folds the events itself, so that every line is told from the state it belongs to.
pub(super) struct EventPrinter {
    mode: PrintMode,
    /// The state after the last event that was told.
    pub(super) state: State,
    out: Arc<Mutex<Output>>,
    transcript: Transcript,
    lines: RunLines,
    pub(super) path: String,
    /// The last signal that was told.
    last_signal: u64,
    mirror: MirrorEnv,
    /// Shown in the progress line before the step.
    label: String,
    /// Which line of the driver is told.
    epoch: u64,
    /// How often the silence of a call under way was told.
    reported_silences: Vec<(CallId, u64)>,
}

/// Seconds of silence of a model after which it is told, and told again.
const SILENCE_INTERVAL_SECONDS: u64 = 45;

impl EventPrinter {
    /// A teller of the session in this folder. `session` is its name where several share one output.
    pub(super) fn new(
        voice: PrintMode,
        out: Arc<Mutex<Output>>,
        dir: &Path,
        session: Option<String>,
        worlds: WorldOptions,
    ) -> Self {
        Self {
            mode: voice,
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

    /// Goes on from this state: what came before it is not told again. The events of the open episode up to there are
    /// fetched (those above the first number up to and with the second) where a second copy of the world has to follow.
    pub(super) fn continue_from(
        &mut self,
        state: &State,
        mut fetch: impl FnMut(Seq, Seq) -> Result<Vec<Arc<Envelope>>, CliError>,
    ) -> Result<(), CliError> {
        const BATCH_SIZE: u64 = 1024;
        self.state = state.clone();
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

    /// Another branch is driven: it is told from where it was taken up.
    pub(super) fn follow_branch_switch(&mut self, store: &Store) -> Result<(), CliError> {
        /// Events among which the one that took the branch up is looked for.
        const SEARCH_WINDOW: u64 = 256;
        let line = store.epoch();
        if std::mem::replace(&mut self.epoch, line) == line {
            return Ok(());
        }
        let head = store.head().head;
        let near = store.timeline().events_after(Seq(head.0.saturating_sub(SEARCH_WINDOW)));
        let taken_up = near.iter().rev().find(|e| matches!(e.event, Event::Reopened));
        let before = store.state_at(taken_up.map_or(head, |e| Seq(e.seq.0 - 1)));
        self.continue_from(&before, |after, to| read_events(store, after, to))?;
        if self.mode == PrintMode::Transcript {
            let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
            let step = before.last_step().map_or(0, |s| s.number);
            out.print_line(&format!("Branch {}, from step {step}", store.branch()))?;
        }
        Ok(())
    }

    /// Tells one event.
    pub(super) fn print_event(&mut self, envelope: &Envelope) -> Result<(), CliError> {
        self.state.apply(envelope);
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        match self.mode {
            PrintMode::Transcript => out.print_text(&self.transcript.event_lines(envelope, &self.state))?,
            PrintMode::Json => {
                let aside = self.mirror.apply_event(envelope);
                if let Some(line) = self.lines.event_line(envelope, &self.state, &self.path, || aside) {
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

    /// Says of a model that is silent for long, once each [`SILENCE`].
    pub(super) fn print_silences(&mut self, store: &Store) {
        let live = store.live();
        self.reported_silences.retain(|(call, _)| live.calls.iter().any(|c| c.call == *call));
        for (call, seconds, words) in live.list_silences() {
            let times = seconds / SILENCE_INTERVAL_SECONDS;
            let told =
                self.reported_silences.iter().find(|(of, _)| *of == call).map_or(0, |(_, times)| *times);
            if times > told {
                self.out
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .print_note(&format!("{words}; Ctrl-C stops"));
            }
            self.reported_silences.retain(|(of, _)| *of != call);
            self.reported_silences.push((call, times));
        }
    }

    /// Says what the driver says beside the events: a second try, a setting that a server refused.
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

    /// The events since the last told one.
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

/// A second copy of a deterministic world that takes the same actions, so that JSON lines can say what the world would
/// accept and shows of itself: neither stands in the journal. Where it cannot follow, both are empty.
struct MirrorEnv {
    worlds: WorldOptions,
    world: Option<Box<dyn Environment>>,
    pending_action: Option<String>,
}

impl MirrorEnv {
    fn apply_event(&mut self, envelope: &Envelope) -> StepExtras {
        match &envelope.event {
            Event::EpisodeStarted { task, .. } => {
                self.world = worlds::open(task, &self.worlds).ok().filter(|w| w.info().deterministic);
                self.pending_action = None;
            }
            Event::WorldReset { .. } => {
                if self.world.as_mut().is_some_and(|w| w.reset().is_err()) {
                    self.world = None;
                }
                return self.current_view();
            }
            Event::ActionTaken { executed, call: Some(_), list_only: false, .. } => {
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
        let nothing = || serde_json::Value::Object(serde_json::Map::new());
        match &mut self.world {
            Some(world) => StepExtras {
                admissible: world.admissible().unwrap_or_default(),
                world: world.world_summary(),
            },
            None => StepExtras { admissible: Vec::new(), world: nothing() },
        }
    }
}

/// The events above the first number up to and with the second, as far as there are any.
pub(super) fn read_events(store: &Store, after: Seq, to: Seq) -> Result<Vec<Arc<Envelope>>, CliError> {
    let timeline = store.timeline();
    let events = timeline.events_between(after, to);
    timeline.take_fetch_error().map_or(Ok(events), |why| {
        Err(CliError::new(
            CliErrorKind::Session,
            why,
            "what is written is kept; look at it with `retrospect verify`",
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ModelRole;
    use crate::driver::LiveCall;
    use crate::provider::Phase;
    use std::time::{Duration, Instant};

    /// Without a screen nobody was told for minutes that a server says nothing.
    #[test]
    fn a_silent_model_is_told_once_each_three_quarters_of_a_minute() {
        let store = Store::default();
        let worlds = WorldOptions::default();
        let out = Arc::new(Mutex::new(Output::new()));
        let mut teller = EventPrinter::new(PrintMode::Transcript, out, Path::new("x"), None, worlds);
        let mut told = Vec::new();
        for seconds in [0, 20, 44, 46, 60, 89, 91] {
            let moved = Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
            let (phase, asked) = (Phase::Waiting, ModelRole::Actor);
            let (reasoning, text) = (String::new(), String::new());
            let live = LiveCall {
                call: CallId(3),
                role: asked,
                phase,
                reasoning,
                text,
                pieces: 0,
                started: moved,
                last_progress: moved,
                only_keep_alives: true,
                usage: None,
            };
            store.edit_live(|l| l.calls = vec![live]);
            teller.print_silences(&store);
            told.push(teller.reported_silences.last().map_or(0, |q| q.1));
        }
        assert_eq!(told, [0, 0, 0, 1, 1, 1, 2]);
        store.edit_live(|l| l.calls.clear());
        teller.print_silences(&store);
        assert!(teller.reported_silences.is_empty(), "an answered call is forgotten");
    }
}
