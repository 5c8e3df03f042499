//! What is configured about an environment that is another program.

use std::path::PathBuf;
use std::time::Duration;

/// How the program of an environment is started, and how long it may take. It comes from the user's own configuration or
/// command line, never from a session or a list of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalProgram {
    /// The program and its arguments, which no shell interprets.
    pub words: Vec<String>,
    /// Its working folder; if `None`, a private temporary folder.
    pub folder: Option<PathBuf>,
    /// Environment variables that it gets besides those that every program gets.
    pub variables: Vec<(String, String)>,
    pub limits: ProgramLimits,
}

/// How long the program may take for the reply to each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramLimits {
    pub hello: Duration,
    pub tasks: Duration,
    pub reset: Duration,
    pub step: Duration,
    /// The list of actions, or a hint.
    pub list: Duration,
    pub peek: Duration,
    /// Taking, restoring or dropping a snapshot.
    pub snapshot: Duration,
    pub close: Duration,
}

impl ProgramLimits {
    /// The names of the limits in the configuration.
    pub const NAMES: [&'static str; 8] =
        ["hello", "tasks", "reset", "step", "list", "peek", "snapshot", "close"];

    /// Returns the limit with this name.
    pub fn limit_mut(&mut self, name: &str) -> Option<&mut Duration> {
        Some(match name {
            "hello" => &mut self.hello,
            "tasks" => &mut self.tasks,
            "reset" => &mut self.reset,
            "step" => &mut self.step,
            "list" => &mut self.list,
            "peek" => &mut self.peek,
            "snapshot" => &mut self.snapshot,
            "close" => &mut self.close,
            _ => return None,
        })
    }
}

impl Default for ProgramLimits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            hello: seconds(30),
            tasks: seconds(30),
            reset: seconds(60),
            step: seconds(30),
            list: seconds(30),
            peek: seconds(10),
            snapshot: seconds(30),
            close: seconds(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_a_name_of_its_own() {
        let mut limits = ProgramLimits::default();
        for (number, name) in (1..).zip(ProgramLimits::NAMES) {
            *limits.limit_mut(name).unwrap() = Duration::from_secs(number);
        }
        for (number, name) in (1..).zip(ProgramLimits::NAMES) {
            assert_eq!(*limits.limit_mut(name).unwrap(), Duration::from_secs(number), "{name}");
        }
        assert!(limits.limit_mut("hope").is_none());
    }
}
