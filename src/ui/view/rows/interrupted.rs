//! What of a turn's asking a person had a hand in: answers that were broken off, and other words in its prompt.

use super::{MOST_BROKEN, Writer};
use crate::domain::{PartialReply, Stage, Step};
use crate::text::one_line;
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;

pub(super) fn rows(w: &mut Writer<'_>, step: &Step, glyphs: &Glyphs) {
    let mark = format!("{} ", glyphs.person);
    for came in &step.partial_replies {
        w.within(MOST_BROKEN, (Role::MarkPerson, &mark), 2, Role::Dim, &words(came));
        if let Some(cost) = came.describe_cost() {
            w.tail(Role::Dim, &cost);
        }
        for part in [&came.reasoning, &came.text].into_iter().filter(|part| !part.trim().is_empty()) {
            let quote = format!("  {} ", glyphs.quote);
            w.within(MOST_BROKEN, (Role::Dim, &quote), 4, Role::Dim, &one_line(part.trim()));
        }
    }
    if step.prompt_edited && step.stage >= Stage::Reply {
        w.text((Role::MarkPerson, &mark), 2, Role::Person, "you changed the words of its prompt");
    }
}

fn words(came: &PartialReply) -> String {
    let how = match (came.text.trim().is_empty(), came.reasoning.trim().is_empty()) {
        (false, _) => "you broke its answer off:",
        (true, false) => "you broke its answer off; it had only reasoned:",
        (true, true) => "you broke its answer off",
    };
    how.to_owned()
}
