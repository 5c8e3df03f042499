//! The changes offered by the fork dialog, in the order of the list.

use super::fork_point;
use crate::domain::{LessonId, ModelRole, Stage};
use crate::driver::DecisionPoint;
use crate::text::{one_line, width};
use crate::ui::draft::ForkChange;
use crate::ui::frame_data::Context;
use crate::ui::theme::Role;
use crate::ui::widget::picker::marked_row;
use crate::ui::widget::window::Line;

/// A row of the list.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry {
    /// Where the branches of the entries below start.
    Heading(String),
    /// A change, its label, and the current value.
    Choice(ForkChange, String, String),
}

impl Entry {
    /// Returns the width of the label in columns.
    pub(super) fn name_columns(&self) -> usize {
        match self {
            Self::Heading(_) => 0,
            Self::Choice(_, name, _) => width(name),
        }
    }

    /// Returns the row; labels are padded to `wide` columns.
    pub(super) fn line(&self, here: bool, wide: usize, context: &Context<'_>) -> Line {
        match self {
            Self::Heading(words) => vec![(Role::Muted, words.clone())],
            Self::Choice(_, name, now) => {
                let gap = " ".repeat(wide.saturating_sub(width(name)) + 2);
                marked_row(context, " ", here, name.clone(), [format!("{gap}{now}")])
            }
        }
    }
}

fn choice(change: ForkChange, name: &str, now: impl AsRef<str>) -> Entry {
    Entry::Choice(change, name.to_owned(), one_line(now.as_ref()).into_owned())
}

/// Returns what a step begins with.
pub(super) fn proposal_label(context: &Context<'_>) -> &'static str {
    if context.asks_actor() { "actor call" } else { "proposal" }
}

/// Returns the entries for the displayed state. Some entries are offered only if their key was pressed, as given by
/// `change`. `read_by` names the fork point for another observation, if something has used the current one.
pub(super) fn fork_entries(
    context: &Context<'_>,
    decision_point: Option<DecisionPoint>,
    change: &ForkChange,
    lesson: Option<(LessonId, u32)>,
    read_by: Option<String>,
) -> Vec<Entry> {
    let number = context.frame.selected_step();
    let mut all = Vec::new();
    let open = context.displayed_state().step_awaiting_decision().is_some();
    let (after, in_progress) = (
        fork_point::last_settled_step(context.displayed_state()),
        fork_point::step_in_progress(context.displayed_state()),
    );
    let here = match (after, in_progress) {
        _ if open => format!("From here: step {number} awaits a decision"),
        (0, None) => "From the beginning".to_owned(),
        (0, Some(_)) => "From the beginning: step 1 in progress".to_owned(),
        (after, None) => format!("After step {after}"),
        (after, Some((on, _))) => format!("After step {after}: step {on} in progress"),
    };
    // An ended episode can't continue: only its last step can be redone.
    let over = !open
        && (context.displayed_state().open_episode().is_none()
            || context.displayed_state().is_episode_ending());
    if over && let Some(decision_point) = decision_point {
        all.extend(step_entries(context, decision_point, change));
        return all;
    }
    all.push(Entry::Heading(here));
    if let ForkChange::Command(_, words) = change {
        all.push(choice(change.clone(), words, ""));
    }
    let next = match in_progress {
        _ if open => "runs the proposed action".to_owned(),
        Some((on, Stage::Observation)) => format!("runs the action of step {on}"),
        Some((on, _)) => format!("{} of step {on}", proposal_label(context)),
        None => format!("{} of step {}", proposal_label(context), after + 1),
    };
    all.push(choice(ForkChange::Continue, "continue", next));
    let answered = context.displayed_state().episode.as_deref().and_then(|e| e.step(e.answered_steps()));
    if let Some(seen) = answered.and_then(|s| s.observation()) {
        let now = read_by.unwrap_or_default() + seen;
        all.push(choice(ForkChange::Observation, "another observation", now));
    }
    let used = if context.asks_actor() { "in the next prompt" } else { "" };
    all.push(choice(ForkChange::NewLesson, "a new lesson", used));
    if let Some((id, number)) = lesson {
        all.push(choice(ForkChange::EditLesson(id), "edit lesson", format!("lesson {number}")));
    }
    let run = context.displayed_state().run.as_deref();
    let now = |of: fn(&crate::domain::RunSpec) -> &str| run.map_or("", of);
    all.push(choice(ForkChange::Method, "another method", now(|r| &r.method)));
    all.push(choice(ForkChange::Actor, "another actor", now(|r| &r.actor)));
    all.push(choice(ForkChange::Mentor, "another mentor", now(|r| &r.mentor)));
    for asked in [ModelRole::Actor, ModelRole::Mentor] {
        let sampling = run.map_or_else(String::new, |r| r.describe_sampling(asked));
        match asked {
            ModelRole::Actor if !context.asks_actor() => {}
            ModelRole::Actor => {
                all.push(choice(ForkChange::Sampling(asked), "other actor sampling", sampling));
            }
            ModelRole::Mentor if run.is_some_and(|r| !r.role_source(asked).is_symbolic_or_nobody()) => {
                all.push(choice(ForkChange::Sampling(asked), "other mentor sampling", sampling));
            }
            ModelRole::Mentor => {}
        }
    }
    all.push(choice(ForkChange::Setting, "another setting", "limits, prompt contents, when to reflect"));
    all.extend(
        decision_point.into_iter().flat_map(|decision_point| step_entries(context, decision_point, change)),
    );
    all
}

/// Returns the changes that redo the step itself.
fn step_entries(context: &Context<'_>, decision_point: DecisionPoint, change: &ForkChange) -> Vec<Entry> {
    let number = context.frame.selected_step();
    let step = context.episode().and_then(|e| e.step(number));
    let mut all = vec![Entry::Heading(format!("Redo step {number}, before its action"))];
    let did = step.and_then(|s| s.action()).unwrap_or_default();
    all.push(choice(ForkChange::Action, "another action", did));
    if let (Some(thought), DecisionPoint::Proposed(_)) =
        (step.and_then(|s| s.thought.as_deref()), decision_point)
    {
        all.push(choice(ForkChange::Thought, "another thought", thought));
    }
    if context.asks_actor() {
        all.push(choice(ForkChange::AskAgain, "call the actor again", ""));
    }
    if matches!(decision_point, DecisionPoint::Proposed(_)) && *change == ForkChange::Reject {
        all.push(choice(ForkChange::Reject, "reject with a reason", ""));
    }
    all
}
