//! A row of cells as text runs and shapes.

use super::colors::{SvgColors, hex_color};
use crate::text::{clean, escape_html};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Modifier;
use std::collections::HashMap;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// Width and height of a cell, and the baseline in it, in pixels.
pub(super) const CELL_WIDTH: f64 = 8.4;
pub(super) const CELL_HEIGHT: f64 = 18.0;
const BASELINE: f64 = 13.4;

/// The style that neighbouring cells must share to form one run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct CellStyle {
    foreground: (u8, u8, u8),
    background: (u8, u8, u8),
    modifier: Modifier,
}

/// A cell as it is drawn: its style, its text, and its width in columns.
pub(super) type DrawnCell = (CellStyle, String, u16);

/// How styles are written.
pub(super) enum StyleSheet {
    /// As attributes of every element.
    Attributes,
    /// As classes, which [`StyleSheet::css`] defines: smaller if many rows are drawn.
    Classes(HashMap<String, usize>),
}

impl StyleSheet {
    /// Returns what follows the name of an element that has these properties, or an empty string if there are none.
    fn attributes(&mut self, properties: &[(&str, String)]) -> String {
        if properties.is_empty() {
            return String::new();
        }
        match self {
            Self::Attributes => {
                let mut text = String::new();
                for (name, value) in properties {
                    let _ = write!(text, " {name}=\"{value}\"");
                }
                text
            }
            Self::Classes(classes) => {
                let rules: Vec<String> =
                    properties.iter().map(|(name, value)| format!("{name}:{value}")).collect();
                let next = classes.len();
                format!(" class=\"c{}\"", classes.entry(rules.join(";")).or_insert(next))
            }
        }
    }

    /// Returns the definitions of the classes.
    pub(super) fn css(&self) -> String {
        let Self::Classes(classes) = self else { return String::new() };
        let mut all: Vec<(&String, &usize)> = classes.iter().collect();
        all.sort_by_key(|(_, number)| **number);
        let mut css = String::new();
        for (rules, number) in all {
            let _ = writeln!(css, ".c{number}{{{rules}}}");
        }
        css
    }
}

/// Returns the cells of a row of the screen.
pub(super) fn drawn_cells(buffer: &Buffer, colors: &SvgColors, y: u16) -> Vec<DrawnCell> {
    (0..buffer.area.width)
        .filter_map(|x| buffer.cell((buffer.area.x + x, buffer.area.y + y)))
        .map(|cell| {
            let symbol = clean(cell.symbol()).replace('\n', " ");
            let width = u16::try_from(symbol.width()).unwrap_or(1).max(1);
            (cell_style(cell, colors), symbol, width)
        })
        .collect()
}

/// Writes cells that begin at a column of row `y`.
pub(super) struct RowWriter<'a> {
    pub(super) out: &'a mut String,
    pub(super) colors: &'a SvgColors,
    pub(super) styles: &'a mut StyleSheet,
    pub(super) column: u16,
    pub(super) y: u16,
}

impl RowWriter<'_> {
    pub(super) fn write(&mut self, cells: &[DrawnCell]) {
        self.write_backgrounds(cells);
        let mut x = 0;
        while let Some((style, symbol, width)) = cells.get(usize::from(x)) {
            let has_same_style = |n: u16| cells.get(usize::from(x + n)).is_some_and(|c| c.0 == *style);
            let left = f64::from(self.column + x) * CELL_WIDTH;
            let top = f64::from(self.y) * CELL_HEIGHT;
            if let Some(mut shape) = cell_shape(symbol, left, top) {
                let mut n = 1;
                if symbol == "─" {
                    // A long line is one stroke rather than one per cell.
                    while has_same_style(n) && cells[usize::from(x + n)].1 == "─" {
                        n += 1;
                    }
                    shape.path =
                        format!("M{left:.1} {:.1}h{:.1}", top + CELL_HEIGHT / 2.0, f64::from(n) * CELL_WIDTH);
                }
                let paint = self.styles.attributes(&shape.paint_properties(style.foreground));
                let _ = write!(self.out, "<path d=\"{}\"{paint}/>", shape.path);
                x += n;
            } else if *width > 1 {
                self.write_text(symbol, x, *style);
                x += width;
            } else {
                let mut run = symbol.clone();
                let mut n = 1;
                while has_same_style(n)
                    && cells[usize::from(x + n)].2 == 1
                    && cell_shape(&cells[usize::from(x + n)].1, 0.0, 0.0).is_none()
                {
                    run.push_str(&cells[usize::from(x + n)].1);
                    n += 1;
                }
                self.write_text(&run, x, *style);
                x += n;
            }
        }
    }

    /// Writes the backgrounds, merging neighbours of the same colour into one rectangle.
    fn write_backgrounds(&mut self, cells: &[DrawnCell]) {
        let mut x = u32::from(self.column);
        for group in cells.chunk_by(|a, b| a.0.background == b.0.background) {
            if let Some((style, ..)) = group.first()
                && style.background != self.colors.background
            {
                let paint = self.styles.attributes(&[("fill", hex_color(style.background))]);
                let _ = write!(
                    self.out,
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{CELL_HEIGHT}\"{paint}/>",
                    f64::from(x) * CELL_WIDTH,
                    f64::from(self.y) * CELL_HEIGHT,
                    f64::from(group.len() as u32) * CELL_WIDTH,
                );
            }
            x += group.len() as u32;
        }
    }

    fn write_text(&mut self, run: &str, start: u16, style: CellStyle) {
        let leading_spaces = run.len() - run.trim_start_matches(' ').len();
        let text = run.trim_matches(' ');
        if text.is_empty() {
            return;
        }
        let _ = write!(
            self.out,
            "<text x=\"{:.1}\" y=\"{:.1}\" textLength=\"{:.1}\"",
            (f64::from(self.column + start) + leading_spaces as f64) * CELL_WIDTH,
            f64::from(self.y) * CELL_HEIGHT + BASELINE,
            text.width() as f64 * CELL_WIDTH
        );
        let mut properties = Vec::new();
        if style.foreground != self.colors.foreground {
            properties.push(("fill", hex_color(style.foreground)));
        }
        for (modifier, name, value) in [
            (Modifier::BOLD, "font-weight", "bold"),
            (Modifier::ITALIC, "font-style", "italic"),
            (Modifier::DIM, "opacity", "0.65"),
        ] {
            if style.modifier.contains(modifier) {
                properties.push((name, value.to_owned()));
            }
        }
        let decorations = [(Modifier::UNDERLINED, "underline"), (Modifier::CROSSED_OUT, "line-through")]
            .iter()
            .filter(|(m, _)| style.modifier.contains(*m))
            .map(|l| l.1)
            .collect::<Vec<_>>()
            .join(" ");
        if !decorations.is_empty() {
            properties.push(("text-decoration", decorations));
        }
        let paint = self.styles.attributes(&properties);
        // Browsers collapse several spaces, whatever an attribute of the document asks for; no-break spaces stay.
        let text = text.replace("  ", "\u{a0}\u{a0}");
        let _ = write!(self.out, "{paint}>{}</text>", escape_html(&text));
    }
}

fn cell_style(cell: &Cell, colors: &SvgColors) -> CellStyle {
    let (mut foreground, mut background) =
        (colors.resolve(cell.fg, colors.foreground), colors.resolve(cell.bg, colors.background));
    if cell.modifier.contains(Modifier::REVERSED) {
        std::mem::swap(&mut foreground, &mut background);
    }
    if cell.modifier.contains(Modifier::HIDDEN) {
        foreground = background;
    }
    let supported =
        Modifier::BOLD | Modifier::DIM | Modifier::ITALIC | Modifier::UNDERLINED | Modifier::CROSSED_OUT;
    CellStyle { foreground, background, modifier: cell.modifier & supported }
}

/// A character that is drawn as a shape instead of text.
struct Shape {
    path: String,
    filled: bool,
    heavy: bool,
}

impl Shape {
    fn paint_properties(&self, ink: (u8, u8, u8)) -> Vec<(&'static str, String)> {
        if self.filled {
            return vec![("fill", hex_color(ink))];
        }
        let width = if self.heavy { "2.2" } else { "1.1" };
        vec![("fill", "none".to_owned()), ("stroke", hex_color(ink)), ("stroke-width", width.to_owned())]
    }
}

fn cell_shape(symbol: &str, x: f64, y: f64) -> Option<Shape> {
    let mut chars = symbol.chars();
    let (c, None) = (chars.next()?, chars.next()) else { return None };
    if let Some(path) = block_path(c, x, y) {
        return Some(Shape { path, filled: true, heavy: false });
    }
    // Arms of frame characters: left, right, up, down.
    let (arms, heavy) = match c {
        '─' | '╴' | '╶' => ([1, 1, 0, 0], false),
        '│' => ([0, 0, 1, 1], false),
        '┌' | '╭' => ([0, 1, 0, 1], false),
        '┐' | '╮' => ([1, 0, 0, 1], false),
        '└' | '╰' => ([0, 1, 1, 0], false),
        '┘' | '╯' => ([1, 0, 1, 0], false),
        '├' => ([0, 1, 1, 1], false),
        '┤' => ([1, 0, 1, 1], false),
        '┬' => ([1, 1, 0, 1], false),
        '┴' => ([1, 1, 1, 0], false),
        '┼' => ([1, 1, 1, 1], false),
        '━' => ([1, 1, 0, 0], true),
        '┃' => ([0, 0, 1, 1], true),
        '┏' => ([0, 1, 0, 1], true),
        '┓' => ([1, 0, 0, 1], true),
        '┗' => ([0, 1, 1, 0], true),
        '┛' => ([1, 0, 1, 0], true),
        _ => return None,
    };
    let (cx, cy) = (x + CELL_WIDTH / 2.0, y + CELL_HEIGHT / 2.0);
    let ends = [(x, cy), (x + CELL_WIDTH, cy), (cx, y), (cx, y + CELL_HEIGHT)];
    let mut path = String::new();
    for (arm, (ex, ey)) in arms.iter().zip(ends) {
        if *arm == 1 {
            let _ = write!(path, "M{cx:.1} {cy:.1}L{ex:.1} {ey:.1}");
        }
    }
    Some(Shape { path, filled: false, heavy })
}

/// Draws block elements as rectangles.
fn block_path(symbol: char, x: f64, y: f64) -> Option<String> {
    let eighths = |row: &str| row.chars().position(|b| b == symbol).map(|n| (n as f64 + 1.0) / 8.0);
    let (left, top, width, height) = if let Some(share) = eighths("▁▂▃▄▅▆▇█") {
        (x, y + CELL_HEIGHT * (1.0 - share), CELL_WIDTH, CELL_HEIGHT * share)
    } else if let Some(share) = eighths("▏▎▍▌▋▊▉") {
        (x, y, CELL_WIDTH * share, CELL_HEIGHT)
    } else if symbol == '▀' {
        (x, y, CELL_WIDTH, CELL_HEIGHT / 2.0)
    } else if symbol == '▐' {
        (x + CELL_WIDTH / 2.0, y, CELL_WIDTH / 2.0, CELL_HEIGHT)
    } else {
        return None;
    };
    Some(format!("M{left:.1} {top:.1}h{width:.1}v{height:.1}h-{width:.1}z"))
}
