//! Folds samples. They are counted beside the run and kept with their step; nothing else in the state depends on them.

use crate::domain::{
    SAMPLES_AT_ONCE, Sample, SampleGroup, SampleRequest, SampleStatus, Seq, Stage, Step, Usage,
};
use crate::engine::{OpenSamples, State};
use std::sync::Arc;

impl State {
    pub(super) fn request_samples(&mut self, seq: Seq, request: &Arc<SampleRequest>) {
        self.last_sample_group = self.last_sample_group.max(request.group);
        let requested = &mut self.usage.samples.requested;
        *requested = requested.saturating_add(u64::from(request.count));
        self.edit_sampled_step(seq, request, |step| {
            step.samples.push(SampleGroup { request: request.clone(), samples: Vec::new() });
        });
        if request.count > 0 {
            self.open_samples.push(OpenSamples { request: request.clone(), ended: Vec::new() });
        }
    }

    pub(super) fn record_sample(&mut self, seq: Seq, sample: &Arc<Sample>) {
        let Some(index) = self.open_samples.iter().position(|open| open.request.group == sample.group) else {
            return;
        };
        let open = &mut self.open_samples[index];
        let request = open.request.clone();
        open.ended.push(sample.number);
        if open.missing() == 0 {
            self.open_samples.remove(index);
        }
        self.usage.samples.count(sample.status, &sample.usage);
        if sample.status != SampleStatus::Cancelled {
            self.edit_sampled_step(seq, &request, |step| {
                if let Some(group) = step.samples.iter_mut().find(|g| g.request.group == request.group) {
                    group.samples.push(sample.clone());
                }
            });
        }
    }

    /// Counts the samples that were in progress when the program ended as cancelled. The prompts of those that may have
    /// been sent count as spent.
    pub(super) fn abandon_samples(&mut self) {
        for open in std::mem::take(&mut self.open_samples) {
            for n in 0..open.missing() {
                let was_sent = n < SAMPLES_AT_ONCE;
                let prompt_tokens = if was_sent { u64::from(open.request.tokens) } else { 0 };
                let usage = Usage { prompt_tokens, estimated: true, ..Usage::default() };
                self.usage.samples.count(SampleStatus::Cancelled, &usage);
            }
        }
    }

    /// Edits the step of a request, if the state still holds its episode. A fork at a step that waits for its decision
    /// keeps the samples, so they count as events of the step.
    fn edit_sampled_step(&mut self, seq: Seq, request: &SampleRequest, edit: impl FnOnce(&mut Step)) {
        let (number, episode) = (request.step, request.episode);
        self.edit_episode(|e| {
            if e.number != episode {
                return;
            }
            e.edit_step(number, |step| {
                edit(step);
                if step.stage == Stage::Decision && step.executed.is_none() {
                    step.last_seq = seq;
                }
            });
        });
    }
}
