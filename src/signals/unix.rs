//! Signal handlers, installed with `signal-hook`. They only wake a thread, which does the work.

use super::{EndSignal, HUB, restore_terminal};
use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTRAP, SIGUSR1, SIGUSR2,
    SIGVTALRM, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;
use std::io::{self, PipeReader, Read, Write};

/// Signals whose default action ends the process and that a program can handle. Those for faults of the program
/// itself (SIGSEGV, SIGBUS, SIGILL, SIGFPE) are left out: the faulting instruction would only be executed again.
const TERMINATING_SIGNALS: &[i32] = &[
    SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,
    SIGSYS, SIGTRAP,
];

/// Returns further such signals that only some systems have.
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
    let wanted = TERMINATING_SIGNALS
        .iter()
        .filter(|signal| **signal == SIGABRT || (ignored >> (**signal - 1)) & 1 == 0);
    let mut signals = Signals::new(wanted)?;
    for signal in platform_signals().filter(|signal| (ignored >> (signal - 1)) & 1 == 0) {
        // A signal that the system reserves is never delivered either.
        let _ = signals.add_signal(signal);
    }
    // Exceeding the file size limit then is a failed write, which the journal handles.
    signals.add_signal(SIGXFSZ)?;
    let mut aborting = delay_abort()?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            if signal == SIGXFSZ {
                continue;
            }
            if signal == SIGABRT {
                restore_terminal();
                // Whatever it reads, the pipe has room again and the handler returns.
                let _ = aborting.read(&mut vec![0; 1 << 16]);
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
    // Runs after the handler that wakes the thread. It makes the pipe non-blocking, which allows filling it here.
    signal_hook::low_level::pipe::register(SIGABRT, writer)?;
    while filler.write(&[0; 4096]).is_ok() {}
    rustix::fs::fcntl_setfl(&filler, rustix::fs::OFlags::empty())?;
    Ok(reader)
}

/// Starts a thread that waits until the terminal is gone.
pub(super) fn watch_terminal() {
    use rustix::event::{PollFd, PollFlags, poll};
    // Without the thread a failed write reports it.
    let _ = std::thread::Builder::new().name("terminal".to_owned()).spawn(|| {
        let input = io::stdin();
        loop {
            // Waits for no input: a hang-up is always reported.
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

/// Returns a bit mask of the signals that this process was started to ignore, as with `nohup`.
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
