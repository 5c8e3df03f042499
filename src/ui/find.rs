//! Text search in the steps of a whole session. The listed episode is searched at once. The others are searched on a
//! separate thread, so that a long session never blocks a key.

mod journal_lines;

use crate::domain::{Seq, Step};
use crate::driver::{Signal, Store};
use crate::engine::{Episode, State};
use crate::text::{one_line, search};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Maximum number of hits; nobody walks through more.
pub const MAX_HITS: usize = 5000;
/// Number of hits, or of episodes without any, after which the hits so far are reported.
const BATCH_SIZE: usize = 100;

/// The part of a step in which a hit lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchedText {
    Thought,
    Action,
    /// What the environment replied.
    Observation,
    Remark,
}

/// An occurrence of the search text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    pub episode: u32,
    /// The step's number in the episode; 0 is the reset.
    pub step: u32,
    pub part: SearchedText,
    /// The whole text in which it was found, as one line.
    pub text: Arc<str>,
    /// The byte range of the occurrence in `text`.
    pub range: Range<usize>,
}

/// Searches one episode in order and returns at most `most` hits.
pub fn search_episode(episode: &Episode, query: &str, most: usize) -> Vec<SearchHit> {
    let mut found = Vec::new();
    let first = episode
        .first_observation
        .as_ref()
        .map(|r| (0, SearchedText::Observation, r.agent_view.as_deref().unwrap_or(&r.raw)));
    let steps = episode.steps.iter().map(|s| (s.number, searchable_texts(s).collect::<Vec<_>>()));
    let goal =
        Some(episode.task.goal.as_str()).filter(|g| first.is_none_or(|(_, _, text)| !text.contains(g)));
    let start = first.into_iter().map(|(_, part, text)| (part, text));
    let start = start.chain(goal.map(|g| (SearchedText::Observation, g))).collect();
    for (number, texts) in std::iter::once((0, start)).chain(steps) {
        for (part, text) in texts {
            let text = one_line(text);
            let places = search(&text, query);
            if places.is_empty() {
                continue;
            }
            // All hits in a text share it: one megabyte of text can have a hundred thousand hits.
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

fn searchable_texts(step: &Step) -> impl Iterator<Item = (SearchedText, &str)> {
    let thought = step.thought.as_deref().map(|t| (SearchedText::Thought, t));
    let done = step.action().filter(|a| !a.starts_with("think:")).map(|a| (SearchedText::Action, a));
    let seen = step.observation().map(|o| (SearchedText::Observation, o));
    let remarks = step.remarks.iter().map(|r| (SearchedText::Remark, r.as_str()));
    thought.into_iter().chain(done).chain(seen).chain(remarks)
}

/// Returns whether the session has episodes besides this one.
pub fn has_other_episodes(head: &State, shown: u32) -> bool {
    let now = head.episode.as_ref().map_or(0, |e| e.number);
    (now != 0 && now != shown) || head.ended_episodes.iter().any(|p| p.number != shown)
}

/// Searches every episode except the one that is shown, newest first, and passes hits to `report` in batches until it
/// returns `Break`. The last batch is marked `Complete`. If the journal's lines can be searched, only events whose
/// lines contain the text are read; otherwise every episode is restored.
pub fn search_other_episodes(
    store: &Store,
    shown: u32,
    query: &str,
    mut report: impl FnMut(Vec<SearchHit>, SearchStatus) -> ControlFlow<()>,
) {
    let head = store.head();
    let now = head.episode.as_deref().filter(|e| e.outcome.is_none() && e.number != shown);
    let found = now.map_or_else(Vec::new, |e| search_episode(e, query, MAX_HITS));
    let fetch = store.timeline().fetcher().cloned();
    let result = match fetch {
        Some(fetch) => journal_lines::search_journal(&head, &fetch, shown, query, found, &mut report),
        None => Err(journal_lines::LineSearchError::Unsupported(found)),
    };
    match result {
        Ok(()) => {}
        Err(journal_lines::LineSearchError::Unsupported(found)) => {
            search_restored_episodes(store, &head, shown, query, found, &mut report);
        }
        Err(journal_lines::LineSearchError::ReadFailed(why)) => {
            store.signal(Signal::Notice(why));
            // A receiver that stopped listening misses nothing.
            let _ = report(Vec::new(), SearchStatus::Complete);
        }
    }
}

/// Restores every episode and searches it.
fn search_restored_episodes(
    store: &Store,
    head: &State,
    shown: u32,
    query: &str,
    mut found: Vec<SearchHit>,
    report: &mut ReportHits<'_>,
) {
    let (mut total, mut visited) = (0, 0);
    for past in head.ended_episodes.iter().rev().filter(|p| p.number != shown) {
        visited += 1;
        if found.len() >= BATCH_SIZE || visited % BATCH_SIZE == 0 {
            total += found.len();
            if report(std::mem::take(&mut found), SearchStatus::Partial).is_break() {
                return;
            }
        }
        if total + found.len() >= MAX_HITS {
            break;
        }
        let state = store.state_at(Seq(past.seq_range.1));
        let episode = state.episode.as_deref().filter(|e| e.number == past.number);
        found.extend(
            episode.map_or_else(Vec::new, |e| search_episode(e, query, MAX_HITS - total - found.len())),
        );
    }
    // A receiver that stopped listening misses nothing.
    let _ = report(found, SearchStatus::Complete);
}

/// Receives a batch of hits and decides whether to continue.
type ReportHits<'t> = dyn FnMut(Vec<SearchHit>, SearchStatus) -> ControlFlow<()> + 't;

/// Whether more hits may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStatus {
    Partial,
    Complete,
}

#[cfg(test)]
mod tests;
