//! Removes unnecessary steps from a plan.

use crate::pddl::ids::OpId;
use crate::pddl::state::State;
use crate::pddl::task::Task;

/// Longest plan that is shortened; the work is quadratic in the length.
const MAX_PLAN_LENGTH: usize = 400;

/// Removes each step that can be omitted together with everything that depends on it.
pub(super) fn shorten(task: &Task, from: &State, mut plan: Vec<OpId>) -> Vec<OpId> {
    if plan.len() > MAX_PLAN_LENGTH {
        return plan;
    }
    let mut state = from.clone();
    let mut at = 0;
    while at < plan.len() {
        match plan_without_step(task, from, &mut state, &plan, at) {
            Some(shorter) => plan = shorter,
            None => at += 1,
        }
    }
    plan
}

/// Returns the plan without the step at `at` and without later steps that are then inapplicable, if it still reaches
/// the goal.
fn plan_without_step(
    task: &Task,
    from: &State,
    state: &mut State,
    plan: &[OpId],
    at: usize,
) -> Option<Vec<OpId>> {
    state.restore(task, from.facts());
    let mut shorter = Vec::with_capacity(plan.len());
    for (step, &op) in plan.iter().enumerate() {
        if step != at && state.is_applicable(op) {
            state.apply(task, op);
            shorter.push(op);
        }
    }
    (shorter.len() < plan.len() && state.is_goal(task)).then_some(shorter)
}
