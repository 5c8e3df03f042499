//! Reports hits of breakpoints and watches as notices.

use crate::domain::Seq;
use crate::ui::frame_data::Context;
use crate::ui::model::{Model, Severity};

/// Shows each hit once. A hit from before the screen opened is shown only if the session is still stopped at it.
pub(super) fn report_hits(model: &mut Model, context: &Context<'_>) {
    let breakpoints = &context.frame.head.breakpoints;
    let last = breakpoints.last_hit.as_ref().map_or(Seq(0), |hit| hit.seq);
    let before = model.last_reported_hit.replace(last);
    let fresh = |seq: Seq| before.is_none_or(|reported| seq > reported);
    if let Some(hit) = breakpoints.current_hit.as_ref().filter(|hit| fresh(hit.seq)) {
        model.show_notice(format!("stopped: {}", hit.describe()), Severity::Warning, context.now);
    } else if let Some(hit) = breakpoints.last_hit.as_ref().filter(|hit| before.is_some() && fresh(hit.seq)) {
        model.show_notice(hit.describe(), Severity::Info, context.now);
    }
}
