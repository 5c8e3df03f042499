//! The picture of the start screen.

use super::choose::{Chooser, Part};
use super::{Answers, TaskRow};
use crate::domain::SettingOrigin;
use crate::text::{one_line, width, wrap_at_most};
use crate::ui::app::Options;
use crate::ui::canvas::Canvas;
use crate::ui::keymap::Mode;
use crate::ui::overlay::window::{Line, put_line};
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
    let told = told(chooser, screen.width);
    let rows = told.len().max(1) as u16;
    let foot = page.bottom(if screen.height > 4 { rows } else { 0 });
    if told.is_empty() {
        keys(options, foot, page.canvas);
    }
    for (y, line) in (foot.y..foot.bottom()).zip(&told) {
        put_line(&[(Role::Warn, format!(" {line}"))], Rect { y, height: 1, ..foot }, page.canvas);
    }
    let knobs = knobs(chooser, screen.width);
    let knob_rows = page.bottom((knobs.len() as u16 + 1).min(screen.height / 3));
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
    if width(&id) <= room {
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

/// The word for where a value comes from.
fn origin(origin: SettingOrigin) -> &'static str {
    match origin {
        SettingOrigin::Paper => "paper",
        SettingOrigin::Code => "code",
        SettingOrigin::Ours => "our default",
        SettingOrigin::Config => "config",
        SettingOrigin::Flag => "flag",
        SettingOrigin::Person => "you",
    }
}

/// The settings, as many in a row as fit.
fn knobs(chooser: &Chooser, columns: u16) -> Vec<Line> {
    let mut pieces: Vec<Line> = Vec::new();
    let mut add = |part: Part, label: &str, value: &str, aside: &str| {
        let here = chooser.part == part;
        let value = if here { format!("< {value} >") } else { value.to_owned() };
        pieces.push(vec![
            (if here { Role::Focus } else { Role::Dim }, format!(" {label} ")),
            (if here { Role::Chosen } else { Role::Text }, value),
            (Role::Dim, if aside.is_empty() { "  ".to_owned() } else { format!(" ({aside})  ") }),
        ]);
    };
    let world = chooser.model.worlds.get(chooser.model.world);
    add(
        Part::World,
        "environment",
        world.map_or("none", |w| w.name.as_str()),
        world.map_or("", |w| w.about.as_str()),
    );
    for (place, knob) in chooser.model.knobs.iter().enumerate() {
        let value = match knob.answers {
            Answers::Text(none) if knob.value.is_empty() => none,
            _ => &knob.value,
        };
        add(Part::Knob(place), &knob.label, value, origin(knob.origin));
    }
    let mut lines: Vec<Line> = Vec::new();
    let mut used = 0;
    for piece in pieces {
        let wide: usize = piece.iter().map(|p| width(&p.1)).sum();
        match lines.last_mut() {
            Some(line) if used + wide <= usize::from(columns) => {
                line.extend(piece);
                used += wide;
            }
            _ => {
                lines.push(piece);
                used = wide;
            }
        }
    }
    lines
}

/// What is wrong or worth a line, in a few rows; and how a text is given where one can be.
fn told(chooser: &Chooser, columns: u16) -> Vec<String> {
    const MOST: usize = 3;
    let knob = match chooser.part {
        Part::Knob(place) => chooser.model.knobs.get(place),
        _ => None,
    };
    let typed = knob.filter(|k| matches!(k.answers, Answers::Text(_)));
    let how = typed.map(|k| format!("{}: type or paste the path of a folder; Backspace takes back", k.label));
    let words = chooser.note.clone().or(how).unwrap_or_default();
    if words.is_empty() {
        return Vec::new();
    }
    wrap_at_most(&one_line(&words), usize::from(columns.saturating_sub(2)).max(1), MOST).0
}

fn keys(options: &Options, area: Rect, canvas: &mut Canvas<'_>) {
    if area.height == 0 {
        return;
    }
    let mut line = Vec::new();
    for hint in options.keymap.hints(Mode::Start) {
        line.push((Role::Key, format!(" {}", hint.key)));
        line.push((Role::Dim, format!(" {} ", hint.word)));
    }
    line.push((Role::Dim, " type to search".to_owned()));
    put_line(&line, area, canvas);
}
