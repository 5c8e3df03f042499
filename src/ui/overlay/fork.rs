//! Going on from the past: what is to be another there, and from where a new branch begins.

mod at;
mod draw;
mod entries;
mod value;

pub(crate) use at::before;

use super::window::{Pointed, Scroll};
use super::{Answer, Overlay, Response, moved, stepped};
use crate::domain::{BranchId, LessonId, ModelRole, Seq};
use crate::driver::{DecisionPoint, Fork};
use crate::engine::{Command, CommandError, State};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Request, ThenAt};
use crossterm::event::{KeyEvent, MouseEvent};
use entries::{Entry, entries};
use ratatui::layout::Rect;
use std::sync::Arc;
use value::Value;

/// What is to be another on the new branch.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Nothing: it only goes on.
    GoOn,
    /// The action of the turn.
    Act,
    /// The thought of the turn.
    Thought,
    /// What the agent reads of the world's answer.
    Observation,
    /// The turn is asked again.
    Again,
    /// The proposal is refused with a reason.
    Reject,
    /// A new lesson.
    Teach,
    /// The words of a lesson.
    Lesson(LessonId),
    /// A wish that a key stands for, with what it comes to in words.
    Wish(Box<Command>, String),
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
    Before(Seq),
    /// No branch: the change before the one that cannot be taken back is, here and now.
    Older(Seq),
}

/// What the dialog waits for.
enum Stage {
    Choosing,
    Typing(Box<Value>),
}

/// The dialog.
pub struct ForkBox {
    /// The chosen turn.
    turn: u32,
    /// It is opened over the present.
    present: bool,
    /// The branch they stand on, whichever is driven by the time a change is chosen.
    branch: BranchId,
    /// The moment shown, and where the turn waited for its decision.
    here: Seq,
    anew: Option<DecisionPoint>,
    /// Another observation begins before anything has used the one there is.
    unread: Seq,
    /// The moment shown as it was when this was opened: the session may go on behind it.
    shown: Arc<State>,
    /// The episode that was listed then.
    listed: Arc<State>,
    entries: Vec<Entry>,
    chosen: usize,
    /// What was refused, where that is why this was opened.
    refused: Option<String>,
    scroll: Scroll,
    stage: Stage,
    note: Option<String>,
}

impl ForkBox {
    /// Over the moment shown, with the change chosen that a key stands for.
    pub fn new(look: &Context<'_>, change: &Change, lesson: Option<(LessonId, u32)>) -> Self {
        let turn = look.moment.chosen();
        let here = at::here(look);
        let mut asked = Self {
            turn,
            present: !look.moment.past(),
            branch: look.store.branch(),
            here,
            anew: at::anew(look, turn),
            unread: at::unread(look, here),
            shown: look.moment.shown.clone(),
            listed: look.moment.story.clone(),
            entries: Vec::new(),
            chosen: 0,
            refused: None,
            scroll: Scroll::default(),
            stage: Stage::Choosing,
            note: None,
        };
        let answered = asked.shown.episode.as_deref().map_or(0, crate::engine::Episode::answered_steps);
        let read_by = (asked.unread != here).then(|| {
            if turn > answered {
                format!("before turn {turn} is asked: ")
            } else {
                format!("before the reflection on turn {answered}: ")
            }
        });
        asked.entries = entries(look, asked.anew, change, lesson, read_by);
        let there = |e: &Entry| matches!(e, Entry::Row(c, ..) if c == change);
        if !asked.entries.iter().any(there) {
            asked.note = Some(format!("turn {turn} has nothing of that kind; choose what is to be another"));
        }
        asked.choose(change);
        asked
    }

    /// Over the present, after a wish was refused because of an event that something else rests on by now.
    pub fn before(look: &Context<'_>, refusal: &CommandError, about: Seq) -> Self {
        let mut asked = Self::new(look, &Change::GoOn, None);
        let at = before(look, about);
        asked.entries = vec![Entry::Row(Change::Before(at), "fork from before it".to_owned(), String::new())];
        if let Some((of, words)) = &refusal.older_change {
            let key = look.keymap.label(Action::Undo).map_or_else(String::new, |key| format!("{key}  "));
            let name = "take back what came before it".to_owned();
            asked.entries.push(Entry::Row(Change::Older(*of), name, format!("{key}{words}")));
        }
        asked.chosen = 0;
        asked.refused = Some(refusal.message.clone());
        asked
    }

    fn choose(&mut self, change: &Change) {
        let is = |e: &Entry| matches!(e, Entry::Row(c, ..) if c == change);
        let any = |e: &Entry| matches!(e, Entry::Row(..));
        let at = self.entries.iter().position(is).or_else(|| self.entries.iter().position(any));
        self.chosen = at.unwrap_or(0);
    }

    /// To the next row that can be chosen.
    fn by(&mut self, by: isize) {
        let rows = self.entries.iter().enumerate().filter(|(_, e)| matches!(e, Entry::Row(..)));
        let rows: Vec<usize> = rows.map(|(place, _)| place).collect();
        let at = rows.iter().position(|r| *r == self.chosen).unwrap_or(0);
        let to = stepped(at, by, rows.len());
        self.chosen = rows.get(to).copied().unwrap_or(0);
    }

    fn change(&self) -> Option<Change> {
        match self.entries.get(self.chosen) {
            Some(Entry::Row(change, ..)) => Some(change.clone()),
            _ => None,
        }
    }

    /// Where the branch of a change begins.
    fn from(&self, change: &Change) -> Seq {
        let anew = matches!(change, Change::Act | Change::Thought | Change::Again | Change::Reject);
        match change {
            Change::Before(seq) => *seq,
            Change::Observation => self.unread,
            _ => self.anew.filter(|_| anew).map_or(self.here, DecisionPoint::seq),
        }
    }

    fn take(&mut self, look: &Context<'_>) -> Response {
        let Some(change) = self.change() else { return Response::default() };
        let from = Some(self.branch.clone());
        let at = self.from(&change);
        let fork = |reason: String, then: Vec<Command>| Fork { from: from.clone(), at, reason, then };
        let (turn, place) = (self.turn, at::place(&self.shown));
        match &change {
            Change::GoOn => {
                Response::done(Request::Fork(fork(format!("{place}: gone on"), vec![Command::Step])))
            }
            Change::Before(_) => {
                Response::done(Request::Fork(fork("before what was taken back".to_owned(), Vec::new())))
            }
            Change::Older(of) => Response::done(Request::Send(Command::UndoChange(*of))),
            Change::Again => {
                let again = match self.anew {
                    // Nobody was asked: the agent gets the turn.
                    Some(DecisionPoint::Played(_)) => {
                        vec![Command::SetAutonomy(crate::domain::Autonomy::Auto), Command::Step]
                    }
                    _ => vec![Command::AskAgain],
                };
                Response::done(Request::Fork(fork(format!("turn {turn}: asked again"), again)))
            }
            Change::Wish(command, words) => {
                Response::done(Request::Fork(fork(format!("{place}: {words}"), vec![(**command).clone()])))
            }
            Change::Teach => {
                let fork = fork(format!("{place}: a lesson added"), vec![Command::Step]);
                Response::done(Request::Teach { fork, of: None })
            }
            Change::Lesson(id) => {
                let fork = fork(format!("{place}: a lesson edited"), vec![Command::Step]);
                Response::done(Request::Teach { fork, of: Some(id.clone()) })
            }
            Change::Act
            | Change::Thought
            | Change::Observation
            | Change::Reject
            | Change::Method
            | Change::Actor
            | Change::Mentor
            | Change::Sampling(_)
            | Change::Setting => {
                let answered =
                    || self.shown.episode.as_deref().map_or(0, crate::engine::Episode::answered_steps);
                let step = if change == Change::Observation { answered() } else { turn };
                // What the world accepted then fills the line.
                let line = look.store.epoch();
                let then = self.anew.filter(|_| change == Change::Act).map(|a| ThenAt { line, at: a.seq() });
                self.stage =
                    Stage::Typing(Box::new(Value::of((&self.shown, &self.listed), change, step, then)));
                then.map_or_else(Response::default, |at| Response::want(Request::AdmissibleThen(at)))
            }
        }
    }

    /// What was typed, as a fork.
    fn typed(&mut self) -> Response {
        let Stage::Typing(value) = &mut self.stage else { return Response::default() };
        let played = matches!(self.anew, Some(DecisionPoint::Played(_)));
        match value.taken(&self.shown, played) {
            Ok(Some((reason, then))) => {
                let change = value.change().clone();
                Response::done(Request::Fork(Fork {
                    from: Some(self.branch.clone()),
                    at: self.from(&change),
                    reason,
                    then,
                }))
            }
            Ok(None) => Response::default(),
            Err(why) => {
                self.note = Some(why);
                Response::default()
            }
        }
    }
}

impl Overlay for ForkBox {
    fn name(&self) -> &'static str {
        "fork"
    }

    fn mode(&self) -> Mode {
        match &self.stage {
            Stage::Choosing => Mode::Choice,
            Stage::Typing(value) => value.mode(),
        }
    }

    fn act(&mut self, action: Action, look: &Context<'_>) -> Response {
        self.note = None;
        if let Stage::Typing(value) = &mut self.stage {
            match action {
                // One level back: from a name that is filled in to all of them, then to the choices.
                Action::Close if !value.cleared() => self.stage = Stage::Choosing,
                Action::Close => {}
                Action::Accept | Action::Open => return self.typed(),
                other => value.act(other),
            }
            return Response::default();
        }
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.take(look),
            other => self.by(moved(other, self.scroll.page()).unwrap_or(0)),
        }
        Response::default()
    }

    fn key(&mut self, key: KeyEvent, look: &Context<'_>) -> Response {
        if let Stage::Typing(value) = &mut self.stage {
            self.note = None;
            value.key(key);
        } else if look.keymap.find(Mode::Main, key) == Some(Action::Undo) {
            // The same key once more goes one change further back.
            let older = |e: &Entry| matches!(e, Entry::Row(Change::Older(_), ..));
            if let Some(place) = self.entries.iter().position(older) {
                self.chosen = place;
                return self.take(look);
            }
        }
        Response::default()
    }

    fn paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Stage::Typing(value) = &mut self.stage {
            value.paste(text);
        }
        Response::default()
    }

    fn answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let (Answer::AdmissibleThen { at, listed }, Stage::Typing(value)) = (answer, &mut self.stage) {
            value.learn(at, &listed);
        }
        Response::default()
    }

    fn mouse(&mut self, event: MouseEvent, look: &Context<'_>) -> Response {
        if let Stage::Typing(value) = &mut self.stage {
            value.mouse(event);
            return Response::default();
        }
        match self.scroll.pointed(event) {
            Some(Pointed::Row(row)) if row == self.chosen => return self.take(look),
            Some(Pointed::Row(row)) if matches!(self.entries.get(row), Some(Entry::Row(..))) => {
                self.chosen = row;
            }
            Some(Pointed::Wheel(by)) => self.by(by),
            _ => {}
        }
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        self.drawn(look, screen, canvas);
    }
}
