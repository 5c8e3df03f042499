//! What jobs share, such as a model that takes minutes to load.

use super::JobProgress;
use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The time after which a job that waits for another one's opening looks again whether it was cancelled: nobody notifies it.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Services by name: each is opened by the first job that asks for it, and kept until this is dropped.
#[derive(Default)]
pub struct JobServices {
    slots: Mutex<HashMap<String, Slot>>,
    /// Notified when a slot changes.
    changed: Condvar,
}

/// A service that is being opened, or is open.
enum Slot {
    Opening,
    Open(Arc<dyn Any + Send + Sync>),
}

impl JobServices {
    /// Returns the service of this name; opens it if no job has.
    ///
    /// # Errors
    /// Returns a message if opening fails, if the job of `progress` is cancelled while another job is opening the service,
    /// or if the service has another type.
    pub(super) fn get_or_open<T: Send + Sync + 'static>(
        &self,
        name: &str,
        progress: &JobProgress,
        open: impl FnOnce() -> Result<T, String>,
    ) -> Result<Arc<T>, String> {
        if let Some(service) = self.wait_for_open(name, progress)? {
            return service
                .downcast()
                .map_err(|_| format!("service {name:?} was opened by another job with another type"));
        }
        // Clears the slot if `open` fails or panics.
        let _opening = Opening { services: self, name };
        let service = open().map_err(|error| format!("service {name:?} can't be opened: {error}"))?;
        let service = Arc::new(service);
        self.lock().insert(name.to_owned(), Slot::Open(service.clone()));
        Ok(service)
    }

    /// Returns the open service, after waiting for the job that is opening it. `None` means that the caller must open it.
    fn wait_for_open(
        &self,
        name: &str,
        progress: &JobProgress,
    ) -> Result<Option<Arc<dyn Any + Send + Sync>>, String> {
        let mut slots = self.lock();
        loop {
            match slots.get(name) {
                Some(Slot::Open(service)) => return Ok(Some(service.clone())),
                Some(Slot::Opening) if progress.is_cancelled() => return Err("cancelled".to_owned()),
                Some(Slot::Opening) => {
                    let waited = self.changed.wait_timeout(slots, CANCEL_CHECK_INTERVAL);
                    slots = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                None => {
                    slots.insert(name.to_owned(), Slot::Opening);
                    return Ok(None);
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for JobServices {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.lock().keys()).finish()
    }
}

/// The opening of a service by one job.
struct Opening<'a> {
    services: &'a JobServices,
    name: &'a str,
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        let mut slots = self.services.lock();
        if matches!(slots.get(self.name), Some(Slot::Opening)) {
            slots.remove(self.name);
        }
        drop(slots);
        self.services.changed.notify_all();
    }
}

#[cfg(test)]
mod tests;
