//! What happens where no verb is given.

use super::args::{self, ScreenArgs};
use super::config::Config;
use super::error::CliError;
use super::output::Output;
use super::setup::plan_run;
use super::{run, start};

/// A bare `retrospect`: the start screen, else the built-in episode.
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
