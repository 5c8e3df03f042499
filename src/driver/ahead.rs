//! Asking ahead: while a person reads a proposal, a shadow of the world takes it and the question that would follow is
//! asked already. The run knows nothing of it. Its events are the same with and without, but for the times: what was asked
//! ahead is taken only for exactly the question that is then asked, and a question that is asked after all costs once.
//!
//! The shadow is a copy of the state that is driven by the same pure engine; its events are written nowhere. A world that
//! takes snapshots is set back after the step; others are not asked ahead for. Answers must be kept (`--cache read-write`),
//! so that what was asked for nothing is at least known.

use super::host::Order;
use super::orders::Awaited;
use super::{Driver, Signal, now, runner};
use crate::domain::{Asked, Autonomy, CallId, Counted, PromptRecord, Seq, Turn, Usage};
use crate::engine::{Command, Effect, Engine, Envelope, Event, Input, Reply};
use crate::provider::{Delta, Provider, ProviderError, Request};
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

/// Rounds of the shadow's engine at most; a proposal needs a handful.
const ROUNDS: usize = 64;

/// What asking ahead came to so far. Not journaled: it is no part of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct AheadTally {
    /// Questions asked ahead.
    pub asked: u64,
    /// Answers that were taken.
    pub used: u64,
    /// Answers that were for nothing.
    pub dropped: u64,
    /// What those for nothing came to; the others stand in the run's own counts.
    pub wasted: Counted,
}

/// A question under way ahead of its time.
pub(super) struct Early {
    request: Request,
    pieces: UnboundedReceiver<Result<Delta, ProviderError>>,
    heard: Arc<Mutex<Heard>>,
    task: JoinHandle<()>,
}

/// What has come of an early answer so far.
#[derive(Default)]
struct Heard {
    letters: u64,
    usage: Option<Usage>,
    failed: bool,
}

/// The shadow of the run.
#[derive(Default)]
pub(super) struct Ahead {
    /// The last event before which the present was looked ahead from.
    from: Option<Seq>,
    number: u64,
    shadow: Option<(u64, Engine, CallId)>,
    early: Vec<Early>,
    told: bool,
}

impl AheadTally {
    /// In words; none where nothing was asked ahead.
    pub fn words(&self) -> Option<String> {
        if self.asked == 0 {
            return None;
        }
        let tokens = match self.wasted.tokens() {
            0 => String::new(),
            n => format!(", {n} tokens"),
        };
        let cost = self.wasted.cost().map_or_else(String::new, |cost| format!(", cost {cost}"));
        Some(format!("{} asked, {} used, {} for nothing{tokens}{cost}", self.asked, self.used, self.dropped))
    }

    /// Both together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            asked: self.asked + other.asked,
            used: self.used + other.used,
            dropped: self.dropped + other.dropped,
            wasted: self.wasted.with(other.wasted),
        }
    }
}

impl Early {
    fn begin(provider: &Arc<dyn Provider>, request: Request) -> Self {
        let (tell, pieces) = unbounded_channel();
        let heard = Arc::new(Mutex::new(Heard::default()));
        let (provider, noted, asked) = (provider.clone(), heard.clone(), request.clone());
        let task = tokio::spawn(async move {
            let hear = |piece: Result<Delta, ProviderError>| {
                noted.lock().unwrap_or_else(PoisonError::into_inner).take(&piece);
                // Whoever wanted it may have gone; it still goes into the cache.
                let _ = tell.send(piece);
            };
            let answered = async {
                let mut stream = provider.stream(asked);
                while let Some(piece) = stream.next().await {
                    hear(piece);
                }
            };
            // What a panic leaves of an answer must not look like the whole of it.
            if AssertUnwindSafe(answered).catch_unwind().await.is_err() {
                hear(Err(ProviderError::new(
                    "the part of this program that asks broke (a panic)",
                    "ask again",
                )));
            }
        });
        Self { request, pieces, heard, task }
    }

    /// Another question than its call's number.
    fn answers(&self, other: &Request) -> bool {
        let this = &self.request;
        (this.asked, this.seed, &this.stop, this.wish) == (other.asked, other.seed, &other.stop, other.wish)
            && this.prompt == other.prompt
    }

    fn failed(&self) -> bool {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).failed
    }

    /// Its pieces from the first on, those that have come and those that will.
    pub(super) fn stream(self) -> BoxStream<'static, Result<Delta, ProviderError>> {
        stream::unfold(self, |mut early| async move {
            let piece = early.pieces.recv().await?;
            Some((piece, early))
        })
        .boxed()
    }

    /// What it cost, though nobody takes it: as counted, else about.
    fn wasted(&self) -> Usage {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.usage.unwrap_or_else(|| {
            let letters: usize = self.request.prompt.segments.iter().map(|s| s.text.chars().count()).sum();
            Usage {
                prompt_tokens: (letters as u64).div_ceil(4),
                reply_tokens: heard.letters.div_ceil(4),
                estimated: true,
                ..Usage::default()
            }
        })
    }
}

impl Drop for Early {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Heard {
    fn take(&mut self, piece: &Result<Delta, ProviderError>) {
        match piece {
            Ok(Delta::Text(words) | Delta::Reasoning(words)) => self.letters += words.chars().count() as u64,
            Ok(Delta::Usage(usage)) => self.usage = Some(*usage),
            Ok(Delta::Phase(_) | Delta::Notice(_) | Delta::Alive | Delta::WasReasoning) => {}
            Err(_) => self.failed = true,
        }
    }
}

impl Driver {
    /// Looks ahead of a proposal that a person reads, where that is wanted and was not done yet.
    pub(super) fn look_ahead(&mut self) {
        let state = &self.engine.state;
        let reads = state.waits()
            && state.trouble.is_none()
            && state.divergence.is_none()
            && state.autonomy != Autonomy::Human
            && state.awaiting().is_some_and(|s| !s.approved && s.call.is_some() && s.executed.is_none());
        if !self.launch.prefetch || !reads || self.orders.rebuilding || self.ahead.from == Some(state.head) {
            return;
        }
        self.ahead.from = Some(state.head);
        let keeps = |asked| match asked {
            Asked::Actor => self.launch.actor.keeps(),
            Asked::Mentor => self.launch.mentor.as_ref().is_some_and(|m| m.keeps()),
        };
        if !keeps(Asked::Actor) {
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
            Effect::StepWorld { call, action, list } => Some((*call, action.clone(), *list)),
            _ => None,
        });
        if let Some((call, action, list)) = step {
            let standing = engine.state.standing_turn();
            self.ahead.shadow = Some((number, engine, call));
            let order = Order::Ahead { number, action, list: list.then_some(standing) };
            return self.order(order, Awaited::Ahead(number));
        }
        self.ask_ahead(&engine);
    }

    /// The shadow of the world has answered; none: it takes no snapshot, or it failed.
    pub(super) fn heard_ahead(&mut self, number: u64, answer: Option<(Turn, Vec<String>)>) {
        let Some((_, engine, call)) = self.ahead.shadow.take_if(|s| s.0 == number) else { return };
        let Some((turn, admissible)) = answer else {
            let words = "nothing is asked ahead (--prefetch): this world takes no snapshots that it can be set back to";
            return self.cannot_ask_ahead(words);
        };
        // Whatever has happened meanwhile, the shadow is of another present now.
        if self.ahead.from != Some(self.engine.state.head) || number != self.ahead.number {
            return;
        }
        let reply = Reply::World { call, turn: Box::new(turn), admissible };
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
            let provider = match record.asked {
                Asked::Actor => Some(self.launch.actor.clone()),
                Asked::Mentor => self.launch.mentor.clone(),
            };
            let Some(provider) = provider.filter(|p| p.keeps()) else { continue };
            let rendered = (self.launch.render)(&shadow.state, &record);
            wanted.push((provider, runner::request(&record, rendered)));
        }
        self.drop_early(|early| !wanted.iter().any(|(_, request)| early.answers(request)));
        for (provider, request) in wanted {
            if self.ahead.early.iter().any(|early| early.answers(&request)) {
                continue;
            }
            self.ahead.early.push(Early::begin(&provider, request));
            self.store.edit_live(|live| live.ahead.asked += 1);
        }
    }

    /// The answer that was asked for ahead, where it is to this very question and has not failed.
    pub(super) fn take_early(&mut self, request: &Request) -> Option<Early> {
        let place = self.ahead.early.iter().position(|early| early.answers(request))?;
        let early = self.ahead.early.swap_remove(place);
        if early.failed() {
            self.count_dropped(&early);
            return None;
        }
        self.store.edit_live(|live| live.ahead.used += 1);
        Some(early)
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
        let (gone, kept) = std::mem::take(&mut self.ahead.early).into_iter().partition(of_no_use);
        self.ahead.early = kept;
        let gone: Vec<Early> = gone;
        for early in &gone {
            self.count_dropped(early);
        }
    }

    fn count_dropped(&self, early: &Early) {
        let usage = early.wasted();
        self.store.edit_live(|live| {
            live.ahead.dropped += 1;
            live.ahead.wasted.add(&usage);
        });
    }
}

/// Folds what the shadow would have written.
fn fold(engine: &mut Engine, events: Vec<(crate::engine::Cause, Event)>) {
    let at = now();
    for (cause, event) in events {
        let seq = Seq(engine.state.head.0 + 1);
        engine.state.apply(&Envelope { seq, at, cause, more: false, event });
    }
}
