//! Signal handlers, installed with `signal-hook`. A handler only wakes a thread, which handles the signal.

use super::{EndSignal, HUB, restore_terminal};
use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTRAP, SIGUSR1, SIGUSR2,
    SIGVTALRM, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;
use std::io::{self, PipeReader, Read, Write};

/// Signals that end the process by default and that can be handled. Signals caused by a faulting instruction (SIGSEGV,
/// SIGBUS, SIGILL, SIGFPE) are excluded, because returning from the handler would execute the instruction again.
const TERMINATING_SIGNALS: &[i32] = &[
    SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,
    SIGSYS, SIGTRAP,
];

/// Returns the terminating signals that exist only on some systems.
fn platform_signals() -> impl Iterator<Item = i32> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::Signal;
        // The real-time signals; the C library reserves the first two or three.
        const REAL_TIME: std::ops::RangeInclusive<i32> = 34..=64;
        [Signal::POWER.as_raw(), Signal::STKFLT.as_raw()].into_iter().chain(REAL_TIME)
    }
    #[cfg(not(target_os = "linux"))]
    std::iter::empty()
}

pub(super) fn install() -> io::Result<()> {
    let ignored = ignored_signals();
    let handled = TERMINATING_SIGNALS
        .iter()
        .filter(|signal| **signal == SIGABRT || (ignored >> (**signal - 1)) & 1 == 0);
    let mut signals = Signals::new(handled)?;
    for signal in platform_signals().filter(|signal| (ignored >> (signal - 1)) & 1 == 0) {
        // Fails for signals that the system reserves, which are never delivered.
        let _ = signals.add_signal(signal);
    }
    // With a handler for SIGXFSZ, exceeding the file size limit makes the write fail, and the journal handles that.
    signals.add_signal(SIGXFSZ)?;
    let mut abort_pipe = delay_abort()?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            if signal == SIGXFSZ {
                continue;
            }
            if signal == SIGABRT {
                restore_terminal();
                // Frees space in the pipe, so that the handler's write completes and the handler returns.
                let _ = abort_pipe.read(&mut vec![0; 1 << 16]);
            }
            HUB.deliver(EndSignal(signal));
        }
    })?;
    Ok(())
}

/// Makes the handler of SIGABRT wait until the terminal is restored, because `abort()` ends the process as soon as
/// the handler returns. The handler writes to a pipe that is full until the thread reads from it.
fn delay_abort() -> io::Result<PipeReader> {
    let (reader, writer) = io::pipe()?;
    let mut filler = writer.try_clone()?;
    // This handler runs after the one that wakes the thread. `register` makes the pipe non-blocking, so that the loop
    // below ends when the pipe is full; then the pipe is made blocking again.
    signal_hook::low_level::pipe::register(SIGABRT, writer)?;
    while filler.write(&[0; 4096]).is_ok() {}
    rustix::fs::fcntl_setfl(&filler, rustix::fs::OFlags::empty())?;
    Ok(reader)
}

/// Starts a thread that waits until the terminal is gone.
pub(super) fn watch_terminal() {
    use rustix::event::{PollFd, PollFlags, poll};
    // If the thread can't be started, the next failed write reveals that the terminal is gone.
    let _ = std::thread::Builder::new().name("terminal".to_owned()).spawn(|| {
        let input = io::stdin();
        loop {
            // No events are requested, because `poll` always reports a hang-up.
            let mut watched = [PollFd::new(&input, PollFlags::empty())];
            match poll(&mut watched, None) {
                Err(rustix::io::Errno::INTR) => continue,
                Ok(_) if watched[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
                    HUB.deliver(EndSignal::HANGUP);
                }
                _ => {}
            }
            return;
        }
    });
}

/// Returns a bit mask of the signals that were already ignored when this process started, as with `nohup`.
fn ignored_signals() -> u64 {
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
    #[cfg(not(target_os = "linux"))]
    0
}
