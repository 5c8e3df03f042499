//! Text search in all episodes of a session, in everything that their Stories show. The episode on screen is searched synchronously,
//! the others on a separate thread, so that a long session doesn't block the screen: first the texts of steps, which stand in the lines
//! of the journal, then what only a restored episode shows, such as mistakes, lessons and reasoning.

mod journal_lines;

use crate::domain::{EpisodeSummary, LessonText, Seq, Step};
use crate::driver::{Signal, Store};
use crate::engine::{Episode, State};
use crate::report::{Block, plain_text, start_section, step_section};
use crate::text::{one_line, search};
use crate::ui::types::WorkProgress;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of hits, more than a person would look at.
pub const MAX_HITS: usize = 5000;
/// Number of hits after which the hits so far are sent.
const BATCH_SIZE: usize = 100;
/// Number of episodes that are restored one after another before their hits are sent.
const EPISODES_PER_GROUP: usize = 32;
/// The events of the newest episodes that are restored, so that searching the longest session takes at most two seconds of
/// processor time.
const MAX_RESTORED_EVENTS: u64 = 200_000;

/// The part of a step in which a hit lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchedText {
    Thought,
    Action,
    /// The environment's observation.
    Observation,
    Remark,
    /// What a person did, such as the lesson that was taught.
    Act,
    /// A detector's finding.
    Finding,
    /// A lesson of a reflection.
    Lesson,
}

/// A text with the searched words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    pub episode: u32,
    /// The step's number in the episode; 0 stands for the first observation.
    pub step: u32,
    pub part: SearchedText,
    /// The whole text that contains the hit, as one line.
    pub text: Arc<str>,
    /// The byte range of the first occurrence in `text`.
    pub range: Range<usize>,
}

/// The texts of an episode that are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchedParts {
    All,
    /// What the Story shows beside the texts of steps: mistakes, reflections and what a person did.
    BesideSteps,
}

/// Searches the episode of a state in step order, with everything that its Story shows. Returns at most `max_hits` hits.
pub fn search_story(state: &State, query: &str, max_hits: usize) -> Vec<SearchHit> {
    search_parts(state, query, SearchedParts::All, max_hits)
}

/// Returns the words of a block that a search of the texts of steps doesn't cover.
fn story_texts(block: &Block<'_>) -> Vec<(SearchedText, String)> {
    match block {
        Block::Reasoning(text) => vec![(SearchedText::Thought, (*text).to_owned())],
        Block::Finding { note, sentence: Some(sentence) } => {
            // The timeline calls it by the name of its detector.
            vec![(SearchedText::Finding, format!("{}: {sentence}", note.detector.replace('_', " ")))]
        }
        Block::Finding { .. } => {
            vec![(SearchedText::Finding, plain_text(&block.short_line(|_| String::new())))]
        }
        Block::Act { .. } | Block::Rejected { .. } => vec![(SearchedText::Act, plain_text(&block.line()))],
        Block::Reflection(reflection) => {
            let name = reflection.question().name();
            let item = |text: &LessonText| match &text.solution {
                Some(solution) => format!("{name}  {} → {solution}", text.text),
                None => format!("{name}  {}", text.text),
            };
            reflection.items.iter().map(|i| (SearchedText::Lesson, item(&i.text))).collect()
        }
        _ => Vec::new(),
    }
}

fn search_parts(state: &State, query: &str, parts: SearchedParts, max_hits: usize) -> Vec<SearchHit> {
    let Some(episode) = state.episode.as_deref() else { return Vec::new() };
    let mut found = Vec::new();
    let sections = std::iter::once((start_texts(episode), 0, start_section(episode, state)));
    let steps = episode
        .steps
        .iter()
        .map(|step| (searchable_texts(step).collect(), step.number, step_section(step, episode, state)));
    for (texts, number, section) in sections.chain(steps) {
        let texts = texts.into_iter().filter(|_| parts == SearchedParts::All);
        let texts = texts.map(|(part, text)| (part, Cow::Borrowed(text)));
        let beside = section.blocks().flat_map(story_texts).map(|(part, text)| (part, Cow::Owned(text)));
        for (part, text) in texts.chain(beside) {
            found.extend(find_in((episode.number, number, part), &text, query));
        }
        if found.len() >= max_hits {
            found.truncate(max_hits);
            break;
        }
    }
    found
}

/// Returns the first occurrence in a text: the others would be the same row again.
fn find_in((episode, step, part): (u32, u32, SearchedText), text: &str, query: &str) -> Option<SearchHit> {
    let text = one_line(text);
    let range = search(&text, query).into_iter().next()?;
    Some(SearchHit { episode, step, part, text: text.into(), range })
}

/// Returns the texts before the first step: the first observation, and the goal if that doesn't contain it.
fn start_texts(episode: &Episode) -> Vec<(SearchedText, &str)> {
    let first = episode.first_observation.as_ref().map(|r| r.agent_view.as_deref().unwrap_or(&r.raw));
    let goal = Some(episode.task.goal.as_str()).filter(|goal| first.is_none_or(|text| !text.contains(goal)));
    first.into_iter().chain(goal).map(|text| (SearchedText::Observation, text)).collect()
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
    let latest = head.episode.as_ref().map_or(0, |e| e.number);
    (latest != 0 && latest != shown) || head.ended_episodes.iter().any(|p| p.number != shown)
}

/// Returns the ended episodes except number `shown`, oldest first.
fn other_episodes(head: &State, shown: u32) -> Vec<&EpisodeSummary> {
    head.ended_episodes.iter().map(|past| &**past).filter(|past| past.number != shown).collect()
}

/// Returns how many of the episodes are so old that only the texts of their steps are searched.
fn count_unrestored(episodes: &[&EpisodeSummary]) -> usize {
    let mut events = 0;
    let is_restored = |past: &&&EpisodeSummary| {
        events += past.seq_range.1 - past.seq_range.0;
        events <= MAX_RESTORED_EVENTS
    };
    episodes.len() - episodes.iter().rev().take_while(is_restored).count()
}

/// Searches every episode except number `shown`, newest first. Passes hits to `send` in batches, and returns the last
/// batch. Stops when it is cancelled. If the journal's lines can be searched, finds the texts of steps there first, which reads
/// only events whose lines may contain the text, and the rest in the newest episodes.
pub fn search_other_episodes(
    store: &Store,
    shown: u32,
    query: &str,
    progress: &WorkProgress,
    mut send: impl FnMut(Vec<SearchHit>),
) -> (Vec<SearchHit>, SearchStatus) {
    let head = store.head();
    let is_open = head.open_episode().is_some_and(|episode| episode.number != shown);
    let found = if is_open { search_story(&head, query, MAX_HITS) } else { Vec::new() };
    let sent = Cell::new(0);
    let mut send = |hits: Vec<SearchHit>| {
        sent.set(sent.get() + hits.len());
        send(hits);
    };
    let fetch = store.timeline().fetcher().cloned();
    let result = match fetch {
        Some(fetch) => {
            let progress = progress.stage(0, 2);
            journal_lines::search_journal(&head, &fetch, (shown, query), found, &progress, &mut send)
        }
        None => Err(journal_lines::LineSearchError::Unsupported(found)),
    };
    let (found, parts, progress) = match result {
        Ok(found) => (found, SearchedParts::BesideSteps, progress.stage(1, 2)),
        Err(journal_lines::LineSearchError::Unsupported(found)) => {
            (found, SearchedParts::All, progress.stage(0, 1))
        }
        Err(journal_lines::LineSearchError::ReadFailed(why)) => {
            store.signal(Signal::Notice(why));
            return (Vec::new(), SearchStatus::Complete { only_steps: 0 });
        }
    };
    let mut episodes = other_episodes(&head, shown);
    let only_steps = if parts == SearchedParts::BesideSteps { count_unrestored(&episodes) } else { 0 };
    episodes.drain(..only_steps);
    let found = (found, MAX_HITS.saturating_sub(sent.get()));
    let found = search_restored(store, &head, &episodes, (query, parts), found, &progress, &mut send);
    (found, SearchStatus::Complete { only_steps })
}

/// Restores episodes and searches them, the newest first. Adds to `found` up to `room` hits in all. Returns the last batch.
fn search_restored(
    store: &Store,
    head: &State,
    episodes: &[&EpisodeSummary],
    (query, parts): (&str, SearchedParts),
    (mut found, mut room): (Vec<SearchHit>, usize),
    progress: &WorkProgress,
    send: &mut dyn FnMut(Vec<SearchHit>),
) -> Vec<SearchHit> {
    let mut visited = 0;
    // Within a group each episode is restored from the end of the one before it, so that its events are read once.
    for group in episodes.rchunks(EPISODES_PER_GROUP) {
        room = room.saturating_sub(found.len());
        if !found.is_empty() {
            send(std::mem::take(&mut found));
        }
        if room == 0 {
            break;
        }
        let mut hits = Vec::new();
        for past in group {
            if progress.report(visited, episodes.len() as u64).is_err() {
                return Vec::new();
            }
            visited += 1;
            let state = store.state_at(Seq(past.seq_range.1)).with_remarks_of(head);
            if state.episode.as_deref().is_some_and(|episode| episode.number == past.number) {
                hits.push(search_parts(&state, query, parts, room));
            }
        }
        found = hits.into_iter().rev().flatten().take(room).collect();
    }
    found
}

/// Whether more hits may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStatus {
    Partial,
    /// In this many of the oldest episodes, only the texts of steps were searched.
    Complete {
        only_steps: usize,
    },
}

#[cfg(test)]
mod tests;
