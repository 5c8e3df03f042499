//! The prompt view: the actor's prompt and that of each mentor call, with the origin of each segment.

mod lines;
mod prompt_search;
mod prompt_target;
mod segment_editor;

use super::prompt_preview::{PromptPreview, preview_prompt};
use crate::domain::{ModelRole, RunSpec, Seq};
use crate::engine::{Effect, State};
use crate::prompt::{Templates, render};
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::facts::actions_without_server;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::types::{RequestForm, RequestSource};
use crate::ui::widget::list_index::wrapped_index;
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{
    Line, PresentKeys, Scroll, Window, WindowPosition, paragraph, put_line, scroll_or_close,
};
use crossterm::event::{KeyEvent, MouseEvent};
pub(in crate::ui::overlay) use lines::changed_lines;
pub(in crate::ui) use lines::prompt_tokens;
use lines::{SegmentRow, difference_lines, is_folded_at_first, is_learnt, prompt_lines};
use prompt_search::{Match, PromptSearch, contains, find_matches};
use prompt_target::{
    PromptTarget, SendState, ShownPrompt, default_target, find_prompt, state_with_episode, targets,
};
use ratatui::layout::Rect;
use segment_editor::SegmentEditor;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

/// Overlay that shows the prompt of the displayed state: a draft that waits to be sent, else the last one sent to the
/// actor or, for one kind of question, to the mentor. On request, or if none was sent yet, it previews the actor's next
/// prompt.
#[derive(Default)]
pub(super) struct PromptView {
    scroll: Scroll,
    shows_difference: bool,
    /// Whether to show a preview of the next prompt.
    shows_preview: bool,
    /// The chosen prompt. `None` for the default: one in flight or waiting, else the actor's.
    selected: Option<PromptTarget>,
    /// The selected segment, as an index among the non-empty ones; `None` for the first that was learnt earlier.
    segment: Option<usize>,
    /// Whether the rows have been scrolled to the selected segment.
    is_revealed: Cell<bool>,
    /// The segments, by their index among all, that a person folded or unfolded.
    toggled: BTreeSet<usize>,
    /// The search, while its text is typed or its matches are shown.
    search: Option<PromptSearch>,
    /// The editor of a draft's segment, if open.
    editing: Option<SegmentEditor>,
    /// A closed editor with unsaved text.
    unsaved: Option<SegmentEditor>,
    templates: Option<Arc<Templates>>,
    /// The cached preview, with the head it was built at.
    preview: RefCell<Option<(Seq, PreviewResult)>>,
    /// The rows built last.
    cached_rows: RefCell<Option<PromptRows>>,
}

/// The previewed prompt, or why no prompt would be sent.
type PreviewResult = Arc<Result<PromptPreview, String>>;

/// Rows with their cache key: body hashes, counters and search text, width, and whether they show differences.
#[derive(Clone)]
struct PromptRows {
    key: (String, u16, bool),
    lines: Arc<[Line]>,
    segments: Arc<[SegmentRow]>,
    matches: Arc<[Match]>,
}

impl PromptView {
    /// Creates the view. Previews need `templates`.
    pub(super) fn new(templates: Option<Arc<Templates>>) -> Self {
        Self { templates, ..Self::default() }
    }

    /// Starts the view with the preview.
    #[must_use]
    pub(super) fn showing_preview(mut self) -> Self {
        self.shows_preview = true;
        self
    }

    /// Returns the target of the shown prompt.
    fn shown_target(&self, state: &State) -> PromptTarget {
        self.selected
            .filter(|target| targets(state).contains(target))
            .unwrap_or_else(|| default_target(state))
    }

    /// Returns the preview if it is to be shown. It is built once per head.
    fn preview(&self, context: &Context<'_>) -> Option<PreviewResult> {
        let none = targets(context.displayed_state()).is_empty();
        // Its steps have no prompt. What the mentor was asked is shown, a plan with an explanation.
        if !context.asks_actor() && !none {
            return None;
        }
        let first = none && !context.frame.is_in_past() && self.templates.is_some();
        if !self.shows_preview && !first {
            return None;
        }
        let head = if context.frame.is_in_past() { Seq(0) } else { context.frame.head.head };
        let mut cached = self.preview.borrow_mut();
        if let Some((_, made)) = cached.as_ref().filter(|(cached_head, _)| *cached_head == head) {
            return Some(made.clone());
        }
        let made = Arc::new(preview_prompt(context, self.templates.as_ref()));
        *cached = Some((head, made.clone()));
        // If it wasn't requested, it is only shown if it succeeded, or if it explains why no step has a prompt.
        Some(made).filter(|made| self.shows_preview || made.is_ok() || !context.asks_actor())
    }

    /// Calls `f` with the state and the prompt to show, or why there is none.
    fn with_shown_prompt<T>(
        &self,
        context: &Context<'_>,
        f: impl FnOnce(&Arc<State>, Result<ShownPrompt<'_>, &str>) -> T,
    ) -> T {
        let preview = self.preview(context);
        let shown = &context.frame.displayed;
        match preview.as_deref() {
            Some(Ok(preview)) => {
                let last = preview.state.actor_prompts.0.as_deref();
                f(&preview.state, Ok((&preview.record, last, SendState::Preview)))
            }
            Some(Err(why)) => f(shown, Err(why)),
            None => {
                f(shown, find_prompt(shown, self.shown_target(shown)).ok_or("No prompt has been sent yet."))
            }
        }
    }

    fn rows(&self, context: &Context<'_>, columns: u16) -> PromptRows {
        self.with_shown_prompt(context, |state, shown| {
            let plain = |lines: Vec<Line>| PromptRows {
                key: (String::new(), columns, self.shows_difference),
                lines: lines.into(),
                segments: Arc::default(),
                matches: Arc::default(),
            };
            let (now, before, _) = match shown {
                Ok(shown) => shown,
                Err(why) => return plain(paragraph((Role::Muted, ""), Role::Muted, why, columns)),
            };
            // The rows depend only on the body's hash, the counters, and the lesson numbers, which never change.
            let (spent, before_hash) = (&state.usage, before.map_or("", |b| b.sha256.as_str()));
            let unsent = state.setting_deviations.len();
            let failed =
                state.failed_calls().map(|(_, failure)| failure.message.as_str()).collect::<String>();
            // What has been loaded since may show the previous prompt's episode.
            let loads = context.frame.timeline.load_count();
            let toggled = &self.toggled;
            let query = self.search.as_ref().map_or_else(String::new, PromptSearch::query);
            let key = format!(
                "{}/{before_hash}/{spent:?}/{unsent}/{failed}/{loads}/{toggled:?}/{query}",
                now.sha256
            );
            let key = (key, columns, self.shows_difference);
            let mut cached = self.cached_rows.borrow_mut();
            if let Some(made) = cached.as_ref().filter(|m| m.key == key && !now.sha256.is_empty()) {
                return made.clone();
            }
            let mut made = if self.shows_difference {
                let before_state = before.and_then(|b| state_with_episode(&context.frame.timeline, state, b));
                PromptRows {
                    key,
                    ..plain(difference_lines(
                        state,
                        now,
                        before.map(|b| (b, before_state.as_deref())),
                        columns,
                    ))
                }
            } else {
                let is_folded = |index: usize, label, text: &str| {
                    is_folded_at_first(label) != self.toggled.contains(&index) && !contains(text, &query)
                };
                let rule = context.glyphs.box_drawing[2 | 8];
                let (lines, segments) = prompt_lines(state, now, (columns, rule), is_folded);
                PromptRows { key, segments: segments.into(), ..plain(lines) }
            };
            made.matches = find_matches(&made.lines, &made.segments, &query).into();
            *cached = Some(made.clone());
            made
        })
    }

    fn title(&self, context: &Context<'_>) -> String {
        self.with_shown_prompt(context, |state, shown| {
            let Ok((now, _, sent)) = shown else { return "Prompt".to_owned() };
            // The built-in rules read the prompt that a model would be sent.
            let is_read =
                now.question.is_none() && state.run.as_deref().is_some_and(RunSpec::is_played_by_rules);
            let words = match (sent, self.shows_difference) {
                (SendState::Sent, false) if is_read => ": read by the rules, no model is called",
                (SendState::Sent, false) => ", as sent",
                (SendState::Drafted, false) => ": drafted, not sent",
                (SendState::Failed, false) if state.is_edited_since_sent(now) => ", unsent",
                (SendState::Failed, false) => ": its call failed",
                (SendState::Cancelled, false) => ": its call was cancelled",
                (SendState::Preview, false) => ": preview, not sent",
                (SendState::Failed, true) if state.is_edited_since_sent(now) => {
                    ": your changes since its call failed"
                }
                (SendState::Preview, true) => ": preview, changes since the last call",
                (_, true) => ": changes since the previous call",
            };
            let edited = if now.edited { ", edited" } else { "" };
            match now.question {
                Some(question) => {
                    let when = match now.step {
                        0 => "before step 1".to_owned(),
                        step => format!("after step {step}"),
                    };
                    format!("Prompt to the mentor ({}) {when}{edited}{words}", question.name())
                }
                None => format!("Prompt of step {}{edited}{words}", now.step),
            }
        })
    }

    /// Returns the row of tabs, one per prompt. Returns `None` if there is only one.
    fn tabs(&self, context: &Context<'_>) -> Option<Line> {
        let state = context.displayed_state();
        let all = targets(state);
        if all.len() < 2 || self.shows_preview {
            return None;
        }
        let here = self.shown_target(state);
        let busy_mark = |target: &PromptTarget| {
            let asks =
                |call: &Effect| matches!(call, Effect::Ask { prompt, .. } if prompt.question == *target);
            let in_flight = !context.frame.is_in_past() && state.calls.values().any(asks);
            if in_flight { context.glyphs.ellipsis } else { "" }
        };
        let mut line: Line = Vec::new();
        for (place, target) in all.iter().enumerate() {
            let name = target.map_or_else(|| "actor".to_owned(), |q| format!("mentor: {}", q.name()));
            let name = format!("{name}{}", busy_mark(target));
            line.push((Role::Muted, if place == 0 { String::new() } else { "  ".to_owned() }));
            line.push(if *target == here {
                (Role::TitleFocus, format!("[{name}]"))
            } else {
                (Role::Muted, name)
            });
        }
        Some(line)
    }

    fn cycle_target(&mut self, context: &Context<'_>, by: isize) -> Response {
        let state = context.displayed_state();
        let all = targets(state);
        if all.len() < 2 {
            let text = "there is no other prompt at this step: no mentor was asked";
            return Response::request(Request::ShowNotice(text.to_owned()));
        }
        let at = all.iter().position(|target| *target == self.shown_target(state)).unwrap_or(0);
        self.selected = all.get(wrapped_index(at, by, all.len())).copied();
        self.shows_preview = false;
        self.show_first_learnt();
        Response::default()
    }

    /// Selects the first segment that was learnt earlier, and scrolls to it; what a person folded is folded as at first.
    fn show_first_learnt(&mut self) {
        self.toggled.clear();
        self.segment = None;
        self.is_revealed.set(false);
        self.scroll.scroll_to(0);
        if let Some(search) = &self.search {
            search.choose_nearest();
        }
    }

    /// Goes to the match `by` matches below, and selects its segment.
    fn move_match(&mut self, by: isize) -> Response {
        let Some(search) = &self.search else {
            return Response::request(Request::ShowNotice("no search yet".to_owned()));
        };
        if let Some(made) = self.cached_rows.borrow().as_ref()
            && let Some(row) = search.move_current(&made.matches, by)
        {
            let segment = made.segments.iter().rposition(|segment| segment.row <= row);
            self.segment = segment.or(self.segment);
        }
        Response::default()
    }

    /// Handles the keys of a search. Returns `None` for all other actions.
    fn on_search_action(&mut self, action: Action) -> Option<Response> {
        match (action, &mut self.search) {
            (Action::Search, Some(search)) => search.is_typing = true,
            (Action::Search, None) => self.search = Some(PromptSearch::default()),
            (Action::NextMatch, _) => return Some(self.move_match(1)),
            (Action::PreviousMatch, _) => return Some(self.move_match(-1)),
            (Action::Accept, Some(search)) if search.is_typing => {
                search.is_typing = false;
                if search.query().is_empty() {
                    self.search = None;
                } else {
                    self.move_match(0);
                }
            }
            (Action::Close, Some(_)) => self.search = None,
            _ => return None,
        }
        Some(Response::default())
    }

    /// Lets the field of the search that is being typed handle an input. Returns whether there is one.
    fn type_search(&mut self, input: impl FnOnce(&mut TextField) -> bool) -> bool {
        let Some(search) = self.search.as_mut().filter(|search| search.is_typing) else { return false };
        if input(&mut search.field) {
            search.choose_nearest();
        }
        true
    }

    /// Returns whether segments can be edited: the full prompt of a draft or a failed call is shown, in the present.
    fn can_edit(&self, context: &Context<'_>) -> bool {
        self.pending_state(context).is_some()
            && !self.shows_difference
            && !context.frame.is_in_past()
            && !context.is_read_only()
    }

    /// Returns the shown prompt's state if it may still be sent or sent again.
    fn pending_state(&self, context: &Context<'_>) -> Option<SendState> {
        let sent = self.with_shown_prompt(context, |_, shown| shown.ok().map(|(_, _, sent)| sent));
        sent.filter(|sent| matches!(sent, SendState::Drafted | SendState::Failed | SendState::Cancelled))
    }

    /// Returns the selected segment as an index among the non-empty ones; `None` if there are none.
    fn selected_place(&self, made: &PromptRows) -> Option<usize> {
        let last = made.segments.len().checked_sub(1)?;
        let first_learnt = || made.segments.iter().position(|segment| is_learnt(segment.label));
        Some(self.segment.or_else(first_learnt).unwrap_or(0).min(last))
    }

    fn selected_segment(&self, made: &PromptRows) -> Option<SegmentRow> {
        made.segments.get(self.selected_place(made)?).copied()
    }

    /// Selects the segment `by` segments below.
    fn move_segment(&mut self, by: isize) {
        let Some(made) = self.cached_rows.borrow().clone() else { return };
        let Some(at) = self.selected_place(&made) else { return };
        self.segment = Some(at.saturating_add_signed(by).min(made.segments.len().saturating_sub(1)));
        if let Some(segment) = self.selected_segment(&made) {
            self.scroll.reveal_at_last_height(segment.row, made.lines.len());
        }
    }

    /// Folds or unfolds the selected segment.
    fn toggle_segment(&mut self) {
        let made = self.cached_rows.borrow().clone();
        if let Some(segment) = made.and_then(|made| self.selected_segment(&made))
            && !self.toggled.remove(&segment.index)
        {
            self.toggled.insert(segment.index);
        }
    }

    fn open_segment_editor(&mut self, context: &Context<'_>) -> Response {
        if !self.can_edit(context) {
            let mut words = "only a draft or the prompt of a failed call can be edited".to_owned();
            if !context.is_read_only()
                && let Some(key) = context.keymap.key_label(Action::StepStage)
            {
                let _ = write!(words, "; {key} steps by stages to a draft");
            }
            return Response::request(Request::ShowNotice(words));
        }
        let columns = self.cached_rows.borrow().as_ref().map_or(80, |m| m.key.1);
        let Some(segment) = self.selected_segment(&self.rows(context, columns)) else {
            return Response::default();
        };
        let place = segment.index;
        self.editing = self.with_shown_prompt(context, |state, shown| {
            let (now, ..) = shown.ok()?;
            SegmentEditor::new(state, now, place)
        });
        if let Some(unsaved) =
            self.unsaved.take_if(|unsaved| self.editing.as_ref().is_some_and(|e| e.is_same_segment(unsaved)))
        {
            self.editing = Some(unsaved);
        }
        Response::default()
    }
}

impl Component for PromptView {
    fn name(&self) -> &'static str {
        "prompt"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        match &self.search {
            _ if self.editing.is_some() => Mode::LessonEditor,
            Some(search) if search.is_typing => Mode::SearchInput,
            _ => Mode::Prompt,
        }
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        if let Some(editing) = &mut self.editing {
            let response = editing.on_action(action, context);
            if response.close {
                let closed = self.editing.take();
                self.unsaved = closed.filter(|_| action == Action::Close);
            }
            return Response { close: false, ..response };
        }
        if let Some(response) = self.on_search_action(action) {
            return response;
        }
        match action {
            Action::ToggleDifference => {
                self.shows_difference = !self.shows_difference;
                self.show_first_learnt();
                Response::default()
            }
            Action::NextField | Action::PreviousField => {
                self.cycle_target(context, if action == Action::NextField { 1 } else { -1 })
            }
            Action::PromptPreview => {
                self.shows_preview = !self.shows_preview;
                self.show_first_learnt();
                Response::default()
            }
            Action::EditPrompt => self.open_segment_editor(context),
            Action::Down | Action::Up if !self.shows_difference => {
                self.move_segment(if action == Action::Down { 1 } else { -1 });
                Response::default()
            }
            Action::Copy => {
                let text = self.with_shown_prompt(context, |state, shown| {
                    shown.ok().map(|(now, ..)| render(state, now).body())
                });
                text.map_or_else(Response::default, |t| Response::request(Request::Copy(t)))
            }
            Action::CopyRequest | Action::CopyCurl => {
                let is_curl = action == Action::CopyCurl;
                let form = if is_curl { RequestForm::Curl } else { RequestForm::Json };
                let source = self.with_shown_prompt(context, |state, shown| {
                    let (now, ..) = shown.ok()?;
                    Some(RequestSource::Prompt(Arc::new(now.clone()), Arc::new(render(state, now))))
                });
                source.map_or_else(Response::default, |source| {
                    Response::request(Request::CopyRequest { source, form })
                })
            }
            Action::Open => {
                self.toggle_segment();
                Response::default()
            }
            // A waiting prompt can be sent from here.
            Action::StepStage if self.can_edit(context) => {
                let failed =
                    matches!(self.pending_state(context), Some(SendState::Failed | SendState::Cancelled));
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
        } else {
            self.type_search(|field| field.on_key(key));
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Some(editing) = &mut self.editing {
            editing.on_paste(text);
        } else {
            self.type_search(|field| field.on_paste(text));
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

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        const COLUMNS: u16 = 112;
        let title = self.title(context);
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows: u16::MAX,
            columns: COLUMNS,
            mode: if self.editing.is_some() { Mode::Prompt } else { self.mode(context) },
        };
        let is_mentor = self.shown_target(&context.frame.displayed).is_some();
        let role = if is_mentor { ModelRole::Mentor } else { ModelRole::Actor };
        let mut without_effect = actions_without_server(context, role).to_vec();
        if !self.can_edit(context) {
            without_effect.push(Action::EditPrompt);
        }
        if self.shows_difference {
            // It has no segments.
            without_effect.push(Action::Open);
        }
        let is_folded = || {
            let made = self.rows(context, Window::inner_columns(COLUMNS, context, screen));
            self.selected_segment(&made).is_some_and(|segment| segment.is_folded)
        };
        let labels = [
            (Action::ToggleDifference, if self.shows_difference { "whole prompt" } else { "difference" }),
            (Action::Open, if !self.shows_difference && is_folded() { "unfold" } else { "fold" }),
        ];
        let keys = PresentKeys { without_effect: &without_effect, labels: &labels, ..PresentKeys::default() };
        let below = Context { is_covered: context.is_covered || self.editing.is_some(), ..*context };
        let mut inside = window.draw_with_keys(keys, &below, screen, canvas);
        if let Some(tabs) = self.tabs(context).filter(|_| inside.height > 3) {
            put_line(&tabs, Rect { height: 1, ..inside }, canvas);
            inside = Rect { y: inside.y + 1, height: inside.height - 1, ..inside };
        }
        let searching = self.search.as_ref().filter(|_| inside.height > 2);
        if searching.is_some() {
            inside.height -= 1;
        }
        let made = self.rows(context, inside.width);
        let segment = self.selected_segment(&made);
        let mut lines = made.lines.to_vec();
        let (all, height) = (lines.len(), usize::from(inside.height));
        let reveal = |row: usize| {
            self.scroll.reveal((row + height / 2).min(all.saturating_sub(1)), all, height);
            self.scroll.reveal(row, all, height);
        };
        if let Some(segment) = segment {
            if let Some(lead) = lines.get_mut(segment.row).and_then(|line| line.first_mut()) {
                lead.0 = Role::Selection;
            }
            if !self.is_revealed.replace(true) {
                reveal(segment.row);
            }
        }
        if let Some(search) = searching {
            let row = search.highlight(&mut lines, &made.matches, segment.map_or(0, |segment| segment.row));
            row.into_iter().for_each(reveal);
            let below = Rect { y: inside.bottom(), height: 1, ..inside };
            search.draw(&made.matches, context, below, canvas);
        }
        self.scroll.draw(&lines, inside, canvas);
        if let Some(editing) = &self.editing {
            editing.draw(context, screen, canvas);
        }
    }
}
