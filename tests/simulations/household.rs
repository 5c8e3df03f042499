//! The rule-based actor in generated households: a stand-in for a model that follows advice in documented forms
//! (`docs/LESSON_FORMS.md`).

use crate::driver::{StandIns, instruction_in};
use crate::run;
use crate::scripted::{USEFUL, useful_sentences};
use retrospect::domain::{Prompt, RunSpec, SettingOrigin, StepResult, Task};
use retrospect::env::Environment;
use retrospect::env::household::{self, TaskId};
use serde_json::json;

/// Tasks of one type.
const TASKS: [&str; 3] = ["normal/heat/1", "normal/heat/2", "normal/heat/3"];
const STEPS: u32 = 20;

/// What the mentor writes where its instruction has the useful sentence of a group, and where it doesn't.
const ADVICE: [(&str, &str); 3] = [
    ("Only a microwave can heat things.", "Heating matters here."),
    (
        "Use the number of every object and place. Go to a place before you act on it.",
        "Mind how actions are written.",
    ),
    (
        "Open a closed container before you take something from it or put something in it. Do not repeat an action that did nothing.",
        "Be careful with what you have in front of you.",
    ),
];

pub(crate) fn spec() -> RunSpec {
    let task = |id: &&str| Task { task_type: Some("heat".to_owned()), ..run::household(*id) };
    let mut spec = run::spec("dora", TASKS.iter().map(task).collect());
    "script".clone_into(&mut spec.mentor);
    spec.limits.steps = STEPS;
    spec
}

#[derive(Default)]
pub(crate) struct House {
    world: Option<Box<dyn Environment>>,
    /// Given instead of what the instruction leads to.
    fixed: Option<usize>,
    evaluations: usize,
    good_after: Option<usize>,
    best_advice: usize,
}

impl StandIns for House {
    fn reset(&mut self, task: &Task) -> StepResult {
        let mut world = household::open_world(&TaskId::parse(&task.id).unwrap()).unwrap();
        let result = world.reset().unwrap();
        self.world = Some(Box::new(world));
        result
    }

    fn step(&mut self, action: &str) -> StepResult {
        self.world.as_mut().unwrap().step(action).unwrap()
    }

    fn act(&mut self, prompt: &Prompt, seed: u64, _: u64) -> String {
        retrospect::stand_in::answer(&[], prompt, seed)
    }

    fn advise(&mut self, prompt: &Prompt) -> String {
        let instruction = instruction_in(prompt);
        self.best_advice = self.best_advice.max(useful_sentences(&instruction));
        let sentences = ADVICE.iter().zip(USEFUL).enumerate().map(|(n, ((useful, useless), sentence))| {
            let is_useful = self.fixed.map_or_else(|| instruction.contains(sentence), |quality| n < quality);
            if is_useful { *useful } else { *useless }
        });
        sentences.collect::<Vec<_>>().join(" ")
    }

    fn see_instruction(&mut self, text: &str) {
        self.evaluations += 1;
        if self.good_after.is_none() && useful_sentences(text) == 3 {
            self.good_after = Some(self.evaluations);
        }
    }

    fn good_after(&self) -> Option<usize> {
        self.good_after
    }

    fn best_advice(&self) -> usize {
        self.best_advice
    }
}

/// Returns the share of the tasks that are solved within two attempts, with advice of this quality after the first.
pub(crate) fn share_solved(quality: usize, seeds: std::ops::Range<u64>) -> f64 {
    let count = seeds.end - seeds.start;
    let solved = seeds.map(|seed| {
        let mut spec = spec();
        spec.seed = seed;
        for (name, value) in [("n_init", json!(1)), ("rounds", json!(0)), ("attempts", json!(2))] {
            spec.settings.set(name, value, SettingOrigin::Flag);
        }
        let state = crate::driver::play(spec, &mut House { fixed: Some(quality), ..House::default() });
        state.memory["done"][0]["performance"].as_f64().unwrap()
    });
    solved.sum::<f64>() / count as f64
}
