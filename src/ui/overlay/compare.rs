//! Comparison of two episodes side by side: first the other side is chosen, then the aligned rows are shown.

mod details;
mod rows;
mod settings_line;
mod target_list;

use crate::timeline::compare::{Comparison, PriorDifferences};
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::types::{EpisodeRef, PtrEqArc, WorkKind};
use crate::ui::widget::list_index::row_delta;
use crate::ui::widget::window::{
    MouseTarget, PresentKeys, Scroll, Window, WindowPosition, paragraph, put_line, scroll_or_close,
};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use rows::{AlignedRows, SideLayout};
use target_list::TargetList;

/// Overlay that chooses the other side and shows the comparison.
pub(super) struct CompareDialog {
    left: EpisodeRef,
    right: Option<EpisodeRef>,
    /// The episodes are a pair of a measurement, which are stepped together.
    pair: Option<u32>,
    stage: Stage,
}

enum Stage {
    Choosing(Box<TargetList>),
    Loading,
    /// Why the comparison failed.
    Failed(String),
    Shown(Box<ComparisonView>),
}

/// A loaded comparison.
struct ComparisonView {
    found: PtrEqArc<Comparison>,
    /// The episodes are stepped together: later rows are hidden until both have got there.
    pair: Option<u32>,
    rows: AlignedRows,
    selected: usize,
    scroll: Scroll,
    details: Option<RowDetails>,
}

/// The details page of one row.
struct RowDetails {
    row: usize,
    /// The differences before the row; `None` until they have been loaded.
    prior_differences: Option<Result<PtrEqArc<PriorDifferences>, String>>,
    /// Whether entries that are equal on both sides are listed, not only counted.
    shows_equal: bool,
    scroll: Scroll,
}

impl CompareDialog {
    /// Creates the overlay with the episode on screen on the left and a list of targets to compare it with.
    pub(super) fn with_shown_episode(context: &Context<'_>) -> Self {
        let left = Self::shown_episode(context);
        let chooser = TargetList::new(context, left.episode);
        Self { left, right: None, pair: None, stage: Stage::Choosing(Box::new(chooser)) }
    }

    /// Returns the episode on screen.
    pub(super) fn shown_episode(context: &Context<'_>) -> EpisodeRef {
        EpisodeRef { episode: context.episode().map(|e| e.number), ..EpisodeRef::default() }
    }

    /// Creates the overlay for two known episodes, with the request that loads the comparison.
    pub(super) fn between(a: EpisodeRef, b: EpisodeRef) -> (Self, Request) {
        let request = Request::Compare { a: a.clone(), b: b.clone() };
        (Self { left: a, right: Some(b), pair: None, stage: Stage::Loading }, request)
    }

    /// Creates the overlay for a pair of a measurement, the baseline first, with the request that loads it.
    pub(super) fn for_pair(number: u32, a: EpisodeRef, b: EpisodeRef) -> (Self, Request) {
        let (dialog, request) = Self::between(a, b);
        (Self { pair: Some(number), ..dialog }, request)
    }

    fn compare_with(&mut self, right: EpisodeRef) -> Response {
        let request = Request::Compare { a: self.left.clone(), b: right.clone() };
        self.right = Some(right);
        self.stage = Stage::Loading;
        Response::request(request)
    }
}

impl ComparisonView {
    fn new(found: PtrEqArc<Comparison>) -> Self {
        let chosen = found.0.row_of_interest().unwrap_or(0);
        let mut rows = AlignedRows::new(&found.0);
        if found.0.first_prompt_difference.is_some() {
            rows.unfold(chosen);
        }
        Self { rows, found, pair: None, selected: chosen, scroll: Scroll::default(), details: None }
    }

    /// Creates the view of a pair, at the last row before the first difference.
    fn for_pair(number: u32, found: PtrEqArc<Comparison>) -> Self {
        let start = found.0.row_of_interest().unwrap_or(0).saturating_sub(1);
        Self { rows: AlignedRows::until(start), pair: Some(number), selected: start, ..Self::new(found) }
    }

    fn move_selection(&mut self, by: isize) {
        if self.pair.is_some() && by > 0 && self.selected >= self.rows.last_row() {
            let last = self.found.0.rows.len().saturating_sub(1);
            return self.select(self.selected.saturating_add_signed(by).min(last));
        }
        self.selected = self.rows.offset_row(self.selected, by);
    }

    /// Selects a row. In a pair, shows the rows up to it.
    fn select(&mut self, row: usize) {
        if self.pair.is_some() {
            self.rows.show_until(row);
        }
        self.selected = row;
    }

    /// Steps both episodes of a pair.
    fn step_both(&mut self) -> Response {
        if self.selected + 1 >= self.found.0.rows.len() {
            let (a, b) = &self.found.0.outcomes;
            let words = format!("both have ended: A {}, B {}", a.verdict(), b.verdict());
            return Response::request(Request::ShowNotice(words));
        }
        self.select(self.selected + 1);
        Response::default()
    }

    fn jump_to_difference(&mut self, backwards: bool) -> Response {
        let Some(row) = self.found.0.next_difference(self.selected, backwards) else {
            let words =
                if backwards { "no difference before this one" } else { "no difference after this one" };
            return Response::request(Request::ShowNotice(words.to_owned()));
        };
        self.select(row);
        self.rows.centre_on_next_draw();
        Response::default()
    }

    fn on_action(&mut self, action: Action) -> Response {
        if let Some(details) = &mut self.details {
            return match action {
                Action::Close | Action::Open => {
                    self.details = None;
                    Response::default()
                }
                Action::NextMatch | Action::PreviousMatch => {
                    let response = self.jump_to_difference(action == Action::PreviousMatch);
                    if response.requests.is_empty() { self.open_details() } else { response }
                }
                Action::ToggleDifference => {
                    details.shows_equal = !details.shows_equal;
                    Response::default()
                }
                Action::Copy => {
                    Response::request(Request::Copy(details::copy_text(&self.found.0, self.selected)))
                }
                _ => scroll_or_close(&details.scroll, action),
            };
        }
        let page = self.scroll.page_rows();
        match action {
            Action::Close => return Response::close(),
            Action::NextMatch => return self.jump_to_difference(false),
            Action::PreviousMatch => return self.jump_to_difference(true),
            Action::Step => return self.step_both(),
            Action::Back => self.move_selection(-1),
            Action::ToggleDifference => {
                // All rows of a pair are shown from now on.
                self.pair = None;
                self.selected = self.rows.toggle_folds(&self.found.0, self.selected);
                self.rows.centre_on_next_draw();
            }
            Action::Open => return self.open_row(),
            Action::Copy => {
                return Response::request(Request::Copy(details::copy_text(&self.found.0, self.selected)));
            }
            other => self.move_selection(row_delta(other, page).unwrap_or(0)),
        }
        Response::default()
    }

    /// Unfolds the selected rows, or opens the details of the selected one.
    fn open_row(&mut self) -> Response {
        if self.rows.folded_at(self.selected) == 0 {
            return self.open_details();
        }
        self.rows.unfold(self.selected);
        Response::default()
    }

    /// Opens the details of the selected row, and requests the differences before it ([`PriorDifferences`]).
    fn open_details(&mut self) -> Response {
        let row = self.selected;
        let shows_equal = self.details.as_ref().is_some_and(|details| details.shows_equal);
        self.details =
            Some(RowDetails { row, prior_differences: None, shows_equal, scroll: Scroll::default() });
        Response::request(Request::LoadPriorDifferences { comparison: self.found.clone(), row })
    }

    fn title(&self) -> String {
        let found = &self.found.0;
        if let Some(number) = self.pair {
            let all = found.rows.len().saturating_sub(1);
            return match found.first_difference {
                None if found.first_prompt_difference.is_some() => {
                    format!("Pair {number}: row {} of {all}, actions equal, prompts differ", self.selected)
                }
                None => format!("Pair {number}: row {} of {all}, no difference", self.selected),
                Some(row) if row == self.selected + 1 => {
                    format!("Pair {number}: row {} of {all}, the next one differs", self.selected)
                }
                Some(row) if row > self.selected => {
                    format!("Pair {number}: row {} of {all}, no difference yet", self.selected)
                }
                Some(row) => {
                    format!("Pair {number}: row {} of {all}, different since row {row}", self.selected)
                }
            };
        }
        let [_, changed, only_a, only_b] = found.counts();
        let waiting = match found.count_pending() {
            0 => String::new(),
            n => format!(", {n} pending"),
        };
        match found.first_difference {
            None => format!("Compare: {}{waiting}", describe_equal_steps(found)),
            Some(_) => {
                format!("Compare: {changed} changed, {only_a} only in A, {only_b} only in B{waiting}")
            }
        }
    }
}

impl Component for CompareDialog {
    fn name(&self) -> &'static str {
        "compare"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        match &self.stage {
            Stage::Choosing(_) => Mode::CompareWith,
            Stage::Shown(shown) if shown.pair.is_some() && shown.details.is_none() => Mode::ComparePair,
            _ => Mode::Compare,
        }
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match &mut self.stage {
            Stage::Choosing(chooser) => match action {
                Action::Close => Response::close(),
                Action::Accept | Action::Open => match chooser.picker.selected().cloned() {
                    Some(right) => self.compare_with(right),
                    None => Response::request(Request::ShowNotice(chooser.empty_message().to_owned())),
                },
                _ => {
                    chooser.picker.on_action(action, 10);
                    Response::default()
                }
            },
            Stage::Shown(shown) => shown.on_action(action),
            Stage::Loading | Stage::Failed(_) if matches!(action, Action::Close | Action::Open) => {
                Response::close()
            }
            Stage::Loading | Stage::Failed(_) => Response::default(),
        }
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if let Stage::Choosing(chooser) = &mut self.stage {
            chooser.picker.on_key(key);
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Stage::Choosing(chooser) = &mut self.stage {
            chooser.picker.on_paste(text);
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        match (answer, &mut self.stage) {
            (Answer::Comparable(others), Stage::Choosing(chooser)) => chooser.add_others(others),
            (Answer::Compared { a, b, result: found }, Stage::Loading)
                if *a == self.left && Some(&*b) == self.right.as_ref() =>
            {
                self.stage = match found {
                    Ok(found) => Stage::Shown(Box::new(match self.pair {
                        Some(number) => ComparisonView::for_pair(number, found),
                        None => ComparisonView::new(found),
                    })),
                    Err(why) => Stage::Failed(why),
                };
            }
            (Answer::PriorDifferences { comparison, row, before }, Stage::Shown(shown))
                if comparison == shown.found =>
            {
                if let Some(details) = shown.details.as_mut().filter(|d| d.row == row) {
                    details.prior_differences = Some(before);
                }
            }
            _ => {}
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        match &mut self.stage {
            Stage::Choosing(chooser) => {
                chooser.picker.on_mouse(event);
            }
            Stage::Shown(shown) => match &shown.details {
                Some(details) => details.scroll.on_wheel(event),
                None => match shown.scroll.mouse_target(event) {
                    Some(MouseTarget::Row(at)) => match shown.rows.row_at_line(at) {
                        Some(row) if row == shown.selected => return shown.open_row(),
                        Some(row) => shown.select(row),
                        None => {}
                    },
                    Some(MouseTarget::Wheel(by)) => shown.move_selection(by * 3),
                    None => {}
                },
            },
            Stage::Loading | Stage::Failed(_) => {}
        }
        Response::default()
    }

    fn awaits(&self) -> Option<WorkKind> {
        match &self.stage {
            Stage::Choosing(chooser) => chooser.awaits_others().then_some(WorkKind::Comparable),
            Stage::Loading => Some(WorkKind::Comparison),
            Stage::Failed(_) => None,
            Stage::Shown(shown) => {
                let awaits_differences = |details: &RowDetails| details.prior_differences.is_none();
                shown.details.as_ref().is_some_and(awaits_differences).then_some(WorkKind::PriorDifferences)
            }
        }
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let mode = self.mode(context);
        match &self.stage {
            Stage::Choosing(chooser) => {
                let inside = compare_window("Compare with", 20, mode).draw(context, screen, canvas);
                chooser.draw(context, inside, canvas);
            }
            Stage::Loading => {
                let inside = compare_window("Compare", 1, mode).draw(context, screen, canvas);
                let words = context.cancellable_work_text("loading both episodes ...", WorkKind::Comparison);
                put_line(&[(Role::Muted, words)], inside, canvas);
            }
            Stage::Failed(why) => {
                let why = context.advice(why);
                let lines = |columns| paragraph((Role::Bad, ""), Role::Bad, &why, columns);
                let high = lines(Window::inner_columns(WINDOW_COLUMNS, context, screen)).len() as u16;
                let inside = compare_window("Compare", high, mode).draw(context, screen, canvas);
                Scroll::default().draw(&lines(inside.width), inside, canvas);
            }
            Stage::Shown(shown) => {
                // The page of a row goes back to the rows.
                let back = shown.details.as_ref().map(|_| (Action::Open, "back"));
                let keys = PresentKeys {
                    closing_label: back.map(|(_, label)| label),
                    labels: back.as_slice(),
                    ..PresentKeys::default()
                };
                let title = shown.title();
                let inside =
                    compare_window(&title, u16::MAX, mode).draw_with_keys(keys, context, screen, canvas);
                shown.draw(context, inside, canvas);
            }
        }
    }
}

impl ComparisonView {
    fn draw(&self, context: &Context<'_>, inside: Rect, canvas: &mut Canvas<'_>) {
        let shape = SideLayout::for_width(inside.width);
        let found = &*self.found.0;
        let heads = rows::header_lines(found, shape, context.glyphs, inside.height);
        let high = (heads.len() as u16).min(inside.height);
        for (place, line) in heads.iter().take(usize::from(high)).enumerate() {
            put_line(line, Rect { y: inside.y + place as u16, height: 1, ..inside }, canvas);
        }
        let body = Rect { y: inside.y + high, height: inside.height - high, ..inside };
        if let Some(details) = &self.details {
            let loading =
                context.cancellable_work_text("loading what preceded it ...", WorkKind::PriorDifferences);
            let before = (details.prior_differences.as_ref(), loading.as_str());
            let equal = details.shows_equal.then_some(()).ok_or_else(|| {
                context.keymap.key_label_in(Mode::Compare, Action::ToggleDifference).unwrap_or_default()
            });
            let lines = details::page_lines(found, details.row, before, &equal, shape, context.glyphs);
            details.scroll.draw(&lines, body, canvas);
            return;
        }
        // The difference that it opens at is shown whole as far as there is room.
        let wanted = if found.row_of_interest() == Some(self.selected) {
            details::preview_lines(found, self.selected, shape, context.glyphs, usize::MAX).len()
        } else {
            0
        };
        let below = rows::preview_rows(body.height, u16::try_from(wanted).unwrap_or(u16::MAX));
        // The preview begins right below a short list, and has the rows that it leaves.
        let list_rows = self.rows.line_count(found, shape);
        let spare = usize::from(body.height).saturating_sub(list_rows) as u16;
        let below = if below > 0 { below.max(spare) } else { 0 };
        let list = Rect { height: body.height - below, ..body };
        self.rows.draw(found, self.selected, shape, (context.glyphs, &self.scroll), list, canvas);
        if below == 0 {
            return;
        }
        let rule = Rect { y: list.bottom(), height: 1, ..body };
        let line = "-".repeat(shape.total_columns()).replace('-', context.glyphs.box_drawing[2 | 8]);
        put_line(&[(Role::FrameOverlay, line)], rule, canvas);
        let preview = Rect { y: rule.y + 1, height: below - 1, ..body };
        let folded = self.rows.folded_at(self.selected);
        if folded > 0 {
            let key = context.keymap.key_label_in(Mode::Compare, Action::Open).unwrap_or_default();
            let words = format!("{}; {key} shows them", rows::fold_text(found, self.selected, folded));
            put_line(&[(Role::Muted, words)], preview, canvas);
            return;
        }
        let high = usize::from(preview.height);
        let lines = details::preview_lines(found, self.selected, shape, context.glyphs, high);
        Scroll::default().draw(&lines, preview, canvas);
    }
}

/// Describes what differs although no step does.
fn describe_equal_steps(found: &Comparison) -> &'static str {
    let has_other_settings = !found.initial_differences.is_empty() || !found.later_differences.is_empty();
    match (found.first_prompt_difference.is_some(), has_other_settings) {
        (true, false) => "actions equal, prompts differ",
        (true, true) => "actions equal, prompts and settings differ",
        (false, true) => "actions equal, settings differ",
        (false, false) => "no difference",
    }
}

/// The columns of two sides, each as wide as is comfortable to read.
const WINDOW_COLUMNS: u16 = 148;

fn compare_window(title: &str, rows: u16, mode: Mode) -> Window<'_> {
    Window { title, position: WindowPosition::Middle, rows, columns: WINDOW_COLUMNS, mode }
}

#[cfg(test)]
mod tests;
