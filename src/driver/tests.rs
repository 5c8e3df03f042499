//! Tests of the driver with a toy environment, scripted replies and real files.

use super::{Driver, Handle, Health, OpenWorld, PastQuery, RunConfig};
use crate::domain::{
    Autonomy, EnvInfo, EpisodeRole, Interface, Limits, ListingCost, Prompt, PromptRecord, ReflectionKind,
    RunSpec, Settings, StepResult, Task,
};
use crate::engine::{
    Command, Envelope, Event, Intent, Method, OutgoingAction, ParsedActorReply, ParsedMentorReply, Policy,
    PromptDraft, State,
};
use crate::env::{EnvError, Environment, TimeLimits};
use crate::journal::{Meta, Session, read_branch, read_branch_bytes};
use crate::provider::{ProviderError, ScriptedProvider};
use crate::timeline::no_progress;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

mod branch_tree;
mod breakpoints;
mod changed_run;
mod fork;
mod jobs;
mod journal_changed;
mod models;
mod partial_replies;
mod samples;
mod timeouts;

/// Counts up and wins at `goal`. Its observation is the count, so a wrong rebuild is visible at once.
struct Counter {
    count: u32,
    goal: u32,
    is_diverging: bool,
}

impl Counter {
    fn step_result(&self, text: &str) -> StepResult {
        StepResult {
            observation: if self.is_diverging { format!("{text}!") } else { text.to_owned() },
            progress: f64::from(self.count) / f64::from(self.goal),
            done: self.count == self.goal,
            won: self.count == self.goal,
            valid: true,
            ..StepResult::default()
        }
    }
}

impl Environment for Counter {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: false, deterministic: true, listing_cost: ListingCost::Free }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        self.count = 0;
        Ok(self.step_result("Your task is to: count."))
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        if action == "break" {
            return Err(EnvError::Died { what: "it broke".to_owned() });
        }
        self.count += u32::from(action == "count");
        Ok(self.step_result(&format!("It is {}.", self.count)))
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        Ok(vec!["count".to_owned()])
    }
}

struct EachTaskOnce;

impl Method for EachTaskOnce {
    fn name(&self) -> &'static str {
        "once"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        if state.open_episode().is_some() {
            return vec![Intent::AskActor];
        }
        let task = state.run.as_ref().and_then(|r| r.tasks.get(state.ended_episodes.len()));
        task.map_or(vec![Intent::EndRun], |task| {
            vec![Intent::StartEpisode { task: Box::new(task.clone()), trial: 1, role: EpisodeRole::Test }]
        })
    }

    fn reflect_now(&self, _: &State, _: ReflectionKind) -> Vec<Intent> {
        Vec::new()
    }
}

/// Returns a question for the actions admissible in a state, which reports nothing.
fn past_query(state: Arc<State>) -> PastQuery {
    let seq = state.head;
    PastQuery { seq, load_state: Box::new(move |_| Ok(state)), report: Box::new(no_progress) }
}

fn test_config(goal: u32, is_diverging: bool) -> RunConfig {
    let open: OpenWorld = Arc::new(move |_| Ok(Box::new(Counter { count: 0, goal, is_diverging })));
    RunConfig {
        policy: Policy {
            method: Arc::new(EachTaskOnce),
            draft_prompt: Arc::new(|_, _| PromptDraft::default()),
            parse_reply: |_, _, text| ParsedActorReply {
                action: Some(text.to_owned()),
                ..ParsedActorReply::default()
            },
            parse_mentor_reply: Arc::new(|_, _, _| ParsedMentorReply::default()),
            edit_prompt: |_, _, _, _| None,
            rewrite_action: |_, _| OutgoingAction { sent: None, rewrite_rule: None, admissible_only: false },
            is_short_action: |_, _| false,
            has_known_form: Arc::new(|_, _| true),
            rewrite_observation: |_, _, _, _| None,
            extract_goal: |_| "count".to_owned(),
            detect: Arc::new(|_| Vec::new()),
            breakpoints: crate::engine::BreakpointRules {
                parse: std::sync::Arc::new(|_: &str| Err(crate::engine::CommandError::new("none here", ""))),
                find_hits: Arc::new(|_, _, _| Vec::new()),
            },
            is_attended: true,
        },
        render_prompt: Arc::new(|_: &State, _: &PromptRecord| Prompt::default()),
        actor: Arc::new(ScriptedProvider::new(|_| Ok("count".to_owned()))),
        mentor: None,
        open_world: open,
        compute_job: Arc::new(|_, _| Err("no jobs here".to_owned())),
        answer_deadlines: Arc::new(|_| TimeLimits::uniform(Duration::from_secs(60))),
        run_factory: None,
        reply_override: None,
        prefetch: false,
        recorded_settings: Vec::new(),
        typed_servers: Arc::default(),
        replay_start: None,
        breakpoints: Vec::new(),
    }
}

fn spec(tasks: usize) -> RunSpec {
    let task = |n: usize| Task {
        env: "toy".to_owned(),
        id: n.to_string(),
        goal: String::new(),
        task_type: None,
        difficulty: None,
        seed: 0,
    };
    RunSpec {
        method: "once".to_owned(),
        actor: "script".to_owned(),
        mentor: "none".to_owned(),
        interface: Interface::Raw,
        tasks: (0..tasks).map(task).collect(),
        trials: 1,
        seed: 0,
        autonomy: Autonomy::Auto,
        limits: Limits { steps: 50, moves: None, wall_seconds: None },
        loop_detector: false,
        settings: Settings::default(),
    }
}

fn meta(name: &str) -> Meta {
    Meta {
        v: 1,
        session: name.to_owned(),
        created: jiff::Timestamp::UNIX_EPOCH,
        program: "0".to_owned(),
        env: "toy".to_owned(),
        method: "once".to_owned(),
        actor: "script".to_owned(),
        title: String::new(),
        bookmark: None,
    }
}

fn start(dir: &Path, tasks: usize, run_config: RunConfig) -> (Handle, JoinHandle<()>, Session) {
    Driver::start(dir, meta("s"), spec(tasks), Vec::new(), run_config).unwrap()
}

/// Waits until `ready` returns true.
fn wait_until(handle: &Handle, mut ready: impl FnMut(&Handle) -> bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let waited = runtime.block_on(async {
        let mut changes = handle.store.changes();
        tokio::time::timeout(std::time::Duration::from_secs(20), async {
            while !ready(handle) {
                // A test's own counters don't notify the store's readers.
                let _ = tokio::time::timeout(std::time::Duration::from_millis(20), changes.changed()).await;
            }
        })
        .await
    });
    assert!(waited.is_ok(), "timed out: {:?} {:?}", handle.store.head(), handle.store.live());
}

/// Runs to the end and closes the session.
fn run_to_end(handle: &Handle, thread: JoinHandle<()>) {
    handle.send(Command::Run);
    wait_until(handle, |h| h.store.head().run_over);
    handle.quit();
    thread.join().unwrap();
}

/// Returns the events that must be equal between an interrupted and an uninterrupted run: all but times, resume
/// events and repeated calls.
fn comparable_events(events: &[Arc<Envelope>]) -> Vec<Event> {
    let mut seen: Vec<Event> = Vec::new();
    for envelope in events {
        match &envelope.event {
            Event::Reopened | Event::Resumed | Event::Paused { .. } | Event::Closed => {}
            // A call in flight is repeated; its reply may be written twice, its proposal only once.
            again @ Event::ReplyReceived { call, .. } if matches!(seen.last(), Some(Event::ReplyReceived { call: last, .. }) if last == call) =>
            {
                let _ = again;
            }
            Event::ReplyReceived { call, text, reasoning, .. } => seen.push(Event::ReplyReceived {
                tool_calls: Vec::new(),
                truncated: None,
                call: *call,
                text: text.clone(),
                reasoning: reasoning.clone(),
                usage: crate::domain::Usage::default(),
                reply_source: None,
            }),
            Event::EpisodeEnded { summary } => {
                let mut summary = summary.clone();
                summary.seq_range = (0, 0);
                seen.push(Event::EpisodeEnded { summary });
            }
            event => seen.push(event.clone()),
        }
    }
    seen
}

#[test]
fn a_run_is_journaled_from_start_to_close() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 2, test_config(3, false));
    run_to_end(&handle, thread);
    assert_eq!(handle.store.live().health, Health::Ended);
    let read = read_branch(&session.trunk()).unwrap();
    assert!(matches!(read.events.last().unwrap().event, Event::Closed));
    let state = crate::journal::fold_events(read.events);
    assert_eq!(state.head(), &handle.store.head());
    assert_eq!(state.head().ended_episodes.len(), 2);
    assert!(session.dir.join("index/summary.json").is_file());
}

#[test]
fn a_file_truncated_anywhere_resumes_to_the_same_events() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, test_config(2, false));
    run_to_end(&handle, thread);
    let bytes = std::fs::read(session.trunk()).unwrap();
    let complete = comparable_events(&read_branch(&session.trunk()).unwrap().events);
    let header_len = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
    let first_event_end = header_len + bytes[header_len..].iter().position(|b| *b == b'\n').unwrap() + 1;
    for cut in (first_event_end..bytes.len()).step_by(61) {
        let copy = tempfile::tempdir().unwrap();
        let (truncated, writer) = Session::create(copy.path(), meta("s")).unwrap();
        drop(writer);
        std::fs::write(truncated.trunk(), &bytes[..cut]).unwrap();
        let kept_events = read_branch_bytes(&truncated.trunk(), &bytes[..cut]).unwrap().events.len();
        let resumed = Driver::resume(&truncated.dir, |_| Ok(test_config(2, false))).unwrap();
        run_to_end(&resumed.handle, resumed.thread);
        let events = read_branch(&truncated.trunk()).unwrap().events;
        assert!(events.len() >= kept_events);
        assert_eq!(comparable_events(&events), complete, "cut at byte {cut}");
    }
}

#[test]
fn a_diverging_environment_is_detected_at_the_first_difference() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, test_config(9, false));
    for _ in 0..3 {
        let before = handle.store.head().head;
        handle.send(Command::Step);
        wait_until(&handle, |h| h.store.head().head > before && h.store.head().is_waiting());
    }
    handle.quit();
    thread.join().unwrap();
    let resumed = Driver::resume(&session.dir, |_| Ok(test_config(9, true))).unwrap();
    wait_until(&resumed.handle, |h| h.store.head().divergence.is_some());
    let state = resumed.handle.store.head();
    let (episode, step, recorded, actual) = state.divergence.clone().unwrap();
    assert_eq!((episode, step), (1, 0));
    assert_eq!((recorded.as_str(), actual.as_str()), ("Your task is to: count.", "Your task is to: count.!"));
    resumed.handle.quit();
    resumed.thread.join().unwrap();
}

#[test]
fn a_dead_environment_pauses_and_is_rebuilt_on_retry() {
    let dir = tempfile::tempdir().unwrap();
    let mut run_config = test_config(4, false);
    let broke = std::sync::atomic::AtomicBool::new(false);
    let calls = std::sync::atomic::AtomicU32::new(0);
    run_config.actor = Arc::new(ScriptedProvider::new(move |_| {
        let n = calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let breaks = n == 2 && !broke.swap(true, std::sync::atomic::Ordering::Relaxed);
        Ok(if breaks { "break" } else { "count" }.to_owned())
    }));
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    assert!(handle.store.head().failed_call.as_ref().unwrap().1.message.contains("it broke"));
    // The same action would fail again, so the person ends the episode instead.
    handle.send(Command::Retry);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    handle.send(Command::EndEpisode(crate::domain::EndReason::Error));
    wait_until(&handle, |h| h.store.head().ended_episodes.len() == 1);
    handle.quit();
    thread.join().unwrap();
}

#[test]
fn a_failed_model_call_is_reported_and_can_be_retried() {
    let dir = tempfile::tempdir().unwrap();
    let mut run_config = test_config(1, false);
    let tries = std::sync::atomic::AtomicU32::new(0);
    run_config.actor = Arc::new(ScriptedProvider::new(move |_| {
        if tries.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0 {
            return Err(ProviderError::new("no one answers", "retry"));
        }
        Ok("count".to_owned())
    }));
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    assert_eq!(handle.store.head().failed_call.as_ref().unwrap().1.message, "no one answers");
    handle.send(Command::Retry);
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().run_over);
    handle.quit();
    thread.join().unwrap();
}

#[test]
fn admissible_actions_can_be_listed_at_a_proposal() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, _session) = start(dir.path(), 1, test_config(3, false));
    handle.send(Command::Step);
    wait_until(&handle, |h| h.store.head().is_waiting() && h.store.head().step_awaiting_decision().is_some());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(handle.admissible()), ["count"]);
    handle.quit();
    thread.join().unwrap();
}

/// Regression: the barrier was a list of actions, so before the first episode it left a notice that there was none.
#[test]
fn waiting_for_the_environment_before_the_first_episode_leaves_no_notice() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, _session) = start(dir.path(), 1, test_config(3, false));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(handle.wait_for_environment());
    assert_eq!(handle.store.live().signals, []);
    handle.quit();
    thread.join().unwrap();
    runtime.block_on(handle.wait_for_environment());
}

#[test]
fn nothing_is_applied_while_a_write_fails() {
    let dir = tempfile::tempdir().unwrap();
    let (session, writer) = Session::create(dir.path(), meta("s")).unwrap();
    let failing = writer.failing_writes.clone();
    let (handle, thread) =
        Driver::start_in(session.clone(), writer, spec(1), Vec::new(), test_config(2, false)).unwrap();
    handle.send(Command::Step);
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some());
    failing.store(1, std::sync::atomic::Ordering::Relaxed);
    let before = handle.store.head();
    handle.send(Command::Step);
    handle.send(Command::Remark { episode: None, step: 1, text: "kept for later".to_owned() });
    wait_until(&handle, |h| matches!(h.store.live().health, Health::Halted(_)));
    assert_eq!(handle.store.head(), before, "unwritten events are not shown");
    handle.retry_write();
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 2));
    wait_until(&handle, |h| !h.store.head().episode.as_ref().unwrap().step(1).unwrap().remarks.is_empty());
    handle.quit();
    thread.join().unwrap();
    assert_eq!(read_branch(&session.trunk()).unwrap().torn_tail, None);
}

/// Regression: a disk that was slow to sync stopped the driver, and with it the pieces of a reply on the screen.
#[test]
fn a_slow_sync_delays_nothing_but_itself() {
    let dir = tempfile::tempdir().unwrap();
    let (session, writer) = Session::create(dir.path(), meta("s")).unwrap();
    let gate = writer.sync_gate.clone();
    let disk_is_busy = gate.lock().unwrap();
    let (handle, thread) =
        Driver::start_in(session.clone(), writer, spec(1), Vec::new(), test_config(3, false)).unwrap();
    // Every command of a person is followed by a sync.
    for number in 1..=3 {
        handle.send(Command::Step);
        wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some_and(|s| s.number == number));
    }
    handle.send(Command::Remark { episode: None, step: 1, text: "while the disk is busy".to_owned() });
    wait_until(&handle, |h| !h.store.head().episode.as_ref().unwrap().step(1).unwrap().remarks.is_empty());
    // The end waits for the disk.
    handle.quit();
    wait_until(&handle, |h| h.store.head().closed);
    assert!(!thread.is_finished());
    drop(disk_is_busy);
    thread.join().unwrap();
    let events = read_branch(&session.trunk()).unwrap().events;
    assert!(matches!(events.last().unwrap().event, Event::Closed));
}

/// A branch's header must not reach the disk before the events that it depends on.
#[test]
fn a_fork_waits_for_the_sync_in_progress() {
    let dir = tempfile::tempdir().unwrap();
    let (session, writer) = Session::create(dir.path(), meta("s")).unwrap();
    let (gate, sync_waits) = (writer.sync_gate.clone(), writer.sync_waits.clone());
    let (handle, thread) =
        Driver::start_in(session.clone(), writer, spec(1), Vec::new(), test_config(3, false)).unwrap();
    handle.send(Command::Step);
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some());
    let at_seq = handle.store.head().head;
    let disk_is_busy = gate.lock().unwrap();
    handle.send(Command::Remark { episode: None, step: 1, text: "this starts a sync".to_owned() });
    wait_until(&handle, |h| h.store.head().head > at_seq);
    handle.send_fork(crate::driver::Fork { at_seq, ..Default::default() });
    wait_until(&handle, |_| sync_waits.load(std::sync::atomic::Ordering::Relaxed) > 0);
    assert_eq!((handle.store.epoch(), session.branch_count()), (0, 1));
    drop(disk_is_busy);
    wait_until(&handle, |h| h.store.epoch() == 1);
    assert_eq!(session.branch_count(), 2);
    handle.quit();
    thread.join().unwrap();
}

/// Regression: after a difference, the step in flight was still executed in the diverged environment.
#[test]
fn a_diverged_environment_is_not_stepped_until_it_is_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, test_config(4, false));
    run_to_end(&handle, thread);
    // Truncates after the second action, whose step is in flight.
    let text = std::fs::read_to_string(session.trunk()).unwrap();
    let mut truncated = String::new();
    let mut action_count = 0;
    for line in text.lines() {
        truncated.push_str(line);
        truncated.push('\n');
        action_count += u32::from(line.contains("\"type\":\"action_taken\""));
        if action_count == 2 {
            break;
        }
    }
    std::fs::write(session.trunk(), truncated).unwrap();
    let resumed = Driver::resume(&session.dir, |_| Ok(test_config(4, true))).unwrap();
    wait_until(&resumed.handle, |h| h.store.head().divergence.is_some());
    let before = resumed.handle.store.head();
    assert!(before.is_waiting() && before.last_step().unwrap().answer.is_none());
    resumed.handle.send(Command::Remark { episode: None, step: 1, text: "it diverges".to_owned() });
    wait_until(&resumed.handle, |h| h.store.head().head > before.head);
    assert!(
        resumed.handle.store.head().last_step().unwrap().answer.is_none(),
        "the step was executed anyway"
    );
    resumed.handle.send(Command::Retry);
    wait_until(&resumed.handle, |h| {
        let head = h.store.head();
        head.episode.as_ref().and_then(|e| e.step(2)).is_some_and(|s| s.answer.is_some())
    });
    resumed.handle.quit();
    resumed.thread.join().unwrap();
}
