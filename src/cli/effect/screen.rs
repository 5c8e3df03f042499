//! Measurements for the screen.

use super::design::{describe_estimate, design_panel};
use crate::cli::config::Config;
use crate::cli::error::CliError;
use crate::cli::locate;
use crate::driver::Store;
use crate::driver::measure::{
    LogFile, MeasureChoices, MeasureOptions, MeasuredSession, Measurement, Wanted, measure, read_log,
};
use crate::timeline::effect::{EffectLog, EffectRecord, EffectResult, StopReason};
use crate::ui::effect::{EffectColumn, EffectPhase, EffectProgress, EffectQuery};
use crate::ui::types::WorkProgress;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// How often the pairs so far are shown.
const SHOW_INTERVAL: Duration = Duration::from_millis(100);
/// How long to wait before an episode that couldn't be played is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(2);

/// Plans and runs the measurements of the session on the screen.
#[derive(Clone)]
pub(in crate::cli) struct ScreenMeasurement {
    config: Config,
    /// The folder of the measurements.
    root: PathBuf,
}

/// A column with its log.
struct Column {
    measurement: Measurement,
    log: PathBuf,
    shown: EffectColumn,
}

impl ScreenMeasurement {
    /// Creates the service for the session in `dir`. Those of a demo, and of a session without a folder, go to the folder of
    /// the sessions.
    pub(in crate::cli) fn new(config: &Config, dir: &Path, is_demo: bool) -> Self {
        let has_folder = !is_demo && !dir.as_os_str().is_empty();
        let parent = if has_folder { dir.to_owned() } else { locate::sessions_folder(config) };
        Self { config: config.clone(), root: parent.join("effects") }
    }

    /// Plans the measurement of a lesson, with the pairs that are in its logs.
    pub(in crate::cli) fn plan(
        &self,
        (store, query): &(Arc<Store>, EffectQuery),
        progress: &WorkProgress,
    ) -> Result<EffectProgress, String> {
        let columns = self.columns(store, query, progress)?;
        Ok(in_phase(query, EffectPhase::Idle, columns.iter().map(|column| &column.shown)))
    }

    /// Plays the episodes of both columns, one column after the other.
    pub(in crate::cli) fn run(
        &self,
        (store, query): &(Arc<Store>, EffectQuery),
        progress: &WorkProgress,
        send: &dyn Fn(EffectProgress),
    ) -> Result<EffectProgress, String> {
        let mut columns = self.columns(store, query, progress)?;
        let (sender, wanted) = watch::channel(Wanted::Running);
        let (done, is_done) = oneshot::channel::<()>();
        let watcher = stop_when_cancelled(progress.clone(), sender, is_done)?;
        let mut outcome = Ok(());
        for index in 0..columns.len() {
            if *wanted.borrow() == Wanted::Stopped || outcome.is_err() {
                break;
            }
            outcome = run_column(&mut columns, index, query, wanted.clone(), send);
        }
        // The watcher ends, whether or not it still listens.
        drop(done);
        let _ = watcher.join();
        outcome?;
        Ok(in_phase(query, EffectPhase::Idle, columns.iter().map(|column| &column.shown)))
    }

    fn columns(
        &self,
        store: &Arc<Store>,
        query: &EffectQuery,
        progress: &WorkProgress,
    ) -> Result<Vec<Column>, String> {
        let timeline = store.timeline();
        let head = timeline.head().clone();
        let lesson = head.pool.get(&query.lesson).cloned().ok_or("this lesson is not in the present pool")?;
        let session = MeasuredSession { name: head.session.clone(), timeline, lesson };
        let to_text = |error: CliError| format!("{}; {}", error.message, error.hint);
        let measurements =
            design_panel(&self.config, &session, query.place, &MeasureChoices::default()).map_err(to_text)?;
        let mut columns = Vec::new();
        for (number, measurement) in (0..).zip(measurements) {
            progress.report(number, 2)?;
            let folder = self.root.join(&measurement.plan.effect);
            let log = folder.join("log.jsonl");
            let records = if log.is_file() { read_log(&log).map_err(|e| e.to_string())? } else { Vec::new() };
            let known = EffectLog::fold(records).filter(|l| l.plan().is_same_measurement(&measurement.plan));
            let known = known.unwrap_or_else(|| EffectLog::new(measurement.plan.clone()));
            let (cost, detectable) = describe_estimate(&measurement, Some(&head));
            let shown = EffectColumn {
                result: EffectResult::from_log(&known),
                log: known,
                cost,
                detectable,
                folder: folder.display().to_string(),
            };
            columns.push(Column { measurement, log, shown });
        }
        Ok(columns)
    }
}

/// Plays one column, and shows its pairs beside the others.
fn run_column(
    columns: &mut [Column],
    index: usize,
    query: &EffectQuery,
    wanted: watch::Receiver<Wanted>,
    send: &dyn Fn(EffectProgress),
) -> Result<(), String> {
    let Some(column) = columns.get(index) else { return Ok(()) };
    // What is finished stays as it is.
    if column.shown.log.stopped().is_some_and(|reason| reason != StopReason::Person) {
        return Ok(());
    }
    let measurement = column.measurement.clone();
    let (mut file, records) = LogFile::open(&column.log).map_err(|error| error.to_string())?;
    let options = MeasureOptions { retry_delay: RETRY_DELAY, ..MeasureOptions::default() };
    let mut shown: Vec<EffectColumn> = columns.iter().map(|column| column.shown.clone()).collect();
    let mut last_shown = Instant::now();
    let mut on_record = |log: &EffectLog, _: &EffectRecord| {
        if last_shown.elapsed() < SHOW_INTERVAL {
            return;
        }
        last_shown = Instant::now();
        if let Some(column) = shown.get_mut(index) {
            column.log = log.clone();
            column.result = EffectResult::without_bootstrap(log);
        }
        send(in_phase(query, EffectPhase::Running, shown.iter()));
    };
    let log = measure(&measurement, (Some(&mut file), records), options, wanted, &mut on_record)
        .map_err(|error| error.to_string())?;
    if let Some(column) = columns.get_mut(index) {
        column.shown.result = EffectResult::from_log(&log);
        column.shown.log = log;
    }
    Ok(())
}

fn in_phase<'a>(
    query: &EffectQuery,
    phase: EffectPhase,
    columns: impl Iterator<Item = &'a EffectColumn>,
) -> EffectProgress {
    EffectProgress { query: query.clone(), phase, columns: columns.cloned().collect() }
}

/// Stops the measurement when the work is cancelled, on a thread that ends with the measurement.
fn stop_when_cancelled(
    progress: WorkProgress,
    sender: watch::Sender<Wanted>,
    is_done: oneshot::Receiver<()>,
) -> Result<std::thread::JoinHandle<()>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|error| error.to_string())?;
    let watch = move || {
        runtime.block_on(async {
            tokio::select! {
                () = progress.cancelled() => {
                    // The measurement has ended if nobody listens.
                    let _ = sender.send(Wanted::Stopped);
                }
                _ = is_done => {}
            }
        });
    };
    std::thread::Builder::new().name("effect-stop".to_owned()).spawn(watch).map_err(|error| error.to_string())
}
