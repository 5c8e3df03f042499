//! Starts a driver: for a new session, or for one that is resumed.

use super::cached_branch::CachedBranch;
use super::call_runner::CallRunner;
use super::checkpoint_writer::CheckpointWriter;
use super::env_worker::EnvWorker;
use super::job_runner::JobRunner;
use super::past_query::PastQueries;
use super::pending_requests::PendingRequests;
use super::prefetch::Prefetcher;
use super::samples::SampleCalls;
use super::sync_thread::SyncThread;
use super::{
    DriverError, Handle, Health, Message, RescueOutcome, RunConfig, Store, check_clock, wall_clock_now,
};
use crate::domain::{BranchId, CallId, RunSpec};
use crate::engine::{Command, Engine, LessonCommand, State};
use crate::journal::{Checkpoints, JournalError, Meta, OpenBranch, OpenMode, Session, Writer, open_branch};
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::mpsc::UnboundedReceiver;

/// A session that was resumed.
pub struct Resumed {
    /// The running driver.
    pub handle: Handle,
    pub thread: JoinHandle<()>,
    pub session: Session,
    /// Describes what was truncated from its file, or which events are missing.
    pub cut_off_tail: Option<String>,
    /// Its state before it was resumed.
    pub initial_state: Arc<State>,
}

/// The driver of one session.
pub struct Driver {
    pub(super) engine: Engine,
    pub(super) writer: Writer,
    pub(super) checkpoint_writer: CheckpointWriter,
    pub(super) sync_thread: SyncThread,
    /// Whether something was written during the sync in progress that has to be synced soon.
    pub(super) sync_again: bool,
    pub(super) session: Session,
    pub(super) run_config: RunConfig,
    pub(super) store: Arc<Store>,
    pub(super) handle: Handle,
    pub(super) env_worker: EnvWorker,
    pub(super) call_runner: CallRunner,
    pub(super) job_runner: JobRunner,
    /// Messages that wait until a failed write succeeds.
    pub(super) queued_messages: VecDeque<Message>,
    /// Events whose write failed.
    pub(super) unwritten_events: Vec<Arc<crate::engine::Envelope>>,
    /// Whether another program removed, replaced or truncated the journal.
    pub(super) journal_changed: bool,
    /// Where its events were saved in that case.
    pub(super) rescue: Option<RescueOutcome>,
    pub(super) last_sync: std::time::Instant,
    pub(super) timer: Option<tokio::task::JoinHandle<()>>,
    /// Incremented when another branch is made active. Replies from an earlier epoch are ignored.
    pub(super) epoch: u64,
    /// The configuration of a changed run, until its event is acknowledged.
    pub(super) next_run_config: Option<RunConfig>,
    /// The requests that the environment has not answered yet.
    pub(super) pending_requests: PendingRequests,
    pub(super) past_queries: PastQueries,
    pub(super) prefetcher: Prefetcher,
    pub(super) samples: SampleCalls,
    /// Calls that are repeated because their reply was unusable, and bypass the cache.
    pub(super) calls_to_refresh: HashSet<CallId>,
    /// The detectors about which the person has been told that their environment's entry doesn't list them.
    pub(super) undeclared_detectors: BTreeSet<String>,
    /// The inactive branches kept in memory, for switching back.
    pub(super) cached_branches: VecDeque<CachedBranch>,
    pub(super) has_quit: bool,
}

impl Driver {
    /// Creates a session in the folder `sessions_dir` and starts its run, paused.
    ///
    /// # Errors
    /// Returns [`DriverError`] if the folder or the thread cannot be created.
    pub fn start(
        sessions_dir: &Path,
        meta: Meta,
        spec: RunSpec,
        pool: Vec<(String, LessonCommand)>,
        run_config: RunConfig,
    ) -> Result<(Handle, JoinHandle<()>, Session), DriverError> {
        check_clock()?;
        let (session, writer) = Session::create(sessions_dir, meta)?;
        let (handle, thread) = Self::start_in(session.clone(), writer, spec, pool, run_config)?;
        Ok((handle, thread, session))
    }

    /// Starts the run of a session that has just been created.
    pub(super) fn start_in(
        session: Session,
        writer: Writer,
        spec: RunSpec,
        pool: Vec<(String, LessonCommand)>,
        run_config: RunConfig,
    ) -> Result<(Handle, JoinHandle<()>), DriverError> {
        let store = Arc::new(Store::default());
        store.set_fetcher(writer.event_file().fetcher());
        let engine = Engine::new(run_config.policy.clone());
        let (replay_start, breakpoints) = (run_config.replay_start.clone(), run_config.breakpoints.clone());
        let first_command = Command::Start {
            session: session.meta.session.clone(),
            spec: Box::new(spec),
            pool,
            replay_start,
            breakpoints,
        };
        let checkpoint_writer =
            CheckpointWriter::new(Checkpoints::for_branch(&session.trunk()), writer.event_file().clone());
        Self::spawn(engine, writer, checkpoint_writer, session, run_config, store, &first_command)
    }

    /// Resumes a session on the branch written last; see [`Driver::resume_at`].
    ///
    /// # Errors
    /// The same as [`Driver::resume_at`].
    pub fn resume(
        dir: &Path,
        make_config: impl FnOnce(&RunSpec) -> Result<RunConfig, DriverError>,
    ) -> Result<Resumed, DriverError> {
        let branch = Session::open(dir)?.last_written();
        Self::resume_at(dir, &branch, make_config)
    }

    /// Resumes a branch: folds its journal, truncates a torn end, restores the environment and repeats the calls in
    /// flight. If acknowledged events are missing, the rest continues as a fork, so that the branch still shows the
    /// loss. `make_config` builds the configuration from the run's spec.
    ///
    /// # Errors
    /// Returns [`DriverError`] if the session is broken or has no such branch, or if another program is writing it.
    pub fn resume_at(
        dir: &Path,
        branch: &BranchId,
        make_config: impl FnOnce(&RunSpec) -> Result<RunConfig, DriverError>,
    ) -> Result<Resumed, DriverError> {
        check_clock()?;
        let session = Session::open(dir)?;
        let file = session.existing_branch_file(branch)?;
        let writer = Writer::lock(&file)?;
        let mut opened = open_branch(&file, OpenMode::Resume)?;
        let state = opened.timeline.head().clone();
        let Some(run) = state.run.clone() else {
            let why = match opened.missing {
                Some(missing) => missing.to_string(),
                None => format!("{}: this session ended before its run started", dir.display()),
            };
            return Err(DriverError::Refused(why, "start a new one".to_owned()));
        };
        let run_config = make_config(&run)?;
        let mut torn_tail = opened.torn_tail.take().map(|torn_tail| torn_tail.description);
        let mut writer = writer;
        if let Some(missing) = opened.missing.take() {
            let reason = format!("events {} to {} of {branch} are missing", missing.first, missing.last);
            let (fork, fork_writer) = session.fork(branch, state.head, &reason, wall_clock_now())?;
            torn_tail = Some(format!("{missing}; the rest continues as branch {}", fork.id));
            opened = open_branch(&session.branch_file(&fork.id), OpenMode::Resume)?;
            writer = fork_writer;
        }
        let OpenBranch { header, timeline, valid_len, event_file, checkpoints, parents, .. } = opened;
        let mut writer = writer.truncate_to(valid_len, event_file)?;
        writer.set_ancestors(parents);
        let store = Arc::new(Store::default());
        store.set_timeline(timeline, header.id.clone());
        let engine = Engine::resume((*state).clone(), run_config.policy.clone(), header.id);
        let checkpoint_writer = CheckpointWriter::new(checkpoints, writer.event_file().clone());
        let (handle, thread) = Self::spawn(
            engine,
            writer,
            checkpoint_writer,
            session.clone(),
            run_config,
            store,
            &Command::Reopen,
        )?;
        Ok(Resumed { handle, thread, session, cut_off_tail: torn_tail, initial_state: state })
    }

    fn spawn(
        engine: Engine,
        writer: Writer,
        checkpoint_writer: CheckpointWriter,
        session: Session,
        run_config: RunConfig,
        store: Arc<Store>,
        first_command: &Command,
    ) -> Result<(Handle, JoinHandle<()>), DriverError> {
        let (handle, inbox) = Handle::new(store.clone());
        let env_worker = EnvWorker::start(0, run_config.open_world.clone(), handle.inbox())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut driver = Self {
            engine,
            writer,
            checkpoint_writer,
            sync_thread: SyncThread::default(),
            sync_again: false,
            session,
            run_config,
            store,
            handle: handle.clone(),
            env_worker,
            call_runner: CallRunner::default(),
            job_runner: JobRunner::default(),
            queued_messages: VecDeque::new(),
            unwritten_events: Vec::new(),
            journal_changed: false,
            rescue: None,
            last_sync: std::time::Instant::now(),
            timer: None,
            epoch: 0,
            calls_to_refresh: HashSet::new(),
            next_run_config: None,
            pending_requests: PendingRequests::default(),
            past_queries: PastQueries::default(),
            prefetcher: Prefetcher::default(),
            samples: SampleCalls::default(),
            undeclared_detectors: BTreeSet::new(),
            cached_branches: VecDeque::new(),
            has_quit: false,
        };
        let started = driver.run_first_command(first_command, &runtime);
        if let Err(error) = started {
            return Err(DriverError::Refused(error.message, error.hint));
        }
        let thread = std::thread::Builder::new().name("driver".to_owned()).spawn(move || {
            runtime.block_on(driver.run_loop(inbox));
        })?;
        Ok((handle, thread))
    }

    /// Executes the first command before any message can arrive, so that a handle always sees a started run.
    fn run_first_command(
        &mut self,
        command: &Command,
        runtime: &tokio::runtime::Runtime,
    ) -> Result<(), crate::engine::CommandError> {
        let _inside = runtime.enter();
        let reopened = matches!(command, Command::Reopen);
        // An approved action that has not been executed yet is executed as soon as the session is reopened, so the
        // environment must be restored first.
        self.pending_requests.is_rebuilding = reopened;
        self.run_command(command)?;
        if reopened {
            self.start_rebuild();
        }
        Ok(())
    }

    async fn run_loop(mut self, mut inbox: UnboundedReceiver<Message>) {
        let _notifier = EndNotifier(self.store.clone());
        while !self.has_quit {
            let can_sync = !self.is_halted() && !self.sync_thread.is_busy();
            let message = if self.writer.is_unsynced() && can_sync {
                // Data is synced at most a second after it was written, whether other messages arrive or not.
                let due = tokio::time::Instant::from_std(self.last_sync + std::time::Duration::from_secs(1));
                if let Ok(message) = tokio::time::timeout_at(due, inbox.recv()).await {
                    message
                } else {
                    self.sync();
                    continue;
                }
            } else {
                inbox.recv().await
            };
            let Some(message) = message else { break };
            self.handle_messages(message, &mut inbox);
        }
        self.shut_down();
    }

    /// Handles a message and a limited number of those waiting behind it, then notifies the readers once.
    fn handle_messages(&mut self, message: Message, inbox: &mut UnboundedReceiver<Message>) {
        const MAX_MESSAGES_AT_ONCE: usize = 64;
        let store = self.store.clone();
        let _batch = store.batch_notifications();
        self.handle_message(message);
        for _ in 1..MAX_MESSAGES_AT_ONCE {
            match inbox.try_recv() {
                Ok(message) if !self.has_quit => self.handle_message(message),
                _ => break,
            }
        }
    }

    fn shut_down(&mut self) {
        self.call_runner.cancel_all();
        self.job_runner.cancel_all();
        if let Some(timer) = self.timer.take() {
            timer.abort();
        }
        self.pending_requests.stop_timeout();
        // An environment that still owes an answer may hang; the worker then ends its processes when it is dropped.
        if self.pending_requests.queue.is_empty() {
            self.env_worker.release();
        }
        let synced = self.sync_and_wait();
        self.on_synced(synced);
        if self.journal_changed {
            return self.note_missing_events();
        }
        self.restore_meta_file(true);
        self.checkpoint_writer.save_at_end(&self.engine.state, self.writer.valid_len());
        self.write_summary();
    }
}

/// Notifies the readers that the driver has ended, even after a panic.
struct EndNotifier(Arc<Store>);

impl Drop for EndNotifier {
    fn drop(&mut self) {
        self.0.edit_live(|live| {
            live.clear_calls();
            live.env_work = None;
            if live.health == Health::Running {
                live.health = Health::Ended;
            }
        });
    }
}

/// Opens a session for reading: returns the timeline of the branch written last, and a description of what is missing
/// or torn at its end.
///
/// # Errors
/// Returns [`JournalError`] if it cannot be read.
pub fn open_read_only(
    dir: &Path,
) -> Result<(Session, crate::timeline::Timeline, Option<String>), JournalError> {
    let session = Session::open(dir)?;
    let file = session.existing_branch_file(&session.last_written())?;
    let branch = open_branch(&file, OpenMode::Read)?;
    let missing = branch.missing.map(|missing| missing.to_string());
    Ok((session, branch.timeline, missing.or(branch.torn_tail.map(|t| t.description))))
}
