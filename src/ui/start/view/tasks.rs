//! The page of tasks: a search line and the tree.

use super::{draw_heading, spread};
use crate::text::{fits, one_line, program_name, truncate, width};
use crate::ui::canvas::Canvas;
use crate::ui::start::chooser::{Chooser, TreeRow};
use crate::ui::theme::Role;
use crate::ui::widget::window::{Line, paragraph, put_line, put_lines};
use ratatui::layout::Rect;

/// Draws the page; for an audience without ids and numbers.
pub(super) fn draw(chooser: &Chooser, area: Rect, for_audience: bool, canvas: &mut Canvas<'_>) {
    let tasks = &chooser.tasks;
    let (query, dot) = (tasks.query(), canvas.glyphs.separator);
    let heading = if query.is_empty() {
        let names: Vec<&str> = chooser.model.environments.iter().map(|e| e.name.as_str()).collect();
        format!("Tasks {dot} {} environments", names.len())
    } else {
        format!("Tasks {dot} {} found", tasks.rows().len())
    };
    draw_heading(&heading, true, area, canvas);
    if area.height < 2 {
        return;
    }
    put_line(&[(Role::Key, " search ".to_owned())], Rect { y: area.y + 1, height: 1, ..area }, canvas);
    let field = Rect { x: area.x + 8, y: area.y + 1, width: area.width.saturating_sub(8), height: 1 };
    tasks.draw_field(true, field, canvas);
    if !query.is_empty() && tasks.rows().len() == 0 {
        let text = if "demos".starts_with(&query.trim().to_lowercase()) {
            format!(" no task; `{0} demo` plays a demo, `{0} demo --list` lists them", program_name())
        } else {
            " no task matches".to_owned()
        };
        let below = Rect { y: area.y + 3, height: area.height.saturating_sub(3), ..area };
        put_lines(&paragraph((Role::Muted, " "), Role::Text, text.trim(), below.width), below, canvas);
    }
    // The last columns hold the arrows of a longer list.
    let list = Rect { y: area.y + 2, height: area.height - 2, width: area.width.saturating_sub(2), ..area };
    if query.is_empty() && !for_audience && usize::from(list.height) > tasks.rows().len() + 1 {
        let text = format!(" demos: {0} demo, or {0} demo --list", program_name());
        let last = Rect { y: area.bottom() - 1, height: 1, ..area };
        put_line(&[(Role::Muted, text)], last, canvas);
    }
    let glyphs = canvas.glyphs;
    let (folded, unfolded) = ("+", "-");
    let is_search = !query.is_empty();
    let columns = list.width;
    tasks.draw_list(list, canvas, |row, is_selected| {
        let role = |plain| if is_selected { Role::Selection } else { plain };
        let mark = if is_selected { glyphs.proposal } else { " " };
        let mark = (Role::Proposal, format!(" {mark} "));
        match row {
            TreeRow::Environment { name, tasks, is_folded } => {
                let sign = if *is_folded { folded } else { unfolded };
                // Beside the mark, the sign, the name and two blanks.
                let room = usize::from(columns).saturating_sub(width(name) + 8);
                spread(
                    vec![mark, (Role::Muted, format!("{sign} ")), (role(Role::Title), name.clone())],
                    (Role::Muted, environment_note(chooser, name, *tasks, (room, glyphs.ellipsis))),
                    columns,
                )
            }
            TreeRow::Type { name, tasks, is_folded, .. } => {
                let sign = if *is_folded { folded } else { unfolded };
                let name = (role(Role::Text), one_line(name).into_owned());
                spread(
                    vec![mark, (Role::Muted, format!("  {sign} ")), name],
                    (Role::Muted, if for_audience { String::new() } else { tasks.to_string() }),
                    columns,
                )
            }
            TreeRow::Task { environment, has_type, task } => {
                let indent = match (is_search, has_type) {
                    (true, _) => "",
                    (false, true) => "      ",
                    (false, false) => "    ",
                };
                let goal = if task.goal.is_empty() { &task.id } else { &task.goal };
                let left: Line = vec![
                    mark,
                    (Role::Text, indent.to_owned()),
                    (role(Role::Text), one_line(goal).into_owned()),
                ];
                let id = if is_search { format!("{environment} {dot} {}", task.id) } else { task.id.clone() };
                let id = one_line(&id).into_owned();
                let is_short = !task.goal.is_empty() && fits(&id, usize::from(columns / 2));
                let has_id = is_short && !for_audience;
                spread(left, (Role::Muted, if has_id { id } else { String::new() }), columns)
            }
        }
    });
}

/// Returns the number of an environment's tasks, or why there are none, in at most so many cells.
fn environment_note(
    chooser: &Chooser,
    name: &str,
    tasks: usize,
    (columns, ellipsis): (usize, &str),
) -> String {
    match chooser.model.environments.iter().find(|environment| environment.name == name) {
        Some(environment) if tasks == 0 => {
            let reason = one_line(&environment.description);
            truncate(reason.split(';').next().unwrap_or_default(), columns, ellipsis)
        }
        _ => tasks.to_string(),
    }
}
