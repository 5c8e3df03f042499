//! Keeps the results of a measurement with its lessons, in the pool file.

use super::Measured;
use super::design::Prepared;
use crate::cli::config::Config;
use crate::cli::error::CliError;
use crate::cli::lessons::append_and_report;
use crate::cli::output::Output;
use crate::cli::pool::{PoolFile, PoolLine};
use crate::domain::{LessonOp, MeasuredEffect};
use crate::driver::wall_clock_now;
use crate::timeline::effect::{ContrastResult, EffectPlan, EffectScope, MeasuredLesson};
use std::path::Path;

/// Appends what was measured to the lessons of the pool. Lessons that the pool doesn't have keep their log only.
pub(super) fn store_result(
    config: &Config,
    path: &Path,
    column: &Prepared,
    done: &Measured,
    out: &mut Output,
) -> Result<(), CliError> {
    let plan = &column.measurement.plan;
    if plan.shard.is_some() || !path.exists() {
        return Ok(());
    }
    let mut pool = PoolFile::read(path)?;
    let now = wall_clock_now();
    let contrasts = done.result.contrasts.iter();
    // A single lesson's first contrast is about it; of several lessons, each has its own.
    let results: Vec<(&MeasuredLesson, &ContrastResult)> = done.plan.lessons.iter().zip(contrasts).collect();
    let mut lines: Vec<PoolLine> = Vec::new();
    for (lesson, contrast) in results {
        if contrast.judged.pairs == 0 || !pool.lessons().any(|known| known.id == lesson.id) {
            continue;
        }
        let measured = measured_effect(&done.plan, lesson, contrast, &now.to_string());
        let op = LessonOp::Measured { id: lesson.id.clone(), measured: Box::new(measured) };
        lines.push(PoolLine::new(now, op));
    }
    lines.retain(|line| pool.merge_line(line.clone()));
    append_and_report(config, path, &lines, out)
}

fn measured_effect(
    plan: &EffectPlan,
    lesson: &MeasuredLesson,
    contrast: &ContrastResult,
    now: &str,
) -> MeasuredEffect {
    let judged = &contrast.judged;
    let scope = match plan.scope {
        EffectScope::Moment => "moment",
        EffectScope::Tasks => "tasks",
        EffectScope::These => "these",
    };
    MeasuredEffect {
        date: now.chars().take(10).collect(),
        effect: plan.effect.clone(),
        version: lesson.version,
        scope: scope.to_owned(),
        column: plan.column.map(|column| column.to_string()),
        arms: (judged.contrast.first.clone(), judged.contrast.second.clone()),
        outcome: plan.outcome.name().to_owned(),
        pairs: judged.pairs,
        b: judged.counts.first_only,
        c: judged.counts.second_only,
        difference: judged.difference,
        low: judged.low,
        high: judged.high,
        alpha: contrast.alpha,
        margin: contrast.margin,
        verdict: judged.verdict.to_string(),
        model: plan.actor.clone(),
        profile: String::new(),
    }
}
