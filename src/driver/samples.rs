//! Samples: replies to the prompt of a step that a person asked for beside the run, to see what else the actor would
//! propose. A request is an event; sending it is that event's effect, and each sample that ends is another event. None of
//! them touches the environment, the calls of the run or a prefetch.

mod sample_call;

pub(super) use sample_call::SampleCalls;

use super::request::build_request_in;
use super::{Driver, Message, SampleOrder};
use crate::domain::{
    LessonId, MAX_SAMPLES, PromptRecord, Sample, SampleRequest, SampleStatus, SampledLesson, SegmentOrigin,
    Seq, Stage, Step,
};
use crate::engine::{CommandError, Event, Input, PromptDraft, PromptRequest, Reply, State};
use std::sync::Arc;

impl Driver {
    /// Requests samples. Continues the seeds of earlier requests for the same prompt, so that none is used twice.
    pub(super) fn request_samples(&mut self, order: &SampleOrder) -> Result<(), CommandError> {
        let state = &self.engine.state;
        if !(1..=MAX_SAMPLES).contains(&order.count) {
            let message = format!("{} samples can't be requested at once", order.count);
            return Err(CommandError::new(message, format!("request 1 to {MAX_SAMPLES}")));
        }
        let episode = state.episode.as_deref();
        let step = episode.and_then(|e| e.step(order.step)).ok_or_else(|| no_step(order.step))?;
        let record = self.prompt_of_step(step)?;
        let mut request = SampleRequest {
            group: state.last_sample_group.saturating_add(1),
            episode: record.episode,
            step: step.number,
            count: order.count,
            first_retry: 0,
            prompt_sha256: record.sha256.clone(),
            lesson: None,
            prompt: None,
            tokens: record.tokens,
        };
        let mut texts = Vec::new();
        if let Some(id) = &order.lesson {
            let (draft, lesson) = self.draft_with_other_lesson(step, &record, id)?;
            texts = draft.texts;
            request.tokens = draft.record.tokens;
            (request.prompt, request.lesson) = (Some(Arc::new(draft.record)), Some(lesson));
        }
        let is_same = |other: &SampleRequest| {
            other.prompt_sha256 == request.prompt_sha256 && other.lesson == request.lesson
        };
        let earlier = step.samples.iter().map(|group| &*group.request).filter(|other| is_same(other));
        let earlier = earlier.map(|other| other.count).fold(0, u32::saturating_add);
        // The step's own reply is the first sample of its own prompt.
        let own = u32::from(request.lesson.is_none());
        request.first_retry = record.retry.saturating_add(earlier).saturating_add(own);
        if let Some(failure) = self.check_prompt_size(request.prompt.as_deref().unwrap_or(&record)) {
            return Err(CommandError::new(failure.message, failure.hint));
        }
        let reply = Reply::SamplesRequested { request: Arc::new(request), texts };
        self.commit_beside_run(reply);
        Ok(())
    }

    /// Returns the prompt to which a step's proposal is the reply.
    fn prompt_of_step(&self, step: &Step) -> Result<Arc<PromptRecord>, CommandError> {
        let number = step.number;
        let Some(call) = step.call else {
            return Err(CommandError::new(
                format!("step {number} has no prompt: the actor was not asked"),
                "sample at a step that the actor proposed",
            ));
        };
        if step.stage < Stage::Decision {
            return Err(CommandError::new(
                format!("step {number} has no proposal yet"),
                "sample once its proposal has arrived",
            ));
        }
        let last = self.engine.state.actor_prompts.0.as_ref();
        if let Some(record) = last.filter(|record| record.call == call && record.step == number) {
            return Ok(record.clone());
        }
        match self.store.timeline().event(step.prompt_seq).map(|envelope| envelope.event.clone()) {
            Some(Event::PromptSent { prompt }) if prompt.call == call => Ok(prompt),
            _ => Err(CommandError::new(
                format!("the prompt of step {number} can no longer be read"),
                "check the session with `retrospect verify`",
            )),
        }
    }

    /// Drafts the prompt that a step would have had without a lesson that is in it, or with one that isn't. Everything
    /// else is as it was when the step's prompt was drafted, whatever has changed since.
    fn draft_with_other_lesson(
        &self,
        step: &Step,
        record: &PromptRecord,
        id: &LessonId,
    ) -> Result<(PromptDraft, SampledLesson), CommandError> {
        let state = &self.engine.state;
        let number = step.number;
        let has_lesson = |record: &PromptRecord| {
            let is_it =
                |origin: &SegmentOrigin| matches!(origin, SegmentOrigin::Lesson { id: i, .. } if i == id);
            record.segments.iter().any(|segment| is_it(&segment.origin))
        };
        let added = !has_lesson(record);
        let lesson = state.pool.get(id).ok_or_else(|| {
            CommandError::new("there is no such lesson any more", "choose a lesson of the pool")
        })?;
        let not_redrafted = |why: &str| {
            let message = format!("the prompt of step {number} can't be drafted again: {why}");
            CommandError::new(message, "ask this step again (`ask-again`), or compare at another step")
        };
        if record.edited {
            return Err(not_redrafted("a person edited it"));
        }
        let before_prompt = Seq(step.prompt_seq.0.saturating_sub(1));
        let before = self.store.state_at(before_prompt);
        if before.head != before_prompt {
            return Err(not_redrafted("the events before it can't be read"));
        }
        let request = PromptRequest {
            role: record.role,
            question: record.question,
            step: record.step,
            retry: record.retry,
        };
        let draft = |state: &State| (self.engine.policy.draft_prompt)(state, &request);
        if draft(&before).record.sha256 != record.sha256 {
            return Err(not_redrafted("it depends on something that the journal doesn't hold"));
        }
        let mut other = draft(&before.with_lesson(lesson, added));
        if has_lesson(&other.record) != added {
            let message = format!("lesson {} would not be in the prompt of step {number}", lesson.number);
            return Err(CommandError::new(message, "check its scope and kind"));
        }
        let own = std::mem::take(&mut other.record);
        other.record = PromptRecord {
            segments: own.segments,
            dropped: own.dropped,
            tokens: own.tokens,
            corrected_tokens: own.corrected_tokens,
            text_forms: own.text_forms,
            sha256: own.sha256,
            ..record.clone()
        };
        Ok((other, SampledLesson { id: id.clone(), number: lesson.number, added }))
    }

    /// Sends the calls of a request that has been written.
    pub(super) fn send_samples(&mut self, request: &Arc<SampleRequest>) {
        let record = if let Some(prompt) = &request.prompt {
            Ok(prompt.clone())
        } else {
            let episode = self.engine.state.episode.as_deref();
            let step = episode.and_then(|e| e.step(request.step)).ok_or_else(|| no_step(request.step));
            step.and_then(|step| self.prompt_of_step(step))
        };
        let record = match record {
            Ok(record) => record,
            Err(error) => return self.fail_samples(request, &error),
        };
        let rendered = (self.run_config.render_prompt)(&self.engine.state, &record);
        let provider = self.run_config.actor.clone();
        provider.restore_quirks(&self.engine.state.setting_deviations(record.role));
        let template = build_request_in(&self.engine.state, &record, rendered);
        for number in 1..=request.count {
            let retry = request.first_retry.saturating_add(number - 1);
            let seed = self.engine.state.seed_for(&PromptRecord { retry, ..PromptRecord::clone(&record) });
            let sample = Sample { group: request.group, number, seed, ..Sample::default() };
            let (inbox, epoch) = (self.handle.inbox(), self.epoch);
            let on_done = move |sample| drop(inbox.send(Message::SampleEnded(epoch, Box::new(sample))));
            let mut model_request = template.clone();
            model_request.seed = seed;
            let live = self.samples.start(
                self.call_runner.thread(),
                provider.clone(),
                model_request,
                u64::from(request.tokens),
                sample,
                on_done,
            );
            self.store.edit_live(|all| all.samples.push(live));
        }
    }

    fn fail_samples(&mut self, request: &SampleRequest, error: &CommandError) {
        for number in 1..=request.count {
            self.on_sample_ended(Sample {
                group: request.group,
                number,
                status: SampleStatus::Failed,
                error: Some(format!("{}; {}", error.message, error.hint)),
                ..Sample::default()
            });
        }
    }

    /// Records a sample that has ended.
    pub(super) fn on_sample_ended(&mut self, sample: Sample) {
        self.samples.forget(sample.group, sample.number);
        self.store.edit_live(|live| live.remove_sample(sample.group, sample.number));
        self.commit_beside_run(Reply::Sample(Box::new(sample)));
    }

    /// Cancels the samples in progress and records what they have cost so far. Returns whether there were any.
    pub(super) fn cancel_samples(&mut self) -> bool {
        let cancelled = self.samples.cancel_all();
        self.store.edit_live(|live| live.samples.clear());
        let any = !cancelled.is_empty();
        for sample in cancelled {
            // What can't be written is settled when the branch is resumed.
            if !self.is_halted() {
                self.commit_beside_run(Reply::Sample(Box::new(sample)));
            }
        }
        any
    }

    /// Writes the event of a report about samples. This doesn't invalidate the lookahead.
    fn commit_beside_run(&mut self, reply: Reply) {
        let head_before = self.engine.state.head;
        if let Ok(events) = self.engine.decide(&Input::Reply(reply)) {
            self.commit(events);
        }
        if self.prefetcher.start_seq == Some(head_before) {
            self.prefetcher.start_seq = Some(self.engine.state.head);
        }
    }
}

fn no_step(number: u32) -> CommandError {
    CommandError::new(
        format!("step {number} is not in the present episode"),
        "sample at a step of the open or last episode",
    )
}
