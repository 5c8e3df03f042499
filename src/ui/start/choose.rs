//! What is chosen on the start screen, and how keys change it.

use super::{News, StartChoice, StartModel, TaskRow};
use crate::domain::SettingOrigin;
use crate::ui::keymap::{Action, Keymap, Mode};
use crate::ui::overlay::choice::around;
use crate::ui::overlay::field::Field;
use crate::ui::overlay::fuzzy::rank;
use crossterm::event::{KeyCode, KeyEvent};

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
    first_task: usize,
    changed: Vec<usize>,
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
        let words: Vec<String> =
            self.tasks().iter().map(|t| format!("{} {} {}", t.goal, t.id, t.kind)).collect();
        let query = self.query.text();
        self.fitting = rank(&query, words.iter().map(String::as_str));
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
        let all = self.parts();
        let at = all.iter().position(|p| *p == self.part).unwrap_or(0);
        self.part = all[around(at, by, all.len())];
    }

    fn row(&mut self, by: isize) {
        let (at, all) = match self.part {
            Part::Tasks => (&mut self.at, self.fitting.len()),
            Part::Sessions => (&mut self.session, self.model.sessions.len()),
            Part::World | Part::Knob(_) => return self.turn(by.signum()),
        };
        *at = at.saturating_add_signed(by).min(all.saturating_sub(1));
    }

    fn turn(&mut self, by: isize) {
        match self.part {
            Part::World => {
                self.model.world = around(self.model.world, by, self.model.worlds.len());
                // The preselected task is one of the preselected environment.
                self.first_task = 0;
                self.filter();
            }
            Part::Knob(place) => {
                let Some(knob) = self.model.knobs.get_mut(place) else { return };
                if knob.choices.is_empty() {
                    let number: u64 = knob.value.parse().unwrap_or(0);
                    knob.value =
                        if by < 0 { number.saturating_sub(1) } else { number.saturating_add(1) }.to_string();
                } else {
                    let at = knob.choices.iter().position(|c| *c == knob.value).unwrap_or(0);
                    knob.value.clone_from(&knob.choices[around(at, by, knob.choices.len())]);
                }
                self.touched(place);
            }
            Part::Tasks | Part::Sessions => {}
        }
    }

    fn touched(&mut self, place: usize) {
        self.model.knobs[place].origin = SettingOrigin::Person;
        if !self.changed.contains(&place) {
            self.changed.push(place);
        }
    }

    fn accept(&self) -> Outcome {
        if self.part == Part::Sessions {
            let session = self.model.sessions.get(self.session);
            return session.map_or(Outcome::Stay, |s| Outcome::Chosen(StartChoice::Resume(s.path.clone())));
        }
        let (Some(world), Some(task)) = (self.model.worlds.get(self.model.world), self.task()) else {
            return Outcome::Stay;
        };
        let value = |place: &usize| {
            let knob = &self.model.knobs[*place];
            (knob.name.clone(), if knob.value.is_empty() { "0".to_owned() } else { knob.value.clone() })
        };
        Outcome::Chosen(StartChoice::Run {
            env: world.name.clone(),
            task: task.id.clone(),
            changed: self.changed.iter().map(value).collect(),
        })
    }

    /// A key.
    pub fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> Outcome {
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

    fn typed(&mut self, key: KeyEvent) {
        if let Part::Knob(place) = self.part
            && let Some(knob) = self.model.knobs.get_mut(place)
            && knob.choices.is_empty()
        {
            match key.code {
                KeyCode::Char(c) if c.is_ascii_digit() && knob.value.len() < 18 => {
                    if knob.value == "0" {
                        knob.value.clear();
                    }
                    knob.value.push(c);
                }
                KeyCode::Backspace => {
                    knob.value.pop();
                }
                _ => return,
            }
            self.touched(place);
        } else if self.query.key(key) {
            // Whatever has the keys: letters search for a task.
            self.part = Part::Tasks;
            self.filter();
        }
    }

    /// Pasted text searches for a task; it starts nothing.
    pub fn paste(&mut self, text: &str) -> Outcome {
        if self.query.paste(text) {
            self.part = Part::Tasks;
            self.filter();
        }
        Outcome::Stay
    }
}
