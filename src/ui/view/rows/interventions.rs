//! What of a turn's asking a person had a hand in: answers that were broken off, and other words in its prompt.

use super::{MAX_CANCELLED_ROWS, RowWriter};
use crate::domain::{PartialReply, Stage, Step};
use crate::text::one_line;
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;

pub(super) fn write_interventions(w: &mut RowWriter<'_>, step: &Step, glyphs: &Glyphs) {
    let mark = format!("{} ", glyphs.person);
    for came in &step.partial_replies {
        w.push_text_limited(
            MAX_CANCELLED_ROWS,
            (Role::MarkPerson, &mark),
            2,
            Role::Muted,
            &cancelled_text(came),
        );
        if let Some(cost) = came.describe_cost() {
            w.push_tail(Role::Muted, &cost);
        }
        for part in [&came.reasoning, &came.text].into_iter().filter(|part| !part.trim().is_empty()) {
            let quote = format!("  {} ", glyphs.reasoning_margin);
            w.push_text_limited(
                MAX_CANCELLED_ROWS,
                (Role::Muted, &quote),
                4,
                Role::Muted,
                &one_line(part.trim()),
            );
        }
    }
    if step.prompt_edited && step.stage >= Stage::Reply {
        w.push_text((Role::MarkPerson, &mark), 2, Role::Person, "you changed the words of its prompt");
    }
}

fn cancelled_text(came: &PartialReply) -> String {
    let how = match (came.text.trim().is_empty(), came.reasoning.trim().is_empty()) {
        (false, _) => "you broke its answer off:",
        (true, false) => "you broke its answer off; it had only reasoned:",
        (true, true) => "you broke its answer off",
    };
    how.to_owned()
}
