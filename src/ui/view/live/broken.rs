//! Calls that a person broke off: what there is of their answers, and the ways on from there.

use super::keys;
use crate::domain::{Autonomy, ModelRole, Question};
use crate::engine::State;
use crate::text::one_line;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::theme::Role;
use crate::ui::view::rows::{MOST_BROKEN, Writer};

/// Writes it; whether nothing else has to be said of what can be done now.
pub(super) fn rows(w: &mut Writer<'_>, look: &Context<'_>, state: &State, unasked: bool) -> bool {
    if state.cancelled_calls.is_empty() || !state.is_waiting() {
        return false;
    }
    let asked = |who| state.cancelled_calls.iter().filter(move |(effect, _)| effect.is_prompt_for(who));
    if asked(ModelRole::Mentor).next().is_some() {
        let names = asked(ModelRole::Mentor).filter_map(|(e, _)| e.question()).map(Question::name);
        let names = names.collect::<Vec<_>>().join(", ");
        let words = format!("the mentor was broken off before it had answered: {names}");
        w.text((Role::ModePaused, ""), 2, Role::ModePaused, &words);
        for (effect, came) in asked(ModelRole::Mentor) {
            let name = effect.question().map(Question::name).unwrap_or_default();
            // Its answer as far as it came, else what it had thought.
            let said = [&came.text, &came.reasoning].into_iter().find(|part| !part.trim().is_empty());
            let Some(said) = said else { continue };
            let lead = format!("    {} {name}: ", look.glyphs.quote);
            w.within(MOST_BROKEN, (Role::Dim, &lead), 4, Role::Dim, &one_line(said.trim()));
            if let Some(cost) = came.describe_cost() {
                w.tail(Role::Dim, &cost);
            }
        }
    }
    if state.is_step_cancelled() && state.autonomy == Autonomy::Human {
        return false;
    }
    if state.is_step_cancelled() {
        w.text((Role::ModePaused, ""), 2, Role::ModePaused, "the agent was broken off: its turn is open");
        words_wait(w, state);
        let again = if state.has_unsent_edit() { "ask again with your words" } else { "ask again" };
        let pairs =
            [(Action::Step, again), (Action::Override, "act by hand"), (Action::GiveUp, "go on without")];
        w.line(2, keys(look, &pairs));
        others(w, look);
        return true;
    }
    let without = (Action::GiveUp, "go on without");
    let other = unasked || !state.waiting_summaries.is_empty();
    if !other && state.step_awaiting_decision().is_none_or(|step| step.approved) {
        words_wait(w, state);
        w.line(2, keys(look, &[(Action::Step, "go on: what is due is asked again"), without]));
        others(w, look);
        return true;
    }
    // Something else waits too, and going on is about that: its own keys follow.
    w.line(2, keys(look, &[without, (Action::ReflectNow, "asks for a reflection")]));
    if let Some(key) = look.keymap.label(Action::Step).filter(|_| !other) {
        let words = format!("{key} does what is proposed, and does not ask the mentor again");
        w.text((Role::Dim, ""), 2, Role::Dim, &words);
    }
    false
}

/// Names the words that would go out.
fn words_wait(w: &mut Writer<'_>, state: &State) {
    if state.has_unsent_edit() {
        w.text((Role::Dim, ""), 2, Role::Dim, "a prompt with your words waits");
    }
}

/// Whom else to ask, and in which words, as after a failed call.
pub(super) fn others(w: &mut Writer<'_>, look: &Context<'_>) {
    let pairs = [
        (Action::Prompt, "edit prompt"),
        (Action::Model, "another model"),
        (Action::Recorded, "a recorded reply"),
    ];
    w.line(2, keys(look, &pairs));
}
