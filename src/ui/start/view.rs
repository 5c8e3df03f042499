//! Draws the start screen.

mod settings;

use super::chooser::{Chooser, Section};
use crate::text::{fits, one_line, program_name, width, wrap_at_most};
use crate::ui::canvas::Canvas;
use crate::ui::keymap::{Action, Mode};
use crate::ui::options::Options;
use crate::ui::start::types::TaskRow;
use crate::ui::theme::Role;
use crate::ui::widget::window::put_line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws the start screen over the whole buffer.
pub fn draw(chooser: &Chooser, options: &Options, buffer: &mut Buffer) {
    let screen = buffer.area;
    let mut canvas = Canvas { buffer, theme: &options.theme, glyphs: &options.glyphs };
    canvas.clear(screen);
    let mut page = FreeArea { remaining: screen, canvas: &mut canvas };
    let head = page.take_top(1);
    page.write_line(
        head,
        &[(Role::Title, format!(" {}  ", program_name())), (Role::Muted, TAGLINE.to_owned())],
    );
    let foot = page.take_bottom(u16::from(screen.height > 4));
    draw_key_hints(chooser, options, foot, page.canvas);
    let (role, status) = status_lines(chooser, screen.width);
    let status_rows = page.take_bottom(if screen.height > 8 { status.len() as u16 } else { 0 });
    for (y, line) in (status_rows.y..status_rows.bottom()).zip(&status) {
        put_line(&[(role, format!(" {line}"))], Rect { y, height: 1, ..status_rows }, page.canvas);
    }
    let in_a_row = settings::settings_per_row(screen.width);
    chooser.settings_per_row.set(in_a_row);
    let settings = settings::table_lines(chooser, screen.width, in_a_row);
    let setting_rows = page.take_bottom((settings.len() as u16 + 1).min(screen.height * 2 / 5));
    let wanted = chooser.model.sessions.len().min(4) as u16;
    let session_rows =
        if wanted > 0 { page.take_bottom((wanted + 1).min(screen.height / 4)) } else { Rect::default() };
    draw_tasks(chooser, page.remaining, page.canvas);
    draw_sessions(chooser, session_rows, page.canvas);
    draw_heading(
        "Settings",
        matches!(chooser.section, Section::Environment | Section::Setting(_)),
        setting_rows,
        page.canvas,
    );
    // Scroll so that the focused setting is visible.
    let room = usize::from(setting_rows.height.saturating_sub(1));
    let focused = settings.iter().position(|line| line.iter().any(|p| p.0 == Role::TitleFocus)).unwrap_or(0);
    let top = (focused + 1).saturating_sub(room);
    for (place, line) in settings.iter().skip(top).take(room).enumerate() {
        let area = Rect { y: setting_rows.y + 1 + place as u16, height: 1, ..setting_rows };
        put_line(line, area, page.canvas);
    }
    let hidden = settings.len().saturating_sub(top + room);
    if hidden > 0 && setting_rows.height > 0 {
        let text = format!(" {} {hidden} more rows below ", page.canvas.glyphs.ellipsis);
        let style = page.canvas.style(Role::Muted);
        page.canvas.put_right(setting_rows.right() - 1, setting_rows.y, setting_rows.width / 2, &text, style);
    }
}

const TAGLINE: &str = "Step through an agent's episode, watch it reflect, teach it.";

/// The part of the screen that is still free.
struct FreeArea<'a, 'b> {
    remaining: Rect,
    canvas: &'a mut Canvas<'b>,
}

impl FreeArea<'_, '_> {
    fn take_top(&mut self, rows: u16) -> Rect {
        let rows = rows.min(self.remaining.height);
        let area = Rect { height: rows, ..self.remaining };
        self.remaining =
            Rect { y: self.remaining.y + rows, height: self.remaining.height - rows, ..self.remaining };
        area
    }

    fn take_bottom(&mut self, rows: u16) -> Rect {
        let rows = rows.min(self.remaining.height);
        self.remaining.height -= rows;
        Rect { y: self.remaining.bottom(), height: rows, ..self.remaining }
    }

    fn write_line(&mut self, area: Rect, line: &[(Role, String)]) {
        if area.height > 0 {
            put_line(line, area, self.canvas);
        }
    }
}

fn draw_heading(text: &str, focused: bool, area: Rect, canvas: &mut Canvas<'_>) {
    if area.height == 0 {
        return;
    }
    let rule = canvas.glyphs.box_drawing[2 | 8].repeat(usize::from(area.width));
    canvas.put(area.x, area.y, area.width, &rule, canvas.style(Role::Frame));
    let role = if focused { Role::TitleFocus } else { Role::Title };
    canvas.put(area.x + 1, area.y, area.width.saturating_sub(2), &format!(" {text} "), canvas.style(role));
}

fn draw_tasks(chooser: &Chooser, area: Rect, canvas: &mut Canvas<'_>) {
    let here = chooser.section == Section::Tasks;
    let environment = chooser.model.environments.get(chooser.model.environment);
    let name = environment.map_or("", |e| e.name.as_str());
    let dot = canvas.glyphs.separator;
    let (shown, all) = (chooser.tasks.matches().len(), chooser.tasks.items().len());
    draw_heading(&format!("Task {dot} {name} {dot} {shown} of {all}"), here, area, canvas);
    if area.height < 2 {
        return;
    }
    let row = |n: u16| Rect { y: area.y + n, height: 1, ..area };
    let search = if here { Role::Key } else { Role::Muted };
    put_line(&[(search, " search ".to_owned())], row(1), canvas);
    let line = Rect { x: area.x + 8, width: area.width.saturating_sub(8), ..row(1) };
    chooser.tasks.draw_field((Role::Key, ""), here, line, canvas);
    let list = usize::from(area.height - 2);
    if all == 0 {
        let about = environment.map_or("no environments", |e| e.description.as_str());
        if list > 0 {
            put_line(&[(Role::Warning, format!(" {about}"))], row(2), canvas);
        }
        return;
    }
    let selected = chooser.tasks.selected_row();
    let top = (selected + 1).saturating_sub(list);
    for (place, task) in chooser.tasks.matches().enumerate().skip(top).take(list) {
        let chosen = place == selected;
        let mark = if chosen { canvas.glyphs.proposal } else { " " };
        let role = if chosen { Role::Selection } else { Role::Text };
        let goal = if task.goal.is_empty() { &task.id } else { &task.goal };
        let area = row(2 + (place - top) as u16);
        let aside = task_id_label(chooser.tasks.items(), task, area.width);
        let wide = width(&aside) as u16;
        let room = area.width.saturating_sub(if wide < area.width / 2 { wide + 2 } else { 0 });
        put_line(
            &[(Role::Proposal, format!(" {mark} ")), (role, goal.clone())],
            Rect { width: room, ..area },
            canvas,
        );
        if wide > 0 && room < area.width {
            canvas.put_right(area.right() - 1, area.y, wide, &aside, canvas.style(Role::Muted));
        }
    }
}

/// Returns the task id to show beside the goal. Of a long id only the end, and only if another task has the same goal.
fn task_id_label(all: &[TaskRow], task: &TaskRow, columns: u16) -> String {
    let room = usize::from(columns / 2).saturating_sub(1);
    if task.goal.is_empty() {
        return String::new();
    }
    let id = one_line(&task.id);
    if fits(&id, room) {
        return id.into_owned();
    }
    if all.iter().filter(|t| t.goal == task.goal).nth(1).is_none() {
        return String::new();
    }
    let end = id.rsplit('/').next().unwrap_or(&id);
    let skip = end.chars().count().saturating_sub(room.min(usize::from(columns / 3)));
    end.chars().skip(skip).collect()
}

fn draw_sessions(chooser: &Chooser, area: Rect, canvas: &mut Canvas<'_>) {
    if area.height < 2 {
        return;
    }
    let here = chooser.section == Section::Sessions;
    draw_heading("Resume", here, area, canvas);
    let list = usize::from(area.height - 1);
    let top = (chooser.selected_session + 1).saturating_sub(list);
    for (place, session) in chooser.model.sessions.iter().enumerate().skip(top).take(list) {
        let chosen = here && place == chooser.selected_session;
        let mark = if chosen { canvas.glyphs.proposal } else { " " };
        let status_role = if session.status == "crashed" { Role::Warning } else { Role::Muted };
        let line = [
            (Role::Proposal, format!(" {mark} ")),
            (status_role, format!("{:<8} ", session.status)),
            // Sessions often share a goal; what distinguishes them comes first, so that it isn't cut off.
            (Role::Muted, format!("{}  ", session.about)),
            (if chosen { Role::Selection } else { Role::Text }, session.goal.clone()),
        ];
        put_line(&line, Rect { y: area.y + 1 + (place - top) as u16, height: 1, ..area }, canvas);
    }
}

/// Returns the note, else a description of the focused setting, wrapped to at most three lines.
fn status_lines(chooser: &Chooser, columns: u16) -> (Role, Vec<String>) {
    const MAX_LINES: usize = 3;
    let (role, text) = match &chooser.note {
        Some(note) => (Role::Warning, note.clone()),
        None => (Role::Muted, settings::selected_description(chooser).unwrap_or_default()),
    };
    if text.is_empty() {
        return (role, Vec::new());
    }
    (role, wrap_at_most(&one_line(&text), usize::from(columns.saturating_sub(2)).max(1), MAX_LINES).0)
}

fn draw_key_hints(chooser: &Chooser, options: &Options, area: Rect, canvas: &mut Canvas<'_>) {
    if area.height == 0 {
        return;
    }
    let mut line = Vec::new();
    for hint in options.keymap.key_hints(Mode::Start) {
        line.push((Role::Key, format!(" {}", hint.key)));
        line.push((Role::Muted, format!(" {} ", hint.label)));
    }
    let more = match chooser.section {
        Section::Tasks => " type to search",
        Section::Sessions => " Enter resumes it",
        Section::Environment | Section::Setting(_) => {
            let key = |action| options.keymap.key_label_in(Mode::Start, action).unwrap_or_default();
            let change = format!(" {}{}", key(Action::Back), key(Action::Forward));
            line.push((Role::Key, change));
            line.push((Role::Muted, " change ".to_owned()));
            ""
        }
    };
    line.push((Role::Muted, more.to_owned()));
    put_line(&line, area, canvas);
}
