//! What the models see, and where each piece of it comes from: the actor's prompt, and that of each question to the mentor.

mod edit;
mod lines;
mod which;

use super::preview::{Preview, preview};
use super::window::{Line, Place, Scroll, Window, paragraph, put_line};
use super::{Answer, Overlay, Response, choice::around, scrolled};
use crate::domain::Seq;
use crate::engine::{Effect, State};
use crate::prompt::{Templates, render};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use edit::SegmentBox;
pub(in crate::ui::overlay) use lines::words;
use lines::{difference, whole};
use ratatui::layout::Rect;
use std::cell::RefCell;
use std::sync::Arc;
use which::{Of, Sent, Shown, all, prompt, state_of, usual};

/// The prompt of the chosen moment: a draft that waits to be sent, else the last one sent to the actor or with a question to
/// the mentor. Or, where that is asked for or none was sent yet, the one that would be sent to the actor now.
#[derive(Default)]
pub struct PromptView {
    scroll: Scroll,
    difference: bool,
    /// What would be sent is shown.
    ahead: bool,
    /// The prompt that was chosen; none: the one that is at work or waits, else the actor's.
    chosen: Option<Of>,
    /// The segment that would be changed, among those with words.
    segment: usize,
    /// A segment of a draft is being changed.
    editing: Option<SegmentBox>,
    /// What was typed for one and not saved.
    unsaved: Option<SegmentBox>,
    templates: Option<Arc<Templates>>,
    /// What would be sent in the present of this event, or why nothing.
    foretold: RefCell<Option<(Seq, Foretold)>>,
    /// The rows as they were last made, with what they were made of.
    made: RefCell<Option<Made>>,
}

/// What would be sent, or why nothing.
type Foretold = Arc<Result<Preview, String>>;

/// Rows, with what they were made of: the hashes of the bodies and the counters, the columns, whether they are a difference.
#[derive(Clone)]
struct Made {
    key: (String, u16, bool),
    lines: Arc<[Line]>,
    /// For each segment with words its place among all, and its first row.
    starts: Arc<[(usize, usize)]>,
}

impl PromptView {
    /// A view that can say what would be sent, where the templates for that are known.
    pub fn new(templates: Option<Arc<Templates>>) -> Self {
        Self { templates, ..Self::default() }
    }

    /// The same, showing what would be sent.
    #[must_use]
    pub fn ahead(mut self) -> Self {
        self.ahead = true;
        self
    }

    /// Whom the prompt that is shown is for.
    fn of(&self, state: &State) -> Of {
        self.chosen.filter(|of| all(state).contains(of)).unwrap_or_else(|| usual(state))
    }

    /// What would be sent, where that is to be shown; it is put together once for each event.
    fn foretold(&self, look: &Context<'_>) -> Option<Foretold> {
        let none = all(look.shown()).is_empty();
        // A turn of a plan has no prompt: the one that made the plan is shown, and says so.
        if look.method() == "planning" && !none {
            return None;
        }
        let first = none && !look.moment.past() && self.templates.is_some();
        if !self.ahead && !first {
            return None;
        }
        let head = if look.moment.past() { Seq(0) } else { look.moment.head.head };
        let mut kept = self.foretold.borrow_mut();
        if let Some((_, made)) = kept.as_ref().filter(|(of, _)| *of == head) {
            return Some(made.clone());
        }
        let made = Arc::new(preview(look, self.templates.as_ref()));
        *kept = Some((head, made.clone()));
        // Before the first prompt it is only shown where there is one.
        Some(made).filter(|made| self.ahead || made.is_ok())
    }

    /// Looks at what is to be shown; none, with a reason, where there is nothing.
    fn with<T>(&self, look: &Context<'_>, then: impl FnOnce(&Arc<State>, Result<Shown<'_>, &str>) -> T) -> T {
        let foretold = self.foretold(look);
        let shown = &look.moment.shown;
        match foretold.as_deref() {
            Some(Ok(ahead)) => {
                let last = ahead.state.actor_prompts.0.as_deref();
                then(&ahead.state, Ok((&ahead.record, last, Sent::Ahead)))
            }
            Some(Err(why)) => then(shown, Err(why)),
            None => then(shown, prompt(shown, self.of(shown)).ok_or("No prompt has been sent yet.")),
        }
    }

    fn made(&self, look: &Context<'_>, columns: u16) -> Made {
        self.with(look, |state, shown| {
            let plain = |lines: Vec<Line>| Made {
                key: (String::new(), columns, self.difference),
                lines: lines.into(),
                starts: Arc::default(),
            };
            let (now, before, _) = match shown {
                Ok(shown) => shown,
                Err(why) => return plain(paragraph((Role::Dim, ""), Role::Dim, why, columns)),
            };
            // The hash of the body and the counters are all that the rows depend on, but for the numbers of lessons, which
            // never change.
            let (spent, before_hash) = (&state.usage, before.map_or("", |b| b.sha256.as_str()));
            let unsent = state.unsent_settings.len();
            let failed =
                state.failed_calls().map(|(_, failure)| failure.message.as_str()).collect::<String>();
            let key = format!("{}/{before_hash}/{spent:?}/{unsent}/{failed}", now.sha256);
            let key = (key, columns, self.difference);
            let mut kept = self.made.borrow_mut();
            if let Some(made) = kept.as_ref().filter(|m| m.key == key && !now.sha256.is_empty()) {
                return made.clone();
            }
            let made = if self.difference {
                let then = before.and_then(|b| state_of(look.store, state, b));
                Made { key, ..plain(difference(state, now, before.map(|b| (b, then.as_deref())), columns)) }
            } else {
                let (lines, starts) = whole(state, now, columns);
                Made { key, lines: lines.into(), starts: starts.into() }
            };
            *kept = Some(made.clone());
            made
        })
    }

    fn title(&self, look: &Context<'_>) -> String {
        self.with(look, |state, shown| {
            let Ok((now, _, sent)) = shown else { return "Prompt".to_owned() };
            let words = match (sent, self.difference) {
                (Sent::Yes, false) => ", as it was sent",
                (Sent::Drafted, false) => ": drafted, not sent",
                (Sent::Failed, false) if state.is_edited_since_sent(now) => ", unsent",
                (Sent::Failed, false) => ": its call failed",
                (Sent::BrokenOff, false) => ": its call was broken off",
                (Sent::Ahead, false) => ", not sent yet: a preview",
                (Sent::Failed, true) if state.is_edited_since_sent(now) => {
                    ": what you changed since its call failed"
                }
                (Sent::Ahead, true) => ", not sent yet: what would change since the last call",
                (_, true) if now.question.is_some() => ": what changed since this question was asked before",
                (_, true) => ": what changed since the call before",
            };
            let edited = if now.edited { ", with your words" } else { "" };
            match now.question {
                Some(question) => {
                    let when = match now.step {
                        0 => "before turn 1".to_owned(),
                        step => format!("after turn {step}"),
                    };
                    format!("Prompt to the mentor ({}) {when}{edited}{words}", question.name())
                }
                None => format!("Prompt of turn {}{edited}{words}", now.step),
            }
        })
    }

    /// The prompts there are, as a row; none where there is only one.
    fn tabs(&self, look: &Context<'_>) -> Option<Line> {
        let state = look.shown();
        let all = all(state);
        if all.len() < 2 || self.ahead {
            return None;
        }
        let here = self.of(state);
        let busy = |of: &Of| {
            let asks = |call: &Effect| matches!(call, Effect::Ask { prompt, .. } if prompt.question == *of);
            let at_work = !look.moment.past() && state.calls.values().any(asks);
            if at_work { look.glyphs.more } else { "" }
        };
        let mut line: Line = Vec::new();
        for (place, of) in all.iter().enumerate() {
            let name = of.map_or_else(|| "actor".to_owned(), |q| format!("mentor: {}", q.name()));
            let name = format!("{name}{}", busy(of));
            line.push((Role::Dim, if place == 0 { String::new() } else { "  ".to_owned() }));
            line.push(if *of == here { (Role::Focus, format!("[{name}]")) } else { (Role::Dim, name) });
        }
        Some(line)
    }

    fn turn(&mut self, look: &Context<'_>, by: isize) {
        let state = look.shown();
        let all = all(state);
        if all.len() < 2 {
            return;
        }
        let at = all.iter().position(|of| *of == self.of(state)).unwrap_or(0);
        self.chosen = all.get(around(at, by, all.len())).copied();
        self.ahead = false;
        self.segment = 0;
        self.scroll.to(0);
    }

    /// A draft waits in the present, or a failed call does, and its prompt is shown as a whole: its segments can be changed.
    fn changeable(&self, look: &Context<'_>) -> bool {
        self.waits(look).is_some() && !self.difference && !look.moment.past() && !look.reading()
    }

    /// How far the prompt that is shown has come, where it may go further.
    fn waits(&self, look: &Context<'_>) -> Option<Sent> {
        let sent = self.with(look, |_, shown| shown.ok().map(|(_, _, sent)| sent));
        sent.filter(|sent| matches!(sent, Sent::Drafted | Sent::Failed | Sent::BrokenOff))
    }

    /// The segment that would be changed: its place among all, and its first row.
    fn place(&self, made: &Made) -> Option<(usize, usize)> {
        made.starts.get(self.segment.min(made.starts.len().checked_sub(1)?)).copied()
    }

    fn edit(&mut self, look: &Context<'_>) -> Response {
        if !self.changeable(look) {
            let key = look.keymap.label(Action::StepStage).unwrap_or_default();
            let words = format!(
                "only a prompt that waits to be sent, or whose call failed, can be changed; {key} goes there by stages"
            );
            return Response::want(Request::Say(words));
        }
        let columns = self.made.borrow().as_ref().map_or(80, |m| m.key.1);
        let Some((place, _)) = self.place(&self.made(look, columns)) else { return Response::default() };
        self.editing = self.with(look, |state, shown| {
            let (now, ..) = shown.ok()?;
            SegmentBox::new(state, now, place)
        });
        if let Some(kept) = self.unsaved.take_if(|kept| self.editing.as_ref().is_some_and(|e| e.same(kept))) {
            self.editing = Some(kept);
        }
        Response::default()
    }
}

impl Overlay for PromptView {
    fn name(&self) -> &'static str {
        "prompt"
    }

    fn mode(&self) -> Mode {
        if self.editing.is_some() { Mode::Editor } else { Mode::Prompt }
    }

    fn act(&mut self, action: Action, look: &Context<'_>) -> Response {
        if let Some(editing) = &mut self.editing {
            let reaction = editing.act(action, look);
            if reaction.close {
                let done = self.editing.take();
                self.unsaved = done.filter(|_| action == Action::Close);
            }
            return Response { close: false, ..reaction };
        }
        match action {
            Action::Difference => {
                self.difference = !self.difference;
                self.scroll.to(0);
                Response::default()
            }
            Action::NextField | Action::PreviousField => {
                self.turn(look, if action == Action::NextField { 1 } else { -1 });
                Response::default()
            }
            Action::Preview => {
                self.ahead = !self.ahead;
                self.scroll.to(0);
                Response::default()
            }
            Action::EditPrompt => self.edit(look),
            Action::Down | Action::Up if self.changeable(look) => {
                let made = self.made.borrow().clone();
                let Some(made) = made else { return Response::default() };
                let at = self.segment.min(made.starts.len().saturating_sub(1));
                let to = at.saturating_add_signed(if action == Action::Down { 1 } else { -1 });
                self.segment = to.min(made.starts.len().saturating_sub(1));
                if let Some((_, row)) = self.place(&made) {
                    self.scroll.keep(row, made.lines.len());
                }
                Response::default()
            }
            Action::Copy => {
                let text =
                    self.with(look, |state, shown| shown.ok().map(|(now, ..)| render(state, now).body()));
                text.map_or_else(Response::default, |t| Response::want(Request::Copy(t)))
            }
            Action::Open => Response::close(),
            // What waits can be sent from where it is read.
            Action::StepStage if self.changeable(look) => {
                let failed = matches!(self.waits(look), Some(Sent::Failed | Sent::BrokenOff));
                Response::done(Request::Do(if failed { Action::AskAgain } else { Action::StepStage }))
            }
            _ => scrolled(&self.scroll, action),
        }
    }

    fn key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if let Some(editing) = &mut self.editing {
            editing.key(key);
        }
        Response::default()
    }

    fn paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Some(editing) = &mut self.editing {
            editing.paste(text);
        }
        Response::default()
    }

    fn answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let (Some(editing), Answer::Edited(Some(text))) = (&mut self.editing, answer) {
            editing.replace(&text);
        }
        Response::default()
    }

    fn mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.scroll.wheel(event);
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = self.title(look);
        let window =
            Window { title: &title, place: Place::Middle, rows: u16::MAX, columns: 112, mode: Mode::Prompt };
        let mut inside = window.draw(look, screen, canvas);
        if let Some(tabs) = self.tabs(look).filter(|_| inside.height > 3) {
            put_line(&tabs, Rect { height: 1, ..inside }, canvas);
            inside = Rect { y: inside.y + 1, height: inside.height - 1, ..inside };
        }
        let made = self.made(look, inside.width);
        let marked = self.changeable(look).then(|| self.place(&made)).flatten();
        match marked {
            None => self.scroll.draw(&made.lines, inside, canvas),
            Some((_, row)) => {
                let mut lines = made.lines.to_vec();
                if let Some(lead) = lines.get_mut(row).and_then(|line| line.first_mut()) {
                    lead.0 = Role::Chosen;
                }
                self.scroll.draw(&lines, inside, canvas);
            }
        }
        if let Some(editing) = &self.editing {
            editing.draw(look, screen, canvas);
        }
    }
}
