//! The settings: a table of names, values and where these come from.

use crate::domain::SettingOrigin;
use crate::method::SETTINGS;
use crate::text::{fits, one_line, truncate, width};
use crate::ui::overlay::window::Line;
use crate::ui::start::choose::{Chooser, Part};
use crate::ui::start::{Answers, Knob};
use crate::ui::theme::Role;

/// Columns that a setting takes at least, where there are several in a row.
const LEAST: usize = 38;
/// Columns of a name.
const NAME: usize = 19;

/// Settings that fit into a row.
pub(super) fn in_a_row(columns: u16) -> usize {
    (usize::from(columns) / LEAST).max(1)
}

/// The word for where a value comes from.
fn origin(origin: SettingOrigin) -> &'static str {
    match origin {
        SettingOrigin::Paper => "paper",
        SettingOrigin::Code => "code",
        SettingOrigin::BuiltIn => "ours",
        SettingOrigin::Config => "config",
        SettingOrigin::Flag => "flag",
        SettingOrigin::Person => "you",
        SettingOrigin::Mentor => "mentor",
    }
}

/// The table, the environment first.
pub(super) fn lines(chooser: &Chooser, columns: u16, in_a_row: usize) -> Vec<Line> {
    let wide = usize::from(columns) / in_a_row;
    let world = chooser.model.worlds.get(chooser.model.world).map_or("none", |w| w.name.as_str());
    let mut cells = vec![cell(chooser.part == Part::World, "environment", world, "", wide)];
    cells.extend(chooser.model.knobs.iter().enumerate().map(|(place, knob)| {
        cell(chooser.part == Part::Knob(place), &knob.label, shown(knob), origin(knob.origin), wide)
    }));
    cells.chunks(in_a_row).map(|row| row.iter().flatten().cloned().collect()).collect()
}

/// The value as it is shown: where there is none, what counts then.
fn shown(knob: &Knob) -> &str {
    match knob.answers {
        Answers::Text { none, .. } if knob.value.is_empty() => none,
        _ => &knob.value,
    }
}

/// Name, value and origin, filled to a width.
fn cell(here: bool, name: &str, value: &str, origin: &str, wide: usize) -> Line {
    let name = truncate(name, NAME - 2, "…");
    let name = format!(" {name}{} ", " ".repeat(NAME.saturating_sub(2 + width(&name))));
    let frame = if here { 4 } else { 0 };
    let room = wide.saturating_sub(NAME + frame + width(origin) + 3).max(1);
    let value = one_line(value);
    // The end of a path or a model's name says more than its beginning.
    let value = if fits(&value, room) { value.into_owned() } else { tail(&value, room) };
    let value = if here { format!("< {value} >") } else { value };
    let fill = wide.saturating_sub(NAME + width(&value) + width(origin) + 3);
    vec![
        (if here { Role::Focus } else { Role::Dim }, name),
        (if here { Role::Chosen } else { Role::Text }, value),
        (Role::Dim, format!("  {origin}{} ", " ".repeat(fill))),
    ]
}

fn tail(text: &str, columns: usize) -> String {
    let mut left = text;
    while width(left) + 1 > columns {
        let Some(first) = left.chars().next() else { break };
        left = &left[first.len_utf8()..];
    }
    format!("…{left}")
}

/// What the setting that has the keys does, and what it may be.
pub(super) fn about(chooser: &Chooser) -> Option<String> {
    let knob = match chooser.part {
        Part::World => {
            let world = chooser.model.worlds.get(chooser.model.world)?;
            return Some(format!("environment {}: {}", world.name, world.about));
        }
        Part::Knob(place) => chooser.model.knobs.get(place)?,
        Part::Tasks | Part::Sessions => return None,
    };
    let may = match &knob.answers {
        Answers::Text { what, offered, .. } => {
            let others = if offered.len() > 1 { ", or choose one of those offered" } else { "" };
            format!("type or paste {what}{others}")
        }
        Answers::Words(words) if words.len() <= 8 => words.join(", "),
        Answers::Words(words) => format!("one of {}", words.len()),
        Answers::Number(from, to) => match SETTINGS.iter().find(|s| s.name == knob.name) {
            Some(spec) => spec.allowed_values(),
            None if *to == u64::MAX => format!("a whole number from {from} on"),
            None => format!("a whole number from {from} to {to}"),
        },
    };
    let because = if knob.origin == SettingOrigin::Mentor { " (because the mentor is a model)" } else { "" };
    let about = if knob.about.is_empty() { String::new() } else { format!("{}; ", knob.about) };
    Some(format!("{}{because}: {about}{may}", knob.label))
}
