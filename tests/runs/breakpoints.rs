//! Checks where each kind of condition fires on recorded sessions: a condition and the (episode, step) of all its hits.

use crate::run::{household, meta, spec, until};
use crate::stops;
use crate::tables::{ConditionSteps, LAMP_TASK, WITH_LESSON, WITHOUT_LESSON};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use retrospect::breakpoint::breakpoint_rules;
use retrospect::domain::{BreakpointConfig, Seq, ShownAs, Stage, ThoughtDisposition, Usage};
use retrospect::driver::{Driver, Fork, Handle, OpenWorld, RunConfig};
use retrospect::engine::{Cause, Command, Envelope, Event, PauseReason, State};
use retrospect::env::EnvError;
use retrospect::env::household::{TaskId, open_world as open_house};
use retrospect::journal::{OpenMode, Session, open_branch};
use retrospect::provider::{Delta, Provider, ProviderError, Request, ScriptedProvider};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn recorded_events(name: &str) -> Vec<Arc<Envelope>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples").join(name);
    let session = Session::open(&dir).unwrap();
    let branch = open_branch(&session.trunk(), OpenMode::Read).unwrap();
    branch.timeline.events_between(Seq(0), branch.timeline.head().head)
}

fn apply_event(state: &mut State, event: Event) {
    let at = jiff::Timestamp::UNIX_EPOCH;
    state.apply(&Envelope {
        seq: state.head,
        timestamp: at,
        cause: Cause::Policy,
        batch_continues: false,
        event,
    });
}

/// Returns episode, step and reason of every hit of a condition.
fn hits_of(events: &[Arc<Envelope>], condition: &str) -> Vec<(u32, u32, String)> {
    let rules = breakpoint_rules(retrospect::catalog::parse_condition);
    let config: BreakpointConfig = (rules.parse)(condition).unwrap();
    let mut state = State::default();
    apply_event(&mut state, Event::BreakpointSet { breakpoint: 1, config });
    let mut found = Vec::new();
    for envelope in events {
        let before = state.clone();
        state.apply(envelope);
        for hit in (rules.find_hits)(&before, envelope, &state) {
            let episode = state.episode.as_ref().map_or(0, |e| e.number);
            found.push((episode, hit.step, hit.reason.clone()));
            apply_event(
                &mut state,
                Event::BreakpointHit { breakpoint: 1, episode, step: hit.step, reason: hit.reason },
            );
        }
    }
    found
}

#[test]
fn each_condition_fires_where_it_should_on_shipped_sessions() {
    for (name, table) in
        [("hot-mug-taught", WITH_LESSON), ("hot-mug-untaught", WITHOUT_LESSON), ("lamp", LAMP_TASK)]
    {
        let events = recorded_events(name);
        for (condition, steps) in table {
            let found = hits_of(&events, condition);
            let hit_steps: Vec<u32> = found.iter().map(|h| h.1).collect();
            assert_eq!(&hit_steps, steps, "{name}: {condition}: {found:?}");
            assert!(found.iter().all(|h| h.0 == 1 && !h.2.is_empty()));
        }
    }
}

/// The same rows are tested without a screen (`tests/cli/breakpoints.rs`) and on the screen (`tests/pty.rs`).
#[test]
fn shared_breakpoint_rows_match_the_recordings() {
    for (session, _, condition, steps) in stops::rows() {
        let found: Vec<u32> = hits_of(&recorded_events(session), condition).iter().map(|h| h.1).collect();
        assert_eq!(found, steps, "{session}: {condition}");
    }
}

#[test]
fn costs_and_times_are_added_up_over_the_events() {
    // Every reply costs one cent, and events are one second apart.
    let mut events: Vec<Envelope> = recorded_events("lamp").iter().map(|e| (**e).clone()).collect();
    for (n, envelope) in (0_i64..).zip(&mut events) {
        envelope.timestamp = jiff::Timestamp::from_second(1_795_171_200 + n).unwrap();
        if let Event::ReplyReceived { usage, .. } = &mut envelope.event {
            usage.cost_nano = 10_000_000;
        }
    }
    let events: Vec<Arc<Envelope>> = events.into_iter().map(Arc::new).collect();
    let steps = |condition: &str| -> Vec<u32> { hits_of(&events, condition).iter().map(|h| h.1).collect() };
    assert_eq!(steps("cost > 0.045"), [5], "five replies");
    assert_eq!(steps("episode cost > 0.1"), [11]);
    assert!(steps("cost > 1").is_empty());
    let late = hits_of(&events, "time > 30s");
    assert_eq!(late.len(), 1, "{late:?}");
    assert!(late[0].2.contains("running for 31s"), "{late:?}");
    assert!(steps("time > 1h").is_empty());
}

/// Returns an actor that gives these replies in order, then repeats the last one.
fn scripted(replies: &'static [&'static str]) -> ScriptedProvider {
    let next = AtomicUsize::new(0);
    ScriptedProvider::new(move |_| {
        let index = next.fetch_add(1, Ordering::Relaxed).min(replies.len() - 1);
        Ok(replies[index].to_owned())
    })
}

/// The stops (step and stage), the events, and the final state.
type RunResult = (Vec<(u32, String)>, Vec<Arc<Envelope>>, Arc<State>);

/// An actor whose replies cost one cent each and take some time.
struct PaidActor(ScriptedProvider, Duration);

impl Provider for PaidActor {
    fn name(&self) -> String {
        self.0.name()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        std::thread::sleep(self.1);
        let usage = Usage { reply_tokens: 1, cost_nano: 10_000_000, ..Usage::default() };
        self.0.stream(request).chain(stream::iter([Ok(Delta::Usage(usage))])).boxed()
    }
}

/// Plays with these breakpoints, continuing after every stop.
fn play_script(replies: &'static [&'static str], breaks: &[&str]) -> RunResult {
    play_with_actor(Arc::new(scripted(replies)), breaks)
}

fn play_with_actor(actor: Arc<dyn Provider>, breaks: &[&str]) -> RunResult {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread) = start_with_actor(dir.path(), actor, breaks);
    let mut stops = Vec::new();
    let mut last = Seq(0);
    loop {
        until(&handle, |s| {
            s.run_over
                || s.failed_call.is_some()
                || s.breakpoints.current_hit.as_ref().is_some_and(|h| h.seq > last && s.calls.is_empty())
        });
        let head = handle.store.head();
        assert!(head.failed_call.is_none(), "{:?}", head.failed_call);
        let Some(hit) = head.breakpoints.current_hit.as_ref().filter(|h| h.seq > last) else { break };
        assert_eq!(head.pause_reason, Some(PauseReason::Breakpoint));
        last = hit.seq;
        let stage = head.last_step().map_or(Stage::Settled, |s| s.stage);
        stops.push((hit.step, format!("{stage:?}")));
        handle.send(Command::Run);
    }
    let state = handle.store.head();
    let events = handle.store.timeline().events_between(Seq(0), state.head);
    handle.quit();
    thread.join().unwrap();
    (stops, events, state)
}

/// Starts a run of scripted replies, with breakpoints.
fn start_script(
    root: &Path,
    replies: &'static [&'static str],
    breaks: &[&str],
) -> (Handle, std::thread::JoinHandle<()>) {
    start_with_actor(root, Arc::new(scripted(replies)), breaks)
}

fn start_with_actor(
    root: &Path,
    actor: Arc<dyn Provider>,
    breaks: &[&str],
) -> (Handle, std::thread::JoinHandle<()>) {
    let mut spec = spec("react", vec![household("easy/heat/23")]);
    spec.limits.steps = 16;
    let open: OpenWorld = Arc::new(|task| {
        let id = TaskId::parse(&task.id).map_err(|e| EnvError::Refused { what: e.to_string() })?;
        Ok(Box::new(open_house(&id)?))
    });
    let mut run_config =
        RunConfig::from_spec(&spec, Arc::new(retrospect::catalog::builtin_templates()), open, Duration::ZERO)
            .unwrap();
    run_config.actor = actor;
    let (handle, thread, _) = Driver::start(root, meta("s", &spec), spec, Vec::new(), run_config).unwrap();
    for text in breaks {
        handle.send(Command::SetBreakpoint { text: (*text).to_owned(), replaces: None });
    }
    handle.send(Command::Run);
    (handle, thread)
}

/// Actions without effect, repeated actions, and moves back and forth.
const STUBBORN_REPLIES: &[&str] = &[
    "look",
    "dance",
    "think: hm",
    "dance",
    "dance",
    "inventory",
    "inventory",
    "think: hm",
    "inventory",
    "go to fridge 1",
    "go to drawer 1",
    "go to fridge 1",
    "go to drawer 1",
    "go to fridge 1",
    "go to drawer 1",
    "go to fridge 1",
];

const STUBBORN_HITS: &[ConditionSteps] = &[
    ("nothing 3", &[5]),
    ("nothing", &[2, 4, 5]),
    ("invalid 2", &[4]),
    ("invalid 3", &[5]),
    ("same action 3", &[5, 9]),
    ("same action 2", &[4, 7]),
    ("same observation 3", &[5, 9]),
    ("same thought 2", &[8]),
    ("cycle", &[14]),
    ("note repeat", &[4, 5, 7]),
    ("stalled 10", &[10]),
    ("end failure", &[16]),
];

#[test]
fn a_live_run_stops_exactly_where_its_journal_says() {
    for (condition, steps) in STUBBORN_HITS {
        let (stops, events, state) = play_script(STUBBORN_REPLIES, &[condition]);
        let stop_steps: Vec<u32> = stops.iter().map(|s| s.0).collect();
        assert_eq!(&stop_steps, steps, "{condition}: {stops:?}");
        // A condition on the action stops before it runs, all others after the observation.
        let stage = if condition.starts_with("same action") || condition.starts_with("same thought") {
            "Decision"
        } else {
            "Reflection"
        };
        assert!(stops.iter().all(|s| s.1 == stage), "{condition}: {stops:?}");
        // The same events without those of breakpoints give the same hits when searched afterwards.
        assert_eq!(
            hits_of(&without_breakpoint_events(&events), condition).iter().map(|h| h.1).collect::<Vec<_>>(),
            stop_steps,
            "{condition}"
        );
        // Folding the journal, without matching conditions, gives the driver's state.
        let mut folded = State::default();
        for envelope in &events {
            folded.apply(envelope);
        }
        assert_eq!(folded, *state, "{condition}");
        assert_eq!(folded.breakpoints.get(1).unwrap().hits as usize, steps.len());
    }
}

/// Removes the events of breakpoints.
fn without_breakpoint_events(events: &[Arc<Envelope>]) -> Vec<Arc<Envelope>> {
    let is_breakpoint_event =
        |e: &&Arc<Envelope>| matches!(e.event, Event::BreakpointSet { .. } | Event::BreakpointHit { .. });
    events.iter().filter(|e| !is_breakpoint_event(e)).cloned().collect()
}

/// Regression: cost and time conditions were tested only on artificial journals.
#[test]
fn a_live_run_stops_above_its_cost_and_time_limits() {
    let rows: &[(&str, Option<&[u32]>)] = &[
        ("cost > 0.045", Some(&[5])),
        ("episode cost > 0.1", Some(&[11])),
        ("cost > 9", Some(&[])),
        ("time > 1s", None),
    ];
    for (condition, expected) in rows {
        // Only the condition about time needs slow replies.
        let delay = if expected.is_none() { Duration::from_millis(150) } else { Duration::ZERO };
        let actor = PaidActor(scripted(STUBBORN_REPLIES), delay);
        let (stops, events, _) = play_with_actor(Arc::new(actor), &[condition]);
        let stop_steps: Vec<u32> = stops.iter().map(|s| s.0).collect();
        assert_eq!(
            hits_of(&without_breakpoint_events(&events), condition).iter().map(|h| h.1).collect::<Vec<_>>(),
            stop_steps,
            "{condition}"
        );
        match expected {
            Some(expected) => assert_eq!(&stop_steps, expected, "{condition}"),
            // At 150 ms per reply, one second passes by the seventh of sixteen replies.
            None => assert!(stop_steps.len() == 1 && stop_steps[0] <= 8, "{condition}: {stop_steps:?}"),
        }
    }
}

#[test]
fn a_hit_has_a_reason_and_watches_do_not_stop() {
    let (stops, events, state) =
        play_script(STUBBORN_REPLIES, &["nothing 3", "warn same action 3", "once action ~ fridge"]);
    assert_eq!(stops, [(5, "Reflection".to_owned()), (10, "Decision".to_owned())]);
    let hits: Vec<String> =
        state.breakpoints.all.iter().map(|b| format!("{} {}", b.config, b.hits)).collect();
    assert_eq!(hits, ["nothing 3 1", "warn same action 3 2", "once action ~ fridge 1"]);
    let reasons: Vec<&str> = events
        .iter()
        .filter_map(|e| match &e.event {
            Event::BreakpointHit { reason, .. } => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        reasons,
        [
            "3rd time in a row at step 5: `dance`",
            "nothing happened at steps 2, 4 and 5",
            "3rd time in a row at step 9: `inventory`",
            "`go to fridge 1` proposed at step 10",
        ]
    );
    let marks = |n: u32| state.episode.as_ref().unwrap().step(n).unwrap().breakpoint_marks.len();
    assert_eq!((marks(5), marks(9), marks(10), marks(11)), (2, 1, 1, 0));
}

#[test]
fn invalid_breakpoints_in_a_journal_never_hit() {
    let mut state = State::default();
    let config = BreakpointConfig { condition: "action ~ ((((".to_owned(), ..BreakpointConfig::default() };
    apply_event(&mut state, Event::BreakpointSet { breakpoint: 7, config });
    apply_event(
        &mut state,
        Event::BreakpointHit { breakpoint: 9, episode: 3, step: u32::MAX, reason: "?".to_owned() },
    );
    let rules = breakpoint_rules(retrospect::catalog::parse_condition);
    for envelope in recorded_events("lamp") {
        let before = state.clone();
        state.apply(&envelope);
        assert!((rules.find_hits)(&before, &envelope, &state).is_empty());
    }
}

#[test]
fn a_proposal_with_a_breakpoint_can_be_forked_like_any_other() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread) =
        start_script(dir.path(), STUBBORN_REPLIES, &["action ~ dance", "warn action ~ dance"]);
    let is_stopped_at = |s: &State, step| {
        s.breakpoints.current_hit.as_ref().is_some_and(|h| h.step == step) && s.calls.is_empty()
    };
    until(&handle, |s| is_stopped_at(s, 2));
    handle.send(Command::Run);
    until(&handle, |s| is_stopped_at(s, 4));
    let (fork_seq, head) =
        (retrospect::driver::decision_seq(&handle.store.timeline(), 2).unwrap(), handle.store.head());
    let first = head.episode.as_ref().unwrap().step(2).unwrap().first_seq;
    let events = handle.store.timeline().events_between(Seq(first.0 - 1), fork_seq);
    let proposed = events.iter().find(|e| matches!(e.event, Event::Proposed { .. })).unwrap();
    assert!(proposed.batch_continues, "the hits are in the same batch");
    assert!(!events.last().unwrap().batch_continues);
    assert_eq!(handle.store.state_at(fork_seq).step_awaiting_decision().map(|s| s.number), Some(2));
    let override_command = Command::Override {
        action: "look".to_owned(),
        shown_as: ShownAs::AgentAction,
        thought_disposition: ThoughtDisposition::Kept,
    };
    handle.send_fork(Fork { at_seq: fork_seq, commands: vec![override_command], ..Fork::default() });
    let executed_action = |s: &State| {
        let step = s.episode.as_ref()?.step(2)?;
        Some(step.executed.as_ref()?.action.clone())
    };
    until(&handle, |s| executed_action(s).as_deref() == Some("look"));
    assert_eq!(handle.store.branch().0, "b1");
    handle.quit();
    thread.join().unwrap();
}
