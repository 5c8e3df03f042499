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
use crate::ui::widget::choice::Choice;
use crate::ui::widget::list_index::row_delta;
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, Scroll, Window, WindowPosition};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use serde_json::Value;

/// The answers to the first question.
const SHOWN_AS_ANSWERS: [(ShownAs, &str); 2] =
    [(ShownAs::AgentAction, "as its own action"), (ShownAs::HumanEdit, "marked as a human edit")];
/// The answers to the second question.
const THOUGHT_ANSWERS: [(OverriddenThought, &str); 3] = [
    (OverriddenThought::Kept, "keep it"),
    (OverriddenThought::Dropped, "drop it"),
    (OverriddenThought::Rewritten, "rewrite it"),
];

/// The dialog's current stage.
enum Stage {
    Typing,
    ChooseShownAs(Choice),
    ChooseThought(Choice),
    RewriteThought(Box<TextField>),
}

/// Dialog for typing an action.
pub(super) struct ActionDialog {
    /// True if a person plays; otherwise the proposal is overridden.
    person_plays: bool,
    /// Asks the two questions only, and executes no action.
    asks_settings_only: bool,
    /// Gives up the actor's failed call before the action.
    gives_up_failed_call: bool,
    input: ActionInput,
    thought: Option<String>,
    scroll: Scroll,
    stage: Stage,
    action: String,
    /// Answers already known, from settings or from this dialog.
    shown_as_choice: Option<ShownAs>,
    thought_choice: Option<OverriddenThought>,
    /// Answers given in this dialog, to be saved as settings.
    settings_to_save: Vec<(&'static str, &'static str)>,
    message: Option<&'static str>,
}

impl ActionDialog {
    /// Creates the dialog, filled with the proposal of the step that awaits a decision.
    pub(super) fn new(state: &State, step: Option<&Step>, plays: bool) -> Self {
        let thinks = |s: &Step| s.thought.as_ref().map(|t| format!("think: {t}"));
        let proposal = step.and_then(|s| s.proposed.clone().or_else(|| thinks(s))).unwrap_or_default();
        let settings = state.run.as_ref().map(|run| &run.settings);
        Self {
            person_plays: plays,
            asks_settings_only: false,
            gives_up_failed_call: false,
            input: ActionInput::new(&proposal),
            thought: step.and_then(|s| thought_before(state, s)),
            scroll: Scroll::default(),
            stage: Stage::Typing,
            action: String::new(),
            shown_as_choice: settings.and_then(|s| s.find(OVERRIDE_SHOWN_AS)),
            thought_choice: settings.and_then(|s| s.find(OVERRIDDEN_THOUGHT)),
            settings_to_save: Vec::new(),
            message: None,
        }
    }

    /// Makes the action replace a failed call.
    #[must_use]
    pub(super) fn replacing_failed_call(mut self) -> Self {
        self.gives_up_failed_call = true;
        self
    }

    /// Creates a dialog that only asks the two questions, to change their answers.
    pub(super) fn settings_only(state: &State) -> Self {
        let mut asked = Self::new(state, None, false);
        (asked.asks_settings_only, asked.shown_as_choice, asked.thought_choice) = (true, None, None);
        asked.stage = Stage::ChooseShownAs(shown_question());
        asked
    }

    fn accept_action(&mut self) -> Response {
        let typed = self.input.text();
        if typed.is_empty() {
            self.message = Some("type an action, or choose one");
            return Response::default();
        }
        self.action = typed;
        self.next_stage()
    }

    /// Asks the next unanswered question, or finishes.
    fn next_stage(&mut self) -> Response {
        if self.person_plays {
            let mut requests: Vec<Request> =
                self.gives_up_failed_call.then_some(Request::Send(Command::GiveUp)).into_iter().collect();
            requests.push(Request::Send(Command::Act(self.action.clone())));
            return Response { requests, close: true };
        }
        let Some(shown_as) = self.shown_as_choice else {
            self.stage = Stage::ChooseShownAs(shown_question());
            return Response::default();
        };
        // Both are asked at the first override, even if there is no thought this time.
        let Some(thought) = self.thought_choice else {
            self.stage = Stage::ChooseThought(thought_question());
            return Response::default();
        };
        if thought == OverriddenThought::Rewritten
            && !self.asks_settings_only
            && self.thought.is_some()
            && !matches!(self.stage, Stage::RewriteThought(_))
        {
            self.stage = Stage::RewriteThought(Box::new(TextField::multi_line(
                self.thought.as_deref().unwrap_or_default(),
            )));
            return Response::default();
        }
        self.finish(shown_as, thought)
    }

    fn finish(&self, shown_as: ShownAs, thought: OverriddenThought) -> Response {
        let mut requests: Vec<Request> = self
            .settings_to_save
            .iter()
            .map(|(name, word)| {
                let value = Value::String((*word).to_owned());
                Request::Send(Command::ChangeSetting { name: (*name).to_owned(), value })
            })
            .collect();
        if !self.asks_settings_only {
            let thought_disposition = match (thought, &self.stage) {
                (OverriddenThought::Rewritten, Stage::RewriteThought(words)) if !words.text().is_empty() => {
                    ThoughtDisposition::Rewritten(one_line(&words.text()).into_owned())
                }
                // A thought that is rewritten to nothing is dropped.
                (OverriddenThought::Rewritten, Stage::RewriteThought(_)) => ThoughtDisposition::Dropped,
                _ => thought.without_new_text(),
            };
            let action = self.action.clone();
            requests.push(Request::Send(Command::Override { action, shown_as, thought_disposition }));
        }
        Response { requests, close: true }
    }

    fn accept_stage(&mut self) -> Response {
        match &self.stage {
            Stage::Typing => return self.accept_action(),
            Stage::ChooseShownAs(choice) => {
                let (shown_as, _) = SHOWN_AS_ANSWERS[choice.selected.min(SHOWN_AS_ANSWERS.len() - 1)];
                self.shown_as_choice = Some(shown_as);
                self.settings_to_save.push((OVERRIDE_SHOWN_AS.spec.name, shown_as.word()));
            }
            Stage::ChooseThought(choice) => {
                let (thought, _) = THOUGHT_ANSWERS[choice.selected.min(THOUGHT_ANSWERS.len() - 1)];
                self.thought_choice = Some(thought);
                self.settings_to_save.push((OVERRIDDEN_THOUGHT.spec.name, thought.word()));
            }
            Stage::RewriteThought(_) => {}
        }
        self.next_stage()
    }

    /// Returns the window's title and its number of rows.
    fn title_and_rows(&self, screen: Rect) -> (&'static str, u16) {
        let (title, rows) = match (&self.stage, self.person_plays) {
            (Stage::Typing, true) => ("You play: your action", 10),
            (Stage::Typing, false) => ("Override: what to do instead", 10),
            (Stage::RewriteThought(_), _) => ("Override: edit the thought", 5),
            (Stage::ChooseShownAs(_) | Stage::ChooseThought(_), _) => {
                ("Override: asked once, saved as a setting", 7)
            }
        };
        (title, if screen.height < 20 { rows.min(8) } else { rows })
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

fn shown_question() -> Choice {
    Choice::new(
        "How is your action shown to the agent in later prompts?",
        &SHOWN_AS_ANSWERS.map(|(_, answer)| answer),
    )
}

fn thought_question() -> Choice {
    Choice::new("What happens to the thought before it?", &THOUGHT_ANSWERS.map(|(_, answer)| answer))
}

impl Component for ActionDialog {
    fn name(&self) -> &'static str {
        if self.person_plays { "play" } else { "override" }
    }

    fn is_stale(&self, context: &Context<'_>) -> bool {
        !self.asks_settings_only && context.frame.head.open_episode().is_none()
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        match self.stage {
            Stage::Typing => Mode::OverrideInput,
            Stage::RewriteThought(_) => Mode::LessonEditor,
            Stage::ChooseShownAs(_) | Stage::ChooseThought(_) => Mode::Choice,
        }
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.accept_stage(),
            _ => {}
        }
        match &mut self.stage {
            Stage::Typing => {
                self.message = None;
                self.input.on_action(action);
            }
            Stage::RewriteThought(words) if action == Action::NewLine => words.insert_newline(),
            Stage::RewriteThought(_) => {}
            Stage::ChooseShownAs(choice) | Stage::ChooseThought(choice) => {
                choice.move_by(row_delta(action, 1).map_or(0, isize::signum));
            }
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        match &mut self.stage {
            Stage::Typing => {
                if self.input.picker.on_key(key) {
                    self.message = None;
                }
            }
            Stage::RewriteThought(words) => {
                words.on_key(key);
            }
            Stage::ChooseShownAs(_) | Stage::ChooseThought(_) => {}
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        match &mut self.stage {
            Stage::Typing => {
                if self.input.picker.on_paste(text) {
                    self.message = None;
                }
            }
            Stage::RewriteThought(words) => {
                words.on_paste(text);
            }
            Stage::ChooseShownAs(_) | Stage::ChooseThought(_) => {}
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        match &mut self.stage {
            Stage::Typing => {
                self.input.picker.on_mouse(event);
            }
            Stage::ChooseShownAs(choice) | Stage::ChooseThought(choice) => {
                choice.on_mouse(&self.scroll, event);
            }
            Stage::RewriteThought(_) => {}
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let Answer::Admissible(actions) = answer {
            self.input.set_admissible(Ok(&actions));
        }
        Response::default()
    }

    fn awaits(&self) -> Option<WorkKind> {
        let awaits = matches!(self.stage, Stage::Typing) && self.input.awaits_admissible();
        awaits.then_some(WorkKind::Admissible)
    }

    fn rows_covered(&self, _: &Context<'_>, screen: Rect) -> u16 {
        Window::rows_covered(self.title_and_rows(screen).1, screen)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let (title, rows) = self.title_and_rows(screen);
        let window =
            Window { title, position: WindowPosition::Bottom, rows, columns: 84, mode: self.mode(context) };
        let inside = window.draw(context, screen, canvas);
        let mut lines: Vec<Line> = Vec::new();
        match &self.stage {
            Stage::Typing => {
                let waits = "loading admissible actions ...";
                return self.input.draw(context, (self.message, waits), inside, canvas);
            }
            Stage::RewriteThought(words) => return words.draw(true, inside, canvas),
            Stage::ChooseShownAs(choice) => lines.extend(choice.lines(context, inside.width)),
            Stage::ChooseThought(choice) => {
                if let Some(thought) = &self.thought {
                    lines.push(vec![
                        (Role::Muted, "think  ".to_owned()),
                        (Role::Thought, one_line(thought).into_owned()),
                    ]);
                }
                lines.extend(choice.lines(context, inside.width));
            }
        }
        self.scroll.draw(&lines, inside, canvas);
    }
}
