//! Collects the data for metrics from a session's events one by one, without holding ended episodes.

use super::revision::{AttemptActions, RevisionCounts};
use crate::domain::{Author, EpisodeSummary, Reflection, RunSpec, Task};
use crate::engine::{Envelope, Event, PrefetchStats, State};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The data of a session that the metrics use.
#[derive(Clone, Debug, Default)]
pub struct SessionMetrics {
    pub session: String,
    /// Specification at the start; `None` if no run began.
    pub spec: Option<Arc<RunSpec>>,
    /// Ended episodes in order.
    pub episodes: Vec<Arc<EpisodeSummary>>,
    /// Reflections in order.
    pub reflections: Vec<Arc<Reflection>>,
    /// How attempts changed from one trial to the next.
    pub revision: RevisionCounts,
    /// The session started with lessons from a file.
    pub started_with_lessons: bool,
    pub prefetch: PrefetchStats,
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
    revision: RevisionCounts,
    started_with_lessons: bool,
}

impl MetricsCollector {
    /// Adds the next event.
    pub fn add_event(&mut self, envelope: &Envelope) {
        self.state.apply(envelope);
        match envelope.event {
            Event::EpisodeEnded { .. } => self.on_episode_end(),
            Event::LessonChanged { author: Author::File, .. } => self.started_with_lessons = true,
            _ => {}
        }
    }

    fn on_episode_end(&mut self) {
        let has_several_trials = self.state.run.as_ref().is_some_and(|r| r.trials > 1);
        let Some(episode) = self.state.episode.as_deref().filter(|_| has_several_trials) else { return };
        let Some(outcome) = episode.outcome.as_deref() else { return };
        let key = Task::key(&episode.task);
        let actions = AttemptActions::from_episode(episode);
        if let Some(failed) = self.last_failed_attempts.remove(&key).filter(|_| !outcome.assisted) {
            self.revision.add(&failed, &actions);
        }
        if !outcome.won && !outcome.assisted {
            self.last_failed_attempts.insert(key, actions);
        }
    }

    /// Returns the collected data.
    pub fn finish(self) -> SessionMetrics {
        let state = self.state;
        SessionMetrics {
            session: state.session.clone(),
            spec: state.run.clone(),
            episodes: state.ended_episodes.iter().cloned().collect(),
            reflections: state.reflections.iter().cloned().collect(),
            revision: self.revision,
            started_with_lessons: self.started_with_lessons,
            prefetch: state.prefetch_stats(),
            open: !state.run_over,
            mentor_called: state.usage.mentor_calls > 0,
        }
    }
}
