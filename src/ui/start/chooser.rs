//! The state of the start screen, and how keys change it.

mod dependent_settings;

use crate::catalog::SETTINGS;
use crate::domain::SettingOrigin;
use crate::text::one_line;
use crate::ui::keymap::{Action, Keymap, Mode};
use crate::ui::start::types::{AllowedValues, SettingRow, StartChoice, StartModel, StartUpdate, TaskRow};
use crate::ui::widget::list_index::{clamped_index, wrapped_index};
use crate::ui::widget::picker::Picker;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::cell::Cell;

/// The part of the start screen that has the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// The list of tasks with its search box.
    Tasks,
    Environment,
    /// The setting with this index.
    Setting(usize),
    Sessions,
}

/// What the caller must do after a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChooserOutcome {
    Continue,
    Quit,
    Chosen(StartChoice),
    /// Clear the terminal and redraw.
    Redraw,
    /// Suspend the program (Ctrl-Z).
    Suspend,
}

/// The state of the start screen.
pub struct Chooser {
    /// What can be chosen, with the current values.
    pub(super) model: StartModel,
    pub(super) section: Section,
    /// The search box and the tasks of the selected environment.
    pub(super) tasks: Picker<TaskRow>,
    pub(super) selected_session: usize,
    /// A problem with a value, or another notice.
    pub(super) note: Option<String>,
    /// Settings per row of the table, as last drawn.
    pub(super) settings_per_row: Cell<usize>,
    /// The person is typing the value of the focused setting; it is no longer a suggestion.
    is_typing: bool,
    preselected_task: usize,
    /// The names of the settings that the person changed.
    changed: Vec<String>,
    /// Settings that don't concern the selected environment.
    hidden_settings: Vec<SettingRow>,
}

impl Chooser {
    /// Creates the state with the model's preselection.
    pub fn new(mut model: StartModel) -> Self {
        model.environment = model.environment.min(model.environments.len().saturating_sub(1));
        let first_task = model.task;
        let mut chooser = Self {
            model,
            section: Section::Tasks,
            tasks: Picker::new(Vec::new(), search_tasks),
            selected_session: 0,
            note: None,
            settings_per_row: Cell::new(1),
            is_typing: false,
            preselected_task: first_task,
            changed: Vec::new(),
            hidden_settings: Vec::new(),
        };
        chooser.hide_settings();
        chooser.list_tasks();
        chooser
    }

    /// Applies loaded data. The selected task stays selected if it still exists.
    pub fn apply_update(&mut self, update: StartUpdate) {
        match update {
            StartUpdate::Sessions(sessions) => self.model.sessions = sessions,
            StartUpdate::Environment(row) => {
                let chosen = self.tasks.selected().map(|t| t.id.clone());
                let Some(place) = self.model.environments.iter().position(|w| w.name == row.name) else {
                    return;
                };
                let preselected = self.model.environments[place].tasks.first().map(|t| t.id.clone());
                self.model.environments[place] = row;
                if place != self.model.environment {
                    return;
                }
                let tasks = &self.model.environments[place].tasks;
                let found = tasks.iter().position(|t| Some(&t.id) == preselected.as_ref());
                self.preselected_task = found.unwrap_or(0);
                self.list_tasks();
                self.tasks.select(|t| Some(&t.id) == chosen.as_ref());
            }
        }
    }

    /// Lists the tasks of the selected environment.
    fn list_tasks(&mut self) {
        let environment = self.model.environments.get(self.model.environment);
        self.tasks.set_items(environment.map_or_else(Vec::new, |e| e.tasks.clone()));
        self.preselect_task();
    }

    /// Hides the settings that concern only other environments than the selected one, with their values, and shows the
    /// others. They are the last ones, so the positions of those before don't change.
    fn hide_settings(&mut self) {
        let environment = self.model.environments.get(self.model.environment);
        let name = environment.map(|environment| environment.name.clone()).unwrap_or_default();
        let all: Vec<SettingRow> =
            self.model.settings.drain(..).chain(self.hidden_settings.drain(..)).collect();
        (self.model.settings, self.hidden_settings) = all
            .into_iter()
            .partition(|setting| setting.environments.is_empty() || setting.environments.contains(&name));
    }

    /// Selects the preselected task, unless a search is typed.
    fn preselect_task(&mut self) {
        if self.tasks.text().is_empty() {
            self.tasks.move_selection(self.preselected_task.cast_signed());
        }
    }

    fn sections(&self) -> Vec<Section> {
        let mut all = vec![Section::Tasks, Section::Environment];
        all.extend((0..self.model.settings.len()).map(Section::Setting));
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
        match self.section {
            Section::Tasks => self.tasks.move_selection(by),
            Section::Sessions => {
                let all = self.model.sessions.len();
                self.selected_session = clamped_index(self.selected_session, by, all);
            }
            Section::Environment | Section::Setting(_) => self.move_setting_row(by),
        }
    }

    /// Moves to the setting `by` table rows below (negative: above), stopping at the edges.
    fn move_setting_row(&mut self, by: isize) {
        self.is_typing = false;
        let here = match self.section {
            Section::Setting(place) => place + 1,
            _ => 0,
        };
        let to =
            here.saturating_add_signed(by.saturating_mul(self.settings_per_row.get().max(1).cast_signed()));
        self.section = match to.min(self.model.settings.len()) {
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
                // The preselected task belongs to the environment selected at the start.
                self.preselected_task = 0;
                self.list_tasks();
                self.hide_settings();
            }
            Section::Setting(place) => {
                let Some(setting) = self.model.settings.get_mut(place) else { return };
                match &setting.allowed {
                    AllowedValues::Number(from, to) => {
                        let number: u64 = setting.value.parse().unwrap_or(*from);
                        setting.value = number.saturating_add_signed(by as i64).clamp(*from, *to).to_string();
                    }
                    AllowedValues::OneOf(words) | AllowedValues::Text { suggestions: words, .. } => {
                        if words.is_empty() {
                            return;
                        }
                        let at = words.iter().position(|w| *w == setting.value).unwrap_or(0);
                        if let Some(word) = words.get(wrapped_index(at, by, words.len())) {
                            setting.value.clone_from(word);
                        }
                    }
                }
                self.mark_changed(place);
            }
            Section::Tasks | Section::Sessions => {}
        }
    }

    fn mark_changed(&mut self, place: usize) {
        let Some(setting) = self.model.settings.get_mut(place) else { return };
        setting.origin = SettingOrigin::Person;
        let name = setting.name.clone();
        if !self.changed.contains(&name) {
            self.changed.push(name.clone());
        }
        self.update_dependent(&name);
        let place = self.model.settings.iter().position(|k| k.name == name);
        self.note = place.and_then(|place| self.validation_error(place));
    }

    /// Returns the indices of the changed settings that exist for the selected preset, method and `run.as`.
    fn changed_indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.changed.iter().filter_map(|name| self.model.settings.iter().position(|k| k.name == *name))
    }

    /// Returns an error message if the value of a setting is invalid.
    fn validation_error(&self, place: usize) -> Option<String> {
        let setting = self.model.settings.get(place)?;
        let AllowedValues::Number(from, to) = setting.allowed else { return None };
        let number: Option<u64> = effective_value(setting).parse().ok();
        let error = match (SETTINGS.iter().find(|s| s.name == setting.name), number) {
            (Some(spec), Some(number)) => spec.validate(&number.into()).err(),
            (Some(spec), None) => Some(format!("expected {}", spec.allowed_values())),
            (None, Some(number)) if (from..=to).contains(&number) => None,
            (None, _) => Some(format!("expected an integer of at least {from}")),
        };
        error.map(|reason| format!("{} {}: {reason}", setting.label, effective_value(setting)))
    }

    fn accept(&mut self) -> ChooserOutcome {
        if self.section == Section::Sessions {
            let session = self.model.sessions.get(self.selected_session);
            return session.map_or(ChooserOutcome::Continue, |s| {
                ChooserOutcome::Chosen(StartChoice::Resume(s.path.clone()))
            });
        }
        let wrong = self.changed_indices().find_map(|place| Some((place, self.validation_error(place)?)));
        if let Some((place, reason)) = wrong {
            (self.section, self.note) = (Section::Setting(place), Some(reason));
            return ChooserOutcome::Continue;
        }
        let (Some(environment), Some(task)) =
            (self.model.environments.get(self.model.environment), self.tasks.selected())
        else {
            return ChooserOutcome::Continue;
        };
        let value = |place: usize| {
            let setting = &self.model.settings[place];
            (setting.name.clone(), effective_value(setting))
        };
        ChooserOutcome::Chosen(StartChoice::Run {
            env: environment.name.clone(),
            task: task.id.clone(),
            changed: self.changed_indices().map(value).collect(),
        })
    }

    /// Handles a key press.
    pub fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> ChooserOutcome {
        self.note = None;
        match keymap.action_for(Mode::Start, key) {
            Some(Action::Cancel | Action::Quit) => return ChooserOutcome::Quit,
            Some(Action::Suspend) => return ChooserOutcome::Suspend,
            Some(Action::Redraw) => return ChooserOutcome::Redraw,
            Some(Action::Accept | Action::Open) => return self.accept(),
            Some(Action::Close) if self.tasks.text().is_empty() => return ChooserOutcome::Quit,
            Some(Action::Close) => {
                self.tasks.set_text("");
                self.preselect_task();
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

    /// Returns the focused setting, with its index, if its value can be typed.
    fn typed_setting(&mut self) -> Option<(usize, &mut SettingRow)> {
        let Section::Setting(place) = self.section else { return None };
        let setting = self.model.settings.get_mut(place)?;
        (!matches!(setting.allowed, AllowedValues::OneOf(_))).then_some((place, setting))
    }

    fn on_typed_key(&mut self, key: KeyEvent) {
        let typing = self.is_typing;
        let Some((place, setting)) = self.typed_setting() else {
            // Wherever else the focus is, typing searches for a task.
            if self.tasks.on_key(key) {
                self.section = Section::Tasks;
                self.preselect_task();
            }
            return;
        };
        let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        let replaces = !typing && is_suggestion(setting);
        match (key.code, &setting.allowed) {
            (KeyCode::Char(c), AllowedValues::Number(..))
                if c.is_ascii_digit() && setting.value.len() < 18 =>
            {
                if setting.value == "0" {
                    setting.value.clear();
                }
                setting.value.push(c);
            }
            (KeyCode::Char(c), AllowedValues::Text { .. })
                if plain && setting.value.len() < MAX_VALUE_LEN =>
            {
                if replaces {
                    setting.value.clear();
                }
                let mut bytes = [0; 4];
                setting.value.push_str(&one_line(c.encode_utf8(&mut bytes)));
            }
            (KeyCode::Backspace, _) => {
                setting.value.pop();
            }
            _ => return,
        }
        self.is_typing = true;
        self.mark_changed(place);
    }

    /// Pastes into the focused text setting, else into the task search. Never starts a run.
    pub fn paste(&mut self, text: &str) -> ChooserOutcome {
        let typing = self.is_typing;
        if let Some((place, setting)) = self.typed_setting()
            && matches!(setting.allowed, AllowedValues::Text { .. })
        {
            if !typing && is_suggestion(setting) {
                setting.value.clear();
            }
            setting.value.extend(one_line(text).trim().chars().take(MAX_VALUE_LEN));
            self.is_typing = true;
            self.mark_changed(place);
        } else if self.tasks.on_paste(text) {
            self.section = Section::Tasks;
            self.preselect_task();
        }
        ChooserOutcome::Continue
    }
}

/// Returns the tasks that contain all words of a search, in order.
fn search_tasks(all: &[TaskRow], query: &str) -> Vec<usize> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let fits = |t: &TaskRow| {
        let row = format!("{} {} {}", t.goal, t.id, t.task_type).to_lowercase();
        words.iter().all(|w| row.contains(w))
    };
    all.iter().enumerate().filter(|(_, t)| fits(t)).map(|(place, _)| place).collect()
}

/// Returns true if the value is one of the suggestions, which typing then replaces.
fn is_suggestion(setting: &SettingRow) -> bool {
    matches!(&setting.allowed, AllowedValues::Text { suggestions, .. } if suggestions.contains(&setting.value))
}

/// The longest value that can be typed, in bytes. No path is longer.
const MAX_VALUE_LEN: usize = 4096;

/// Returns the value to use: 0 for an empty number.
fn effective_value(setting: &SettingRow) -> String {
    if setting.value.is_empty() && matches!(setting.allowed, AllowedValues::Number(..)) {
        return "0".to_owned();
    }
    setting.value.clone()
}
