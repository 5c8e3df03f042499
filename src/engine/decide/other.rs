//! Going on as another run.

use crate::domain::RunSpec;
use crate::engine::{Effect, Engine, Event, Refusal};
use serde_json::Value;

impl Engine {
    /// The run from now on, as one event with the whole of it. Another method begins with an empty memory of its own:
    /// what the one before it remembers means nothing to it. Reflections and lessons stay.
    pub(super) fn change_run(&self, spec: &RunSpec) -> Result<Vec<Event>, Refusal> {
        let state = &self.state;
        if state.calls.values().any(|c| matches!(c, Effect::Ask { .. })) {
            return Err(Refusal::new(
                "a model is being asked, so the run cannot be changed under it",
                "wait for its answer, or cancel the call with Ctrl-C; then change it",
            ));
        }
        let Some(run) = state.run.as_deref().filter(|run| *run != spec) else {
            return Err(Refusal::new("this is the run as it is", "change something of it"));
        };
        let mut events = vec![Event::RunChanged { spec: Box::new(spec.clone()) }];
        if run.method != spec.method {
            events.push(Event::MemorySet { value: Value::Null });
        }
        Ok(events)
    }
}
