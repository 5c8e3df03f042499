//! Calls that a person broke off: what there is of their answers, and the ways on from there.

use super::key_pieces;
use crate::domain::{Autonomy, ModelRole, Question};
use crate::engine::State;
use crate::text::one_line;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::theme::Role;
use crate::ui::view::rows::{MAX_CANCELLED_ROWS, RowWriter};

/// Writes it; whether nothing else has to be said of what can be done now.
pub(super) fn write_cancelled_calls(
    w: &mut RowWriter<'_>,
    look: &Context<'_>,
    state: &State,
    unasked: bool,
) -> bool {
    if state.cancelled_calls.is_empty() || !state.is_waiting() {
        return false;
    }
    let asked = |who| state.cancelled_calls.iter().filter(move |(effect, _)| effect.is_prompt_for(who));
    if asked(ModelRole::Mentor).next().is_some() {
        let names = asked(ModelRole::Mentor).filter_map(|(e, _)| e.question()).map(Question::name);
        let names = names.collect::<Vec<_>>().join(", ");
        let words = format!("the mentor was broken off before it had answered: {names}");
        w.push_text((Role::ModePaused, ""), 2, Role::ModePaused, &words);
        for (effect, came) in asked(ModelRole::Mentor) {
            let name = effect.question().map(Question::name).unwrap_or_default();
            // Its answer as far as it came, else what it had thought.
            let said = [&came.text, &came.reasoning].into_iter().find(|part| !part.trim().is_empty());
            let Some(said) = said else { continue };
            let lead = format!("    {} {name}: ", look.glyphs.reasoning_margin);
            w.push_text_limited(
                MAX_CANCELLED_ROWS,
                (Role::Muted, &lead),
                4,
                Role::Muted,
                &one_line(said.trim()),
            );
            if let Some(cost) = came.describe_cost() {
                w.push_tail(Role::Muted, &cost);
            }
        }
    }
    if state.is_step_cancelled() && state.autonomy == Autonomy::Human {
        return false;
    }
    if state.is_step_cancelled() {
        w.push_text(
            (Role::ModePaused, ""),
            2,
            Role::ModePaused,
            "the agent was broken off: its turn is open",
        );
        write_edited_prompt_note(w, state);
        let again = if state.has_unsent_edit() { "ask again with your words" } else { "ask again" };
        let pairs =
            [(Action::Step, again), (Action::Override, "act by hand"), (Action::GiveUp, "go on without")];
        w.push_line(2, key_pieces(look, &pairs));
        write_alternatives(w, look);
        return true;
    }
    let without = (Action::GiveUp, "go on without");
    let other = unasked || !state.waiting_summaries.is_empty();
    if !other && state.step_awaiting_decision().is_none_or(|step| step.approved) {
        write_edited_prompt_note(w, state);
        w.push_line(2, key_pieces(look, &[(Action::Step, "go on: what is due is asked again"), without]));
        write_alternatives(w, look);
        return true;
    }
    // Something else waits too, and going on is about that: its own keys follow.
    w.push_line(2, key_pieces(look, &[without, (Action::ReflectNow, "asks for a reflection")]));
    if let Some(key) = look.keymap.key_label(Action::Step).filter(|_| !other) {
        let words = format!("{key} does what is proposed, and does not ask the mentor again");
        w.push_text((Role::Muted, ""), 2, Role::Muted, &words);
    }
    false
}

/// Names the words that would go out.
fn write_edited_prompt_note(w: &mut RowWriter<'_>, state: &State) {
    if state.has_unsent_edit() {
        w.push_text((Role::Muted, ""), 2, Role::Muted, "a prompt with your words waits");
    }
}

/// Whom else to ask, and in which words, as after a failed call.
pub(super) fn write_alternatives(w: &mut RowWriter<'_>, look: &Context<'_>) {
    let pairs = [
        (Action::Prompt, "edit prompt"),
        (Action::ChangeModel, "another model"),
        (Action::UseRecordedReply, "a recorded reply"),
    ];
    w.push_line(2, key_pieces(look, &pairs));
}
