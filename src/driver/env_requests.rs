//! Orders to the world: what is under way, how long the world may take for it, and how it is brought back.
//!
//! A world obeys one order after the other, so one clock is enough: it runs for the order whose turn it is. A world that
//! lets it run out is left behind with its thread, is heard no more, and a new one takes its place.

use super::env_worker::{EnvAnswer, EnvRequest, EnvResponse, EnvWorker, RebuildResult, failed_call_reply};
use super::snapshot_cache::RebuildPlan;
use super::{Driver, Message, Signal};
use crate::domain::CallId;
use crate::engine::Reply;
use crate::env::EnvError;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How long a world may take for one answer, where nothing else is said.
pub(super) const DEFAULT_ANSWER_DEADLINE: Duration = Duration::from_secs(60);

/// An order whose answer is awaited.
pub(super) enum PendingRequest {
    /// A call of the engine.
    Call(CallId),
    /// A rebuild by its number, with the episode and the step it has come to.
    Rebuild {
        /// Which rebuild it is.
        number: u64,
        /// The episode that is taken again.
        episode: u32,
        /// The step the world is being asked to take; 0 while it is opened and reset.
        step: u32,
    },
    /// A list for a person. Dropping the sender answers with an empty one.
    ListForPerson(oneshot::Sender<Vec<String>>),
    /// A hint for a person. Dropping the sender answers with none.
    HintForPerson(oneshot::Sender<Option<String>>),
    /// Something of a line that was left: whatever is answered concerns nobody.
    Stale,
    /// A look ahead, by its number.
    Lookahead(u64),
}

/// The orders under way in the world that is listened to.
#[derive(Default)]
pub(super) struct PendingRequests {
    /// In the order in which they are obeyed.
    queue: VecDeque<PendingRequest>,
    /// Which world is listened to: how many were left behind before it.
    pub(super) worker_number: u64,
    /// Runs for the first of them; a clock with another number has been stopped.
    timeout: Option<JoinHandle<()>>,
    timeout_number: u64,
    /// Rebuilds ordered so far, and whether the last one is still under way.
    last_rebuild: u64,
    pub(super) is_rebuilding: bool,
    /// The last rebuild left no world that could be asked.
    pub(super) has_lost_world: bool,
}

impl PendingRequests {
    /// The clock does not run any more.
    pub(super) fn stop_timeout(&mut self) {
        self.timeout_number += 1;
        if let Some(clock) = self.timeout.take() {
            clock.abort();
        }
    }

    /// Another line is driven: what was ordered for this one is awaited, for the world obeys in order, and not heard.
    pub(super) fn begin_epoch(&mut self) {
        for awaited in &mut self.queue {
            *awaited = PendingRequest::Stale;
        }
        (self.is_rebuilding, self.has_lost_world) = (false, false);
    }
}

impl Driver {
    /// Gives an order; its clock starts when those before it have been answered.
    pub(super) fn send_env_request(&mut self, order: EnvRequest, awaited: PendingRequest) {
        self.env_worker.send(order);
        self.pending_requests.queue.push_back(awaited);
        if self.pending_requests.queue.len() == 1 {
            self.start_timeout();
        }
    }

    /// Asks the world for a person what it would accept.
    pub(super) fn request_actions(&mut self, tell: oneshot::Sender<Vec<String>>) {
        self.send_env_request(EnvRequest::Admissible, PendingRequest::ListForPerson(tell));
    }

    /// Asks the world for a person for a way to the goal.
    pub(super) fn request_hint(&mut self, tell: oneshot::Sender<Option<String>>) {
        self.send_env_request(EnvRequest::Hint, PendingRequest::HintForPerson(tell));
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

    /// Hears the world. One that was left behind says nothing any more, even if the same call is under way again.
    pub(super) fn on_response(&mut self, told: EnvResponse) {
        if told.worker_number != self.pending_requests.worker_number {
            return;
        }
        let answer = match (self.pending_requests.queue.front_mut(), told.answer) {
            (Some(PendingRequest::Stale), EnvAnswer::Replaying(_)) => return self.start_timeout(),
            (Some(PendingRequest::Stale), _) => {
                self.pending_requests.queue.pop_front();
                return self.start_timeout();
            }
            (Some(PendingRequest::Rebuild { step, .. }), EnvAnswer::Replaying(now)) => {
                *step = now;
                self.start_timeout();
                return;
            }
            (Some(PendingRequest::Call(awaited)), EnvAnswer::Reply(call, reply)) if *awaited == call => {
                Some(Message::Reply(self.epoch, reply))
            }
            (Some(PendingRequest::Rebuild { number, .. }), EnvAnswer::Rebuilt(rebuilt))
                if *number == rebuilt.number =>
            {
                Some(Message::Rebuilt(rebuilt))
            }
            (Some(PendingRequest::ListForPerson(_)), EnvAnswer::Actions(actions)) => {
                if let Some(PendingRequest::ListForPerson(tell)) = self.pending_requests.queue.pop_front() {
                    // Whoever asked may have gone.
                    let _ = tell.send(actions);
                }
                self.start_timeout();
                return;
            }
            (Some(PendingRequest::HintForPerson(_)), EnvAnswer::Hint(way)) => {
                if let Some(PendingRequest::HintForPerson(tell)) = self.pending_requests.queue.pop_front() {
                    let _ = tell.send(way);
                }
                self.start_timeout();
                return;
            }
            (Some(PendingRequest::Lookahead(awaited)), EnvAnswer::Ahead(number, found, stands))
                if *awaited == number =>
            {
                self.pending_requests.queue.pop_front();
                self.start_timeout();
                self.on_lookahead_answer(number, found);
                if !stands {
                    self.start_rebuild();
                }
                return;
            }
            // Nobody waits for it.
            _ => None,
        };
        if let Some(answer) = answer {
            self.pending_requests.queue.pop_front();
            self.start_timeout();
            self.handle_message(answer);
        }
    }

    /// The order whose turn it is was not obeyed in time. Whoever waits is told; what was merely in its way is made again.
    pub(super) fn on_timeout(&mut self, tick: u64) {
        if tick != self.pending_requests.timeout_number {
            return;
        }
        self.pending_requests.stop_timeout();
        let mut behind = std::mem::take(&mut self.pending_requests.queue);
        match EnvWorker::start(
            self.pending_requests.worker_number + 1,
            self.run_config.open_world.clone(),
            self.handle.inbox(),
        ) {
            Ok(host) => {
                self.pending_requests.worker_number += 1;
                self.env_worker = host;
            }
            Err(error) => self.store.signal(Signal::Notice(format!("no thread for another world: {error}"))),
        }
        let late = EnvError::TimedOut { millis: self.run_config.answer_deadline.as_millis() as u64 };
        match behind.pop_front() {
            Some(PendingRequest::Call(call)) if self.engine.state.calls.contains_key(&call) => {
                self.handle_message(Message::Reply(self.epoch, failed_call_reply(call, &late)));
                if self.pending_requests.is_rebuilding {
                    self.start_rebuild();
                }
            }
            Some(PendingRequest::Rebuild { number, episode, step })
                if number == self.pending_requests.last_rebuild && self.pending_requests.is_rebuilding =>
            {
                let now = format!("the world failed: {late}");
                let difference = Some(Reply::Diverged {
                    episode,
                    step,
                    recorded: self.recorded_observation(step),
                    actual: now,
                });
                self.on_rebuilt(RebuildResult { number, difference, has_world: false });
            }
            _ => self.start_rebuild(),
        }
        // Lists are answered (with nothing) when what the lateness means has been journaled.
        drop(behind);
    }

    /// What the journal has for a step of the open episode; 0 is the first answer.
    fn recorded_observation(&self, step: u32) -> String {
        let episode = self.engine.state.open_episode();
        let answer = episode.and_then(|e| match step {
            0 => e.first_observation.as_ref(),
            number => e.step(number)?.answer.as_ref(),
        });
        answer.map_or_else(String::new, |a| a.raw.clone())
    }

    /// Brings the world of the open episode to where the journal says it is; the calls in flight wait for it.
    pub(super) fn start_rebuild(&mut self) {
        self.pending_requests.has_lost_world = false;
        let past = self
            .engine
            .state
            .open_episode()
            .and_then(|e| RebuildPlan::from_episode(e, self.pending_requests.last_rebuild + 1));
        let Some(past) = past else {
            self.pending_requests.is_rebuilding = false;
            return self.issue_all_calls();
        };
        self.pending_requests.last_rebuild = past.number;
        self.pending_requests.is_rebuilding = true;
        let (number, episode_number) = (past.number, past.episode);
        self.send_env_request(
            EnvRequest::Rebuild(past),
            PendingRequest::Rebuild { number, episode: episode_number, step: 0 },
        );
    }

    /// A rebuild that is not the last one ordered is stale. A difference is decided on before anything is taken.
    pub(super) fn on_rebuilt(&mut self, rebuilt: RebuildResult) {
        if rebuilt.number != self.pending_requests.last_rebuild || !self.pending_requests.is_rebuilding {
            return;
        }
        self.pending_requests.is_rebuilding = false;
        self.pending_requests.has_lost_world = !rebuilt.has_world;
        if let Some(difference) = rebuilt.difference {
            self.handle_message(Message::Reply(self.epoch, difference));
        }
        // A difference of an episode that has ended meanwhile concerns nobody.
        if self.engine.state.divergence.is_none() {
            self.issue_all_calls();
        }
    }
}
