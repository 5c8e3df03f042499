//! The value of a change, typed or chosen.

use super::super::action_line::ActionLine;
use super::super::field::Field;
use super::super::moved;
use super::super::named::{self, NamedLine};
use super::super::window::{Line, Pointed, Scroll, paragraph, put_line};
use super::{Change, at};
use crate::domain::{ModelRole, RunSpec, SamplingParam, ShownAs, ThoughtDisposition, sampling_param};
use crate::driver::Accepted;
use crate::engine::{Command, State};
use crate::method::{METHOD_NAMES, PaperOrCode, SETTINGS, defaults, derive_generation, switch_model};
use crate::text::{one_line, truncate};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::ThenAt;
use crate::ui::overlay::stepped;
use crate::ui::overlay::{SHOWN_AS, THOUGHT};
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// A value that is typed, or chosen from a list first.
pub(super) struct Value {
    change: Change,
    step: u32,
    /// Where the branch begins, in words.
    place: String,
    /// What was there before.
    was: String,
    field: Field,
    /// In the place of the field, where an action is typed.
    line: Option<ActionLine>,
    /// In the place of the field, where one of several values is to be another.
    named: Option<NamedLine>,
    /// The methods to choose from.
    methods: &'static [&'static str],
    chosen: usize,
    scroll: Scroll,
    /// The moment whose actions were asked for.
    asked: Option<ThenAt>,
}

impl Value {
    /// Over the moment shown, and the episode that is listed.
    pub(super) fn of(
        (shown, listed): (&State, &State),
        change: Change,
        step: u32,
        asked: Option<ThenAt>,
    ) -> Self {
        let at = listed.episode.as_deref().and_then(|e| e.step(step));
        let run = shown.run.as_deref();
        let was = match &change {
            Change::Act => at.and_then(|s| s.action()).map(str::to_owned),
            Change::Thought => at.and_then(|s| s.thought.clone()),
            Change::Observation => at.and_then(|s| s.observation()).map(str::to_owned),
            Change::Method => run.map(|r| r.method.clone()),
            Change::Actor => run.map(|r| r.actor.clone()),
            Change::Mentor => run.map(|r| r.mentor.clone()),
            _ => None,
        }
        .unwrap_or_default();
        let named = match &change {
            Change::Setting => Some(named::settings(run)),
            Change::Sampling(asked) => Some(named::knobs(run, *asked)),
            _ => None,
        };
        let methods: &[&str] = if change == Change::Method { METHOD_NAMES } else { &[] };
        let field = match &change {
            Change::Thought | Change::Observation => Field::lines(&was),
            _ => Field::replaceable(&was),
        };
        let chosen = methods.iter().position(|name| *name == was).unwrap_or(0);
        let line = (change == Change::Act).then(|| ActionLine::new(&was));
        let (named, scroll) = (named.map(NamedLine::new), Scroll::default());
        let place = match change {
            Change::Act | Change::Thought | Change::Reject => format!("turn {step}"),
            Change::Observation => format!("after turn {step}"),
            _ => at::place(shown),
        };
        Self { change, step, place, was, field, line, named, methods, chosen, scroll, asked }
    }

    /// What the world accepted then has come in. That of another moment, which was asked for before, is dropped.
    pub(super) fn learn(&mut self, at: ThenAt, listed: &Accepted) {
        if let Some(line) = self.line.as_mut().filter(|_| self.asked == Some(at)) {
            line.learn(listed.as_deref().map_err(String::clone));
        }
    }

    pub(super) fn change(&self) -> &Change {
        &self.change
    }

    /// What is typed, for the title.
    pub(super) fn title(&self, turn: u32) -> String {
        match &self.change {
            Change::Act => format!("another action for turn {turn}"),
            Change::Thought => format!("another thought for turn {turn}"),
            Change::Observation => format!("another observation of turn {}", self.step),
            Change::Reject => format!("turn {turn} is rejected: why?"),
            Change::Method => "another method".to_owned(),
            Change::Actor => "who acts".to_owned(),
            Change::Mentor => "who reflects".to_owned(),
            Change::Sampling(asked) => format!("sampling of the {}", asked.name()),
            _ => "another setting".to_owned(),
        }
    }

    /// What is good to know while it is typed.
    fn about(&self, look: &Context<'_>) -> String {
        match &self.change {
            Change::Act => format!("It runs in the place of: {}", one_line(&self.was)),
            Change::Thought => "The agent reads it as its own; it is marked as edited by you.".to_owned(),
            Change::Observation => {
                "The agent reads it; it is marked as edited by you. The world itself is not changed."
                    .to_owned()
            }
            Change::Reject => "The agent is told the reason, and is asked this turn again.".to_owned(),
            Change::Method => {
                "Lessons and reflections stay; the new method begins with its own defaults.".to_owned()
            }
            Change::Actor => {
                "openai:MODEL, `openai:MODEL profile NAME`, rules (built in), human, or recorded:SESSION"
                    .to_owned()
            }
            Change::Mentor => {
                "openai:MODEL, `openai:MODEL profile NAME`, symbolic (rules), recorded:SESSION, or none"
                    .to_owned()
            }
            _ => {
                let told = self.named.as_ref().and_then(NamedLine::told);
                told.unwrap_or_else(|| match (&self.change, look.shown().run.as_deref()) {
                    (Change::Sampling(asked), Some(run)) => {
                        let first = format!("{}.temperature", asked.name());
                        let heeded = named::read(run, &first, "off")
                            .map(|_| format!("NAME VALUE, such as {first} 0.7"));
                        heeded.unwrap_or_else(|why| why)
                    }
                    _ => "NAME VALUE; Enter puts the chosen name into the line".to_owned(),
                })
            }
        }
    }

    fn lists(&self) -> bool {
        !self.methods.is_empty()
    }

    /// Takes back what is typed where a list lies below it; whether there was anything.
    pub(super) fn cleared(&mut self) -> bool {
        self.named.as_mut().is_some_and(NamedLine::clear)
    }

    pub(super) fn mode(&self) -> Mode {
        match self.change {
            _ if self.lists() => Mode::Choice,
            _ if self.named.is_some() => Mode::Pick,
            Change::Thought | Change::Observation => Mode::Rewrite,
            Change::Act => Mode::Input,
            _ => Mode::Line,
        }
    }

    pub(super) fn rows(&self) -> u16 {
        if let Some(named) = &self.named {
            return named.rows();
        }
        match self.change {
            _ if self.lists() => self.methods.len() as u16 + 2,
            Change::Thought | Change::Observation => 9,
            Change::Act => 12,
            Change::Actor | Change::Mentor => 4,
            _ => 3,
        }
    }

    pub(super) fn act(&mut self, action: Action) {
        if let Some(line) = &mut self.line {
            return line.act(action);
        }
        if let Some(named) = &mut self.named {
            return named.act(action);
        }
        if action == Action::NewLine {
            self.field.new_line();
        }
        self.by(moved(action, self.scroll.page()).unwrap_or(0));
    }

    fn by(&mut self, by: isize) {
        self.chosen = stepped(self.chosen, by, self.methods.len());
    }

    pub(super) fn key(&mut self, key: KeyEvent) {
        if let Some(line) = &mut self.line {
            line.key(key);
        } else if let Some(named) = &mut self.named {
            named.key(key);
        } else if !self.lists() {
            self.field.key(key);
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        if let Some(line) = &mut self.line {
            line.paste(text);
        } else if let Some(named) = &mut self.named {
            named.paste(text);
        } else if !self.lists() {
            self.field.paste(text);
        }
    }

    pub(super) fn mouse(&mut self, event: MouseEvent) {
        if let Some(line) = &mut self.line {
            return line.mouse(event);
        }
        if let Some(named) = &mut self.named {
            return named.mouse(event);
        }
        match self.scroll.pointed(event).filter(|_| self.lists()) {
            Some(Pointed::Row(row)) => self.chosen = row,
            Some(Pointed::Wheel(by)) => self.by(by),
            None => {}
        }
    }

    /// What is there now as the reason of a branch and the wishes it begins with; none where a value is to be typed next.
    /// `played`: the turn never had a proposal.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn taken(&mut self, shown: &State, played: bool) -> Result<Option<Taken>, String> {
        let step = self.step;
        if let Some(method) = self.methods.get(self.chosen) {
            let spec = spec(shown)?;
            if *method == spec.method {
                return Err("this is the method as it is".to_owned());
            }
            let words = format!("method {method}");
            return Ok(Some(
                self.told(&words, vec![Command::ChangeRun(Box::new(with_method(spec, method)))]),
            ));
        }
        if let Some(named) = &mut self.named {
            let Some((name, text)) = named.taken()? else { return Ok(None) };
            let value = named::read(&spec(shown)?, &name, &text)?;
            let words =
                if sampling_param(&name).is_some() { SamplingParam::format_value(&value) } else { text };
            return Ok(Some(
                self.told(&format!("{name} = {words}"), vec![Command::ChangeSetting { name, value }]),
            ));
        }
        let text = self.line.as_ref().map_or_else(|| self.field.text(), ActionLine::text);
        if text.is_empty() {
            return Err("write something first".to_owned());
        }
        if text == self.was.trim() {
            return Err("this is what it was; change it, or go back with Esc".to_owned());
        }
        let line = one_line(&text).into_owned();
        Ok(Some(match &self.change {
            Change::Act if played => self.told(&format!("another action, {line}"), vec![Command::Act(line)]),
            Change::Act => self.told(&format!("another action, {line}"), vec![over(shown, line)]),
            Change::Thought => self.told("another thought", vec![Command::EditThought { step, text }]),
            Change::Observation => {
                self.told("another observation", vec![Command::EditObservation { step, text }, Command::Step])
            }
            Change::Reject => self.told("rejected", vec![Command::Reject(line)]),
            Change::Actor => {
                let spec = switch_model(&spec(shown)?, ModelRole::Actor, &line);
                self.told(&format!("actor {line}"), vec![Command::ChangeRun(Box::new(spec))])
            }
            Change::Mentor => {
                let spec = switch_model(&spec(shown)?, ModelRole::Mentor, &line);
                self.told(&format!("mentor {line}"), vec![Command::ChangeRun(Box::new(spec))])
            }
            _ => return Err("there is nothing to be typed here".to_owned()),
        }))
    }

    fn told(&self, words: &str, then: Vec<Command>) -> Taken {
        (truncate(&format!("{}: {words}", self.place), 120, "…"), then)
    }

    pub(super) fn draw(&self, look: &Context<'_>, note: Option<&str>, inside: Rect, canvas: &mut Canvas<'_>) {
        // Rows of what is good to know, at the most.
        const ABOUT: usize = 3;
        let (role, words) =
            note.map_or_else(|| (Role::Dim, self.about(look)), |n| (Role::Warn, n.to_owned()));
        let about: Vec<Line> =
            paragraph((role, ""), role, &words, inside.width).into_iter().take(ABOUT).collect();
        if let Some(line) = &self.line {
            let rows = about.iter().take(usize::from(note.is_none()));
            for (place, about) in rows.enumerate() {
                put_line(about, Rect { y: inside.y + place as u16, height: 1, ..inside }, canvas);
            }
            let above = u16::from(note.is_none()).min(inside.height.saturating_sub(2));
            let body = Rect { y: inside.y + above, height: inside.height - above, ..inside };
            let waits = "the actions before it are taken again, to see what the world accepts there";
            return line.draw(look, (note, waits), body, canvas);
        }
        if let Some(named) = &self.named {
            return named.draw(look, &about, inside, canvas);
        }
        let room = inside.height.saturating_sub(about.len() as u16);
        let body = Rect { height: room, ..inside };
        if self.lists() {
            self.scroll.list(self.chosen, self.methods.len(), body, canvas, |place| {
                let Some(name) = self.methods.get(place) else { return Line::new() };
                let here = place == self.chosen;
                let (mark, role) =
                    if here { (look.glyphs.proposal, Role::Chosen) } else { (" ", Role::Text) };
                let now = if *name == self.was { "  as it is" } else { "" };
                vec![
                    (Role::Proposal, format!(" {mark} ")),
                    (role, (*name).to_owned()),
                    (Role::Dim, now.to_owned()),
                ]
            });
        } else {
            self.field.draw(true, body, canvas);
        }
        for (place, line) in about.iter().enumerate() {
            let y = body.bottom() + place as u16;
            if y < inside.bottom() {
                put_line(line, Rect { y, height: 1, ..inside }, canvas);
            }
        }
    }
}

/// The reason of a branch, and the wishes it begins with.
type Taken = (String, Vec<Command>);

fn spec(shown: &State) -> Result<RunSpec, String> {
    shown.run.as_deref().cloned().ok_or_else(|| "no run has begun there".to_owned())
}

/// The same run by another method: what a person set stays, the rest is the method's own.
fn with_method(spec: RunSpec, method: &str) -> RunSpec {
    let (_, mut settings, loop_detector) = defaults(method, PaperOrCode::default());
    let kept = |name: &str| settings.0.contains_key(name) || !SETTINGS.iter().any(|s| s.name == name);
    let old = spec.settings.0.into_iter().filter(|(name, s)| {
        use crate::domain::SettingOrigin::{Config, Flag, Person};
        let chosen = matches!(s.origin, Config | Flag | Person);
        kept(name) && (chosen || !SETTINGS.iter().any(|known| known.name == name))
    });
    let old: Vec<_> = old.collect();
    settings.0.extend(old);
    derive_generation(&spec.mentor, &mut settings);
    RunSpec { method: method.to_owned(), settings, loop_detector, ..spec }
}

/// An override as the person's settings want it shown.
fn over(state: &State, action: String) -> Command {
    let word = |name: &str| state.run.as_ref().map_or("", |run| run.settings.text(name, ""));
    let shown_as = if word(SHOWN_AS) == "human_edit" { ShownAs::HumanEdit } else { ShownAs::Own };
    let fate =
        if word(THOUGHT) == "dropped" { ThoughtDisposition::Dropped } else { ThoughtDisposition::Kept };
    Command::Override { action, shown_as, thought_disposition: fate }
}
