//! The prompts of a state: the actor's, and one for each kind of mentor question.

use crate::domain::{PromptRecord, Question, Seq};
use crate::engine::{Effect, State};
use crate::timeline::ReadPast;
use std::sync::Arc;

/// The target of a prompt: the actor (`None`), or the mentor with a question.
pub(super) type PromptTarget = Option<Question>;

/// Whether a prompt has been sent, and how its call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendState {
    Sent,
    /// The prompt hasn't been sent yet.
    Drafted,
    /// Its call failed; it can be edited and sent again.
    Failed,
    /// Its call was cancelled; it can be edited and sent again.
    Cancelled,
    /// It was only built for the preview.
    Preview,
}

/// The prompt to show, the one to compare it with, and its state.
pub(super) type ShownPrompt<'a> = (&'a PromptRecord, Option<&'a PromptRecord>, SendState);

/// Returns the targets with a prompt: the actor first, then the questions in the order they were first asked.
pub(super) fn targets(state: &State) -> Vec<PromptTarget> {
    let mut all: Vec<PromptTarget> = Vec::new();
    let draft = state.draft.as_ref().map(|d| d.question);
    if state.actor_prompts.0.is_some() || draft == Some(None) {
        all.push(None);
    }
    all.extend(state.mentor_prompts.iter().map(|(question, ..)| Some(*question)));
    all.extend(draft.filter(|target| !all.contains(target)));
    all
}

/// Returns the target shown by default: of a waiting prompt, else of one in flight, else the first.
pub(super) fn default_target(state: &State) -> PromptTarget {
    if let Some(waiting) = state.waiting_prompts().next() {
        return waiting.question;
    }
    let asked = state.calls.values().find_map(|call| match call {
        Effect::Ask { prompt, .. } => Some(prompt.question),
        _ => None,
    });
    asked.unwrap_or_else(|| targets(state).first().copied().flatten())
}

/// Returns the prompt of a target.
pub(super) fn find_prompt(state: &State, target: PromptTarget) -> Option<ShownPrompt<'_>> {
    let (last, before) = match target {
        None => (state.actor_prompts.0.as_deref(), state.actor_prompts.1.as_deref()),
        Some(question) => {
            let found = state.mentor_prompts.iter().find(|(asked, ..)| *asked == question);
            (found.map(|f| &*f.1), found.and_then(|f| f.2.as_deref()))
        }
    };
    let drafted = state.draft.as_deref().filter(|draft| draft.question == target);
    let failed = || state.waiting_prompts().map(|prompt| &**prompt).find(|prompt| prompt.question == target);
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

/// Returns a state that holds all of a prompt's episode. Returns `None` if the episode can't be found or isn't
/// in memory.
pub(super) fn state_with_episode(
    past: &impl ReadPast,
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
    past.state_at(Seq(began.checked_sub(1)?))
}
