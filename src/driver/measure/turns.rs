//! Measurements that advance in turn, such as both columns of a panel: whoever stops early has something of each.

use super::design::Measurement;
use super::log_file::{LogFile, LogFileError};
use super::player::Wanted;
use super::runner::{MeasureError, MeasureOptions, MeasureUpdate, continue_measurement};
use crate::timeline::effect::EffectLog;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long a measurement advances before the next one does, if it plays one episode at a time.
const TURN: Duration = Duration::from_millis(250);
/// How long if it plays several at once: at the end of a turn some of them wait for the last one.
const TURN_OF_SEVERAL: Duration = Duration::from_secs(60);

/// A measurement with its log.
pub struct OpenMeasurement<'a> {
    measurement: &'a Measurement,
    file: LogFile,
    /// What the file has; `None` if it is new.
    log: Option<EffectLog>,
}

impl<'a> OpenMeasurement<'a> {
    /// Opens the log of a measurement, or creates it.
    ///
    /// # Errors
    /// Returns [`LogFileError`] as [`LogFile::open`] does.
    pub fn open(measurement: &'a Measurement, log: &Path) -> Result<Self, LogFileError> {
        let (file, records) = LogFile::open(log)?;
        Ok(Self { measurement, file, log: EffectLog::fold(records) })
    }
}

/// Receives what the measurements tell ([`OnUpdate`](super::OnUpdate)), each with the position of its measurement.
pub type OnUpdateInTurn<'a> = dyn FnMut(usize, &EffectLog, MeasureUpdate<'_>) + 'a;

/// Plays measurements in turn until each has stopped, and returns their logs. The turns change no numbers: each measurement has a
/// log of its own. A limit in minutes counts from here for all of them.
///
/// # Errors
/// Returns the first [`MeasureError`]; what was recorded before stays.
pub fn measure_in_turn(
    measurements: Vec<OpenMeasurement<'_>>,
    options: MeasureOptions,
    wanted: &watch::Receiver<Wanted>,
    on_update: &mut OnUpdateInTurn<'_>,
) -> Result<Vec<EffectLog>, MeasureError> {
    let usual = match (measurements.len(), options.jobs) {
        (..=1, _) => None,
        (_, ..=1) => Some(TURN),
        _ => Some(TURN_OF_SEVERAL),
    };
    let options = MeasureOptions { turn: options.turn.or(usual), begun: Some(Instant::now()), ..options };
    let mut stopped: Vec<(usize, EffectLog)> = Vec::new();
    let mut open: Vec<(usize, OpenMeasurement<'_>)> = measurements.into_iter().enumerate().collect();
    while !open.is_empty() {
        let mut unfinished = Vec::new();
        for (index, mut current) in open {
            let mut on_own_update =
                |log: &EffectLog, update: MeasureUpdate<'_>| on_update(index, log, update);
            let log = continue_measurement(
                current.measurement,
                (Some(&mut current.file), current.log.take()),
                options,
                wanted.clone(),
                &mut on_own_update,
            )?;
            if log.stopped().is_some() {
                stopped.push((index, log));
            } else {
                unfinished.push((index, OpenMeasurement { log: Some(log), ..current }));
            }
        }
        open = unfinished;
    }
    stopped.sort_unstable_by_key(|(index, _)| *index);
    Ok(stopped.into_iter().map(|(_, log)| log).collect())
}
