//! Text search in all episodes of a session, in everything that their Stories show. The episode on screen is searched synchronously,
//! the others on a separate thread, so that a long session doesn't block the screen: first the texts of steps, which stand in the lines
//! of the journal, then what only a restored episode shows, such as mistakes and lessons.

mod journal_lines;

use crate::domain::{LessonText, Seq, Step};
use crate::driver::{Signal, Store};
use crate::engine::{Episode, State};
use crate::report::{Block, plain_text, start_section, step_section};
use crate::text::{one_line, search};
use crate::ui::types::WorkProgress;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of hits, more than a person would look at.
pub const MAX_HITS: usize = 5000;
/// Number of hits, or of searched episodes, after which the hits so far are sent.
const BATCH_SIZE: usize = 100;

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

/// An occurrence of the search text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    pub episode: u32,
    /// The step's number in the episode; 0 stands for the first observation.
    pub step: u32,
    pub part: SearchedText,
    /// The whole text that contains the hit, as one line.
    pub text: Arc<str>,
    /// The byte range of the occurrence in `text`.
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
            let text = one_line(&text);
            let ranges = search(&text, query);
            if ranges.is_empty() {
                continue;
            }
            // The hits in a text share one copy: a megabyte of text can have a hundred thousand hits.
            let text: Arc<str> = text.into();
            let room = max_hits.saturating_sub(found.len());
            found.extend(ranges.into_iter().take(room).map(|at| SearchHit {
                episode: episode.number,
                step: number,
                part,
                text: text.clone(),
                range: at,
            }));
        }
        if found.len() >= max_hits {
            break;
        }
    }
    found
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

/// Searches every episode except number `shown`, newest first. Passes hits to `send` in batches, and returns the last
/// batch. Stops when it is cancelled. If the journal's lines can be searched, finds the texts of steps there first, which reads
/// only events whose lines may contain the text.
pub fn search_other_episodes(
    store: &Store,
    shown: u32,
    query: &str,
    progress: &WorkProgress,
    mut send: impl FnMut(Vec<SearchHit>),
) -> Vec<SearchHit> {
    let head = store.head();
    let is_open = head.open_episode().is_some_and(|episode| episode.number != shown);
    let found = if is_open { search_story(&head, query, MAX_HITS) } else { Vec::new() };
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
            return Vec::new();
        }
    };
    search_restored_episodes(store, &head, (shown, query, parts), found, &progress, &mut send)
}

/// Restores every episode and searches it. Returns the last batch of hits.
fn search_restored_episodes(
    store: &Store,
    head: &State,
    (shown, query, parts): (u32, &str, SearchedParts),
    mut found: Vec<SearchHit>,
    progress: &WorkProgress,
    send: &mut dyn FnMut(Vec<SearchHit>),
) -> Vec<SearchHit> {
    let mut total = 0;
    let others = || head.ended_episodes.iter().rev().filter(|p| p.number != shown);
    let all = others().count() as u64;
    for (visited, past) in (0..).zip(others()) {
        if progress.report(visited, all).is_err() {
            return Vec::new();
        }
        if found.len() >= BATCH_SIZE || (visited as usize + 1).is_multiple_of(BATCH_SIZE) {
            total += found.len();
            send(std::mem::take(&mut found));
        }
        if total + found.len() >= MAX_HITS {
            break;
        }
        let state = store.state_at(Seq(past.seq_range.1)).with_remarks_of(head);
        if state.episode.as_deref().is_some_and(|episode| episode.number == past.number) {
            found.extend(search_parts(&state, query, parts, MAX_HITS - total - found.len()));
        }
    }
    found
}

/// Whether more hits may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStatus {
    Partial,
    Complete,
}

#[cfg(test)]
mod tests;
