//! The background colours of a page's elements, as a picture names and draws them.

use crate::domain::PictureRole;

/// An opaque or translucent colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Color {
    red: u8,
    green: u8,
    blue: u8,
}

/// The colours with a name, of those that CSS names: the ones of the pages, and other basic ones.
const NAMES: &[(&str, [u8; 3])] = &[
    ("red", [255, 0, 0]),
    ("blue", [0, 0, 255]),
    ("olive", [128, 128, 0]),
    ("lime", [0, 255, 0]),
    ("black", [0, 0, 0]),
    ("white", [255, 255, 255]),
    ("grey", [128, 128, 128]),
    ("purple", [128, 0, 128]),
    ("orange", [255, 165, 0]),
    ("yellow", [255, 255, 0]),
    ("cyan", [0, 255, 255]),
    ("pink", [255, 192, 203]),
    ("magenta", [255, 0, 255]),
    ("green", [0, 128, 0]),
    ("navy", [0, 0, 128]),
    ("teal", [0, 128, 128]),
    ("maroon", [128, 0, 0]),
    ("silver", [192, 192, 192]),
    ("brown", [165, 42, 42]),
];
/// Colours whose channels differ by less are grey.
const MIN_CHROMA: u8 = 48;

impl Color {
    /// Parses a computed style, such as `rgb(0, 255, 255)`. `None` for a transparent colour, or another form.
    pub(super) fn parse(style: &str) -> Option<Self> {
        let (kind, rest) = style.split_once('(')?;
        let mut parts = rest.strip_suffix(')')?.split(',').map(str::trim);
        let mut channel = || parts.next()?.parse::<u8>().ok();
        let color = Self { red: channel()?, green: channel()?, blue: channel()? };
        let alpha: f64 = match (kind, parts.next()) {
            ("rgb", None) => 1.0,
            ("rgba", Some(alpha)) => alpha.parse().ok()?,
            _ => return None,
        };
        (alpha > 0.0 && parts.next().is_none()).then_some(color)
    }

    /// Returns its name, or its hexadecimal digits.
    pub(super) fn name(self) -> String {
        let Self { red, green, blue } = self;
        let named = NAMES.iter().find(|(_, channels)| *channels == [red, green, blue]);
        named.map_or_else(|| format!("#{red:02x}{green:02x}{blue:02x}"), |(name, _)| (*name).to_owned())
    }

    /// Returns the nearest role that has a colour. It is drawn on any background, so black is no darker than secondary text.
    pub(super) fn role(self) -> PictureRole {
        let Self { red, green, blue } = self;
        let (max, min) = (red.max(green).max(blue), red.min(green).min(blue));
        if max - min < MIN_CHROMA {
            return match max {
                0..64 => PictureRole::Muted,
                64..224 => PictureRole::Grey,
                224.. => PictureRole::Text,
            };
        }
        let part = |one: u8, other: u8| (f64::from(one) - f64::from(other)) / f64::from(max - min);
        // Degrees on the colour circle.
        let hue = if max == red {
            60.0 * part(green, blue).rem_euclid(6.0)
        } else if max == green {
            60.0 * (part(blue, red) + 2.0)
        } else {
            60.0 * (part(red, green) + 4.0)
        };
        match hue as u32 {
            20..75 => PictureRole::Yellow,
            75..165 => PictureRole::Green,
            165..255 => PictureRole::Blue,
            255..330 => PictureRole::Purple,
            _ => PictureRole::Red,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_have_names_and_roles() {
        use PictureRole::{Blue, Green, Grey, Muted, Purple, Red, Text, Yellow};
        let roles = [
            Red, Blue, Yellow, Green, Muted, Text, Grey, Purple, Yellow, Yellow, Blue, Red, Purple, Green,
            Blue, Blue, Red, Grey, Red,
        ];
        assert_eq!(NAMES.len(), roles.len());
        for ((name, [red, green, blue]), role) in NAMES.iter().zip(roles) {
            let color = Color::parse(&format!("rgb({red}, {green}, {blue})")).unwrap();
            assert_eq!((color.name().as_str(), color.role()), (*name, role));
        }
        let other = Color::parse("rgba(250, 10, 60, 0.5)").unwrap();
        assert_eq!((other.name().as_str(), other.role()), ("#fa0a3c", Red));
        for style in
            ["rgba(0, 0, 0, 0)", "rgb(1, 2)", "rgb(1, 2, 3, 4)", "rgb(1, 2, 300)", "red", "", "hsl(1, 2, 3)"]
        {
            assert_eq!(Color::parse(style), None, "{style}");
        }
    }
}
