//! The value of a change, typed or chosen.

use super::super::action_line::ActionLine;
use super::super::field::Field;
use super::super::window::{Line, Pointed, Scroll, paragraph, put_line};
use super::Change;
use crate::domain::{Asked, Fate, KNOBS, Knob, RunSpec, Setting, SettingOrigin, ShownAs, knob_of};
use crate::driver::Accepted;
use crate::engine::{Command, State};
use crate::method::{NAMES, PaperOrCode, SETTINGS, defaults, follow, switched};
use crate::text::{one_line, truncate};
use crate::ui::canvas::Canvas;
use crate::ui::keymap::{Action, Mode};
use crate::ui::look::Look;
use crate::ui::msg::ThenAt;
use crate::ui::overlay::{SHOWN_AS, THOUGHT};
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// A value that is typed, or chosen from a list first.
pub(super) struct Value {
    change: Change,
    step: u32,
    /// What was there before.
    was: String,
    field: Field,
    /// In the place of the field, where an action is typed.
    line: Option<ActionLine>,
    /// The names to choose from, each with what it is now; empty: only the field is there.
    names: Vec<(String, String)>,
    chosen: usize,
    scroll: Scroll,
    /// The setting that was chosen from the list.
    setting: Option<String>,
    /// The moment whose actions were asked for.
    asked: Option<ThenAt>,
}

impl Value {
    pub(super) fn of(look: &Look<'_>, change: Change, step: u32, asked: Option<ThenAt>) -> Self {
        let at = look.episode().and_then(|e| e.step(step));
        let run = look.shown().run.as_deref();
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
        let names = match &change {
            Change::Method => NAMES.iter().map(|n| ((*n).to_owned(), String::new())).collect(),
            Change::Setting => settings(run),
            Change::Sampling(asked) => knobs(run, *asked),
            _ => Vec::new(),
        };
        let field = match &change {
            Change::Thought | Change::Observation => Field::lines(&was),
            _ => Field::replaceable(&was),
        };
        let chosen = names.iter().position(|(name, _)| *name == was).unwrap_or(0);
        let line = (change == Change::Act).then(|| ActionLine::new(&was));
        let scroll = Scroll::default();
        Self { change, step, was, field, line, names, chosen, scroll, setting: None, asked }
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
            Change::Sampling(asked) => {
                let of = format!("sampling of the {}", asked.name());
                self.setting.as_deref().and_then(knob_of).map_or(of, |(_, knob)| knob.setting(*asked))
            }
            _ => self.setting.clone().unwrap_or_else(|| "which setting".to_owned()),
        }
    }

    /// What is good to know while it is typed.
    fn about(&self, look: &Look<'_>) -> String {
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
            Change::Actor => "openai:MODEL, rules (built in), human, or recorded:SESSION".to_owned(),
            Change::Mentor => "openai:MODEL, symbolic (rules), recorded:SESSION, or none".to_owned(),
            Change::Sampling(asked) => match self.setting.as_deref().and_then(knob_of) {
                Some((_, knob)) => format!("{}: {}", knob.meaning, knob.allowed),
                None => look.shown().run.as_deref().map_or_else(String::new, |r| r.sampling_told(*asked)),
            },
            _ => {
                let spec = self.setting.as_ref().and_then(|n| SETTINGS.iter().find(|s| s.name == n));
                spec.map_or_else(String::new, |s| format!("{}: {}", s.meaning, s.allowed()))
            }
        }
    }

    fn lists(&self) -> bool {
        !self.names.is_empty() && self.setting.is_none()
    }

    pub(super) fn mode(&self) -> Mode {
        match self.change {
            _ if self.lists() => Mode::Choice,
            Change::Thought | Change::Observation => Mode::Rewrite,
            Change::Act => Mode::Input,
            _ => Mode::Line,
        }
    }

    pub(super) fn rows(&self) -> u16 {
        match self.change {
            _ if self.lists() => self.names.len() as u16 + 2,
            Change::Thought | Change::Observation => 9,
            Change::Act => 12,
            _ => 3,
        }
    }

    pub(super) fn act(&mut self, action: Action) {
        if let Some(line) = &mut self.line {
            return line.act(action);
        }
        let by: isize = match action {
            Action::Down | Action::NextField => 1,
            Action::Up | Action::PreviousField => -1,
            Action::PageDown => 8,
            Action::PageUp => -8,
            Action::First => isize::MIN,
            Action::Live => isize::MAX,
            Action::NewLine => {
                self.field.new_line();
                0
            }
            _ => 0,
        };
        self.by(by);
    }

    fn by(&mut self, by: isize) {
        self.chosen = self.chosen.saturating_add_signed(by).min(self.names.len().saturating_sub(1));
    }

    pub(super) fn key(&mut self, key: KeyEvent) {
        if let Some(line) = &mut self.line {
            line.key(key);
        } else if !self.lists() {
            self.field.key(key);
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        if let Some(line) = &mut self.line {
            line.paste(text);
        } else if !self.lists() {
            self.field.paste(text);
        }
    }

    pub(super) fn mouse(&mut self, event: MouseEvent) {
        if let Some(line) = &mut self.line {
            return line.mouse(event);
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
    pub(super) fn taken(&mut self, look: &Look<'_>, played: bool) -> Result<Option<Taken>, String> {
        let step = self.step;
        let name = self.names.get(self.chosen).map(|n| n.0.clone());
        if self.change == Change::Method {
            let method = name.ok_or("choose a method")?;
            let spec = spec(look)?;
            if method == spec.method {
                return Err("this is the method as it is".to_owned());
            }
            let words = format!("method {method}");
            return Ok(Some(
                self.told(&words, vec![Command::ChangeRun(Box::new(with_method(spec, &method)))]),
            ));
        }
        if self.lists() {
            self.was = self.names.get(self.chosen).map(|n| n.1.clone()).unwrap_or_default();
            // What stands behind a value says whose it is; that is not typed.
            if matches!(self.change, Change::Sampling(_)) {
                self.was = self.was.split("  ").next().unwrap_or_default().to_owned();
            } else if let Some(value) = self.was.strip_suffix(BY_MENTOR) {
                self.was = value.to_owned();
            }
            self.field = Field::replaceable(&self.was);
            self.setting = name;
            return Ok(None);
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
            Change::Act => self.told(&format!("another action, {line}"), vec![over(look.shown(), line)]),
            Change::Thought => self.told("another thought", vec![Command::EditThought { step, text }]),
            Change::Observation => {
                self.told("another observation", vec![Command::EditObservation { step, text }, Command::Step])
            }
            Change::Reject => self.told("rejected", vec![Command::Reject(line)]),
            Change::Actor => {
                let spec = switched(&spec(look)?, Asked::Actor, &line);
                self.told(&format!("actor {line}"), vec![Command::ChangeRun(Box::new(spec))])
            }
            Change::Mentor => {
                let spec = switched(&spec(look)?, Asked::Mentor, &line);
                self.told(&format!("mentor {line}"), vec![Command::ChangeRun(Box::new(spec))])
            }
            Change::Sampling(asked) => {
                let name = self.setting.clone().unwrap_or_default();
                let (_, knob) = knob_of(&name).ok_or("choose what is to be another")?;
                let value = knob.read(&text)?;
                spec(look)?.heeds(*asked, knob, &value)?;
                self.told(&format!("{name} = {}", Knob::words(&value)), vec![Command::Set { name, value }])
            }
            _ => {
                let name = self.setting.clone().unwrap_or_default();
                let value = serde_json::from_str(&line).unwrap_or_else(|_| line.clone().into());
                if let Some(spec) = SETTINGS.iter().find(|s| s.name == name) {
                    spec.check(&value)?;
                }
                self.told(&format!("{name} = {line}"), vec![Command::Set { name, value }])
            }
        }))
    }

    fn told(&self, words: &str, then: Vec<Command>) -> Taken {
        let anew = matches!(self.change, Change::Act | Change::Thought | Change::Reject);
        let place = if anew { "turn" } else { "after turn" };
        (truncate(&format!("{place} {}: {words}", self.step), 120, "…"), then)
    }

    pub(super) fn draw(&self, look: &Look<'_>, note: Option<&str>, inside: Rect, canvas: &mut Canvas<'_>) {
        let (role, words) =
            note.map_or_else(|| (Role::Dim, self.about(look)), |n| (Role::Warn, n.to_owned()));
        let about: Vec<Line> =
            paragraph((role, ""), role, &words, inside.width).into_iter().take(2).collect();
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
        let room = inside.height.saturating_sub(about.len() as u16);
        let body = Rect { height: room, ..inside };
        if self.lists() {
            let wide = self.names.iter().map(|n| n.0.chars().count()).max().unwrap_or(0);
            self.scroll.list(self.chosen, self.names.len(), body, canvas, |place| {
                let Some((name, now)) = self.names.get(place) else { return Line::new() };
                let here = place == self.chosen;
                let (mark, role) =
                    if here { (look.glyphs.proposal, Role::Chosen) } else { (" ", Role::Text) };
                let gap = " ".repeat(wide.saturating_sub(name.chars().count()) + 2);
                vec![
                    (Role::Proposal, format!(" {mark} ")),
                    (role, name.clone()),
                    (Role::Dim, format!("{gap}{now}")),
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

fn spec(look: &Look<'_>) -> Result<RunSpec, String> {
    look.shown().run.as_deref().cloned().ok_or_else(|| "no run has begun there".to_owned())
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
    follow(&spec.mentor, &mut settings);
    RunSpec { method: method.to_owned(), settings, loop_detector, ..spec }
}

/// What stands behind a value that follows from the mentor.
const BY_MENTOR: &str = "  (because the mentor is a model)";

/// The settings of a run with their values.
fn settings(run: Option<&RunSpec>) -> Vec<(String, String)> {
    let Some(run) = run else { return Vec::new() };
    let word = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    // What is about a server is changed with its model and its sampling.
    let of_a_role = |name: &str| ["actor.", "mentor."].iter().any(|role| name.starts_with(role));
    let told = run.settings.0.iter().filter(|(name, _)| *name != "templates" && !of_a_role(name));
    let because = |s: &Setting| if s.origin == SettingOrigin::Mentor { BY_MENTOR } else { "" };
    told.map(|(name, setting)| (name.clone(), word(&setting.value) + because(setting))).collect()
}

/// What can be another of a role's sampling, each with how it is and whose value that is.
fn knobs(run: Option<&RunSpec>, asked: Asked) -> Vec<(String, String)> {
    let Some(run) = run else { return Vec::new() };
    let told = KNOBS.iter().map(|knob| {
        let now = match run.sampled(asked, knob) {
            (Some(value), true) => format!("{}  (a person's)", Knob::words(&value)),
            (Some(value), false) => Knob::words(&value),
            (None, _) => String::new(),
        };
        (knob.setting(asked), now)
    });
    told.collect()
}

/// An override as the person's settings want it shown.
fn over(state: &State, action: String) -> Command {
    let word = |name: &str| state.run.as_ref().map_or("", |run| run.settings.word(name, ""));
    let shown_as = if word(SHOWN_AS) == "human_edit" { ShownAs::HumanEdit } else { ShownAs::Own };
    let fate = if word(THOUGHT) == "dropped" { Fate::Dropped } else { Fate::Kept };
    Command::Override { action, shown_as, fate }
}
