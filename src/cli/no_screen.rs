//! Replaces the screen in a build without the `tui` feature: every command that would show it returns an error.

use super::config::Config;
use super::error::CliError;
use super::headless::ScreenSession;
use super::output::Output;
use super::{args, setup::Plan};

/// Returns the error of every command that would show the screen.
pub(super) fn no_screen_error() -> CliError {
    CliError::usage(
        "this program was built without the screen",
        "use --plain or --headless, or rebuild it with the cargo feature `tui`",
    )
}

pub(super) fn start_run(
    _: &Config,
    _: Plan,
    _: &args::ScreenArgs,
    _: Vec<String>,
    _: &mut Output,
) -> Result<(), CliError> {
    Err(no_screen_error())
}

pub(super) fn show_session(
    _: &Config,
    _: ScreenSession<'_>,
    _: &args::ScreenArgs,
    _: &mut Output,
) -> Result<(), CliError> {
    Err(no_screen_error())
}

pub(super) fn check_theme(_: &Config, flags: &args::ScreenArgs) -> Result<(), CliError> {
    if flags.theme.is_some() { Err(no_screen_error()) } else { Ok(()) }
}

pub(super) fn config_problems(_: &Config) -> [(&'static str, Vec<String>); 0] {
    []
}

/// Pictures are drawn by the screen.
pub(super) mod picture {
    use super::no_screen_error;
    use crate::cli::config::Config;
    use crate::cli::error::CliError;
    use crate::cli::locate::OpenedSession;
    use crate::report::StepRef;

    pub(in crate::cli) fn screen_svg(
        _: &Config,
        _: OpenedSession,
        _: StepRef,
        _: (u16, u16),
        _: (Option<&str>, bool),
    ) -> Result<String, CliError> {
        Err(no_screen_error())
    }

    pub(in crate::cli) fn screen_cast(
        _: &Config,
        _: OpenedSession,
        _: (Option<StepRef>, Option<StepRef>),
        _: &str,
        _: (u16, u16),
        _: (Option<&str>, bool),
    ) -> Result<String, CliError> {
        Err(no_screen_error())
    }

    /// Nothing plays without a screen.
    #[expect(clippy::unnecessary_wraps, reason = "the screen's own function can fail")]
    pub(in crate::cli) fn playing_time(_: &OpenedSession) -> Result<Option<std::time::Duration>, CliError> {
        Ok(None)
    }
}
