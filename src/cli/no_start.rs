//! Replaces the start screen in a build without the `tui` feature.

use super::config::Config;
use super::error::CliError;
use super::out::Out;
use super::{args, screen};

pub(super) fn choose(_: Config, _: &args::Screen, _: &mut Out) -> Result<(), CliError> {
    Err(screen::no_screen_error())
}
