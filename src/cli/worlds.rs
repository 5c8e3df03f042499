//! Which worlds and tasks the flags and the configuration mean.

use super::args::TaskArgs;
use super::config::Config;
use crate::driver::worlds::{Selection, WorldOptions};
use crate::env::pddl::GoalSeparator;

/// Which tasks are meant.
pub(super) fn task_selection(world: &TaskArgs) -> Selection {
    let files = world.files.task_name();
    Selection {
        tasks: world.task.iter().cloned().chain(files).collect(),
        list: world.tasks.clone(),
        split: world.split.clone(),
        only: world.only,
    }
}

/// Where worlds are looked for.
pub(super) fn world_options(config: &Config) -> WorldOptions {
    let joining =
        if config.text("pddl.goal") == "blank" { GoalSeparator::Space } else { GoalSeparator::Comma };
    WorldOptions { data: config.path("data"), seed: config.number("run.seed"), joining }
}
