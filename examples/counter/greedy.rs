//! The method `greedy`: proposes in each step the largest addition that doesn't go past the goal. It asks nobody, and plans
//! nothing.

use crate::environment::STEPS;
use retrospect::catalog::{ActionSource, MethodEntry, ModelNeed};
use retrospect::domain::{EndReason, ReflectionKind};
use retrospect::engine::{Intent, Method, State};
use retrospect::method::next_by_task;
use std::sync::Arc;

pub(crate) const ENTRY: MethodEntry = MethodEntry {
    summary: "Always adds the greatest number that fits.",
    step_limits: (300, 300),
    action_source: ActionSource::Method,
    ..MethodEntry::new("greedy", |_| Ok(Arc::new(Greedy)), ModelNeed::NoMentor)
};

struct Greedy;

impl Method for Greedy {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        let Some(open) = state.open_episode() else {
            return next_by_task(state);
        };
        if open.first_observation.is_none() {
            return Vec::new();
        }
        let number = |name: &str| open.shown[name].as_u64().unwrap_or(0);
        let rest = number("goal").saturating_sub(number("sum"));
        match STEPS.into_iter().filter(|step| *step <= rest).max() {
            Some(step) => vec![Intent::Propose { thought: None, action: format!("add {step}") }],
            None => vec![Intent::EndEpisode(EndReason::PlanEnd)],
        }
    }

    fn reflect_now(&self, _: &State, _: ReflectionKind) -> Vec<Intent> {
        Vec::new()
    }
}
