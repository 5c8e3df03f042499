//! Steps, the story and the world, as text.

use crate::engine::State;
use std::fmt::Write as _;

/// What the agent may know of the world.
pub(super) fn describe_world(state: &State) -> String {
    let Some(episode) = state.episode.as_deref() else { return "no episode has begun".to_owned() };
    let mut out =
        format!("goal: {}\nprogress {:.2}, {} moves\n", episode.task.goal, episode.progress, episode.moves);
    if let serde_json::Value::Object(shown) = &*episode.shown {
        for (name, value) in shown {
            let _ = writeln!(out, "{name}: {}", format_value(value));
        }
    }
    out
}

/// The last steps, or the one that is asked for.
pub(super) fn describe_steps(rest: &str, state: &State) -> Result<String, String> {
    let Some(episode) = state.episode.as_deref() else { return Ok("no episode has begun".to_owned()) };
    let last = episode.steps.len() as u32;
    let (from, to) = match rest {
        "" => (last.saturating_sub(4).max(1), last),
        number => {
            let n: u32 = number
                .parse()
                .ok()
                .filter(|n| (1..=last).contains(n))
                .ok_or_else(|| format!("there is no step {number:?}; there are 1 to {last}"))?;
            (n, n)
        }
    };
    let mut out = String::new();
    for step in (from..=to).filter_map(|n| episode.step(n)) {
        if let Some(thought) = &step.thought {
            let _ = writeln!(out, "{:>3} think  {thought}", step.number);
        }
        if let Some(action) = step.action() {
            let _ = writeln!(out, "{:>3} > {action}", step.number);
        }
        if let Some(seen) = step.observation() {
            let _ = writeln!(out, "      {}", seen.trim().replace('\n', "\n      "));
        }
    }
    Ok(if out.is_empty() { "no step yet".to_owned() } else { out })
}

/// The moment after a step: the step, and what the agent knows of the world then.
pub(in crate::cli::plain) fn describe_moment(state: &State, step: u32) -> String {
    let told =
        if step == 0 { String::new() } else { describe_steps(&step.to_string(), state).unwrap_or_default() };
    format!("{}\n{}", told.trim_end(), describe_world(state))
}

/// A JSON value as words.
fn format_value(value: &serde_json::Value) -> String {
    use serde_json::Value as V;
    match value {
        V::Null => "-".to_owned(),
        V::String(text) => text.clone(),
        V::Array(items) => items.iter().map(format_value).collect::<Vec<_>>().join(", "),
        V::Object(map) => {
            map.iter().map(|(k, v)| format!("{k} ({})", format_value(v))).collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    }
}
