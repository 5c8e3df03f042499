//! How fast a model of half a billion parameters answers, and how much memory it takes. Its weights are random and made on the
//! spot: 1 GB in the temporary folder.

use super::{folder, greedy};
use retrospect::prompter::LocalModel;
use serde_json::{Map, Value, json};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

const HIDDEN: usize = 896;
const INTERMEDIATE: usize = 5_504;
const LAYERS: usize = 24;
const HEADS: usize = 14;
/// Heads of keys and values.
const KEY_HEADS: usize = 2;
const VOCABULARY: usize = 56_000;
const SOFT_TOKENS: usize = 5;
const NEW_TOKENS: usize = 64;

/// Writes a Llama of random weights (bf16) with a token for each character and made-up ones.
fn make_model(at: &Path) {
    let config = json!({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN,
        "intermediate_size": INTERMEDIATE, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "num_key_value_heads": KEY_HEADS, "vocab_size": VOCABULARY, "rms_norm_eps": 1e-6, "rope_theta": 10_000.0,
        "max_position_embeddings": 2_048, "hidden_act": "silu", "tie_word_embeddings": false, "bos_token_id": 1,
        "eos_token_id": 2, "attention_bias": false, "mlp_bias": false,
    });
    fs::write(at.join("config.json"), config.to_string()).unwrap();
    let text = fs::read_to_string(folder("llama").join("tokenizer.json")).unwrap();
    let mut tokenizer: Value = serde_json::from_str(&text).unwrap();
    let vocabulary = tokenizer["model"]["vocab"].as_object_mut().unwrap();
    for token in vocabulary.len()..VOCABULARY {
        vocabulary.insert(format!("<{token}>"), json!(token));
    }
    fs::write(at.join("tokenizer.json"), tokenizer.to_string()).unwrap();

    let keys = HIDDEN / HEADS * KEY_HEADS;
    let table = || vec![VOCABULARY, HIDDEN];
    let mut tensors = vec![
        ("model.embed_tokens.weight".to_owned(), table()),
        ("lm_head.weight".to_owned(), table()),
        ("model.norm.weight".to_owned(), vec![HIDDEN]),
    ];
    for layer in 0..LAYERS {
        let parts = [
            ("input_layernorm", vec![HIDDEN]),
            ("post_attention_layernorm", vec![HIDDEN]),
            ("self_attn.q_proj", vec![HIDDEN, HIDDEN]),
            ("self_attn.k_proj", vec![keys, HIDDEN]),
            ("self_attn.v_proj", vec![keys, HIDDEN]),
            ("self_attn.o_proj", vec![HIDDEN, HIDDEN]),
            ("mlp.gate_proj", vec![INTERMEDIATE, HIDDEN]),
            ("mlp.up_proj", vec![INTERMEDIATE, HIDDEN]),
            ("mlp.down_proj", vec![HIDDEN, INTERMEDIATE]),
        ];
        tensors.extend(parts.map(|(part, shape)| (format!("model.layers.{layer}.{part}.weight"), shape)));
    }
    let (mut header, mut end) = (Map::new(), 0);
    for (name, shape) in &tensors {
        let start = end;
        end += 2 * shape.iter().product::<usize>();
        header.insert(name.clone(), json!({"dtype": "BF16", "shape": shape, "data_offsets": [start, end]}));
    }
    let header = Value::Object(header).to_string();
    let mut file = std::io::BufWriter::new(fs::File::create(at.join("model.safetensors")).unwrap());
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(header.as_bytes()).unwrap();
    let mut state = 1_u64;
    for (_, shape) in &tensors {
        for _ in 0..shape.iter().product::<usize>() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let uniform = (state >> 40) as f32 / (1_u32 << 24) as f32 - 0.5;
            let value = if shape.len() == 1 { 1.0 } else { 0.06 * uniform };
            file.write_all(&((value.to_bits() >> 16) as u16).to_le_bytes()).unwrap();
        }
    }
    file.flush().unwrap();
}

/// Returns the largest memory of this process so far in GB, where the system says it.
fn peak_memory() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? * 1_024.0 / 1e9)
}

#[test]
#[ignore = "takes minutes: cargo test --release --features local-model --test local_model -- --ignored --nocapture"]
fn half_a_billion_parameters() {
    let dir = tempfile::tempdir().unwrap();
    make_model(dir.path());
    let begun = Instant::now();
    let model = LocalModel::load(dir.path(), &mut |_, _| Ok(())).unwrap();
    println!("{}; loaded in {:.1} s", model.facts().describe(), begun.elapsed().as_secs_f64());
    assert!(model.facts().parameters > 490_000_000 && model.facts().parameters < 510_000_000);
    let soft_prompt = vec![0.01; SOFT_TOKENS * model.hidden_size()];
    let tokens = model.tokens(&"Look at the shelf. ".repeat(16)).unwrap();
    let answer = |new| {
        let begun = Instant::now();
        let generated = model.generate(&soft_prompt, &tokens, greedy(new), &mut |_, _| Ok(())).unwrap();
        (generated.tokens_in, generated.tokens_out, begun.elapsed().as_secs_f64())
    };
    let (read, _, reading) = answer(1);
    let (_, written, all) = answer(NEW_TOKENS);
    assert_eq!(written, NEW_TOKENS as u64);
    println!(
        "reads {read} tokens in {reading:.2} s ({:.0} a second), writes {:.1} tokens a second; at most {:.2} GB of memory",
        read as f64 / reading,
        (written - 1) as f64 / (all - reading),
        peak_memory().unwrap_or(f64::NAN)
    );
}
