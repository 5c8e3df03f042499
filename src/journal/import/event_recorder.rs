//! Builds the journal of an imported session.

use super::ImportedSession;
use crate::domain::{
    CallId, DecidedBy, EndReason, EpisodeRole, ExecutedAction, RunSpec, Seq, ShownAs, StepResult, Task,
    ThoughtDisposition,
};
use crate::engine::{Cause, Envelope, Event, State, episode_end};
use crate::journal::{BranchHeader, Meta, VERSION};
use jiff::Timestamp;

/// The maximum number of events of an imported session: it is held in memory as a whole.
const MAX_EVENTS: u64 = 1_000_000;

/// Numbers events and calls, folds them, and writes the journal's lines.
pub(super) struct EventRecorder {
    pub(super) state: State,
    /// The time of all events: the formats so far record none.
    at: Timestamp,
    lines: String,
    calls: u64,
}

/// A step of a log that contains no prompts.
pub(super) struct LoggedStep {
    pub(super) action: String,
    /// A person's action.
    pub(super) by_person: bool,
    pub(super) observation: String,
}

impl EventRecorder {
    /// Starts a session with a run.
    pub(super) fn new(session: &str, spec: RunSpec, at: Timestamp) -> Self {
        let header = serde_json::to_string(&BranchHeader::trunk(at)).unwrap_or_default();
        let mut recorder = Self { state: State::default(), at, lines: header + "\n", calls: 0 };
        recorder.push(Cause::Policy, Event::RunStarted { session: session.to_owned(), spec: Box::new(spec) });
        recorder
    }

    /// Returns whether the session has as many events as this program keeps in memory.
    pub(super) fn is_full(&self) -> bool {
        self.state.head.0 >= MAX_EVENTS
    }

    /// Adds an event.
    pub(super) fn push(&mut self, cause: Cause, event: Event) {
        let seq = Seq(self.state.head.0 + 1);
        let envelope = Envelope { seq, timestamp: self.at, cause, batch_continues: false, event };
        self.state.apply(&envelope);
        self.lines.push_str(&serde_json::to_string(&envelope).unwrap_or_default());
        self.lines.push('\n');
    }

    fn next_call(&mut self) -> CallId {
        self.calls += 1;
        CallId(self.calls - 1)
    }

    /// Adds the start of an episode.
    pub(super) fn start_episode(&mut self, task: &Task, trial: u32, first: StepResult) {
        let (episode, call) = (self.state.next_episode_number(), self.next_call());
        let (task, role) = (Box::new(task.clone()), EpisodeRole::Test);
        let goal = task.goal.clone();
        self.push(Cause::Policy, Event::EpisodeStarted { episode, task, trial, role, call });
        let reset = Event::WorldReset { call, result: Box::new(first), agent_view: None, goal };
        self.push(Cause::World, reset);
    }

    /// Adds a step. The action of a step that only thinks is `think: ...`.
    pub(super) fn add_step(&mut self, step: &LoggedStep, result: StepResult) {
        let number = self.state.open_episode().map_or(0, |e| e.steps.len() as u32) + 1;
        let action = step.action.clone();
        self.push(Cause::Policy, Event::StepOpened { step: number });
        let thought = action.strip_prefix("think:").map(|text| text.trim().to_owned());
        let call = Some(self.next_call());
        let (decided_by, shown_as) = if step.by_person {
            (DecidedBy::Person, ShownAs::HumanEdit)
        } else {
            (DecidedBy::Actor, ShownAs::AgentAction)
        };
        let thought_disposition = ThoughtDisposition::Kept;
        if step.by_person {
            let overridden = Event::ActionOverridden {
                step: number,
                proposed: None,
                action: action.clone(),
                shown_as,
                thought_disposition: thought_disposition.clone(),
                thoughts_from: None,
            };
            self.push(Cause::Person, overridden);
        } else {
            let action = thought.is_none().then(|| action.clone());
            let complaints = Vec::new();
            self.push(
                Cause::Model,
                Event::Proposed { step: number, thought, action, planned: Vec::new(), complaints },
            );
        }
        let (sent, rewrite_rule) = (None, None);
        let executed =
            ExecutedAction { action, sent, rewrite_rule, decided_by, shown_as, thought_disposition };
        let taken = Event::ActionTaken { step: number, call, executed, admissible_only: false };
        self.push(Cause::Policy, taken);
        let result = Box::new(result);
        self.push(Cause::World, Event::Observed { step: number, call, result, agent_view: None });
    }

    /// Adds the end of the episode; the fold counts its steps.
    pub(super) fn end_episode(&mut self, reason: EndReason) {
        let end = episode_end(&self.state, reason);
        self.push(Cause::Policy, end);
    }

    /// Ends the run and returns the session.
    pub(super) fn finish(mut self, title: String) -> ImportedSession {
        self.push(Cause::Policy, Event::RunEnded);
        self.push(Cause::Policy, Event::Closed);
        let run = self.state.run.as_deref();
        let meta = Meta {
            v: VERSION,
            session: self.state.session.clone(),
            created: self.at,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            env: run.and_then(|r| r.tasks.first()).map_or_else(String::new, |task| task.env.clone()),
            method: run.map_or_else(String::new, |r| r.method.clone()),
            actor: run.map_or_else(String::new, |r| r.actor.clone()),
            title,
            bookmark: None,
        };
        let files = [
            ("meta.toml".to_owned(), toml::to_string(&meta).unwrap_or_default()),
            ("branches/trunk.jsonl".to_owned(), self.lines),
        ];
        ImportedSession { branch: None, files: files.into() }
    }
}
