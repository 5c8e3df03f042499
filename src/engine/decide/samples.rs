//! Decides on reports about samples.

use crate::domain::{MAX_SAMPLES, Sample, SampleRequest, SampleStatus};
use crate::engine::{Cause, Engine, Event};
use std::sync::Arc;

impl Engine {
    /// Returns the events of a request that is about to be sent. `texts` are those of its prompt that are new to the
    /// session, as (hash, text).
    pub(super) fn sample_request_events(
        &self,
        request: &Arc<SampleRequest>,
        texts: &[(String, String)],
    ) -> Vec<(Cause, Event)> {
        let is_new = request.group > self.state.last_sample_group;
        let is_valid = is_new && (1..=MAX_SAMPLES).contains(&request.count);
        if !is_valid || self.state.run.is_none() || self.state.closed {
            return Vec::new();
        }
        let new_texts = texts.iter().filter(|(hash, _)| !self.state.texts.contains_key(hash));
        let mut events: Vec<(Cause, Event)> = new_texts
            .map(|(hash, text)| {
                (Cause::Person, Event::TextDefined { hash: hash.clone(), text: text.clone() })
            })
            .collect();
        events.push((Cause::Person, Event::SamplesRequested { request: request.clone() }));
        events
    }

    /// Returns the event of a sample that has ended; none if it had ended before. A reply is parsed like one to the step
    /// itself.
    pub(super) fn sample_events(&self, sample: &Sample) -> Vec<(Cause, Event)> {
        let open = self.state.open_samples.iter().find(|open| open.request.group == sample.group);
        let Some(open) = open.filter(|open| open.is_open(sample.number) && !self.state.closed) else {
            return Vec::new();
        };
        let mut sample = sample.clone();
        if sample.status == SampleStatus::Replied {
            // The step's own prompt says of its actions what the last one says.
            let prompt = open.request.prompt.as_ref().or(self.state.actor_prompts.0.as_ref());
            let prompt = prompt.cloned().unwrap_or_default();
            let parsed = (self.policy.parse_reply)(&self.state, &prompt, &sample.text);
            (sample.thought, sample.action) = (parsed.thought, parsed.action);
        }
        let cause = if sample.status == SampleStatus::Cancelled { Cause::Policy } else { Cause::Model };
        vec![(cause, Event::Sampled { sample: Arc::new(sample) })]
    }
}
