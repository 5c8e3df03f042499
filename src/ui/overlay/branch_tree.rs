//! The branches of the session, as a tree.

mod row;

use crate::domain::BranchId;
use crate::ui::branches::{BranchEdit, BranchInfo, TreeIndex, TreeRow, tree_rows};
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::types::EpisodeRef;
use crate::ui::widget::list_index::{clamped_index, row_delta};
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, MouseTarget, Scroll, Window, WindowPosition, paragraph, put_line};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use std::sync::Arc;

/// Minimum number of rows below the list for the selected branch's details.
const MIN_DETAIL_ROWS: u16 = 3;

/// Number of list rows that the details below leave visible, if the list is that long.
const MIN_LIST_ROWS: usize = 5;

const WINDOW_COLUMNS: u16 = 150;

/// Input for the selected branch.
enum LabelInput {
    Name(TextField),
    Note(TextField),
}

/// The overlay that shows the session's branches as a tree.
pub(super) struct BranchTree {
    branches: Arc<[BranchInfo]>,
    /// The visible branches in display order. Rebuilt when the branches or `shows_archived` change.
    tree: Vec<TreeIndex>,
    /// `None` while loading, then whether loading succeeded.
    loaded: Option<Result<(), String>>,
    selected: BranchId,
    /// The previously active branch.
    previous_branch: Option<BranchId>,
    /// Whether archived branches are listed too.
    shows_archived: bool,
    label_input: Option<LabelInput>,
    /// The submitted input and its branch, until the answer arrives.
    pending_label: Option<(BranchId, LabelInput)>,
    /// Why the last request failed.
    error: Option<String>,
    scroll: Scroll,
}

impl BranchTree {
    /// Creates the overlay with the branches known so far (possibly none), and selects the active branch.
    pub(super) fn new(
        branches: Arc<[BranchInfo]>,
        context: &Context<'_>,
        previous_branch: Option<BranchId>,
    ) -> Self {
        let loaded = (!branches.is_empty()).then_some(Ok(()));
        Self {
            tree: tree_rows(&branches, false),
            branches,
            loaded,
            selected: context.frame.branch.clone(),
            previous_branch,
            shows_archived: false,
            label_input: None,
            pending_label: None,
            error: None,
            scroll: Scroll::default(),
        }
    }

    fn selected_branch(&self) -> Option<&BranchInfo> {
        self.branches.iter().find(|t| t.id == self.selected)
    }

    fn selected_index(&self) -> usize {
        self.tree_rows().position(|l| l.branch.id == self.selected).unwrap_or(0)
    }

    fn move_selection(&mut self, by: isize) {
        let at = clamped_index(self.selected_index(), by, self.tree.len());
        if let Some(row) = self.tree_row(at) {
            self.selected = row.branch.id.clone();
        }
    }

    fn tree_rows(&self) -> impl Iterator<Item = TreeRow<'_>> {
        (0..self.tree.len()).filter_map(|at| self.tree_row(at))
    }

    fn tree_row(&self, at: usize) -> Option<TreeRow<'_>> {
        let TreeIndex { branch_index, guides, depth } = *self.tree.get(at)?;
        Some(TreeRow { branch: self.branches.get(branch_index)?, guides, depth })
    }

    /// Switches to a branch, or just closes the overlay if it is the active one.
    fn switch_to(context: &Context<'_>, to: &BranchId) -> Response {
        if *to == context.frame.branch {
            Response::close()
        } else {
            Response::request_and_close(Request::SwitchBranch(to.clone()))
        }
    }

    fn edit_selected(&self, change: BranchEdit) -> Response {
        Response::request(Request::EditBranch(self.selected.clone(), change))
    }

    fn submit_label(&mut self) -> Response {
        let Some(typed) = self.label_input.take() else { return Response::default() };
        let change = match &typed {
            LabelInput::Name(field) => BranchEdit::Name(field.text()),
            LabelInput::Note(field) => BranchEdit::Note(field.text()),
        };
        self.error = None;
        self.pending_label = Some((self.selected.clone(), typed));
        self.edit_selected(change)
    }

    fn title(&self) -> String {
        let archived = self.branches.iter().filter(|t| t.archived).count();
        match (self.branches.len(), archived, self.shows_archived) {
            (0 | 1, ..) => "Branches".to_owned(),
            (n, 0, _) => format!("Branches: {n}"),
            (n, hidden, false) => format!("Branches: {}, {hidden} archived (hidden)", n - hidden),
            (n, shown, true) => format!("Branches: {n}, {shown} archived"),
        }
    }

    /// Draws the details of the selected branch, or the input line.
    fn draw_details(&self, context: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
        let (label, field) = match &self.label_input {
            Some(LabelInput::Name(field)) => ("name  ", field),
            Some(LabelInput::Note(field)) => ("note  ", field),
            None => {
                let lines = self.details_or_error(context, area.width, area.height);
                for (y, line) in (area.top()..area.bottom()).zip(&lines) {
                    put_line(line, Rect { y, height: 1, ..area }, canvas);
                }
                return;
            }
        };
        let used = canvas.put(area.x, area.y, area.width, label, canvas.style(Role::Title));
        let line = Rect {
            x: area.x + used,
            width: area.width.saturating_sub(used),
            height: area.height.min(1),
            ..area
        };
        field.draw(true, line, canvas);
        let why = self.error.as_deref().unwrap_or_default();
        let why = paragraph((Role::Warning, ""), Role::Warning, why, area.width);
        for (y, line) in (area.top() + 1..area.bottom()).zip(&why) {
            put_line(line, Rect { y, height: 1, ..area }, canvas);
        }
    }

    /// Returns why the last request failed, else the details of the selected branch in at most `rows` rows.
    fn details_or_error(&self, context: &Context<'_>, columns: u16, rows: u16) -> Vec<Line> {
        match &self.error {
            Some(why) => paragraph((Role::Warning, ""), Role::Warning, why, columns),
            None => self
                .selected_branch()
                .map_or_else(Vec::new, |t| row::branch_details(t, context, columns, usize::from(rows))),
        }
    }
}

impl Component for BranchTree {
    fn name(&self) -> &'static str {
        "branches"
    }

    fn mode(&self) -> Mode {
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
        let page = self.scroll.page_rows();
        match action {
            Action::Close => return Response::close(),
            Action::Open | Action::Accept => return Self::switch_to(context, &self.selected),
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
                self.label_input =
                    self.selected_branch().map(|t| LabelInput::Name(TextField::preselected(&t.name)));
            }
            Action::AnnotateBranch => {
                self.label_input =
                    self.selected_branch().map(|t| LabelInput::Note(TextField::single_line(&t.note)));
            }
            Action::ArchiveBranch => {
                let Some(branch) = self.selected_branch() else { return Response::default() };
                if branch.id == context.frame.branch && !branch.archived {
                    let message =
                        "can't archive the active branch; switch to another branch first".to_owned();
                    return Response::request(Request::ShowNotice(message));
                }
                let archive = !branch.archived;
                let response = self.edit_selected(BranchEdit::Archived(archive));
                if archive && !self.shows_archived {
                    self.move_selection(-1);
                }
                return response;
            }
            Action::Compare => {
                let Some(other) = self.selected_branch().filter(|t| t.id != context.frame.branch) else {
                    let message = "select a branch other than the active one to compare with it".to_owned();
                    return Response::request(Request::ShowNotice(message));
                };
                let (branch, title) = (Some(other.id.0.clone()), format!("branch {}", other.id));
                return Response::request(Request::CompareWith(EpisodeRef {
                    branch,
                    title,
                    ..EpisodeRef::default()
                }));
            }
            Action::ShowArchived => {
                self.shows_archived = !self.shows_archived;
                self.tree = tree_rows(&self.branches, self.shows_archived);
                self.move_selection(0);
            }
            Action::Help | Action::Palette => return Response::request(Request::RunAction(action)),
            other => self.move_selection(row_delta(other, page).unwrap_or(0)),
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if let Some(LabelInput::Name(field) | LabelInput::Note(field)) = &mut self.label_input {
            field.on_key(key);
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Some(LabelInput::Name(field) | LabelInput::Note(field)) = &mut self.label_input {
            field.on_paste(text);
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, context: &Context<'_>) -> Response {
        match self.scroll.mouse_target(event).filter(|_| self.label_input.is_none()) {
            Some(MouseTarget::Row(row)) => {
                let at = self.selected_index();
                let chosen = self.tree_row(row).map(|l| l.branch.id.clone());
                if row == at {
                    return Self::switch_to(context, &self.selected);
                }
                self.selected = chosen.unwrap_or_else(|| self.selected.clone());
            }
            Some(MouseTarget::Wheel(by)) => self.move_selection(by),
            None => {}
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let Answer::Branches(result) = answer {
            let pending = self.pending_label.take();
            if let Err(why) = &result
                && !self.branches.is_empty()
            {
                self.error = Some(why.clone());
                // Restore the typed text so that it can be corrected.
                if let Some((branch, typed)) = pending.filter(|_| self.label_input.is_none()) {
                    (self.selected, self.label_input) = (branch, Some(typed));
                }
                return Response::default();
            }
            self.loaded = Some(result.map(|branches| self.branches = branches));
            self.tree = tree_rows(&self.branches, self.shows_archived);
        }
        Response::default()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let tree_rows: Vec<TreeRow<'_>> = self.tree_rows().collect();
        let columns = screen.width.saturating_sub(4).min(WINDOW_COLUMNS);
        let whole = (self.details_or_error(context, columns, u16::MAX).len() as u16).max(MIN_DETAIL_ROWS);
        let rows = (tree_rows.len().max(1) as u16).saturating_add(2 + whole);
        let title = self.title();
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows,
            columns: WINDOW_COLUMNS,
            mode: self.mode(),
        };
        let inside = window.draw(context, screen, canvas);
        if tree_rows.is_empty() {
            let (role, words) = match &self.loaded {
                Some(Err(why)) => (Role::Bad, why.as_str()),
                _ => (Role::Muted, "loading branches ..."),
            };
            let lines: Vec<Line> = paragraph((role, ""), role, words, inside.width);
            self.scroll.draw(&lines, inside, canvas);
            return;
        }
        let list = tree_rows.len().clamp(1, MIN_LIST_ROWS) as u16;
        let below = whole.min(inside.height.saturating_sub(2 + list).max(MIN_DETAIL_ROWS));
        let below = below.min(inside.height.saturating_sub(3));
        let columns = row::Columns::for_rows(&tree_rows, inside.width);
        put_line(&columns.header(), Rect { height: inside.height.min(1), ..inside }, canvas);
        let list = Rect { y: inside.y + 1, height: inside.height.saturating_sub(2 + below).max(1), ..inside };
        let now = &context.frame.branch;
        self.scroll.draw_list(self.selected_index(), tree_rows.len(), list, canvas, |place| {
            tree_rows.get(place).map_or_else(Line::new, |l| {
                columns.row(l, l.branch.id == self.selected, l.branch.id == *now, context)
            })
        });
        let last = Rect { y: inside.bottom().saturating_sub(below), height: below, ..inside };
        self.draw_details(context, last, canvas);
    }
}
