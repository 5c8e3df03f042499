//! A session without a driver: the engine, its journal in memory, and a store for a screen. Environments and actors
//! answer at once, or a test answers for them.

#![allow(dead_code, reason = "each target uses only part of it")]

#[path = "../rig/run.rs"]
mod run;

use retrospect::domain::{Interface, JobContext, RunSpec, Seq, Task, Usage};
use retrospect::driver::Store;
use retrospect::engine::{
    Cause, Command, CommandError, Effect, Engine, Envelope, Event, Input, Reply, State,
};
use retrospect::env::household::{self, TaskId};
use retrospect::env::{EnvError, Environment};
use std::path::Path;
use std::sync::Arc;

/// The file named in errors of these journals.
pub(crate) const FILE: &str = "branches/trunk.jsonl";

pub(crate) struct Rig {
    pub(crate) engine: Engine,
    pub(crate) journal: Vec<Arc<Envelope>>,
    pub(crate) store: Arc<Store>,
    world: Option<Box<dyn Environment>>,
}

/// Returns a run of the built-in actor over household tasks.
pub(crate) fn spec(method: &str, interface: Interface, ids: &[&str]) -> RunSpec {
    let tasks = ids.iter().map(|id| run::household(*id)).collect();
    RunSpec { interface, ..run::spec(method, tasks) }
}

pub(crate) fn open(task: &Task) -> Result<Box<dyn Environment>, EnvError> {
    let id = TaskId::parse(&task.id).map_err(|e| EnvError::Refused { what: e.to_string() })?;
    Ok(Box::new(household::open_world(&id)?))
}

impl Rig {
    /// Creates a rig whose run has started and is paused.
    pub(crate) fn new(spec: RunSpec) -> Self {
        let policy =
            retrospect::catalog::build_policy(&spec, Arc::new(retrospect::catalog::builtin_templates()))
                .unwrap();
        let mut rig =
            Self { engine: Engine::new(policy), journal: Vec::new(), store: Arc::default(), world: None };
        let start = Command::Start {
            session: "soak".to_owned(),
            spec: Box::new(spec),
            pool: Vec::new(),
            replay_start: None,
            breakpoints: Vec::new(),
        };
        rig.send(&start).unwrap();
        rig
    }

    pub(crate) fn state(&self) -> &State {
        &self.engine.state
    }

    /// Executes a command. The calls it starts are not answered.
    pub(crate) fn send(&mut self, command: &Command) -> Result<(), CommandError> {
        let events = self.engine.decide(&Input::Command(command.clone()))?;
        self.commit(events);
        self.advance();
        Ok(())
    }

    /// Handles a reply.
    pub(crate) fn reply(&mut self, reply: Reply) {
        if let Ok(events) = self.engine.decide(&Input::Reply(reply)) {
            self.commit(events);
            self.advance();
        }
    }

    /// Answers at most `max_calls` calls as the built-in environment and actor would.
    pub(crate) fn answer(&mut self, max_calls: usize) {
        for _ in 0..max_calls {
            let Some(call) = self.engine.state.calls.values().next().cloned() else { break };
            let reply = self.reply_for(&call);
            self.reply(reply);
        }
    }

    fn reply_for(&mut self, effect: &Effect) -> Reply {
        let call = effect.call();
        let failed_reply = |error: &dyn std::fmt::Display| Reply::Failed {
            call,
            failure: retrospect::engine::Failure {
                message: error.to_string(),
                source: "world".to_owned(),
                kind: None,
                hint: "retry".to_owned(),
                partial_text: String::new(),
                usage: None,
            },
        };
        let no_world = || EnvError::Died { what: "no environment is open".to_owned() };
        let result = match effect {
            Effect::ResetWorld { task, .. } => match open(task).and_then(|mut w| Ok((w.reset()?, w))) {
                Ok((result, world)) => {
                    self.world = Some(world);
                    Ok(result)
                }
                Err(error) => Err(error),
            },
            Effect::StepWorld { action, .. } => {
                self.world.as_mut().ok_or_else(no_world).and_then(|w| w.step(action))
            }
            Effect::Ask { prompt, .. } => {
                let seed = prompt.seed;
                let prompt = retrospect::prompt::render(&self.engine.state, prompt);
                let text = retrospect::stand_in::answer(&[], &prompt, seed);
                return Reply::Model {
                    tool_calls: Vec::new(),
                    truncated: None,
                    call,
                    text,
                    reasoning: String::new(),
                    usage: Usage::default(),
                };
            }
            Effect::Compute { job, .. } => {
                let context = JobContext { texts: self.engine.state.texts.clone(), ..JobContext::default() };
                return match retrospect::catalog::compute_job(job, &context) {
                    Ok(result) => Reply::Computed { call, result, millis: 0 },
                    Err(message) => failed_reply(&message),
                };
            }
            Effect::Cancel { .. } => Err(no_world()),
        };
        match result {
            Ok(result) => Reply::World { call, result: Box::new(result), admissible: Vec::new() },
            Err(error) => failed_reply(&error),
        }
    }

    /// Returns the actions that are admissible now.
    pub(crate) fn admissible(&mut self) -> Vec<String> {
        self.world.as_mut().and_then(|w| w.admissible().ok()).unwrap_or_default()
    }

    fn advance(&mut self) {
        loop {
            let events = self.engine.advance();
            if events.is_empty() {
                break;
            }
            self.commit(events);
        }
    }

    fn commit(&mut self, events: Vec<(Cause, Event)>) {
        let head = self.engine.state.head.0;
        let last = events.len().saturating_sub(1);
        let mut batch = Vec::with_capacity(events.len());
        for (n, (cause, event)) in events.into_iter().enumerate() {
            let seq = Seq(head + 1 + n as u64);
            let envelope = Arc::new(Envelope {
                seq,
                timestamp: jiff::Timestamp::UNIX_EPOCH,
                cause,
                batch_continues: n < last,
                event,
            });
            self.engine.state.apply(&envelope);
            batch.push(envelope);
        }
        if !batch.is_empty() {
            self.journal.extend(batch.iter().cloned());
            self.store.append(batch, Arc::new(self.engine.state.clone()));
        }
    }

    /// Returns the branch file that a driver would have written.
    pub(crate) fn file(&self) -> Vec<u8> {
        file(&self.journal)
    }
}

/// Returns the bytes of a branch file with these events.
pub(crate) fn file(events: &[Arc<Envelope>]) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(&run::trunk()).unwrap();
    bytes.push(b'\n');
    for envelope in events {
        serde_json::to_writer(&mut bytes, envelope).unwrap();
        bytes.push(b'\n');
    }
    bytes
}

/// Reads the events back from the bytes a writer would have written and folds them. The state must be the same.
pub(crate) fn assert_folds_to(events: &[Arc<Envelope>], state: &State) {
    let read = retrospect::journal::read_branch_bytes(Path::new(FILE), &file(events)).unwrap();
    assert_eq!(read.torn_tail, None);
    assert_eq!(read.events.len(), events.len());
    for (read, written) in read.events.iter().zip(events) {
        assert_eq!(read, written, "events are read back as written");
    }
    let timeline = retrospect::journal::fold_events(read.events);
    assert_eq!(timeline.head().as_ref(), state, "the fold of the journal equals the state");
}
