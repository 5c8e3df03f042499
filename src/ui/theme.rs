//! Themes. A theme is a TOML file that gives each [`Role`] a style; only this module and the files in `themes/` name
//! colours.
//!
//! ```toml
//! inherits = "dark"                 # defaults for everything this file doesn't set
//! [palette]
//! sand = "#e8d5b5"                  # #rrggbb, a palette index, an ANSI name, or "default"
//! [role]
//! text = "sand"                     # a foreground
//! "frame.focus" = { fg = "sand", bg = "#201810", attrs = ["bold"] }
//! ```
//!
//! A role that no file styles falls back to the prefixes of its dotted name, then to `text`. Parsing never fails: errors
//! are reported as [`Problem`]s with their lines, and the rest applies.

mod background;
mod colour;
mod parse;
mod role;

pub use super::source::Problem;
pub use background::{BACKGROUND_QUERY, Background, BackgroundThemes};
pub use colour::{ColourDepth, contrast_ratio, to_rgb};
pub use role::Role;

use crate::report::SvgColors;
use ratatui::style::{Color, Modifier, Style};

/// The shipped themes: name and TOML source.
pub const SHIPPED: [(&str, &str); 7] = [
    ("default", include_str!("../../themes/default.toml")),
    ("light", include_str!("../../themes/light.toml")),
    ("dark", include_str!("../../themes/dark.toml")),
    ("contrast", include_str!("../../themes/contrast.toml")),
    ("mono", include_str!("../../themes/mono.toml")),
    ("ember", include_str!("../../themes/ember.toml")),
    ("fjord", include_str!("../../themes/fjord.toml")),
];

/// The name that stands for the theme `dark` or `light`, whichever suits the terminal's background, or for `default` where the
/// terminal has no true colour or doesn't report its background.
pub const AUTO: &str = "auto";

/// A style for every role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    styles: Vec<Style>,
}

/// What the terminal can show and the person wants, detected from environment variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalCapabilities {
    pub depth: ColourDepth,
    /// The background, if a variable tells.
    pub background: Option<Background>,
    /// Characters beyond ASCII may be drawn.
    pub unicode: bool,
    /// Nothing is animated.
    pub reduced_motion: bool,
}

impl TerminalCapabilities {
    /// Reads `TERM`, `COLORTERM`, `COLORFGBG`, `NO_COLOR`, the locale and `RETROSPECT_REDUCED_MOTION`.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name| variable(name).filter(|v| !v.is_empty());
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
        let utf8 = |l: &String| l.to_ascii_lowercase().replace('-', "").contains("utf8");
        // Windows and macOS set no locale for programs that aren't started from a shell; their terminals use UTF-8.
        let unicode = locale.as_ref().map_or(cfg!(any(windows, target_os = "macos")), utf8);
        let term = variable("TERM").unwrap_or_default();
        Self {
            depth: ColourDepth::detect(&variable),
            background: variable("COLORFGBG").and_then(|value| Background::from_variable(&value)),
            unicode: unicode && term != "dumb",
            reduced_motion: set("RETROSPECT_REDUCED_MOTION").is_some_and(|v| v != "0") || term == "dumb",
        }
    }
}

impl Theme {
    /// Returns the style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// Returns the TOML source of a shipped theme.
    pub fn shipped_source(name: &str) -> Option<&'static str> {
        SHIPPED.iter().find(|t| t.0 == name).map(|t| t.1)
    }

    /// Parses a theme. For `inherits`, `lookup` returns the source of a theme by name; the shipped themes are searched
    /// after it. Never fails: valid definitions apply, the others are returned as problems.
    pub fn parse(file: &str, text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> (Self, Vec<Problem>) {
        parse::parse_theme(file, text, lookup)
    }

    /// Returns the theme reduced to a terminal's depth. Without colours that is `mono`.
    #[must_use]
    pub fn with_depth(&self, depth: ColourDepth) -> Self {
        if depth == ColourDepth::None {
            return Self::from_shipped("mono");
        }
        let ground = self.style(Role::Background).bg.filter(|c| *c != Color::Reset);
        let styles = self.styles.iter().map(|style| {
            let mut style = *style;
            let before = (style.fg, style.bg.or(ground));
            style.fg = style.fg.map(|c| colour::reduce(c, depth));
            style.bg = style.bg.map(|c| colour::reduce(c, depth));
            let back = style.bg.or(ground.map(|c| colour::reduce(c, depth)));
            // Reduction may make the text colour equal to its background: then use black or white.
            if before.0 != before.1 && style.fg.is_some() && style.fg == back {
                let light = back
                    .and_then(to_rgb)
                    .is_some_and(|c| contrast_ratio(c, (0, 0, 0)) > contrast_ratio(c, (255, 255, 255)));
                style.fg = Some(if light { Color::Black } else { Color::White });
            }
            style
        });
        Self { styles: styles.collect() }
    }

    fn from_shipped(shipped: &str) -> Self {
        Self::parse(shipped, Self::shipped_source(shipped).unwrap_or_default(), &|_| None).0
    }

    /// Builds a theme from the known styles; other roles fall back.
    fn resolve(known: impl Fn(&str) -> Option<Style>) -> Self {
        let text = known("text").unwrap_or_default();
        let ground = known("ground").unwrap_or_default();
        let look = |role: &Role| {
            if *role == Role::Background {
                return Style { fg: ground.fg.or(text.fg), ..ground };
            }
            let mut name = role.name();
            loop {
                if let Some(style) = known(name) {
                    // A role without a foreground takes that of `text`.
                    let reversed = style.add_modifier.contains(Modifier::REVERSED);
                    return if style.fg.is_none() && !reversed {
                        Style { fg: text.fg, ..style }
                    } else {
                        style
                    };
                }
                match name.rfind('.') {
                    Some(dot) => name = &name[..dot],
                    None => return text,
                }
            }
        };
        Self { styles: Role::ALL.iter().map(look).collect() }
    }
}

impl Default for Theme {
    fn default() -> Self {
        Self::from_shipped("default")
    }
}

/// Returns the default colours that a terminal would supply: the theme's background if it sets one, else a dark one.
pub fn svg_colors(theme: &Theme) -> SvgColors {
    let background = theme.style(Role::Background);
    match (background.bg, background.fg) {
        (Some(Color::Rgb(r, g, b)), foreground) => {
            let light = u32::from(r) + u32::from(g) + u32::from(b) > 384;
            let mut colors = if light { SvgColors::light() } else { SvgColors::dark() };
            colors.background = (r, g, b);
            if let Some(Color::Rgb(r, g, b)) = foreground {
                colors.foreground = (r, g, b);
            }
            colors
        }
        _ => SvgColors::dark(),
    }
}

#[cfg(test)]
mod tests;
