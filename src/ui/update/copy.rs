//! Copies the selected step as text, or its request.

use crate::ui::facts::step_request;
use crate::ui::frame_data::Context;
use crate::ui::model::{Model, Severity};
use crate::ui::msg::Request;
use crate::ui::types::RequestForm;
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

/// Returns a request to copy the request of the selected step.
pub(super) fn copy_request(model: &mut Model, context: &Context<'_>, form: RequestForm) -> Vec<Request> {
    let number = context.frame.selected_step();
    if let Some(request) = step_request(context, number, form) {
        return vec![request];
    }
    let text = format!("step {number} has no prompt whose request could be copied");
    model.show_notice(text, Severity::Warning, context.now);
    Vec::new()
}
