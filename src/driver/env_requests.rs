//! Requests to the environment: which are pending, how long the environment may take, and how it is restored.
//!
//! An environment handles one request at a time, so one timer is enough: it runs for the first pending request. When
//! it expires, the environment is abandoned together with its thread, its later answers are ignored, and a new one
//! takes its place.

use super::env_messages::{EnvAnswer, EnvRequest, EnvResponse, RebuildResult};
use super::env_worker::{EnvWorker, failed_call_reply};
use super::pending_requests::PendingRequest;
use super::snapshot_cache::RebuildPlan;
use super::{Driver, Message, Signal};
use crate::engine::Reply;
use crate::env::EnvError;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long an environment may take for one answer by default.
pub(super) const DEFAULT_ANSWER_DEADLINE: Duration = Duration::from_secs(60);

impl Driver {
    /// Sends a request. Its timer starts when the requests before it have been answered.
    pub(super) fn send_env_request(&mut self, request: EnvRequest, pending: PendingRequest) {
        self.env_worker.send(request);
        self.pending_requests.queue.push_back(pending);
        if self.pending_requests.queue.len() == 1 {
            self.start_timeout();
        }
    }

    /// Asks the environment for its admissible actions, for a person.
    pub(super) fn request_actions(&mut self, reply_to: oneshot::Sender<Vec<String>>) {
        self.send_env_request(EnvRequest::Admissible, PendingRequest::ListForPerson(reply_to));
    }

    /// Asks the environment for a hint towards the goal, for a person.
    pub(super) fn request_hint(&mut self, reply_to: oneshot::Sender<Option<String>>) {
        self.send_env_request(EnvRequest::Hint, PendingRequest::HintForPerson(reply_to));
    }

    fn start_timeout(&mut self) {
        self.pending_requests.stop_timeout();
        if self.pending_requests.queue.is_empty() {
            return;
        }
        let (inbox, tick, deadline) =
            (self.handle.inbox(), self.pending_requests.timeout_number, self.run_config.answer_deadline);
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
        let answer = match (self.pending_requests.queue.front_mut(), response.answer) {
            (Some(PendingRequest::Stale), EnvAnswer::Replaying(_)) => return self.start_timeout(),
            (Some(PendingRequest::Stale), _) => {
                self.pending_requests.queue.pop_front();
                return self.start_timeout();
            }
            (Some(PendingRequest::Rebuild { step, .. }), EnvAnswer::Replaying(current_step)) => {
                *step = current_step;
                self.start_timeout();
                return;
            }
            (Some(PendingRequest::Call(expected)), EnvAnswer::Reply(call, reply)) if *expected == call => {
                Some(Message::Reply(self.epoch, reply))
            }
            (Some(PendingRequest::Rebuild { number, .. }), EnvAnswer::Rebuilt(rebuilt))
                if *number == rebuilt.number =>
            {
                Some(Message::Rebuilt(rebuilt))
            }
            (Some(PendingRequest::ListForPerson(_)), EnvAnswer::Actions(actions)) => {
                if let Some(PendingRequest::ListForPerson(reply_to)) = self.pending_requests.queue.pop_front()
                {
                    // The receiver may be gone.
                    let _ = reply_to.send(actions);
                }
                self.start_timeout();
                return;
            }
            (Some(PendingRequest::HintForPerson(_)), EnvAnswer::Hint(hint)) => {
                if let Some(PendingRequest::HintForPerson(reply_to)) = self.pending_requests.queue.pop_front()
                {
                    let _ = reply_to.send(hint);
                }
                self.start_timeout();
                return;
            }
            (Some(PendingRequest::Lookahead(expected)), EnvAnswer::Lookahead(number, found, has_world))
                if *expected == number =>
            {
                self.pending_requests.queue.pop_front();
                self.start_timeout();
                self.on_lookahead_answer(number, found);
                if !has_world {
                    self.start_rebuild();
                }
                return;
            }
            // Nothing waits for it.
            _ => None,
        };
        if let Some(answer) = answer {
            self.pending_requests.queue.pop_front();
            self.start_timeout();
            self.handle_message(answer);
        }
    }

    /// Handles a timeout of the first pending request. Reports it to the sender, and repeats the requests that were
    /// only queued behind it.
    pub(super) fn on_timeout(&mut self, tick: u64) {
        if tick != self.pending_requests.timeout_number {
            return;
        }
        self.pending_requests.stop_timeout();
        let mut queue = std::mem::take(&mut self.pending_requests.queue);
        match EnvWorker::start(
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
        let timeout = EnvError::TimedOut { millis: self.run_config.answer_deadline.as_millis() as u64 };
        match queue.pop_front() {
            Some(PendingRequest::Call(call)) if self.engine.state.calls.contains_key(&call) => {
                self.handle_message(Message::Reply(self.epoch, failed_call_reply(call, &timeout)));
                if self.pending_requests.is_rebuilding {
                    self.start_rebuild();
                }
            }
            Some(PendingRequest::Rebuild { number, episode, step })
                if number == self.pending_requests.last_rebuild && self.pending_requests.is_rebuilding =>
            {
                let actual = format!("the environment failed: {timeout}");
                let difference = Some(Reply::Diverged {
                    episode,
                    step,
                    recorded: self.recorded_observation(step),
                    actual,
                });
                self.on_rebuilt(RebuildResult { number, difference, has_world: false });
            }
            _ => self.start_rebuild(),
        }
        // Lists are answered (as empty) only once the consequences of the timeout have been journaled.
        drop(queue);
    }

    /// Returns the recorded observation of a step of the open episode; step 0 is the first observation.
    fn recorded_observation(&self, step: u32) -> String {
        let episode = self.engine.state.open_episode();
        let answer = episode.and_then(|e| match step {
            0 => e.first_observation.as_ref(),
            number => e.step(number)?.answer.as_ref(),
        });
        answer.map_or_else(String::new, |a| a.raw.clone())
    }

    /// Restores the environment of the open episode to its recorded position. The calls in flight wait for it.
    pub(super) fn start_rebuild(&mut self) {
        self.pending_requests.has_lost_world = false;
        let plan = self
            .engine
            .state
            .open_episode()
            .and_then(|e| RebuildPlan::from_episode(e, self.pending_requests.last_rebuild + 1));
        let Some(plan) = plan else {
            self.pending_requests.is_rebuilding = false;
            return self.issue_all_calls();
        };
        self.pending_requests.last_rebuild = plan.number;
        self.pending_requests.is_rebuilding = true;
        let (number, episode_number) = (plan.number, plan.episode);
        self.send_env_request(
            EnvRequest::Rebuild(plan),
            PendingRequest::Rebuild { number, episode: episode_number, step: 0 },
        );
    }

    /// Handles the end of a rebuild. Only the last one requested counts. A difference must be decided on before any
    /// call is made.
    pub(super) fn on_rebuilt(&mut self, rebuilt: RebuildResult) {
        if rebuilt.number != self.pending_requests.last_rebuild || !self.pending_requests.is_rebuilding {
            return;
        }
        self.pending_requests.is_rebuilding = false;
        self.pending_requests.has_lost_world = !rebuilt.has_world;
        if let Some(difference) = rebuilt.difference {
            self.handle_message(Message::Reply(self.epoch, difference));
        }
        // A difference of an episode that has ended meanwhile no longer matters.
        if self.engine.state.divergence.is_none() {
            self.issue_all_calls();
        }
    }
}
