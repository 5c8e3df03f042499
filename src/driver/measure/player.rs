//! Plays one episode in memory.

use super::outage::{
    Patience, ServerOutage, TRIES_OF_A_CALL, is_answer, is_refusal, may_be_due_to_prompt, most_attempts,
};
use super::starting_point::PreparedEpisode;
use crate::domain::{
    CallId, EpisodeSummary, FailureKind, Job, JobContext, MessageRole, ModelRole, Prompt, PromptRecord,
    Segment, SegmentLabel, SegmentOrigin, hex,
};
use crate::driver::call_runner::call_provider;
use crate::driver::commit::stamp_events;
use crate::driver::env_messages::{EnvAnswer, EnvRequest};
use crate::driver::env_worker;
use crate::driver::model_calls::oversized_prompt;
use crate::driver::request::build_request_in;
use crate::driver::snapshot_cache::{RebuildError, RebuildPlan, SnapshotCache};
use crate::driver::{RunConfig, wall_clock_now};
use crate::engine::{
    Cause, Effect, Engine, Envelope, Event, Failure, Input, PauseReason, Reply, episode_end,
};
use crate::provider::{Provider, Request, SamplingOverrides};
use crate::timeline::effect::ExtraCalls;
use sha2::{Digest as _, Sha256};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// What a person wants of a measurement in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    #[default]
    Running,
    /// The episodes in progress are abandoned. What is recorded stays, and the measurement can be continued.
    Stopped,
}

/// Tells the episodes in progress that they are to be abandoned: a person wants it, or the measurement has failed elsewhere.
#[derive(Clone)]
pub(super) struct StopSignal {
    pub(super) person: watch::Receiver<Wanted>,
    pub(super) failure: watch::Receiver<Wanted>,
}

impl StopSignal {
    fn is_stopped(&self) -> bool {
        *self.person.borrow() == Wanted::Stopped || *self.failure.borrow() == Wanted::Stopped
    }

    /// Returns when the episodes are to be abandoned.
    async fn stopped(&self) {
        tokio::select! {
            () = wait_until_stopped(self.person.clone()) => {}
            () = wait_until_stopped(self.failure.clone()) => {}
        }
    }
}

async fn wait_until_stopped(mut wanted: watch::Receiver<Wanted>) {
    if wanted.wait_for(|wanted| *wanted == Wanted::Stopped).await.is_err() {
        // Nobody is left who could want it.
        std::future::pending::<()>().await;
    }
}

/// An episode that was played to its end.
pub(super) struct PlayedEpisode {
    pub(super) summary: EpisodeSummary,
    /// Counted steps since the starting point.
    pub(super) steps: u32,
    /// Tokens of prompts and replies since the starting point.
    pub(super) tokens: u64,
    /// Calls to models since the starting point.
    pub(super) calls: u32,
    /// Their cost, in billionths of the currency unit.
    pub(super) cost_nano: u64,
    /// Why it ended, as a phrase.
    pub(super) reason: String,
    /// If it ended at a failed call: why the call failed, with what to do about it.
    pub(super) failure: Option<String>,
    /// A hash of what was done and observed since the starting point. Equal hashes mean that two episodes went the same
    /// way.
    pub(super) trace: String,
    /// The episode's events after the starting point.
    pub(super) events: Vec<Envelope>,
}

/// Why an episode has no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PlayError {
    /// The server or the environment failed; the agent didn't cause it. Contains a phrase with what to do about it.
    Broken(String),
    /// The server refuses the calls, and will again. Contains the same.
    Refused(String),
    /// The server timed out or was busy at a call of this episode, again and again, while it answered another one. Contains the same.
    TimedOut(String),
    /// A person stopped the measurement, or its time is up.
    Stopped,
}

/// Receives that a call waits for its server, or `None` once the server has answered.
pub(super) type ReportOutage<'a> = dyn Fn(Option<ServerOutage>) + 'a;

/// Plays episodes one after the other. It keeps environments with their snapshots, so that the next episode from the same
/// moment starts without replaying many actions.
pub(super) struct EpisodePlayer<'a> {
    worlds: SnapshotCache,
    runtime: tokio::runtime::Runtime,
    stop: StopSignal,
    patience: Patience,
    report_outage: &'a ReportOutage<'a>,
    /// Calls that belong to no episode that was played to its end.
    extra: Cell<ExtraCalls>,
}

/// An episode in progress.
struct Game<'a> {
    engine: Engine,
    config: &'a RunConfig,
    events: Vec<Envelope>,
    ended: Option<EpisodeSummary>,
    /// Why the call failed at which the episode ends.
    failure: Option<String>,
    trace: Sha256,
    /// How long it has waited for a model server that was away. This time isn't the agent's.
    waited: Cell<Duration>,
}

/// Counters at the starting point.
#[derive(Clone, Copy, Default)]
struct Baseline {
    steps: u32,
    tokens: u64,
    calls: u32,
    cost_nano: u64,
}

impl<'a> EpisodePlayer<'a> {
    /// Creates a player.
    ///
    /// # Errors
    /// Returns the system's error if the runtime for calls to models can't be created.
    pub(super) fn new(
        stop: StopSignal,
        patience: Patience,
        report_outage: &'a ReportOutage<'a>,
    ) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (worlds, extra) = (SnapshotCache::default(), Cell::default());
        Ok(Self { worlds, runtime, stop, patience, report_outage, extra })
    }

    /// Returns the calls that belong to no episode that was played to its end, since this was last asked.
    pub(super) fn take_extra(&self) -> ExtraCalls {
        self.extra.take()
    }

    fn add_extra(&self, calls: ExtraCalls) {
        self.extra.set(self.extra.get().plus(calls));
    }

    /// Plays an episode from its starting point to its end.
    ///
    /// # Errors
    /// Returns [`PlayError::Broken`] if the environment fails, or the server in a way that doesn't pass, [`PlayError::Refused`] if the
    /// server refuses, [`PlayError::TimedOut`] if it answers only other calls, and [`PlayError::Stopped`] if a person or the clock stops the measurement.
    pub(super) fn play(
        &mut self,
        config: &RunConfig,
        prepared: PreparedEpisode,
    ) -> Result<PlayedEpisode, PlayError> {
        let PreparedEpisode { engine, events } = prepared;
        let mut game = Game {
            engine,
            config,
            events: Vec::new(),
            ended: None,
            failure: None,
            trace: Sha256::new(),
            waited: Cell::default(),
        };
        self.restore_world(&game)?;
        let at_start = Baseline::of(&game.engine);
        game.commit(events);
        match self.play_to_end(&mut game) {
            Ok(summary) => Ok(game.finish(summary, at_start)),
            Err(error) => {
                let now = Baseline::of(&game.engine);
                self.add_extra(ExtraCalls {
                    calls: u64::from(now.calls.saturating_sub(at_start.calls)),
                    tokens: now.tokens.saturating_sub(at_start.tokens),
                    cost_nano: now.cost_nano.saturating_sub(at_start.cost_nano),
                });
                Err(error)
            }
        }
    }

    fn play_to_end(&mut self, game: &mut Game<'_>) -> Result<EpisodeSummary, PlayError> {
        loop {
            if self.stop.is_stopped() {
                return Err(PlayError::Stopped);
            }
            if let Some(summary) = game.ended.take() {
                return Ok(summary);
            }
            if let Some((end, failure)) = game.agent_failure()? {
                game.failure = Some(failure);
                game.commit(vec![(Cause::Policy, end)]);
                continue;
            }
            let events = game.engine.advance();
            if !events.is_empty() {
                let stalled = Event::Paused { reason: PauseReason::MethodStalled };
                if events.iter().any(|(_, event)| *event == stalled) {
                    return Err(PlayError::Broken("the method makes no progress".to_owned()));
                }
                game.commit(events);
                continue;
            }
            let Some(effect) = game.engine.state.calls.values().next().cloned() else {
                return Err(PlayError::Broken("the episode can't continue without a person".to_owned()));
            };
            let reply = self.reply_to(game, effect)?;
            // A reply to a call in flight is never rejected.
            let events = game.engine.decide(&Input::Reply(reply)).unwrap_or_default();
            game.commit(events);
        }
    }

    /// Waits, unless a person stops the measurement meanwhile.
    pub(super) fn wait(&self, delay: Duration) {
        self.runtime.block_on(async {
            // Usually the whole delay passes.
            let _ = tokio::time::timeout(delay, self.stop.stopped()).await;
        });
    }

    /// Brings the environment to the starting point, if that is within an episode.
    fn restore_world(&mut self, game: &Game<'_>) -> Result<(), PlayError> {
        let Some(plan) = RebuildPlan::of_open_episode(&game.engine.state, 0) else {
            return Ok(());
        };
        match self.ask_world(game, EnvRequest::Rebuild(plan)) {
            EnvAnswer::Rebuilt(rebuilt) => rebuilt.outcome.map_err(|error| {
                PlayError::Broken(match error {
                    RebuildError::Failed(error) => format!("the environment can't be restored: {error}"),
                    RebuildError::Differs(difference) => match *difference {
                        Reply::Diverged { step, recorded, actual, .. } => format!(
                            "the environment doesn't return to this moment: at step {step} it answers {actual:?}, the journal has {recorded:?}"
                        ),
                        _ => "the environment doesn't return to this moment".to_owned(),
                    },
                })
            }),
            _ => Err(PlayError::Broken("the environment can't be restored".to_owned())),
        }
    }

    fn ask_world(&mut self, game: &Game<'_>, request: EnvRequest) -> EnvAnswer {
        let target = request.answer_target();
        let worlds = &mut self.worlds;
        let open = &game.config.open_world;
        // A panic ends the environment, and the request is still answered.
        let answered = panic::catch_unwind(AssertUnwindSafe(|| {
            env_worker::execute(open, worlds, request, &|_, _| true)
        }));
        answered.unwrap_or_else(|_| {
            worlds.drop_world();
            env_worker::panic_answer(target)
        })
    }

    fn reply_to(&mut self, game: &Game<'_>, effect: Effect) -> Result<Reply, PlayError> {
        let request = match effect {
            Effect::ResetWorld { call, task } => {
                EnvRequest::Reset(call, *task, game.engine.state.trial_info())
            }
            Effect::StepWorld { call, admissible_only: true, .. } => {
                EnvRequest::AnswerWithList(call, game.engine.state.unchanged_result())
            }
            Effect::StepWorld { call, action, admissible_only: false } => {
                // Nobody looks at the end of its episodes.
                EnvRequest::Step { call, action, is_last: false }
            }
            Effect::Ask { call, prompt } => return self.ask_model(game, call, &prompt),
            Effect::Compute { call, job } => return Ok(compute(game, call, &job)),
            // No call is ever cancelled here.
            Effect::Cancel { .. } => return Err(PlayError::Stopped),
        };
        match self.ask_world(game, request) {
            EnvAnswer::Reply(_, reply) => Ok(reply),
            _ => Err(PlayError::Broken("the environment gave another answer than asked for".to_owned())),
        }
    }

    fn ask_model(
        &mut self,
        game: &Game<'_>,
        call: CallId,
        prompt: &PromptRecord,
    ) -> Result<Reply, PlayError> {
        let (state, config) = (&game.engine.state, game.config);
        let provider = match prompt.role {
            ModelRole::Actor => Some(&config.actor),
            ModelRole::Mentor => config.mentor.as_ref(),
        };
        let Some(provider) = provider else {
            return Err(PlayError::Broken("this run has no mentor model that could be called".to_owned()));
        };
        if let Some(failure) = oversized_prompt(&game.engine, prompt) {
            return Ok(Reply::Failed { call, failure });
        }
        let (mut attempts, mut answers_others) = (0, false);
        let begun = Instant::now();
        let mut answering = begun;
        loop {
            let rendered = (config.render_prompt)(state, prompt);
            let request = build_request_in(state, prompt, rendered);
            let reply = self.call(provider, request, u64::from(prompt.tokens))?;
            let is_waited_for =
                |kind| attempts < most_attempts(kind) && !(answers_others && may_be_due_to_prompt(kind));
            let outage = match &reply {
                Reply::Failed { failure, .. } if failure.kind.is_some_and(is_waited_for) => failure,
                _ => {
                    if attempts > 0 {
                        (self.report_outage)(None);
                        game.waited.set(game.waited.get() + answering.duration_since(begun));
                    }
                    return Ok(reply);
                }
            };
            // The same call is sent again, as if nothing had happened: its seed and so its answer stay the same.
            attempts += 1;
            if attempts + 1 >= TRIES_OF_A_CALL && outage.kind.is_some_and(may_be_due_to_prompt) {
                answers_others = self.answers_another_call(provider, prompt.role)?;
            }
            self.wait_for_server(outage, attempts)?;
            answering = Instant::now();
        }
    }

    /// Calls a model.
    ///
    /// # Errors
    /// Returns [`PlayError::Stopped`] if a person stops the measurement meanwhile.
    fn call(
        &self,
        provider: &Arc<dyn Provider>,
        request: Request,
        estimate: u64,
    ) -> Result<Reply, PlayError> {
        let reply = self.runtime.block_on(async {
            tokio::select! {
                biased;
                reply = call_provider(provider, request, estimate) => Some(reply),
                () = self.stop.stopped() => None,
            }
        });
        reply.ok_or(PlayError::Stopped)
    }

    /// Returns whether a server that doesn't answer a call answers a short one, so that it isn't away altogether. It counts in no episode, but
    /// in the budget.
    ///
    /// # Errors
    /// Returns [`PlayError::Stopped`] if a person stops the measurement meanwhile.
    fn answers_another_call(&self, provider: &Arc<dyn Provider>, role: ModelRole) -> Result<bool, PlayError> {
        let segment = Segment {
            label: SegmentLabel::Task,
            origin: SegmentOrigin::Task,
            message_role: MessageRole::User,
            text: "Reply with OK.".into(),
        };
        let request = Request {
            role,
            prompt: Arc::new(Prompt { segments: vec![segment] }),
            // Only the server itself can say that it is there.
            refresh_cache: true,
            sampling: SamplingOverrides { max_tokens: Some(16), ..SamplingOverrides::default() },
            accept_truncated: true,
            ..Request::default()
        };
        // A call without an answer counts nowhere, like one of an episode that is sent again.
        let answered = match self.call(provider, request, 0)? {
            Reply::Model { usage, .. } => Some(ExtraCalls {
                calls: 1,
                tokens: usage.prompt_tokens.saturating_add(usage.reply_tokens),
                cost_nano: usage.cost_nano,
            }),
            Reply::Failed { failure, .. } if failure.kind.is_some_and(is_answer) => {
                Some(ExtraCalls { calls: 1, ..ExtraCalls::default() })
            }
            _ => None,
        };
        self.add_extra(answered.unwrap_or_default());
        Ok(answered.is_some())
    }

    /// Waits until a failed call is sent again.
    ///
    /// # Errors
    /// Returns [`PlayError::Stopped`] if a person stops the measurement, or its time is up.
    fn wait_for_server(&self, failure: &Failure, attempts: u32) -> Result<(), PlayError> {
        let delay = self.patience.delay(attempts);
        let failure = describe_failure(failure);
        (self.report_outage)(Some(ServerOutage { failure, attempts, retry_in: delay }));
        let left = self.patience.deadline.map(|at| at.saturating_duration_since(Instant::now()));
        self.wait(left.map_or(delay, |left| left.min(delay)));
        if self.stop.is_stopped() || self.patience.is_over() { Err(PlayError::Stopped) } else { Ok(()) }
    }
}

impl Game<'_> {
    /// Applies events, and notes the end of the episode.
    fn commit(&mut self, events: Vec<(Cause, Event)>) {
        if events.is_empty() {
            return;
        }
        // A time that can't be subtracted is beyond all calendars.
        let at = wall_clock_now().checked_sub(self.waited.get()).unwrap_or_else(|_| wall_clock_now());
        for envelope in stamp_events(self.engine.state.head, at, events) {
            self.engine.state.apply(&envelope);
            self.hash_trace(&envelope.event);
            if matches!(envelope.event, Event::EpisodeEnded { .. }) {
                self.ended = self.engine.state.ended_episodes.last().map(|summary| (**summary).clone());
            }
            self.events.push(envelope);
        }
        let time_is_up =
            self.ended.is_none() && self.engine.state.time_left(at).is_some_and(|(_, left)| left.is_zero());
        if time_is_up && let Some(episode) = self.engine.state.open_episode().map(|open| open.number) {
            let elapsed = self.engine.state.clock.elapsed_at(at);
            let reply = Input::Reply(Reply::TimeUp { episode, elapsed });
            self.commit(self.engine.decide(&reply).unwrap_or_default());
        }
    }

    fn hash_trace(&mut self, event: &Event) {
        let mut add = |part: &str| {
            self.trace.update(part.as_bytes());
            self.trace.update([0]);
        };
        match event {
            Event::ActionTaken { executed, .. } => add(&executed.action),
            Event::WorldReset { result, .. } | Event::Observed { result, .. } => add(&result.observation),
            Event::EpisodeEnded { summary } => add(summary.reason.describe()),
            _ => {}
        }
    }

    /// Returns the event that ends the episode if a call failed for a reason that the agent caused, so that the episode
    /// counts as lost, and the reason.
    ///
    /// # Errors
    /// Returns [`PlayError::Broken`], [`PlayError::Refused`] or [`PlayError::TimedOut`] if the server or the environment caused the failure.
    fn agent_failure(&self) -> Result<Option<(Event, String)>, PlayError> {
        let state = &self.engine.state;
        let Some((effect, failure)) = &state.failed_call else { return Ok(None) };
        let is_agents_fault = matches!(effect, Effect::Ask { prompt, .. } if prompt.role == ModelRole::Actor)
            && matches!(failure.kind, Some(FailureKind::TooLong | FailureKind::Unusable));
        if !is_agents_fault {
            let why = describe_failure(failure);
            return Err(match failure.kind.filter(|_| matches!(effect, Effect::Ask { .. })) {
                Some(kind) if is_refusal(kind) => PlayError::Refused(why),
                Some(kind) if may_be_due_to_prompt(kind) => PlayError::TimedOut(why),
                _ => PlayError::Broken(why),
            });
        }
        let end = episode_end(state, crate::domain::EndReason::Error);
        Ok(Some((end, describe_failure(failure))))
    }

    fn finish(self, summary: EpisodeSummary, at_start: Baseline) -> PlayedEpisode {
        PlayedEpisode {
            steps: summary.steps.saturating_sub(at_start.steps),
            tokens: summary.tokens.saturating_sub(at_start.tokens),
            calls: summary.calls.saturating_sub(at_start.calls),
            cost_nano: summary.stats.token_counts.cost_nano.saturating_sub(at_start.cost_nano),
            reason: summary.reason.describe().to_owned(),
            failure: self.failure,
            trace: hex(&self.trace.finalize()[..8]),
            events: self.events,
            summary,
        }
    }
}

impl Baseline {
    fn of(engine: &Engine) -> Self {
        engine.state.open_episode().map_or(Self::default(), |open| Self {
            steps: engine.state.counted_steps(open),
            tokens: open.tokens,
            calls: open.calls,
            cost_nano: open.token_counts.cost_nano,
        })
    }
}

fn describe_failure(failure: &Failure) -> String {
    let Failure { source, message, hint, .. } = failure;
    format!("{source}: {message}; {hint}")
}

/// Computes a job of the method on this thread.
fn compute(game: &Game<'_>, call: CallId, job: &Arc<Job>) -> Reply {
    let context = JobContext { texts: game.engine.state.texts.clone(), ..JobContext::default() };
    let computed = panic::catch_unwind(AssertUnwindSafe(|| (game.config.compute_job)(job, &context)));
    let failed = |message: String| Reply::Failed {
        call,
        failure: Failure { message, source: job.name.clone(), ..Failure::default() },
    };
    match computed {
        Ok(Ok(result)) => Reply::Computed { call, result, millis: 0 },
        Ok(Err(message)) => failed(message),
        Err(_) => failed("it crashed; this is a fault of this program".to_owned()),
    }
}
