//! What a value may be, and where it comes from.

use std::fmt;
use std::path::PathBuf;

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// Any text.
    Text,
    /// A path; `~/` stands for the home folder.
    Path,
    /// A whole number from this on.
    Number(u64),
    /// A switch.
    Bool,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Conditions at which runs stop, each a text.
    Conditions,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// Nobody set it.
    Default,
    /// The configuration file.
    File(PathBuf, usize),
    /// An environment variable.
    Variable(&'static str),
    /// A flag.
    Flag(&'static str),
    /// A preset that comes with the program.
    Preset(&'static str),
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => write!(f, "${name}"),
            Self::Flag(flag) => f.write_str(flag),
            Self::Preset(name) => write!(f, "--preset {name}"),
        }
    }
}

impl ValueType {
    /// What is allowed, in words.
    pub fn allowed_values(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Path => "a path".to_owned(),
            Self::Number(from) => format!("a whole number, at least {from}"),
            Self::Bool => "true or false".to_owned(),
            Self::Choice(words) => words.join(", "),
            Self::Conditions => "a list of conditions (`docs/BREAKPOINTS.md`)".to_owned(),
        }
    }
}
