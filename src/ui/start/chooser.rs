//! What is chosen on the start screen, and how keys change it.

mod dependent_settings;

use super::{AllowedValues, SettingRow, StartChoice, StartModel, StartUpdate, TaskRow};
use crate::domain::SettingOrigin;
use crate::method::SETTINGS;
use crate::text::one_line;
use crate::ui::keymap::{Action, Keymap, Mode};
use crate::ui::overlay::choice::wrapped_index;
use crate::ui::overlay::clamped_index;
use crate::ui::overlay::text_field::TextField;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::cell::Cell;

/// What has the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// The list of tasks, and the search in it.
    Tasks,
    /// The environment.
    Environment,
    /// A setting, by its place.
    Setting(usize),
    /// The sessions.
    Sessions,
}

/// What a key came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChooserOutcome {
    /// Nothing is decided.
    Continue,
    /// The person leaves.
    Quit,
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
    pub(super) section: Section,
    pub(super) query: TextField,
    /// Places of the tasks that fit what was searched for.
    pub(super) matching: Vec<usize>,
    /// The chosen one of them.
    pub(super) selected_match: usize,
    pub(super) selected_session: usize,
    /// What is wrong with a value, or else worth a line.
    pub(super) note: Option<String>,
    /// Settings in a row, as they were drawn last.
    pub(super) settings_per_row: Cell<usize>,
    /// The text of the chosen setting is being typed, and no longer one of those that are offered.
    is_typing: bool,
    preselected_task: usize,
    /// The settings that the person changed, by name.
    changed: Vec<String>,
}

impl Chooser {
    /// With what is preselected.
    pub fn new(mut model: StartModel) -> Self {
        model.environment = model.environment.min(model.environments.len().saturating_sub(1));
        let first_task = model.task;
        let mut chooser = Self {
            model,
            section: Section::Tasks,
            query: TextField::single_line(""),
            matching: Vec::new(),
            selected_match: 0,
            selected_session: 0,
            note: None,
            settings_per_row: Cell::new(1),
            is_typing: false,
            preselected_task: first_task,
            changed: Vec::new(),
        };
        chooser.filter_tasks();
        chooser
    }

    /// Takes in what was found out; what is chosen stays chosen.
    pub fn apply_update(&mut self, news: StartUpdate) {
        match news {
            StartUpdate::Sessions(sessions) => self.model.sessions = sessions,
            StartUpdate::Environment(row) => {
                let chosen = self.selected_task().map(|t| t.id.clone());
                let Some(place) = self.model.environments.iter().position(|w| w.name == row.name) else {
                    return;
                };
                let preselected = self.model.environments[place].tasks.first().map(|t| t.id.clone());
                let here = place == self.model.environment;
                self.model.environments[place] = row;
                if !here {
                    return;
                }
                let tasks: Vec<String> = self.tasks().iter().map(|t| t.id.clone()).collect();
                let find = |id: &Option<String>| tasks.iter().position(|t| Some(t) == id.as_ref());
                self.preselected_task = find(&preselected).unwrap_or(0);
                self.filter_tasks();
                if let Some(at) = find(&chosen).and_then(|t| self.matching.iter().position(|f| *f == t)) {
                    self.selected_match = at;
                }
            }
        }
    }

    /// The tasks of the chosen environment.
    pub(super) fn tasks(&self) -> &[TaskRow] {
        self.model.environments.get(self.model.environment).map_or(&[], |w| w.tasks.as_slice())
    }

    /// The chosen task.
    pub(super) fn selected_task(&self) -> Option<&TaskRow> {
        self.tasks().get(*self.matching.get(self.selected_match)?)
    }

    fn filter_tasks(&mut self) {
        let query = self.query.text();
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let fits = |t: &TaskRow| {
            let row = format!("{} {} {}", t.goal, t.id, t.task_type).to_lowercase();
            words.iter().all(|w| row.contains(w))
        };
        let fitting = self.tasks().iter().enumerate().filter(|(_, t)| fits(t)).map(|(place, _)| place);
        self.matching = fitting.collect();
        self.selected_match = if query.is_empty() {
            self.preselected_task.min(self.matching.len().saturating_sub(1))
        } else {
            0
        };
    }

    fn sections(&self) -> Vec<Section> {
        let mut all = vec![Section::Tasks, Section::Environment];
        all.extend((0..self.model.knobs.len()).map(Section::Setting));
        if !self.model.sessions.is_empty() {
            all.push(Section::Sessions);
        }
        all
    }

    fn move_section(&mut self, by: isize) {
        self.is_typing = false;
        let all = self.sections();
        let at = all.iter().position(|p| *p == self.section).unwrap_or(0);
        self.section = all[wrapped_index(at, by, all.len())];
    }

    fn move_row(&mut self, by: isize) {
        let (at, all) = match self.section {
            Section::Tasks => (&mut self.selected_match, self.matching.len()),
            Section::Sessions => (&mut self.selected_session, self.model.sessions.len()),
            Section::Environment | Section::Setting(_) => return self.move_setting_row(by),
        };
        *at = clamped_index(*at, by, all);
    }

    /// To the setting that stands so many rows below; at the edge it stays.
    fn move_setting_row(&mut self, by: isize) {
        self.is_typing = false;
        let here = match self.section {
            Section::Setting(place) => place + 1,
            _ => 0,
        };
        let to =
            here.saturating_add_signed(by.saturating_mul(self.settings_per_row.get().max(1).cast_signed()));
        self.section = match to.min(self.model.knobs.len()) {
            0 => Section::Environment,
            place => Section::Setting(place - 1),
        };
    }

    fn change_value(&mut self, by: isize) {
        self.is_typing = false;
        match self.section {
            Section::Environment => {
                self.model.environment =
                    wrapped_index(self.model.environment, by, self.model.environments.len());
                // The preselected task is one of the preselected environment.
                self.preselected_task = 0;
                self.filter_tasks();
            }
            Section::Setting(place) => {
                let Some(knob) = self.model.knobs.get_mut(place) else { return };
                match &knob.allowed {
                    AllowedValues::Number(from, to) => {
                        let number: u64 = knob.value.parse().unwrap_or(*from);
                        knob.value = number.saturating_add_signed(by as i64).clamp(*from, *to).to_string();
                    }
                    AllowedValues::OneOf(words) | AllowedValues::Text { suggestions: words, .. } => {
                        if words.is_empty() {
                            return;
                        }
                        let at = words.iter().position(|w| *w == knob.value).unwrap_or(0);
                        if let Some(word) = words.get(wrapped_index(at, by, words.len())) {
                            knob.value.clone_from(word);
                        }
                    }
                }
                self.mark_changed(place);
            }
            Section::Tasks | Section::Sessions => {}
        }
    }

    fn mark_changed(&mut self, place: usize) {
        let Some(knob) = self.model.knobs.get_mut(place) else { return };
        knob.origin = SettingOrigin::Person;
        let name = knob.name.clone();
        if !self.changed.contains(&name) {
            self.changed.push(name.clone());
        }
        self.update_dependent(&name);
        let place = self.model.knobs.iter().position(|k| k.name == name);
        self.note = place.and_then(|place| self.validation_error(place));
    }

    /// The settings that were changed, by their places; what another method has is not among them.
    fn changed_indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.changed.iter().filter_map(|name| self.model.knobs.iter().position(|k| k.name == *name))
    }

    /// What is wrong with the value of a setting, in words.
    fn validation_error(&self, place: usize) -> Option<String> {
        let knob = self.model.knobs.get(place)?;
        let AllowedValues::Number(from, to) = knob.allowed else { return None };
        let number: Option<u64> = effective_value(knob).parse().ok();
        let refused = match (SETTINGS.iter().find(|s| s.name == knob.name), number) {
            (Some(spec), Some(number)) => spec.validate(&number.into()).err(),
            (Some(spec), None) => Some(format!("expected {}", spec.allowed_values())),
            (None, Some(number)) if (from..=to).contains(&number) => None,
            (None, _) => Some(format!("expected a whole number from {from} on")),
        };
        refused.map(|why| format!("{} {}: {why}", knob.label, effective_value(knob)))
    }

    fn accept(&mut self) -> ChooserOutcome {
        if self.section == Section::Sessions {
            let session = self.model.sessions.get(self.selected_session);
            return session.map_or(ChooserOutcome::Continue, |s| {
                ChooserOutcome::Chosen(StartChoice::Resume(s.path.clone()))
            });
        }
        let wrong = self.changed_indices().find_map(|place| Some((place, self.validation_error(place)?)));
        if let Some((place, why)) = wrong {
            (self.section, self.note) = (Section::Setting(place), Some(why));
            return ChooserOutcome::Continue;
        }
        let (Some(world), Some(task)) =
            (self.model.environments.get(self.model.environment), self.selected_task())
        else {
            return ChooserOutcome::Continue;
        };
        let value = |place: usize| {
            let knob = &self.model.knobs[place];
            (knob.name.clone(), effective_value(knob))
        };
        ChooserOutcome::Chosen(StartChoice::Run {
            env: world.name.clone(),
            task: task.id.clone(),
            changed: self.changed_indices().map(value).collect(),
        })
    }

    /// A key.
    pub fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> ChooserOutcome {
        self.note = None;
        match keymap.action_for(Mode::Start, key) {
            Some(Action::Cancel | Action::Quit) => return ChooserOutcome::Quit,
            Some(Action::Suspend) => return ChooserOutcome::Suspend,
            Some(Action::Redraw) => return ChooserOutcome::Redraw,
            Some(Action::Accept | Action::Open) => return self.accept(),
            Some(Action::Close) if self.query.text().is_empty() => return ChooserOutcome::Quit,
            Some(Action::Close) => {
                self.query.replace("");
                self.filter_tasks();
            }
            Some(Action::Down) => self.move_row(1),
            Some(Action::Up) => self.move_row(-1),
            Some(Action::PageDown) => self.move_row(8),
            Some(Action::PageUp) => self.move_row(-8),
            Some(Action::NextField) => self.move_section(1),
            Some(Action::PreviousField) => self.move_section(-1),
            Some(Action::Forward) if self.section != Section::Tasks => self.change_value(1),
            Some(Action::Back) if self.section != Section::Tasks => self.change_value(-1),
            _ => self.on_typed_key(key),
        }
        ChooserOutcome::Continue
    }

    /// The setting with the keys, where it is typed.
    fn typed_setting(&mut self) -> Option<(usize, &mut SettingRow)> {
        let Section::Setting(place) = self.section else { return None };
        let knob = self.model.knobs.get_mut(place)?;
        (!matches!(knob.allowed, AllowedValues::OneOf(_))).then_some((place, knob))
    }

    fn on_typed_key(&mut self, key: KeyEvent) {
        let typing = self.is_typing;
        let Some((place, knob)) = self.typed_setting() else {
            // Whatever else has the keys: letters search for a task.
            if self.query.on_key(key) {
                self.section = Section::Tasks;
                self.filter_tasks();
            }
            return;
        };
        let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        let anew = !typing && is_suggestion(knob);
        match (key.code, &knob.allowed) {
            (KeyCode::Char(c), AllowedValues::Number(..)) if c.is_ascii_digit() && knob.value.len() < 18 => {
                if knob.value == "0" {
                    knob.value.clear();
                }
                knob.value.push(c);
            }
            (KeyCode::Char(c), AllowedValues::Text { .. }) if plain && knob.value.len() < MAX_VALUE_LEN => {
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
        self.is_typing = true;
        self.mark_changed(place);
    }

    /// Pasted text goes to the setting that is typed, else it searches for a task; it starts nothing.
    pub fn paste(&mut self, text: &str) -> ChooserOutcome {
        let typing = self.is_typing;
        if let Some((place, knob)) = self.typed_setting()
            && matches!(knob.allowed, AllowedValues::Text { .. })
        {
            if !typing && is_suggestion(knob) {
                knob.value.clear();
            }
            knob.value.extend(one_line(text).trim().chars().take(MAX_VALUE_LEN));
            self.is_typing = true;
            self.mark_changed(place);
        } else if self.query.on_paste(text) {
            self.section = Section::Tasks;
            self.filter_tasks();
        }
        ChooserOutcome::Continue
    }
}

/// The value is one of the texts that are offered: what is typed takes its place.
fn is_suggestion(knob: &SettingRow) -> bool {
    matches!(&knob.allowed, AllowedValues::Text { suggestions, .. } if suggestions.contains(&knob.value))
}

/// Characters of a setting that is typed; no path is longer.
const MAX_VALUE_LEN: usize = 4096;

/// The value of a setting as it is handed on: an emptied number is 0.
fn effective_value(knob: &SettingRow) -> String {
    if knob.value.is_empty() && matches!(knob.allowed, AllowedValues::Number(..)) {
        return "0".to_owned();
    }
    knob.value.clone()
}
