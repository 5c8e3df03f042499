//! The jobs of DORA: choosing the next vectors, and turning a vector into an instruction.

use super::text_steering::{self, Texts};
use crate::bayes::{self, NextPoints, NextPointsInputs, mix_seed};
use crate::domain::JobContext;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Fits the rewards and chooses the next vectors.
pub const NEXT_POINTS: &str = "dora.next_points";
/// Turns a vector into an instruction.
pub const INSTRUCT: &str = "dora.instruct";

/// What the next vectors are chosen from. The result depends on nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChoiceInputs {
    #[serde(flatten)]
    pub next: NextPointsInputs,
    /// With text steering, the vectors of texts are chosen from. Jobs of older versions don't have it: they search the box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<Texts>,
}

/// The next vectors, by falling expected improvement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    #[serde(flatten)]
    pub next: NextPoints,
    /// The text of each vector, as the indices of its sentences (text steering).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<Vec<usize>>,
}

/// What an instruction is made from. The result depends on nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstructInputs {
    /// What turns the vector into words.
    pub prompter: String,
    pub v: Vec<f64>,
    /// The candidate sentences, in groups (text steering).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Vec<String>>,
    /// The seed of the sentences' directions.
    #[serde(default)]
    pub seed: u64,
    /// The index of the sentence of each group, if they were chosen with the vector; otherwise the vector chooses them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<usize>,
    /// Earlier pairs of an instruction or an attempt and the advice, for a prompter that is a model.
    pub demos: Vec<[String; 2]>,
    /// A prompter that is a model.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub by_model: Option<ModelInputs>,
    /// Is increased when the same inputs lead to another result.
    pub version: u32,
}

/// What the answer of a model depends on besides vector and demonstrations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInputs {
    /// The model's folder.
    pub model: String,
    pub projection: ProjectionInputs,
    /// The hash of the template's text; empty: the default of the model.
    pub template: String,
    /// The most tokens of the answer.
    pub max_new: u64,
    /// In percent; 0 is greedy.
    pub temperature: u64,
    pub sampling_seed: u64,
}

/// The random matrix that makes a soft prompt of the vector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectionInputs {
    /// A word of [`ProjectionEntries`](super::settings::ProjectionEntries).
    pub kind: String,
    pub seed: u64,
    pub tokens: u64,
}

/// An instruction, with the index of the sentence that was chosen from each group, or with what is known of a model's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instructed {
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<usize>,
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub by_model: Option<ModelAnswer>,
}

/// How a model came to its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelAnswer {
    /// The name of the model's folder.
    pub model_name: String,
    pub model_sha256: String,
    /// The hash of the random matrix.
    pub w_sha256: String,
    /// The length of the soft prompt as one vector.
    pub p_norm: f64,
    /// The standard deviation of all entries of the model's embedding table.
    pub embed_std: f64,
    /// Soft tokens included.
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// `greedy`, or the temperature.
    pub decoding: String,
    /// Whether the model ended its answer itself, before the most tokens were reached.
    pub is_whole: bool,
    /// How many demonstrations, the oldest, were left out because the prompt was too long.
    pub demos_dropped: u64,
}

/// Computes [`NEXT_POINTS`].
///
/// # Errors
/// Returns a message if the inputs can't be read or contradict each other, or if the job is cancelled.
pub fn compute_next_points(inputs: &Value, context: &JobContext) -> Result<Value, String> {
    let inputs = ChoiceInputs::deserialize(inputs).map_err(|error| error.to_string())?;
    let mut report = |progress: bayes::SearchProgress| {
        context.report_stage(progress.done, progress.all, progress.to_string())
    };
    let choice = match &inputs.texts {
        None => Choice { next: bayes::next_points(&inputs.next, &mut report)?, texts: Vec::new() },
        Some(texts) => best_texts(&inputs.next, texts, &mut report)?,
    };
    serde_json::to_value(choice).map_err(|error| error.to_string())
}

/// Chooses the unknown texts whose vectors have the largest expected improvement.
fn best_texts(
    inputs: &NextPointsInputs,
    texts: &Texts,
    report: &mut bayes::ReportProgress<'_>,
) -> Result<Choice, String> {
    let mut unknown = texts.unknown(mix_seed(inputs.seed, "texts"));
    let candidates = texts.vectors(&unknown, inputs.dimension);
    let (next, best) = bayes::best_candidates(inputs, &candidates, report)?;
    let texts = best.into_iter().map(|index| std::mem::take(&mut unknown[index])).collect();
    Ok(Choice { next, texts })
}

/// Computes [`INSTRUCT`] by text steering.
///
/// # Errors
/// Returns a message if there are no sentences, or if the job is cancelled.
pub fn choose_instruction(inputs: &InstructInputs, context: &JobContext) -> Result<Instructed, String> {
    context.report(0, 1)?;
    let chosen = if inputs.chosen.is_empty() {
        text_steering::choose(&inputs.v, &inputs.advice, inputs.seed)
    } else {
        inputs.chosen.clone()
    };
    let text = text_steering::compose(&inputs.advice, &chosen);
    if text.is_empty() {
        return Err("there are no candidate sentences to choose from".to_owned());
    }
    Ok(Instructed { text, chosen, by_model: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_instruction_has_a_sentence_of_each_group() {
        let inputs = json!({"prompter": "text", "v": [0.5, -0.5], "advice": [["Look."], ["A.", "B."]], "seed": 3,
            "demos": [], "version": 1});
        let inputs = InstructInputs::deserialize(&inputs).unwrap();
        let result = choose_instruction(&inputs, &JobContext::default()).unwrap();
        assert_eq!(result.chosen.len(), 2);
        assert!(result.text.starts_with("Look. "), "{result:?}");
        let result = serde_json::to_value(result).unwrap();
        assert_eq!(result.as_object().unwrap().keys().collect::<Vec<_>>(), ["chosen", "text"]);
    }

    #[test]
    fn the_inputs_of_a_model_are_fields_beside_the_others() {
        let inputs = json!({"prompter": "local", "v": [0.5], "seed": 0, "demos": [["a", "b"]], "model": "/models/tiny",
            "projection": {"kind": "embedding", "seed": 9, "tokens": 5}, "template": "", "max_new": 128,
            "temperature": 0, "sampling_seed": 4, "version": 1});
        let read = InstructInputs::deserialize(&inputs).unwrap();
        assert_eq!(read.by_model.as_ref().unwrap().projection.tokens, 5);
        assert_eq!(serde_json::to_value(read).unwrap(), inputs);
    }

    #[test]
    fn unreadable_inputs_and_a_cancelled_job_are_errors() {
        assert!(compute_next_points(&json!({"d": 2}), &JobContext::default()).is_err());
        let context = JobContext::default();
        context.progress.cancel();
        let inputs = json!({"d": 1, "box": [-1, 1], "x": [[0.0]], "reward": [0.5], "kernel": "paper",
            "search": "ours", "count": 1, "seed": 1, "version": 1});
        assert_eq!(compute_next_points(&inputs, &context), Err("cancelled".to_owned()));
        assert!(compute_next_points(&inputs, &JobContext::default()).is_ok());
    }
}
