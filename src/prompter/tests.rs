//! Names, folders and what is refused; the computation itself is tested in `tests/local_model.rs`.

use super::*;
use std::fs;

fn tiny(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny_models").join(name)
}

/// Copies a model's folder to a place where it can be changed.
fn copy(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(tiny(name)).unwrap().flatten() {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    folder
}

fn error_of(folder: &Path) -> String {
    folder::ModelFolder::read(folder).unwrap_err().to_string()
}

#[test]
fn prompters_are_named_as_on_the_command_line() {
    assert_eq!(PrompterName::parse("text"), Ok(PrompterName::Text));
    assert_eq!(PrompterName::parse("local:C:/models/a"), Ok(PrompterName::Local("C:/models/a".into())));
    for wrong in ["", "local", "local:", "openai:gpt", "text:"] {
        assert!(PrompterName::parse(wrong).unwrap_err().contains("local:DIR"), "{wrong}");
    }
}

#[test]
fn gguf_is_refused_with_what_to_use_instead() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Model.GGUF");
    fs::write(&file, "GGUF").unwrap();
    for path in [&file, folder.path()] {
        let error = inspect(path).unwrap_err().to_string();
        assert!(error.contains("can't take a soft prompt") && error.contains("prompter text"), "{error}");
    }
    fs::write(folder.path().join("model.safetensors"), "").unwrap();
    assert!(!inspect(folder.path()).unwrap_err().to_string().contains("soft prompt"));
}

#[test]
fn a_program_without_the_feature_says_how_to_get_it() {
    let inspected = inspect(&tiny("llama"));
    if cfg!(feature = "local-model") {
        assert!(inspected.unwrap().describe().starts_with("llama: Llama, 20320 parameters, 0."));
    } else {
        assert!(inspected.unwrap_err().to_string().contains("--features local-model"));
    }
}

#[test]
fn a_folder_is_described_without_loading_its_weights() {
    for (name, architecture, parameters) in [("llama", "Llama", 20_320), ("mistral", "Mistral", 20_224)] {
        let files = folder::ModelFolder::read(&tiny(name)).unwrap();
        let facts = files.facts();
        assert_eq!((facts.architecture, facts.parameters), (architecture, parameters));
        assert!(facts.needed_bytes > 4 * parameters && facts.needed_bytes < 8 * parameters, "{facts:?}");
        assert_eq!(files.check_memory(), Ok(()));
        assert_eq!(files.config.end_tokens(), [2]);
    }
    let described = ModelFacts {
        name: "vicuna-7b".to_owned(),
        architecture: "Llama",
        parameters: 6_738_415_616,
        needed_bytes: 27_200_000_000,
        available_bytes: Some(12_000_000_000),
    };
    let expected = "vicuna-7b: Llama, 6.7 billion parameters, 27.2 GB of memory as f32 (12.0 GB available)";
    assert_eq!(described.describe(), expected);
    // Regression: where the system says nothing about its memory, nothing said that any model is accepted.
    let unchecked = ModelFacts { available_bytes: None, ..described }.describe();
    assert!(
        unchecked.ends_with("(this system doesn't say how much is available, so it isn't checked)"),
        "{unchecked}"
    );
}

#[test]
fn a_model_that_does_not_fit_is_refused_with_figures() {
    let folder = copy("mistral");
    // A vocabulary of a trillion tokens, whose table no file holds: the check of shapes comes first.
    let path = folder.path().join("config.json");
    let text =
        fs::read_to_string(&path).unwrap().replace("\"vocab_size\": 99", "\"vocab_size\": 1000000000000");
    fs::write(&path, text).unwrap();
    assert!(error_of(folder.path()).contains("instead of [1000000000000, 32]"));
    // A table of positions of 48 TB.
    let folder = copy("mistral");
    let path = folder.path().join("config.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace(": 512", ": 1000000000000")).unwrap();
    let files = folder::ModelFolder::read(folder.path()).unwrap();
    if memory::available().is_some() {
        let error = files.check_memory().unwrap_err().to_string();
        assert!(error.contains("need 48000.0 GB as f32") && error.contains("are available"), "{error}");
    }
}

#[test]
fn missing_and_damaged_files_are_errors_that_name_them() {
    for name in ["config.json", "tokenizer.json", "model-00002-of-00002.safetensors"] {
        let folder = copy("llama");
        fs::remove_file(folder.path().join(name)).unwrap();
        assert!(error_of(folder.path()).contains(name), "{name}: {}", error_of(folder.path()));
    }
    let folder = copy("llama");
    let weights = folder.path().join("model-00002-of-00002.safetensors");
    let bytes = fs::read(&weights).unwrap();
    fs::write(&weights, &bytes[..bytes.len() - 1]).unwrap();
    assert!(error_of(folder.path()).contains("may be incomplete"), "{}", error_of(folder.path()));
    let index = folder.path().join("model.safetensors.index.json");
    fs::write(&index, r#"{"weight_map":{"a":"../model.safetensors"}}"#).unwrap();
    assert!(error_of(folder.path()).contains("is not a file of this folder"));
    fs::remove_file(&index).unwrap();
    fs::write(&weights, &bytes).unwrap();
    assert!(
        folder::ModelFolder::read(folder.path()).is_ok(),
        "all files of the folder are read without an index"
    );
}

#[test]
fn missing_tensors_are_named() {
    let folder = copy("mistral");
    let weights = folder.path().join("model.safetensors");
    let mut bytes = fs::read(&weights).unwrap();
    let name = b"model.layers.1.mlp.up_proj.weight";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[at + 15] = b'x';
    fs::write(&weights, bytes).unwrap();
    let error = error_of(folder.path());
    assert!(error.ends_with("missing tensors: model.layers.1.mlp.up_proj.weight"), "{error}");
}
