//! Tests of the whole screen on made-up sessions: pictures, keys, hostile text, every size.

pub(super) use super::fixture::screen_text;
use super::fixture::{Fixture, sample_session};
use super::glyphs;
use crate::timeline::PastPart;
use crate::ui::compositor::Compositor;
use crate::ui::frame_data::{Context, FrameData};
use crate::ui::glyphs::Glyphs;
use crate::ui::keymap::{Keymap, Mode};
use crate::ui::model::Model;
use crate::ui::msg::{Request, UiMessage};
use crate::ui::theme::Theme;
use crate::ui::types::{WORK_SHOWN_AFTER, WorkKind, WorkStatus};
use crate::ui::view::cache::ViewCache;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::time::Instant;

/// A screen without a terminal.
pub(super) struct TestScreen {
    pub(super) fixture: Fixture,
    pub(super) model: Model,
    pub(super) compositor: Compositor,
    cache: ViewCache,
    pub(super) theme: Theme,
    keymap: Keymap,
    pub(super) now: Instant,
    glyphs: Glyphs,
    /// The work that runs beside the event loop, as frames show it.
    pub(super) running_work: Vec<WorkStatus>,
}

impl TestScreen {
    pub(super) fn new(fixture: Fixture, width: u16, height: u16) -> Self {
        let model = Model { size: (width, height), ..Model::default() };
        let now = Instant::now();
        Self {
            fixture,
            model,
            compositor: Compositor::default(),
            cache: ViewCache::default(),
            theme: Theme::default(),
            keymap: Keymap::default(),
            now,
            glyphs: glyphs::UNICODE,
            running_work: Vec::new(),
        }
    }

    /// Shows work that has run long enough to be shown.
    pub(super) fn show_work(&mut self, kind: WorkKind, percent: Option<u8>) {
        self.running_work.push(WorkStatus { kind, since: self.now, percent, is_cancelled: false });
        self.now += WORK_SHOWN_AFTER;
    }

    /// Returns the states that the screen shows.
    pub(super) fn frame_data(&self) -> FrameData {
        let mut frame = FrameData::at(&self.fixture.store, self.model.cursor);
        frame.running_work.clone_from(&self.running_work);
        frame.measured = self.model.measured.clone();
        frame.for_audience = self.model.stage_mode;
        frame
    }

    /// Presses a key by its name and returns the requests.
    pub(super) fn press(&mut self, name: &str) -> Vec<Request> {
        self.send(UiMessage::Key(key_event(name)))
    }

    /// Returns what `run` returns for the parts of the screen and what they may see of the session now.
    fn with_context<R>(
        &mut self,
        run: impl FnOnce(&mut Compositor, &mut Model, &mut ViewCache, &Context<'_>) -> R,
    ) -> R {
        let frame = self.frame_data();
        let context = Context {
            frame: &frame,
            now: self.now,
            theme: &self.theme,
            glyphs: &self.glyphs,
            keymap: &self.keymap,
            is_covered: false,
        };
        run(&mut self.compositor, &mut self.model, &mut self.cache, &context)
    }

    pub(super) fn send(&mut self, msg: UiMessage) -> Vec<Request> {
        self.with_context(|compositor, model, cache, context| compositor.handle(model, context, cache, msg))
    }

    /// Returns whether a key waits for the part of the past that is being loaded.
    pub(super) fn defers_key(&mut self, name: &str) -> bool {
        self.with_context(|compositor, model, _, context| {
            compositor.defers_key(model, context, key_event(name))
        })
    }

    /// Returns the mode of the topmost overlay.
    pub(super) fn overlay_mode(&mut self) -> Mode {
        self.with_context(|compositor, _, _, context| compositor.overlays().last().unwrap().mode(context))
    }

    pub(super) fn draw(&mut self) -> Buffer {
        self.draw_with_missing().0
    }

    /// Draws a frame. Also returns the parts of the past that it lacks.
    pub(super) fn draw_with_missing(&mut self) -> (Buffer, Vec<PastPart>) {
        let (width, height) = self.model.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        let missing = self.with_context(|compositor, model, cache, context| {
            compositor.draw(model, context, cache, &mut buffer)
        });
        (buffer, missing)
    }
}

/// Returns the key event for a key's name.
fn key_event(name: &str) -> KeyEvent {
    let (modifiers, name) = match name.strip_prefix("Ctrl-") {
        Some(rest) => (KeyModifiers::CONTROL, rest),
        None => (KeyModifiers::NONE, name),
    };
    let code = match name {
        "Space" => KeyCode::Char(' '),
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Backspace" => KeyCode::Backspace,
        "Tab" => KeyCode::Tab,
        "BackTab" => KeyCode::BackTab,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PageUp" => KeyCode::PageUp,
        "PageDown" => KeyCode::PageDown,
        one => KeyCode::Char(one.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

/// Returns the styles of a buffer: a letter per cell for each distinct style, then a legend of the letters.
fn style_grid(buffer: &Buffer) -> String {
    let mut known: Vec<Style> = Vec::new();
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let row: String = (0..buffer.area.width)
            .map(|x| {
                let cell = &buffer[(x, y)];
                let style = if cell.symbol() == " " { Style::reset() } else { cell.style() };
                let at = known.iter().position(|s| *s == style).unwrap_or_else(|| {
                    known.push(style);
                    known.len() - 1
                });
                if style == Style::reset() { ' ' } else { char::from(b'a' + at as u8) }
            })
            .collect();
        text.push_str(row.trim_end());
        text.push('\n');
    }
    for (at, style) in known.iter().enumerate().filter(|(_, s)| **s != Style::reset()) {
        let colours = format!("{:?} on {:?}", style.fg.unwrap_or_default(), style.bg.unwrap_or_default());
        let letter = char::from(b'a' + at as u8);
        text.extend([format!("{letter} {colours} {:?}\n", style.add_modifier)]);
    }
    text
}

/// Returns the bytes that a terminal is sent for a full frame.
fn terminal_bytes(buffer: &Buffer) -> Vec<u8> {
    use ratatui::backend::{Backend, CrosstermBackend};
    let mut bytes = b"\x1b[2J".to_vec();
    let area = buffer.area;
    let cells = buffer.content().iter().enumerate().map(|(i, cell)| {
        let i = i as u16;
        (i % area.width, i / area.width, cell)
    });
    CrosstermBackend::new(&mut bytes).draw(cells).unwrap();
    bytes
}

mod branch_tree;
mod breakpoints;
mod dialogs;
mod display_faults;
mod displayed_facts;
mod edited_prompts;
mod effect;
mod end_card;
mod every_fact;
mod failed_questions;
mod failed_summary;
mod first_use_faults;
mod fork_from_present;
mod forks;
mod grid_world;
mod jobs;
mod key_isolation;
mod keys;
mod lesson_health;
mod mentor;
mod models;
mod next_keys;
mod overlays;
mod past;
mod past_on_disk;
mod pictures;
mod playback;
mod preview;
mod prompt_search;
mod reasoning;
mod safety;
mod samples;
mod sampling;
mod saved_lessons;
mod search_views;
mod session_search;
mod stage;
mod steps_and_modes;
mod undo_notices;

/// Writes frames as escape sequences below `target/pictures`, to view in a terminal:
/// `cargo test --lib ui::tests::pictures -- --ignored`.
#[test]
#[ignore = "writes pictures to look at"]
fn pictures() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/pictures");
    std::fs::create_dir_all(&folder).unwrap();
    for theme in ["default", "light", "dark"] {
        for (w, h) in SIZES {
            let mut stage = TestScreen::new(sample_session(), w, h);
            stage.theme = Theme::parse(theme, Theme::shipped_source(theme).unwrap(), &|_| None).0;
            std::fs::write(folder.join(format!("{theme}-{w}x{h}.ans")), terminal_bytes(&stage.draw()))
                .unwrap();
        }
    }
}

pub(super) const SIZES: [(u16, u16); 4] = [(60, 16), (80, 24), (120, 36), (200, 60)];
