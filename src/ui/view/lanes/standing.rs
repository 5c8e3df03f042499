//! Where the trials of a task stand, and in FCRF how deep the reflection after this one goes.

use crate::engine::State;
use crate::method::{Depth, Difficulty};

/// In words, the longest first; none where a task has one trial.
pub(super) fn words(state: &State, dot: &str) -> Vec<String> {
    let (Some(run), Some(episode)) = (&state.run, state.episode.as_deref()) else { return Vec::new() };
    if run.trials < 2 {
        return Vec::new();
    }
    let trial = format!("trial {}/{}", episode.trial, run.trials);
    if run.method != "fcrf" {
        return vec![trial];
    }
    let difficulty = Difficulty::of(&episode.task);
    let (k1, k2) = difficulty.depths_in(state);
    let depth = match difficulty.depth(state, episode.trial) {
        Depth::Simple => "simple",
        Depth::InDepth => "in-depth",
    };
    let whole = format!("{trial}, {depth} (k1 {k1}, k2 {k2})");
    vec![format!("difficulty {} {dot} {whole}", difficulty.sum()), whole, format!("{trial}, {depth}"), trial]
}
