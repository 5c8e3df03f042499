//! Which prompts there are at a moment: the actor's, and that of each question to the mentor.

use crate::domain::{PromptRecord, Question, Seq};
use crate::engine::{Effect, State};
use crate::timeline::Timeline;
use std::sync::Arc;

/// Whom a prompt is for: the actor, or the mentor with a question.
pub(super) type PromptTarget = Option<Question>;

/// How far a prompt has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendState {
    /// It was sent.
    Sent,
    /// It is written down and waits to be sent.
    Drafted,
    /// Its call failed, and it may be sent again, with other words.
    Failed,
    /// Its call was broken off, and it may be sent again, with other words.
    Cancelled,
    /// It is only what would be sent.
    Preview,
}

/// The prompt to show, the one to compare with, and how far it has come.
pub(super) type ShownPrompt<'a> = (&'a PromptRecord, Option<&'a PromptRecord>, SendState);

/// The prompts there are: the actor's first, then one of each question, in the order in which they were first asked.
pub(super) fn targets(state: &State) -> Vec<PromptTarget> {
    let mut all: Vec<PromptTarget> = Vec::new();
    let draft = state.draft.as_ref().map(|d| d.question);
    if state.actor_prompts.0.is_some() || draft == Some(None) {
        all.push(None);
    }
    all.extend(state.mentor_prompts.iter().map(|(question, ..)| Some(*question)));
    all.extend(draft.filter(|of| !all.contains(of)));
    all
}

/// The one that is shown where none was chosen.
pub(super) fn default_target(state: &State) -> PromptTarget {
    if let Some(waits) = state.waiting_prompts().next() {
        return waits.question;
    }
    let asked = state.calls.values().find_map(|call| match call {
        Effect::Ask { prompt, .. } => Some(prompt.question),
        _ => None,
    });
    asked.unwrap_or_else(|| targets(state).first().copied().flatten())
}

/// The prompt of the actor or of a question.
pub(super) fn find_prompt(state: &State, of: PromptTarget) -> Option<ShownPrompt<'_>> {
    let (last, before) = match of {
        None => (state.actor_prompts.0.as_deref(), state.actor_prompts.1.as_deref()),
        Some(question) => {
            let found = state.mentor_prompts.iter().find(|(asked, ..)| *asked == question);
            (found.map(|f| &*f.1), found.and_then(|f| f.2.as_deref()))
        }
    };
    let drafted = state.draft.as_deref().filter(|draft| draft.question == of);
    let failed = || state.waiting_prompts().map(|prompt| &**prompt).find(|prompt| prompt.question == of);
    match (drafted, failed()) {
        (Some(draft), _) => Some((draft, last, SendState::Drafted)),
        (None, Some(failed)) if state.is_edited_since_sent(failed) => Some((failed, last, SendState::Failed)),
        (None, Some(failed)) if state.retryable_calls().any(|e| e.call() == failed.call) => {
            Some((failed, before, SendState::Cancelled))
        }
        (None, Some(failed)) => Some((failed, before, SendState::Failed)),
        (None, None) => Some((last?, before, SendState::Sent)),
    }
}

/// A state that holds the episode of a prompt, with all that followed it; none where that cannot be found.
pub(super) fn state_with_episode(
    timeline: &Timeline,
    state: &Arc<State>,
    record: &PromptRecord,
) -> Option<Arc<State>> {
    let current = state.episode.as_ref()?;
    if current.number == record.episode {
        return Some(state.clone());
    }
    let next = record.episode + 1;
    let began = match state.ended_episode(next) {
        Some(past) if past.number == next => past.seq_range.0,
        _ if current.number == next => current.first_seq.0,
        _ => return None,
    };
    Some(timeline.state_at(Seq(began.checked_sub(1)?)))
}
