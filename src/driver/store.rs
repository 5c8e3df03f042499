//! What the driver shares with everybody who only looks: an append-only store, what is being written just now, and a
//! way to send wishes. A slow reader never blocks the driver.

use super::{Fork, Halt, PastAdmissible, PastQuery};
use crate::domain::{BranchId, CallId, ModelRole, PartialReply, Seq, Usage};
use crate::engine::{Command, CommandError, Envelope, State};
use crate::provider::Phase;
use crate::timeline::{EventFetcher, Timeline};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};

/// A call to a model while its answer comes in. Never part of the state.
#[derive(Clone, Debug)]
pub struct LiveCall {
    /// The call.
    pub call: CallId,
    /// Which role was asked.
    pub role: ModelRole,
    /// What the model is doing.
    pub phase: Phase,
    /// Reasoning so far.
    pub reasoning: String,
    /// The answer so far.
    pub text: String,
    /// Pieces received so far, a stand-in for tokens until the usage comes.
    pub pieces: u64,
    /// When it was asked.
    pub started: Instant,
    /// When its last word came, or the work came to another stage.
    pub last_progress: Instant,
    /// Signs of life came after that: the server is there and says nothing.
    pub only_keep_alives: bool,
    /// What it costs, once somebody has counted.
    pub usage: Option<Usage>,
}

impl LiveCall {
    /// A pause longer than this is told to a person.
    pub const LONG_SILENCE: Duration = Duration::from_secs(15);

    /// What of the answer can be read by now.
    pub fn partial_reply(&self) -> PartialReply {
        PartialReply { text: self.text.clone(), reasoning: self.reasoning.clone(), usage: None }
    }

    /// The seconds of silence up to this moment; none where it is short.
    pub fn silent_seconds(&self, now: Instant) -> Option<u64> {
        let quiet = now.saturating_duration_since(self.last_progress);
        (quiet >= Self::LONG_SILENCE).then_some(quiet.as_secs())
    }

    /// What is said of that.
    pub fn silence_message(&self, now: Instant) -> Option<String> {
        self.silent_seconds(now).map(|seconds| match (self.only_keep_alives, self.pieces) {
            (true, 0) => format!("the server is alive but has written nothing for {seconds} s"),
            (true, _) => format!("the server is alive but has written nothing more for {seconds} s"),
            (false, _) => format!("nothing has come from the server for {seconds} s"),
        })
    }
}

/// How the driver is; outside the state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// All is well.
    #[default]
    Running,
    /// A write failed, or another program changed the journal; nothing is applied until the write succeeds.
    Halted(Halt),
    /// The driver has ended.
    Ended,
    /// There is no driver: the session is only looked at.
    ReadOnly,
}

/// Something worth a line on the screen that is not an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A wish was not granted.
    CommandFailed(CommandError),
    /// A sentence to show.
    Notice(String),
}

/// What is going on just now.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Calls to models under way.
    pub calls: Vec<LiveCall>,
    /// The driver's health.
    pub health: Health,
    /// Signals with their running number, the newest last; only the last few are kept.
    pub signals: Vec<(u64, Signal)>,
}

/// The shared store.
pub struct Store {
    timeline: Mutex<Timeline>,
    /// The branch that the timeline is of, and how often it was another one.
    branch_epoch: Mutex<(BranchId, u64)>,
    live: Mutex<Live>,
    changes: watch::Sender<u64>,
    /// The news are held back, and whether there are any.
    batched_change: Mutex<Option<bool>>,
}

/// What the driver's inbox takes from outside.
pub enum Message {
    /// A wish, and who wants to know how it went.
    Command(Command, Option<oneshot::Sender<Result<Seq, CommandError>>>),
    /// The actions the world would accept now.
    Admissible(oneshot::Sender<Vec<String>>),
    /// The actions that the world would have accepted where this state stands.
    PastAdmissible(PastQuery, oneshot::Sender<PastAdmissible>),
    /// Look for a way to the goal.
    Hint(oneshot::Sender<Option<String>>),
    /// Try the failed write again.
    RetryWrite,
    /// Close the session and end.
    Quit,
    /// Go on from the past of a branch as a new one.
    Fork(Fork, Option<oneshot::Sender<Result<BranchId, CommandError>>>),
    /// Go on with another branch of the session.
    Switch(BranchId, Option<oneshot::Sender<Result<(), CommandError>>>),
    /// An answer from the outside to a call of the line with this number; only the driver's own runners send it.
    Reply(u64, crate::engine::Reply),
    /// A world was brought back; only the driver sends it to itself.
    Rebuilt(super::env_worker::RebuildResult),
    /// What a world's thread says; only the driver's own host sends it.
    EnvResponse(super::env_worker::EnvResponse),
    /// A world has not obeyed its order in time, by the clock with this number; only the driver's own clock sends it.
    TimedOut(u64),
    /// An answer that was asked for ahead, by its number, is whole; on the line with this number. Only the driver's own tasks
    /// send it.
    PrefetchDone(u64, u64, Result<Usage, Usage>),
    /// A piece of an answer under way on the line with this number; its permit is given back when it was taken.
    Delta(u64, CallId, crate::provider::Delta, Option<OwnedSemaphorePermit>),
}

/// The way to a running session: look at the store, send wishes.
#[derive(Clone)]
pub struct Handle {
    /// What can be looked at.
    pub store: Arc<Store>,
    inbox: mpsc::UnboundedSender<Message>,
}

impl Live {
    /// The calls whose model is silent for long by now: since how many seconds, and in words.
    pub fn list_silences(&self) -> Vec<(CallId, u64, String)> {
        let now = Instant::now();
        let of = |c: &LiveCall| Some((c.call, c.silent_seconds(now)?, c.silence_message(now)?));
        self.calls.iter().filter_map(of).collect()
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
        }
    }
}

impl Store {
    /// Returns the timeline as it is now. The caller owns it: reading old events from it, which may take long, holds no
    /// lock that the driver needs.
    pub fn timeline(&self) -> Timeline {
        self.lock_timeline().clone()
    }

    /// Returns the timeline together with its branch and epoch, all of one moment.
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

    /// The branch that is looked at.
    pub fn branch(&self) -> BranchId {
        self.lock_branch_epoch().0.clone()
    }

    /// Goes up whenever another branch is looked at: numbers of events that were kept are of another line then.
    pub fn epoch(&self) -> u64 {
        self.lock_branch_epoch().1
    }

    /// Puts another branch in the place of the one that was looked at, and gives that one back.
    pub fn swap_branch(&self, timeline: Timeline, branch: BranchId) -> Timeline {
        let left = {
            let mut here = self.lock_timeline();
            let mut line = self.lock_branch_epoch();
            let next = line.1 + 1;
            *line = (branch, next);
            std::mem::replace(&mut *here, timeline)
        };
        self.notify_readers();
        left
    }

    /// Says which branch the timeline is of from the beginning.
    pub fn set_timeline(&self, timeline: Timeline, branch: BranchId) {
        let mut here = self.lock_timeline();
        *here = timeline;
        self.lock_branch_epoch().0 = branch;
    }

    fn lock_branch_epoch(&self) -> MutexGuard<'_, (BranchId, u64)> {
        self.branch_epoch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state after the last event.
    pub fn head(&self) -> Arc<State> {
        self.lock_timeline().head().clone()
    }

    /// The state after an event. The store is not held while it is folded. Where old events cannot be read any more it
    /// is an earlier state, and a signal says why.
    pub fn state_at(&self, seq: Seq) -> Arc<State> {
        let way = self.lock_timeline().fold_plan_to(seq);
        let state = way.execute();
        self.signal_fault();
        state
    }

    /// What is going on just now.
    pub fn live(&self) -> Live {
        self.signal_fault();
        self.lock_live().clone()
    }

    /// Changes what is going on just now and tells the readers.
    pub fn edit_live(&self, edit: impl FnOnce(&mut Live)) {
        edit(&mut self.lock_live());
        self.notify_readers();
    }

    /// Says something to the readers.
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

    /// Events that could not be read again are said once.
    fn signal_fault(&self) {
        let fault = self.lock_timeline().take_fetch_error();
        if let Some(why) = fault {
            self.signal(Signal::Notice(why));
        }
    }

    /// Wakes a reader after every change; several changes between two looks wake it once.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Holds the news back while the driver is at work, so that a reader is woken once for what comes of one answer. Readers
    /// who look meanwhile see everything. They are told when what is given back is dropped.
    pub(super) fn batch_notifications(&self) -> BatchedNotifications<'_> {
        *self.lock_batched_change() = Some(false);
        BatchedNotifications(self)
    }

    fn notify_readers(&self) {
        match &mut *self.lock_batched_change() {
            Some(any) => *any = true,
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

/// News that are held back.
pub(super) struct BatchedNotifications<'s>(&'s Store);

impl Drop for BatchedNotifications<'_> {
    fn drop(&mut self) {
        let held = self.0.lock_batched_change().take();
        if held == Some(true) {
            self.0.notify_readers();
        }
    }
}

impl Handle {
    /// A handle and the inbox it speaks to.
    pub fn new(store: Arc<Store>) -> (Self, mpsc::UnboundedReceiver<Message>) {
        let (inbox, receiver) = mpsc::unbounded_channel();
        (Self { store, inbox }, receiver)
    }

    /// Sends a wish; a refusal comes back as a [`Signal`].
    pub fn send(&self, command: Command) {
        // A driver that has ended takes no wishes; the store's health says so.
        let _ = self.inbox.send(Message::Command(command, None));
    }

    /// Sends a wish and waits for how it went.
    ///
    /// # Errors
    /// The refusal in words; also when the session has ended.
    pub async fn send_and_wait(&self, command: Command) -> Result<Seq, CommandError> {
        let (tell, told) = oneshot::channel();
        let ended =
            || CommandError::new("the session has ended", "take it up again with `retrospect resume`");
        self.inbox.send(Message::Command(command, Some(tell))).map_err(|_| ended())?;
        told.await.map_err(|_| ended())?
    }

    /// The actions the world would accept now; empty where they cannot be listed.
    pub async fn admissible(&self) -> Vec<String> {
        let (tell, told) = oneshot::channel();
        if self.inbox.send(Message::Admissible(tell)).is_err() {
            return Vec::new();
        }
        told.await.unwrap_or_default()
    }

    /// The actions the world would have accepted at a moment of the past, whose state `then` brings on a thread of
    /// its own. The run goes on meanwhile.
    ///
    /// # Errors
    /// In words, where the world of then cannot be had.
    pub async fn past_admissible(
        &self,
        then: impl FnOnce() -> Arc<State> + Send + 'static,
    ) -> PastAdmissible {
        let (tell, told) = oneshot::channel();
        let gone = || "the world of then cannot be asked".to_owned();
        self.inbox.send(Message::PastAdmissible(Box::new(then), tell)).map_err(|_| gone())?;
        told.await.map_err(|_| gone())?
    }

    /// What a person who asks is told of the way to the goal; none where this world knows no way to look for one.
    pub async fn hint(&self) -> Option<String> {
        let (tell, told) = oneshot::channel();
        self.inbox.send(Message::Hint(tell)).ok()?;
        told.await.ok()?
    }

    /// The inbox itself, for the driver's runners.
    pub(super) fn inbox(&self) -> mpsc::UnboundedSender<Message> {
        self.inbox.clone()
    }

    /// Asks for the failed write to be tried again.
    pub fn retry_write(&self) {
        let _ = self.inbox.send(Message::RetryWrite);
    }

    /// The driver has ended, and closed the session if it could.
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
    fn readers_see_at_once_and_are_told_once_when_the_driver_rests() {
        let store = Store::default();
        let news = store.changes();
        let held = store.batch_notifications();
        for _ in 0..3 {
            store.edit_live(|live| live.health = Health::ReadOnly);
        }
        assert_eq!(store.live().health, Health::ReadOnly);
        assert!(!news.has_changed().unwrap());
        drop(held);
        assert_eq!(*news.borrow(), 1, "told once");
        drop(store.batch_notifications());
        assert_eq!(*news.borrow(), 1, "nothing has happened");
        store.edit_live(|_| ());
        assert_eq!(*news.borrow(), 2, "nothing is held any more");
    }
}
