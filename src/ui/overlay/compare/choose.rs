//! The choice of the other side.

use super::super::field::Field;
use super::super::fuzzy::rank;
use super::super::moved;
use super::super::window::{Line, Pointed, Scroll, put_line};
use crate::domain::{EpisodeSummary, Task};
use crate::text::{fits, truncate, width};
use crate::ui::canvas::Canvas;
use crate::ui::compare::Place;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::overlay::stepped;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation as _;

/// How near a place is to the episode that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Near {
    /// It has an episode of the same task: world, task id and seed.
    Task,
    /// A goal in the same words, of another task.
    Goal,
    Not,
}

impl Near {
    fn of(place: &Place, task: Option<&Task>) -> Self {
        match task {
            Some(task) if place.tasks.contains(&task.key_hash()) => Self::Task,
            Some(task) if !task.goal.is_empty() && place.goal == task.goal => Self::Goal,
            _ => Self::Not,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Task => "same task: ",
            Self::Goal => "same goal, other task: ",
            Self::Not => "",
        }
    }
}

/// Rows and the words typed for them.
pub(super) struct Chooser {
    field: Field,
    /// The task of the episode that is compared; what has it stands first.
    task: Option<Task>,
    all: Vec<Place>,
    /// Places of the rows that fit.
    fitting: Vec<usize>,
    chosen: usize,
    scroll: Scroll,
    /// The other branches and sessions are still being looked for, or why they cannot be.
    others: Result<bool, String>,
}

impl Chooser {
    /// The session's own episodes, the other trials of the same task first; sessions come in later.
    pub(super) fn new(look: &Context<'_>, left: Option<u32>) -> Self {
        let head = &look.moment.head;
        let task = look.episode().map(|e| &e.task);
        let same = |t: &Task| task.is_some_and(|of| of.key() == t.key());
        let mut own: Vec<Place> = head
            .ended_episodes
            .iter()
            .filter(|p| Some(p.number) != left)
            .map(|p| episode(p.number, same(&p.task), &p.task, p.trial, &ended(p)))
            .collect();
        if let Some(e) = head.open_episode().filter(|e| Some(e.number) != left) {
            let words = format!("open after turn {}, progress {:.2}", e.answered_steps(), e.progress);
            own.push(episode(e.number, same(&e.task), &e.task, e.trial, &words));
        }
        // The newest first, among them the trials of this task.
        own.reverse();
        let mut chooser = Self {
            field: Field::line(""),
            task: task.cloned(),
            all: Vec::new(),
            fitting: Vec::new(),
            chosen: 0,
            scroll: Scroll::default(),
            others: Ok(true),
        };
        chooser.take_in(own);
        chooser.filter();
        chooser
    }

    /// Adds places: the same task first, then the same words of a goal. Among those, and among the others, episodes of here,
    /// branches, then sessions, each the newest first. What they have in common is said with how they went; an episode's name
    /// says it already.
    fn take_in(&mut self, places: Vec<Place>) {
        let task = self.task.as_ref();
        let told = places.into_iter().map(|mut place| {
            let near = Near::of(&place, task);
            if place.episode.is_none() || near == Near::Goal {
                place.went = format!("{}{}", near.words(), place.went);
            }
            place
        });
        self.all.extend(told);
        // What is compared is a hash of the task.
        self.all.sort_by_cached_key(|place| Near::of(place, task));
    }

    /// Takes the other branches and sessions in.
    pub(super) fn learn(&mut self, others: Result<Vec<Place>, String>) {
        let chosen = self.chosen();
        match others {
            Ok(places) => {
                self.take_in(places);
                self.others = Ok(false);
            }
            Err(why) => self.others = Err(why),
        }
        self.filter();
        let at = |of: &Place| self.fitting.iter().position(|f| self.all.get(*f) == Some(of));
        self.chosen = chosen.as_ref().and_then(at).unwrap_or(0);
    }

    fn filter(&mut self) {
        let words: Vec<String> = self.all.iter().map(|p| format!("{} {}", p.title, p.went)).collect();
        self.fitting = rank(&self.field.text(), words.iter().map(String::as_str));
        self.chosen = 0;
    }

    /// Why nothing is chosen.
    pub(super) fn nothing(&self) -> &'static str {
        if self.all.is_empty() {
            "there is no other episode, branch or session"
        } else {
            "nothing is called so; other words, or fewer, find more"
        }
    }

    pub(super) fn chosen(&self) -> Option<Place> {
        self.all.get(*self.fitting.get(self.chosen)?).cloned()
    }

    pub(super) fn act(&mut self, action: Action) {
        self.walk(moved(action, 10).unwrap_or(0));
    }

    fn walk(&mut self, by: isize) {
        self.chosen = stepped(self.chosen, by, self.fitting.len());
    }

    pub(super) fn key(&mut self, key: KeyEvent) {
        if self.field.key(key) {
            self.filter();
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        if self.field.paste(text) {
            self.filter();
        }
    }

    pub(super) fn mouse(&mut self, event: MouseEvent) {
        match self.scroll.pointed(event) {
            Some(Pointed::Row(row)) => self.chosen = row,
            Some(Pointed::Wheel(by)) => self.walk(by),
            None => {}
        }
    }

    pub(super) fn draw(&self, look: &Context<'_>, inside: Rect, canvas: &mut Canvas<'_>) {
        canvas.put(inside.x, inside.y, 2, look.glyphs.proposal, canvas.style(Role::Key));
        let line = Rect { x: inside.x + 2, width: inside.width.saturating_sub(2), height: 1, ..inside };
        self.field.draw(true, line, canvas);
        let told = match &self.others {
            _ if self.fitting.is_empty() && !self.all.is_empty() => {
                Some((Role::Warn, self.nothing().to_owned()))
            }
            Ok(true) => Some((Role::Dim, "looking for branches and sessions ...".to_owned())),
            Err(why) => Some((Role::Warn, why.clone())),
            Ok(false) if self.all.is_empty() => Some((Role::Dim, self.nothing().to_owned())),
            Ok(false) => None,
        };
        let high = u16::from(told.is_some());
        let list = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1 + high), ..inside };
        if let Some(told) = told {
            let last = Rect { y: list.bottom(), height: high.min(inside.height.saturating_sub(1)), ..inside };
            put_line(&[told], last, canvas);
        }
        self.scroll.list(self.chosen, self.fitting.len(), list, canvas, |place| {
            let found = self.fitting.get(place).and_then(|at| self.all.get(*at));
            let Some(found) = found else { return Line::new() };
            let role = if place == self.chosen { Role::Chosen } else { Role::Text };
            // How it went stands at the right edge and is always seen; a long name loses its middle.
            let columns = usize::from(list.width);
            let went = truncate(&found.went, columns * 3 / 5, look.glyphs.more);
            let room = columns.saturating_sub(width(&went) + 2);
            let name = middle(&found.title, room, look.glyphs.more);
            let gap = " ".repeat(room.saturating_sub(width(&name)) + 2);
            vec![(role, name), (Role::Dim, format!("{gap}{went}"))]
        });
    }
}

/// A text in so many columns at most, its beginning and its end kept: names begin with what they are and end with what sets
/// them apart.
fn middle(text: &str, columns: usize, more: &str) -> String {
    if fits(text, columns) {
        return text.to_owned();
    }
    let end = columns / 3;
    let mut tail = String::new();
    for piece in text.graphemes(true).rev() {
        if width(&tail) + width(piece) > end {
            break;
        }
        tail.insert_str(0, piece);
    }
    let head = truncate(text, columns.saturating_sub(width(&tail)), more);
    format!("{head}{tail}")
}

fn ended(past: &EpisodeSummary) -> String {
    let won = if past.won { "won" } else { "lost" };
    format!("{won}, {} steps, progress {:.2}", past.steps, past.progress)
}

fn episode(number: u32, same: bool, task: &Task, trial: u32, words: &str) -> Place {
    let of = if same { "this task".to_owned() } else { task.id.clone() };
    Place {
        episode: Some(number),
        title: format!("episode {number}: {of}, trial {trial}"),
        went: words.to_owned(),
        goal: task.goal.clone(),
        tasks: [task.key_hash()].into(),
        ..Place::default()
    }
}
