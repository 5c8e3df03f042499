//! Colours, and their reduction to what the terminal can show.

use ratatui::style::Color;

/// How many colours a terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColourDepth {
    /// No colours (`NO_COLOR` or a dumb terminal): only attributes distinguish the roles.
    None,
    /// The sixteen ANSI colours.
    #[default]
    Ansi16,
    /// The 256-colour palette.
    Ansi256,
    /// True colour, eight bits per channel.
    Rgb,
}

impl ColourDepth {
    /// Detects the depth from `TERM`, `COLORTERM` and `NO_COLOR`.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let term = variable("TERM").unwrap_or_default();
        if variable("NO_COLOR").is_some_and(|v| !v.is_empty()) || term == "dumb" {
            return Self::None;
        }
        let colorterm = variable("COLORTERM").unwrap_or_default();
        if matches!(colorterm.as_str(), "truecolor" | "24bit") || term.ends_with("-direct") {
            Self::Rgb
        } else if term.contains("256color") {
            Self::Ansi256
        } else {
            Self::Ansi16
        }
    }
}

/// The names of the sixteen ANSI colours, by index.
const ANSI_NAMES: [(&str, Color); 16] = [
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::Gray),
    ("bright-black", Color::DarkGray),
    ("bright-red", Color::LightRed),
    ("bright-green", Color::LightGreen),
    ("bright-yellow", Color::LightYellow),
    ("bright-blue", Color::LightBlue),
    ("bright-magenta", Color::LightMagenta),
    ("bright-cyan", Color::LightCyan),
    ("bright-white", Color::White),
];

/// The sixteen ANSI colours as xterm shows them. Terminals differ, but keep the order of lightness.
const XTERM_RGB: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

/// Parses a colour of a theme file: an ANSI name, a palette index from 0 to 255, `#rrggbb` or `default`.
pub(super) fn parse(text: &str) -> Option<Color> {
    if text == "default" {
        return Some(Color::Reset);
    }
    if let Some(digits) = text.strip_prefix('#') {
        let wide = digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| wide)?;
        let [_, r, g, b] = number.to_be_bytes();
        return Some(Color::Rgb(r, g, b));
    }
    if let Ok(number) = text.parse::<u8>() {
        return Some(Color::Indexed(number));
    }
    ANSI_NAMES.iter().find(|n| n.0 == text).map(|n| n.1)
}

/// Returns the nearest colour that a terminal of this depth can show.
pub(super) fn reduce(colour: Color, depth: ColourDepth) -> Color {
    match (colour, depth) {
        (_, ColourDepth::None) => Color::Reset,
        (Color::Rgb(r, g, b), ColourDepth::Ansi256) => Color::Indexed(nearest_indexed((r, g, b))),
        (Color::Rgb(..) | Color::Indexed(_), ColourDepth::Ansi16) => {
            to_rgb(colour).map_or(Color::Reset, |rgb| ANSI_NAMES[nearest_index(rgb, XTERM_RGB.into_iter())].1)
        }
        _ => colour,
    }
}

/// Returns the RGB value of a colour; for the ANSI colours, the value that xterm uses. Returns `None` for the
/// terminal's default colour.
pub fn to_rgb(colour: Color) -> Option<(u8, u8, u8)> {
    match colour {
        Color::Rgb(r, g, b) => Some((r, g, b)),
        Color::Indexed(n @ 0..16) => Some(XTERM_RGB[usize::from(n)]),
        Color::Indexed(n @ 16..232) => {
            let level = |v: u8| if v == 0 { 0 } else { 55 + 40 * v };
            let n = n - 16;
            Some((level(n / 36), level(n / 6 % 6), level(n % 6)))
        }
        Color::Indexed(n) => Some((8 + 10 * (n - 232), 8 + 10 * (n - 232), 8 + 10 * (n - 232))),
        Color::Reset => None,
        named => ANSI_NAMES.iter().position(|n| n.1 == named).map(|i| XTERM_RGB[i]),
    }
}

fn nearest_indexed(rgb: (u8, u8, u8)) -> u8 {
    // Skip the first sixteen: people redefine them in their terminals.
    let table = (16..=255).filter_map(|n| to_rgb(Color::Indexed(n)));
    16 + nearest_index(rgb, table) as u8
}

fn nearest_index(rgb: (u8, u8, u8), table: impl Iterator<Item = (u8, u8, u8)>) -> usize {
    // The channels are weighted by perceived brightness.
    let distance = |c: (u8, u8, u8)| {
        let part = |a: u8, b: u8, weight: i32| weight * (i32::from(a) - i32::from(b)).pow(2);
        part(rgb.0, c.0, 3) + part(rgb.1, c.1, 6) + part(rgb.2, c.2, 1)
    };
    table.enumerate().min_by_key(|(_, c)| distance(*c)).map_or(0, |(i, _)| i)
}

/// Returns the contrast ratio of two colours, from 1 to 21 (WCAG 2.2, "contrast ratio").
pub fn contrast_ratio(a: (u8, u8, u8), b: (u8, u8, u8)) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn luminance((r, g, b): (u8, u8, u8)) -> f64 {
    let linear = |v: u8| {
        let v = f64::from(v) / 255.0;
        if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}
