//! Repeated advice: successive reflections on a task that say the same (`docs/EFFECT.md`).
//!
//! A reflection is compared with the one before when it is written, and the result is journaled with it. The fold keeps only
//! which one that is, so comparing doesn't take longer as reflections accumulate.

use super::State;
use crate::domain::{Reflection, ReflectionKind, SameAdvice, Seq, Task};
use serde::{Deserialize, Serialize};

/// The last advice of a kind on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastAdvice {
    /// Its index among all reflections, from 0.
    index: u32,
    /// The first of the successive reflections that say the same.
    since: Seq,
}

impl State {
    /// Compares a reflection that is about to be recorded with the one before of its kind on the same task. Returns `None` if
    /// it says something else, or if the run doesn't compare reflections.
    pub(super) fn same_advice(&self, reflection: &Reflection) -> Option<SameAdvice> {
        if !reflection.is_advice() {
            return None;
        }
        let settings = self.settings();
        let key = advice_key(reflection.kind, self.task_of(reflection.episode)?);
        let last = self.last_advice.get(&key)?;
        let previous = self.reflections.get(last.index as usize)?;
        let cosine = reflection.word_counts().cosine(&previous.word_counts());
        if cosine < settings.early_stop_cosine {
            return None;
        }
        let before = previous.same_advice;
        let times = before.map_or(1, |same| same.times).saturating_add(1);
        Some(SameAdvice {
            times,
            cosine: before.map_or(cosine, |same| same.cosine.min(cosine)),
            ends_task: settings.early_stop && times >= SameAdvice::ALARM,
        })
    }

    /// Keeps the newest reflection, which has just been added, as the last advice on its task.
    pub(super) fn record_advice(&mut self) {
        let Some(index) = self.reflections.len().checked_sub(1) else { return };
        let Some(newest) = self.reflections.get(index).filter(|reflection| reflection.is_advice()) else {
            return;
        };
        let Some(task) = self.task_of(newest.episode) else { return };
        let key = advice_key(newest.kind, task);
        let earlier = newest.same_advice.and_then(|_| self.last_advice.get(&key));
        let last = LastAdvice { index: index as u32, since: earlier.map_or(newest.seq, |last| last.since) };
        self.last_advice.insert_mut(key, last);
    }

    /// Returns the last advice of a kind on a task.
    pub fn last_advice(&self, kind: ReflectionKind, task: &Task) -> Option<&Reflection> {
        let last = self.last_advice.get(&advice_key(kind, task))?;
        self.reflections.get(last.index as usize).map(AsRef::as_ref)
    }

    /// Returns the event of the first of the successive reflections that say the same as the last one on its task.
    pub fn same_advice_since(&self, reflection: &Reflection) -> Option<Seq> {
        let key = advice_key(reflection.kind, self.task_of(reflection.episode)?);
        self.last_advice.get(&key).map(|last| last.since)
    }

    /// Returns the reflection because of which a task has ended early. Switching the setting `early_stop` off continues the
    /// task.
    pub fn early_stop(&self, task: &Task) -> Option<&Reflection> {
        if !self.settings().early_stop {
            return None;
        }
        let ends_task = |reflection: &&Reflection| reflection.same_advice.is_some_and(|same| same.ends_task);
        ReflectionKind::ALL.into_iter().find_map(|kind| self.last_advice(kind, task).filter(ends_task))
    }

    /// Returns the task of an episode.
    fn task_of(&self, episode: u32) -> Option<&Task> {
        let current = self.episode.as_deref().filter(|current| current.number == episode);
        current.map(|current| &current.task).or_else(|| self.ended_episode(episode).map(|ended| &ended.task))
    }
}

fn advice_key(kind: ReflectionKind, task: &Task) -> String {
    format!("{}\n{}", kind.name(), task.key())
}
