//! Summaries of the lesson pool that wait for a decision. A summary is a mentor's proposal to merge lessons: each of
//! its items retires or adds one lesson, and a person can accept or refuse each item.

use crate::domain::{Author, Autonomy, LessonOp, LessonStatus, PoolSummary, PoolSummaryItem, Purpose, Seq};
use crate::engine::{CommandError, Engine, Event, Intent, LessonCommand, MentorReply};

impl Engine {
    /// If a person confirms every proposal and the reply is a summary, removes the pool changes from `intents` and
    /// returns the event that proposes these changes to the person.
    pub(super) fn propose_pool_summary(
        &self,
        reply: &MentorReply<'_>,
        intents: &mut Vec<Intent>,
    ) -> Option<Event> {
        let must_confirm = self.state.autonomy == Autonomy::Confirm;
        if reply.question.purpose != Purpose::Summarise || !must_confirm {
            return None;
        }
        let mut items = Vec::new();
        intents.retain(|intent| match pool_summary_item(intent) {
            Some(item) => {
                items.push(item);
                false
            }
            None => true,
        });
        let summary = PoolSummary { question: reply.question, items, seq: Seq::default() };
        (!summary.items.is_empty()).then(|| Event::SummaryProposed { summary: Box::new(summary) })
    }

    /// Returns the events that accept every item of the oldest waiting summary, for the case that a person has switched
    /// to `Autonomy::Auto` since it was proposed. Returns `None` if no summary waits.
    pub(in crate::engine) fn accept_summary(&self) -> Option<Vec<Event>> {
        self.apply_summary(&[]).ok()
    }

    /// Returns the events that apply the oldest waiting summary, except for the refused items.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if no summary waits, or if an index in `refused` is out of range.
    pub(in crate::engine) fn apply_summary(&self, refused: &[usize]) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        let Some(summary) = state.waiting_summaries.first() else {
            return Err(CommandError::new(
                "no summary is waiting",
                "summaries wait only while you confirm every proposal (c)",
            ));
        };
        if let Some(invalid) = refused.iter().find(|index| **index >= summary.items.len()) {
            return Err(CommandError::new(
                format!("the summary has no line {}; its last line is {}", invalid + 1, summary.items.len()),
                "choose one of the lines shown",
            ));
        }
        let mut events = Vec::new();
        let accepted = summary.items.iter().enumerate().filter(|(index, _)| !refused.contains(index));
        let retired: Vec<_> = accepted
            .clone()
            .filter_map(|(_, item)| if let PoolSummaryItem::Retire { id } = item { Some(id) } else { None })
            .filter(|id| {
                // A lesson that a person has edited, pinned or switched off is kept.
                state.pool.get(id).is_some_and(|l| l.status == LessonStatus::On && !l.edited_by_person)
            })
            .collect();
        for (_, item) in accepted {
            let op = match item {
                PoolSummaryItem::Retire { id } if retired.contains(&id) => {
                    let (previous, status) = (LessonStatus::On, LessonStatus::Retired);
                    LessonOp::Status { id: id.clone(), previous, status, merged_into: None }
                }
                PoolSummaryItem::Retire { .. } => continue,
                PoolSummaryItem::Add { kind, scope, text, evidence, parents } => {
                    // If a lesson with the same text stays in the pool, none is added.
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
                        pinned: false,
                    };
                    self.lesson_op(&command, Author::Mentor, events.len())?
                }
            };
            events.push(Event::LessonChanged { op: Box::new(op), author: Author::Mentor });
        }
        let mut refused: Vec<u32> = refused.iter().filter_map(|n| u32::try_from(*n).ok()).collect();
        refused.sort_unstable();
        refused.dedup();
        events.push(Event::SummaryApplied { refused });
        Ok(events)
    }

    /// Fails if a summary waits for a person's decision.
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

/// Converts an intent that retires or adds a lesson into an item of a summary. Returns `None` for any other intent.
fn pool_summary_item(intent: &Intent) -> Option<PoolSummaryItem> {
    match intent {
        Intent::Lesson(LessonCommand::Status { id, status: LessonStatus::Retired }) => {
            Some(PoolSummaryItem::Retire { id: id.clone() })
        }
        Intent::Lesson(LessonCommand::Add { kind, scope, text, evidence, parents, .. }) => {
            Some(PoolSummaryItem::Add {
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
