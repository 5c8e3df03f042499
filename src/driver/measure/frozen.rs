//! A method that doesn't reflect, so that the lesson pool stays the same for a whole episode.

use crate::catalog::{ActionSource, action_source};
use crate::domain::ReflectionKind;
use crate::engine::{Computed, Intent, MentorReply, Method, State};
use std::sync::Arc;

/// Runs a method without its reflections, lesson changes and questions to the mentor about them. A plan of an attempt's actions isn't
/// a reflection and is still made.
pub(super) struct FrozenMethod(pub(super) Arc<dyn Method>);

impl Method for FrozenMethod {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        let intents = self.0.next(state);
        let source = action_source(self.name());
        let is_before_first_step = state.open_episode().is_some_and(|episode| episode.steps.is_empty());
        let plans = source == ActionSource::Plan && is_before_first_step;
        let reflects =
            |intent: &Intent| matches!(intent, Intent::AskMentor(_) | Intent::Reflect(_) | Intent::Lesson(_));
        if plans || !intents.iter().any(reflects) {
            return intents;
        }
        // The memory is written along with a reflection; without the reflection it would be written again and again.
        let is_kept = |intent: &Intent| !reflects(intent) && !matches!(intent, Intent::SetMemory(_));
        let kept: Vec<Intent> = intents.into_iter().filter(is_kept).collect();
        match state.open_episode() {
            Some(open)
                if kept.is_empty() && open.first_observation.is_some() && source == ActionSource::Actor =>
            {
                vec![Intent::AskActor]
            }
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
