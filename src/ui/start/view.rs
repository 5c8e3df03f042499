//! The picture of the start screen.

mod settings;

use super::TaskRow;
use super::choose::{Chooser, Part};
use crate::text::{fits, one_line, width, wrap_at_most};
use crate::ui::app::Options;
use crate::ui::canvas::Canvas;
use crate::ui::keymap::{Action, Mode};
use crate::ui::overlay::window::put_line;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws it over the whole buffer.
pub fn draw(chooser: &Chooser, options: &Options, buffer: &mut Buffer) {
    let screen = buffer.area;
    let mut canvas = Canvas { buffer, theme: &options.theme, glyphs: &options.glyphs };
    canvas.clear(screen);
    let mut page = Page { left: screen, canvas: &mut canvas };
    let head = page.top(1);
    page.line(head, &[(Role::Title, " retrospect  ".to_owned()), (Role::Dim, SAYING.to_owned())]);
    let foot = page.bottom(u16::from(screen.height > 4));
    keys(chooser, options, foot, page.canvas);
    let (role, told) = told(chooser, screen.width);
    let told_rows = page.bottom(if screen.height > 8 { told.len() as u16 } else { 0 });
    for (y, line) in (told_rows.y..told_rows.bottom()).zip(&told) {
        put_line(&[(role, format!(" {line}"))], Rect { y, height: 1, ..told_rows }, page.canvas);
    }
    let in_a_row = settings::in_a_row(screen.width);
    chooser.in_a_row.set(in_a_row);
    let knobs = settings::lines(chooser, screen.width, in_a_row);
    let knob_rows = page.bottom((knobs.len() as u16 + 1).min(screen.height * 2 / 5));
    let wanted = chooser.model.sessions.len().min(4) as u16;
    let session_rows =
        if wanted > 0 { page.bottom((wanted + 1).min(screen.height / 4)) } else { Rect::default() };
    tasks(chooser, page.left, page.canvas);
    sessions(chooser, session_rows, page.canvas);
    heading("Settings", matches!(chooser.part, Part::World | Part::Knob(_)), knob_rows, page.canvas);
    // The one that has the keys is in sight.
    let room = usize::from(knob_rows.height.saturating_sub(1));
    let focused = knobs.iter().position(|line| line.iter().any(|p| p.0 == Role::Focus)).unwrap_or(0);
    let top = (focused + 1).saturating_sub(room);
    for (place, line) in knobs.iter().skip(top).take(room).enumerate() {
        let area = Rect { y: knob_rows.y + 1 + place as u16, height: 1, ..knob_rows };
        put_line(line, area, page.canvas);
    }
    let hidden = knobs.len().saturating_sub(top + room);
    if hidden > 0 && knob_rows.height > 0 {
        let words = format!(" {} {hidden} more rows below ", page.canvas.glyphs.more);
        let style = page.canvas.style(Role::Dim);
        page.canvas.put_right(knob_rows.right() - 1, knob_rows.y, knob_rows.width / 2, &words, style);
    }
}

const SAYING: &str = "Step through an agent's episode, watch it reflect, teach it.";

/// What of the screen is still free.
struct Page<'a, 'b> {
    left: Rect,
    canvas: &'a mut Canvas<'b>,
}

impl Page<'_, '_> {
    fn top(&mut self, rows: u16) -> Rect {
        let rows = rows.min(self.left.height);
        let area = Rect { height: rows, ..self.left };
        self.left = Rect { y: self.left.y + rows, height: self.left.height - rows, ..self.left };
        area
    }

    fn bottom(&mut self, rows: u16) -> Rect {
        let rows = rows.min(self.left.height);
        self.left.height -= rows;
        Rect { y: self.left.bottom(), height: rows, ..self.left }
    }

    fn line(&mut self, area: Rect, line: &[(Role, String)]) {
        if area.height > 0 {
            put_line(line, area, self.canvas);
        }
    }
}

fn heading(words: &str, focused: bool, area: Rect, canvas: &mut Canvas<'_>) {
    if area.height == 0 {
        return;
    }
    let rule = canvas.glyphs.joints[2 | 8].repeat(usize::from(area.width));
    canvas.put(area.x, area.y, area.width, &rule, canvas.style(Role::Frame));
    let role = if focused { Role::Focus } else { Role::Title };
    canvas.put(area.x + 1, area.y, area.width.saturating_sub(2), &format!(" {words} "), canvas.style(role));
}

fn tasks(chooser: &Chooser, area: Rect, canvas: &mut Canvas<'_>) {
    let here = chooser.part == Part::Tasks;
    let world = chooser.model.worlds.get(chooser.model.world);
    let name = world.map_or("", |w| w.name.as_str());
    let dot = canvas.glyphs.dot;
    let all = chooser.tasks().len();
    heading(&format!("Task {dot} {name} {dot} {} of {all}", chooser.fitting.len()), here, area, canvas);
    if area.height < 2 {
        return;
    }
    let row = |n: u16| Rect { y: area.y + n, height: 1, ..area };
    let search = if here { Role::Key } else { Role::Dim };
    put_line(&[(search, " search ".to_owned())], row(1), canvas);
    let line = Rect { x: area.x + 8, width: area.width.saturating_sub(8), ..row(1) };
    chooser.query.draw(here, line, canvas);
    let list = usize::from(area.height - 2);
    if all == 0 {
        let about = world.map_or("there is no environment here", |w| w.about.as_str());
        if list > 0 {
            put_line(&[(Role::Warn, format!(" {about}"))], row(2), canvas);
        }
        return;
    }
    let top = (chooser.at + 1).saturating_sub(list);
    for place in top..chooser.fitting.len().min(top + list) {
        let Some(task) = chooser.fitting.get(place).and_then(|i| chooser.tasks().get(*i)) else { continue };
        let chosen = place == chooser.at;
        let mark = if chosen { canvas.glyphs.proposal } else { " " };
        let role = if chosen { Role::Chosen } else { Role::Text };
        let goal = if task.goal.is_empty() { &task.id } else { &task.goal };
        let area = row(2 + (place - top) as u16);
        let aside = aside(chooser.tasks(), task, area.width);
        let wide = width(&aside) as u16;
        let room = area.width.saturating_sub(if wide < area.width / 2 { wide + 2 } else { 0 });
        put_line(
            &[(Role::Proposal, format!(" {mark} ")), (role, goal.clone())],
            Rect { width: room, ..area },
            canvas,
        );
        if wide > 0 && room < area.width {
            canvas.put_right(area.right() - 1, area.y, wide, &aside, canvas.style(Role::Dim));
        }
    }
}

/// The id of a task beside its goal. Where it is long, only its end, which tells tasks of equal goals apart.
fn aside(all: &[TaskRow], task: &TaskRow, columns: u16) -> String {
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

fn sessions(chooser: &Chooser, area: Rect, canvas: &mut Canvas<'_>) {
    if area.height < 2 {
        return;
    }
    let here = chooser.part == Part::Sessions;
    heading("Go on with", here, area, canvas);
    let list = usize::from(area.height - 1);
    let top = (chooser.session + 1).saturating_sub(list);
    for (place, session) in chooser.model.sessions.iter().enumerate().skip(top).take(list) {
        let chosen = here && place == chooser.session;
        let mark = if chosen { canvas.glyphs.proposal } else { " " };
        let standing = if session.standing == "crashed" { Role::Warn } else { Role::Dim };
        let line = [
            (Role::Proposal, format!(" {mark} ")),
            (standing, format!("{:<8} ", session.standing)),
            // Sessions often share their goal: what tells them apart comes first, and is not cut off.
            (Role::Dim, format!("{}  ", session.about)),
            (if chosen { Role::Chosen } else { Role::Text }, session.goal.clone()),
        ];
        put_line(&line, Rect { y: area.y + 1 + (place - top) as u16, height: 1, ..area }, canvas);
    }
}

/// What is wrong, in a few rows; else what the setting that has the keys does.
fn told(chooser: &Chooser, columns: u16) -> (Role, Vec<String>) {
    const MOST: usize = 3;
    let (role, words) = match &chooser.note {
        Some(note) => (Role::Warn, note.clone()),
        None => (Role::Dim, settings::about(chooser).unwrap_or_default()),
    };
    if words.is_empty() {
        return (role, Vec::new());
    }
    (role, wrap_at_most(&one_line(&words), usize::from(columns.saturating_sub(2)).max(1), MOST).0)
}

fn keys(chooser: &Chooser, options: &Options, area: Rect, canvas: &mut Canvas<'_>) {
    if area.height == 0 {
        return;
    }
    let mut line = Vec::new();
    for hint in options.keymap.hints(Mode::Start) {
        line.push((Role::Key, format!(" {}", hint.key)));
        line.push((Role::Dim, format!(" {} ", hint.word)));
    }
    let more = match chooser.part {
        Part::Tasks => " type to search",
        Part::Sessions => " Enter goes on with it",
        Part::World | Part::Knob(_) => {
            let key = |action| options.keymap.label_in(Mode::Start, action).unwrap_or_default();
            let change = format!(" {}{}", key(Action::Back), key(Action::Forward));
            line.push((Role::Key, change));
            line.push((Role::Dim, " change ".to_owned()));
            ""
        }
    };
    line.push((Role::Dim, more.to_owned()));
    put_line(&line, area, canvas);
}
