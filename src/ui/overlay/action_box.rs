//! The box for an action of a person: an override of the proposal, or the move of a person who plays.

use super::action_line::ActionLine;
use super::choice::Choice;
use super::field::Field;
use super::window::{Line, Place, Scroll, Window};
use super::{Answer, Overlay, Response, moved};
use crate::domain::{ShownAs, Step, ThoughtDisposition};
use crate::engine::{Command, State};
use crate::text::one_line;
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use serde_json::Value;

/// The setting that says how an override is shown to the agent: `own` or `human_edit`.
pub const SHOWN_AS: &str = "override.shown_as";
/// The setting that says what happens to the thought before an override: `kept`, `dropped` or `rewritten`.
pub const THOUGHT: &str = "override.thought";

const SHOWN_WORDS: [&str; 2] = ["own", "human_edit"];
const THOUGHT_WORDS: [&str; 3] = ["kept", "dropped", "rewritten"];

/// What the box waits for.
enum Stage {
    Typing,
    Shown(Choice),
    Thought(Choice),
    Words(Box<Field>),
}

/// The box.
pub struct ActionBox {
    /// A person plays; otherwise the proposal is overridden.
    plays: bool,
    /// Only the questions are asked, and no action is taken.
    only_questions: bool,
    /// The failed call of the actor is given up first.
    gives_up: bool,
    line: ActionLine,
    thought: Option<String>,
    scroll: Scroll,
    stage: Stage,
    action: String,
    /// Answers that are known, by their settings or by now.
    shown: Option<usize>,
    fate: Option<usize>,
    /// Answers given now, to be remembered.
    remember: Vec<(&'static str, &'static str)>,
    note: Option<&'static str>,
}

impl ActionBox {
    /// The box over a step that waits, filled with its proposal.
    pub fn new(state: &State, step: Option<&Step>, plays: bool) -> Self {
        let thinks = |s: &Step| s.thought.as_ref().map(|t| format!("think: {t}"));
        let proposal = step.and_then(|s| s.proposed.clone().or_else(|| thinks(s))).unwrap_or_default();
        let known = |name: &str, words: &[&str]| {
            let word = state.run.as_ref()?.settings.0.get(name)?.value.as_str()?;
            words.iter().position(|w| *w == word)
        };
        Self {
            plays,
            only_questions: false,
            gives_up: false,
            line: ActionLine::new(&proposal),
            thought: step.and_then(|s| thought_before(state, s)),
            scroll: Scroll::default(),
            stage: Stage::Typing,
            action: String::new(),
            shown: known(SHOWN_AS, &SHOWN_WORDS),
            fate: known(THOUGHT, &THOUGHT_WORDS),
            remember: Vec::new(),
            note: None,
        }
    }

    /// The same in the place of a call that failed.
    #[must_use]
    pub fn after_failure(mut self) -> Self {
        self.gives_up = true;
        self
    }

    /// The two questions alone, to answer them in another way.
    pub fn questions(state: &State) -> Self {
        let mut asked = Self::new(state, None, false);
        (asked.only_questions, asked.shown, asked.fate) = (true, None, None);
        asked.stage = Stage::Shown(shown_question());
        asked
    }

    fn accept(&mut self) -> Response {
        let typed = self.line.text();
        if typed.is_empty() {
            self.note = Some("type an action, or choose one");
            return Response::default();
        }
        self.action = typed;
        self.next()
    }

    /// Asks what is not known yet; then it is done.
    fn next(&mut self) -> Response {
        if self.plays {
            let mut requests: Vec<Request> =
                self.gives_up.then_some(Request::Send(Command::GiveUp)).into_iter().collect();
            requests.push(Request::Send(Command::Act(self.action.clone())));
            return Response { requests, close: true };
        }
        if self.shown.is_none() {
            self.stage = Stage::Shown(shown_question());
            return Response::default();
        }
        // Both are asked at the first override, whether or not there is a thought this time.
        let Some(fate) = self.fate else {
            self.stage = Stage::Thought(thought_question());
            return Response::default();
        };
        if fate == 2
            && !self.only_questions
            && self.thought.is_some()
            && !matches!(self.stage, Stage::Words(_))
        {
            self.stage = Stage::Words(Box::new(Field::lines(self.thought.as_deref().unwrap_or_default())));
            return Response::default();
        }
        self.done(fate)
    }

    fn done(&self, fate: usize) -> Response {
        let mut requests: Vec<Request> = self
            .remember
            .iter()
            .map(|(name, word)| {
                let value = Value::String((*word).to_owned());
                Request::Send(Command::ChangeSetting { name: (*name).to_owned(), value })
            })
            .collect();
        if !self.only_questions {
            let fate = match (fate, &self.stage) {
                (2, Stage::Words(words)) if !words.text().is_empty() => {
                    ThoughtDisposition::Rewritten(one_line(&words.text()).into_owned())
                }
                // A thought that is rewritten to nothing is dropped.
                (1, _) | (2, Stage::Words(_)) => ThoughtDisposition::Dropped,
                _ => ThoughtDisposition::Kept,
            };
            let shown_as = if self.shown == Some(1) { ShownAs::HumanEdit } else { ShownAs::Own };
            let action = self.action.clone();
            requests.push(Request::Send(Command::Override { action, shown_as, thought_disposition: fate }));
        }
        Response { requests, close: true }
    }

    fn answered(&mut self) -> Response {
        match &self.stage {
            Stage::Typing => return self.accept(),
            Stage::Shown(choice) => {
                self.shown = Some(choice.at);
                self.remember.push((SHOWN_AS, SHOWN_WORDS[choice.at.min(1)]));
            }
            Stage::Thought(choice) => {
                self.fate = Some(choice.at);
                self.remember.push((THOUGHT, THOUGHT_WORDS[choice.at.min(2)]));
            }
            Stage::Words(_) => {}
        }
        self.next()
    }

    /// Title and rows.
    fn frame(&self, screen: Rect) -> (&'static str, u16) {
        let (title, rows) = match (&self.stage, self.plays) {
            (Stage::Typing, true) => ("You play: your action", 10),
            (Stage::Typing, false) => ("Override: what to do instead", 10),
            (Stage::Words(_), _) => ("Override: the thought in your words", 5),
            (Stage::Shown(_) | Stage::Thought(_), _) => ("Override: asked once, then a setting", 7),
        };
        (title, if screen.height < 20 { rows.min(8) } else { rows })
    }
}

/// The thought before the action that is overridden: the step's own, or that of a step before it which only thought. A
/// proposal that is itself a thought is what is overridden.
fn thought_before(state: &State, step: &Step) -> Option<String> {
    let own = step.thought.as_ref().filter(|_| step.proposed.is_some());
    let before = || state.open_episode()?.step(step.number.checked_sub(1)?);
    let said =
        || before().filter(|s| s.is_thought_only() && !s.is_person_action()).and_then(|s| s.thought.as_ref());
    own.or_else(said).cloned()
}

fn shown_question() -> Choice {
    Choice::new(
        "How is your action shown to the agent in later prompts?",
        &["as its own action", "as a human edit, marked as one"],
    )
}

fn thought_question() -> Choice {
    Choice::new(
        "What happens to the thought before it?",
        &["it is kept", "it is dropped", "it is rewritten by you"],
    )
}

impl Overlay for ActionBox {
    fn name(&self) -> &'static str {
        if self.plays { "play" } else { "override" }
    }

    fn stale(&self, look: &Context<'_>) -> bool {
        !self.only_questions && look.moment.head.open_episode().is_none()
    }

    fn mode(&self) -> Mode {
        match self.stage {
            Stage::Typing => Mode::Input,
            Stage::Words(_) => Mode::Editor,
            Stage::Shown(_) | Stage::Thought(_) => Mode::Choice,
        }
    }

    fn act(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.answered(),
            _ => {}
        }
        match &mut self.stage {
            Stage::Typing => {
                self.note = None;
                self.line.act(action);
            }
            Stage::Words(words) if action == Action::NewLine => words.new_line(),
            Stage::Words(_) => {}
            Stage::Shown(choice) | Stage::Thought(choice) => {
                choice.by(moved(action, 1).map_or(0, isize::signum));
            }
        }
        Response::default()
    }

    fn key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        match &mut self.stage {
            Stage::Typing => {
                if self.line.key(key) {
                    self.note = None;
                }
            }
            Stage::Words(words) => {
                words.key(key);
            }
            Stage::Shown(_) | Stage::Thought(_) => {}
        }
        Response::default()
    }

    fn paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        match &mut self.stage {
            Stage::Typing => {
                if self.line.paste(text) {
                    self.note = None;
                }
            }
            Stage::Words(words) => {
                words.paste(text);
            }
            Stage::Shown(_) | Stage::Thought(_) => {}
        }
        Response::default()
    }

    fn mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        match &mut self.stage {
            Stage::Typing => self.line.mouse(event),
            Stage::Shown(choice) | Stage::Thought(choice) => choice.mouse(&self.scroll, event),
            Stage::Words(_) => {}
        }
        Response::default()
    }

    fn answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let Answer::Admissible(actions) = answer {
            self.line.learn(Ok(&actions));
        }
        Response::default()
    }

    fn covers(&self, _: &Context<'_>, screen: Rect) -> u16 {
        Window::covers(self.frame(screen).1, screen)
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let (title, rows) = self.frame(screen);
        let window = Window { title, place: Place::Below, rows, columns: 84, mode: self.mode() };
        let inside = window.draw(look, screen, canvas);
        let mut lines: Vec<Line> = Vec::new();
        match &self.stage {
            Stage::Typing => {
                let waits = "the world is being asked what it accepts";
                return self.line.draw(look, (self.note, waits), inside, canvas);
            }
            Stage::Words(words) => return words.draw(true, inside, canvas),
            Stage::Shown(choice) => lines.extend(choice.lines(look, inside.width)),
            Stage::Thought(choice) => {
                if let Some(thought) = &self.thought {
                    lines.push(vec![
                        (Role::Dim, "think  ".to_owned()),
                        (Role::Thought, one_line(thought).into_owned()),
                    ]);
                }
                lines.extend(choice.lines(look, inside.width));
            }
        }
        self.scroll.draw(&lines, inside, canvas);
    }
}
