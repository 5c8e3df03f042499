//! What is chosen on the start screen, and how keys change it.

mod follow;

use super::{Answers, Knob, News, StartChoice, StartModel, TaskRow};
use crate::domain::SettingOrigin;
use crate::method::SETTINGS;
use crate::text::one_line;
use crate::ui::keymap::{Action, Keymap, Mode};
use crate::ui::overlay::choice::around;
use crate::ui::overlay::field::Field;
use crate::ui::overlay::stepped;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::cell::Cell;

/// What has the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The list of tasks, and the search in it.
    Tasks,
    /// The environment.
    World,
    /// A setting, by its place.
    Knob(usize),
    /// The sessions.
    Sessions,
}

/// What a key came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing is decided.
    Stay,
    /// The person leaves.
    Leave,
    /// This was chosen.
    Chosen(StartChoice),
    /// Draw everything anew.
    Redraw,
    /// Put the program into the background.
    Suspend,
}

/// The state of the start screen.
pub struct Chooser {
    /// All there is to choose from, with the values as they are now.
    pub(super) model: StartModel,
    pub(super) part: Part,
    pub(super) query: Field,
    /// Places of the tasks that fit what was searched for.
    pub(super) fitting: Vec<usize>,
    /// The chosen one of them.
    pub(super) at: usize,
    pub(super) session: usize,
    /// What is wrong with a value, or else worth a line.
    pub(super) note: Option<String>,
    /// Settings in a row, as they were drawn last.
    pub(super) in_a_row: Cell<usize>,
    /// The text of the chosen setting is being typed, and no longer one of those that are offered.
    typing: bool,
    first_task: usize,
    /// The settings that the person changed, by name.
    changed: Vec<String>,
}

impl Chooser {
    /// With what is preselected.
    pub fn new(mut model: StartModel) -> Self {
        model.world = model.world.min(model.worlds.len().saturating_sub(1));
        let first_task = model.task;
        let mut chooser = Self {
            model,
            part: Part::Tasks,
            query: Field::line(""),
            fitting: Vec::new(),
            at: 0,
            session: 0,
            note: None,
            in_a_row: Cell::new(1),
            typing: false,
            first_task,
            changed: Vec::new(),
        };
        chooser.filter();
        chooser
    }

    /// Takes in what was found out; what is chosen stays chosen.
    pub fn learn(&mut self, news: News) {
        match news {
            News::Sessions(sessions) => self.model.sessions = sessions,
            News::World(row) => {
                let chosen = self.task().map(|t| t.id.clone());
                let Some(place) = self.model.worlds.iter().position(|w| w.name == row.name) else { return };
                let preselected = self.model.worlds[place].tasks.first().map(|t| t.id.clone());
                let here = place == self.model.world;
                self.model.worlds[place] = row;
                if !here {
                    return;
                }
                let tasks: Vec<String> = self.tasks().iter().map(|t| t.id.clone()).collect();
                let find = |id: &Option<String>| tasks.iter().position(|t| Some(t) == id.as_ref());
                self.first_task = find(&preselected).unwrap_or(0);
                self.filter();
                if let Some(at) = find(&chosen).and_then(|t| self.fitting.iter().position(|f| *f == t)) {
                    self.at = at;
                }
            }
        }
    }

    /// The tasks of the chosen environment.
    pub(super) fn tasks(&self) -> &[TaskRow] {
        self.model.worlds.get(self.model.world).map_or(&[], |w| w.tasks.as_slice())
    }

    /// The chosen task.
    pub(super) fn task(&self) -> Option<&TaskRow> {
        self.tasks().get(*self.fitting.get(self.at)?)
    }

    fn filter(&mut self) {
        let query = self.query.text();
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let fits = |t: &TaskRow| {
            let row = format!("{} {} {}", t.goal, t.id, t.kind).to_lowercase();
            words.iter().all(|w| row.contains(w))
        };
        let fitting = self.tasks().iter().enumerate().filter(|(_, t)| fits(t)).map(|(place, _)| place);
        self.fitting = fitting.collect();
        self.at =
            if query.is_empty() { self.first_task.min(self.fitting.len().saturating_sub(1)) } else { 0 };
    }

    fn parts(&self) -> Vec<Part> {
        let mut all = vec![Part::Tasks, Part::World];
        all.extend((0..self.model.knobs.len()).map(Part::Knob));
        if !self.model.sessions.is_empty() {
            all.push(Part::Sessions);
        }
        all
    }

    fn go(&mut self, by: isize) {
        self.typing = false;
        let all = self.parts();
        let at = all.iter().position(|p| *p == self.part).unwrap_or(0);
        self.part = all[around(at, by, all.len())];
    }

    fn row(&mut self, by: isize) {
        let (at, all) = match self.part {
            Part::Tasks => (&mut self.at, self.fitting.len()),
            Part::Sessions => (&mut self.session, self.model.sessions.len()),
            Part::World | Part::Knob(_) => return self.setting_row(by),
        };
        *at = stepped(*at, by, all);
    }

    /// To the setting that stands so many rows below; at the edge it stays.
    fn setting_row(&mut self, by: isize) {
        self.typing = false;
        let here = match self.part {
            Part::Knob(place) => place + 1,
            _ => 0,
        };
        let to = here.saturating_add_signed(by.saturating_mul(self.in_a_row.get().max(1).cast_signed()));
        self.part = match to.min(self.model.knobs.len()) {
            0 => Part::World,
            place => Part::Knob(place - 1),
        };
    }

    fn turn(&mut self, by: isize) {
        self.typing = false;
        match self.part {
            Part::World => {
                self.model.world = around(self.model.world, by, self.model.worlds.len());
                // The preselected task is one of the preselected environment.
                self.first_task = 0;
                self.filter();
            }
            Part::Knob(place) => {
                let Some(knob) = self.model.knobs.get_mut(place) else { return };
                match &knob.answers {
                    Answers::Number(from, to) => {
                        let number: u64 = knob.value.parse().unwrap_or(*from);
                        knob.value = number.saturating_add_signed(by as i64).clamp(*from, *to).to_string();
                    }
                    Answers::Words(words) | Answers::Text { offered: words, .. } => {
                        if words.is_empty() {
                            return;
                        }
                        let at = words.iter().position(|w| *w == knob.value).unwrap_or(0);
                        if let Some(word) = words.get(around(at, by, words.len())) {
                            knob.value.clone_from(word);
                        }
                    }
                }
                self.touched(place);
            }
            Part::Tasks | Part::Sessions => {}
        }
    }

    fn touched(&mut self, place: usize) {
        let Some(knob) = self.model.knobs.get_mut(place) else { return };
        knob.origin = SettingOrigin::Person;
        let name = knob.name.clone();
        if !self.changed.contains(&name) {
            self.changed.push(name.clone());
        }
        self.follow(&name);
        let place = self.model.knobs.iter().position(|k| k.name == name);
        self.note = place.and_then(|place| self.wrong(place));
    }

    /// The settings that were changed, by their places; what another method has is not among them.
    fn changed(&self) -> impl Iterator<Item = usize> + '_ {
        self.changed.iter().filter_map(|name| self.model.knobs.iter().position(|k| k.name == *name))
    }

    /// What is wrong with the value of a setting, in words.
    fn wrong(&self, place: usize) -> Option<String> {
        let knob = self.model.knobs.get(place)?;
        let Answers::Number(from, to) = knob.answers else { return None };
        let number: Option<u64> = value(knob).parse().ok();
        let refused = match (SETTINGS.iter().find(|s| s.name == knob.name), number) {
            (Some(spec), Some(number)) => spec.validate(&number.into()).err(),
            (Some(spec), None) => Some(format!("expected {}", spec.allowed_values())),
            (None, Some(number)) if (from..=to).contains(&number) => None,
            (None, _) => Some(format!("expected a whole number from {from} on")),
        };
        refused.map(|why| format!("{} {}: {why}", knob.label, value(knob)))
    }

    fn accept(&mut self) -> Outcome {
        if self.part == Part::Sessions {
            let session = self.model.sessions.get(self.session);
            return session.map_or(Outcome::Stay, |s| Outcome::Chosen(StartChoice::Resume(s.path.clone())));
        }
        let wrong = self.changed().find_map(|place| Some((place, self.wrong(place)?)));
        if let Some((place, why)) = wrong {
            (self.part, self.note) = (Part::Knob(place), Some(why));
            return Outcome::Stay;
        }
        let (Some(world), Some(task)) = (self.model.worlds.get(self.model.world), self.task()) else {
            return Outcome::Stay;
        };
        let value = |place: usize| {
            let knob = &self.model.knobs[place];
            (knob.name.clone(), value(knob))
        };
        Outcome::Chosen(StartChoice::Run {
            env: world.name.clone(),
            task: task.id.clone(),
            changed: self.changed().map(value).collect(),
        })
    }

    /// A key.
    pub fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> Outcome {
        self.note = None;
        match keymap.find(Mode::Start, key) {
            Some(Action::Cancel | Action::Quit) => return Outcome::Leave,
            Some(Action::Suspend) => return Outcome::Suspend,
            Some(Action::Redraw) => return Outcome::Redraw,
            Some(Action::Accept | Action::Open) => return self.accept(),
            Some(Action::Close) if self.query.text().is_empty() => return Outcome::Leave,
            Some(Action::Close) => {
                self.query.replace("");
                self.filter();
            }
            Some(Action::Down) => self.row(1),
            Some(Action::Up) => self.row(-1),
            Some(Action::PageDown) => self.row(8),
            Some(Action::PageUp) => self.row(-8),
            Some(Action::NextField) => self.go(1),
            Some(Action::PreviousField) => self.go(-1),
            Some(Action::Forward) if self.part != Part::Tasks => self.turn(1),
            Some(Action::Back) if self.part != Part::Tasks => self.turn(-1),
            _ => self.typed(key),
        }
        Outcome::Stay
    }

    /// The setting with the keys, where it is typed.
    fn typed_knob(&mut self) -> Option<(usize, &mut Knob)> {
        let Part::Knob(place) = self.part else { return None };
        let knob = self.model.knobs.get_mut(place)?;
        (!matches!(knob.answers, Answers::Words(_))).then_some((place, knob))
    }

    fn typed(&mut self, key: KeyEvent) {
        let typing = self.typing;
        let Some((place, knob)) = self.typed_knob() else {
            // Whatever else has the keys: letters search for a task.
            if self.query.key(key) {
                self.part = Part::Tasks;
                self.filter();
            }
            return;
        };
        let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        let anew = !typing && offered(knob);
        match (key.code, &knob.answers) {
            (KeyCode::Char(c), Answers::Number(..)) if c.is_ascii_digit() && knob.value.len() < 18 => {
                if knob.value == "0" {
                    knob.value.clear();
                }
                knob.value.push(c);
            }
            (KeyCode::Char(c), Answers::Text { .. }) if plain && knob.value.len() < LONGEST => {
                if anew {
                    knob.value.clear();
                }
                let mut bytes = [0; 4];
                knob.value.push_str(&one_line(c.encode_utf8(&mut bytes)));
            }
            (KeyCode::Backspace, _) => {
                knob.value.pop();
            }
            _ => return,
        }
        self.typing = true;
        self.touched(place);
    }

    /// Pasted text goes to the setting that is typed, else it searches for a task; it starts nothing.
    pub fn paste(&mut self, text: &str) -> Outcome {
        let typing = self.typing;
        if let Some((place, knob)) = self.typed_knob()
            && matches!(knob.answers, Answers::Text { .. })
        {
            if !typing && offered(knob) {
                knob.value.clear();
            }
            knob.value.extend(one_line(text).trim().chars().take(LONGEST));
            self.typing = true;
            self.touched(place);
        } else if self.query.paste(text) {
            self.part = Part::Tasks;
            self.filter();
        }
        Outcome::Stay
    }
}

/// The value is one of the texts that are offered: what is typed takes its place.
fn offered(knob: &Knob) -> bool {
    matches!(&knob.answers, Answers::Text { offered, .. } if offered.contains(&knob.value))
}

/// Characters of a setting that is typed; no path is longer.
const LONGEST: usize = 4096;

/// The value of a setting as it is handed on: an emptied number is 0.
fn value(knob: &Knob) -> String {
    if knob.value.is_empty() && matches!(knob.answers, Answers::Number(..)) {
        return "0".to_owned();
    }
    knob.value.clone()
}
