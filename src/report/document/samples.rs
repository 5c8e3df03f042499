//! What the samples of a step proposed: one line for its own prompt, and one for each lesson that was left out or added.

use crate::domain::{Sample, SampleGroup, SampleStatus, SampledLesson, Step, count_proposals, pluralize};
use crate::engine::State;

/// Samples of the same prompt.
#[derive(Clone, Debug)]
pub struct SampleFacts<'a> {
    lesson: Option<&'a SampledLesson>,
    requested: u32,
    samples: Vec<&'a Sample>,
}

impl<'a> SampleFacts<'a> {
    fn new(groups: &[&'a SampleGroup]) -> Option<Self> {
        let lesson = groups.first()?.request.lesson.as_ref();
        let requested = groups.iter().map(|group| group.request.count).fold(0, u32::saturating_add);
        let samples = groups.iter().flat_map(|group| group.samples.iter().map(AsRef::as_ref)).collect();
        Some(Self { lesson, requested, samples })
    }

    /// Returns the words: how many samples arrived, and the distinct proposals with their counts. Each part says whether it
    /// is a proposal, text from outside.
    pub(super) fn parts(&self) -> Vec<(bool, String)> {
        let replied = self.samples.iter().filter(|s| s.status == SampleStatus::Replied).count();
        let failed = self.samples.len() - replied;
        let count = match pluralize(u64::from(self.requested), "sample") {
            all if replied == self.requested as usize => all,
            all => format!("{replied} of {all}"),
        };
        let lesson = self.lesson.map_or_else(String::new, |lesson| {
            format!(" {} lesson {}", if lesson.added { "with" } else { "without" }, lesson.number)
        });
        let failed = if failed == 0 { String::new() } else { format!(" ({failed} failed)") };
        let mut parts = vec![(false, format!("{count}{lesson}{failed}"))];
        let counts = count_proposals(self.samples.iter().copied());
        let known: usize = counts.iter().map(|known| known.count).sum();
        let is_single = counts.len() == 1 && known == replied;
        for (index, known) in counts.into_iter().enumerate() {
            parts.push((false, if index == 0 { ": " } else { ", " }.to_owned()));
            parts.push((true, known.proposal));
            if !is_single {
                parts.push((false, format!(" ({})", known.count)));
            }
        }
        if known < replied {
            let start = if known == 0 { ":" } else { "," };
            parts.push((false, format!("{start} {} unusable", replied - known)));
        }
        parts
    }
}

/// Returns the samples of a step, for each prompt of which it has any.
pub(super) fn samples_of(step: &Step) -> Vec<SampleFacts<'_>> {
    let key = |group: &SampleGroup| {
        let lesson = group.request.lesson.as_ref();
        (group.request.prompt_sha256.clone(), lesson.map(|l| (l.id.clone(), l.added)))
    };
    let mut arms: Vec<(_, Vec<&SampleGroup>)> = Vec::new();
    for group in step.samples.iter().filter(|group| !group.samples.is_empty()) {
        let arm = key(group);
        match arms.iter_mut().find(|known| known.0 == arm) {
            Some(known) => known.1.push(group),
            None => arms.push((arm, vec![group])),
        }
    }
    arms.iter().filter_map(|(_, groups)| SampleFacts::new(groups)).collect()
}

/// Returns the samples of a request whose last one has just ended.
pub(super) fn finished_samples(group: u32, after: &State) -> Option<SampleFacts<'_>> {
    if after.open_samples.iter().any(|open| open.request.group == group) {
        return None;
    }
    let steps = &after.episode.as_deref()?.steps;
    // Samples are usually those of the last step.
    let groups = steps.iter().rev().flat_map(|step| &step.samples);
    let ended =
        groups.filter(|known| known.request.group == group).find(|known| !known.samples.is_empty())?;
    SampleFacts::new(&[ended])
}
