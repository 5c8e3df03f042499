//! Seeds of requests. The same request of the same episode has the same seed on every branch and in every replay.

use super::State;
use crate::domain::{ModelRole, PromptRecord, RunSpec};

/// The setting with the session from which a replayed episode was taken.
pub const SOURCE_SESSION_SETTING: &str = "from.session";
/// The setting with the episode number that the seeds of the run's first episode are derived from.
pub const SEED_EPISODE_SETTING: &str = "from.episode";
/// The setting with the number of tasks of the run that this one is a part of. If it is present, the seeds of an
/// episode depend on its task's position and its trial, so that a task has the same seeds no matter which process plays
/// the other tasks, or when.
pub const SEED_TASK_COUNT_SETTING: &str = "from.tasks";

/// Returns the episode number that an episode's seeds are derived from. A replayed episode has its original number.
pub fn seeded_episode(run: Option<&RunSpec>, episode: u32) -> u32 {
    let first = run.map_or(1, |r| r.settings.number(SEED_EPISODE_SETTING, 1)).max(1);
    episode.saturating_add(u32::try_from(first - 1).unwrap_or(u32::MAX))
}

/// Returns a seed from (sample seed, episode, step, role, retry), never from prompt, branch or call id, so that the
/// runs of a comparison stay paired.
///
/// The mixing function is splitmix64; the result has 31 bits, which every server accepts.
pub fn request_seed(sample: u64, episode: u32, step: u32, role: ModelRole, retry: u32) -> u64 {
    let role = match role {
        ModelRole::Actor => 1,
        ModelRole::Mentor => 2,
    };
    let mut mixed = 0x5265_7472_6f73_7065_u64;
    for part in [sample, u64::from(episode), u64::from(step), role, u64::from(retry)] {
        mixed = mixed.wrapping_add(part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
    }
    mixed & 0x7fff_ffff
}

impl State {
    /// Returns the seed of a request, derived from the number that a person chose for its role, or else from the run's
    /// seed.
    pub fn seed_for(&self, prompt: &PromptRecord) -> u64 {
        let run = self.run.as_deref();
        let sample = run.map_or(0, |r| r.settings.seed_override(prompt.role).unwrap_or(r.seed));
        let episode =
            self.seeded_trial(prompt.episode).unwrap_or_else(|| seeded_episode(run, prompt.episode));
        request_seed(sample, episode, prompt.step, prompt.role, prompt.retry)
    }

    /// Returns the episode number computed from task and trial, if the run's seeds depend on them.
    fn seeded_trial(&self, episode: u32) -> Option<u32> {
        let run = self.run.as_deref()?;
        let tasks =
            u32::try_from(run.settings.number(SEED_TASK_COUNT_SETTING, 0)).ok().filter(|tasks| *tasks > 0)?;
        let open = self.episode.as_ref().filter(|e| e.number == episode).map(|e| (&e.task, e.trial));
        let (task, trial) = open.or_else(|| self.ended_episode(episode).map(|e| (&e.task, e.trial)))?;
        let index = run.test_tasks().iter().position(|t| t.key() == task.key())?;
        let first = seeded_episode(Some(run), u32::try_from(index).ok()?.saturating_add(1));
        Some(trial.saturating_sub(1).saturating_mul(tasks).saturating_add(first))
    }

    /// Sets the sampling parameters of a prompt: those that a person set, and its seed.
    pub(super) fn set_sampling(&self, prompt: &mut PromptRecord) {
        prompt.sampling =
            self.run.as_deref().map(|r| r.settings.sampling_overrides(prompt.role)).unwrap_or_default();
        prompt.seed = self.seed_for(prompt);
    }
}
