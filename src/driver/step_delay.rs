//! The pace of a run whose actor answers at once.

use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// How long such an actor waits before each step of a run, so that a person can follow. It can change while it waits.
#[derive(Debug, Default)]
pub(super) struct StepDelay(watch::Sender<Duration>);

impl StepDelay {
    /// Sets the delay; zero for none.
    pub(super) fn set(&self, delay: Duration) {
        self.0.send_replace(delay);
    }

    /// Returns a future that ends once the delay, as it is then, has passed since this call.
    pub(super) fn wait(&self) -> impl Future<Output = ()> + Send + 'static {
        let (began, mut delay) = (Instant::now(), self.0.subscribe());
        async move {
            loop {
                let end = began + *delay.borrow_and_update();
                tokio::select! {
                    () = sleep_until(end) => return,
                    changed = delay.changed() => {
                        if changed.is_err() {
                            return;
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_shorter_delay_counts_at_once() {
        let delay = StepDelay::default();
        delay.set(Duration::from_secs(3600));
        let mut wait = Box::pin(delay.wait());
        tokio::select! {
            biased;
            () = &mut wait => unreachable!("an hour hasn't passed"),
            () = std::future::ready(()) => {}
        }
        delay.set(Duration::ZERO);
        wait.await;
    }
}
