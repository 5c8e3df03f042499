//! The sessions that ship with the program. They are part of the binary, so they need no files.

use super::error::{CliError, CliErrorKind};
use crate::journal::import::ImportedSession;
use crate::report::StepRef;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A shipped session.
pub(in crate::cli) struct ShippedDemo {
    /// The session's name.
    pub(in crate::cli) name: &'static str,
    /// The texts of its `meta.toml`, `branches/trunk.jsonl` and `chapters.toml`.
    meta: &'static str,
    trunk: &'static str,
    guide: &'static str,
    /// The logs of the measurements that chapters show, by their ids.
    #[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "only the screen shows them"))]
    logs: &'static [(&'static str, &'static str)],
}

macro_rules! shipped {
    ($($name:literal $([$($log:literal),*])?),*) => {
        [$(ShippedDemo {
            logs: &[$($((
                $log,
                include_str!(concat!("../../sessions/examples/", $name, "/effects/", $log, "/log.jsonl")),
            )),*)?],
            name: $name,
            meta: include_str!(concat!("../../sessions/examples/", $name, "/meta.toml")),
            trunk: include_str!(concat!("../../sessions/examples/", $name, "/branches/trunk.jsonl")),
            guide: include_str!(concat!("../../sessions/examples/", $name, "/chapters.toml")),
        }),*]
    };
}

/// The shipped sessions; `demo` without a name opens the first.
pub(in crate::cli) static DEMOS: [ShippedDemo; 4] = shipped![
    "hot-mug-taught",
    "hot-mug-untaught",
    "measured-lesson" ["2dff12f61b0d", "8bafddbd091d", "9ffeabb2c389", "64d67e4de6c8"],
    "lamp"
];

/// What `chapters.toml` says about a demo.
#[derive(Debug, Deserialize)]
pub(in crate::cli) struct Guide {
    /// What the demo shows, as a phrase.
    #[serde(default)]
    pub(in crate::cli) teaches: String,
    /// In the order of their steps.
    #[serde(rename = "chapter")]
    pub(in crate::cli) chapters: Vec<Chapter>,
}

/// A part of a demo.
#[derive(Debug, Deserialize)]
pub(in crate::cli) struct Chapter {
    /// Where it begins.
    #[serde(deserialize_with = "parse_position")]
    pub(in crate::cli) at: StepRef,
    /// Its caption.
    #[cfg_attr(
        not(any(test, feature = "tui")),
        expect(dead_code, reason = "only the screen shows captions")
    )]
    pub(in crate::cli) text: String,
    /// How many times faster than others the steps play that have no caption.
    #[serde(default = "normal_pace")]
    #[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "only the screen plays"))]
    pub(in crate::cli) pace: u32,
    /// The measurement whose panel is shown where it begins: the ids of its columns, `here` first.
    #[serde(default)]
    #[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "only the screen shows it"))]
    pub(in crate::cli) measurement: Vec<String>,
}

fn normal_pace() -> u32 {
    1
}

fn parse_position<'de, D: serde::Deserializer<'de>>(input: D) -> Result<StepRef, D::Error> {
    String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
}

impl Guide {
    /// Parses the text of a `chapters.toml`.
    ///
    /// # Errors
    /// Returns what is wrong with it.
    pub(in crate::cli) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }
}

impl ShippedDemo {
    /// Returns the demo of this name.
    pub(in crate::cli) fn named(name: &str) -> Option<&'static Self> {
        DEMOS.iter().find(|demo| demo.name == name)
    }

    /// Returns its files, as those of a session's folder.
    pub(in crate::cli) fn session(&self) -> ImportedSession {
        let files = [("meta.toml", self.meta), ("branches/trunk.jsonl", self.trunk)];
        let files: BTreeMap<String, String> =
            files.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        ImportedSession { branch: None, files }
    }

    /// Returns the text of the log of a measurement.
    #[cfg(feature = "tui")]
    pub(in crate::cli) fn log(&self, effect: &str) -> Option<&'static str> {
        self.logs.iter().find(|(id, _)| *id == effect).map(|(_, text)| *text)
    }

    /// Returns what it shows, and its chapters.
    ///
    /// # Errors
    /// Returns an error if its `chapters.toml` is invalid.
    pub(in crate::cli) fn guide(&self) -> Result<Guide, CliError> {
        Guide::parse(self.guide).map_err(|message| {
            CliError::new(
                CliErrorKind::Session,
                format!("demo {}: chapters.toml: {message}", self.name),
                "this is a fault of the program; please report it",
            )
        })
    }
}
