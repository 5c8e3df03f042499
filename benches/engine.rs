//! What a step costs in engine and journal alone: no model, no world, no sync (budget: 200 µs, whatever the episode's length);
//! the same with breakpoints to be looked at, and what it costs to look ahead of a proposal (`--prefetch`) without the asking.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "measure/process.rs"]
mod process;
#[path = "../tests/rig/run.rs"]
mod run;

use divan::Bencher;
use process::{ending, load, median, verdict};
use retrospect::domain::{Limits, Prompt, RunSpec, SegmentRecord, Seq, Settings, StepResult, Usage};
use retrospect::engine::{Cause, Command, Effect, Engine, Envelope, Event, Input, Reply};
use retrospect::journal::Writer;
use retrospect::prompt::{Templates, render};
use serde_json::json;
use std::sync::Arc;

fn main() -> std::process::ExitCode {
    divan::main();
    breakpoints();
    ahead();
    ending()
}

/// Twenty that never come true here: every kind that has something to look at in a step.
const BREAKS: [&str; 20] = [
    "action ~ ^heat (mug|pan|plate) \\d+ with",
    "action = go to shelf 99",
    "observation ~ (?:closed|locked).*drawer \\d{3}",
    "observation = nothing of the kind",
    "thought ~ give up|stuck",
    "thought = I am done",
    "nothing 900000",
    "invalid 900000",
    "same action 900000",
    "same observation 900000",
    "same thought 900000",
    "note wrong_object",
    "note subgoal",
    "reward changed",
    "progress changed",
    "stalled 900000",
    "won",
    "lesson 60",
    "tokens > 900M",
    "warn episode cost > 900000",
];

/// A step with twenty breakpoints set, beside one with none: the whole of it stays within a step's budget.
fn breakpoints() {
    const ROUNDS: usize = 7;
    const STEPS: u32 = 1_000;
    let (mut plain, mut watched) = (Rig::after("react", 1_000), Rig::after("react", 1_000));
    for text in BREAKS {
        watched.feed(&Input::Command(Command::SetBreakpoint { text: text.to_owned(), replaces: None }));
    }
    assert_eq!(watched.engine.state.breakpoints.all.len(), BREAKS.len());
    let round = |rig: &mut Rig| {
        let (began, first) = (std::time::Instant::now(), rig.engine.state.head.0);
        (0..STEPS).for_each(|_| rig.take_step());
        let took = began.elapsed().as_secs_f64();
        (took * 1e6 / f64::from(STEPS), (rig.engine.state.head.0 - first) as f64 / took)
    };
    let (mut without, mut with, mut events) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        without.push(round(&mut plain).0);
        let (micros, a_second) = round(&mut watched);
        with.push(micros);
        events.push(a_second);
    }
    assert!(
        watched.engine.state.breakpoints.last_hit.is_none(),
        "what comes true is written, and is not what is measured"
    );
    let (without, with, events) = (median(without), median(with), median(events));
    println!(
        "20 breakpoints: {with:.0} us a step, {events:.0} events a second; without any {without:.0} us (budget 200 us: {}); {}",
        verdict(with <= 200.0),
        load()
    );
}

/// What `--prefetch` does of its own at each proposal: a copy of the state, a step of it, and the prompt behind that.
fn ahead() {
    let micros = [1_000, 10_000].map(|steps| {
        let mut rig = Rig::after("react", steps);
        rig.feed(&Input::Command(Command::Pause));
        rig.says();
        assert!(rig.engine.state.step_awaiting_decision().is_some() && rig.engine.state.is_waiting());
        let (mut copies, mut times) = (Vec::new(), Vec::new());
        for _ in 0..201 {
            let began = std::time::Instant::now();
            divan::black_box(rig.copy());
            copies.push(began.elapsed().as_secs_f64() * 1e6);
            let began = std::time::Instant::now();
            divan::black_box(rig.shadow());
            times.push(began.elapsed().as_secs_f64() * 1e6);
        }
        (median(copies), median(times))
    });
    let [(copy, short), (late, long)] = micros;
    println!(
        "looking ahead of a proposal: {short:.0} us after 1,000 steps, {long:.0} us after 10,000 (budget 1000 us: {}), of which \
         copying the state {copy:.1} and {late:.1} us; {}",
        verdict(long <= 1000.0),
        load()
    );
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
        let policy = retrospect::method::build_policy(&spec, Arc::new(Templates::builtin())).unwrap();
        let mut rig = Self { engine: Engine::new(policy), writer, step: 0, _dir: dir };
        let start = Command::Start {
            session: "bench".to_owned(),
            spec: Box::new(spec),
            pool: Vec::new(),
            replay_seed: None,
            breakpoints: Vec::new(),
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

    fn commit(&mut self, events: Vec<(Cause, Event)>) {
        let mut batch = stamped(self.engine.state.head.0, events);
        let hits = self.engine.breakpoint_events(&batch);
        batch.extend(stamped(self.engine.state.head.0 + batch.len() as u64, hits));
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
        let turn = StepResult {
            observation: text.to_owned(),
            valid: true,
            shown: json!({"place": format!("cabinet {}", self.step % 20), "seen": {"cabinet 1": {"open": true, "items": ["apple 1"]}}}),
            ..StepResult::default()
        };
        let call = self.call().call();
        self.feed(&Input::Reply(Reply::World { call, result: Box::new(turn), admissible: Vec::new() }));
    }

    fn take_step(&mut self) {
        self.says();
        self.world("You arrive at cabinet 1. The cabinet 1 is open. In it, you see a apple 1.");
    }

    fn copy(&self) -> Engine {
        let of = &self.engine;
        Engine::resume(of.state.clone(), of.policy.clone(), of.branch.clone())
    }

    /// As the driver looks ahead of a proposal, with a world that answers at once; the prompt that would be sent.
    fn shadow(&self) -> Prompt {
        let mut engine = self.copy();
        drive(&mut engine, &Input::Command(Command::Step));
        let call = engine.state.calls.values().next().unwrap().call();
        let turn = StepResult { observation: "You arrive.".to_owned(), valid: true, ..StepResult::default() };
        drive(
            &mut engine,
            &Input::Reply(Reply::World { call, result: Box::new(turn), admissible: Vec::new() }),
        );
        let Some(Effect::Ask { prompt, .. }) = engine.state.calls.values().next() else {
            panic!("it asks next")
        };
        render(&engine.state, prompt)
    }

    fn says(&mut self) {
        self.step += 1;
        let call = self.call().call();
        let text = format!("go to cabinet {}", self.step % 20);
        self.feed(&Input::Reply(Reply::Model {
            truncated: None,
            call,
            text,
            reasoning: String::new(),
            usage: Usage::default(),
        }));
    }
}

fn stamped(head: u64, events: Vec<(Cause, Event)>) -> Vec<Envelope> {
    let place = |(n, (cause, event))| Envelope {
        seq: Seq(head + 1 + n as u64),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        cause,
        batch_continues: false,
        event,
    };
    events.into_iter().enumerate().map(place).collect()
}

/// Decides and goes on, written nowhere.
fn drive(engine: &mut Engine, input: &Input) {
    let mut events = engine.decide(input).unwrap();
    while !events.is_empty() {
        for envelope in stamped(engine.state.head.0, events) {
            engine.state.apply(&envelope);
        }
        events = engine.advance();
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
        label: retrospect::domain::SegmentLabel::Task,
        origin: retrospect::domain::SegmentOrigin::Task,
        message_role: retrospect::domain::MessageRole::User,
        tokens: 9,
    };
    let record = retrospect::domain::PromptRecord { segments: vec![segment; 8], ..Default::default() };
    let envelope = Envelope {
        seq: Seq(1),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        cause: retrospect::engine::Cause::Policy,
        batch_continues: false,
        event: Event::PromptSent { prompt: Arc::new(record) },
    };
    let line = serde_json::to_string(&envelope).unwrap();
    bencher.bench(|| serde_json::from_str::<Envelope>(divan::black_box(&line)).unwrap());
}
