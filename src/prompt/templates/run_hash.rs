//! The hash of the texts that a run can show. A session records it, so that resuming with other texts is noticed.

use super::env_texts::Example;
use super::{Content, EnvTexts, Layout, StoredText, Templates, question_key};
use crate::domain::{EpisodeRole, RunSpec, hex};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;

impl Templates {
    /// Returns the SHA-256, in hexadecimal, of all texts that a run can show: the prompts and questions of its method, and of
    /// the method that plays its calibration, and what these show of the environments of its tasks. Other methods,
    /// environments and texts don't change it.
    pub fn hash_for(&self, run: &RunSpec) -> String {
        let mut methods = BTreeSet::from([self.layout_method(&run.method, EpisodeRole::Test)]);
        if !(run.calibration_tasks().is_empty() && run.exploration_tasks().is_empty()) {
            methods.insert(self.layout_method(&run.method, EpisodeRole::Calibrate));
        }
        let layouts: Vec<&Layout> = methods.iter().flat_map(|method| self.layouts_of(method)).collect();
        let envs: BTreeSet<&str> = run.tasks.iter().map(|task| task.env.as_str()).collect();
        let mut parts: Vec<&str> = layouts.iter().map(|layout| layout.source_hash.as_str()).collect();
        for env in envs {
            parts.push(env);
            parts.extend(shown_texts(self.env_texts(env), &layouts, run));
        }
        let mut hash = Sha256::new();
        for part in parts {
            super::add_part(&mut hash, part);
        }
        hex(&hash.finalize())
    }

    /// Returns whether a run that recorded this hash was started with these texts.
    pub fn matches(&self, run: &RunSpec, recorded: &str) -> bool {
        // Older sessions recorded the hash of all files.
        recorded == self.hash_for(run) || recorded == self.hash
    }

    /// Returns the layouts of a method: of the actor's prompt, then of its questions.
    fn layouts_of<'a>(&'a self, method: &'a str) -> impl Iterator<Item = &'a Layout> {
        let prefix = question_key(method, "");
        let questions = self.layouts.iter().filter(move |(key, _)| key.starts_with(&prefix));
        std::iter::once(self.layout(method)).chain(questions.map(|(_, layout)| layout))
    }
}

/// Returns names and hashes of the texts and examples of an environment that these layouts show in a run.
fn shown_texts<'a>(env_texts: &'a EnvTexts, layouts: &[&Layout], run: &RunSpec) -> Vec<&'a str> {
    let contents = || layouts.iter().flat_map(|layout| &layout.segments).map(|segment| &segment.content);
    let names: BTreeSet<&str> = contents()
        .filter_map(|content| match content {
            Content::EnvText(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let is_shown = |name: &str| names.contains(name.split('.').next().unwrap_or_default());
    let of_variants = env_texts.suitable_variants(Some(run)).flat_map(|variant| &variant.texts);
    let texts = env_texts.texts.iter().chain(of_variants).filter(|(name, _)| is_shown(name));
    let mut parts: Vec<&str> =
        texts.flat_map(|(name, StoredText { hash, .. })| [name.as_str(), &**hash]).collect();
    if contents().any(|content| matches!(content, Content::Examples(..))) {
        parts.extend(env_texts.examples.iter().flat_map(Example::identity));
    }
    parts
}
