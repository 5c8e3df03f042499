//! What the models see, and where each piece of it comes from: the actor's prompt, and that of each question to the mentor.

mod lines;
mod prompt_target;
mod segment_editor;

use super::prompt_preview::{PromptPreview, preview_prompt};
use super::window::{Line, Scroll, Window, WindowPosition, paragraph, put_line};
use super::{Answer, Overlay, Response, choice::wrapped_index, scroll_or_close};
use crate::domain::Seq;
use crate::engine::{Effect, State};
use crate::prompt::{Templates, render};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
pub(in crate::ui::overlay) use lines::changed_lines;
use lines::{difference_lines, prompt_lines};
use prompt_target::{
    PromptTarget, SendState, ShownPrompt, default_target, find_prompt, state_with_episode, targets,
};
use ratatui::layout::Rect;
use segment_editor::SegmentEditor;
use std::cell::RefCell;
use std::sync::Arc;

/// The prompt of the chosen moment: a draft that waits to be sent, else the last one sent to the actor or with a question to
/// the mentor. Or, where that is asked for or none was sent yet, the one that would be sent to the actor now.
#[derive(Default)]
pub struct PromptView {
    scroll: Scroll,
    shows_difference: bool,
    /// What would be sent is shown.
    shows_preview: bool,
    /// The prompt that was chosen; none: the one that is at work or waits, else the actor's.
    selected: Option<PromptTarget>,
    /// The segment that would be changed, among those with words.
    segment: usize,
    /// A segment of a draft is being changed.
    editing: Option<SegmentEditor>,
    /// What was typed for one and not saved.
    unsaved: Option<SegmentEditor>,
    templates: Option<Arc<Templates>>,
    /// What would be sent in the present of this event, or why nothing.
    preview: RefCell<Option<(Seq, PreviewResult)>>,
    /// The rows as they were last made, with what they were made of.
    cached_rows: RefCell<Option<PromptRows>>,
}

/// What would be sent, or why nothing.
type PreviewResult = Arc<Result<PromptPreview, String>>;

/// Rows, with what they were made of: the hashes of the bodies and the counters, the columns, whether they are a difference.
#[derive(Clone)]
struct PromptRows {
    key: (String, u16, bool),
    lines: Arc<[Line]>,
    /// For each segment with words its place among all, and its first row.
    segment_starts: Arc<[(usize, usize)]>,
}

impl PromptView {
    /// A view that can say what would be sent, where the templates for that are known.
    pub fn new(templates: Option<Arc<Templates>>) -> Self {
        Self { templates, ..Self::default() }
    }

    /// The same, showing what would be sent.
    #[must_use]
    pub fn showing_preview(mut self) -> Self {
        self.shows_preview = true;
        self
    }

    /// Whom the prompt that is shown is for.
    fn shown_target(&self, state: &State) -> PromptTarget {
        self.selected.filter(|of| targets(state).contains(of)).unwrap_or_else(|| default_target(state))
    }

    /// What would be sent, where that is to be shown; it is put together once for each event.
    fn preview(&self, look: &Context<'_>) -> Option<PreviewResult> {
        let none = targets(look.displayed_state()).is_empty();
        // A turn of a plan has no prompt: the one that made the plan is shown, and says so.
        if look.method() == "planning" && !none {
            return None;
        }
        let first = none && !look.frame.is_in_past() && self.templates.is_some();
        if !self.shows_preview && !first {
            return None;
        }
        let head = if look.frame.is_in_past() { Seq(0) } else { look.frame.head.head };
        let mut kept = self.preview.borrow_mut();
        if let Some((_, made)) = kept.as_ref().filter(|(of, _)| *of == head) {
            return Some(made.clone());
        }
        let made = Arc::new(preview_prompt(look, self.templates.as_ref()));
        *kept = Some((head, made.clone()));
        // Before the first prompt it is only shown where there is one.
        Some(made).filter(|made| self.shows_preview || made.is_ok())
    }

    /// Looks at what is to be shown; none, with a reason, where there is nothing.
    fn with_shown_prompt<T>(
        &self,
        look: &Context<'_>,
        then: impl FnOnce(&Arc<State>, Result<ShownPrompt<'_>, &str>) -> T,
    ) -> T {
        let foretold = self.preview(look);
        let shown = &look.frame.displayed;
        match foretold.as_deref() {
            Some(Ok(ahead)) => {
                let last = ahead.state.actor_prompts.0.as_deref();
                then(&ahead.state, Ok((&ahead.record, last, SendState::Preview)))
            }
            Some(Err(why)) => then(shown, Err(why)),
            None => then(
                shown,
                find_prompt(shown, self.shown_target(shown)).ok_or("No prompt has been sent yet."),
            ),
        }
    }

    fn rows(&self, look: &Context<'_>, columns: u16) -> PromptRows {
        self.with_shown_prompt(look, |state, shown| {
            let plain = |lines: Vec<Line>| PromptRows {
                key: (String::new(), columns, self.shows_difference),
                lines: lines.into(),
                segment_starts: Arc::default(),
            };
            let (now, before, _) = match shown {
                Ok(shown) => shown,
                Err(why) => return plain(paragraph((Role::Muted, ""), Role::Muted, why, columns)),
            };
            // The hash of the body and the counters are all that the rows depend on, but for the numbers of lessons, which
            // never change.
            let (spent, before_hash) = (&state.usage, before.map_or("", |b| b.sha256.as_str()));
            let unsent = state.unsent_settings.len();
            let failed =
                state.failed_calls().map(|(_, failure)| failure.message.as_str()).collect::<String>();
            let key = format!("{}/{before_hash}/{spent:?}/{unsent}/{failed}", now.sha256);
            let key = (key, columns, self.shows_difference);
            let mut kept = self.cached_rows.borrow_mut();
            if let Some(made) = kept.as_ref().filter(|m| m.key == key && !now.sha256.is_empty()) {
                return made.clone();
            }
            let made = if self.shows_difference {
                let then = before.and_then(|b| state_with_episode(&look.frame.timeline, state, b));
                PromptRows {
                    key,
                    ..plain(difference_lines(state, now, before.map(|b| (b, then.as_deref())), columns))
                }
            } else {
                let (lines, starts) = prompt_lines(state, now, columns);
                PromptRows { key, lines: lines.into(), segment_starts: starts.into() }
            };
            *kept = Some(made.clone());
            made
        })
    }

    fn title(&self, look: &Context<'_>) -> String {
        self.with_shown_prompt(look, |state, shown| {
            let Ok((now, _, sent)) = shown else { return "Prompt".to_owned() };
            let words = match (sent, self.shows_difference) {
                (SendState::Sent, false) => ", as it was sent",
                (SendState::Drafted, false) => ": drafted, not sent",
                (SendState::Failed, false) if state.is_edited_since_sent(now) => ", unsent",
                (SendState::Failed, false) => ": its call failed",
                (SendState::Cancelled, false) => ": its call was broken off",
                (SendState::Preview, false) => ", not sent yet: a preview",
                (SendState::Failed, true) if state.is_edited_since_sent(now) => {
                    ": what you changed since its call failed"
                }
                (SendState::Preview, true) => ", not sent yet: what would change since the last call",
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
        let state = look.displayed_state();
        let all = targets(state);
        if all.len() < 2 || self.shows_preview {
            return None;
        }
        let here = self.shown_target(state);
        let busy = |of: &PromptTarget| {
            let asks = |call: &Effect| matches!(call, Effect::Ask { prompt, .. } if prompt.question == *of);
            let at_work = !look.frame.is_in_past() && state.calls.values().any(asks);
            if at_work { look.glyphs.ellipsis } else { "" }
        };
        let mut line: Line = Vec::new();
        for (place, of) in all.iter().enumerate() {
            let name = of.map_or_else(|| "actor".to_owned(), |q| format!("mentor: {}", q.name()));
            let name = format!("{name}{}", busy(of));
            line.push((Role::Muted, if place == 0 { String::new() } else { "  ".to_owned() }));
            line.push(if *of == here {
                (Role::TitleFocus, format!("[{name}]"))
            } else {
                (Role::Muted, name)
            });
        }
        Some(line)
    }

    fn cycle_target(&mut self, look: &Context<'_>, by: isize) {
        let state = look.displayed_state();
        let all = targets(state);
        if all.len() < 2 {
            return;
        }
        let at = all.iter().position(|of| *of == self.shown_target(state)).unwrap_or(0);
        self.selected = all.get(wrapped_index(at, by, all.len())).copied();
        self.shows_preview = false;
        self.segment = 0;
        self.scroll.scroll_to(0);
    }

    /// A draft waits in the present, or a failed call does, and its prompt is shown as a whole: its segments can be changed.
    fn can_edit(&self, look: &Context<'_>) -> bool {
        self.pending_state(look).is_some()
            && !self.shows_difference
            && !look.frame.is_in_past()
            && !look.is_read_only()
    }

    /// How far the prompt that is shown has come, where it may go further.
    fn pending_state(&self, look: &Context<'_>) -> Option<SendState> {
        let sent = self.with_shown_prompt(look, |_, shown| shown.ok().map(|(_, _, sent)| sent));
        sent.filter(|sent| matches!(sent, SendState::Drafted | SendState::Failed | SendState::Cancelled))
    }

    /// The segment that would be changed: its place among all, and its first row.
    fn selected_segment(&self, made: &PromptRows) -> Option<(usize, usize)> {
        made.segment_starts.get(self.segment.min(made.segment_starts.len().checked_sub(1)?)).copied()
    }

    fn open_segment_editor(&mut self, look: &Context<'_>) -> Response {
        if !self.can_edit(look) {
            let key = look.keymap.key_label(Action::StepStage).unwrap_or_default();
            let words = format!(
                "only a prompt that waits to be sent, or whose call failed, can be changed; {key} goes there by stages"
            );
            return Response::request(Request::ShowNotice(words));
        }
        let columns = self.cached_rows.borrow().as_ref().map_or(80, |m| m.key.1);
        let Some((place, _)) = self.selected_segment(&self.rows(look, columns)) else {
            return Response::default();
        };
        self.editing = self.with_shown_prompt(look, |state, shown| {
            let (now, ..) = shown.ok()?;
            SegmentEditor::new(state, now, place)
        });
        if let Some(kept) =
            self.unsaved.take_if(|kept| self.editing.as_ref().is_some_and(|e| e.is_same_segment(kept)))
        {
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
        if self.editing.is_some() { Mode::LessonEditor } else { Mode::Prompt }
    }

    fn on_action(&mut self, action: Action, look: &Context<'_>) -> Response {
        if let Some(editing) = &mut self.editing {
            let reaction = editing.on_action(action, look);
            if reaction.close {
                let done = self.editing.take();
                self.unsaved = done.filter(|_| action == Action::Close);
            }
            return Response { close: false, ..reaction };
        }
        match action {
            Action::ToggleDifference => {
                self.shows_difference = !self.shows_difference;
                self.scroll.scroll_to(0);
                Response::default()
            }
            Action::NextField | Action::PreviousField => {
                self.cycle_target(look, if action == Action::NextField { 1 } else { -1 });
                Response::default()
            }
            Action::PromptPreview => {
                self.shows_preview = !self.shows_preview;
                self.scroll.scroll_to(0);
                Response::default()
            }
            Action::EditPrompt => self.open_segment_editor(look),
            Action::Down | Action::Up if self.can_edit(look) => {
                let made = self.cached_rows.borrow().clone();
                let Some(made) = made else { return Response::default() };
                let at = self.segment.min(made.segment_starts.len().saturating_sub(1));
                let to = at.saturating_add_signed(if action == Action::Down { 1 } else { -1 });
                self.segment = to.min(made.segment_starts.len().saturating_sub(1));
                if let Some((_, row)) = self.selected_segment(&made) {
                    self.scroll.reveal_at_last_height(row, made.lines.len());
                }
                Response::default()
            }
            Action::Copy => {
                let text = self.with_shown_prompt(look, |state, shown| {
                    shown.ok().map(|(now, ..)| render(state, now).body())
                });
                text.map_or_else(Response::default, |t| Response::request(Request::Copy(t)))
            }
            Action::Open => Response::close(),
            // What waits can be sent from where it is read.
            Action::StepStage if self.can_edit(look) => {
                let failed =
                    matches!(self.pending_state(look), Some(SendState::Failed | SendState::Cancelled));
                Response::request_and_close(Request::RunAction(if failed {
                    Action::AskAgain
                } else {
                    Action::StepStage
                }))
            }
            _ => scroll_or_close(&self.scroll, action),
        }
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if let Some(editing) = &mut self.editing {
            editing.on_key(key);
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Some(editing) = &mut self.editing {
            editing.on_paste(text);
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let (Some(editing), Answer::Edited(Some(text))) = (&mut self.editing, answer) {
            editing.replace(&text);
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.scroll.on_wheel(event);
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = self.title(look);
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows: u16::MAX,
            columns: 112,
            mode: Mode::Prompt,
        };
        let mut inside = window.draw(look, screen, canvas);
        if let Some(tabs) = self.tabs(look).filter(|_| inside.height > 3) {
            put_line(&tabs, Rect { height: 1, ..inside }, canvas);
            inside = Rect { y: inside.y + 1, height: inside.height - 1, ..inside };
        }
        let made = self.rows(look, inside.width);
        let marked = self.can_edit(look).then(|| self.selected_segment(&made)).flatten();
        match marked {
            None => self.scroll.draw(&made.lines, inside, canvas),
            Some((_, row)) => {
                let mut lines = made.lines.to_vec();
                if let Some(lead) = lines.get_mut(row).and_then(|line| line.first_mut()) {
                    lead.0 = Role::Selection;
                }
                self.scroll.draw(&lines, inside, canvas);
            }
        }
        if let Some(editing) = &self.editing {
            editing.draw(look, screen, canvas);
        }
    }
}
