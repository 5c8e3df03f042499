//! The instruction of a vector: by text steering, or by a model on this machine.

use super::jobs::{self, InstructInputs, Instructed, ModelAnswer, ModelInputs};
use super::settings::ProjectionEntries;
use crate::bayes::{Projection, ProjectionKind};
use crate::domain::JobContext;
use crate::prompter::{GenerationOptions, LocalModel, Sampling, template};
use serde::Deserialize;
use serde_json::Value;

/// The part of a job's progress that loading a model counts for, in tenths.
const LOADING_TENTHS: u64 = 9;

/// Computes [`jobs::INSTRUCT`].
///
/// # Errors
/// Returns a message if the inputs can't be read, if there is nothing to make an instruction of, if the model can't be loaded or
/// can't answer, or if the job is cancelled.
pub(crate) fn compute_instruction(inputs: &Value, context: &JobContext) -> Result<Value, String> {
    let inputs = InstructInputs::deserialize(inputs).map_err(|error| error.to_string())?;
    let instructed = match &inputs.by_model {
        None => jobs::choose_instruction(&inputs, context)?,
        Some(model) => write_instruction(&inputs, model, context)?,
    };
    serde_json::to_value(instructed).map_err(|error| error.to_string())
}

fn write_instruction(
    inputs: &InstructInputs,
    settings: &ModelInputs,
    context: &JobContext,
) -> Result<Instructed, String> {
    if settings.model.is_empty() {
        return Err("no folder of a model: start the run with --prompter local:DIR".to_owned());
    }
    let mut is_loaded_here = false;
    let model = context.service(&format!("model {}", settings.model), || {
        is_loaded_here = true;
        let mut report = |done: u64, all: u64| context.report(LOADING_TENTHS * done, 10 * all);
        LocalModel::load(&settings.model, &mut report).map_err(|error| error.to_string())
    })?;
    let soft_tokens = settings.projection.tokens as usize;
    let projection = Projection::new(
        projection_kind(&settings.projection.kind, model.embedding_deviation())?,
        soft_tokens * model.hidden_size(),
        inputs.v.len(),
        settings.projection.seed,
    );
    let soft_prompt = projection.apply(&inputs.v);
    let max_new = settings.max_new as usize;
    let text = template_text(settings, &model, context)?;
    let (tokens, demos_dropped) =
        fitting_prompt(&model, &text, &inputs.demos, model.prompt_limit(soft_tokens, max_new))?;
    let (sampling, decoding) = match settings.temperature {
        0 => (Sampling::Greedy, "greedy".to_owned()),
        percent => {
            let sampling = Sampling::Temperature { percent, seed: settings.sampling_seed };
            (sampling, format!("temperature {:.2}", percent as f64 / 100.0))
        }
    };
    let before = if is_loaded_here { LOADING_TENTHS } else { 0 };
    let mut report = |done: u64, all: u64| context.report(before * all + (10 - before) * done, 10 * all);
    let options = GenerationOptions { max_new, sampling };
    let generated =
        model.generate(&soft_prompt, &tokens, options, &mut report).map_err(|error| error.to_string())?;
    let squares: f64 = soft_prompt.iter().map(|value| f64::from(*value).powi(2)).sum();
    let answer = ModelAnswer {
        model_name: model.facts().name.clone(),
        model_sha256: model.sha256().to_owned(),
        w_sha256: projection.sha256(),
        p_norm: squares.sqrt(),
        embed_std: model.embedding_deviation(),
        tokens_in: generated.tokens_in,
        tokens_out: generated.tokens_out,
        decoding,
        is_whole: generated.is_whole,
        demos_dropped,
    };
    Ok(Instructed { text: generated.text, chosen: Vec::new(), by_model: Some(answer) })
}

fn projection_kind(word: &str, deviation: f64) -> Result<ProjectionKind, String> {
    match ProjectionEntries::from_word(word) {
        Some(ProjectionEntries::Embedding) => Ok(ProjectionKind::Embedding { deviation }),
        Some(ProjectionEntries::Uniform) => Ok(ProjectionKind::Uniform),
        Some(ProjectionEntries::Normal) => Ok(ProjectionKind::Normal),
        None => Err(format!("unknown projection {word:?}")),
    }
}

fn template_text(settings: &ModelInputs, model: &LocalModel, context: &JobContext) -> Result<String, String> {
    if settings.template.is_empty() {
        return Ok(template::default_template(&model.facts().name).to_owned());
    }
    let text = context.text(&settings.template);
    text.map(|text| text.to_string())
        .ok_or_else(|| format!("the session has no template {}", settings.template))
}

/// Returns the tokens of the prompt with as many demonstrations as fit, and how many, the oldest, were left out.
fn fitting_prompt(
    model: &LocalModel,
    template: &str,
    demos: &[[String; 2]],
    limit: usize,
) -> Result<(Vec<u32>, u64), String> {
    let mut dropped = 0;
    loop {
        let text = template::render(template, &demos[dropped..]);
        let tokens = model.tokens(&text).map_err(|error| error.to_string())?;
        // Without any, the model says how much is too much.
        if tokens.len() <= limit || dropped == demos.len() {
            return Ok((tokens, dropped as u64));
        }
        dropped += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_job_without_a_folder_says_how_to_name_one() {
        let inputs = json!({"prompter": "local", "v": [0.5], "demos": [], "model": "", "template": "",
            "projection": {"kind": "normal", "seed": 9, "tokens": 5}, "max_new": 8, "temperature": 0,
            "sampling_seed": 4, "version": 1});
        let error = compute_instruction(&inputs, &JobContext::default()).unwrap_err();
        assert!(error.contains("--prompter local:DIR"), "{error}");
    }

    #[test]
    fn unreadable_inputs_are_an_error() {
        assert!(compute_instruction(&json!([]), &JobContext::default()).is_err());
    }
}
