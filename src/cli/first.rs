//! What happens where no verb is given.

use super::args::{self, Screen};
use super::config::Config;
use super::error::CliError;
use super::out::Out;
use super::setup::plan;
use super::{run, start};

/// A bare `retrospect`: the start screen, else the built-in episode.
pub(super) fn first(mut config: Config, screen: &Screen, mut out: Out) -> Result<(), CliError> {
    if super::terminal() && !screen.plain {
        return start::choose(config, screen, &mut out);
    }
    let plan = plan(&mut config, &args::World::default(), &args::How::default())?;
    run::begin(&config, plan, &args::Drive::default(), screen, out)
}
