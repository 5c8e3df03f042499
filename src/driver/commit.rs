//! From input to acknowledged event: decide, write, apply, show, act.

use super::env_requests::Awaited;
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
    pub(super) fn take(&mut self, message: Message) {
        self.take_in(message);
        self.look_ahead();
        self.write_ahead();
    }

    fn take_in(&mut self, message: Message) {
        match message {
            Message::Delta(line, call, delta, _) if line == self.line => self.delta(call, delta),
            // Of a line that was left.
            Message::Delta(..) => {}
            Message::Reply(line, _) if line != self.line => {}
            Message::Admissible(tell) => self.list(tell),
            Message::AdmissibleThen(then, tell) => {
                self.thens.ask(self.launch.open.clone(), self.launch.deadline, then, tell);
            }
            Message::Hint(tell) => self.hint(tell),
            Message::World(told) => self.on_response(told),
            Message::RetryWrite => self.retry_write(),
            Message::Quit => {
                // With a failed write there is nothing to close: the session is left as after a crash.
                if !self.is_halted() {
                    let _ = self.command(&Command::Close);
                }
                self.leave_undone(
                    "the session was ended before it",
                    "take the session up again and say it there",
                );
                self.quit = true;
            }
            held if self.is_halted() => self.waiting.push_back(held),
            Message::Fork(fork, tell) => self.answer(tell, |driver| driver.fork(&fork)),
            Message::Switch(to, tell) => self.answer(tell, |driver| driver.switch(&to)),
            Message::Wish(command, tell) => {
                let answer = self.command(&command);
                match (tell, answer) {
                    // Whoever asked may have gone.
                    (Some(tell), answer) => drop(tell.send(answer)),
                    (None, Err(refusal)) => self.store.signal(Signal::Refused(refusal)),
                    (None, Ok(_)) => {}
                }
            }
            Message::Rebuilt(rebuilt) => self.rebuilt(rebuilt),
            Message::Late(tick) => self.late(tick),
            Message::HeardAhead(line, number, came) if line == self.line => {
                self.answered_ahead(number, came);
            }
            Message::HeardAhead(..) => {}
            Message::Reply(_, reply) => {
                self.settle_live(&reply);
                if let Ok(events) = self.engine.decide(&Input::Reply(reply)) {
                    self.commit(events);
                    self.advance();
                }
            }
        }
    }

    /// Carries a command out; the number of the last event when it returns.
    pub(super) fn command(&mut self, command: &Command) -> Result<Seq, CommandError> {
        if matches!(command, Command::Close) {
            self.close_ahead();
        }
        self.refuse_secrets(command)?;
        let mut events = self.engine.decide(&Input::Command(command.clone()))?;
        if matches!(command, Command::Close) {
            self.break_off_before(&mut events);
        }
        self.hear_out(&mut events);
        // Chosen anew, or brought back by an undo.
        let changed = events.iter().find_map(|(_, event)| match event {
            Event::RunChanged { spec } => Some(spec),
            _ => None,
        });
        if let Some(spec) = changed {
            let launch = self.outfit(spec)?;
            launch.note_down(&mut events);
            self.outfitted = Some(launch);
        }
        self.carry_out(events)
    }

    /// What a person types is journaled, and a journal is passed on.
    fn refuse_secrets(&self, command: &Command) -> Result<(), CommandError> {
        // The names of a run are the command line's: a key that is also a model's name is no key.
        if matches!(command, Command::Start { .. }) {
            return Ok(());
        }
        let text = format!("{command:?}");
        let mut asked = std::iter::once(&self.launch.actor).chain(&self.launch.mentor);
        if asked.any(|provider| provider.holds_secret(&text)) {
            return Err(CommandError::new(
                "this text holds the key of a model server, and would be kept in the journal",
                "take the key out of it",
            ));
        }
        Ok(())
    }

    /// Writes what a wish comes to, and goes on as far as that leads; the number of the last event then.
    pub(super) fn carry_out(&mut self, events: Vec<(Cause, Event)>) -> Result<Seq, CommandError> {
        self.commit(events);
        self.advance();
        if !self.unwritten.is_empty() {
            let Health::Halted(halt) = self.store.live().health else { return Ok(self.engine.state.head) };
            return Err(CommandError::new(halt.what(), halt.next()));
        }
        if self.writer.unsynced() && self.engine.state.run.is_some() {
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
        let at = now();
        let mut batch = stamped(self.engine.state.head, at, events);
        let hits = self.engine.breakpoint_events(&batch);
        if let Some(last) = batch.last_mut().filter(|_| !hits.is_empty()) {
            last.batch_continues = true;
            let head = last.seq;
            batch.extend(stamped(head, at, hits));
        }
        let written = self.writer.append(&batch);
        let batch: Vec<Arc<Envelope>> = batch.into_iter().map(Arc::new).collect();
        match written {
            Ok(()) => self.acknowledge(&batch),
            Err(error) => {
                self.unwritten = batch;
                self.halt(&error);
            }
        }
    }

    fn retry_write(&mut self) {
        if !self.is_halted() {
            return;
        }
        let retried = if self.unwritten.is_empty() { self.writer.check() } else { self.writer.retry() };
        match retried {
            Ok(()) => {
                let batch = std::mem::take(&mut self.unwritten);
                self.end_halt();
                if !batch.is_empty() {
                    self.acknowledge(&batch);
                }
                self.advance();
                while !self.is_halted() {
                    let Some(held) = self.waiting.pop_front() else { break };
                    self.take(held);
                }
            }
            Err(error) => self.halt(&error),
        }
    }

    fn acknowledge(&mut self, batch: &[Arc<Envelope>]) {
        let mut must_sync = false;
        for envelope in batch {
            self.note_anew(&envelope.event);
            self.engine.state.apply(envelope);
            if let Event::RunChanged { .. } = envelope.event
                && let Some(launch) = self.outfitted.take()
            {
                self.engine.policy = launch.policy.clone();
                self.launch = launch;
            }
            must_sync |= envelope.cause == Cause::Person
                || matches!(
                    envelope.event,
                    Event::Paused { .. } | Event::EpisodeEnded { .. } | Event::Closed
                );
        }
        let after = Arc::new(self.engine.state.clone());
        self.keeper.offer(&after, self.writer.whole());
        self.store.append(batch.iter().cloned(), after);
        if must_sync || self.last_sync.elapsed() >= Duration::from_secs(1) {
            self.sync();
        }
        self.set_timer();
        for envelope in batch {
            self.drop_shadow(&envelope.event);
            self.act(&envelope.event);
        }
    }

    /// Keeps in mind that a call is made again whose answer could not be used. The state is the one before the event.
    fn note_anew(&mut self, event: &Event) {
        let call = match event {
            Event::PromptSent { prompt } => prompt.call,
            Event::Retried { call: Some(call), reply_source: None } => *call,
            _ => return,
        };
        let mut failed = self.engine.state.failed_calls();
        let answered = |failure: &Failure| failure.kind == Some(FailureKind::Unusable);
        if failed.any(|(effect, failure)| effect.call() == call && answered(failure)) {
            self.anew.insert(call);
        }
    }

    pub(super) fn sync(&mut self) {
        self.last_sync = Instant::now();
        let Err(error) = self.writer.sync() else { return self.keep_meta(false) };
        if matches!(error, JournalError::Changed { .. }) {
            self.halt(&error);
        } else {
            self.store.signal(Signal::Said(format!("{error}; what was written may not survive a power cut")));
        }
    }

    /// Does what an event asks of the outside.
    fn act(&mut self, event: &Event) {
        match event {
            Event::Retried { call, .. } => {
                match call.and_then(|c| self.engine.state.calls.get(&c)).cloned() {
                    // A failed world is never stepped again: it is built anew first.
                    Some(Effect::StepWorld { .. }) => self.rebuild(),
                    // There is no world to accept: bringing it back is what is tried again.
                    _ if self.orders.lost => self.rebuild(),
                    Some(effect) => self.issue(&effect),
                    // The difference is accepted: what waited for it goes on.
                    None => self.issue_all(),
                }
            }
            Event::EpisodeEnded { .. } => {
                self.runner.cancel_all();
                self.store.edit_live(|live| live.calls.clear());
            }
            _ => {
                if let Some(effect) = effect_of(event) {
                    self.issue(&effect);
                }
            }
        }
    }

    fn issue(&mut self, effect: &Effect) {
        // While the world is brought back every call waits; all in flight are made when it stands.
        if self.orders.rebuilding && !matches!(effect, Effect::Cancel { .. }) {
            return;
        }
        match effect {
            Effect::ResetWorld { call, task } => {
                self.orders.lost = false;
                self.order(EnvRequest::Reset(*call, (**task).clone()), Awaited::Call(*call));
            }
            Effect::StepWorld { call, action, list_only: list } => {
                let order = if *list {
                    EnvRequest::List(*call, self.engine.state.unchanged_result())
                } else {
                    EnvRequest::Step(*call, action.clone())
                };
                self.order(order, Awaited::Call(*call));
            }
            Effect::Ask { call, prompt } => self.ask(*call, prompt),
            Effect::Cancel { call } => {
                self.runner.cancel(*call);
                self.store.edit_live(|live| live.calls.retain(|c| c.call != *call));
            }
        }
    }

    /// Makes all calls in flight (again).
    pub(super) fn issue_all(&mut self) {
        let calls: Vec<Effect> = self.engine.state.calls.values().cloned().collect();
        for effect in &calls {
            self.issue(effect);
        }
    }

    /// Sets the timer for what is left of the episode's wall time by now; none runs while the episode stands still.
    fn set_timer(&mut self) {
        if let Some(timer) = self.timer.take() {
            timer.abort();
        }
        let at = now();
        let Some((episode, left)) = self.engine.state.time_left(at) else { return };
        let spent = self.engine.state.clock.elapsed_at(at).saturating_add(left);
        let (inbox, line) = (self.handle.inbox(), self.line);
        self.timer = Some(tokio::spawn(async move {
            tokio::time::sleep(left).await;
            let _ = inbox.send(Message::Reply(line, Reply::TimeUp { episode, elapsed: spent }));
        }));
    }

    fn delta(&self, call: CallId, delta: Delta) {
        if let Delta::Notice(words) = delta {
            return self.store.signal(Signal::Said(words));
        }
        self.store.edit_live(|live| {
            let Some(of) = live.calls.iter_mut().find(|c| c.call == call) else { return };
            of.alive = matches!(delta, Delta::Alive);
            if !of.alive {
                of.moved = Instant::now();
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
                Delta::Anew => {
                    of.text.clear();
                    of.reasoning.clear();
                }
                Delta::Usage(usage) => of.usage = Some(usage),
                Delta::Truncated(_) | Delta::Notice(_) | Delta::Alive => {}
            }
        });
    }

    fn settle_live(&mut self, reply: &Reply) {
        if let Reply::Model { call, .. } | Reply::Failed { call, .. } = reply {
            self.runner.answered(*call);
            self.store.edit_live(|live| live.calls.retain(|c| c.call != *call));
        }
    }
}

/// Events with their place behind `head`, as one batch.
fn stamped(head: Seq, at: Timestamp, events: Vec<(Cause, Event)>) -> Vec<Envelope> {
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
pub fn now() -> Timestamp {
    stamp(SystemTime::now()).unwrap_or(Timestamp::MAX)
}

/// Whether the wall clock shows a time that can be written to a journal.
///
/// # Errors
/// The reason in words.
pub fn clock_is_sound() -> Result<(), DriverError> {
    stamp(SystemTime::now()).map(drop)
}

fn stamp(at: SystemTime) -> Result<Timestamp, DriverError> {
    Timestamp::try_from(at).map_err(|error| {
        DriverError::Refused(
            format!("the system clock shows a time that cannot be written down: {error}"),
            "set the clock of this machine; times up to 9999-12-30 can be written".to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{SystemTime, stamp};
    use std::time::Duration;

    /// Reading such a clock was a panic.
    #[test]
    fn a_clock_at_the_end_of_the_year_9999_is_an_error() {
        let end_of_9999 = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_799);
        let refused = stamp(end_of_9999).unwrap_err().to_string();
        assert!(refused.contains("the system clock") && refused.contains("set the clock"), "{refused}");
        assert!(stamp(SystemTime::UNIX_EPOCH).is_ok());
    }
}
