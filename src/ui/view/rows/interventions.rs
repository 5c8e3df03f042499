//! Human interventions in a step's prompt and reply: cancelled calls and an edited prompt.

use super::{MAX_CANCELLED_ROWS, RowWriter};
use crate::domain::{PartialReply, Stage, Step};
use crate::text::one_line;
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;

pub(super) fn write_interventions(w: &mut RowWriter<'_>, step: &Step, glyphs: &Glyphs) {
    let mark = format!("{} ", glyphs.person);
    for reply in &step.partial_replies {
        w.push_text_limited(
            MAX_CANCELLED_ROWS,
            (Role::MarkPerson, &mark),
            2,
            Role::Muted,
            &cancelled_text(reply),
        );
        if let Some(cost) = reply.describe_cost() {
            w.push_tail(Role::Muted, &cost);
        }
        for part in [&reply.reasoning, &reply.text].into_iter().filter(|part| !part.trim().is_empty()) {
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
        w.push_text((Role::MarkPerson, &mark), 2, Role::Person, "you edited its prompt");
    }
}

fn cancelled_text(reply: &PartialReply) -> String {
    let text = match (reply.text.trim().is_empty(), reply.reasoning.trim().is_empty()) {
        (false, _) => "you cancelled the reply:",
        (true, false) => "you cancelled the call; reasoning so far:",
        (true, true) => "you cancelled the call",
    };
    text.to_owned()
}
