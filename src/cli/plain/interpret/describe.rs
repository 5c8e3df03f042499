//! Describes steps and the environment as text.

use crate::engine::State;
use crate::report::step_lines;
use std::fmt::Write as _;

/// Describes what the agent may know of the environment.
pub(super) fn describe_world(state: &State) -> String {
    let Some(episode) = state.episode.as_deref() else { return "no episode yet".to_owned() };
    let mut out =
        format!("goal: {}\nprogress {:.2}, {} moves\n", episode.task.goal, episode.progress, episode.moves);
    if let serde_json::Value::Object(shown) = &*episode.shown {
        for (name, value) in shown {
            let _ = writeln!(out, "{name}: {}", format_value(value));
        }
    }
    out
}

/// Describes the last five steps, or the step whose number is in `rest`.
pub(super) fn describe_steps(rest: &str, state: &State) -> Result<String, String> {
    let Some(episode) = state.episode.as_deref() else { return Ok("no episode yet".to_owned()) };
    let last = episode.steps.len() as u32;
    let (from, to) = match rest {
        "" => (last.saturating_sub(4).max(1), last),
        number => {
            let n: u32 = number
                .parse()
                .ok()
                .filter(|n| (1..=last).contains(n))
                .ok_or_else(|| format!("no step {number:?}; the episode has {last} so far"))?;
            (n, n)
        }
    };
    let mut out = String::new();
    for step in (from..=to).filter_map(|n| episode.step(n)) {
        out.push_str(&step_lines(step, episode, state));
    }
    Ok(if out.is_empty() { "no steps yet".to_owned() } else { out })
}

/// Describes a step and what the agent may know of the environment after it.
pub(in crate::cli::plain) fn describe_past_step(state: &State, step: u32) -> String {
    let steps =
        if step == 0 { String::new() } else { describe_steps(&step.to_string(), state).unwrap_or_default() };
    format!("{}\n{}", steps.trim_end(), describe_world(state))
}

/// Formats a JSON value as plain text.
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
