//! Runs a measurement: plays the episodes that its log asks for, and writes the log.

use super::design::Measurement;
use super::kept::{journal_name, write_journal};
use super::log_file::{LogFile, LogFileError};
use super::outage::{Patience, ServerOutage};
use super::player::{EpisodePlayer, PlayError, PlayedEpisode, StopSignal, Wanted};
use super::starting_point::EpisodeSetup;
use crate::engine::Envelope;
use crate::journal::JournalError;
use crate::timeline::effect::{
    EffectDiscarded, EffectEpisode, EffectLog, EffectPlan, EffectRecord, EpisodeSlot, ExtraCalls, Keep,
    NextRecord, StopReason,
};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How often an episode is played before its pair is discarded. A server that fails for a while isn't one of the reasons.
const TRIES: u32 = 3;

/// How a measurement is run; nothing here changes its numbers.
#[derive(Clone, Copy, Debug)]
pub struct MeasureOptions {
    /// How many episodes are played at once.
    pub jobs: usize,
    pub keep: Keep,
    /// How long to wait before an episode that couldn't be played, or a call to a server that fails, is tried again; longer each time.
    pub retry_delay: Duration,
    /// Return after this time and at least one pair, at the end of a pair, so that another measurement can advance; `continue_measurement` goes
    /// on. Nothing of it is recorded. `None`: only when the measurement stops.
    pub turn: Option<Duration>,
    /// When a limit in minutes begins to count; `None`: when the measurement is started or continued.
    pub begun: Option<Instant>,
}

impl Default for MeasureOptions {
    fn default() -> Self {
        Self { jobs: 1, keep: Keep::Differing, retry_delay: Duration::from_secs(1), turn: None, begun: None }
    }
}

/// Why a measurement ended without a result. What was recorded before stays, and the measurement can be continued.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error(transparent)]
    Log(#[from] LogFileError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("a thread could not be started: {0}")]
    Thread(#[from] std::io::Error),
    #[error("{path}: this log is about another measurement ({found} instead of {expected})")]
    OtherMeasurement { path: String, found: String, expected: String },
}

/// What a measurement in progress tells.
#[derive(Clone, Copy, Debug)]
pub enum MeasureUpdate<'a> {
    /// A record was written.
    Record(&'a EffectRecord),
    /// A call waits for its model server; `None`: the server has answered. Nothing of it is recorded.
    Outage(Option<&'a ServerOutage>),
}

/// Receives each record after it is written, with the log that includes it, and when calls wait for their server.
pub type OnUpdate<'a> = dyn FnMut(&EffectLog, MeasureUpdate<'_>) + 'a;

/// The result of playing a slot.
type Played = Result<PlayedEpisode, PlayError>;

/// What the threads that play episodes tell.
enum WorkerMessage {
    Played(EpisodeSlot, Box<Played>, ExtraCalls),
    Outage(Option<ServerOutage>),
}

/// A measurement in progress.
struct Runner<'a> {
    measurement: &'a Measurement,
    options: MeasureOptions,
    file: Option<&'a mut LogFile>,
    log: EffectLog,
    on_update: &'a mut OnUpdate<'a>,
    in_progress: Vec<EpisodeSlot>,
    /// The events of episodes whose pairs are not complete yet.
    events: HashMap<EpisodeSlot, Vec<Envelope>>,
    deadline: Option<Instant>,
    /// When no further pair is begun.
    turn_end: Option<Instant>,
    /// Whether a pair was begun since the measurement was started or continued.
    has_begun_pair: bool,
    wanted: watch::Receiver<Wanted>,
    /// Stops the workers when something can't be written.
    failure: watch::Sender<Wanted>,
    last_sync: Instant,
}

/// Runs a measurement until it stops. Continues with the episodes that `records`, the content of the log file, doesn't have
/// yet. Without a file nothing is kept.
///
/// # Errors
/// Returns [`MeasureError`] if something can't be written, or if the records belong to another measurement.
pub fn measure<'a>(
    measurement: &'a Measurement,
    (file, records): (Option<&'a mut LogFile>, Vec<EffectRecord>),
    options: MeasureOptions,
    wanted: watch::Receiver<Wanted>,
    on_update: &'a mut OnUpdate<'a>,
) -> Result<EffectLog, MeasureError> {
    continue_measurement(measurement, (file, EffectLog::fold(records)), options, wanted, on_update)
}

/// Goes on with a measurement whose log is known, or begins it. `file` has the records of the log.
///
/// # Errors
/// Returns [`MeasureError`] if something can't be written, or if the log belongs to another measurement.
pub(super) fn continue_measurement<'a>(
    measurement: &'a Measurement,
    (file, known): (Option<&'a mut LogFile>, Option<EffectLog>),
    options: MeasureOptions,
    wanted: watch::Receiver<Wanted>,
    on_update: &'a mut OnUpdate<'a>,
) -> Result<EffectLog, MeasureError> {
    let plan = &EffectPlan { keep: options.keep, ..measurement.plan.clone() };
    let minutes = plan.budget.minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60)));
    if let Some(known) = known.as_ref().filter(|known| !known.plan().is_same_measurement(plan)) {
        return Err(MeasureError::OtherMeasurement {
            path: file.map_or_else(String::new, |file| file.folder().display().to_string()),
            found: known.plan().effect.clone(),
            expected: plan.effect.clone(),
        });
    }
    let is_new = known.as_ref().is_none_or(|known| {
        let same = EffectPlan { retries: known.plan().retries, ..plan.clone() };
        known.plan().continued_with(&same) != *known.plan() || known.can_go_on()
    });
    let mut runner = Runner {
        measurement,
        options,
        file,
        log: known.unwrap_or_else(|| EffectLog::new(plan.clone())),
        on_update,
        in_progress: Vec::new(),
        events: HashMap::new(),
        deadline: minutes.and_then(|minutes| options.begun.unwrap_or_else(Instant::now).checked_add(minutes)),
        turn_end: options.turn.and_then(|turn| Instant::now().checked_add(turn)),
        has_begun_pair: false,
        wanted,
        failure: watch::Sender::new(Wanted::Running),
        last_sync: Instant::now(),
    };
    if is_new {
        let continued = EffectPlan { retries: runner.log.can_retry(), ..plan.clone() };
        let plan = runner.log.plan().continued_with(&continued);
        runner.write(&EffectRecord::Planned(Box::new(plan)))?;
    }
    runner.run()?;
    if let Some(file) = runner.file {
        file.sync()?;
    }
    Ok(runner.log)
}

impl Runner<'_> {
    fn run(&mut self) -> Result<(), MeasureError> {
        let jobs = self.options.jobs.max(1);
        let (slots, receiver) = mpsc::channel::<EpisodeSlot>();
        let receiver = Mutex::new(receiver);
        let (results, played) = mpsc::channel::<WorkerMessage>();
        let (measurement, stop) = (self.measurement, self.stop_signal());
        let patience = self.patience();
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                let (results, receiver, stop) = (results.clone(), &receiver, stop.clone());
                std::thread::Builder::new().name("measure".to_owned()).spawn_scoped(scope, move || {
                    crate::driver::lower_thread_priority();
                    work(measurement, patience, receiver, &results, &stop);
                })?;
            }
            let outcome = self.coordinate(&slots, &played);
            if outcome.is_err() {
                // Others may be waiting for their server, and nothing of them could be recorded.
                self.failure.send_replace(Wanted::Stopped);
            }
            // The workers end once there are no more slots.
            drop(slots);
            outcome
        })
    }

    fn coordinate(
        &mut self,
        slots: &mpsc::Sender<EpisodeSlot>,
        played: &mpsc::Receiver<WorkerMessage>,
    ) -> Result<(), MeasureError> {
        loop {
            if let Some(reason) = self.interruption() {
                return self.end_early(reason, played);
            }
            match self.log.next(&self.in_progress, self.options.jobs.max(1)) {
                NextRecord::Done => return Ok(()),
                NextRecord::Write(record) => self.write(&record)?,
                NextRecord::Play(next) => {
                    let begun = |slot: &EpisodeSlot| self.log.pairs().contains_key(&slot.pair);
                    let next: Vec<EpisodeSlot> = match self.turn_end {
                        Some(end) if self.has_begun_pair && Instant::now() >= end => {
                            next.into_iter().filter(begun).collect()
                        }
                        _ => next,
                    };
                    if next.is_empty() {
                        if self.in_progress.is_empty() {
                            return Ok(());
                        }
                        self.receive(played)?;
                    }
                    for slot in next {
                        self.has_begun_pair |= !self.log.pairs().contains_key(&slot.pair);
                        self.in_progress.push(slot.clone());
                        // The workers live as long as this function.
                        let _ = slots.send(slot);
                    }
                }
                NextRecord::Wait => self.receive(played)?,
            }
        }
    }

    /// Returns why the measurement must end now although its log doesn't say so.
    fn interruption(&self) -> Option<StopReason> {
        if *self.wanted.borrow() == Wanted::Stopped {
            return Some(StopReason::Person);
        }
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        (is_late && self.log.stopped().is_none()).then_some(StopReason::Minutes)
    }

    /// Records the episodes in progress, unless a person wants to stop at once, and then the reason.
    fn end_early(
        &mut self,
        reason: StopReason,
        played: &mpsc::Receiver<WorkerMessage>,
    ) -> Result<(), MeasureError> {
        while !self.in_progress.is_empty() {
            self.receive(played)?;
        }
        while self.log.stopped().is_none() {
            let NextRecord::Write(record) = self.log.stop(reason) else { break };
            self.write(&record)?;
        }
        Ok(())
    }

    /// Waits for an episode and records it.
    fn receive(&mut self, played: &mpsc::Receiver<WorkerMessage>) -> Result<(), MeasureError> {
        // The workers answer every slot.
        let (slot, result, extra) = match played.recv() {
            Ok(WorkerMessage::Played(slot, result, extra)) => (slot, *result, extra),
            Ok(WorkerMessage::Outage(outage)) => {
                (self.on_update)(&self.log, MeasureUpdate::Outage(outage.as_ref()));
                return Ok(());
            }
            Err(_) => return Ok(()),
        };
        self.in_progress.retain(|other| *other != slot);
        let timed_out = matches!(result, Err(PlayError::TimedOut(_)));
        match result {
            Ok(episode) => self.record_episode(slot, episode, extra),
            Err(PlayError::Stopped) => Ok(()),
            Err(PlayError::Broken(reason) | PlayError::Refused(reason) | PlayError::TimedOut(reason)) => {
                self.events.retain(|other, _| other.pair != slot.pair);
                self.write(&EffectRecord::Discarded(EffectDiscarded {
                    effect: self.log.plan().effect.clone(),
                    pair: slot.pair,
                    arm: slot.arm,
                    reason,
                    absent: false,
                    timed_out,
                    extra,
                }))
            }
        }
    }

    fn record_episode(
        &mut self,
        slot: EpisodeSlot,
        episode: PlayedEpisode,
        extra: ExtraCalls,
    ) -> Result<(), MeasureError> {
        let plan = self.log.plan();
        let mut record = EffectEpisode {
            effect: plan.effect.clone(),
            pair: slot.pair,
            repeat: slot.repeat,
            arm: slot.arm.clone(),
            task: plan.tasks.get(slot.task).map_or_else(String::new, |task| task.task.id.clone()),
            seed: slot.seed,
            won: episode.summary.won,
            progress: (episode.summary.progress * 1e6).round() / 1e6,
            steps: episode.steps,
            tokens: episode.tokens,
            calls: episode.calls,
            cost_nano: episode.cost_nano,
            extra,
            reason: episode.reason,
            failure: episode.failure,
            trace: episode.trace,
            kept: false,
        };
        let pair = slot.pair;
        let is_last = self.log.open_slots_of_pair(pair).iter().all(|open| *open == slot);
        if self.options.keep != Keep::None && self.file.is_some() {
            self.events.insert(slot, episode.events);
        }
        if is_last {
            record.kept = self.keep_pair(pair, &record)?;
            self.events.retain(|other, _| other.pair != pair);
        }
        self.write(&EffectRecord::Episode(Box::new(record)))
    }

    /// Writes the journals of a pair if it is to be kept. `last` is its episode that isn't in the log yet. Returns whether
    /// they are there.
    fn keep_pair(&mut self, pair: u32, last: &EffectEpisode) -> Result<bool, MeasureError> {
        let Some(folder) = self.file.as_ref().map(|file| file.folder().to_owned()) else { return Ok(false) };
        let mut with_last = self.log.clone();
        with_last.apply(EffectRecord::Episode(Box::new(last.clone())));
        let Some(recorded) = with_last.pairs().get(&pair) else { return Ok(false) };
        let is_kept = self.options.keep.keeps(with_last.differs(recorded));
        let Some(run) = self.measurement.start.run().filter(|_| is_kept) else { return Ok(false) };
        let slots = with_last.slots_with_arms(pair, recorded);
        for slot in slots {
            let name = journal_name(pair, slot.repeat, &slot.arm);
            let events = self.events.remove(&slot).or_else(|| {
                // The program was killed after this episode was recorded.
                let trace = recorded.episode(&slot.arm, slot.repeat).map(|episode| episode.trace.as_str());
                self.play_again(&slot, trace)
            });
            let Some(events) = events else { return Ok(false) };
            write_journal(&folder, &name, &self.measurement.start, run, &events)?;
        }
        Ok(true)
    }

    fn stop_signal(&self) -> StopSignal {
        StopSignal { person: self.wanted.clone(), failure: self.failure.subscribe() }
    }

    fn patience(&self) -> Patience {
        Patience { first_delay: self.options.retry_delay, deadline: self.deadline }
    }

    /// Plays an episode that is in the log again, only for its journal. `None` if that fails, or if it goes another way than `trace`,
    /// that of the recorded one: a server that answers the same request differently. Its calls count nowhere, so that the log has the same
    /// bytes as that of a measurement that wasn't killed.
    fn play_again(&self, slot: &EpisodeSlot, trace: Option<&str>) -> Option<Vec<Envelope>> {
        let mut player = EpisodePlayer::new(self.stop_signal(), self.patience(), &|_| {}).ok()?;
        let episode = play_slot(self.measurement, &mut player, slot).ok()?;
        (trace == Some(episode.trace.as_str())).then_some(episode.events)
    }

    /// Writes a record, then applies and publishes it.
    fn write(&mut self, record: &EffectRecord) -> Result<(), MeasureError> {
        if let Some(file) = self.file.as_mut() {
            file.append(record)?;
            if self.last_sync.elapsed() >= Duration::from_secs(1) {
                file.sync()?;
                self.last_sync = Instant::now();
            }
        }
        self.log.apply(record.clone());
        (self.on_update)(&self.log, MeasureUpdate::Record(record));
        Ok(())
    }
}

/// Plays slots until there are no more.
fn work(
    measurement: &Measurement,
    patience: Patience,
    slots: &Mutex<mpsc::Receiver<EpisodeSlot>>,
    results: &mpsc::Sender<WorkerMessage>,
    stop: &StopSignal,
) {
    // The coordinator lives longer.
    let report_outage = |outage| drop(results.send(WorkerMessage::Outage(outage)));
    let mut player = EpisodePlayer::new(stop.clone(), patience, &report_outage);
    loop {
        let next = slots.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(slot) = next else { break };
        let played = match &mut player {
            Ok(player) => play_with_retries(measurement, patience, player, &slot),
            Err(error) => Err(PlayError::Broken(error.to_string())),
        };
        let extra = player.as_ref().map(EpisodePlayer::take_extra).unwrap_or_default();
        if results.send(WorkerMessage::Played(slot, Box::new(played), extra)).is_err() {
            break;
        }
    }
}

fn play_with_retries(
    measurement: &Measurement,
    patience: Patience,
    player: &mut EpisodePlayer<'_>,
    slot: &EpisodeSlot,
) -> Played {
    let mut tries = 1;
    loop {
        match play_slot(measurement, player, slot) {
            Err(PlayError::Broken(_)) if tries < TRIES => {
                player.wait(patience.first_delay * tries);
                tries += 1;
            }
            played => return played,
        }
    }
}

fn play_slot(measurement: &Measurement, player: &mut EpisodePlayer<'_>, slot: &EpisodeSlot) -> Played {
    let session = journal_name(slot.pair, slot.repeat, &slot.arm);
    let task = measurement.plan.tasks.get(slot.task).map(|planned| &planned.task);
    let setup =
        EpisodeSetup { session: &session, task, seed: slot.seed, changes: &measurement.changes(slot) };
    let prepared = measurement
        .start
        .prepare(&measurement.config.policy, &setup)
        .map_err(|error| PlayError::Broken(format!("{}; {}", error.message, error.hint)))?;
    player.play(&measurement.config, prepared)
}
