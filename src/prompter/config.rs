//! `config.json` of a Hugging Face folder: which decoder it is, its sizes, and what makes this program refuse it.

use serde::Deserialize;
use serde_json::Value;

/// The decoders that are offered. Their input embeddings can be given, which most others here don't allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Architecture {
    Llama,
    Mistral,
}

/// The parts of `config.json` that decide about anything.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ModelConfig {
    model_type: String,
    pub(super) vocab_size: usize,
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    pub(super) rms_norm_eps: f64,
    pub(super) max_position_embeddings: usize,
    rope_theta: Option<f64>,
    rope_scaling: Option<Value>,
    /// Newer folders have the two fields above in here.
    rope_parameters: Option<Value>,
    sliding_window: Option<usize>,
    hidden_act: Option<String>,
    attention_bias: Option<bool>,
    mlp_bias: Option<bool>,
    #[serde(default)]
    eos_token_id: TokenIds,
    tie_word_embeddings: Option<bool>,
    quantization_config: Option<Value>,
}

/// One token, several, or none.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(untagged)]
enum TokenIds {
    One(u32),
    Several(Vec<u32>),
    #[default]
    None,
}

/// How Llama 3 scales rotary positions.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(super) struct RopeScaling {
    pub(super) factor: f32,
    pub(super) low_freq_factor: f32,
    pub(super) high_freq_factor: f32,
    pub(super) original_max_position_embeddings: usize,
}

impl ModelConfig {
    /// Reads the file's text.
    ///
    /// # Errors
    /// Fails if a field is missing, or if the model needs something that isn't offered.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        // Checked before the rest: another architecture may lack the other fields.
        let model_type = value.get("model_type").and_then(Value::as_str).unwrap_or("(none)");
        if !["llama", "mistral"].contains(&model_type) {
            return Err(format!(
                "model_type is {model_type}; only llama and mistral take a soft prompt here"
            ));
        }
        let config: Self = serde_json::from_value(value).map_err(|error| error.to_string())?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        let sizes = [
            ("vocab_size", self.vocab_size),
            ("hidden_size", self.hidden_size),
            ("intermediate_size", self.intermediate_size),
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("num_key_value_heads", self.key_value_heads()),
            ("max_position_embeddings", self.max_position_embeddings),
        ];
        if let Some((name, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(format!("{name} is 0"));
        }
        let (heads, hidden) = (self.num_attention_heads, self.hidden_size);
        if heads % self.key_value_heads() != 0 {
            return Err(format!(
                "{heads} attention heads can't share {} key-value heads",
                self.key_value_heads()
            ));
        }
        let is_divided = hidden.is_multiple_of(heads) && self.head_dim().is_multiple_of(2);
        if !is_divided || self.architecture() == Architecture::Llama && self.head_dim() * heads != hidden {
            return Err(format!("{heads} heads of {} numbers don't make up {hidden}", self.head_dim()));
        }
        if self.attention_bias == Some(true) || self.mlp_bias == Some(true) {
            return Err("attention_bias and mlp_bias are not supported".to_owned());
        }
        if let Some(activation) = self.hidden_act.as_deref().filter(|name| !["silu", "swish"].contains(name))
        {
            return Err(format!("hidden_act is {activation}; only silu is supported"));
        }
        if self.quantization_config.is_some() {
            return Err("the weights are quantised; name a folder with f32, f16 or bf16 weights".to_owned());
        }
        self.scaling().map(|_| ())
    }

    pub(super) fn architecture(&self) -> Architecture {
        if self.model_type == "mistral" { Architecture::Mistral } else { Architecture::Llama }
    }

    pub(super) fn key_value_heads(&self) -> usize {
        self.num_key_value_heads.unwrap_or(self.num_attention_heads)
    }

    pub(super) fn head_dim(&self) -> usize {
        self.head_dim.unwrap_or(self.hidden_size / self.num_attention_heads)
    }

    /// Whether the last matrix is the embedding table.
    pub(super) fn is_tied(&self) -> bool {
        self.tie_word_embeddings.unwrap_or(false)
    }

    /// How many positions back a token can see, itself included; `None`: all of them.
    pub(super) fn window(&self) -> Option<usize> {
        self.sliding_window.filter(|_| self.architecture() == Architecture::Mistral)
    }

    /// The tokens that end an answer.
    pub(super) fn end_tokens(&self) -> Vec<u32> {
        match &self.eos_token_id {
            TokenIds::One(id) => vec![*id],
            TokenIds::Several(ids) => ids.clone(),
            TokenIds::None => Vec::new(),
        }
    }

    /// Returns names and shapes of all tensors that the model needs.
    pub(super) fn tensors(&self) -> Vec<(String, Vec<usize>)> {
        let (hidden, between) = (self.hidden_size, self.intermediate_size);
        let queries = self.num_attention_heads * self.head_dim();
        let keys = self.key_value_heads() * self.head_dim();
        let mut all = vec![
            ("model.embed_tokens.weight".to_owned(), vec![self.vocab_size, hidden]),
            ("model.norm.weight".to_owned(), vec![hidden]),
        ];
        if !self.is_tied() {
            all.push(("lm_head.weight".to_owned(), vec![self.vocab_size, hidden]));
        }
        for layer in 0..self.num_hidden_layers {
            let parts = [
                ("input_layernorm", vec![hidden]),
                ("post_attention_layernorm", vec![hidden]),
                ("self_attn.q_proj", vec![queries, hidden]),
                ("self_attn.k_proj", vec![keys, hidden]),
                ("self_attn.v_proj", vec![keys, hidden]),
                ("self_attn.o_proj", vec![hidden, queries]),
                ("mlp.gate_proj", vec![between, hidden]),
                ("mlp.up_proj", vec![between, hidden]),
                ("mlp.down_proj", vec![hidden, between]),
            ];
            all.extend(parts.map(|(part, shape)| (format!("model.layers.{layer}.{part}.weight"), shape)));
        }
        all
    }

    fn rope_parameter(&self, name: &str) -> Option<&Value> {
        self.rope_parameters.as_ref().and_then(|parameters| parameters.get(name))
    }

    /// Returns the base of the rotary positions.
    pub(super) fn theta(&self) -> f64 {
        self.rope_theta.or_else(|| self.rope_parameter("rope_theta")?.as_f64()).unwrap_or(10_000.0)
    }

    /// Returns how positions beyond the length of the training are scaled; `None`: not at all.
    ///
    /// # Errors
    /// Fails if they are scaled in a way that isn't offered.
    pub(super) fn scaling(&self) -> Result<Option<RopeScaling>, String> {
        let Some(scaling) = self.rope_scaling.as_ref().or(self.rope_parameters.as_ref()) else {
            return Ok(None);
        };
        let kind = scaling.get("rope_type").or_else(|| scaling.get("type")).and_then(Value::as_str);
        match kind {
            None | Some("default") => Ok(None),
            Some("llama3") if self.architecture() == Architecture::Llama => {
                RopeScaling::deserialize(scaling).map(Some).map_err(|error| format!("rope scaling: {error}"))
            }
            Some(kind) => Err(format!("rope scaling of type {kind} is not supported")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn minimal() -> Value {
        json!({"model_type": "llama", "vocab_size": 10, "hidden_size": 8, "intermediate_size": 12,
            "num_hidden_layers": 1, "num_attention_heads": 2, "rms_norm_eps": 1e-5, "max_position_embeddings": 16})
    }

    fn with(name: &str, value: Value) -> Result<ModelConfig, String> {
        let mut config = minimal();
        config[name] = value;
        ModelConfig::parse(&config.to_string())
    }

    #[test]
    fn what_is_not_offered_is_refused_by_name() {
        let scaling = json!({"type": "linear", "factor": 2.0});
        for (name, value, expected) in [
            ("model_type", json!("qwen2"), "only llama and mistral"),
            ("hidden_act", json!("gelu"), "hidden_act is gelu"),
            ("attention_bias", json!(true), "attention_bias"),
            ("rope_scaling", scaling.clone(), "rope scaling of type linear"),
            ("rope_parameters", json!({"rope_type": "yarn"}), "rope scaling of type yarn"),
            ("quantization_config", json!({}), "quantised"),
            ("num_attention_heads", json!(3), "3 heads"),
            ("head_dim", json!(8), "2 heads of 8 numbers"),
            ("num_attention_heads", json!(0), "num_attention_heads is 0"),
            ("vocab_size", json!("ten"), "invalid type"),
        ] {
            let error = with(name, value).unwrap_err();
            assert!(error.contains(expected), "{name}: {error}");
        }
        assert!(ModelConfig::parse("{}").unwrap_err().contains("model_type is (none)"));
    }

    #[test]
    fn old_and_new_names_of_the_rotary_base_are_read() {
        assert!((with("rope_theta", json!(5e5)).unwrap().theta() - 5e5).abs() < 1e-9);
        let new = with("rope_parameters", json!({"rope_theta": 5e5, "rope_type": "default"})).unwrap();
        assert!((new.theta() - 5e5).abs() < 1e-9);
        assert!((with("bos_token_id", json!(1)).unwrap().theta() - 1e4).abs() < 1e-9);
    }

    #[test]
    fn tensors_have_the_shapes_of_the_configuration() {
        let config = with("num_key_value_heads", json!(1)).unwrap();
        let tensors = config.tensors();
        assert_eq!(tensors.len(), 3 + 9);
        let shape = |name: &str| tensors.iter().find(|(other, _)| other == name).unwrap().1.clone();
        assert_eq!(shape("model.layers.0.self_attn.k_proj.weight"), [4, 8]);
        assert_eq!(shape("lm_head.weight"), [10, 8]);
        assert_eq!(with("tie_word_embeddings", json!(true)).unwrap().tensors().len(), 2 + 9);
    }

    #[test]
    fn several_tokens_can_end_an_answer() {
        assert_eq!(with("eos_token_id", json!([1, 2])).unwrap().end_tokens(), [1, 2]);
        assert_eq!(with("eos_token_id", json!(7)).unwrap().end_tokens(), [7]);
        assert!(with("eos_token_id", json!(null)).unwrap().end_tokens().is_empty());
    }
}
