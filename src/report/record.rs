//! The record of a whole session: every episode with all its steps, of which the state keeps only the last.

use super::Tally;
use super::measures::{SessionMeasures, episode_measures};
use crate::domain::{BranchId, CallId, Lesson, LessonId, MeasuredEffect, Question, RunSpec, Seq, Step};
use crate::engine::{Envelope, Episode, Event, Failure, State};
use crate::text::hosts_of;
use jiff::Timestamp;
use serde_json::Value;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A position in a session: episode and step, both numbered from 1; step 0 is the first observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepRef {
    pub episode: u32,
    pub step: u32,
}

/// A text that is not a position in a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a position in a session: expected EPISODE.STEP, as in `1.14`, or a step number")]
pub struct InvalidStepRef {
    /// The rejected text.
    pub text: String,
}

/// An episode with all its steps.
#[derive(Clone, Debug)]
pub struct EpisodeRecord {
    /// Its state after its last event.
    pub episode: Arc<Episode>,
    pub started_at: Option<Timestamp>,
    /// Timestamp of its last event.
    pub ended_at: Option<Timestamp>,
    /// Calls that failed during it, or after its end before the next one began.
    pub failures: Vec<FailedCall>,
}

/// A call that failed.
#[derive(Clone, Debug)]
pub struct FailedCall {
    /// The event that records the failure.
    pub seq: Seq,
    pub call: CallId,
    /// The mentor question, if it was a call of the mentor.
    pub question: Option<Question>,
    pub failure: Failure,
    /// A person continued without its answer.
    pub given_up: bool,
}

/// The branch that a record is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownBranch {
    pub id: BranchId,
    /// Name given by a person.
    pub name: Option<String>,
}

impl ShownBranch {
    /// Returns the branch's id, and its name if it has one.
    pub fn display_name(&self) -> String {
        self.name.as_ref().map_or_else(|| self.id.to_string(), |name| format!("{} ({name})", self.id))
    }
}

/// Everything in one branch of a session, folded once from its events.
#[derive(Clone, Debug)]
pub struct SessionRecord {
    pub session: String,
    /// The branch; `None` if only the events are known.
    pub branch: Option<ShownBranch>,
    /// Specification at the start of the run.
    pub spec: Option<Arc<RunSpec>>,
    /// Settings changed during the run, in order.
    pub changed_settings: Vec<(Seq, String, Value)>,
    /// Episodes in order; the last may be open.
    pub episodes: Vec<EpisodeRecord>,
    /// The state after the last event.
    pub final_state: Arc<State>,
    /// Timestamp of the first event.
    pub started_at: Option<Timestamp>,
    /// What was measured of its lessons, as far as only the logs beside the session say so, because it was closed.
    pub logged_measurements: Vec<(LessonId, MeasuredEffect)>,
}

/// Builds a [`SessionRecord`] from the events of a branch, one at a time, without holding them.
#[derive(Default)]
pub struct SessionRecorder {
    state: State,
    episodes: Vec<EpisodeRecord>,
    changed_settings: Vec<(Seq, String, Value)>,
    started_at: Option<Timestamp>,
}

impl SessionRecorder {
    /// Adds the next event.
    pub fn add_event(&mut self, envelope: &Envelope) {
        let Self { state, episodes, changed_settings, started_at } = self;
        started_at.get_or_insert(envelope.timestamp);
        if matches!(envelope.event, Event::EpisodeStarted { .. }) {
            update_last_episode(episodes, state);
        }
        state.apply(envelope);
        match &envelope.event {
            Event::EpisodeStarted { .. } => {
                if let Some(episode) = &state.episode {
                    episodes.push(EpisodeRecord {
                        episode: episode.clone(),
                        started_at: Some(envelope.timestamp),
                        ended_at: None,
                        failures: Vec::new(),
                    });
                }
            }
            Event::SettingChanged { name, value } => {
                changed_settings.push((envelope.seq, name.clone(), value.clone()));
            }
            Event::CallFailed { call, failure } => {
                let failed = state.failed_calls().find(|(effect, _)| effect.call() == *call);
                let question = failed.and_then(|(effect, _)| effect.question());
                if let Some(last) = episodes.last_mut() {
                    let (seq, failure) = (envelope.seq, failure.clone());
                    last.failures.push(FailedCall { seq, call: *call, question, failure, given_up: false });
                }
            }
            Event::CallGivenUp { call } => {
                let failures = episodes.last_mut().map(|last| last.failures.iter_mut());
                for failed in failures.into_iter().flatten().filter(|f| f.call == *call) {
                    failed.given_up = true;
                }
            }
            _ => {}
        }
        if let Some(last) = episodes.last_mut()
            && state.open_episode().is_some() | matches!(envelope.event, Event::EpisodeEnded { .. })
        {
            last.ended_at = Some(envelope.timestamp);
        }
    }

    /// Returns the record of all events so far.
    pub fn finish(self) -> SessionRecord {
        let Self { state, mut episodes, changed_settings, started_at } = self;
        update_last_episode(&mut episodes, &state);
        // They may have been written, or removed, after the end of their episode.
        for record in &mut episodes {
            Arc::make_mut(&mut record.episode).set_remarks(&state.remarks);
        }
        SessionRecord {
            session: state.session.clone(),
            branch: None,
            spec: state.run.clone(),
            changed_settings,
            episodes,
            final_state: Arc::new(state),
            started_at,
            logged_measurements: Vec::new(),
        }
    }
}

impl SessionRecord {
    /// Returns the totals and rates of its episodes.
    pub fn tally(&self) -> Tally {
        let values = self.episodes.iter().map(|record| {
            let episode = &record.episode;
            (episode.number, episode_measures(&episode.task, &episode.shown))
        });
        let measures: SessionMeasures = values.collect();
        Tally::from_sessions([(&*self.final_state, &measures)])
    }

    /// Returns an episode by its number.
    pub fn episode(&self, number: u32) -> Option<&EpisodeRecord> {
        self.episodes.iter().find(|e| e.episode.number == number)
    }

    /// Returns the position to open if none is requested: the last mistake followed by a reflection, otherwise the last
    /// step.
    pub fn default_step(&self) -> StepRef {
        let error_reflection = self
            .final_state
            .reflections
            .iter()
            .rev()
            .find(|r| r.kind == crate::domain::ReflectionKind::Error);
        if let Some(r) = error_reflection
            && r.step > 0
        {
            return StepRef { episode: r.episode, step: r.step };
        }
        let last = self.episodes.last().map(|e| &e.episode);
        StepRef { episode: last.map_or(1, |e| e.number), step: last.map_or(0, |e| e.steps.len() as u32) }
    }

    /// Returns all lessons of the pool, including retired ones, and those of a person that ended with an episode.
    pub fn lessons(&self) -> Vec<&Lesson> {
        let pool = &self.final_state.pool;
        pool.all().chain(pool.ended().map(|(_, lesson)| lesson)).collect()
    }

    /// Returns the episode with which a lesson left the pool.
    pub fn ended_with(&self, lesson: &Lesson) -> Option<u32> {
        self.final_state.pool.ended().find(|(_, ended)| ended.id == lesson.id).map(|(episode, _)| episode)
    }

    /// Returns what was measured of a lesson, each measurement once: from the session, and from the logs beside it.
    pub fn measured<'a>(&'a self, lesson: &'a Lesson) -> Vec<&'a MeasuredEffect> {
        let logged =
            self.logged_measurements.iter().filter(|(id, _)| *id == lesson.id).map(|(_, result)| result);
        MeasuredEffect::latest(lesson.measured.iter().chain(logged))
    }

    /// Returns the numbers of a lesson's parents. Parents that left the pool with their episode are omitted.
    pub fn parent_numbers(&self, lesson: &Lesson) -> Vec<u32> {
        lesson.parents.iter().filter_map(|id| self.final_state.pool.get(id)).map(|l| l.number).collect()
    }

    /// Returns a person's remarks on an episode as a whole.
    pub fn remarks(&self, episode: u32) -> Vec<&str> {
        let about = self.final_state.remarks.iter().filter(|r| (r.episode, r.step) == (episode, 0));
        about.map(|remark| remark.text.as_str()).collect()
    }
}

impl EpisodeRecord {
    /// Returns the steps of the episode.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.episode.steps.iter().map(Arc::as_ref)
    }
}

/// Updates the last episode from the state, which is newer than the copy taken when the episode began.
fn update_last_episode(episodes: &mut [EpisodeRecord], state: &State) {
    if let (Some(last), Some(episode)) = (episodes.last_mut(), &state.episode) {
        last.episode = episode.clone();
    }
}

impl FromStr for StepRef {
    type Err = InvalidStepRef;

    fn from_str(text: &str) -> Result<Self, InvalidStepRef> {
        let invalid = || InvalidStepRef { text: text.to_owned() };
        let (episode, step) = match text.split_once('.') {
            Some((episode, step)) => (episode.parse().map_err(|_error| invalid())?, step),
            None => (1, text),
        };
        let step = step.parse().map_err(|_error| invalid())?;
        if episode == 0 {
            return Err(invalid());
        }
        Ok(Self { episode, step })
    }
}

impl fmt::Display for StepRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.episode, self.step)
    }
}

/// Returns the journal's name of a unit enum variant, with underscores as spaces.
pub(super) fn enum_name(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word.replace('_', " "),
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// Formats the parents of a lesson as the end of a line about it; empty if it has none.
pub(super) fn format_parents(parents: &[u32]) -> String {
    if parents.is_empty() {
        return String::new();
    }
    let numbers: Vec<String> = parents.iter().map(u32::to_string).collect();
    let noun = if parents.len() == 1 { "lesson" } else { "lessons" };
    format!(", made from {noun} {}", numbers.join(", "))
}

/// Returns what a report for an audience hides for sure: the session's folder, and the hosts of its settings.
pub fn recorded_private_texts(folder: &str, state: &State) -> Vec<String> {
    let folder = Some(folder.to_owned()).filter(|folder| folder.len() > 1);
    let settings = state.run.iter().flat_map(|run| run.settings.iter());
    let addresses = settings.filter_map(|(_, setting)| setting.value.as_str()).flat_map(hosts_of);
    folder.into_iter().chain(addresses).collect()
}
