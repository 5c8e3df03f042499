//! What the mentor is writing for a lane just now.

use super::Row;
use crate::domain::Question;
use crate::driver::LiveCall;
use crate::text::{one_line, truncate};
use crate::ui::lane::Lane;
use crate::ui::look::Look;
use crate::ui::theme::Role;

/// The question that a call under way asks the mentor.
fn question(look: &Look<'_>, call: &LiveCall) -> Option<Question> {
    look.moment.head.calls.get(&call.call)?.question()
}

/// One row for each question whose answer will stand here: the end of what was written so far.
pub(super) fn rows(look: &Look<'_>, lane: &Lane, columns: u16, still: bool) -> Vec<Row> {
    if look.moment.past() {
        return Vec::new();
    }
    let calls = look.moment.live.calls.iter();
    let here = calls.filter(|call| question(look, call).is_some_and(|q| lane.kinds.contains(&q.kind)));
    here.map(|call| {
        let room = usize::from(columns).saturating_sub(9).max(4);
        // The line that still grows would move under the eye.
        let whole =
            if still { call.text.rfind('\n').map_or("", |end| &call.text[..end]) } else { &call.text };
        let last = whole.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default();
        let words = if last.is_empty() {
            "the mentor is asked".to_owned()
        } else {
            // The end is what is new.
            let line = one_line(last);
            let skip = line.chars().count().saturating_sub(room);
            truncate(&line.chars().skip(skip).collect::<String>(), room, look.glyphs.more)
        };
        let role = if last.is_empty() { Role::Dim } else { Role::Reasoning };
        Row {
            lesson: 0,
            mark: (Role::ModeThinking, look.glyphs.more),
            lead: "     ".to_owned(),
            text: (role, words),
            source: None,
        }
    })
    .collect()
}
