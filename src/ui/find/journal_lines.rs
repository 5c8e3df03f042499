//! Text search in the lines of a journal. Searches the raw bytes first, and parses only events whose lines may contain
//! the text. Finds the same hits in the texts of steps as a search of the restored episodes.

use super::{BATCH_SIZE, MAX_HITS, SearchedText, find_in};
use crate::domain::Seq;
use crate::engine::{Envelope, Event, State};
use crate::timeline::EventFetcher;
use crate::ui::find::SearchHit;
use crate::ui::types::WorkProgress;
use regex::bytes::{Regex, RegexBuilder};
use std::collections::HashMap;
use std::sync::Arc;

/// Number of events searched at once.
const EVENTS_PER_CHUNK: u64 = 4096;
/// Number of chunks after which the hits so far are sent.
const CHUNKS_PER_BATCH: u64 = 8;

/// Why the lines could not be searched.
pub(super) enum LineSearchError {
    /// The journal's lines can't be searched, or the query can't be turned into a pattern. Holds the hits so far.
    Unsupported(Vec<SearchHit>),
    /// Reading failed, with the reason.
    ReadFailed(String),
}

/// Searches the ended episodes except number `shown`, newest events first. Returns the last batch of hits.
pub(super) fn search_journal(
    head: &State,
    fetch: &EventFetcher,
    (shown, query): (u32, &str),
    mut found: Vec<SearchHit>,
    progress: &WorkProgress,
    send: &mut dyn FnMut(Vec<SearchHit>),
) -> Result<Vec<SearchHit>, LineSearchError> {
    let Some(pattern) = build_pattern(query) else { return Err(LineSearchError::Unsupported(found)) };
    let ended: Vec<(u64, u32)> = head.ended_episodes.iter().map(|p| (p.seq_range.0, p.number)).collect();
    let open_start = head.open_episode().map_or(u64::MAX, |e| e.first_seq.0);
    // Remarks on an episode may be written after its end, so the state has them.
    for remark in head.remarks.iter().filter(|remark| remark.episode != shown && remark.step > 0) {
        if ended.iter().any(|(_, number)| *number == remark.episode) {
            found.extend(find_in((remark.episode, remark.step, SearchedText::Remark), &remark.text, query));
        }
    }
    let mut later = HashMap::new();
    let (mut total, mut chunk_end, mut chunks) = (0, head.head.0, 0_u64);
    while chunk_end > 0 && total + found.len() < MAX_HITS {
        if progress.report(head.head.0 - chunk_end, head.head.0).is_err() {
            return Ok(Vec::new());
        }
        let chunk_start = (chunk_end - 1) / EVENTS_PER_CHUNK * EVENTS_PER_CHUNK;
        let events = match fetch.fetch_matching(Seq(chunk_start), Seq(chunk_end), &pattern) {
            None => return Err(LineSearchError::Unsupported(found)),
            Some(Err(reason)) => return Err(LineSearchError::ReadFailed(reason)),
            Some(Ok(events)) => events,
        };
        let episode_at = |seq: Seq| {
            let at = ended.partition_point(|e| e.0 <= seq.0).checked_sub(1)?;
            (seq.0 < open_start && ended[at].1 != shown).then_some(ended[at].1)
        };
        let episode_events: Vec<(u32, Arc<Envelope>)> =
            events.into_iter().filter_map(|e| Some((episode_at(e.seq)?, e))).collect();
        let room = MAX_HITS - total - found.len();
        found.extend(collect_hits(&episode_events, query, &mut later).into_iter().take(room));
        chunk_end = chunk_start;
        chunks += 1;
        if found.len() >= BATCH_SIZE || chunks % CHUNKS_PER_BATCH == 0 {
            total += found.len();
            send(std::mem::take(&mut found));
        }
    }
    Ok(found)
}

/// Builds a pattern that matches lines that may contain the text, and lines of events that withdraw a proposal.
fn build_pattern(query: &str) -> Option<Regex> {
    // The event names as the journal writes them. They must be rare: a literal that occurs in every line would make the
    // byte search slow.
    let mut pattern = String::from(r#"(?-i:"asked_again"|"proposal_rejected")|"#);
    for c in query.chars() {
        if c.is_whitespace() {
            // The query is a single line, so a space in it can be an escaped line break in the journal.
            pattern.push_str(r"(?:\s|\\[nrt])+");
            continue;
        }
        let escaped = serde_json::to_string(&c).ok()?;
        pattern.push_str(&regex::escape(&escaped[1..escaped.len() - 1]));
    }
    RegexBuilder::new(&pattern).case_insensitive(true).build().ok()
}

/// What happened to a step's proposal after it was made.
#[derive(Clone, Copy, Default)]
struct ProposalOutcome {
    /// The proposal was withdrawn, including its thought.
    withdrawn: bool,
    /// An action was executed or the proposal was withdrawn, so the proposed action isn't searched.
    is_settled: bool,
}

/// Returns the hits in a chunk of events in journal order. Chunks are searched newest first; `later` carries the
/// proposal outcomes found in newer chunks.
fn collect_hits(
    events: &[(u32, Arc<Envelope>)],
    query: &str,
    later: &mut HashMap<(u32, u32), ProposalOutcome>,
) -> Vec<SearchHit> {
    let mut outcomes: HashMap<Seq, ProposalOutcome> = HashMap::new();
    for (episode, envelope) in events.iter().rev() {
        match &envelope.event {
            Event::AskedAgain { step, .. } | Event::ProposalRejected { step, .. } => {
                *later.entry((*episode, *step)).or_default() =
                    ProposalOutcome { withdrawn: true, is_settled: true };
            }
            Event::ActionTaken { step, .. } | Event::ActionOverridden { step, .. } => {
                later.entry((*episode, *step)).or_default().is_settled = true;
            }
            Event::Proposed { step, .. } => {
                outcomes.insert(envelope.seq, later.get(&(*episode, *step)).copied().unwrap_or_default());
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for (episode, envelope) in events {
        let mut search_text = |step: u32, part: SearchedText, text: &str| {
            found.extend(find_in((*episode, step, part), text, query));
        };
        match &envelope.event {
            Event::WorldReset { result, agent_view, goal, .. } => {
                let text = agent_view.as_deref().unwrap_or(&result.observation);
                search_text(0, SearchedText::Observation, text);
                if !text.contains(goal.as_str()) {
                    search_text(0, SearchedText::Observation, goal);
                }
            }
            Event::Proposed { step, thought, action, .. } => {
                let outcome = outcomes.get(&envelope.seq).copied().unwrap_or_default();
                if let Some(thought) = thought.as_deref().filter(|_| !outcome.withdrawn) {
                    search_text(*step, SearchedText::Thought, thought);
                }
                let action = action.as_deref().filter(|a| !a.starts_with("think:") && !outcome.is_settled);
                if let Some(action) = action {
                    search_text(*step, SearchedText::Action, action);
                }
            }
            Event::ActionTaken { step, executed, .. } if !executed.action.starts_with("think:") => {
                search_text(*step, SearchedText::Action, &executed.action);
            }
            Event::Observed { step, result, agent_view, .. } => {
                search_text(
                    *step,
                    SearchedText::Observation,
                    agent_view.as_deref().unwrap_or(&result.observation),
                );
            }
            _ => {}
        }
    }
    found
}
