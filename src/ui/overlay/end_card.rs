//! The end card: how the episode ended, and what to do next.

mod facts;

use crate::catalog::{LessonReader, what_follows};
use crate::domain::{BranchId, EpisodeSummary, Lesson, LessonId, LessonOrigin, LessonText, RunSpec};
use crate::engine::{Episode, State};
use crate::text::{one_line, truncate};
use crate::ui::branches::BranchInfo;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::facts::{first_mistake, is_same_task};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::layout::rows_of_wide_timeline;
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::types::WorkKind;
use crate::ui::widget::list_index::{clamped_index, row_delta};
use crate::ui::widget::window::{Line, MouseTarget, PresentKeys, Scroll, Window, WindowPosition};
use crossterm::event::{KeyEvent, MouseEvent};
use facts::{OtherPlay, fact_lines};
use ratatui::layout::Rect;

/// Preferred inner width.
const WINDOW_COLUMNS: u16 = 76;
/// Columns before a choice: the mark and the key.
const KEY_COLUMNS: usize = 5;
/// Choices after a won episode, the preselected one first. The last one restarts an episode, so that holding Enter
/// down never does.
const AFTER_WIN: [Action; 7] = [
    Action::NextTask,
    Action::Compare,
    Action::MeasureEffect,
    Action::Export,
    Action::LastProgress,
    Action::AddLesson,
    Action::PlayAgain,
];
/// Choices after a lost episode: first those that help to find out why.
const AFTER_LOSS: [Action; 7] = [
    Action::LastProgress,
    Action::AddLesson,
    Action::MeasureEffect,
    Action::Compare,
    Action::NextTask,
    Action::Export,
    Action::PlayAgain,
];

/// Returns the label of a choice; those of `NextTask` and `PlayAgain` depend on the run.
fn choice_label(action: Action) -> &'static str {
    match action {
        Action::LastProgress => "go to the last step with progress",
        Action::Compare => "compare both plays step by step",
        Action::MeasureEffect => "measure whether a lesson helps",
        Action::AddLesson => "add a lesson",
        Action::Export => "export a report",
        _ => "play this task again",
    }
}

/// End card of the episode on screen.
#[derive(Default)]
pub(super) struct EndCard {
    selected: usize,
    /// The lesson to be measured that a person has selected, in its lane or here.
    lesson: Option<LessonId>,
    /// The branch that the one on screen was forked from, if that was during the parent's last ended episode.
    parent: Option<BranchInfo>,
    fact_scroll: Scroll,
    choice_scroll: Scroll,
}

/// Returns the label for replaying the task, with the number of the new trial.
fn retry_label(state: &State, episode: &Episode) -> String {
    let next = state.next_trial(&episode.task);
    let listed = |run: &RunSpec| run.tasks.iter().filter(|t| is_same_task(t, &episode.task)).count() as u32;
    let trials = state.run.as_deref().map_or(1, |run| run.trials.max(listed(run)));
    if next > trials {
        return format!("play this task again: trial {next}, beyond the planned {trials}");
    }
    format!("play this task again: trial {next} of {trials}")
}

/// Returns whether the episode on screen isn't the run's latest one.
fn is_earlier_episode(context: &Context<'_>) -> bool {
    let latest = context.frame.head.episode.as_ref().map(|e| e.number);
    context.episode().map(|e| e.number) != latest
}

/// Returns whether the session is on a branch that another one can be compared with.
fn is_forked(context: &Context<'_>) -> bool {
    context.frame.branch != BranchId::trunk() && !context.is_read_only()
}

/// Handles an action that isn't one of the card's choices: runs it if it only inspects, else shows why it can't run.
fn pass_through(action: Action, context: &Context<'_>) -> Response {
    use Action as A;
    let notice = |words: String| Response::request(Request::ShowNotice(words));
    match action {
        // These open above the card, which stays open.
        A::Help
        | A::Prompt
        | A::PromptPreview
        | A::EpisodeList
        | A::Breakpoints
        | A::Branches
        | A::Compare
        | A::MeasureEffect
        | A::LessonHealth
        | A::SearchPicture
        | A::FilterMarks
        | A::ShowDetails
        | A::Remark
        | A::EditLesson
        | A::LessonFromOverride
        | A::ChangeModel
        | A::Summary
        | A::Fork
        | A::NextTheme
        | A::ToggleMouse
        | A::Copy => Response::request(Request::RunAction(action)),
        // These need the panes under the card, so the card closes.
        A::FirstMistake if context.episode().and_then(first_mistake).is_some() => {
            Response::request_and_close(Request::RunAction(action))
        }
        A::FirstMistake => notice("no mistake was found in this episode".to_owned()),
        A::Palette
        | A::Search
        | A::Back
        | A::Forward
        | A::PreviousMark
        | A::NextMark
        | A::PreviousEpisode
        | A::NextEpisode
        | A::NextPane
        | A::PreviousPane
        | A::Pane(_)
        | A::Zoom
        | A::NextArrangement
        | A::ToggleTruth
        | A::ToggleReasoning => Response::request_and_close(Request::RunAction(action)),
        // Read-only: the main screen shows how to continue.
        A::PlayAgain | A::NextTask | A::AddLesson if context.is_read_only() => {
            Response::request(Request::RunAction(action))
        }
        A::NextTask | A::Step | A::PlayAgain if is_earlier_episode(context) => {
            notice("not at the end of an earlier episode; go to the present first".to_owned())
        }
        A::NextTask | A::Step | A::PlayAgain if context.frame.head.awaits_mentor_or_job() => {
            let key = context.keymap.key_label_in(Mode::EndCard, A::Close).unwrap_or_default();
            notice(format!(
                "a call after this episode is unfinished; {key} closes this card, the keys are below the last step"
            ))
        }
        A::NextTask | A::Step if context.frame.head.run_over => {
            notice("the run has ended: no task left".to_owned())
        }
        A::NextTask | A::Step => notice("no task left in this run".to_owned()),
        // The choice is missing if the last step made progress.
        A::LastProgress => notice(match context.episode().map_or(0, |e| e.progress_step) {
            0 => "no progress in this episode".to_owned(),
            step => format!("the last progress is that of step {step}, the last one: it is on the screen"),
        }),
        A::EndCard => Response::default(),
        _ => {
            let key = context.keymap.key_label_in(Mode::EndCard, A::Close).unwrap_or_default();
            notice(format!("`{}` isn't available here; {key} closes this card", action.name()))
        }
    }
}

impl EndCard {
    /// Creates the card. `lesson` is the one that is selected in its lane.
    pub(super) fn new(lesson: Option<LessonId>, branches: &[BranchInfo], context: &Context<'_>) -> Self {
        let mut card = Self { lesson, ..Self::default() };
        card.find_parent(branches, context);
        card
    }

    /// Finds the play that the branch on screen was forked from.
    fn find_parent(&mut self, branches: &[BranchInfo], context: &Context<'_>) {
        let find = |id: &BranchId| branches.iter().find(|branch| branch.id == *id);
        self.parent = find(&context.frame.branch).and_then(|branch| {
            let is_forked_in =
                |play: &EpisodeSummary| (play.seq_range.0..play.seq_range.1).contains(&branch.fork_seq.0);
            let parent = find(branch.parent.as_ref()?)?;
            parent.last.as_deref().is_some_and(is_forked_in).then(|| parent.clone())
        });
    }

    /// Returns the lessons that can be measured, those that the agent's prompts show, in the order of their numbers, and the place of
    /// the one that will be: the selected one, else the best one. A lesson that a person has taught is better than another one; then
    /// one that the built-in rules don't ignore, since it would be measured in vain; then one that a prompt has shown; then a newer one.
    fn measurable<'a>(&self, context: &Context<'a>) -> Option<(Vec<&'a Lesson>, usize)> {
        let is_shown = |lesson: &&Lesson| {
            lesson.is_active() && context.lesson_reader(lesson.kind) == LessonReader::Actor
        };
        let lessons: Vec<&Lesson> = context.frame.head.pool.all().filter(is_shown).collect();
        let selected = lessons.iter().position(|lesson| Some(&lesson.id) == self.lesson.as_ref());
        let rank = |(place, lesson): &(usize, &&Lesson)| {
            let is_taught = lesson.origin == LessonOrigin::Person;
            (is_taught, !context.is_ignored_lesson(lesson), is_taught && lesson.uses > 0, *place)
        };
        let best = || lessons.iter().enumerate().max_by_key(rank).map(|(place, _)| place);
        let place = selected.or_else(best)?;
        Some((lessons, place))
    }

    /// Selects the lesson after or before the one that would be measured; after the last one comes the first.
    fn select_lesson(&mut self, forward: bool, context: &Context<'_>) {
        let Some((lessons, place)) = self.measurable(context) else { return };
        let by = if forward { 1 } else { lessons.len() - 1 };
        self.lesson = lessons.get((place + by) % lessons.len()).map(|lesson| lesson.id.clone());
    }

    /// Returns whether the arrows select another lesson: where its row is selected, there are several, and none is being measured.
    fn can_select_lesson(&self, context: &Context<'_>) -> bool {
        let is_selected = self.choices(context).get(self.selected) == Some(&Action::MeasureEffect);
        let several = self.measurable(context).is_some_and(|(lessons, _)| lessons.len() > 1);
        is_selected && several && context.frame.work(WorkKind::Effect).is_none()
    }

    fn ended_episode<'a>(context: &Context<'a>) -> Option<(&'a Episode, &'a EpisodeSummary)> {
        let episode = context.episode()?;
        Some((episode, episode.outcome.as_deref()?))
    }

    /// Returns the available choices: a next task only if one is left, the last progress only if there was some, a
    /// measurement only if there is a lesson, in read-only sessions nothing that needs a driver (the task is played again in
    /// a new session), and at an earlier episode nothing that belongs to the run's present.
    fn choices(&self, context: &Context<'_>) -> Vec<Action> {
        // Of an episode whose last step made progress, that step is on the screen already.
        let progress = context
            .episode()
            .is_some_and(|e| (1..e.last_step().map_or(0, |step| step.number)).contains(&e.progress_step));
        let can = |action: &Action| match action {
            // In a read-only session, it is played in a session of its own.
            Action::PlayAgain if context.is_read_only() => true,
            Action::PlayAgain | Action::NextTask if is_earlier_episode(context) => false,
            Action::NextTask | Action::AddLesson if context.is_read_only() => false,
            // First a person decides about what was cancelled or has failed.
            Action::PlayAgain | Action::NextTask if context.frame.head.awaits_mentor_or_job() => false,
            Action::NextTask => what_follows(&context.frame.head).is_some(),
            Action::LastProgress => progress,
            Action::Compare => self.compare_request(context).is_some() || is_forked(context),
            // One that was taught since the end is measured here too.
            Action::MeasureEffect => {
                let pools = [&context.displayed_state().pool, &context.frame.head.pool];
                pools.into_iter().any(|pool| pool.all().any(Lesson::is_active))
            }
            _ => true,
        };
        let won = Self::ended_episode(context).is_some_and(|(_, outcome)| outcome.won);
        let choices = if won { AFTER_WIN } else { AFTER_LOSS };
        choices.into_iter().filter(can).collect()
    }

    /// Returns the request that compares the episode with the other play of its task.
    fn compare_request(&self, context: &Context<'_>) -> Option<Request> {
        let (episode, _) = Self::ended_episode(context)?;
        let other = OtherPlay::find(episode, self.parent.as_ref(), context)?;
        Some(Request::CompareWith(other.reference))
    }

    /// Performs one of the choices. Comparison and measurement open above the card, which stays open; all others close it.
    fn perform(&self, action: Action, context: &Context<'_>) -> Response {
        let measured = self.measurable(context).filter(|_| context.frame.work(WorkKind::Effect).is_none());
        if let Some((lessons, place)) = measured.filter(|_| action == Action::MeasureEffect) {
            return Response::request(Request::MeasureLesson(lessons[place].id.clone()));
        }
        match self.compare_request(context).filter(|_| action == Action::Compare) {
            Some(request) => Response::request(request),
            None if matches!(action, Action::MeasureEffect | Action::Compare) => {
                Response::request(Request::RunAction(action))
            }
            None if action == Action::PlayAgain && context.is_read_only() => context
                .episode()
                .map_or_else(Response::close, |e| Response::request(Request::Rerun(e.number))),
            None => Response::request_and_close(Request::RunAction(action)),
        }
    }

    fn fact_rows(&self, context: &Context<'_>, columns: u16) -> Vec<Line> {
        let Some((episode, outcome)) = Self::ended_episode(context) else { return Vec::new() };
        fact_lines(episode, outcome, self.parent.as_ref(), context, columns)
    }

    /// Says which lesson is measured. In a narrow card, its words have most of the room.
    fn measure_label(&self, context: &Context<'_>, columns: usize) -> String {
        const COLUMNS_OF_LONG_LABEL: usize = 60;
        if context.frame.work(WorkKind::Effect).is_some() {
            return "show the measurement that is running".to_owned();
        }
        let Some((lessons, place)) = self.measurable(context) else {
            return choice_label(Action::MeasureEffect).to_owned();
        };
        let lesson = lessons[place];
        let number = lesson.number;
        let LessonText { text, solution } = lesson.text();
        let solution =
            solution.as_ref().map_or_else(String::new, |s| format!(" {} {s}", context.glyphs.solution));
        let label = if columns < COLUMNS_OF_LONG_LABEL {
            format!("measure lesson {number}: {text}{solution}")
        } else {
            format!("measure whether lesson {number} helps: {text}{solution}")
        };
        truncate(&one_line(&label), columns, context.glyphs.ellipsis)
    }

    fn choice_row(&self, context: &Context<'_>, place: usize, action: Action, columns: u16) -> Line {
        let here = place == self.selected;
        let (mark, role) = if here { (context.glyphs.proposal, Role::Selection) } else { (" ", Role::Text) };
        let key = context.keymap.key_label_in(Mode::EndCard, action).unwrap_or_default();
        let head = &context.frame.head;
        let words = match context.episode().filter(|_| action == Action::PlayAgain) {
            Some(_) if context.is_read_only() => "play this task in a session of your own".to_owned(),
            Some(episode) => retry_label(head, episode),
            None if action == Action::Compare && self.compare_request(context).is_none() => {
                "compare with another branch".to_owned()
            }
            None if action == Action::NextTask => {
                format!("continue with the {}", what_follows(head).unwrap_or("next task"))
            }
            None if action == Action::MeasureEffect => {
                self.measure_label(context, usize::from(columns).saturating_sub(KEY_COLUMNS))
            }
            None => choice_label(action).to_owned(),
        };
        vec![(Role::Proposal, format!("{mark} ")), (Role::Key, format!("{key:<3}")), (role, words)]
    }

    /// Returns the part of the screen above the Time pane, which stays visible where there is room.
    fn area_above_timeline(context: &Context<'_>, screen: Rect) -> Rect {
        let below = if context.frame.for_audience { 0 } else { rows_of_wide_timeline(screen.height) };
        Rect { height: screen.height - below, ..screen }
    }

    /// Returns the preferred number of rows.
    fn needed_rows(&self, context: &Context<'_>, screen: Rect) -> u16 {
        let facts = self.fact_rows(context, Window::inner_columns(WINDOW_COLUMNS, context, screen));
        (facts.len() + 1 + self.choices(context).len()) as u16
    }
}

impl Component for EndCard {
    fn name(&self) -> &'static str {
        "end"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::EndCard
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        let choices = self.choices(context);
        match action {
            Action::Close => return Response::close(),
            Action::PageDown => self.fact_scroll.scroll_pages(1),
            Action::PageUp => self.fact_scroll.scroll_pages(-1),
            Action::Open | Action::Accept => {
                let chosen = choices.get(self.selected);
                return chosen.map_or_else(Response::close, |action| self.perform(*action, context));
            }
            _ if choices.contains(&action) => return self.perform(action, context),
            Action::Back | Action::Forward if self.can_select_lesson(context) => {
                self.select_lesson(action == Action::Forward, context);
            }
            other => match row_delta(other, 1) {
                Some(by) => {
                    self.selected = clamped_index(self.selected, by, choices.len());
                }
                None => return pass_through(other, context),
            },
        }
        Response::default()
    }

    /// Handles keys that are bound on the main screen only.
    fn on_key(&mut self, key: KeyEvent, context: &Context<'_>) -> Response {
        context
            .keymap
            .action_for(Mode::Main, key)
            .map_or_else(Response::default, |action| pass_through(action, context))
    }

    fn on_mouse(&mut self, event: MouseEvent, context: &Context<'_>) -> Response {
        let count = self.choices(context).len();
        match self.choice_scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) => self.selected = row,
            Some(MouseTarget::Wheel(by)) => {
                self.selected = clamped_index(self.selected, by, count);
            }
            None => {}
        }
        Response::default()
    }

    /// Takes the branches, which may be read after the card has opened.
    fn on_answer(&mut self, answer: Answer, context: &Context<'_>) -> Response {
        if let Answer::Branches(Ok(branches)) = answer {
            self.find_parent(&branches, context);
        }
        Response::default()
    }

    fn is_stale(&self, context: &Context<'_>) -> bool {
        Self::ended_episode(context).is_none()
    }

    fn rows_covered(&self, context: &Context<'_>, screen: Rect) -> u16 {
        let above = Self::area_above_timeline(context, screen);
        screen.height - above.height + Window::rows_covered(self.needed_rows(context, above), above)
    }

    fn columns_covered(&self, context: &Context<'_>, screen: Rect) -> (u16, u16) {
        Window::columns_covered(WINDOW_COLUMNS, context, screen)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let Some((episode, _)) = Self::ended_episode(context) else { return };
        let screen = Self::area_above_timeline(context, screen);
        let title = format!("Episode {} ended", episode.number);
        let window = Window {
            title: &title,
            position: WindowPosition::Bottom,
            rows: self.needed_rows(context, screen),
            columns: WINDOW_COLUMNS,
            mode: Mode::EndCard,
        };
        let without_effect: &[Action] =
            if self.can_select_lesson(context) { &[] } else { &[Action::Forward] };
        let keys = PresentKeys { without_effect, ..PresentKeys::default() };
        let inside = window.draw_with_keys(keys, context, screen, canvas);
        let (facts, choices) = (self.fact_rows(context, inside.width), self.choices(context));
        // The choices are always shown completely; the facts scroll in the rows that are left.
        let below = (choices.len() as u16).min(inside.height.saturating_sub(1).max(1));
        let room = inside.height.saturating_sub(below);
        let gap = u16::from(room > facts.len() as u16);
        self.fact_scroll.draw(&facts, Rect { height: room - gap, ..inside }, canvas);
        let list = Rect { y: inside.y + room, height: below.min(inside.height), ..inside };
        self.choice_scroll.draw_list(self.selected, choices.len(), list, canvas, |place| {
            choices.get(place).map_or_else(Vec::new, |c| self.choice_row(context, place, *c, list.width))
        });
    }
}
