//! Errors of starting a driver.

use crate::journal::JournalError;

/// Why a driver could not start.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The session's files cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The system refused a thread or a runtime.
    #[error("a thread could not be started: {0}")]
    Thread(#[from] std::io::Error),
    /// The run could not be started: the reason, and what to do.
    #[error("{0}; {1}")]
    Refused(String, String),
}
