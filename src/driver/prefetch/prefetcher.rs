//! The prefetches of a run.

use super::PrefetchCall;
use crate::domain::{CallId, Seq};
use crate::engine::{Engine, Prefetch};
use std::collections::VecDeque;

/// The prefetches of a run and the lookahead they come from.
#[derive(Default)]
pub(in crate::driver) struct Prefetcher {
    /// The head of the branch when the last lookahead started, moved past the prefetch records written since.
    pub(in crate::driver) start_seq: Option<Seq>,
    pub(super) lookahead_number: u64,
    pub(super) lookahead: Option<(u64, Engine, CallId)>,
    pub(super) prefetches: Vec<PrefetchCall>,
    /// The number of the last prefetch.
    pub(super) last_call_number: u64,
    /// Records to be written when the driver is idle.
    pub(super) unwritten_records: VecDeque<Prefetch>,
    pub(super) has_warned: bool,
}
