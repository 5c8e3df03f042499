//! Which tests have changed since the previous run.

use crate::cli::bounded;
use crate::files;
use crate::report::metrics::wilson;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PastResult {
    pub(super) complied: u32,
    pub(super) samples: u32,
    pub(super) need: u32,
}

/// The last result of each test, by its id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct PastResults(BTreeMap<String, PastResult>);

/// A change from the previous run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flip {
    PassToFail,
    FailToPass,
}

impl Flip {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::PassToFail => "pass_to_fail",
            Self::FailToPass => "fail_to_pass",
        }
    }

    pub(super) fn phrase(self) -> &'static str {
        match self {
            Self::PassToFail => "passed before, fails now",
            Self::FailToPass => "failed before, passes now",
        }
    }
}

impl PastResults {
    /// Reads the results; none if there is no file or it can't be read: they are only compared with.
    pub(super) fn read(path: &Path) -> Self {
        let text = bounded::read_text(path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub(super) fn get(&self, id: &str) -> Option<PastResult> {
        self.0.get(id).copied()
    }

    /// Returns these results with newer ones.
    pub(super) fn updated(mut self, newer: impl Iterator<Item = (String, PastResult)>) -> Self {
        self.0.extend(newer);
        self
    }

    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        files::replace(path, text.as_bytes())
    }
}

/// Returns the flip between two results. With several samples, it is one only if the 95 % intervals of the shares don't
/// overlap: repeated samples of a share near the limit pass and fail by chance.
pub(super) fn find_flip(before: PastResult, now: PastResult) -> Option<Flip> {
    let passes = |result: PastResult| result.complied >= result.need;
    let flip = match (passes(before), passes(now)) {
        (true, false) => Flip::PassToFail,
        (false, true) => Flip::FailToPass,
        _ => return None,
    };
    if before.samples <= 1 && now.samples <= 1 {
        return Some(flip);
    }
    let interval = |result: PastResult| wilson(result.complied as usize, result.samples as usize);
    let (before, now) = (interval(before)?, interval(now)?);
    (before.high < now.low || now.high < before.low).then_some(flip)
}
