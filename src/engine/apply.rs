//! The fold. It cannot fail, asks nobody, and has no wildcard.

mod ahead;
mod broken;
mod hand;
mod parts;
mod prompt;
mod stops;
mod time;

use parts::{seen_of, touches_episode};

use super::state::{Episode, Grant, NoteTally, Pace, State};
use super::{Cause, Effect, Envelope, Event, PauseReason, ReplyTally, effect_of};
use crate::domain::{
    CallId, EpisodeRole, Executed, FailureKind, ManualEdit, ModelRole, Origin, PoolChange, PromptRecord, Seq,
    Stage, Step,
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
                // Its own sending, or in old sessions whatever was asked under its number in its place.
                self.draft.take_if(|draft| draft.call == call);
                self.pass_broken_off(&effect);
                self.calls.insert(call, effect);
            }
        }
        if envelope.cause == Cause::Person && touches_episode(&envelope.event) {
            self.edit_episode(|e| e.assisted |= e.outcome.is_none());
        }
        self.note_deed(seq, envelope.cause, &envelope.event);
        self.settle_early(&envelope.event);
        match &envelope.event {
            Event::RunStarted { session, spec } => {
                self.session.clone_from(session);
                self.autonomy = spec.autonomy;
                self.run = Some(Arc::new((**spec).clone()));
            }
            Event::PoolLoaded { source, .. } => self.pool.load(source),
            Event::TextDefined { hash, text } => {
                self.texts.insert_mut(hash.clone(), Arc::from(text.as_str()));
            }
            Event::EpisodeStarted { episode, task, trial, role, .. } => {
                self.pool.end_episode();
                self.keep_attempt();
                self.begin_rows();
                self.over = false;
                let begun = Episode::begun(*episode, task, *trial, *role, seq);
                self.episode = Some(Arc::new(begun));
            }
            Event::WorldReset { call, turn, seen, goal } => {
                self.calls.remove(call);
                self.edit_episode(|e| {
                    // Who explores is not told the goal.
                    if e.role != EpisodeRole::Explore {
                        e.task.goal.clone_from(goal);
                    }
                    e.absorb(turn);
                    e.reset = Some(seen_of(turn, seen.as_ref()));
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
            Event::AskedAhead(told) => self.ask_ahead(told),
            Event::SettingsUnsent { call, asked, what } => self.learn_unsent(seq, *call, *asked, what),
            Event::ReplyReceived { call, usage, truncated, from, .. } => {
                // An actor's call stays in flight until its proposal is read, so that a cut between the two asks again; what
                // a mentor's answer comes to stands in the same batch.
                let asked = match self.calls.get(call) {
                    Some(Effect::Ask { prompt, .. }) => {
                        let prompt = prompt.clone();
                        self.measure(&prompt, usage);
                        prompt.asked
                    }
                    _ => ModelRole::Actor,
                };
                self.count_tokens(asked, usage);
                self.stand_ins.retain(|s| s.0 != *call);
                if asked == ModelRole::Mentor {
                    self.calls.remove(call);
                } else {
                    self.actor_replies.truncated = truncated.is_some();
                    self.edit_step(seq, |s| {
                        s.usage = *usage;
                        s.from.clone_from(from);
                    });
                }
            }
            Event::Warned { text, .. } => {
                self.actor_replies.warned = true;
                self.edit_step(seq, |s| s.warnings.push(text.clone()));
            }
            Event::Proposed { thought, action, complaints, .. } => {
                self.settle_actor();
                self.edit_step(seq, |s| {
                    s.thought.clone_from(thought);
                    s.proposed.clone_from(action);
                    s.complaints.clone_from(complaints);
                    s.approved = false;
                    s.stage = Stage::Decision;
                });
                self.grant = None;
            }
            Event::Approved { .. } => self.edit_step(seq, |s| s.approved = true),
            Event::ActionOverridden { step, action, shown_as, fate, thoughts_from, .. } => {
                if let Some(from) = *thoughts_from {
                    self.drop_thoughts(from, *step);
                }
                // The person acts in its place.
                self.draft.take_if(|draft| draft.asked == ModelRole::Actor);
                self.edit_step(seq, |s| {
                    s.approved = true;
                    // A step whose call was broken off has no decision to wait for but this one.
                    s.stage = Stage::Decision;
                    s.executed = Some(Executed {
                        action: action.clone(),
                        sent: None,
                        rule: None,
                        by: crate::domain::By::Person,
                        shown_as: *shown_as,
                        fate: fate.clone(),
                    });
                });
            }
            Event::ProposalRejected { was, reason, .. } => self.edit_step(seq, |s| {
                s.rejections.push((was.clone(), reason.clone()));
                s.clear_proposal();
            }),
            Event::AskedAgain { unusable, .. } => {
                self.draft = None;
                self.settle_actor();
                self.edit_step(seq, |s| {
                    s.clear_proposal();
                    s.unusable += u32::from(unusable.is_some());
                });
                if unusable.is_some() {
                    self.actor_replies.count_unusable();
                }
            }
            Event::ActionTaken { executed, call, list, .. } => {
                self.pool_used = seq;
                let moved = call.is_some() && !list;
                self.edit_step(seq, |s| {
                    s.reached_world = moved;
                    s.executed = Some(executed.clone());
                    s.stage = Stage::Observation;
                });
                let action = executed.action.clone();
                self.edit_episode(|e| {
                    if moved && !action.trim_start().starts_with("think:") {
                        e.moves += 1;
                    }
                    let step = e.steps.len() as u32;
                    let count = e.actions.get(&action).map_or(0, |a| a.0) + 1;
                    e.actions.insert_mut(action, (count, step));
                });
            }
            Event::Observed { call, turn, seen, .. } => {
                if let Some(call) = call {
                    self.calls.remove(call);
                }
                self.edit_step(seq, |s| {
                    s.answer = Some(seen_of(turn, seen.as_ref()));
                    s.answered_seq = seq;
                    s.stage = Stage::Reflection;
                });
                self.edit_episode(|e| e.absorb(turn));
                self.count_rows();
                self.spend_stage();
            }
            Event::Noted { notes, step } => {
                self.edit_step(seq, |s| {
                    s.notes.clone_from(notes);
                    s.noted = true;
                });
                let mut tally = self.actor_replies;
                if let Some(step) = self.last_step() {
                    tally.count_step(step);
                }
                self.actor_replies = tally;
                let step = *step;
                self.edit_episode(|e| {
                    for note in notes {
                        let count = e.noted.get(&note.detector).map_or(0, |t| t.count) + 1;
                        let tally = NoteTally { count, last_step: step, last: note.clone() };
                        e.noted.insert_mut(note.detector.clone(), tally);
                    }
                });
                self.count_nothing();
            }
            Event::Reflected { reflection } => {
                let index = self.reflections.len() as u32;
                let mut reflection = (**reflection).clone();
                reflection.seq = seq;
                reflection.prompt_edited = self.question_edited(reflection.call);
                self.reflections.push_back_mut(Arc::new(reflection));
                self.edit_step(seq, |s| s.reflections.push(index));
                self.spend_stage();
            }
            Event::LessonChanged { op, by } => self.change_lesson(seq, op, *by),
            Event::PoolProposed { change } => {
                self.changes.push(PoolChange { seq, ..(**change).clone() });
            }
            Event::PoolSettled { refused } => self.settle_pool(refused),
            Event::Undone { of, op } => self.undo_lesson(seq, *of, op),
            Event::Redone { of, op } => self.redo_lesson(seq, *of, op),
            Event::ThoughtEdited { step, was, text } => {
                let (was, text) = (was.clone(), text.clone());
                self.make(&ManualEdit::Thought { step: *step, was, was_edited: false, text, edited: true });
            }
            Event::ObservationEdited { step, was, text } => {
                let (was, text) = (was.clone(), Some(text.clone()));
                self.make(&ManualEdit::Observation {
                    step: *step,
                    was,
                    was_edited: false,
                    text,
                    edited: true,
                });
            }
            Event::TakenBack { of, change } => self.make_again(seq, *of, change, true),
            Event::MadeAgain { of, change } => self.make_again(seq, *of, change, false),
            Event::Carried { carried } => self.carry(carried),
            Event::MemorySet { value } => self.memory = value.clone(),
            Event::Remarked { step, text } => {
                let remark = text.clone();
                let number = *step;
                if number == 0 {
                    let episode = self.episode.as_ref().map_or(0, |e| e.number);
                    self.remarks.push((episode, remark));
                } else {
                    self.edit_episode(|e| {
                        e.edit_numbered(number, |s| s.remarks.push(remark));
                    });
                }
            }
            Event::SettingChanged { name, value } => {
                self.draft = None;
                self.set(name, value);
            }
            Event::RunChanged { spec } => {
                self.draft = None;
                if self.run.as_ref().is_none_or(|run| run.actor != spec.actor) {
                    self.actor_replies = ReplyTally::default();
                }
                // What was learnt of the servers before says nothing of those from now on.
                self.unsent.clear();
                self.measures.clear();
                // What another method asked is nothing that this one could go on without.
                if self.run.as_ref().is_none_or(|run| run.method != spec.method) {
                    self.broken_off.clear();
                }
                self.run = Some(Arc::new((**spec).clone()));
            }
            Event::AutonomySet { autonomy } => self.autonomy = *autonomy,
            Event::Resumed => {
                self.pace = Pace::Running;
                self.grant = None;
                self.pause_reason = None;
                self.stops.standing = None;
            }
            Event::PauseRequested => self.pace = Pace::Pausing,
            Event::Paused { reason } => {
                self.pace = Pace::Paused;
                self.grant = None;
                self.pause_reason = Some(*reason);
            }
            Event::StepGranted => self.go_on(Grant::Step),
            Event::StageGranted => self.go_on(Grant::Stage),
            Event::CallFailed { call, failure } => {
                self.stand_ins.retain(|s| s.0 != *call);
                if let Some(effect) = self.calls.remove(call) {
                    if let (Effect::Ask { prompt, .. }, Some(usage)) = (&effect, &failure.usage) {
                        self.count_tokens(prompt.asked, usage);
                    }
                    if failure.kind == Some(FailureKind::Unusable) {
                        self.edit_step(seq, |s| s.unusable += 1);
                        self.actor_replies.count_unusable();
                    }
                    self.add_trouble(effect, failure.clone());
                }
            }
            Event::CallCancelled { call, came } => self.break_off(seq, *call, came),
            Event::Retried { call, from } => {
                // Without a call it is about the difference, or in the oldest sessions about what failed.
                let failed = || self.failed_call.as_ref().map(|(effect, _)| effect.call());
                let failed = if self.divergence.is_some() { *call } else { call.or_else(failed) };
                if let Some((effect, failure)) = failed.and_then(|call| self.take_trouble(call)) {
                    self.count_again(&effect, &failure);
                    self.run_used();
                    self.stand_ins.extend(from.clone().map(|from| (effect.call(), from)));
                    self.calls.insert(effect.call(), effect);
                } else if let (Some(call), Some(from)) = (*call, from) {
                    // Sent anew in the same batch.
                    self.stand_ins.extend(self.calls.contains_key(&call).then(|| (call, from.clone())));
                }
                self.divergence = None;
            }
            Event::GivenUp { call } => {
                self.broken_off.retain(|(e, _)| e.call() != *call);
                let asked_actor = matches!(
                    self.take_trouble(*call),
                    Some((Effect::Ask { prompt, .. }, _)) if prompt.asked == ModelRole::Actor
                );
                if asked_actor {
                    self.edit_step(seq, Step::clear_proposal);
                }
            }
            Event::Diverged { episode, step, recorded, now } => {
                self.divergence = Some((*episode, *step, recorded.clone(), now.clone()));
            }
            Event::EpisodeEnded { summary } => {
                let mut outcome = summary.clone();
                if let Some(episode) = &self.episode {
                    outcome.hindsight = episode.hindsight(self.clock.spent);
                }
                self.past.push_back_mut(Arc::new((*outcome).clone()));
                self.edit_episode(|e| e.outcome = Some(outcome));
                self.calls.clear();
                self.stand_ins.clear();
                self.draft = None;
                self.failed_call = None;
                self.more_failed_calls.clear();
                self.broken_off.clear();
                self.divergence = None;
                if self.grant.is_some() {
                    self.grant = None;
                    self.pause_reason = Some(PauseReason::EpisodeEnd);
                }
            }
            Event::RunEnded => self.over = true,
            Event::BreakpointSet { breakpoint, stop } => self.stops.set(*breakpoint, stop),
            Event::BreakpointSwitched { breakpoint, on } => self.stops.switch(*breakpoint, *on),
            Event::BreakpointRemoved { breakpoint } => self.stops.remove(*breakpoint),
            Event::BreakpointHit { breakpoint, episode, step, why } => {
                self.hit(seq, *breakpoint, (*episode, *step), why);
            }
            Event::Closed => self.closed = true,
            Event::Reopened => {
                // What is asked anew is asked of the model itself.
                self.stand_ins.clear();
                self.closed = false;
                self.pace = Pace::Paused;
                self.grant = None;
                self.pause_reason = Some(PauseReason::Resume);
            }
        }
        self.set_clock(envelope.at);
    }

    fn go_on(&mut self, grant: Grant) {
        self.grant = Some(grant);
        self.stops.standing = None;
    }

    fn spend_stage(&mut self) {
        if self.grant == Some(Grant::Stage) {
            self.grant = None;
        }
    }

    fn open_step(&mut self, prompt: &PromptRecord, seq: Seq, stage: Stage) {
        if prompt.asked != ModelRole::Actor {
            return;
        }
        let lessons =
            prompt.segments.iter().filter(|s| matches!(s.origin, Origin::Lesson { .. })).count() as u32;
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
            s.lessons = lessons;
            s.prompt_edited = prompt.edited;
        });
    }
}
