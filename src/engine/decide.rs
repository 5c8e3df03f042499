//! Whether a wish or a reply counts, and what it comes to.

mod lesson;
mod older;
mod other;
mod person;
mod pool;
mod question;
mod reply;
mod retry;
mod stops;
mod undo;

use super::{Cause, Command, CommandError, Engine, Event, Input};

impl Engine {
    /// The events of an input, each with its cause. A stale reply gives none; a wish that cannot be granted gives a refusal.
    ///
    /// # Errors
    /// A [`CommandError`] in plain words; nothing has happened then.
    pub fn decide(&self, input: &Input) -> Result<Vec<(Cause, Event)>, CommandError> {
        match input {
            Input::Reply(reply) => Ok(self.reply(reply)),
            Input::Command(command) => self.command(command),
        }
    }

    fn command(&self, command: &Command) -> Result<Vec<(Cause, Event)>, CommandError> {
        let events = self.person(command)?;
        let cause = match command {
            Command::Start { .. } | Command::Close | Command::Reopen => Cause::Policy,
            _ => Cause::Person,
        };
        Ok(events.into_iter().map(|event| (cause, event)).collect())
    }
}
