//! Measurements for the screen.

#[cfg(test)]
mod tests;

use super::design::{DesignedPanel, describe_estimate, design_panel};
use super::earlier::earlier_measurements;
use super::store::store_quietly;
use crate::cli::config::Config;
use crate::cli::error::CliError;
use crate::cli::pool::pool_path;
use crate::cli::{lesson_environments, locate};
use crate::domain::{AskedAt, Lesson, LessonId, LessonStatus, MeasuredEffect};
use crate::driver::measure::{
    LOG_NAME, MeasureChoices, MeasureOptions, MeasureUpdate, MeasuredSession, Measurement, OpenMeasurement,
    ServerOutage, Wanted, day_of, measure_in_turn, measurements_folder, modified, read_log, read_results,
};
use crate::driver::{Store, wall_clock_now};
use crate::engine::State;
use crate::timeline::Timeline;
use crate::timeline::effect::{EffectLog, EffectPlan, EffectRecord, EffectResult, kept_results};
use crate::ui::MeasuredResults;
use crate::ui::effect::{EffectColumn, EffectPhase, EffectProgress, EffectQuery};
use crate::ui::types::WorkProgress;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
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
    times: Arc<EpisodeTimes>,
}

/// How long the episodes took that were played so far.
#[derive(Default)]
struct EpisodeTimes(Mutex<BTreeMap<String, (u32, Duration)>>);

impl EpisodeTimes {
    /// Returns what the episodes have in common that take about as long.
    fn kind(plan: &EffectPlan) -> String {
        serde_json::json!([plan.column, plan.start, plan.frozen, plan.actor]).to_string()
    }

    fn add(&self, plan: &EffectPlan, time: Duration) {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (episodes, all) = times.entry(Self::kind(plan)).or_default();
        (*episodes, *all) = (*episodes + 1, *all + time);
    }

    /// Returns how long an episode of a measurement took on average; `None` if none like it was played.
    fn average(&self, plan: &EffectPlan) -> Option<Duration> {
        let times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        times.get(&Self::kind(plan)).and_then(|(episodes, all)| all.checked_div(*episodes))
    }
}

/// Shows the columns as they are now, and for which server the measurement waits.
type ShowColumns<'a> = dyn Fn(&[EffectColumn], Option<String>) + 'a;

/// Both columns, as planned.
struct Panel {
    /// The query, with the point of the session at which the measurement was asked for.
    query: EffectQuery,
    columns: Vec<Column>,
    missing_column: Option<String>,
    has_older_lessons: bool,
    unknown_sources: Option<String>,
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
        Self { config: config.clone(), root: measurements_folder(&parent), times: Arc::default() }
    }

    /// Plans the measurement of a lesson, with the pairs that are in its logs.
    pub(in crate::cli) fn plan(
        &self,
        (store, query): &(Arc<Store>, EffectQuery),
        progress: &WorkProgress,
    ) -> Result<EffectProgress, String> {
        let panel = self.panel(store, query, progress)?;
        Ok(panel.in_phase(EffectPhase::Idle, panel.columns.iter().map(|column| &column.shown)))
    }

    /// Plays the episodes of both columns, which advance in turn. The order doesn't change their numbers: each has its own log.
    pub(in crate::cli) fn run(
        &self,
        (store, query): &(Arc<Store>, EffectQuery),
        progress: &WorkProgress,
        send: &dyn Fn(EffectProgress),
    ) -> Result<EffectProgress, String> {
        let mut panel = self.panel(store, query, progress)?;
        let mut columns = std::mem::take(&mut panel.columns);
        let (sender, wanted) = watch::channel(Wanted::Running);
        let (done, is_done) = oneshot::channel::<()>();
        let watcher = stop_when_cancelled(progress.clone(), sender, is_done)?;
        let send_columns = |columns: &[EffectColumn], outage| {
            send(EffectProgress { outage, ..panel.in_phase(EffectPhase::Running, columns.iter()) });
        };
        let outcome = run_columns(&mut columns, &wanted, &self.times, &send_columns);
        // The watcher ends, whether or not it still listens.
        drop(done);
        let _ = watcher.join();
        let done = panel.in_phase(EffectPhase::Idle, columns.iter().map(|column| &column.shown));
        let stored = outcome.and_then(|()| self.store_in_pools(store, &done));
        if let Err(error) = stored {
            // What was played is shown and kept nevertheless.
            send(done);
            return Err(error);
        }
        Ok(done)
    }

    /// Adds the results to the pool files that have the lesson: the one that it was loaded from, and the configured one.
    fn store_in_pools(&self, store: &Store, done: &EffectProgress) -> Result<(), String> {
        let id = &done.query.lesson;
        let results: Vec<(LessonId, MeasuredEffect)> =
            done.columns.iter().filter_map(|column| Some((id.clone(), column.kept.clone()?))).collect();
        let head = store.head();
        let loaded = head.pool.get(id).and_then(|lesson| lesson.file.as_deref()).map(PathBuf::from);
        let mut pools: Vec<PathBuf> = loaded.into_iter().filter(|file| is_pool_name(file)).collect();
        pools.push(pool_path(&self.config));
        pools.dedup();
        for pool in pools {
            store_quietly(&self.config, &pool, results.clone()).map_err(|error| to_text(&error))?;
        }
        Ok(())
    }

    /// Reads the results of all measurements in the folder, those of deleted lessons too.
    pub(in crate::cli) fn list(&self, progress: &WorkProgress) -> Result<MeasuredResults, String> {
        read_results(&self.root, &|done, all| progress.report(done, all)).map(Into::into)
    }

    /// Plans both columns as of the point at which they were asked for.
    fn panel(
        &self,
        store: &Arc<Store>,
        query: &EffectQuery,
        progress: &WorkProgress,
    ) -> Result<Panel, String> {
        let (timeline, branch, _) = store.branch_timeline();
        let head = timeline.head().clone();
        let now = head.asked_at(&branch);
        let found =
            if query.asked.is_none() { self.earlier(&timeline, &now, query, progress)? } else { None };
        let query = &found.unwrap_or_else(|| EffectQuery { or_earlier: false, ..query.clone() });
        let asked = match &query.asked {
            Some(asked) if asked.branch != now.branch => {
                return Err("this measurement began on another branch; switch to that branch to continue it"
                    .to_owned());
            }
            Some(asked) => asked.clone(),
            None => now,
        };
        let state = timeline.state_at(asked.seq);
        let DesignedPanel { measurements, missing, unknown_sources } =
            self.design(&timeline, &state, query)?;
        let mut columns = Vec::new();
        for (number, mut measurement) in (0..).zip(measurements) {
            progress.report(number, 2)?;
            measurement.plan.asked = Some(asked.clone());
            measurement.episode_time = self.times.average(&measurement.plan);
            let folder = self.root.join(&measurement.plan.effect);
            let log = folder.join(LOG_NAME);
            let records = if log.is_file() { read_log(&log).map_err(|e| e.to_string())? } else { Vec::new() };
            let known = EffectLog::fold(records).filter(|l| l.plan().is_same_measurement(&measurement.plan));
            if let (None, Some(known)) = (query.pairs, &known) {
                measurement.plan.pairs = known.plan().pairs;
            }
            let mut known = known.unwrap_or_else(|| EffectLog::new(measurement.plan.clone()));
            measurement.plan.budget = query.budget.unwrap_or(known.plan().budget);
            let changes = measurement.plan.budget != known.plan().budget;
            if changes || measurement.plan.pairs != known.plan().pairs {
                known.apply(EffectRecord::Planned(Box::new(measurement.plan.clone())));
            }
            measurement.continue_from(&known);
            let (cost, detectable) = describe_estimate(&measurement, Some(&head));
            let result = EffectResult::from_log(&known);
            let shown = EffectColumn {
                kept: kept_result(&known, &result, &day_of(modified(&log))),
                result,
                log: known,
                cost,
                detectable,
                folder: folder.display().to_string(),
            };
            columns.push(Column { measurement, log, shown });
        }
        Ok(Panel {
            query: EffectQuery { asked: Some(asked), ..query.clone() },
            columns,
            missing_column: missing.map(|error| to_text(&error)),
            has_older_lessons: !has_same_lessons(&state, &head),
            unknown_sources,
        })
    }

    /// Designs the measurement that is asked for in a state of the session; see [`design_panel`].
    fn design(
        &self,
        timeline: &Timeline,
        asked: &Arc<State>,
        query: &EffectQuery,
    ) -> Result<DesignedPanel, String> {
        let lesson = asked.pool.get(&query.lesson).ok_or("this lesson is not in the present pool")?;
        let lesson = lesson_environments::with_task(lesson, asked);
        let session = MeasuredSession {
            name: asked.session.clone(),
            timeline: timeline.clone(),
            asked: asked.clone(),
            lesson,
        };
        let choices = MeasureChoices {
            frozen: !query.live,
            edited: query.edited.clone(),
            budget: query.budget.unwrap_or_default(),
            ..MeasureChoices::default()
        };
        design_panel(&self.config, &session, query.place, query.pairs, &choices)
            .map_err(|error| to_text(&error))
    }

    /// Returns the query of the last measurement of the lesson that was begun earlier and is like this one, or about any moment if
    /// the query allows it. The session may have gone on since, and the program may have been killed: it is still that measurement.
    fn earlier(
        &self,
        timeline: &Timeline,
        now: &AskedAt,
        query: &EffectQuery,
        progress: &WorkProgress,
    ) -> Result<Option<EffectQuery>, String> {
        let Some(version) = timeline.head().pool.get(&query.lesson).map(Lesson::version) else {
            return Ok(None);
        };
        for (effect, earlier) in earlier_measurements(&self.root, query, version, now) {
            progress.report(0, 2)?;
            let Some(asked) = &earlier.asked else { continue };
            // What can't be designed any more isn't continued.
            let state = timeline.state_at(asked.seq);
            let Ok(designed) = self.design(timeline, &state, &earlier) else { continue };
            if designed.measurements.iter().any(|measurement| measurement.plan.effect == effect) {
                return Ok(Some(EffectQuery { asked: Some(state.asked_at(&now.branch)), ..earlier }));
            }
        }
        Ok(None)
    }
}

/// Returns what is kept of a measurement of one lesson.
fn kept_result(log: &EffectLog, result: &EffectResult, date: &str) -> Option<MeasuredEffect> {
    kept_results(log.plan(), result, date).into_iter().next().map(|(_, kept)| kept)
}

fn to_text(error: &CliError) -> String {
    format!("{}; {}", error.message, error.hint)
}

fn is_pool_name(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "jsonl")
}

/// Plays the columns in turn until each is finished, or until a person stops them.
fn run_columns(
    columns: &mut [Column],
    wanted: &watch::Receiver<Wanted>,
    times: &EpisodeTimes,
    send: &ShowColumns<'_>,
) -> Result<(), String> {
    let mut shown: Vec<EffectColumn> = columns.iter().map(|column| column.shown.clone()).collect();
    // What is finished stays as it is.
    let is_open = |column: &Column| column.shown.log.stopped().is_none() || column.shown.log.can_go_on();
    let mut places = Vec::new();
    let mut measurements = Vec::new();
    for (place, column) in columns.iter().enumerate().filter(|(_, column)| is_open(column)) {
        let opened = OpenMeasurement::open(&column.measurement, &column.log);
        measurements.push(opened.map_err(|error| error.to_string())?);
        places.push(place);
    }
    let (mut last_shown, mut last_update) = (Instant::now(), Instant::now());
    let mut on_update = |index: usize, log: &EffectLog, update: MeasureUpdate<'_>| {
        let time = std::mem::replace(&mut last_update, Instant::now()).elapsed();
        match update {
            MeasureUpdate::Outage(outage) => {
                send(&shown, outage.map(ServerOutage::describe));
                return;
            }
            MeasureUpdate::Record(EffectRecord::Episode(_)) => times.add(log.plan(), time),
            MeasureUpdate::Record(_) => {}
        }
        let column = places.get(index).and_then(|place| shown.get_mut(*place));
        let Some(column) = column.filter(|_| last_shown.elapsed() >= SHOW_INTERVAL) else { return };
        last_shown = Instant::now();
        column.log = log.clone();
        // The bootstrap takes long, so only the end has it.
        column.result = EffectResult::without_bootstrap(log);
        send(&shown, None);
    };
    let options = MeasureOptions { retry_delay: RETRY_DELAY, ..MeasureOptions::default() };
    let outcome = measure_in_turn(measurements, options, wanted, &mut on_update);
    for (index, place) in places.into_iter().enumerate() {
        let Some(column) = columns.get_mut(place) else { continue };
        // After an error, the file has what was played.
        let log = match &outcome {
            Ok(logs) => logs.get(index).cloned(),
            Err(_) => read_log(&column.log).ok().and_then(EffectLog::fold),
        };
        let Some(log) = log else { continue };
        column.shown.result = EffectResult::from_log(&log);
        column.shown.kept = kept_result(&log, &column.shown.result, &day_of(wall_clock_now()));
        column.shown.log = log;
    }
    outcome.map(drop).map_err(|error| error.to_string())
}

impl Panel {
    fn in_phase<'a>(
        &self,
        phase: EffectPhase,
        columns: impl Iterator<Item = &'a EffectColumn>,
    ) -> EffectProgress {
        EffectProgress {
            query: self.query.clone(),
            phase,
            columns: columns.cloned().collect(),
            missing_column: self.missing_column.clone(),
            has_older_lessons: self.has_older_lessons,
            unknown_sources: self.unknown_sources.clone(),
            outage: None,
        }
    }
}

/// Returns whether two states of a session have the same lessons, with the same wordings and in the same order.
fn has_same_lessons(one: &State, other: &State) -> bool {
    let lessons = |state: &State| -> Vec<(LessonId, u32, LessonStatus)> {
        state.pool.all().map(|lesson| (lesson.id.clone(), lesson.version(), lesson.status)).collect()
    };
    lessons(one) == lessons(other)
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
