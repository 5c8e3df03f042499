//! The table of settings: name, value and origin.

use crate::catalog::SETTINGS;
use crate::domain::SettingOrigin;
use crate::text::{fits, one_line, truncate, width};
use crate::ui::start::chooser::{Chooser, Section};
use crate::ui::start::types::{AllowedValues, SettingRow};
use crate::ui::theme::Role;
use crate::ui::widget::window::Line;

/// The minimum width of a setting, in columns, if a row holds several.
const MIN_CELL_WIDTH: usize = 38;
/// The width of the name column.
const NAME_WIDTH: usize = 19;

/// Returns how many settings fit into a row.
pub(super) fn settings_per_row(columns: u16) -> usize {
    (usize::from(columns) / MIN_CELL_WIDTH).max(1)
}

/// Returns the short label for where a value comes from.
fn origin_label(origin: SettingOrigin) -> &'static str {
    match origin {
        SettingOrigin::Paper => "paper",
        SettingOrigin::Code => "code",
        SettingOrigin::BuiltIn => "default",
        SettingOrigin::Config => "config",
        SettingOrigin::Flag => "flag",
        SettingOrigin::Person => "you",
        SettingOrigin::Mentor => "mentor",
    }
}

/// Returns the rows of the table; the environment comes first.
pub(super) fn table_lines(chooser: &Chooser, columns: u16, in_a_row: usize) -> Vec<Line> {
    let wide = usize::from(columns) / in_a_row;
    let environment =
        chooser.model.environments.get(chooser.model.environment).map_or("none", |e| e.name.as_str());
    let mut cells =
        vec![format_cell(chooser.section == Section::Environment, "environment", environment, "", wide)];
    cells.extend(chooser.model.settings.iter().enumerate().map(|(place, setting)| {
        format_cell(
            chooser.section == Section::Setting(place),
            &setting.label,
            display_value(setting),
            origin_label(setting.origin),
            wide,
        )
    }));
    cells.chunks(in_a_row).map(|row| row.iter().flatten().cloned().collect()).collect()
}

/// Returns the value as shown; for an empty text, its label.
fn display_value(setting: &SettingRow) -> &str {
    match setting.allowed {
        AllowedValues::Text { none_label: none, .. } if setting.value.is_empty() => none,
        _ => &setting.value,
    }
}

/// Formats a name, value and origin, padded to a width.
fn format_cell(here: bool, name: &str, value: &str, origin: &str, wide: usize) -> Line {
    let name = truncate(name, NAME_WIDTH - 2, "…");
    let name = format!(" {name}{} ", " ".repeat(NAME_WIDTH.saturating_sub(2 + width(&name))));
    let frame = if here { 4 } else { 0 };
    let room = wide.saturating_sub(NAME_WIDTH + frame + width(origin) + 3).max(1);
    let value = one_line(value);
    // The end of a path or model name says more than its start.
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

/// Describes the focused setting and the values it accepts.
pub(super) fn selected_description(chooser: &Chooser) -> Option<String> {
    let setting = match chooser.section {
        Section::Environment => {
            let environment = chooser.model.environments.get(chooser.model.environment)?;
            return Some(format!("environment {}: {}", environment.name, environment.description));
        }
        Section::Setting(place) => chooser.model.settings.get(place)?,
        Section::Tasks | Section::Sessions => return None,
    };
    let accepts = match &setting.allowed {
        AllowedValues::Text { expected, suggestions, .. } => {
            let others = if suggestions.len() > 1 { ", or choose a suggestion" } else { "" };
            format!("type or paste {expected}{others}")
        }
        AllowedValues::OneOf(words) if words.len() <= 8 => words.join(", "),
        AllowedValues::OneOf(words) => format!("{} choices", words.len()),
        AllowedValues::Number(from, to) => match SETTINGS.iter().find(|s| s.name == setting.name) {
            Some(spec) => spec.allowed_values(),
            None if *to == u64::MAX => format!("an integer of at least {from}"),
            None => format!("an integer from {from} to {to}"),
        },
    };
    let because =
        if setting.origin == SettingOrigin::Mentor { " (because the mentor is a model)" } else { "" };
    let about = if setting.summary.is_empty() { String::new() } else { format!("{}; ", setting.summary) };
    Some(format!("{}{because}: {about}{accepts}", setting.label))
}
