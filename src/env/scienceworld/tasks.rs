//! The tasks: a type and a variation, such as `boil/21`.

use super::NAME;
use super::environment::{EpisodeSetup, ScienceWorld};
use super::installation::Installation;
use super::simplifications::parse_simplifications;
use super::simulator::{
    LIST_LIMIT, LOAD_LIMIT, QUERY_LIMIT, START_LIMIT, STEP_LIMIT, Simulator, end_idle_simulators,
};
use super::task_types::{Split, TASK_TYPES, TaskType};
use crate::domain::Task;
use crate::env::{
    EnvError, Environment, EnvironmentOption, LabelSource, OptionValues, TaskAccess, TaskCheck, TaskError,
    TaskSource, TimeLimits,
};
use std::borrow::Cow;
use std::ops::Range;

/// The simplifications of every episode but those of labels.
pub const SIMPLIFICATIONS_OPTION: EnvironmentOption = EnvironmentOption {
    name: "scienceworld.simplifications",
    meaning: "what ScienceWorld makes easier: `easy`, or some of teleportAction, openDoors, selfWateringFlowerPots, openContainers, noElectricalAction, separated by commas",
    values: OptionValues::Text { default: "" },
    variable: "SCIENCEWORLD_SIMPLIFICATIONS",
};

/// Whether the valid actions are listed after every step.
pub const ENUMERATE_OPTION: EnvironmentOption = EnvironmentOption {
    name: "scienceworld.enumerate",
    meaning: "whether ScienceWorld lists the valid actions after each step, as its Python package does: that is slow, and changes what happens later",
    values: OptionValues::Words(&[NEVER, EVERY_STEP]),
    variable: "SCIENCEWORLD_ENUMERATE",
};
const NEVER: &str = "never";
const EVERY_STEP: &str = "every-step";

/// The name of the list of tasks in Sweet&Sour's paper, and the number of variations of each type in it.
const PAPER_SET: &str = "sweet-and-sour";
const PAPER_SET_VARIATIONS: u32 = 10;
const VARIATION_FORM: &str =
    "a task is NAME/VARIATION, such as boil/21 or 1-1/21; NAME alone is the first variation for tests";

/// The tasks of the simulator.
pub struct ScienceWorldTasks;

/// Returns whether episodes list the valid actions after each step.
pub(super) fn lists_every_step(access: TaskAccess) -> bool {
    access.options.word(&ENUMERATE_OPTION) == EVERY_STEP
}

fn task(task_type: &TaskType, variation: u32) -> Task {
    Task {
        env: NAME.to_owned(),
        id: format!("{}/{variation}", task_type.name),
        goal: String::new(),
        task_type: Some(task_type.name.to_owned()),
        difficulty: None,
        seed: u64::from(variation),
    }
}

/// Parses `NAME/VARIATION` or `NAME`.
fn parse_task(text: &str) -> Result<(&'static TaskType, u32), TaskError> {
    let text = text.strip_prefix("scienceworld/").unwrap_or(text);
    let unknown = |why: String| TaskError::unknown_task(NAME, text, why);
    let (name, variation) = text.split_once('/').map_or((text, None), |(name, rest)| (name, Some(rest)));
    let task_type = TaskType::find(name).ok_or_else(|| unknown(VARIATION_FORM.to_owned()))?;
    let Some(variation) = variation else { return Ok((task_type, task_type.split(Split::Test).start)) };
    let number = variation.parse::<u32>().ok().filter(|number| number.to_string() == variation);
    let number = number.ok_or_else(|| unknown(VARIATION_FORM.to_owned()))?;
    if number >= task_type.variations {
        let why = format!("{} has {} variations, numbered from 0", task_type.name, task_type.variations);
        return Err(unknown(why));
    }
    Ok((task_type, number))
}

/// Returns the first variations of a split of each type, in rounds, so that the first few tasks are of all types.
fn tasks_in_rounds(split: Split, per_type: u32) -> Vec<Task> {
    let longest = TASK_TYPES.iter().map(|known| known.split(split).len() as u32).max().unwrap_or_default();
    let mut tasks = Vec::new();
    for round in 0..per_type.min(longest) {
        for known in &TASK_TYPES {
            let variation = known.split(split).start + round;
            if known.split(split).contains(&variation) {
                tasks.push(task(known, variation));
            }
        }
    }
    tasks
}

/// Returns the tasks of `NAME/FIRST-LAST`, `*/FIRST-LAST` or `SPLIT/COUNT`. Variations that a type doesn't have are left out.
fn expand_pattern(text: &str) -> Option<Vec<Task>> {
    if text == PAPER_SET {
        return Some(tasks_in_rounds(Split::Test, PAPER_SET_VARIATIONS));
    }
    let (name, numbers) = text.strip_prefix("scienceworld/").unwrap_or(text).split_once('/')?;
    if let Some(split) = Split::from_name(name) {
        return Some(tasks_in_rounds(split, numbers.parse().ok()?));
    }
    let (first, last) = numbers.split_once('-')?;
    let range: Range<u32> = first.parse().ok()?..last.parse::<u32>().ok()?.checked_add(1)?;
    let is_chosen: Box<dyn Fn(&TaskType) -> bool> = match name {
        "*" => Box::new(|_| true),
        name => {
            let chosen = TaskType::find(name)?;
            Box::new(move |known| known == chosen)
        }
    };
    let mut tasks = Vec::new();
    for known in TASK_TYPES.iter().filter(|known| is_chosen(known)) {
        tasks.extend((range.start..range.end.min(known.variations)).map(|variation| task(known, variation)));
    }
    Some(tasks)
}

/// Returns the ids of the tasks of Sweet&Sour's paper, of which figures are published.
pub fn published_keys() -> Vec<String> {
    tasks_in_rounds(Split::Test, PAPER_SET_VARIATIONS).into_iter().map(|task| task.id).collect()
}

/// Returns a goal without the words with which every goal begins.
pub fn short_goal(goal: &str) -> Cow<'_, str> {
    Cow::Borrowed(goal.strip_prefix("Your task is to ").unwrap_or(goal))
}

impl TaskSource for ScienceWorldTasks {
    fn open(&self, task: &Task, access: TaskAccess) -> Result<Box<dyn Environment>, EnvError> {
        let (task_type, variation) = parse_task(&task.id).map_err(|error| error.to_env_error())?;
        let simplifications = parse_simplifications(access.options.text(&SIMPLIFICATIONS_OPTION), task_type)
            .map_err(|what| EnvError::Refused { what: format!("{}: {what}", SIMPLIFICATIONS_OPTION.name) })?;
        let installation = Installation::find(access).map_err(|error| error.to_start_error())?;
        let lists_every_step = lists_every_step(access);
        let setup = EpisodeSetup { task: task_type.name, variation, simplifications, lists_every_step };
        Ok(Box::new(ScienceWorld::open(&installation, setup, None)?))
    }

    fn find(&self, text: &str, access: TaskAccess) -> Result<Task, TaskError> {
        let (task_type, variation) = parse_task(text)?;
        // Without the simulator no session is created.
        Installation::find(access)?;
        Ok(task(task_type, variation))
    }

    /// Returns the first variation for tests of each type.
    fn list(&self, _: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Ok(tasks_in_rounds(Split::Test, 1))
    }

    fn list_offered(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Installation::find(access)?;
        self.list(access)
    }

    fn default_tasks(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Installation::find(access)?;
        Ok(tasks_in_rounds(Split::Test, 1).into_iter().take(1).collect())
    }

    fn list_calibration(&self, tasks_per_kind: usize, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Installation::find(access)?;
        Ok(tasks_in_rounds(Split::Train, u32::try_from(tasks_per_kind).unwrap_or(u32::MAX)))
    }

    fn list_split(&self, split: &str, _: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        let found = Split::from_name(split).ok_or_else(|| {
            TaskError::unknown_split(NAME, split, format!("the splits are {}", Split::NAMES.join(", ")))
        })?;
        Ok(Some(tasks_in_rounds(found, u32::MAX)))
    }

    fn expand_set(&self, text: &str, _: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        Ok(expand_pattern(text))
    }

    fn set_forms(&self) -> Option<&'static str> {
        Some(
            "a set such as `boil/21-29`, `*/0-4`, `test/10` (the first ten variations of each type in a split) or \
             `sweet-and-sour` (the tasks of that paper: `test/10`)",
        )
    }

    fn labels(&self) -> Option<&'static dyn LabelSource> {
        Some(&Self)
    }

    /// Returns the task as it is: its variation is in its id.
    fn with_seed(&self, task: Task, _: u64) -> Task {
        task
    }

    fn warnings(&self, _: &Task, access: TaskAccess) -> Vec<String> {
        let found = Installation::find(access).ok();
        found.and_then(|installation| installation.version_warning(access)).into_iter().collect()
    }

    fn time_limits(&self, _: TaskAccess) -> Option<TimeLimits> {
        // A step is followed by questions about the state, and perhaps by a list.
        let questions = QUERY_LIMIT * 6;
        Some(TimeLimits {
            open: START_LIMIT * 4 + LOAD_LIMIT + STEP_LIMIT + questions + LIST_LIMIT,
            step: STEP_LIMIT + questions + LIST_LIMIT,
            // A hint begins the task anew.
            list: START_LIMIT * 4 + LOAD_LIMIT + LIST_LIMIT,
        })
    }

    fn is_external(&self) -> bool {
        true
    }

    fn starts_slowly(&self) -> bool {
        true
    }

    fn end_idle_processes(&self) {
        end_idle_simulators();
    }

    fn check(&self, access: TaskAccess) -> Option<TaskCheck> {
        let installation = match Installation::find(access) {
            Ok(installation) => installation,
            Err(error @ TaskError::NoData { hint, .. }) => {
                return Some(TaskCheck::Missing { detail: error.to_string(), hint });
            }
            Err(error) => {
                return Some(TaskCheck::Broken { detail: error.to_string(), hint: "check SCIENCEWORLD_JAR" });
            }
        };
        let hint =
            "install Java 8 or newer (Debian: default-jre-headless), or set JAVA_HOME (docs/SCIENCEWORLD.md)";
        Some(match Simulator::open(&installation) {
            Ok(simulator) if simulator.is_pinned() => {
                let version = installation.version_warning(access);
                TaskCheck::Ok(
                    version.unwrap_or_else(|| "version 1.2.3 starts, and is deterministic".to_owned()),
                )
            }
            Ok(_) => TaskCheck::Ok(
                "it starts, but this Java ignores -XX:hashCode=2: the same actions may have other answers"
                    .to_owned(),
            ),
            Err(error @ EnvError::NotStarted { .. }) => {
                TaskCheck::Missing { detail: error.to_string(), hint }
            }
            Err(error) => TaskCheck::Broken { detail: error.to_string(), hint },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_have_names_and_variations() {
        let parse = |text: &str| parse_task(text).map(|(found, variation)| (found.name, variation));
        assert_eq!(parse("boil/21").unwrap(), ("boil", 21));
        assert_eq!(parse("1-1/0").unwrap(), ("boil", 0));
        assert_eq!(parse("10-2").unwrap(), ("mendelian-genetics-unknown-plant", 360));
        assert_eq!(parse("scienceworld/find-animal/299").unwrap(), ("find-animal", 299));
        for (text, why) in [
            ("boil/30", "boil has 30 variations"),
            ("boil/021", "such as boil/21"),
            ("boil/+1", "such as boil/21"),
            ("boil/", "such as boil/21"),
            ("11-1/0", "such as boil/21"),
            ("", "such as boil/21"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn sets_select_variations() {
        let ids = |text: &str| -> Option<Vec<String>> {
            Some(expand_pattern(text)?.into_iter().map(|task| task.id).collect())
        };
        assert_eq!(ids("boil/28-40").unwrap(), ["boil/28", "boil/29"]);
        assert_eq!(ids("*/0-4").unwrap().len(), 150);
        assert_eq!(ids("test/1").unwrap().len(), 30);
        assert_eq!(ids("sweet-and-sour").unwrap().len(), 271);
        assert_eq!(ids("sweet-and-sour"), ids("test/10"));
        assert_eq!(ids("sweet-and-sour"), Some(published_keys()));
        for text in ["boil", "boil/3", "fly/1-2", "*/x-2", "test/x", "1-5"] {
            assert_eq!(ids(text), None, "{text}");
        }
        let all: usize = Split::NAMES
            .iter()
            .filter_map(|name| Split::from_name(name))
            .map(|split| tasks_in_rounds(split, u32::MAX).len())
            .sum();
        assert_eq!(all, TASK_TYPES.iter().map(|known| known.variations as usize).sum::<usize>());
        assert_eq!(short_goal("Your task is to boil lead."), "boil lead.");
    }
}
