//! How the episode ended, and what to do now.

mod facts;

use super::window::{Line, Place, Pointed, Scroll, Window};
use super::{Overlay, Response, moved, stepped};
use crate::domain::{EpisodeRole, EpisodeSummary, RunSpec, Task};
use crate::engine::{Episode, State};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use facts::facts;
use ratatui::layout::Rect;

/// Columns it would like inside.
const COLUMNS: u16 = 76;
/// What Enter takes at first only goes on with what is due, or looks back: whoever holds the key down begins nothing anew.
const CHOICES: [(Action, &str); 5] = [
    (Action::NextTask, "go on with the next task"),
    (Action::LastProgress, "go to the last turn that made progress"),
    (Action::AddLesson, "teach a lesson"),
    (Action::Export, "write a report"),
    (Action::Again, "play this task again"),
];

/// The card of the last episode.
#[derive(Default)]
pub struct EndCard {
    chosen: usize,
    /// Of what is told.
    scroll: Scroll,
    /// Of what can be done, which stands below it.
    list: Scroll,
}

fn same(a: &Task, b: &Task) -> bool {
    a.id == b.id && a.env == b.env && a.seed == b.seed
}

/// Which trial it is to play the task again, in words.
fn again(state: &State, episode: &Episode) -> String {
    let next = episode.trial + 1;
    let listed = |run: &RunSpec| run.tasks.iter().filter(|t| same(t, &episode.task)).count() as u32;
    let trials = state.run.as_deref().map_or(1, |run| run.trials.max(listed(run)));
    if next > trials {
        return format!("play this task again: a trial beyond the run's {trials}");
    }
    format!("play this task again: trial {next} of {trials}")
}

/// The run has not ended, and one of its tasks is still to be played, as the agenda of the methods has it.
pub(crate) fn task_left(state: &State) -> bool {
    let Some(run) = state.run.as_deref().filter(|_| !state.run_over) else { return false };
    run.tasks.iter().any(|task| {
        let played =
            || state.ended_episodes.iter().filter(|p| p.role == EpisodeRole::Test && same(&p.task, task));
        if run.trials > 1 {
            return played().count() < run.trials as usize && !played().any(|p| p.won);
        }
        played().count() < run.tasks.iter().filter(|other| same(other, task)).count()
    })
}

/// What becomes of an action that is none of the card's choices: it only looks, or why it cannot be.
fn through(action: Action, look: &Context<'_>) -> Response {
    use Action as A;
    let say = |words: String| Response::want(Request::Say(words));
    match action {
        // To be read and left again, with the card still there.
        A::Help
        | A::Prompt
        | A::Preview
        | A::Tasks
        | A::Breaks
        | A::Branches
        | A::Compare
        | A::Marks
        | A::Inspect
        | A::Remark
        | A::EditLesson
        | A::LessonFromOverride
        | A::Model
        | A::Summary
        | A::Fork
        | A::Theme
        | A::Mouse
        | A::Copy => Response::want(Request::Do(action)),
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
        | A::Arrange
        | A::Truth
        | A::Reasoning => Response::done(Request::Do(action)),
        // The session is only looked at: the screen says how it goes on.
        A::Again | A::NextTask | A::AddLesson if look.reading() => Response::want(Request::Do(action)),
        A::NextTask | A::Step if look.moment.head.run_over => {
            say("the run is over: no task is left".to_owned())
        }
        A::NextTask | A::Step => say("no task of the run is left".to_owned()),
        A::LastProgress => say("no turn of this episode made progress".to_owned()),
        A::EndCard => Response::default(),
        _ => {
            let key = look.keymap.label_in(Mode::End, A::Close).unwrap_or_default();
            say(format!("`{}` is not done from this card; {key} closes it", action.name()))
        }
    }
}

impl EndCard {
    fn ended<'a>(look: &Context<'a>) -> Option<(&'a Episode, &'a EpisodeSummary)> {
        let episode = look.moment.head.episode.as_deref()?;
        Some((episode, episode.outcome.as_deref()?))
    }

    /// What can be done now: no next task where none is left, no progress to go to where none was made, and nothing
    /// that needs a driver where the session is only looked at.
    fn choices(look: &Context<'_>) -> Vec<(Action, &'static str)> {
        let progress = look.moment.head.episode.as_ref().is_some_and(|e| e.progress_step > 0);
        let can = |action| match action {
            Action::Again | Action::NextTask | Action::AddLesson if look.reading() => false,
            Action::NextTask => task_left(&look.moment.head),
            Action::LastProgress => progress,
            _ => true,
        };
        CHOICES.into_iter().filter(|(a, _)| can(*a)).collect()
    }

    fn facts(look: &Context<'_>, columns: u16) -> Vec<Line> {
        Self::ended(look).map_or_else(Vec::new, |(episode, outcome)| facts(episode, outcome, look, columns))
    }

    fn choice(&self, look: &Context<'_>, place: usize, (action, words): (Action, &str)) -> Line {
        let here = place == self.chosen;
        let (mark, role) = if here { (look.glyphs.proposal, Role::Chosen) } else { (" ", Role::Text) };
        let key = look.keymap.label_in(Mode::End, action).unwrap_or_default();
        let head = &look.moment.head;
        let words = match head.episode.as_deref().filter(|_| action == Action::Again) {
            Some(episode) => again(head, episode),
            None => words.to_owned(),
        };
        vec![(Role::Proposal, format!("{mark} ")), (Role::Key, format!("{key:<3}")), (role, words)]
    }

    /// The rows it would like.
    fn rows(look: &Context<'_>, screen: Rect) -> u16 {
        let facts = Self::facts(look, COLUMNS.min(screen.width.saturating_sub(4)));
        (facts.len() + 1 + Self::choices(look).len()) as u16
    }
}

impl Overlay for EndCard {
    fn name(&self) -> &'static str {
        "end"
    }

    fn mode(&self) -> Mode {
        Mode::End
    }

    fn act(&mut self, action: Action, look: &Context<'_>) -> Response {
        let choices = Self::choices(look);
        match action {
            Action::Close => return Response::close(),
            Action::PageDown => self.scroll.pages(1),
            Action::PageUp => self.scroll.pages(-1),
            Action::Open | Action::Accept => {
                let chosen = choices.get(self.chosen);
                return chosen.map_or_else(Response::close, |(a, _)| Response::done(Request::Do(*a)));
            }
            _ if choices.iter().any(|(a, _)| *a == action) => return Response::done(Request::Do(action)),
            other => match moved(other, 1) {
                Some(by) => {
                    self.chosen = stepped(self.chosen, by, choices.len());
                }
                None => return through(other, look),
            },
        }
        Response::default()
    }

    /// A key that means something on the main screen alone.
    fn key(&mut self, key: KeyEvent, look: &Context<'_>) -> Response {
        look.keymap.find(Mode::Main, key).map_or_else(Response::default, |action| through(action, look))
    }

    fn mouse(&mut self, event: MouseEvent, look: &Context<'_>) -> Response {
        let count = Self::choices(look).len();
        match self.list.pointed(event) {
            Some(Pointed::Row(row)) => self.chosen = row,
            Some(Pointed::Wheel(by)) => {
                self.chosen = stepped(self.chosen, by, count);
            }
            None => {}
        }
        Response::default()
    }

    fn stale(&self, look: &Context<'_>) -> bool {
        Self::ended(look).is_none()
    }

    fn covers(&self, look: &Context<'_>, screen: Rect) -> u16 {
        Window::covers(Self::rows(look, screen), screen)
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let Some((episode, _)) = Self::ended(look) else { return };
        let title = format!("Episode {} is over", episode.number);
        let window = Window {
            title: &title,
            place: Place::Below,
            rows: Self::rows(look, screen),
            columns: COLUMNS,
            mode: Mode::End,
        };
        let inside = window.draw(look, screen, canvas);
        let (facts, choices) = (Self::facts(look, inside.width), Self::choices(look));
        // What can be done is there as a whole; what is told scrolls in the rows that are left.
        let below = (choices.len() as u16).min(inside.height.saturating_sub(1).max(1));
        let room = inside.height.saturating_sub(below);
        let gap = u16::from(room > facts.len() as u16);
        self.scroll.draw(&facts, Rect { height: room - gap, ..inside }, canvas);
        let list = Rect { y: inside.y + room, height: below.min(inside.height), ..inside };
        self.list.list(self.chosen, choices.len(), list, canvas, |place| {
            choices.get(place).map_or_else(Vec::new, |c| self.choice(look, place, *c))
        });
    }
}
