//! The tasks by environment and type, as a tree whose branches fold. While something is typed, it is a list of the tasks
//! that match.

use crate::ui::canvas::Canvas;
use crate::ui::start::types::{EnvironmentRow, TaskRow};
use crate::ui::theme::Role;
use crate::ui::widget::picker::Picker;
use crate::ui::widget::window::Line;
use crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use std::collections::BTreeSet;

/// An environment with at most this many tasks unfolds whole.
const MAX_TASKS_UNFOLDED: usize = 40;

/// A row of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ui::start) enum TreeRow {
    Environment {
        name: String,
        tasks: usize,
        is_folded: bool,
    },
    Type {
        environment: String,
        name: String,
        tasks: usize,
        is_folded: bool,
    },
    Task {
        environment: String,
        /// Whether it stands below a type.
        has_type: bool,
        task: TaskRow,
    },
}

impl TreeRow {
    /// Returns the environment that the row is or belongs to.
    pub(in crate::ui::start) fn environment(&self) -> &str {
        match self {
            Self::Environment { name, .. } => name,
            Self::Type { environment, .. } | Self::Task { environment, .. } => environment,
        }
    }

    /// Returns whether two rows stand for the same thing, folded or not, loaded or not.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Environment { name, .. }, Self::Environment { name: other, .. }) => name == other,
            (Self::Type { environment, name, .. }, Self::Type { environment: there, name: other, .. }) => {
                environment == there && name == other
            }
            (Self::Task { environment, task, .. }, Self::Task { environment: there, task: other, .. }) => {
                environment == there && task.id == other.id
            }
            _ => false,
        }
    }
}

/// A row, and whether the folds above it show it.
struct Item {
    row: TreeRow,
    is_visible: bool,
}

/// The tree with its search line.
pub(in crate::ui::start) struct TaskTree {
    picker: Picker<Item>,
    /// Unfolded environments, and unfolded types with their environment.
    unfolded: BTreeSet<(String, Option<String>)>,
    /// The row that was selected before anything was typed.
    before_search: Option<TreeRow>,
}

impl TaskTree {
    /// Creates a tree without rows.
    pub(super) fn new() -> Self {
        Self { picker: Picker::new(Vec::new(), search), unfolded: BTreeSet::new(), before_search: None }
    }

    /// Lists environments and their tasks anew; what is selected stays selected if it still exists.
    pub(super) fn set_environments(&mut self, environments: &[EnvironmentRow]) {
        let selected = self.selected().cloned();
        let items = environments.iter().flat_map(|environment| self.items_of(environment)).collect();
        self.picker.set_items(items);
        if let Some(selected) = selected {
            self.picker.select(|item| item.row.is_same(&selected));
        }
    }

    fn items_of(&self, environment: &EnvironmentRow) -> Vec<Item> {
        let name = environment.name.clone();
        let is_open = self.unfolded.contains(&(name.clone(), None));
        let tasks = environment.tasks.len();
        let mut items = vec![Item {
            row: TreeRow::Environment { name: name.clone(), tasks, is_folded: !is_open },
            is_visible: true,
        }];
        let task_item = |task: &TaskRow, has_type, is_visible| Item {
            row: TreeRow::Task { environment: name.clone(), has_type, task: task.clone() },
            is_visible,
        };
        let types = types_of(&environment.tasks);
        if types.is_empty() {
            items.extend(environment.tasks.iter().map(|task| task_item(task, false, is_open)));
        }
        for task_type in types {
            let shows_tasks = is_open && self.unfolded.contains(&(name.clone(), Some(task_type.to_owned())));
            let of_type = || environment.tasks.iter().filter(|task| task.task_type == task_type);
            items.push(Item {
                row: TreeRow::Type {
                    environment: name.clone(),
                    name: task_type.to_owned(),
                    tasks: of_type().count(),
                    is_folded: !shows_tasks,
                },
                is_visible: is_open,
            });
            items.extend(of_type().map(|task| task_item(task, true, shows_tasks)));
        }
        items
    }

    /// Unfolds an environment: with all of its types if it has few tasks, else with the type of the task `id`.
    pub(super) fn unfold_environment(&mut self, environment: &EnvironmentRow, id: Option<&str>) {
        let name = &environment.name;
        self.unfolded.insert((name.clone(), None));
        let is_small = environment.tasks.len() <= MAX_TASKS_UNFOLDED;
        let shown =
            environment.tasks.iter().filter(|task| is_small || id == Some(task.id.as_str())).map(|task| {
                let task_type = task.task_type.clone();
                (name.clone(), Some(task_type))
            });
        self.unfolded.extend(shown);
    }

    /// Folds or unfolds the selected branch. Returns whether a branch is selected. The caller lists the rows anew.
    pub(super) fn toggle_selected(&mut self, environments: &[EnvironmentRow]) -> bool {
        let key = match self.selected() {
            Some(TreeRow::Environment { name, .. }) => (name.clone(), None),
            Some(TreeRow::Type { environment, name, .. }) => (environment.clone(), Some(name.clone())),
            _ => return false,
        };
        if !self.unfolded.remove(&key) {
            match (environments.iter().find(|row| row.name == key.0), &key.1) {
                (Some(environment), None) => self.unfold_environment(environment, None),
                _ => {
                    self.unfolded.insert(key);
                }
            }
        }
        true
    }

    /// Folds the selected branch, or selects the branch that holds the selected row. Returns whether to list the rows anew.
    pub(super) fn fold_selected(&mut self) -> bool {
        let Some(selected) = self.selected().cloned() else { return false };
        let parent: Box<dyn Fn(&TreeRow) -> bool> = match selected {
            TreeRow::Environment { name, is_folded: false, .. } => {
                return self.unfolded.remove(&(name, None));
            }
            TreeRow::Type { environment, name, is_folded: false, .. } => {
                return self.unfolded.remove(&(environment, Some(name)));
            }
            TreeRow::Environment { .. } => return false,
            TreeRow::Task { environment, has_type: true, task } => Box::new(
                move |row| matches!(row, TreeRow::Type { environment: e, name, .. } if *e == environment && *name == task.task_type),
            ),
            TreeRow::Type { environment, .. } | TreeRow::Task { environment, .. } => {
                Box::new(move |row| matches!(row, TreeRow::Environment { name, .. } if *name == environment))
            }
        };
        self.picker.select(|item| parent(&item.row));
        false
    }

    /// Returns whether the selected row is a folded branch.
    pub(super) fn is_folded_branch_selected(&self) -> bool {
        matches!(
            self.selected(),
            Some(TreeRow::Environment { is_folded: true, .. } | TreeRow::Type { is_folded: true, .. })
        )
    }

    /// Selects a task; returns whether it is listed.
    pub(super) fn select_task(&mut self, environment: &str, id: &str) -> bool {
        self.picker.select(|item| {
            matches!(&item.row, TreeRow::Task { environment: e, task, .. } if e == environment && task.id == id)
        })
    }

    pub(in crate::ui::start) fn selected(&self) -> Option<&TreeRow> {
        self.picker.selected().map(|item| &item.row)
    }

    /// Returns the environment and the selected task, unless a branch is selected.
    pub(in crate::ui::start) fn selected_task(&self) -> Option<(&str, &TaskRow)> {
        match self.selected()? {
            TreeRow::Task { environment, task, .. } => Some((environment, task)),
            _ => None,
        }
    }

    /// Returns the typed search.
    pub(in crate::ui::start) fn query(&self) -> String {
        self.picker.text()
    }

    /// Returns the listed rows, from top to bottom.
    pub(in crate::ui::start) fn rows(&self) -> impl ExactSizeIterator<Item = &TreeRow> {
        self.picker.matches().map(|item| &item.row)
    }

    /// Draws the search line.
    pub(in crate::ui::start) fn draw_field(&self, is_focused: bool, area: Rect, canvas: &mut Canvas<'_>) {
        self.picker.draw_field((Role::Key, ""), is_focused, area, canvas);
    }

    /// Draws the list; the second argument of `line` is whether the row is selected.
    pub(in crate::ui::start) fn draw_list(
        &self,
        area: Rect,
        canvas: &mut Canvas<'_>,
        line: impl Fn(&TreeRow, bool) -> Line,
    ) {
        self.picker.draw_list(area, canvas, |item, is_selected| line(&item.row, is_selected));
    }

    pub(super) fn clear_query(&mut self) {
        self.before_search = None;
        let selected = self.selected().cloned();
        self.picker.set_text("");
        if let Some(selected) = selected {
            self.picker.select(|item| item.row.is_same(&selected));
        }
    }

    pub(super) fn on_key(&mut self, key: KeyEvent) -> bool {
        self.edit_query(|picker| picker.on_key(key))
    }

    pub(super) fn on_paste(&mut self, text: &str) -> bool {
        self.edit_query(|picker| picker.on_paste(text))
    }

    /// Edits the search. Once nothing is left of it, the row is selected that was selected before it.
    fn edit_query(&mut self, edit: impl FnOnce(&mut Picker<Item>) -> bool) -> bool {
        let (was_empty, selected) = (self.query().is_empty(), self.selected().cloned());
        let is_changed = edit(&mut self.picker);
        match (was_empty, self.query().is_empty()) {
            (true, false) => self.before_search = selected,
            (false, true) => {
                if let Some(before) = self.before_search.take() {
                    self.picker.select(|item| item.row.is_same(&before));
                }
            }
            _ => {}
        }
        is_changed
    }

    pub(super) fn move_selection(&mut self, by: isize) {
        self.picker.move_selection(by);
    }
}

/// Returns the types that are worth a branch, in the order of the tasks; none if a type is hardly more than a task.
fn types_of(tasks: &[TaskRow]) -> Vec<&str> {
    let mut types: Vec<&str> = Vec::new();
    for task in tasks {
        if task.task_type.is_empty() {
            return Vec::new();
        }
        if !types.contains(&task.task_type.as_str()) {
            types.push(&task.task_type);
        }
    }
    if types.len() < 2 || types.len() * 2 > tasks.len() { Vec::new() } else { types }
}

/// Returns what the folds show; for a search, the tasks that contain all of its words, and environments without tasks, whose
/// row says what is missing.
fn search(all: &[Item], query: &str) -> Vec<usize> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let is_listed = |item: &Item| match &item.row {
        _ if words.is_empty() => item.is_visible,
        TreeRow::Task { environment, task, .. } => {
            let text = format!("{} {} {} {environment}", task.goal, task.id, task.task_type).to_lowercase();
            words.iter().all(|word| text.contains(word))
        }
        TreeRow::Environment { name, tasks: 0, .. } => words.iter().all(|word| name.contains(word)),
        TreeRow::Environment { .. } | TreeRow::Type { .. } => false,
    };
    all.iter().enumerate().filter(|(_, item)| is_listed(item)).map(|(index, _)| index).collect()
}
