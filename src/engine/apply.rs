//! Folds events into the state. The fold cannot fail and has no side effects. Its match has no wildcard arm, so that
//! the compiler reports every event that isn't handled.

mod advice;
mod breakpoints;
mod cancelled;
mod clock;
mod interventions;
mod manual_edit;
mod method_writes;
mod prefetch;
mod prompt;
mod samples;
mod state_updates;

use state_updates::{is_intervention, to_observation};

use super::state::{Grant, RunStatus, State};
use super::{Cause, Effect, Envelope, Episode, Event, NoteTally, PauseReason, ReplyTally, effect_of};
use crate::domain::differs_only_in_servers;
use crate::domain::{
    CallId, EpisodeRole, ExecutedAction, FailureKind, ManualEdit, ModelRole, PoolSummary, PromptRecord,
    SegmentOrigin, Seq, Stage, Step,
};
use std::sync::Arc;

impl State {
    /// Folds one event into the state.
    pub fn apply(&mut self, envelope: &Envelope) {
        let seq = envelope.seq;
        self.count_time(envelope);
        self.count_method_writes(envelope);
        self.head = seq;
        if let Some(effect) = effect_of(&envelope.event) {
            let call = effect.call();
            if !matches!(envelope.event, Event::CallCancelled { .. }) {
                self.next_call = self.next_call.max(call.0.saturating_add(1));
                // The draft has been sent. In sessions of older versions, a different call may have taken the draft's
                // id; the draft is discarded then, too.
                self.draft.take_if(|draft| draft.call == call);
                self.clear_cancelled(&effect);
                self.calls.insert(call, effect);
            }
        }
        // The same model at another address is no help for the agent.
        let moves_server = matches!(&envelope.event, Event::RunChanged { spec }
            if self.run.as_deref().is_some_and(|run| differs_only_in_servers(run, spec)));
        if envelope.cause == Cause::Person && is_intervention(&envelope.event) && !moves_server {
            self.edit_episode(|e| e.assisted |= e.outcome.is_none());
        }
        self.record_undo(seq, envelope.cause, &envelope.event);
        self.settle_prefetches(&envelope.event);
        match &envelope.event {
            Event::RunStarted { session, spec } => {
                self.session.clone_from(session);
                self.autonomy = spec.autonomy;
                self.run = Some(Arc::new((**spec).clone()));
            }
            Event::PoolLoaded { source, .. } => self.pool.set_source_file(source),
            Event::TextDefined { hash, text } => {
                self.texts.insert_mut(hash.clone(), Arc::from(text.as_str()));
            }
            Event::EpisodeStarted { episode, task, trial, role, .. } => {
                self.pool.remove_episode_lessons(self.episode.as_deref().map_or(0, |e| e.number));
                self.keep_attempt();
                self.reset_streaks();
                self.run_over = false;
                self.episode = Some(Arc::new(Episode::new(*episode, task, *trial, *role, seq)));
            }
            Event::WorldReset { call, result, agent_view, goal } => {
                self.calls.remove(call);
                self.edit_episode(|e| {
                    // An exploring agent isn't shown the goal.
                    if e.role != EpisodeRole::Explore {
                        e.task.goal.clone_from(goal);
                    }
                    e.record_result(result);
                    e.first_observation = Some(to_observation(result, agent_view.as_ref()));
                });
            }
            Event::PromptDrafted { prompt } => self.draft_prompt(prompt, seq),
            Event::PromptSent { prompt } => self.send_prompt(prompt, seq),
            Event::StepOpened { step } => {
                let number = *step;
                self.edit_episode(|e| {
                    e.steps.push_back_mut(Arc::new(Step {
                        number,
                        stage: Stage::Decision,
                        first_seq: seq,
                        last_seq: seq,
                        ..Step::default()
                    }));
                });
                self.grant = None;
            }
            Event::PrefetchChanged(prefetch) => self.record_prefetch(prefetch),
            Event::SamplesRequested { request } => self.request_samples(seq, request),
            Event::Sampled { sample } => self.record_sample(seq, sample),
            Event::SettingDeviationsChanged { call, role, settings } => {
                self.record_setting_deviations(seq, *call, *role, settings);
            }
            Event::ReplyReceived { call, reasoning, tool_calls, usage, truncated, reply_source, .. } => {
                // An actor's call stays in `calls` until the next event uses the reply: `Proposed`, `AskedAgain`, or
                // `CallFailed`, which moves the call to the failed calls. No later event needs a mentor's call.
                let role = match self.calls.get(call) {
                    Some(Effect::Ask { prompt, .. }) => {
                        let prompt = prompt.clone();
                        self.update_token_ratio(&prompt, usage);
                        prompt.role
                    }
                    _ => ModelRole::Actor,
                };
                self.count_tokens(role, usage);
                self.reply_overrides.retain(|s| s.0 != *call);
                if role == ModelRole::Mentor {
                    self.calls.remove(call);
                } else {
                    self.actor_replies.truncated = truncated.is_some();
                    self.edit_step(seq, |s| {
                        s.reasoning = reasoning.trim().into();
                        s.tool_calls.clone_from(tool_calls);
                        s.usage = *usage;
                        s.reply_source.clone_from(reply_source);
                    });
                }
            }
            Event::Warned { text, .. } => {
                self.actor_replies.warned = true;
                self.edit_step(seq, |s| s.warnings.push(text.clone()));
            }
            Event::Proposed { thought, action, planned, complaints, .. } => {
                self.remove_actor_call();
                self.edit_step(seq, |s| {
                    s.thought.clone_from(thought);
                    s.proposed.clone_from(action);
                    s.planned.clone_from(planned);
                    s.complaints.clone_from(complaints);
                    s.approved = false;
                    s.stage = Stage::Decision;
                });
                self.grant = None;
            }
            Event::Approved { .. } => self.edit_step(seq, |s| s.approved = true),
            Event::ActionOverridden {
                step, action, shown_as, thought_disposition, thoughts_from, ..
            } => {
                if let Some(first_thought) = *thoughts_from {
                    self.drop_thoughts(first_thought, *step);
                }
                // The person's action replaces the actor's reply, so the actor's draft is no longer needed.
                self.draft.take_if(|draft| draft.role == ModelRole::Actor);
                self.edit_step(seq, |s| {
                    s.approved = true;
                    // If the step's call was cancelled, the step has gone back to the prompt stage. It needs no other
                    // proposal now that the person has chosen the action.
                    s.stage = Stage::Decision;
                    s.executed = Some(ExecutedAction {
                        action: action.clone(),
                        sent: None,
                        rewrite_rule: None,
                        decided_by: crate::domain::DecidedBy::Person,
                        shown_as: *shown_as,
                        thought_disposition: thought_disposition.clone(),
                    });
                });
            }
            Event::ProposalRejected { proposed, reason, .. } => self.edit_step(seq, |s| {
                s.rejections.push((proposed.clone(), reason.clone()));
                s.discard_draft();
                s.clear_proposal();
            }),
            Event::AskedAgain { unusable_reason, draft, .. } => {
                self.draft = None;
                self.remove_actor_call();
                self.edit_step(seq, |s| {
                    match draft {
                        Some(action) => s.add_draft(action),
                        None if unusable_reason.is_none() => s.discard_draft(),
                        None => {}
                    }
                    s.clear_proposal();
                    s.unusable_replies += u32::from(unusable_reason.is_some());
                });
                if unusable_reason.is_some() {
                    self.actor_replies.count_unusable();
                }
            }
            Event::ActionTaken { executed, call, admissible_only, .. } => {
                self.last_pool_use = seq;
                // A call that only lists the admissible actions doesn't step the environment.
                let is_env_step = call.is_some() && !admissible_only;
                self.edit_step(seq, |s| {
                    s.sent_to_env = is_env_step;
                    s.executed = Some(executed.clone());
                    s.stage = Stage::Observation;
                });
                let action = executed.action.clone();
                self.edit_episode(|e| {
                    if is_env_step && !action.trim_start().starts_with("think:") {
                        e.moves += 1;
                    }
                    let step = e.steps.len() as u32;
                    let count = e.action_counts.get(&action).map_or(0, |a| a.0) + 1;
                    e.action_counts.insert_mut(action, (count, step));
                });
            }
            Event::Observed { call, result, agent_view, .. } => {
                if let Some(call) = call {
                    self.calls.remove(call);
                }
                self.edit_step(seq, |s| {
                    s.answer = Some(to_observation(result, agent_view.as_ref()));
                    s.answered_seq = seq;
                    s.stage = Stage::Reflection;
                });
                self.edit_episode(|e| e.record_result(result));
                self.update_streaks();
                self.use_stage_grant();
            }
            Event::Noted { notes, step } => {
                self.edit_step(seq, |s| {
                    s.notes.clone_from(notes);
                    s.detectors_ran = true;
                });
                let mut actor_replies = self.actor_replies;
                if let Some(step) = self.last_step() {
                    actor_replies.count_step(step);
                }
                self.actor_replies = actor_replies;
                let step = *step;
                self.edit_episode(|e| {
                    for note in notes {
                        let count = e.note_tallies.get(&note.detector).map_or(0, |t| t.count) + 1;
                        let tally = NoteTally { count, last_step: step, last: note.clone() };
                        e.note_tallies.insert_mut(note.detector.clone(), tally);
                    }
                });
                self.update_findings_streak();
            }
            Event::Reflected { reflection } => {
                let index = self.reflections.len() as u32;
                let mut reflection = (**reflection).clone();
                reflection.seq = seq;
                reflection.prompt_edited = self.is_question_edited(reflection.call);
                self.reflections.push_back_mut(Arc::new(reflection));
                self.record_advice();
                self.edit_step(seq, |s| s.reflections.push(index));
                self.use_stage_grant();
            }
            Event::LessonChanged { op, author } => self.change_lesson(seq, op, *author),
            Event::SummaryProposed { summary } => {
                self.waiting_summaries.push(PoolSummary { seq, ..(**summary).clone() });
            }
            Event::SummaryApplied { refused } => self.apply_summary(refused),
            Event::LessonUndone { target_seq, op } => self.undo_lesson(seq, *target_seq, op),
            Event::LessonRedone { target_seq, op } => self.redo_lesson(seq, *target_seq, op),
            Event::ThoughtEdited { step, previous, text } => {
                let (previous, text) = (previous.clone(), text.clone());
                self.apply_edit(&ManualEdit::Thought {
                    step: *step,
                    previous,
                    previous_edited: false,
                    text,
                    edited: true,
                });
            }
            Event::ObservationEdited { step, previous, text } => {
                let (previous, text) = (previous.clone(), Some(text.clone()));
                self.apply_edit(&ManualEdit::Observation {
                    step: *step,
                    previous,
                    previous_edited: false,
                    text,
                    edited: true,
                });
            }
            Event::EditUndone { target_seq, change } => {
                self.apply_undo_or_redo(seq, *target_seq, change, true);
            }
            Event::EditRedone { target_seq, change } => {
                self.apply_undo_or_redo(seq, *target_seq, change, false);
            }
            Event::ReplayStartLoaded { replay_start } => self.apply_replay_start(replay_start),
            Event::ComputeRequested { .. } => {}
            Event::Computed { call, .. } => {
                self.calls.remove(call);
            }
            Event::MemorySet { value } => self.memory = value.clone(),
            Event::Remarked { episode, step, text } => {
                let episode = episode.unwrap_or_else(|| self.episode.as_ref().map_or(0, |e| e.number));
                self.edit_remark(episode, *step, text, false);
            }
            Event::SettingChanged { name, value } => {
                self.draft = None;
                self.set_setting(name, value);
            }
            Event::RunChanged { spec } => {
                self.draft = None;
                if self.run.as_ref().is_none_or(|run| run.actor != spec.actor) {
                    self.actor_replies = ReplyTally::default();
                }
                // These describe the previous run's servers; the new run may use others.
                self.setting_deviations.clear();
                self.token_ratios.clear();
                // Cancelled calls belong to the previous method. The new method can't process their replies, nor can it
                // write the reflection that records a question to the mentor as given up.
                if self.run.as_ref().is_none_or(|run| run.method != spec.method) {
                    self.cancelled_calls.clear();
                    self.drop_failed_jobs();
                }
                self.run = Some(Arc::new((**spec).clone()));
            }
            Event::AutonomySet { autonomy } => self.autonomy = *autonomy,
            Event::Resumed => {
                self.run_status = RunStatus::Running;
                self.grant = None;
                self.pause_reason = None;
                self.breakpoints.current_hit = None;
            }
            Event::PauseRequested => self.run_status = RunStatus::Pausing,
            Event::Paused { reason } => {
                self.run_status = RunStatus::Paused;
                self.grant = None;
                self.pause_reason = Some(*reason);
            }
            Event::StepGranted => self.set_grant(Grant::Step),
            Event::StageGranted => self.set_grant(Grant::Stage),
            Event::CallFailed { call, failure } => {
                self.reply_overrides.retain(|s| s.0 != *call);
                if let Some(effect) = self.calls.remove(call) {
                    if let (Effect::Ask { prompt, .. }, Some(usage)) = (&effect, &failure.usage) {
                        self.count_tokens(prompt.role, usage);
                    }
                    if failure.kind == Some(FailureKind::Unusable) {
                        self.edit_step(seq, |s| s.unusable_replies += 1);
                        self.actor_replies.count_unusable();
                    }
                    self.add_failed_call(effect, failure.clone());
                }
            }
            Event::CallCancelled { call, partial_reply } => self.cancel_call(seq, *call, partial_reply),
            Event::Retried { call, reply_source } => {
                // Without a call id, this accepts the divergence or, in the oldest sessions, retries the failed call.
                let failed_call = || self.failed_call.as_ref().map(|(effect, _)| effect.call());
                let retried = if self.divergence.is_some() { *call } else { call.or_else(failed_call) };
                if let Some((effect, failure)) = retried.and_then(|call| self.take_failed_call(call)) {
                    self.count_retry(&effect, &failure);
                    // The retry is sent with the current run, so earlier changes of the run can no longer be undone.
                    self.make_run_changes_irreversible();
                    self.reply_overrides.extend(reply_source.clone().map(|source| (effect.call(), source)));
                    self.calls.insert(effect.call(), effect);
                } else if let (Some(call), Some(source)) = (*call, reply_source) {
                    // `PromptSent` has already sent the call again in the same batch; only the source of the reply is
                    // new.
                    self.reply_overrides
                        .extend(self.calls.contains_key(&call).then(|| (call, source.clone())));
                }
                self.divergence = None;
            }
            Event::CallGivenUp { call } => {
                self.cancelled_calls.retain(|(e, _)| e.call() != *call);
                let is_actor_call = matches!(
                    self.take_failed_call(*call),
                    Some((Effect::Ask { prompt, .. }, _)) if prompt.role == ModelRole::Actor
                );
                if is_actor_call {
                    self.edit_step(seq, Step::clear_proposal);
                }
            }
            Event::Diverged { episode, step, recorded, actual } => {
                self.divergence = Some((*episode, *step, recorded.clone(), actual.clone()));
            }
            Event::EpisodeEnded { summary } => {
                let mut outcome = summary.clone();
                // Sessions of earlier versions recorded the reward instead.
                if outcome.won {
                    outcome.progress = 1.0;
                }
                if let Some(episode) = &self.episode {
                    outcome.stats = episode.stats(self.clock.elapsed);
                }
                self.ended_episodes.push_back_mut(Arc::new((*outcome).clone()));
                self.edit_episode(|e| e.outcome = Some(outcome));
                self.calls.clear();
                self.reply_overrides.clear();
                self.draft = None;
                self.failed_call = None;
                self.more_failed_calls.clear();
                self.cancelled_calls.clear();
                self.divergence = None;
                if self.grant.is_some() {
                    self.grant = None;
                    self.pause_reason = Some(PauseReason::EpisodeEnd);
                }
            }
            Event::RunEnded => self.run_over = true,
            Event::BreakpointSet { breakpoint, config } => self.breakpoints.set(*breakpoint, config),
            Event::BreakpointSwitched { breakpoint, enabled } => {
                self.breakpoints.set_enabled(*breakpoint, *enabled);
            }
            Event::BreakpointRemoved { breakpoint } => self.breakpoints.remove(*breakpoint),
            Event::BreakpointHit { breakpoint, episode, step, reason } => {
                self.record_hit(seq, *breakpoint, (*episode, *step), reason);
            }
            Event::Closed => self.closed = true,
            Event::Reopened => {
                // Calls that were in flight are sent again, to the model and not to a recording chosen before.
                self.reply_overrides.clear();
                self.abandon_samples();
                self.closed = false;
                self.run_status = RunStatus::Paused;
                self.grant = None;
                self.pause_reason = Some(PauseReason::Resume);
            }
        }
        self.record_intervention(seq, envelope.cause, &envelope.event);
        self.set_clock(envelope.timestamp);
    }

    fn set_grant(&mut self, grant: Grant) {
        self.grant = Some(grant);
        self.breakpoints.current_hit = None;
    }

    /// Removes the permission to run one stage ([`Grant::Stage`]) after the stage has run.
    fn use_stage_grant(&mut self) {
        if self.grant == Some(Grant::Stage) {
            self.grant = None;
        }
    }

    /// Opens the step that an actor's prompt is for, or updates it if it is already open. A mentor's prompt opens no
    /// step.
    fn open_step(&mut self, prompt: &PromptRecord, seq: Seq, stage: Stage) {
        if prompt.role != ModelRole::Actor {
            return;
        }
        let lesson_count =
            prompt.segments.iter().filter(|s| matches!(s.origin, SegmentOrigin::Lesson { .. })).count()
                as u32;
        let call: CallId = prompt.call;
        let number = prompt.step;
        self.edit_episode(|e| {
            if e.steps.len() < number as usize {
                e.steps.push_back_mut(Arc::new(Step { number, first_seq: seq, ..Step::default() }));
            }
        });
        self.edit_step(seq, |s| {
            s.stage = stage;
            s.call = Some(call);
            s.prompt_seq = seq;
            s.lesson_count = lesson_count;
            s.prompt_edited = prompt.edited;
        });
    }
}
