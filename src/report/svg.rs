//! A rendered screen as a picture: text runs in a monospaced font, with frames and blocks drawn as shapes so that lines
//! join in every viewer.

use crate::text::{clean, escape_html};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// The colours that a terminal would provide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SvgColors {
    /// Colour of text without a colour of its own.
    pub foreground: (u8, u8, u8),
    /// Colour of the page behind the text.
    pub background: (u8, u8, u8),
    /// The sixteen terminal colours, in ANSI order.
    pub ansi: [(u8, u8, u8); 16],
}

/// Width and height of a cell, and the baseline in it, in pixels.
const CELL_WIDTH: f64 = 8.4;
const CELL_HEIGHT: f64 = 18.0;
const BASELINE: f64 = 13.4;

impl SvgColors {
    /// Returns the colours of a dark terminal.
    pub fn dark() -> Self {
        Self {
            foreground: (0xe4, 0xe7, 0xee),
            background: (0x14, 0x17, 0x1d),
            ansi: [
                (0x2a, 0x30, 0x3b),
                (0xff, 0x7b, 0x84),
                (0x7b, 0xd3, 0x9b),
                (0xe6, 0xc0, 0x6a),
                (0x7f, 0xa9, 0xff),
                (0xcd, 0x9b, 0xf5),
                (0x6f, 0xd0, 0xd6),
                (0xc4, 0xca, 0xd6),
                (0x7d, 0x87, 0x99),
                (0xff, 0x9f, 0xa6),
                (0x9c, 0xe6, 0xb6),
                (0xf5, 0xd6, 0x8c),
                (0xa3, 0xc2, 0xff),
                (0xdf, 0xbc, 0xfb),
                (0x97, 0xe4, 0xe8),
                (0xff, 0xff, 0xff),
            ],
        }
    }

    /// Returns the colours of a light terminal.
    pub fn light() -> Self {
        Self {
            foreground: (0x1d, 0x23, 0x30),
            background: (0xff, 0xff, 0xff),
            ansi: [
                (0x1d, 0x23, 0x30),
                (0xad, 0x25, 0x30),
                (0x1b, 0x6e, 0x3c),
                (0x8a, 0x5d, 0x00),
                (0x1c, 0x4f, 0xb0),
                (0x7a, 0x2f, 0xa0),
                (0x0f, 0x6b, 0x73),
                (0x55, 0x5e, 0x70),
                (0x6b, 0x74, 0x86),
                (0xc2, 0x30, 0x3c),
                (0x20, 0x80, 0x46),
                (0x9c, 0x6a, 0x00),
                (0x25, 0x5f, 0xcc),
                (0x8c, 0x3c, 0xb8),
                (0x14, 0x7c, 0x86),
                (0x3a, 0x42, 0x52),
            ],
        }
    }

    fn resolve(&self, color: Color, default: (u8, u8, u8)) -> (u8, u8, u8) {
        let ansi = |i: usize| self.ansi.get(i).copied().unwrap_or(default);
        match color {
            Color::Reset => default,
            Color::Black => ansi(0),
            Color::Red => ansi(1),
            Color::Green => ansi(2),
            Color::Yellow => ansi(3),
            Color::Blue => ansi(4),
            Color::Magenta => ansi(5),
            Color::Cyan => ansi(6),
            Color::Gray => ansi(7),
            Color::DarkGray => ansi(8),
            Color::LightRed => ansi(9),
            Color::LightGreen => ansi(10),
            Color::LightYellow => ansi(11),
            Color::LightBlue => ansi(12),
            Color::LightMagenta => ansi(13),
            Color::LightCyan => ansi(14),
            Color::White => ansi(15),
            Color::Rgb(r, g, b) => (r, g, b),
            Color::Indexed(i) if i < 16 => ansi(usize::from(i)),
            Color::Indexed(i) if i < 232 => {
                let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
                let i = i - 16;
                (level(i / 36), level(i / 6 % 6), level(i % 6))
            }
            Color::Indexed(i) => {
                let grey = 8 + 10 * (i - 232);
                (grey, grey, grey)
            }
        }
    }
}

/// The style that neighbouring cells must share to form one run.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CellStyle {
    foreground: (u8, u8, u8),
    background: (u8, u8, u8),
    modifier: Modifier,
}

/// Renders the picture; `title` is its description for screen readers.
pub fn render_svg(buffer: &Buffer, colors: &SvgColors, title: &str) -> String {
    let (columns, rows) = (buffer.area.width, buffer.area.height);
    let (width, height) = (f64::from(columns) * CELL_WIDTH + 16.0, f64::from(rows) * CELL_HEIGHT + 16.0);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"img\" aria-label=\"{}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, \
         Consolas, monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{}\"/>\n\
         <g transform=\"translate(8 8)\" fill=\"{}\">",
        escape_html(title),
        hex_color(colors.background),
        hex_color(colors.foreground)
    );
    for y in 0..rows {
        write_row(&mut out, buffer, colors, y, columns);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

fn write_row(out: &mut String, buffer: &Buffer, colors: &SvgColors, y: u16, columns: u16) {
    let cells: Vec<(CellStyle, String, u16)> = (0..columns)
        .filter_map(|x| buffer.cell((buffer.area.x + x, buffer.area.y + y)))
        .map(|cell| {
            let symbol = clean(cell.symbol()).replace('\n', " ");
            let width = u16::try_from(symbol.width()).unwrap_or(1).max(1);
            (cell_style(cell, colors), symbol, width)
        })
        .collect();
    write_backgrounds(out, &cells, colors, y);
    let mut x = 0;
    while let Some((style, symbol, width)) = cells.get(usize::from(x)) {
        let has_same_style = |n: u16| cells.get(usize::from(x + n)).is_some_and(|c| c.0 == *style);
        let (left, top) = (f64::from(x) * CELL_WIDTH, f64::from(y) * CELL_HEIGHT);
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
            let _ = write!(out, "<path d=\"{}\" {}/>", shape.path, shape.paint_attributes(style.foreground));
            x += n;
        } else if *width > 1 {
            write_text(out, symbol, x, y, *style, colors);
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
            write_text(out, &run, x, y, *style, colors);
            x += n;
        }
    }
    out.push('\n');
}

/// Writes the backgrounds of a row, merging neighbours of the same colour into one rectangle.
fn write_backgrounds(out: &mut String, cells: &[(CellStyle, String, u16)], colors: &SvgColors, y: u16) {
    let mut x = 0;
    for group in cells.chunk_by(|a, b| a.0.background == b.0.background) {
        if let Some((style, ..)) = group.first()
            && style.background != colors.background
        {
            let _ = write!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{CELL_HEIGHT}\" fill=\"{}\"/>",
                f64::from(x) * CELL_WIDTH,
                f64::from(y) * CELL_HEIGHT,
                f64::from(group.len() as u32) * CELL_WIDTH,
                hex_color(style.background)
            );
        }
        x += group.len() as u32;
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

fn write_text(out: &mut String, run: &str, start: u16, y: u16, style: CellStyle, colors: &SvgColors) {
    let leading_spaces = run.len() - run.trim_start_matches(' ').len();
    let text = run.trim_matches(' ');
    if text.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" textLength=\"{:.1}\" xml:space=\"preserve\"",
        (f64::from(start) + leading_spaces as f64) * CELL_WIDTH,
        f64::from(y) * CELL_HEIGHT + BASELINE,
        text.width() as f64 * CELL_WIDTH
    );
    if style.foreground != colors.foreground {
        let _ = write!(out, " fill=\"{}\"", hex_color(style.foreground));
    }
    for (modifier, attribute) in [
        (Modifier::BOLD, " font-weight=\"bold\""),
        (Modifier::ITALIC, " font-style=\"italic\""),
        (Modifier::DIM, " opacity=\"0.65\""),
    ] {
        if style.modifier.contains(modifier) {
            out.push_str(attribute);
        }
    }
    let decorations = [(Modifier::UNDERLINED, "underline"), (Modifier::CROSSED_OUT, "line-through")]
        .iter()
        .filter(|(m, _)| style.modifier.contains(*m))
        .map(|l| l.1)
        .collect::<Vec<_>>()
        .join(" ");
    if !decorations.is_empty() {
        let _ = write!(out, " text-decoration=\"{decorations}\"");
    }
    let _ = write!(out, ">{}</text>", escape_html(text));
}

/// A character that is drawn as a shape instead of text.
struct Shape {
    path: String,
    filled: bool,
    heavy: bool,
}

impl Shape {
    fn paint_attributes(&self, ink: (u8, u8, u8)) -> String {
        if self.filled {
            format!("fill=\"{}\"", hex_color(ink))
        } else {
            format!(
                "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"",
                hex_color(ink),
                if self.heavy { 2.2 } else { 1.1 }
            )
        }
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

fn hex_color((r, g, b): (u8, u8, u8)) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
