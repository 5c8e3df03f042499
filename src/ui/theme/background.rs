//! The terminal's background, and the theme that suits it.

use super::{Theme, contrast_ratio};

/// Asks the terminal for its background (OSC 11). The reply arrives with the keys; `terminal_events` takes it out.
pub const BACKGROUND_QUERY: &str = "\x1b]11;?\x1b\\";

/// Whether the terminal's background is dark or light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    Dark,
    Light,
}

/// The themes for a terminal whose background isn't known yet.
#[derive(Clone, Debug)]
pub struct BackgroundThemes {
    pub dark: Theme,
    pub light: Theme,
}

impl Background {
    /// Reads the content of a reply, such as `11;rgb:1c1c/1c1c/1c1c`: channels of one to four hexadecimal digits.
    pub fn from_reply(reply: &str) -> Option<Self> {
        let colour = reply.strip_prefix("11;")?;
        let channels = colour.strip_prefix("rgb:").or_else(|| colour.strip_prefix("rgba:"))?;
        let mut channels = channels.split('/').map(|digits| {
            let greatest = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1)?;
            let value = u32::from_str_radix(digits, 16).ok()?.checked_mul(255)?;
            u8::try_from(value.checked_div(greatest)?).ok()
        });
        let mut next = || channels.next().flatten();
        Some(Self::from_rgb((next()?, next()?, next()?)))
    }

    /// Reads the variable `COLORFGBG` that some terminals set: the index of the background's colour is its last number.
    pub fn from_variable(value: &str) -> Option<Self> {
        match value.rsplit(';').next()?.parse::<u8>().ok()? {
            0..=6 | 8 => Some(Self::Dark),
            7 | 9..=15 => Some(Self::Light),
            _ => None,
        }
    }

    /// On a light background, black is read better than white.
    fn from_rgb(colour: (u8, u8, u8)) -> Self {
        let is_light = contrast_ratio(colour, (0, 0, 0)) > contrast_ratio(colour, (255, 255, 255));
        if is_light { Self::Light } else { Self::Dark }
    }
}

impl BackgroundThemes {
    /// Returns the theme for a background.
    pub fn matching(&self, background: Background) -> &Theme {
        match background {
            Background::Dark => &self.dark,
            Background::Light => &self.light,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Background::{self, Dark, Light};

    #[test]
    fn replies_of_terminals_tell_dark_from_light() {
        for (reply, expected) in [
            ("11;rgb:0000/0000/0000", Some(Dark)),
            ("11;rgb:ffff/ffff/ffff", Some(Light)),
            ("11;rgb:1c/1c/1c", Some(Dark)),
            ("11;rgb:fd/f6/e3", Some(Light)),
            ("11;rgba:fafa/fafa/fafa/ffff", Some(Light)),
            ("11;rgb:f/f/f", Some(Light)),
            ("11;rgb:00/00", None),
            ("11;rgb:///", None),
            ("11;rgb:fffffffff/0/0", None),
            ("11;rgb:xx/00/00", None),
            ("10;rgb:0000/0000/0000", None),
            ("", None),
        ] {
            assert_eq!(Background::from_reply(reply), expected, "{reply}");
        }
    }

    #[test]
    fn the_variable_of_some_terminals_tells_dark_from_light() {
        for (value, expected) in [
            ("15;0", Some(Dark)),
            ("0;15", Some(Light)),
            ("0;default;7", Some(Light)),
            ("15;default", None),
            ("", None),
        ] {
            assert_eq!(Background::from_variable(value), expected, "{value}");
        }
    }
}
