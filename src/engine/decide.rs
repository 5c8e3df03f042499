//! Decides whether a command or reply is accepted, and which events it causes.

mod breakpoints;
mod commands;
mod lesson;
mod pool_summary;
mod question;
mod reply;
mod retry;
mod run_change;
mod samples;
mod undo;
mod undoable;

use super::{Cause, Command, CommandError, Engine, Event, Input};

impl Engine {
    /// Returns the events of an input, each with its cause. A reply that came too late yields none.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if a command can't be executed.
    pub fn decide(&self, input: &Input) -> Result<Vec<(Cause, Event)>, CommandError> {
        match input {
            Input::Reply(reply) => Ok(self.decide_reply(reply)),
            Input::Command(command) => self.decide_command(command),
        }
    }

    fn decide_command(&self, command: &Command) -> Result<Vec<(Cause, Event)>, CommandError> {
        let events = self.command_events(command)?;
        let cause = match command {
            Command::Start { .. } | Command::Close | Command::Reopen => Cause::Policy,
            _ => Cause::Person,
        };
        Ok(events.into_iter().map(|event| (cause, event)).collect())
    }
}
