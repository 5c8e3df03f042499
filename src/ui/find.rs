//! Words in the steps of a whole session. The listed episode is searched at once; the others are brought back one by one,
//! as the timeline does it, on a thread of their own, so that a long session holds no key up.

mod journal_lines;

use crate::domain::{Seq, Step};
use crate::driver::{Signal, Store};
use crate::engine::{Episode, State};
use crate::text::{one_line, search};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Places that are kept at most; nobody walks through more.
pub const MAX_HITS: usize = 5000;
/// Places, or episodes without any, after which what was found so far is told.
const BATCH_SIZE: usize = 100;

/// What of a step a place lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepPart {
    /// A thought.
    Thought,
    /// An action.
    Action,
    /// What the world said.
    Observation,
    /// A person's remark.
    Remark,
}

/// One place in which the words stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    /// The episode's number.
    pub episode: u32,
    /// The step's number in it.
    pub step: u32,
    /// What of the step it lies in.
    pub part: StepPart,
    /// The whole text, as one line.
    pub text: Arc<str>,
    /// Where in the text the words stand, in bytes.
    pub range: Range<usize>,
}

/// The places in one episode, in order, at most so many.
pub fn search_episode(episode: &Episode, words: &str, most: usize) -> Vec<SearchHit> {
    let mut found = Vec::new();
    let first = episode
        .first_observation
        .as_ref()
        .map(|r| (0, StepPart::Observation, r.agent_view.as_deref().unwrap_or(&r.raw)));
    let steps = episode.steps.iter().map(|s| (s.number, searchable_texts(s).collect::<Vec<_>>()));
    let goal =
        Some(episode.task.goal.as_str()).filter(|g| first.is_none_or(|(_, _, text)| !text.contains(g)));
    let start = first.into_iter().map(|(_, part, text)| (part, text));
    let start = start.chain(goal.map(|g| (StepPart::Observation, g))).collect();
    for (number, texts) in std::iter::once((0, start)).chain(steps) {
        for (part, text) in texts {
            let text = one_line(text);
            let places = search(&text, words);
            if places.is_empty() {
                continue;
            }
            // One text for all of its places: a line of a megabyte can hold a hundred thousand.
            let text: Arc<str> = text.into();
            let room = most.saturating_sub(found.len());
            found.extend(places.into_iter().take(room).map(|at| SearchHit {
                episode: episode.number,
                step: number,
                part,
                text: text.clone(),
                range: at,
            }));
        }
        if found.len() >= most {
            break;
        }
    }
    found
}

fn searchable_texts(step: &Step) -> impl Iterator<Item = (StepPart, &str)> {
    let thought = step.thought.as_deref().map(|t| (StepPart::Thought, t));
    let done = step.action().filter(|a| !a.starts_with("think:")).map(|a| (StepPart::Action, a));
    let seen = step.observation().map(|o| (StepPart::Observation, o));
    let remarks = step.remarks.iter().map(|r| (StepPart::Remark, r.as_str()));
    thought.into_iter().chain(done).chain(seen).chain(remarks)
}

/// Whether there are episodes beside this one.
pub fn has_other_episodes(head: &State, shown: u32) -> bool {
    let now = head.episode.as_ref().map_or(0, |e| e.number);
    (now != 0 && now != shown) || head.ended_episodes.iter().any(|p| p.number != shown)
}

/// Searches every episode but the one that is shown, the newest first, and tells what it finds piece by piece until it is
/// told to stop. The last piece says that it is the last. Where the journal's lines can be looked at, only those that hold
/// the words are read; else every episode is brought back.
pub fn search_other_episodes(
    store: &Store,
    shown: u32,
    words: &str,
    mut tell: impl FnMut(Vec<SearchHit>, SearchStatus) -> ControlFlow<()>,
) {
    let head = store.head();
    let now = head.episode.as_deref().filter(|e| e.outcome.is_none() && e.number != shown);
    let found = now.map_or_else(Vec::new, |e| search_episode(e, words, MAX_HITS));
    let fetch = store.timeline().fetcher().cloned();
    let held = match fetch {
        Some(fetch) => journal_lines::search_journal(&head, &fetch, shown, words, found, &mut tell),
        None => Err(journal_lines::LineSearchError::Unsupported(found)),
    };
    match held {
        Ok(()) => {}
        Err(journal_lines::LineSearchError::Unsupported(found)) => {
            search_restored_episodes(store, &head, shown, words, found, &mut tell);
        }
        Err(journal_lines::LineSearchError::ReadFailed(why)) => {
            store.signal(Signal::Notice(why));
            // Whoever stopped listening by now has missed nothing.
            let _ = tell(Vec::new(), SearchStatus::Complete);
        }
    }
}

/// Every episode is brought back and looked through.
fn search_restored_episodes(
    store: &Store,
    head: &State,
    shown: u32,
    words: &str,
    mut found: Vec<SearchHit>,
    tell: &mut OnHits<'_>,
) {
    let (mut total, mut walked) = (0, 0);
    for past in head.ended_episodes.iter().rev().filter(|p| p.number != shown) {
        walked += 1;
        if found.len() >= BATCH_SIZE || walked % BATCH_SIZE == 0 {
            total += found.len();
            if tell(std::mem::take(&mut found), SearchStatus::Partial).is_break() {
                return;
            }
        }
        if total + found.len() >= MAX_HITS {
            break;
        }
        let state = store.state_at(Seq(past.seq_range.1));
        let episode = state.episode.as_deref().filter(|e| e.number == past.number);
        found.extend(
            episode.map_or_else(Vec::new, |e| search_episode(e, words, MAX_HITS - total - found.len())),
        );
    }
    // Whoever stopped listening by now has missed nothing.
    let _ = tell(found, SearchStatus::Complete);
}

/// Takes what was found so far, and says whether it wants more.
type OnHits<'t> = dyn FnMut(Vec<SearchHit>, SearchStatus) -> ControlFlow<()> + 't;

/// Whether more is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStatus {
    /// More may come.
    Partial,
    /// This was all.
    Complete,
}

#[cfg(test)]
mod tests;
