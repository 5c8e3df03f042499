//! The colours that a terminal would provide.

use ratatui::style::Color;

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

    /// Returns a colour's components; `default` is that of a cell without a colour of its own.
    pub(super) fn resolve(&self, color: Color, default: (u8, u8, u8)) -> (u8, u8, u8) {
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

pub(super) fn hex_color((r, g, b): (u8, u8, u8)) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
