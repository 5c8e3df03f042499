//! A breakpoint or watch as a row of the list.

use crate::domain::pluralize;
use crate::engine::Breakpoint;
use crate::ui::frame_data::Context;
use crate::ui::theme::Role;
use crate::ui::widget::window::Line;

/// Returns the row: condition (padded to `wide` columns), number of hits, and modes.
pub(super) fn row(b: &Breakpoint, here: bool, wide: usize, context: &Context<'_>) -> Line {
    let glyph = match (b.enabled, b.config.is_watch) {
        (false, _) => context.glyphs.off,
        (true, true) => context.glyphs.watch,
        (true, false) => context.glyphs.breakpoint,
    };
    let mut facts = vec![match b.hits {
        0 => "no hits".to_owned(),
        n => pluralize(n.into(), "hit"),
    }];
    facts.extend(b.config.is_watch.then(|| "watch".to_owned()));
    facts.extend(b.config.once.then(|| "once".to_owned()));
    facts.extend((!b.enabled).then(|| "off".to_owned()));
    let mark = if b.enabled { Role::MarkBreakpoint } else { Role::Muted };
    let role = match (here, b.enabled) {
        (true, _) => Role::Selection,
        (_, false) => Role::Muted,
        _ => Role::Text,
    };
    vec![
        (mark, format!("{glyph} ")),
        (Role::Muted, format!("{:>2}  ", b.number)),
        (role, format!("{:<wide$}", b.config.condition)),
        (Role::Muted, format!("  {}", facts.join(&format!(" {} ", context.glyphs.separator)))),
    ]
}
