//! Folds events into the state. The fold cannot fail and has no side effects. Its match has no wildcard, so that the
//! compiler reports an event that isn't handled.

mod breakpoints;
mod cancelled;
mod clock;
mod manual_edit;
mod prefetch;
mod prompt;
mod state_updates;

use state_updates::{is_intervention, to_observation};

use super::state::{Episode, Grant, NoteTally, RunStatus, State};
use super::{Cause, Effect, Envelope, Event, PauseReason, ReplyTally, effect_of};
use crate::domain::{
    CallId, EpisodeRole, ExecutedAction, FailureKind, ManualEdit, ModelRole, PoolChange, PromptRecord,
    SegmentOrigin, Seq, Stage, Step,
};
use std::sync::Arc;

impl State {
    /// Folds one event into the state.
    pub fn apply(&mut self, envelope: &Envelope) {
        let seq = envelope.seq;
        self.count_time(envelope);
        self.head = seq;
        if let Some(effect) = effect_of(&envelope.event) {
            let call = effect.call();
            if !matches!(envelope.event, Event::CallCancelled { .. }) {
                self.next_call = self.next_call.max(call.0.saturating_add(1));
                // The draft has been sent. (In old sessions, another call may have been given its id.)
                self.draft.take_if(|draft| draft.call == call);
                self.clear_cancelled(&effect);
                self.calls.insert(call, effect);
            }
        }
        if envelope.cause == Cause::Person && is_intervention(&envelope.event) {
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
                self.pool.remove_episode_lessons();
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
                self.run_allowance = None;
            }
            Event::PrefetchChanged(update) => self.record_prefetch(update),
            Event::SettingDeviationsChanged { call, role, settings } => {
                self.record_setting_deviations(seq, *call, *role, settings);
            }
            Event::ReplyReceived { call, usage, truncated, reply_source, .. } => {
                // An actor's call stays in flight until its proposal arrives, so that it is repeated if the program is
                // killed in between. A mentor's reply is in the same batch as the events that result from it.
                let role = match self.calls.get(call) {
                    Some(Effect::Ask { prompt, .. }) => {
                        let prompt = prompt.clone();
                        self.record_token_count(&prompt, usage);
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
                        s.usage = *usage;
                        s.reply_source.clone_from(reply_source);
                    });
                }
            }
            Event::Warned { text, .. } => {
                self.actor_replies.warned = true;
                self.edit_step(seq, |s| s.warnings.push(text.clone()));
            }
            Event::Proposed { thought, action, complaints, .. } => {
                self.remove_actor_call();
                self.edit_step(seq, |s| {
                    s.thought.clone_from(thought);
                    s.proposed.clone_from(action);
                    s.complaints.clone_from(complaints);
                    s.approved = false;
                    s.stage = Stage::Decision;
                });
                self.run_allowance = None;
            }
            Event::Approved { .. } => self.edit_step(seq, |s| s.approved = true),
            Event::ActionOverridden {
                step, action, shown_as, thought_disposition, thoughts_from, ..
            } => {
                if let Some(first_thought) = *thoughts_from {
                    self.drop_thoughts(first_thought, *step);
                }
                // The person acts instead of the actor.
                self.draft.take_if(|draft| draft.role == ModelRole::Actor);
                self.edit_step(seq, |s| {
                    s.approved = true;
                    // Even if the call of this step was cancelled: the person's action replaces its proposal.
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
                s.clear_proposal();
            }),
            Event::AskedAgain { unusable_reason, .. } => {
                self.draft = None;
                self.remove_actor_call();
                self.edit_step(seq, |s| {
                    s.clear_proposal();
                    s.unusable_replies += u32::from(unusable_reason.is_some());
                });
                if unusable_reason.is_some() {
                    self.actor_replies.count_unusable();
                }
            }
            Event::ActionTaken { executed, call, admissible_only: is_listing, .. } => {
                self.last_pool_use = seq;
                let is_env_step = call.is_some() && !is_listing;
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
                let mut tally = self.actor_replies;
                if let Some(step) = self.last_step() {
                    tally.count_step(step);
                }
                self.actor_replies = tally;
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
                self.edit_step(seq, |s| s.reflections.push(index));
                self.use_stage_grant();
            }
            Event::LessonChanged { op, author } => self.change_lesson(seq, op, *author),
            Event::PoolProposed { change } => {
                self.waiting_summaries.push(PoolChange { seq, ..(**change).clone() });
            }
            Event::PoolSettled { refused } => self.settle_summary(refused),
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
            Event::ReplaySeedLoaded { replay_seed } => self.apply_replay_seed(replay_seed),
            Event::MemorySet { value } => self.memory = value.clone(),
            Event::Remarked { step, text } => {
                let remark = text.clone();
                let number = *step;
                if number == 0 {
                    let episode = self.episode.as_ref().map_or(0, |e| e.number);
                    self.remarks.push((episode, remark));
                } else {
                    self.edit_episode(|e| {
                        e.edit_step(number, |s| s.remarks.push(remark));
                    });
                }
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
                // What is known about the previous servers doesn't apply to the new ones.
                self.setting_deviations.clear();
                self.token_ratios.clear();
                // The new method can't give up cancelled calls of the previous one.
                if self.run.as_ref().is_none_or(|run| run.method != spec.method) {
                    self.cancelled_calls.clear();
                }
                self.run = Some(Arc::new((**spec).clone()));
            }
            Event::AutonomySet { autonomy } => self.autonomy = *autonomy,
            Event::Resumed => {
                self.run_status = RunStatus::Running;
                self.run_allowance = None;
                self.pause_reason = None;
                self.breakpoints.current_hit = None;
            }
            Event::PauseRequested => self.run_status = RunStatus::Pausing,
            Event::Paused { reason } => {
                self.run_status = RunStatus::Paused;
                self.run_allowance = None;
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
                    self.mark_run_change_used();
                    self.reply_overrides.extend(reply_source.clone().map(|source| (effect.call(), source)));
                    self.calls.insert(effect.call(), effect);
                } else if let (Some(call), Some(source)) = (*call, reply_source) {
                    // The call was sent again in the same batch.
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
                if self.run_allowance.is_some() {
                    self.run_allowance = None;
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
                // Calls that are repeated go to the model, not to a recorded reply.
                self.reply_overrides.clear();
                self.closed = false;
                self.run_status = RunStatus::Paused;
                self.run_allowance = None;
                self.pause_reason = Some(PauseReason::Resume);
            }
        }
        self.set_clock(envelope.timestamp);
    }

    fn set_grant(&mut self, grant: Grant) {
        self.run_allowance = Some(grant);
        self.breakpoints.current_hit = None;
    }

    /// Uses up the permission to run one stage ([`Grant::Stage`]), because the stage has run.
    fn use_stage_grant(&mut self) {
        if self.run_allowance == Some(Grant::Stage) {
            self.run_allowance = None;
        }
    }

    /// Opens the step of an actor's prompt, or updates it if it is open. A mentor's prompt belongs to no step.
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
