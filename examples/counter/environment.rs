//! The environment `counter`: add 1, 3 or 5 until the sum is the number of the task.

use retrospect::catalog::{EnvironmentDefaults, EnvironmentEntry, TaskFacts};
use retrospect::domain::{
    EnvInfo, ListingCost, Note, NoteKind, Observation, Picture, PictureRequest, PictureRole, Prompt, Scope,
    SegmentLabel, Step, StepResult, Task,
};
use retrospect::engine::{Episode, State};
use retrospect::env::{
    EnvError, Environment, EnvironmentOption, OptionValues, Snapshot, TaskAccess, TaskError, TaskSource,
};
use retrospect::prompt::interface::PLAIN_TEXTS;
use retrospect::symbolic::{Detector, EnvironmentRules, LessonTemplate, error_lesson};
use serde_json::json;
use std::collections::BTreeMap;

/// What can be added.
pub(crate) const STEPS: [u64; 3] = [1, 3, 5];
const NAME: &str = "counter";
/// The numbers of the listed tasks.
const LISTED: [u64; 4] = [9, 14, 23, 40];
const MAX_GOAL: u64 = 1_000;

pub(crate) const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: NAME,
    tasks: &CounterTasks,
    rules: &RULES,
    settings: &[],
    options: &[PAST_OPTION],
    defaults: EnvironmentDefaults::NONE,
    templates: &[
        ("counter.toml", include_str!("counter.toml")),
        ("counter-example.txt", include_str!("counter-example.txt")),
    ],
    public_files: None,
    rule_based_reply: Some(rule_based_reply),
    texts: PLAIN_TEXTS,
    draw_picture,
    task_facts: TaskFacts {
        start_text: Some("any number up to 1000, or `random`"),
        difficulty: |task| Some(if task.id.len() == 1 { "easy" } else { "hard" }),
        short_goal: |goal| goal.trim_start_matches("reach ").into(),
        task_help: "the number to reach, or `random`",
        ..TaskFacts::NONE
    },
};

/// A configuration key that decides how tasks are opened.
const PAST_OPTION: EnvironmentOption = EnvironmentOption {
    name: "counter.past",
    meaning: "an addition that goes past the number: the task is `lost`, or the addition is `refused`",
    values: OptionValues::Words(&["lost", "refused"]),
    variable: "COUNTER_PAST",
};

/// The tasks: each is named by the number to reach.
struct CounterTasks;

impl TaskSource for CounterTasks {
    fn open(&self, task: &Task, access: TaskAccess) -> Result<Box<dyn Environment>, EnvError> {
        let goal = parse_goal(&task.id).map_err(|e| EnvError::Refused { what: e.to_string() })?;
        let refuses_past = access.options.word(&PAST_OPTION) == "refused";
        Ok(Box::new(Counter { goal, sum: 0, refuses_past }))
    }

    /// `random` is a number that the seed chooses. The task found has its number as id, so that a session finds it again.
    fn find(&self, text: &str, access: TaskAccess) -> Result<Task, TaskError> {
        let goal = if text == "random" { 1 + access.options.seed * 37 % MAX_GOAL } else { parse_goal(text)? };
        Ok(task(goal))
    }

    fn list(&self, _: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Ok(LISTED.map(task).to_vec())
    }
}

fn parse_goal(id: &str) -> Result<u64, TaskError> {
    let goal = id.parse().ok().filter(|goal| (1..=MAX_GOAL).contains(goal));
    goal.ok_or_else(|| TaskError::unknown_task(NAME, id, format!("a task is a number from 1 to {MAX_GOAL}")))
}

fn task(goal: u64) -> Task {
    Task {
        env: NAME.to_owned(),
        id: goal.to_string(),
        goal: format!("reach {goal}"),
        task_type: Some(NAME.to_owned()),
        difficulty: None,
        seed: 0,
    }
}

/// A running task.
#[derive(Clone, Copy)]
struct Counter {
    goal: u64,
    sum: u64,
    /// The value of `PAST_OPTION`.
    refuses_past: bool,
}

impl Counter {
    fn result(&self, observation: String, valid: bool) -> StepResult {
        StepResult {
            observation,
            progress: self.sum.min(self.goal) as f64 / self.goal as f64,
            // Nothing can be subtracted: past the goal the task is lost.
            done: self.sum >= self.goal,
            won: self.sum == self.goal,
            valid,
            shown: json!({ "sum": self.sum, "goal": self.goal }),
            ..StepResult::default()
        }
    }
}

impl Environment for Counter {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: true, deterministic: true, listing_cost: ListingCost::Free }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        self.sum = 0;
        Ok(self.result(format!("The sum is 0.\nYour task is to: reach {}.", self.goal), true))
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let added = action.trim().strip_prefix("add ").and_then(|number| number.parse().ok());
        let is_refused = |number: u64| self.refuses_past && self.sum + number > self.goal;
        match added.filter(|number| STEPS.contains(number) && !is_refused(*number)) {
            Some(number) => {
                self.sum += number;
                Ok(self.result(format!("The sum is {}.", self.sum), true))
            }
            None => Ok(self.result("Nothing happens.".to_owned(), false)),
        }
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        Ok(STEPS.map(|number| format!("add {number}")).to_vec())
    }

    fn snapshot(&self) -> Option<Snapshot> {
        Some(Snapshot(Box::new(*self)))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EnvError> {
        let saved = snapshot.0.downcast_ref::<Self>();
        *self = *saved
            .ok_or_else(|| EnvError::Refused { what: "a snapshot of another environment".to_owned() })?;
        Ok(())
    }
}

/// What rules note and teach without a model.
static RULES: EnvironmentRules = EnvironmentRules {
    detectors: &[
        Detector::named("nearer"),
        Detector::described("past_the_goal", "went past the number"),
        Detector::described("unknown_action", "added something that is no number"),
    ],
    detect,
    abstract_lessons: |_| Vec::new(),
    error_lessons,
    progress_text: |episode| {
        let (sum, goal) = (episode.shown["sum"].as_u64()?, episode.shown["goal"].as_u64()?);
        let missing = goal.checked_sub(sum).filter(|missing| *missing > 0)?;
        Some(format!("The sum is {sum}; {missing} is missing."))
    },
    plan: None,
    missing_part: |_| None,
    is_navigation: |_| false,
    describe_finding: |_, _, _| None,
};

fn detect(_: &State, _: &Episode, step: &Step, answer: &Observation) -> Vec<Note> {
    let (detector, kind) = match (answer.valid, answer.done && !answer.won) {
        (false, _) => (Note::UNKNOWN_ACTION, NoteKind::Mistake),
        (true, true) => ("past_the_goal", NoteKind::Mistake),
        (true, false) => ("nearer", NoteKind::Progress),
    };
    let evidence = format!("{} -> {}", step.action().unwrap_or_default(), answer.raw);
    vec![Note { detector: detector.to_owned(), kind, evidence, parts: BTreeMap::new() }]
}

fn error_lessons(note: &Note) -> Vec<LessonTemplate> {
    let (mistake, solution) = match note.detector.as_str() {
        Note::UNKNOWN_ACTION => ("Added something that can't be added.", "Add only 1, 3 or 5."),
        "past_the_goal" => {
            ("Went past the number.", "Before you add 5 or 3, check that at least as much is missing.")
        }
        _ => return Vec::new(),
    };
    error_lesson(note, Scope::Environment, mistake, solution)
}

/// Plays without a model, from the prompt alone: a beginner who adds 5 until a lesson says to look at what is missing.
fn rule_based_reply(prompt: &Prompt, _seed: u64) -> Option<String> {
    let number_after = |text: &str, words: &str| -> Option<u64> {
        let (_, rest) = text.rsplit_once(words)?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let with_label = |label| prompt.segments.iter().filter(move |segment| segment.label == label);
    let goal = with_label(SegmentLabel::Task).find_map(|task| number_after(&task.text, "to: reach "))?;
    let mut seen =
        with_label(SegmentLabel::Observation).filter_map(|seen| number_after(&seen.text, "The sum is "));
    let missing = goal.saturating_sub(seen.next_back().unwrap_or(0));
    let is_taught = [SegmentLabel::Abstract, SegmentLabel::Error, SegmentLabel::Memory]
        .into_iter()
        .any(|label| with_label(label).any(|lesson| lesson.text.contains("missing")));
    let fits = |number: &&u64| !is_taught || **number <= missing;
    STEPS.iter().rev().find(fits).map(|number| format!("add {number}"))
}

/// Draws how far the sum is on the way to the goal.
fn draw_picture(request: &PictureRequest<'_>) -> Picture {
    let number = |name: &str| request.shown[name].as_u64().unwrap_or(0);
    let (sum, goal) = (number("sum"), number("goal"));
    let width = request.columns.saturating_sub(2);
    let done = (sum.min(goal) as usize * width).checked_div(goal as usize).unwrap_or(0);
    let bar = vec![(PictureRole::Good, "#".repeat(done)), (PictureRole::Muted, "-".repeat(width - done))];
    let text = format!("{sum} of {goal}");
    Picture {
        summary: text.clone(),
        one_line: vec![text.clone()],
        rows: vec![vec![(PictureRole::Text, text)], bar],
        ..Picture::default()
    }
}
