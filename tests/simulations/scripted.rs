//! Rooms whose tasks are won by what the advice says.

use crate::driver::{StandIns, instruction_in, text_of};
use crate::run;
use retrospect::domain::{Job, Prompt, RunSpec, StepResult, Task};
use serde_json::{Value, json};

/// Returns a run of DORA over tasks of one type, with one step an attempt.
pub(crate) fn spec(tasks: usize, attempts: u64) -> RunSpec {
    let task =
        |number: usize| Task { task_type: Some("room".to_owned()), ..run::household(number.to_string()) };
    let mut spec = run::spec("dora", (0..tasks).map(task).collect());
    "script".clone_into(&mut spec.mentor);
    spec.limits.steps = 1;
    spec.settings.set("attempts", json!(attempts), retrospect::domain::SettingOrigin::Flag);
    spec
}

fn observation() -> StepResult {
    StepResult { observation: "A room with a door.".to_owned(), valid: true, ..StepResult::default() }
}

fn outcome(won: bool) -> StepResult {
    StepResult { done: true, won, reward: f64::from(u8::from(won)), ..observation() }
}

/// Returns the newest advice in the actor's prompt.
fn newest_advice(prompt: &Prompt) -> Option<String> {
    let text = text_of(prompt);
    let (_, advice) = text.split_once("newest last:\n")?;
    advice.lines().filter_map(|line| line.strip_prefix("- ")).next_back().map(str::to_owned)
}

/// The sentences of the built-in groups that lead the mentor to useful advice, one of each group: a random choice has all three
/// once in 512.
pub(crate) const USEFUL: [&str; 3] = [
    "Look at what the agent never tried.",
    "Compare the actions with the list of actions that exist here.",
    "Answer with one or two sentences that name the exact actions.",
];

/// Returns how many of the useful sentences an instruction has.
pub(crate) fn useful_sentences(instruction: &str) -> usize {
    USEFUL.iter().filter(|sentence| instruction.contains(**sentence)).count()
}

/// What the quality of an instruction is judged by.
#[derive(Clone, Copy)]
pub(crate) enum PrompterName {
    Text,
    /// The shares of vowels, digits and other marks above which an instruction is good.
    #[cfg_attr(not(feature = "local-model"), allow(dead_code, reason = "needs a model"))]
    Model([f64; 3]),
}

impl PrompterName {
    /// From 0 to 3.
    fn quality(self, instruction: &str) -> usize {
        match self {
            Self::Text => useful_sentences(instruction),
            Self::Model(thresholds) => {
                shares(instruction).iter().zip(thresholds).filter(|(share, least)| **share > *least).count()
            }
        }
    }
}

/// The shares of vowels, digits and other marks in a text.
fn shares(text: &str) -> [f64; 3] {
    let count = |is_in: fn(char) -> bool| text.chars().filter(|c| is_in(*c)).count() as f64;
    let all = (text.chars().count() as f64).max(1.0);
    [
        count(|c| "aeiouAEIOU".contains(c)) / all,
        count(|c| c.is_ascii_digit()) / all,
        count(|c| c.is_ascii_punctuation()) / all,
    ]
}

/// A door with three keys: the mentor names a key as good as its instruction, the actor turns the key that the newest advice
/// names, and three tasks of ten open with each of the first two keys or better, the other four with the third alone.
pub(crate) struct KeyRoom {
    prompter: PrompterName,
    /// Whether the actor follows advice of this evaluation only.
    forgets: bool,
    least_key: usize,
    evaluations: usize,
    good_after: Option<usize>,
    best_advice: usize,
}

impl KeyRoom {
    pub(crate) fn new(prompter: PrompterName, forgets: bool) -> Self {
        Self { prompter, forgets, least_key: 0, evaluations: 0, good_after: None, best_advice: 0 }
    }
}

impl StandIns for KeyRoom {
    fn reset(&mut self, task: &Task) -> StepResult {
        self.least_key = (task.id.parse::<usize>().unwrap() / 3 + 1).min(3);
        observation()
    }

    fn step(&mut self, action: &str) -> StepResult {
        let key = action.strip_prefix("turn key ").and_then(|key| key.parse::<usize>().ok());
        outcome(key.is_some_and(|key| key >= self.least_key))
    }

    fn act(&mut self, prompt: &Prompt, _: u64, attempt: u64) -> String {
        let advice = newest_advice(prompt).filter(|_| !self.forgets || attempt > 0);
        let key = advice
            .and_then(|advice| Some(advice.strip_prefix("Turn key ")?.trim_end_matches('.').to_owned()));
        key.map_or_else(|| "look".to_owned(), |key| format!("turn key {key}"))
    }

    fn advise(&mut self, prompt: &Prompt) -> String {
        let quality = self.prompter.quality(&instruction_in(prompt));
        self.best_advice = self.best_advice.max(quality);
        format!("Turn key {quality}.")
    }

    fn see_instruction(&mut self, text: &str) {
        self.evaluations += 1;
        if self.good_after.is_none() && self.prompter.quality(text) == 3 {
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

/// Tasks that are won near one place: the instruction is the searched vector itself, and the advice repeats it.
#[derive(Default)]
pub(crate) struct SmoothRoom {
    /// The distance within which the current task is won.
    radius: f64,
}

impl SmoothRoom {
    pub(crate) const TASKS: usize = 25;
    const TARGET: [f64; 2] = [0.37, -0.58];
}

impl StandIns for SmoothRoom {
    fn reset(&mut self, task: &Task) -> StepResult {
        // From 0.04 to 1: the share of won tasks falls evenly with the distance.
        self.radius = (task.id.parse::<f64>().unwrap() + 1.0) / Self::TASKS as f64;
        observation()
    }

    fn step(&mut self, action: &str) -> StepResult {
        let numbers: Vec<f64> = action.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [x, y] = numbers[..] else { return outcome(false) };
        outcome((x - Self::TARGET[0]).hypot(y - Self::TARGET[1]) <= self.radius)
    }

    fn act(&mut self, prompt: &Prompt, _: u64, attempt: u64) -> String {
        let advice = newest_advice(prompt).filter(|_| attempt > 0);
        let place =
            advice.and_then(|advice| Some(advice.strip_prefix("Go to ")?.trim_end_matches('!').to_owned()));
        place.map_or_else(|| "look".to_owned(), |place| format!("go to {place}"))
    }

    fn advise(&mut self, prompt: &Prompt) -> String {
        format!("Go to {}!", instruction_in(prompt))
    }

    fn compute(&mut self, job: &Job) -> Option<Value> {
        let v = job.inputs["v"].as_array()?;
        Some(json!({"text": format!("{} {}", v[0], v[1])}))
    }
}

#[cfg(feature = "local-model")]
pub(crate) use model::{model_settings, model_thresholds, short_model_settings};

#[cfg(feature = "local-model")]
mod model {
    use super::shares;
    use retrospect::bayes::RandomNumbers;
    use retrospect::domain::{Job, JobContext};
    use serde_json::{Value, json};

    /// Instructions from which the thresholds are taken.
    const SAMPLES: u64 = 240;
    /// The share of instructions above each threshold: that of one sentence in a group of eight.
    const ABOVE: f64 = 1.0 / 8.0;
    const NEW_TOKENS: u64 = 64;

    fn folder(model: &str) -> String {
        format!("{}/tests/data/tiny_models/{model}", env!("CARGO_MANIFEST_DIR"))
    }

    pub(crate) fn model_settings(model: &str) -> Vec<(&'static str, Value)> {
        vec![
            ("prompter", json!("local")),
            ("prompter.model", json!(folder(model))),
            ("prompter_tokens", json!(NEW_TOKENS)),
        ]
    }

    pub(crate) fn short_model_settings(model: &str) -> Vec<(&'static str, Value)> {
        let mut settings = model_settings(model);
        settings.extend([("rounds", json!(1)), ("attempts", json!(2)), ("instances", json!(3))]);
        settings
    }

    /// Returns the shares that one instruction in eight of random vectors and matrices exceeds, without demonstrations.
    pub(crate) fn model_thresholds(model: &str) -> [f64; 3] {
        let context = JobContext::default();
        let mut all: [Vec<f64>; 3] = Default::default();
        for seed in 0..SAMPLES {
            let v = RandomNumbers::from_seed(seed).point(10, [-1.0, 1.0]);
            let inputs = json!({"prompter": "local", "v": v, "demos": [], "model": folder(model), "template": "",
                "projection": {"kind": "embedding", "seed": seed, "tokens": 5}, "max_new": NEW_TOKENS,
                "temperature": 0, "sampling_seed": 0, "version": 1});
            let job = Job { name: "dora.instruct".to_owned(), inputs };
            let result = retrospect::catalog::compute_job(&job, &context).unwrap();
            for (list, share) in all.iter_mut().zip(shares(result["text"].as_str().unwrap())) {
                list.push(share);
            }
        }
        all.map(|mut list| {
            list.sort_by(f64::total_cmp);
            list[((1.0 - ABOVE) * list.len() as f64) as usize]
        })
    }
}
