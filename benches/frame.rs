//! Drawing a frame of 200x60 cells, for a short session and one with a million events, live and in the past. DESIGN 7:
//! at most 1 ms, and for the long session at most 1.5 times as long as for the short one. After the tables the budget is checked with
//! frames without a cache, the slowest kind, of both sessions by turns.
#![allow(clippy::print_stdout)]

#[path = "measure/process.rs"]
mod process;

use process::{exit_code, load, median, verdict};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use retrospect::domain::Seq;
use retrospect::ui::fixture::{Fixture, long_session};
use retrospect::ui::keymap::Keymap;
use retrospect::ui::theme::Theme;
use retrospect::ui::{Compositor, Context, Cursor, FrameData, Model, ViewCache, glyphs};
use std::sync::{LazyLock, OnceLock};
use std::time::Instant;

fn main() -> std::process::ExitCode {
    divan::main();
    check_budget();
    exit_code()
}

fn check_budget() {
    const FRAMES: usize = 201;
    let sessions = [session(1_000), session(1_000_000)];
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..FRAMES {
        for (fixture, times) in sessions.iter().zip(&mut times) {
            let start = Instant::now();
            divan::black_box(draw_fresh(fixture));
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    let [short, long] = times.map(median);
    println!(
        "a frame at 200x60: {short:.2} ms with 1,000 events, {long:.2} ms with 1,000,000, ratio {:.2} (budget 1 ms and 1.5: {}); {}",
        long / short,
        verdict(long <= 1.0 && long <= 1.5 * short),
        load()
    );
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
    bencher.bench_local(|| draw_fresh(fixture));
}

/// Draws a frame without anything of an earlier one. Theme and keymap are read once, when the program starts.
fn draw_fresh(fixture: &Fixture) -> Buffer {
    static START: LazyLock<(Theme, Keymap)> = LazyLock::new(Default::default);
    let (theme, keymap) = &*START;
    let model = Model { size: (200, 60), ..Model::default() };
    let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 60));
    let frame_input = FrameData::at(&fixture.store, model.cursor);
    let context = Context {
        frame: &frame_input,
        now: Instant::now(),
        theme,
        glyphs: &glyphs::UNICODE,
        keymap,
        is_covered: false,
    };
    Compositor::default().draw(&model, &context, &mut ViewCache::default(), &mut buffer);
    buffer
}
