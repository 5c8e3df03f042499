//! The dialog for a person's action: an override of the proposal, or a move in manual play.

use super::action_input::ActionInput;
use crate::domain::common_settings::{OVERRIDDEN_THOUGHT, OVERRIDE_SHOWN_AS, OverriddenThought};
use crate::domain::{ShownAs, Step, ThoughtDisposition};
use crate::engine::{Command, State};
use crate::text::one_line;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::types::WorkKind;
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, PresentKeys, Window, WindowPosition, put_line, put_lines};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use serde_json::Value;

/// How an override is recorded: two settings, which the dialog shows and can change.
#[derive(Clone, Copy, PartialEq, Eq)]
struct OverrideSettings {
    shown_as: ShownAs,
    thought: OverriddenThought,
}

impl OverrideSettings {
    fn shown_as_label(self) -> &'static str {
        match self.shown_as {
            ShownAs::AgentAction => "its own action",
            ShownAs::HumanEdit => "a human edit",
        }
    }

    fn thought_label(self) -> &'static str {
        match self.thought {
            OverriddenThought::Kept => "kept",
            OverriddenThought::Dropped => "dropped",
            OverriddenThought::Rewritten => "rewritten",
        }
    }

    fn change_shown_as(&mut self) {
        self.shown_as = match self.shown_as {
            ShownAs::AgentAction => ShownAs::HumanEdit,
            ShownAs::HumanEdit => ShownAs::AgentAction,
        };
    }

    fn change_thought(&mut self) {
        self.thought = match self.thought {
            OverriddenThought::Kept => OverriddenThought::Dropped,
            OverriddenThought::Dropped => OverriddenThought::Rewritten,
            OverriddenThought::Rewritten => OverriddenThought::Kept,
        };
    }

    /// Returns the requests that record what differs from `before`.
    fn changes_since(self, before: Self) -> Vec<Request> {
        let change = |name: &str, word: &str| {
            let value = Value::String(word.to_owned());
            Request::Send(Command::ChangeSetting { name: name.to_owned(), value })
        };
        let shown_as = (self.shown_as != before.shown_as)
            .then(|| change(OVERRIDE_SHOWN_AS.spec.name, self.shown_as.word()));
        let thought = (self.thought != before.thought)
            .then(|| change(OVERRIDDEN_THOUGHT.spec.name, self.thought.word()));
        [shown_as, thought].into_iter().flatten().collect()
    }
}

/// Dialog for typing an action.
pub(super) struct ActionDialog {
    /// True if a person plays; otherwise the proposal is overridden.
    person_plays: bool,
    /// Gives up the actor's failed call before the action.
    gives_up_failed_call: bool,
    /// The action that the agent proposes.
    proposed: Option<String>,
    input: ActionInput,
    /// The thought before the proposal.
    thought: Option<String>,
    /// The accepted action, and the thought that is being rewritten for it.
    rewriting: Option<(String, Box<TextField>)>,
    settings: OverrideSettings,
    /// The settings in force; what differs from them is saved with the override.
    settings_in_force: OverrideSettings,
    message: Option<String>,
}

impl ActionDialog {
    /// Creates the dialog, filled with the proposal of the step that awaits a decision. Who plays gives an action of their own, so
    /// the agent's thought isn't filled in then.
    pub(super) fn new(state: &State, step: Option<&Step>, plays: bool) -> Self {
        let thinks = |s: &Step| s.thought.as_ref().map(|t| format!("think: {t}"));
        let proposal = step.and_then(|s| s.proposed.clone().or_else(|| thinks(s)));
        let proposal = proposal.filter(|text| !plays || !text.starts_with("think:")).unwrap_or_default();
        let settings = OverrideSettings {
            shown_as: state.setting(OVERRIDE_SHOWN_AS),
            thought: state.setting(OVERRIDDEN_THOUGHT),
        };
        Self {
            person_plays: plays,
            gives_up_failed_call: false,
            proposed: step.and_then(|s| s.proposed.clone()),
            input: ActionInput::new(&proposal, Some(state)),
            thought: step.and_then(|s| thought_before(state, s)),
            rewriting: None,
            settings,
            settings_in_force: settings,
            message: None,
        }
    }

    /// Makes the action replace a failed call.
    #[must_use]
    pub(super) fn replacing_failed_call(mut self) -> Self {
        self.gives_up_failed_call = true;
        self
    }

    fn accept(&mut self) -> Response {
        if let Some((action, thought)) = &self.rewriting {
            let disposition = match thought.text() {
                // A thought that is rewritten to nothing is dropped.
                text if text.is_empty() => ThoughtDisposition::Dropped,
                text => ThoughtDisposition::Rewritten(one_line(&text).into_owned()),
            };
            return self.override_with(action.clone(), disposition);
        }
        match self.input.accept() {
            Ok(action) => self.run(action),
            Err(reason) => {
                self.message = Some(reason);
                Response::default()
            }
        }
    }

    /// Runs an action, after the thought has been rewritten if the setting asks for that.
    fn run(&mut self, action: String) -> Response {
        if self.person_plays {
            let mut requests: Vec<Request> =
                self.gives_up_failed_call.then_some(Request::Send(Command::GiveUp)).into_iter().collect();
            requests.push(Request::Send(Command::Act(action)));
            return Response { requests, close: true };
        }
        // It isn't replaced, so the person has not acted.
        if self.proposed.as_ref() == Some(&action) && self.settings == self.settings_in_force {
            return Response::request_and_close(Request::Send(Command::Step));
        }
        match &self.thought {
            Some(thought) if self.settings.thought == OverriddenThought::Rewritten => {
                self.rewriting = Some((action, Box::new(TextField::multi_line(thought))));
                Response::default()
            }
            _ => self.override_with(action, self.settings.thought.without_new_text()),
        }
    }

    fn override_with(&self, action: String, thought_disposition: ThoughtDisposition) -> Response {
        let mut requests = self.settings.changes_since(self.settings_in_force);
        let shown_as = self.settings.shown_as;
        requests.push(Request::Send(Command::Override { action, shown_as, thought_disposition }));
        Response { requests, close: true }
    }

    /// Returns the window's title and its number of rows.
    fn title_and_rows(&self, screen: Rect) -> (&'static str, u16) {
        let title = match (&self.rewriting, self.person_plays) {
            (Some(_), _) => "Override: edit the thought",
            (None, true) => "You play: your action",
            (None, false) => "Override: what to do instead",
        };
        (title, if screen.height < 20 { 8 } else { 11 })
    }

    /// Returns the row with the settings and the keys that change them.
    fn settings_line(&self, context: &Context<'_>, columns: u16) -> Line {
        const COLUMNS_OF_LONG_LABELS: u16 = 70;
        let shown_as = if columns < COLUMNS_OF_LONG_LABELS { "shown as " } else { "shown to the agent as " };
        let key = |action| context.keymap.key_label_in(Mode::OverrideInput, action).unwrap_or_default();
        let mut line = vec![
            (Role::Key, format!("{} ", key(Action::ChangeShownAs))),
            (Role::Muted, shown_as.to_owned()),
            (Role::Text, self.settings.shown_as_label().to_owned()),
        ];
        if self.thought.is_some() {
            line.extend([
                (Role::Key, format!("  {} ", key(Action::ChangeOverriddenThought))),
                (Role::Muted, "thought ".to_owned()),
                (Role::Text, self.settings.thought_label().to_owned()),
            ]);
        }
        line
    }
}

/// Returns the thought before the overridden action: the step's own, or that of a thought-only step before it. If the
/// proposal itself is a thought, that thought is what the override replaces, so it isn't returned.
fn thought_before(state: &State, step: &Step) -> Option<String> {
    let own = step.thought.as_ref().filter(|_| step.proposed.is_some());
    let before = || state.open_episode()?.step(step.number.checked_sub(1)?);
    let earlier_thought =
        || before().filter(|s| s.is_thought_only() && !s.is_person_action()).and_then(|s| s.thought.as_ref());
    own.or_else(earlier_thought).cloned()
}

impl Component for ActionDialog {
    fn name(&self) -> &'static str {
        if self.person_plays { "play" } else { "override" }
    }

    fn is_stale(&self, context: &Context<'_>) -> bool {
        context.frame.head.open_episode().is_none()
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        if self.rewriting.is_some() { Mode::Rewrite } else { Mode::OverrideInput }
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        self.message = None;
        if let Some((_, thought)) = &mut self.rewriting {
            match action {
                Action::Accept | Action::Open => return self.accept(),
                Action::Close => self.rewriting = None,
                Action::NewLine => thought.insert_newline(),
                _ => {}
            }
            return Response::default();
        }
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.accept(),
            Action::AcceptTyped if self.input.insert_line_break() => {}
            Action::AcceptTyped => {
                self.input.choose_typed_text();
                return self.accept();
            }
            // A person's own move has no proposal, so nothing is overridden.
            Action::ChangeShownAs | Action::ChangeOverriddenThought if self.person_plays => {}
            Action::ChangeShownAs => self.settings.change_shown_as(),
            Action::ChangeOverriddenThought if self.thought.is_none() => {
                self.message = Some("there is no thought before this proposal".to_owned());
            }
            Action::ChangeOverriddenThought => self.settings.change_thought(),
            other => self.input.on_action(other),
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if let Some((_, thought)) = &mut self.rewriting {
            thought.on_key(key);
        } else if self.input.on_key(key) {
            self.message = None;
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Some((_, thought)) = &mut self.rewriting {
            thought.on_paste(text);
        } else if self.input.on_paste(text) {
            self.message = None;
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        if self.rewriting.is_none() {
            self.input.on_mouse(event);
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let Answer::Admissible(actions) = answer {
            self.input.set_admissible(Ok(&actions));
            // A message that they are still loading is no longer true.
            self.message = None;
        }
        Response::default()
    }

    fn awaits(&self) -> Option<WorkKind> {
        let awaits = self.rewriting.is_none() && self.input.awaits_admissible();
        awaits.then_some(WorkKind::Admissible)
    }

    fn rows_covered(&self, _: &Context<'_>, screen: Rect) -> u16 {
        Window::rows_covered(self.title_and_rows(screen).1, screen)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let (title, rows) = self.title_and_rows(screen);
        let window =
            Window { title, position: WindowPosition::Bottom, rows, columns: 84, mode: self.mode(context) };
        let without_effect = self.input.actions_without_effect();
        let keys = PresentKeys { without_effect, ..PresentKeys::default() };
        let inside = window.draw_with_keys(keys, context, screen, canvas);
        if let Some((action, thought)) = &self.rewriting {
            let above = [
                vec![(Role::Proposal, format!("{} {action}", context.glyphs.proposal))],
                vec![(Role::Muted, "the thought before it, as later prompts show it:".to_owned())],
            ];
            let rows = inside.height.min(above.len() as u16);
            put_lines(&above, Rect { height: rows, ..inside }, canvas);
            let below = Rect { y: inside.y + rows, height: inside.height - rows, ..inside };
            return thought.draw(true, below, canvas);
        }
        let settings = u16::from(!self.person_plays && inside.height > 2);
        let body = Rect { height: inside.height - settings, ..inside };
        if settings > 0 {
            let row = Rect { y: body.bottom(), height: 1, ..inside };
            put_line(&self.settings_line(context, inside.width), row, canvas);
        }
        self.input.draw(context, (self.message.as_deref(), "loading admissible actions ..."), body, canvas);
    }
}
