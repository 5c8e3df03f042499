//! What the measurements kept with a lesson say about its use.

use super::{Finding, LessonRef};
use crate::domain::{Lesson, MeasuredEffect};
use crate::timeline::effect::Verdict;

/// Returns what measurements of a lesson's present text have found, if it isn't good: harmful with more toxic than effective
/// pairs, or no effect seen in some column and nothing else shown in any other. That a lesson has no effect beside another one that says
/// nearly the same is no reason to retire it: both might be retired.
pub(super) fn measured_finding(lesson: &Lesson) -> Option<Finding> {
    let is_present = |result: &&MeasuredEffect| result.version == lesson.version() && result.pairs > 0;
    let results: Vec<&MeasuredEffect> =
        MeasuredEffect::latest(&*lesson.measured).into_iter().filter(is_present).collect();
    let has_verdict = |result: &MeasuredEffect, verdict: Verdict| result.verdict == verdict.to_string();
    let toxic = results.iter().filter(|result| has_verdict(result, Verdict::Harmful)).find_map(|result| {
        let pairs = result.advice.filter(|pairs| pairs.toxic > pairs.effective)?;
        Some(Finding::Toxic { lesson: LessonRef::new(lesson), measured: result.describe(), pairs })
    });
    let does_something = |result: &MeasuredEffect| result.fact.is_some_and(|fact| fact.won.0 != fact.won.1);
    let is_open = |result: &&MeasuredEffect| {
        if does_something(result) {
            return false;
        }
        has_verdict(result, Verdict::NoEffectSeen) || has_verdict(result, Verdict::Undecided)
    };
    toxic.or_else(|| {
        let is_unseen = |result: &&&MeasuredEffect| {
            has_verdict(result, Verdict::NoEffectSeen) && result.beside.is_empty()
        };
        let unseen = results.iter().rfind(is_unseen)?;
        let measured = unseen.describe();
        results
            .iter()
            .all(is_open)
            .then(|| Finding::WithoutEffect { lesson: LessonRef::new(lesson), measured })
    })
}
