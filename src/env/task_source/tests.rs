//! What an environment gets that implements only what it must.

use super::*;
use crate::domain::{EnvInfo, ListingCost, StepResult};
use crate::env::{TaskFiles, TaskOptions};
use std::path::PathBuf;

/// Adds numbers until their sum reaches the goal.
struct Counter {
    goal: i64,
    sum: i64,
}

impl Counter {
    fn result(&self, valid: bool) -> StepResult {
        let won = self.sum == self.goal;
        StepResult {
            observation: format!("The sum is {}.", self.sum),
            valid,
            done: won,
            won,
            ..StepResult::default()
        }
    }
}

impl Environment for Counter {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: false, deterministic: true, listing_cost: ListingCost::Free }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        self.sum = 0;
        Ok(self.result(true))
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let number = action.strip_prefix("add ").and_then(|number| number.parse::<i64>().ok());
        self.sum += number.unwrap_or(0);
        Ok(self.result(number.is_some()))
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        Ok(vec!["add 1".to_owned()])
    }
}

struct CounterTasks;

fn counter_task(id: &str) -> Task {
    Task {
        env: "counter".to_owned(),
        id: id.to_owned(),
        goal: format!("reach {id}"),
        task_type: None,
        difficulty: None,
        seed: 0,
    }
}

impl TaskSource for CounterTasks {
    fn open(&self, task: &Task, _: TaskAccess) -> Result<Box<dyn Environment>, EnvError> {
        let goal = task.id.parse().map_err(|e| EnvError::Refused { what: format!("{}: {e}", task.id) })?;
        Ok(Box::new(Counter { goal, sum: 0 }))
    }

    fn find(&self, text: &str, _: TaskAccess) -> Result<Task, TaskError> {
        let number = text.parse::<i64>();
        number
            .map(|_| counter_task(text))
            .map_err(|e| TaskError::unknown_task("counter", text, e.to_string()))
    }

    fn list(&self, _: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Ok(["3", "10"].map(counter_task).to_vec())
    }
}

/// There are no files.
struct NoFiles;

impl TaskFiles for NoFiles {
    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn is_file(&self, _: &Path) -> bool {
        false
    }

    fn is_dir(&self, _: &Path) -> bool {
        false
    }

    fn list(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    fn canonicalize(&self, _: &Path) -> std::io::Result<PathBuf> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

#[test]
fn opening_finding_and_listing_tasks_is_enough() {
    let access = TaskAccess { files: &NoFiles, options: &TaskOptions::default() };
    let listed = CounterTasks.list(access).unwrap();
    assert_eq!(CounterTasks.list_offered(access).unwrap(), listed);
    assert_eq!(CounterTasks.list_calibration(1, access).unwrap(), listed);
    assert_eq!(CounterTasks.default_tasks(access).unwrap(), listed[..1]);
    assert!(CounterTasks.list_split("test", access).unwrap().is_none());
    assert!(CounterTasks.expand_set("1-20", access).unwrap().is_none() && CounterTasks.set_forms().is_none());
    assert!(CounterTasks.labels().is_none());
    let task = CounterTasks.with_seed(CounterTasks.find("3", access).unwrap(), 7);
    assert_eq!((CounterTasks.title(&task).as_str(), task.seed), ("3", 7));
    assert!(CounterTasks.warnings(&task, access).is_empty());
    let mut world = CounterTasks.open(&task, access).unwrap();
    world.reset().unwrap();
    assert!(!world.step("add 1").unwrap().won && world.step("add 2").unwrap().won);
    assert!(CounterTasks.find("three", access).unwrap_err().to_string().starts_with("counter has no task"));
}

/// Regression: `doctor` listed no environment without a check of its own.
#[test]
fn an_environment_without_a_check_of_its_own_begins_its_first_task() {
    let options = TaskOptions::default();
    let access = TaskAccess { options: &options, files: &NoFiles };
    let Some(TaskCheck::Ok(detail)) = CounterTasks.check(access) else { panic!("it works") };
    assert_eq!(detail, "2 tasks, such as 3");
}
