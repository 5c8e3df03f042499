//! What a step costs in engine and journal alone: no model, no world, no sync (budget: 200 µs, whatever the episode's length).
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../tests/rig/run.rs"]
mod run;

use divan::Bencher;
use retrospect::domain::{Limits, RunSpec, SegmentRecord, Seq, Settings, Turn, Usage};
use retrospect::engine::{Command, Effect, Engine, Envelope, Event, Input, Reply};
use retrospect::journal::Writer;
use retrospect::prompt::Templates;
use serde_json::json;
use std::sync::Arc;

fn main() {
    divan::main();
}

/// A run whose episode goes on for ever, with no setting set.
fn spec(method: &str) -> RunSpec {
    RunSpec {
        limits: Limits { steps: 1_000_000, moves: None, wall_seconds: None },
        settings: Settings::default(),
        ..run::spec(method, vec![run::household("bench")])
    }
}

/// Engine and journal as the driver runs them, answered by hand.
struct Rig {
    engine: Engine,
    writer: Writer,
    step: u32,
    _dir: tempfile::TempDir,
}

impl Rig {
    fn after(method: &str, steps: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let writer = Writer::create(&dir.path().join("trunk.jsonl"), &run::trunk()).unwrap();
        let spec = spec(method);
        let policy = retrospect::method::policy(&spec, Arc::new(Templates::builtin())).unwrap();
        let mut rig = Self { engine: Engine::new(policy), writer, step: 0, _dir: dir };
        let start = Command::Start {
            session: "bench".to_owned(),
            spec: Box::new(spec),
            pool: Vec::new(),
            carried: None,
        };
        rig.feed(&Input::Command(start));
        rig.feed(&Input::Command(Command::Run));
        rig.world("-= Welcome =-\n\nYou are in the middle of a room. Looking quickly around you, you see a cabinet 1, a countertop 1, and a fridge 1.\n\nYour task is to: put a hot apple in fridge.");
        for _ in 0..steps {
            rig.take_step();
        }
        rig
    }

    fn feed(&mut self, input: &Input) {
        let events = self.engine.decide(input).unwrap();
        self.commit(events);
        loop {
            let events = self.engine.advance();
            if events.is_empty() {
                break;
            }
            self.commit(events);
        }
    }

    fn commit(&mut self, events: Vec<(retrospect::engine::Cause, Event)>) {
        let head = self.engine.state.head.0;
        let batch: Vec<Envelope> = events
            .into_iter()
            .enumerate()
            .map(|(n, (cause, event))| Envelope {
                seq: Seq(head + 1 + n as u64),
                at: jiff::Timestamp::UNIX_EPOCH,
                cause,
                more: false,
                event,
            })
            .collect();
        self.writer.append(&batch).unwrap();
        for envelope in &batch {
            self.engine.state.apply(envelope);
        }
        divan::black_box(Arc::new(self.engine.state.clone()));
    }

    fn call(&self) -> Effect {
        self.engine.state.calls.values().next().unwrap().clone()
    }

    fn world(&mut self, text: &str) {
        let turn = Turn {
            observation: text.to_owned(),
            valid: true,
            shown: json!({"place": format!("cabinet {}", self.step % 20), "seen": {"cabinet 1": {"open": true, "items": ["apple 1"]}}}),
            ..Turn::default()
        };
        let call = self.call().call();
        self.feed(&Input::Reply(Reply::World { call, turn: Box::new(turn), admissible: Vec::new() }));
    }

    fn take_step(&mut self) {
        self.step += 1;
        let call = self.call().call();
        let text = format!("go to cabinet {}", self.step % 20);
        self.feed(&Input::Reply(Reply::Model {
            call,
            text,
            reasoning: String::new(),
            usage: Usage::default(),
        }));
        self.world("You arrive at cabinet 1. The cabinet 1 is open. In it, you see a apple 1.");
    }
}

/// One step at the end of an episode of this length.
#[divan::bench(args = [10, 100, 1_000, 10_000], sample_count = 20, sample_size = 20)]
fn react_step_after(bencher: Bencher, steps: u32) {
    let rig = std::cell::RefCell::new(Rig::after("react", steps));
    bencher.bench_local(|| rig.borrow_mut().take_step());
}

/// The same under OmniReflect with symbolic reflection.
#[divan::bench(args = [10, 1_000], sample_count = 20, sample_size = 20)]
fn omnireflect_step_after(bencher: Bencher, steps: u32) {
    let rig = std::cell::RefCell::new(Rig::after("omnireflect", steps));
    bencher.bench_local(|| rig.borrow_mut().take_step());
}

/// How an event is read back.
#[divan::bench]
fn read_an_event(bencher: Bencher) {
    let segment = SegmentRecord {
        label: retrospect::domain::Label::Task,
        origin: retrospect::domain::Origin::Task,
        speaker: retrospect::domain::Speaker::User,
        tokens: 9,
    };
    let record = retrospect::domain::PromptRecord { segments: vec![segment; 8], ..Default::default() };
    let envelope = Envelope {
        seq: Seq(1),
        at: jiff::Timestamp::UNIX_EPOCH,
        cause: retrospect::engine::Cause::Policy,
        more: false,
        event: Event::PromptSent { prompt: Arc::new(record) },
    };
    let line = serde_json::to_string(&envelope).unwrap();
    bencher.bench(|| serde_json::from_str::<Envelope>(divan::black_box(&line)).unwrap());
}
