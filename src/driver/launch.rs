//! Starting a driver: a new session, or one that goes on.

use super::ahead::Ahead;
use super::branch::Left;
use super::checkpoint_writer::CheckpointWriter;
use super::env_requests::Orders;
use super::env_worker::EnvWorker;
use super::halted::Saved;
use super::past_query::PastQueries;
use super::runner::Runner;
use super::{Handle, Health, Message, OpenWorld, Render, ReplyOverride, Store};
use crate::domain::{BranchId, CallId, RunSpec, Setting};
use crate::engine::{Cause, Command, Engine, Event, LessonCommand, Policy, ReplaySeed, State};
use crate::journal::{Checkpoints, JournalError, Meta, OpenBranch, Session, Use, Writer, open_branch};
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
    pub render: Render,
    /// Who acts.
    pub actor: Arc<dyn Provider>,
    /// Who reflects, where a model does.
    pub mentor: Option<Arc<dyn Provider>>,
    /// Opens worlds.
    pub open: OpenWorld,
    /// How long a world may take for one answer before it is left behind.
    pub deadline: std::time::Duration,
    /// Opens a recording that a person takes a reply from; without it none is to be had.
    pub stand_in: Option<ReplyOverride>,
    /// The next question is asked while a person reads a proposal.
    pub prefetch: bool,
    /// Outfits another run of the same session; without it a run cannot be changed on its way.
    pub outfit: Option<RunFactory>,
    /// What is written down with the run when it is changed to this one: of whom its roles ask, by the names of its settings.
    pub noted: Vec<(String, Setting)>,
    /// What an episode that is played again had at its start; a run that is begun takes it.
    pub carried: Option<Box<ReplaySeed>>,
    /// Conditions of the breakpoints and watches that a run begins with.
    pub breaks: Vec<String>,
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
    pub torn: Option<String>,
    /// Its state as it was put down.
    pub before: Arc<State>,
}

/// The driver of one session.
pub struct Driver {
    pub(super) engine: Engine,
    pub(super) writer: Writer,
    pub(super) keeper: CheckpointWriter,
    pub(super) session: Session,
    pub(super) launch: RunConfig,
    pub(super) store: Arc<Store>,
    pub(super) handle: Handle,
    pub(super) host: EnvWorker,
    pub(super) runner: Runner,
    /// Inputs that wait while a write has failed, or while the world of a fork is brought back.
    pub(super) waiting: VecDeque<Message>,
    /// Events whose write failed.
    pub(super) unwritten: Vec<Arc<crate::engine::Envelope>>,
    /// Another program removed, replaced or cut the journal.
    pub(super) journal_changed: bool,
    /// Where its events were saved then.
    pub(super) saved: Option<Saved>,
    pub(super) last_sync: std::time::Instant,
    pub(super) timer: Option<tokio::task::JoinHandle<()>>,
    /// How often another branch was taken up: what was asked for before is not heard any more.
    pub(super) line: u64,
    /// The outfit of a changed run, until its event is acknowledged.
    pub(super) outfitted: Option<RunConfig>,
    /// What the world was told and has not answered.
    pub(super) orders: Orders,
    /// Who asks what worlds of past moments accept.
    pub(super) thens: PastQueries,
    pub(super) ahead: Ahead,
    /// Calls that are made again because their answer could not be used.
    pub(super) anew: HashSet<CallId>,
    /// The lines that were left last.
    pub(super) left: VecDeque<Left>,
    pub(super) quit: bool,
}

impl RunConfig {
    /// Completes a changed run: what it is outfitted with is known only now.
    pub(super) fn note_down(&self, events: &mut [(Cause, Event)]) {
        for (_, event) in events {
            let Event::RunChanged { spec } = event else { continue };
            for (name, setting) in &self.noted {
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
        super::commit::clock_is_sound()?;
        let (session, writer) = Session::create(root, meta)?;
        let (handle, thread) = Self::over(session.clone(), writer, spec, pool, launch)?;
        Ok((handle, thread, session))
    }

    /// Starts the run of a session that has just been made.
    pub(super) fn over(
        session: Session,
        writer: Writer,
        spec: RunSpec,
        pool: Vec<(String, LessonCommand)>,
        launch: RunConfig,
    ) -> Result<(Handle, JoinHandle<()>), DriverError> {
        let store = Arc::new(Store::default());
        store.timeline().set_fetcher(writer.events().fetch());
        let engine = Engine::new(launch.policy.clone());
        let (carried, breaks) = (launch.carried.clone(), launch.breaks.clone());
        let begin = Command::Start {
            session: session.meta.session.clone(),
            spec: Box::new(spec),
            pool,
            replay_seed: carried,
            breakpoints: breaks,
        };
        let keeper = CheckpointWriter::new(Checkpoints::of(&session.trunk()), writer.events().clone());
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
        super::commit::clock_is_sound()?;
        let session = Session::open(dir)?;
        let file = session.branch_there(branch)?;
        let writer = Writer::lock(&file)?;
        let mut opened = open_branch(&file, Use::GoOn)?;
        let state = opened.timeline.head().clone();
        let Some(run) = state.run.clone() else {
            let why = match opened.missing {
                Some(missing) => missing.to_string(),
                None => format!("{}: this session ended before its run began", dir.display()),
            };
            return Err(DriverError::Refused(why, "start a new one".to_owned()));
        };
        let launch = launch(&run)?;
        let mut torn = opened.torn.take().map(|torn| torn.what);
        let mut writer = writer;
        if let Some(missing) = opened.missing.take() {
            let reason = format!("events {} to {} of {branch} are missing", missing.first, missing.last);
            let (fork, own) = session.fork(branch, state.head, &reason, super::now())?;
            torn = Some(format!("{missing}; what is left goes on as branch {}", fork.id));
            opened = open_branch(&session.branch_file(&fork.id), Use::GoOn)?;
            writer = own;
        }
        let OpenBranch { header, timeline, whole, places, checkpoints, parents, .. } = opened;
        let mut writer = writer.cut_to(whole, places)?;
        writer.stand_on(parents);
        let store = Arc::new(Store::default());
        store.begin(timeline, header.id.clone());
        let engine = Engine::resume((*state).clone(), launch.policy.clone(), header.id);
        let keeper = CheckpointWriter::new(checkpoints, writer.events().clone());
        let (handle, thread) =
            Self::spawn(engine, writer, keeper, session.clone(), launch, store, &Command::Reopen)?;
        Ok(Resumed { handle, thread, session, torn, before: state })
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
        let host = EnvWorker::start(0, launch.open.clone(), handle.inbox())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut driver = Self {
            engine,
            writer,
            keeper,
            session,
            launch,
            store,
            handle: handle.clone(),
            host,
            runner: Runner::default(),
            waiting: VecDeque::new(),
            unwritten: Vec::new(),
            journal_changed: false,
            saved: None,
            last_sync: std::time::Instant::now(),
            timer: None,
            line: 0,
            anew: HashSet::new(),
            outfitted: None,
            orders: Orders::default(),
            thens: PastQueries::default(),
            ahead: Ahead::default(),
            left: VecDeque::new(),
            quit: false,
        };
        let begun = driver.begin(begin, &runtime);
        if let Err(refusal) = begun {
            return Err(DriverError::Refused(refusal.message, refusal.hint));
        }
        let thread = std::thread::Builder::new().name("driver".to_owned()).spawn(move || {
            runtime.block_on(driver.run(inbox));
        })?;
        Ok((handle, thread))
    }

    /// The first command is carried out before anyone else can speak, so that a handle always sees a begun run.
    fn begin(
        &mut self,
        command: &Command,
        runtime: &tokio::runtime::Runtime,
    ) -> Result<(), crate::engine::CommandError> {
        let _inside = runtime.enter();
        let reopened = matches!(command, Command::Reopen);
        // What was agreed to and not yet taken is taken as soon as the session is reopened: the world must stand first.
        self.orders.rebuilding = reopened;
        self.command(command)?;
        if reopened {
            self.rebuild();
        }
        Ok(())
    }

    async fn run(mut self, mut inbox: UnboundedReceiver<Message>) {
        let _told = EndTold(self.store.clone());
        while !self.quit {
            let message = if self.writer.unsynced() && !self.is_halted() {
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
            self.take_all(message, &mut inbox);
        }
        self.finish();
    }

    /// Takes a message and those that wait behind it, up to a measure; then the readers are told.
    fn take_all(&mut self, message: Message, inbox: &mut UnboundedReceiver<Message>) {
        const AT_ONCE: usize = 64;
        let store = self.store.clone();
        let _told_at_the_end = store.batch_notifications();
        self.take(message);
        for _ in 1..AT_ONCE {
            match inbox.try_recv() {
                Ok(message) if !self.quit => self.take(message),
                _ => break,
            }
        }
    }

    fn finish(&mut self) {
        self.runner.cancel_all();
        if let Some(timer) = self.timer.take() {
            timer.abort();
        }
        self.orders.stop_clock();
        self.sync();
        if self.journal_changed {
            return self.note_what_is_missing();
        }
        self.keep_meta(true);
        self.keeper.finish(&self.engine.state, self.writer.whole());
        self.summarise();
    }
}

/// Tells whoever waits that the driver has ended, even when it ended by a panic.
struct EndTold(Arc<Store>);

impl Drop for EndTold {
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
    let file = session.branch_there(&session.last_written())?;
    let branch = open_branch(&file, Use::Look)?;
    let missing = branch.missing.map(|missing| missing.to_string());
    Ok((session, branch.timeline, missing.or(branch.torn.map(|t| t.what))))
}
