//! The screen for an audience: goal, thoughts, actions, what the environment said, and changed lessons, with room between
//! them. Shows nothing after the selected step, so that a talk doesn't tell its end.

use super::live::live_rows;
use super::rows::{PaneContent, Row, RowLayout, RowWriter, kind_role, push_note};
use super::story::{RowTime, draw_row};
use super::{caption, footer, status};
use crate::domain::{PersonAct, Reflection, Step};
use crate::engine::State;
use crate::report::{Block, Tone, plain_text, start_section, step_section};
use crate::text::width;
use crate::ui::canvas::Canvas;
use crate::ui::chapters::Chapter;
use crate::ui::frame_data::Context;
use crate::ui::glyphs::Glyphs;
use crate::ui::labels::progress_text;
use crate::ui::layout::{Pane, PaneArea, ScreenLayout};
use crate::ui::model::Model;
use crate::ui::stage::{content_area, gap_rows};
use crate::ui::theme::Role;
use crate::ui::view::cache::ViewCache;
use ratatui::layout::Rect;

/// The most rows of an observation.
const MAX_OBSERVATION_ROWS: usize = 4;
/// The most rows of one of the newest steps, such as the first one, which lists what there is.
const MAX_NEW_OBSERVATION_ROWS: usize = 12;
/// How many steps before the selected one are among the newest.
const NEWEST_STEPS: u32 = 2;

/// What stands before the pressed keys.
const PRESSED_LABEL: &str = "pressed: ";

/// The columns of the footer that its own keys keep beside the pressed ones, where the row has some more.
const HINT_COLUMNS: u16 = 50;

/// Returns how many rows above the last one the caption takes, with the gaps around it.
pub(super) fn caption_rows(model: &Model, screen: Rect) -> u16 {
    let rows = caption::rows_needed(model, content_area(screen));
    if rows == 0 { 0 } else { rows + 2 * gap_rows(screen) }
}

/// Draws the screen. `covered` is the number of rows that overlays cover at the bottom.
pub(super) fn draw(
    model: &Model,
    context: &Context<'_>,
    covered: u16,
    cache: &mut ViewCache,
    canvas: &mut Canvas<'_>,
) {
    let screen = canvas.buffer.area;
    let (content, gap) = (content_area(screen), gap_rows(screen));
    let caption_rows = caption::rows_needed(model, content);
    let row = |y: u16, height: u16| Rect { y, height, ..content }.intersection(screen);
    let status = row(screen.y + gap, 1);
    let footer = row(screen.bottom().saturating_sub(1 + gap), 1);
    let caption = row(footer.y.saturating_sub(caption_rows + gap), caption_rows);
    let top = status.bottom() + 2 * gap;
    let bottom = caption.y.saturating_sub(gap).min(screen.bottom().saturating_sub(covered));
    let body = row(top, bottom.saturating_sub(top));
    status::draw(model, context, status, canvas);
    if gap > 0 {
        let line = canvas.glyphs.border_set().horizontal_top.repeat(usize::from(content.width));
        canvas.put(content.x, status.bottom(), content.width, &line, canvas.style(Role::Frame));
    }
    cache.step_hits.clear();
    cache.ruler = None;
    draw_steps(model, context, body, cache, canvas);
    caption::draw(model, context, caption, canvas);
    let keys = draw_pressed_keys(model, footer, canvas);
    footer::draw(model, context, Rect { width: footer.width - keys, ..footer }, canvas);
    let story = PaneArea { pane: Pane::Story, title: None, body };
    cache.layout = ScreenLayout { status, areas: vec![story], footer, ..ScreenLayout::default() };
}

/// Returns the last pressed keys that fit into a row, the newest first, each with what it did and with where it ends.
fn fitting_keys<'a>(model: &'a Model, glyphs: &Glyphs, area: Rect) -> Vec<(String, &'a str, u16)> {
    let mut right = area.right().saturating_sub(1);
    // At least half of the row stays for messages.
    let kept = area.width / 2;
    let kept = if area.width >= HINT_COLUMNS + HINT_COLUMNS / 4 { kept.max(HINT_COLUMNS) } else { kept };
    let mut keys = Vec::new();
    let label = width(PRESSED_LABEL) as u16;
    for pressed in model.pressed_keys.newest_first() {
        let (effect, times) = (pressed.effect.as_str(), glyphs.times);
        let key = match pressed.count {
            1 => pressed.key.clone(),
            count => format!("{} {times}{count}", pressed.key),
        };
        let columns = (width(&key) + 1 + width(effect)) as u16;
        if right < area.x + kept + columns + label {
            break;
        }
        keys.push((key, effect, right));
        right = right.saturating_sub(columns + 3);
    }
    keys
}

/// Returns the number of columns that the last pressed keys take at the right end of a row.
pub(super) fn pressed_key_columns(model: &Model, glyphs: &Glyphs, area: Rect) -> u16 {
    let keys = fitting_keys(model, glyphs, area);
    let wide = |key: &str, effect| (width(key) + 1 + width(effect) + width(PRESSED_LABEL)) as u16;
    keys.last().map_or(0, |(key, effect, right)| area.right() - right + wide(key, effect) + 2)
}

/// Draws the last pressed keys at the right end of a row, the newest last, in another colour than the keys that can be pressed.
/// Returns the number of columns they take.
pub(super) fn draw_pressed_keys(model: &Model, area: Rect, canvas: &mut Canvas<'_>) -> u16 {
    let mut left = None;
    for (place, (key, effect, right)) in fitting_keys(model, canvas.glyphs, area).into_iter().enumerate() {
        let role = if place == 0 { Role::Text } else { Role::Muted };
        let x = canvas.put_right(right, area.y, area.width, effect, canvas.style(role));
        let key_style = canvas.style(Role::Person);
        left = Some(canvas.put_right(x.saturating_sub(1), area.y, area.width, &key, key_style));
    }
    if let Some(left) = left {
        canvas.put_right(left, area.y, area.width, PRESSED_LABEL, canvas.style(Role::Muted));
    }
    pressed_key_columns(model, canvas.glyphs, area)
}

/// Draws the steps up to the selected one: from the top while they fit, else the last ones.
fn draw_steps(
    model: &Model,
    context: &Context<'_>,
    area: Rect,
    cache: &mut ViewCache,
    canvas: &mut Canvas<'_>,
) {
    let chosen = context.frame.selected_step();
    let digits = chosen.max(10).ilog10() as u16 + 1;
    let layout = RowLayout {
        content: PaneContent::All,
        columns: area.width,
        digits,
        shows_reasoning: false,
        observation_rows: 0,
    };
    let height = usize::from(area.height);
    let gap = usize::from(gap_rows(canvas.buffer.area).max(1));
    // A low screen has room for several steps.
    let most_new = MAX_NEW_OBSERVATION_ROWS.min(height / 2).max(MAX_OBSERVATION_ROWS);
    let build_rows = |most_old: usize| {
        let mut rows = live_rows(context, layout, model);
        let mut next = Some(chosen);
        while let Some(number) = next.filter(|_| rows.len() <= height) {
            let is_new = chosen - number <= NEWEST_STEPS;
            let most = if is_new { most_new } else { most_old };
            let mut step = rows_of_step(context, number, layout, &model.chapters, most);
            // The proposal's keys stand directly below it.
            let is_followed = !rows.is_empty() && number < chosen;
            if is_followed {
                step.extend((0..gap).map(|_| Row { step: number, ..Row::default() }));
            }
            step.append(&mut rows);
            rows = step;
            next = number.checked_sub(1);
        }
        rows
    };
    // Long texts of earlier steps are cut only if they leave no room for others.
    let mut rows = build_rows(most_new);
    if rows.len() > height {
        rows = build_rows(MAX_OBSERVATION_ROWS);
    }
    let mut surplus = rows.len().saturating_sub(height);
    // No step begins in its middle, except one without which half of the area would be empty.
    let rows_of = |step: u32| rows.iter().skip(surplus).take_while(|row| row.step == step).count();
    let above = surplus.checked_sub(1).and_then(|place| rows.get(place)).map(|row| row.step);
    let cut = rows.get(surplus).map(|row| row.step).filter(|step| above == Some(*step) && *step < chosen);
    let cut = cut.filter(|step| 2 * rows_of(*step) < height);
    while rows.get(surplus).is_some_and(|row| Some(row.step) == cut) {
        surplus += 1;
    }
    for (y, row) in (area.y..area.bottom()).zip(rows.iter().skip(surplus)) {
        cache.step_hits.push((Pane::Story, y, row.step));
        let time = if row.step == chosen { RowTime::Selected } else { RowTime::Other };
        draw_row(row, time, Rect { y, height: 1, ..area }, canvas);
    }
}

/// Returns the rows of a step, with at most `observation_rows` of its observation.
fn rows_of_step(
    context: &Context<'_>,
    number: u32,
    layout: RowLayout,
    chapters: &[Chapter],
    observation_rows: usize,
) -> Vec<Row> {
    let state = context.state_for_step(number);
    let Some(episode) = state.episode.as_deref() else { return Vec::new() };
    let step = context.step(number);
    let section = match step {
        Some(step) => step_section(step, episode, state),
        None => start_section(episode, state),
    };
    let rows = RowWriter::new(number, layout, context.glyphs);
    let chosen = context.frame.selected_step();
    // While a step is being decided, the newest thing that happened is in the one before it.
    let has_begun = context
        .step(chosen)
        .is_some_and(|step| step.proposed.is_some() || step.executed.is_some() || step.thought.is_some());
    let is_past = if has_begun { number < chosen } else { number + 1 < chosen };
    let step = step.map(AsRef::as_ref);
    let mut writer =
        StageWriter { rows, glyphs: context.glyphs, step, state, chapters, is_past, observation_rows };
    for block in section.blocks() {
        writer.write(block);
    }
    writer.rows.into_rows()
}

/// Writes what an audience sees of a step.
struct StageWriter<'a, 'b> {
    rows: RowWriter<'a>,
    glyphs: &'a Glyphs,
    /// `None` before the first step.
    step: Option<&'b Step>,
    state: &'b State,
    chapters: &'b [Chapter],
    /// Whether a later step is the newest one, so that this one stays in the background.
    is_past: bool,
    /// The most rows of its observation.
    observation_rows: usize,
}

impl StageWriter<'_, '_> {
    fn write(&mut self, block: &Block<'_>) {
        let line = plain_text(&block.line());
        let glyphs = self.glyphs;
        match block {
            Block::Thought { .. } => self.write_text((Role::Muted, " "), Role::Thought, &line),
            Block::Action { decision: Some(_), .. } => {
                self.write_text((Role::MarkPerson, glyphs.person), Role::Action, &line);
                push_note(&mut self.rows, block);
            }
            Block::Action { .. } => self.write_text((Role::Muted, ">"), Role::Action, &line),
            Block::Proposal(_) => self.write_text((Role::Proposal, glyphs.proposal), Role::Proposal, &line),
            Block::Observation { text, .. } => self.write_observation(text),
            Block::Reflection(reflection) => self.write_lessons(reflection),
            Block::LessonAdded(..) => {
                self.write_text((Role::Lesson, glyphs.new_lesson), Role::Lesson, &line);
            }
            Block::Act { act, undone: true } if matches!(**act, PersonAct::Lesson { .. }) => {
                self.write_text((Role::Muted, glyphs.off), Role::Muted, &format!("{line} (undone)"));
            }
            Block::Act { act, .. } if matches!(**act, PersonAct::Lesson { .. }) => {
                self.write_text((Role::MarkPerson, glyphs.person), Role::Person, &line);
            }
            // The mistakes are what a talk is about.
            Block::Finding { .. } if block.tone() == Tone::Bad => {
                let text = plain_text(&block.short_line(|_| String::new()));
                self.write_text((Role::Bad, glyphs.mistake), Role::Bad, &text);
            }
            Block::Progress { .. } => {
                let text = plain_text(&block.short_line(|rate| progress_text(rate, self.state)));
                let is_good = block.tone() == Tone::Good;
                let (role, mark) = if is_good { (Role::Good, "+") } else { (Role::Bad, glyphs.mistake) };
                self.write_text((role, mark), role, &text);
            }
            Block::FirstShown(_) | Block::Rejected { .. } => {
                self.write_text((Role::MarkPerson, glyphs.person), Role::Person, &line);
            }
            Block::FailedCall { .. } => self.write_text((Role::Bad, glyphs.mistake), Role::Bad, &line),
            // They are the speaker's own words. A caption says the same below.
            Block::Remark(text) if !self.chapters.iter().any(|chapter| chapter.text.contains(*text)) => {
                self.write_text((Role::MarkPerson, glyphs.person), Role::Person, &line);
            }
            // Everything else is for the person who debugs.
            _ => {}
        }
    }

    /// Writes a text after a mark. Of earlier steps, only thoughts, actions, mistakes, progress and what a person did keep their
    /// colours.
    fn write_text(&mut self, (mark_role, mark): (Role, &str), role: Role, text: &str) {
        let keeps_colour =
            matches!(role, Role::Thought | Role::Action | Role::Person | Role::Good | Role::Bad);
        let paint = |role| if self.is_past && !keeps_colour { Role::Muted } else { role };
        self.rows.push_text((paint(mark_role), &format!("{mark} ")), 2, paint(role), text);
    }

    fn write_observation(&mut self, text: &str) {
        // An answer to a thought carries no information.
        if self.step.is_some_and(Step::is_thought_only) {
            return;
        }
        let is_valid = self.step.and_then(|step| step.answer.as_ref()).is_none_or(|answer| answer.valid);
        let role = if is_valid { Role::Observation } else { Role::ObservationFailed };
        let role = if self.is_past { Role::Muted } else { role };
        for paragraph in text.lines().filter(|line| !line.trim().is_empty()) {
            self.rows.push_text_limited(self.observation_rows, (Role::Muted, ""), 2, role, paragraph);
        }
    }

    /// Writes the lessons of a reflection, each with what to do instead. Those of earlier steps keep the colour of their kind.
    fn write_lessons(&mut self, reflection: &Reflection) {
        let name = reflection.question().name();
        let role = kind_role(reflection.kind);
        for item in &reflection.items {
            let lead = format!("{} {name}  ", self.glyphs.new_lesson);
            let indent = width(&lead) as u16;
            let paint = |role| if self.is_past { Role::Muted } else { role };
            self.rows.push_text((role, &lead), indent, paint(Role::Lesson), &item.text.text);
            if let Some(solution) = &item.text.solution {
                let lead = format!("{:>pad$} ", self.glyphs.solution, pad = usize::from(indent) - 1);
                self.rows.push_text((Role::Muted, &lead), indent, paint(Role::LessonSolution), solution);
            }
        }
    }
}
