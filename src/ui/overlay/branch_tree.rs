//! The branches of the session, as a tree.

mod row;

use crate::domain::BranchId;
use crate::engine::Command;
use crate::ui::branches::{BranchEdit, BranchInfo, TreeRow, tree_rows};
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::types::{EpisodeRef, WorkKind};
use crate::ui::widget::picker::{Click, MIN_PREVIEW_ROWS, Picker};
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, PresentKeys, Window, WindowPosition, paragraph, put_line, put_lines};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use std::sync::Arc;

const WINDOW_COLUMNS: u16 = 150;

/// What changes branches, or marks those to change: nothing that a read-only session can do.
const CHANGES: [Action; 7] = [
    Action::Open,
    Action::Accept,
    Action::PreviousBranch,
    Action::RenameBranch,
    Action::AnnotateBranch,
    Action::RejectOrToggle,
    Action::ArchiveBranch,
];

/// Input for a branch's name or note.
struct LabelInput {
    branch: BranchId,
    prompt: &'static str,
    field: TextField,
    edit: fn(String) -> BranchEdit,
}

/// The overlay that shows the session's branches as a tree.
pub(super) struct BranchTree {
    branches: Arc<[BranchInfo]>,
    /// The visible branches.
    tree: Picker<TreeRow>,
    /// `None` while loading, then whether loading succeeded.
    loaded: Option<Result<(), String>>,
    /// The previously active branch.
    previous_branch: Option<BranchId>,
    /// Whether archived branches are listed too.
    shows_archived: bool,
    label_input: Option<LabelInput>,
    /// The submitted input, until the answer arrives.
    pending_label: Option<LabelInput>,
    /// Why the last request failed.
    error: Option<String>,
}

impl BranchTree {
    /// Creates the overlay with the branches known so far (possibly none), and selects the active branch.
    pub(super) fn new(
        branches: Arc<[BranchInfo]>,
        context: &Context<'_>,
        previous_branch: Option<BranchId>,
    ) -> Self {
        let loaded = (!branches.is_empty()).then_some(Ok(()));
        let mut overlay = Self {
            tree: Picker::unfiltered(Vec::new()),
            branches,
            loaded,
            previous_branch,
            shows_archived: false,
            label_input: None,
            pending_label: None,
            error: None,
        };
        overlay.update_rows(context);
        overlay
    }

    /// Lists the visible branches. Selects the active one when it is first listed.
    fn update_rows(&mut self, context: &Context<'_>) {
        let was_listed = self.tree.items().iter().any(|row| row.branch.id == context.frame.branch);
        let rows = tree_rows(&self.branches, self.shows_archived);
        self.tree.update_items(rows, |old, new| old.branch.id == new.branch.id);
        if !was_listed {
            self.select(&context.frame.branch);
        }
    }

    fn select(&mut self, id: &BranchId) {
        self.tree.select(|row| row.branch.id == *id);
    }

    fn selected_branch(&self) -> Option<&BranchInfo> {
        self.tree.selected().map(|row| &row.branch)
    }

    /// Switches to a branch, or just closes the overlay if it is the active one.
    fn switch_to(context: &Context<'_>, to: &BranchId) -> Response {
        if *to == context.frame.branch {
            Response::close()
        } else {
            Response::request_and_close(Request::SwitchBranch(to.clone()))
        }
    }

    fn switch_to_selected(&self, context: &Context<'_>) -> Response {
        self.selected_branch().map_or_else(Response::close, |branch| Self::switch_to(context, &branch.id))
    }

    /// Archives the marked branches, else the selected one. Unarchives them if all are archived.
    fn archive(&mut self, context: &Context<'_>) -> Response {
        let mut branches: Vec<&BranchInfo> = self.tree.marked().map(|row| &row.branch).collect();
        if branches.is_empty() {
            branches.extend(self.selected_branch());
        }
        let archive = branches.iter().any(|b| !b.archived);
        branches.retain(|b| b.archived != archive);
        if archive && branches.iter().any(|b| b.id == context.frame.branch) {
            let message = "can't archive the active branch; switch to another branch first".to_owned();
            return Response::request(Request::ShowNotice(message));
        }
        let ids: Vec<BranchId> = branches.into_iter().map(|b| b.id.clone()).collect();
        self.tree.clear_marks();
        // The selection moves up to a branch that stays visible.
        while archive
            && !self.shows_archived
            && self.tree.selected_row() > 0
            && self.selected_branch().is_some_and(|b| ids.contains(&b.id))
        {
            self.tree.move_selection(-1);
        }
        if ids.is_empty() {
            return Response::default();
        }
        let edit = |id| (id, BranchEdit::Archived(archive));
        Response::request(Request::EditBranches(ids.into_iter().map(edit).collect()))
    }

    /// Returns the actions that need a second branch, if there is none, and in a read-only session those that change branches.
    fn actions_without_effect(&self, context: &Context<'_>) -> Vec<Action> {
        let is_only = self.branches.len() == 1;
        let changes = CHANGES.into_iter().filter(|_| context.is_read_only());
        [Action::PreviousBranch, Action::Compare].into_iter().filter(|_| is_only).chain(changes).collect()
    }

    fn submit_label(&mut self) -> Response {
        let Some(input) = self.label_input.take() else { return Response::default() };
        let edit = (input.branch.clone(), (input.edit)(input.field.text()));
        self.pending_label = Some(input);
        Response::request(Request::EditBranches(vec![edit]))
    }

    fn title(&self) -> String {
        let archived = self.branches.iter().filter(|t| t.archived).count();
        // An archived branch is shown if another descends from it.
        let listed = self.tree.items().len();
        let title = match (self.branches.len(), archived, self.branches.len().saturating_sub(listed)) {
            (0 | 1, ..) => "Branches".to_owned(),
            (n, 0, _) => format!("Branches: {n}"),
            (n, archived, 0) => format!("Branches: {n}, {archived} archived"),
            (_, _, hidden) => format!("Branches: {listed}, {hidden} archived (hidden)"),
        };
        match self.tree.marked().len() {
            0 => title,
            marked => format!("{title}, {marked} marked"),
        }
    }

    /// Draws the details of a branch, or the input line.
    fn draw_details(
        &self,
        branch: Option<&BranchInfo>,
        context: &Context<'_>,
        area: Rect,
        canvas: &mut Canvas<'_>,
    ) {
        let Some(input) = &self.label_input else {
            return put_lines(&self.details_or_error(branch, context, area.width, area.height), area, canvas);
        };
        let used = canvas.put(area.x, area.y, area.width, input.prompt, canvas.style(Role::Title));
        let (x, width) = (area.x + used, area.width.saturating_sub(used));
        input.field.draw(true, Rect { x, width, height: area.height.min(1), ..area }, canvas);
        let why = self.error.as_deref().unwrap_or_default();
        let why = paragraph((Role::Warning, ""), Role::Warning, why, area.width);
        put_lines(&why, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }, canvas);
    }

    /// Returns why the last request failed, else the details of a branch in at most `rows` rows.
    fn details_or_error(
        &self,
        branch: Option<&BranchInfo>,
        context: &Context<'_>,
        columns: u16,
        rows: u16,
    ) -> Vec<Line> {
        match (&self.error, branch) {
            (Some(why), _) => paragraph((Role::Warning, ""), Role::Warning, why, columns),
            (None, Some(branch)) => row::branch_details(branch, context, columns, usize::from(rows)),
            (None, None) => Vec::new(),
        }
    }
}

impl Component for BranchTree {
    fn name(&self) -> &'static str {
        "branches"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        if self.label_input.is_some() { Mode::LineInput } else { Mode::Branches }
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        self.error = None;
        if self.label_input.is_some() {
            match action {
                Action::Accept | Action::Open => return self.submit_label(),
                Action::Close => self.label_input = None,
                _ => {}
            }
            return Response::default();
        }
        // Refused before a name or note is typed. The main screen says why, and how to continue.
        if context.is_read_only() && CHANGES.contains(&action) {
            return Response::request(Request::RunAction(Action::Fork));
        }
        match action {
            Action::Close if self.tree.marked().len() > 0 => self.tree.clear_marks(),
            Action::Close => return Response::close(),
            // The key that marks pauses everywhere else, so it must not leave a run going.
            Action::RejectOrToggle if context.frame.head.can_proceed() => {
                return Response::request(Request::Send(Command::Pause));
            }
            Action::RejectOrToggle => {
                self.tree.toggle_mark();
                self.tree.move_selection(1);
            }
            Action::Open | Action::Accept => return self.switch_to_selected(context),
            Action::PreviousBranch => {
                let parent = || self.branches.iter().find(|t| t.id == context.frame.branch)?.parent.clone();
                let Some(to) = self.previous_branch.clone().or_else(parent) else {
                    return Response::request(Request::ShowNotice(
                        "no other branch to go back to".to_owned(),
                    ));
                };
                return Self::switch_to(context, &to);
            }
            Action::RenameBranch => {
                self.label_input = self.selected_branch().map(|branch| LabelInput {
                    branch: branch.id.clone(),
                    prompt: "name  ",
                    field: TextField::preselected(&branch.name),
                    edit: BranchEdit::Name,
                });
            }
            Action::AnnotateBranch => {
                self.label_input = self.selected_branch().map(|branch| LabelInput {
                    branch: branch.id.clone(),
                    prompt: "note  ",
                    field: TextField::single_line(&branch.note),
                    edit: BranchEdit::Note,
                });
            }
            Action::ArchiveBranch => return self.archive(context),
            Action::Compare => {
                let mut others = self.branches.iter().filter(|branch| branch.id != context.frame.branch);
                // Of two branches, the one that isn't active is meant, whichever is selected.
                let only = others.next().filter(|_| others.next().is_none());
                let selected = self.selected_branch().filter(|branch| branch.id != context.frame.branch);
                let Some(other) = selected.or(only) else {
                    let message = "select a branch other than the active one to compare with it".to_owned();
                    return Response::request(Request::ShowNotice(message));
                };
                return Response::request(Request::CompareWith(EpisodeRef::on_branch(&other.id)));
            }
            Action::ShowArchived => {
                self.shows_archived = !self.shows_archived;
                self.update_rows(context);
            }
            Action::Help | Action::Palette => return Response::request(Request::RunAction(action)),
            other => self.tree.on_action(other, self.tree.page_rows()),
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if let Some(input) = &mut self.label_input {
            input.field.on_key(key);
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Some(input) = &mut self.label_input {
            input.field.on_paste(text);
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, context: &Context<'_>) -> Response {
        if self.label_input.is_none() && self.tree.on_mouse(event) == Some(Click::SelectedItem) {
            return self.on_action(Action::Open, context);
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, context: &Context<'_>) -> Response {
        let Answer::Branches(result) = answer else { return Response::default() };
        let pending = self.pending_label.take();
        match result {
            Err(why) if !self.branches.is_empty() => {
                self.error = Some(context.advice(&why).into_owned());
                // Restore the typed text so that it can be corrected.
                if let Some(input) = pending.filter(|_| self.label_input.is_none()) {
                    self.select(&input.branch);
                    self.label_input = Some(input);
                }
            }
            result => {
                self.loaded = Some(result.map(|branches| self.branches = branches));
                self.update_rows(context);
            }
        }
        Response::default()
    }

    fn awaits(&self) -> Option<WorkKind> {
        Some(WorkKind::Branches)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let columns = Window::inner_columns(WINDOW_COLUMNS, context, screen);
        let details = self.details_or_error(self.selected_branch(), context, columns, u16::MAX).len() as u16;
        let details = details.max(MIN_PREVIEW_ROWS);
        let tree_rows = self.tree.items();
        let title = self.title();
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows: (tree_rows.len().max(1) as u16).saturating_add(2 + details),
            columns: WINDOW_COLUMNS,
            mode: self.mode(context),
        };
        let clears_marks = self.label_input.is_none() && self.tree.marked().len() > 0;
        let closing_label = clears_marks.then_some("clear marks");
        let inside = window.draw_with_keys(
            PresentKeys {
                closing_label,
                without_effect: &self.actions_without_effect(context),
                ..PresentKeys::default()
            },
            context,
            screen,
            canvas,
        );
        if tree_rows.is_empty() {
            let loading = context.cancellable_work_text("loading branches ...", WorkKind::Branches);
            let (role, words) = match &self.loaded {
                Some(Err(why)) => (Role::Bad, context.advice(why)),
                _ => (Role::Muted, loading.into()),
            };
            return put_lines(&paragraph((role, ""), role, &words, inside.width), inside, canvas);
        }
        let columns = row::Columns::for_rows(tree_rows, inside.width);
        let header = inside.height.min(1);
        put_line(&columns.header(), Rect { height: header, ..inside }, canvas);
        let below = Rect { y: inside.y + header, height: inside.height - header, ..inside };
        let row = |row: &TreeRow, is_selected, is_marked| columns.row(row, is_selected, is_marked, context);
        self.tree.draw_with_preview(details, below, canvas, row, |row, area, canvas| {
            self.draw_details(row.map(|row| &row.branch), context, area, canvas);
        });
    }
}
