//! Drawing a frame of 200x60 cells, for a short session and one with a million events, live and in the past. DESIGN 7:
//! at most 1 ms, and for the long session at most 1.5 times as long as for the short one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use retrospect::domain::Seq;
use retrospect::ui::fixture::{Fixture, long_session};
use retrospect::ui::keymap::Keymap;
use retrospect::ui::theme::Theme;
use retrospect::ui::{Compositor, Context, Cursor, FrameData, Model, ViewCache, glyphs};
use std::sync::OnceLock;
use std::time::Instant;

/// The program's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    divan::main();
}

fn session(events: u64) -> &'static Fixture {
    static SHORT: OnceLock<Fixture> = OnceLock::new();
    static LONG: OnceLock<Fixture> = OnceLock::new();
    let fixture = if events < 10_000 { &SHORT } else { &LONG };
    fixture.get_or_init(|| long_session(events))
}

fn bench_frame(bencher: divan::Bencher<'_, '_>, events: u64, cursor: Cursor) {
    let fixture = session(events);
    let model = Model { cursor, size: (200, 60), ..Model::default() };
    let (theme, keymap) = (Theme::default(), Keymap::default());
    let mut frame_input = FrameData::default();
    let mut cache = ViewCache::default();
    let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 60));
    bencher.bench_local(|| {
        frame_input.refresh(&fixture.store, model.cursor);
        let context = Context {
            frame: &frame_input,
            now: Instant::now(),
            theme: &theme,
            glyphs: &glyphs::UNICODE,
            keymap: &keymap,
            is_covered: false,
        };
        Compositor::default().draw(&model, &context, &mut cache, &mut buffer);
    });
}

/// The current state.
#[divan::bench(args = [1_000, 1_000_000])]
fn live(bencher: divan::Bencher<'_, '_>, events: u64) {
    bench_frame(bencher, events, Cursor::Live);
}

/// The middle of the session; its state is folded before the measurement.
#[divan::bench(args = [1_000, 1_000_000])]
fn past(bencher: divan::Bencher<'_, '_>, events: u64) {
    bench_frame(bencher, events, Cursor::At(Seq(events / 2)));
}

/// The current state without a cache of the previous frame.
#[divan::bench(args = [1_000, 1_000_000])]
fn fresh(bencher: divan::Bencher<'_, '_>, events: u64) {
    let fixture = session(events);
    let model = Model { size: (200, 60), ..Model::default() };
    let (theme, keymap) = (Theme::default(), Keymap::default());
    bencher.bench_local(|| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 60));
        let frame_input = FrameData::at(&fixture.store, model.cursor);
        let context = Context {
            frame: &frame_input,
            now: Instant::now(),
            theme: &theme,
            glyphs: &glyphs::UNICODE,
            keymap: &keymap,
            is_covered: false,
        };
        Compositor::default().draw(&model, &context, &mut ViewCache::default(), &mut buffer);
        buffer
    });
}
