//! What of a measurement is kept with its lessons.

use super::{
    Contrast, ContrastResult, EffectPlan, EffectResult, EffectScope, Exploratory, MeasuredLesson, Verdict,
};
use crate::domain::{LessonId, MeasuredEffect, MeasuredWording, WordingComparison};

/// Returns what is kept of a result with each measured lesson: nothing without pairs, nor of a shard. `date` is the day, as
/// `2026-11-20`.
pub fn kept_results(plan: &EffectPlan, result: &EffectResult, date: &str) -> Vec<(LessonId, MeasuredEffect)> {
    if plan.shard.is_some() {
        return Vec::new();
    }
    // What another wording or a placebo did isn't the lesson's effect; the wording's stands beside it.
    let own = result.contrasts.iter().filter(|contrast| is_about_lesson(contrast));
    // Of several lessons, each has its own contrast, in their order; those of groups follow.
    let contrasts = plan.lessons.iter().zip(own);
    contrasts
        .filter(|(_, contrast)| contrast.judged.pairs > 0)
        .map(|(lesson, contrast)| {
            let edited = measured_wording(plan, result);
            (lesson.id.clone(), MeasuredEffect { edited, ..measured_effect(plan, lesson, contrast, date) })
        })
        .collect()
}

/// Returns what another wording did, if there was one.
fn measured_wording(plan: &EffectPlan, result: &EffectResult) -> Option<MeasuredWording> {
    let text = plan.edited.clone()?;
    let is_of_wording =
        |contrast: &&ContrastResult| contrast.judged.contrast.first == "edited" && contrast.judged.pairs > 0;
    let compare = |contrast: &ContrastResult| {
        let judged = &contrast.judged;
        let is_fact = contrast.fact.is_some();
        let verdict = match contrast.exploratory {
            _ if is_fact => Some("deterministic".to_owned()),
            // It follows from the verdicts that it helped.
            Some(Exploratory::Helped) => Some(Verdict::Helped.to_string()),
            _ => contrast.has_claim.then(|| judged.verdict.to_string()),
        };
        let Contrast { first, second } = judged.contrast.clone();
        WordingComparison {
            arms: (first, second),
            pairs: judged.pairs,
            b: judged.counts.first_only,
            c: judged.counts.second_only,
            difference: judged.difference.filter(|_| !is_fact),
            low: judged.low,
            high: judged.high,
            verdict,
        }
    };
    let compared: Vec<WordingComparison> =
        result.contrasts.iter().filter(is_of_wording).map(compare).collect();
    (!compared.is_empty()).then_some(MeasuredWording { text, compared })
}

/// Returns whether a contrast compares plays with a lesson as it is with plays without it.
fn is_about_lesson(contrast: &ContrastResult) -> bool {
    let Contrast { first, second } = &contrast.judged.contrast;
    let is_left_out = (first == "with" || first == "all") && second.starts_with("without");
    is_left_out || second == MeasuredEffect::EMPTY_POOL || first.starts_with(MeasuredEffect::JOINED)
}

/// Returns the lessons that say nearly the same as one that was left out, and stayed in.
fn similar_lessons(plan: &EffectPlan, lesson: &MeasuredLesson, contrast: &ContrastResult) -> Vec<LessonId> {
    if contrast.judged.contrast.second == MeasuredEffect::EMPTY_POOL {
        return Vec::new();
    }
    let groups = plan.groups.iter().filter(|group| group.contains(&lesson.id));
    groups.flatten().filter(|id| **id != lesson.id).cloned().collect()
}

fn measured_effect(
    plan: &EffectPlan,
    lesson: &MeasuredLesson,
    contrast: &ContrastResult,
    date: &str,
) -> MeasuredEffect {
    let judged = &contrast.judged;
    // Of several lessons, some look helpful or harmful by chance.
    let is_chance =
        contrast.marked == Some(false) && matches!(judged.verdict, Verdict::Helped | Verdict::Harmful);
    let verdict = if is_chance { Verdict::Undecided } else { judged.verdict };
    let scope = match plan.scope {
        EffectScope::Moment => "moment",
        EffectScope::Tasks => "tasks",
        EffectScope::These => "these",
    };
    MeasuredEffect {
        date: date.to_owned(),
        effect: plan.effect.clone(),
        version: lesson.version,
        scope: scope.to_owned(),
        column: plan.column.map(|column| column.to_string()),
        start: Some(plan.start.clone()),
        task: match (plan.scope, plan.tasks.as_slice()) {
            (EffectScope::Moment, [planned, ..]) => Some(planned.task.id.clone()),
            _ => None,
        },
        asked: plan.asked.clone(),
        arms: (judged.contrast.first.clone(), judged.contrast.second.clone()),
        outcome: plan.outcome.name().to_owned(),
        pairs: judged.pairs,
        b: judged.counts.first_only,
        c: judged.counts.second_only,
        advice: Some(contrast.advice),
        fact: contrast.fact,
        difference: judged.difference,
        low: judged.low,
        high: judged.high,
        alpha: contrast.alpha,
        margin: contrast.margin,
        verdict: verdict.to_string(),
        beside: similar_lessons(plan, lesson, contrast),
        edited: None,
        live: !plan.frozen,
        model: plan.actor.clone(),
        profile: String::new(),
    }
}
