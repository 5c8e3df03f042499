//! Which environments a person looks at before a run. Such a program is slow to start: a run that begins meanwhile waits for it
//! and takes it over, instead of starting another one.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The names of the environments that are being previewed, one for each preview.
static PREVIEWED: Mutex<Vec<String>> = Mutex::new(Vec::new());
static ENDED: Condvar = Condvar::new();

/// A preview in progress, until it is dropped.
pub(super) struct Preview {
    env: String,
}

/// Waits until no preview of the environment is in progress, at most `limit`.
pub(super) fn wait_for(env: &str, limit: Duration) {
    drop(none_of(env, limit));
}

/// Begins a preview, after those of the same environment that are in progress (at most `limit`).
pub(super) fn begin(env: &str, limit: Duration) -> Preview {
    none_of(env, limit).push(env.to_owned());
    Preview { env: env.to_owned() }
}

fn none_of(env: &str, limit: Duration) -> MutexGuard<'static, Vec<String>> {
    let names = PREVIEWED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_previewed = |names: &mut Vec<String>| names.iter().any(|name| name == env);
    ENDED.wait_timeout_while(names, limit, is_previewed).unwrap_or_else(PoisonError::into_inner).0
}

impl Drop for Preview {
    fn drop(&mut self) {
        let mut names = PREVIEWED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = names.iter().position(|name| *name == self.env) {
            names.swap_remove(index);
        }
        ENDED.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// A hung preview made every other environment wait, until its run was given up.
    #[test]
    fn only_the_same_environment_waits_and_not_without_end() {
        let hung = begin("hung", Duration::ZERO);
        let start = Instant::now();
        wait_for("another", Duration::from_secs(60));
        assert!(start.elapsed() < Duration::from_secs(30));
        let (limit, start) = (Duration::from_millis(10), Instant::now());
        wait_for("hung", limit);
        assert!(start.elapsed() >= limit);

        let (sender, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            wait_for("hung", Duration::from_secs(60));
            sender.send(()).unwrap();
        });
        assert!(ended.recv_timeout(Duration::from_millis(50)).is_err(), "it waits for the preview");
        drop(hung);
        ended.recv_timeout(Duration::from_secs(30)).unwrap();
    }
}
