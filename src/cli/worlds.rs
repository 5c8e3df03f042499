//! Converts flags and configuration to environment options and a selection of tasks.

use super::args::TaskArgs;
use super::config::Config;
use crate::driver::worlds::Selection;
use crate::env::TaskOptions;
use crate::env::pddl::GoalSeparator;

/// Returns the selection of tasks given by the flags.
pub(super) fn task_selection(world: &TaskArgs) -> Selection {
    let files = world.files.task_name();
    Selection {
        tasks: world.task.iter().cloned().chain(files).collect(),
        list: world.tasks.clone(),
        split: world.split.clone(),
        only: world.only,
    }
}

/// Returns the options of environments: data folder, seed and PDDL goal format.
pub(super) fn world_options(config: &Config) -> TaskOptions {
    let joining =
        if config.text("pddl.goal") == "blank" { GoalSeparator::Space } else { GoalSeparator::Comma };
    TaskOptions { data: config.path("data"), seed: config.number("run.seed"), goal_separator: joining }
}
