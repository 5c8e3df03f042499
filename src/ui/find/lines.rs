//! Words in the lines of a journal: the bytes are searched first, and only the events in whose lines the words can stand are
//! read. What is found is what the episodes would have, had they been brought back.

use super::{BATCH, Hit, MOST, Part, Progress, Tell};
use crate::domain::Seq;
use crate::engine::{Envelope, Event, State};
use crate::text::{one_line, search as places};
use crate::timeline::EventFetcher;
use regex::bytes::{Regex, RegexBuilder};
use std::collections::HashMap;
use std::sync::Arc;

/// Events searched at once.
const PIECE: u64 = 4096;
/// Pieces after which it is asked whether anybody still listens.
const LISTENING: u64 = 8;

/// Why the lines were not searched.
pub(super) enum Unsearched {
    /// They cannot be; what was found so far is given back.
    Untold(Vec<Hit>),
    /// They are not there any more.
    Failed(String),
}

/// Searches the ended episodes but one, the newest lines first.
pub(super) fn search(
    head: &State,
    fetch: &EventFetcher,
    shown: u32,
    words: &str,
    mut found: Vec<Hit>,
    tell: &mut Tell<'_>,
) -> Result<(), Unsearched> {
    let Some(pattern) = pattern(words) else { return Err(Unsearched::Untold(found)) };
    let ended: Vec<(u64, u32)> = head.ended_episodes.iter().map(|p| (p.seq_range.0, p.number)).collect();
    let open = head.open_episode().map_or(u64::MAX, |e| e.first_seq.0);
    let mut later = HashMap::new();
    let (mut total, mut to, mut pieces) = (0, head.head.0, 0);
    while to > 0 && total + found.len() < MOST {
        let after = (to - 1) / PIECE * PIECE;
        let events = match fetch.fetch_matching(Seq(after), Seq(to), &pattern) {
            None => return Err(Unsearched::Untold(found)),
            Some(Err(why)) => return Err(Unsearched::Failed(why)),
            Some(Ok(events)) => events,
        };
        let place = |seq: Seq| {
            let at = ended.partition_point(|e| e.0 <= seq.0).checked_sub(1)?;
            (seq.0 < open && ended[at].1 != shown).then_some(ended[at].1)
        };
        let placed: Vec<(u32, Arc<Envelope>)> =
            events.into_iter().filter_map(|e| Some((place(e.seq)?, e))).collect();
        let room = MOST - total - found.len();
        found.extend(hits(&placed, words, &mut later).into_iter().take(room));
        (to, pieces) = (after, pieces + 1);
        if found.len() >= BATCH || pieces % LISTENING == 0 {
            total += found.len();
            if tell(std::mem::take(&mut found), Progress::GoesOn).is_break() {
                return Ok(());
            }
        }
    }
    // Whoever stopped listening by now has missed nothing.
    let _ = tell(found, Progress::Done);
    Ok(())
}

/// What matches the lines that can hold the words, and those that say what became of a proposal.
fn pattern(words: &str) -> Option<Regex> {
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
struct Later {
    /// It was taken back, and its thought with it.
    gone: bool,
    /// An action was taken, whatever was proposed.
    done: bool,
}

/// The places in some events, given in order. `later` has what is known of steps from the events after them: pieces come
/// from the newest to the oldest.
fn hits(events: &[(u32, Arc<Envelope>)], words: &str, later: &mut HashMap<(u32, u32), Later>) -> Vec<Hit> {
    let mut fate: HashMap<Seq, Later> = HashMap::new();
    for (episode, envelope) in events.iter().rev() {
        match &envelope.event {
            Event::AskedAgain { step, .. } | Event::ProposalRejected { step, .. } => {
                *later.entry((*episode, *step)).or_default() = Later { gone: true, done: true };
            }
            Event::ActionTaken { step, .. } | Event::ActionOverridden { step, .. } => {
                later.entry((*episode, *step)).or_default().done = true;
            }
            Event::Proposed { step, .. } => {
                fate.insert(envelope.seq, later.get(&(*episode, *step)).copied().unwrap_or_default());
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for (episode, envelope) in events {
        let mut look = |step: u32, part: Part, text: &str| {
            let text = one_line(text);
            let at = places(&text, words);
            if at.is_empty() {
                return;
            }
            let text: Arc<str> = text.into();
            let hit = |at| Hit { episode: *episode, step, part, text: text.clone(), at };
            found.extend(at.into_iter().map(hit));
        };
        match &envelope.event {
            Event::WorldReset { result: turn, agent_view: seen, goal, .. } => {
                let text = seen.as_deref().unwrap_or(&turn.observation);
                look(0, Part::Observation, text);
                if !text.contains(goal.as_str()) {
                    look(0, Part::Observation, goal);
                }
            }
            Event::Proposed { step, thought, action, .. } => {
                let fate = fate.get(&envelope.seq).copied().unwrap_or_default();
                if let Some(thought) = thought.as_deref().filter(|_| !fate.gone) {
                    look(*step, Part::Thought, thought);
                }
                let action = action.as_deref().filter(|a| !a.starts_with("think:") && !fate.done);
                if let Some(action) = action {
                    look(*step, Part::Action, action);
                }
            }
            Event::ActionTaken { step, executed, .. } if !executed.action.starts_with("think:") => {
                look(*step, Part::Action, &executed.action);
            }
            Event::Observed { step, result: turn, agent_view: seen, .. } => {
                look(*step, Part::Observation, seen.as_deref().unwrap_or(&turn.observation));
            }
            Event::Remarked { step, text } if *step > 0 => look(*step, Part::Remark, text),
            _ => {}
        }
    }
    found
}
