//! Folds a person's edits of lessons, texts and settings, and maintains the undo and redo stacks.

use crate::domain::{
    Author, BreakpointConfig, CallId, ExecutedAction, LessonOp, ManualEdit, Seq, Setting, SettingOrigin,
    TEMPLATES_SETTING, ThoughtDisposition,
};
use crate::engine::{Cause, Event, Remark, State, UndoAction, UndoEntry};
use std::sync::Arc;

/// Maximum number of entries on the undo stack.
const MAX_UNDO_ENTRIES: usize = 256;

impl State {
    pub(super) fn change_lesson(&mut self, seq: Seq, op: &LessonOp, author: Author) {
        let position = self.current_position();
        if matches!(op, LessonOp::Measured { .. }) {
            return self.pool.apply(op, seq, position, author);
        }
        // The draft may show the pool as it was before. A draft that a person edited is discarded only by the person's
        // own change.
        self.draft.take_if(|draft| author == Author::Person || !draft.edited);
        self.pool.apply(op, seq, position, author);
        self.limit_loaded_lesson(op, author);
        if author == Author::Mentor && self.is_last_question_edited() {
            self.pool.mark_edited_by_person(op.id());
        }
        if author == Author::Person && !matches!(op, LessonOp::Recur { .. }) {
            self.push_undo(seq, UndoAction::Lesson(op.clone()));
        }
    }

    /// The scope that a person chooses for a lesson from elsewhere is that of the current task.
    fn limit_loaded_lesson(&mut self, op: &LessonOp, author: Author) {
        let LessonOp::Rescope { id, .. } = op else { return };
        let is_loaded = self.pool.get(id).is_some_and(|lesson| lesson.learnt_at == (0, 0));
        if let Some(episode) = self.episode.as_deref().filter(|_| is_loaded && author == Author::Person) {
            let task = episode.task.clone();
            self.pool.limit_to_task(id, &task);
        }
    }

    pub(super) fn undo_lesson(&mut self, seq: Seq, target_seq: Seq, op: &LessonOp) {
        let position = self.current_position();
        self.draft = None;
        self.pool.apply(op, seq, position, Author::Person);
        self.move_to_redo(target_seq);
    }

    pub(super) fn redo_lesson(&mut self, seq: Seq, target_seq: Seq, op: &LessonOp) {
        let position = self.current_position();
        self.draft = None;
        self.pool.apply(op, seq, position, Author::Person);
        self.move_to_undo(seq, target_seq, UndoAction::Lesson(op.clone()));
    }

    /// Pushes a person's edit onto the undo stack, together with the value that it replaces. Must be called before the
    /// event is folded.
    pub(super) fn record_undo(&mut self, seq: Seq, cause: Cause, event: &Event) {
        if cause != Cause::Person {
            return self.forget_breakpoint_edits(event);
        }
        if let Some(description) = self.irreversible_action(event) {
            return self.push_undo(seq, UndoAction::Irreversible(description.to_owned()));
        }
        let action = match event {
            Event::RunChanged { spec } => {
                let Some(previous) = self.run.clone() else { return };
                // Changing the run back to what it was before the last change undoes that change.
                let unused = |since: Seq| self.last_pool_use <= since;
                let is_inverse = |last: &UndoEntry| {
                    unused(last.seq) && matches!(&last.action, UndoAction::Run(before) if **before == **spec)
                };
                let newest = self.undo_stack.iter().rposition(|entry| !self.is_obsolete(entry));
                if let Some(index) = newest.filter(|index| is_inverse(&self.undo_stack[*index])) {
                    self.undo_stack.remove(index);
                    return;
                }
                UndoAction::Run(previous)
            }
            // These can't be undone, because the action is executed and the agent reads the rejection. A person can
            // only fork from before them.
            Event::ActionOverridden { .. } | Event::ProposalRejected { .. } => UndoAction::Executed,
            Event::BreakpointSet { breakpoint, config } => {
                self.breakpoint_edit(*breakpoint, Some(config.clone()), true)
            }
            Event::BreakpointSwitched { breakpoint, enabled } => {
                let config = self.breakpoints.get(*breakpoint).map(|b| b.config.clone());
                self.breakpoint_edit(*breakpoint, config, *enabled)
            }
            Event::BreakpointRemoved { breakpoint } => self.breakpoint_edit(*breakpoint, None, false),
            Event::SettingChanged { name, value } => {
                let setting = Some(Setting { value: value.clone(), origin: SettingOrigin::Person });
                UndoAction::ManualEdit(ManualEdit::Setting {
                    name: name.clone(),
                    previous: self.run.as_deref().and_then(|run| run.current_setting(name)),
                    setting,
                })
            }
            Event::AutonomySet { autonomy } => {
                UndoAction::ManualEdit(ManualEdit::Autonomy { previous: self.autonomy, autonomy: *autonomy })
            }
            Event::Remarked { episode, step, text } => {
                let episode = episode.unwrap_or_else(|| self.episode.as_ref().map_or(0, |e| e.number));
                let (step, text) = (*step, text.clone());
                UndoAction::ManualEdit(ManualEdit::Remark { episode, step, text, removed: false })
            }
            Event::PromptDrafted { prompt } if prompt.edited => {
                let waiting_prompt = self.waiting_prompt(prompt.call).cloned();
                let previous = waiting_prompt.or_else(|| self.cancelled_prompt_for_draft(prompt));
                let Some(previous) = previous else {
                    return;
                };
                UndoAction::ManualEdit(ManualEdit::Prompt { previous, prompt: prompt.clone() })
            }
            Event::ThoughtEdited { step, previous, text } => {
                let previous_edited = self.step(*step).is_some_and(|s| s.thought_edited);
                let (previous, text) = (previous.clone(), text.clone());
                UndoAction::ManualEdit(ManualEdit::Thought {
                    step: *step,
                    previous,
                    previous_edited,
                    text,
                    edited: true,
                })
            }
            Event::ObservationEdited { step, previous, text } => {
                let answer = self.step(*step).and_then(|s| s.answer.as_ref());
                let previous_edited = answer.is_some_and(|a| a.edited);
                let (previous, text) = (previous.clone(), Some(text.clone()));
                UndoAction::ManualEdit(ManualEdit::Observation {
                    step: *step,
                    previous,
                    previous_edited,
                    text,
                    edited: true,
                })
            }
            _ => return,
        };
        self.push_undo(seq, action);
    }

    /// Creates the undo action for a change of a breakpoint, which includes the breakpoint's previous state.
    fn breakpoint_edit(&self, number: u32, config: Option<BreakpointConfig>, enabled: bool) -> UndoAction {
        let before = self.breakpoints.get(number);
        let (previous, previous_enabled) =
            (before.map(|b| b.config.clone()), before.is_some_and(|b| b.enabled));
        UndoAction::ManualEdit(ManualEdit::Breakpoint { number, previous, previous_enabled, config, enabled })
    }

    /// Removes the undo and redo entries of a breakpoint that a fork, not a person, has set, switched or removed.
    fn forget_breakpoint_edits(&mut self, event: &Event) {
        let (Event::BreakpointSet { breakpoint: changed, .. }
        | Event::BreakpointSwitched { breakpoint: changed, .. }
        | Event::BreakpointRemoved { breakpoint: changed }) = event
        else {
            return;
        };
        let is_kept = |entry: &UndoEntry| match &entry.action {
            UndoAction::ManualEdit(ManualEdit::Breakpoint { number, .. }) => number != changed,
            _ => true,
        };
        self.undo_stack.retain(is_kept);
        self.redo_stack.retain(is_kept);
    }

    pub(super) fn apply_edit(&mut self, change: &ManualEdit) {
        if change.is_intervention() && !matches!(change, ManualEdit::Prompt { .. }) {
            self.draft = None;
        }
        match change {
            ManualEdit::Thought { step, text, edited, .. } => {
                self.set_thought(*step, text.as_deref(), *edited);
            }
            ManualEdit::Observation { step, text, edited, .. } => self.edit_episode(|e| {
                e.edit_step(*step, |s| {
                    if let Some(answer) = &mut s.answer {
                        answer.agent_view.clone_from(text);
                        answer.edited = *edited;
                    }
                });
            }),
            ManualEdit::Setting { name, setting, .. } => {
                if let Some(run) = self.run.as_mut() {
                    Arc::make_mut(run).change_setting(name, setting.clone());
                }
            }
            ManualEdit::Autonomy { autonomy, .. } => self.autonomy = *autonomy,
            ManualEdit::Remark { episode, step, text, removed } => {
                self.edit_remark(*episode, *step, text, *removed);
            }
            ManualEdit::Prompt { prompt, .. } => {
                if !self.replace_waiting_prompt(prompt) {
                    self.draft = Some(prompt.clone());
                }
            }
            ManualEdit::Breakpoint { number, config: Some(config), enabled, .. } => {
                self.breakpoints.set(*number, config);
                self.breakpoints.set_enabled(*number, *enabled);
            }
            ManualEdit::Breakpoint { number, config: None, .. } => self.breakpoints.remove(*number),
        }
    }

    /// Applies `change`, which undoes or redoes an edit, and moves the edit's entry to the other stack. `target_seq` is
    /// the event of that entry.
    pub(super) fn apply_undo_or_redo(
        &mut self,
        seq: Seq,
        target_seq: Seq,
        change: &ManualEdit,
        is_undo: bool,
    ) {
        self.apply_edit(change);
        if is_undo {
            self.move_to_redo(target_seq);
        } else {
            self.move_to_undo(seq, target_seq, UndoAction::ManualEdit(change.clone()));
        }
    }

    fn set_thought(&mut self, step: u32, text: Option<&str>, edited: bool) {
        self.edit_episode(|e| {
            e.edit_step(step, |s| {
                s.thought = text.map(str::to_owned);
                s.thought_edited = edited;
                match (&mut s.executed, text) {
                    // A thought-only step. `sent` keeps the original text for replays, because that is what the
                    // environment received.
                    (Some(ExecutedAction { action, sent, .. }), Some(text))
                        if action.trim_start().starts_with("think:") =>
                    {
                        let original = std::mem::replace(action, format!("think: {text}"));
                        sent.get_or_insert(original);
                    }
                    (
                        Some(ExecutedAction {
                            thought_disposition: ThoughtDisposition::Rewritten(rewritten),
                            ..
                        }),
                        Some(text),
                    ) => {
                        text.clone_into(rewritten);
                    }
                    _ => {}
                }
            });
        });
    }

    pub(super) fn edit_remark(&mut self, episode: u32, step: u32, text: &str, removed: bool) {
        let remark = Remark { episode, step, text: text.to_owned() };
        if !removed {
            self.remarks.push(remark);
        } else if let Some(index) = self.remarks.iter().rposition(|one| *one == remark) {
            self.remarks.remove(index);
        }
        let Self { episode: newest, remarks, .. } = self;
        if let Some(newest) = newest.as_mut().filter(|newest| newest.number == episode) {
            Arc::make_mut(newest).set_remarks(remarks);
        }
    }

    /// Returns the state with the remarks that a later one has: these are about a step, whenever they were written.
    #[must_use]
    pub fn with_remarks_of(self: &Arc<Self>, later: &Self) -> Arc<Self> {
        if self.remarks == later.remarks {
            return self.clone();
        }
        let mut state = Self::clone(self);
        state.remarks.clone_from(&later.remarks);
        if let Some(episode) = &mut state.episode {
            Arc::make_mut(episode).set_remarks(&later.remarks);
        }
        Arc::new(state)
    }

    fn step(&self, number: u32) -> Option<&crate::domain::Step> {
        self.episode.as_deref()?.step(number)
    }

    /// Returns whether this is an edit of a prompt that hasn't been sent and no longer waits in its edited form, so
    /// that there is nothing to undo.
    pub(in crate::engine) fn is_obsolete(&self, entry: &UndoEntry) -> bool {
        match &entry.action {
            UndoAction::ManualEdit(ManualEdit::Prompt { prompt, .. }) => {
                self.last_pool_use <= entry.seq && self.waiting_prompt(prompt.call) != Some(prompt)
            }
            _ => false,
        }
    }

    fn push_undo(&mut self, seq: Seq, action: UndoAction) {
        let is_irreversible =
            |action: &UndoAction| matches!(action, UndoAction::Executed | UndoAction::Irreversible(_));
        // An undo reports only the last of several consecutive irreversible actions, so the others aren't kept.
        if is_irreversible(&action)
            && self.undo_stack.last().is_some_and(|last| is_irreversible(&last.action))
        {
            self.undo_stack.pop();
        }
        self.undo_stack.push(UndoEntry { seq, action });
        if self.undo_stack.len() > MAX_UNDO_ENTRIES {
            self.undo_stack.remove(0);
        }
        self.redo_stack.clear();
    }

    /// Makes every change of the run on the undo stack irreversible.
    pub(super) fn make_run_changes_irreversible(&mut self) {
        for entry in &mut self.undo_stack {
            if matches!(entry.action, UndoAction::Run(_)) {
                entry.action = UndoAction::Irreversible("the run was changed".to_owned());
            }
        }
    }

    fn move_to_redo(&mut self, target_seq: Seq) {
        if let Some(index) = self.undo_stack.iter().rposition(|u| u.seq == target_seq) {
            let entry = self.undo_stack.remove(index);
            self.redo_stack.push(entry);
        }
    }

    fn move_to_undo(&mut self, seq: Seq, target_seq: Seq, action: UndoAction) {
        if let Some(index) = self.redo_stack.iter().rposition(|u| u.seq == target_seq) {
            self.redo_stack.remove(index);
            self.undo_stack.push(UndoEntry { seq, action });
        }
    }

    /// Returns the numbers of the open or last episode and of its last step, to record where a lesson was learnt.
    fn current_position(&self) -> (u32, u32) {
        self.episode.as_ref().map_or((0, 0), |e| (e.number, e.steps.len() as u32))
    }
}

impl State {
    /// Describes a person's action that can't be undone. Returns `None` for any other event, including those that only
    /// let the session continue. Must be called before the event is folded.
    fn irreversible_action(&self, event: &Event) -> Option<&'static str> {
        let failed = |call: CallId| self.failed_calls().any(|(effect, _)| effect.call() == call);
        Some(match event {
            // The previous method's memory is discarded and couldn't be restored.
            Event::RunChanged { spec } if self.run.as_ref().is_none_or(|run| run.method != spec.method) => {
                "the run was changed"
            }
            Event::SummaryApplied { .. } => "a summary was reviewed",
            Event::CallCancelled { .. } => "a model call was cancelled",
            Event::CallGivenUp { call } if failed(*call) => "a failed call was given up",
            Event::CallGivenUp { .. } => "a cancelled call was given up",
            Event::EpisodeStarted { .. } => "an episode was started",
            Event::EpisodeEnded { .. } => "the episode was ended",
            Event::RunEnded => "the run was ended",
            Event::AskedAgain { .. } => "the agent was asked again",
            Event::PromptSent { prompt } if prompt.edited => "an edited prompt was sent",
            Event::PromptSent { prompt } if failed(prompt.call) => {
                "a failed call was retried with different sampling"
            }
            Event::PromptSent { prompt } if prompt.question.is_none() => "the actor was called",
            Event::PromptSent { .. } => "the mentor was called",
            // A reflection with a call answers a question to the mentor. Asking that question or giving it up has an
            // undo entry of its own.
            Event::Reflected { reflection } if reflection.call.is_none() => "a reflection was requested",
            // The setting is a hash of the templates; restoring it wouldn't restore the templates.
            Event::SettingChanged { name, .. } if name == TEMPLATES_SETTING => {
                "the prompt templates were replaced"
            }
            Event::Retried { reply_source: Some(_), .. } => "a recorded reply replaced the model's",
            Event::Retried { call: None, .. } => "the environment's new answer was accepted",
            _ => return None,
        })
    }
}
