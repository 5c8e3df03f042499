//! What the metrics need of a session, taken from its events one by one: no episode is held once it has ended.

use super::reflections::{AttemptActions, RevisionCounts};
use crate::domain::{Author, EpisodeSummary, Reflection, RunSpec, Task};
use crate::engine::{Envelope, Event, PrefetchStats, State};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A session as far as the metrics go.
#[derive(Clone, Debug, Default)]
pub struct SessionMetrics {
    /// Its name.
    pub session: String,
    /// What it was started with; none where no run began.
    pub spec: Option<Arc<RunSpec>>,
    /// Its ended episodes, in order.
    pub episodes: Vec<Arc<EpisodeSummary>>,
    /// Its reflections, in order.
    pub reflections: Vec<Arc<Reflection>>,
    /// How attempts changed from one trial to the next.
    pub revision: RevisionCounts,
    /// It began with lessons of a file.
    pub pool_given: bool,
    /// What was asked ahead in it.
    pub prefetch: PrefetchStats,
    /// Its run has not ended.
    pub open: bool,
    /// Its mentor was asked something.
    pub mentor_asked: bool,
}

/// Takes the events of one session in.
#[derive(Clone, Debug, Default)]
pub struct MetricsCollector {
    state: State,
    /// The last attempt at a task that was not won, by [`Task::key`].
    last_failed_attempts: BTreeMap<String, AttemptActions>,
    revision: RevisionCounts,
    pool_given: bool,
}

impl MetricsCollector {
    /// Takes the next event in.
    pub fn add_event(&mut self, envelope: &Envelope) {
        self.state.apply(envelope);
        match envelope.event {
            Event::EpisodeEnded { .. } => self.on_episode_end(),
            Event::LessonChanged { author: Author::File, .. } => self.pool_given = true,
            _ => {}
        }
    }

    fn on_episode_end(&mut self) {
        let several = self.state.run.as_ref().is_some_and(|r| r.trials > 1);
        let Some(episode) = self.state.episode.as_deref().filter(|_| several) else { return };
        let Some(outcome) = episode.outcome.as_deref() else { return };
        let key = Task::key(&episode.task);
        let moves = AttemptActions::from_episode(episode);
        if let Some(before) = self.last_failed_attempts.remove(&key).filter(|_| !outcome.assisted) {
            self.revision.add(&before, &moves);
        }
        if !outcome.won && !outcome.assisted {
            self.last_failed_attempts.insert(key, moves);
        }
    }

    /// What it comes to.
    pub fn finish(self) -> SessionMetrics {
        let state = self.state;
        SessionMetrics {
            session: state.session.clone(),
            spec: state.run.clone(),
            episodes: state.ended_episodes.iter().cloned().collect(),
            reflections: state.reflections.iter().cloned().collect(),
            revision: self.revision,
            pool_given: self.pool_given,
            prefetch: state.prefetch_stats(),
            open: !state.run_over,
            mentor_asked: state.usage.mentor_calls > 0,
        }
    }
}
