//! Measures a lesson: the plan with its cost, then each pair of both columns as it is played, and what they show.

mod audience;
mod rows;

use crate::domain::{BranchId, Lesson, LessonText, ModelRole, RoleSource, RunSpec};
use crate::driver::measure::{EDITED, EpisodePlace, WITH, WITHOUT};
use crate::engine::{Command, LessonCommand};
use crate::report::effect::describe_time_left;
use crate::text::{one_line, width};
use crate::timeline::effect::{Contrast, ContrastResult, EffectBudget};
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::effect::{EffectColumn, EffectProgress, EffectQuery};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::types::{EpisodeRef, PtrEqArc, WorkKind};
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{
    Line, PresentKeys, Scroll, Window, WindowPosition, paragraph, put_lines, scroll_or_close,
};
use audience::audience_lines;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use rows::panel_lines;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

/// The most pairs that can be asked for.
const MAX_PAIRS: u32 = 10_000;
/// Preferred inner width.
const WINDOW_COLUMNS: u16 = 150;

/// What is typed in the box.
#[derive(Clone, Copy)]
enum Typed {
    /// Another wording of the lesson.
    Wording,
    /// What a column may cost.
    Budget,
}

/// How far the person's wish to start has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Start {
    #[default]
    No,
    /// It was wished before the cost was known.
    WhenPlanned,
    /// It was asked for, and nothing has come of it yet.
    Begun,
}

/// Overlay that measures a lesson.
pub(super) struct EffectPanel {
    query: EffectQuery,
    /// The place on the screen, from which another measurement can begin; `None` for a stored one.
    present_place: Option<EpisodePlace>,
    lesson_number: u32,
    lesson_text: LessonText,
    shown: Option<PtrEqArc<EffectProgress>>,
    /// What is shown is planned again, since the session may have changed.
    is_refreshing: bool,
    /// Why there is nothing to show.
    error: Option<String>,
    /// The column with the selected pair.
    column: usize,
    /// The selected pair, by its number.
    pair: Option<u32>,
    /// What is being typed.
    input: Option<(Typed, TextField)>,
    start: Start,
    /// When the first answer of the running measurement was here, and how many pairs were played by then.
    first_answer: Option<(Instant, u64)>,
    /// It only shows a stored result and has no keys.
    is_still: bool,
    scroll: Scroll,
    /// The selected column or pair changed, so that the next draw scrolls to it.
    shows_selection: Cell<bool>,
}

impl EffectPanel {
    /// Creates the overlay for a lesson, with what is known of its measurement. Returns it with the request that plans the
    /// measurement, or looks for one that began at another moment.
    pub(super) fn new(
        lesson: &Lesson,
        place: EpisodePlace,
        branch: &BranchId,
        known: Option<PtrEqArc<EffectProgress>>,
    ) -> (Self, Option<Request>) {
        // A running measurement of the lesson is shown wherever the person is now. Another wording of the lesson is another
        // measurement.
        let known = known.filter(|known| {
            let is_same = known.0.query.lesson == lesson.id && known.0.version() == Some(lesson.version());
            let is_of_branch = known.0.query.asked.as_ref().is_none_or(|asked| asked.branch == *branch);
            let is_at_place = known.0.query.place == place || known.0.query.edited.is_some();
            is_same && (known.0.is_running() || is_at_place && is_of_branch && known.0.pairs().0 > 0)
        });
        let earlier = || EffectQuery { or_earlier: true, ..EffectQuery::new(lesson.id.clone(), place) };
        let query = known.as_ref().map_or_else(earlier, |known| known.0.query.clone());
        let is_running = known.as_ref().is_some_and(|known| known.0.is_running());
        let request = (!is_running).then(|| Request::PlanEffect(query.clone()));
        let panel = Self::with(query, lesson.number, lesson.text().clone(), known);
        (Self { present_place: Some(place), is_refreshing: !is_running, ..panel }, request)
    }

    /// Creates the overlay for a measurement of a lesson, whose wording may have changed since.
    pub(super) fn running(
        number: u32,
        running: PtrEqArc<EffectProgress>,
        present_place: Option<EpisodePlace>,
    ) -> Self {
        let measured = running.0.columns.first().and_then(|column| column.plan().lessons.first());
        let text = measured.map(|lesson| lesson.text.clone()).unwrap_or_default();
        let panel = Self::with(running.0.query.clone(), number, text, Some(running));
        Self { present_place, ..panel }
    }

    /// Creates a picture of a stored measurement, as a demo shows it.
    pub(super) fn still(number: u32, stored: PtrEqArc<EffectProgress>, top: u16) -> Self {
        let panel = Self { is_still: true, ..Self::running(number, stored, None) };
        panel.scroll.scroll_to(usize::from(top));
        panel
    }

    fn with(
        query: EffectQuery,
        number: u32,
        lesson_text: LessonText,
        shown: Option<PtrEqArc<EffectProgress>>,
    ) -> Self {
        Self {
            query,
            present_place: None,
            lesson_number: number,
            lesson_text,
            shown,
            is_refreshing: false,
            error: None,
            column: 0,
            pair: None,
            input: None,
            start: Start::default(),
            first_answer: None,
            is_still: false,
            scroll: Scroll::default(),
            shows_selection: Cell::new(false),
        }
    }

    fn is_running(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.0.is_running())
    }

    fn is_finished(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.0.is_finished())
    }

    /// Returns whether the session's lessons have changed since the measurement was asked for.
    fn has_older_lessons(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.0.has_older_lessons)
    }

    /// Returns the place on the screen, if the measurement is about another one.
    fn other_place(&self) -> Option<EpisodePlace> {
        self.present_place.filter(|place| *place != self.query.place)
    }

    /// Returns whether another measurement can begin from the present moment, with the present lessons.
    fn can_renew(&self) -> bool {
        self.has_older_lessons() || self.other_place().is_some()
    }

    /// Says how long the pairs that are left take at most, at the pace since the panel saw the first; `None` until it has seen one more.
    fn time_left(&self, now: Instant) -> Option<String> {
        let ((since, before), (settled, all)) = (self.first_answer?, self.shown.as_ref()?.0.pairs());
        let seen = u32::try_from(settled.checked_sub(before)?).ok()?;
        let left = u32::try_from(all.saturating_sub(settled)).ok()?;
        describe_time_left(now.saturating_duration_since(since), seen, left)
    }

    fn selected_column(&self) -> Option<&EffectColumn> {
        self.shown.as_ref()?.0.columns.get(self.column)
    }

    /// Selects the next or previous pair of the column that can be opened.
    fn move_pair(&mut self, by: i64) -> Response {
        let Some(column) = self.selected_column() else { return Response::default() };
        let pairs = column.log.pairs().iter().filter(|(_, pair)| pair.is_kept()).map(|(number, _)| *number);
        let found = match (self.pair, by > 0) {
            (None, true) => pairs.min(),
            (None, false) => pairs.max(),
            (Some(from), true) => pairs.filter(|number| *number > from).min(),
            (Some(from), false) => pairs.filter(|number| *number < from).max(),
        };
        if found.is_none() && self.pair.is_none() && column.log.settled_pairs() > 0 {
            let notice = "no pair of this column can be opened: none differs, so no journals were kept";
            return Response::request(Request::ShowNotice(notice.to_owned()));
        }
        self.pair = found.or(self.pair);
        self.shows_selection.set(true);
        Response::default()
    }

    /// Opens the comparison of the selected pair, if its journals are kept.
    fn open_pair(&self) -> Response {
        let (Some(column), Some(number)) = (self.selected_column(), self.pair) else {
            return Response::default();
        };
        let Some(pair) = column.log.pairs().get(&number) else { return Response::default() };
        if !pair.is_kept() {
            let why = match column.log.discarded(number) {
                Some(discarded) => format!("doesn't count: {}", discarded.reason),
                None if !column.log.differs(pair) => {
                    "ended the same way in all arms, so its journals were not kept".to_owned()
                }
                None => "has no journals: it was measured without keeping them, or couldn't be repeated"
                    .to_owned(),
            };
            return Response::request(Request::ShowNotice(format!("pair {number} {why}")));
        }
        let side = |arm: &str| EpisodeRef {
            session: Some(format!("{}/{number}-{arm}", column.folder)),
            title: format!("pair {number}, {arm}"),
            label: Some(match arm {
                WITH => format!("with lesson {}", self.lesson_number),
                WITHOUT => format!("without lesson {}", self.lesson_number),
                other => other.to_owned(),
            }),
            ..EpisodeRef::default()
        };
        let Some(contrast) = column.plan().contrasts.first() else { return Response::default() };
        let (a, b) = (side(&contrast.second), side(&contrast.first));
        Response::request(Request::ComparePair { number, a, b })
    }

    /// Returns the actions that do nothing at present.
    fn actions_without_effect(&self) -> Vec<Action> {
        if self.is_still {
            return Action::ALL.to_vec();
        }
        let is_planned = self.shown.is_some();
        let has_pairs = self.shown.as_ref().is_some_and(|shown| shown.0.pairs().0 > 0);
        let is_running = self.is_running();
        let all = [
            (Action::StopEffect, !is_running),
            (Action::RenewEffect, is_running || !self.can_renew()),
            (Action::Open, self.pair.is_none() && (is_running || self.is_finished())),
            (Action::NextField, !has_pairs),
            (Action::Down, !has_pairs),
            (Action::ChangeEffectPlace, is_running || self.query.place.step.is_none()),
            (Action::ChangeEffectMode, is_running || !is_planned),
            (Action::EditEffectWording, is_running || !is_planned),
            (Action::EditEffectBudget, is_running || !is_planned || self.is_decided()),
            (Action::TakeWording, is_running || !self.is_edited_better()),
            (Action::MorePairs, is_running || !is_planned || self.is_finished() && !self.needs_more_pairs()),
        ];
        all.into_iter().filter_map(|(action, has_none)| has_none.then_some(action)).collect()
    }

    /// Returns whether the other wording won more of the pairs in which it and the lesson ended differently.
    fn is_edited_better(&self) -> bool {
        let Some(progress) = self.shown.as_ref().map(|shown| &shown.0) else { return false };
        let contrasts = progress.columns.iter().flat_map(|column| &column.result.contrasts);
        let is_of_edited =
            |contrast: &&ContrastResult| contrast.judged.contrast == Contrast::new(EDITED, WITH);
        let (won, lost) = contrasts.filter(is_of_edited).fold((0, 0), |(won, lost), contrast| {
            let counts = &contrast.judged.counts;
            (won + counts.first_only, lost + counts.second_only)
        });
        self.query.edited.is_some() && won > lost
    }

    /// Gives the lesson the other wording that was measured, as the person's edit.
    fn take_measured_wording(&self) -> Response {
        let Some(text) = self.query.edited.clone().filter(|_| self.is_edited_better()) else {
            let notice = "no other wording has done better than the lesson's own".to_owned();
            return Response::request(Request::ShowNotice(notice));
        };
        let edit = LessonCommand::Edit { id: self.query.lesson.clone(), text };
        let notice = format!("lesson {} has the measured wording", self.lesson_number);
        let requests = vec![Request::Send(Command::Lesson(edit)), Request::ShowNotice(notice)];
        Response { requests, close: true }
    }

    /// Plans another measurement, as the query is now.
    fn plan(&mut self) -> Response {
        (self.query.asked, self.query.or_earlier) = (None, false);
        self.plan_as_asked()
    }

    /// Says which key goes on with a measurement that has played all it may. `None` if nothing is left to play.
    fn key_for_more(&self, context: &Context<'_>) -> Option<String> {
        let key = |action| context.keymap.key_label_in(Mode::Effect, action).unwrap_or_default();
        if self.needs_more_pairs() {
            return Some(format!("{} goes on with more pairs", key(Action::MorePairs)));
        }
        self.needs_larger_budget()
            .then(|| format!("{} goes on with a larger budget", key(Action::EditEffectBudget)))
    }

    fn needs_larger_budget(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.0.needs_larger_budget())
    }

    /// Returns whether neither more pairs nor a larger budget would change anything.
    fn is_decided(&self) -> bool {
        self.is_finished() && !self.needs_more_pairs() && !self.needs_larger_budget()
    }

    fn needs_more_pairs(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.0.needs_more_pairs())
    }

    /// Plans the same measurement with twice or half as many pairs.
    fn change_pairs(&mut self, more: bool) -> Response {
        if self.is_finished() && !self.needs_more_pairs() {
            let notice = "it is decided: more or fewer pairs change nothing".to_owned();
            return Response::request(Request::ShowNotice(notice));
        }
        let columns = self.shown.iter().flat_map(|shown| &shown.0.columns);
        let sizes: Vec<(u32, u32)> =
            columns.map(|column| (column.plan().pairs, column.log.settled_pairs())).collect();
        let planned = sizes.iter().map(|(planned, _)| *planned).max().unwrap_or(0);
        let settled = sizes.iter().map(|(_, settled)| *settled).max().unwrap_or(0);
        let wanted = if more { planned.saturating_mul(2) } else { planned / 2 };
        if wanted == 0 || wanted < settled || wanted > MAX_PAIRS {
            let notice = if more {
                format!("{MAX_PAIRS} pairs at most")
            } else {
                "fewer pairs than have been played can't be asked for".to_owned()
            };
            return Response::request(Request::ShowNotice(notice));
        }
        self.query.pairs = Some(wanted);
        self.plan_as_asked()
    }

    fn plan_as_asked(&mut self) -> Response {
        (self.shown, self.error, self.pair, self.is_refreshing) = (None, None, None, false);
        Response::request(Request::PlanEffect(self.query.clone()))
    }

    /// Takes the typed budget; an empty text is none. One that can't be read stays in its box.
    fn take_budget(&mut self, text: &str) -> Response {
        match EffectBudget::parse(text) {
            Err(refused) => Response::request(Request::ShowNotice(refused)),
            Ok(budget) => {
                self.input = None;
                self.query.budget = Some(budget);
                self.plan_as_asked()
            }
        }
    }

    /// Takes the typed wording; without one, the measurement has none.
    fn take_wording(&mut self, text: &str) -> Response {
        self.input = None;
        let pair = text.split_once("->").or_else(|| text.split_once('\u{2192}'));
        let pair = pair.map(|(mistake, solution)| (mistake.trim(), solution.trim()));
        let edited = match pair.filter(|(mistake, solution)| !mistake.is_empty() && !solution.is_empty()) {
            _ if text.is_empty() => None,
            Some((mistake, solution)) => Some(LessonText::error(mistake, solution)),
            None => Some(self.reworded(text)),
        };
        if edited == self.query.edited {
            return Response::default();
        }
        self.query.edited = edited;
        self.plan()
    }

    /// Returns the lesson with another text; of a mistake with what to do instead, only the latter is reworded.
    fn reworded(&self, text: &str) -> LessonText {
        let solution = self.lesson_text.solution.as_ref().map(|_| text.to_owned());
        match solution {
            Some(solution) => LessonText { text: self.lesson_text.text.clone(), solution: Some(solution) },
            None => LessonText::plain(text),
        }
    }
}

impl Component for EffectPanel {
    fn name(&self) -> &'static str {
        "effect"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        if self.input.is_some() { Mode::LineInput } else { Mode::Effect }
    }

    fn awaits(&self) -> Option<WorkKind> {
        let is_blank = self.shown.is_none() && self.error.is_none();
        (is_blank || self.is_refreshing).then_some(WorkKind::EffectPlan)
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        if let Some((typed, field)) = &self.input {
            match action {
                Action::Close => self.input = None,
                Action::Accept | Action::Open => {
                    let text = field.text();
                    return match typed {
                        Typed::Wording => self.take_wording(&text),
                        Typed::Budget => self.take_budget(&text),
                    };
                }
                _ => {}
            }
            return Response::default();
        }
        match action {
            Action::Close if self.pair.is_some() => self.pair = None,
            Action::Open if self.pair.is_some() => return self.open_pair(),
            Action::Open if self.is_finished() => {
                let key = |action| context.keymap.key_label_in(Mode::Effect, action).unwrap_or_default();
                let wording = key(Action::EditEffectWording);
                let more = self.key_for_more(context).map_or_else(String::new, |more| format!("{more}, "));
                let notice = format!("finished; {more}{wording} measures another wording");
                return Response::request(Request::ShowNotice(notice));
            }
            Action::Open if !self.is_running() && self.shown.is_some() => {
                (self.start, self.is_refreshing) = (Start::Begun, false);
                return Response::request(Request::RunEffect(self.query.clone()));
            }
            Action::Open if self.awaits().is_some() && calls_no_model(context) => {
                self.start = Start::WhenPlanned;
            }
            // What costs money starts only when its cost has been on the screen.
            Action::Open if self.awaits().is_some() => {
                let notice = "it isn't known yet what this costs; press again then".to_owned();
                return Response::request(Request::ShowNotice(notice));
            }
            Action::StopEffect if self.is_running() => return Response::request(Request::StopEffect),
            Action::ChangeEffectPlace if !self.is_running() => {
                if self.query.place.step.take().is_none() {
                    return Response::request(Request::ShowNotice(
                        "to measure from a moment, go to its step first".to_owned(),
                    ));
                }
                return self.plan();
            }
            Action::ChangeEffectMode if !self.is_running() => {
                self.query.live = !self.query.live;
                return self.plan();
            }
            Action::MorePairs | Action::FewerPairs if !self.is_running() => {
                return self.change_pairs(action == Action::MorePairs);
            }
            Action::EditEffectWording if !self.is_running() => {
                let present = self.query.edited.as_ref().unwrap_or(&self.lesson_text);
                self.input = Some((Typed::Wording, TextField::single_line(&describe_text(present))));
            }
            Action::EditEffectBudget if !self.is_running() && self.is_decided() => {
                let notice = "it is decided: another budget changes nothing".to_owned();
                return Response::request(Request::ShowNotice(notice));
            }
            Action::EditEffectBudget if !self.is_running() => {
                let present =
                    self.shown.as_ref().map_or_else(String::new, |shown| shown.0.budget().describe());
                self.input = Some((Typed::Budget, TextField::single_line(&present)));
            }
            Action::TakeWording if !self.is_running() => return self.take_measured_wording(),
            Action::RenewEffect if !self.can_renew() => {}
            Action::RenewEffect if !self.is_running() => {
                self.query.asked = Some(context.frame.head.asked_at(&context.frame.branch));
                self.query.place = self.present_place.unwrap_or(self.query.place);
                self.query.or_earlier = false;
                return self.plan_as_asked();
            }
            Action::ChangeEffectPlace
            | Action::ChangeEffectMode
            | Action::EditEffectWording
            | Action::TakeWording
            | Action::EditEffectBudget
            | Action::MorePairs
            | Action::FewerPairs
            | Action::RenewEffect => {
                return Response::request(Request::ShowNotice(
                    "the measurement is running; stop it to measure something else".to_owned(),
                ));
            }
            Action::NextField => return self.move_pair(1),
            Action::PreviousField => return self.move_pair(-1),
            Action::Up | Action::Down => {
                self.column = 1 - self.column.min(1);
                self.pair = None;
                self.shows_selection.set(true);
            }
            Action::Open => {}
            other => return scroll_or_close(&self.scroll, other),
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, context: &Context<'_>) -> Response {
        let is_about_it = matches!(answer, Answer::Effect(_));
        self.is_refreshing &= !is_about_it;
        if is_about_it && self.start == Start::Begun {
            self.start = Start::No;
        }
        match answer {
            Answer::Effect(Ok(progress)) if progress.0.query.answers(&self.query) => {
                self.query = progress.0.query.clone();
                let first = || (context.now, progress.0.pairs().0);
                self.first_answer = progress.0.is_running().then(|| self.first_answer.unwrap_or_else(first));
                (self.shown, self.error) = (Some(progress), None);
                // An earlier one that was found was not what the person saw.
                let is_other = self.is_running() || self.is_finished() || self.other_place().is_some();
                if std::mem::take(&mut self.start) == Start::WhenPlanned && !is_other {
                    return Response::request(Request::RunEffect(self.query.clone()));
                }
            }
            Answer::Effect(Err(error)) => {
                self.shown = self.shown.take().map(|shown| PtrEqArc(Arc::new(shown.0.stopped())));
                self.error = Some(error);
            }
            _ => {}
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        if let Some((_, field)) = &mut self.input {
            field.on_key(key);
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Some((_, field)) = &mut self.input {
            field.on_paste(text);
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.scroll.on_wheel(event);
        Response::default()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let columns = Window::inner_columns(WINDOW_COLUMNS, context, screen);
        let mut lines = if context.frame.for_audience {
            audience_lines(self, context, columns, screen.height)
        } else {
            panel_lines(self, context, columns)
        };
        let lesson = one_line(&describe_text(&self.lesson_text)).into_owned();
        let mut title = format!("Effect of lesson {}", self.lesson_number);
        // A title has one row: a longer lesson stands below it.
        if width(&title) + 2 + width(&lesson) + 4 > usize::from(columns) {
            let lesson = paragraph((Role::Muted, ""), Role::Lesson, &lesson, columns);
            lines.splice(0..0, lesson.into_iter().chain([Vec::new()]));
        } else {
            title = format!("{title}: {lesson}");
        }
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows: u16::try_from(lines.len()).unwrap_or(u16::MAX),
            columns: WINDOW_COLUMNS,
            mode: Mode::Effect,
        };
        let closing = (!self.is_running()).then_some(if self.pair.is_some() { "back" } else { "close" });
        let without_effect = self.actions_without_effect();
        let keys =
            PresentKeys { closing_label: closing, without_effect: &without_effect, ..PresentKeys::default() };
        let below = Context { is_covered: context.is_covered || self.input.is_some(), ..*context };
        let inside = window.draw_with_keys(keys, &below, screen, canvas);
        if self.shows_selection.take()
            && let Some(name) = self.selected_column().and_then(|column| column.plan().column)
        {
            let name = name.to_string().to_uppercase();
            let heading = |line: &Line| line.first().is_some_and(|(_, text)| text.trim_end() == name);
            let heading = lines.iter().position(heading).unwrap_or(0);
            // What is said of a pair begins with its number; it may need a second row.
            let pair = self.pair.map(|number| format!("pair {number} of "));
            let is_pair = |line: &Line| {
                pair.as_ref().is_some_and(|pair| line.iter().any(|(_, text)| text.starts_with(pair)))
            };
            match lines.iter().position(is_pair) {
                None => self.scroll.scroll_to(heading),
                Some(pair) => {
                    for row in [heading, pair + 1] {
                        self.scroll.reveal(row, lines.len(), usize::from(inside.height));
                    }
                }
            }
        }
        if lines.len() <= usize::from(inside.height) {
            put_lines(&lines, inside, canvas);
        } else {
            self.scroll.draw(&lines, inside, canvas);
        }
        if let Some((typed, field)) = &self.input {
            draw_input(*typed, field, context, screen, canvas);
        }
    }
}

/// Returns whether neither actor nor mentor is a model.
fn calls_no_model(context: &Context<'_>) -> bool {
    let is_model = |run: &RunSpec| {
        ModelRole::ALL.iter().any(|role| matches!(run.role_source(*role), RoleSource::Model(_)))
    };
    !context.frame.head.run.as_deref().is_some_and(is_model)
}

/// Returns a lesson's text in one line, as it is typed: `mistake -> what to do instead`.
fn describe_text(text: &LessonText) -> String {
    match &text.solution {
        Some(solution) => format!("{} -> {solution}", text.text),
        None => text.text.clone(),
    }
}

/// Preferred inner width of the box in which something is typed.
const INPUT_COLUMNS: u16 = 100;

/// Draws the box in which something is typed.
fn draw_input(typed: Typed, field: &TextField, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
    let (title, help) = match typed {
        Typed::Wording => (
            "Another wording, measured against the present one",
            "It is played as an arm of its own, `edited`. If the lesson itself helped, there is a verdict on whether this wording does better. \
             What it does compared with no lesson has an interval and no verdict. Empty: no other wording.",
        ),
        Typed::Budget => (
            "Budget of each column",
            "Amounts with commas between them, such as `10 min`, `500 calls`, `200 episodes`, `300 k tokens` or `2.50` (money, by the \
             configured prices). The first one that is reached stops it. Empty: the pairs alone.",
        ),
    };
    let help = paragraph(
        (Role::Muted, ""),
        Role::Muted,
        help,
        Window::inner_columns(INPUT_COLUMNS, context, screen),
    );
    let window = Window {
        title,
        position: WindowPosition::Middle,
        rows: help.len() as u16 + 1,
        columns: INPUT_COLUMNS,
        mode: Mode::LineInput,
    };
    let inside = window.draw(context, screen, canvas);
    let row = |n: u16| Rect { y: inside.y + n, height: u16::from(inside.height > n), ..inside };
    field.draw(true, row(0), canvas);
    let below = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
    put_lines(&help, below, canvas);
}
