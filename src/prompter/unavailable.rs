//! What stands for a model in a program that can't run any.

use super::{Generated, GenerationOptions, ModelError, ModelFacts};
use std::path::Path;

/// A model of this machine; in this program there is none.
pub enum LocalModel {}

impl LocalModel {
    /// Fails: this program was built without the feature.
    ///
    /// # Errors
    /// Always fails, and says how to build a program that can load models.
    pub fn load(
        _: impl AsRef<Path>,
        _: &mut dyn FnMut(u64, u64) -> Result<(), String>,
    ) -> Result<Self, ModelError> {
        Err(error())
    }

    /// Returns the name and sizes of the model.
    pub fn facts(&self) -> &ModelFacts {
        match *self {}
    }

    /// Returns the numbers of an embedding.
    pub fn hidden_size(&self) -> usize {
        match *self {}
    }

    /// Returns the standard deviation of all entries of the embedding table.
    pub fn embedding_deviation(&self) -> f64 {
        match *self {}
    }

    /// Returns the SHA-256 of configuration, tokenizer and weights.
    pub fn sha256(&self) -> &str {
        match *self {}
    }

    /// Returns the tokens of a text.
    ///
    /// # Errors
    /// Never returns, since there is no model.
    pub fn tokens(&self, _: &str) -> Result<Vec<u32>, ModelError> {
        match *self {}
    }

    /// Returns how many tokens a prompt may have.
    pub fn prompt_limit(&self, _: usize, _: usize) -> usize {
        match *self {}
    }

    /// Continues a soft prompt and the tokens after it.
    ///
    /// # Errors
    /// Never returns, since there is no model.
    pub fn generate(
        &self,
        _: &[f32],
        _: &[u32],
        _: GenerationOptions,
        _: &mut dyn FnMut(u64, u64) -> Result<(), String>,
    ) -> Result<Generated, ModelError> {
        match *self {}
    }
}

pub(super) fn error() -> ModelError {
    ModelError::new(
        "this program was built without local models; build it with `cargo build --release --features local-model` (about six \
         CPU minutes more), or use the prompter text, which needs no model"
            .to_owned(),
    )
}
