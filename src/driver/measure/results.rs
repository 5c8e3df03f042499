//! The results of the measurements beside a session: what each log says about its lessons.

use super::log_file::{LOG_NAME, read_log};
use crate::domain::{LessonId, MeasuredEffect};
use crate::driver::wall_clock_now;
use crate::timeline::ReportProgress;
use crate::timeline::effect::{EffectLog, EffectResult, kept_results};
use jiff::Timestamp;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// The maximum number of measurements that are read.
const MAX_READ: usize = 500;

/// Returns the folder of the measurements of the session in `dir`.
pub fn measurements_folder(dir: &Path) -> PathBuf {
    dir.join("effects")
}

/// Reads the results of all measurements in a folder, those of deleted lessons too, in the order of their days. A folder
/// without a readable log has no result; measuring again says what is wrong with it.
///
/// # Errors
/// Returns a message if the work was cancelled.
pub fn read_results(
    folder: &Path,
    report: &ReportProgress<'_>,
) -> Result<Vec<(LessonId, MeasuredEffect)>, String> {
    let mut logs = newest_logs(folder);
    logs.sort();
    let mut results = Vec::new();
    for (number, log) in (0..).zip(&logs) {
        report(number, logs.len() as u64)?;
        let Some(known) = read_log(log).ok().and_then(EffectLog::fold) else { continue };
        let date = day_of(modified(log));
        results.extend(kept_results(known.plan(), &EffectResult::without_bootstrap(&known), &date));
    }
    results.sort_by(|a, b| a.1.date.cmp(&b.1.date));
    Ok(results)
}

/// Returns the logs of the measurements in a folder, the last written first, at most 500.
pub fn newest_logs(folder: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut logs: Vec<PathBuf> =
        folders.map(|entry| entry.path().join(LOG_NAME)).filter(|log| log.is_file()).collect();
    logs.sort_by_cached_key(|log| Reverse(modified(log)));
    logs.truncate(MAX_READ);
    logs
}

/// Formats the day of a time, as `2026-11-20`.
pub fn day_of(time: Timestamp) -> String {
    time.to_string().chars().take(10).collect()
}

/// Returns when a file was written last; now if that isn't known.
pub fn modified(file: &Path) -> Timestamp {
    let time = std::fs::metadata(file).and_then(|metadata| metadata.modified());
    time.ok().and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_else(wall_clock_now)
}
