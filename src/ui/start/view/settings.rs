//! The settings: a table of names, values and where these come from.

use crate::domain::SettingOrigin;
use crate::method::SETTINGS;
use crate::text::{fits, one_line, truncate, width};
use crate::ui::overlay::window::Line;
use crate::ui::start::chooser::{Chooser, Section};
use crate::ui::start::{AllowedValues, SettingRow};
use crate::ui::theme::Role;

/// Columns that a setting takes at least, where there are several in a row.
const MIN_CELL_WIDTH: usize = 38;
/// Columns of a name.
const NAME_WIDTH: usize = 19;

/// Settings that fit into a row.
pub(super) fn settings_per_row(columns: u16) -> usize {
    (usize::from(columns) / MIN_CELL_WIDTH).max(1)
}

/// The word for where a value comes from.
fn origin_label(origin: SettingOrigin) -> &'static str {
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
pub(super) fn table_lines(chooser: &Chooser, columns: u16, in_a_row: usize) -> Vec<Line> {
    let wide = usize::from(columns) / in_a_row;
    let world = chooser.model.environments.get(chooser.model.environment).map_or("none", |w| w.name.as_str());
    let mut cells =
        vec![format_cell(chooser.section == Section::Environment, "environment", world, "", wide)];
    cells.extend(chooser.model.knobs.iter().enumerate().map(|(place, knob)| {
        format_cell(
            chooser.section == Section::Setting(place),
            &knob.label,
            display_value(knob),
            origin_label(knob.origin),
            wide,
        )
    }));
    cells.chunks(in_a_row).map(|row| row.iter().flatten().cloned().collect()).collect()
}

/// The value as it is shown: where there is none, what counts then.
fn display_value(knob: &SettingRow) -> &str {
    match knob.allowed {
        AllowedValues::Text { none_label: none, .. } if knob.value.is_empty() => none,
        _ => &knob.value,
    }
}

/// Name, value and origin, filled to a width.
fn format_cell(here: bool, name: &str, value: &str, origin: &str, wide: usize) -> Line {
    let name = truncate(name, NAME_WIDTH - 2, "…");
    let name = format!(" {name}{} ", " ".repeat(NAME_WIDTH.saturating_sub(2 + width(&name))));
    let frame = if here { 4 } else { 0 };
    let room = wide.saturating_sub(NAME_WIDTH + frame + width(origin) + 3).max(1);
    let value = one_line(value);
    // The end of a path or a model's name says more than its beginning.
    let value = if fits(&value, room) { value.into_owned() } else { truncate_start(&value, room) };
    let value = if here { format!("< {value} >") } else { value };
    let fill = wide.saturating_sub(NAME_WIDTH + width(&value) + width(origin) + 3);
    vec![
        (if here { Role::TitleFocus } else { Role::Muted }, name),
        (if here { Role::Selection } else { Role::Text }, value),
        (Role::Muted, format!("  {origin}{} ", " ".repeat(fill))),
    ]
}

fn truncate_start(text: &str, columns: usize) -> String {
    let mut left = text;
    while width(left) + 1 > columns {
        let Some(first) = left.chars().next() else { break };
        left = &left[first.len_utf8()..];
    }
    format!("…{left}")
}

/// What the setting that has the keys does, and what it may be.
pub(super) fn selected_description(chooser: &Chooser) -> Option<String> {
    let knob = match chooser.section {
        Section::Environment => {
            let world = chooser.model.environments.get(chooser.model.environment)?;
            return Some(format!("environment {}: {}", world.name, world.description));
        }
        Section::Setting(place) => chooser.model.knobs.get(place)?,
        Section::Tasks | Section::Sessions => return None,
    };
    let may = match &knob.allowed {
        AllowedValues::Text { expected: what, suggestions: offered, .. } => {
            let others = if offered.len() > 1 { ", or choose one of those offered" } else { "" };
            format!("type or paste {what}{others}")
        }
        AllowedValues::OneOf(words) if words.len() <= 8 => words.join(", "),
        AllowedValues::OneOf(words) => format!("one of {}", words.len()),
        AllowedValues::Number(from, to) => match SETTINGS.iter().find(|s| s.name == knob.name) {
            Some(spec) => spec.allowed_values(),
            None if *to == u64::MAX => format!("a whole number, at least {from}"),
            None => format!("a whole number from {from} to {to}"),
        },
    };
    let because = if knob.origin == SettingOrigin::Mentor { " (because the mentor is a model)" } else { "" };
    let about = if knob.summary.is_empty() { String::new() } else { format!("{}; ", knob.summary) };
    Some(format!("{}{because}: {about}{may}", knob.label))
}
