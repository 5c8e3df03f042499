//! A page of settings: name, value and origin, under headings.

use super::{draw_heading, spread};
use crate::catalog::SETTINGS;
use crate::domain::{MAX_NUMBER, SettingOrigin};
use crate::text::{fits, one_line, truncate, width};
use crate::ui::canvas::Canvas;
use crate::ui::start::chooser::{Chooser, Section};
use crate::ui::start::types::{AllowedValues, SettingGroup, SettingRow};
use crate::ui::theme::Role;
use crate::ui::widget::window::{Line, put_line};
use ratatui::layout::Rect;

/// The fewest columns for the names.
const MIN_NAME_COLUMNS: usize = 24;

pub(super) fn draw(chooser: &Chooser, area: Rect, canvas: &mut Canvas<'_>) {
    let heading = match chooser.section {
        Section::Agent => "Who acts, and who reflects",
        Section::Method => "How the agent learns",
        _ => "All other settings",
    };
    draw_heading(heading, true, area, canvas);
    let selected = chooser.selected_setting();
    // Long names are shown whole where half of the page has room for them.
    let longest = chooser.settings_of(chooser.section).map(|(_, setting)| width(&setting.label) + 2).max();
    let most = usize::from(area.width / 2).max(MIN_NAME_COLUMNS);
    let name_columns = longest.unwrap_or(0).clamp(MIN_NAME_COLUMNS, most);
    let (mut lines, mut focused, mut last_group) = (Vec::new(), 0, None);
    for (place, setting) in chooser.settings_of(chooser.section) {
        if let SettingGroup::Advanced(title) = setting.group
            && last_group != Some(title)
        {
            if last_group.is_some() {
                lines.push(Line::new());
            }
            lines.push(vec![(Role::Title, format!(" {title}"))]);
            last_group = Some(title);
        }
        if selected == Some(place) {
            focused = lines.len();
        }
        let columns = (name_columns, area.width);
        lines.push(setting_line(setting, selected == Some(place), columns, canvas.glyphs.proposal));
    }
    // Scroll so that the focused setting is visible.
    let rows = usize::from(area.height.saturating_sub(1));
    let top = (focused + 1).saturating_sub(rows);
    for (row, line) in lines.iter().skip(top).take(rows).enumerate() {
        put_line(line, Rect { y: area.y + 1 + row as u16, height: 1, ..area }, canvas);
    }
    let hidden = lines.len().saturating_sub(top + rows);
    if hidden > 0 && area.height > 0 {
        let text = format!(" {} {hidden} more ", canvas.glyphs.ellipsis);
        canvas.put_right(area.right() - 1, area.y, area.width / 2, &text, canvas.style(Role::Muted));
    }
}

/// Returns the short label for where a value comes from.
const fn origin_label(origin: SettingOrigin) -> &'static str {
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

/// Returns the value as shown; for an empty text, its label.
pub(super) fn display_value(setting: &SettingRow) -> &str {
    match setting.allowed {
        AllowedValues::Text { none_label: none, .. } if setting.value.is_empty() => none,
        AllowedValues::Number(_, MAX_NUMBER) if setting.value.parse() == Ok(MAX_NUMBER) => "unlimited",
        AllowedValues::Number(..) if setting.value == "0" && is_unlimited_at_zero(&setting.name) => {
            "unlimited"
        }
        _ => &setting.value,
    }
}

fn is_unlimited_at_zero(name: &str) -> bool {
    SETTINGS.iter().any(|spec| spec.name == name && spec.is_unlimited_at_zero)
}

fn setting_line(
    setting: &SettingRow,
    is_selected: bool,
    (name_columns, columns): (usize, u16),
    mark: &str,
) -> Line {
    let name = truncate(&setting.label, name_columns - 2, "…");
    let gap = " ".repeat(name_columns.saturating_sub(width(&name)));
    let origin = origin_label(setting.origin);
    let room = usize::from(columns).saturating_sub(name_columns + 3 + 4 + width(origin) + 3).max(1);
    let value = one_line(display_value(setting));
    // The end of a path or model name says more than its start.
    let value = if fits(&value, room) { value.into_owned() } else { truncate_start(&value, room) };
    let (mark, name_role, value) = if is_selected {
        (mark, Role::TitleFocus, (Role::Selection, format!("< {value} >")))
    } else {
        (" ", Role::Text, (Role::Text, format!("  {value}")))
    };
    let origin_role = if setting.origin == SettingOrigin::Person { Role::Person } else { Role::Muted };
    spread(
        vec![(Role::Proposal, format!(" {mark} ")), (name_role, name), (Role::Text, gap), value],
        (origin_role, format!("{origin} ")),
        columns,
    )
}

fn truncate_start(text: &str, columns: usize) -> String {
    let mut left = text;
    while width(left) + 1 > columns {
        let Some(first) = left.chars().next() else { break };
        left = &left[first.len_utf8()..];
    }
    format!("…{left}")
}
