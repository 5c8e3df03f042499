//! From input to acknowledged event: decide, write, apply, show, act.

use super::host::{Order, Rebuild};
use super::{Driver, Health, Message, Signal};
use crate::domain::{Asked, CallId, Seq, Turn};
use crate::engine::{Cause, Command, Effect, Envelope, Event, Failure, Input, Refusal, Reply, effect_of};
use crate::provider::Delta;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a person at a running session can do about a failed write; stands at the end of [`Health::Halted`].
pub const HALTED_ADVICE: &str =
    "free some space, then retry; nothing goes on until the write succeeds, and nothing is lost";

impl Driver {
    /// Takes one message from the inbox.
    pub(super) fn take(&mut self, message: Message) {
        match message {
            Message::Delta(call, delta) => self.delta(call, delta),
            Message::Admissible(tell) => self.host.order(Order::Admissible(tell)),
            Message::RetryWrite => self.retry_write(),
            Message::Quit => {
                // With a failed write there is nothing to close: the session is left as after a crash.
                if self.unwritten.is_empty() {
                    let _ = self.command(&Command::Close);
                }
                self.quit = true;
            }
            held if !self.unwritten.is_empty() => self.waiting.push_back(held),
            Message::Wish(command, tell) => {
                let answer = self.command(&command);
                match (tell, answer) {
                    // Whoever asked may have gone.
                    (Some(tell), answer) => drop(tell.send(answer)),
                    (None, Err(refusal)) => self.store.signal(Signal::Refused(refusal)),
                    (None, Ok(_)) => {}
                }
            }
            Message::Reply(reply) => {
                self.settle_live(&reply);
                if let Ok(events) = self.engine.decide(&Input::Reply(reply)) {
                    self.commit(events);
                    self.advance();
                }
            }
        }
    }

    /// Carries a command out; the number of the last event when it returns.
    pub(super) fn command(&mut self, command: &Command) -> Result<Seq, Refusal> {
        let events = self.engine.decide(&Input::Command(command.clone()))?;
        self.commit(events);
        self.advance();
        if self.writer.unsynced() && self.engine.state.run.is_some() {
            self.sync();
        }
        Ok(self.engine.state.head)
    }

    fn advance(&mut self) {
        while self.unwritten.is_empty() {
            let events = self.engine.advance();
            if events.is_empty() {
                break;
            }
            self.commit(events);
        }
    }

    /// Writes a batch; when the write has returned, applies, shows and acts on it.
    fn commit(&mut self, events: Vec<(Cause, Event)>) {
        if events.is_empty() {
            return;
        }
        let last = events.len() - 1;
        let head = self.engine.state.head.0;
        let at = now();
        let batch: Vec<Envelope> = events
            .into_iter()
            .enumerate()
            .map(|(n, (cause, event))| Envelope {
                seq: Seq(head + 1 + n as u64),
                at,
                cause,
                more: n < last,
                event,
            })
            .collect();
        let written = self.writer.append(&batch);
        let batch: Vec<Arc<Envelope>> = batch.into_iter().map(Arc::new).collect();
        match written {
            Ok(()) => self.acknowledge(&batch),
            Err(error) => {
                self.unwritten = batch;
                self.store
                    .edit_live(|live| live.health = Health::Halted(format!("{error}; {HALTED_ADVICE}")));
            }
        }
    }

    fn retry_write(&mut self) {
        if self.unwritten.is_empty() {
            return;
        }
        match self.writer.retry() {
            Ok(()) => {
                let batch = std::mem::take(&mut self.unwritten);
                self.store.edit_live(|live| live.health = Health::Running);
                self.acknowledge(&batch);
                self.advance();
                while self.unwritten.is_empty() {
                    let Some(held) = self.waiting.pop_front() else { break };
                    self.take(held);
                }
            }
            Err(error) => self.store.edit_live(|live| {
                live.health =
                    Health::Halted(format!("still not written: {error}; free some space, then retry"));
            }),
        }
    }

    fn acknowledge(&mut self, batch: &[Arc<Envelope>]) {
        let mut must_sync = false;
        for envelope in batch {
            self.engine.state.apply(envelope);
            must_sync |= envelope.cause == Cause::Person
                || matches!(
                    envelope.event,
                    Event::Paused { .. } | Event::EpisodeEnded { .. } | Event::Closed
                );
        }
        self.store.append(batch.iter().cloned(), Arc::new(self.engine.state.clone()));
        if must_sync || self.last_sync.elapsed() >= Duration::from_secs(1) {
            self.sync();
        }
        for envelope in batch {
            self.act(&envelope.event);
        }
    }

    pub(super) fn sync(&mut self) {
        self.last_sync = Instant::now();
        if let Err(error) = self.writer.sync() {
            self.store.signal(Signal::Said(format!("{error}; what was written may not survive a power cut")));
        }
    }

    /// Does what an event asks of the outside.
    fn act(&mut self, event: &Event) {
        match event {
            Event::Retried { call } => {
                if let Some(effect) = call.and_then(|c| self.engine.state.calls.get(&c)).cloned() {
                    if matches!(effect, Effect::StepWorld { .. }) {
                        // A failed world is never stepped again: it is built anew first.
                        self.rebuild();
                    }
                    self.issue(&effect);
                }
            }
            Event::EpisodeEnded { .. } => {
                self.runner.cancel_all();
                if let Some(timer) = self.timer.take() {
                    timer.abort();
                }
                self.store.edit_live(|live| live.calls.clear());
            }
            Event::EpisodeStarted { episode, .. } => {
                self.start_timer(*episode);
                if let Some(effect) = effect_of(event) {
                    self.issue(&effect);
                }
            }
            _ => {
                if let Some(effect) = effect_of(event) {
                    self.issue(&effect);
                }
            }
        }
    }

    fn issue(&mut self, effect: &Effect) {
        match effect {
            Effect::ResetWorld { call, task } => self.host.order(Order::Reset(*call, (**task).clone())),
            Effect::StepWorld { call, action, list: false } => {
                self.host.order(Order::Step(*call, action.clone()));
            }
            Effect::StepWorld { call, list: true, .. } => {
                self.host.order(Order::List(*call, self.standing_turn()));
            }
            Effect::Ask { call, prompt } => {
                let provider = match prompt.asked {
                    Asked::Actor => Some(self.launch.actor.clone()),
                    Asked::Mentor => self.launch.mentor.clone(),
                };
                let inbox = self.handle.inbox();
                if let Some(provider) = provider {
                    let rendered = (self.launch.render)(&self.engine.state, prompt);
                    self.runner.ask(provider, prompt, rendered, &self.store, inbox);
                } else {
                    let failure = Failure {
                        what: "this run has no mentor to ask".to_owned(),
                        place: "mentor".to_owned(),
                        next: "choose a mentor with --mentor".to_owned(),
                    };
                    // The driver holds a sender itself, so its inbox is open.
                    let _ = inbox.send(Message::Reply(Reply::Failed { call: *call, failure }));
                }
            }
            Effect::Cancel { call } => {
                self.runner.cancel(*call);
                self.store.edit_live(|live| live.calls.retain(|c| c.call != *call));
            }
        }
    }

    /// The world as it stands, for an answer that does not move it.
    fn standing_turn(&self) -> Turn {
        let episode = self.engine.state.episode.as_deref();
        let answer =
            episode.and_then(|e| e.step(e.answered()).and_then(|s| s.answer.as_ref()).or(e.reset.as_ref()));
        Turn {
            progress: answer.map_or(0.0, |a| a.progress),
            reward: answer.map_or(0.0, |a| a.reward),
            done: answer.is_some_and(|a| a.done),
            won: answer.is_some_and(|a| a.won),
            valid: true,
            ..Turn::default()
        }
    }

    /// After a resume: the world is brought back, then the calls in flight are made again.
    pub(super) fn take_up_again(&mut self) {
        self.rebuild();
        if let Some(number) = self.engine.state.open_episode().map(|e| e.number) {
            self.start_timer(number);
        }
        let calls: Vec<Effect> = self.engine.state.calls.values().cloned().collect();
        for effect in &calls {
            self.issue(effect);
        }
    }

    fn rebuild(&mut self) {
        let Some(episode) = self.engine.state.open_episode() else { return };
        let Some(reset) = &episode.reset else { return };
        let taken = episode
            .steps
            .iter()
            .filter_map(|step| {
                let (done, answer) = (step.executed.as_ref()?, step.answer.as_ref()?);
                step.reached_world.then(|| {
                    (
                        step.number,
                        done.sent.clone().unwrap_or_else(|| done.action.clone()),
                        answer.raw.clone(),
                    )
                })
            })
            .collect();
        self.host.order(Order::Rebuild(Rebuild {
            episode: episode.number,
            task: episode.task.clone(),
            first: reset.raw.clone(),
            taken,
        }));
    }

    fn start_timer(&mut self, episode: u32) {
        if let Some(timer) = self.timer.take() {
            timer.abort();
        }
        let Some(seconds) = self.engine.state.run.as_ref().and_then(|r| r.limits.wall_seconds) else {
            return;
        };
        let inbox = self.handle.inbox();
        self.timer = Some(tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            let _ = inbox.send(Message::Reply(Reply::TimeUp { episode }));
        }));
    }

    fn delta(&self, call: CallId, delta: Delta) {
        self.store.edit_live(|live| {
            let Some(of) = live.calls.iter_mut().find(|c| c.call == call) else { return };
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
                Delta::Usage(_) => {}
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

/// The time by the wall clock. The one place that reads it for the journal.
#[expect(clippy::disallowed_methods, reason = "the driver stamps events; nobody else reads the clock")]
pub fn now() -> Timestamp {
    Timestamp::now()
}
