//! Orders to the world: what is under way, how long the world may take for it, and how it is brought back.
//!
//! A world obeys one order after the other, so one clock is enough: it runs for the order whose turn it is. A world that
//! lets it run out is left behind with its thread, is heard no more, and a new one takes its place.

use super::env_worker::{Answer, EnvRequest, EnvResponse, EnvWorker, Rebuilt, failed};
use super::snapshot_cache::Rebuild;
use super::{Driver, Message, Signal};
use crate::domain::CallId;
use crate::engine::Reply;
use crate::env::EnvError;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How long a world may take for one answer, where nothing else is said.
pub(super) const DEADLINE: Duration = Duration::from_secs(60);

/// An order whose answer is awaited.
pub(super) enum Awaited {
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
    Listing(oneshot::Sender<Vec<String>>),
    /// A hint for a person. Dropping the sender answers with none.
    Hint(oneshot::Sender<Option<String>>),
    /// Something of a line that was left: whatever is answered concerns nobody.
    Past,
    /// A look ahead, by its number.
    Ahead(u64),
}

/// The orders under way in the world that is listened to.
#[derive(Default)]
pub(super) struct Orders {
    /// In the order in which they are obeyed.
    awaited: VecDeque<Awaited>,
    /// Which world is listened to: how many were left behind before it.
    pub(super) world: u64,
    /// Runs for the first of them; a clock with another number has been stopped.
    clock: Option<JoinHandle<()>>,
    ticks: u64,
    /// Rebuilds ordered so far, and whether the last one is still under way.
    rebuilds: u64,
    pub(super) rebuilding: bool,
    /// The last rebuild left no world that could be asked.
    pub(super) lost: bool,
}

impl Orders {
    /// The clock does not run any more.
    pub(super) fn stop_clock(&mut self) {
        self.ticks += 1;
        if let Some(clock) = self.clock.take() {
            clock.abort();
        }
    }

    /// Another line is driven: what was ordered for this one is awaited, for the world obeys in order, and not heard.
    pub(super) fn begin_line(&mut self) {
        for awaited in &mut self.awaited {
            *awaited = Awaited::Past;
        }
        (self.rebuilding, self.lost) = (false, false);
    }
}

impl Driver {
    /// Gives an order; its clock starts when those before it have been answered.
    pub(super) fn order(&mut self, order: EnvRequest, awaited: Awaited) {
        self.host.order(order);
        self.orders.awaited.push_back(awaited);
        if self.orders.awaited.len() == 1 {
            self.start_clock();
        }
    }

    /// Asks the world for a person what it would accept.
    pub(super) fn list(&mut self, tell: oneshot::Sender<Vec<String>>) {
        self.order(EnvRequest::Admissible, Awaited::Listing(tell));
    }

    /// Asks the world for a person for a way to the goal.
    pub(super) fn hint(&mut self, tell: oneshot::Sender<Option<String>>) {
        self.order(EnvRequest::Hint, Awaited::Hint(tell));
    }

    fn start_clock(&mut self) {
        self.orders.stop_clock();
        if self.orders.awaited.is_empty() {
            return;
        }
        let (inbox, tick, deadline) = (self.handle.inbox(), self.orders.ticks, self.launch.deadline);
        self.orders.clock = Some(tokio::spawn(async move {
            tokio::time::sleep(deadline).await;
            let _ = inbox.send(Message::Late(tick));
        }));
    }

    /// Hears the world. One that was left behind says nothing any more, even if the same call is under way again.
    pub(super) fn on_response(&mut self, told: EnvResponse) {
        if told.world != self.orders.world {
            return;
        }
        let answer = match (self.orders.awaited.front_mut(), told.answer) {
            (Some(Awaited::Past), Answer::Taking(_)) => return self.start_clock(),
            (Some(Awaited::Past), _) => {
                self.orders.awaited.pop_front();
                return self.start_clock();
            }
            (Some(Awaited::Rebuild { step, .. }), Answer::Taking(now)) => {
                *step = now;
                self.start_clock();
                return;
            }
            (Some(Awaited::Call(awaited)), Answer::Reply(call, reply)) if *awaited == call => {
                Some(Message::Reply(self.line, reply))
            }
            (Some(Awaited::Rebuild { number, .. }), Answer::Rebuilt(rebuilt))
                if *number == rebuilt.number =>
            {
                Some(Message::Rebuilt(rebuilt))
            }
            (Some(Awaited::Listing(_)), Answer::Listed(actions)) => {
                if let Some(Awaited::Listing(tell)) = self.orders.awaited.pop_front() {
                    // Whoever asked may have gone.
                    let _ = tell.send(actions);
                }
                self.start_clock();
                return;
            }
            (Some(Awaited::Hint(_)), Answer::Hinted(way)) => {
                if let Some(Awaited::Hint(tell)) = self.orders.awaited.pop_front() {
                    let _ = tell.send(way);
                }
                self.start_clock();
                return;
            }
            (Some(Awaited::Ahead(awaited)), Answer::Ahead(number, found, stands)) if *awaited == number => {
                self.orders.awaited.pop_front();
                self.start_clock();
                self.heard_ahead(number, found);
                if !stands {
                    self.rebuild();
                }
                return;
            }
            // Nobody waits for it.
            _ => None,
        };
        if let Some(answer) = answer {
            self.orders.awaited.pop_front();
            self.start_clock();
            self.take(answer);
        }
    }

    /// The order whose turn it is was not obeyed in time. Whoever waits is told; what was merely in its way is made again.
    pub(super) fn late(&mut self, tick: u64) {
        if tick != self.orders.ticks {
            return;
        }
        self.orders.stop_clock();
        let mut behind = std::mem::take(&mut self.orders.awaited);
        match EnvWorker::start(self.orders.world + 1, self.launch.open.clone(), self.handle.inbox()) {
            Ok(host) => {
                self.orders.world += 1;
                self.host = host;
            }
            Err(error) => self.store.signal(Signal::Said(format!("no thread for another world: {error}"))),
        }
        let late = EnvError::TimedOut { millis: self.launch.deadline.as_millis() as u64 };
        match behind.pop_front() {
            Some(Awaited::Call(call)) if self.engine.state.calls.contains_key(&call) => {
                self.take(Message::Reply(self.line, failed(call, &late)));
                if self.orders.rebuilding {
                    self.rebuild();
                }
            }
            Some(Awaited::Rebuild { number, episode, step })
                if number == self.orders.rebuilds && self.orders.rebuilding =>
            {
                let now = format!("the world failed: {late}");
                let difference =
                    Some(Reply::Diverged { episode, step, recorded: self.recorded(step), actual: now });
                self.rebuilt(Rebuilt { number, difference, stands: false });
            }
            _ => self.rebuild(),
        }
        // Lists are answered (with nothing) when what the lateness means has been journaled.
        drop(behind);
    }

    /// What the journal has for a step of the open episode; 0 is the first answer.
    fn recorded(&self, step: u32) -> String {
        let episode = self.engine.state.open_episode();
        let answer = episode.and_then(|e| match step {
            0 => e.first_observation.as_ref(),
            number => e.step(number)?.answer.as_ref(),
        });
        answer.map_or_else(String::new, |a| a.raw.clone())
    }

    /// Brings the world of the open episode to where the journal says it is; the calls in flight wait for it.
    pub(super) fn rebuild(&mut self) {
        self.orders.lost = false;
        let past = self.engine.state.open_episode().and_then(|e| Rebuild::of(e, self.orders.rebuilds + 1));
        let Some(past) = past else {
            self.orders.rebuilding = false;
            return self.issue_all();
        };
        self.orders.rebuilds = past.number;
        self.orders.rebuilding = true;
        let (number, episode_number) = (past.number, past.episode);
        self.order(EnvRequest::Rebuild(past), Awaited::Rebuild { number, episode: episode_number, step: 0 });
    }

    /// A rebuild that is not the last one ordered is stale. A difference is decided on before anything is taken.
    pub(super) fn rebuilt(&mut self, rebuilt: Rebuilt) {
        if rebuilt.number != self.orders.rebuilds || !self.orders.rebuilding {
            return;
        }
        self.orders.rebuilding = false;
        self.orders.lost = !rebuilt.stands;
        if let Some(difference) = rebuilt.difference {
            self.take(Message::Reply(self.line, difference));
        }
        // A difference of an episode that has ended meanwhile concerns nobody.
        if self.engine.state.divergence.is_none() {
            self.issue_all();
        }
    }
}
