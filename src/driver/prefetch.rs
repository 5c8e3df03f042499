//! Prefetching: while a person reads a proposal, the driver previews its effect on the environment and already sends
//! the request that would follow. The run is not affected: its events are the same with and without prefetching,
//! except for timestamps and [`Event::PrefetchChanged`], which records prefetches so that their cost survives a crash.
//! A prefetched reply is used only for exactly the request that is then made, so that a request is
//! paid for once.
//!
//! The lookahead is a copy of the state driven by the same pure engine; its events are not written. An environment
//! with snapshots is restored after the step; with other environments nothing is prefetched. Replies must be cached
//! (`--cache read-write`), so that unused prefetches are not lost entirely.

mod prefetch_call;
mod prefetcher;

pub(super) use prefetch_call::PrefetchCall;
pub(super) use prefetcher::Prefetcher;

use super::env_messages::EnvRequest;
use super::pending_requests::PendingRequest;
use super::request::build_request_in;
use super::{Driver, Message, Signal, wall_clock_now};
use crate::domain::{Autonomy, CallId, ModelRole, PromptRecord, Seq, StepResult, Usage};
use crate::engine::{Command, Effect, Engine, Envelope, Event, Input, Prefetch, PrefetchStatus, Reply};
use crate::provider::Request;
use std::sync::Arc;

/// The maximum number of rounds of the lookahead's engine; a proposal needs a handful.
const MAX_ROUNDS: usize = 64;

impl Driver {
    /// Starts a lookahead for a proposal that a person reads, if enabled and not done yet.
    pub(super) fn start_lookahead(&mut self) {
        let state = &self.engine.state;
        let is_reading = state.is_waiting()
            && state.failed_call.is_none()
            && state.divergence.is_none()
            && state.autonomy != Autonomy::Human
            && state
                .step_awaiting_decision()
                .is_some_and(|s| !s.approved && s.call.is_some() && s.executed.is_none());
        if !self.run_config.prefetch
            || !is_reading
            || self.pending_requests.is_rebuilding
            || self.prefetcher.start_seq == Some(state.head)
        {
            return;
        }
        self.prefetcher.start_seq = Some(state.head);
        let has_cache = |role| match role {
            ModelRole::Actor => self.run_config.actor.has_write_cache(),
            ModelRole::Mentor => self.run_config.mentor.as_ref().is_some_and(|m| m.has_write_cache()),
        };
        if !has_cache(ModelRole::Actor) {
            let notice = "--prefetch has no effect: the actor's replies are not cached; it needs a model server and \
                         --cache read-write";
            return self.warn_no_prefetch(notice);
        }
        self.prefetcher.lookahead_number += 1;
        let engine = Engine::resume(state.clone(), self.engine.policy.clone(), self.engine.branch.clone());
        self.advance_lookahead(self.prefetcher.lookahead_number, engine, Some(Input::Command(Command::Step)));
    }

    fn warn_no_prefetch(&mut self, notice: &str) {
        if !std::mem::replace(&mut self.prefetcher.has_warned, true) {
            self.store.signal(Signal::Notice(notice.to_owned()));
        }
    }

    /// Advances the lookahead until it waits for the environment or for models.
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
        // Prefetching ends at the end of an episode.
        if engine.state.calls.values().any(|c| matches!(c, Effect::ResetWorld { .. })) {
            return self.drop_prefetches(|_| true);
        }
        let step = engine.state.calls.values().find_map(|effect| match effect {
            Effect::StepWorld { call, action, admissible_only } => {
                Some((*call, action.clone(), *admissible_only))
            }
            _ => None,
        });
        if let Some((call, action, admissible_only)) = step {
            // The answer if the call only lists the admissible actions: the environment doesn't change.
            let unchanged = engine.state.unchanged_result();
            self.prefetcher.lookahead = Some((number, engine, call));
            let request =
                EnvRequest::Lookahead { number, action, list: admissible_only.then_some(unchanged) };
            return self.send_env_request(request, PendingRequest::Lookahead(number));
        }
        self.send_prefetches(&engine);
    }

    /// Handles the environment's answer to the lookahead. `None` means that it has no snapshots, or that it failed.
    pub(super) fn on_lookahead_answer(&mut self, number: u64, answer: Option<(StepResult, Vec<String>)>) {
        let Some((_, engine, call)) = self.prefetcher.lookahead.take_if(|s| s.0 == number) else { return };
        let Some((result, admissible)) = answer else {
            let notice = "--prefetch has no effect: this environment has no snapshots to return to";
            return self.warn_no_prefetch(notice);
        };
        // After any other event the lookahead belongs to an outdated state.
        if self.prefetcher.start_seq != Some(self.engine.state.head)
            || number != self.prefetcher.lookahead_number
        {
            return;
        }
        let reply = Reply::World { call, result: Box::new(result), admissible };
        self.advance_lookahead(number, engine, Some(Input::Reply(reply)));
    }

    /// Sends the requests that the lookahead would make, except those already in flight.
    fn send_prefetches(&mut self, next: &Engine) {
        let prompts: Vec<Arc<PromptRecord>> = next
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
        for record in prompts {
            let provider = match record.role {
                ModelRole::Actor => Some(self.run_config.actor.clone()),
                ModelRole::Mentor => self.run_config.mentor.clone(),
            };
            let Some(provider) = provider.filter(|p| p.has_write_cache()) else { continue };
            let rendered = (self.run_config.render_prompt)(&next.state, &record);
            wanted.push((provider, build_request_in(&next.state, &record, rendered)));
        }
        self.drop_prefetches(|prefetch| !wanted.iter().any(|(_, request)| prefetch.is_same_request(request)));
        for (provider, request) in wanted {
            if self.prefetcher.prefetches.iter().any(|prefetch| prefetch.is_same_request(&request)) {
                continue;
            }
            let number = self.prefetcher.last_call_number.max(self.engine.state.usage.prefetch.requested) + 1;
            self.prefetcher.last_call_number = number;
            let (inbox, epoch) = (self.handle.inbox(), self.epoch);
            let on_done = move |result| drop(inbox.send(Message::PrefetchDone(epoch, number, result)));
            self.prefetcher.prefetches.push(PrefetchCall::start(
                self.call_runner.thread(),
                &provider,
                request,
                number,
                on_done,
            ));
            self.record_prefetch(self.prefetcher.prefetches.len() - 1, PrefetchStatus::Requested, None);
        }
    }

    /// Removes and returns the prefetched reply to exactly this request, unless it has failed.
    pub(super) fn take_prefetch(&mut self, request: &Request) -> Option<PrefetchCall> {
        let index =
            self.prefetcher.prefetches.iter().position(|prefetch| prefetch.is_same_request(request))?;
        if self.prefetcher.prefetches[index].has_failed() {
            self.drop_prefetch_at(index);
            return None;
        }
        self.record_prefetch(index, PrefetchStatus::Used, Some(request.call));
        Some(self.prefetcher.prefetches.swap_remove(index))
    }

    /// Handles the end of a prefetch. Its cost is known then, whether it will be used or not. A failed
    /// prefetch is discarded; a call that has already taken it is made again.
    pub(super) fn on_prefetch_done(&mut self, number: u64, result: Result<Usage, Usage>) {
        let index = self.prefetcher.prefetches.iter().position(|prefetch| prefetch.number == number);
        let (index, usage) = match (index, result) {
            (Some(index), Ok(usage)) => (index, usage),
            (Some(index), Err(_)) => return self.drop_prefetch_at(index),
            (None, Ok(_)) => return,
            (None, Err(usage)) => {
                let taken = self.engine.state.prefetched.iter().find(|e| e.number == number).cloned();
                let dropped = taken.map(|taken| Prefetch { status: PrefetchStatus::Dropped, usage, ..taken });
                return self.prefetcher.unwritten_records.extend(dropped);
            }
        };
        let role = self.prefetcher.prefetches[index].role();
        let record = Prefetch { number, role, status: PrefetchStatus::Answered, call: None, usage };
        self.prefetcher.unwritten_records.push_back(record);
    }

    fn record_prefetch(&mut self, index: usize, status: PrefetchStatus, call: Option<CallId>) {
        let Some(prefetch) = self.prefetcher.prefetches.get(index) else { return };
        let record = Prefetch {
            number: prefetch.number,
            role: prefetch.role(),
            status,
            call,
            usage: prefetch.usage(),
        };
        self.prefetcher.unwritten_records.push_back(record);
    }

    /// Writes the records of prefetches. This doesn't invalidate the lookahead.
    pub(super) fn write_prefetch_records(&mut self) {
        while !self.is_halted()
            && let Some(record) = self.prefetcher.unwritten_records.pop_front()
        {
            let head_before = self.engine.state.head;
            if let Ok(events) = self.engine.decide(&Input::Reply(Reply::Prefetch(Box::new(record)))) {
                self.commit(events);
            }
            if self.prefetcher.start_seq == Some(head_before) {
                self.prefetcher.start_seq = Some(self.engine.state.head);
            }
        }
    }

    /// Before the branch is closed: drops its prefetches and writes their records.
    pub(super) fn close_prefetches(&mut self) {
        self.discard_lookahead();
        self.write_prefetch_records();
        // Records that could not be written must not be written to another branch. Resuming this branch settles its
        // unsettled prefetches ([`Event::Reopened`]), which counts their cost.
        self.prefetcher.unwritten_records.clear();
    }

    /// Drops the lookahead if the proposal was not simply executed.
    pub(super) fn discard_lookahead_after(&mut self, event: &Event) {
        // The prefetches may be from a provider that is no longer used.
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

    /// Drops the lookahead because another branch or run is active.
    pub(super) fn discard_lookahead(&mut self) {
        self.prefetcher.start_seq = None;
        self.prefetcher.lookahead = None;
        self.drop_prefetches(|_| true);
    }

    fn drop_prefetches(&mut self, is_useless: impl Fn(&PrefetchCall) -> bool) {
        for index in (0..self.prefetcher.prefetches.len()).rev() {
            if is_useless(&self.prefetcher.prefetches[index]) {
                self.drop_prefetch_at(index);
            }
        }
    }

    fn drop_prefetch_at(&mut self, index: usize) {
        self.record_prefetch(index, PrefetchStatus::Dropped, None);
        self.prefetcher.prefetches.swap_remove(index);
    }
}

/// Applies the events of a lookahead without writing them.
fn apply_events(engine: &mut Engine, events: Vec<(crate::engine::Cause, Event)>) {
    let at = wall_clock_now();
    for (cause, event) in events {
        let seq = Seq(engine.state.head.0 + 1);
        engine.state.apply(&Envelope { seq, timestamp: at, cause, batch_continues: false, event });
    }
}
