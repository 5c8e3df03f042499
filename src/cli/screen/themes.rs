//! The themes: those that are shipped, and those of the user.

use crate::cli::bounded;
use crate::cli::config::{Config, keys};
use crate::cli::error::CliError;
use crate::ui::source::Problem;
use crate::ui::theme::{AUTO, BackgroundThemes, ColourDepth, TerminalCapabilities, Theme};
use std::path::Path;

/// Returns the themes for dark and light terminals, if no other theme is chosen and the terminal can show them.
pub(super) fn background_themes(
    config: &Config,
    flag: Option<&str>,
    capabilities: TerminalCapabilities,
) -> Option<BackgroundThemes> {
    let is_auto = flag.unwrap_or_else(|| config.get(keys::THEME)) == AUTO;
    if !is_auto || capabilities.depth != ColourDepth::Rgb {
        return None;
    }
    let valid = |name| load_theme(config, Some(name)).ok().filter(|(_, problems)| problems.is_empty());
    Some(BackgroundThemes { dark: valid("dark")?.0, light: valid("light")?.0 })
}

/// Loads a theme by name, from the user's `themes/` folder or the shipped ones, or by the path of a file.
pub(super) fn load_theme(config: &Config, flag: Option<&str>) -> Result<(Theme, Vec<Problem>), CliError> {
    let name = flag.unwrap_or_else(|| config.get(keys::THEME));
    let name = if name == AUTO { "default" } else { name };
    let folder = config.folder.join("themes");
    let read_own_theme = |name: &str| bounded::read_text(&folder.join(format!("{name}.toml"))).ok();
    if let Some(text) = read_own_theme(name) {
        let file = folder.join(format!("{name}.toml")).display().to_string();
        return Ok(Theme::parse(&file, &text, &read_own_theme));
    }
    if let Some(text) = Theme::shipped_source(name) {
        return Ok(Theme::parse(&format!("themes/{name}.toml"), text, &read_own_theme));
    }
    let path = Path::new(name);
    if path.is_file() {
        let text =
            bounded::read_text(path).map_err(|e| CliError::file(path, "the theme could not be read", &e))?;
        return Ok(Theme::parse(name, &text, &read_own_theme));
    }
    Err(CliError::usage(
        format!(
            "no theme {name:?}: not {AUTO}, not a shipped theme ({}), not in {}, and not a file",
            SHIPPED_THEMES.join(", "),
            folder.display()
        ),
        "choose a theme with --theme, or in the configuration (screen.theme)",
    ))
}

/// Lists the user's themes and the shipped ones, for the key that cycles through them. Leaves out invalid files; naming
/// one with `--theme` reports what is wrong with it.
pub(super) fn list_themes(config: &Config) -> Vec<(String, Theme)> {
    let theme_files = std::fs::read_dir(config.folder.join("themes")).into_iter().flatten().flatten();
    let mut names: Vec<String> = theme_files
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .collect();
    names.sort();
    for shipped in SHIPPED_THEMES {
        if !names.iter().any(|name| name == shipped) {
            names.push((*shipped).to_owned());
        }
    }
    names
        .into_iter()
        .filter_map(|name| {
            let (parsed, problems) = load_theme(config, Some(&name)).ok()?;
            problems.is_empty().then_some((name, parsed))
        })
        .collect()
}

/// The shipped themes, for the list and for messages.
const SHIPPED_THEMES: &[&str] = &["default", "light", "dark", "contrast", "mono", "ember", "fjord"];
