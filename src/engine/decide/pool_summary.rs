//! Summaries of the lesson pool that wait for a person to accept or reject each item.

use crate::domain::{Author, Autonomy, LessonOp, LessonStatus, PoolChange, PoolChangeItem, Purpose, Seq};
use crate::engine::{CommandError, Engine, Event, Intent, LessonCommand, MentorReply};

impl Engine {
    /// If a person confirms everything, removes the pool changes from the intents of a summary and returns the event
    /// that proposes them instead.
    pub(super) fn hold_summary(&self, reply: &MentorReply<'_>, intents: &mut Vec<Intent>) -> Option<Event> {
        let must_confirm = self.state.autonomy == Autonomy::Confirm;
        if reply.question.purpose != Purpose::Summarise || !must_confirm {
            return None;
        }
        let mut items = Vec::new();
        intents.retain(|intent| match pool_change_item(intent) {
            Some(item) => {
                items.push(item);
                false
            }
            None => true,
        });
        let change = PoolChange { question: reply.question, items, seq: Seq::default() };
        (!change.items.is_empty()).then(|| Event::PoolProposed { change: Box::new(change) })
    }

    /// Accepts every item of the oldest waiting summary, after a person has switched confirmation off.
    pub(in crate::engine) fn accept_summary(&self) -> Option<Vec<Event>> {
        self.settle_summary(&[]).ok()
    }

    /// Applies the oldest waiting summary, except for the refused items.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if no summary waits or if it has no such item.
    pub(in crate::engine) fn settle_summary(&self, refused: &[usize]) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        let Some(change) = state.waiting_summaries.first() else {
            return Err(CommandError::new(
                "no summary is waiting",
                "summaries wait only while you confirm every proposal (c)",
            ));
        };
        if let Some(invalid) = refused.iter().find(|index| **index >= change.items.len()) {
            return Err(CommandError::new(
                format!("the summary has no line {}; it has {}", invalid + 1, change.items.len()),
                "choose one of those shown",
            ));
        }
        let mut events = Vec::new();
        let accepted = change.items.iter().enumerate().filter(|(index, _)| !refused.contains(index));
        let retired: Vec<_> = accepted
            .clone()
            .filter_map(|(_, item)| if let PoolChangeItem::Retire { id } = item { Some(id) } else { None })
            .filter(|id| {
                // A lesson that a person edited, pinned or disabled meanwhile stays.
                state.pool.get(id).is_some_and(|l| l.status == LessonStatus::On && !l.edited_by_person)
            })
            .collect();
        for (_, item) in accepted {
            let op = match item {
                PoolChangeItem::Retire { id } if retired.contains(&id) => {
                    let (previous, status) = (LessonStatus::On, LessonStatus::Retired);
                    LessonOp::Status { id: id.clone(), previous, status }
                }
                PoolChangeItem::Retire { .. } => continue,
                PoolChangeItem::Add { kind, scope, text, evidence, parents } => {
                    if state
                        .pool
                        .visible_of_kind(*kind)
                        .any(|l| l.text() == text && !retired.contains(&&l.id))
                    {
                        continue;
                    }
                    let command = LessonCommand::Add {
                        kind: *kind,
                        scope: *scope,
                        text: text.clone(),
                        rule: None,
                        parents: parents.clone(),
                        transition: None,
                        evidence: evidence.clone(),
                    };
                    self.lesson_op(&command, Author::Mentor, events.len())?
                }
            };
            events.push(Event::LessonChanged { op: Box::new(op), author: Author::Mentor });
        }
        let mut refused: Vec<u32> = refused.iter().filter_map(|n| u32::try_from(*n).ok()).collect();
        refused.sort_unstable();
        refused.dedup();
        events.push(Event::PoolSettled { refused });
        Ok(events)
    }

    /// Fails if a summary waits that a person has to settle first.
    pub(super) fn check_no_waiting_summary(&self) -> Result<(), CommandError> {
        if self.state.waiting_summaries.is_empty() || self.state.autonomy == Autonomy::Auto {
            return Ok(());
        }
        Err(CommandError::new(
            "a mentor's summary is waiting for your decision",
            "accept or reject its lines (M; with --plain: accept, refuse N)",
        ))
    }
}

/// Converts an intent into an item of a summary, if it is one.
fn pool_change_item(intent: &Intent) -> Option<PoolChangeItem> {
    match intent {
        Intent::Lesson(LessonCommand::Status { id, status: LessonStatus::Retired }) => {
            Some(PoolChangeItem::Retire { id: id.clone() })
        }
        Intent::Lesson(LessonCommand::Add { kind, scope, text, evidence, parents, .. }) => {
            Some(PoolChangeItem::Add {
                kind: *kind,
                scope: *scope,
                text: text.clone(),
                evidence: evidence.clone(),
                parents: parents.clone(),
            })
        }
        _ => None,
    }
}
