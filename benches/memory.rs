//! What a long session costs: memory from 1,000 to 1,000,000 events of 1 KB (DESIGN 7: at most 250 MB more), opening
//! 1 GB against 1 MB (at most twice as long), the state at any step of a 10,000-step episode (at most 5 ms).
//!
//! Episodes of 50 steps are played through engine, journal file and store, answered by hand; `EVENTS=100000` makes it shorter.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a program that reports figures")]

#[path = "measure/process.rs"]
mod process;

use process::{load, median, resident, verdict};
use retrospect::domain::{Autonomy, BranchId, Limits, RunSpec, Seq, Settings, Task, Turn, Usage};
use retrospect::driver::Store;
use retrospect::engine::{Cause, Command, Effect, Engine, Envelope, Event, Input, Reply};
use retrospect::journal::{BranchHeader, Writer, read_branch};
use retrospect::prompt::Templates;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let most: u64 = std::env::var("EVENTS").ok().and_then(|v| v.parse().ok()).unwrap_or(1_000_000);
    let dir = tempfile::tempdir().expect("a folder for the journal");
    let (small, large) = (dir.path().join("small.jsonl"), dir.path().join("large.jsonl"));
    drop(Rig::new(&small, 50).fill(1_000));
    let rig = Rig::new(&large, 50).fill(1_000);
    let before = resident().expect("memory is read from /proc");
    let began = Instant::now();
    let rig = rig.fill(most);
    let took = began.elapsed();
    let after = resident().expect("memory is read from /proc");
    let bytes = std::fs::metadata(&large).map_or(0, |m| m.len());
    let grew = after.saturating_sub(before) >> 20;
    println!(
        "memory: {grew} MB more at {} events ({} bytes each, {} episodes) than at 1,000 (budget 250 MB: {}); {:.1} us an event to make, write and fold; {}",
        rig.engine.state.head,
        bytes / rig.engine.state.head.0,
        rig.engine.state.past.len(),
        verdict(grew <= 250),
        took.as_secs_f64() * 1e6 / most as f64,
        load()
    );
    drop(rig);
    let open = |path: &Path, times: usize| {
        let times: Vec<f64> = (0..times)
            .map(|_| {
                let began = Instant::now();
                let timeline = read_branch(path).expect("a sound journal").into_timeline();
                assert!(!timeline.is_empty());
                began.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        median(times)
    };
    let (short, long) = (open(&small, 5), open(&large, 1));
    println!(
        "opening: {short:.1} ms for {} MB, {long:.1} ms for {} MB, ratio {:.1} (budget 2: {})",
        std::fs::metadata(&small).map_or(0, |m| m.len()) >> 20,
        bytes >> 20,
        long / short,
        verdict(long / short <= 2.0)
    );
    let rig = Rig::new(&dir.path().join("deep.jsonl"), 20_000).steps(10_000);
    let head = rig.engine.state.head.0;
    let mut slowest: f64 = 0.0;
    let mut times = Vec::new();
    for n in 0..500 {
        let at = Seq(1 + (n * 7_919_993) % head);
        let began = Instant::now();
        assert_eq!(rig.store.state_at(at).head, at);
        let took = began.elapsed().as_secs_f64() * 1e3;
        slowest = slowest.max(took);
        times.push(took);
    }
    println!(
        "state at any of 10,000 steps: {:.2} ms, slowest {slowest:.2} ms of 500 (budget 5 ms: {})",
        median(times),
        verdict(slowest <= 5.0)
    );
}

struct Rig {
    engine: Engine,
    writer: Writer,
    store: Store,
    step: u32,
}

impl Rig {
    fn new(path: &Path, cap: u32) -> Self {
        let header = BranchHeader {
            v: 1,
            kind: "branch".to_owned(),
            id: BranchId::trunk(),
            parent: None,
            at_seq: Seq(0),
            reason: "start".to_owned(),
            created: jiff::Timestamp::UNIX_EPOCH,
        };
        let task = Task {
            env: "household".to_owned(),
            id: "bench".to_owned(),
            goal: String::new(),
            task_type: None,
            seed: 0,
        };
        let spec = RunSpec {
            method: "react".to_owned(),
            actor: "script".to_owned(),
            mentor: "none".to_owned(),
            interface: "raw".to_owned(),
            tasks: vec![task],
            trials: 1,
            seed: 0,
            autonomy: Autonomy::Auto,
            limits: Limits { steps: cap, moves: None, wall_seconds: None },
            loop_detector: false,
            settings: Settings::default(),
        };
        let writer = Writer::create(path, &header).expect("a new file");
        let policy =
            retrospect::method::policy(&spec, Arc::new(Templates::builtin())).expect("a known method");
        let store = Store::default();
        store.timeline().fetch_with(writer.events().fetch());
        let mut rig = Self { engine: Engine::new(policy), writer, store, step: 0 };
        rig.wish(Command::Start { session: "bench".to_owned(), spec: Box::new(spec), pool: Vec::new() });
        rig.wish(Command::Run);
        rig
    }

    /// Plays until there are so many events.
    fn fill(mut self, events: u64) -> Self {
        while self.engine.state.head.0 < events {
            self.answer();
        }
        self
    }

    /// Plays so many steps.
    fn steps(mut self, steps: u32) -> Self {
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
            self.wish(Command::Begin(Box::new(task)));
            return self.wish(Command::Run);
        };
        let call = effect.call();
        let reply = if matches!(effect, Effect::Ask { .. }) {
            self.step += 1;
            let text = format!("think: {} go to cabinet {}", "I look further. ".repeat(40), self.step % 20);
            Reply::Model { call, text, reasoning: String::new(), usage: Usage::default() }
        } else {
            let seen = "a apple 1, a bowl 2, a cup 3, ".repeat(60);
            let turn = Turn {
                observation: format!("You arrive at cabinet {}. On it, you see {seen}.", self.step % 20),
                valid: true,
                shown: json!({"place": format!("cabinet {}", self.step % 20)}),
                ..Turn::default()
            };
            Reply::World { call, turn: Box::new(turn), admissible: Vec::new() }
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
                at: jiff::Timestamp::UNIX_EPOCH,
                cause,
                more: n < last,
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
