//! The branches of the session, as a tree.

mod row;

use super::field::Field;
use super::window::{Line, Place, Pointed, Scroll, Window, paragraph, put_line};
use super::{Answer, Overlay, Response, moved, stepped};
use crate::domain::BranchId;
use crate::ui::branches::{BranchEdit, BranchInfo, TreeIndex, TreeRow, hung};
use crate::ui::canvas::Canvas;
use crate::ui::compare;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use std::sync::Arc;

/// Rows below the list, at least: the chosen branch in full. It takes more where there are more.
const BELOW: u16 = 3;

/// Rows of the list that what is below leaves it, where it has as many.
const LIST: usize = 5;

/// Columns of the window.
const COLUMNS: u16 = 150;

/// What is typed for the chosen branch.
enum Typing {
    Name(Field),
    Note(Field),
}

/// The tree.
pub struct Branches {
    twigs: Arc<[BranchInfo]>,
    /// Which of them are shown in which order: made anew when they, or what is shown of them, change.
    hung: Vec<TreeIndex>,
    /// None until the branches have come, or why they have not.
    told: Option<Result<(), String>>,
    chosen: BranchId,
    /// The branch that was followed before this one.
    left: Option<BranchId>,
    /// Archived ones are shown too.
    archived: bool,
    typing: Option<Typing>,
    /// What was typed last, for which branch, until it is known that it was taken.
    sent: Option<(BranchId, Typing)>,
    /// Why the last wish was not granted.
    refused: Option<String>,
    scroll: Scroll,
}

impl Branches {
    /// With what is known so far, the branch at work chosen.
    pub fn new(twigs: Arc<[BranchInfo]>, look: &Context<'_>, left: Option<BranchId>) -> Self {
        let told = (!twigs.is_empty()).then_some(Ok(()));
        Self {
            hung: hung(&twigs, false),
            twigs,
            told,
            chosen: look.store.branch(),
            left,
            archived: false,
            typing: None,
            sent: None,
            refused: None,
            scroll: Scroll::default(),
        }
    }

    /// The chosen branch.
    fn twig(&self) -> Option<&BranchInfo> {
        self.twigs.iter().find(|t| t.id == self.chosen)
    }

    fn place(&self) -> usize {
        self.limbs().position(|l| l.twig.id == self.chosen).unwrap_or(0)
    }

    fn by(&mut self, by: isize) {
        let at = stepped(self.place(), by, self.hung.len());
        if let Some(limb) = self.limb(at) {
            self.chosen = limb.twig.id.clone();
        }
    }

    /// The rows of the tree.
    fn limbs(&self) -> impl Iterator<Item = TreeRow<'_>> {
        (0..self.hung.len()).filter_map(|at| self.limb(at))
    }

    fn limb(&self, at: usize) -> Option<TreeRow<'_>> {
        let TreeIndex { twig, lines, depth } = *self.hung.get(at)?;
        Some(TreeRow { twig: self.twigs.get(twig)?, lines, depth })
    }

    /// Goes to a branch.
    fn switch(look: &Context<'_>, to: &BranchId) -> Response {
        if *to == look.store.branch() {
            Response::close()
        } else {
            Response::done(Request::Switch(to.clone()))
        }
    }

    fn relabel(&self, change: BranchEdit) -> Response {
        Response::want(Request::Relabel(self.chosen.clone(), change))
    }

    fn typed(&mut self) -> Response {
        let Some(typed) = self.typing.take() else { return Response::default() };
        let change = match &typed {
            Typing::Name(field) => BranchEdit::Name(field.text()),
            Typing::Note(field) => BranchEdit::Note(field.text()),
        };
        self.refused = None;
        self.sent = Some((self.chosen.clone(), typed));
        self.relabel(change)
    }

    fn title(&self) -> String {
        let archived = self.twigs.iter().filter(|t| t.archived).count();
        match (self.twigs.len(), archived, self.archived) {
            (0 | 1, ..) => "Branches".to_owned(),
            (n, 0, _) => format!("Branches: {n}"),
            (n, hidden, false) => format!("Branches: {}, and {hidden} archived", n - hidden),
            (n, shown, true) => format!("Branches: {n}, {shown} of them archived"),
        }
    }

    /// The chosen branch in full, or the line that is typed.
    fn below(&self, look: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
        let (label, field) = match &self.typing {
            Some(Typing::Name(field)) => ("name  ", field),
            Some(Typing::Note(field)) => ("note  ", field),
            None => {
                let lines = self.told(look, area.width, area.height);
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
        let why = self.refused.as_deref().unwrap_or_default();
        let why = paragraph((Role::Warn, ""), Role::Warn, why, area.width);
        for (y, line) in (area.top() + 1..area.bottom()).zip(&why) {
            put_line(line, Rect { y, height: 1, ..area }, canvas);
        }
    }

    /// The chosen branch in full, in at most so many rows; or why the last wish was not granted.
    fn told(&self, look: &Context<'_>, columns: u16, rows: u16) -> Vec<Line> {
        match &self.refused {
            Some(why) => paragraph((Role::Warn, ""), Role::Warn, why, columns),
            None => self.twig().map_or_else(Vec::new, |t| row::whole(t, look, columns, usize::from(rows))),
        }
    }
}

impl Overlay for Branches {
    fn name(&self) -> &'static str {
        "branches"
    }

    fn mode(&self) -> Mode {
        if self.typing.is_some() { Mode::Line } else { Mode::Branches }
    }

    fn act(&mut self, action: Action, look: &Context<'_>) -> Response {
        self.refused = None;
        if self.typing.is_some() {
            match action {
                Action::Accept | Action::Open => return self.typed(),
                Action::Close => self.typing = None,
                _ => {}
            }
            return Response::default();
        }
        let page = self.scroll.page();
        match action {
            Action::Close => return Response::close(),
            Action::Open | Action::Accept => return Self::switch(look, &self.chosen),
            Action::BranchBack => {
                let parent = || self.twigs.iter().find(|t| t.id == look.store.branch())?.parent.clone();
                let Some(to) = self.left.clone().or_else(parent) else {
                    return Response::want(Request::Say("there is no other branch to go back to".to_owned()));
                };
                return Self::switch(look, &to);
            }
            Action::RenameBranch => {
                self.typing = self.twig().map(|t| Typing::Name(Field::replaceable(&t.name)));
            }
            Action::AnnotateBranch => {
                self.typing = self.twig().map(|t| Typing::Note(Field::line(&t.note)));
            }
            Action::ArchiveBranch => {
                let Some(twig) = self.twig() else { return Response::default() };
                if twig.id == look.store.branch() && !twig.archived {
                    let words = "this is the branch at work; go to another one first".to_owned();
                    return Response::want(Request::Say(words));
                }
                let put_away = !twig.archived;
                let wish = self.relabel(BranchEdit::Archived(put_away));
                if put_away && !self.archived {
                    self.by(-1);
                }
                return wish;
            }
            Action::Compare => {
                let Some(twig) = self.twig().filter(|t| t.id != look.store.branch()) else {
                    let words = "choose another branch than the one at work; it is put beside it".to_owned();
                    return Response::want(Request::Say(words));
                };
                let (branch, title) = (Some(twig.id.0.clone()), format!("branch {}", twig.id));
                return Response::want(Request::Beside(compare::Place {
                    branch,
                    title,
                    ..compare::Place::default()
                }));
            }
            Action::ShowArchived => {
                self.archived = !self.archived;
                self.hung = hung(&self.twigs, self.archived);
                self.by(0);
            }
            Action::Help | Action::Palette => return Response::want(Request::Do(action)),
            other => self.by(moved(other, page).unwrap_or(0)),
        }
        Response::default()
    }

    fn key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if let Some(Typing::Name(field) | Typing::Note(field)) = &mut self.typing {
            field.key(key);
        }
        Response::default()
    }

    fn paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Some(Typing::Name(field) | Typing::Note(field)) = &mut self.typing {
            field.paste(text);
        }
        Response::default()
    }

    fn mouse(&mut self, event: MouseEvent, look: &Context<'_>) -> Response {
        match self.scroll.pointed(event).filter(|_| self.typing.is_none()) {
            Some(Pointed::Row(row)) => {
                let at = self.place();
                let chosen = self.limb(row).map(|l| l.twig.id.clone());
                if row == at {
                    return Self::switch(look, &self.chosen);
                }
                self.chosen = chosen.unwrap_or_else(|| self.chosen.clone());
            }
            Some(Pointed::Wheel(by)) => self.by(by),
            None => {}
        }
        Response::default()
    }

    fn answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let Answer::Branches(told) = answer {
            let sent = self.sent.take();
            if let Err(why) = &told
                && !self.twigs.is_empty()
            {
                self.refused = Some(why.clone());
                // What was typed is still there, to be changed.
                if let Some((of, typed)) = sent.filter(|_| self.typing.is_none()) {
                    (self.chosen, self.typing) = (of, Some(typed));
                }
                return Response::default();
            }
            self.told = Some(told.map(|twigs| self.twigs = twigs));
            self.hung = hung(&self.twigs, self.archived);
        }
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let limbs: Vec<TreeRow<'_>> = self.limbs().collect();
        let columns = screen.width.saturating_sub(4).min(COLUMNS);
        let whole = (self.told(look, columns, u16::MAX).len() as u16).max(BELOW);
        let rows = (limbs.len().max(1) as u16).saturating_add(2 + whole);
        let title = self.title();
        let window =
            Window { title: &title, place: Place::Middle, rows, columns: COLUMNS, mode: self.mode() };
        let inside = window.draw(look, screen, canvas);
        if limbs.is_empty() {
            let (role, words) = match &self.told {
                Some(Err(why)) => (Role::Bad, why.as_str()),
                _ => (Role::Dim, "the branches are being read"),
            };
            let lines: Vec<Line> = paragraph((role, ""), role, words, inside.width);
            self.scroll.draw(&lines, inside, canvas);
            return;
        }
        let list = limbs.len().clamp(1, LIST) as u16;
        let below = whole.min(inside.height.saturating_sub(2 + list).max(BELOW));
        let below = below.min(inside.height.saturating_sub(3));
        let columns = row::Columns::of(&limbs, inside.width);
        put_line(&columns.head(), Rect { height: inside.height.min(1), ..inside }, canvas);
        let list = Rect { y: inside.y + 1, height: inside.height.saturating_sub(2 + below).max(1), ..inside };
        let now = look.store.branch();
        self.scroll.list(self.place(), limbs.len(), list, canvas, |place| {
            limbs
                .get(place)
                .map_or_else(Line::new, |l| columns.row(l, l.twig.id == self.chosen, l.twig.id == now, look))
        });
        let last = Rect { y: inside.bottom().saturating_sub(below), height: below, ..inside };
        self.below(look, last, canvas);
    }
}
