//! What playing an episode of a session again needs: its task, settings, lessons, seeds and the attempts before it.

use crate::domain::{
    CALIBRATION_SETTING, EXPLORATION_SETTING, EpisodeRole, FIRST_EPISODE_SETTING, FIRST_TRIAL_SETTING,
    Lesson, RunSpec, SEED_EPISODE_SETTING, SEED_TASK_COUNT_SETTING, SOURCE_SESSION_SETTING, Scope, Seq,
    SettingOrigin,
};
use crate::engine::{Attempt, Episode, ReplayStart, State, seeded_episode};
use crate::journal::import::imported_format;
use crate::timeline::Timeline;
use std::sync::Arc;

/// An episode of a session, ready to be played again from its start in another session.
pub struct EpisodeReplay {
    /// The run with which the episode was played.
    pub original: Arc<RunSpec>,
    /// The run that plays only this episode.
    pub spec: RunSpec,
    /// The episode as `SESSION#EPISODE`.
    pub source: String,
    /// The lessons in force when it started.
    pub lessons: Vec<Lesson>,
    /// The rest of the state in which it started.
    pub start: ReplayStart,
    /// The state before the episode's first event.
    before: Arc<State>,
    /// The state after it.
    started: Arc<State>,
}

/// Why an episode can't be played again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// The session has only this many ended episodes.
    NoEpisode(usize),
    /// Its first events can't be read.
    Unreadable,
    /// It was imported from this format, and its environment's data is not in it.
    Imported(String),
}

impl EpisodeReplay {
    /// Finds an episode of a session by its number.
    ///
    /// # Errors
    /// Returns [`ReplayError`] if there is no such episode, or if it can't be played again.
    pub fn from_timeline(timeline: &Timeline, session: &str, number: u32) -> Result<Self, ReplayError> {
        let head = timeline.head();
        let ended = head.ended_episodes.iter().find(|p| p.number == number);
        let open = head.episode.as_ref().filter(|e| e.number == number);
        let first_seq = ended
            .map(|p| p.seq_range.0)
            .or(open.map(|e| e.first_seq.0))
            .ok_or(ReplayError::NoEpisode(head.ended_episodes.len()))?;
        // The state before its first event has the lessons and settings that were current then.
        let before = timeline.state_at(Seq(first_seq.saturating_sub(1)));
        // It is taken after the previous episode has ended: its attempt is stored and its lessons of scope episode are gone.
        let started = timeline.state_at(Seq(first_seq));
        let (Some(original), Some(episode)) = (before.run.clone(), started.episode.clone()) else {
            return Err(ReplayError::Unreadable);
        };
        if let Some(format) = imported_format(&original) {
            return Err(ReplayError::Imported(format.to_owned()));
        }
        let mut spec = RunSpec { tasks: vec![episode.task.clone()], ..(*original).clone() };
        spec.settings.set(SOURCE_SESSION_SETTING, session, SettingOrigin::Flag);
        // The episode keeps its number, from which its seeds are derived.
        spec.settings.set(FIRST_EPISODE_SETTING, u64::from(number), SettingOrigin::Flag);
        spec.settings.set(FIRST_TRIAL_SETTING, u64::from(episode.trial), SettingOrigin::Flag);
        if original.settings.contains(SEED_TASK_COUNT_SETTING) {
            // Its seeds are derived from the index of its task, and the new run has only this task.
            let key = episode.task.key();
            let index = original.test_tasks().iter().position(|t| t.key() == key).unwrap_or(0);
            let first = seeded_episode(Some(&original), index as u32 + 1);
            spec.settings.set(SEED_EPISODE_SETTING, u64::from(first), SettingOrigin::Flag);
        }
        // A calibration or exploration episode keeps its role. For a test episode both counts become 0, so that no such
        // episode is played first.
        for (name, role) in
            [(CALIBRATION_SETTING, EpisodeRole::Calibrate), (EXPLORATION_SETTING, EpisodeRole::Explore)]
        {
            if spec.settings.contains(name) {
                spec.settings.set(name, u64::from(episode.role == role), SettingOrigin::Flag);
            }
        }
        let active: Vec<&Lesson> = started.pool.all().filter(|l| l.is_active()).collect();
        let source = format!("{session}#{number}");
        let attempt =
            started.last_attempt(&episode.task).map(|attempt| Box::new(Attempt::from_episode(attempt)));
        let mut successes: Vec<Attempt> =
            started.successes.values().map(|e| Attempt::from_episode(e)).collect();
        successes.sort_by_key(|success| success.number);
        let start = ReplayStart {
            source: source.clone(),
            attempt,
            successes,
            memory: before.memory.clone(),
            learnt_at: active.iter().map(|l| (l.id.clone(), l.learnt_at.0, l.learnt_at.1)).collect(),
        };
        let lessons = active.into_iter().map(|l| bind_to_task(l, &before, &episode)).collect();
        Ok(Self { original, spec, source, lessons, start, before, started })
    }

    /// Returns a lesson of the session, as the replayed episode can use it; see [`Self::lessons`].
    pub fn bind(&self, lesson: &Lesson) -> Lesson {
        match self.started.episode.as_deref() {
            Some(episode) => bind_to_task(lesson, &self.before, episode),
            None => lesson.clone(),
        }
    }
}

/// Returns a copy of a lesson. If its scope excludes the replayed task, sets the copy's task key to the task it was
/// learnt in, because the new session doesn't know the tasks of the earlier episodes.
fn bind_to_task(lesson: &Lesson, before: &State, episode: &Episode) -> Lesson {
    let mut lesson = lesson.clone();
    let learnt_in = before.ended_episode(lesson.learnt_at.0).map(|p| &p.task);
    if let Some(task) = learnt_in.filter(|_| lesson.task_key.is_none()) {
        let same_type = task.env == episode.task.env && task.task_type == episode.task.task_type;
        if lesson.scope == Scope::Task || (lesson.scope == Scope::TaskType && !same_type) {
            lesson.task_key = Some(task.key().into());
        }
    }
    lesson
}
