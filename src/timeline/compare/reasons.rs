//! Possible reasons for a first difference.

use super::{Comparison, PriorDifferences, Row, RowKind, StepPart, StepParts};
use crate::domain::{DecidedBy, SegmentLabel, Step};

/// A reason for a first difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The environments already differed before.
    World,
    /// Models, seed or settings of the runs differ.
    Settings,
    /// The active lessons differ.
    Lessons,
    /// The prompts differ.
    Prompt,
    /// A person decided on one of the sides.
    Person,
    /// On one of the sides a person asked the agent again or rejected its proposal.
    AskedAgain,
    /// On one of the sides a person edited a thought or an observation.
    Edited,
    /// The same action got a different answer.
    DifferentAnswer,
    /// One side has no further step.
    End,
    /// No compared value differs: the same prompt got a different reply.
    Chance,
}

impl Reason {
    /// Returns the reason's name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::World => "world",
            Self::Settings => "settings",
            Self::Lessons => "lessons",
            Self::Prompt => "prompt",
            Self::Person => "person",
            Self::AskedAgain => "asked_again",
            Self::Edited => "edited",
            Self::DifferentAnswer => "answer",
            Self::End => "end",
            Self::Chance => "chance",
        }
    }

    /// Describes the reason in a few words.
    pub fn description(self) -> &'static str {
        match self {
            Self::World => "the environments differ",
            Self::Settings => "models or settings differ",
            Self::Lessons => "the active lessons differ",
            Self::Prompt => "the prompts differ",
            Self::Person => "a person decided",
            Self::AskedAgain => "a person asked the agent again",
            Self::Edited => "a person edited it",
            Self::DifferentAnswer => "the environment answered the same action differently",
            Self::End => "one side has no further step",
            Self::Chance => "nothing compared differs: the same prompt got a different reply",
        }
    }
}

impl Comparison {
    /// Returns the apparent reasons for the first difference, most direct first; empty if nothing differs.
    pub fn reasons(&self) -> Vec<Reason> {
        let (Some(first_row), Some(prior)) = (self.first_difference, self.prior.as_ref()) else {
            return Vec::new();
        };
        let row = self.rows[first_row];
        if row.left == Some(0) && row.right == Some(0) {
            let settings = (!prior.settings.is_empty()).then_some(Reason::Settings);
            return std::iter::once(Reason::World).chain(settings).collect();
        }
        let decided_by_person = |step: Option<&Step>| {
            // A step without a call may be one that the method proposed.
            step.is_some_and(|s| s.executed.as_ref().is_some_and(|e| e.decided_by == DecidedBy::Person))
        };
        // A side without a step in the row is represented by its next one.
        let next = |side_step: fn(&Row) -> Option<u32>| self.rows[first_row..].iter().find_map(side_step);
        let x = next(|r| r.left).and_then(|n| self.left.episode.step(n));
        let y = next(|r| r.right).and_then(|n| self.right.episode.step(n));
        let mut reasons = Vec::new();
        let is_one_sided = row.kind() != RowKind::Changed;
        let edit = EditedParts::from_steps(row.parts, x, y);
        if edit.thought || edit.observation {
            reasons.push(Reason::Edited);
        }
        let decision_differs = is_one_sided
            || row.parts.contains(StepPart::Action)
            || (row.parts.contains(StepPart::Thought) && !edit.thought);
        if decided_by_person(x) != decided_by_person(y) || (decision_differs && decided_by_person(x)) {
            reasons.push(Reason::Person);
        } else if !decision_differs {
            if reasons.is_empty() || edit.world_differs {
                reasons.push(Reason::DifferentAnswer);
            }
            return reasons;
        }
        if manual_retries(x) != manual_retries(y) {
            reasons.push(Reason::AskedAgain);
        }
        reasons.extend(prior_reasons(prior));
        if is_one_sided && has_ended_side(self, first_row) {
            reasons.push(Reason::End);
        }
        // An edited thought doesn't explain a different action.
        if reasons.iter().all(|r| *r == Reason::Edited) {
            reasons.push(Reason::Chance);
        }
        reasons
    }
}

/// Returns how often a person asked the agent for a step again, excluding automatic retries of unusable replies and requests
/// to fit a draft.
fn manual_retries(step: Option<&Step>) -> u32 {
    let automatic = |s: &Step| s.unusable_replies + (s.partial_replies.len() + s.drafts.len()) as u32;
    step.map_or(0, |s| s.retry.saturating_sub(automatic(s)))
}

/// The parts of a row that a person edited.
#[derive(Clone, Copy, Debug, Default)]
struct EditedParts {
    /// The thought differs, and was edited.
    thought: bool,
    /// The observation differs, and was edited.
    observation: bool,
    /// The environment itself answered differently, regardless of edits.
    world_differs: bool,
}

impl EditedParts {
    fn from_steps(parts: StepParts, x: Option<&Step>, y: Option<&Step>) -> Self {
        let (Some(x), Some(y)) = (x, y) else { return Self::default() };
        let observation_edited =
            parts.contains(StepPart::Observation) && (x.is_observation_edited() || y.is_observation_edited());
        // The environment's raw text is kept beside the edited one.
        let raw = |s: &Step| s.answer.as_ref().map(|a| a.raw.clone());
        let raw_differs = parts.contains(StepPart::Observation) && (!observation_edited || raw(x) != raw(y));
        Self {
            thought: parts.contains(StepPart::Thought) && (x.thought_edited || y.thought_edited),
            observation: observation_edited,
            world_differs: raw_differs || parts.contains(StepPart::Progress),
        }
    }
}

/// Returns whether one of the sides has no step in this row and none after it.
fn has_ended_side(comparison: &Comparison, row: usize) -> bool {
    let rest = &comparison.rows[row..];
    rest.iter().all(|r| r.left.is_none()) || rest.iter().all(|r| r.right.is_none())
}

fn prior_reasons(prior: &PriorDifferences) -> Vec<Reason> {
    let lessons = &prior.lessons;
    let is_lesson_label = |label: SegmentLabel| {
        matches!(
            label,
            SegmentLabel::Abstract | SegmentLabel::Error | SegmentLabel::Progress | SegmentLabel::Memory
        )
    };
    let cases = [
        (Reason::Lessons, *lessons != super::LessonDifferences::default()),
        // Lessons are part of the prompt but are reported only once.
        (Reason::Prompt, prior.segments.iter().any(|s| !is_lesson_label(s.label))),
        (Reason::World, prior.world != super::WorldDifferences::default()),
        (Reason::Settings, !prior.settings.is_empty()),
    ];
    let reasons: Vec<Reason> = cases.into_iter().filter(|c| c.1).map(|c| c.0).collect();
    if reasons.is_empty() && !prior.segments.is_empty() { vec![Reason::Prompt] } else { reasons }
}
