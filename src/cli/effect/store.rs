//! Keeps the results of a measurement with its lessons, in the pool file.

use super::Measured;
use crate::cli::config::Config;
use crate::cli::error::CliError;
#[cfg(feature = "tui")]
use crate::cli::lessons::append;
use crate::cli::lessons::append_and_report;
use crate::cli::output::Output;
use crate::cli::pool::{PoolFile, PoolLine};
use crate::domain::{LessonId, LessonOp, MeasuredEffect};
use crate::driver::measure::day_of;
use crate::driver::wall_clock_now;
use crate::timeline::effect::kept_results;
use std::path::Path;

/// Appends what was measured to the lessons of the pool. Lessons that the pool doesn't have keep their log only.
pub(super) fn store_result(
    config: &Config,
    path: &Path,
    done: &Measured,
    out: &mut Output,
) -> Result<(), CliError> {
    let results = kept_results(&done.plan, &done.result, &day_of(wall_clock_now()));
    // Nothing is kept of a shard.
    if results.is_empty() || !path.exists() {
        return Ok(());
    }
    append_and_report(config, path, &new_lines(path, results)?, out)
}

/// Appends results to the lessons of a pool file, without a message. Those that it has, and lessons that it doesn't have, are
/// left out.
#[cfg(feature = "tui")]
pub(super) fn store_quietly(
    config: &Config,
    path: &Path,
    results: Vec<(LessonId, MeasuredEffect)>,
) -> Result<(), CliError> {
    if !path.exists() {
        return Ok(());
    }
    append(config, path, &new_lines(path, results)?).map(drop)
}

fn new_lines(path: &Path, results: Vec<(LessonId, MeasuredEffect)>) -> Result<Vec<PoolLine>, CliError> {
    let mut pool = PoolFile::read(path)?;
    let now = wall_clock_now();
    let line = |(id, measured): (LessonId, MeasuredEffect)| {
        PoolLine::new(now, LessonOp::Measured { id, measured: Box::new(measured) })
    };
    let mut lines: Vec<PoolLine> = results.into_iter().map(line).collect();
    lines.retain(|line| pool.merge_line(line.clone()));
    Ok(lines)
}
