//! Converts flags and configuration to environment options and a selection of tasks.

use super::args::TaskArgs;
use super::config::{Config, find_entry, keys};
use crate::catalog::ENVIRONMENTS;
use crate::driver::worlds::Selection;
use crate::env::TaskOptions;

/// Returns the selection of tasks of an environment given by the flags.
pub(super) fn task_selection(env: &str, world: &TaskArgs) -> Selection {
    let files = world.files.task_name(env);
    Selection {
        tasks: world.task.iter().cloned().chain(files).collect(),
        list: world.tasks.clone(),
        split: world.split.clone(),
        only: world.only,
    }
}

/// Returns the options of environments: data folder, seed, and each environment's own.
pub(super) fn world_options(config: &Config) -> TaskOptions {
    let own = ENVIRONMENTS.iter().flat_map(|environment| environment.options);
    let chosen =
        own.filter_map(|option| Some((option.name, config.display(find_entry(option.name)?)))).collect();
    TaskOptions { data: config.get(keys::DATA), seed: config.get(keys::SEED), chosen }
}
