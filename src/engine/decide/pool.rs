//! Summaries that wait for a person's word on each of their lines.

use crate::domain::{Author, Autonomy, ChangeLine, LessonOp, LessonStatus, PoolChange, Purpose, Seq};
use crate::engine::{CommandError, Engine, Event, Intent, LessonCommand, MentorReply};

impl Engine {
    /// Takes the changes of the pool out of what a summary came to, where a person agrees to everything: they wait then.
    pub(super) fn held(&self, heard: &MentorReply<'_>, wants: &mut Vec<Intent>) -> Option<Event> {
        let agrees = self.state.autonomy == Autonomy::Confirm;
        if heard.question.purpose != Purpose::Summarise || !agrees {
            return None;
        }
        let mut lines = Vec::new();
        wants.retain(|want| match line(want) {
            Some(line) => {
                lines.push(line);
                false
            }
            None => true,
        });
        let change = PoolChange { question: heard.question, lines, seq: Seq::default() };
        (!change.lines.is_empty()).then(|| Event::PoolProposed { change: Box::new(change) })
    }

    /// Nobody has to agree any more: what waits is done as it stands.
    pub(in crate::engine) fn agreed(&self) -> Option<Vec<Event>> {
        self.settle(&[]).ok()
    }

    /// The oldest summary that waits is done, but for the refused lines.
    ///
    /// # Errors
    /// A [`CommandError`] where none waits, or one has no such line.
    pub(in crate::engine) fn settle(&self, refused: &[usize]) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        let Some(change) = state.changes.first() else {
            return Err(CommandError::new(
                "no summary waits for a word",
                "summaries wait where every proposal is confirmed (c)",
            ));
        };
        if let Some(none) = refused.iter().find(|place| **place >= change.lines.len()) {
            return Err(CommandError::new(
                format!("the summary has no line {}; it has {}", none + 1, change.lines.len()),
                "choose one of those it shows",
            ));
        }
        let mut events = Vec::new();
        let accepted = change.lines.iter().enumerate().filter(|(place, _)| !refused.contains(place));
        let gone: Vec<_> = accepted
            .clone()
            .filter_map(|(_, line)| if let ChangeLine::Retire { id } = line { Some(id) } else { None })
            .filter(|id| {
                // What a person changed, pinned or switched off meanwhile stays.
                state.pool.get(id).is_some_and(|l| l.status == LessonStatus::On && !l.by_person)
            })
            .collect();
        for (_, line) in accepted {
            let op = match line {
                ChangeLine::Retire { id } if gone.contains(&id) => {
                    let (was, status) = (LessonStatus::On, LessonStatus::Retired);
                    LessonOp::Status { id: id.clone(), was, status }
                }
                ChangeLine::Retire { .. } => continue,
                ChangeLine::Add { kind, scope, text, evidence, parents } => {
                    if state.pool.of(*kind).any(|l| l.text() == text && !gone.contains(&&l.id)) {
                        continue;
                    }
                    let wish = LessonCommand::Add {
                        kind: *kind,
                        scope: *scope,
                        text: text.clone(),
                        rule: None,
                        parents: parents.clone(),
                        moment: None,
                        evidence: evidence.clone(),
                    };
                    self.lesson_op(&wish, Author::Mentor, events.len())?
                }
            };
            events.push(Event::LessonChanged { op: Box::new(op), by: Author::Mentor });
        }
        let mut refused: Vec<u32> = refused.iter().filter_map(|n| u32::try_from(*n).ok()).collect();
        refused.sort_unstable();
        refused.dedup();
        events.push(Event::PoolSettled { refused });
        Ok(events)
    }

    /// A summary waits, so nothing else goes on.
    pub(super) fn unsettled(&self) -> Result<(), CommandError> {
        if self.state.changes.is_empty() || self.state.autonomy == Autonomy::Auto {
            return Ok(());
        }
        Err(CommandError::new(
            "a summary of the mentor waits for your word on its lines",
            "accept or refuse them (M; without a screen: accept, refuse N)",
        ))
    }
}

/// A want as a line that can wait.
fn line(want: &Intent) -> Option<ChangeLine> {
    match want {
        Intent::Lesson(LessonCommand::Status { id, status: LessonStatus::Retired }) => {
            Some(ChangeLine::Retire { id: id.clone() })
        }
        Intent::Lesson(LessonCommand::Add { kind, scope, text, evidence, parents, .. }) => {
            Some(ChangeLine::Add {
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
