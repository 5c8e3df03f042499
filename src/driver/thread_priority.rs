//! Priorities of threads.

/// How much higher its nice value is than the program's.
#[cfg(target_os = "linux")]
const NICE_STEP: i32 = 10;

/// Lets the screen, the streams and the journal go before the current thread, which computes for seconds. Only Linux has
/// priorities of single threads.
pub fn lower_thread_priority() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpid, getpriority_process, setpriority_process};
        // Not added to the thread's own: it begins with that of the thread that starts it, which may be lower already. Without the
        // lower priority the work is only less considerate.
        let of_program = getpriority_process(Some(getpid())).unwrap_or(0);
        let _ = setpriority_process(None, (of_program + NICE_STEP).min(19));
    }
}
