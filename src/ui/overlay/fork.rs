//! The fork dialog: what to change on a new branch, and where the branch starts.

mod draw;
mod entries;
mod fork_point;
mod value_input;

pub(super) use fork_point::decision_point;

use crate::domain::{BranchId, LessonId, Seq};
use crate::driver::{DecisionPoint, Fork};
use crate::engine::{Command, CommandError, State};
use crate::text::with_program_name;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::draft::ForkChange;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::types::{EventRef, WorkKind};
use crate::ui::widget::picker::{Click, Picker};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent};
use entries::{Entry, fork_entries, proposal_label};
use fork_point::before_batch;
use ratatui::layout::Rect;
use std::sync::Arc;
use value_input::ValueInput;

/// The dialog's current stage.
enum Stage {
    Choosing,
    Typing(Box<ValueInput>),
}

/// Dialog that forks a new branch.
pub(super) struct ForkDialog {
    /// The selected step.
    step: u32,
    /// Whether it was opened in the present.
    is_present: bool,
    /// The branch active on opening; another one may be active when a change is chosen.
    branch: BranchId,
    /// The event to fork after, for changes that don't redo the step.
    fork_point: Seq,
    /// Where the step awaited its decision, for changes that redo it.
    decision_point: Option<DecisionPoint>,
    /// The event to fork after for another observation: nothing has used the current one yet.
    before_observation_used: Seq,
    /// The displayed state when the dialog was opened; the session may continue while it is open.
    shown: Arc<State>,
    /// The state that held the episode on screen when the dialog was opened.
    story: Arc<State>,
    entries: Picker<Entry>,
    /// Whether the change for which it was opened is typed. Then a letter opens that text instead of moving the selection, which
    /// would lead to another change unseen.
    takes_text: bool,
    /// Why an undo was rejected, if that opened the dialog.
    refusal: Option<String>,
    stage: Stage,
    error: Option<String>,
}

impl ForkDialog {
    /// Creates the dialog for the displayed state, with `change` selected.
    pub(super) fn new(context: &Context<'_>, change: &ForkChange, lesson: Option<(LessonId, u32)>) -> Self {
        let step = context.frame.selected_step();
        let here = fork_point::displayed_fork_point(context);
        let mut dialog = Self {
            step,
            is_present: !context.frame.is_in_past(),
            branch: context.frame.branch.clone(),
            fork_point: here,
            decision_point: fork_point::decision_point(context, step),
            before_observation_used: fork_point::before_observation_used(context, here),
            shown: context.frame.displayed.clone(),
            story: context.frame.story.clone(),
            entries: Picker::unfiltered(Vec::new()).with_headings(|e| matches!(e, Entry::Heading(_))),
            takes_text: false,
            refusal: None,
            stage: Stage::Choosing,
            error: None,
        };
        let answered = dialog.shown.episode.as_deref().map_or(0, crate::engine::Episode::answered_steps);
        let read_by = (dialog.before_observation_used != here).then(|| {
            if step > answered {
                format!("before the {} of step {step}: ", proposal_label(context))
            } else {
                format!("before the reflection on step {answered}: ")
            }
        });
        dialog.entries.set_items(fork_entries(context, dialog.decision_point, change, lesson, read_by));
        if dialog.entries.select(|e| matches!(e, Entry::Choice(c, ..) if c == change)) {
            dialog.takes_text = dialog.typed_after_choice().is_some();
        } else {
            dialog.error = Some(format!("not available at step {step}; choose another change"));
        }
        dialog
    }

    /// Creates the dialog for an undo that was rejected because something has used the event `about` since.
    pub(super) fn for_failed_undo(context: &Context<'_>, refusal: &CommandError, about: Seq) -> Self {
        let mut dialog = Self::new(context, &ForkChange::Continue, None);
        let at = before_batch(context, about);
        let mut entries =
            vec![Entry::Choice(ForkChange::BeforeEvent(at), "fork before it".to_owned(), String::new())];
        if let Some((seq, description)) = &refusal.older_change {
            let key =
                context.keymap.key_label(Action::Undo).map_or_else(String::new, |key| format!("{key}  "));
            let name = "undo the change before it".to_owned();
            entries.push(Entry::Choice(ForkChange::UndoOlder(*seq), name, format!("{key}{description}")));
        }
        dialog.entries.set_items(entries);
        dialog.refusal = Some(with_program_name(&refusal.message).into_owned());
        dialog
    }

    /// Returns the event after which the branch of a change starts.
    fn fork_event(&self, change: &ForkChange) -> Seq {
        let redoes_step = matches!(
            change,
            ForkChange::Action | ForkChange::Thought | ForkChange::AskAgain | ForkChange::Reject
        );
        match change {
            ForkChange::BeforeEvent(seq) => *seq,
            ForkChange::Observation => self.before_observation_used,
            _ => self
                .decision_point
                .filter(|_| redoes_step)
                .map_or(self.fork_point, DecisionPoint::last_kept_seq),
        }
    }

    /// Opens the text of the selected change with what was typed. Changes without a text ignore it.
    fn type_text(&mut self, typed: &str, context: &Context<'_>) -> Response {
        if !self.takes_text || typed.trim().is_empty() || self.typed_after_choice().is_none() {
            return Response::default();
        }
        let mut response = self.accept_choice(context);
        if let Stage::Typing(value) = &mut self.stage {
            value.on_paste(typed);
        }
        for request in &mut response.requests {
            if let Request::AddLessonOnFork { typed: text, .. } = request {
                typed.clone_into(text);
            }
        }
        response
    }

    fn accept_choice(&mut self, context: &Context<'_>) -> Response {
        let Some(Entry::Choice(change, ..)) = self.entries.selected().cloned() else {
            return Response::default();
        };
        let from = Some(self.branch.clone());
        let at = self.fork_event(&change);
        let fork = |reason: String, commands: Vec<Command>| Fork {
            source_branch: from.clone(),
            at_seq: at,
            reason,
            commands,
        };
        let (step, place) = (self.step, fork_point::describe_position(&self.shown));
        match &change {
            ForkChange::Continue => Response::request_and_close(Request::Fork(fork(
                format!("{place}: continued"),
                vec![Command::Step],
            ))),
            ForkChange::BeforeEvent(_) => Response::request_and_close(Request::Fork(fork(
                "before the undone change".to_owned(),
                Vec::new(),
            ))),
            ForkChange::UndoOlder(seq) => {
                Response::request_and_close(Request::Send(Command::UndoChange(*seq)))
            }
            ForkChange::AskAgain => {
                let commands = match self.decision_point {
                    // A person played this step: hand it to the agent.
                    Some(DecisionPoint::Played(_)) => {
                        vec![Command::SetAutonomy(crate::domain::Autonomy::Auto), Command::Step]
                    }
                    _ => vec![Command::AskAgain],
                };
                Response::request_and_close(Request::Fork(fork(
                    format!("step {step}: asked again"),
                    commands,
                )))
            }
            ForkChange::Command(command, description) => Response::request_and_close(Request::Fork(fork(
                format!("{place}: {description}"),
                vec![(**command).clone()],
            ))),
            ForkChange::NewLesson => {
                let fork = fork(format!("{place}: lesson added"), vec![Command::Step]);
                Response::request_and_close(Request::AddLessonOnFork {
                    fork,
                    lesson: None,
                    typed: String::new(),
                })
            }
            ForkChange::EditLesson(id) => {
                let fork = fork(format!("{place}: lesson edited"), vec![Command::Step]);
                Response::request_and_close(Request::AddLessonOnFork {
                    fork,
                    lesson: Some(id.clone()),
                    typed: String::new(),
                })
            }
            ForkChange::Action
            | ForkChange::Thought
            | ForkChange::Observation
            | ForkChange::Reject
            | ForkChange::Method
            | ForkChange::Actor
            | ForkChange::Mentor
            | ForkChange::Sampling(_)
            | ForkChange::Setting => {
                let answered =
                    || self.shown.episode.as_deref().map_or(0, crate::engine::Episode::answered_steps);
                let step = if change == ForkChange::Observation { answered() } else { step };
                // Completion needs the actions that were admissible at that point.
                let epoch = context.frame.epoch;
                let at = self
                    .decision_point
                    .filter(|_| change == ForkChange::Action)
                    .map(|point| EventRef { epoch, seq: point.last_kept_seq() });
                self.stage =
                    Stage::Typing(Box::new(ValueInput::new((&self.shown, &self.story), change, step, at)));
                at.map_or_else(Response::default, |at| Response::request(Request::ListAdmissibleAt(at)))
            }
        }
    }

    /// Accepts the typed value and requests the fork.
    fn accept_value(&mut self) -> Response {
        let Stage::Typing(value) = &mut self.stage else { return Response::default() };
        let played = matches!(self.decision_point, Some(DecisionPoint::Played(_)));
        match value.accept(&self.shown, played) {
            Ok(Some((reason, commands))) => {
                let change = value.change().clone();
                Response::request_and_close(Request::Fork(Fork {
                    source_branch: Some(self.branch.clone()),
                    at_seq: self.fork_event(&change),
                    reason,
                    commands,
                }))
            }
            Ok(None) => Response::default(),
            Err(why) => {
                self.error = Some(why);
                Response::default()
            }
        }
    }
}

impl Component for ForkDialog {
    fn name(&self) -> &'static str {
        "fork"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        match &self.stage {
            Stage::Choosing if self.takes_text => Mode::PickList,
            Stage::Choosing => Mode::Choice,
            Stage::Typing(value) => value.mode(),
        }
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        self.error = None;
        if let Stage::Typing(value) = &mut self.stage {
            match action {
                // One level back: from a filled-in name to the whole list, then to the choices.
                Action::Close if !value.clear_typed() => self.stage = Stage::Choosing,
                Action::Close => {}
                Action::Accept | Action::Open => return self.accept_value(),
                Action::AcceptTyped if value.insert_line_break() => {}
                Action::AcceptTyped => {
                    value.choose_typed_text();
                    return self.accept_value();
                }
                other => value.on_action(other),
            }
            return Response::default();
        }
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.accept_choice(context),
            other => self.entries.on_action(other, self.entries.page_rows()),
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, context: &Context<'_>) -> Response {
        if let Stage::Typing(value) = &mut self.stage {
            self.error = None;
            value.on_key(key);
        } else if self.takes_text {
            if let KeyCode::Char(letter) = key.code
                && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
            {
                return self.type_text(&letter.to_string(), context);
            }
        } else if context.keymap.action_for(Mode::Main, key) == Some(Action::Undo) {
            // Pressing undo again undoes the change before.
            let older = |e: &Entry| matches!(e, Entry::Choice(ForkChange::UndoOlder(_), ..));
            if self.entries.select(older) {
                return self.accept_choice(context);
            }
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, context: &Context<'_>) -> Response {
        if let Stage::Typing(value) = &mut self.stage {
            value.on_paste(text);
            return Response::default();
        }
        self.type_text(text, context)
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let (Answer::AdmissibleAt { at, actions: listed }, Stage::Typing(value)) =
            (answer, &mut self.stage)
        {
            value.set_admissible(at, &listed);
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, context: &Context<'_>) -> Response {
        if let Stage::Typing(value) = &mut self.stage {
            value.on_mouse(event);
        } else if self.entries.on_mouse(event) == Some(Click::SelectedItem) {
            return self.accept_choice(context);
        }
        Response::default()
    }

    fn awaits(&self) -> Option<WorkKind> {
        match &self.stage {
            Stage::Typing(value) if value.awaits_admissible() => Some(WorkKind::Admissible),
            Stage::Choosing | Stage::Typing(_) => None,
        }
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        self.draw_dialog(context, screen, canvas);
    }
}
