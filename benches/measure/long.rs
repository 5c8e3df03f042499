//! Generates sessions of any length: the actor goes from cabinet to cabinet, with about 1 KB per event.

#![allow(dead_code, reason = "each benchmark uses only part of it")]

#[path = "../../tests/rig/run.rs"]
mod run;

use retrospect::domain::{Interface, Limits, RunSpec, Seq, Settings, StepResult, Usage};
use retrospect::driver::Store;
use retrospect::engine::{Cause, Command, Effect, Engine, Envelope, Event, Input, Reply};
use retrospect::journal::Writer;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// A session of engine, journal file and store, whose calls this program answers.
pub(crate) struct Rig {
    pub(crate) engine: Engine,
    writer: Writer,
    pub(crate) store: Arc<Store>,
    step: u32,
    /// Chooses the cabinet of a step.
    cabinet_of: fn(u32) -> u32,
}

impl Rig {
    /// Starts a session in a new branch file.
    pub(crate) fn new(path: &Path, step_limit: u32) -> Self {
        let spec = RunSpec {
            mentor: "none".to_owned(),
            interface: Interface::Raw,
            limits: Limits { steps: step_limit, moves: None, wall_seconds: None },
            settings: Settings::default(),
            ..run::spec("react", vec![run::household("bench")])
        };
        let writer = Writer::create(path, &run::trunk()).expect("a new file");
        let policy =
            retrospect::catalog::build_policy(&spec, Arc::new(retrospect::catalog::builtin_templates()))
                .expect("a known method");
        let store = Arc::new(Store::default());
        store.set_fetcher(writer.event_file().fetcher());
        let mut rig =
            Self { engine: Engine::new(policy), writer, store, step: 0, cabinet_of: |step| step % 20 };
        rig.send(Command::Start {
            session: "bench".to_owned(),
            spec: Box::new(spec),
            pool: Vec::new(),
            replay_start: None,
            breakpoints: Vec::new(),
        });
        rig.send(Command::Run);
        rig
    }

    /// Chooses cabinets with this function from now on.
    pub(crate) fn with_cabinets(mut self, cabinet_of: fn(u32) -> u32) -> Self {
        self.cabinet_of = cabinet_of;
        self
    }

    /// Plays until the journal has this number of events.
    pub(crate) fn fill(mut self, events: u64) -> Self {
        while self.engine.state.head.0 < events {
            self.answer();
        }
        self
    }

    /// Plays this number of steps.
    pub(crate) fn steps(mut self, steps: u32) -> Self {
        let last = self.step + steps;
        while self.step < last {
            self.answer();
        }
        self
    }

    /// Answers the running call. When the run is over, starts the task again.
    pub(crate) fn answer(&mut self) {
        let Some(effect) = self.engine.state.calls.values().next().cloned() else {
            let task = self.engine.state.run.as_ref().map(|r| r.tasks[0].clone()).expect("a run");
            self.send(Command::BeginEpisode(Box::new(task)));
            return self.send(Command::Run);
        };
        let call = effect.call();
        let reply = if matches!(effect, Effect::Ask { .. }) {
            self.step += 1;
            let text = format!(
                "think: {} go to cabinet {}",
                "I look further. ".repeat(40),
                (self.cabinet_of)(self.step)
            );
            Reply::Model {
                tool_calls: Vec::new(),
                truncated: None,
                call,
                text,
                reasoning: String::new(),
                usage: Usage::default(),
            }
        } else {
            let seen = "a apple 1, a bowl 2, a cup 3, ".repeat(60);
            let result = StepResult {
                observation: format!(
                    "You arrive at cabinet {}. On it, you see {seen}.",
                    (self.cabinet_of)(self.step)
                ),
                valid: true,
                shown: json!({"place": format!("cabinet {}", (self.cabinet_of)(self.step))}),
                ..StepResult::default()
            };
            Reply::World { call, result: Box::new(result), admissible: Vec::new() }
        };
        let events = self.engine.decide(&Input::Reply(reply)).expect("an accepted reply");
        self.commit(events);
        self.advance();
    }

    fn send(&mut self, command: Command) {
        let events = self.engine.decide(&Input::Command(command)).expect("an accepted command");
        self.commit(events);
        self.advance();
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
        let batch: Vec<Envelope> = events
            .into_iter()
            .enumerate()
            .map(|(n, (cause, event))| Envelope {
                seq: Seq(head + 1 + n as u64),
                timestamp: jiff::Timestamp::UNIX_EPOCH,
                cause,
                batch_continues: n < last,
                event,
            })
            .collect();
        if batch.is_empty() {
            return;
        }
        self.writer.append(&batch).expect("a written batch");
        for envelope in &batch {
            self.engine.state.apply(envelope);
        }
        self.store.append(batch.into_iter().map(Arc::new), Arc::new(self.engine.state.clone()));
    }
}
