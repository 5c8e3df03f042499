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

/// The levels of a channel in the cube of the 256-colour palette.
const CUBE_LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

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
            let nearest = |rgb| (0..16).min_by_key(|i| distance(rgb, XTERM_RGB[*i])).unwrap_or_default();
            to_rgb(colour).map_or(Color::Reset, |rgb| ANSI_NAMES[nearest(rgb)].1)
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
            let level = |v: u8| CUBE_LEVELS[usize::from(v % 6)];
            let n = n - 16;
            Some((level(n / 36), level(n / 6), level(n)))
        }
        Color::Indexed(n) => Some((8 + 10 * (n - 232), 8 + 10 * (n - 232), 8 + 10 * (n - 232))),
        Color::Reset => None,
        named => ANSI_NAMES.iter().position(|n| n.1 == named).map(|i| XTERM_RGB[i]),
    }
}

/// Returns the nearest colour of the palette's cube (16 to 231) and greys (232 to 255). The first sixteen are left out: people
/// redefine them in their terminals. A start reduces some hundreds of colours, so this doesn't try all 240: the distance is
/// a sum over the channels, so the nearest colour of the cube has the nearest level in each.
fn nearest_indexed(rgb: (u8, u8, u8)) -> u8 {
    let level =
        |value: u8| (0..6).min_by_key(|l| CUBE_LEVELS[usize::from(*l)].abs_diff(value)).unwrap_or_default();
    let in_cube = 16 + 36 * level(rgb.0) + 6 * level(rgb.1) + level(rgb.2);
    let candidates = std::iter::once(in_cube).chain(232..=255);
    candidates
        .min_by_key(|n| to_rgb(Color::Indexed(*n)).map_or(i32::MAX, |c| distance(rgb, c)))
        .unwrap_or(in_cube)
}

/// Returns the squared distance of two colours, the channels weighted by perceived brightness.
fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> i32 {
    let part = |a: u8, b: u8, weight: i32| weight * (i32::from(a) - i32::from(b)).pow(2);
    part(a.0, b.0, 3) + part(a.1, b.1, 6) + part(a.2, b.2, 1)
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
