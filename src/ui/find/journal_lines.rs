//! Words in the lines of a journal: the bytes are searched first, and only the events in whose lines the words can stand are
//! read. What is found is what the episodes would have, had they been brought back.

use super::{BATCH_SIZE, MAX_HITS, OnHits, SearchHit, SearchStatus, StepPart};
use crate::domain::Seq;
use crate::engine::{Envelope, Event, State};
use crate::text::{one_line, search as places};
use crate::timeline::EventFetcher;
use regex::bytes::{Regex, RegexBuilder};
use std::collections::HashMap;
use std::sync::Arc;

/// Events searched at once.
const EVENTS_PER_CHUNK: u64 = 4096;
/// Pieces after which it is asked whether anybody still listens.
const CHUNKS_PER_REPORT: u64 = 8;

/// Why the lines were not searched.
pub(super) enum LineSearchError {
    /// They cannot be; what was found so far is given back.
    Unsupported(Vec<SearchHit>),
    /// They are not there any more.
    ReadFailed(String),
}

/// Searches the ended episodes but one, the newest lines first.
pub(super) fn search_journal(
    head: &State,
    fetch: &EventFetcher,
    shown: u32,
    words: &str,
    mut found: Vec<SearchHit>,
    tell: &mut OnHits<'_>,
) -> Result<(), LineSearchError> {
    let Some(pattern) = build_pattern(words) else { return Err(LineSearchError::Unsupported(found)) };
    let ended: Vec<(u64, u32)> = head.ended_episodes.iter().map(|p| (p.seq_range.0, p.number)).collect();
    let open = head.open_episode().map_or(u64::MAX, |e| e.first_seq.0);
    let mut later = HashMap::new();
    let (mut total, mut to, mut pieces) = (0, head.head.0, 0);
    while to > 0 && total + found.len() < MAX_HITS {
        let after = (to - 1) / EVENTS_PER_CHUNK * EVENTS_PER_CHUNK;
        let events = match fetch.fetch_matching(Seq(after), Seq(to), &pattern) {
            None => return Err(LineSearchError::Unsupported(found)),
            Some(Err(why)) => return Err(LineSearchError::ReadFailed(why)),
            Some(Ok(events)) => events,
        };
        let place = |seq: Seq| {
            let at = ended.partition_point(|e| e.0 <= seq.0).checked_sub(1)?;
            (seq.0 < open && ended[at].1 != shown).then_some(ended[at].1)
        };
        let placed: Vec<(u32, Arc<Envelope>)> =
            events.into_iter().filter_map(|e| Some((place(e.seq)?, e))).collect();
        let room = MAX_HITS - total - found.len();
        found.extend(collect_hits(&placed, words, &mut later).into_iter().take(room));
        (to, pieces) = (after, pieces + 1);
        if found.len() >= BATCH_SIZE || pieces % CHUNKS_PER_REPORT == 0 {
            total += found.len();
            if tell(std::mem::take(&mut found), SearchStatus::Partial).is_break() {
                return Ok(());
            }
        }
    }
    // Whoever stopped listening by now has missed nothing.
    let _ = tell(found, SearchStatus::Complete);
    Ok(())
}

/// What matches the lines that can hold the words, and those that say what became of a proposal.
fn build_pattern(words: &str) -> Option<Regex> {
    // As the journal writes them, and nothing that stands in every line: the bytes are gone through by rare letters.
    let mut pattern = String::from(r#"(?-i:"asked_again"|"proposal_rejected")|"#);
    for c in words.chars() {
        if c.is_whitespace() {
            // Texts are searched as one line: a blank can be a line break in the journal.
            pattern.push_str(r"(?:\s|\\[nrt])+");
            continue;
        }
        let escaped = serde_json::to_string(&c).ok()?;
        pattern.push_str(&regex::escape(&escaped[1..escaped.len() - 1]));
    }
    RegexBuilder::new(&pattern).case_insensitive(true).build().ok()
}

/// What a later event made of the proposal of a step.
#[derive(Clone, Copy, Default)]
struct ProposalOutcome {
    /// It was taken back, and its thought with it.
    withdrawn: bool,
    /// An action was taken, whatever was proposed.
    acted_on: bool,
}

/// The places in some events, given in order. `later` has what is known of steps from the events after them: pieces come
/// from the newest to the oldest.
fn collect_hits(
    events: &[(u32, Arc<Envelope>)],
    words: &str,
    later: &mut HashMap<(u32, u32), ProposalOutcome>,
) -> Vec<SearchHit> {
    let mut fate: HashMap<Seq, ProposalOutcome> = HashMap::new();
    for (episode, envelope) in events.iter().rev() {
        match &envelope.event {
            Event::AskedAgain { step, .. } | Event::ProposalRejected { step, .. } => {
                *later.entry((*episode, *step)).or_default() =
                    ProposalOutcome { withdrawn: true, acted_on: true };
            }
            Event::ActionTaken { step, .. } | Event::ActionOverridden { step, .. } => {
                later.entry((*episode, *step)).or_default().acted_on = true;
            }
            Event::Proposed { step, .. } => {
                fate.insert(envelope.seq, later.get(&(*episode, *step)).copied().unwrap_or_default());
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for (episode, envelope) in events {
        let mut look = |step: u32, part: StepPart, text: &str| {
            let text = one_line(text);
            let at = places(&text, words);
            if at.is_empty() {
                return;
            }
            let text: Arc<str> = text.into();
            let hit = |at| SearchHit { episode: *episode, step, part, text: text.clone(), range: at };
            found.extend(at.into_iter().map(hit));
        };
        match &envelope.event {
            Event::WorldReset { result: turn, agent_view: seen, goal, .. } => {
                let text = seen.as_deref().unwrap_or(&turn.observation);
                look(0, StepPart::Observation, text);
                if !text.contains(goal.as_str()) {
                    look(0, StepPart::Observation, goal);
                }
            }
            Event::Proposed { step, thought, action, .. } => {
                let fate = fate.get(&envelope.seq).copied().unwrap_or_default();
                if let Some(thought) = thought.as_deref().filter(|_| !fate.withdrawn) {
                    look(*step, StepPart::Thought, thought);
                }
                let action = action.as_deref().filter(|a| !a.starts_with("think:") && !fate.acted_on);
                if let Some(action) = action {
                    look(*step, StepPart::Action, action);
                }
            }
            Event::ActionTaken { step, executed, .. } if !executed.action.starts_with("think:") => {
                look(*step, StepPart::Action, &executed.action);
            }
            Event::Observed { step, result: turn, agent_view: seen, .. } => {
                look(*step, StepPart::Observation, seen.as_deref().unwrap_or(&turn.observation));
            }
            Event::Remarked { step, text } if *step > 0 => look(*step, StepPart::Remark, text),
            _ => {}
        }
    }
    found
}
