//! Judges how long the screen takes to answer keys while other work goes on.

/// The budget (DESIGN 7), in milliseconds.
const MAX_P99: f64 = 16.0;
const MAX_WORST: f64 = 50.0;
/// How much later the pieces of the stream may be than without other work: one piece, in milliseconds.
const MAX_LATER: f64 = 6.0;
/// What the budget is about.
const FULL_KEYS: usize = 2_000;
const FULL_EVENTS: u64 = 1_000_000;

/// What was measured.
pub(crate) struct KeyRun {
    /// The number of keys.
    pub(crate) keys: usize,
    /// The number of events of the session as it was opened.
    pub(crate) events: u64,
    /// Milliseconds at the 99th percentile, and of the slowest key.
    pub(crate) p99: f64,
    pub(crate) worst: f64,
    /// What ended before the last key.
    pub(crate) work: Work,
    /// How late the pieces of the stream were before the first export and afterwards, in milliseconds at the 99th
    /// percentile.
    pub(crate) pace: Option<(f64, f64)>,
}

/// Exports and searches that ended while keys were pressed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Work {
    pub(crate) exports: usize,
    pub(crate) searches: usize,
}

/// Whether a budget is met.
#[derive(Debug, PartialEq)]
pub(crate) enum Judgement {
    Met,
    Missed,
    /// The run doesn't show it. A run that should have been long enough has missed the budget.
    Unknown {
        reason: String,
        is_too_short: bool,
    },
}

/// The lines of the file that lists what ended.
pub(crate) const EXPORT_ENDED: &str = "export";
pub(crate) const SEARCH_ENDED: &str = "search";

impl Work {
    /// Counts the lines of the file that lists what ended.
    pub(crate) fn parse(text: &str) -> Self {
        let count = |what| text.lines().filter(|line| line.starts_with(what)).count();
        Self { exports: count(EXPORT_ENDED), searches: count(SEARCH_ENDED) }
    }
}

/// Parses how late the stream was before and during the work.
pub(crate) fn parse_pace(text: &str) -> Option<(f64, f64)> {
    let late: Vec<f64> = text.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [before, during] = late[..] else { return None };
    (before.is_finite() && during.is_finite()).then_some((before, during))
}

impl KeyRun {
    /// Judges the time from a key to the changed screen.
    pub(crate) fn judge_keys(&self) -> Judgement {
        if self.p99 > MAX_P99 || self.worst > MAX_WORST {
            return Judgement::Missed;
        }
        self.unknown().unwrap_or(Judgement::Met)
    }

    /// Judges whether export and search disturb the stream.
    pub(crate) fn judge_pace(&self) -> Judgement {
        if self.pace.is_some_and(|(before, during)| during > before + MAX_LATER) {
            return Judgement::Missed;
        }
        self.unknown().unwrap_or(Judgement::Met)
    }

    /// Returns why the run doesn't show that a budget is met.
    fn unknown(&self) -> Option<Judgement> {
        let is_too_short = self.keys < FULL_KEYS || self.events < FULL_EVENTS;
        let reasons = [
            (self.work.exports == 0, "no export has ended".to_owned()),
            (self.work.searches == 0, "no search has ended".to_owned()),
            (self.pace.is_none(), "the pace of the stream is unknown".to_owned()),
            (self.keys < FULL_KEYS, format!("{} of {FULL_KEYS} keys", self.keys)),
            (self.events < FULL_EVENTS, format!("{} of {FULL_EVENTS} events", self.events)),
        ];
        let reason = reasons.into_iter().find(|(is_missing, _)| *is_missing)?.1;
        Some(Judgement::Unknown { reason, is_too_short })
    }
}
