//! Starting a driver: a new session, or one that goes on.

use super::branch::CachedBranch;
use super::call_runner::CallRunner;
use super::checkpoint_writer::CheckpointWriter;
use super::env_requests::PendingRequests;
use super::env_worker::EnvWorker;
use super::halted::RescueOutcome;
use super::past_query::PastQueries;
use super::prefetch::Prefetcher;
use super::{Handle, Health, Message, OpenWorld, RenderPrompt, ReplyOverride, Store};
use crate::domain::{BranchId, CallId, RunSpec, Setting};
use crate::engine::{Cause, Command, Engine, Event, LessonCommand, Policy, ReplaySeed, State};
use crate::journal::{Checkpoints, JournalError, Meta, OpenBranch, OpenMode, Session, Writer, open_branch};
use crate::provider::Provider;
use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::mpsc::UnboundedReceiver;

/// Everything a driver needs beside its session.
#[derive(Clone)]
pub struct RunConfig {
    /// Method, prompts, interface, detectors.
    pub policy: Policy,
    /// Rebuilds prompts.
    pub render_prompt: RenderPrompt,
    /// Who acts.
    pub actor: Arc<dyn Provider>,
    /// Who reflects, where a model does.
    pub mentor: Option<Arc<dyn Provider>>,
    /// Opens worlds.
    pub open_world: OpenWorld,
    /// How long a world may take for one answer before it is left behind.
    pub answer_deadline: std::time::Duration,
    /// Opens a recording that a person takes a reply from; without it none is to be had.
    pub reply_override: Option<ReplyOverride>,
    /// The next question is asked while a person reads a proposal.
    pub prefetch: bool,
    /// Outfits another run of the same session; without it a run cannot be changed on its way.
    pub run_factory: Option<RunFactory>,
    /// What is written down with the run when it is changed to this one: of whom its roles ask, by the names of its settings.
    pub recorded_settings: Vec<(String, Setting)>,
    /// What an episode that is played again had at its start; a run that is begun takes it.
    pub replay_seed: Option<Box<ReplaySeed>>,
    /// Conditions of the breakpoints and watches that a run begins with.
    pub breakpoints: Vec<String>,
}

/// Makes what a run needs beside its session, from the words of its spec.
pub type RunFactory = Arc<dyn Fn(&RunSpec) -> Result<RunConfig, DriverError> + Send + Sync>;

/// Why a driver could not start.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The session's files.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The system gave no thread or runtime.
    #[error("the system gave no thread: {0}")]
    Thread(#[from] std::io::Error),
    /// The run could not be begun.
    #[error("{0}; {1}")]
    Refused(String, String),
}

/// A session that was taken up again.
pub struct Resumed {
    /// The running driver.
    pub handle: Handle,
    /// Its thread.
    pub thread: JoinHandle<()>,
    /// The session.
    pub session: Session,
    /// What was cut off the end of its file, or which events are missing there.
    pub cut_off_tail: Option<String>,
    /// Its state as it was put down.
    pub initial_state: Arc<State>,
}

/// The driver of one session.
pub struct Driver {
    pub(super) engine: Engine,
    pub(super) writer: Writer,
    pub(super) checkpoint_writer: CheckpointWriter,
    pub(super) session: Session,
    pub(super) run_config: RunConfig,
    pub(super) store: Arc<Store>,
    pub(super) handle: Handle,
    pub(super) env_worker: EnvWorker,
    pub(super) call_runner: CallRunner,
    /// Inputs that wait while a write has failed, or while the world of a fork is brought back.
    pub(super) queued_messages: VecDeque<Message>,
    /// Events whose write failed.
    pub(super) unwritten_events: Vec<Arc<crate::engine::Envelope>>,
    /// Another program removed, replaced or cut the journal.
    pub(super) journal_changed: bool,
    /// Where its events were saved then.
    pub(super) rescue: Option<RescueOutcome>,
    pub(super) last_sync: std::time::Instant,
    pub(super) timer: Option<tokio::task::JoinHandle<()>>,
    /// How often another branch was taken up: what was asked for before is not heard any more.
    pub(super) epoch: u64,
    /// The outfit of a changed run, until its event is acknowledged.
    pub(super) next_run_config: Option<RunConfig>,
    /// What the world was told and has not answered.
    pub(super) pending_requests: PendingRequests,
    /// Who asks what worlds of past moments accept.
    pub(super) past_queries: PastQueries,
    pub(super) prefetcher: Prefetcher,
    /// Calls that are made again because their answer could not be used.
    pub(super) calls_to_refresh: HashSet<CallId>,
    /// The lines that were left last.
    pub(super) cached_branches: VecDeque<CachedBranch>,
    pub(super) has_quit: bool,
}

impl RunConfig {
    /// Completes a changed run: what it is outfitted with is known only now.
    pub(super) fn record_settings(&self, events: &mut [(Cause, Event)]) {
        for (_, event) in events {
            let Event::RunChanged { spec } = event else { continue };
            for (name, setting) in &self.recorded_settings {
                spec.settings.0.entry(name.clone()).or_insert_with(|| setting.clone());
            }
        }
    }
}

impl Driver {
    /// Makes a session below `root` and starts its run, paused.
    ///
    /// # Errors
    /// [`DriverError`] when the folder or the thread cannot be had.
    pub fn start(
        root: &Path,
        meta: Meta,
        spec: RunSpec,
        pool: Vec<(String, LessonCommand)>,
        launch: RunConfig,
    ) -> Result<(Handle, JoinHandle<()>, Session), DriverError> {
        super::commit::check_clock()?;
        let (session, writer) = Session::create(root, meta)?;
        let (handle, thread) = Self::start_in(session.clone(), writer, spec, pool, launch)?;
        Ok((handle, thread, session))
    }

    /// Starts the run of a session that has just been made.
    pub(super) fn start_in(
        session: Session,
        writer: Writer,
        spec: RunSpec,
        pool: Vec<(String, LessonCommand)>,
        launch: RunConfig,
    ) -> Result<(Handle, JoinHandle<()>), DriverError> {
        let store = Arc::new(Store::default());
        store.set_fetcher(writer.event_file().fetcher());
        let engine = Engine::new(launch.policy.clone());
        let (carried, breaks) = (launch.replay_seed.clone(), launch.breakpoints.clone());
        let begin = Command::Start {
            session: session.meta.session.clone(),
            spec: Box::new(spec),
            pool,
            replay_seed: carried,
            breakpoints: breaks,
        };
        let keeper =
            CheckpointWriter::new(Checkpoints::for_branch(&session.trunk()), writer.event_file().clone());
        Self::spawn(engine, writer, keeper, session, launch, store, &begin)
    }

    /// Takes a session up again on the branch that was written last, as [`Driver::resume_at`].
    ///
    /// # Errors
    /// As [`Driver::resume_at`].
    pub fn resume(
        dir: &Path,
        launch: impl FnOnce(&RunSpec) -> Result<RunConfig, DriverError>,
    ) -> Result<Resumed, DriverError> {
        let branch = Session::open(dir)?.last_written();
        Self::resume_at(dir, &branch, launch)
    }

    /// Takes a branch up again: folds its journal, cuts a torn end, rebuilds the world and makes the calls in flight again.
    /// Where acknowledged events are missing, what is left goes on as a fork, so that the branch still shows that they are.
    ///
    /// # Errors
    /// [`DriverError`] when the session is broken, has no such branch, or another program writes it. `launch` is made from the
    /// run's spec.
    pub fn resume_at(
        dir: &Path,
        branch: &BranchId,
        launch: impl FnOnce(&RunSpec) -> Result<RunConfig, DriverError>,
    ) -> Result<Resumed, DriverError> {
        super::commit::check_clock()?;
        let session = Session::open(dir)?;
        let file = session.existing_branch_file(branch)?;
        let writer = Writer::lock(&file)?;
        let mut opened = open_branch(&file, OpenMode::Resume)?;
        let state = opened.timeline.head().clone();
        let Some(run) = state.run.clone() else {
            let why = match opened.missing {
                Some(missing) => missing.to_string(),
                None => format!("{}: this session ended before its run began", dir.display()),
            };
            return Err(DriverError::Refused(why, "start a new one".to_owned()));
        };
        let launch = launch(&run)?;
        let mut torn = opened.torn_tail.take().map(|torn| torn.description);
        let mut writer = writer;
        if let Some(missing) = opened.missing.take() {
            let reason = format!("events {} to {} of {branch} are missing", missing.first, missing.last);
            let (fork, own) = session.fork(branch, state.head, &reason, super::wall_clock_now())?;
            torn = Some(format!("{missing}; what is left goes on as branch {}", fork.id));
            opened = open_branch(&session.branch_file(&fork.id), OpenMode::Resume)?;
            writer = own;
        }
        let OpenBranch {
            header, timeline, valid_len: whole, event_file: places, checkpoints, parents, ..
        } = opened;
        let mut writer = writer.truncate_to(whole, places)?;
        writer.stand_on(parents);
        let store = Arc::new(Store::default());
        store.set_timeline(timeline, header.id.clone());
        let engine = Engine::resume((*state).clone(), launch.policy.clone(), header.id);
        let keeper = CheckpointWriter::new(checkpoints, writer.event_file().clone());
        let (handle, thread) =
            Self::spawn(engine, writer, keeper, session.clone(), launch, store, &Command::Reopen)?;
        Ok(Resumed { handle, thread, session, cut_off_tail: torn, initial_state: state })
    }

    fn spawn(
        engine: Engine,
        writer: Writer,
        keeper: CheckpointWriter,
        session: Session,
        launch: RunConfig,
        store: Arc<Store>,
        begin: &Command,
    ) -> Result<(Handle, JoinHandle<()>), DriverError> {
        let (handle, inbox) = Handle::new(store.clone());
        let host = EnvWorker::start(0, launch.open_world.clone(), handle.inbox())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut driver = Self {
            engine,
            writer,
            checkpoint_writer: keeper,
            session,
            run_config: launch,
            store,
            handle: handle.clone(),
            env_worker: host,
            call_runner: CallRunner::default(),
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
            cached_branches: VecDeque::new(),
            has_quit: false,
        };
        let begun = driver.run_first_command(begin, &runtime);
        if let Err(refusal) = begun {
            return Err(DriverError::Refused(refusal.message, refusal.hint));
        }
        let thread = std::thread::Builder::new().name("driver".to_owned()).spawn(move || {
            runtime.block_on(driver.run_loop(inbox));
        })?;
        Ok((handle, thread))
    }

    /// The first command is carried out before anyone else can speak, so that a handle always sees a begun run.
    fn run_first_command(
        &mut self,
        command: &Command,
        runtime: &tokio::runtime::Runtime,
    ) -> Result<(), crate::engine::CommandError> {
        let _inside = runtime.enter();
        let reopened = matches!(command, Command::Reopen);
        // What was agreed to and not yet taken is taken as soon as the session is reopened: the world must stand first.
        self.pending_requests.is_rebuilding = reopened;
        self.run_command(command)?;
        if reopened {
            self.start_rebuild();
        }
        Ok(())
    }

    async fn run_loop(mut self, mut inbox: UnboundedReceiver<Message>) {
        let _told = EndNotifier(self.store.clone());
        while !self.has_quit {
            let message = if self.writer.is_unsynced() && !self.is_halted() {
                // Data is synced at most a second after it was written, whatever else comes in or does not.
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

    /// Takes a message and those that wait behind it, up to a measure; then the readers are told.
    fn handle_messages(&mut self, message: Message, inbox: &mut UnboundedReceiver<Message>) {
        const MAX_MESSAGES_AT_ONCE: usize = 64;
        let store = self.store.clone();
        let _told_at_the_end = store.batch_notifications();
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
        if let Some(timer) = self.timer.take() {
            timer.abort();
        }
        self.pending_requests.stop_timeout();
        self.sync();
        if self.journal_changed {
            return self.note_missing_events();
        }
        self.keep_meta(true);
        self.checkpoint_writer.save_at_end(&self.engine.state, self.writer.valid_len());
        self.write_summary();
    }
}

/// Tells whoever waits that the driver has ended, even when it ended by a panic.
struct EndNotifier(Arc<Store>);

impl Drop for EndNotifier {
    fn drop(&mut self) {
        self.0.edit_live(|live| {
            live.calls.clear();
            if live.health == Health::Running {
                live.health = Health::Ended;
            }
        });
    }
}

/// A session to look at only: the timeline of the branch that was written last, and what was cut off its end.
///
/// # Errors
/// [`JournalError`] when it cannot be read.
pub fn open_read_only(
    dir: &Path,
) -> Result<(Session, crate::timeline::Timeline, Option<String>), JournalError> {
    let session = Session::open(dir)?;
    let file = session.existing_branch_file(&session.last_written())?;
    let branch = open_branch(&file, OpenMode::Read)?;
    let missing = branch.missing.map(|missing| missing.to_string());
    Ok((session, branch.timeline, missing.or(branch.torn_tail.map(|t| t.description))))
}
