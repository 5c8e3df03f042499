//! Copies the selected step as text.

use crate::ui::frame_data::Context;
use crate::ui::msg::Request;
use std::fmt::Write as _;

/// Returns a request to copy the thought, action and observation of the selected step.
pub(super) fn copy_step(context: &Context<'_>) -> Vec<Request> {
    let number = context.frame.selected_step();
    let Some(step) = context.step(number) else { return Vec::new() };
    let mut text = String::new();
    if let Some(thought) = &step.thought {
        let _ = writeln!(text, "think: {thought}");
    }
    if let Some(action) = step.action() {
        let _ = writeln!(text, "> {action}");
    }
    if let Some(seen) = step.observation() {
        text.push_str(seen);
        text.push('\n');
    }
    vec![Request::Copy(text)]
}
