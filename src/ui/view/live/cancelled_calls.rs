//! Calls that a person cancelled: their partial replies, and how to continue.

use super::push_keys;
use crate::domain::{Autonomy, ModelRole, Question};
use crate::engine::State;
use crate::text::one_line;
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::theme::Role;
use crate::ui::view::rows::{MAX_CANCELLED_ROWS, RowWriter};

/// Writes the cancelled calls. Returns whether nothing else needs to be said about the next keys.
pub(super) fn write_cancelled_calls(
    w: &mut RowWriter<'_>,
    context: &Context<'_>,
    state: &State,
    unasked: bool,
) -> bool {
    if state.cancelled_calls.is_empty() || !state.is_waiting() {
        return false;
    }
    let cancelled = |role| state.cancelled_calls.iter().filter(move |(effect, _)| effect.is_prompt_for(role));
    if cancelled(ModelRole::Mentor).next().is_some() {
        let names = cancelled(ModelRole::Mentor).filter_map(|(e, _)| e.question()).map(Question::name);
        let names = names.collect::<Vec<_>>().join(", ");
        let message = format!("mentor call cancelled before it was answered: {names}");
        w.push_text((Role::ModePaused, ""), 2, Role::ModePaused, &message);
        for (effect, partial) in cancelled(ModelRole::Mentor) {
            let name = effect.question().map(Question::name).unwrap_or_default();
            // The partial answer, or else the partial reasoning.
            let text = [&partial.text, &partial.reasoning].into_iter().find(|part| !part.trim().is_empty());
            let Some(text) = text else { continue };
            let lead = format!("    {} {name}: ", context.glyphs.reasoning_margin);
            w.push_text_limited(
                MAX_CANCELLED_ROWS,
                (Role::Muted, &lead),
                4,
                Role::Muted,
                &one_line(text.trim()),
            );
            if let Some(cost) = partial.describe_cost() {
                w.push_tail(Role::Muted, &cost);
            }
        }
    }
    if let Some(job) = state.cancelled_calls.iter().find_map(|(effect, _)| effect.job()) {
        let message = format!("cancelled: {}", super::job_label(job));
        w.push_text((Role::ModePaused, ""), 2, Role::ModePaused, &message);
        let pairs = [(Action::Step, "compute it again"), (Action::GiveUp, "continue without it")];
        push_keys(w, context, &pairs);
        return true;
    }
    if state.is_step_cancelled() && state.autonomy == Autonomy::Human {
        return false;
    }
    if state.is_step_cancelled() {
        let number = state.last_step().map_or(0, |step| step.number);
        w.push_text(
            (Role::ModePaused, ""),
            2,
            Role::ModePaused,
            &format!("call cancelled; step {number} has no action yet"),
        );
        write_edited_prompt_note(w, state);
        let again = if state.has_unsent_edit() { "ask again with your edit" } else { "ask again" };
        let pairs = [
            (Action::Step, again),
            (Action::Override, "type an action"),
            (Action::GiveUp, "continue without"),
        ];
        push_keys(w, context, &pairs);
        write_alternatives(w, context);
        return true;
    }
    let without = (Action::GiveUp, "continue without");
    let other = unasked || !state.waiting_summaries.is_empty();
    if !other && state.step_awaiting_decision().is_none_or(|step| step.approved) {
        write_edited_prompt_note(w, state);
        push_keys(w, context, &[(Action::Step, "continue: retry the call"), without]);
        write_alternatives(w, context);
        return true;
    }
    // Something else waits too, and the step key is for that; its own keys follow.
    push_keys(w, context, &[without, (Action::ReflectNow, "ask for a reflection")]);
    if let Some(key) = context.keymap.key_label(Action::Step).filter(|_| !other) {
        let message = format!("{key} runs the proposed action without another mentor call");
        w.push_text((Role::Muted, ""), 2, Role::Muted, &message);
    }
    false
}

/// Notes that the next prompt contains an edit.
fn write_edited_prompt_note(w: &mut RowWriter<'_>, state: &State) {
    if state.has_unsent_edit() {
        w.push_text((Role::Muted, ""), 2, Role::Muted, "a prompt with your edit waits to be sent");
    }
}

/// Names the alternatives after a cancelled or failed call: another prompt, model or reply.
pub(super) fn write_alternatives(w: &mut RowWriter<'_>, context: &Context<'_>) {
    let pairs = [
        (Action::Prompt, "edit prompt"),
        (Action::ChangeModel, "another model"),
        (Action::UseRecordedReply, "a recorded reply"),
    ];
    push_keys(w, context, &pairs);
}
