//! The differences just before a row of a comparison: in the lessons, prompts, environments and settings.

use super::differences::{Difference, diff_runs, diff_values};
use super::lcs::lcs;
use crate::domain::{
    Lesson, LessonText, Prompt, PromptRecord, ReflectionKind, Segment, SegmentLabel, SegmentOrigin, Seq, Step,
};
use crate::engine::{Episode, State};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Renders a prompt from its record; provided by the module `prompt`.
pub type RenderPrompt = fn(&State, &PromptRecord) -> Prompt;

/// The differences just before a row.
#[derive(Clone, Debug, Default)]
pub struct PriorDifferences {
    /// The compared states: each after the prompt of the row's step, or before the step if no prompt was sent.
    pub states: (Arc<State>, Arc<State>),
    /// The actor's prompts for this step; `None` if a side sent none.
    pub prompts: Option<(Arc<PromptRecord>, Arc<PromptRecord>)>,
    /// Differences between the runs: models, seed, settings.
    pub settings: Vec<Difference>,
    pub lessons: LessonDifferences,
    /// Segments of the prompts that differ, in order.
    pub segments: Vec<SegmentPair>,
    pub world: WorldDifferences,
}

/// Differences between the active lessons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LessonDifferences {
    /// Active only on the left side.
    pub only_left: Vec<ComparedLesson>,
    /// Active only on the right side.
    pub only_right: Vec<ComparedLesson>,
    /// The same lesson with different texts: left, right.
    pub changed: Vec<(ComparedLesson, ComparedLesson)>,
}

/// A lesson as shown in a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedLesson {
    /// Its number in its session.
    pub number: u32,
    /// Number of its version, from 1.
    pub version: u32,
    pub kind: ReflectionKind,
    pub text: LessonText,
}

/// Two differing segments at the same position of the prompts, or one without a counterpart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentPair {
    pub label: SegmentLabel,
    pub left: Option<SegmentText>,
    pub right: Option<SegmentText>,
}

/// The text of a segment and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentText {
    /// The origin, such as `lesson 6 v2` or `turn 3`; empty for a template or the task.
    pub source: String,
    pub text: Arc<str>,
}

/// Differences between the environments just before the row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldDifferences {
    /// The last observations, if they differ.
    pub observation: Option<(String, String)>,
    /// Differences in what the agent may know: its location, what it holds, what it has seen.
    pub known_facts: Vec<Difference>,
    /// The progress rates, if they differ.
    pub progress: Option<(f64, f64)>,
}

impl PriorDifferences {
    /// Compares two points. Each is given as the state just after the prompt for a step, and that step's number (0: the
    /// beginning of the episode).
    pub(super) fn new(a: (Arc<State>, u32), b: (Arc<State>, u32), render: RenderPrompt) -> Self {
        let prompts = prompt_for_step(&a.0, a.1).zip(prompt_for_step(&b.0, b.1));
        let segments = prompts.as_ref().map_or_else(Vec::new, |(x, y)| {
            // Most prompts are identical, and then comparing the hashes suffices.
            if !x.sha256.is_empty() && x.sha256 == y.sha256 {
                return Vec::new();
            }
            diff_segments(&a.0, &render(&a.0, x), &b.0, &render(&b.0, y))
        });
        Self {
            prompts,
            settings: diff_runs(a.0.run.as_deref(), b.0.run.as_deref()),
            lessons: diff_lessons(&a.0, &b.0),
            segments,
            world: diff_worlds((a.0.episode.as_deref(), a.1), (b.0.episode.as_deref(), b.1)),
            states: (a.0, b.0),
        }
    }
}

/// Returns the event that completed the agent's input for a step: its prompt, or else the event before the step.
pub(super) fn input_seq(episode: &Episode, step: u32) -> Seq {
    match episode.step(step) {
        Some(Step { prompt_seq, .. }) if !prompt_seq.is_unset() => *prompt_seq,
        Some(step) => Seq(step.first_seq.0.saturating_sub(1)),
        None if step == 0 => episode.first_seq,
        None => episode.last_step().map_or(episode.first_seq, |s| s.last_seq),
    }
}

fn prompt_for_step(state: &State, step: u32) -> Option<Arc<PromptRecord>> {
    let drafted = state.draft.as_ref().filter(|p| p.step == step && p.question.is_none());
    drafted.or(state.actor_prompts.0.as_ref()).filter(|p| p.step == step && step > 0).cloned()
}

fn diff_lessons(a: &State, b: &State) -> LessonDifferences {
    let active_lessons = |s: &State| s.pool.all().filter(|l| l.is_active()).cloned().collect::<Vec<Lesson>>();
    let (left, mut right) = (active_lessons(a), active_lessons(b));
    let mut differences = LessonDifferences::default();
    for lesson in left {
        let same_id = right.iter().position(|l| l.id == lesson.id);
        let same_text = || right.iter().position(|l| l.kind == lesson.kind && l.text() == lesson.text());
        match same_id.or_else(same_text) {
            Some(index) => {
                let other = right.remove(index);
                if other.text() != lesson.text() {
                    differences.changed.push((compared_lesson(&lesson), compared_lesson(&other)));
                }
            }
            None => differences.only_left.push(compared_lesson(&lesson)),
        }
    }
    differences.only_right = right.iter().map(compared_lesson).collect();
    differences
}

fn compared_lesson(lesson: &Lesson) -> ComparedLesson {
    ComparedLesson {
        number: lesson.number,
        version: lesson.version(),
        kind: lesson.kind,
        text: lesson.text().clone(),
    }
}

/// Aligns the segments by text, and those between two matches by label. Returns those that differ.
fn diff_segments(a: &State, left: &Prompt, b: &State, right: &Prompt) -> Vec<SegmentPair> {
    let nonempty_segments = |p: &Prompt| {
        p.segments.iter().filter(|s| !s.text.trim().is_empty()).cloned().collect::<Vec<Segment>>()
    };
    let (left, right) = (nonempty_segments(left), nonempty_segments(right));
    let mut ids: HashMap<(SegmentLabel, Arc<str>), u32> = HashMap::new();
    let mut number_texts = |segments: &[Segment]| -> Vec<u32> {
        let mut text_id = |s: &Segment| {
            let next = ids.len() as u32;
            *ids.entry((s.label, s.text.trim().into())).or_insert(next)
        };
        segments.iter().map(&mut text_id).collect()
    };
    let text_ids = (number_texts(&left), number_texts(&right));
    let labels = |s: &[Segment]| s.iter().map(|s| s.label as u32).collect::<Vec<u32>>();
    let segment_text = |state: &State, s: &Segment| SegmentText {
        source: source_text(state, &s.origin),
        text: s.text.clone(),
    };
    let mut pairs = Vec::new();
    for_each_gap(&text_ids.0, &text_ids.1, |left_gap, right_gap, _| {
        let (left_gap, right_gap) = (&left[left_gap], &right[right_gap]);
        for_each_gap(&labels(left_gap), &labels(right_gap), |only_left, only_right, matched| {
            let mut push_pair = |label, a, b| pairs.push(SegmentPair { label, left: a, right: b });
            left_gap[only_left].iter().for_each(|s| push_pair(s.label, Some(segment_text(a, s)), None));
            right_gap[only_right].iter().for_each(|s| push_pair(s.label, None, Some(segment_text(b, s))));
            if let Some((x, y)) = matched.map(|(x, y)| (&left_gap[x], &right_gap[y])) {
                push_pair(x.label, Some(segment_text(a, x)), Some(segment_text(b, y)));
            }
        });
    });
    pairs
}

/// Visits the gap before each match of two lists together with that match, and then the gap after the last one.
fn for_each_gap(
    a: &[u32],
    b: &[u32],
    mut visit: impl FnMut(Range<usize>, Range<usize>, Option<(usize, usize)>),
) {
    let (mut left, mut right) = (0, 0);
    for (left_match, right_match) in lcs(a, b) {
        visit(left..left_match, right..right_match, Some((left_match, right_match)));
        (left, right) = (left_match + 1, right_match + 1);
    }
    visit(left..a.len(), right..b.len(), None);
}

fn source_text(state: &State, origin: &SegmentOrigin) -> String {
    match origin {
        SegmentOrigin::Lesson { id, version } => {
            let number = state.pool.get(id).map_or(0, |l| l.number);
            format!("lesson {number} v{version}")
        }
        SegmentOrigin::Step(n) => format!("turn {n}"),
        SegmentOrigin::Steps { from, to } => format!("turns {from}-{to}"),
        SegmentOrigin::Attempt { episode, from, to } => format!("episode {episode}, turns {from}-{to}"),
        SegmentOrigin::Text(_) | SegmentOrigin::Task => String::new(),
    }
}

fn diff_worlds(a: (Option<&Episode>, u32), b: (Option<&Episode>, u32)) -> WorldDifferences {
    let (Some(x), Some(y)) = (a.0, b.0) else { return WorldDifferences::default() };
    let last_observation = |episode: &Episode, step: u32| -> String {
        let first_observation = || {
            episode.first_observation.as_ref().map(|r| r.agent_view.clone().unwrap_or_else(|| r.raw.clone()))
        };
        let previous = (1..step).rev().find_map(|n| episode.step(n)?.observation().map(str::to_owned));
        previous.or_else(first_observation).unwrap_or_default()
    };
    let (left, right) = (last_observation(x, a.1), last_observation(y, b.1));
    WorldDifferences {
        observation: (left != right).then_some((left, right)),
        known_facts: diff_values(&x.shown, &y.shown),
        progress: (x.progress.to_bits() != y.progress.to_bits()).then_some((x.progress, y.progress)),
    }
}
