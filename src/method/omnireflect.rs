//! OmniReflect with symbolic generation, self-sustaining: Abstract, Error and Progress lessons are drawn by rules from
//! what the detectors noted, after the step in which their condition fired (`papers/omnireflect.txt` 2.1.2, 3.5). No model
//! is asked for them. Abstract and Error lessons stay for the tasks that follow, Progress ends with its episode.

use super::agenda;
use crate::domain::Kind;
use crate::engine::{Method, State, Want};
use crate::symbolic::{self, Since};

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
                let mut wants =
                    due(state).map_or_else(Vec::new, |since| symbolic::reflect(state, since, KINDS));
                wants.push(Want::AskActor);
                wants
            }
            None => agenda::next(state),
        }
    }

    fn reflect_now(&self, state: &State, kind: Kind) -> Vec<Want> {
        symbolic::reflect(state, Since::Begin, &[kind])
    }
}

/// The kinds OmniReflect has, in the order in which they are written.
const KINDS: &[Kind] = &[Kind::Error, Kind::Abstract, Kind::Progress];

/// Whether to reflect after the last settled step, and on which notes: by condition on those of the step itself (the
/// rules choose), or by period after every `r_freq`-th turn from turn `offset` on, turns counted from 0 as in Algorithm 1,
/// on all notes since the period before.
fn due(state: &State) -> Option<Since> {
    let step = state.last_step().filter(|s| s.noted)?;
    match state.run.as_ref().map_or("conditions", |r| r.settings.word("reflect", "conditions")) {
        "periodic" => {
            let (every, offset) = (state.number("r_freq", 10).max(1), state.number("offset", 0));
            let turn = u64::from(step.number.saturating_sub(1));
            let fires = turn >= offset && (turn - offset).is_multiple_of(every);
            let before = u64::from(step.number).saturating_sub(every);
            fires.then_some(Since::After(before as u32))
        }
        "never" => None,
        _ => Some(Since::LastStep),
    }
}
