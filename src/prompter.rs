//! The prompter of DORA that is a model on this machine: a soft prompt and a text in, a text out (docs/methods/dora.md).
//!
//! Models are read from a folder in Hugging Face's form and computed by candle on the CPU, in `f32`. Nothing is downloaded.
//! Only programs built with the cargo feature `local-model` can do so; in others, [`LocalModel::load`] and [`inspect`] fail
//! and say how to build one.

pub mod template;

// Candle itself is used in `model` alone, so that all else is tested in every build.
#[cfg(any(test, feature = "local-model"))]
#[cfg_attr(not(feature = "local-model"), allow(dead_code, reason = "`model` reads the rest"))]
mod config;
#[cfg(any(test, feature = "local-model"))]
#[cfg_attr(not(feature = "local-model"), allow(dead_code, reason = "`model` reads the rest"))]
mod folder;
#[cfg(any(test, feature = "local-model"))]
mod memory;
#[cfg(feature = "local-model")]
mod model;
#[cfg(any(test, feature = "local-model"))]
mod safetensors;
#[cfg(any(test, feature = "local-model"))]
mod sampling;
#[cfg(not(feature = "local-model"))]
mod unavailable;

#[cfg(feature = "local-model")]
pub use model::LocalModel;
#[cfg(not(feature = "local-model"))]
pub use unavailable::LocalModel;

use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a model can't be used, with the file and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ModelError(String);

impl ModelError {
    fn new(message: String) -> Self {
        Self(message)
    }

    #[cfg(any(test, feature = "local-model"))]
    fn in_file(path: &Path, what: String) -> Self {
        Self([path.display().to_string(), what].join(": "))
    }
}

#[cfg(feature = "local-model")]
impl From<candle_core::Error> for ModelError {
    fn from(error: candle_core::Error) -> Self {
        // Without the backtrace that some of them carry.
        Self(error.to_string().lines().next().unwrap_or_default().to_owned())
    }
}

/// What turns a vector into an instruction, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrompterName {
    /// The vector chooses among sentences.
    Text,
    /// The model of a folder.
    Local(PathBuf),
}

impl PrompterName {
    /// Reads `text` or `local:DIR`.
    ///
    /// # Errors
    /// Returns what is allowed.
    pub fn parse(name: &str) -> Result<Self, String> {
        match name.split_once(':') {
            None if name == "text" => Ok(Self::Text),
            Some(("local", folder)) if !folder.is_empty() => Ok(Self::Local(PathBuf::from(folder))),
            _ => Err("expected text or local:DIR, the folder of a model".to_owned()),
        }
    }
}

/// What a person wants to know of a model before it is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFacts {
    /// The name of its folder.
    pub name: String,
    pub architecture: &'static str,
    pub parameters: u64,
    /// Memory of the loaded model, and of what is read last.
    pub needed_bytes: u64,
    /// Memory that is free now, where that can be found out.
    pub available_bytes: Option<u64>,
}

impl ModelFacts {
    /// Formats the number of parameters, such as `1.1 billion`.
    pub fn describe_parameters(&self) -> String {
        match self.parameters {
            n if n >= 1_000_000_000 => format!("{:.1} billion", n as f64 / 1e9),
            n if n >= 1_000_000 => format!("{:.1} million", n as f64 / 1e6),
            n => n.to_string(),
        }
    }

    /// Describes the model in a line, with the memory that it takes.
    pub fn describe(&self) -> String {
        let available = self.available_bytes.map_or_else(
            || " (this system doesn't say how much is available, so it isn't checked)".to_owned(),
            |bytes| format!(" ({} available)", format_bytes(bytes)),
        );
        format!(
            "{}: {}, {} parameters, {} of memory as f32{available}",
            self.name,
            self.architecture,
            self.describe_parameters(),
            format_bytes(self.needed_bytes)
        )
    }
}

/// Formats a number of bytes in decimal units, such as `4.4 GB`.
fn format_bytes(bytes: u64) -> String {
    if bytes < 1_000_000_000 {
        return format!("{:.1} MB", bytes as f64 / 1e6);
    }
    format!("{:.1} GB", bytes as f64 / 1e9)
}

/// How tokens are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// The most likely one.
    Greedy,
    /// At random by their probabilities, at a temperature in percent.
    Temperature { percent: u64, seed: u64 },
}

/// How an answer is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GenerationOptions {
    /// The most tokens of the answer.
    pub max_new: usize,
    pub sampling: Sampling,
}

/// What a model wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    pub text: String,
    /// Positions of the prompt, soft tokens included.
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Whether the model ended the answer itself.
    pub is_whole: bool,
}

/// Reads what the model of a folder is, without its weights, and checks that it can be loaded.
///
/// # Errors
/// Fails if this program can't run models, if the folder isn't a whole model of an offered kind, or if the model doesn't fit
/// into memory.
pub fn inspect(folder: &Path) -> Result<ModelFacts, ModelError> {
    refuse_gguf(folder)?;
    inspect_folder(folder)
}

#[cfg(feature = "local-model")]
fn inspect_folder(folder: &Path) -> Result<ModelFacts, ModelError> {
    let files = folder::ModelFolder::read(folder)?;
    files.check_memory()?;
    Ok(files.facts())
}

#[cfg(not(feature = "local-model"))]
fn inspect_folder(_: &Path) -> Result<ModelFacts, ModelError> {
    Err(unavailable::error())
}

/// Refuses files of llama.cpp, and folders that have nothing else.
fn refuse_gguf(path: &Path) -> Result<(), ModelError> {
    let has_extension = |path: &Path, name: &str| {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(name))
    };
    let inside: Vec<PathBuf> =
        std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let is_folder_of_gguf = inside.iter().any(|path| has_extension(path, "gguf"))
        && !inside.iter().any(|path| has_extension(path, "safetensors"));
    if has_extension(path, "gguf") || is_folder_of_gguf {
        return Err(ModelError::new(format!(
            "{}: a GGUF file can't take a soft prompt: the quantised models of this program, like llama.cpp's server, have no \
             input for embeddings; name the folder of the same model in Hugging Face's form (config.json, tokenizer.json, \
             *.safetensors), or use the prompter text, which needs no model",
            path.display()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
