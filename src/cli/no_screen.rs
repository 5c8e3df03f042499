//! Replaces the screen in a build without the `tui` feature: every command that would show it returns an error.

use super::config::Config;
use super::error::CliError;
use super::locate::Opened;
use super::out::Out;
use super::watch::Shown;
use super::{args, setup::Plan};
use crate::report::StepRef;

/// The error of every command that would show the screen.
pub(super) fn no_screen_error() -> CliError {
    CliError::usage(
        "this program was built without the screen",
        "use --plain or --headless, or build it with the feature `tui`",
    )
}

pub(super) fn start(
    _: &Config,
    _: Plan,
    _: &args::Screen,
    _: Vec<String>,
    _: &mut Out,
) -> Result<(), CliError> {
    Err(no_screen_error())
}

pub(super) fn show(_: &Config, _: Shown<'_>, _: &args::Screen, _: &mut Out) -> Result<(), CliError> {
    Err(no_screen_error())
}

pub(super) fn picture(
    _: &Config,
    _: Opened,
    _: StepRef,
    _: (u16, u16),
    _: Option<&str>,
) -> Result<String, CliError> {
    Err(no_screen_error())
}

pub(super) fn check_theme(_: &Config, look: &args::Screen) -> Result<(), CliError> {
    if look.theme.is_some() { Err(no_screen_error()) } else { Ok(()) }
}

pub(super) fn complaints(_: &Config) -> [(&'static str, Vec<String>); 0] {
    []
}
