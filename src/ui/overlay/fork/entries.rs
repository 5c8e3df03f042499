//! What can be another on the new branch, in the order of the list.

use super::super::window::Line;
use super::{ForkChange, fork_point};
use crate::domain::{LessonId, ModelRole, Stage};
use crate::driver::DecisionPoint;
use crate::text::{one_line, width};
use crate::ui::context::Context;
use crate::ui::theme::Role;

/// A row of the list.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry {
    /// From where the rows below it begin.
    Heading(String),
    /// A change, its name, and how it is now.
    Choice(ForkChange, String, String),
}

impl Entry {
    /// Columns of its name.
    pub(super) fn name_columns(&self) -> usize {
        match self {
            Self::Heading(_) => 0,
            Self::Choice(_, name, _) => width(name),
        }
    }

    /// As a row; `wide` columns are the names'.
    pub(super) fn line(&self, here: bool, wide: usize, look: &Context<'_>) -> Line {
        match self {
            Self::Heading(words) => vec![(Role::Muted, words.clone())],
            Self::Choice(_, name, now) => {
                let (mark, role) =
                    if here { (look.glyphs.proposal, Role::Selection) } else { (" ", Role::Text) };
                let gap = " ".repeat(wide.saturating_sub(width(name)) + 2);
                vec![
                    (Role::Proposal, format!(" {mark} ")),
                    (role, name.clone()),
                    (Role::Muted, format!("{gap}{now}")),
                ]
            }
        }
    }
}

fn choice(change: ForkChange, name: &str, now: impl AsRef<str>) -> Entry {
    Entry::Choice(change, name.to_owned(), one_line(now.as_ref()).into_owned())
}

/// The list over the moment shown. What only a key can want is there when that key was pressed. `read_by`: before what the
/// last observation is another, where something has used it by then.
pub(super) fn fork_entries(
    look: &Context<'_>,
    anew: Option<DecisionPoint>,
    change: &ForkChange,
    lesson: Option<(LessonId, u32)>,
    read_by: Option<String>,
) -> Vec<Entry> {
    let turn = look.frame.selected_step();
    let mut all = Vec::new();
    let open = look.displayed_state().step_awaiting_decision().is_some();
    let (after, under_way) = (
        fork_point::last_settled_step(look.displayed_state()),
        fork_point::step_in_progress(look.displayed_state()),
    );
    let here = match (after, under_way) {
        _ if open => format!("From here: turn {turn} waits for a decision"),
        (0, None) => "From the beginning".to_owned(),
        (0, Some(_)) => "From the beginning: turn 1 is under way".to_owned(),
        (after, None) => format!("After turn {after}"),
        (after, Some((on, _))) => format!("After turn {after}: turn {on} is under way"),
    };
    // Behind the end of an episode nothing goes on: only what led to it can be another.
    let over = !open
        && (look.displayed_state().open_episode().is_none() || look.displayed_state().is_episode_ending());
    if over && let Some(anew) = anew {
        all.extend(step_entries(look, anew, change));
        return all;
    }
    all.push(Entry::Heading(here));
    if let ForkChange::Command(_, words) = change {
        all.push(choice(change.clone(), words, ""));
    }
    let next = match under_way {
        _ if open => "what is proposed is done".to_owned(),
        Some((on, Stage::Observation)) => format!("the action of turn {on} is done"),
        Some((on, _)) => format!("the agent is asked turn {on}"),
        None => format!("the agent is asked turn {}", after + 1),
    };
    all.push(choice(ForkChange::Continue, "just go on", next));
    let answered = look.displayed_state().episode.as_deref().and_then(|e| e.step(e.answered_steps()));
    if let Some(seen) = answered.and_then(|s| s.observation()) {
        let now = read_by.unwrap_or_default() + seen;
        all.push(choice(ForkChange::Observation, "another observation", now));
    }
    all.push(choice(ForkChange::NewLesson, "a new lesson", "in the next prompt"));
    if let Some((id, number)) = lesson {
        all.push(choice(ForkChange::EditLesson(id), "other words for a lesson", format!("lesson {number}")));
    }
    let run = look.displayed_state().run.as_deref();
    let now = |of: fn(&crate::domain::RunSpec) -> &str| run.map_or("", of);
    all.push(choice(ForkChange::Method, "another method", now(|r| &r.method)));
    all.push(choice(ForkChange::Actor, "another model acts", now(|r| &r.actor)));
    all.push(choice(ForkChange::Mentor, "another model reflects", now(|r| &r.mentor)));
    for asked in [ModelRole::Actor, ModelRole::Mentor] {
        let told = run.map_or_else(String::new, |r| r.describe_sampling(asked));
        match asked {
            ModelRole::Actor => all.push(choice(ForkChange::Sampling(asked), "other actor sampling", told)),
            ModelRole::Mentor if run.is_some_and(|r| !matches!(r.mentor.as_str(), "symbolic" | "none")) => {
                all.push(choice(ForkChange::Sampling(asked), "other mentor sampling", told));
            }
            ModelRole::Mentor => {}
        }
    }
    all.push(choice(ForkChange::Setting, "another setting", "limits, what enters prompts, when to reflect"));
    all.extend(anew.into_iter().flat_map(|anew| step_entries(look, anew, change)));
    all
}

/// What can be another of the turn itself.
fn step_entries(look: &Context<'_>, anew: DecisionPoint, change: &ForkChange) -> Vec<Entry> {
    let turn = look.frame.selected_step();
    let step = look.episode().and_then(|e| e.step(turn));
    let mut all = vec![Entry::Heading(format!("Turn {turn} anew, from before its action"))];
    let did = step.and_then(|s| s.action()).unwrap_or_default();
    all.push(choice(ForkChange::Action, "another action", did));
    if let (Some(thought), DecisionPoint::Proposed(_)) = (step.and_then(|s| s.thought.as_deref()), anew) {
        all.push(choice(ForkChange::Thought, "another thought", thought));
    }
    all.push(choice(ForkChange::AskAgain, "ask the agent again", ""));
    if matches!(anew, DecisionPoint::Proposed(_)) && *change == ForkChange::Reject {
        all.push(choice(ForkChange::Reject, "reject it with a reason", ""));
    }
    all
}
