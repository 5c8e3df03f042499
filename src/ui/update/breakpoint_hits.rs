//! Breakpoints and watches that came true: one line says which, and why.

use crate::domain::Seq;
use crate::ui::context::Context;
use crate::ui::model::{Model, Severity};

/// Tells a hit once. What came before the screen was there is told only where the session still stands for it.
pub(super) fn report_hits(model: &mut Model, look: &Context<'_>) {
    let stops = &look.frame.head.breakpoints;
    let last = stops.last_hit.as_ref().map_or(Seq(0), |hit| hit.seq);
    let before = model.last_reported_hit.replace(last);
    let fresh = |seq: Seq| before.is_none_or(|told| seq > told);
    if let Some(hit) = stops.current_hit.as_ref().filter(|hit| fresh(hit.seq)) {
        model.show_notice(format!("stopped: {}", hit.describe()), Severity::Warning, look.now);
    } else if let Some(hit) = stops.last_hit.as_ref().filter(|hit| before.is_some() && fresh(hit.seq)) {
        model.show_notice(hit.describe(), Severity::Info, look.now);
    }
}
