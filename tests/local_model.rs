//! The prompter that is a model (feature `local-model`), with tiny models of random weights: `tests/data/tiny_models/make.py` made
//! them and recorded what `transformers` computes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]

#[cfg(unix)]
#[path = "local_model/program.rs"]
mod program;
#[path = "local_model/speed.rs"]
mod speed;

use retrospect::prompter::{GenerationOptions, LocalModel, ModelError, Sampling};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const NAMES: [&str; 2] = ["llama", "mistral"];
/// The largest difference from a recorded number.
const TOLERANCE: f32 = 1e-4;

#[derive(Deserialize)]
struct Golden {
    soft_prompt: Vec<f32>,
    text: String,
    tokens: Vec<u32>,
    logits: Vec<f32>,
    answer: Vec<u32>,
    answer_text: String,
    logits_after_answer: Vec<f32>,
    parameters: u64,
    embedding_deviation: f64,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny_models").join(name)
}

fn golden(name: &str) -> Golden {
    let text = fs::read_to_string(folder("golden.json")).unwrap();
    let mut all: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    serde_json::from_value(all.remove(name).unwrap()).unwrap()
}

fn load(folder: &Path) -> Result<LocalModel, ModelError> {
    LocalModel::load(folder, &mut |_, _| Ok(()))
}

fn greedy(max_new: usize) -> GenerationOptions {
    GenerationOptions { max_new, sampling: Sampling::Greedy }
}

fn answer(model: &LocalModel, soft: &[f32], tokens: &[u32], options: GenerationOptions) -> String {
    model.generate(soft, tokens, options, &mut |_, _| Ok(())).unwrap().text
}

#[track_caller]
fn assert_close(own: &[f32], recorded: &[f32], what: &str) {
    assert_eq!(own.len(), recorded.len());
    let largest = own.iter().zip(recorded).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(largest <= TOLERANCE, "{what}: {largest}");
}

#[test]
fn logits_and_answers_are_those_of_transformers() {
    for name in NAMES {
        let (model, golden) = (load(&folder(name)).unwrap(), golden(name));
        assert_eq!(model.facts().parameters, golden.parameters);
        assert!((model.embedding_deviation() - golden.embedding_deviation).abs() < 1e-7);
        let tokens = model.tokens(&golden.text).unwrap();
        assert_eq!(tokens, golden.tokens);
        assert_close(&model.logits(&golden.soft_prompt, &tokens).unwrap(), &golden.logits, name);
        let longer = [tokens.as_slice(), &golden.answer].concat();
        let after = model.logits(&golden.soft_prompt, &longer).unwrap();
        assert_close(&after, &golden.logits_after_answer, name);
        let generated =
            model.generate(&golden.soft_prompt, &tokens, greedy(golden.answer.len()), &mut |_, _| Ok(()));
        let generated = generated.unwrap();
        assert_eq!(generated.text, golden.answer_text, "{name}");
        assert_eq!(generated.tokens_out, golden.answer.len() as u64);
        assert_eq!(generated.tokens_in, tokens.len() as u64 + 5);
    }
}

#[test]
fn embeddings_of_tokens_as_soft_prompt_are_the_tokens() {
    let model = load(&folder("mistral")).unwrap();
    let tokens = model.tokens("What was it?").unwrap();
    // The table is the file's only tensor of this shape; read here without the program's own reader.
    let bytes = fs::read(folder("mistral").join("model.safetensors")).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let start = header["model.embed_tokens.weight"]["data_offsets"][0].as_u64().unwrap() as usize;
    let row = |token: u32| {
        let at = 8 + length + start + token as usize * model.hidden_size() * 4;
        let row = &bytes[at..at + model.hidden_size() * 4];
        row.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect::<Vec<f32>>()
    };
    let soft: Vec<f32> = tokens[..4].iter().flat_map(|token| row(*token)).collect();
    let from_tokens = model.logits(&[], &tokens).unwrap();
    assert_eq!(model.logits(&soft, &tokens[4..]).unwrap(), from_tokens);
    let all: Vec<f32> = tokens.iter().flat_map(|token| row(*token)).collect();
    assert_eq!(model.logits(&all, &[]).unwrap(), from_tokens);
}

/// Pieces of a long prompt must not change the answer: the recorded texts are shorter than one.
#[test]
fn a_long_prompt_in_pieces_gives_the_numbers_of_the_whole() {
    for name in NAMES {
        let model = load(&folder(name)).unwrap();
        let tokens = model.tokens(&"Look at the shelf. ".repeat(20)).unwrap();
        assert!(tokens.len() > 300);
        let logits = model.logits(&[], &tokens).unwrap();
        let most_likely = (0..logits.len()).max_by(|a, b| logits[*a].total_cmp(&logits[*b])).unwrap();
        let generated = model.generate(&[], &tokens, greedy(1), &mut |_, _| Ok(())).unwrap();
        assert_eq!(model.tokens(&generated.text).unwrap().last().copied(), Some(most_likely as u32));
    }
}

#[test]
fn another_soft_prompt_leads_to_another_answer() {
    for name in NAMES {
        let (model, golden) = (load(&folder(name)).unwrap(), golden(name));
        let other: Vec<f32> = golden.soft_prompt.iter().map(|value| -value).collect();
        // Short: the Mistral's window of 16 positions hides a soft prompt from the end of a long text.
        let tokens = model.tokens("Why?").unwrap();
        let first = answer(&model, &golden.soft_prompt, &tokens, greedy(20));
        assert_eq!(first, answer(&model, &golden.soft_prompt, &tokens, greedy(20)), "{name}");
        assert_ne!(first, answer(&model, &other, &tokens, greedy(20)), "{name}");
    }
}

#[test]
fn sampled_answers_depend_on_the_seed_alone() {
    let (model, golden) = (load(&folder("llama")).unwrap(), golden("llama"));
    let sampled = |seed| {
        let options =
            GenerationOptions { max_new: 20, sampling: Sampling::Temperature { percent: 100, seed } };
        answer(&model, &golden.soft_prompt, &golden.tokens, options)
    };
    assert_eq!(sampled(1), sampled(1));
    assert_ne!(sampled(1), sampled(2));
    assert_ne!(sampled(1), golden.answer_text);
}

#[test]
fn loading_and_answering_can_be_cancelled() {
    let mut seen = Vec::new();
    let mut report = |done, all| {
        seen.push((done, all));
        if done < all { Ok(()) } else { Err("cancelled".to_owned()) }
    };
    let error = LocalModel::load(folder("llama"), &mut report).err().unwrap();
    assert_eq!(error.to_string(), "cancelled");
    assert!(seen.len() > 20 && seen.iter().all(|(_, all)| *all == 2 * 20_320), "{seen:?}");
    let model = load(&folder("llama")).unwrap();
    let mut reports = 0;
    let cancel_at =
        |last: u64| move |done: u64, _: u64| if done < last { Ok(()) } else { Err("cancelled".to_owned()) };
    let error = model.generate(&[], &[1, 40], greedy(10), &mut cancel_at(4)).unwrap_err();
    assert_eq!(error.to_string(), "cancelled");
    let mut count = |_, all| {
        reports += 1;
        assert_eq!(all, 11);
        Ok(())
    };
    model.generate(&[], &[1, 40], greedy(10), &mut count).unwrap();
    assert!(reports <= 11 && reports > 1);
}

#[test]
fn what_does_not_fit_the_model_is_an_error() {
    let model = load(&folder("llama")).unwrap();
    assert_eq!(model.prompt_limit(5, 128), 512 - 133);
    let long = vec![40; 400];
    let error = model.generate(&[], &long, greedy(128), &mut |_, _| Ok(())).unwrap_err().to_string();
    assert!(error.contains("400 tokens is too long: 384 fit"), "{error}");
    let error = model.generate(&[0.5; 33], &[1], greedy(1), &mut |_, _| Ok(())).unwrap_err().to_string();
    assert!(error.contains("33 numbers"), "{error}");
    assert!(model.generate(&[], &[], greedy(1), &mut |_, _| Ok(())).is_err());
    let error = model.generate(&[f32::NAN; 32], &[1], greedy(1), &mut |_, _| Ok(())).unwrap_err().to_string();
    assert!(error.contains("no number for any token"), "{error}");
}

/// Candle's Llama panics on a missing tensor; here it must be an error that names it.
#[test]
fn a_missing_tensor_is_an_error_that_names_it() {
    for (name, file) in [("llama", "model-00002-of-00002.safetensors"), ("mistral", "model.safetensors")] {
        let copy = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(folder(name)).unwrap().flatten() {
            fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
        let path = copy.path().join(file);
        let mut bytes = fs::read(&path).unwrap();
        let tensor = b"model.layers.1.mlp.up_proj.weight";
        let at = bytes.windows(tensor.len()).position(|window| window == tensor).unwrap();
        bytes[at + 15] = b'x';
        fs::write(&path, bytes).unwrap();
        let error = load(copy.path()).err().unwrap().to_string();
        assert!(error.ends_with("missing tensors: model.layers.1.mlp.up_proj.weight"), "{error}");
    }
}
