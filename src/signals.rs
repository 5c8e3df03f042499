//! Signals of the operating system that end the program: SIGINT, SIGTERM, SIGHUP and others.
//!
//! While a [`Guard`] exists, such a signal is recorded instead of ending the process. The caller of [`wait_for_signal`]
//! then closes the session and exits normally. If the program does not react, for example because it is blocked on a
//! terminal or a pipe that nobody reads, a watchdog thread closes the session, restores the terminal and ends the
//! process. Before the first guard is created, the system's default action applies; after the last one is dropped, a
//! signal ends the process at once.

#[cfg(unix)]
mod unix;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long the program has to react before the watchdog thread closes its sessions.
const GRACE_PERIOD: Duration = Duration::from_millis(30);
/// How long it has to exit after its sessions were closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
/// How often the watchdog thread checks whether the sessions are closed.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// How long the watchdog thread waits for the terminal to be restored.
const RESTORE_TIMEOUT: Duration = Duration::from_millis(200);

/// A signal that ends the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndSignal(i32);

impl EndSignal {
    /// Ctrl-C.
    pub const INTERRUPT: Self = Self(2);
    /// The terminal was closed.
    pub const HANGUP: Self = Self(1);

    /// Returns the exit status: 130 for a request to end (SIGINT, SIGTERM, SIGHUP), otherwise 128 plus the signal's
    /// number, as a shell reports it.
    pub fn exit_code(self) -> u8 {
        match self.0 {
            1 | 2 | 15 => 130,
            number => u8::try_from(number).map_or(u8::MAX, |n| n.saturating_add(128)),
        }
    }

    /// Returns its name, such as `SIGTERM`.
    pub fn name(self) -> &'static str {
        #[cfg(unix)]
        let name = signal_hook::low_level::signal_name(self.0);
        #[cfg(not(unix))]
        let name = (self == Self::INTERRUPT).then_some("SIGINT");
        name.unwrap_or("a signal")
    }

    /// Returns whether the terminal sends it when a key is pressed, to every process in the foreground.
    fn is_from_key(self) -> bool {
        matches!(self.0, 2 | 3)
    }
}

/// What a guard protects.
enum GuardTarget {
    /// A session that is being opened and can't be closed yet.
    Opening,
    /// No session, so nothing has to be closed.
    NoSession,
    /// An open session.
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
    /// Whether SIGINT is left to the caller of [`wait_for_signal`] and doesn't start the watchdog thread.
    caller_handles_interrupt: bool,
    /// Whether the watchdog thread is running.
    watchdog_started: bool,
    /// Whether another program, such as an editor, uses the terminal. Its Ctrl-C is not meant for this program.
    is_terminal_lent: bool,
}

struct SignalHub {
    state: Mutex<SignalState>,
    /// Number of signals delivered, which wakes [`wait_for_signal`].
    signal_count: watch::Sender<u64>,
}

static HUB: LazyLock<SignalHub> =
    LazyLock::new(|| SignalHub { state: Mutex::default(), signal_count: watch::Sender::new(0) });
/// Restores the terminal without blocking; set by the screen.
static RESTORER: OnceLock<fn()> = OnceLock::new();
/// When the current write to a terminal or pipe began, in milliseconds since [`START`]; 0 if there is none.
static WRITE_STARTED: AtomicU64 = AtomicU64::new(0);
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Keeps signals from ending the process before a session is closed.
#[must_use = "without a guard, a signal ends the process at once"]
pub struct Guard(u64);

impl Guard {
    /// Guards the opening of a session; call [`Self::set_session`] when it is open.
    ///
    /// # Errors
    /// Returns an error if the signal handlers or their thread cannot be installed.
    pub fn opening() -> io::Result<Self> {
        Self::new(GuardTarget::Opening)
    }

    /// Guards something that needs no closing, such as a screen without a session.
    ///
    /// # Errors
    /// The same as [`Self::opening`].
    pub fn without_session() -> io::Result<Self> {
        Self::new(GuardTarget::NoSession)
    }

    /// Registers the open session: `close` asks it to close, `is_closed` returns whether it is closed.
    pub fn set_session(
        &self,
        close: impl Fn() + Send + 'static,
        is_closed: impl Fn() -> bool + Send + 'static,
    ) {
        let mut state = HUB.lock();
        if let Some(guard) = state.guards.iter_mut().find(|g| g.0 == self.0) {
            let (close, is_closed) = (Box::new(close), Box::new(is_closed));
            guard.1 = GuardTarget::Session(GuardedSession { close, is_closed, close_requested: false });
        }
    }

    fn new(target: GuardTarget) -> io::Result<Self> {
        install()?;
        let mut state = HUB.lock();
        state.last_guard += 1;
        let id = state.last_guard;
        state.guards.push((id, target));
        Ok(Self(id))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        HUB.lock().guards.retain(|g| g.0 != self.0);
    }
}

impl SignalHub {
    fn lock(&self) -> MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a signal and starts the watchdog thread, unless the signal is SIGINT and the caller handles it.
    fn deliver(&self, signal: EndSignal) {
        let mut state = self.lock();
        if state.is_terminal_lent && signal.is_from_key() {
            return;
        }
        if state.guards.is_empty() && state.received.is_none() {
            std::process::exit(i32::from(signal.exit_code()));
        }
        state.received = Some(signal);
        let is_handled_by_caller = state.caller_handles_interrupt && signal == EndSignal::INTERRUPT;
        let start_watchdog = !is_handled_by_caller && !state.watchdog_started;
        state.watchdog_started |= start_watchdog;
        drop(state);
        self.signal_count.send_modify(|n| *n = n.wrapping_add(1));
        if start_watchdog {
            // A failed spawn is ignored: this thread must keep receiving signals, and the program can still exit
            // itself.
            let _ =
                std::thread::Builder::new().name("watchdog".to_owned()).spawn(move || HUB.force_exit(signal));
        }
    }

    /// Gives the program time to exit, then closes its sessions and ends the process.
    fn force_exit(&self, signal: EndSignal) -> ! {
        let started = Instant::now();
        let mut closed_at = None;
        loop {
            std::thread::sleep(POLL_INTERVAL);
            if started.elapsed() < GRACE_PERIOD {
                continue;
            }
            if closed_at.is_none() && self.close_all() {
                closed_at = Some(Instant::now());
            }
            // A write that has been blocked since before the signal will not complete.
            let is_blocked = write_duration().is_some_and(|duration| duration >= GRACE_PERIOD);
            if closed_at.is_some_and(|time: Instant| is_blocked || time.elapsed() >= EXIT_TIMEOUT) {
                restore_terminal();
                std::process::exit(i32::from(signal.exit_code()));
            }
        }
    }

    /// Asks every session to close. Returns whether all are closed.
    fn close_all(&self) -> bool {
        let mut state = self.lock();
        let mut all_closed = true;
        for (_, target) in &mut state.guards {
            all_closed &= match target {
                GuardTarget::NoSession => true,
                GuardTarget::Opening => false,
                GuardTarget::Session(session) => {
                    if !std::mem::replace(&mut session.close_requested, true) {
                        (session.close)();
                    }
                    (session.is_closed)()
                }
            };
        }
        all_closed
    }
}

/// Returns the received signal that has not been acknowledged yet, if any.
pub fn pending_signal() -> Option<EndSignal> {
    HUB.lock().received
}

/// Waits for a signal that ends the program. Returns at once if one was received before.
pub async fn wait_for_signal() -> EndSignal {
    let mut changes = HUB.signal_count.subscribe();
    loop {
        if let Some(signal) = pending_signal() {
            return signal;
        }
        // The sender is never dropped.
        if changes.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Sets whether SIGINT only wakes [`wait_for_signal`] and doesn't start the watchdog thread. The caller clears the
/// signal with [`acknowledge`].
pub fn set_interrupt_handled_by_caller(wakes_only: bool) {
    HUB.lock().caller_handles_interrupt = wakes_only;
}

/// Clears the received signal.
pub fn acknowledge() {
    HUB.lock().received = None;
}

/// Runs a function during which another program uses the terminal, and ignores Ctrl-C and Ctrl-\ meanwhile.
pub fn lend_terminal<T>(run: impl FnOnce() -> T) -> T {
    HUB.lock().is_terminal_lent = true;
    let result = run();
    HUB.lock().is_terminal_lent = false;
    result
}

/// Sets the function that restores the terminal if the program can't exit normally. The function must not wait for a
/// lock that is held during a write.
pub fn set_terminal_restorer(restorer: fn()) {
    // Later calls are ignored: there is only one terminal.
    let _ = RESTORER.set(restorer);
}

/// Treats the loss of the terminal at standard input as SIGHUP. Needed where SIGHUP doesn't arrive or is ignored: if
/// the process belongs to another session than the terminal's (the system sends it none), or was started with `nohup`.
pub fn watch_terminal() {
    #[cfg(unix)]
    {
        static WATCHED: std::sync::Once = std::sync::Once::new();
        WATCHED.call_once(unix::watch_terminal);
    }
}

/// Runs a write to a terminal or pipe. If a signal arrives while the write is blocked, the program ends without waiting
/// for it.
pub fn blocking_write<T>(write: impl FnOnce() -> T) -> T {
    let outer_start = WRITE_STARTED.swap(millis_since_start(), Ordering::SeqCst);
    let result = write();
    // After a nested write, restart the outer write's timer: it has made progress, so it wasn't blocked.
    let start = if outer_start == 0 { 0 } else { millis_since_start() };
    WRITE_STARTED.store(start, Ordering::SeqCst);
    result
}

/// Returns the milliseconds since the first call, plus 1: never 0.
fn millis_since_start() -> u64 {
    START.elapsed().as_millis() as u64 + 1
}

/// Returns how long the current write has taken, if there is one.
fn write_duration() -> Option<Duration> {
    match WRITE_STARTED.load(Ordering::SeqCst) {
        0 => None,
        start => Some(Duration::from_millis(millis_since_start().saturating_sub(start))),
    }
}

/// Restores the terminal on a separate thread, because a blocked terminal must not keep the program from ending.
fn restore_terminal() {
    let Some(restorer) = RESTORER.get() else { return };
    // Unbounded: it carries one message.
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new().name("restore".to_owned()).spawn(move || {
        restorer();
        // Fails if restoring took too long and nobody is waiting any more.
        let _ = sender.send(());
    });
    if thread.is_ok() {
        let _ = receiver.recv_timeout(RESTORE_TIMEOUT);
    }
}

/// Installs the signal handlers, once.
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
