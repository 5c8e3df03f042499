//! Makes sessions of any length: episodes in which somebody goes from cabinet to cabinet, about 1 KB an event.

#![allow(dead_code, reason = "every bench takes what it needs")]

#[path = "../../tests/rig/run.rs"]
mod run;

use retrospect::domain::{Limits, RunSpec, Seq, Settings, StepResult, Usage};
use retrospect::driver::Store;
use retrospect::engine::{Cause, Command, Effect, Engine, Envelope, Event, Input, Reply};
use retrospect::journal::Writer;
use retrospect::prompt::Templates;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// A session that is played through engine, journal file and store, and answered by hand.
pub(crate) struct Rig {
    pub(crate) engine: Engine,
    writer: Writer,
    pub(crate) store: Store,
    step: u32,
    /// Which cabinet is gone to in a step.
    way: fn(u32) -> u32,
}

impl Rig {
    /// A session in a new branch file; its episodes have so many steps.
    pub(crate) fn new(path: &Path, cap: u32) -> Self {
        let spec = RunSpec {
            mentor: "none".to_owned(),
            interface: "raw".to_owned(),
            limits: Limits { steps: cap, moves: None, wall_seconds: None },
            settings: Settings::default(),
            ..run::spec("react", vec![run::household("bench")])
        };
        let writer = Writer::create(path, &run::trunk()).expect("a new file");
        let policy =
            retrospect::method::build_policy(&spec, Arc::new(Templates::builtin())).expect("a known method");
        let store = Store::default();
        store.set_fetcher(writer.event_file().fetcher());
        let mut rig = Self { engine: Engine::new(policy), writer, store, step: 0, way: |step| step % 20 };
        rig.wish(Command::Start {
            session: "bench".to_owned(),
            spec: Box::new(spec),
            pool: Vec::new(),
            replay_seed: None,
            breakpoints: Vec::new(),
        });
        rig.wish(Command::Run);
        rig
    }

    /// From now on goes other ways.
    pub(crate) fn along(mut self, way: fn(u32) -> u32) -> Self {
        self.way = way;
        self
    }

    /// Plays until there are so many events.
    pub(crate) fn fill(mut self, events: u64) -> Self {
        while self.engine.state.head.0 < events {
            self.answer();
        }
        self
    }

    /// Plays so many steps.
    pub(crate) fn steps(mut self, steps: u32) -> Self {
        let until = self.step + steps;
        while self.step < until {
            self.answer();
        }
        self
    }

    /// Answers the call in flight; the only task is begun again when the run is over.
    fn answer(&mut self) {
        let Some(effect) = self.engine.state.calls.values().next().cloned() else {
            let task = self.engine.state.run.as_ref().map(|r| r.tasks[0].clone()).expect("a run");
            self.wish(Command::BeginEpisode(Box::new(task)));
            return self.wish(Command::Run);
        };
        let call = effect.call();
        let reply = if matches!(effect, Effect::Ask { .. }) {
            self.step += 1;
            let text =
                format!("think: {} go to cabinet {}", "I look further. ".repeat(40), (self.way)(self.step));
            Reply::Model { truncated: None, call, text, reasoning: String::new(), usage: Usage::default() }
        } else {
            let seen = "a apple 1, a bowl 2, a cup 3, ".repeat(60);
            let turn = StepResult {
                observation: format!(
                    "You arrive at cabinet {}. On it, you see {seen}.",
                    (self.way)(self.step)
                ),
                valid: true,
                shown: json!({"place": format!("cabinet {}", (self.way)(self.step))}),
                ..StepResult::default()
            };
            Reply::World { call, result: Box::new(turn), admissible: Vec::new() }
        };
        let events = self.engine.decide(&Input::Reply(reply)).expect("replies are never refused");
        self.commit(events);
        self.advance();
    }

    fn wish(&mut self, command: Command) {
        let events = self.engine.decide(&Input::Command(command)).expect("granted");
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
        self.writer.append(&batch).expect("written");
        for envelope in &batch {
            self.engine.state.apply(envelope);
        }
        self.store.append(batch.into_iter().map(Arc::new), Arc::new(self.engine.state.clone()));
    }
}
