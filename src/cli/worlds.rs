//! Converts flags and configuration to environment options and a selection of tasks.

use super::args::TaskArgs;
use super::config::{Config, FilePath, Key, ValueType, find_entry, keys};
use crate::catalog::ENVIRONMENTS;
use crate::driver::worlds::Selection;
use crate::env::{EnvironmentOption, OptionValues, TaskOptions};

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
    let own = || ENVIRONMENTS.iter().flat_map(|environment| environment.options);
    let text_of = |option: &EnvironmentOption| Some((option.name, config.display(find_entry(option.name)?)));
    let chosen = own().filter(|option| option.values.is_recorded()).filter_map(text_of).collect();
    let is_local = |option: &&EnvironmentOption| matches!(option.values, OptionValues::LocalWords(_));
    let by_flag = config.set_by_flag_alone.iter().map(|(name, value)| (*name, (*value).to_owned()));
    let local_words = own().filter(is_local).filter_map(text_of).chain(by_flag).collect();
    let path_of = |option: &EnvironmentOption| {
        config.get(Key::<FilePath>::new(option.name, option.meaning, ValueType::Path, ""))
    };
    let paths = own().filter(|option| option.values == OptionValues::Path);
    let paths = paths.filter_map(|option| Some((option.name, path_of(option)?))).collect();
    TaskOptions {
        data: config.get(keys::DATA),
        seed: config.get(keys::SEED),
        chosen,
        local_words,
        paths,
        programs: config.programs.clone(),
    }
}
