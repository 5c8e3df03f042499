//! AgentBoard's labels: which task they are about, and how they are opened.
//!
//! Source: `agentboard/environment/scienceworld_env.py` and `data/scienceworld/test.jsonl` of `hkust-nlp/AgentBoard`.

use super::environment::{EpisodeSetup, ScienceWorld};
use super::installation::Installation;
use super::label_goals::LabelGoals;
use super::simplifications::parse_simplifications;
use super::task_types::TaskType;
use super::tasks::ScienceWorldTasks;
use crate::domain::Task;
use crate::env::{Environment, Label, LabelSource, TaskAccess};

/// The simplifications of AgentBoard's episodes.
const SIMPLIFICATIONS: &str = "selfWateringFlowerPots,openContainers,openDoors,noElectricalAction";

/// Returns type and variation of a label.
fn task_of_label(label: &Label) -> Result<(&'static TaskType, u32), String> {
    let name = label.info_text("env_name")?;
    let task_type = TaskType::find(name).ok_or_else(|| format!("ScienceWorld has no task {name:?}"))?;
    let variation = label.info("var").and_then(serde_json::Value::as_u64);
    let variation = variation.ok_or("`additional_info.var` is missing or not a whole number")?;
    match u32::try_from(variation) {
        Ok(variation) if variation < task_type.variations => Ok((task_type, variation)),
        _ => Err(format!("{name} has {} variations, from 0; not {variation}", task_type.variations)),
    }
}

impl LabelSource for ScienceWorldTasks {
    fn complete_task(&self, label: &Label, task: &mut Task) -> Result<(), String> {
        let (task_type, variation) = task_of_label(label)?;
        task.task_type = Some(task_type.name.to_owned());
        task.seed = u64::from(variation);
        Ok(())
    }

    fn check_playable(&self, label: &Label, access: TaskAccess) -> Result<(), String> {
        LabelGoals::new(label.goal, &label.subgoals)?;
        Installation::find(access).map(drop).map_err(|error| format!("{error}; {}", error.hint()))
    }

    fn open(&self, label: &Label, access: TaskAccess) -> Result<Box<dyn Environment>, String> {
        let (task_type, variation) = task_of_label(label)?;
        let goals = LabelGoals::new(label.goal, &label.subgoals)?;
        let setup = EpisodeSetup {
            task: task_type.name,
            variation,
            simplifications: parse_simplifications(SIMPLIFICATIONS, task_type)?,
            lists_every_step: super::tasks::lists_every_step(access),
        };
        let installation =
            Installation::find(access).map_err(|error| format!("{error}; {}", error.hint()))?;
        let world =
            ScienceWorld::open(&installation, setup, Some(goals)).map_err(|error| error.to_string())?;
        Ok(Box::new(world))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::path::Path;

    fn row(info: &Value) -> Value {
        json!({"task": "scienceworld", "id": 3, "goal": "g", "subgoals": ["a"], "difficulty": "easy", "additional_info": info})
    }

    #[test]
    fn rows_name_a_task_and_a_variation() {
        let source = ScienceWorldTasks;
        let complete = |info: Value| {
            let value = row(&info);
            let label = Label::parse(Path::new("test.jsonl"), 0, &value, Some(&source))?;
            let (env, id) = ("scienceworld".to_owned(), label.task_id());
            let mut task = Task { env, id, goal: String::new(), task_type: None, difficulty: None, seed: 0 };
            source.complete_task(&label, &mut task)?;
            Ok::<_, String>((task.task_type.unwrap_or_default(), task.seed))
        };
        assert_eq!(complete(json!({"env_name": "boil", "var": 8})), Ok(("boil".to_owned(), 8)));
        let errors = [
            (json!({"env_name": "boil", "var": 30}), "boil has 30 variations, from 0; not 30"),
            (json!({"env_name": "fly", "var": 0}), "ScienceWorld has no task \"fly\""),
            (json!({"env_name": "boil"}), "`additional_info.var` is missing or not a whole number"),
            (json!({"var": 1}), "`additional_info.env_name` is missing or not a string"),
        ];
        for (info, expected) in errors {
            assert_eq!(complete(info).unwrap_err(), expected);
        }
    }
}
