//! Runs `retrospect` without a verb.

use super::args::{self, ScreenArgs};
use super::config::Config;
use super::error::CliError;
use super::output::Output;
use super::setup::plan_run;
use super::{run, start};

/// Shows the start screen, or plays the built-in episode if there is no terminal or `--plain` is given.
pub(super) fn run_without_verb(
    mut config: Config,
    screen: &ScreenArgs,
    mut out: Output,
) -> Result<(), CliError> {
    if super::can_show_screen() && !screen.plain {
        return start::choose_and_run(config, screen, &mut out);
    }
    let plan = plan_run(&mut config, &args::TaskArgs::default(), &args::MethodArgs::default())?;
    run::start_run(&config, plan, &args::DriveArgs::default(), screen, out)
}
