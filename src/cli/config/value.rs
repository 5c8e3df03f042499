//! Types and origins of configuration values.

use std::fmt;
use std::path::PathBuf;

/// Type of a configuration value.
#[derive(Clone, Copy, Debug)]
pub enum ValueType {
    Text,
    /// Several lines of text. Its flag sets one line and may be repeated.
    Lines,
    /// A path; a leading `~/` is the home folder.
    Path,
    /// A whole number with this minimum.
    Number(u64),
    /// A switch.
    Bool,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One of the names that this returns. They depend on what a program adds to the catalog.
    Name(fn() -> &'static [&'static str]),
    /// A list of breakpoint conditions.
    Conditions,
}

/// Origin of a configuration value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// Built-in default.
    Default,
    /// The configuration file and the line in it, from 1.
    File(PathBuf, usize),
    /// An environment variable.
    Variable(&'static str),
    /// A flag.
    Flag(&'static str),
    /// A built-in preset.
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
    /// Returns the allowed words, if it allows only some.
    pub fn words(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Choice(words) => Some(words),
            Self::Name(names) => Some(names()),
            Self::Bool => Some(&["true", "false"]),
            _ => None,
        }
    }

    /// Describes the allowed values.
    pub fn allowed_values(self) -> String {
        match self {
            Self::Text | Self::Lines => "text".to_owned(),
            Self::Path => "a path".to_owned(),
            Self::Number(from) => format!("a whole number, at least {from}"),
            Self::Bool => "true or false".to_owned(),
            Self::Choice(words) => words.join(", "),
            Self::Name(names) => names().join(", "),
            Self::Conditions => "a list of conditions (`docs/BREAKPOINTS.md`)".to_owned(),
        }
    }
}
