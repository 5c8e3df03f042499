//! Aligns the steps of two episodes by their actions.

use super::lcs::lcs;
use crate::domain::Step;
use crate::engine::Episode;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// A part in which two aligned steps can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepPart {
    /// The action that was executed (or proposed).
    Action,
    Thought,
    /// Who decided: the actor or a person.
    DecidedBy,
    /// The environment's answer.
    Observation,
    /// Progress, won or done after the step.
    Progress,
}

impl StepPart {
    /// All parts, in the order in which they occur.
    pub const ALL: [Self; 5] =
        [Self::Thought, Self::Action, Self::DecidedBy, Self::Observation, Self::Progress];

    /// Returns the part's name in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Thought => "thought",
            Self::DecidedBy => "who decided",
            Self::Observation => "observation",
            Self::Progress => "progress",
        }
    }
}

/// A set of parts of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepParts(u8);

impl StepParts {
    /// Returns whether the set contains a part.
    pub fn contains(self, part: StepPart) -> bool {
        self.0 >> part as u8 & 1 == 1
    }

    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the parts in the order in which they occur.
    pub fn iter(self) -> impl Iterator<Item = StepPart> {
        StepPart::ALL.into_iter().filter(move |p| self.contains(*p))
    }

    fn insert_if(self, part: StepPart, condition: bool) -> Self {
        Self(self.0 | u8::from(condition) << part as u8)
    }
}

/// How the two sides of a row compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// Nothing differs.
    Same,
    /// Both sides have a step here, and some part of it differs.
    Changed,
    /// Only the left side has a step here.
    OnlyLeft,
    /// Only the right side has a step here.
    OnlyRight,
}

/// A row of the alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Step number of the left side; 0 is the first observation.
    pub left: Option<u32>,
    /// Step number of the right side.
    pub right: Option<u32>,
    /// The parts that differ, if both sides have a step.
    pub parts: StepParts,
    /// A side is not a completed step yet: its action is only proposed, or the environment has not answered.
    pub pending: bool,
}

impl Row {
    /// Returns how the two sides compare.
    pub fn kind(&self) -> RowKind {
        match (self.left, self.right) {
            (Some(_), None) => RowKind::OnlyLeft,
            (None, _) => RowKind::OnlyRight,
            (Some(_), Some(_)) if self.parts.is_empty() => RowKind::Same,
            (Some(_), Some(_)) => RowKind::Changed,
        }
    }
}

/// Aligns two episodes: every step of both is in exactly one row, in order, after the row of the first observations. As
/// many steps with equal actions as possible are aligned (a longest common subsequence); between them, steps whose
/// actions begin with the same word, and one that the other side has another one in place of. The first two steps that differ
/// are aligned as well, unless one of them follows soon on the other side.
pub fn align(a: &Episode, b: &Episode) -> Vec<Row> {
    let (left_texts, right_texts) = (step_texts(a), step_texts(b));
    // Sorting the sides makes both directions choose the same one of several equally good alignments.
    let swapped = left_texts > right_texts;
    let pairs =
        if swapped { align_texts(&right_texts, &left_texts) } else { align_texts(&left_texts, &right_texts) };
    let mut rows = vec![Row { left: Some(0), right: Some(0), parts: diff_resets(a, b), pending: false }];
    rows.extend(pairs.into_iter().map(|(x, y)| {
        let (x, y) = if swapped { (y, x) } else { (x, y) };
        let number = |index: usize| index as u32 + 1;
        let (x, y) = (x.map(number), y.map(number));
        let parts = match (x, y) {
            (Some(x), Some(y)) => match (a.step_arc(x), b.step_arc(y)) {
                (Some(x), Some(y)) if !std::sync::Arc::ptr_eq(x, y) => diff_steps(x, y),
                _ => StepParts::default(),
            },
            _ => StepParts::default(),
        };
        let is_pending =
            |e: &Episode, n: Option<u32>| n.and_then(|n| e.step(n)).is_some_and(|s| s.answer.is_none());
        Row { left: x, right: y, parts, pending: is_pending(a, x) || is_pending(b, y) }
    }));
    rows
}

/// Returns the text by which steps are compared: the action, or the thought of a thought-only step.
pub fn action_or_thought(step: &Step) -> Cow<'_, str> {
    let action = step.executed.as_ref().map(|e| Cow::Borrowed(e.action.as_str()));
    action.or_else(|| step.proposal_text()).unwrap_or_default()
}

fn step_texts(episode: &Episode) -> Vec<Cow<'_, str>> {
    episode.steps.iter().map(|s| action_or_thought(s)).collect()
}

/// Numbers the texts so that texts with equal keys have equal numbers.
fn intern<'t>(ids: &mut HashMap<&'t str, u32>, texts: &'t [Cow<'_, str>], key: fn(&str) -> &str) -> Vec<u32> {
    let number = |text: &'t Cow<'_, str>| {
        let next = ids.len() as u32;
        *ids.entry(key(text)).or_insert(next)
    };
    texts.iter().map(number).collect()
}

fn whole_text(text: &str) -> &str {
    text
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

type IndexPair = (Option<usize>, Option<usize>);

/// Up to this many rows after the first difference, a match of one of its steps means that the other side has a few steps more.
const MAX_INSERTED_ROWS: usize = 3;

/// Returns the aligned index pairs of two lists of texts.
fn align_texts(left: &[Cow<'_, str>], right: &[Cow<'_, str>]) -> Vec<IndexPair> {
    let rows = match_texts(left, right);
    let first = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (Some(a), Some(b)) = (left.get(first), right.get(first)) else { return rows };
    let following = rows.iter().skip(first).take(MAX_INSERTED_ROWS + 1);
    let is_matched_soon = following.filter_map(|row| row.0.zip(row.1)).any(|(a, b)| a == first || b == first);
    if is_matched_soon || is_thought(a) != is_thought(b) {
        return rows;
    }
    let after = first + 1;
    let rest = match_texts(&left[after..], &right[after..]);
    let shifted = |index: Option<usize>| index.map(|index| index + after);
    let aligned = (0..after).map(|index| (Some(index), Some(index)));
    aligned.chain(rest.into_iter().map(|(a, b)| (shifted(a), shifted(b)))).collect()
}

fn match_texts(left: &[Cow<'_, str>], right: &[Cow<'_, str>]) -> Vec<IndexPair> {
    let mut ids = HashMap::new();
    let texts = (intern(&mut ids, left, whole_text), intern(&mut ids, right, whole_text));
    let mut ids = HashMap::new();
    let verbs = (intern(&mut ids, left, first_word), intern(&mut ids, right, first_word));
    let mut rows = Vec::with_capacity(left.len().max(right.len()));
    walk_matches(&texts.0, &texts.1, (0..left.len(), 0..right.len()), &mut |found| match found {
        MatchOrGap::Pair(a, b) => rows.push((Some(a), Some(b))),
        MatchOrGap::Gap(a, b) => walk_matches(&verbs.0, &verbs.1, (a, b), &mut |found| match found {
            MatchOrGap::Pair(a, b) => rows.push((Some(a), Some(b))),
            MatchOrGap::Gap(a, b) => pair_unmatched((left, a), (right, b), &mut rows),
        }),
    });
    rows
}

/// Adds the texts that have no match: side by side if one stands in place of one, but never a thought with a move.
fn pair_unmatched(
    (left, a): (&[Cow<'_, str>], Range<usize>),
    (right, b): (&[Cow<'_, str>], Range<usize>),
    rows: &mut Vec<IndexPair>,
) {
    if a.len() == 1 && b.len() == 1 && is_thought(&left[a.start]) == is_thought(&right[b.start]) {
        rows.push((Some(a.start), Some(b.start)));
        return;
    }
    let starts_with_thought = |texts: &[Cow<'_, str>], range: &Range<usize>| {
        texts.get(range.start).is_some_and(|text| !range.is_empty() && is_thought(text))
    };
    // A thought comes before the action that follows from it.
    let is_right_first = starts_with_thought(right, &b) && !starts_with_thought(left, &a);
    let (a, b) = (a.map(|index| (Some(index), None)), b.map(|index| (None, Some(index))));
    if is_right_first {
        rows.extend(b.chain(a));
    } else {
        rows.extend(a.chain(b));
    }
}

fn is_thought(text: &str) -> bool {
    first_word(text) == "think:"
}

enum MatchOrGap {
    Pair(usize, usize),
    Gap(Range<usize>, Range<usize>),
}

/// Visits the matches within these ranges and the gaps between them, in order.
fn walk_matches(
    a: &[u32],
    b: &[u32],
    within: (Range<usize>, Range<usize>),
    visit: &mut dyn FnMut(MatchOrGap),
) {
    let (mut left, mut right) = within;
    while !left.is_empty() && !right.is_empty() && a[left.start] == b[right.start] {
        visit(MatchOrGap::Pair(left.start, right.start));
        left.start += 1;
        right.start += 1;
    }
    let (ends, begin) = ((left.end, right.end), (left.start, right.start));
    while !left.is_empty() && !right.is_empty() && a[left.end - 1] == b[right.end - 1] {
        left.end -= 1;
        right.end -= 1;
    }
    let tail = left.end..ends.0;
    let middle = lcs(&a[left.clone()], &b[right.clone()]);
    let pairs = middle.into_iter().map(|(i, j)| (begin.0 + i, begin.1 + j));
    for (i, j) in pairs.chain(tail.zip(right.end..ends.1)) {
        if left.start < i || right.start < j {
            visit(MatchOrGap::Gap(left.start..i, right.start..j));
        }
        visit(MatchOrGap::Pair(i, j));
        (left.start, right.start) = (i + 1, j + 1);
    }
    if left.start < ends.0 || right.start < ends.1 {
        visit(MatchOrGap::Gap(left.start..ends.0, right.start..ends.1));
    }
}

/// Returns the parts in which the first observations differ.
fn diff_resets(a: &Episode, b: &Episode) -> StepParts {
    let text = |e: &Episode| {
        e.first_observation
            .as_ref()
            .map(|r| (r.agent_view.clone().unwrap_or_else(|| r.raw.clone()), r.progress))
    };
    let (a, b) = (text(a), text(b));
    let observations_differ = a.as_ref().map(|r| &r.0) != b.as_ref().map(|r| &r.0);
    let progress_differs = a.as_ref().map(|r| r.1) != b.as_ref().map(|r| r.1);
    StepParts::default()
        .insert_if(StepPart::Observation, observations_differ)
        .insert_if(StepPart::Progress, progress_differs)
}

/// Returns the parts in which two steps differ.
fn diff_steps(a: &Step, b: &Step) -> StepParts {
    // The action of a thought-only step is its thought.
    let thought_only = a.is_thought_only() && b.is_thought_only();
    let texts_differ = action_or_thought(a) != action_or_thought(b);
    let decided_by = |s: &Step| s.executed.as_ref().map(|e| e.decided_by);
    let result = |s: &Step| s.answer.as_ref().map(|x| (x.progress, x.won, x.done));
    // An action that is only proposed or not answered yet doesn't count as a different answer.
    let both_executed = a.executed.is_some() && b.executed.is_some();
    let both_answered = a.answer.is_some() && b.answer.is_some();
    StepParts::default()
        .insert_if(StepPart::Action, texts_differ && !thought_only)
        .insert_if(StepPart::Thought, (texts_differ && thought_only) || a.thought != b.thought)
        .insert_if(StepPart::DecidedBy, both_executed && decided_by(a) != decided_by(b))
        .insert_if(StepPart::Observation, both_answered && a.observation() != b.observation())
        .insert_if(StepPart::Progress, both_answered && result(a) != result(b))
}
