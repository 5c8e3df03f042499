//! A world on a thread of its own. It is spoken to by messages and answers into the driver's inbox.

use super::{Message, OpenWorld};
use crate::domain::{CallId, Seen, Task, Turn};
use crate::engine::{Failure, Reply};
use crate::env::{EnvError, Environment};
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc;
use std::thread;
use tokio::sync::mpsc::UnboundedSender;

/// What the world is told.
pub(super) enum Order {
    /// Open the task's world and reset it.
    Reset(CallId, Task),
    /// Take an action.
    Step(CallId, String),
    /// Answer a step with the admissible actions; the world does not move.
    List(CallId, Turn),
    /// Only list, for a person.
    Admissible,
    /// Look for a way to the goal, for a person.
    Hint,
    /// Answer as a step (or a list, for the standing turn) would, and stand afterwards as before.
    Ahead {
        /// Which look ahead.
        number: u64,
        /// What the world would be sent.
        action: String,
        /// The standing turn, where it would only be asked for a list.
        list: Option<Turn>,
    },
    /// Bring the world of an episode to where the journal says it is, comparing each observation.
    Rebuild(Rebuild),
}

/// An episode to be taken again.
pub(super) struct Rebuild {
    /// Which rebuild it is; the driver waits for the last one it ordered.
    pub(super) number: u64,
    /// The episode's number.
    pub(super) episode: u32,
    /// Its task.
    pub(super) task: Task,
    /// The recorded first answer.
    pub(super) first: Seen,
    /// What the world was sent, with the recorded answers and the number of the step.
    pub(super) taken: Vec<(u32, String, Seen)>,
}

/// How a rebuild went: where the world first answered otherwise, if it did, and whether a world stands there now.
pub struct Rebuilt {
    pub(super) number: u64,
    pub(super) difference: Option<Reply>,
    pub(super) stands: bool,
}

/// What a world's thread says, and which world it is: one that was left behind is not listened to.
pub struct Told {
    pub(super) world: u64,
    pub(super) answer: Answer,
}

/// The words of a world's thread.
pub(super) enum Answer {
    /// To a call of the engine.
    Reply(CallId, Reply),
    /// To a rebuild.
    Rebuilt(Rebuilt),
    /// All before this step has been taken again, and the world is being asked to take it: no answer, a sign of life.
    Taking(u32),
    /// To a person: what the world would accept; empty where that is not to be had.
    Listed(Vec<String>),
    /// To a person: a way to the goal, where the world knows one.
    Hinted(Option<String>),
    /// To a look ahead: the answer and the list; none where the world cannot be set back or failed. Whether a world stands.
    Ahead(u64, Option<(Turn, Vec<String>)>, bool),
}

/// The driver's end of the world's thread.
pub(super) struct Host {
    orders: mpsc::Sender<Order>,
}

impl Host {
    /// Starts the thread of the world with this number. It ends when the host is dropped.
    pub(super) fn start(
        number: u64,
        open: OpenWorld,
        inbox: UnboundedSender<Message>,
    ) -> std::io::Result<Self> {
        let (orders, received) = mpsc::channel::<Order>();
        thread::Builder::new().name("world".to_owned()).spawn(move || {
            let say = |answer| inbox.send(Message::World(Told { world: number, answer })).is_ok();
            let mut world: Option<Box<dyn Environment>> = None;
            while let Ok(order) = received.recv() {
                let whom = order.whom();
                // A world that panics has died; its thread, and whoever waits for an answer, must not.
                let obeyed = panic::catch_unwind(AssertUnwindSafe(|| obey(&open, &mut world, order, &say)));
                let answer = obeyed.unwrap_or_else(|_| {
                    world = None;
                    died(whom)
                });
                if !say(answer) {
                    break;
                }
            }
        })?;
        Ok(Self { orders })
    }

    /// Gives an order; the answer comes into the inbox.
    pub(super) fn order(&self, order: Order) {
        // The thread ends only when its host is dropped: a panic of the world is caught there.
        let _ = self.orders.send(order);
    }
}

/// Whom an order's answer is for.
#[derive(Clone, Copy)]
enum Whom {
    Call(CallId),
    Rebuild(u64, u32),
    /// A person who wants the list.
    Person,
    /// A person who wants a hint.
    Asker,
    /// A look ahead.
    Ahead(u64),
}

impl Order {
    fn whom(&self) -> Whom {
        match self {
            Self::Reset(call, _) | Self::Step(call, _) | Self::List(call, _) => Whom::Call(*call),
            Self::Rebuild(rebuild) => Whom::Rebuild(rebuild.number, rebuild.episode),
            Self::Admissible => Whom::Person,
            Self::Hint => Whom::Asker,
            Self::Ahead { number, .. } => Whom::Ahead(*number),
        }
    }
}

/// What is answered for a world that panicked.
fn died(whom: Whom) -> Answer {
    let died = EnvError::Died { what: "its own program broke (a panic)".to_owned() };
    match whom {
        Whom::Call(call) => Answer::Reply(call, failed(call, &died)),
        Whom::Rebuild(number, episode) => {
            let now = died.to_string();
            let difference = Some(Reply::Diverged { episode, step: 0, recorded: String::new(), now });
            Answer::Rebuilt(Rebuilt { number, difference, stands: false })
        }
        Whom::Person => Answer::Listed(Vec::new()),
        Whom::Asker => Answer::Hinted(None),
        Whom::Ahead(number) => Answer::Ahead(number, None, false),
    }
}

fn obey(
    open: &OpenWorld,
    world: &mut Option<Box<dyn Environment>>,
    order: Order,
    say: &dyn Fn(Answer) -> bool,
) -> Answer {
    let answer = |call, turn: Result<(Turn, Vec<String>), EnvError>| {
        let reply = match turn {
            Ok((turn, admissible)) => Reply::World { call, turn: Box::new(turn), admissible },
            Err(error) => failed(call, &error),
        };
        Answer::Reply(call, reply)
    };
    match order {
        Order::Reset(call, task) => {
            // A world that was left half-way is never used again.
            *world = None;
            let reset = opened(open, &task).map(|(fresh, turn)| {
                *world = Some(fresh);
                (turn, Vec::new())
            });
            answer(call, reset)
        }
        Order::Step(call, action) => {
            answer(call, asked(world, |w| w.step(&action)).map(|turn| (turn, Vec::new())))
        }
        Order::List(call, turn) => {
            answer(call, asked(world, |w| w.admissible()).map(|admissible| (turn, admissible)))
        }
        Order::Admissible => {
            Answer::Listed(world.as_mut().and_then(|w| w.admissible().ok()).unwrap_or_default())
        }
        Order::Hint => Answer::Hinted(world.as_mut().and_then(|w| w.hint())),
        Order::Ahead { number, action, list } => {
            let found = ahead(world, &action, list);
            Answer::Ahead(number, found, world.is_some())
        }
        Order::Rebuild(past) => {
            let difference = rebuild(open, world, &past, say);
            Answer::Rebuilt(Rebuilt { number: past.number, difference, stands: world.is_some() })
        }
    }
}

fn opened(open: &OpenWorld, task: &Task) -> Result<(Box<dyn Environment>, Turn), EnvError> {
    let mut fresh = open(task)?;
    let turn = fresh.reset()?;
    Ok((fresh, turn))
}

/// What the world would answer; it is set back to where it stood. One that cannot be set back is never stepped, and one that
/// was not set back is no more.
fn ahead(
    world: &mut Option<Box<dyn Environment>>,
    action: &str,
    list: Option<Turn>,
) -> Option<(Turn, Vec<String>)> {
    let open = world.as_mut()?;
    let info = open.info();
    let before = open.snapshot().filter(|_| info.snapshots && info.deterministic)?;
    let answer = match list {
        Some(turn) => open.admissible().map(|list| (turn, list)),
        None => open.step(action).map(|turn| (turn, Vec::new())),
    };
    if open.restore(&before).is_err() {
        *world = None;
    }
    answer.ok()
}

/// Asks the open world. One that failed by itself is dropped: it is built anew before it is asked again.
fn asked<T>(
    world: &mut Option<Box<dyn Environment>>,
    ask: impl FnOnce(&mut dyn Environment) -> Result<T, EnvError>,
) -> Result<T, EnvError> {
    let Some(open) = world else {
        return Err(EnvError::Died { what: "no world is open".to_owned() });
    };
    let answer = ask(open.as_mut());
    if answer.as_ref().is_err_and(|e| !matches!(e, EnvError::Refused { .. })) {
        *world = None;
    }
    answer
}

/// Takes an episode again from its start; the first answer that is not the recorded one, if there is one.
fn rebuild(
    open: &OpenWorld,
    world: &mut Option<Box<dyn Environment>>,
    past: &Rebuild,
    say: &dyn Fn(Answer) -> bool,
) -> Option<Reply> {
    *world = None;
    let differs = |step: u32, (recorded, now): (String, String)| Reply::Diverged {
        episode: past.episode,
        step,
        recorded,
        now,
    };
    let (mut fresh, turn) = match opened(open, &past.task) {
        Ok(opened) => opened,
        Err(error) => {
            let now = format!("the world could not be opened: {error}");
            return Some(differs(0, (past.first.raw.clone(), now)));
        }
    };
    let mut first = difference(&past.first, &turn).map(|d| differs(0, d));
    for (step, sent, recorded) in &past.taken {
        // The deadline is for one answer, however many there are to be had again.
        say(Answer::Taking(*step));
        match fresh.step(sent) {
            Ok(turn) if first.is_none() => first = difference(recorded, &turn).map(|d| differs(*step, d)),
            Ok(_) => {}
            Err(error) => {
                let now = format!("the world failed: {error}");
                return first.or_else(|| Some(differs(*step, (recorded.raw.clone(), now))));
            }
        }
    }
    *world = Some(fresh);
    first
}

/// What was recorded and what is answered now, where they differ: the text, else what the world says beside it.
fn difference(recorded: &Seen, now: &Turn) -> Option<(String, String)> {
    if recorded.raw != now.observation {
        return Some((recorded.raw.clone(), now.observation.clone()));
    }
    let beside = |reward: f64, progress: f64, done: bool, won: bool, valid: bool| {
        format!("reward {reward}, progress {progress}, done {done}, won {won}, valid {valid}")
    };
    let was = beside(recorded.reward, recorded.progress, recorded.done, recorded.won, recorded.valid);
    let is = beside(now.reward, now.progress, now.done, now.won, now.valid);
    (was != is).then_some((was, is))
}

/// A failed call in words for a person.
pub(super) fn failed(call: CallId, error: &EnvError) -> Reply {
    let next = match error {
        EnvError::Broken { .. } => "mend or replace the file, then retry; or choose another task",
        EnvError::Refused { .. } => "choose another task, or end the episode",
        EnvError::TimedOut { .. } | EnvError::Died { .. } | EnvError::Protocol { .. } => {
            "retry: the world is opened anew and the actions are taken again"
        }
    };
    Reply::Failed {
        call,
        failure: Failure {
            what: error.to_string(),
            place: "world".to_owned(),
            next: next.to_owned(),
            kind: None,
        },
    }
}
