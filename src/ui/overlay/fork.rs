//! Going on from the past: what is to be another there, and from where a new branch begins.

mod draw;
mod entries;
mod fork_point;
mod value_input;

pub(crate) use fork_point::before_batch;

use super::window::{MouseTarget, Scroll};
use super::{Answer, Overlay, Response, clamped_index, row_delta};
use crate::domain::{BranchId, LessonId, ModelRole, Seq};
use crate::driver::{DecisionPoint, Fork};
use crate::engine::{Command, CommandError, State};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{EventRef, Request};
use crossterm::event::{KeyEvent, MouseEvent};
use entries::{Entry, fork_entries};
use ratatui::layout::Rect;
use std::sync::Arc;
use value_input::ValueInput;

/// What is to be another on the new branch.
#[derive(Clone, Debug, PartialEq)]
pub enum ForkChange {
    /// Nothing: it only goes on.
    Continue,
    /// The action of the turn.
    Action,
    /// The thought of the turn.
    Thought,
    /// What the agent reads of the world's answer.
    Observation,
    /// The turn is asked again.
    AskAgain,
    /// The proposal is refused with a reason.
    Reject,
    /// A new lesson.
    NewLesson,
    /// The words of a lesson.
    EditLesson(LessonId),
    /// A wish that a key stands for, with what it comes to in words.
    Command(Box<Command>, String),
    /// The method.
    Method,
    /// The actor.
    Actor,
    /// The mentor.
    Mentor,
    /// How a role's answers are sampled.
    Sampling(ModelRole),
    /// A setting.
    Setting,
    /// Nothing: what a refused wish was about has not happened there.
    BeforeEvent(Seq),
    /// No branch: the change before the one that cannot be taken back is, here and now.
    UndoOlder(Seq),
}

/// What the dialog waits for.
enum Stage {
    Choosing,
    Typing(Box<ValueInput>),
}

/// The dialog.
pub struct ForkDialog {
    /// The chosen turn.
    step: u32,
    /// It is opened over the present.
    is_present: bool,
    /// The branch they stand on, whichever is driven by the time a change is chosen.
    branch: BranchId,
    /// The moment shown, and where the turn waited for its decision.
    fork_point: Seq,
    decision_point: Option<DecisionPoint>,
    /// Another observation begins before anything has used the one there is.
    before_observation_used: Seq,
    /// The moment shown as it was when this was opened: the session may go on behind it.
    shown: Arc<State>,
    /// The episode that was listed then.
    story: Arc<State>,
    entries: Vec<Entry>,
    selected: usize,
    /// What was refused, where that is why this was opened.
    refusal: Option<String>,
    scroll: Scroll,
    stage: Stage,
    error: Option<String>,
}

impl ForkDialog {
    /// Over the moment shown, with the change chosen that a key stands for.
    pub fn new(look: &Context<'_>, change: &ForkChange, lesson: Option<(LessonId, u32)>) -> Self {
        let turn = look.frame.selected_step();
        let here = fork_point::shown_fork_point(look);
        let mut asked = Self {
            step: turn,
            is_present: !look.frame.is_in_past(),
            branch: look.frame.branch.clone(),
            fork_point: here,
            decision_point: fork_point::decision_point(look, turn),
            before_observation_used: fork_point::before_observation_used(look, here),
            shown: look.frame.displayed.clone(),
            story: look.frame.story.clone(),
            entries: Vec::new(),
            selected: 0,
            refusal: None,
            scroll: Scroll::default(),
            stage: Stage::Choosing,
            error: None,
        };
        let answered = asked.shown.episode.as_deref().map_or(0, crate::engine::Episode::answered_steps);
        let read_by = (asked.before_observation_used != here).then(|| {
            if turn > answered {
                format!("before turn {turn} is asked: ")
            } else {
                format!("before the reflection on turn {answered}: ")
            }
        });
        asked.entries = fork_entries(look, asked.decision_point, change, lesson, read_by);
        let there = |e: &Entry| matches!(e, Entry::Choice(c, ..) if c == change);
        if !asked.entries.iter().any(there) {
            asked.error = Some(format!("turn {turn} has nothing of that kind; choose what is to be another"));
        }
        asked.select(change);
        asked
    }

    /// Over the present, after a wish was refused because of an event that something else rests on by now.
    pub fn for_refused_undo(look: &Context<'_>, refusal: &CommandError, about: Seq) -> Self {
        let mut asked = Self::new(look, &ForkChange::Continue, None);
        let at = before_batch(look, about);
        asked.entries =
            vec![Entry::Choice(ForkChange::BeforeEvent(at), "fork from before it".to_owned(), String::new())];
        if let Some((of, words)) = &refusal.older_change {
            let key = look.keymap.key_label(Action::Undo).map_or_else(String::new, |key| format!("{key}  "));
            let name = "take back what came before it".to_owned();
            asked.entries.push(Entry::Choice(ForkChange::UndoOlder(*of), name, format!("{key}{words}")));
        }
        asked.selected = 0;
        asked.refusal = Some(refusal.message.clone());
        asked
    }

    fn select(&mut self, change: &ForkChange) {
        let is = |e: &Entry| matches!(e, Entry::Choice(c, ..) if c == change);
        let any = |e: &Entry| matches!(e, Entry::Choice(..));
        let at = self.entries.iter().position(is).or_else(|| self.entries.iter().position(any));
        self.selected = at.unwrap_or(0);
    }

    /// To the next row that can be chosen.
    fn move_selection(&mut self, by: isize) {
        let rows = self.entries.iter().enumerate().filter(|(_, e)| matches!(e, Entry::Choice(..)));
        let rows: Vec<usize> = rows.map(|(place, _)| place).collect();
        let at = rows.iter().position(|r| *r == self.selected).unwrap_or(0);
        let to = clamped_index(at, by, rows.len());
        self.selected = rows.get(to).copied().unwrap_or(0);
    }

    fn selected_change(&self) -> Option<ForkChange> {
        match self.entries.get(self.selected) {
            Some(Entry::Choice(change, ..)) => Some(change.clone()),
            _ => None,
        }
    }

    /// Where the branch of a change begins.
    fn fork_event(&self, change: &ForkChange) -> Seq {
        let anew = matches!(
            change,
            ForkChange::Action | ForkChange::Thought | ForkChange::AskAgain | ForkChange::Reject
        );
        match change {
            ForkChange::BeforeEvent(seq) => *seq,
            ForkChange::Observation => self.before_observation_used,
            _ => self.decision_point.filter(|_| anew).map_or(self.fork_point, DecisionPoint::last_kept_seq),
        }
    }

    fn accept_choice(&mut self, look: &Context<'_>) -> Response {
        let Some(change) = self.selected_change() else { return Response::default() };
        let from = Some(self.branch.clone());
        let at = self.fork_event(&change);
        let fork = |reason: String, then: Vec<Command>| Fork {
            source_branch: from.clone(),
            at_seq: at,
            reason,
            commands: then,
        };
        let (turn, place) = (self.step, fork_point::describe_moment(&self.shown));
        match &change {
            ForkChange::Continue => Response::request_and_close(Request::Fork(fork(
                format!("{place}: gone on"),
                vec![Command::Step],
            ))),
            ForkChange::BeforeEvent(_) => Response::request_and_close(Request::Fork(fork(
                "before what was taken back".to_owned(),
                Vec::new(),
            ))),
            ForkChange::UndoOlder(of) => Response::request_and_close(Request::Send(Command::UndoChange(*of))),
            ForkChange::AskAgain => {
                let again = match self.decision_point {
                    // Nobody was asked: the agent gets the turn.
                    Some(DecisionPoint::Played(_)) => {
                        vec![Command::SetAutonomy(crate::domain::Autonomy::Auto), Command::Step]
                    }
                    _ => vec![Command::AskAgain],
                };
                Response::request_and_close(Request::Fork(fork(format!("turn {turn}: asked again"), again)))
            }
            ForkChange::Command(command, words) => Response::request_and_close(Request::Fork(fork(
                format!("{place}: {words}"),
                vec![(**command).clone()],
            ))),
            ForkChange::NewLesson => {
                let fork = fork(format!("{place}: a lesson added"), vec![Command::Step]);
                Response::request_and_close(Request::TeachOnFork { fork, lesson: None })
            }
            ForkChange::EditLesson(id) => {
                let fork = fork(format!("{place}: a lesson edited"), vec![Command::Step]);
                Response::request_and_close(Request::TeachOnFork { fork, lesson: Some(id.clone()) })
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
                let step = if change == ForkChange::Observation { answered() } else { turn };
                // What the world accepted then fills the line.
                let line = look.frame.epoch;
                let then = self
                    .decision_point
                    .filter(|_| change == ForkChange::Action)
                    .map(|a| EventRef { epoch: line, seq: a.last_kept_seq() });
                self.stage =
                    Stage::Typing(Box::new(ValueInput::new((&self.shown, &self.story), change, step, then)));
                then.map_or_else(Response::default, |at| Response::request(Request::ListAdmissibleAt(at)))
            }
        }
    }

    /// What was typed, as a fork.
    fn accept_value(&mut self) -> Response {
        let Stage::Typing(value) = &mut self.stage else { return Response::default() };
        let played = matches!(self.decision_point, Some(DecisionPoint::Played(_)));
        match value.accept(&self.shown, played) {
            Ok(Some((reason, then))) => {
                let change = value.change().clone();
                Response::request_and_close(Request::Fork(Fork {
                    source_branch: Some(self.branch.clone()),
                    at_seq: self.fork_event(&change),
                    reason,
                    commands: then,
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

impl Overlay for ForkDialog {
    fn name(&self) -> &'static str {
        "fork"
    }

    fn mode(&self) -> Mode {
        match &self.stage {
            Stage::Choosing => Mode::Choice,
            Stage::Typing(value) => value.mode(),
        }
    }

    fn on_action(&mut self, action: Action, look: &Context<'_>) -> Response {
        self.error = None;
        if let Stage::Typing(value) = &mut self.stage {
            match action {
                // One level back: from a name that is filled in to all of them, then to the choices.
                Action::Close if !value.clear_typed() => self.stage = Stage::Choosing,
                Action::Close => {}
                Action::Accept | Action::Open => return self.accept_value(),
                other => value.on_action(other),
            }
            return Response::default();
        }
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.accept_choice(look),
            other => self.move_selection(row_delta(other, self.scroll.page_rows()).unwrap_or(0)),
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, look: &Context<'_>) -> Response {
        if let Stage::Typing(value) = &mut self.stage {
            self.error = None;
            value.on_key(key);
        } else if look.keymap.action_for(Mode::Main, key) == Some(Action::Undo) {
            // The same key once more goes one change further back.
            let older = |e: &Entry| matches!(e, Entry::Choice(ForkChange::UndoOlder(_), ..));
            if let Some(place) = self.entries.iter().position(older) {
                self.selected = place;
                return self.accept_choice(look);
            }
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Stage::Typing(value) = &mut self.stage {
            value.on_paste(text);
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let (Answer::AdmissibleAt { at, actions: listed }, Stage::Typing(value)) =
            (answer, &mut self.stage)
        {
            value.set_admissible(at, &listed);
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, look: &Context<'_>) -> Response {
        if let Stage::Typing(value) = &mut self.stage {
            value.on_mouse(event);
            return Response::default();
        }
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) if row == self.selected => return self.accept_choice(look),
            Some(MouseTarget::Row(row)) if matches!(self.entries.get(row), Some(Entry::Choice(..))) => {
                self.selected = row;
            }
            Some(MouseTarget::Wheel(by)) => self.move_selection(by),
            _ => {}
        }
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        self.draw_dialog(look, screen, canvas);
    }
}
