//! OmniReflect with symbolic generation, self-sustaining: Abstract, Error and Progress lessons are drawn by rules from
//! what the detectors noted, after the step in which their condition fired (`papers/omnireflect.txt` 2.1.2, 3.5). No model
//! is asked for them. Abstract and Error lessons stay for the tasks that follow, Progress ends with its episode.

use super::agenda;
use crate::domain::Kind;
use crate::engine::{Method, State, Want};
use crate::symbolic;

/// The method `omnireflect`.
pub struct OmniReflect;

impl Method for OmniReflect {
    fn name(&self) -> &'static str {
        "omnireflect"
    }

    fn next(&self, state: &State) -> Vec<Want> {
        match state.open_episode() {
            Some(open) if open.reset.is_none() => Vec::new(),
            Some(_) => {
                let mut wants = if due(state) { symbolic::reflect(state, None) } else { Vec::new() };
                wants.push(Want::AskActor);
                wants
            }
            None => agenda::next(state, 1),
        }
    }

    fn reflect_now(&self, state: &State, kind: Kind) -> Vec<Want> {
        symbolic::reflect(state, Some(kind))
    }
}

/// Whether the last settled step is one to reflect after: every one (the rules' own conditions choose), or by period
/// every `r_freq`-th turn from turn `offset` on, turns counted from 0 as in Algorithm 1.
fn due(state: &State) -> bool {
    let Some(step) = state.last_step().filter(|s| s.noted) else { return false };
    let word = state.run.as_ref().map_or("conditions", |r| r.settings.word("reflect", "conditions"));
    match word {
        "periodic" => {
            let (every, offset) = (state.number("r_freq", 10).max(1), state.number("offset", 0));
            let turn = u64::from(step.number.saturating_sub(1));
            turn >= offset && (turn - offset).is_multiple_of(every)
        }
        "never" => false,
        _ => true,
    }
}
