//! The time of a step in engine and journal, without model, environment and sync (budget: 100 µs at any episode
//! length); the same with breakpoints; and the time to compute the next prompt ahead of a decision (`--prefetch`).
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "measure/process.rs"]
mod process;
#[path = "../tests/rig/run.rs"]
mod run;

use divan::Bencher;
use process::{exit_code, load, median, verdict};
use retrospect::domain::{Limits, Prompt, RunSpec, SegmentRecord, Seq, Settings, StepResult, Usage};
use retrospect::engine::{Cause, Command, Effect, Engine, Envelope, Event, Input, Reply};
use retrospect::journal::Writer;
use retrospect::prompt::render;
use serde_json::json;
use std::sync::Arc;

fn main() -> std::process::ExitCode {
    divan::main();
    measure_breakpoints();
    measure_prefetch();
    exit_code()
}

/// Twenty breakpoints that never hit, of every kind that is checked at a step.
const BREAKPOINTS: [&str; 20] = [
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

/// Measures a step with twenty breakpoints and one without. Twenty breakpoints may at most double the budget of a step.
fn measure_breakpoints() {
    const ROUNDS: usize = 7;
    const STEPS: u32 = 1_000;
    let (mut plain, mut watched) = (Rig::after("react", 1_000), Rig::after("react", 1_000));
    for text in BREAKPOINTS {
        watched.feed(&Input::Command(Command::SetBreakpoint { text: text.to_owned(), replaces: None }));
    }
    assert_eq!(watched.engine.state.breakpoints.all.len(), BREAKPOINTS.len());
    let round = |rig: &mut Rig| {
        let (start, first) = (std::time::Instant::now(), rig.engine.state.head.0);
        (0..STEPS).for_each(|_| rig.take_step());
        let seconds = start.elapsed().as_secs_f64();
        (seconds * 1e6 / f64::from(STEPS), (rig.engine.state.head.0 - first) as f64 / seconds)
    };
    let (mut without, mut with, mut events) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        without.push(round(&mut plain).0);
        let (micros, per_second) = round(&mut watched);
        with.push(micros);
        events.push(per_second);
    }
    assert!(watched.engine.state.breakpoints.last_hit.is_none(), "a hit would be journaled and measured");
    let (without, with, events) = (median(without), median(with), median(events));
    println!(
        "a step: {without:.0} us (budget 100 us: {}); with 20 breakpoints {with:.0} us, {events:.0} events per second (budget 200 us: {}); {}",
        verdict(without <= 100.0),
        verdict(with <= 200.0),
        load()
    );
}

/// Measures what `--prefetch` adds at each proposal: copying the state, stepping it, and rendering the next prompt.
fn measure_prefetch() {
    let micros = [1_000, 10_000].map(|steps| {
        let mut rig = Rig::after("react", steps);
        rig.feed(&Input::Command(Command::Pause));
        rig.answer_model();
        assert!(rig.engine.state.step_awaiting_decision().is_some() && rig.engine.state.is_waiting());
        let (mut copy_times, mut prefetch_times) = (Vec::new(), Vec::new());
        for _ in 0..201 {
            let start = std::time::Instant::now();
            divan::black_box(rig.copy());
            copy_times.push(start.elapsed().as_secs_f64() * 1e6);
            let start = std::time::Instant::now();
            divan::black_box(rig.prefetch());
            prefetch_times.push(start.elapsed().as_secs_f64() * 1e6);
        }
        (median(copy_times), median(prefetch_times))
    });
    let [(copy, short), (late, long)] = micros;
    println!(
        "prefetching at a proposal: {short:.0} us after 1,000 steps, {long:.0} us after 10,000 (budget 1000 us: {}), of which \
         copying the state {copy:.1} and {late:.1} us; {}",
        verdict(long <= 1000.0),
        load()
    );
}

/// Returns a run of one practically endless episode, with default settings.
fn spec(method: &str) -> RunSpec {
    RunSpec {
        limits: Limits { steps: 1_000_000, moves: None, wall_seconds: None },
        settings: Settings::default(),
        ..run::spec(method, vec![run::household("bench")])
    }
}

/// Engine and journal as the driver runs them; this program answers the calls.
struct Rig {
    engine: Engine,
    writer: Writer,
    step: u32,
    _dir: tempfile::TempDir,
}

impl Rig {
    /// Creates a rig after this number of steps.
    fn after(method: &str, steps: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let writer = Writer::create(&dir.path().join("trunk.jsonl"), &run::trunk()).unwrap();
        let spec = spec(method);
        let policy =
            retrospect::catalog::build_policy(&spec, Arc::new(retrospect::catalog::builtin_templates()))
                .unwrap();
        let mut rig = Self { engine: Engine::new(policy), writer, step: 0, _dir: dir };
        let start = Command::Start {
            session: "bench".to_owned(),
            spec: Box::new(spec),
            pool: Vec::new(),
            replay_start: None,
            breakpoints: Vec::new(),
        };
        rig.feed(&Input::Command(start));
        rig.feed(&Input::Command(Command::Run));
        rig.answer_world("-= Welcome =-\n\nYou are in the middle of a room. Looking quickly around you, you see a cabinet 1, a countertop 1, and a fridge 1.\n\nYour task is to: put a hot apple in fridge.");
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
        let mut batch = envelopes(self.engine.state.head.0, events);
        let hits = self.engine.breakpoint_events(&batch);
        batch.extend(envelopes(self.engine.state.head.0 + batch.len() as u64, hits));
        self.writer.append(&batch).unwrap();
        for envelope in &batch {
            self.engine.state.apply(envelope);
        }
        divan::black_box(Arc::new(self.engine.state.clone()));
    }

    fn call(&self) -> Effect {
        self.engine.state.calls.values().next().unwrap().clone()
    }

    fn answer_world(&mut self, text: &str) {
        let result = StepResult {
            observation: text.to_owned(),
            valid: true,
            shown: json!({"place": format!("cabinet {}", self.step % 20), "seen": {"cabinet 1": {"open": true, "items": ["apple 1"]}}}),
            ..StepResult::default()
        };
        let call = self.call().call();
        self.feed(&Input::Reply(Reply::World { call, result: Box::new(result), admissible: Vec::new() }));
    }

    fn take_step(&mut self) {
        self.answer_model();
        self.answer_world("You arrive at cabinet 1. The cabinet 1 is open. In it, you see a apple 1.");
    }

    fn copy(&self) -> Engine {
        let engine = &self.engine;
        Engine::resume(engine.state.clone(), engine.policy.clone(), engine.branch.clone())
    }

    /// Prefetches as the driver does, with an environment that answers at once. Returns the next prompt.
    fn prefetch(&self) -> Prompt {
        let mut engine = self.copy();
        handle(&mut engine, &Input::Command(Command::Step));
        let call = engine.state.calls.values().next().unwrap().call();
        let result =
            StepResult { observation: "You arrive.".to_owned(), valid: true, ..StepResult::default() };
        handle(
            &mut engine,
            &Input::Reply(Reply::World { call, result: Box::new(result), admissible: Vec::new() }),
        );
        let Some(Effect::Ask { prompt, .. }) = engine.state.calls.values().next() else {
            panic!("a step is followed by a model call")
        };
        render(&engine.state, prompt)
    }

    fn answer_model(&mut self) {
        self.step += 1;
        let call = self.call().call();
        let text = format!("go to cabinet {}", self.step % 20);
        self.feed(&Input::Reply(Reply::Model {
            tool_calls: Vec::new(),
            truncated: None,
            call,
            text,
            reasoning: String::new(),
            usage: Usage::default(),
        }));
    }
}

/// Numbers the events that follow event `last_seq`.
fn envelopes(last_seq: u64, events: Vec<(Cause, Event)>) -> Vec<Envelope> {
    let envelope = |(n, (cause, event))| Envelope {
        seq: Seq(last_seq + 1 + n as u64),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        cause,
        batch_continues: false,
        event,
    };
    events.into_iter().enumerate().map(envelope).collect()
}

/// Handles an input until the engine waits, without a journal.
fn handle(engine: &mut Engine, input: &Input) {
    let mut events = engine.decide(input).unwrap();
    while !events.is_empty() {
        for envelope in envelopes(engine.state.head.0, events) {
            engine.state.apply(&envelope);
        }
        events = engine.advance();
    }
}

/// One step after this number of steps.
#[divan::bench(args = [10, 100, 1_000, 10_000], sample_count = 20, sample_size = 20)]
fn react_step_after(bencher: Bencher, steps: u32) {
    let rig = std::cell::RefCell::new(Rig::after("react", steps));
    bencher.bench_local(|| rig.borrow_mut().take_step());
}

/// The same with OmniReflect and symbolic reflection.
#[divan::bench(args = [10, 1_000], sample_count = 20, sample_size = 20)]
fn omnireflect_step_after(bencher: Bencher, steps: u32) {
    let rig = std::cell::RefCell::new(Rig::after("omnireflect", steps));
    bencher.bench_local(|| rig.borrow_mut().take_step());
}

/// Parsing an event of the journal.
#[divan::bench]
fn parse_event(bencher: Bencher) {
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
