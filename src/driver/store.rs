//! What the driver shares with its readers: an append-only store, the live state outside the journal, and a handle to
//! send commands. A slow reader never blocks the driver.

use super::step_delay::StepDelay;
use super::{Fork, Halt, LiveSample, PastAdmissible, PastHint, PastQuery, SampleOrder, StreamedText};
use crate::domain::{
    BranchId, CallId, CallPhase, Job, JobProgress, ModelRole, PartialReply, Sample, Seq, Usage,
};
use crate::engine::{Command, CommandError, Envelope, State};
use crate::timeline::{EventFetcher, ReportProgress, Timeline};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};

/// A model call while its reply arrives. Never part of the state.
#[derive(Clone, Debug)]
pub struct LiveCall {
    pub call: CallId,
    pub role: ModelRole,
    pub phase: CallPhase,
    /// The reasoning received so far.
    pub reasoning: StreamedText,
    /// The reply received so far.
    pub text: StreamedText,
    /// The number of deltas received, which approximates the tokens until the usage arrives.
    pub delta_count: u64,
    pub started: Instant,
    /// When the last text arrived or the phase last changed.
    pub last_progress: Instant,
    /// Whether only keep-alives have arrived since: the server is up but sends no text.
    pub only_keep_alives: bool,
    /// The usage, once the server has reported it.
    pub usage: Option<Usage>,
    /// The last notice about it, such as why it is tried again.
    pub notice: Option<String>,
}

impl LiveCall {
    /// Silences at least this long are reported.
    pub const LONG_SILENCE: Duration = Duration::from_secs(15);

    /// Returns in how many seconds, rounded up, the call is tried again.
    pub fn seconds_to_retry(&self, now: Instant) -> Option<u64> {
        let CallPhase::Retrying(wait) = self.phase else { return None };
        let left = wait.saturating_sub(now.saturating_duration_since(self.last_progress));
        Some(left.as_millis().div_ceil(1000) as u64)
    }

    /// Returns the part of the reply that has arrived.
    pub fn partial_reply(&self) -> PartialReply {
        PartialReply { text: self.text.to_string(), reasoning: self.reasoning.to_string(), usage: None }
    }

    /// Returns the seconds of silence until `now`; `None` below [`Self::LONG_SILENCE`].
    pub fn silent_seconds(&self, now: Instant) -> Option<u64> {
        let quiet = now.saturating_duration_since(self.last_progress);
        // Between two attempts there is nothing to receive.
        let is_retrying = matches!(self.phase, CallPhase::Retrying(_));
        (!is_retrying && quiet >= Self::LONG_SILENCE).then_some(quiet.as_secs())
    }

    /// Describes the silence, if it is long.
    pub fn silence_message(&self, now: Instant) -> Option<String> {
        self.silent_seconds(now).map(|seconds| match (self.only_keep_alives, self.delta_count) {
            (true, 0) => format!("the server is alive but has sent no text for {seconds} s"),
            (true, _) => format!("the server is alive but has sent no more text for {seconds} s"),
            (false, _) => format!("nothing received from the server for {seconds} s"),
        })
    }
}

/// A job while it is computed. Never part of the state.
#[derive(Clone, Debug)]
pub struct LiveJob {
    pub call: CallId,
    pub job: Arc<Job>,
    pub started: Instant,
    pub progress: Arc<JobProgress>,
}

/// What the environment is doing. Never part of the state.
#[derive(Clone, Copy, Debug)]
pub struct LiveEnvWork {
    pub kind: EnvWorkKind,
    pub started: Instant,
}

/// What an environment may be doing that takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvWorkKind {
    /// It starts, or executes an action.
    Call,
    /// It is brought back to where the episode was.
    Rebuild,
}

/// The condition of the driver. Not part of the state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Health {
    #[default]
    Running,
    /// A write failed, or another program changed the journal; nothing is applied until the write succeeds.
    Halted(Halt),
    Ended,
    /// There is no driver: the session is read-only.
    ReadOnly,
}

/// A message for the screen that is not an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A command was rejected.
    CommandFailed(CommandError),
    Notice(String),
}

/// What is in progress. Not part of the state.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Model calls in flight.
    pub calls: Vec<LiveCall>,
    /// Jobs in progress.
    pub jobs: Vec<LiveJob>,
    /// Samples in progress, in the order of their requests.
    pub samples: Vec<LiveSample>,
    pub env_work: Option<LiveEnvWork>,
    pub health: Health,
    /// Whether another program is still writing a read-only session, as far as is known.
    pub is_followed: bool,
    /// The last few signals with their numbers, newest last.
    pub signals: Vec<(u64, Signal)>,
}

/// The timeline and the live state, shared by the driver and its readers.
pub struct Store {
    timeline: Mutex<Timeline>,
    /// The branch of the timeline, and how often it has changed.
    branch_epoch: Mutex<(BranchId, u64)>,
    live: Mutex<Live>,
    changes: watch::Sender<u64>,
    /// `Some` while notifications are batched: whether there was a change.
    batched_change: Mutex<Option<bool>>,
    pub(super) step_delay: StepDelay,
}

/// A message in the driver's inbox.
pub enum Message {
    /// A command, and where to send its result.
    Command(Command, Option<oneshot::Sender<Result<Seq, CommandError>>>),
    /// Answers once the environment has handled every earlier request.
    EnvironmentIdle(oneshot::Sender<()>),
    /// Returns the actions that are admissible now.
    Admissible(oneshot::Sender<Vec<String>>),
    /// Returns the actions that were admissible in the state that the query loads.
    PastAdmissible(PastQuery, oneshot::Sender<PastAdmissible>),
    /// Returns a hint towards the goal.
    Hint(oneshot::Sender<PastHint>),
    /// Returns what the environment's program has printed.
    PrintedText(oneshot::Sender<Option<String>>),
    /// Retries the failed write.
    RetryWrite,
    /// Closes the session and ends the driver.
    Quit,
    /// Continues from a past event of a branch in a new branch.
    Fork(Fork, Option<oneshot::Sender<Result<BranchId, CommandError>>>),
    /// Switches to another branch of the session.
    Switch(BranchId, Option<oneshot::Sender<Result<(), CommandError>>>),
    /// A reply to a call of the epoch with this number. Only the driver's own tasks send it.
    Reply(u64, crate::engine::Reply),
    /// The environment was restored. Only the driver sends it, to itself.
    Rebuilt(super::env_messages::RebuildResult),
    /// An answer of the environment's thread. Only the driver's own worker sends it.
    EnvResponse(super::env_messages::EnvResponse),
    /// A sync of the journal has ended. Only the driver's sync thread sends it.
    Synced,
    /// The environment has not answered in time, according to the timer with this number. Only the driver's own timer
    /// sends it.
    TimedOut(u64),
    /// A prefetch has ended: its epoch, its number and its cost, which is `Err` if the call failed. Only the driver's
    /// own tasks send it.
    PrefetchDone(u64, u64, Result<Usage, Usage>),
    /// Requests samples of the prompt of a step.
    Sample(SampleOrder, Option<oneshot::Sender<Result<(), CommandError>>>),
    /// Cancels the samples in progress.
    CancelSamples,
    /// A sample of the epoch with this number has ended. Only the driver's own tasks send it.
    SampleEnded(u64, Box<Sample>),
    /// A part of a reply in the epoch with this number. The permit is released once it has been handled.
    Delta(u64, CallId, crate::provider::Delta, Option<OwnedSemaphorePermit>),
}

/// A handle to a running session: reads the store and sends commands.
#[derive(Clone)]
pub struct Handle {
    pub store: Arc<Store>,
    inbox: mpsc::UnboundedSender<Message>,
}

impl Live {
    /// Removes a call or a job that has ended.
    pub(super) fn remove_call(&mut self, call: CallId) {
        self.calls.retain(|c| c.call != call);
        self.jobs.retain(|j| j.call != call);
    }

    /// Removes all calls and jobs.
    pub(super) fn clear_calls(&mut self) {
        self.calls.clear();
        self.jobs.clear();
    }

    /// Removes a sample that has ended.
    pub(super) fn remove_sample(&mut self, group: u32, number: u32) {
        self.samples.retain(|sample| (sample.group, sample.number) != (group, number));
    }

    /// Returns the calls with a long silence: how many seconds, and its description.
    pub fn list_silences(&self) -> Vec<(CallId, u64, String)> {
        let now = Instant::now();
        let silence = |c: &LiveCall| Some((c.call, c.silent_seconds(now)?, c.silence_message(now)?));
        self.calls.iter().filter_map(silence).collect()
    }
}

impl Default for Store {
    fn default() -> Self {
        Self {
            timeline: Mutex::default(),
            branch_epoch: Mutex::new((BranchId::trunk(), 0)),
            live: Mutex::default(),
            changes: watch::Sender::new(0),
            batched_change: Mutex::default(),
            step_delay: StepDelay::default(),
        }
    }
}

impl Store {
    /// Sets how long an actor that answers at once waits before each step of a run.
    pub fn set_step_delay(&self, delay: Duration) {
        self.step_delay.set(delay);
    }

    /// Returns the timeline as it is now. The caller owns it: reading old events from it, which may take long, holds no
    /// lock that the driver needs.
    pub fn timeline(&self) -> Timeline {
        self.lock_timeline().clone()
    }

    /// Returns the timeline together with its branch and epoch, as one consistent snapshot.
    pub fn branch_timeline(&self) -> (Timeline, BranchId, u64) {
        let timeline = self.lock_timeline();
        let (branch, epoch) = self.lock_branch_epoch().clone();
        (timeline.clone(), branch, epoch)
    }

    /// Lets the timeline drop old events, which this fetcher reads again.
    pub fn set_fetcher(&self, fetcher: EventFetcher) {
        self.lock_timeline().set_fetcher(fetcher);
    }

    fn lock_timeline(&self) -> MutexGuard<'_, Timeline> {
        self.timeline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current branch.
    pub fn branch(&self) -> BranchId {
        self.lock_branch_epoch().0.clone()
    }

    /// Returns a number that increases with every change of branch; event numbers kept from before belong to another
    /// branch.
    pub fn epoch(&self) -> u64 {
        self.lock_branch_epoch().1
    }

    /// Replaces the branch and returns the timeline of the previous one.
    pub fn swap_branch(&self, timeline: Timeline, branch: BranchId) -> Timeline {
        let previous = {
            let mut current = self.lock_timeline();
            let mut branch_epoch = self.lock_branch_epoch();
            let next = branch_epoch.1 + 1;
            *branch_epoch = (branch, next);
            std::mem::replace(&mut *current, timeline)
        };
        self.notify_readers();
        previous
    }

    /// Sets the initial timeline and its branch.
    pub fn set_timeline(&self, timeline: Timeline, branch: BranchId) {
        let mut current = self.lock_timeline();
        *current = timeline;
        self.lock_branch_epoch().0 = branch;
    }

    fn lock_branch_epoch(&self) -> MutexGuard<'_, (BranchId, u64)> {
        self.branch_epoch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state after the last event.
    pub fn head(&self) -> Arc<State> {
        self.lock_timeline().head().clone()
    }

    /// Returns the state after an event. The store is not locked while the events are folded. If old events can no
    /// longer be read, returns an earlier state and signals the reason.
    pub fn state_at(&self, seq: Seq) -> Arc<State> {
        let state = self.timeline().state_at(seq);
        self.signal_fault();
        state
    }

    /// Returns the state after an event like [`Self::state_at`], and reports how many events have been folded.
    ///
    /// # Errors
    /// Returns the error of `report`.
    pub fn state_at_reporting(&self, seq: Seq, report: &ReportProgress<'_>) -> Result<Arc<State>, String> {
        let state = self.timeline().fold_plan_to(seq).execute_reporting(report);
        self.signal_fault();
        state
    }

    /// Returns what is in progress.
    pub fn live(&self) -> Live {
        self.signal_fault();
        self.lock_live().clone()
    }

    /// Changes what is in progress and notifies the readers.
    pub fn edit_live(&self, edit: impl FnOnce(&mut Live)) {
        edit(&mut self.lock_live());
        self.notify_readers();
    }

    /// Sends a signal to the readers.
    pub fn signal(&self, signal: Signal) {
        const MAX_SIGNALS: usize = 16;
        self.edit_live(|live| {
            let number = live.signals.last().map_or(1, |s| s.0 + 1);
            live.signals.push((number, signal));
            let surplus = live.signals.len().saturating_sub(MAX_SIGNALS);
            live.signals.drain(..surplus);
        });
    }

    /// Appends a batch of events and the state after it.
    pub fn append(&self, batch: impl IntoIterator<Item = Arc<Envelope>>, after: Arc<State>) {
        self.lock_timeline().push(batch, after);
        self.notify_readers();
    }

    /// Signals, once, that events could not be read again.
    fn signal_fault(&self) {
        let fault = self.lock_timeline().take_fetch_error();
        if let Some(why) = fault {
            self.signal(Signal::Notice(why));
        }
    }

    /// Returns a receiver that wakes after changes. Several changes between two polls wake it once.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Holds notifications back while the driver works, so that readers wake once for all consequences of a reply.
    /// Readers that poll meanwhile see every change. Dropping the returned guard notifies them.
    pub(super) fn batch_notifications(&self) -> BatchedNotifications<'_> {
        *self.lock_batched_change() = Some(false);
        BatchedNotifications(self)
    }

    fn notify_readers(&self) {
        match &mut *self.lock_batched_change() {
            Some(has_changed) => *has_changed = true,
            None => self.changes.send_modify(|n| *n = n.wrapping_add(1)),
        }
    }

    fn lock_batched_change(&self) -> MutexGuard<'_, Option<bool>> {
        self.batched_change.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Batches notifications until it is dropped.
pub(super) struct BatchedNotifications<'s>(&'s Store);

impl Drop for BatchedNotifications<'_> {
    fn drop(&mut self) {
        let changed = self.0.lock_batched_change().take();
        if changed == Some(true) {
            self.0.notify_readers();
        }
    }
}

impl Handle {
    /// Creates a handle and the inbox to which it sends.
    pub fn new(store: Arc<Store>) -> (Self, mpsc::UnboundedReceiver<Message>) {
        // Unbounded, because no sender may wait for the driver. What can be many, the pieces of a reply, takes permits;
        // everything else is an answer to a request of the driver, or what a person or a script sends.
        let (inbox, receiver) = mpsc::unbounded_channel();
        (Self { store, inbox }, receiver)
    }

    /// Sends a command. An error arrives as a [`Signal`].
    pub fn send(&self, command: Command) {
        // A driver that has ended ignores commands; the store's health shows that.
        let _ = self.inbox.send(Message::Command(command, None));
    }

    /// Sends a command and waits for its result.
    ///
    /// # Errors
    /// Returns the error of the command, or that the session has ended.
    pub async fn send_and_wait(&self, command: Command) -> Result<Seq, CommandError> {
        let (sender, receiver) = oneshot::channel();
        let ended = || CommandError::new("the session has ended", "resume it with `retrospect resume`");
        self.inbox.send(Message::Command(command, Some(sender))).map_err(|_| ended())?;
        receiver.await.map_err(|_| ended())?
    }

    /// Requests samples of the prompt of a step, and waits until the request is recorded. The samples arrive in the
    /// state.
    ///
    /// # Errors
    /// Returns an error if the step has no prompt that could be sent, or if the session has ended.
    pub async fn sample(&self, order: SampleOrder) -> Result<(), CommandError> {
        let (sender, receiver) = oneshot::channel();
        let ended = || CommandError::new("the session has ended", "resume it with `retrospect resume`");
        self.inbox.send(Message::Sample(order, Some(sender))).map_err(|_| ended())?;
        receiver.await.map_err(|_| ended())?
    }

    /// The same without waiting. An error arrives as a [`Signal`].
    pub fn send_sample(&self, order: SampleOrder) {
        let _ = self.inbox.send(Message::Sample(order, None));
    }

    /// Cancels the samples in progress; those that have arrived are kept.
    pub fn cancel_samples(&self) {
        let _ = self.inbox.send(Message::CancelSamples);
    }

    /// Waits until the environment has handled every request made so far, such as a rebuild after a resume. Returns at
    /// once if none is open.
    pub async fn wait_for_environment(&self) {
        let (sender, receiver) = oneshot::channel();
        if self.inbox.send(Message::EnvironmentIdle(sender)).is_ok() {
            // A dropped sender means that the request or the session has ended: nothing is left to wait for.
            let _ = receiver.await;
        }
    }

    /// Returns the actions that are admissible now; empty if they cannot be listed.
    pub async fn admissible(&self) -> Vec<String> {
        let (sender, receiver) = oneshot::channel();
        if self.inbox.send(Message::Admissible(sender)).is_err() {
            return Vec::new();
        }
        receiver.await.unwrap_or_default()
    }

    /// Returns the actions that were admissible at a past point. They are listed on a separate thread; the run continues
    /// meanwhile. Dropping the future makes room for the next query.
    ///
    /// # Errors
    /// Returns why the environment of that point is not available.
    pub async fn past_admissible(&self, query: PastQuery) -> PastAdmissible {
        let (sender, receiver) = oneshot::channel();
        let no_answer = || "the environment of that point does not answer".to_owned();
        self.inbox.send(Message::PastAdmissible(query, sender)).map_err(|_| no_answer())?;
        receiver.await.map_err(|_| no_answer())?
    }

    /// Returns a hint towards the goal for a person; `None` if the environment has none.
    ///
    /// # Errors
    /// Returns why the environment can't be asked, or what it failed with.
    pub async fn hint(&self) -> PastHint {
        let (sender, receiver) = oneshot::channel();
        let no_answer = || "the environment does not answer".to_owned();
        self.inbox.send(Message::Hint(sender)).map_err(|_| no_answer())?;
        receiver.await.map_err(|_| no_answer())?
    }

    /// Returns the end of what the environment's program has printed besides its answers, for a person; `None` if it is
    /// no program. It doesn't wait for the program.
    pub async fn printed_text(&self) -> Option<String> {
        let (sender, receiver) = oneshot::channel();
        self.inbox.send(Message::PrintedText(sender)).ok()?;
        receiver.await.ok()?
    }

    /// Returns the inbox, for the driver's own tasks.
    pub(super) fn inbox(&self) -> mpsc::UnboundedSender<Message> {
        self.inbox.clone()
    }

    /// Retries the failed write.
    pub fn retry_write(&self) {
        let _ = self.inbox.send(Message::RetryWrite);
    }

    /// Returns whether the driver has ended. It has then closed the session, if possible.
    pub fn has_ended(&self) -> bool {
        self.inbox.is_closed()
    }

    /// Closes the session.
    pub fn quit(&self) {
        let _ = self.inbox.send(Message::Quit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_visible_at_once_and_notified_once_per_batch() {
        let store = Store::default();
        let changes = store.changes();
        let batch = store.batch_notifications();
        for _ in 0..3 {
            store.edit_live(|live| live.health = Health::ReadOnly);
        }
        assert_eq!(store.live().health, Health::ReadOnly);
        assert!(!changes.has_changed().unwrap());
        drop(batch);
        assert_eq!(*changes.borrow(), 1, "notified once");
        drop(store.batch_notifications());
        assert_eq!(*changes.borrow(), 1, "nothing has happened");
        store.edit_live(|_| ());
        assert_eq!(*changes.borrow(), 2, "no longer batched");
    }
}
