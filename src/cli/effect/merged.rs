//! `lessons effect --merge`: judges the logs of shards as one measurement.

use super::output::ResultPrinter;
use super::{Measured, log_error};
use crate::cli::error::{CliError, CliErrorKind};
use crate::driver::measure::{LOG_NAME, is_earlier_part, merge_logs, missing_shards, read_log};
use crate::files;
use crate::timeline::effect::{EffectLog, EffectRecord, EffectResult};
use std::path::{Path, PathBuf};

/// Reads the logs, writes the merged one beside the first of them, and returns its result.
pub(super) fn merge(paths: &[PathBuf], printer: &mut ResultPrinter<'_>) -> Result<Measured, CliError> {
    let mut logs = Vec::new();
    for path in paths {
        logs.push((path.display().to_string(), read_log(path).map_err(|error| log_error(&error))?));
    }
    let records = merge_logs(&logs).map_err(|error| {
        CliError::new(CliErrorKind::File, error.to_string(), "name the logs of the shards of one measurement")
    })?;
    let (missing, shards) = missing_shards(&logs);
    if !missing.is_empty() {
        let numbers: Vec<String> = missing.iter().map(u32::to_string).collect();
        printer.out().print_note(&format!(
            "--merge: not complete: no log of shard {} of {shards}; their pairs don't count, and no merged log is written",
            numbers.join(", ")
        ));
    } else if let Some(path) =
        paths.first().and_then(|path| path.parent()).map(|folder| folder.join(LOG_NAME))
    {
        // The log of one process is judged as it is.
        if !paths.contains(&path) {
            write_log(&path, &records, &logs, printer)?;
        }
    }
    let mut log: Option<EffectLog> = None;
    for record in records {
        match (&mut log, &record) {
            (None, EffectRecord::Planned(plan)) => log = Some(EffectLog::new((**plan).clone())),
            (None, _) => {}
            (Some(log), _) => log.apply(record.clone()),
        }
        if let Some(log) = &log {
            printer.on_record(log, &record)?;
        }
    }
    let Some(log) = log else {
        return Err(CliError::usage("--merge: no logs", "name the logs of all shards"));
    };
    Ok(Measured { plan: log.plan().clone(), result: EffectResult::from_log(&log) })
}

/// Writes the merged log, unless a log is there that says more than the merged ones.
fn write_log(
    path: &Path,
    records: &[EffectRecord],
    logs: &[(String, Vec<EffectRecord>)],
    printer: &mut ResultPrinter<'_>,
) -> Result<(), CliError> {
    let mut bytes = Vec::new();
    for record in records {
        bytes.extend(serde_json::to_vec(record).unwrap_or_default());
        bytes.push(b'\n');
    }
    if path.exists() {
        let known = read_log(path).map_err(|error| log_error(&error))?;
        if !records.starts_with(&known) && !is_earlier_part(&known, logs, records) {
            printer.out().print_note(&format!(
                "{}: not replaced, it has records that these logs don't have; to write the merged log, move that file away and merge again",
                path.display()
            ));
            return Ok(());
        }
    }
    files::replace(path, &bytes)
        .map_err(|error| CliError::file(path, "the merged log could not be written", &error))
}
