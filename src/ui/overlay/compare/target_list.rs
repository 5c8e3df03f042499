//! The list of targets to compare with.

use crate::domain::{EpisodeSummary, Task, pluralize};
use crate::text::{truncate, width};
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::labels::episode_progress_text;
use crate::ui::theme::Role;
use crate::ui::types::{EpisodeRef, WorkKind};
use crate::ui::widget::picker::{Picker, rank};
use crate::ui::widget::window::put_line;
use ratatui::layout::Rect;
use std::borrow::Cow;

/// How similar a target is to the compared episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Similarity {
    /// It contains an episode of the same task: environment, task id and seed.
    SameTask,
    /// It has a different task whose goal text is the same.
    SameGoal,
    Unrelated,
}

impl Similarity {
    fn between(target: &EpisodeRef, task: Option<&Task>) -> Self {
        match task {
            Some(task) if target.tasks.contains(&task.key_hash()) => Self::SameTask,
            Some(task) if !task.goal.is_empty() && target.goal == task.goal => Self::SameGoal,
            _ => Self::Unrelated,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::SameTask => "same task: ",
            Self::SameGoal => "same goal, different task: ",
            Self::Unrelated => "",
        }
    }
}

/// The fewest columns of a list that repeats the goal of plays of the same task.
const MIN_COLUMNS_WITH_GOAL: usize = 100;

/// The list of targets with a filter field.
pub(super) struct TargetList {
    pub(super) picker: Picker<EpisodeRef>,
    /// The compared episode's task; targets with the same task come first.
    task: Option<Task>,
    /// Whether the other branches and sessions are still being listed, or why that failed.
    others_pending: Result<bool, String>,
}

impl TargetList {
    /// Creates the list with the session's own episodes, same task first. Branches and sessions follow later.
    pub(super) fn new(context: &Context<'_>, left: Option<u32>) -> Self {
        let head = &context.frame.head;
        let task = context.episode().map(|e| &e.task);
        let same = |t: &Task| task.is_some_and(|task| task.key() == t.key());
        let mut own: Vec<EpisodeRef> = head
            .ended_episodes
            .iter()
            .filter(|p| Some(p.number) != left)
            .map(|p| episode_target(p.number, same(&p.task), &p.task, p.trial, &outcome_text(p)))
            .collect();
        if let Some(e) = head.open_episode().filter(|e| Some(e.number) != left) {
            let progress = episode_progress_text(e.progress, e);
            let words = format!("in progress at step {}, progress {progress}", e.answered_steps());
            own.push(episode_target(e.number, same(&e.task), &e.task, e.trial, &words));
        }
        // Newest first.
        own.reverse();
        let search =
            |all: &[EpisodeRef], query: &str| rank(all, query, |p| [format!("{} {}", p.title, p.outcome)]);
        let picker = Picker::new(Vec::new(), search);
        let mut chooser = Self { picker, task: task.cloned(), others_pending: Ok(true) };
        chooser.add_targets(own);
        chooser
    }

    /// Adds targets. They are sorted by similarity; within one similarity the branch from which this one was forked comes first,
    /// where a person has changed the same play, then the session's episodes, then other branches, then sessions, each newest first. Prefixes the outcome with the similarity, except for this session's
    /// episodes of the same task, whose title says so.
    fn add_targets(&mut self, targets: Vec<EpisodeRef>) {
        let task = self.task.as_ref();
        let labelled = targets.into_iter().map(|mut target| {
            let similarity = Similarity::between(&target, task);
            if target.episode.is_none() || similarity == Similarity::SameGoal {
                target.outcome = format!("{}{}", similarity.label(), target.outcome);
            }
            target
        });
        let mut targets: Vec<EpisodeRef> = self.picker.items().iter().cloned().chain(labelled).collect();
        // Cached, because each comparison hashes the task.
        targets.sort_by_cached_key(|target| (Similarity::between(target, task), !target.is_parent));
        self.picker.update_items(targets, PartialEq::eq);
    }

    /// Adds the other branches and sessions.
    pub(super) fn add_others(&mut self, others: Result<Vec<EpisodeRef>, String>) {
        match others {
            Ok(targets) => {
                self.add_targets(targets);
                self.others_pending = Ok(false);
            }
            Err(why) => self.others_pending = Err(why),
        }
    }

    /// Returns whether the other branches and sessions are still being listed.
    pub(super) fn awaits_others(&self) -> bool {
        self.others_pending == Ok(true)
    }

    /// Returns why no target is listed.
    pub(super) fn empty_message(&self) -> &str {
        match &self.others_pending {
            Ok(true) => "branches and sessions are still loading",
            Err(why) => why,
            Ok(false) if self.picker.items().is_empty() => "no other episode, branch or session",
            Ok(false) => "no match; try fewer or other words",
        }
    }

    /// Returns the title of a row. On a narrow screen, what plays of one task have in common gives its room to what tells them apart:
    /// time, method, actor and name.
    fn title_without_goal<'a>(&self, target: &'a EpisodeRef, columns: usize) -> Cow<'a, str> {
        let is_same = Similarity::between(target, self.task.as_ref()) == Similarity::SameTask;
        let parts = target.title.split_once("  ").filter(|_| target.session.is_some());
        match parts.and_then(|(time, about)| Some((time, about.rsplit_once("; ")?.1))) {
            Some((time, name)) if is_same && columns < MIN_COLUMNS_WITH_GOAL => {
                Cow::Owned(format!("{time}  {name}"))
            }
            _ => Cow::Borrowed(&target.title),
        }
    }

    pub(super) fn draw(&self, context: &Context<'_>, inside: Rect, canvas: &mut Canvas<'_>) {
        self.picker.draw_field((Role::Key, context.glyphs.proposal), true, inside, canvas);
        let message = match &self.others_pending {
            Ok(true) => {
                let words = context.work_text("loading branches and sessions ...", WorkKind::Comparable);
                Some((Role::Muted, words))
            }
            Err(why) => Some((Role::Warning, why.clone())),
            Ok(false) if self.picker.matches().len() > 0 => None,
            Ok(false) => {
                let role = if self.picker.items().is_empty() { Role::Muted } else { Role::Warning };
                Some((role, self.empty_message().to_owned()))
            }
        };
        let high = u16::from(message.is_some());
        let list = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1 + high), ..inside };
        if let Some(message) = message {
            let last = Rect { y: list.bottom(), height: high.min(inside.height.saturating_sub(1)), ..inside };
            put_line(&[message], last, canvas);
        }
        self.picker.draw_list(list, canvas, |found, here| {
            let role = if here { Role::Selection } else { Role::Text };
            let mark = if here { context.glyphs.proposal } else { " " };
            // The outcome at the right edge is always visible.
            let columns = usize::from(list.width).saturating_sub(2);
            let title = self.title_without_goal(found, columns);
            let outcome = truncate(&found.outcome, columns * 3 / 5, context.glyphs.ellipsis);
            let room = columns.saturating_sub(width(&outcome) + 2);
            let name = truncate(&title, room, context.glyphs.ellipsis);
            let gap = " ".repeat(room.saturating_sub(width(&name)) + 2);
            vec![(Role::Proposal, format!("{mark} ")), (role, name), (Role::Muted, format!("{gap}{outcome}"))]
        });
    }
}

fn outcome_text(past: &EpisodeSummary) -> String {
    let won = if past.won { "won" } else { "lost" };
    format!("{won}, {}, progress {:.2}", pluralize(past.steps.into(), "step"), past.progress)
}

fn episode_target(number: u32, same: bool, task: &Task, trial: u32, outcome: &str) -> EpisodeRef {
    let name = if same { "this task".to_owned() } else { task.id.clone() };
    EpisodeRef {
        episode: Some(number),
        title: format!("episode {number}: {name}, trial {trial}"),
        outcome: outcome.to_owned(),
        goal: task.goal.clone(),
        tasks: [task.key_hash()].into(),
        ..EpisodeRef::default()
    }
}
