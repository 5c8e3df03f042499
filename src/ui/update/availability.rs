//! What is said of actions that a read-only session doesn't have.

use crate::ui::frame_data::Context;
use crate::ui::model::{Model, Severity};

/// Shows that the session is read-only, and how to resume it.
pub(super) fn notify_read_only(model: &mut Model, context: &Context<'_>) {
    model.show_notice(model.read_only_message(), Severity::Warning, context.now);
}
