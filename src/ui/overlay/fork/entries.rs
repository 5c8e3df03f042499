//! What can be another on the new branch, in the order of the list.

use super::super::window::Line;
use super::{Change, at};
use crate::domain::{LessonId, ModelRole, Stage};
use crate::driver::DecisionPoint;
use crate::text::{one_line, width};
use crate::ui::context::Context;
use crate::ui::theme::Role;

/// A row of the list.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry {
    /// From where the rows below it begin.
    Head(String),
    /// A change, its name, and how it is now.
    Row(Change, String, String),
}

impl Entry {
    /// Columns of its name.
    pub(super) fn columns(&self) -> usize {
        match self {
            Self::Head(_) => 0,
            Self::Row(_, name, _) => width(name),
        }
    }

    /// As a row; `wide` columns are the names'.
    pub(super) fn line(&self, here: bool, wide: usize, look: &Context<'_>) -> Line {
        match self {
            Self::Head(words) => vec![(Role::Dim, words.clone())],
            Self::Row(_, name, now) => {
                let (mark, role) =
                    if here { (look.glyphs.proposal, Role::Chosen) } else { (" ", Role::Text) };
                let gap = " ".repeat(wide.saturating_sub(width(name)) + 2);
                vec![
                    (Role::Proposal, format!(" {mark} ")),
                    (role, name.clone()),
                    (Role::Dim, format!("{gap}{now}")),
                ]
            }
        }
    }
}

fn row(change: Change, name: &str, now: impl AsRef<str>) -> Entry {
    Entry::Row(change, name.to_owned(), one_line(now.as_ref()).into_owned())
}

/// The list over the moment shown. What only a key can want is there when that key was pressed. `read_by`: before what the
/// last observation is another, where something has used it by then.
pub(super) fn entries(
    look: &Context<'_>,
    anew: Option<DecisionPoint>,
    change: &Change,
    lesson: Option<(LessonId, u32)>,
    read_by: Option<String>,
) -> Vec<Entry> {
    let turn = look.moment.chosen();
    let mut all = Vec::new();
    let open = look.shown().step_awaiting_decision().is_some();
    let (after, under_way) = (at::after(look.shown()), at::under_way(look.shown()));
    let here = match (after, under_way) {
        _ if open => format!("From here: turn {turn} waits for a decision"),
        (0, None) => "From the beginning".to_owned(),
        (0, Some(_)) => "From the beginning: turn 1 is under way".to_owned(),
        (after, None) => format!("After turn {after}"),
        (after, Some((on, _))) => format!("After turn {after}: turn {on} is under way"),
    };
    // Behind the end of an episode nothing goes on: only what led to it can be another.
    let over = !open && (look.shown().open_episode().is_none() || look.shown().is_episode_ending());
    if over && let Some(anew) = anew {
        all.extend(of_the_turn(look, anew, change));
        return all;
    }
    all.push(Entry::Head(here));
    if let Change::Wish(_, words) = change {
        all.push(row(change.clone(), words, ""));
    }
    let next = match under_way {
        _ if open => "what is proposed is done".to_owned(),
        Some((on, Stage::Observation)) => format!("the action of turn {on} is done"),
        Some((on, _)) => format!("the agent is asked turn {on}"),
        None => format!("the agent is asked turn {}", after + 1),
    };
    all.push(row(Change::GoOn, "just go on", next));
    let answered = look.shown().episode.as_deref().and_then(|e| e.step(e.answered_steps()));
    if let Some(seen) = answered.and_then(|s| s.observation()) {
        let now = read_by.unwrap_or_default() + seen;
        all.push(row(Change::Observation, "another observation", now));
    }
    all.push(row(Change::Teach, "a new lesson", "in the next prompt"));
    if let Some((id, number)) = lesson {
        all.push(row(Change::Lesson(id), "other words for a lesson", format!("lesson {number}")));
    }
    let run = look.shown().run.as_deref();
    let now = |of: fn(&crate::domain::RunSpec) -> &str| run.map_or("", of);
    all.push(row(Change::Method, "another method", now(|r| &r.method)));
    all.push(row(Change::Actor, "another model acts", now(|r| &r.actor)));
    all.push(row(Change::Mentor, "another model reflects", now(|r| &r.mentor)));
    for asked in [ModelRole::Actor, ModelRole::Mentor] {
        let told = run.map_or_else(String::new, |r| r.describe_sampling(asked));
        match asked {
            ModelRole::Actor => all.push(row(Change::Sampling(asked), "other actor sampling", told)),
            ModelRole::Mentor if run.is_some_and(|r| !matches!(r.mentor.as_str(), "symbolic" | "none")) => {
                all.push(row(Change::Sampling(asked), "other mentor sampling", told));
            }
            ModelRole::Mentor => {}
        }
    }
    all.push(row(Change::Setting, "another setting", "limits, what enters prompts, when to reflect"));
    all.extend(anew.into_iter().flat_map(|anew| of_the_turn(look, anew, change)));
    all
}

/// What can be another of the turn itself.
fn of_the_turn(look: &Context<'_>, anew: DecisionPoint, change: &Change) -> Vec<Entry> {
    let turn = look.moment.chosen();
    let step = look.episode().and_then(|e| e.step(turn));
    let mut all = vec![Entry::Head(format!("Turn {turn} anew, from before its action"))];
    let did = step.and_then(|s| s.action()).unwrap_or_default();
    all.push(row(Change::Act, "another action", did));
    if let (Some(thought), DecisionPoint::Proposed(_)) = (step.and_then(|s| s.thought.as_deref()), anew) {
        all.push(row(Change::Thought, "another thought", thought));
    }
    all.push(row(Change::Again, "ask the agent again", ""));
    if matches!(anew, DecisionPoint::Proposed(_)) && *change == Change::Reject {
        all.push(row(Change::Reject, "reject it with a reason", ""));
    }
    all
}
