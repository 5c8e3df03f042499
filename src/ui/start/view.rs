//! Draws the start screen: the titles of its pages, the selected page, what is known about the selected row, and keys.

mod preview;
mod sessions;
mod settings;
mod tasks;

use super::chooser::{Chooser, Section, TreeRow};
use crate::text::{hide_private, one_line, program_name, width, wrap_or_mark};
use crate::ui::canvas::Canvas;
use crate::ui::keymap::{Action, Mode};
use crate::ui::options::Options;
use crate::ui::stage::{content_area, gap_rows, hide_private_cells};
use crate::ui::start::types::{SessionRow, SettingRole, SettingRow};
use crate::ui::theme::Role;
use crate::ui::widget::window::{Line, put_line, put_lines};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// From this width on, what is known about the selected row stands at the right of the page.
const MIN_COLUMNS_BESIDE: u16 = 96;
/// The most columns of a page of tasks or settings: in a wider one, the two ends of a row are too far apart to be read as one.
const MAX_PAGE_COLUMNS: u16 = 96;
/// The most columns of the text about the selected row.
const MAX_TEXT_COLUMNS: u16 = 100;
/// The most rows of a note, such as what the keys do.
const MAX_NOTE_ROWS: usize = 4;
/// From this height on, it stands below the page if there is no room at the right.
const MIN_ROWS_BELOW: u16 = 20;

/// Draws the start screen over the whole buffer.
pub fn draw(chooser: &Chooser, options: &Options, buffer: &mut Buffer) {
    let whole = buffer.area;
    let screen = if options.stage_mode { area_for_audience(whole) } else { whole };
    let mut canvas = Canvas { buffer, theme: &options.theme, glyphs: &options.glyphs };
    let canvas = &mut canvas;
    canvas.clear(whole);
    let mut free = FreeArea(screen);
    draw_titles(chooser, free.take_top(1), canvas);
    if screen.height >= MIN_ROWS_BELOW {
        let row = free.take_top(1);
        // For an audience, the same stands beside or below the page, with room around it.
        if !options.stage_mode {
            put_line(&summary_line(chooser, row.width, canvas), row, canvas);
        }
    }
    draw_key_hints(chooser, options, free.take_bottom(u16::from(screen.height > 4)), canvas);
    if let Some(note) = &chooser.note {
        // A path may be broken over two rows, where it would no longer be found.
        let note = if options.stage_mode {
            hide_private(note, &options.private_texts, options.glyphs.cover)
        } else {
            note.clone()
        };
        let columns = usize::from(screen.width.saturating_sub(2)).max(1);
        let rows = wrap_or_mark(&one_line(&note), columns, MAX_NOTE_ROWS, options.glyphs.ellipsis);
        let lines: Vec<Line> = rows.into_iter().map(|row| vec![(Role::Warning, format!(" {row}"))]).collect();
        let room = if screen.height > 8 { lines.len() as u16 } else { 0 };
        put_lines(&lines, free.take_bottom(room), canvas);
    }
    let list_rows = chooser.settings_of(chooser.section).count() as u16 + 1;
    let page = if screen.width >= MIN_COLUMNS_BESIDE {
        let spare = match chooser.section {
            // A session's goal and results need the room.
            Section::Sessions => 0,
            _ => screen.width.saturating_sub(MAX_PAGE_COLUMNS),
        };
        let beside = free.take_right((screen.width * 2 / 5).max(spare));
        draw_rule(beside, canvas);
        preview::draw(
            chooser,
            Rect { x: beside.x + 2, width: beside.width.saturating_sub(3).min(MAX_TEXT_COLUMNS), ..beside },
            options.stage_mode,
            canvas,
        );
        free.0
    } else {
        // A short list leaves its rows to the description. A long one gives it as many as its text needs, at most half; the many
        // settings keep room for most of the texts, so that the list moves little with the selection.
        let spare = match chooser.section {
            Section::Tasks => 0,
            Section::Agent | Section::Method => free.0.height.saturating_sub(list_rows),
            Section::Sessions => free.0.height.saturating_sub(chooser.model.sessions.len() as u16 + 1),
            Section::Advanced => 5,
        };
        let text_rows = preview::rows_needed(chooser, free.0.width.saturating_sub(2), canvas.glyphs.proposal);
        let spare = spare.max((text_rows + 1).min(free.0.height / 2));
        let below = if screen.height >= MIN_ROWS_BELOW {
            free.take_bottom(spare.max(screen.height / 3))
        } else if chooser.section == Section::Tasks || chooser.note.is_some() || screen.height < 9 {
            Rect::default()
        } else {
            free.take_bottom(spare.max(3))
        };
        draw_heading("", false, below, canvas);
        let inside = Rect {
            x: below.x + 1,
            y: below.y + 1,
            width: below.width.saturating_sub(2),
            height: below.height.saturating_sub(1),
        };
        preview::draw(chooser, inside, options.stage_mode, canvas);
        free.0
    };
    let has_task_below = screen.width >= MIN_COLUMNS_BESIDE
        && page.height > list_rows + MIN_ROWS_BELOW
        && !options.stage_mode
        && chooser.is_task_known();
    match chooser.section {
        Section::Tasks => tasks::draw(chooser, page, options.stage_mode, canvas),
        Section::Sessions => sessions::draw(chooser, page, canvas),
        Section::Agent | Section::Method if has_task_below => {
            let below = Rect { y: page.y + list_rows + 1, height: page.height - list_rows - 1, ..page };
            settings::draw(chooser, Rect { height: list_rows, ..page }, canvas);
            draw_heading("Task", false, below, canvas);
            let inside =
                Rect { x: below.x + 1, y: below.y + 1, width: below.width - 2, height: below.height - 1 };
            preview::draw_task(chooser, inside, canvas);
        }
        Section::Agent | Section::Method | Section::Advanced => settings::draw(chooser, page, canvas),
    }
    if options.stage_mode {
        hide_private_cells(canvas.buffer, &options.private_texts, options.glyphs.cover);
    }
}

/// Returns the area with margins and empty rows around it, as the screen for an audience has them.
fn area_for_audience(screen: Rect) -> Rect {
    let (content, gap) = (content_area(screen), gap_rows(screen));
    Rect { y: screen.y + gap, height: screen.height - 2 * gap, ..content }
}

/// The part of the screen that is still free.
struct FreeArea(Rect);

impl FreeArea {
    fn take_top(&mut self, rows: u16) -> Rect {
        let rows = rows.min(self.0.height);
        let area = Rect { height: rows, ..self.0 };
        self.0 = Rect { y: self.0.y + rows, height: self.0.height - rows, ..self.0 };
        area
    }

    fn take_bottom(&mut self, rows: u16) -> Rect {
        let rows = rows.min(self.0.height);
        self.0.height -= rows;
        Rect { y: self.0.bottom(), height: rows, ..self.0 }
    }

    fn take_right(&mut self, columns: u16) -> Rect {
        let columns = columns.min(self.0.width);
        self.0.width -= columns;
        Rect { x: self.0.right(), width: columns, ..self.0 }
    }
}

/// Draws the program's name and the titles of the pages, the shown one highlighted.
fn draw_titles(chooser: &Chooser, area: Rect, canvas: &mut Canvas<'_>) {
    let mut line: Line = Vec::new();
    for section in chooser.sections() {
        let sessions = chooser.model.sessions.len();
        let title = match section {
            Section::Sessions if chooser.model.session_count > sessions => {
                format!(" {} {sessions} of {} ", section.title(), chooser.model.session_count)
            }
            Section::Sessions => format!(" {} {sessions} ", section.title()),
            _ => format!(" {} ", section.title()),
        };
        let has_crashed = || chooser.model.sessions.iter().any(|session| session.status == "crashed");
        let role = match section {
            _ if section == chooser.section => Role::SelectedPart,
            Section::Sessions if has_crashed() => Role::Warning,
            _ => Role::Muted,
        };
        line.push((role, title));
        line.push((Role::Muted, " ".to_owned()));
    }
    let name = format!(" {}  ", program_name());
    let columns = width(&name) + line.iter().map(|(_, text)| width(text)).sum::<usize>();
    // The last column is blank.
    if columns <= usize::from(area.width) + 1 {
        line.insert(0, (Role::Title, name));
    }
    if area.height > 0 {
        put_line(&line, area, canvas);
    }
}

/// Returns what Enter starts: the task, who acts and reflects, the method; or the session that it opens.
fn summary_line(chooser: &Chooser, columns: u16, canvas: &Canvas<'_>) -> Line {
    const STARTS: &str = " starts  ";
    if chooser.section == Section::Sessions {
        let session = chooser.model.sessions.get(chooser.selected_session);
        let (goal, about) = session.map_or(("", ""), |session| (&session.goal, &session.about));
        return vec![
            (Role::Muted, format!(" {}s  ", opening_verb(session))),
            (Role::Text, one_line(goal).into_owned()),
            (Role::Muted, format!("  {} {}", canvas.glyphs.separator, one_line(about))),
        ];
    }
    let value = |role: SettingRole| {
        let row = chooser.model.settings.iter().find(|row: &&SettingRow| row.role == role);
        row.map(settings::display_value).unwrap_or_default()
    };
    let task = match chooser.tasks.selected_task() {
        Some((_, task)) if task.goal.is_empty() => task.id.clone(),
        Some((_, task)) => task.goal.clone(),
        None => "no task selected".to_owned(),
    };
    let method = match value(SettingRole::Preset) {
        "" | "none" => value(SettingRole::Method).to_owned(),
        preset => format!("{} ({preset})", value(SettingRole::Method)),
    };
    let actor = format!("actor {}", value(SettingRole::Actor));
    let mentor = format!("mentor {}", value(SettingRole::Mentor));
    let (task, mut about) = (one_line(&task).into_owned(), String::new());
    // What doesn't fit is left out, never cut.
    for part in [method, actor, mentor] {
        let gap = if about.is_empty() { "  " } else { " " };
        let more = format!("{about}{gap}{} {}", canvas.glyphs.separator, one_line(&part));
        if width(STARTS) + width(&task) + width(&more) > usize::from(columns) {
            break;
        }
        about = more;
    }
    vec![(Role::Muted, STARTS.to_owned()), (Role::Text, task), (Role::Muted, about)]
}

/// Draws a horizontal rule with a heading.
fn draw_heading(text: &str, focused: bool, area: Rect, canvas: &mut Canvas<'_>) {
    if area.height == 0 {
        return;
    }
    let rule = canvas.glyphs.box_drawing[2 | 8].repeat(usize::from(area.width));
    canvas.put(area.x, area.y, area.width, &rule, canvas.style(Role::Frame));
    if text.is_empty() {
        return;
    }
    let role = if focused { Role::TitleFocus } else { Role::Title };
    canvas.put(area.x + 1, area.y, area.width.saturating_sub(2), &format!(" {text} "), canvas.style(role));
}

/// Returns what Enter does with a session: a finished one has nothing left to play.
fn opening_verb(session: Option<&SessionRow>) -> &'static str {
    if session.is_some_and(SessionRow::is_finished) { "open" } else { "resume" }
}

/// Draws a vertical rule at the left edge.
fn draw_rule(area: Rect, canvas: &mut Canvas<'_>) {
    for y in area.top()..area.bottom() {
        let rule = canvas.glyphs.box_drawing[1 | 4];
        canvas.put(area.x, y, 1, rule, canvas.style(Role::Frame));
    }
}

fn draw_key_hints(chooser: &Chooser, options: &Options, area: Rect, canvas: &mut Canvas<'_>) {
    if area.height == 0 {
        return;
    }
    let key = |action| options.keymap.key_label_in(Mode::Start, action).unwrap_or_default();
    let arrows = format!("{}{}", key(Action::Back), key(Action::Forward));
    let is_search = !chooser.tasks.query().is_empty();
    let (sideways, more) = match chooser.section {
        // A search lists tasks without branches.
        Section::Tasks if is_search => (None, ""),
        Section::Tasks => (Some((arrows, "fold")), "type to search"),
        Section::Sessions => (None, ""),
        Section::Agent | Section::Method | Section::Advanced => (Some((arrows, "change")), ""),
    };
    let has_rows = match chooser.section {
        Section::Tasks => chooser.tasks.rows().len() > 0,
        Section::Sessions => !chooser.model.sessions.is_empty(),
        Section::Agent | Section::Method | Section::Advanced => true,
    };
    let mut hints: Vec<(String, String)> = options
        .keymap
        .key_hints(Mode::Start)
        .into_iter()
        .filter(|hint| hint.action != Action::Accept || has_rows)
        .map(|hint| {
            let opens = chooser.section == Section::Sessions && hint.action == Action::Accept;
            let session = chooser.model.sessions.get(chooser.selected_session);
            let label = match hint.action {
                _ if opens => opening_verb(session),
                Action::Accept if chooser.section == Section::Tasks => match chooser.tasks.selected() {
                    Some(TreeRow::Environment { tasks: 0, .. }) => "say why it has no tasks",
                    Some(TreeRow::Environment { is_folded, .. } | TreeRow::Type { is_folded, .. }) => {
                        if *is_folded {
                            "unfold"
                        } else {
                            "fold"
                        }
                    }
                    _ => hint.label,
                },
                Action::Close if is_search => "clear the search",
                _ => hint.label,
            };
            (hint.key, label.to_owned())
        })
        .collect();
    if let Some((keys, label)) = sideways {
        hints.insert(1.min(hints.len()), (keys, label.to_owned()));
    }
    // A hint that doesn't fit is left out, never cut.
    let (mut line, mut free) = (Line::new(), usize::from(area.width));
    let mut push = |pieces: Line| {
        let gap = if line.is_empty() { " " } else { "  " };
        let columns: usize = pieces.iter().map(|(_, text)| width(text)).sum();
        if let Some(rest) = free.checked_sub(columns + gap.len()) {
            line.push((Role::Muted, gap.to_owned()));
            line.extend(pieces);
            free = rest;
        }
    };
    for (key, label) in hints {
        push(vec![(Role::Key, key), (Role::Muted, format!(" {label}"))]);
    }
    push(vec![(Role::Muted, more.to_owned())]);
    put_line(&line, area, canvas);
}

/// Returns a line with a text at its left and one at its right edge, at least one column apart; the left one is cut off if there
/// isn't room for both.
fn spread(left: Line, right: (Role, String), columns: u16) -> Line {
    let used: usize = left.iter().map(|piece| width(&piece.1)).sum();
    let gap = usize::from(!right.1.is_empty());
    let room = usize::from(columns).saturating_sub(width(&right.1) + 1 + gap);
    let mut line = left;
    if used > room {
        let mut left_over = room;
        for piece in &mut line {
            piece.1 = crate::text::truncate(&piece.1, left_over, "…");
            left_over -= width(&piece.1).min(left_over);
        }
    }
    let used: usize = line.iter().map(|piece| width(&piece.1)).sum();
    line.push((Role::Text, " ".repeat(usize::from(columns).saturating_sub(used + width(&right.1) + 1))));
    line.push(right);
    line
}
