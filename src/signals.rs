//! Signals of the operating system that end the program: SIGINT, SIGTERM, SIGHUP and their like.
//!
//! While a [`Guard`] lives, such a signal is recorded instead of ending the process. Whoever waits for [`wait_for_signal`] then closes the
//! session and leaves in order. A thread of its own makes sure of that: what does not react (because it waits for a terminal or
//! a pipe that nobody reads, say) has its session closed and its terminal restored all the same, and the process ends. Before
//! the first guard the system's own action holds; after the last one a signal ends the process at once.

#[cfg(unix)]
mod unix;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long the program has to react before its sessions are closed for it.
const GRACE_PERIOD: Duration = Duration::from_millis(30);
/// How long it has after its sessions were closed, for its last words.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
/// How often it is looked whether it has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// How long restoring the terminal may take when the program does not do it itself.
const RESTORE_TIMEOUT: Duration = Duration::from_millis(200);

/// A signal that ends the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndSignal(i32);

impl EndSignal {
    /// Ctrl-C.
    pub const INTERRUPT: Self = Self(2);
    /// The terminal has gone.
    pub const HANGUP: Self = Self(1);

    /// The exit status: 130 where the program was asked to end (SIGINT, SIGTERM, SIGHUP), else 128 and the signal's number, as
    /// a shell reports the signal's own action.
    pub fn exit_code(self) -> u8 {
        match self.0 {
            1 | 2 | 15 => 130,
            number => u8::try_from(number).map_or(u8::MAX, |n| n.saturating_add(128)),
        }
    }

    /// Its name, such as `SIGTERM`.
    pub fn name(self) -> &'static str {
        #[cfg(unix)]
        let name = signal_hook::low_level::signal_name(self.0);
        #[cfg(not(unix))]
        let name = (self == Self::INTERRUPT).then_some("SIGINT");
        name.unwrap_or("a signal")
    }

    /// The terminal sends it for a key, to every program that runs in it.
    fn is_from_key(self) -> bool {
        matches!(self.0, 2 | 3)
    }
}

/// What a guard protects.
enum GuardTarget {
    /// A session that is being opened: nobody can close it yet.
    Opening,
    /// Nothing that would have to be closed.
    Nothing,
    /// An open session: how it is closed, and whether it is.
    Session(GuardedSession),
}

struct GuardedSession {
    close: Box<dyn Fn() + Send>,
    is_closed: Box<dyn Fn() -> bool + Send>,
    close_requested: bool,
}

#[derive(Default)]
struct SignalState {
    received: Option<EndSignal>,
    guards: Vec<(u64, GuardTarget)>,
    last_guard: u64,
    /// SIGINT is a command to whoever waits for it, and ends nothing by itself.
    interrupt_is_command: bool,
    /// Somebody sees to it that the program ends.
    ending: bool,
    /// Another program has the terminal, and its keys are not meant for this one.
    terminal_lent: bool,
}

struct Hub {
    state: Mutex<SignalState>,
    received: watch::Sender<u64>,
}

static HUB: LazyLock<Hub> =
    LazyLock::new(|| Hub { state: Mutex::default(), received: watch::Sender::new(0) });
/// Restores the terminal without waiting for anybody; set by the screen.
static RESTORER: OnceLock<fn()> = OnceLock::new();
/// When the write under way to a terminal or pipe began, in milliseconds since [`START`]; 0: there is none.
static WRITE_STARTED: AtomicU64 = AtomicU64::new(0);
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Keeps signals from ending the process before a session is closed.
#[must_use = "signals end the process at once when no guard lives"]
pub struct Guard(u64);

impl Guard {
    /// Guards the opening of a session: [`Self::set_session`] says when it is open.
    ///
    /// # Errors
    /// When the system refuses the handlers or their thread.
    pub fn opening() -> io::Result<Self> {
        Self::new(GuardTarget::Opening)
    }

    /// Guards something that needs no closing, such as a screen without a session.
    ///
    /// # Errors
    /// As [`Self::opening`].
    pub fn without_session() -> io::Result<Self> {
        Self::new(GuardTarget::Nothing)
    }

    /// The session is open: how to close it, and whether that is done.
    pub fn set_session(&self, close: impl Fn() + Send + 'static, closed: impl Fn() -> bool + Send + 'static) {
        let mut state = HUB.lock();
        if let Some(guard) = state.guards.iter_mut().find(|g| g.0 == self.0) {
            let (close, closed) = (Box::new(close), Box::new(closed));
            guard.1 =
                GuardTarget::Session(GuardedSession { close, is_closed: closed, close_requested: false });
        }
    }

    fn new(guarded: GuardTarget) -> io::Result<Self> {
        install()?;
        let mut state = HUB.lock();
        state.last_guard += 1;
        let id = state.last_guard;
        state.guards.push((id, guarded));
        Ok(Self(id))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        HUB.lock().guards.retain(|g| g.0 != self.0);
    }
}

impl Hub {
    fn lock(&self) -> MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a signal and sees to it that the program ends.
    fn deliver(&self, signal: EndSignal) {
        let mut state = self.lock();
        if state.terminal_lent && signal.is_from_key() {
            return;
        }
        if state.guards.is_empty() && state.received.is_none() {
            std::process::exit(i32::from(signal.exit_code()));
        }
        state.received = Some(signal);
        let command = state.interrupt_is_command && signal == EndSignal::INTERRUPT;
        let ends = !command && !state.ending;
        state.ending |= ends;
        drop(state);
        self.received.send_modify(|n| *n = n.wrapping_add(1));
        if ends {
            // The handlers' thread is still needed. Without another one it is up to the program alone.
            let _ =
                std::thread::Builder::new().name("ending".to_owned()).spawn(move || HUB.force_exit(signal));
        }
    }

    /// Waits for the program to end; ends it where it does not.
    fn force_exit(&self, signal: EndSignal) -> ! {
        let asked = Instant::now();
        let mut closed = None;
        loop {
            std::thread::sleep(POLL_INTERVAL);
            if asked.elapsed() < GRACE_PERIOD {
                continue;
            }
            if closed.is_none() && self.close_all() {
                closed = Some(Instant::now());
            }
            // Whoever was stuck in a write when the signal came still is.
            let stuck = write_duration().is_some_and(|since| since >= GRACE_PERIOD);
            if closed.is_some_and(|since: Instant| stuck || since.elapsed() >= EXIT_TIMEOUT) {
                restore_terminal();
                std::process::exit(i32::from(signal.exit_code()));
            }
        }
    }

    /// Asks every session to close; whether all are closed.
    fn close_all(&self) -> bool {
        let mut state = self.lock();
        let mut all = true;
        for (_, guarded) in &mut state.guards {
            all &= match guarded {
                GuardTarget::Nothing => true,
                GuardTarget::Opening => false,
                GuardTarget::Session(session) => {
                    if !std::mem::replace(&mut session.close_requested, true) {
                        (session.close)();
                    }
                    (session.is_closed)()
                }
            };
        }
        all
    }
}

/// The signal that was received and not yet acted upon, if any.
pub fn pending_signal() -> Option<EndSignal> {
    HUB.lock().received
}

/// Waits for a signal that ends the program; returns at once when one was received before.
pub async fn wait_for_signal() -> EndSignal {
    let mut news = HUB.received.subscribe();
    loop {
        if let Some(signal) = pending_signal() {
            return signal;
        }
        // The sender is never dropped.
        if news.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// From now on SIGINT only wakes [`wait_for_signal`], which [`acknowledge`] makes ready for another one.
pub fn set_interrupt_is_command(yes: bool) {
    HUB.lock().interrupt_is_command = yes;
}

/// Forgets the signal that was received.
pub fn acknowledge() {
    HUB.lock().received = None;
}

/// Runs something while another program has the terminal: its Ctrl-C and Ctrl-\ are not meant for this one.
pub fn lend_terminal<T>(run: impl FnOnce() -> T) -> T {
    HUB.lock().terminal_lent = true;
    let done = run();
    HUB.lock().terminal_lent = false;
    done
}

/// What restores the terminal when the program cannot do it in order. It must not wait for a lock that a write could hold.
pub fn set_terminal_restorer(restorer: fn()) {
    // Set once: there is one terminal.
    let _ = RESTORER.set(restorer);
}

/// Counts it as SIGHUP when the terminal of standard input goes away. The signal itself comes only to the session that the
/// terminal belongs to, and not at all under `nohup`; nobody can use a screen then either.
pub fn watch_terminal() {
    #[cfg(unix)]
    {
        static WATCHED: std::sync::Once = std::sync::Once::new();
        WATCHED.call_once(unix::watch_terminal);
    }
}

/// Writes to a terminal or pipe, which may take for ever: a signal does not wait for it.
pub fn blocking_write<T>(write: impl FnOnce() -> T) -> T {
    let outer = WRITE_STARTED.swap(millis_since_start(), Ordering::SeqCst);
    let done = write();
    WRITE_STARTED.store(if outer == 0 { 0 } else { millis_since_start() }, Ordering::SeqCst);
    done
}

/// Milliseconds since the first look, never 0.
fn millis_since_start() -> u64 {
    START.elapsed().as_millis() as u64 + 1
}

/// How long the write under way has taken.
fn write_duration() -> Option<Duration> {
    match WRITE_STARTED.load(Ordering::SeqCst) {
        0 => None,
        since => Some(Duration::from_millis(millis_since_start().saturating_sub(since))),
    }
}

/// Restores the terminal on a thread of its own: a terminal that takes nothing must not keep the program from ending.
fn restore_terminal() {
    let Some(restorer) = RESTORER.get() else { return };
    let (done, restored) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new().name("restore".to_owned()).spawn(move || {
        restorer();
        // Nobody waits any more when it took too long.
        let _ = done.send(());
    });
    if thread.is_ok() {
        let _ = restored.recv_timeout(RESTORE_TIMEOUT);
    }
}

/// Takes the signals over, once.
fn install() -> io::Result<()> {
    static INSTALLED: Mutex<bool> = Mutex::new(false);
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*installed {
        #[cfg(unix)]
        unix::install()?;
        #[cfg(not(unix))]
        install_ctrl_c()?;
        *installed = true;
    }
    Ok(())
}

#[cfg(not(unix))]
fn install_ctrl_c() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        while runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            HUB.deliver(EndSignal::INTERRUPT);
        }
    })?;
    Ok(())
}
