//! The exchange with a program: its process, and what it said about itself.

use super::hello::Hello;
use super::message::{Consequence, Fields, PROTOCOL_VERSION, Rejection, parse_reply, quote, request_line};
use crate::env::external::{ChildCommand, ChildProcess, IdleChildren};
use crate::env::{EnvError, ExternalProgram, ProgramLimits};
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The programs that wait for their next episode: that of a run, and the copy for questions about its past.
static IDLE: IdleChildren = IdleChildren::new(2);

/// The commands of programs that have failed at something that nobody asked for. It is left out from then on: otherwise each restart
/// would fail in the same way.
static GIVEN_UP: Mutex<BTreeSet<(ProgramKey, Feature)>> = Mutex::new(BTreeSet::new());

/// What a program is asked for without a person's or the run's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Feature {
    Snapshots,
    /// A list of the actions after a reset.
    Lists,
}

/// A program with its arguments and variables.
type ProgramKey = (Vec<String>, Vec<(String, String)>);

/// Ends the programs that wait for their next episode, each with the request `close`.
pub(super) fn end_idle_programs() {
    IDLE.end_all();
}

/// What belongs to a process and stays with it between episodes.
pub(super) struct ProcessNotes {
    pub(super) hello: Arc<Hello>,
    /// The snapshots that the process keeps, oldest first. Whoever may restore one shares its id.
    pub(super) snapshots: VecDeque<Arc<str>>,
}

/// A running program.
///
/// Every failure but a refused request ends the process. Later requests fail with the same error.
pub(super) struct Connection {
    child: ChildProcess,
    pub(super) notes: ProcessNotes,
    pub(super) limits: ProgramLimits,
    failure: Option<EnvError>,
    key: ProgramKey,
}

impl Connection {
    /// Starts the program, or takes one that has played an episode.
    ///
    /// # Errors
    /// Returns the errors of the process, and [`EnvError::Protocol`] if it doesn't introduce itself.
    pub(super) fn open(program: &ExternalProgram) -> Result<Self, EnvError> {
        let command = ChildCommand {
            words: program.words.iter().map(Into::into).collect(),
            variables: program.variables.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            folder: program.folder.clone(),
            reply_prefix: "{",
            has_events: true,
        };
        let mut child = ChildProcess::start_or_reuse(&command, &IDLE)?;
        let limits = program.limits;
        let notes = match child.take_notes() {
            Some(notes) => notes,
            None => ProcessNotes {
                hello: Arc::new(say_hello(&mut child, limits.hello)?),
                snapshots: VecDeque::new(),
            },
        };
        child.set_farewell((|number| request_line(number, "close", &Value::Null), limits.close));
        let key = (program.words.clone(), program.variables.clone());
        Ok(Self { child, notes, limits, failure: None, key })
    }

    /// Returns whether the program is asked for snapshots: it says that it takes some, and hasn't failed to.
    pub(super) fn takes_snapshots(&self) -> bool {
        let hello = &self.notes.hello;
        let has_some = hello.capabilities.snapshot && hello.max_snapshots != Some(0);
        has_some && !self.has_given_up(Feature::Snapshots)
    }

    /// Doesn't ask the program for this again, also after a restart.
    pub(super) fn give_up(&self, feature: Feature) {
        GIVEN_UP.lock().unwrap_or_else(PoisonError::into_inner).insert((self.key.clone(), feature));
    }

    pub(super) fn has_given_up(&self, feature: Feature) -> bool {
        let given_up = GIVEN_UP.lock().unwrap_or_else(PoisonError::into_inner);
        given_up.contains(&(self.key.clone(), feature))
    }

    /// Sends a request and reads the fields of its reply.
    ///
    /// # Errors
    /// Returns [`EnvError::Refused`] if the program rejects it and is unchanged; any other error has ended the process.
    pub(super) fn ask<T>(
        &mut self,
        operation: &str,
        fields: &Value,
        limit: Duration,
        read: impl FnOnce(Fields) -> Result<T, String>,
    ) -> Result<T, EnvError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let answer = exchange(&mut self.child, operation, fields, limit, read);
        if let Err(error) = answer.as_ref()
            && !matches!(error, EnvError::Refused { .. })
        {
            self.failure = Some(error.clone());
        }
        answer
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let snapshots = std::mem::take(&mut self.notes.snapshots);
        self.child.keep_notes(ProcessNotes { hello: self.notes.hello.clone(), snapshots });
    }
}

fn say_hello(child: &mut ChildProcess, limit: Duration) -> Result<Hello, EnvError> {
    let client = format!("retrospect/{}", env!("CARGO_PKG_VERSION"));
    let fields = json!({ "protocol": PROTOCOL_VERSION, "client": client });
    exchange(child, "hello", &fields, limit, |fields| Hello::from_fields(&fields))
}

/// Sends a request and reads the fields of its reply. Every error but [`EnvError::Refused`] ends the process.
fn exchange<T>(
    child: &mut ChildProcess,
    operation: &str,
    fields: &Value,
    limit: Duration,
    read: impl FnOnce(Fields) -> Result<T, String>,
) -> Result<T, EnvError> {
    let number = child.next_request_number();
    let line =
        child.exchange(&request_line(number, operation, fields), limit).map_err(|error| match error {
            EnvError::TimedOut { millis, last_output, .. } => {
                EnvError::TimedOut { millis, request: operation.to_owned(), last_output }
            }
            error => error,
        })?;
    let invalid = |what: String| Consequence::Protocol(format!("{operation}: {what}"));
    let consequence = match parse_reply(&line, number) {
        Ok(fields) => match read(fields) {
            Ok(answer) => return Ok(answer),
            Err(what) => invalid(format!("{what}; the reply is {}", quote(&line))),
        },
        Err(Rejection::Invalid(what)) => invalid(what),
        Err(Rejection::Reported(error)) => error.consequence(),
    };
    Err(match consequence {
        Consequence::Kept(what) => EnvError::Refused { what },
        Consequence::Protocol(what) => child.reject_reply(what),
        Consequence::Died(what) => child.end_after_report(what),
    })
}
