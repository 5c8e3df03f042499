//! One frame of the screen at 200x60: of a short session and of one with a million events, live and in the past.
//! DESIGN 7: at most 2 ms to build, and the long session at most 1.5 times the short one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use retrospect::domain::Seq;
use retrospect::ui::fixture::{Fixture, long_session};
use retrospect::ui::keymap::Keymap;
use retrospect::ui::theme::Theme;
use retrospect::ui::{Compositor, Context, Cursor, FrameData, Model, ViewCache, glyphs};
use std::sync::OnceLock;
use std::time::Instant;

fn main() {
    divan::main();
}

fn session(events: u64) -> &'static Fixture {
    static SHORT: OnceLock<Fixture> = OnceLock::new();
    static LONG: OnceLock<Fixture> = OnceLock::new();
    let place = if events < 10_000 { &SHORT } else { &LONG };
    place.get_or_init(|| long_session(events))
}

fn frame(bencher: divan::Bencher<'_, '_>, events: u64, cursor: Cursor) {
    let fixture = session(events);
    let model = Model { cursor, size: (200, 60), ..Model::default() };
    let (theme, keymap) = (Theme::default(), Keymap::default());
    let mut moment = FrameData::default();
    let mut scratch = ViewCache::default();
    let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 60));
    bencher.bench_local(|| {
        moment.refresh(&fixture.store, model.cursor);
        let look = Context {
            frame: &moment,
            now: Instant::now(),
            theme: &theme,
            glyphs: &glyphs::UNICODE,
            keymap: &keymap,
        };
        Compositor::default().draw(&model, &look, &mut scratch, &mut buffer);
    });
}

/// The present.
#[divan::bench(args = [1_000, 1_000_000])]
fn live(bencher: divan::Bencher<'_, '_>, events: u64) {
    frame(bencher, events, Cursor::Live);
}

/// The middle of the session; the state is folded once, before.
#[divan::bench(args = [1_000, 1_000_000])]
fn past(bencher: divan::Bencher<'_, '_>, events: u64) {
    frame(bencher, events, Cursor::At(Seq(events / 2)));
}

/// The present with nothing kept from the frame before.
#[divan::bench(args = [1_000, 1_000_000])]
fn fresh(bencher: divan::Bencher<'_, '_>, events: u64) {
    let fixture = session(events);
    let model = Model { size: (200, 60), ..Model::default() };
    let (theme, keymap) = (Theme::default(), Keymap::default());
    bencher.bench_local(|| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 60));
        let moment = FrameData::at(&fixture.store, model.cursor);
        let look = Context {
            frame: &moment,
            now: Instant::now(),
            theme: &theme,
            glyphs: &glyphs::UNICODE,
            keymap: &keymap,
        };
        Compositor::default().draw(&model, &look, &mut ViewCache::default(), &mut buffer);
        buffer
    });
}
