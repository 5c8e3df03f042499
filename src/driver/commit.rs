//! From an input to acknowledged events: decide, write, apply, publish, start effects.

use super::env_messages::EnvRequest;
use super::mentor_check::check_mentor;
use super::past_query::PastQuestion;
use super::pending_requests::PendingRequest;
use super::streamed_text::StreamedText;
use super::{Driver, Health, Message, Signal, wall_clock_now};
use crate::catalog::RULES;
use crate::domain::{CallId, FailureKind, Seq};
use crate::engine::{
    Cause, Command, CommandError, Effect, Envelope, Event, Failure, Input, Reply, effect_of,
};
use crate::journal::JournalError;
use crate::provider::Delta;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Driver {
    /// Handles one message from the inbox.
    pub(super) fn handle_message(&mut self, message: Message) {
        self.dispatch_message(message);
        self.start_lookahead();
        self.write_prefetch_records();
    }

    fn dispatch_message(&mut self, message: Message) {
        match message {
            Message::Delta(epoch, call, delta, _) if epoch == self.epoch => self.on_delta(call, delta),
            // Belongs to a branch that is no longer active.
            Message::Delta(..) => {}
            Message::Reply(epoch, _) if epoch != self.epoch => {}
            Message::EnvironmentIdle(reply_to) => self.request_idle_signal(reply_to),
            Message::Admissible(reply_to) => self.request_actions(reply_to),
            Message::PastAdmissible(query, reply_to) => {
                self.submit_past_query(query, PastQuestion::Actions(reply_to));
            }
            Message::Hint(reply_to) => self.request_hint(reply_to),
            // The receiver may be gone.
            Message::PrintedText(reply_to) => drop(reply_to.send(self.env_worker.printed_text())),
            Message::EnvResponse(response) => self.on_response(response),
            Message::Synced => {
                // Nothing is left to do if somebody has waited for this sync.
                if let Some(result) = self.sync_thread.finish() {
                    self.on_synced(result);
                }
                if std::mem::take(&mut self.sync_again) && self.writer.is_unsynced() && !self.is_halted() {
                    self.sync();
                }
            }
            Message::RetryWrite => self.retry_write(),
            Message::Quit => {
                // After a failed write nothing can be closed: the session is left as after a crash.
                if !self.is_halted() {
                    let _ = self.run_command(&Command::Close);
                }
                self.fail_queued("the session ended first", "resume the session and repeat it");
                self.has_quit = true;
            }
            message if self.is_halted() => self.queued_messages.push_back(message),
            Message::Fork(fork, reply_to) => self.respond(reply_to, |driver| driver.fork(&fork)),
            Message::Switch(to, reply_to) => self.respond(reply_to, |driver| driver.switch_branch(&to)),
            Message::Command(command, reply_to) => {
                let result = self.run_command(&command);
                match (reply_to, result) {
                    // The receiver may be gone.
                    (Some(reply_to), result) => drop(reply_to.send(result)),
                    (None, Err(error)) => self.store.signal(Signal::CommandFailed(error)),
                    (None, Ok(_)) => {}
                }
            }
            Message::Rebuilt(rebuilt) => self.on_rebuilt(rebuilt),
            Message::TimedOut(tick) => self.on_timeout(tick),
            Message::PrefetchDone(epoch, number, result) if epoch == self.epoch => {
                self.on_prefetch_done(number, result);
            }
            Message::Sample(order, reply_to) => {
                self.respond(reply_to, |driver| driver.request_samples(&order));
            }
            Message::CancelSamples => {
                self.cancel_samples();
            }
            Message::SampleEnded(epoch, sample) if epoch == self.epoch => self.on_sample_ended(*sample),
            Message::PrefetchDone(..) | Message::SampleEnded(..) => {}
            Message::Reply(_, reply) => {
                self.remove_live_call(&reply);
                if let Ok(events) = self.engine.decide(&Input::Reply(reply)) {
                    self.commit(events);
                    self.advance();
                }
            }
        }
    }

    /// Executes a command. Returns the number of the last event afterwards.
    pub(super) fn run_command(&mut self, command: &Command) -> Result<Seq, CommandError> {
        if matches!(command, Command::Close) {
            self.close_prefetches();
        }
        if matches!(command, Command::Close | Command::Cancel) {
            self.cancel_samples();
        }
        self.reject_secrets(command)?;
        let mut events = self.engine.decide(&Input::Command(command.clone()))?;
        check_mentor(self.engine.state.run.as_deref(), &events)?;
        if matches!(command, Command::Close) {
            self.cancel_calls_before_close(&mut events);
        }
        self.record_partial_replies(&mut events);
        // Changed by a command, or restored by an undo.
        let changed = events.iter().find_map(|(_, event)| match event {
            Event::RunChanged { spec } => Some(spec),
            _ => None,
        });
        if let Some(spec) = changed {
            if let Command::ChangeRun(typed) = command {
                self.run_config.remember_typed_servers(self.engine.state.run.as_deref(), typed);
            }
            let run_config = self.make_run_config(spec)?;
            run_config.record_settings(&mut events);
            self.next_run_config = Some(run_config);
        }
        self.commit_and_advance(events)
    }

    /// Rejects text that contains a key: what a person types is journaled, and journals are shared.
    fn reject_secrets(&self, command: &Command) -> Result<(), CommandError> {
        // The names in a run come from the command line: a key that is also a model's name is not a key.
        if matches!(command, Command::Start { .. }) {
            return Ok(());
        }
        let text = format!("{command:?}");
        let mut providers = std::iter::once(&self.run_config.actor).chain(&self.run_config.mentor);
        if providers.any(|provider| provider.contains_secret(&text)) {
            return Err(CommandError::new(
                "this text contains the key of a model server, which would be written to the journal",
                "remove the key",
            ));
        }
        Ok(())
    }

    /// Writes the events of a command and advances as far as possible. Returns the number of the last event afterwards.
    pub(super) fn commit_and_advance(&mut self, events: Vec<(Cause, Event)>) -> Result<Seq, CommandError> {
        self.commit(events);
        self.advance();
        if !self.unwritten_events.is_empty() {
            let Health::Halted(halt) = self.store.live().health else { return Ok(self.engine.state.head) };
            return Err(CommandError::new(halt.summary(), halt.hint()));
        }
        if self.writer.is_unsynced() && self.engine.state.run.is_some() {
            self.sync();
        }
        Ok(self.engine.state.head)
    }

    pub(super) fn advance(&mut self) {
        while !self.is_halted() {
            let events = self.engine.advance();
            if events.is_empty() {
                break;
            }
            self.commit(events);
        }
    }

    /// Writes a batch. Once the write has returned, applies and publishes it and starts its effects.
    pub(super) fn commit(&mut self, events: Vec<(Cause, Event)>) {
        if events.is_empty() {
            return;
        }
        let at = wall_clock_now();
        let mut batch = stamp_events(self.engine.state.head, at, events);
        let hits = self.engine.breakpoint_events(&batch);
        if let Some(last) = batch.last_mut().filter(|_| !hits.is_empty()) {
            last.batch_continues = true;
            let head = last.seq;
            batch.extend(stamp_events(head, at, hits));
        }
        let written = self.writer.append(&batch);
        let batch: Vec<Arc<Envelope>> = batch.into_iter().map(Arc::new).collect();
        match written {
            Ok(()) => self.acknowledge(&batch),
            Err(error) => {
                self.unwritten_events = batch;
                self.halt(&error);
            }
        }
    }

    fn retry_write(&mut self) {
        if !self.is_halted() {
            return;
        }
        let retried = if self.unwritten_events.is_empty() {
            self.writer.check_unchanged()
        } else {
            self.writer.retry()
        };
        match retried {
            Ok(()) => {
                let batch = std::mem::take(&mut self.unwritten_events);
                self.end_halt();
                if !batch.is_empty() {
                    self.acknowledge(&batch);
                }
                self.advance();
                while !self.is_halted() {
                    let Some(message) = self.queued_messages.pop_front() else { break };
                    self.handle_message(message);
                }
            }
            Err(error) => self.halt(&error),
        }
    }

    fn acknowledge(&mut self, batch: &[Arc<Envelope>]) {
        let mut must_sync = false;
        for envelope in batch {
            self.note_cache_refresh(&envelope.event);
            self.report_undeclared_detectors(&envelope.event);
            self.engine.state.apply(envelope);
            if let Event::RunChanged { .. } = envelope.event
                && let Some(run_config) = self.next_run_config.take()
            {
                self.engine.policy = run_config.policy.clone();
                self.run_config = run_config;
            }
            must_sync |= envelope.cause == Cause::Person
                || matches!(
                    envelope.event,
                    Event::Paused { .. } | Event::EpisodeEnded { .. } | Event::Closed
                );
        }
        let after = Arc::new(self.engine.state.clone());
        self.checkpoint_writer.offer(&after, self.writer.valid_len());
        self.store.append(batch.iter().cloned(), after);
        if must_sync || self.last_sync.elapsed() >= Duration::from_secs(1) {
            self.sync();
        }
        self.set_timer();
        for envelope in batch {
            self.discard_lookahead_after(&envelope.event);
            self.start_effect_of(&envelope.event);
        }
    }

    /// Tells the person, once, of a detector that the entry of its environment doesn't list.
    fn report_undeclared_detectors(&mut self, event: &Event) {
        let Event::Noted { notes, .. } = event else { return };
        let Some(episode) = self.engine.state.episode.as_deref() else { return };
        let env = &episode.task.env;
        for note in notes.iter().filter(|note| !RULES.declares(env, &note.detector)) {
            if self.undeclared_detectors.insert(note.detector.clone()) {
                self.store.signal(Signal::Notice(format!(
                    "the environment {env} doesn't list its detector {:?}, so breakpoints don't know it; add it to \
                     `detectors` of its rules",
                    note.detector
                )));
            }
        }
    }

    /// Notes that a call is repeated because its reply was unusable, so that it bypasses the cache. Must run before the
    /// event is applied.
    fn note_cache_refresh(&mut self, event: &Event) {
        let call = match event {
            Event::PromptSent { prompt } => prompt.call,
            Event::Retried { call: Some(call), reply_source: None } => *call,
            _ => return,
        };
        let mut failed = self.engine.state.failed_calls();
        let is_unusable = |failure: &Failure| failure.kind == Some(FailureKind::Unusable);
        if failed.any(|(effect, failure)| effect.call() == call && is_unusable(failure)) {
            self.calls_to_refresh.insert(call);
        }
    }

    /// Starts to sync the journal, or, while a sync is in progress, makes the next one follow at once.
    pub(super) fn sync(&mut self) {
        if self.sync_thread.is_busy() {
            self.sync_again = true;
            return;
        }
        self.last_sync = Instant::now();
        let result = match self.writer.begin_sync() {
            Ok(handle) => {
                self.restore_meta_file(false);
                handle.and_then(|handle| self.sync_thread.start(handle, || self.handle.inbox()))
            }
            Err(error) => Some(Err(error)),
        };
        if let Some(result) = result {
            self.on_synced(result);
        }
    }

    /// Syncs the journal and waits for it, for what must be on the disk before something else is.
    pub(super) fn sync_and_wait(&mut self) -> Result<(), JournalError> {
        self.last_sync = Instant::now();
        #[cfg(test)]
        self.writer.sync_waits.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.sync_thread.finish().unwrap_or(Ok(())).inspect_err(|_| self.writer.mark_unsynced())?;
        self.writer.sync()
    }

    /// Handles the result of a sync.
    pub(super) fn on_synced(&mut self, result: Result<(), JournalError>) {
        let Err(error) = result else { return };
        self.writer.mark_unsynced();
        if matches!(error, JournalError::Changed { .. }) {
            self.halt(&error);
        } else {
            self.store
                .signal(Signal::Notice(format!("{error}; what was written may not survive a power failure")));
        }
    }

    /// Starts the effect of an event.
    fn start_effect_of(&mut self, event: &Event) {
        match event {
            Event::Retried { call, .. } => {
                match call.and_then(|c| self.engine.state.calls.get(&c)).cloned() {
                    Some(reset @ Effect::ResetWorld { .. }) => self.issue_call(&reset),
                    // A failed environment is never stepped again, and there is none whose difference could be
                    // accepted: it is restored first.
                    _ if self.pending_requests.has_lost_world => self.start_rebuild(),
                    Some(effect) => self.issue_call(&effect),
                    // The difference is accepted, so the waiting calls are started.
                    None => self.issue_all_calls(),
                }
            }
            Event::EpisodeEnded { .. } => {
                self.call_runner.cancel_all();
                self.job_runner.cancel_all();
                self.store.edit_live(super::Live::clear_calls);
            }
            Event::SamplesRequested { request } => self.send_samples(request),
            _ => {
                if let Some(effect) = effect_of(event) {
                    self.issue_call(&effect);
                }
            }
        }
    }

    pub(super) fn issue_call(&mut self, effect: &Effect) {
        // While the environment is being restored every call waits; all calls in flight are made afterwards.
        if self.pending_requests.is_rebuilding && !matches!(effect, Effect::Cancel { .. }) {
            return;
        }
        match effect {
            Effect::ResetWorld { call, task } => {
                self.pending_requests.has_lost_world = false;
                self.send_env_request(
                    EnvRequest::Reset(*call, (**task).clone(), self.engine.state.trial_info()),
                    PendingRequest::Call(*call),
                );
            }
            Effect::StepWorld { .. } if self.pending_requests.has_lost_world => self.start_rebuild(),
            Effect::StepWorld { call, action, admissible_only } => {
                let request = if *admissible_only {
                    EnvRequest::AnswerWithList(*call, self.engine.state.unchanged_result())
                } else {
                    EnvRequest::Step {
                        call: *call,
                        action: action.clone(),
                        is_last: self.engine.state.is_last_step_allowed(),
                    }
                };
                self.send_env_request(request, PendingRequest::Call(*call));
            }
            Effect::Ask { call, prompt } => self.ask_model(*call, prompt),
            Effect::Compute { call, job } => self.job_runner.start(
                (*call, self.epoch),
                job,
                &self.engine.state,
                &self.run_config.compute_job,
                &self.store,
                &self.handle.inbox(),
            ),
            Effect::Cancel { call } => {
                self.call_runner.cancel(*call);
                self.job_runner.cancel(*call);
                self.store.edit_live(|live| live.remove_call(*call));
            }
        }
    }

    /// Starts all calls in flight, even those that have been started before.
    pub(super) fn issue_all_calls(&mut self) {
        let calls: Vec<Effect> = self.engine.state.calls.values().cloned().collect();
        for effect in &calls {
            self.issue_call(effect);
        }
    }

    /// Sets the timer to the remaining wall time of the episode. No timer runs while the episode is paused.
    fn set_timer(&mut self) {
        if let Some(timer) = self.timer.take() {
            timer.abort();
        }
        let at = wall_clock_now();
        let Some((episode, left)) = self.engine.state.time_left(at) else { return };
        let spent = self.engine.state.clock.elapsed_at(at).saturating_add(left);
        let (inbox, epoch) = (self.handle.inbox(), self.epoch);
        self.timer = Some(tokio::spawn(async move {
            tokio::time::sleep(left).await;
            let _ = inbox.send(Message::Reply(epoch, Reply::TimeUp { episode, elapsed: spent }));
        }));
    }

    fn on_delta(&self, call: CallId, delta: Delta) {
        if let Delta::Notice(text) = delta {
            self.store.edit_live(|live| {
                let known = live.calls.iter_mut().find(|c| c.call == call);
                if let Some(live_call) = known {
                    live_call.notice = Some(text.clone());
                }
            });
            return self.store.signal(Signal::Notice(text));
        }
        self.store.edit_live(|live| {
            let Some(live_call) = live.calls.iter_mut().find(|c| c.call == call) else { return };
            live_call.only_keep_alives = matches!(delta, Delta::KeepAlive);
            if !live_call.only_keep_alives {
                live_call.last_progress = Instant::now();
            }
            match delta {
                Delta::Phase(phase) => live_call.phase = phase,
                Delta::Reasoning(piece) => {
                    live_call.phase = crate::domain::CallPhase::Reasoning;
                    live_call.delta_count += 1;
                    live_call.reasoning.push_str(&piece);
                }
                Delta::Text(piece) => {
                    live_call.phase = crate::domain::CallPhase::Answering;
                    live_call.delta_count += 1;
                    live_call.text.push_str(&piece);
                }
                Delta::WasReasoning => {
                    live_call.reasoning.append(&mut live_call.text);
                }
                Delta::Restarted => {
                    live_call.text = StreamedText::default();
                    live_call.reasoning = StreamedText::default();
                }
                Delta::Usage(usage) => live_call.usage = Some(usage),
                Delta::Truncated(_) | Delta::ToolCalls(_) | Delta::Notice(_) | Delta::KeepAlive => {}
            }
        });
    }

    fn remove_live_call(&mut self, reply: &Reply) {
        if let Reply::Model { call, .. } | Reply::Computed { call, .. } | Reply::Failed { call, .. } = reply {
            self.call_runner.forget_call(*call);
            self.job_runner.cancel(*call);
            self.store.edit_live(|live| live.remove_call(*call));
        }
    }
}

/// Numbers the events of a batch after `head`.
pub(super) fn stamp_events(head: Seq, at: Timestamp, events: Vec<(Cause, Event)>) -> Vec<Envelope> {
    let last = events.len().saturating_sub(1);
    let to_envelope = |(n, (cause, event))| Envelope {
        seq: Seq(head.0 + 1 + n as u64),
        timestamp: at,
        cause,
        batch_continues: n < last,
        event,
    };
    events.into_iter().enumerate().map(to_envelope).collect()
}
