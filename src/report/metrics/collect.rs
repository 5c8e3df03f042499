//! Collects the data for metrics from a session's events one by one, without holding ended episodes.

use super::revision::{AttemptActions, RevisionCounts};
use crate::catalog::questions;
use crate::domain::{
    Author, EpisodeSummary, Lesson, Purpose, Reflection, ReflectionKind, RunSpec, SampleStats, Task,
};
use crate::engine::{Envelope, Event, PrefetchStats, State};
use crate::report::measures::{SessionMeasures, episode_measures};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of lessons in the constitution at the end of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConstitutionSize {
    pub abstract_lessons: usize,
    pub error_lessons: usize,
}

impl ConstitutionSize {
    fn from_state(state: &State) -> Self {
        let is_listed = |lesson: &&Lesson| lesson.is_in_constitution();
        let count = |kind| state.pool.active_of_kind(kind).filter(is_listed).count();
        Self {
            abstract_lessons: count(ReflectionKind::Abstract),
            error_lessons: count(ReflectionKind::Error),
        }
    }
}

/// Returns whether a reflection answers a question of its method, also if rules answered. What a method records by itself, such
/// as the instructions and rewards of a search, is no reflection on an attempt.
fn is_asked_for(state: &State, reflection: &Reflection) -> bool {
    let Some(run) = state.run.as_deref() else { return true };
    let questions = questions(run);
    let asked_now = reflection.question();
    // A method of another version of the program has no questions here.
    questions.is_empty()
        || reflection.purpose != Purpose::Reflect
        || questions.iter().any(|entry| entry.question == asked_now)
}

/// The data of a session that the metrics use.
#[derive(Clone, Debug, Default)]
pub struct SessionMetrics {
    pub session: String,
    /// Specification at the start; `None` if no run began.
    pub spec: Option<Arc<RunSpec>>,
    /// Ended episodes in order.
    pub episodes: Vec<Arc<EpisodeSummary>>,
    /// By the number of an episode: the values of its environment's own measures, in their order.
    pub measures: SessionMeasures,
    /// Reflections in order.
    pub reflections: Vec<Arc<Reflection>>,
    /// How attempts changed from one trial to the next.
    pub revision: RevisionCounts,
    /// What the plans written after failed attempts changed, by trial (from 1).
    pub plan_revisions: BTreeMap<u32, RevisionCounts>,
    /// The session started with lessons from a file.
    pub started_with_lessons: bool,
    /// The constitution at the end.
    pub constitution: ConstitutionSize,
    pub prefetch: PrefetchStats,
    pub samples: SampleStats,
    /// The run has not ended.
    pub open: bool,
    /// The mentor was called.
    pub mentor_called: bool,
}

/// Collects the events of one session.
#[derive(Clone, Debug, Default)]
pub struct MetricsCollector {
    state: State,
    /// The last attempt at each task that was not won, by [`Task::key`].
    last_failed_attempts: BTreeMap<String, AttemptActions>,
    measures: SessionMeasures,
    revision: RevisionCounts,
    /// For each failed attempt with a plan, by its episode: the trial, and what its newest plan changed.
    plan_revisions: BTreeMap<u32, (u32, RevisionCounts)>,
    started_with_lessons: bool,
}

impl MetricsCollector {
    /// Adds the next event.
    pub fn add_event(&mut self, envelope: &Envelope) {
        self.state.apply(envelope);
        match &envelope.event {
            Event::EpisodeEnded { .. } => self.on_episode_end(),
            Event::Reflected { reflection } => self.on_reflection(reflection),
            Event::LessonChanged { author: Author::File, .. } => self.started_with_lessons = true,
            _ => {}
        }
    }

    fn on_episode_end(&mut self) {
        if let Some(episode) = self.state.episode.as_deref() {
            let values = episode_measures(&episode.task, &episode.shown);
            if !values.is_empty() {
                self.measures.insert(episode.number, values);
            }
        }
        let has_several_trials = self.state.run.as_ref().is_some_and(|r| r.trials > 1);
        let Some(episode) = self.state.episode.as_deref().filter(|_| has_several_trials) else { return };
        let Some(outcome) = episode.outcome.as_deref() else { return };
        let key = Task::key(&episode.task);
        let actions = AttemptActions::from_episode(episode);
        if let Some(failed) = self.last_failed_attempts.remove(&key).filter(|_| !outcome.assisted) {
            self.revision.add(RevisionCounts::from_next_attempt(&failed, &actions));
        }
        if !outcome.won && !outcome.assisted && !outcome.reason.is_env_failure() {
            self.last_failed_attempts.insert(key, actions);
        }
    }

    /// Compares the plan for the next trial with the failed attempt it was written after.
    fn on_reflection(&mut self, reflection: &Reflection) {
        let is_plan = reflection.kind == ReflectionKind::Plan
            && matches!(reflection.purpose, Purpose::Reflect | Purpose::Build)
            && !reflection.items.is_empty();
        let Some(episode) =
            self.state.episode.as_deref().filter(|e| is_plan && e.number == reflection.episode)
        else {
            return;
        };
        let is_failed = |o: &&EpisodeSummary| o.is_attempt() && !o.won && !o.assisted;
        let Some(outcome) = episode.outcome.as_deref().filter(is_failed) else { return };
        let texts: Vec<&str> = reflection.items.iter().map(|item| item.text.text.as_str()).collect();
        let counts = RevisionCounts::from_plan(&AttemptActions::from_episode(episode), &texts.join("\n"));
        self.plan_revisions.insert(outcome.number, (outcome.trial, counts));
    }

    /// Returns the collected data.
    pub fn finish(self) -> SessionMetrics {
        let state = self.state;
        let mut plan_revisions: BTreeMap<u32, RevisionCounts> = BTreeMap::new();
        for (trial, counts) in self.plan_revisions.into_values() {
            plan_revisions.entry(trial).or_default().add(counts);
        }
        SessionMetrics {
            session: state.session.clone(),
            spec: state.run.clone(),
            episodes: state.ended_episodes.iter().cloned().collect(),
            measures: self.measures,
            reflections: state.reflections.iter().filter(|it| is_asked_for(&state, it)).cloned().collect(),
            revision: self.revision,
            plan_revisions,
            started_with_lessons: self.started_with_lessons,
            constitution: ConstitutionSize::from_state(&state),
            prefetch: state.prefetch_stats(),
            samples: state.usage.samples,
            open: !state.run_over,
            mentor_called: state.usage.mentor_calls > 0,
        }
    }
}
