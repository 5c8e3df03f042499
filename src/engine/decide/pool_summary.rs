//! Summaries that wait for a person's word on each of their lines.

use crate::domain::{Author, Autonomy, LessonOp, LessonStatus, PoolChange, PoolChangeItem, Purpose, Seq};
use crate::engine::{CommandError, Engine, Event, Intent, LessonCommand, MentorReply};

impl Engine {
    /// Takes the changes of the pool out of what a summary came to, where a person agrees to everything: they wait then.
    pub(super) fn hold_summary(&self, heard: &MentorReply<'_>, wants: &mut Vec<Intent>) -> Option<Event> {
        let agrees = self.state.autonomy == Autonomy::Confirm;
        if heard.question.purpose != Purpose::Summarise || !agrees {
            return None;
        }
        let mut lines = Vec::new();
        wants.retain(|want| match pool_change_item(want) {
            Some(line) => {
                lines.push(line);
                false
            }
            None => true,
        });
        let change = PoolChange { question: heard.question, items: lines, seq: Seq::default() };
        (!change.items.is_empty()).then(|| Event::PoolProposed { change: Box::new(change) })
    }

    /// Nobody has to agree any more: what waits is done as it stands.
    pub(in crate::engine) fn accept_summary(&self) -> Option<Vec<Event>> {
        self.settle_summary(&[]).ok()
    }

    /// The oldest summary that waits is done, but for the refused lines.
    ///
    /// # Errors
    /// A [`CommandError`] where none waits, or one has no such line.
    pub(in crate::engine) fn settle_summary(&self, refused: &[usize]) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        let Some(change) = state.waiting_summaries.first() else {
            return Err(CommandError::new(
                "no summary waits for a word",
                "summaries wait where every proposal is confirmed (c)",
            ));
        };
        if let Some(none) = refused.iter().find(|place| **place >= change.items.len()) {
            return Err(CommandError::new(
                format!("the summary has no line {}; it has {}", none + 1, change.items.len()),
                "choose one of those it shows",
            ));
        }
        let mut events = Vec::new();
        let accepted = change.items.iter().enumerate().filter(|(place, _)| !refused.contains(place));
        let gone: Vec<_> = accepted
            .clone()
            .filter_map(|(_, line)| if let PoolChangeItem::Retire { id } = line { Some(id) } else { None })
            .filter(|id| {
                // What a person changed, pinned or switched off meanwhile stays.
                state.pool.get(id).is_some_and(|l| l.status == LessonStatus::On && !l.edited_by_person)
            })
            .collect();
        for (_, line) in accepted {
            let op = match line {
                PoolChangeItem::Retire { id } if gone.contains(&id) => {
                    let (was, status) = (LessonStatus::On, LessonStatus::Retired);
                    LessonOp::Status { id: id.clone(), previous: was, status }
                }
                PoolChangeItem::Retire { .. } => continue,
                PoolChangeItem::Add { kind, scope, text, evidence, parents } => {
                    if state.pool.visible_of_kind(*kind).any(|l| l.text() == text && !gone.contains(&&l.id)) {
                        continue;
                    }
                    let wish = LessonCommand::Add {
                        kind: *kind,
                        scope: *scope,
                        text: text.clone(),
                        rule: None,
                        parents: parents.clone(),
                        transition: None,
                        evidence: evidence.clone(),
                    };
                    self.lesson_op(&wish, Author::Mentor, events.len())?
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

    /// A summary waits, so nothing else goes on.
    pub(super) fn check_no_waiting_summary(&self) -> Result<(), CommandError> {
        if self.state.waiting_summaries.is_empty() || self.state.autonomy == Autonomy::Auto {
            return Ok(());
        }
        Err(CommandError::new(
            "a summary of the mentor waits for your word on its lines",
            "accept or refuse them (M; without a screen: accept, refuse N)",
        ))
    }
}

/// A want as a line that can wait.
fn pool_change_item(want: &Intent) -> Option<PoolChangeItem> {
    match want {
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
