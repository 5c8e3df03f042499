//! Positions in time: where a step or an episode of the session ends.

use crate::domain::{Seq, Step};
use crate::engine::{Episode, State};
use crate::timeline::ReadPast as _;
use crate::ui::branches::BranchInfo;
use crate::ui::frame_data::Context;
use crate::ui::types::Cursor;
use std::sync::Arc;

/// Returns the position after a step of the episode on screen: after its last step that is the last event before the next
/// episode, or the present if the episode is the latest one.
pub(crate) fn cursor_after_step(context: &Context<'_>, number: u32) -> Option<Cursor> {
    let episode = context.episode()?;
    after_step(&context.frame.head, episode, number)
}

/// Returns the position after a step of an episode (`None`: the episode on screen), or `Ok(None)` while the episode
/// isn't in memory.
///
/// # Errors
/// Returns a message for the person if there is no such episode or step.
pub(crate) fn find_step(
    context: &Context<'_>,
    episode: Option<u32>,
    step: u32,
) -> Result<Option<Cursor>, String> {
    let head: &State = &context.frame.head;
    let on_screen = context.episode();
    let number = episode.or_else(|| Some(on_screen?.number)).ok_or("no episode yet")?;
    let known = on_screen.into_iter().chain(head.episode.as_deref()).find(|e| e.number == number);
    let restored;
    let found = if let Some(known) = known {
        known
    } else {
        let ended = head.ended_episodes.iter().rev().find(|p| p.number == number);
        let episode_count = head.episode.as_ref().map_or(0, |e| e.number);
        let ended = ended.ok_or_else(|| format!("no episode {number}; the session has {episode_count}"))?;
        let Some(state) = context.frame.timeline.state_at(Seq(ended.seq_range.1)) else { return Ok(None) };
        restored = state;
        restored.episode.as_deref().ok_or_else(|| format!("no episode {number}"))?
    };
    let name = if episode.is_some() { format!("episode {number}") } else { "this episode".to_owned() };
    if step as usize > found.steps.len() {
        return Err(format!("no step {step}; {name} has {}", found.steps.len()));
    }
    after_step(head, found, step).map(Some).ok_or_else(|| format!("no step {step} in {name}"))
}

/// Returns the steps of the episode on screen at which other branches were forked from this one, or this one from another.
pub(crate) fn forked_steps(branches: &[BranchInfo], context: &Context<'_>) -> Vec<u32> {
    let Some(episode) = context.episode() else { return Vec::new() };
    let own = &context.frame.branch;
    let forks = branches
        .iter()
        .filter(|branch| branch.id == *own && branch.parent.is_some() || branch.parent.as_ref() == Some(own));
    let last_step_at = |fork: Seq| {
        let is_before = |step: &&Arc<Step>| step.first_seq <= fork;
        episode.steps.iter().take_while(is_before).count() as u32
    };
    let in_episode = |fork: &Seq| {
        let end = episode.outcome.as_ref().map_or(u64::MAX, |outcome| outcome.seq_range.1);
        // A demo doesn't tell what comes later.
        (episode.first_seq.0..end).contains(&fork.0) && *fork <= context.frame.story.head
    };
    forks.map(|branch| branch.fork_seq).filter(in_episode).map(|fork| last_step_at(fork).max(1)).collect()
}

fn after_step(head: &State, episode: &Episode, number: u32) -> Option<Cursor> {
    if let Some(next) = episode.step(number + 1) {
        return Some(Cursor::At(Seq(next.first_seq.0.saturating_sub(1))));
    }
    if head.episode.as_ref().is_some_and(|latest| latest.number == episode.number) {
        return Some(Cursor::Live);
    }
    // What a person did after the end, such as teaching a lesson, is part of the last step.
    let is_next = |number: u32| number == episode.number + 1;
    let ended = head.ended_episodes.iter().rev();
    let next = ended.filter(|past| is_next(past.number)).map(|past| past.seq_range.0).next();
    let next = next.or_else(|| Some(head.episode.as_ref().filter(|open| is_next(open.number))?.first_seq.0));
    next.map(|first| Cursor::At(Seq(first.saturating_sub(1))))
}
