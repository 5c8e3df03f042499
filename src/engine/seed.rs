//! Seeds of requests to models. The same request of the same episode has the same seed on every branch and in every
//! replay.

use super::State;
use crate::domain::{ModelRole, PromptRecord, Purpose, RunSpec};

/// Returns the episode number that an episode's seeds are derived from. For a replayed episode, it is the number in the
/// original session.
pub fn seeded_episode(run: Option<&RunSpec>, episode: u32) -> u32 {
    let first = run.map_or(1, |r| r.settings.typed().place.seed_episode);
    episode.saturating_add(u32::try_from(first - 1).unwrap_or(u32::MAX))
}

/// Derives the seed of a request from the run's or a person's base seed, the episode, the step, the role and the retry.
/// The prompt, the branch and the call id don't influence it, so runs that are compared get the same seeds.
///
/// The mixing function is splitmix64; the result has 31 bits, which every server accepts.
pub fn request_seed(base_seed: u64, episode: u32, step: u32, role: ModelRole, retry: u32) -> u64 {
    let role = match role {
        ModelRole::Actor => 1,
        ModelRole::Mentor => 2,
    };
    let mut mixed = 0x5265_7472_6f73_7065_u64;
    for part in [base_seed, u64::from(episode), u64::from(step), role, u64::from(retry)] {
        mixed = mixed.wrapping_add(part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
    }
    mixed & 0x7fff_ffff
}

impl State {
    /// Returns the seed of a request. Its base seed is the one that is set for the request's role, or else the run's.
    pub fn seed_for(&self, prompt: &PromptRecord) -> u64 {
        let run = self.run.as_deref();
        let base_seed = self.settings().role(prompt.role).seed.or(run.map(|r| r.seed)).unwrap_or(0);
        let episode = self
            .seeded_episode_of_task(prompt.episode)
            .unwrap_or_else(|| seeded_episode(run, prompt.episode));
        request_seed(base_seed, episode, prompt.step, prompt.role, prompt.retry)
    }

    /// Returns the episode number that an episode's seeds are derived from, computed from its task and trial. Returns
    /// `None` if the run is no part of a larger one or doesn't know the task.
    fn seeded_episode_of_task(&self, episode: u32) -> Option<u32> {
        let run = self.run.as_deref()?;
        let tasks = run.settings.typed().place.seed_tasks?;
        let open = self.episode.as_ref().filter(|e| e.number == episode).map(|e| (&e.task, e.trial));
        let (task, trial) = open.or_else(|| self.ended_episode(episode).map(|e| (&e.task, e.trial)))?;
        let index = run.test_tasks().iter().position(|t| t.key() == task.key())?;
        let first = seeded_episode(Some(run), u32::try_from(index).ok()?.saturating_add(1));
        Some(trial.saturating_sub(1).saturating_mul(tasks).saturating_add(first))
    }

    /// Sets a prompt's seed and the sampling parameters that are settings of the run.
    pub(super) fn set_sampling(&self, prompt: &mut PromptRecord) {
        prompt.whole_reply = prompt.role == ModelRole::Actor && self.settings().has_long_replies();
        prompt.summary_tokens = self.long_reply_tokens(prompt);
        prompt.sampling.clone_from(&self.settings().role(prompt.role).sampling);
        prompt.seed = self.seed_for(prompt);
    }

    /// Returns the token limit for a reply that is longer than others, else 0: for a summary, or for an actor's reply of several
    /// lines. A model that has room for a prompt of `context_tokens` has room for a reply of half as many.
    fn long_reply_tokens(&self, prompt: &PromptRecord) -> u32 {
        const WHOLE_REPLY_TOKENS: u64 = 2048;
        let is_summary = prompt.question.is_some_and(|question| question.purpose == Purpose::Summarise);
        let settings = self.settings();
        let tokens = match (is_summary, prompt.whole_reply) {
            (true, _) => settings.summary_tokens,
            (false, true) => WHOLE_REPLY_TOKENS,
            (false, false) => return 0,
        };
        let tokens = tokens.min(settings.context_tokens / 2);
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }
}
