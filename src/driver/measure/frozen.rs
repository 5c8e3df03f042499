//! A method that doesn't reflect, so that the lesson pool stays the same for a whole episode.

use crate::domain::{Purpose, ReflectionKind};
use crate::engine::{Computed, Intent, MentorReply, Method, State};
use std::sync::Arc;

/// Runs a method without its reflections, lesson changes and questions to the mentor about them. A plan that the method
/// acts on (planning-only) isn't a reflection and is still made.
pub(super) struct FrozenMethod(pub(super) Arc<dyn Method>);

impl Method for FrozenMethod {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        let intents = self.0.next(state);
        let plans = |intent: &Intent| match intent {
            Intent::AskMentor(question) => question.purpose == Purpose::PlanActions,
            Intent::Reflect(reflection) => reflection.purpose == Purpose::PlanActions,
            _ => false,
        };
        let reflects =
            |intent: &Intent| matches!(intent, Intent::AskMentor(_) | Intent::Reflect(_) | Intent::Lesson(_));
        if intents.iter().any(plans) || !intents.iter().any(reflects) {
            return intents;
        }
        // The memory is written along with a reflection; without the reflection it would be written again and again.
        let is_kept = |intent: &Intent| !reflects(intent) && !matches!(intent, Intent::SetMemory(_));
        let kept: Vec<Intent> = intents.into_iter().filter(is_kept).collect();
        match state.open_episode() {
            Some(open) if kept.is_empty() && open.first_observation.is_some() => vec![Intent::AskActor],
            _ => kept,
        }
    }

    fn reflect_now(&self, _: &State, _: ReflectionKind) -> Vec<Intent> {
        Vec::new()
    }

    fn on_mentor_reply(&self, state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
        self.0.on_mentor_reply(state, reply)
    }

    fn on_computed(&self, state: &State, computed: &Computed<'_>) -> Vec<Intent> {
        self.0.on_computed(state, computed)
    }
}
