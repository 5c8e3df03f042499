//! Priorities of threads.

/// Lets the screen, the streams and the journal go before the current thread, which computes for seconds. Only Linux has
/// priorities of single threads.
pub fn lower_thread_priority() {
    #[cfg(target_os = "linux")]
    // Without the lower priority the work is only less considerate.
    let _ = rustix::process::nice(10);
}
