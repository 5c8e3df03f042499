//! How the episode ended, and what to do now.

mod facts;

use super::window::{Line, MouseTarget, Scroll, Window, WindowPosition};
use super::{Overlay, Response, clamped_index, row_delta};
use crate::domain::{EpisodeRole, EpisodeSummary, RunSpec, Task};
use crate::engine::{Episode, State};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use facts::fact_lines;
use ratatui::layout::Rect;

/// Columns it would like inside.
const WINDOW_COLUMNS: u16 = 76;
/// What Enter takes at first only goes on with what is due, or looks back: whoever holds the key down begins nothing anew.
const CHOICES: [(Action, &str); 5] = [
    (Action::NextTask, "go on with the next task"),
    (Action::LastProgress, "go to the last turn that made progress"),
    (Action::AddLesson, "teach a lesson"),
    (Action::Export, "write a report"),
    (Action::PlayAgain, "play this task again"),
];

/// The card of the last episode.
#[derive(Default)]
pub struct EndCard {
    selected: usize,
    /// Of what is told.
    fact_scroll: Scroll,
    /// Of what can be done, which stands below it.
    choice_scroll: Scroll,
}

fn is_same_task(a: &Task, b: &Task) -> bool {
    a.id == b.id && a.env == b.env && a.seed == b.seed
}

/// Which trial it is to play the task again, in words.
fn retry_label(state: &State, episode: &Episode) -> String {
    let next = episode.trial + 1;
    let listed = |run: &RunSpec| run.tasks.iter().filter(|t| is_same_task(t, &episode.task)).count() as u32;
    let trials = state.run.as_deref().map_or(1, |run| run.trials.max(listed(run)));
    if next > trials {
        return format!("play this task again: a trial beyond the run's {trials}");
    }
    format!("play this task again: trial {next} of {trials}")
}

/// The run has not ended, and one of its tasks is still to be played, as the agenda of the methods has it.
pub(crate) fn has_remaining_task(state: &State) -> bool {
    let Some(run) = state.run.as_deref().filter(|_| !state.run_over) else { return false };
    run.tasks.iter().any(|task| {
        let played = || {
            state.ended_episodes.iter().filter(|p| p.role == EpisodeRole::Test && is_same_task(&p.task, task))
        };
        if run.trials > 1 {
            return played().count() < run.trials as usize && !played().any(|p| p.won);
        }
        played().count() < run.tasks.iter().filter(|other| is_same_task(other, task)).count()
    })
}

/// What becomes of an action that is none of the card's choices: it only looks, or why it cannot be.
fn pass_through(action: Action, look: &Context<'_>) -> Response {
    use Action as A;
    let say = |words: String| Response::request(Request::ShowNotice(words));
    match action {
        // To be read and left again, with the card still there.
        A::Help
        | A::Prompt
        | A::PromptPreview
        | A::EpisodeList
        | A::Breakpoints
        | A::Branches
        | A::Compare
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
        // What lies under the card is to be seen.
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
        // The session is only looked at: the screen says how it goes on.
        A::PlayAgain | A::NextTask | A::AddLesson if look.is_read_only() => {
            Response::request(Request::RunAction(action))
        }
        A::NextTask | A::Step if look.frame.head.run_over => {
            say("the run is over: no task is left".to_owned())
        }
        A::NextTask | A::Step => say("no task of the run is left".to_owned()),
        A::LastProgress => say("no turn of this episode made progress".to_owned()),
        A::EndCard => Response::default(),
        _ => {
            let key = look.keymap.key_label_in(Mode::EndCard, A::Close).unwrap_or_default();
            say(format!("`{}` is not done from this card; {key} closes it", action.name()))
        }
    }
}

impl EndCard {
    fn ended_episode<'a>(look: &Context<'a>) -> Option<(&'a Episode, &'a EpisodeSummary)> {
        let episode = look.frame.head.episode.as_deref()?;
        Some((episode, episode.outcome.as_deref()?))
    }

    /// What can be done now: no next task where none is left, no progress to go to where none was made, and nothing
    /// that needs a driver where the session is only looked at.
    fn choices(look: &Context<'_>) -> Vec<(Action, &'static str)> {
        let progress = look.frame.head.episode.as_ref().is_some_and(|e| e.progress_step > 0);
        let can = |action| match action {
            Action::PlayAgain | Action::NextTask | Action::AddLesson if look.is_read_only() => false,
            Action::NextTask => has_remaining_task(&look.frame.head),
            Action::LastProgress => progress,
            _ => true,
        };
        CHOICES.into_iter().filter(|(a, _)| can(*a)).collect()
    }

    fn fact_rows(look: &Context<'_>, columns: u16) -> Vec<Line> {
        Self::ended_episode(look)
            .map_or_else(Vec::new, |(episode, outcome)| fact_lines(episode, outcome, look, columns))
    }

    fn choice_row(&self, look: &Context<'_>, place: usize, (action, words): (Action, &str)) -> Line {
        let here = place == self.selected;
        let (mark, role) = if here { (look.glyphs.proposal, Role::Selection) } else { (" ", Role::Text) };
        let key = look.keymap.key_label_in(Mode::EndCard, action).unwrap_or_default();
        let head = &look.frame.head;
        let words = match head.episode.as_deref().filter(|_| action == Action::PlayAgain) {
            Some(episode) => retry_label(head, episode),
            None => words.to_owned(),
        };
        vec![(Role::Proposal, format!("{mark} ")), (Role::Key, format!("{key:<3}")), (role, words)]
    }

    /// The rows it would like.
    fn needed_rows(look: &Context<'_>, screen: Rect) -> u16 {
        let facts = Self::fact_rows(look, WINDOW_COLUMNS.min(screen.width.saturating_sub(4)));
        (facts.len() + 1 + Self::choices(look).len()) as u16
    }
}

impl Overlay for EndCard {
    fn name(&self) -> &'static str {
        "end"
    }

    fn mode(&self) -> Mode {
        Mode::EndCard
    }

    fn on_action(&mut self, action: Action, look: &Context<'_>) -> Response {
        let choices = Self::choices(look);
        match action {
            Action::Close => return Response::close(),
            Action::PageDown => self.fact_scroll.scroll_pages(1),
            Action::PageUp => self.fact_scroll.scroll_pages(-1),
            Action::Open | Action::Accept => {
                let chosen = choices.get(self.selected);
                return chosen.map_or_else(Response::close, |(a, _)| {
                    Response::request_and_close(Request::RunAction(*a))
                });
            }
            _ if choices.iter().any(|(a, _)| *a == action) => {
                return Response::request_and_close(Request::RunAction(action));
            }
            other => match row_delta(other, 1) {
                Some(by) => {
                    self.selected = clamped_index(self.selected, by, choices.len());
                }
                None => return pass_through(other, look),
            },
        }
        Response::default()
    }

    /// A key that means something on the main screen alone.
    fn on_key(&mut self, key: KeyEvent, look: &Context<'_>) -> Response {
        look.keymap
            .action_for(Mode::Main, key)
            .map_or_else(Response::default, |action| pass_through(action, look))
    }

    fn on_mouse(&mut self, event: MouseEvent, look: &Context<'_>) -> Response {
        let count = Self::choices(look).len();
        match self.choice_scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) => self.selected = row,
            Some(MouseTarget::Wheel(by)) => {
                self.selected = clamped_index(self.selected, by, count);
            }
            None => {}
        }
        Response::default()
    }

    fn is_stale(&self, look: &Context<'_>) -> bool {
        Self::ended_episode(look).is_none()
    }

    fn rows_covered(&self, look: &Context<'_>, screen: Rect) -> u16 {
        Window::rows_covered(Self::needed_rows(look, screen), screen)
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let Some((episode, _)) = Self::ended_episode(look) else { return };
        let title = format!("Episode {} is over", episode.number);
        let window = Window {
            title: &title,
            position: WindowPosition::Bottom,
            rows: Self::needed_rows(look, screen),
            columns: WINDOW_COLUMNS,
            mode: Mode::EndCard,
        };
        let inside = window.draw(look, screen, canvas);
        let (facts, choices) = (Self::fact_rows(look, inside.width), Self::choices(look));
        // What can be done is there as a whole; what is told scrolls in the rows that are left.
        let below = (choices.len() as u16).min(inside.height.saturating_sub(1).max(1));
        let room = inside.height.saturating_sub(below);
        let gap = u16::from(room > facts.len() as u16);
        self.fact_scroll.draw(&facts, Rect { height: room - gap, ..inside }, canvas);
        let list = Rect { y: inside.y + room, height: below.min(inside.height), ..inside };
        self.choice_scroll.draw_list(self.selected, choices.len(), list, canvas, |place| {
            choices.get(place).map_or_else(Vec::new, |c| self.choice_row(look, place, *c))
        });
    }
}
