//! The dialog that keeps a decision as a test for lessons.

use crate::domain::Step;
use crate::lesson_test::Expectation;
use crate::text::{one_line, width};
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::types::RequestSource;
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, Window, WindowPosition, paragraph, put_line, put_lines};
use crossterm::event::KeyEvent;
use ratatui::layout::Rect;

const ROWS: u16 = 5;

/// Dialog for what is expected of the proposal at a prompt.
pub(super) struct TestDialog {
    step: u32,
    source: RequestSource,
    /// What was decided, for comparison.
    decided: String,
    field: TextField,
    is_forbidden: bool,
    error: Option<String>,
}

impl TestDialog {
    /// Creates the dialog for a step. If a person replaced the proposal, their action is expected; else the proposal is.
    ///
    /// # Errors
    /// Returns what to do instead if the step has no prompt.
    pub(super) fn new(step: &Step) -> Result<Self, String> {
        if step.call.is_none() {
            return Err(format!("step {} has no prompt to test: the actor wasn't asked", step.number));
        }
        let proposal = step.proposal_text().map(|text| one_line(&text).into_owned());
        let executed = step.executed.as_ref().filter(|_| step.is_person_action());
        let executed = executed.map(|executed| one_line(&executed.action).into_owned());
        let Some(expected) = executed.clone().or_else(|| proposal.clone()) else {
            return Err(format!("step {} has no proposal yet; keep it once it has arrived", step.number));
        };
        let decided = match (executed, proposal) {
            (Some(executed), Some(proposal)) => format!("{proposal}; you: {executed}"),
            (executed, proposal) => executed.or(proposal).unwrap_or_default(),
        };
        Ok(Self {
            step: step.number,
            source: RequestSource::Event(step.prompt_seq),
            decided,
            field: TextField::preselected(&expected),
            is_forbidden: false,
            error: None,
        })
    }

    fn accept(&mut self) -> Response {
        match Expectation::parse(&self.field.text(), self.is_forbidden) {
            Ok(expectation) => {
                Response::request_and_close(Request::KeepTest { source: self.source.clone(), expectation })
            }
            Err(error) => {
                self.error = Some(error);
                Response::default()
            }
        }
    }

    /// Returns the words before the field: both choices, the chosen one highlighted.
    fn choice(&self) -> Line {
        let role = |is_chosen| if is_chosen { Role::TitleFocus } else { Role::Muted };
        vec![
            (role(!self.is_forbidden), "expect".to_owned()),
            (Role::Muted, " / ".to_owned()),
            (role(self.is_forbidden), "forbid".to_owned()),
            (Role::Muted, "  ".to_owned()),
        ]
    }
}

impl Component for TestDialog {
    fn name(&self) -> &'static str {
        "test"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::TestInput
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.accept(),
            Action::NextField | Action::PreviousField => self.is_forbidden = !self.is_forbidden,
            _ => {}
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if self.field.on_key(key) {
            self.error = None;
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if self.field.on_paste(text) {
            self.error = None;
        }
        Response::default()
    }

    fn rows_covered(&self, _: &Context<'_>, screen: Rect) -> u16 {
        Window::rows_covered(ROWS, screen)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = format!("Keep step {} as a test for lessons", self.step);
        let position = WindowPosition::Bottom;
        let window = Window { title: &title, position, rows: ROWS, columns: 90, mode: self.mode(context) };
        let inside = window.draw(context, screen, canvas);
        let row = |n: u16| Rect { y: inside.y + n, height: u16::from(inside.height > n), ..inside };
        let proposal = format!("{} {}", context.glyphs.proposal, self.decided);
        put_line(&[(Role::Proposal, proposal)], row(0), canvas);
        let choice = self.choice();
        let used = choice.iter().map(|(_, text)| width(text)).sum::<usize>() as u16;
        put_line(&choice, row(1), canvas);
        let field = Rect { x: inside.x + used, width: inside.width.saturating_sub(used), ..row(1) };
        self.field.draw(true, field, canvas);
        let (role, text) = match &self.error {
            Some(error) => (Role::Warning, error.as_str()),
            None => (
                Role::Muted,
                "An action, /a pattern/ on it, or `if CONDITION` about action or thought. \
                 `retrospect lessons test` asks the actor at this prompt with the lessons of any pool.",
            ),
        };
        let below = Rect { y: inside.y + 2, height: inside.height.saturating_sub(2), ..inside };
        put_lines(&paragraph((role, ""), role, text, inside.width), below, canvas);
    }
}
