//! Repeated advice: successive reflections on a task that say the same (`docs/EFFECT.md`).
//!
//! A reflection is compared with the one before when it is written, and the result is journaled with it. The fold keeps only
//! which one that is, so comparing doesn't take longer as reflections accumulate.

use super::State;
use crate::domain::{Reflection, ReflectionKind, SameAdvice, Seq, Task};

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
    pub(super) fn task_of(&self, episode: u32) -> Option<&Task> {
        let current = self.episode.as_deref().filter(|current| current.number == episode);
        current.map(|current| &current.task).or_else(|| self.ended_episode(episode).map(|ended| &ended.task))
    }
}

/// Returns the key of [`State::last_advice`].
pub(super) fn advice_key(kind: ReflectionKind, task: &Task) -> String {
    format!("{}\n{}", kind.name(), task.key())
}
