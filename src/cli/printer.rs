//! Tells a session's events as they come: transcript, JSON lines, or nothing but the end.

use super::error::{CliError, CliErrorKind};
use super::out::Out;
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
pub(super) enum Voice {
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
    voice: Voice,
    /// The state after the last event that was told.
    pub(super) state: State,
    out: Arc<Mutex<Out>>,
    transcript: Transcript,
    lines: RunLines,
    pub(super) path: String,
    /// The last signal that was told.
    heard: u64,
    shadow: MirrorEnv,
    /// Shown in the progress line before the step.
    label: String,
    /// Which line of the driver is told.
    line: u64,
    /// How often the silence of a call under way was told.
    quiet: Vec<(CallId, u64)>,
}

/// Seconds of silence of a model after which it is told, and told again.
const SILENCE: u64 = 45;

impl EventPrinter {
    /// A teller of the session in this folder. `session` is its name where several share one output.
    pub(super) fn new(
        voice: Voice,
        out: Arc<Mutex<Out>>,
        dir: &Path,
        session: Option<String>,
        worlds: WorldOptions,
    ) -> Self {
        Self {
            voice,
            state: State::default(),
            out,
            transcript: Transcript::default(),
            label: session.as_ref().map(|s| format!("{s} ")).unwrap_or_default(),
            lines: RunLines { session },
            path: dir.display().to_string(),
            heard: 0,
            line: 0,
            quiet: Vec::new(),
            shadow: MirrorEnv { worlds, world: None, sent: None },
        }
    }

    /// Goes on from this state: what came before it is not told again. The events of the open episode up to there are
    /// fetched (those above the first number up to and with the second) where a second copy of the world has to follow.
    pub(super) fn go_on_from(
        &mut self,
        state: &State,
        mut fetch: impl FnMut(Seq, Seq) -> Result<Vec<Arc<Envelope>>, CliError>,
    ) -> Result<(), CliError> {
        const PIECE: u64 = 1024;
        self.state = state.clone();
        self.transcript = Transcript::from_state(state);
        let Some(episode) = state.open_episode().filter(|_| self.voice == Voice::Json) else { return Ok(()) };
        let mut after = episode.first_seq.0.saturating_sub(1);
        while after < state.head.0 {
            let to = state.head.0.min(after + PIECE);
            for envelope in fetch(Seq(after), Seq(to))? {
                self.shadow.follow(&envelope);
            }
            after = to;
        }
        Ok(())
    }

    /// Another branch is driven: it is told from where it was taken up.
    pub(super) fn other_line(&mut self, store: &Store) -> Result<(), CliError> {
        /// Events among which the one that took the branch up is looked for.
        const NEAR: u64 = 256;
        let line = store.epoch();
        if std::mem::replace(&mut self.line, line) == line {
            return Ok(());
        }
        let head = store.head().head;
        let near = store.timeline().events_after(Seq(head.0.saturating_sub(NEAR)));
        let taken_up = near.iter().rev().find(|e| matches!(e.event, Event::Reopened));
        let before = store.state_at(taken_up.map_or(head, |e| Seq(e.seq.0 - 1)));
        self.go_on_from(&before, |after, to| read(store, after, to))?;
        if self.voice == Voice::Transcript {
            let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
            let step = before.last_step().map_or(0, |s| s.number);
            out.line(&format!("Branch {}, from step {step}", store.branch()))?;
        }
        Ok(())
    }

    /// Tells one event.
    pub(super) fn event(&mut self, envelope: &Envelope) -> Result<(), CliError> {
        self.state.apply(envelope);
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        match self.voice {
            Voice::Transcript => out.text(&self.transcript.event_lines(envelope, &self.state))?,
            Voice::Json => {
                let aside = self.shadow.follow(envelope);
                if let Some(line) = self.lines.event_line(envelope, &self.state, &self.path, || aside) {
                    out.json(&line)?;
                }
            }
            Voice::Outcomes => {
                if matches!(envelope.event, Event::EpisodeEnded { .. } | Event::Warned { .. }) {
                    out.text(&self.transcript.event_lines(envelope, &self.state))?;
                }
            }
            Voice::Silent => {}
        }
        if matches!(envelope.event, Event::Observed { .. } | Event::EpisodeEnded { .. })
            && !(self.voice == Voice::Transcript && out.terminal())
        {
            out.progress(&self.progress());
        }
        Ok(())
    }

    /// Says of a model that is silent for long, once each [`SILENCE`].
    pub(super) fn silence(&mut self, store: &Store) {
        let live = store.live();
        self.quiet.retain(|(call, _)| live.calls.iter().any(|c| c.call == *call));
        for (call, seconds, words) in live.silences() {
            let times = seconds / SILENCE;
            let told = self.quiet.iter().find(|(of, _)| *of == call).map_or(0, |(_, times)| *times);
            if times > told {
                self.out
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .note(&format!("{words}; Ctrl-C stops"));
            }
            self.quiet.retain(|(of, _)| *of != call);
            self.quiet.push((call, times));
        }
    }

    /// Says what the driver says beside the events: a second try, a setting that a server refused.
    pub(super) fn signals(&mut self, store: &Store) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, signal) in store.live().signals {
            if number > self.heard
                && let Signal::Said(text) = signal
            {
                out.note(&text);
            }
            self.heard = self.heard.max(number);
        }
    }

    /// The events since the last told one.
    pub(super) fn since(&self) -> Seq {
        self.state.head
    }

    fn progress(&self) -> String {
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
    sent: Option<String>,
}

impl MirrorEnv {
    fn follow(&mut self, envelope: &Envelope) -> StepExtras {
        match &envelope.event {
            Event::EpisodeStarted { task, .. } => {
                self.world = worlds::open(task, &self.worlds).ok().filter(|w| w.info().deterministic);
                self.sent = None;
            }
            Event::WorldReset { .. } => {
                if self.world.as_mut().is_some_and(|w| w.reset().is_err()) {
                    self.world = None;
                }
                return self.look();
            }
            Event::ActionTaken { executed, call: Some(_), list_only: false, .. } => {
                self.sent = Some(executed.sent.clone().unwrap_or_else(|| executed.action.clone()));
            }
            Event::Observed { .. } => {
                if let (Some(world), Some(sent)) = (&mut self.world, self.sent.take())
                    && world.step(&sent).is_err()
                {
                    self.world = None;
                }
                return self.look();
            }
            _ => {}
        }
        StepExtras::default()
    }

    fn look(&mut self) -> StepExtras {
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
pub(super) fn read(store: &Store, after: Seq, to: Seq) -> Result<Vec<Arc<Envelope>>, CliError> {
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
        let out = Arc::new(Mutex::new(Out::new()));
        let mut teller = EventPrinter::new(Voice::Transcript, out, Path::new("x"), None, worlds);
        let mut told = Vec::new();
        for seconds in [0, 20, 44, 46, 60, 89, 91] {
            let moved = Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
            let (phase, asked) = (Phase::Waiting, ModelRole::Actor);
            let (reasoning, text) = (String::new(), String::new());
            let live = LiveCall {
                call: CallId(3),
                asked,
                phase,
                reasoning,
                text,
                pieces: 0,
                since: moved,
                moved,
                alive: true,
                usage: None,
            };
            store.edit_live(|l| l.calls = vec![live]);
            teller.silence(&store);
            told.push(teller.quiet.last().map_or(0, |q| q.1));
        }
        assert_eq!(told, [0, 0, 0, 1, 1, 1, 2]);
        store.edit_live(|l| l.calls.clear());
        teller.silence(&store);
        assert!(teller.quiet.is_empty(), "an answered call is forgotten");
    }
}
