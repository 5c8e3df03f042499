//! A breakpoint or watch as a row of the list.

use super::super::window::Line;
use crate::engine::Breakpoint;
use crate::ui::context::Context;
use crate::ui::theme::Role;

/// Its condition, how often it came true, and what it does; `wide` columns hold the condition.
pub(super) fn row(b: &Breakpoint, here: bool, wide: usize, look: &Context<'_>) -> Line {
    let glyph = match (b.on, b.stop.warn) {
        (false, _) => look.glyphs.off,
        (true, true) => look.glyphs.watch,
        (true, false) => look.glyphs.stop,
    };
    let mut facts = vec![match b.hits {
        0 => "no hits".to_owned(),
        1 => "1 hit".to_owned(),
        n => format!("{n} hits"),
    }];
    facts.extend(b.stop.warn.then(|| "watch".to_owned()));
    facts.extend(b.stop.once.then(|| "once".to_owned()));
    facts.extend((!b.on).then(|| "off".to_owned()));
    let mark = if b.on { Role::MarkStop } else { Role::Dim };
    let role = match (here, b.on) {
        (true, _) => Role::Chosen,
        (_, false) => Role::Dim,
        _ => Role::Text,
    };
    vec![
        (mark, format!("{glyph} ")),
        (Role::Dim, format!("{:>2}  ", b.number)),
        (role, format!("{:<wide$}", b.stop.condition)),
        (Role::Dim, format!("  {}", facts.join(&format!(" {} ", look.glyphs.dot)))),
    ]
}
