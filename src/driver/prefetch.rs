//! Asking ahead: while a person reads a proposal, a shadow of the world takes it and the question that would follow is
//! asked already. The run knows nothing of it. Its events are the same with and without, but for the times and for those that
//! say what was asked ahead ([`Event::PrefetchChanged`]), for money that is spent is not forgotten with the program: what was asked
//! ahead is taken only for exactly the question that is then asked, and a question that is asked after all costs once.
//!
//! The shadow is a copy of the state that is driven by the same pure engine; its events are written nowhere. A world that
//! takes snapshots is set back after the step; others are not asked ahead for. Answers must be kept (`--cache read-write`),
//! so that what was asked for nothing is at least known.

mod prefetch_call;

pub(super) use prefetch_call::PrefetchCall;

use super::env_requests::PendingRequest;
use super::env_worker::EnvRequest;
use super::request::build_request;
use super::{Driver, Message, Signal, wall_clock_now};
use crate::domain::{Autonomy, CallId, ModelRole, PromptRecord, Seq, StepResult, Usage};
use crate::engine::{Command, Effect, Engine, Envelope, Event, Input, Prefetch, PrefetchStatus, Reply};
use crate::provider::Request;
use std::collections::VecDeque;
use std::sync::Arc;

/// Rounds of the shadow's engine at most; a proposal needs a handful.
const MAX_ROUNDS: usize = 64;

/// The shadow of the run.
#[derive(Default)]
pub(super) struct Prefetcher {
    /// The last event before which the present was looked ahead from.
    start_seq: Option<Seq>,
    lookahead_number: u64,
    lookahead: Option<(u64, Engine, CallId)>,
    early: Vec<PrefetchCall>,
    /// The number of the last question.
    last_call_number: u64,
    /// What is to be written of them when the driver rests.
    unwritten_records: VecDeque<Prefetch>,
    has_warned: bool,
}

impl Driver {
    /// Looks ahead of a proposal that a person reads, where that is wanted and was not done yet.
    pub(super) fn start_lookahead(&mut self) {
        let state = &self.engine.state;
        let reads = state.is_waiting()
            && state.failed_call.is_none()
            && state.divergence.is_none()
            && state.autonomy != Autonomy::Human
            && state
                .step_awaiting_decision()
                .is_some_and(|s| !s.approved && s.call.is_some() && s.executed.is_none());
        if !self.run_config.prefetch
            || !reads
            || self.pending_requests.is_rebuilding
            || self.prefetcher.start_seq == Some(state.head)
        {
            return;
        }
        self.prefetcher.start_seq = Some(state.head);
        let keeps = |asked| match asked {
            ModelRole::Actor => self.run_config.actor.has_write_cache(),
            ModelRole::Mentor => self.run_config.mentor.as_ref().is_some_and(|m| m.has_write_cache()),
        };
        if !keeps(ModelRole::Actor) {
            let words = "nothing is asked ahead (--prefetch): the actor's answers are not kept; that needs a model \
                         server and --cache read-write";
            return self.warn_no_prefetch(words);
        }
        self.prefetcher.lookahead_number += 1;
        let engine = Engine::resume(state.clone(), self.engine.policy.clone(), self.engine.branch.clone());
        self.advance_lookahead(self.prefetcher.lookahead_number, engine, Some(Input::Command(Command::Step)));
    }

    fn warn_no_prefetch(&mut self, words: &str) {
        if !std::mem::replace(&mut self.prefetcher.has_warned, true) {
            self.store.signal(Signal::Notice(words.to_owned()));
        }
    }

    /// Drives the shadow until it waits for the world or for models.
    fn advance_lookahead(&mut self, number: u64, mut engine: Engine, input: Option<Input>) {
        if let Some(input) = input {
            let Ok(events) = engine.decide(&input) else { return };
            apply_events(&mut engine, events);
        }
        for _ in 0..MAX_ROUNDS {
            let events = engine.advance();
            if events.is_empty() {
                break;
            }
            apply_events(&mut engine, events);
        }
        // What begins a new episode is a matter of that one.
        if engine.state.calls.values().any(|c| matches!(c, Effect::ResetWorld { .. })) {
            return self.drop_prefetches(|_| true);
        }
        let step = engine.state.calls.values().find_map(|effect| match effect {
            Effect::StepWorld { call, action, list_only: list } => Some((*call, action.clone(), *list)),
            _ => None,
        });
        if let Some((call, action, list)) = step {
            let standing = engine.state.unchanged_result();
            self.prefetcher.lookahead = Some((number, engine, call));
            let order = EnvRequest::Lookahead { number, action, list: list.then_some(standing) };
            return self.send_env_request(order, PendingRequest::Lookahead(number));
        }
        self.send_prefetches(&engine);
    }

    /// The shadow of the world has answered; none: it takes no snapshot, or it failed.
    pub(super) fn on_lookahead_answer(&mut self, number: u64, answer: Option<(StepResult, Vec<String>)>) {
        let Some((_, engine, call)) = self.prefetcher.lookahead.take_if(|s| s.0 == number) else { return };
        let Some((turn, admissible)) = answer else {
            let words = "nothing is asked ahead (--prefetch): this world takes no snapshots that it can be set back to";
            return self.warn_no_prefetch(words);
        };
        // Whatever has happened meanwhile, the shadow is of another present now.
        if self.prefetcher.start_seq != Some(self.engine.state.head)
            || number != self.prefetcher.lookahead_number
        {
            return;
        }
        let reply = Reply::World { call, result: Box::new(turn), admissible };
        self.advance_lookahead(number, engine, Some(Input::Reply(reply)));
    }

    /// Asks what the shadow would ask; what is under way already is not asked again.
    fn send_prefetches(&mut self, shadow: &Engine) {
        let asks: Vec<Arc<PromptRecord>> = shadow
            .state
            .calls
            .values()
            .filter_map(|c| match c {
                Effect::Ask { prompt, .. } => Some(prompt.clone()),
                _ => None,
            })
            .filter(|prompt| self.check_prompt_size(prompt).is_none())
            .collect();
        let mut wanted = Vec::new();
        for record in asks {
            let provider = match record.role {
                ModelRole::Actor => Some(self.run_config.actor.clone()),
                ModelRole::Mentor => self.run_config.mentor.clone(),
            };
            let Some(provider) = provider.filter(|p| p.has_write_cache()) else { continue };
            let rendered = (self.run_config.render_prompt)(&shadow.state, &record);
            let accepted = shadow.state.setting_flag("accept_truncated", false);
            wanted.push((provider, build_request(&record, rendered, accepted)));
        }
        self.drop_prefetches(|early| !wanted.iter().any(|(_, request)| early.is_same_request(request)));
        for (provider, request) in wanted {
            if self.prefetcher.early.iter().any(|early| early.is_same_request(&request)) {
                continue;
            }
            let number = self.prefetcher.last_call_number.max(self.engine.state.usage.prefetch.requested) + 1;
            self.prefetcher.last_call_number = number;
            let (inbox, line) = (self.handle.inbox(), self.epoch);
            let over = move |came| drop(inbox.send(Message::PrefetchDone(line, number, came)));
            self.prefetcher.early.push(PrefetchCall::start(
                self.call_runner.thread(),
                &provider,
                request,
                number,
                over,
            ));
            self.record_prefetch(self.prefetcher.early.len() - 1, PrefetchStatus::Requested, None);
        }
    }

    /// The answer that was asked for ahead, where it is to this very question and has not failed.
    pub(super) fn take_prefetch(&mut self, request: &Request) -> Option<PrefetchCall> {
        let place = self.prefetcher.early.iter().position(|early| early.is_same_request(request))?;
        if self.prefetcher.early[place].has_failed() {
            self.drop_prefetch_at(place);
            return None;
        }
        self.record_prefetch(place, PrefetchStatus::Used, Some(request.call));
        Some(self.prefetcher.early.swap_remove(place))
    }

    /// An answer that was asked for ahead is whole: what it costs is known, whether it will be wanted or not. An error: it
    /// failed, and is of no use to anybody, not even to the call that it had been taken for, which is asked anew.
    pub(super) fn on_prefetch_done(&mut self, number: u64, came: Result<Usage, Usage>) {
        let place = self.prefetcher.early.iter().position(|early| early.number == number);
        let (place, usage) = match (place, came) {
            (Some(place), Ok(usage)) => (place, usage),
            (Some(place), Err(_)) => return self.drop_prefetch_at(place),
            (None, Ok(_)) => return,
            (None, Err(usage)) => {
                let taken = self.engine.state.prefetched.iter().find(|e| e.number == number).cloned();
                let dropped = taken.map(|taken| Prefetch { status: PrefetchStatus::Dropped, usage, ..taken });
                return self.prefetcher.unwritten_records.extend(dropped);
            }
        };
        let asked = self.prefetcher.early[place].role();
        let told = Prefetch { number, role: asked, status: PrefetchStatus::Answered, call: None, usage };
        self.prefetcher.unwritten_records.push_back(told);
    }

    fn record_prefetch(&mut self, place: usize, now: PrefetchStatus, call: Option<CallId>) {
        let Some(early) = self.prefetcher.early.get(place) else { return };
        let told =
            Prefetch { number: early.number, role: early.role(), status: now, call, usage: early.usage() };
        self.prefetcher.unwritten_records.push_back(told);
    }

    /// Writes what is to be said of questions asked ahead. It makes no other present: nothing is looked ahead from it anew.
    pub(super) fn write_prefetch_records(&mut self) {
        while !self.is_halted()
            && let Some(told) = self.prefetcher.unwritten_records.pop_front()
        {
            let before = self.engine.state.head;
            if let Ok(events) = self.engine.decide(&Input::Reply(Reply::Prefetch(Box::new(told)))) {
                self.commit(events);
            }
            if self.prefetcher.start_seq == Some(before) {
                self.prefetcher.start_seq = Some(self.engine.state.head);
            }
        }
    }

    /// The line is about to be put down: what it asked ahead is settled before it is closed.
    pub(super) fn close_prefetches(&mut self) {
        self.discard_lookahead();
        self.write_prefetch_records();
        // What a failed write keeps from this line is no matter of another one; whoever takes it up counts it.
        self.prefetcher.unwritten_records.clear();
    }

    /// What happened to the proposal: where it is not simply done, nothing of the shadow is of use.
    pub(super) fn discard_lookahead_after(&mut self, event: &Event) {
        // Whoever was asked ahead may not be the one who is asked from now on.
        if matches!(event, Event::RunChanged { .. }) {
            return self.discard_lookahead();
        }
        if matches!(
            event,
            Event::ActionOverridden { .. }
                | Event::ProposalRejected { .. }
                | Event::AskedAgain { .. }
                | Event::EpisodeEnded { .. }
                | Event::Closed
        ) {
            self.prefetcher.lookahead = None;
            self.drop_prefetches(|_| true);
        }
    }

    /// Another line is driven, or another run: what was looked ahead to is not its future.
    pub(super) fn discard_lookahead(&mut self) {
        self.prefetcher.start_seq = None;
        self.prefetcher.lookahead = None;
        self.drop_prefetches(|_| true);
    }

    fn drop_prefetches(&mut self, of_no_use: impl Fn(&PrefetchCall) -> bool) {
        for place in (0..self.prefetcher.early.len()).rev() {
            if of_no_use(&self.prefetcher.early[place]) {
                self.drop_prefetch_at(place);
            }
        }
    }

    fn drop_prefetch_at(&mut self, place: usize) {
        self.record_prefetch(place, PrefetchStatus::Dropped, None);
        self.prefetcher.early.swap_remove(place);
    }
}

/// Folds what the shadow would have written.
fn apply_events(engine: &mut Engine, events: Vec<(crate::engine::Cause, Event)>) {
    let at = wall_clock_now();
    for (cause, event) in events {
        let seq = Seq(engine.state.head.0 + 1);
        engine.state.apply(&Envelope { seq, timestamp: at, cause, batch_continues: false, event });
    }
}
