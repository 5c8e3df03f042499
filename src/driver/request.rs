//! What a provider is asked, made of a prompt's record.

use crate::domain::{Asked, Prompt, PromptRecord};
use crate::provider::{Request, SamplingWish};
use std::sync::Arc;

/// The question of a record.
pub(super) fn request(record: &PromptRecord, prompt: Prompt) -> Request {
    Request {
        call: record.call,
        asked: record.asked,
        prompt: Arc::new(prompt),
        seed: record.seed,
        // One line is a step; a mentor may take as many as it needs.
        stop: if record.asked == Asked::Actor { vec!["\n".to_owned()] } else { Vec::new() },
        wish: wish(record),
    }
}

/// How a question is sampled: as a person wants it, and 0.2 warmer for each rung of the ladder (Reflexion's public code), up
/// to 1; nothing is said on the first rung, which is the run's own.
fn wish(record: &PromptRecord) -> SamplingWish {
    let own = record.sampling.get("temperature").and_then(serde_json::Value::as_f64).unwrap_or(0.0);
    // In fifths, so that the steps from 0 on are the numbers that were always sent.
    let warm = (own * 5.0 + f64::from(record.rung.min(5))) / 5.0;
    SamplingWish {
        temperature: (record.rung > 0).then(|| warm.min(1.0).max(own)),
        chosen: record.sampling.clone(),
        ..SamplingWish::default()
    }
}
