//! Several screens as one animated picture: a strip of frames, beside each other, that jumps from one to the next. Only
//! CSS moves it, so it plays where scripts don't run. What frames have in common is drawn once: a part of a row has a
//! definition that all frames use, and what never changes stands still behind the strip.

use super::colors::{SvgColors, hex_color};
use super::row::{CELL_HEIGHT, DrawnCell, RowWriter, StyleSheet, drawn_cells};
use super::{open_document, picture_size};
use ratatui::buffer::Buffer;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::time::Duration;

/// A screen, and how long it is shown.
#[derive(Clone, Debug)]
pub struct CastFrame {
    pub buffer: Buffer,
    pub duration: Duration,
}

/// The parts of a frame: where each begins (row, column), and the number of its definition.
type FrameParts = BTreeMap<(u16, u16), usize>;

/// The definitions of parts: the elements of each, as if it were in the first row.
#[derive(Default)]
struct Definitions {
    numbers: HashMap<String, usize>,
    texts: Vec<String>,
}

impl Definitions {
    fn number_of(&mut self, text: String) -> usize {
        *self.numbers.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            self.texts.len() - 1
        })
    }
}

/// Renders the frames, all of the same size, as a picture that repeats them endlessly. Neighbours that look the same are
/// one frame. Viewers that ask for less motion get the last frame. `title` is the description for screen readers.
///
/// Returns a picture of an empty screen if there are no frames.
pub fn render_svg_cast(frames: &[CastFrame], colors: &SvgColors, title: &str) -> String {
    let mut styles = StyleSheet::Classes(HashMap::new());
    let mut definitions = Definitions::default();
    let mut strip: Vec<(FrameParts, Duration)> = Vec::new();
    for frame in frames {
        let parts = frame_parts(&frame.buffer, colors, &mut styles, &mut definitions);
        match strip.last_mut() {
            Some((last, duration)) if *last == parts => *duration += frame.duration,
            _ => strip.push((parts, frame.duration)),
        }
    }
    let still = still_parts(&strip);
    let size = frames.first().map_or((0, 0), |frame| (frame.buffer.area.width, frame.buffer.area.height));
    let width = picture_size(size).0;

    let mut out = String::new();
    open_document(&mut out, size, colors, title);
    let durations: Vec<Duration> = strip.iter().map(|(_, duration)| *duration).collect();
    let _ = write!(out, "<style>\n{}{}</style>\n<defs>\n", styles.css(), animation_css(&durations, width));
    for (number, text) in definitions.texts.iter().enumerate() {
        let _ = writeln!(out, "<g id=\"p{number}\">{text}</g>");
    }
    let _ = write!(
        out,
        "</defs>\n<g transform=\"translate(8 8)\" fill=\"{}\">\n<g>",
        hex_color(colors.foreground)
    );
    write_parts(&mut out, &still);
    out.push_str("</g>\n<g class=\"strip\">\n");
    for (place, (parts, _)) in strip.iter().enumerate() {
        let _ = write!(out, "<g transform=\"translate({:.1})\">", place as f64 * width);
        let moving = parts.iter().filter(|(at, number)| still.get(at) != Some(number));
        write_parts(&mut out, &moving.map(|(at, number)| (*at, *number)).collect());
        out.push_str("</g>\n");
    }
    out.push_str("</g>\n</g>\n</svg>\n");
    out
}

/// Returns the parts that all frames have.
fn still_parts(strip: &[(FrameParts, Duration)]) -> FrameParts {
    let Some(((first, _), others)) = strip.split_first() else { return FrameParts::new() };
    let is_still =
        |at: &(u16, u16), number: usize| others.iter().all(|(parts, _)| parts.get(at) == Some(&number));
    first.iter().filter(|(at, number)| is_still(at, **number)).map(|(at, number)| (*at, *number)).collect()
}

fn write_parts(out: &mut String, parts: &FrameParts) {
    for ((y, _), number) in parts {
        let _ = match y {
            0 => write!(out, "<use href=\"#p{number}\"/>"),
            y => write!(out, "<use href=\"#p{number}\" y=\"{}\"/>", f64::from(*y) * CELL_HEIGHT),
        };
    }
}

/// Splits a screen into parts: rows, and these at the vertical lines between panes, because panes change independently.
fn frame_parts(
    buffer: &Buffer,
    colors: &SvgColors,
    styles: &mut StyleSheet,
    definitions: &mut Definitions,
) -> FrameParts {
    let is_edge = |cell: &DrawnCell| matches!(cell.1.as_str(), "│" | "┃" | "├" | "┤" | "┬" | "┴" | "┼");
    let mut parts = FrameParts::new();
    for y in 0..buffer.area.height {
        let mut column = 0;
        for cells in drawn_cells(buffer, colors, y).chunk_by(|a, b| !is_edge(a) && !is_edge(b)) {
            let mut text = String::new();
            RowWriter { out: &mut text, colors, styles, column, y: 0 }.write(cells);
            if !text.is_empty() {
                parts.insert((y, column), definitions.number_of(text));
            }
            column += cells.len() as u16;
        }
    }
    parts
}

/// Returns the rules that move the strip by one picture's width after each frame's time.
fn animation_css(durations: &[Duration], width: f64) -> String {
    let total: f64 = durations.iter().map(Duration::as_secs_f64).sum();
    if durations.len() < 2 || total <= 0.0 {
        return String::new();
    }
    let mut css = format!(".strip{{animation:play {total:.2}s step-end infinite}}\n@keyframes play{{");
    let mut elapsed = 0.0;
    for (place, duration) in durations.iter().enumerate() {
        let offset = place as f64 * width;
        let _ = write!(css, "{:.3}%{{transform:translateX(-{offset:.1}px)}}", elapsed / total * 100.0);
        elapsed += duration.as_secs_f64();
    }
    let last = (durations.len() - 1) as f64 * width;
    let _ = write!(
        css,
        "}}\n@media (prefers-reduced-motion:reduce){{.strip{{animation:none;transform:translateX(-{last:.1}px)}}}}\n"
    );
    css
}
