//! Requests to the environment: which are pending, how long the environment may take, and how it is restored.
//!
//! An environment handles one request at a time, so one timer is enough: it runs for the first pending request. When
//! it expires, the environment is abandoned together with its thread, the processes it has started are killed, its later
//! answers are ignored, and a new one takes its place.

use super::env_messages::{EnvAnswer, EnvRequest, EnvResponse, RebuildResult};
use super::env_worker::{EnvWorker, failed_call_reply};
use super::past_query::{PastHint, PastQuery, PastQuestion};
use super::pending_requests::{PendingRequest, TimedRequest};
use super::snapshot_cache::{RebuildError, RebuildPlan};
use super::store::{EnvWorkKind, LiveEnvWork};
use super::{Driver, Message, Signal, worlds};
use crate::engine::{Cause, Effect, Event};
use crate::env::{EnvError, TimeLimits};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::oneshot;

pub(super) const NOT_OPEN: &str =
    "the environment isn't open, because it failed; a retry or the next action opens it again";
const LISTING_CHANGED_WORLD: &str = "listing the actions changed the environment; it is rebuilt as it was before, and compared with the journal";

impl Driver {
    /// Sends a request. Its timer starts when the requests before it have been answered.
    pub(super) fn send_env_request(&mut self, request: EnvRequest, pending: PendingRequest) {
        let limits = self.deadlines_of(&request);
        let deadline = match &request {
            EnvRequest::Reset(..) | EnvRequest::Rebuild(_) => limits.open,
            EnvRequest::Step { .. } | EnvRequest::Lookahead { list: None, .. } => limits.step,
            EnvRequest::AnswerWithList(..)
            | EnvRequest::Admissible
            | EnvRequest::Barrier
            | EnvRequest::Hint
            | EnvRequest::Lookahead { list: Some(_), .. } => limits.list,
        };
        self.env_worker.send(request);
        self.pending_requests.queue.push_back(TimedRequest { request: pending, deadline, limits });
        if self.pending_requests.queue.len() == 1 {
            self.start_timeout();
            self.show_first_request();
        }
    }

    /// Shows what the environment is doing, and since when.
    fn show_first_request(&self) {
        let kind = match self.pending_requests.queue.front().map(|first| &first.request) {
            Some(PendingRequest::Call(_)) => Some(EnvWorkKind::Call),
            Some(PendingRequest::Rebuild(_)) => Some(EnvWorkKind::Rebuild),
            _ => None,
        };
        let work = kind.map(|kind| LiveEnvWork { kind, started: Instant::now() });
        self.store.edit_live(|live| live.env_work = work);
    }

    fn deadlines_of(&self, request: &EnvRequest) -> TimeLimits {
        let task = match request {
            EnvRequest::Reset(_, task, _) => Some(task),
            EnvRequest::Rebuild(plan) => Some(&plan.task),
            _ => self.engine.state.episode.as_ref().map(|episode| &episode.task),
        };
        // Without a task no environment is open, and the worker says so at once.
        task.map_or(TimeLimits::uniform(worlds::DEFAULT_DEADLINE), |task| {
            (self.run_config.answer_deadlines)(task)
        })
    }

    /// Sends a barrier: it is answered after every earlier request.
    pub(super) fn request_idle_signal(&mut self, reply_to: oneshot::Sender<()>) {
        self.send_env_request(EnvRequest::Barrier, PendingRequest::Barrier(reply_to));
    }

    /// Asks the environment for its admissible actions, for a person.
    pub(super) fn request_actions(&mut self, reply_to: oneshot::Sender<Vec<String>>) {
        self.send_env_request(EnvRequest::Admissible, PendingRequest::ListForPerson(reply_to));
    }

    /// Asks a copy of the environment for the admissible actions, for a person: listing them would change the run's.
    fn list_in_copy(&mut self, reply_to: oneshot::Sender<Vec<String>>) {
        let (sender, receiver) = oneshot::channel();
        self.ask_copy(PastQuestion::Actions(sender));
        let store = self.store.clone();
        tokio::spawn(async move {
            let actions = receiver.await.unwrap_or_else(|_| Err("a newer request took its place".to_owned()));
            // The receiver may be gone.
            let _ = reply_to.send(actions.unwrap_or_else(|why| {
                store.signal(Signal::Notice(format!("the actions can't be listed: {why}")));
                Vec::new()
            }));
        });
    }

    /// Asks a copy of the environment at the present point.
    fn ask_copy(&mut self, question: PastQuestion) {
        let state = self.engine.state.clone();
        let query = PastQuery {
            seq: state.head,
            load_state: Box::new(move |_| Ok(Arc::new(state))),
            report: Box::new(|_, _| Ok(())),
        };
        self.submit_past_query(query, question);
    }

    /// Asks a copy of the environment at the point of the query.
    pub(super) fn submit_past_query(&mut self, query: PastQuery, question: PastQuestion) {
        let config = &self.run_config;
        let (open_world, deadlines) = (config.open_world.clone(), config.answer_deadlines.clone());
        self.past_queries.submit(open_world, deadlines, query, question);
    }

    /// Asks the environment for a hint towards the goal, for a person.
    pub(super) fn request_hint(&mut self, reply_to: oneshot::Sender<PastHint>) {
        self.send_env_request(EnvRequest::Hint, PendingRequest::HintForPerson(reply_to));
    }

    fn start_timeout(&mut self) {
        self.pending_requests.stop_timeout();
        let Some(first) = self.pending_requests.queue.front() else { return };
        let (inbox, tick, deadline) =
            (self.handle.inbox(), self.pending_requests.timeout_number, first.deadline);
        self.pending_requests.timeout = Some(tokio::spawn(async move {
            tokio::time::sleep(deadline).await;
            let _ = inbox.send(Message::TimedOut(tick));
        }));
    }

    /// Handles an answer. Ignores the answers of an abandoned environment, even if the same call is in flight again.
    pub(super) fn on_response(&mut self, response: EnvResponse) {
        if response.worker_number != self.pending_requests.worker_number {
            return;
        }
        let had_lost_world = self.pending_requests.has_lost_world;
        self.pending_requests.has_lost_world |= response.has_lost_world;
        // What was asked of no environment says only that there is none.
        let why = |error: EnvError| if had_lost_world { NOT_OPEN.to_owned() } else { error.to_string() };
        let Some(first) = self.pending_requests.queue.front_mut() else { return };
        let is_awaited = match (&first.request, &response.answer) {
            (_, EnvAnswer::Replaying) => {
                first.deadline = first.limits.step;
                return self.start_timeout();
            }
            (PendingRequest::Call(expected), EnvAnswer::Reply(call, _)) => expected == call,
            (PendingRequest::Rebuild(number), EnvAnswer::Rebuilt(rebuilt)) => *number == rebuilt.number,
            (PendingRequest::Lookahead(expected), EnvAnswer::Lookahead(number, _)) => expected == number,
            (PendingRequest::ListForPerson(_), EnvAnswer::Actions(_) | EnvAnswer::ListElsewhere)
            | (PendingRequest::HintForPerson(_), EnvAnswer::Hint(_) | EnvAnswer::HintElsewhere)
            | (PendingRequest::Barrier(_), EnvAnswer::BarrierReached)
            | (PendingRequest::Stale, _) => true,
            _ => false,
        };
        if !is_awaited {
            return;
        }
        let request = self.pending_requests.queue.pop_front().map(|first| first.request);
        self.start_timeout();
        self.show_first_request();
        match (request, response.answer) {
            (Some(PendingRequest::Call(_)), EnvAnswer::Reply(_, reply)) => {
                self.handle_message(Message::Reply(self.epoch, reply));
            }
            (Some(PendingRequest::Rebuild(_)), EnvAnswer::Rebuilt(rebuilt)) => {
                self.handle_message(Message::Rebuilt(rebuilt));
            }
            (Some(PendingRequest::ListForPerson(reply_to)), EnvAnswer::Actions(actions)) => {
                if actions.is_ok() && response.has_lost_world {
                    self.store.signal(Signal::Notice(LISTING_CHANGED_WORLD.to_owned()));
                }
                let actions = actions.unwrap_or_else(|error| {
                    self.report_failed_list(&why(error));
                    Vec::new()
                });
                // The receiver may be gone.
                let _ = reply_to.send(actions);
                self.restore_if_lost(response.has_lost_world);
            }
            (Some(PendingRequest::ListForPerson(reply_to)), EnvAnswer::ListElsewhere) => {
                self.list_in_copy(reply_to);
            }
            (Some(PendingRequest::HintForPerson(reply_to)), EnvAnswer::Hint(hint)) => {
                let _ = reply_to.send(hint.map_err(why));
                self.restore_if_lost(response.has_lost_world);
            }
            (Some(PendingRequest::HintForPerson(reply_to)), EnvAnswer::HintElsewhere) => {
                self.ask_copy(PastQuestion::Hint(reply_to));
            }
            (Some(PendingRequest::Barrier(reply_to)), EnvAnswer::BarrierReached) => {
                // The receiver may be gone.
                let _ = reply_to.send(());
            }
            (Some(PendingRequest::Lookahead(_)), EnvAnswer::Lookahead(number, found)) => {
                self.on_lookahead_answer(number, found);
                self.restore_if_lost(response.has_lost_world);
            }
            _ => {}
        }
    }

    /// Restores an environment that failed while no call of the engine, which a person would retry, waited for it.
    fn restore_if_lost(&mut self, has_lost_world: bool) {
        if !has_lost_world {
            return;
        }
        // Calls that were sent meanwhile find no environment; they are made again afterwards.
        for pending in &mut self.pending_requests.queue {
            if matches!(pending.request, PendingRequest::Call(_)) {
                pending.request = PendingRequest::Stale;
            }
        }
        self.start_rebuild();
    }

    /// Tells the person who asked for the actions why there is no list.
    fn report_failed_list(&self, why: &str) {
        self.store.signal(Signal::Notice(format!("the actions can't be listed: {why}")));
    }

    /// Handles a timeout of the first pending request. Reports it to the sender, and repeats the requests that were
    /// only queued behind it.
    pub(super) fn on_timeout(&mut self, tick: u64) {
        if tick != self.pending_requests.timeout_number {
            return;
        }
        self.pending_requests.stop_timeout();
        let mut queue = std::mem::take(&mut self.pending_requests.queue);
        self.show_first_request();
        match EnvWorker::start_after(
            self.env_worker.printed_text(),
            self.pending_requests.worker_number + 1,
            self.run_config.open_world.clone(),
            self.handle.inbox(),
        ) {
            Ok(worker) => {
                self.pending_requests.worker_number += 1;
                self.env_worker = worker;
            }
            Err(error) => self
                .store
                .signal(Signal::Notice(format!("no thread for a new environment could be started: {error}"))),
        }
        self.pending_requests.has_lost_world = true;
        let Some(TimedRequest { request, deadline, .. }) = queue.pop_front() else { return };
        let timeout = EnvError::timed_out(deadline);
        match request {
            PendingRequest::Call(call) if self.engine.state.calls.contains_key(&call) => {
                self.handle_message(Message::Reply(self.epoch, failed_call_reply(call, &timeout)));
                if self.pending_requests.is_rebuilding {
                    self.start_rebuild();
                }
            }
            PendingRequest::Rebuild(number)
                if number == self.pending_requests.last_rebuild && self.pending_requests.is_rebuilding =>
            {
                let outcome = Err(RebuildError::Failed(timeout));
                self.on_rebuilt(RebuildResult { number, outcome, has_world: false });
            }
            request => {
                match request {
                    PendingRequest::ListForPerson(_) => self.report_failed_list(&timeout.to_string()),
                    // The receiver may be gone.
                    PendingRequest::HintForPerson(reply_to) => {
                        let _ = reply_to.send(Err(timeout.to_string()));
                    }
                    _ => {}
                }
                self.start_rebuild();
            }
        }
        // Barriers are answered, and lists (as empty), only once the consequences of the timeout have been journaled.
        drop(queue);
    }

    /// Restores the environment of the open episode to its recorded position. The calls in flight wait for it.
    pub(super) fn start_rebuild(&mut self) {
        self.pending_requests.has_lost_world = false;
        let plan = RebuildPlan::of_open_episode(&self.engine.state, self.pending_requests.last_rebuild + 1);
        let Some(plan) = plan else {
            self.pending_requests.is_rebuilding = false;
            return self.issue_all_calls();
        };
        self.pending_requests.last_rebuild = plan.number;
        self.pending_requests.is_rebuilding = true;
        let number = plan.number;
        self.send_env_request(EnvRequest::Rebuild(plan), PendingRequest::Rebuild(number));
    }

    /// Handles the end of a rebuild. Only the last one requested counts. A difference must be decided on before any
    /// call is made. Without an environment the calls that need it fail, and the next one tries again.
    pub(super) fn on_rebuilt(&mut self, rebuilt: RebuildResult) {
        if rebuilt.number != self.pending_requests.last_rebuild || !self.pending_requests.is_rebuilding {
            return;
        }
        self.pending_requests.is_rebuilding = false;
        self.pending_requests.has_lost_world = !rebuilt.has_world;
        match rebuilt.outcome {
            // It answers as recorded again, so there is nothing to decide on. Earlier versions also journaled a
            // difference if it could not be opened.
            Ok(()) if self.engine.state.divergence.is_some() => {
                let settled = Event::Retried { call: None, reply_source: None };
                self.commit(vec![(Cause::World, settled)]);
                return self.advance();
            }
            Ok(()) => {}
            Err(RebuildError::Differs(difference)) => {
                self.handle_message(Message::Reply(self.epoch, *difference));
            }
            Err(RebuildError::Failed(error)) => return self.go_on_without_world(&error),
        }
        // A difference of an episode that has ended meanwhile no longer matters.
        if self.engine.state.divergence.is_none() {
            self.issue_all_calls();
        }
    }

    /// Fails the calls in flight that need the environment, or tells the person if there are none, and makes the others.
    fn go_on_without_world(&mut self, error: &EnvError) {
        let calls: Vec<Effect> = self.engine.state.calls.values().cloned().collect();
        let (failing, others): (Vec<_>, Vec<_>) = calls.iter().partition(|effect| effect.is_of_environment());
        if failing.is_empty() {
            let text = format!("the environment can't be restored: {error}; the next action tries again");
            self.store.signal(Signal::Notice(text));
        }
        for effect in others {
            self.issue_call(effect);
        }
        for effect in failing {
            self.handle_message(Message::Reply(self.epoch, failed_call_reply(effect.call(), error)));
        }
    }
}
