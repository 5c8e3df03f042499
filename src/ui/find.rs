//! Words in the steps of a whole session. The listed episode is searched at once; the others are brought back one by one,
//! as the timeline does it, on a thread of their own, so that a long session holds no key up.

mod lines;

use crate::domain::{Seq, Step};
use crate::driver::{Signal, Store};
use crate::engine::{Episode, State};
use crate::text::{one_line, search};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Places that are kept at most; nobody walks through more.
pub const MOST: usize = 5000;
/// Places, or episodes without any, after which what was found so far is told.
const BATCH: usize = 100;

/// What of a step a place lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
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
pub struct Hit {
    /// The episode's number.
    pub episode: u32,
    /// The step's number in it.
    pub step: u32,
    /// What of the step it lies in.
    pub part: Part,
    /// The whole text, as one line.
    pub text: Arc<str>,
    /// Where in the text the words stand, in bytes.
    pub at: Range<usize>,
}

/// The places in one episode, in order, at most so many.
pub fn in_episode(episode: &Episode, words: &str, most: usize) -> Vec<Hit> {
    let mut found = Vec::new();
    let first = episode
        .first_observation
        .as_ref()
        .map(|r| (0, Part::Observation, r.agent_view.as_deref().unwrap_or(&r.raw)));
    let steps = episode.steps.iter().map(|s| (s.number, texts(s).collect::<Vec<_>>()));
    let goal =
        Some(episode.task.goal.as_str()).filter(|g| first.is_none_or(|(_, _, text)| !text.contains(g)));
    let start = first.into_iter().map(|(_, part, text)| (part, text));
    let start = start.chain(goal.map(|g| (Part::Observation, g))).collect();
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
            found.extend(places.into_iter().take(room).map(|at| Hit {
                episode: episode.number,
                step: number,
                part,
                text: text.clone(),
                at,
            }));
        }
        if found.len() >= most {
            break;
        }
    }
    found
}

fn texts(step: &Step) -> impl Iterator<Item = (Part, &str)> {
    let thought = step.thought.as_deref().map(|t| (Part::Thought, t));
    let done = step.action().filter(|a| !a.starts_with("think:")).map(|a| (Part::Action, a));
    let seen = step.observation().map(|o| (Part::Observation, o));
    let remarks = step.remarks.iter().map(|r| (Part::Remark, r.as_str()));
    thought.into_iter().chain(done).chain(seen).chain(remarks)
}

/// Whether there are episodes beside this one.
pub fn has_others(head: &State, shown: u32) -> bool {
    let now = head.episode.as_ref().map_or(0, |e| e.number);
    (now != 0 && now != shown) || head.ended_episodes.iter().any(|p| p.number != shown)
}

/// Searches every episode but the one that is shown, the newest first, and tells what it finds piece by piece until it is
/// told to stop. The last piece says that it is the last. Where the journal's lines can be looked at, only those that hold
/// the words are read; else every episode is brought back.
pub fn in_others(
    store: &Store,
    shown: u32,
    words: &str,
    mut tell: impl FnMut(Vec<Hit>, Progress) -> ControlFlow<()>,
) {
    let head = store.head();
    let now = head.episode.as_deref().filter(|e| e.outcome.is_none() && e.number != shown);
    let found = now.map_or_else(Vec::new, |e| in_episode(e, words, MOST));
    let fetch = store.timeline().fetcher().cloned();
    let held = match fetch {
        Some(fetch) => lines::search(&head, &fetch, shown, words, found, &mut tell),
        None => Err(lines::Unsearched::Untold(found)),
    };
    match held {
        Ok(()) => {}
        Err(lines::Unsearched::Untold(found)) => brought_back(store, &head, shown, words, found, &mut tell),
        Err(lines::Unsearched::Failed(why)) => {
            store.signal(Signal::Said(why));
            // Whoever stopped listening by now has missed nothing.
            let _ = tell(Vec::new(), Progress::Done);
        }
    }
}

/// Every episode is brought back and looked through.
fn brought_back(
    store: &Store,
    head: &State,
    shown: u32,
    words: &str,
    mut found: Vec<Hit>,
    tell: &mut Tell<'_>,
) {
    let (mut total, mut walked) = (0, 0);
    for past in head.ended_episodes.iter().rev().filter(|p| p.number != shown) {
        walked += 1;
        if found.len() >= BATCH || walked % BATCH == 0 {
            total += found.len();
            if tell(std::mem::take(&mut found), Progress::GoesOn).is_break() {
                return;
            }
        }
        if total + found.len() >= MOST {
            break;
        }
        let state = store.state_at(Seq(past.seq_range.1));
        let episode = state.episode.as_deref().filter(|e| e.number == past.number);
        found.extend(episode.map_or_else(Vec::new, |e| in_episode(e, words, MOST - total - found.len())));
    }
    // Whoever stopped listening by now has missed nothing.
    let _ = tell(found, Progress::Done);
}

/// Takes what was found so far, and says whether it wants more.
type Tell<'t> = dyn FnMut(Vec<Hit>, Progress) -> ControlFlow<()> + 't;

/// Whether more is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More may come.
    GoesOn,
    /// This was all.
    Done,
}

#[cfg(test)]
mod tests;
