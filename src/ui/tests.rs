//! The screen on a plausible session: pictures, hostile text, every size.

use super::fixture::{Fixture, kitchen};
use super::keymap::Keymap;
use super::look::{Look, Moment};
use super::model::Model;
use super::theme::Theme;
use super::view::{Scratch, draw};
use super::{glyphs, model};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Instant;

/// A screen without a terminal.
struct Stage {
    fixture: Fixture,
    model: Model,
    scratch: Scratch,
    theme: Theme,
    keymap: Keymap,
    now: Instant,
}

impl Stage {
    fn new(fixture: Fixture, width: u16, height: u16) -> Self {
        let model = Model { size: (width, height), ..Model::default() };
        let now = Instant::now();
        Self {
            fixture,
            model,
            scratch: Scratch::default(),
            theme: Theme::default(),
            keymap: Keymap::default(),
            now,
        }
    }

    fn draw(&mut self) -> Buffer {
        let (width, height) = self.model.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        let moment = Moment::of(&self.fixture.store, &self.model);
        let look = Look {
            store: &self.fixture.store,
            moment: &moment,
            now: self.now,
            theme: &self.theme,
            glyphs: &glyphs::UNICODE,
            keymap: &self.keymap,
        };
        draw(&self.model, &look, &mut self.scratch, &mut buffer);
        buffer
    }
}

/// The characters of a buffer, row by row, without blanks at the ends.
fn screen(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut row = String::new();
        let mut skip = 0;
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                row.push_str(symbol);
                skip = unicode_width::UnicodeWidthStr::width(symbol).max(1);
            }
            skip -= 1;
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

#[test]
fn shows_the_kitchen() {
    for (w, h) in [(80, 24), (60, 16), (120, 36), (200, 60)] {
        let mut stage = Stage::new(kitchen(), w, h);
        println!("{}", screen(&stage.draw()));
    }
    let _ = model::Focus::Story;
}
