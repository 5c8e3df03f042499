//! The choice of the other side.

use super::super::fuzzy::rank;
use super::super::row_delta;
use super::super::text_field::TextField;
use super::super::window::{Line, MouseTarget, Scroll, put_line};
use crate::domain::{EpisodeSummary, Task};
use crate::text::{fits, truncate, width};
use crate::ui::canvas::Canvas;
use crate::ui::compare::EpisodeRef;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::overlay::clamped_index;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation as _;

/// How near a place is to the episode that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Similarity {
    /// It has an episode of the same task: world, task id and seed.
    SameTask,
    /// A goal in the same words, of another task.
    SameGoal,
    Unrelated,
}

impl Similarity {
    fn between(place: &EpisodeRef, task: Option<&Task>) -> Self {
        match task {
            Some(task) if place.tasks.contains(&task.key_hash()) => Self::SameTask,
            Some(task) if !task.goal.is_empty() && place.goal == task.goal => Self::SameGoal,
            _ => Self::Unrelated,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::SameTask => "same task: ",
            Self::SameGoal => "same goal, other task: ",
            Self::Unrelated => "",
        }
    }
}

/// Rows and the words typed for them.
pub(super) struct TargetList {
    field: TextField,
    /// The task of the episode that is compared; what has it stands first.
    task: Option<Task>,
    targets: Vec<EpisodeRef>,
    /// Places of the rows that fit.
    matches: Vec<usize>,
    selected: usize,
    scroll: Scroll,
    /// The other branches and sessions are still being looked for, or why they cannot be.
    others_pending: Result<bool, String>,
}

impl TargetList {
    /// The session's own episodes, the other trials of the same task first; sessions come in later.
    pub(super) fn new(look: &Context<'_>, left: Option<u32>) -> Self {
        let head = &look.frame.head;
        let task = look.episode().map(|e| &e.task);
        let same = |t: &Task| task.is_some_and(|of| of.key() == t.key());
        let mut own: Vec<EpisodeRef> = head
            .ended_episodes
            .iter()
            .filter(|p| Some(p.number) != left)
            .map(|p| episode_target(p.number, same(&p.task), &p.task, p.trial, &outcome_text(p)))
            .collect();
        if let Some(e) = head.open_episode().filter(|e| Some(e.number) != left) {
            let words = format!("open after turn {}, progress {:.2}", e.answered_steps(), e.progress);
            own.push(episode_target(e.number, same(&e.task), &e.task, e.trial, &words));
        }
        // The newest first, among them the trials of this task.
        own.reverse();
        let mut chooser = Self {
            field: TextField::single_line(""),
            task: task.cloned(),
            targets: Vec::new(),
            matches: Vec::new(),
            selected: 0,
            scroll: Scroll::default(),
            others_pending: Ok(true),
        };
        chooser.add_targets(own);
        chooser.filter();
        chooser
    }

    /// Adds places: the same task first, then the same words of a goal. Among those, and among the others, episodes of here,
    /// branches, then sessions, each the newest first. What they have in common is said with how they went; an episode's name
    /// says it already.
    fn add_targets(&mut self, places: Vec<EpisodeRef>) {
        let task = self.task.as_ref();
        let told = places.into_iter().map(|mut place| {
            let near = Similarity::between(&place, task);
            if place.episode.is_none() || near == Similarity::SameGoal {
                place.outcome = format!("{}{}", near.label(), place.outcome);
            }
            place
        });
        self.targets.extend(told);
        // What is compared is a hash of the task.
        self.targets.sort_by_cached_key(|place| Similarity::between(place, task));
    }

    /// Takes the other branches and sessions in.
    pub(super) fn add_others(&mut self, others: Result<Vec<EpisodeRef>, String>) {
        let chosen = self.selected_target();
        match others {
            Ok(places) => {
                self.add_targets(places);
                self.others_pending = Ok(false);
            }
            Err(why) => self.others_pending = Err(why),
        }
        self.filter();
        let at = |of: &EpisodeRef| self.matches.iter().position(|f| self.targets.get(*f) == Some(of));
        self.selected = chosen.as_ref().and_then(at).unwrap_or(0);
    }

    fn filter(&mut self) {
        let words: Vec<String> = self.targets.iter().map(|p| format!("{} {}", p.title, p.outcome)).collect();
        self.matches = rank(&self.field.text(), words.iter().map(String::as_str));
        self.selected = 0;
    }

    /// Why nothing is chosen.
    pub(super) fn empty_message(&self) -> &'static str {
        if self.targets.is_empty() {
            "there is no other episode, branch or session"
        } else {
            "nothing is called so; other words, or fewer, find more"
        }
    }

    pub(super) fn selected_target(&self) -> Option<EpisodeRef> {
        self.targets.get(*self.matches.get(self.selected)?).cloned()
    }

    pub(super) fn on_action(&mut self, action: Action) {
        self.move_selection(row_delta(action, 10).unwrap_or(0));
    }

    fn move_selection(&mut self, by: isize) {
        self.selected = clamped_index(self.selected, by, self.matches.len());
    }

    pub(super) fn on_key(&mut self, key: KeyEvent) {
        if self.field.on_key(key) {
            self.filter();
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        if self.field.on_paste(text) {
            self.filter();
        }
    }

    pub(super) fn on_mouse(&mut self, event: MouseEvent) {
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) => self.selected = row,
            Some(MouseTarget::Wheel(by)) => self.move_selection(by),
            None => {}
        }
    }

    pub(super) fn draw(&self, look: &Context<'_>, inside: Rect, canvas: &mut Canvas<'_>) {
        canvas.put(inside.x, inside.y, 2, look.glyphs.proposal, canvas.style(Role::Key));
        let line = Rect { x: inside.x + 2, width: inside.width.saturating_sub(2), height: 1, ..inside };
        self.field.draw(true, line, canvas);
        let told = match &self.others_pending {
            _ if self.matches.is_empty() && !self.targets.is_empty() => {
                Some((Role::Warning, self.empty_message().to_owned()))
            }
            Ok(true) => Some((Role::Muted, "looking for branches and sessions ...".to_owned())),
            Err(why) => Some((Role::Warning, why.clone())),
            Ok(false) if self.targets.is_empty() => Some((Role::Muted, self.empty_message().to_owned())),
            Ok(false) => None,
        };
        let high = u16::from(told.is_some());
        let list = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1 + high), ..inside };
        if let Some(told) = told {
            let last = Rect { y: list.bottom(), height: high.min(inside.height.saturating_sub(1)), ..inside };
            put_line(&[told], last, canvas);
        }
        self.scroll.draw_list(self.selected, self.matches.len(), list, canvas, |place| {
            let found = self.matches.get(place).and_then(|at| self.targets.get(*at));
            let Some(found) = found else { return Line::new() };
            let role = if place == self.selected { Role::Selection } else { Role::Text };
            // How it went stands at the right edge and is always seen; a long name loses its middle.
            let columns = usize::from(list.width);
            let went = truncate(&found.outcome, columns * 3 / 5, look.glyphs.ellipsis);
            let room = columns.saturating_sub(width(&went) + 2);
            let name = truncate_middle(&found.title, room, look.glyphs.ellipsis);
            let gap = " ".repeat(room.saturating_sub(width(&name)) + 2);
            vec![(role, name), (Role::Muted, format!("{gap}{went}"))]
        });
    }
}

/// A text in so many columns at most, its beginning and its end kept: names begin with what they are and end with what sets
/// them apart.
fn truncate_middle(text: &str, columns: usize, more: &str) -> String {
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

fn outcome_text(past: &EpisodeSummary) -> String {
    let won = if past.won { "won" } else { "lost" };
    format!("{won}, {} steps, progress {:.2}", past.steps, past.progress)
}

fn episode_target(number: u32, same: bool, task: &Task, trial: u32, words: &str) -> EpisodeRef {
    let of = if same { "this task".to_owned() } else { task.id.clone() };
    EpisodeRef {
        episode: Some(number),
        title: format!("episode {number}: {of}, trial {trial}"),
        outcome: words.to_owned(),
        goal: task.goal.clone(),
        tasks: [task.key_hash()].into(),
        ..EpisodeRef::default()
    }
}
