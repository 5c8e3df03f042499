//! What of a measurement is kept with its lessons.

use super::{ContrastResult, EffectPlan, EffectResult, EffectScope, MeasuredLesson};
use crate::domain::{LessonId, MeasuredEffect};

/// Returns what is kept of a result with each measured lesson: nothing without pairs, nor of a shard. `date` is the day, as
/// `2026-11-20`.
pub fn kept_results(plan: &EffectPlan, result: &EffectResult, date: &str) -> Vec<(LessonId, MeasuredEffect)> {
    if plan.shard.is_some() {
        return Vec::new();
    }
    // A single lesson's first contrast is about it; of several lessons, each has its own.
    let contrasts = plan.lessons.iter().zip(&result.contrasts);
    contrasts
        .filter(|(_, contrast)| contrast.judged.pairs > 0)
        .map(|(lesson, contrast)| (lesson.id.clone(), measured_effect(plan, lesson, contrast, date)))
        .collect()
}

fn measured_effect(
    plan: &EffectPlan,
    lesson: &MeasuredLesson,
    contrast: &ContrastResult,
    date: &str,
) -> MeasuredEffect {
    let judged = &contrast.judged;
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
        arms: (judged.contrast.first.clone(), judged.contrast.second.clone()),
        outcome: plan.outcome.name().to_owned(),
        pairs: judged.pairs,
        b: judged.counts.first_only,
        c: judged.counts.second_only,
        advice: Some(contrast.advice),
        difference: judged.difference,
        low: judged.low,
        high: judged.high,
        alpha: contrast.alpha,
        margin: contrast.margin,
        verdict: judged.verdict.to_string(),
        live: !plan.frozen,
        model: plan.actor.clone(),
        profile: String::new(),
    }
}
