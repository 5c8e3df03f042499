//! Prefetching doesn't change a run: the journals with and without it are equal except for times, and unused prefetches
//! are counted separately.

mod failing;

use crate::run::{meta, spec, until};
use retrospect::domain::{
    LessonOp, LessonText, ReflectionKind, RunSpec, Scope, SettingOrigin, ShownAs, Task, ThoughtDisposition,
};
use retrospect::driver::worlds;
use retrospect::driver::{Driver, Handle, OpenWorld, RunConfig};
use retrospect::engine::{Command, Envelope, Event, LessonCommand, PrefetchStats, PrefetchStatus, State};
use retrospect::env::EnvError;
use retrospect::env::TaskOptions;
use retrospect::journal::{Session, read_branch};
use retrospect::provider::RuleBasedActor;
use retrospect::provider::{CacheMode, CachedProvider, Provider, ScriptedProvider};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn task(env: &str, id: &str) -> Task {
    Task {
        env: env.to_owned(),
        id: id.to_owned(),
        goal: String::new(),
        task_type: None,
        difficulty: None,
        seed: 0,
    }
}

/// Returns a run with the rule-based actor in place of a model and a reply cache.
fn run_config(spec: &RunSpec, cache: &Path, mode: CacheMode, prefetch: bool) -> RunConfig {
    let options = TaskOptions::default();
    let open: OpenWorld = Arc::new(move |task| worlds::open(task, &options));
    let rules: Arc<dyn Provider> = Arc::new(RuleBasedActor::default());
    let mentor: Arc<dyn Provider> =
        Arc::new(ScriptedProvider::new(|_| Ok("['Look everywhere once.']".to_owned())));
    let cached = |inner, name: &str| {
        Arc::new(CachedProvider::new(inner, name.to_owned(), cache, mode)) as Arc<dyn Provider>
    };
    let (actor, mentor) = (cached(rules, "actor"), cached(mentor, "mentor"));
    let mut config = RunConfig::from_spec(
        &RunSpec { actor: "rules".to_owned(), mentor: "none".to_owned(), ..spec.clone() },
        Arc::new(retrospect::catalog::builtin_templates()),
        open,
        Duration::ZERO,
    )
    .unwrap();
    (config.actor, config.mentor, config.prefetch) = (actor, Some(mentor), prefetch);
    config
}

/// Waits until a decision is due and, with prefetching, the next prefetch is in flight, unless there will be none. What was sent
/// before has been carried out.
fn wait_for_person(handle: &Handle) {
    until(handle, |s| s.is_waiting() || s.run_over);
    // A lookahead starts with the message that makes the decision due, and the environment answers in order. So a list that
    // is requested after that is answered after the lookahead. Two more are behind what a lookahead may request next.
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for _ in 0..3 {
        if handle.store.head().open_episode().is_some() {
            runtime.block_on(handle.admissible());
        }
    }
}

/// Plays a run in which a person steps, overrides, rejects, adds a lesson and steps again; returns its events without
/// times.
fn play_run(spec: &RunSpec, prefetch: bool, mode: CacheMode) -> (Vec<Event>, PrefetchStats, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let config = run_config(spec, &dir.path().join("cache"), mode, prefetch);
    let (handle, thread, session) =
        Driver::start(dir.path(), meta("s", spec), spec.clone(), Vec::new(), config).unwrap();
    let send = |command| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(handle.send_and_wait(command)).unwrap();
    };
    send(Command::Step);
    for round in 0..9 {
        wait_for_person(&handle);
        if handle.store.head().open_episode().is_none() {
            break;
        }
        match round {
            3 => send(Command::Override {
                action: "inventory".to_owned(),
                shown_as: ShownAs::AgentAction,
                thought_disposition: ThoughtDisposition::Kept,
            }),
            5 => send(Command::Reject("look elsewhere first".to_owned())),
            6 => {
                let text = LessonText { text: "Open what is closed.".to_owned(), solution: None };
                send(Command::Lesson(LessonCommand::add(
                    ReflectionKind::Abstract,
                    Scope::Environment,
                    text,
                    String::new(),
                )));
                wait_for_person(&handle);
                send(Command::Step);
            }
            _ => send(Command::Step),
        }
    }
    until(&handle, |s| s.is_waiting() || s.run_over);
    let signals = handle.store.live().signals;
    handle.quit();
    thread.join().unwrap();
    let (stats, events) = journaled_run(&handle, &session);
    let notices = signals.into_iter().map(|(_, signal)| format!("{signal:?}")).collect();
    (run_events(&events), stats, notices)
}

/// Returns the events of a finished session and its prefetch statistics, after checking that store and journal agree on
/// them.
fn journaled_run(handle: &Handle, session: &Session) -> (PrefetchStats, Vec<Arc<Envelope>>) {
    let events = read_branch(&session.trunk()).unwrap().events;
    let mut state = State::default();
    for envelope in &events {
        state.apply(envelope);
    }
    let stats = state.usage.prefetch;
    assert_eq!(handle.store.head().usage.prefetch, stats);
    assert_eq!((stats.requested, state.prefetched.len()), (stats.used + stats.dropped, 0), "{stats:?}");
    (stats, events)
}

/// Returns the run's own events: without prefetch events, times and event numbers, and with lesson ids (which depend on
/// event numbers) replaced by their order.
fn run_events(events: &[Arc<Envelope>]) -> Vec<Event> {
    let mut lessons: Vec<String> = Vec::new();
    let events = events.iter().map(|e| without_times(e)).filter(|e| !matches!(e, Event::PrefetchChanged(_)));
    events
        .map(|event| {
            if let Event::LessonChanged { op, .. } = &event
                && let LessonOp::Add { id, .. } = &**op
            {
                lessons.push(id.to_string());
            }
            let mut text = serde_json::to_string(&event).unwrap();
            for (n, id) in lessons.iter().enumerate() {
                text = text.replace(id, &format!("lesson {n}"));
            }
            serde_json::from_str(&text).unwrap()
        })
        .collect()
}

fn without_times(envelope: &Envelope) -> Event {
    let mut event = envelope.event.clone();
    if let Event::ReplyReceived { usage, .. } = &mut event {
        usage.millis = 0;
    }
    if let Event::EpisodeEnded { summary } = &mut event {
        summary.seq_range = Default::default();
    }
    event
}

#[test]
fn journals_are_equal_with_and_without_prefetch() {
    let mut neural = spec("omnireflect", vec![task("household", "easy/put/3")]);
    neural.settings.set("generation", "neural", SettingOrigin::Flag);
    neural.settings.set("r_freq", 2, SettingOrigin::Flag);
    neural.mentor = "openai:scripted".to_owned();
    let runs = [
        spec("react", vec![task("household", "easy/heat/1")]),
        spec("react", vec![task("babyai", "1")]),
        spec("react", vec![task("pddl", "gripper/3")]),
        neural,
    ];
    let (mut total, mut overrides) = (PrefetchStats::default(), 0);
    for spec in &runs {
        let (without, without_stats, _) = play_run(spec, false, CacheMode::ReadWrite);
        let (with, stats, notices) = play_run(spec, true, CacheMode::ReadWrite);
        let first = without.iter().zip(&with).position(|(a, b)| a != b);
        assert_eq!(
            (first.map(|n| (&without[n], &with[n])), with.len()),
            (None, without.len()),
            "{:?}",
            spec.tasks
        );
        assert_eq!(without_stats, PrefetchStats::default());
        assert!(notices.is_empty(), "{notices:?}");
        assert!(stats.used > 0 && stats.requested >= stats.used + stats.dropped, "{stats:?}");
        overrides += without.iter().filter(|e| matches!(e, Event::ActionOverridden { .. })).count();
        total = total.plus(stats);
    }
    // The override, the rejection and the lesson each made a prefetch useless, which was counted.
    assert!(overrides >= 3 && total.dropped >= 6 && total.wasted.tokens() > 0, "{total:?}");
    assert!(total.describe().unwrap().contains("unused"), "{total:?}");
}

#[test]
fn impossible_prefetches_are_reported_and_not_sent() {
    let spec = spec("react", vec![task("household", "easy/put/3")]);
    let (_, stats, notices) = play_run(&spec, true, CacheMode::Read);
    assert_eq!(stats, PrefetchStats::default());
    assert_eq!(notices.iter().filter(|s| s.contains("--cache read-write")).count(), 1, "{notices:?}");
}

/// A prefetch starts once per proposal: journaling it must not trigger another one.
#[test]
fn a_killed_run_keeps_its_prefetch_costs() {
    let dir = tempfile::tempdir().unwrap();
    let spec = spec("react", vec![task("household", "easy/put/3")]);
    let config = run_config(&spec, &dir.path().join("cache"), CacheMode::ReadWrite, true);
    let (handle, thread, session) =
        Driver::start(dir.path(), meta("s", &spec), spec.clone(), Vec::new(), config).unwrap();
    handle.send(Command::Step);
    until(&handle, |s| s.prefetched.iter().any(|p| p.status == PrefetchStatus::Answered));
    // By now another prefetch would have been sent.
    wait_for_person(&handle);
    let head = handle.store.head();
    assert_eq!((head.prefetched.len(), head.usage.prefetch.requested), (1, 1));
    // The program is killed here: only the file remains.
    let copy = dir.path().join("killed");
    std::fs::create_dir_all(copy.join("branches")).unwrap();
    for file in ["meta.toml", "branches/trunk.jsonl"] {
        std::fs::copy(session.dir.join(file), copy.join(file)).unwrap();
    }
    handle.quit();
    thread.join().unwrap();
    let (stats, events) = journaled_run(&handle, &session);
    assert_eq!((stats.requested, stats.dropped), (1, 1));
    let written = events.iter().filter(|e| matches!(e.event, Event::PrefetchChanged(_))).count();
    assert_eq!(written, 3, "requested, received, dropped");
    let resumed = Driver::resume(&copy, |spec| {
        Ok(self::run_config(spec, &dir.path().join("cache"), CacheMode::ReadWrite, false))
    });
    let resumed = resumed.unwrap();
    let resumed_usage = resumed.handle.store.head().usage;
    resumed.handle.quit();
    resumed.thread.join().unwrap();
    assert_eq!(resumed_usage.prefetch, stats, "the cost is kept");
    assert!(resumed_usage.tokens() > head.usage.tokens());
}

/// An environment that fails only in the prefetch's mirrored step is rebuilt, and the run isn't affected.
#[test]
fn an_environment_that_fails_in_the_mirror_is_rebuilt() {
    use retrospect::domain::{EnvInfo, StepResult};
    use retrospect::env::{Environment, Snapshot};
    use std::sync::atomic::{AtomicU32, Ordering};
    struct FragileEnv {
        inner: Box<dyn Environment>,
        failed_restores: Arc<AtomicU32>,
    }
    impl Environment for FragileEnv {
        fn info(&self) -> EnvInfo {
            self.inner.info()
        }
        fn reset(&mut self) -> Result<StepResult, EnvError> {
            self.inner.reset()
        }
        fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
            self.inner.step(action)
        }
        fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
            self.inner.admissible()
        }
        fn snapshot(&self) -> Option<Snapshot> {
            self.inner.snapshot()
        }
        fn restore(&mut self, _: &Snapshot) -> Result<(), EnvError> {
            self.failed_restores.fetch_add(1, Ordering::Relaxed);
            Err(EnvError::Refused { what: "restore fails".to_owned() })
        }
    }
    let play = |prefetch: bool| {
        let dir = tempfile::tempdir().unwrap();
        let spec = spec("react", vec![task("household", "easy/put/3")]);
        let mut config = run_config(&spec, &dir.path().join("cache"), CacheMode::ReadWrite, prefetch);
        let (open, failed_restores) = (config.open_world.clone(), Arc::new(AtomicU32::new(0)));
        let counted = failed_restores.clone();
        config.open_world = Arc::new(move |task| {
            Ok(Box::new(FragileEnv { inner: open(task)?, failed_restores: counted.clone() })
                as Box<dyn Environment>)
        });
        let (handle, thread, session) =
            Driver::start(dir.path(), meta("s", &spec), spec.clone(), Vec::new(), config).unwrap();
        for round in 0..4 {
            handle.send(Command::Step);
            until(&handle, |s| s.is_waiting() && s.last_step().is_some_and(|s| s.number == round + 1));
            wait_for_person(&handle);
        }
        handle.quit();
        thread.join().unwrap();
        let (_, events) = journaled_run(&handle, &session);
        (run_events(&events), failed_restores.load(Ordering::Relaxed))
    };
    let ((without, restores_without), (with, restores_with)) = (play(false), play(true));
    assert_eq!(without, with);
    assert!(restores_without == 0 && restores_with > 0, "{restores_with}");
}

/// After a change of model the new model is called: a prefetched reply of the old one isn't used.
#[test]
fn a_changed_run_uses_no_prefetch_of_another_model() {
    let dir = tempfile::tempdir().unwrap();
    let spec = spec("react", vec![task("household", "easy/put/3")]);
    let cache = dir.path().join("cache");
    let mut first = run_config(&spec, &cache, CacheMode::ReadWrite, true);
    let other = spec.clone();
    first.run_factory = Some(Arc::new(move |_| {
        let mut config = run_config(&other, &cache, CacheMode::ReadWrite, true);
        let other_model: Arc<dyn Provider> = Arc::new(ScriptedProvider::new(|_| Ok("inventory".to_owned())));
        let cache = cache.clone();
        config.actor =
            Arc::new(CachedProvider::new(other_model, "other".to_owned(), &cache, CacheMode::ReadWrite));
        Ok(config)
    }));
    let (handle, thread, session) =
        Driver::start(dir.path(), meta("s", &spec), spec.clone(), Vec::new(), first).unwrap();
    handle.send(Command::Step);
    until(&handle, |s| s.usage.prefetch.requested == 1);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let changed = RunSpec { actor: "other".to_owned(), ..spec };
    runtime.block_on(handle.send_and_wait(Command::ChangeRun(Box::new(changed)))).unwrap();
    handle.send(Command::Step);
    until(&handle, |s| s.is_waiting() && s.last_step().is_some_and(|s| s.number == 2));
    handle.quit();
    thread.join().unwrap();
    let (stats, events) = journaled_run(&handle, &session);
    let replies = events.iter().filter_map(|e| match &e.event {
        Event::ReplyReceived { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(replies.collect::<Vec<_>>().get(1), Some(&"inventory"));
    assert!(stats.dropped >= 1, "{stats:?}");
}
