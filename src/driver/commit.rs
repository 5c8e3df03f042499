//! From input to acknowledged event: decide, write, apply, show, act.

use super::env_requests::PendingRequest;
use super::env_worker::EnvRequest;
use super::{Driver, DriverError, Health, Message, Signal};
use crate::domain::{CallId, FailureKind, Seq};
use crate::engine::{
    Cause, Command, CommandError, Effect, Envelope, Event, Failure, Input, Reply, effect_of,
};
use crate::journal::JournalError;
use crate::provider::Delta;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

impl Driver {
    /// Takes one message from the inbox.
    pub(super) fn handle_message(&mut self, message: Message) {
        self.dispatch_message(message);
        self.start_lookahead();
        self.write_prefetch_records();
    }

    fn dispatch_message(&mut self, message: Message) {
        match message {
            Message::Delta(line, call, delta, _) if line == self.epoch => self.on_delta(call, delta),
            // Of a line that was left.
            Message::Delta(..) => {}
            Message::Reply(line, _) if line != self.epoch => {}
            Message::Admissible(tell) => self.request_actions(tell),
            Message::PastAdmissible(then, tell) => {
                self.past_queries.submit(
                    self.run_config.open_world.clone(),
                    self.run_config.answer_deadline,
                    then,
                    tell,
                );
            }
            Message::Hint(tell) => self.request_hint(tell),
            Message::EnvResponse(told) => self.on_response(told),
            Message::RetryWrite => self.retry_write(),
            Message::Quit => {
                // With a failed write there is nothing to close: the session is left as after a crash.
                if !self.is_halted() {
                    let _ = self.run_command(&Command::Close);
                }
                self.fail_queued(
                    "the session was ended before it",
                    "take the session up again and say it there",
                );
                self.has_quit = true;
            }
            held if self.is_halted() => self.queued_messages.push_back(held),
            Message::Fork(fork, tell) => self.respond(tell, |driver| driver.fork(&fork)),
            Message::Switch(to, tell) => self.respond(tell, |driver| driver.switch_branch(&to)),
            Message::Command(command, tell) => {
                let answer = self.run_command(&command);
                match (tell, answer) {
                    // Whoever asked may have gone.
                    (Some(tell), answer) => drop(tell.send(answer)),
                    (None, Err(refusal)) => self.store.signal(Signal::CommandFailed(refusal)),
                    (None, Ok(_)) => {}
                }
            }
            Message::Rebuilt(rebuilt) => self.on_rebuilt(rebuilt),
            Message::TimedOut(tick) => self.on_timeout(tick),
            Message::PrefetchDone(line, number, came) if line == self.epoch => {
                self.on_prefetch_done(number, came);
            }
            Message::PrefetchDone(..) => {}
            Message::Reply(_, reply) => {
                self.remove_live_call(&reply);
                if let Ok(events) = self.engine.decide(&Input::Reply(reply)) {
                    self.commit(events);
                    self.advance();
                }
            }
        }
    }

    /// Carries a command out; the number of the last event when it returns.
    pub(super) fn run_command(&mut self, command: &Command) -> Result<Seq, CommandError> {
        if matches!(command, Command::Close) {
            self.close_prefetches();
        }
        self.reject_secrets(command)?;
        let mut events = self.engine.decide(&Input::Command(command.clone()))?;
        if matches!(command, Command::Close) {
            self.cancel_calls_before_close(&mut events);
        }
        self.record_partial_replies(&mut events);
        // Chosen anew, or brought back by an undo.
        let changed = events.iter().find_map(|(_, event)| match event {
            Event::RunChanged { spec } => Some(spec),
            _ => None,
        });
        if let Some(spec) = changed {
            let launch = self.make_run_config(spec)?;
            launch.record_settings(&mut events);
            self.next_run_config = Some(launch);
        }
        self.commit_and_advance(events)
    }

    /// What a person types is journaled, and a journal is passed on.
    fn reject_secrets(&self, command: &Command) -> Result<(), CommandError> {
        // The names of a run are the command line's: a key that is also a model's name is no key.
        if matches!(command, Command::Start { .. }) {
            return Ok(());
        }
        let text = format!("{command:?}");
        let mut asked = std::iter::once(&self.run_config.actor).chain(&self.run_config.mentor);
        if asked.any(|provider| provider.contains_secret(&text)) {
            return Err(CommandError::new(
                "this text holds the key of a model server, and would be kept in the journal",
                "take the key out of it",
            ));
        }
        Ok(())
    }

    /// Writes what a wish comes to, and goes on as far as that leads; the number of the last event then.
    pub(super) fn commit_and_advance(&mut self, events: Vec<(Cause, Event)>) -> Result<Seq, CommandError> {
        self.commit(events);
        self.advance();
        if !self.unwritten_events.is_empty() {
            let Health::Halted(halt) = self.store.live().health else { return Ok(self.engine.state.head) };
            return Err(CommandError::new(halt.what(), halt.next()));
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

    /// Writes a batch; when the write has returned, applies, shows and acts on it.
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
                    let Some(held) = self.queued_messages.pop_front() else { break };
                    self.handle_message(held);
                }
            }
            Err(error) => self.halt(&error),
        }
    }

    fn acknowledge(&mut self, batch: &[Arc<Envelope>]) {
        let mut must_sync = false;
        for envelope in batch {
            self.note_cache_refresh(&envelope.event);
            self.engine.state.apply(envelope);
            if let Event::RunChanged { .. } = envelope.event
                && let Some(launch) = self.next_run_config.take()
            {
                self.engine.policy = launch.policy.clone();
                self.run_config = launch;
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

    /// Keeps in mind that a call is made again whose answer could not be used. The state is the one before the event.
    fn note_cache_refresh(&mut self, event: &Event) {
        let call = match event {
            Event::PromptSent { prompt } => prompt.call,
            Event::Retried { call: Some(call), reply_source: None } => *call,
            _ => return,
        };
        let mut failed = self.engine.state.failed_calls();
        let answered = |failure: &Failure| failure.kind == Some(FailureKind::Unusable);
        if failed.any(|(effect, failure)| effect.call() == call && answered(failure)) {
            self.calls_to_refresh.insert(call);
        }
    }

    pub(super) fn sync(&mut self) {
        self.last_sync = Instant::now();
        let Err(error) = self.writer.sync() else { return self.keep_meta(false) };
        if matches!(error, JournalError::Changed { .. }) {
            self.halt(&error);
        } else {
            self.store
                .signal(Signal::Notice(format!("{error}; what was written may not survive a power cut")));
        }
    }

    /// Does what an event asks of the outside.
    fn start_effect_of(&mut self, event: &Event) {
        match event {
            Event::Retried { call, .. } => {
                match call.and_then(|c| self.engine.state.calls.get(&c)).cloned() {
                    // A failed world is never stepped again: it is built anew first.
                    Some(Effect::StepWorld { .. }) => self.start_rebuild(),
                    // There is no world to accept: bringing it back is what is tried again.
                    _ if self.pending_requests.has_lost_world => self.start_rebuild(),
                    Some(effect) => self.issue_call(&effect),
                    // The difference is accepted: what waited for it goes on.
                    None => self.issue_all_calls(),
                }
            }
            Event::EpisodeEnded { .. } => {
                self.call_runner.cancel_all();
                self.store.edit_live(|live| live.calls.clear());
            }
            _ => {
                if let Some(effect) = effect_of(event) {
                    self.issue_call(&effect);
                }
            }
        }
    }

    fn issue_call(&mut self, effect: &Effect) {
        // While the world is brought back every call waits; all in flight are made when it stands.
        if self.pending_requests.is_rebuilding && !matches!(effect, Effect::Cancel { .. }) {
            return;
        }
        match effect {
            Effect::ResetWorld { call, task } => {
                self.pending_requests.has_lost_world = false;
                self.send_env_request(
                    EnvRequest::Reset(*call, (**task).clone()),
                    PendingRequest::Call(*call),
                );
            }
            Effect::StepWorld { call, action, list_only: list } => {
                let order = if *list {
                    EnvRequest::AnswerWithList(*call, self.engine.state.unchanged_result())
                } else {
                    EnvRequest::Step(*call, action.clone())
                };
                self.send_env_request(order, PendingRequest::Call(*call));
            }
            Effect::Ask { call, prompt } => self.ask_model(*call, prompt),
            Effect::Cancel { call } => {
                self.call_runner.cancel(*call);
                self.store.edit_live(|live| live.calls.retain(|c| c.call != *call));
            }
        }
    }

    /// Makes all calls in flight (again).
    pub(super) fn issue_all_calls(&mut self) {
        let calls: Vec<Effect> = self.engine.state.calls.values().cloned().collect();
        for effect in &calls {
            self.issue_call(effect);
        }
    }

    /// Sets the timer for what is left of the episode's wall time by now; none runs while the episode stands still.
    fn set_timer(&mut self) {
        if let Some(timer) = self.timer.take() {
            timer.abort();
        }
        let at = wall_clock_now();
        let Some((episode, left)) = self.engine.state.time_left(at) else { return };
        let spent = self.engine.state.clock.elapsed_at(at).saturating_add(left);
        let (inbox, line) = (self.handle.inbox(), self.epoch);
        self.timer = Some(tokio::spawn(async move {
            tokio::time::sleep(left).await;
            let _ = inbox.send(Message::Reply(line, Reply::TimeUp { episode, elapsed: spent }));
        }));
    }

    fn on_delta(&self, call: CallId, delta: Delta) {
        if let Delta::Notice(words) = delta {
            return self.store.signal(Signal::Notice(words));
        }
        self.store.edit_live(|live| {
            let Some(of) = live.calls.iter_mut().find(|c| c.call == call) else { return };
            of.only_keep_alives = matches!(delta, Delta::KeepAlive);
            if !of.only_keep_alives {
                of.last_progress = Instant::now();
            }
            match delta {
                Delta::Phase(phase) => of.phase = phase,
                Delta::Reasoning(piece) => {
                    of.phase = crate::provider::Phase::Reasoning;
                    of.pieces += 1;
                    of.reasoning.push_str(&piece);
                }
                Delta::Text(piece) => {
                    of.phase = crate::provider::Phase::Answering;
                    of.pieces += 1;
                    of.text.push_str(&piece);
                }
                Delta::WasReasoning => {
                    let was = std::mem::take(&mut of.text);
                    of.reasoning.push_str(&was);
                }
                Delta::Restarted => {
                    of.text.clear();
                    of.reasoning.clear();
                }
                Delta::Usage(usage) => of.usage = Some(usage),
                Delta::Truncated(_) | Delta::Notice(_) | Delta::KeepAlive => {}
            }
        });
    }

    fn remove_live_call(&mut self, reply: &Reply) {
        if let Reply::Model { call, .. } | Reply::Failed { call, .. } = reply {
            self.call_runner.forget_call(*call);
            self.store.edit_live(|live| live.calls.retain(|c| c.call != *call));
        }
    }
}

/// Events with their place behind `head`, as one batch.
fn stamp_events(head: Seq, at: Timestamp, events: Vec<(Cause, Event)>) -> Vec<Envelope> {
    let last = events.len().saturating_sub(1);
    let place = |(n, (cause, event))| Envelope {
        seq: Seq(head.0 + 1 + n as u64),
        timestamp: at,
        cause,
        batch_continues: n < last,
        event,
    };
    events.into_iter().enumerate().map(place).collect()
}

/// The time by the wall clock. The one place that reads it for the journal. The last time that can be written, where the clock
/// is beyond that: no session starts and no lesson is written then ([`clock_is_sound`]).
pub fn wall_clock_now() -> Timestamp {
    to_timestamp(SystemTime::now()).unwrap_or(Timestamp::MAX)
}

/// Whether the wall clock shows a time that can be written to a journal.
///
/// # Errors
/// The reason in words.
pub fn check_clock() -> Result<(), DriverError> {
    to_timestamp(SystemTime::now()).map(drop)
}

fn to_timestamp(at: SystemTime) -> Result<Timestamp, DriverError> {
    Timestamp::try_from(at).map_err(|error| {
        DriverError::Refused(
            format!("the system clock shows a time that cannot be written down: {error}"),
            "set the clock of this machine; times up to 9999-12-30 can be written".to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{SystemTime, to_timestamp};
    use std::time::Duration;

    /// Reading such a clock was a panic.
    #[test]
    fn a_clock_at_the_end_of_the_year_9999_is_an_error() {
        let end_of_9999 = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_799);
        let refused = to_timestamp(end_of_9999).unwrap_err().to_string();
        assert!(refused.contains("the system clock") && refused.contains("set the clock"), "{refused}");
        assert!(to_timestamp(SystemTime::UNIX_EPOCH).is_ok());
    }
}
