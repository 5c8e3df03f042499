//! Tests of the work beside the event loop: every kind stops when nobody waits for it any more, with services and a journal
//! that wait for the test instead of a disk.

use super::super::background_tasks::Sources;
use super::super::frame_past::FramePast;
use super::Workers;
use crate::domain::{BranchId, EndReason, FailureKind, Seq};
use crate::driver::{Handle, Message, Store};
use crate::engine::{Cause, Event, Failure};
use crate::timeline::{CheckpointIndex, EventFetcher, PastPart, Timeline};
use crate::ui::branches::{BranchEdit, BranchInfo};
use crate::ui::fixture::{Fixture, sample_session};
use crate::ui::host_services::{HostServices, WorkFn};
use crate::ui::msg::{Answer, PastLoad, Request, UiMessage};
use crate::ui::tests::{TestScreen, screen_text};
use crate::ui::types::{ReportQuery, WORK_SHOWN_AFTER, WorkKind, WorkProgress};
use crossterm::event::{MouseEvent, MouseEventKind};
use futures_util::FutureExt as _;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::UnboundedReceiver;

/// How long a test waits for a thread before it fails.
const PATIENCE: Duration = Duration::from_secs(60);

fn runtime() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

/// Returns a service that works until it is cancelled, and is then at 42 percent.
fn endless<T: 'static, R: 'static>(began: &Sender<()>) -> WorkFn<T, R> {
    let began = began.clone();
    Arc::new(move |_, progress| {
        progress.report(42, 100).unwrap();
        began.send(()).unwrap();
        runtime().block_on(progress.cancelled());
        progress.report(42, 100)?;
        panic!("not cancelled");
    })
}

/// Reads of the journal, which wait for the test while the gate is closed.
struct Gate {
    is_closed: AtomicBool,
    reads: AtomicU32,
    began: Sender<()>,
    permits: Mutex<Receiver<()>>,
}

/// A screen with its workers.
struct Rig {
    stage: TestScreen,
    workers: Workers,
    runtime: Runtime,
    handle: Handle,
    inbox: UnboundedReceiver<Message>,
    host: HostServices,
    gate: Arc<Gate>,
    /// Receives when a service or a read has begun.
    began: Receiver<()>,
    permits: Sender<()>,
}

impl Rig {
    /// Creates a screen on a session of which only the last state is in memory.
    fn new(fixture: &Fixture) -> Self {
        let ((began, begun), (permits, permitted)) = (channel(), channel());
        let gate = Arc::new(Gate {
            is_closed: AtomicBool::new(false),
            reads: AtomicU32::new(0),
            began: began.clone(),
            permits: Mutex::new(permitted),
        });
        let (timeline, reader) = (fixture.store.timeline(), gate.clone());
        let events = timeline.events_after(Seq(0));
        let fetcher = EventFetcher::new(move |after, to| {
            reader.reads.fetch_add(1, Ordering::SeqCst);
            if reader.is_closed.load(Ordering::SeqCst) {
                reader.began.send(()).unwrap();
                reader.permits.lock().unwrap().recv().unwrap();
            }
            Ok(events[after.0 as usize..to.0 as usize].to_vec())
        });
        let store = Store::default();
        let head = Timeline::from_head(timeline.head().clone(), fetcher, CheckpointIndex::empty());
        store.set_timeline(head, BranchId::trunk());
        let store = Arc::new(store);
        let (handle, inbox) = Handle::new(store.clone());
        let mut own = Fixture::empty();
        own.store = store;
        let host = HostServices {
            edit_text: Arc::new(|_| Ok(None)),
            format_request: Arc::new(|query| Ok(format!("{:?} of step {}", query.form, query.record.step))),
            keep_test: Arc::new(|test| Ok(test.name.clone())),
            save_copy: Arc::new(|_| Ok("copied.txt".to_owned())),
            save_picture: Arc::new(|_| Ok("screen-1.svg".to_owned())),
            export_report: endless(&began),
            open_file: None,
            remember_hint: Arc::new(|_| Ok(())),
            list_sessions: endless(&began),
            list_saved_pools: endless(&began),
            promote_lesson: Arc::new(|_| Ok("saved".to_owned())),
            list_models: endless(&began),
            list_comparable: endless(&began),
            open_comparable: endless(&began),
            list_branches: endless(&began),
            edit_branches: Arc::new(|_: &[_]| Ok(())),
            plan_effect: endless(&began),
            run_effect: Arc::new(|_, _, _| Err("not in this test".to_owned())),
            list_measured: endless(&began),
        };
        let mut rig = Self {
            stage: TestScreen::new(own, 120, 36),
            workers: Workers::default(),
            runtime: runtime(),
            handle,
            inbox,
            host,
            gate,
            began: begun,
            permits,
        };
        // Reads of the first frames aren't what is tested.
        rig.stage.send(UiMessage::StoreChanged);
        rig.stage.press("Esc");
        rig
    }

    fn start(&mut self, request: Request) {
        let head = self.handle.store.head();
        let sources = Sources { handle: &self.handle, host: Some(&self.host), run: head.run.as_ref() };
        let _entered = self.runtime.enter();
        self.workers.start_request(&sources, request).unwrap();
    }

    /// Presses keys as the event loop handles them.
    fn press(&mut self, keys: &[&str]) {
        for key in keys {
            self.stage.running_work = self.workers.statuses();
            let requests = self.stage.press(key);
            self.perform(requests);
        }
    }

    fn perform(&mut self, requests: Vec<Request>) {
        for request in requests {
            self.start(request);
        }
        let (compositor, model) = (&self.stage.compositor, &self.stage.model);
        self.workers.cancel_unless(|kind| compositor.is_awaited(kind, model));
    }

    /// Delivers the next answer, and performs what follows from it.
    fn answer(&mut self) {
        let answer = self.runtime.block_on(self.workers.next_answer()).unwrap();
        let requests = self.stage.send(UiMessage::Answer(answer));
        self.perform(requests);
    }

    fn close_gate(&self) {
        self.gate.is_closed.store(true, Ordering::SeqCst);
        self.gate.reads.store(0, Ordering::SeqCst);
    }

    fn wait_until_begun(&self) {
        self.began.recv_timeout(PATIENCE).expect("the work begins");
    }

    /// Returns what is on the screen when the work has taken long enough to be shown.
    fn shown(&mut self) -> String {
        self.stage.running_work = self.workers.statuses();
        let since = self.stage.running_work.iter().map(|work| work.since);
        self.stage.now = since.fold(self.stage.now, Instant::max) + WORK_SHOWN_AFTER;
        screen_text(&self.stage.draw())
    }

    /// Checks that keys cancel work that has begun, that its thread stops, and that its answer is dropped.
    fn check_cancelled_by(&mut self, kind: WorkKind, keys: &[&str]) {
        let running = self.workers.running.iter_mut().find(|running| running.kind == kind).unwrap();
        let (progress, thread) = (running.progress.clone(), running.thread.take());
        assert!(!progress.is_cancelled(), "{kind:?}");
        self.press(keys);
        assert!(!self.workers.is_running(kind) && progress.is_cancelled(), "{kind:?}");
        self.permits.send(()).unwrap();
        if let Some(thread) = thread {
            thread.join().unwrap();
        }
        assert_eq!(self.workers.next_answer().now_or_never(), None, "{kind:?}");
    }

    /// Checks that a key starts newer work, which replaces the work that has begun.
    fn check_cancelled_by_newer(&mut self, kind: WorkKind, key: &str) {
        let running = self.workers.running.iter_mut().find(|running| running.kind == kind).unwrap();
        let (id, progress, thread) = (running.id, running.progress.clone(), running.thread.take().unwrap());
        self.press(&[key]);
        assert!(progress.is_cancelled() && self.workers.is_running(kind));
        thread.join().unwrap();
        self.wait_until_begun();
        assert!(self.workers.running.iter().all(|running| running.id != id));
        assert_eq!(self.workers.next_answer().now_or_never(), None);
    }
}

/// The sample session, lost, and two short episodes of its task.
fn three_episodes() -> Fixture {
    let mut f = sample_session();
    for action in ["open fridge 1", "look"] {
        f.end_episode(false, EndReason::StepLimit);
        f.begin_episode();
        for action in ["go to fridge 1", action, "go to shelf 1"] {
            f.actor_step(action, "Nothing happens.", 0.0, serde_json::Value::Null);
        }
    }
    f.propose(None, Some("go to fridge 1"));
    f.pause();
    f
}

/// The sample session with a failed call.
fn with_failed_call() -> Fixture {
    let mut f = sample_session();
    let call = f.send_prompt();
    let failure = Failure {
        message: "refused".to_owned(),
        source: "small at h".to_owned(),
        hint: String::new(),
        kind: Some(FailureKind::Busy),
        partial_text: String::new(),
        usage: None,
    };
    f.write(Cause::Model, Event::CallFailed { call, failure });
    f
}

#[test]
fn closing_an_overlay_cancels_what_it_waits_for() {
    let cases = [
        (with_failed_call(), "Y", WorkKind::Sessions, "Loading sessions ... 42 %; you can type a name"),
        (with_failed_call(), "O", WorkKind::Models, "loading models from the server ..."),
        (three_episodes(), "D", WorkKind::Comparable, "loading branches and sessions ... 42 %"),
    ];
    for (fixture, key, kind, text) in cases {
        let mut rig = Rig::new(&fixture);
        rig.press(&[key]);
        rig.wait_until_begun();
        let shown = rig.shown();
        assert!(shown.contains(text), "{kind:?}: {shown}");
        rig.check_cancelled_by(kind, &["Esc"]);
    }
}

/// Another page of the dialog has another list.
#[test]
fn another_role_replaces_the_list_of_models() {
    let mut rig = Rig::new(&with_failed_call());
    rig.press(&["O"]);
    rig.wait_until_begun();
    rig.check_cancelled_by_newer(WorkKind::Models, "Tab");
}

#[test]
fn the_panes_wait_for_the_branches_until_they_know_the_active_one() {
    let mut rig = Rig::new(&sample_session());
    rig.press(&["B"]);
    rig.wait_until_begun();
    let shown = rig.shown();
    assert!(shown.contains("loading branches ... 42 % (Esc cancels)"), "{shown}");
    rig.press(&["Esc"]);
    assert!(rig.workers.is_running(WorkKind::Branches), "the first row names the branch");
    rig.stage.send(UiMessage::Answer(Answer::Branches(Ok([BranchInfo::sample("trunk", None, 0)].into()))));
    rig.press(&["B"]);
    rig.wait_until_begun();
    rig.check_cancelled_by(WorkKind::Branches, &["Esc"]);
}

#[test]
fn a_search_stops_when_it_is_closed_or_changed() {
    let mut rig = Rig::new(&three_episodes());
    rig.close_gate();
    rig.press(&["/", "%"]);
    rig.wait_until_begun();
    let shown = rig.shown();
    assert!(shown.contains("searching other episodes 0 %"), "{shown}");
    rig.check_cancelled_by(WorkKind::Search, &["Esc"]);
    assert_eq!(rig.gate.reads.load(Ordering::SeqCst), 1, "only one episode was read");
    // Without a query, nothing is searched.
    let mut rig = Rig::new(&three_episodes());
    rig.close_gate();
    rig.press(&["/", "%"]);
    rig.wait_until_begun();
    rig.check_cancelled_by(WorkKind::Search, &["Backspace"]);
}

#[test]
fn a_load_of_the_past_stops_when_a_person_does_something_else() {
    for key in ["Esc", "z"] {
        let mut rig = Rig::new(&three_episodes());
        rig.close_gate();
        rig.press(&["["]);
        rig.wait_until_begun();
        assert!(rig.shown().contains("loading an earlier part of the session ... 0 % (Esc cancels)"));
        rig.check_cancelled_by(WorkKind::Past, &[key]);
    }
    // Of several parts, those after the current one aren't read.
    let mut rig = Rig::new(&three_episodes());
    rig.close_gate();
    let parts = vec![PastPart::StateAt(Seq(20)), PastPart::Events { after: Seq(3), to: Seq(9) }];
    let then = Some((Box::new(Request::Redraw), 1));
    rig.start(Request::LoadPast(PastLoad { since: Instant::now(), epoch: 0, parts, then }));
    rig.wait_until_begun();
    rig.check_cancelled_by(WorkKind::Past, &["z"]);
    assert_eq!(rig.gate.reads.load(Ordering::SeqCst), 1);
}

#[test]
fn a_comparison_stops_when_it_is_closed() {
    let mut rig = Rig::new(&three_episodes());
    rig.press(&["D"]);
    rig.wait_until_begun();
    rig.close_gate();
    rig.press(&["Enter"]);
    assert!(!rig.workers.is_running(WorkKind::Comparable), "a target has been chosen");
    rig.wait_until_begun();
    assert!(rig.shown().contains("loading both episodes ... 60 % (Esc cancels)"), "{}", rig.shown());
    rig.check_cancelled_by(WorkKind::Comparison, &["Esc"]);
    assert_eq!(rig.gate.reads.load(Ordering::SeqCst), 1);
}

#[test]
fn the_differences_before_a_row_stop_when_their_page_is_closed() {
    let mut rig = Rig::new(&three_episodes());
    rig.press(&["D"]);
    rig.wait_until_begun();
    rig.press(&["Enter"]);
    rig.answer();
    rig.close_gate();
    rig.press(&["End", "Enter"]);
    rig.wait_until_begun();
    let shown = rig.shown();
    assert!(shown.contains("loading what preceded it ... 0 % (Esc cancels)"), "{shown}");
    rig.check_cancelled_by(WorkKind::PriorDifferences, &["Esc"]);
    assert_eq!(rig.gate.reads.load(Ordering::SeqCst), 1, "only one side was read");
}

#[test]
fn listing_past_actions_stops_when_the_dialog_is_left() {
    let mut rig = Rig::new(&three_episodes());
    for key in ["Left", "Left", "o", "Enter"] {
        rig.press(&[key]);
        while rig.workers.is_running(WorkKind::Past) {
            rig.answer();
        }
    }
    let message = rig.runtime.block_on(rig.inbox.recv());
    let Some(Message::PastAdmissible(query, mut reply)) = message else { panic!("another message") };
    (query.report)(42, 100).unwrap();
    let shown = rig.shown();
    assert!(shown.contains("replaying to list the admissible actions ... 42 %"), "{shown}");
    rig.check_cancelled_by(WorkKind::Admissible, &["Esc"]);
    rig.runtime.block_on(reply.closed());
    assert!((query.report)(43, 100).is_err());
}

#[test]
fn newer_work_replaces_older_and_its_answer() {
    let (mut workers, runtime) = (Workers::default(), runtime());
    let answer = |name: &str| Answer::Sessions(vec![(name.to_owned(), String::new())]);
    let old = answer("old");
    let wait = Builder::new_current_thread().build().unwrap();
    let started = workers.start(WorkKind::Sessions, Instant::now(), move |worker| {
        wait.block_on(worker.progress.cancelled());
        worker.send(old.clone());
        old
    });
    started.unwrap();
    let first = workers.running[0].thread.take().unwrap();
    let new = answer("new");
    workers.start(WorkKind::Sessions, Instant::now(), move |_| new).unwrap();
    first.join().unwrap();
    assert_eq!(runtime.block_on(workers.next_answer()), Some(answer("new")));
    assert!(workers.statuses().is_empty());
    assert_eq!(workers.next_answer().now_or_never(), None);
}

#[test]
fn work_that_panics_is_over_and_says_so() {
    let (mut workers, runtime) = (Workers::default(), runtime());
    let panics = |_: &super::Worker| -> Answer { panic!("as the test wants") };
    workers.start(WorkKind::Sessions, Instant::now(), panics).unwrap();
    assert!(workers.running[0].thread.take().unwrap().join().is_err());
    assert_eq!(runtime.block_on(workers.next_answer()), Some(Answer::WorkCrashed(WorkKind::Sessions)));
    runtime.block_on(async {
        workers.start_task(WorkKind::Hint, Instant::now(), |_| async { panic!("as the test wants") });
        assert_eq!(workers.next_answer().await, Some(Answer::WorkCrashed(WorkKind::Hint)));
    });
    assert!(workers.statuses().is_empty());
}

/// Edits happen in their order, none is lost, and a list that was read before an edit isn't shown after it.
#[test]
fn branch_edits_run_one_after_the_other() {
    let mut rig = Rig::new(&sample_session());
    let (log, gate) = (Arc::new(Mutex::new(Vec::new())), rig.gate.clone());
    let (done, listed) = (log.clone(), log.clone());
    rig.host.edit_branches = Arc::new(move |edits: &[(BranchId, BranchEdit)]| {
        gate.began.send(()).unwrap();
        gate.permits.lock().unwrap().recv().unwrap();
        done.lock().unwrap().extend(edits.iter().map(|(_, edit)| format!("{edit:?}")));
        Ok(())
    });
    let edits = |names: &[&str]| {
        let edit = |name: &&str| (BranchId::trunk(), BranchEdit::Name((*name).to_owned()));
        Request::EditBranches(names.iter().map(edit).collect())
    };
    let edit = |name: &str| edits(&[name]);
    // A list that is being read.
    rig.start(Request::LoadBranches);
    rig.wait_until_begun();
    rig.host.list_branches = Arc::new(move |(), _: &WorkProgress| {
        listed.lock().unwrap().push("listed".to_owned());
        Ok([BranchInfo::sample("trunk", None, 0)].into())
    });
    rig.start(edit("a"));
    assert!(!rig.workers.is_running(WorkKind::Branches), "it may lack the edit");
    rig.wait_until_begun();
    // Several edits of one request run on one thread, and the branches are read once.
    rig.start(edits(&["b", "c"]));
    rig.start(Request::LoadBranches);
    rig.permits.send(()).unwrap();
    rig.permits.send(()).unwrap();
    for _ in 0..3 {
        let answer = rig.runtime.block_on(rig.workers.next_answer());
        assert!(matches!(answer, Some(Answer::Branches(Ok(_)))), "{answer:?}");
    }
    let expected = ["Name(\"a\")", "listed", "Name(\"b\")", "Name(\"c\")", "listed", "listed"];
    assert_eq!(*log.lock().unwrap(), expected);
    assert!(rig.workers.statuses().is_empty());

    // The screen closes while an edit waits for another one.
    rig.start(edit("d"));
    rig.start(edit("e"));
    rig.permits.send(()).unwrap();
    rig.permits.send(()).unwrap();
    rig.workers = Workers::default();
    let log = log.lock().unwrap();
    assert!(log.contains(&"Name(\"d\")".to_owned()) && log.contains(&"Name(\"e\")".to_owned()), "{log:?}");
}

/// The list shows what was edited before one of several edits failed, and then the error.
#[test]
fn a_failed_edit_among_several_is_reported_after_the_list() {
    let mut rig = Rig::new(&sample_session());
    rig.host.edit_branches = Arc::new(|_: &[_]| Err("the disk is full".to_owned()));
    rig.host.list_branches =
        Arc::new(|(), _: &WorkProgress| Ok([BranchInfo::sample("trunk", None, 0)].into()));
    let edit = || (BranchId::trunk(), BranchEdit::Archived(true));
    for (edits, lists) in [(vec![edit()], 0), (vec![edit(), edit()], 1)] {
        rig.start(Request::EditBranches(edits));
        for _ in 0..lists {
            let list = rig.runtime.block_on(rig.workers.next_answer());
            assert!(matches!(list, Some(Answer::Branches(Ok(_)))), "{list:?}");
        }
        let error = rig.runtime.block_on(rig.workers.next_answer());
        assert_eq!(error, Some(Answer::Branches(Err("the disk is full".to_owned()))));
    }
}

/// Regression: after a switch of branches, a load that waited for a disk kept the frame of the new branch from being loaded,
/// and parts with the same numbers counted as loaded.
#[test]
fn a_frame_of_another_branch_is_loaded_although_the_disk_hangs() {
    let mut rig = Rig::new(&three_episodes());
    rig.close_gate();
    let (mut frame_past, part) = (FramePast::default(), PastPart::StateAt(Seq(20)));
    let mut load = |rig: &mut Rig, epoch| {
        let request = frame_past.load_missing(&mut rig.workers, epoch, vec![part]);
        request.inspect(|request| rig.start(request.clone())).is_some()
    };
    assert!(load(&mut rig, 0));
    rig.wait_until_begun();
    let progress = rig.workers.running[0].progress.clone();
    assert!(!load(&mut rig, 0) && !progress.is_cancelled());
    assert!(load(&mut rig, 1) && progress.is_cancelled());
    rig.permits.send(()).unwrap();
    rig.permits.send(()).unwrap();
    let answer = rig.runtime.block_on(rig.workers.next_answer());
    let Some(Answer::PastLoaded { load, result }) = answer else { panic!("{answer:?}") };
    assert_eq!((load.epoch, load.parts, result), (1, vec![part], Ok(())));
    assert!(rig.workers.statuses().is_empty());
}

/// Regression: only keys allowed a part that could not be loaded to be loaded again.
#[test]
fn what_a_person_does_allows_a_part_to_be_loaded_again() {
    let mouse = |kind| {
        let modifiers = crossterm::event::KeyModifiers::NONE;
        UiMessage::Mouse(MouseEvent { kind, column: 1, row: 1, modifiers })
    };
    let key = UiMessage::Key(crossterm::event::KeyCode::Char('z').into());
    let cases = [
        (key, true),
        (UiMessage::Paste("text".to_owned()), true),
        (mouse(MouseEventKind::ScrollUp), true),
        (mouse(MouseEventKind::Moved), false),
        (UiMessage::Tick, false),
        (UiMessage::StoreChanged, false),
    ];
    let (mut workers, parts) = (Workers::default(), vec![PastPart::StateAt(Seq(20))]);
    for (msg, is_loaded_again) in cases {
        let mut frame_past = FramePast::default();
        assert!(frame_past.load_missing(&mut workers, 0, parts.clone()).is_some());
        assert!(frame_past.load_missing(&mut workers, 0, parts.clone()).is_none());
        frame_past.on_message(&msg);
        let loads = frame_past.load_missing(&mut workers, 0, parts.clone()).is_some();
        assert_eq!(loads, is_loaded_again, "{msg:?}");
    }
}

/// What computes for seconds lets the screen and the streams go first.
#[cfg(target_os = "linux")]
#[test]
fn long_work_runs_at_a_lower_priority() {
    let priority = || rustix::process::getpriority_process(None).unwrap();
    let (mut workers, (sender, priorities), own) = (Workers::default(), channel(), priority());
    for (kind, is_lower) in [
        (WorkKind::Export, true),
        (WorkKind::Search, true),
        (WorkKind::Comparable, true),
        (WorkKind::Comparison, true),
        (WorkKind::Past, false),
        (WorkKind::SaveCopy, false),
    ] {
        let sender = sender.clone();
        let work = move |_: &super::Worker| {
            sender.send(priority()).unwrap();
            Answer::Hint(Ok(None))
        };
        workers.start(kind, Instant::now(), work).unwrap();
        let expected = if is_lower { (own + 10).min(19) } else { own };
        assert_eq!(priorities.recv_timeout(PATIENCE).unwrap(), expected, "{kind:?}");
    }
}

#[test]
fn a_cancelled_export_says_so() {
    let mut rig = Rig::new(&sample_session());
    rig.start(Request::Export(ReportQuery::default()));
    rig.wait_until_begun();
    rig.start(Request::Export(ReportQuery::default()));
    assert_eq!(rig.workers.running.len(), 1, "one report at a time");
    assert!(rig.shown().contains("writing the report: 42 % (Esc cancels)"), "{}", rig.shown());
    rig.press(&["Esc"]);
    assert!(rig.workers.is_running(WorkKind::Export) && rig.shown().contains("cancelling the report"));
    rig.answer();
    assert!(rig.shown().contains("no report written: cancelled"), "{}", rig.shown());
    assert!(rig.workers.statuses().is_empty());
}
