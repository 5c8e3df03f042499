//! Measures a lesson: the plan with its cost, then each pair of both columns as it is played, and what they show.

use crate::domain::LessonId;
use crate::driver::measure::EpisodePlace;
use crate::report::effect::{
    describe_contrast, describe_mode, describe_panel, describe_start, describe_verdict,
};
use crate::text::width;
use crate::timeline::effect::{PairLog, Verdict};
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::effect::{EffectColumn, EffectPhase, EffectProgress, EffectQuery};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::types::{EpisodeRef, PtrEqArc, WorkKind};
use crate::ui::widget::window::{
    Line, Scroll, Window, WindowPosition, paragraph, put_lines, scroll_or_close,
};
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Preferred inner width.
const WINDOW_COLUMNS: u16 = 150;
/// The smallest width in which the columns stand side by side.
const SIDE_BY_SIDE: u16 = 100;
/// Cells between the columns.
const GAP: u16 = 3;
/// Cells for the names of the arms, and for their wins.
const NAME_CELLS: usize = 9;
const WINS_CELLS: usize = 9;

/// Overlay that measures a lesson.
pub(super) struct EffectPanel {
    query: EffectQuery,
    /// Number and text of the lesson.
    title: String,
    shown: Option<PtrEqArc<EffectProgress>>,
    /// Why there is nothing to show.
    error: Option<String>,
    /// The column with the selected pair.
    column: usize,
    /// The selected pair, by its number.
    pair: Option<u32>,
    scroll: Scroll,
}

impl EffectPanel {
    /// Creates the overlay for a lesson, with what is known of its measurement. Returns it with the request that plans the
    /// measurement, if it has to be planned.
    pub(super) fn new(
        lesson: &LessonId,
        title: String,
        place: EpisodePlace,
        known: Option<PtrEqArc<EffectProgress>>,
    ) -> (Self, Option<Request>) {
        let query = EffectQuery::new(lesson.clone(), place);
        // A running measurement of the lesson is shown wherever the person is now.
        let known = known.filter(|known| {
            let same = known.0.query.lesson == *lesson;
            same && (known.0.phase == EffectPhase::Running || known.0.query == query)
        });
        let query = known.as_ref().map_or(query, |known| known.0.query.clone());
        let request = known.is_none().then(|| Request::PlanEffect(query.clone()));
        let panel = Self {
            query,
            title,
            shown: known,
            error: None,
            column: 0,
            pair: None,
            scroll: Scroll::default(),
        };
        (panel, request)
    }

    fn is_running(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.0.phase == EffectPhase::Running)
    }

    fn selected_column(&self) -> Option<&EffectColumn> {
        self.shown.as_ref()?.0.columns.get(self.column)
    }

    /// Selects the next or previous pair of the column.
    fn move_pair(&mut self, by: i64) {
        let Some(last) = self.selected_column().map(|column| i64::from(column.log.settled_pairs())) else {
            return;
        };
        if last == 0 {
            return;
        }
        let at = self.pair.map_or(if by > 0 { 1 } else { last }, |pair| i64::from(pair) + by);
        self.pair = u32::try_from(at.clamp(1, last)).ok();
    }

    /// Opens the comparison of the selected pair, if its journals are kept.
    fn open_pair(&self) -> Response {
        let (Some(column), Some(number)) = (self.selected_column(), self.pair) else {
            return Response::default();
        };
        let is_kept = column.log.pairs().get(&number).is_some_and(PairLog::is_kept);
        if !is_kept {
            return Response::request(Request::ShowNotice(format!(
                "pair {number} ended the same way in all arms, so its journals were not kept"
            )));
        }
        let side = |arm: &str| EpisodeRef {
            session: Some(format!("{}/{number}-{arm}", column.folder)),
            title: format!("pair {number}, {arm}"),
            ..EpisodeRef::default()
        };
        let Some(contrast) = column.plan().contrasts.first() else { return Response::default() };
        Response::request(Request::CompareEpisodes { a: side(&contrast.first), b: side(&contrast.second) })
    }

    fn lines(&self, context: &Context<'_>, columns: u16) -> Vec<Line> {
        let mut lines = Vec::new();
        let Some(shown) = &self.shown else {
            let text = match &self.error {
                Some(error) => error.clone(),
                None => context.cancellable_work_text("preparing the measurement ...", WorkKind::EffectPlan),
            };
            lines.extend(paragraph((Role::Muted, ""), Role::Text, &text, columns));
            return lines;
        };
        let progress = &shown.0;
        if let Some(first) = progress.columns.first() {
            lines.extend(paragraph((Role::Muted, ""), Role::Muted, describe_mode(first.plan()), columns));
            lines.push(Vec::new());
        }
        if columns >= SIDE_BY_SIDE && progress.columns.len() == 2 {
            let each = (columns - GAP) / 2;
            let both: Vec<Vec<Line>> =
                (0..2).map(|index| self.column_lines(context, progress, index, each)).collect();
            let rows = both[0].len().max(both[1].len());
            for row in 0..rows {
                let left = both[0].get(row).cloned().unwrap_or_default();
                let used: usize = left.iter().map(|(_, text)| width(text)).sum();
                let mut line = left;
                line.push((Role::Text, " ".repeat(usize::from(each + GAP).saturating_sub(used))));
                line.extend(both[1].get(row).cloned().unwrap_or_default());
                lines.push(line);
            }
        } else {
            for index in 0..progress.columns.len() {
                lines.extend(self.column_lines(context, progress, index, columns));
                lines.push(Vec::new());
            }
        }
        if let (Some(panel), [here, elsewhere]) = (progress.panel(), progress.columns.as_slice()) {
            let sentence = describe_panel(panel, here.result.verdict(), elsewhere.result.verdict());
            lines.push(Vec::new());
            lines.extend(paragraph((Role::Muted, "together "), Role::Title, &sentence, columns));
        }
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, &self.phase_text(context), columns));
        lines
    }

    fn phase_text(&self, context: &Context<'_>) -> String {
        let key = |action| context.keymap.key_label_in(Mode::Effect, action).unwrap_or_default();
        let started = self
            .shown
            .as_ref()
            .is_some_and(|shown| shown.0.columns.iter().any(|column| column.log.totals().episodes > 0));
        match (self.is_running(), started) {
            (true, _) => format!("measuring; {} leaves it running", key(Action::Close)),
            (false, false) => format!("{} starts", key(Action::Open)),
            (false, true) => format!("{} continues, if a column isn't finished", key(Action::Open)),
        }
    }

    fn column_lines(
        &self,
        context: &Context<'_>,
        progress: &EffectProgress,
        index: usize,
        columns: u16,
    ) -> Vec<Line> {
        let Some(column) = progress.columns.get(index) else { return Vec::new() };
        let (plan, result) = (column.plan(), &column.result);
        let name = plan.column.map_or_else(String::new, |column| column.to_string());
        let lead = format!("{name:<10}");
        let role = if index == self.column { Role::Selection } else { Role::Title };
        let mut lines = paragraph((role, &lead), Role::Text, &describe_start(plan), columns);
        let settled = column.log.settled_pairs();
        if settled == 0 {
            lines.extend(paragraph((Role::Muted, ""), Role::Text, &column.cost, columns));
            if let Some(detectable) = &column.detectable {
                lines.extend(paragraph((Role::Muted, ""), Role::Muted, detectable, columns));
            }
        }
        for arm in &result.arms {
            let mut line = vec![(Role::Muted, format!("{:<NAME_CELLS$}", arm.name))];
            let room = usize::from(columns).saturating_sub(NAME_CELLS + WINS_CELLS);
            line.extend(self.dots(context, column, index, &arm.name, room));
            let used: usize = line.iter().map(|(_, text)| width(text)).sum();
            let pad = (NAME_CELLS + room).saturating_sub(used);
            let wins = format!("{} of {}", arm.won, arm.episodes);
            line.push((Role::Text, format!("{}{wins:>WINS_CELLS$}", " ".repeat(pad))));
            lines.push(line);
        }
        if let Some(fact) = &result.fact {
            let text = format!("deterministic as far as 2 repeats show: {fact}");
            lines.extend(paragraph((Role::Muted, ""), Role::Text, &text, columns));
            return lines;
        }
        for (place, contrast) in result.contrasts.iter().enumerate() {
            if contrast.judged.pairs == 0 {
                continue;
            }
            let lead = format!("{} ", contrast.judged.contrast);
            lines.extend(paragraph((Role::Muted, &lead), Role::Text, &describe_contrast(contrast), columns));
            if place == 0 || contrast.has_claim {
                let role = match contrast.judged.verdict {
                    Verdict::Helped => Role::Good,
                    Verdict::Harmful | Verdict::Inconsistent => Role::Bad,
                    Verdict::NoEffectSeen | Verdict::Undecided => Role::Text,
                };
                lines.extend(paragraph((Role::Muted, "  "), role, &describe_verdict(contrast), columns));
            }
        }
        if let Some(reason) = result.stopped {
            lines.extend(paragraph((Role::Muted, ""), Role::Muted, reason.describe(), columns));
        }
        lines
    }

    /// Returns one mark a pair: the last ones that fit, and always the selected one.
    fn dots(
        &self,
        context: &Context<'_>,
        column: &EffectColumn,
        index: usize,
        arm: &str,
        room: usize,
    ) -> Line {
        let last = column.log.settled_pairs();
        let selected = self.pair.filter(|_| index == self.column);
        let room = u32::try_from(room.saturating_sub(1)).unwrap_or(u32::MAX).max(1);
        let end = selected.map_or(last, |pair| last.min(pair.max(room)));
        let first = end.saturating_sub(room) + 1;
        let [won, lost] = context.glyphs.progress_cells;
        let mut pieces: Line = Vec::new();
        for number in first..=end {
            let counts = column.log.discarded(number).is_none();
            let pair = column.log.pairs().get(&number).filter(|_| counts);
            let episode = pair.and_then(|pair| pair.episode(arm, 1));
            let (text, role) = match episode {
                Some(episode) if episode.won => (won, Role::Good),
                Some(_) => (lost, Role::Muted),
                None => (" ", Role::Muted),
            };
            let role = if selected == Some(number) { Role::Selection } else { role };
            match pieces.last_mut() {
                Some((last, texts)) if *last == role => texts.push_str(text),
                _ => pieces.push((role, text.to_owned())),
            }
        }
        pieces
    }
}

impl Component for EffectPanel {
    fn name(&self) -> &'static str {
        "effect"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::Effect
    }

    fn awaits(&self) -> Option<WorkKind> {
        (self.shown.is_none() && self.error.is_none()).then_some(WorkKind::EffectPlan)
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close if self.pair.is_some() => self.pair = None,
            Action::Open if self.pair.is_some() => return self.open_pair(),
            Action::Open if !self.is_running() && self.shown.is_some() => {
                return Response::request(Request::RunEffect(self.query.clone()));
            }
            Action::StopEffect if self.is_running() => return Response::request(Request::StopEffect),
            Action::ChangeEffectPlace if !self.is_running() => {
                self.query.place = match self.query.place {
                    EpisodePlace::Start => {
                        return Response::request(Request::ShowNotice(
                            "to measure from a moment, go to its step first".to_owned(),
                        ));
                    }
                    EpisodePlace::Step(_) => EpisodePlace::Start,
                };
                self.shown = None;
                return Response::request(Request::PlanEffect(self.query.clone()));
            }
            Action::NextField => self.move_pair(1),
            Action::PreviousField => self.move_pair(-1),
            Action::Up | Action::Down => {
                self.column = 1 - self.column.min(1);
                self.pair = None;
            }
            Action::Open => {}
            other => return scroll_or_close(&self.scroll, other),
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        match answer {
            Answer::Effect(Ok(progress)) if progress.0.query == self.query => self.shown = Some(progress),
            Answer::Effect(Err(error)) => {
                self.shown = self.shown.take().map(|shown| PtrEqArc(Arc::new(shown.0.stopped())));
                self.error = Some(error);
            }
            _ => {}
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.scroll.on_wheel(event);
        Response::default()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let columns = WINDOW_COLUMNS.min(screen.width.saturating_sub(4));
        let lines = self.lines(context, columns);
        let window = Window {
            title: &self.title,
            position: WindowPosition::Middle,
            rows: u16::try_from(lines.len()).unwrap_or(u16::MAX),
            columns: WINDOW_COLUMNS,
            mode: Mode::Effect,
        };
        let inside = window.draw(context, screen, canvas);
        if lines.len() <= usize::from(inside.height) {
            put_lines(&lines, inside, canvas);
        } else {
            self.scroll.draw(&lines, inside, canvas);
        }
    }
}
