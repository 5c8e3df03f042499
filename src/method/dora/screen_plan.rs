//! Acting by plans: the actor is asked once for a screen and replies several actions (`acting=screen-plan`, docs/METHODS.md).

use crate::domain::{EndReason, Step};
use crate::engine::{Episode, Intent};

/// Counts the elements that an observation lists.
pub type CountElements = fn(&str) -> usize;

/// Returns what an attempt does next: the next action of the plan, as long as everything went as planned and the number of elements
/// on the page is the one that the actor saw; otherwise the actor is asked again. When the last action of a plan has changed nothing
/// about that number, the attempt ends, as in the public code.
pub(super) fn next_intent(open: &Episode, count: CountElements) -> Intent {
    // A person who rejects a planned action, or wants another one, wants another plan.
    let is_asking = |step: &Step| step.answer.is_none() && (step.call.is_some() || step.retry > 0);
    if open.last_step().is_some_and(is_asking) {
        return Intent::AskActor;
    }
    let last = open.answered_steps();
    let Some(step) = open.step(last) else { return Intent::AskActor };
    let (plan, done) = match open.planned_by(last) {
        Some((plan, index)) => (plan, index + 1),
        None if step.call.is_some() => (step, 0),
        // A person has played it.
        None => return Intent::AskActor,
    };
    let mut steps = (plan.number..=last).filter_map(|number| open.step(number));
    let goes_as_planned = steps.all(|step| !step.is_person_action() && !step.is_thought_only());
    if !goes_as_planned || count_before(open, plan.number, count) != count_before(open, last + 1, count) {
        return Intent::AskActor;
    }
    match plan.planned.get(done).cloned() {
        Some(planned) => Intent::Propose { thought: planned.thought, action: planned.action },
        None => Intent::EndEpisode(EndReason::PlanEnd),
    }
}

/// Returns the number of elements on the page before a step. The answer to a thought shows no page.
fn count_before(open: &Episode, number: u32, count: CountElements) -> usize {
    let earlier = (1..number).rev().filter_map(|number| open.step(number));
    let page = earlier.filter(|step| !step.is_thought_only()).find_map(|step| step.answer.as_ref());
    page.or(open.first_observation.as_ref()).map_or(0, |page| count(&page.raw))
}
