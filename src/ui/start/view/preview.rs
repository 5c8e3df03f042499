//! What is known about the selected row: the task's goal and first observation, or a setting's meaning and values.

use super::settings::display_value;
use crate::catalog::{self, SETTINGS};
use crate::domain::{MAX_NUMBER, PictureRequest, PictureRow, SettingOrigin, SettingSpec};
use crate::text::{one_line, program_name, width};
use crate::ui::canvas::Canvas;
use crate::ui::glyphs::Glyphs;
use crate::ui::start::chooser::{Chooser, Section, TreeRow};
use crate::ui::start::types::{AllowedValues, SettingRole, SettingRow};
use crate::ui::theme::Role;
use crate::ui::widget::window::{Line, paragraph, put_lines};
use ratatui::layout::Rect;
use serde_json::Value;

/// Draws what is known about the selected row.
pub(super) fn draw(chooser: &Chooser, area: Rect, for_audience: bool, canvas: &mut Canvas<'_>) {
    let lines = match chooser.section {
        Section::Tasks if for_audience => audience_lines(chooser, area.width),
        Section::Tasks => task_lines(chooser, area, canvas.glyphs),
        Section::Sessions => session_lines(chooser, area.width),
        Section::Agent | Section::Method | Section::Advanced => chooser
            .selected_setting()
            .map(|place| setting_lines(&chooser.model.settings[place], area, canvas.glyphs.proposal))
            .unwrap_or_default(),
    };
    put_lines(&lines, area, canvas);
    if lines.len() > usize::from(area.height) && !area.is_empty() {
        let more = format!(" {}", canvas.glyphs.ellipsis);
        canvas.put_right(area.right(), area.bottom() - 1, 2, &more, canvas.style(Role::Muted));
    }
}

/// Returns the rows of what is known about a session or a setting, in its short form; 0 for a task.
pub(super) fn rows_needed(chooser: &Chooser, columns: u16, mark: &str) -> u16 {
    let area = Rect { width: columns, height: 1, ..Rect::default() };
    let setting = || chooser.selected_setting().map(|place| &chooser.model.settings[place]);
    let lines = match chooser.section {
        Section::Tasks => Vec::new(),
        Section::Sessions => session_lines(chooser, columns),
        _ => setting().map(|setting| setting_lines(setting, area, mark)).unwrap_or_default(),
    };
    u16::try_from(lines.len()).unwrap_or(u16::MAX)
}

/// Draws what Enter starts below a list of settings: the task that is selected on its own page, once it is known.
pub(super) fn draw_task(chooser: &Chooser, area: Rect, canvas: &mut Canvas<'_>) {
    put_lines(&task_lines(chooser, area, canvas.glyphs), area, canvas);
}

/// Returns goal and first observation of the selected task, the method, and the picture of its world if there is room.
fn task_lines(chooser: &Chooser, area: Rect, glyphs: &Glyphs) -> Vec<Line> {
    let (columns, dot) = (area.width, glyphs.separator);
    let about = |name: &str| {
        let environment = chooser.model.environments.iter().find(|environment| environment.name == name);
        environment.map(|environment| one_line(&environment.description).into_owned()).unwrap_or_default()
    };
    let Some(row) = chooser.tasks.selected() else { return Vec::new() };
    let (environment, task) = match row {
        TreeRow::Environment { name, .. } => {
            let mut lines = paragraph((Role::Title, ""), Role::Title, name, columns);
            lines.extend(paragraph((Role::Muted, ""), Role::Muted, &about(name), columns));
            return lines;
        }
        TreeRow::Type { environment, name, tasks, .. } => {
            let text = format!("{environment} {dot} {}: {tasks} tasks", one_line(name));
            let mut lines = paragraph((Role::Muted, ""), Role::Muted, &text, columns);
            lines.push(Line::new());
            let text = several_tasks_text(chooser, environment, name);
            lines.extend(paragraph((Role::Muted, ""), Role::Text, &text, columns));
            return lines;
        }
        TreeRow::Task { environment, task, .. } => (environment, task),
    };
    let mut lines = Vec::new();
    let preview = chooser.preview_of(environment, &task.id);
    // Some environments state a goal only when the task begins.
    let goal = match preview {
        Some(Ok(preview)) if task.goal.is_empty() => &preview.goal,
        _ => &task.goal,
    };
    if !goal.is_empty() {
        lines.extend(paragraph((Role::Title, ""), Role::Title, &one_line(goal), columns));
    }
    let place: Vec<&str> = [environment.as_str(), &task.task_type, &task.id]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    let place = one_line(&place.join(&format!(" {dot} "))).into_owned();
    lines.extend(paragraph((Role::Muted, ""), Role::Muted, &place, columns));
    lines.push(Line::new());
    match preview {
        Some(Ok(preview)) => {
            for line in preview.text.lines() {
                lines.extend(paragraph((Role::Text, ""), Role::Text, &one_line(line), columns));
            }
        }
        Some(Err(reason)) => {
            lines.extend(paragraph((Role::Warning, ""), Role::Warning, &one_line(reason), columns));
        }
        None => lines.push(vec![(Role::Muted, "reading ...".to_owned())]),
    }
    lines.extend(method_lines(chooser, columns));
    if let Some(Ok(preview)) = preview {
        let room = Rect { height: area.height.saturating_sub(lines.len() as u16), ..area };
        lines.extend(world_lines(environment, (goal, &preview.shown), room, glyphs));
    }
    lines
}

/// Says how a run gets several tasks of a type; this screen starts one.
fn several_tasks_text(chooser: &Chooser, environment: &str, task_type: &str) -> String {
    let all = chooser.model.environments.iter().filter(|known| known.name == environment);
    let of_type = all.flat_map(|known| &known.tasks).filter(|task| task.task_type == task_type);
    let ids: Vec<String> = of_type.take(2).map(|task| format!(" --task '{}'", one_line(&task.id))).collect();
    format!(
        "Enter lists them. Several in one run: `{} run --env {environment}{}`, or `--tasks FILE` with one id a line",
        program_name(),
        ids.concat()
    )
}

/// Returns the picture of a task's world at its start under a heading; nothing if it doesn't fit as a whole.
fn world_lines(environment: &str, (goal, shown): (&str, &Value), room: Rect, glyphs: &Glyphs) -> Vec<Line> {
    /// Above the picture: an empty row and the heading.
    const ROWS_ABOVE: u16 = 2;
    let rows = usize::from(room.height.saturating_sub(ROWS_ABOVE));
    let (columns, is_ascii) = (usize::from(room.width), glyphs.ellipsis.is_ascii());
    let request = PictureRequest { shown, truth: None, goal, progress: 0.0, columns, rows, is_ascii };
    let picture = catalog::draw_picture(environment, &request);
    if picture.rows.is_empty() || picture.rows.len() > rows {
        return Vec::new();
    }
    let heading = vec![(Role::Title, "World".to_owned()), (Role::Muted, format!("  {}", picture.summary))];
    let styled = |row: PictureRow| row.into_iter().map(|(role, text)| (role.into(), text)).collect();
    [Line::new(), heading].into_iter().chain(picture.rows.into_iter().map(styled)).collect()
}

/// Returns what Enter starts, for an audience: the goal, who acts and reflects, and how the agent learns.
fn audience_lines(chooser: &Chooser, columns: u16) -> Vec<Line> {
    let Some((_, task)) = chooser.tasks.selected_task() else { return Vec::new() };
    let goal = if task.goal.is_empty() { &task.id } else { &task.goal };
    let mut lines = paragraph((Role::Title, ""), Role::Title, &one_line(goal), columns);
    lines.push(Line::new());
    for (name, role) in [("actor", SettingRole::Actor), ("mentor", SettingRole::Mentor)] {
        if let Some(row) = chooser.model.settings.iter().find(|row| row.role == role) {
            let lead = format!("{name:<8}");
            lines.extend(paragraph((Role::Muted, &lead), Role::Text, &one_line(display_value(row)), columns));
        }
    }
    lines.extend(method_lines(chooser, columns));
    lines
}

/// Returns the method that the run has, with its sentence: what Enter starts depends on it most.
fn method_lines(chooser: &Chooser, columns: u16) -> Vec<Line> {
    let Some(row) = chooser.model.settings.iter().find(|row| row.role == SettingRole::Method) else {
        return Vec::new();
    };
    let meaning = row.meanings.iter().find(|(value, _)| *value == row.value).map_or("", |(_, text)| text);
    let mut lines = vec![Line::new()];
    let lead = format!("{}  ", display_value(row));
    lines.extend(paragraph((Role::Title, &lead), Role::Muted, &one_line(meaning), columns));
    lines
}

fn session_lines(chooser: &Chooser, columns: u16) -> Vec<Line> {
    let Some(session) = chooser.model.sessions.get(chooser.selected_session) else { return Vec::new() };
    let mut lines = paragraph((Role::Title, ""), Role::Title, &one_line(&session.goal), columns);
    let what = match session.status.as_str() {
        "crashed" => "crashed: what was acknowledged is there, and the run goes on after it",
        "stopped" => "stopped: the run goes on where it was left",
        _ => "finished: its steps and lessons can be looked at, and forks go on from any step",
    };
    for text in [what, &session.about, &session.details, &session.path.display().to_string()] {
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, &one_line(text), columns));
    }
    lines
}

fn setting_lines(setting: &SettingRow, area: Rect, mark: &str) -> Vec<Line> {
    let columns = area.width;
    let because =
        if setting.origin == SettingOrigin::Mentor { " (because the mentor is a model)" } else { "" };
    let accepts = accepted_values(setting);
    if area.height < 8 {
        let meaning = setting.meanings.iter().find(|(value, _)| *value == setting.value);
        let text = match meaning {
            Some((value, meaning)) => format!("{value}{because}: {meaning}"),
            None if setting.summary.is_empty() => format!("{}{because}: {accepts}", setting.label),
            None => format!("{}{because}: {}; {accepts}", setting.label, setting.summary),
        };
        return paragraph((Role::Muted, ""), Role::Muted, &one_line(&text), columns);
    }
    let mut lines = paragraph((Role::Title, ""), Role::Title, &setting.label, columns);
    // A summary that only repeats the name says nothing.
    let summary = if setting.summary == setting.label { "" } else { &setting.summary };
    let summary = one_line(&format!("{summary}{because}")).trim().to_owned();
    if !summary.is_empty() {
        lines.extend(paragraph((Role::Text, ""), Role::Text, &summary, columns));
    }
    lines.push(Line::new());
    let values = match &setting.allowed {
        AllowedValues::OneOf(words) => words.as_slice(),
        AllowedValues::Text { suggestions, .. } => suggestions,
        AllowedValues::Number(..) => &[],
    };
    if !matches!(setting.allowed, AllowedValues::OneOf(_)) {
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, &accepts, columns));
        lines.push(Line::new());
    }
    lines.extend(value_lines(setting, values, area, lines.len(), mark));
    lines
}

/// Lists the values that can be selected, each with its meaning, around the present one.
fn value_lines(setting: &SettingRow, values: &[String], area: Rect, used: usize, mark: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut end_of_present = 0;
    for value in values {
        let is_present = *value == setting.value;
        let (lead, role) = if is_present { (mark, Role::SelectedPart) } else { (" ", Role::Text) };
        let shown = SettingRow { value: value.clone(), ..setting.clone() };
        lines.push(vec![
            (Role::Proposal, format!("{lead} ")),
            (role, one_line(display_value(&shown)).into_owned()),
        ]);
        if let Some((_, meaning)) = setting.meanings.iter().find(|(word, _)| word == value) {
            lines.extend(paragraph((Role::Muted, "    "), Role::Muted, meaning, area.width));
        }
        if is_present {
            end_of_present = lines.len();
        }
    }
    let room = usize::from(area.height).saturating_sub(used).max(1);
    let top = end_of_present.saturating_sub(room).min(lines.len());
    lines.split_off(top)
}

/// Returns what a setting accepts, in words.
fn accepted_values(setting: &SettingRow) -> String {
    match &setting.allowed {
        AllowedValues::Text { expected, suggestions, .. } => {
            // A setting of the table describes its values by itself.
            let spec = SETTINGS.iter().find(|spec| spec.name == setting.name);
            let expected = spec.map_or_else(|| (*expected).to_owned(), SettingSpec::allowed_values);
            let others = if suggestions.len() > 1 { ", or choose a suggestion" } else { "" };
            format!("type or paste {expected}{others}")
        }
        AllowedValues::OneOf(words) if words.iter().map(|word| width(word) + 2).sum::<usize>() <= 100 => {
            words.join(", ")
        }
        AllowedValues::OneOf(words) => format!("{} choices", words.len()),
        AllowedValues::Number(from, to) => match SETTINGS.iter().find(|spec| spec.name == setting.name) {
            Some(spec) => spec.allowed_values(),
            None if *to >= MAX_NUMBER => format!("an integer of at least {from}"),
            None => format!("an integer from {from} to {to}"),
        },
    }
}
