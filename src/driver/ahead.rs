//! Asking ahead: while a person reads a proposal, a shadow of the world takes it and the question that would follow is
//! asked already. The run knows nothing of it. Its events are the same with and without, but for the times and for those that
//! say what was asked ahead ([`Event::PrefetchChanged`]), for money that is spent is not forgotten with the program: what was asked
//! ahead is taken only for exactly the question that is then asked, and a question that is asked after all costs once.
//!
//! The shadow is a copy of the state that is driven by the same pure engine; its events are written nowhere. A world that
//! takes snapshots is set back after the step; others are not asked ahead for. Answers must be kept (`--cache read-write`),
//! so that what was asked for nothing is at least known.

mod early;

pub(super) use early::Early;

use super::env_requests::Awaited;
use super::env_worker::EnvRequest;
use super::request::request;
use super::{Driver, Message, Signal, now};
use crate::domain::{Autonomy, CallId, ModelRole, PromptRecord, Seq, StepResult, Usage};
use crate::engine::{Command, Effect, Engine, Envelope, Event, Input, Prefetch, PrefetchStatus, Reply};
use crate::provider::Request;
use std::collections::VecDeque;
use std::sync::Arc;

/// Rounds of the shadow's engine at most; a proposal needs a handful.
const ROUNDS: usize = 64;

/// The shadow of the run.
#[derive(Default)]
pub(super) struct Ahead {
    /// The last event before which the present was looked ahead from.
    from: Option<Seq>,
    number: u64,
    shadow: Option<(u64, Engine, CallId)>,
    early: Vec<Early>,
    /// The number of the last question.
    last: u64,
    /// What is to be written of them when the driver rests.
    unwritten: VecDeque<Prefetch>,
    told: bool,
}

impl Driver {
    /// Looks ahead of a proposal that a person reads, where that is wanted and was not done yet.
    pub(super) fn look_ahead(&mut self) {
        let state = &self.engine.state;
        let reads = state.is_waiting()
            && state.failed_call.is_none()
            && state.divergence.is_none()
            && state.autonomy != Autonomy::Human
            && state
                .step_awaiting_decision()
                .is_some_and(|s| !s.approved && s.call.is_some() && s.executed.is_none());
        if !self.launch.prefetch || !reads || self.orders.rebuilding || self.ahead.from == Some(state.head) {
            return;
        }
        self.ahead.from = Some(state.head);
        let keeps = |asked| match asked {
            ModelRole::Actor => self.launch.actor.keeps(),
            ModelRole::Mentor => self.launch.mentor.as_ref().is_some_and(|m| m.keeps()),
        };
        if !keeps(ModelRole::Actor) {
            let words = "nothing is asked ahead (--prefetch): the actor's answers are not kept; that needs a model \
                         server and --cache read-write";
            return self.cannot_ask_ahead(words);
        }
        self.ahead.number += 1;
        let engine = Engine::resume(state.clone(), self.engine.policy.clone(), self.engine.branch.clone());
        self.follow_shadow(self.ahead.number, engine, Some(Input::Command(Command::Step)));
    }

    fn cannot_ask_ahead(&mut self, words: &str) {
        if !std::mem::replace(&mut self.ahead.told, true) {
            self.store.signal(Signal::Said(words.to_owned()));
        }
    }

    /// Drives the shadow until it waits for the world or for models.
    fn follow_shadow(&mut self, number: u64, mut engine: Engine, input: Option<Input>) {
        if let Some(input) = input {
            let Ok(events) = engine.decide(&input) else { return };
            fold(&mut engine, events);
        }
        for _ in 0..ROUNDS {
            let events = engine.advance();
            if events.is_empty() {
                break;
            }
            fold(&mut engine, events);
        }
        // What begins a new episode is a matter of that one.
        if engine.state.calls.values().any(|c| matches!(c, Effect::ResetWorld { .. })) {
            return self.drop_early(|_| true);
        }
        let step = engine.state.calls.values().find_map(|effect| match effect {
            Effect::StepWorld { call, action, list_only: list } => Some((*call, action.clone(), *list)),
            _ => None,
        });
        if let Some((call, action, list)) = step {
            let standing = engine.state.unchanged_result();
            self.ahead.shadow = Some((number, engine, call));
            let order = EnvRequest::Ahead { number, action, list: list.then_some(standing) };
            return self.order(order, Awaited::Ahead(number));
        }
        self.ask_ahead(&engine);
    }

    /// The shadow of the world has answered; none: it takes no snapshot, or it failed.
    pub(super) fn heard_ahead(&mut self, number: u64, answer: Option<(StepResult, Vec<String>)>) {
        let Some((_, engine, call)) = self.ahead.shadow.take_if(|s| s.0 == number) else { return };
        let Some((turn, admissible)) = answer else {
            let words = "nothing is asked ahead (--prefetch): this world takes no snapshots that it can be set back to";
            return self.cannot_ask_ahead(words);
        };
        // Whatever has happened meanwhile, the shadow is of another present now.
        if self.ahead.from != Some(self.engine.state.head) || number != self.ahead.number {
            return;
        }
        let reply = Reply::World { call, result: Box::new(turn), admissible };
        self.follow_shadow(number, engine, Some(Input::Reply(reply)));
    }

    /// Asks what the shadow would ask; what is under way already is not asked again.
    fn ask_ahead(&mut self, shadow: &Engine) {
        let asks: Vec<Arc<PromptRecord>> = shadow
            .state
            .calls
            .values()
            .filter_map(|c| match c {
                Effect::Ask { prompt, .. } => Some(prompt.clone()),
                _ => None,
            })
            .filter(|prompt| self.too_long(prompt).is_none())
            .collect();
        let mut wanted = Vec::new();
        for record in asks {
            let provider = match record.role {
                ModelRole::Actor => Some(self.launch.actor.clone()),
                ModelRole::Mentor => self.launch.mentor.clone(),
            };
            let Some(provider) = provider.filter(|p| p.keeps()) else { continue };
            let rendered = (self.launch.render)(&shadow.state, &record);
            let accepted = shadow.state.setting_flag("accept_truncated", false);
            wanted.push((provider, request(&record, rendered, accepted)));
        }
        self.drop_early(|early| !wanted.iter().any(|(_, request)| early.answers(request)));
        for (provider, request) in wanted {
            if self.ahead.early.iter().any(|early| early.answers(&request)) {
                continue;
            }
            let number = self.ahead.last.max(self.engine.state.usage.prefetch.requested) + 1;
            self.ahead.last = number;
            let (inbox, line) = (self.handle.inbox(), self.line);
            let over = move |came| drop(inbox.send(Message::HeardAhead(line, number, came)));
            self.ahead.early.push(Early::begin(self.runner.thread(), &provider, request, number, over));
            self.tell_ahead(self.ahead.early.len() - 1, PrefetchStatus::Requested, None);
        }
    }

    /// The answer that was asked for ahead, where it is to this very question and has not failed.
    pub(super) fn take_early(&mut self, request: &Request) -> Option<Early> {
        let place = self.ahead.early.iter().position(|early| early.answers(request))?;
        if self.ahead.early[place].failed() {
            self.drop_at(place);
            return None;
        }
        self.tell_ahead(place, PrefetchStatus::Used, Some(request.call));
        Some(self.ahead.early.swap_remove(place))
    }

    /// An answer that was asked for ahead is whole: what it costs is known, whether it will be wanted or not. An error: it
    /// failed, and is of no use to anybody, not even to the call that it had been taken for, which is asked anew.
    pub(super) fn answered_ahead(&mut self, number: u64, came: Result<Usage, Usage>) {
        let place = self.ahead.early.iter().position(|early| early.number == number);
        let (place, usage) = match (place, came) {
            (Some(place), Ok(usage)) => (place, usage),
            (Some(place), Err(_)) => return self.drop_at(place),
            (None, Ok(_)) => return,
            (None, Err(usage)) => {
                let taken = self.engine.state.prefetched.iter().find(|e| e.number == number).cloned();
                let dropped = taken.map(|taken| Prefetch { status: PrefetchStatus::Dropped, usage, ..taken });
                return self.ahead.unwritten.extend(dropped);
            }
        };
        let asked = self.ahead.early[place].asked();
        let told = Prefetch { number, role: asked, status: PrefetchStatus::Answered, call: None, usage };
        self.ahead.unwritten.push_back(told);
    }

    fn tell_ahead(&mut self, place: usize, now: PrefetchStatus, call: Option<CallId>) {
        let Some(early) = self.ahead.early.get(place) else { return };
        let told =
            Prefetch { number: early.number, role: early.asked(), status: now, call, usage: early.usage() };
        self.ahead.unwritten.push_back(told);
    }

    /// Writes what is to be said of questions asked ahead. It makes no other present: nothing is looked ahead from it anew.
    pub(super) fn write_ahead(&mut self) {
        while !self.is_halted()
            && let Some(told) = self.ahead.unwritten.pop_front()
        {
            let before = self.engine.state.head;
            if let Ok(events) = self.engine.decide(&Input::Reply(Reply::Prefetch(Box::new(told)))) {
                self.commit(events);
            }
            if self.ahead.from == Some(before) {
                self.ahead.from = Some(self.engine.state.head);
            }
        }
    }

    /// The line is about to be put down: what it asked ahead is settled before it is closed.
    pub(super) fn close_ahead(&mut self) {
        self.forget_ahead();
        self.write_ahead();
        // What a failed write keeps from this line is no matter of another one; whoever takes it up counts it.
        self.ahead.unwritten.clear();
    }

    /// What happened to the proposal: where it is not simply done, nothing of the shadow is of use.
    pub(super) fn drop_shadow(&mut self, event: &Event) {
        // Whoever was asked ahead may not be the one who is asked from now on.
        if matches!(event, Event::RunChanged { .. }) {
            return self.forget_ahead();
        }
        if matches!(
            event,
            Event::ActionOverridden { .. }
                | Event::ProposalRejected { .. }
                | Event::AskedAgain { .. }
                | Event::EpisodeEnded { .. }
                | Event::Closed
        ) {
            self.ahead.shadow = None;
            self.drop_early(|_| true);
        }
    }

    /// Another line is driven, or another run: what was looked ahead to is not its future.
    pub(super) fn forget_ahead(&mut self) {
        self.ahead.from = None;
        self.ahead.shadow = None;
        self.drop_early(|_| true);
    }

    fn drop_early(&mut self, of_no_use: impl Fn(&Early) -> bool) {
        for place in (0..self.ahead.early.len()).rev() {
            if of_no_use(&self.ahead.early[place]) {
                self.drop_at(place);
            }
        }
    }

    fn drop_at(&mut self, place: usize) {
        self.tell_ahead(place, PrefetchStatus::Dropped, None);
        self.ahead.early.swap_remove(place);
    }
}

/// Folds what the shadow would have written.
fn fold(engine: &mut Engine, events: Vec<(crate::engine::Cause, Event)>) {
    let at = now();
    for (cause, event) in events {
        let seq = Seq(engine.state.head.0 + 1);
        engine.state.apply(&Envelope { seq, timestamp: at, cause, batch_continues: false, event });
    }
}
