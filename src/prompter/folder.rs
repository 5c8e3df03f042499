//! A model's folder in Hugging Face's form: which files it has, and whether they are a whole model that fits into memory.

use super::config::{Architecture, ModelConfig};
use super::memory;
use super::safetensors::{TensorPlace, read_header};
use super::{ModelError, ModelFacts, format_bytes};
use crate::files;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The longest text file of a folder, in bytes: tokenizers of large vocabularies have some ten million.
const MAX_TEXT_BYTES: u64 = 256 * 1024 * 1024;
const CONFIG: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";
const INDEX: &str = "model.safetensors.index.json";

/// A folder whose texts and headers were read and checked, but no weights.
#[derive(Debug)]
pub(super) struct ModelFolder {
    pub(super) config: ModelConfig,
    pub(super) config_text: String,
    pub(super) tokenizer_text: String,
    /// The tensors that the model needs, by name.
    pub(super) tensors: BTreeMap<String, TensorPlace>,
    name: String,
}

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl ModelFolder {
    /// Reads what a folder says about itself.
    ///
    /// # Errors
    /// Fails if a file is missing or can't be read, if the model isn't offered, or if a tensor is missing or has another
    /// shape than the configuration says.
    pub(super) fn read(folder: &Path) -> Result<Self, ModelError> {
        let text = |name: &str| {
            let path = folder.join(name);
            files::read_text(&path, MAX_TEXT_BYTES)
                .map_err(|error| ModelError::in_file(&path, error.to_string()))
        };
        let config_text = text(CONFIG)?;
        let config = ModelConfig::parse(&config_text)
            .map_err(|what| ModelError::in_file(&folder.join(CONFIG), what))?;
        let tokenizer_text = text(TOKENIZER)?;
        let mut found = BTreeMap::new();
        for file in weight_files(folder)? {
            found.extend(read_header(&file)?);
        }
        let (mut tensors, mut missing) = (BTreeMap::new(), Vec::new());
        for (name, shape) in config.tensors() {
            match found.remove(&name) {
                Some(place) if place.shape == shape => {
                    tensors.insert(name, place);
                }
                Some(place) => {
                    let what = format!("{name} has the shape {:?} instead of {shape:?}", place.shape);
                    return Err(ModelError::in_file(folder, what));
                }
                None => missing.push(name),
            }
        }
        if let Some(first) = missing.first() {
            let others = match missing.len() - 1 {
                0 => String::new(),
                others => format!(" and {others} more"),
            };
            return Err(ModelError::in_file(folder, format!("missing tensors: {first}{others}")));
        }
        let name = folder
            .file_name()
            .map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into());
        Ok(Self { config, config_text, tokenizer_text, tensors, name })
    }

    /// Returns what a person wants to know before the model is loaded.
    pub(super) fn facts(&self) -> ModelFacts {
        let architecture = match self.config.architecture() {
            Architecture::Llama => "Llama",
            Architecture::Mistral => "Mistral",
        };
        ModelFacts {
            name: self.name.clone(),
            architecture,
            parameters: self.parameters(),
            needed_bytes: self.needed_bytes(),
            available_bytes: memory::available(),
        }
    }

    fn parameters(&self) -> u64 {
        self.tensors.values().map(TensorPlace::len).sum()
    }

    /// Returns how many bytes the loaded model takes, and the tensor that is being converted.
    fn needed_bytes(&self) -> u64 {
        let largest = self.tensors.values().map(TensorPlace::stored_bytes).max().unwrap_or(0);
        // Tables of sines and cosines for all positions.
        let positions = self.config.max_position_embeddings * self.config.head_dim();
        4 * (self.parameters() + positions as u64) + largest
    }

    /// Checks that the model fits into memory.
    ///
    /// # Errors
    /// Fails with the figures if it doesn't.
    pub(super) fn check_memory(&self) -> Result<(), ModelError> {
        let needed = self.needed_bytes();
        match memory::available() {
            Some(available) if available < needed => Err(ModelError::new(format!(
                "{} doesn't fit into memory: {} parameters need {} as f32, {} are available; close other programs, or \
                 choose a smaller model",
                self.name,
                self.facts().describe_parameters(),
                format_bytes(needed),
                format_bytes(available)
            ))),
            _ => Ok(()),
        }
    }
}

/// Returns the files with the weights: those of the index, or all of the folder.
fn weight_files(folder: &Path) -> Result<Vec<PathBuf>, ModelError> {
    let index = folder.join(INDEX);
    if index.exists() {
        let text = files::read_text(&index, MAX_TEXT_BYTES)
            .map_err(|error| ModelError::in_file(&index, error.to_string()))?;
        let parsed: Index =
            serde_json::from_str(&text).map_err(|error| ModelError::in_file(&index, error.to_string()))?;
        let names: BTreeSet<String> = parsed.weight_map.into_values().collect();
        // An index names files beside itself.
        if let Some(name) = names.iter().find(|name| Path::new(name).file_name() != Some(name.as_ref())) {
            return Err(ModelError::in_file(&index, format!("{name} is not a file of this folder")));
        }
        return Ok(names.into_iter().map(|name| folder.join(name)).collect());
    }
    let entries =
        std::fs::read_dir(folder).map_err(|error| ModelError::in_file(folder, error.to_string()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut weights: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "safetensors")).collect();
    weights.sort();
    if weights.is_empty() {
        return Err(ModelError::in_file(folder, "no *.safetensors in this folder".to_owned()));
    }
    Ok(weights)
}
