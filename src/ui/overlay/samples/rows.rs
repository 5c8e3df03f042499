//! The distinct proposals among the samples of a step.

use crate::domain::{LessonId, Sample, SampleGroup, SampleStatus, Step, TokenCounts, count_proposals};
use crate::engine::State;

/// A distinct proposal, or why samples have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The action, `think: ...`, or what went wrong.
    pub(super) text: String,
    /// The number of samples of the step's own prompt and of the other prompt.
    pub(super) counts: [usize; 2],
    /// Whether it is the step's own proposal.
    pub(super) is_own: bool,
    pub(super) kind: RowKind,
    /// The thoughts before it, each with the number of its sample.
    pub(super) thoughts: Vec<(u32, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    Proposal,
    /// Replies without an action or a thought.
    Unusable,
    /// Calls that failed.
    Failed,
}

impl Row {
    pub(super) fn is_proposal(&self) -> bool {
        self.kind == RowKind::Proposal
    }
}

/// The samples of a step's present prompt: of the prompt itself, and of the one with or without a lesson.
pub(super) struct Table<'a> {
    step: &'a Step,
    /// The groups of the step's own prompt, and those of the other prompt.
    arms: [Vec<&'a SampleGroup>; 2],
    compares_lesson: bool,
}

impl<'a> Table<'a> {
    /// Collects the samples. Those of a prompt that the step no longer has are left out.
    pub(super) fn new(step: &'a Step, state: &'a State, lesson: Option<&LessonId>) -> Self {
        let last = state.actor_prompts.0.as_ref().filter(|prompt| Some(prompt.call) == step.call);
        let hash = last.map(|prompt| prompt.sha256.as_str());
        let newest = || step.samples.last().map(|group| group.request.prompt_sha256.as_str());
        let hash = hash.or_else(newest);
        let current = || step.samples.iter().filter(|g| Some(g.request.prompt_sha256.as_str()) == hash);
        let own = current().filter(|group| group.request.lesson.is_none()).collect();
        let is_other = |group: &&SampleGroup| {
            lesson.is_some() && group.request.lesson.as_ref().map(|sampled| &sampled.id) == lesson
        };
        Self { step, arms: [own, current().filter(is_other).collect()], compares_lesson: lesson.is_some() }
    }

    /// Returns whether no sample of the prompt in question has been requested.
    pub(super) fn is_empty(&self) -> bool {
        self.arms[usize::from(self.compares_lesson)].is_empty()
    }

    pub(super) fn has_group(&self, number: u32) -> bool {
        self.groups().any(|group| group.request.group == number)
    }

    fn groups(&self) -> impl Iterator<Item = &&'a SampleGroup> {
        self.arms.iter().flatten()
    }

    /// Returns how many samples of an arm were requested.
    pub(super) fn requested(&self, arm: usize) -> u32 {
        self.arms[arm].iter().map(|group| group.request.count).fold(0, u32::saturating_add)
    }

    /// Returns the samples of an arm that have ended.
    pub(super) fn samples(&self, arm: usize) -> impl Iterator<Item = &'a Sample> {
        self.arms[arm].iter().flat_map(|group| group.samples.iter().map(AsRef::as_ref))
    }

    /// Returns how many replies an arm has. If a lesson is compared, the step's own reply counts as one of its prompt.
    pub(super) fn replies(&self, arm: usize) -> usize {
        let replied = self.samples(arm).filter(|sample| sample.status == SampleStatus::Replied).count();
        replied + usize::from(self.counts_own(arm))
    }

    fn counts_own(&self, arm: usize) -> bool {
        self.compares_lesson && arm == 0
    }

    /// Returns whether the lesson was added in the other prompt; `None` if nothing was sampled with it.
    pub(super) fn is_added(&self) -> Option<bool> {
        self.arms[1].first().and_then(|group| group.request.lesson.as_ref()).map(|lesson| lesson.added)
    }

    /// Returns what the samples have cost.
    pub(super) fn spent(&self) -> TokenCounts {
        let mut spent = TokenCounts::default();
        for sample in self.samples(0).chain(self.samples(1)) {
            spent.add(&sample.usage);
        }
        spent
    }

    /// Returns the rows: proposals, the most frequent first, then what can't be run.
    pub(super) fn rows(&self) -> Vec<Row> {
        let own = self.step.proposal_text();
        let mut rows: Vec<Row> = Vec::new();
        let row = |text: &str, kind| Row {
            text: text.to_owned(),
            counts: [0, 0],
            is_own: kind == RowKind::Proposal && own.as_deref() == Some(text),
            kind,
            thoughts: Vec::new(),
        };
        for arm in 0..2 {
            for known in count_proposals(self.samples(arm)) {
                find_or_add(&mut rows, row(&known.proposal, RowKind::Proposal)).counts[arm] += known.count;
            }
        }
        if let Some(text) = own.as_deref().filter(|_| !self.is_empty()) {
            let known = find_or_add(&mut rows, row(text, RowKind::Proposal));
            known.counts[0] += usize::from(self.counts_own(0));
            let thought = self.step.thought.clone().filter(|_| self.step.proposed.is_some());
            known.thoughts.extend(thought.map(|thought| (0, thought)));
        }
        for known in &mut rows {
            let samples = self.samples(0).chain(self.samples(1));
            let same = samples.filter(|sample| sample.action.as_deref() == Some(&*known.text));
            known.thoughts.extend(same.filter_map(|s| Some((s.number, s.thought.clone()?))));
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.counts[0] + row.counts[1]));
        for arm in 0..2 {
            for sample in self.samples(arm) {
                let (text, kind) = match sample.status {
                    SampleStatus::Replied if sample.proposal().is_none() => {
                        ("no action in the reply".to_owned(), RowKind::Unusable)
                    }
                    SampleStatus::Failed => {
                        let error = sample.error.as_deref().unwrap_or("no reply");
                        (format!("failed: {error}"), RowKind::Failed)
                    }
                    SampleStatus::Replied | SampleStatus::Cancelled => continue,
                };
                find_or_add(&mut rows, row(&text, kind)).counts[arm] += 1;
            }
        }
        rows
    }
}

fn find_or_add(rows: &mut Vec<Row>, new: Row) -> &mut Row {
    let index = rows.iter().position(|row| row.text == new.text && row.kind == new.kind);
    let index = index.unwrap_or_else(|| {
        rows.push(new);
        rows.len() - 1
    });
    &mut rows[index]
}
