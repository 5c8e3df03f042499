//! A rendered screen as a picture: text runs in a monospaced font, with frames and blocks drawn as shapes so that lines
//! join in every viewer. `cast` plays several screens.

mod cast;
mod colors;
mod row;

pub use cast::{CastFrame, render_svg_cast};
pub use colors::SvgColors;

use crate::text::escape_html;
use colors::hex_color;
use ratatui::buffer::Buffer;
use row::{CELL_HEIGHT, CELL_WIDTH, RowWriter, StyleSheet, drawn_cells};
use std::fmt::Write as _;

/// Renders the picture; `title` is its description for screen readers.
pub fn render_svg(buffer: &Buffer, colors: &SvgColors, title: &str) -> String {
    let mut out = String::new();
    open_document(&mut out, (buffer.area.width, buffer.area.height), colors, title);
    let _ = write!(out, "<g transform=\"translate(8 8)\" fill=\"{}\">", hex_color(colors.foreground));
    for y in 0..buffer.area.height {
        let cells = drawn_cells(buffer, colors, y);
        let mut styles = StyleSheet::Attributes;
        RowWriter { out: &mut out, colors, styles: &mut styles, column: 0, y }.write(&cells);
        out.push('\n');
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// Returns the size in pixels of a screen of some columns and rows.
fn picture_size((columns, rows): (u16, u16)) -> (f64, f64) {
    (f64::from(columns) * CELL_WIDTH + 16.0, f64::from(rows) * CELL_HEIGHT + 16.0)
}

/// Opens the document, with `attributes` of its root, and draws the page.
fn open_document(out: &mut String, size: (u16, u16), colors: &SvgColors, title: &str) {
    let (width, height) = picture_size(size);
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"img\" aria-label=\"{}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, \
         Consolas, monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{}\"/>",
        escape_html(title),
        hex_color(colors.background),
    );
}
