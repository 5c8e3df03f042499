//! Decisions that were kept as tests of lessons: a prompt, and what the actor must or must not propose at it. Replaying
//! them shows whether another pool, another wording or another model still decides in the same way. Pure: files and
//! models are the command line's (`docs/LESSON_TESTS.md`).

mod expectation;
mod prompt;

pub use expectation::{Expectation, Proposal, Verdict};
pub use prompt::{TestSegment, replace_lessons};

use crate::domain::{Prompt, PromptRecord, RunSpec, SegmentLabel, Task, hex};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// A decision kept as a test: one line of `tests.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LessonTest {
    /// Format version.
    pub v: u32,
    /// The first twelve hexadecimal digits of a hash over the prompt and the expectation.
    pub id: String,
    /// A name for people.
    pub name: String,
    pub task: Task,
    /// The run of the decision, with this task alone. Its method and settings decide how lessons enter the prompt.
    pub run: Box<RunSpec>,
    /// The prompt with its text.
    pub prompt: Vec<TestSegment>,
    /// What at least `need` replies must comply with.
    #[serde(flatten)]
    pub expectation: Expectation,
    /// Sampling parameters that a person had set.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub sampling: Map<String, Value>,
    /// Texts that end the reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// How many replies are asked for.
    pub samples: u32,
    /// How many of them must comply.
    pub need: u32,
}

impl LessonTest {
    /// The only version of the format.
    pub const VERSION: u32 = 1;

    /// Keeps the decision at a prompt. The name says what is expected, at which step of which task.
    pub fn new(
        run: &RunSpec,
        task: &Task,
        record: &PromptRecord,
        prompt: &Prompt,
        expectation: Expectation,
    ) -> Self {
        let segments: Vec<TestSegment> = prompt.segments.iter().map(TestSegment::from_segment).collect();
        let mut hash = Sha256::new();
        hash.update(prompt.body().as_bytes());
        hash.update(expectation.to_string().as_bytes());
        let goal = if task.goal.is_empty() { &task.id } else { &task.goal };
        Self {
            v: Self::VERSION,
            id: hex(&hash.finalize()[..6]),
            name: format!("{goal}, step {}: {expectation}", record.step),
            task: task.clone(),
            run: Box::new(RunSpec { tasks: vec![task.clone()], trials: 1, ..run.clone() }),
            prompt: segments,
            expectation,
            sampling: record.sampling.clone(),
            stop: record.own_stops(),
            samples: 1,
            need: 1,
        }
    }

    /// Returns the seed that those of its replies are derived from: a hash of its id, so that every test has seeds of its
    /// own, the same each time.
    pub fn base_seed(&self) -> u64 {
        let digest = Sha256::digest(self.id.as_bytes());
        digest.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
    }
}

/// Returns whether segments with this label are lessons or their headings.
pub fn is_lesson_label(label: SegmentLabel) -> bool {
    use SegmentLabel::{Abstract, Error, Memory, Progress};
    matches!(label, Abstract | Error | Progress | Memory)
}

/// Parses a file of tests, one JSON object a line. Empty lines and lines that begin with `#` are skipped.
///
/// # Errors
/// Returns the number of the first line that is no test, counted from 1, and why.
pub fn parse_tests(text: &str) -> Result<Vec<LessonTest>, (usize, String)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let mut tests = Vec::new();
    for (number, line) in lines {
        let test: LessonTest = serde_json::from_str(line).map_err(|error| (number, error.to_string()))?;
        if test.v != LessonTest::VERSION {
            return Err((number, format!("format version {} is not known to this program", test.v)));
        }
        if test.need == 0 || test.need > test.samples {
            return Err((
                number,
                format!("need={} is not between 1 and samples={}", test.need, test.samples),
            ));
        }
        test.expectation.check().map_err(|error| (number, error))?;
        tests.push(test);
    }
    Ok(tests)
}

#[cfg(test)]
mod tests;
