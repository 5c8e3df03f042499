//! Replaces the start screen in a build without the `tui` feature.

use super::config::Config;
use super::error::CliError;
use super::output::Output;
use super::{args, screen};

pub(super) fn choose_and_run(_: Config, _: &args::ScreenArgs, _: &mut Output) -> Result<(), CliError> {
    Err(screen::no_screen_error())
}
