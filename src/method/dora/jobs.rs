//! The jobs of DORA: choosing the next vectors, and turning a vector into an instruction.

use super::text_steering;
use crate::bayes::{self, NextPointsInputs};
use crate::domain::JobContext;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Fits the rewards and chooses the next vectors.
pub const NEXT_POINTS: &str = "dora.next_points";
/// Turns a vector into an instruction.
pub const INSTRUCT: &str = "dora.instruct";

/// What an instruction is made from. The result depends on nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct InstructInputs {
    /// What turns the vector into words.
    pub(super) prompter: String,
    pub(super) v: Vec<f64>,
    /// The candidate sentences, in groups.
    pub(super) advice: Vec<Vec<String>>,
    /// The seed of the sentences' directions.
    pub(super) seed: u64,
    /// Earlier pairs of instruction and advice, for a prompter that is a model.
    pub(super) demos: Vec<[String; 2]>,
    /// Is increased when the same inputs lead to another result.
    pub(super) version: u32,
}

/// An instruction, with the index of the sentence that was chosen from each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Instructed {
    pub(super) text: String,
    pub(super) chosen: Vec<usize>,
}

/// Computes [`NEXT_POINTS`].
///
/// # Errors
/// Returns a message if the inputs can't be read or contradict each other, or if the job is cancelled.
pub fn compute_next_points(inputs: &Value, context: &JobContext) -> Result<Value, String> {
    let inputs = NextPointsInputs::deserialize(inputs).map_err(|error| error.to_string())?;
    let found = bayes::next_points(&inputs, &mut |done, all| context.report(done, all))?;
    serde_json::to_value(found).map_err(|error| error.to_string())
}

/// Computes [`INSTRUCT`].
///
/// # Errors
/// Returns a message if the inputs can't be read, if there are no sentences, or if the job is cancelled.
pub fn compute_instruction(inputs: &Value, context: &JobContext) -> Result<Value, String> {
    let inputs = InstructInputs::deserialize(inputs).map_err(|error| error.to_string())?;
    context.report(0, 1)?;
    let chosen = text_steering::choose(&inputs.v, &inputs.advice, inputs.seed);
    let text = text_steering::compose(&inputs.advice, &chosen);
    if text.is_empty() {
        return Err("there are no candidate sentences to choose from".to_owned());
    }
    serde_json::to_value(Instructed { text, chosen }).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_instruction_has_a_sentence_of_each_group() {
        let inputs = json!({"prompter": "text", "v": [0.5, -0.5], "advice": [["Look."], ["A.", "B."]], "seed": 3,
            "demos": [], "version": 1});
        let result = compute_instruction(&inputs, &JobContext::default()).unwrap();
        assert_eq!(result["chosen"].as_array().unwrap().len(), 2);
        assert!(result["text"].as_str().unwrap().starts_with("Look. "), "{result}");
    }

    #[test]
    fn unreadable_inputs_and_a_cancelled_job_are_errors() {
        assert!(compute_next_points(&json!({"d": 2}), &JobContext::default()).is_err());
        assert!(compute_instruction(&json!([]), &JobContext::default()).is_err());
        let context = JobContext::default();
        context.progress.cancel();
        let inputs = json!({"d": 1, "box": [-1, 1], "x": [[0.0]], "reward": [0.5], "kernel": "paper",
            "search": "ours", "count": 1, "seed": 1, "version": 1});
        assert_eq!(compute_next_points(&inputs, &context), Err("cancelled".to_owned()));
        assert!(compute_next_points(&inputs, &JobContext::default()).is_ok());
    }
}
