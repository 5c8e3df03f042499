//! Turns the commands of a person or a script into events.

use crate::domain::common_settings::ActorReply;
use crate::domain::{
    Author, Autonomy, CallId, EndReason, EpisodeRole, FailureKind, LessonOp, LessonStatus, MeasuredEffect,
    ShownAs, Stage, Step, Task, ThoughtDisposition,
};
use crate::engine::advance::episode_end;
use crate::engine::state::{Grant, RunStatus, State};
use crate::engine::{Command, CommandError, Effect, Engine, Event, LessonCommand, PauseReason};
use std::borrow::Cow;

impl Engine {
    pub(super) fn command_events(&self, command: &Command) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        match command {
            Command::Start { session, spec, pool, replay_start, breakpoints } => {
                let mut events = self.start_run(session, spec, pool)?;
                events.extend(
                    replay_start.clone().map(|replay_start| Event::ReplayStartLoaded { replay_start }),
                );
                events.extend(self.initial_breakpoints(breakpoints)?);
                Ok(events)
            }
            _ if state.run.is_none() => Err(CommandError::new("no run has started", "start one first")),
            Command::Reopen => Ok(vec![Event::Reopened]),
            _ if state.closed => {
                Err(CommandError::new("this session is closed", "resume it first with `resume`"))
            }
            Command::Close => Ok(vec![Event::Closed]),
            Command::Step => self.step(),
            Command::StepStage => self.step_stage(),
            Command::Run => self.start_running(),
            Command::Pause => Ok(match state.run_status {
                RunStatus::Paused if state.grant.is_none() => Vec::new(),
                _ if state.calls.is_empty() => vec![Event::Paused { reason: PauseReason::Person }],
                _ => vec![Event::PauseRequested],
            }),
            Command::Approve => {
                self.require_proposal("approve")?;
                Ok(self.with_approval(Vec::new()))
            }
            Command::Override { action, shown_as, thought_disposition } => {
                self.override_action(action, *shown_as, thought_disposition)
            }
            Command::Act(action) => self.take_person_action(action),
            Command::Reject(reason) => self.reject(reason),
            Command::AskAgain => self.ask_again(),
            Command::Cancel => Ok(self.cancel()),
            Command::Retry => self.retry(),
            Command::RetryFromRecording(source) => self.retry_from_recording(source),
            Command::GiveUp => self.give_up(),
            Command::EditPrompt { call, segment, text } => self.edit_prompt(*call, *segment, text),
            Command::EditThought { step, text } => self.edit_thought(*step, text),
            Command::EditObservation { step, text } => self.edit_observation(*step, text),
            Command::SetAutonomy(autonomy) => Ok(self.set_autonomy(*autonomy)),
            Command::Lesson(command) => {
                let op = Box::new(self.lesson_op(command, Author::Person, 0)?);
                let mut events = vec![Event::LessonChanged { op, author: Author::Person }];
                events.extend(measured_events(command));
                Ok(events)
            }
            Command::ApplySummary { refused } => self.apply_summary(refused),
            Command::Undo => self.undo(),
            Command::UndoChange(seq) => self.undo_change(*seq),
            Command::Redo => self.redo(),
            Command::Reflect(kind) => self.reflect(*kind),
            Command::Remark { episode, step, text } => {
                if text.trim().is_empty() {
                    return Err(CommandError::new("the remark is empty", "write a sentence"));
                }
                let newest = self.state.episode.as_ref().map_or(0, |e| e.number);
                let episode = episode.filter(|number| *number != newest);
                let ended = |number: u32| self.state.ended_episodes.iter().any(|e| e.number == number);
                if let Some(missing) = episode.filter(|number| !ended(*number)) {
                    return Err(CommandError::new(
                        format!("there is no episode {missing}"),
                        "choose an existing one",
                    ));
                }
                Ok(vec![Event::Remarked { episode, step: *step, text: text.clone() }])
            }
            Command::ChangeSetting { name, value } => {
                self.check_sampling_setting(name, value)?;
                self.check_changed_run(name, value)?;
                Ok(vec![Event::SettingChanged { name: name.clone(), value: value.clone() }])
            }
            Command::ChangeRun(spec) => self.change_run(spec),
            Command::SetBreakpoint { text, replaces } => self.set_breakpoint(text, *replaces),
            Command::SwitchBreakpoint { breakpoint, enabled } => {
                self.switch_breakpoint(*breakpoint, *enabled)
            }
            Command::RemoveBreakpoint(breakpoint) => self.remove_breakpoint(*breakpoint),
            Command::BeginEpisode(task) => self.begin_episode(task),
            Command::EndEpisode(reason) => {
                if state.open_episode().is_none() {
                    return Err(CommandError::new("no episode is in progress", "start one first"));
                }
                let reason = match reason {
                    EndReason::Error => skip_reason(state),
                    _ => *reason,
                };
                Ok(vec![episode_end(state, reason)])
            }
            Command::EndRun => Ok(if state.run_over {
                Vec::new()
            } else if state.open_episode().is_some() {
                vec![episode_end(state, EndReason::Person), Event::RunEnded]
            } else {
                vec![Event::RunEnded]
            }),
        }
    }

    fn start_run(
        &self,
        session: &str,
        spec: &crate::domain::RunSpec,
        pool: &[(String, LessonCommand)],
    ) -> Result<Vec<Event>, CommandError> {
        if self.state.run.is_some() {
            return Err(CommandError::new("the run has already started", "a session has only one run"));
        }
        let mut events =
            vec![Event::RunStarted { session: session.to_owned(), spec: Box::new(spec.clone()) }];
        // Lesson ids are derived from the session's name, which `self.state` doesn't have before `RunStarted`.
        let mut engine = Engine::resume(self.state.clone(), self.policy.clone(), self.branch.clone());
        session.clone_into(&mut engine.state.session);
        let mut last_source: Option<&str> = None;
        for (source, command) in pool {
            if last_source != Some(source) {
                last_source = Some(source);
                let lesson_count = pool.iter().filter(|(other, _)| other == source).count() as u32;
                events.push(Event::PoolLoaded { source: source.clone(), lesson_count });
            }
            // The author is the file, not the person who starts the run, so that loaded lessons don't make an episode
            // assisted and can't be undone.
            let op = Box::new(engine.lesson_op(command, Author::File, events.len())?);
            events.push(Event::LessonChanged { op, author: Author::File });
            if let LessonCommand::Load(lesson) = command
                && lesson.status != LessonStatus::On
            {
                let (id, previous, status) = (lesson.id.clone(), LessonStatus::On, lesson.status);
                let op = Box::new(LessonOp::Status { id, previous, status, merged_into: None });
                events.push(Event::LessonChanged { op, author: Author::File });
            }
            events.extend(measured_events(command));
        }
        Ok(events)
    }

    pub(super) fn step(&self) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        self.check_no_failed_call()?;
        self.check_no_waiting_summary()?;
        let lacks_proposal = state.step_awaiting_decision().is_some_and(|s| s.proposed.is_none());
        if state.autonomy == Autonomy::Human && (lacks_proposal || state.is_step_cancelled()) {
            return Err(CommandError::new("this step is waiting for your action", "press o and type one"));
        }
        if state.run_over && state.open_episode().is_none() {
            return Err(CommandError::new("the run is over", "start another episode, or quit with q"));
        }
        Ok(match state.run_status {
            RunStatus::Paused => self.with_approval(vec![Event::StepGranted]),
            // The session is running: pausing it first makes it stop at the next proposal.
            _ => {
                self.with_approval(vec![Event::Paused { reason: PauseReason::StepDone }, Event::StepGranted])
            }
        })
    }

    /// Resumes the session and approves a waiting proposal. With `Autonomy::Auto`, the engine executes the proposal
    /// without approval.
    fn start_running(&self) -> Result<Vec<Event>, CommandError> {
        self.check_no_failed_call()?;
        self.check_no_waiting_summary()?;
        let resumed = vec![Event::Resumed];
        Ok(if self.state.autonomy == Autonomy::Auto { resumed } else { self.with_approval(resumed) })
    }

    fn step_stage(&self) -> Result<Vec<Event>, CommandError> {
        self.check_no_failed_call()?;
        self.check_no_waiting_summary()?;
        if self.state.run_over && self.state.open_episode().is_none() {
            return Err(CommandError::new("the run is over", "start another episode, or quit with q"));
        }
        let mut events = Vec::new();
        if self.state.run_status != RunStatus::Paused {
            events.push(Event::Paused { reason: PauseReason::StepDone });
        }
        events.push(Event::StageGranted);
        Ok(self.with_approval(events))
    }

    /// Adds the approval of the waiting proposal, if there is one that isn't approved yet.
    fn with_approval(&self, mut events: Vec<Event>) -> Vec<Event> {
        if let Some(step) = self.state.step_awaiting_decision()
            && !step.approved
            && (step.call.is_some() || step.proposed.is_some())
        {
            events.push(Event::Approved { step: step.number });
        }
        events
    }

    pub(super) fn check_no_failed_call(&self) -> Result<(), CommandError> {
        if let Some((_, failure)) = &self.state.failed_call {
            return Err(CommandError::new(
                format!("a call failed: {}", failure.message),
                failure.hint.clone(),
            ));
        }
        if self.state.divergence.is_some() {
            return Err(CommandError::new(
                "the rebuilt environment's response differs from the one in the journal",
                "retry to accept the new response, or end the episode",
            ));
        }
        Ok(())
    }

    /// Fails if the environment has failed: it runs no other action before the failed call is decided on.
    fn check_environment(&self) -> Result<(), CommandError> {
        if !self.state.failed_calls().any(|(effect, _)| effect.is_of_environment()) {
            return Ok(());
        }
        let retry = "`retry` tries again";
        let hint = self.state.unanswered_step().map_or_else(
            || retry.to_owned(),
            |step| format!("{retry}, `fork {} ACTION` runs another action instead", step.number),
        );
        Err(CommandError::new("the environment failed", hint))
    }

    fn require_proposal(&self, verb: &str) -> Result<&Step, CommandError> {
        self.check_environment()?;
        self.state.step_awaiting_decision().ok_or_else(|| {
            let hint = match self.state.autonomy {
                Autonomy::Human => "you are playing: type your action (o, or `act ACTION`)",
                Autonomy::Auto | Autonomy::Confirm => "press n to get the next proposal",
            };
            CommandError::new(format!("no proposal to {verb}"), hint)
        })
    }

    fn override_action(
        &self,
        action: &str,
        shown_as: ShownAs,
        thought_disposition: &ThoughtDisposition,
    ) -> Result<Vec<Event>, CommandError> {
        let step = self.require_proposal("override")?;
        let is_thought_only = step.proposed.is_none() && step.thought.is_some();
        let episode = self.state.open_episode();
        let is_actor_thought = |n: &u32| {
            episode.and_then(|e| e.step(*n)).is_some_and(|s| s.is_thought_only() && !s.is_person_action())
        };
        // If the person rewrote this step's own thought, later prompts keep the thoughts of the preceding steps.
        let has_own_thought = step.proposed.is_some() && step.thought.is_some();
        let drops_earlier_thoughts = match thought_disposition {
            ThoughtDisposition::Kept => false,
            ThoughtDisposition::Dropped => true,
            ThoughtDisposition::Rewritten(_) => !has_own_thought,
        };
        let thoughts_from =
            (1..step.number).rev().take_while(is_actor_thought).last().filter(|_| drops_earlier_thoughts);
        let mut events = vec![Event::ActionOverridden {
            step: step.number,
            proposed: step.proposal_text().map(Cow::into_owned),
            action: person_action(self.state.settings().actor_reply, action),
            shown_as,
            // If the proposal is only a thought, the person's action replaces it, so later prompts omit that thought
            // even if they keep the earlier ones.
            thought_disposition: if is_thought_only && *thought_disposition == ThoughtDisposition::Kept {
                ThoughtDisposition::Dropped
            } else {
                thought_disposition.clone()
            },
            thoughts_from,
        }];
        self.grant_if_paused(&mut events);
        Ok(events)
    }

    /// Executes an action that a person typed in place of the actor; opens a step if none is open.
    fn take_person_action(&self, action: &str) -> Result<Vec<Event>, CommandError> {
        self.check_environment()?;
        let state = &self.state;
        let Some(episode) = state.open_episode().filter(|e| e.first_observation.is_some()) else {
            return Err(CommandError::new("no episode is in progress", "start one first"));
        };
        let open = episode.last_step().filter(|s| s.stage < Stage::Observation);
        // Whether the actor's call was cancelled or given up, or its prompt is drafted but not sent.
        let is_idle = |s: &Step| s.stage == Stage::Prompt && state.calls.is_empty();
        if open.is_none_or(|s| s.stage == Stage::Decision || is_idle(s)) {
            let mut events = Vec::new();
            let number = open.map_or(episode.steps.len() as u32 + 1, |s| s.number);
            if open.is_none() {
                if episode.last_step().is_some_and(|s| s.answer.is_none()) {
                    return Err(CommandError::new("the environment hasn't answered yet", "wait a moment"));
                }
                events.push(Event::StepOpened { step: number });
            }
            events.push(Event::ActionOverridden {
                step: number,
                proposed: open.and_then(|s| s.proposed.clone()),
                action: person_action(state.settings().actor_reply, action),
                shown_as: ShownAs::AgentAction,
                thought_disposition: ThoughtDisposition::Kept,
                thoughts_from: None,
            });
            self.grant_if_paused(&mut events);
            return Ok(events);
        }
        Err(CommandError::new("an actor call is in progress", "cancel it with Ctrl-C, then act"))
    }

    fn reject(&self, reason: &str) -> Result<Vec<Event>, CommandError> {
        let step = self.require_proposal("reject")?;
        let is_planned = self.check_not_proposed_by_method(step)?;
        if step.call.is_none() && !is_planned {
            return Err(CommandError::new("you are playing: there is nothing to reject", "type an action"));
        }
        let proposed =
            step.action().map(str::to_owned).or_else(|| step.thought.as_ref().map(|t| format!("think: {t}")));
        let mut events = vec![Event::ProposalRejected {
            step: step.number,
            proposed: proposed.unwrap_or_default(),
            reason: reason.trim().to_owned(),
        }];
        self.grant_if_paused(&mut events);
        Ok(events)
    }

    /// Checks that the actor can be asked for another proposal in place of this one, and returns whether this one comes from the plan
    /// of an earlier reply.
    fn check_not_proposed_by_method(&self, step: &Step) -> Result<bool, CommandError> {
        let episode = self.state.open_episode();
        let is_planned = episode.is_some_and(|open| open.planned_by(step.number).is_some());
        if step.call.is_none() && step.proposed.is_some() && !is_planned {
            return Err(CommandError::new(
                "the method chose this action itself, without an actor call",
                "override it (o); if it comes from a plan, that can be edited in its pane (e)",
            ));
        }
        Ok(is_planned)
    }

    fn ask_again(&self) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        let mut events = self.cancel_calls();
        if events.is_empty() && state.retryable_calls().next().is_some() {
            return self.step();
        }
        if events.is_empty() {
            let step = self.require_proposal("retry")?;
            self.check_not_proposed_by_method(step)?;
            if step.call.is_none() && state.autonomy == Autonomy::Human {
                return Err(CommandError::new(
                    "you are playing: there is no actor to ask",
                    "hand control back to the agent first (H, or `auto`)",
                ));
            }
            events.push(Event::AskedAgain { step: step.number, unusable_reason: None, draft: None });
        }
        self.grant_if_paused(&mut events);
        Ok(events)
    }

    fn cancel(&self) -> Vec<Event> {
        let mut events = self.cancel_calls();
        if self.state.run_status != RunStatus::Paused || self.state.grant.is_some() {
            events.push(Event::Paused { reason: PauseReason::Person });
        }
        events
    }

    /// Returns the events that cancel all calls to models and all jobs. Calls to the environment aren't cancelled.
    fn cancel_calls(&self) -> Vec<Event> {
        let calls = self.state.calls.values().filter(|effect| effect.is_cancellable()).map(Effect::call);
        calls.map(|call| Event::CallCancelled { call, partial_reply: Box::default() }).collect()
    }

    fn set_autonomy(&self, autonomy: Autonomy) -> Vec<Event> {
        let mut events = vec![Event::AutonomySet { autonomy }];
        if autonomy == Autonomy::Human && self.state.autonomy != Autonomy::Human {
            events.extend(self.cancel_calls());
        }
        events
    }

    fn begin_episode(&self, task: &Task) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        if state.open_episode().is_some() {
            return Err(CommandError::new(
                "an episode is in progress",
                "end it first (palette: end episode)",
            ));
        }
        // A question or a job that is retried after the new episode has started would be about the wrong episode.
        if state.awaits_mentor_or_job() {
            return Err(CommandError::new(
                "a mentor call or a computation after the last episode is unfinished",
                "wait, retry it (r), or continue without its result (L)",
            ));
        }
        let recorded = self.policy.method.before_manual_episode(state);
        let mut events = self.intent_events(recorded.iter(), Author::Symbolic, 0);
        events.push(Event::EpisodeStarted {
            episode: state.next_episode_number(),
            task: Box::new(task.clone()),
            trial: state.next_trial(task),
            role: EpisodeRole::Test,
            call: CallId(state.next_call),
        });
        self.grant_if_paused(&mut events);
        Ok(events)
    }

    /// If the session is paused, adds the permission to continue to the next proposal.
    pub(super) fn grant_if_paused(&self, events: &mut Vec<Event>) {
        if self.state.run_status == RunStatus::Paused && self.state.grant != Some(Grant::Step) {
            events.push(Event::StepGranted);
        }
    }
}

/// Returns why a task is given up whose call has failed: an environment's failure is not the agent's.
fn skip_reason(state: &State) -> EndReason {
    match &state.failed_call {
        Some((effect, failure)) if effect.is_of_environment() => match failure.kind {
            Some(FailureKind::TimedOut) => EndReason::EnvTimeout,
            _ => EndReason::EnvDied,
        },
        // The environment couldn't be rebuilt as it was.
        _ if state.divergence.is_some() => EndReason::EnvDied,
        _ => EndReason::Error,
    }
}

/// Returns a person's action: its lines joined with spaces, unless a whole reply is the action, as a program is.
fn person_action(form: ActorReply, action: &str) -> String {
    if form == ActorReply::Whole {
        return action.trim().replace("\r\n", "\n").replace('\r', "\n");
    }
    action.trim().split(['\n', '\r']).map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns the events that keep what was measured of a lesson elsewhere, if a command loads one.
fn measured_events(command: &LessonCommand) -> Vec<Event> {
    let LessonCommand::Load(lesson) = command else { return Vec::new() };
    let keep = |measured: &MeasuredEffect| {
        let op = LessonOp::Measured { id: lesson.id.clone(), measured: Box::new(measured.clone()) };
        Event::LessonChanged { op: Box::new(op), author: Author::File }
    };
    lesson.measured.iter().map(keep).collect()
}
