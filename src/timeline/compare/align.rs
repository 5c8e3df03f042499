//! The steps of two episodes side by side, aligned by what was done.

use super::lcs::lcs;
use crate::domain::Step;
use crate::engine::Episode;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// What of two aligned steps can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The action that ran (or was proposed).
    Action,
    /// What was thought.
    Thought,
    /// Who decided: the actor or a person.
    By,
    /// What the world said.
    Observation,
    /// Progress, won or done after it.
    Progress,
}

impl Part {
    /// All of them, in the order in which they happen.
    pub const ALL: [Self; 5] = [Self::Thought, Self::Action, Self::By, Self::Observation, Self::Progress];

    /// The word for it, in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Thought => "thought",
            Self::By => "by",
            Self::Observation => "observation",
            Self::Progress => "progress",
        }
    }
}

/// Some of the parts of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts(u8);

impl Parts {
    /// Whether this one is among them.
    pub fn has(self, part: Part) -> bool {
        self.0 >> part as u8 & 1 == 1
    }

    /// There are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// All of them, in the order in which they happen.
    pub fn iter(self) -> impl Iterator<Item = Part> {
        Part::ALL.into_iter().filter(move |p| self.has(*p))
    }

    fn with(self, part: Part, there: bool) -> Self {
        Self(self.0 | u8::from(there) << part as u8)
    }
}

/// How the two sides of a row stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing differs.
    Same,
    /// Both have a step here, and something of it differs.
    Changed,
    /// Only the left side has a step here.
    OnlyA,
    /// Only the right side has one.
    OnlyB,
}

/// A row of the alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The step of the left side by its number; 0 is the first observation.
    pub a: Option<u32>,
    /// The step of the right side.
    pub b: Option<u32>,
    /// What of the two differs, where there are two.
    pub parts: Parts,
    /// A side of it is no step yet: its action is only proposed, or the world has not answered.
    pub waits: bool,
}

impl Row {
    /// How its sides stand to each other.
    pub fn kind(&self) -> Kind {
        match (self.a, self.b) {
            (Some(_), None) => Kind::OnlyA,
            (None, _) => Kind::OnlyB,
            (Some(_), Some(_)) if self.parts.is_empty() => Kind::Same,
            (Some(_), Some(_)) => Kind::Changed,
        }
    }

    /// The same row with its sides changed over.
    #[must_use]
    pub fn mirrored(self) -> Self {
        Self { a: self.b, b: self.a, ..self }
    }
}

/// The rows of two episodes: every step of both stands in exactly one, in order, below the row of the first observations.
/// Steps with the same action are put side by side, as many as can be (a longest common subsequence); between them, steps
/// whose actions begin with the same word, and then those that are left, in order.
pub fn align(a: &Episode, b: &Episode) -> Vec<Row> {
    let (mine, other) = (keys(a), keys(b));
    // Of several alignments that are as good, both directions choose the same one.
    let turned = mine > other;
    let pairs = if turned { pairs(&other, &mine) } else { pairs(&mine, &other) };
    let mut rows = vec![Row { a: Some(0), b: Some(0), parts: beginnings(a, b), waits: false }];
    rows.extend(pairs.into_iter().map(|(x, y)| {
        let (x, y) = if turned { (y, x) } else { (x, y) };
        let number = |place: usize| place as u32 + 1;
        let (x, y) = (x.map(number), y.map(number));
        let parts = match (x, y) {
            (Some(x), Some(y)) => match (a.shared_step(x), b.shared_step(y)) {
                (Some(x), Some(y)) if !std::sync::Arc::ptr_eq(x, y) => differing(x, y),
                _ => Parts::default(),
            },
            _ => Parts::default(),
        };
        let waits =
            |e: &Episode, n: Option<u32>| n.and_then(|n| e.step(n)).is_some_and(|s| s.answer.is_none());
        Row { a: x, b: y, parts, waits: waits(a, x) || waits(b, y) }
    }));
    rows
}

/// What a step came to, as far as it can be compared: its action, or its thought where it only thought.
pub fn said(step: &Step) -> Cow<'_, str> {
    let done = step.executed.as_ref().map(|e| Cow::Borrowed(e.action.as_str()));
    done.or_else(|| step.proposal_text()).unwrap_or_default()
}

fn keys(episode: &Episode) -> Vec<Cow<'_, str>> {
    episode.steps.iter().map(|s| said(s)).collect()
}

/// Numbers for texts: the same for the same.
fn numbered<'t>(
    known: &mut HashMap<&'t str, u32>,
    texts: &'t [Cow<'_, str>],
    of: fn(&str) -> &str,
) -> Vec<u32> {
    let number = |text: &'t Cow<'_, str>| {
        let next = known.len() as u32;
        *known.entry(of(text)).or_insert(next)
    };
    texts.iter().map(number).collect()
}

fn whole(text: &str) -> &str {
    text
}

fn verb(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

type Pair = (Option<usize>, Option<usize>);

/// Places side by side.
fn pairs(left: &[Cow<'_, str>], right: &[Cow<'_, str>]) -> Vec<Pair> {
    let mut known = HashMap::new();
    let texts = (numbered(&mut known, left, whole), numbered(&mut known, right, whole));
    let mut known = HashMap::new();
    let verbs = (numbered(&mut known, left, verb), numbered(&mut known, right, verb));
    let mut rows = Vec::with_capacity(left.len().max(right.len()));
    matched(&texts.0, &texts.1, (0..left.len(), 0..right.len()), &mut |found| match found {
        Found::Pair(one, other) => rows.push((Some(one), Some(other))),
        Found::Gap(a, b) => matched(&verbs.0, &verbs.1, (a, b), &mut |found| match found {
            Found::Pair(one, other) => rows.push((Some(one), Some(other))),
            Found::Gap(a, b) => leftover((left, a), (right, b), &mut rows),
        }),
    });
    rows
}

/// What has nothing in common, as it comes; a thought never stands beside a move.
fn leftover(
    (left, mut a): (&[Cow<'_, str>], Range<usize>),
    (right, mut b): (&[Cow<'_, str>], Range<usize>),
    rows: &mut Vec<Pair>,
) {
    let thinks = |list: &[Cow<'_, str>], place: usize| verb(&list[place]) == "think:";
    while !a.is_empty() && !b.is_empty() {
        let (one, other) = (thinks(left, a.start), thinks(right, b.start));
        let (takes, gives) = (one || !other, other || !one);
        rows.push((takes.then_some(a.start), gives.then_some(b.start)));
        a.start += usize::from(takes);
        b.start += usize::from(gives);
    }
    rows.extend(a.map(|at| (Some(at), None)));
    rows.extend(b.map(|at| (None, Some(at))));
}

enum Found {
    Pair(usize, usize),
    Gap(Range<usize>, Range<usize>),
}

/// Goes through what is common in these ranges, and through what lies between, in order.
fn matched(a: &[u32], b: &[u32], within: (Range<usize>, Range<usize>), tell: &mut dyn FnMut(Found)) {
    let (mut left, mut right) = within;
    while !left.is_empty() && !right.is_empty() && a[left.start] == b[right.start] {
        tell(Found::Pair(left.start, right.start));
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
            tell(Found::Gap(left.start..i, right.start..j));
        }
        tell(Found::Pair(i, j));
        (left.start, right.start) = (i + 1, j + 1);
    }
    if left.start < ends.0 || right.start < ends.1 {
        tell(Found::Gap(left.start..ends.0, right.start..ends.1));
    }
}

/// What of the first observations differs.
fn beginnings(a: &Episode, b: &Episode) -> Parts {
    let text = |e: &Episode| {
        e.first_observation
            .as_ref()
            .map(|r| (r.agent_view.clone().unwrap_or_else(|| r.raw.clone()), r.progress))
    };
    let (a, b) = (text(a), text(b));
    let seen = a.as_ref().map(|r| &r.0) != b.as_ref().map(|r| &r.0);
    let progress = a.as_ref().map(|r| r.1) != b.as_ref().map(|r| r.1);
    Parts::default().with(Part::Observation, seen).with(Part::Progress, progress)
}

/// What of two steps differs.
fn differing(a: &Step, b: &Step) -> Parts {
    // What only thinks has its thought for an action.
    let thinking = a.is_thought_only() && b.is_thought_only();
    let done = said(a) != said(b);
    let by = |s: &Step| s.executed.as_ref().map(|e| e.decided_by);
    let after = |s: &Step| s.answer.as_ref().map(|x| (x.progress, x.won, x.done));
    // What is only proposed, or not answered yet, is not another answer.
    let taken = a.executed.is_some() && b.executed.is_some();
    let answered = a.answer.is_some() && b.answer.is_some();
    Parts::default()
        .with(Part::Action, done && !thinking)
        .with(Part::Thought, (done && thinking) || a.thought != b.thought)
        .with(Part::By, taken && by(a) != by(b))
        .with(Part::Observation, answered && a.observation() != b.observation())
        .with(Part::Progress, answered && after(a) != after(b))
}
