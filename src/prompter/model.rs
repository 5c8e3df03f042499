//! A loaded model that continues embeddings.

use super::config::{Architecture, ModelConfig};
use super::folder::ModelFolder;
use super::sampling::Sampler;
use super::{Generated, GenerationOptions, ModelError, ModelFacts, Sampling};
use candle_core::{DType, Device, Result as CandleResult, Tensor};
use candle_nn::{Activation, Module as _, VarBuilder};
use candle_transformers::models::{llama, mistral};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::Path;
use tokenizers::Tokenizer;

/// The type that all calculations use: candle's matrix product has no bf16 on a CPU.
const NUMBERS: DType = DType::F32;
/// How many positions of a prompt are computed at once; between two such pieces a job can be cancelled.
const PROMPT_PIECE: usize = 128;

/// A decoder with its tokenizer. Its memory is shared by all answers, each of which has a cache of its own.
pub struct LocalModel {
    decoder: Decoder,
    tokenizer: Tokenizer,
    config: ModelConfig,
    end_tokens: Vec<u32>,
    facts: ModelFacts,
    /// Of all entries of the embedding table.
    embedding_deviation: f64,
    sha256: String,
}

enum Decoder {
    Llama(llama::Llama, llama::Cache),
    Mistral(mistral::Model),
}

/// A sequence that is being continued: the decoder with the cache of its earlier positions.
enum Sequence<'a> {
    Llama(&'a llama::Llama, llama::Cache),
    Mistral(mistral::Model, Option<usize>),
}

impl LocalModel {
    /// Loads the model of a folder. Reports the bytes that are read and all of them.
    ///
    /// # Errors
    /// Fails if the folder isn't a whole model of an offered kind, if it doesn't fit into memory, or with the error of
    /// `report`.
    pub fn load(
        folder: impl AsRef<Path>,
        report: &mut dyn FnMut(u64, u64) -> Result<(), String>,
    ) -> Result<Self, ModelError> {
        let folder = folder.as_ref();
        let files = ModelFolder::read(folder)?;
        files.check_memory()?;
        let tokenizer: Tokenizer = files
            .tokenizer_text
            .parse()
            .map_err(|error| ModelError::in_file(&folder.join("tokenizer.json"), format!("{error}")))?;
        let mut hash = Sha256::new().chain_update(&files.config_text).chain_update(&files.tokenizer_text);
        let all: u64 = files.tensors.values().map(super::safetensors::TensorPlace::stored_bytes).sum();
        let mut done = 0;
        let mut tensors = HashMap::new();
        let mut embedding_deviation = 0.0;
        for (name, place) in &files.tensors {
            hash.update(name);
            let values = place.read(|bytes| {
                hash.update(bytes);
                done += bytes.len() as u64;
                report(done, all).map_err(ModelError::new)
            })?;
            if name == "model.embed_tokens.weight" {
                embedding_deviation = deviation(&values);
            }
            let tensor = Tensor::from_vec(values, place.shape.as_slice(), &Device::Cpu)?;
            tensors.insert(name.clone(), tensor);
        }
        let end_tokens = files.config.end_tokens();
        let facts = files.facts();
        let decoder = build_decoder(&files.config, tensors)?;
        let sha256 = format!("{:x}", hash.finalize());
        Ok(Self { decoder, tokenizer, config: files.config, end_tokens, facts, embedding_deviation, sha256 })
    }

    /// Returns the name and sizes of the model.
    pub fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    /// Returns the numbers of an embedding.
    pub fn hidden_size(&self) -> usize {
        self.config.hidden_size
    }

    /// Returns the standard deviation of all entries of the embedding table.
    pub fn embedding_deviation(&self) -> f64 {
        self.embedding_deviation
    }

    /// Returns the SHA-256 of configuration, tokenizer and weights.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns the tokens of a text, with those that the tokenizer adds.
    ///
    /// # Errors
    /// Fails if the tokenizer can't read the text, or has tokens that the model doesn't have.
    pub fn tokens(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        let encoded =
            self.tokenizer.encode_fast(text, true).map_err(|error| ModelError::new(error.to_string()))?;
        let ids = encoded.get_ids().to_vec();
        match ids.iter().find(|id| **id as usize >= self.config.vocab_size) {
            Some(id) => {
                Err(ModelError::new(format!("the tokenizer's token {id} is not in the model's vocabulary")))
            }
            None => Ok(ids),
        }
    }

    /// Returns how many tokens a prompt may have, if so many soft tokens precede it and so many may follow.
    pub fn prompt_limit(&self, soft_tokens: usize, max_new: usize) -> usize {
        self.config.max_position_embeddings.saturating_sub(soft_tokens + max_new)
    }

    /// Continues a soft prompt and the tokens after it. Reports the steps that are done and all of them.
    ///
    /// # Errors
    /// Fails if the soft prompt doesn't consist of whole embeddings, if everything together is too long for the model, or
    /// with the error of `report`.
    pub fn generate(
        &self,
        soft_prompt: &[f32],
        tokens: &[u32],
        options: GenerationOptions,
        report: &mut dyn FnMut(u64, u64) -> Result<(), String>,
    ) -> Result<Generated, ModelError> {
        let soft_tokens = soft_prompt.len() / self.config.hidden_size;
        let limit = self.prompt_limit(soft_tokens, options.max_new);
        if tokens.len() > limit {
            return Err(ModelError::new(format!(
                "a prompt of {} tokens is too long: {limit} fit before {} new ones",
                tokens.len(),
                options.max_new
            )));
        }
        let prompt = self.input_embeddings(soft_prompt, tokens)?;
        let length = prompt.dim(1)?;
        if length == 0 {
            return Err(ModelError::new("there is nothing to continue".to_owned()));
        }
        let steps = (length.div_ceil(PROMPT_PIECE) + options.max_new) as u64;
        let mut done = 0;
        let mut report = || {
            done += 1;
            report(done, steps).map_err(ModelError::new)
        };
        let mut sequence = self.begin();
        let mut logits = Vec::new();
        for start in (0..length).step_by(PROMPT_PIECE) {
            let piece = prompt.narrow(1, start, PROMPT_PIECE.min(length - start))?;
            logits = sequence.advance(&piece, start)?;
            report()?;
        }
        let mut sampler = match options.sampling {
            Sampling::Greedy => Sampler::greedy(),
            Sampling::Temperature { percent, seed } => Sampler::with_temperature(percent, seed),
        };
        let mut answer: Vec<u32> = Vec::new();
        let mut is_whole = false;
        while answer.len() < options.max_new {
            let token = sampler.choose(&logits).ok_or_else(|| {
                ModelError::new(
                    "the model computed no number for any token (its weights may be broken)".to_owned(),
                )
            })?;
            if self.end_tokens.contains(&token) {
                is_whole = true;
                break;
            }
            answer.push(token);
            report()?;
            if answer.len() < options.max_new {
                logits = sequence.advance(&self.embed(&[token])?, length + answer.len() - 1)?;
            }
        }
        let text =
            self.tokenizer.decode(&answer, true).map_err(|error| ModelError::new(error.to_string()))?;
        Ok(Generated { text, tokens_in: length as u64, tokens_out: answer.len() as u64, is_whole })
    }

    /// Returns the numbers for each token of the vocabulary after a soft prompt and tokens, all at once.
    ///
    /// # Errors
    /// Fails as [`Self::generate`] does.
    pub fn logits(&self, soft_prompt: &[f32], tokens: &[u32]) -> Result<Vec<f32>, ModelError> {
        Ok(self.begin().advance(&self.input_embeddings(soft_prompt, tokens)?, 0)?)
    }

    /// Returns embeddings of the shape (1, positions, hidden).
    fn input_embeddings(&self, soft_prompt: &[f32], tokens: &[u32]) -> Result<Tensor, ModelError> {
        let hidden = self.config.hidden_size;
        if !soft_prompt.len().is_multiple_of(hidden) {
            let what =
                format!("a soft prompt of {} numbers doesn't consist of {hidden} each", soft_prompt.len());
            return Err(ModelError::new(what));
        }
        let soft = Tensor::from_slice(soft_prompt, (1, soft_prompt.len() / hidden, hidden), &Device::Cpu)?;
        if tokens.is_empty() {
            return Ok(soft);
        }
        let text = self.embed(tokens)?;
        Ok(if soft_prompt.is_empty() { text } else { Tensor::cat(&[&soft, &text], 1)? })
    }

    fn embed(&self, tokens: &[u32]) -> CandleResult<Tensor> {
        let ids = Tensor::new(tokens, &Device::Cpu)?;
        let embedded = match &self.decoder {
            Decoder::Llama(model, _) => model.embed(&ids)?,
            Decoder::Mistral(model) => model.embed_tokens().forward(&ids)?,
        };
        embedded.unsqueeze(0)
    }

    fn begin(&self) -> Sequence<'_> {
        match &self.decoder {
            Decoder::Llama(model, cache) => Sequence::Llama(model, cache.clone()),
            Decoder::Mistral(model) => Sequence::Mistral(model.clone(), self.config.window()),
        }
    }
}

impl Sequence<'_> {
    /// Takes in embeddings that begin at a position. Returns the numbers for each token of the vocabulary after the last one.
    fn advance(&mut self, embeddings: &Tensor, position: usize) -> CandleResult<Vec<f32>> {
        let logits = match self {
            Self::Llama(model, cache) => model.forward_input_embed(embeddings, position, cache)?,
            Self::Mistral(model, window) => {
                let mask = causal_mask(embeddings.dim(1)?, position, *window)?;
                model.forward_embeds(embeddings, mask.as_ref(), position)?
            }
        };
        logits.flatten_all()?.to_vec1()
    }
}

fn build_decoder(config: &ModelConfig, mut tensors: HashMap<String, Tensor>) -> Result<Decoder, ModelError> {
    let device = Device::Cpu;
    match config.architecture() {
        Architecture::Llama => {
            let sizes = llama_config(config).map_err(ModelError::new)?;
            let weights = VarBuilder::from_tensors(tensors, NUMBERS, &device);
            let cache = llama::Cache::new(true, NUMBERS, &sizes, &device)?;
            // It panics where a tensor is missing or has another shape; both were checked.
            Ok(Decoder::Llama(llama::Llama::load(weights, &sizes)?, cache))
        }
        Architecture::Mistral => {
            // Candle's Mistral knows no tied table.
            if let Some(table) = tensors.get("model.embed_tokens.weight").filter(|_| config.is_tied()) {
                tensors.insert("lm_head.weight".to_owned(), table.clone());
            }
            let weights = VarBuilder::from_tensors(tensors, NUMBERS, &device);
            Ok(Decoder::Mistral(mistral::Model::new(&mistral_config(config), weights)?))
        }
    }
}

fn llama_config(config: &ModelConfig) -> Result<llama::Config, String> {
    let rope_scaling = config.scaling()?.map(|scaling| llama::Llama3RopeConfig {
        factor: scaling.factor,
        low_freq_factor: scaling.low_freq_factor,
        high_freq_factor: scaling.high_freq_factor,
        original_max_position_embeddings: scaling.original_max_position_embeddings,
        rope_type: llama::Llama3RopeType::Llama3,
    });
    Ok(llama::Config {
        hidden_size: config.hidden_size,
        intermediate_size: config.intermediate_size,
        vocab_size: config.vocab_size,
        num_hidden_layers: config.num_hidden_layers,
        num_attention_heads: config.num_attention_heads,
        num_key_value_heads: config.key_value_heads(),
        use_flash_attn: false,
        rms_norm_eps: config.rms_norm_eps,
        rope_theta: config.theta() as f32,
        bos_token_id: None,
        eos_token_id: None,
        rope_scaling,
        max_position_embeddings: config.max_position_embeddings,
        tie_word_embeddings: config.is_tied(),
    })
}

fn mistral_config(config: &ModelConfig) -> mistral::Config {
    mistral::Config {
        vocab_size: config.vocab_size,
        hidden_size: config.hidden_size,
        intermediate_size: config.intermediate_size,
        num_hidden_layers: config.num_hidden_layers,
        num_attention_heads: config.num_attention_heads,
        head_dim: Some(config.head_dim()),
        num_key_value_heads: config.key_value_heads(),
        hidden_act: Activation::Silu,
        max_position_embeddings: config.max_position_embeddings,
        rms_norm_eps: config.rms_norm_eps,
        rope_theta: config.theta(),
        // Only used for its own mask; the window is in the masks that are given to it.
        sliding_window: None,
        use_flash_attn: false,
    }
}

/// Returns what is added to the attention of `count` positions from `start` on: nothing for what each may see (itself and
/// earlier ones, within the window), minus infinity for the rest. `None` if all may see everything.
fn causal_mask(count: usize, start: usize, window: Option<usize>) -> CandleResult<Option<Tensor>> {
    let all = start + count;
    if count == 1 && window.is_none_or(|window| all <= window) {
        return Ok(None);
    }
    let is_visible =
        |query: usize, key: usize| key <= query && window.is_none_or(|window| query - key < window);
    let entries: Vec<f32> = (start..all)
        .flat_map(|query| {
            (0..all).map(move |key| if is_visible(query, key) { 0.0 } else { f32::NEG_INFINITY })
        })
        .collect();
    Tensor::from_vec(entries, (1, 1, count, all), &Device::Cpu).map(Some)
}

fn deviation(values: &[f32]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().map(|value| f64::from(*value)).sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (f64::from(*value) - mean).powi(2)).sum();
    (squares / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_hides_later_positions_and_those_before_the_window() {
        let rows = |count, start, window| {
            let mask: Vec<f32> =
                causal_mask(count, start, window).unwrap().unwrap().flatten_all().unwrap().to_vec1().unwrap();
            let seen = mask.iter().map(|value| if *value == 0.0 { '1' } else { '0' });
            let text: String = seen.collect();
            text.as_bytes()
                .chunks(start + count)
                .map(|row| String::from_utf8_lossy(row).into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(rows(3, 0, None), ["100", "110", "111"]);
        assert_eq!(rows(2, 2, None), ["1110", "1111"]);
        assert_eq!(rows(2, 2, Some(2)), ["0110", "0011"]);
        assert_eq!(rows(1, 3, Some(3)), ["0111"]);
        assert!(causal_mask(1, 5, None).unwrap().is_none());
        assert!(causal_mask(1, 2, Some(3)).unwrap().is_none());
    }
}
