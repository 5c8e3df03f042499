//! The state of the start screen, and how keys change it.

mod dependent_settings;
mod setting_values;
mod task_tree;

pub(super) use task_tree::{TaskTree, TreeRow};

use crate::ui::keymap::{Action, Keymap, Mode};
use crate::ui::start::types::{
    EnvironmentRow, PreviewKey, SettingGroup, SettingRow, SettingsSource, StartChoice, StartModel,
    StartUpdate, TaskPreview, ValueInEnvironment,
};
use crate::ui::widget::list_index::{clamped_index, wrapped_index};
use crossterm::event::{KeyCode, KeyEvent};

/// More rows than any list has.
const FAR: isize = 1_000_000;

/// The answer to `?`.
const KEYS_NOTE: &str = "on the page Task, typing searches the tasks; \u{2190} \u{2192} fold them and change values; Tab goes to the other pages; Enter starts; several tasks in one run: `retrospect run --task A --task B`, or --tasks FILE; in a run, ? lists all keys";

/// The answer to text where nothing takes it.
const NO_TEXT_NOTE: &str = "nothing to type here; typing searches for a task on the page Task";

/// A page of the start screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// The tasks with their search line.
    Tasks,
    Agent,
    Method,
    /// Recent sessions.
    Sessions,
    /// All other settings.
    Advanced,
}

impl Section {
    /// The pages in the order of their titles.
    pub(super) const ALL: [Self; 5] =
        [Self::Tasks, Self::Agent, Self::Method, Self::Sessions, Self::Advanced];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Tasks => "Task",
            Self::Agent => "Agent",
            Self::Method => "Method",
            Self::Sessions => "Sessions",
            Self::Advanced => "Advanced",
        }
    }

    /// Returns whether a setting stands on this page.
    const fn holds(self, group: SettingGroup) -> bool {
        matches!(
            (self, group),
            (Self::Agent, SettingGroup::Agent)
                | (Self::Method, SettingGroup::Method)
                | (Self::Advanced, SettingGroup::Advanced(_))
        )
    }

    const fn of(group: SettingGroup) -> Self {
        match group {
            SettingGroup::Agent => Self::Agent,
            SettingGroup::Method => Self::Method,
            SettingGroup::Advanced(_) => Self::Advanced,
        }
    }
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
    settings_for: SettingsSource,
    pub(super) section: Section,
    pub(super) tasks: TaskTree,
    pub(super) selected_session: usize,
    /// The selected setting of each page, by the order of [`Section::ALL`].
    selected_settings: [usize; Section::ALL.len()],
    /// A problem with a value, or another notice.
    pub(super) note: Option<String>,
    /// A task and its first observation, or why it can't be shown.
    preview: Option<(PreviewKey, Result<TaskPreview, String>)>,
    /// The person is typing the value of the focused setting; it is no longer a suggestion.
    is_typing: bool,
    /// The names of the settings that the person changed.
    changed: Vec<String>,
    /// Settings that don't concern the selected environment.
    hidden_settings: Vec<SettingRow>,
}

impl Chooser {
    /// Creates the state with the model's preselection.
    pub fn new(mut model: StartModel, settings_for: SettingsSource) -> Self {
        model.environment = model.environment.min(model.environments.len().saturating_sub(1));
        let mut chooser = Self {
            model,
            settings_for,
            section: Section::Tasks,
            tasks: TaskTree::new(),
            selected_session: 0,
            selected_settings: [0; Section::ALL.len()],
            note: None,
            preview: None,
            is_typing: false,
            changed: Vec::new(),
            hidden_settings: Vec::new(),
        };
        chooser.hide_settings();
        let preselected = chooser.environment().and_then(|e| e.tasks.get(chooser.model.task)).cloned();
        chooser.show_environment(preselected.as_ref().map(|task| task.id.as_str()));
        chooser
    }

    /// Returns the environment of the selected row.
    pub(super) fn environment(&self) -> Option<&EnvironmentRow> {
        self.model.environments.get(self.model.environment)
    }

    /// Unfolds the environment around a task and selects it.
    fn show_environment(&mut self, id: Option<&str>) {
        let Some(environment) = self.model.environments.get(self.model.environment) else { return };
        self.tasks.unfold_environment(environment, id);
        self.tasks.set_environments(&self.model.environments);
        if let Some(id) = id {
            self.tasks.select_task(&environment.name, id);
        }
    }

    /// Applies loaded data. What is selected stays selected if it still exists.
    pub fn apply_update(&mut self, update: StartUpdate) {
        match update {
            StartUpdate::Sessions { rows, all } => {
                (self.model.sessions, self.model.session_count) = (rows, all);
            }
            StartUpdate::Environment(row) => {
                let Some(place) = self.model.environments.iter().position(|e| e.name == row.name) else {
                    return;
                };
                self.model.environments[place] = row;
                let selected = self.tasks.selected_task().map(|(_, task)| task.id.clone());
                if place == self.model.environment && self.tasks.query().is_empty() && selected.is_some() {
                    self.show_environment(selected.as_deref());
                } else {
                    self.tasks.set_environments(&self.model.environments);
                }
            }
        }
    }

    /// Returns the task whose first observation is wanted and not known yet.
    pub fn wanted_preview(&self) -> Option<PreviewKey> {
        let (environment, task) = self.tasks.selected_task()?;
        let is_known =
            self.preview.as_ref().is_some_and(|(known, _)| known.0 == environment && known.1 == task.id);
        (self.section == Section::Tasks && !is_known).then(|| (environment.to_owned(), task.id.clone()))
    }

    /// Keeps goal and first observation of a task, or why there are none.
    pub fn set_preview(&mut self, key: PreviewKey, preview: Result<TaskPreview, String>) {
        self.preview = Some((key, preview));
    }

    /// Returns whether goal and first observation of the selected task are known.
    pub(super) fn is_task_known(&self) -> bool {
        let selected = self.tasks.selected_task();
        selected.is_some_and(|(name, task)| matches!(self.preview_of(name, &task.id), Some(Ok(_))))
    }

    /// Returns goal and first observation of a task if they are known, or why there are none.
    pub(super) fn preview_of(&self, environment: &str, id: &str) -> Option<&Result<TaskPreview, String>> {
        self.preview
            .as_ref()
            .filter(|(key, _)| key.0 == environment && key.1 == id)
            .map(|(_, preview)| preview)
    }

    /// Hides the settings that concern only other environments than the selected one, with their values, and shows the
    /// others, with the values that they have in it unless the person has changed them.
    fn hide_settings(&mut self) {
        let name = self.environment().map(|environment| environment.name.clone()).unwrap_or_default();
        let mut all: Vec<SettingRow> =
            self.model.settings.drain(..).chain(self.hidden_settings.drain(..)).collect();
        for setting in all.iter_mut().filter(|setting| !self.changed.contains(&setting.name)) {
            let here = |value: &&ValueInEnvironment| value.environment.is_none_or(|listed| listed == name);
            if let Some(here) = setting.by_environment.iter().find(here) {
                (setting.value, setting.origin) = (here.value.clone(), here.origin);
            }
        }
        (self.model.settings, self.hidden_settings) = all
            .into_iter()
            .partition(|setting| setting.environments.is_empty() || setting.environments.contains(&name));
    }

    /// Follows the selected row: its environment decides which settings are shown.
    fn follow_environment(&mut self) {
        let Some(name) = self.tasks.selected().map(|row| row.environment().to_owned()) else { return };
        let place = self.model.environments.iter().position(|environment| environment.name == name);
        if let Some(place) = place.filter(|place| *place != self.model.environment) {
            self.model.environment = place;
            self.hide_settings();
        }
    }

    /// Returns the pages that exist at present.
    pub(super) fn sections(&self) -> impl Iterator<Item = Section> {
        let has_sessions = !self.model.sessions.is_empty();
        let has_settings = Section::ALL.map(|section| self.settings_of(section).next().is_some());
        Section::ALL.into_iter().zip(has_settings).filter_map(move |(section, has_settings)| match section {
            Section::Tasks => Some(section),
            Section::Sessions => has_sessions.then_some(section),
            _ => has_settings.then_some(section),
        })
    }

    /// Returns the settings of a page, with their indices in the model.
    pub(super) fn settings_of(&self, section: Section) -> impl Iterator<Item = (usize, &SettingRow)> {
        self.model.settings.iter().enumerate().filter(move |(_, setting)| section.holds(setting.group))
    }

    /// Returns the index of the selected setting, if the page has settings.
    pub(super) fn selected_setting(&self) -> Option<usize> {
        let selected = self.selected_settings[self.section as usize];
        let mut settings = self.settings_of(self.section).map(|(place, _)| place);
        let all = settings.by_ref().collect::<Vec<_>>();
        all.get(selected).or(all.last()).copied()
    }

    /// Shows the page of a setting and selects it.
    pub(super) fn select_setting(&mut self, name: &str) {
        let Some(setting) = self.model.settings.iter().find(|setting| setting.name == name) else { return };
        self.section = Section::of(setting.group);
        let place = self.settings_of(self.section).position(|(_, setting)| setting.name == name);
        self.selected_settings[self.section as usize] = place.unwrap_or(0);
    }

    fn move_section(&mut self, by: isize) {
        self.is_typing = false;
        let all: Vec<Section> = self.sections().collect();
        let at = all.iter().position(|section| *section == self.section).unwrap_or(0);
        self.section = all[wrapped_index(at, by, all.len())];
    }

    fn move_row(&mut self, by: isize) {
        self.is_typing = false;
        match self.section {
            Section::Tasks => {
                self.tasks.move_selection(by);
                self.follow_environment();
            }
            Section::Sessions => {
                let all = self.model.sessions.len();
                self.selected_session = clamped_index(self.selected_session, by, all);
            }
            Section::Agent | Section::Method | Section::Advanced => {
                let all = self.settings_of(self.section).count();
                let selected = &mut self.selected_settings[self.section as usize];
                *selected = clamped_index((*selected).min(all.saturating_sub(1)), by, all);
            }
        }
    }

    /// Left and Right: they fold and unfold branches of the tree and change values.
    fn move_sideways(&mut self, by: isize) {
        match self.section {
            Section::Tasks if by > 0 && self.tasks.is_folded_branch_selected() => {
                self.tasks.toggle_selected(&self.model.environments);
                self.tasks.set_environments(&self.model.environments);
            }
            Section::Tasks if by < 0 => {
                if self.tasks.fold_selected() {
                    self.tasks.set_environments(&self.model.environments);
                }
                self.follow_environment();
            }
            Section::Tasks | Section::Sessions => {}
            Section::Agent | Section::Method | Section::Advanced => self.change_value(by),
        }
    }

    fn accept(&mut self) -> ChooserOutcome {
        if self.section == Section::Sessions {
            let session = self.model.sessions.get(self.selected_session);
            return session.map_or(ChooserOutcome::Continue, |session| {
                ChooserOutcome::Chosen(StartChoice::Resume(session.path.clone()))
            });
        }
        if let Some(TreeRow::Environment { name, tasks: 0, .. }) = self.tasks.selected()
            && self.section == Section::Tasks
        {
            let environment = self.model.environments.iter().find(|environment| environment.name == *name);
            self.note = environment.map(|environment| environment.description.clone());
        }
        if self.section == Section::Tasks && self.tasks.toggle_selected(&self.model.environments) {
            self.tasks.set_environments(&self.model.environments);
            return ChooserOutcome::Continue;
        }
        if let Some((name, reason)) = self.first_error() {
            self.select_setting(&name);
            self.note = Some(reason);
            return ChooserOutcome::Continue;
        }
        let Some((environment, task)) = self.tasks.selected_task() else {
            self.section = Section::Tasks;
            self.note = Some("no task is selected yet: choose one here, then Enter starts it".to_owned());
            return ChooserOutcome::Continue;
        };
        ChooserOutcome::Chosen(StartChoice::Run {
            env: environment.to_owned(),
            task: task.id.clone(),
            changed: self.changed_values(),
        })
    }

    /// Handles a key press.
    pub fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> ChooserOutcome {
        let shows_hint = self.note.take().as_deref() == Some(KEYS_NOTE);
        match keymap.action_for(Mode::Start, key) {
            Some(Action::Close) if shows_hint => {}
            Some(Action::Cancel | Action::Quit) => return ChooserOutcome::Quit,
            Some(Action::Suspend) => return ChooserOutcome::Suspend,
            Some(Action::Redraw) => return ChooserOutcome::Redraw,
            Some(Action::Accept | Action::Open) => return self.accept(),
            Some(Action::Close) if self.tasks.query().is_empty() => return ChooserOutcome::Quit,
            Some(Action::Close) => {
                let selected = self.tasks.selected_task().map(|(_, task)| task.id.clone());
                self.tasks.clear_query();
                self.show_environment(selected.as_deref());
                self.follow_environment();
            }
            Some(Action::Down) => self.move_row(1),
            Some(Action::Up) => self.move_row(-1),
            Some(Action::PageDown) => self.move_row(8),
            Some(Action::PageUp) => self.move_row(-8),
            Some(Action::EpisodeStart) => self.move_row(-FAR),
            Some(Action::Live) => self.move_row(FAR),
            Some(Action::NextField) => self.move_section(1),
            Some(Action::PreviousField) => self.move_section(-1),
            Some(Action::Forward) => self.move_sideways(1),
            Some(Action::Back) => self.move_sideways(-1),
            Some(Action::Help) => self.note = Some(KEYS_NOTE.to_owned()),
            // No task and no value begins with it, and people try it.
            None if key.code == KeyCode::Char('?') && !self.is_typing && self.tasks.query().is_empty() => {
                self.note = Some(KEYS_NOTE.to_owned());
            }
            _ if self.type_value(key) => {}
            _ if self.section == Section::Tasks => {
                let is_changed = self.tasks.on_key(key);
                if is_changed {
                    self.follow_environment();
                }
            }
            _ if matches!(key.code, KeyCode::Char(_)) => self.note = Some(NO_TEXT_NOTE.to_owned()),
            _ => {}
        }
        ChooserOutcome::Continue
    }

    /// Pastes into the focused text setting, or into the task search on its page. Never starts a run.
    pub fn paste(&mut self, text: &str) -> ChooserOutcome {
        if self.paste_value(text) {
        } else if self.section != Section::Tasks {
            self.note = Some(NO_TEXT_NOTE.to_owned());
        } else if self.tasks.on_paste(text) {
            self.follow_environment();
        }
        ChooserOutcome::Continue
    }
}
