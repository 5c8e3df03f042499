//! Rebuilds a prompt's text from its record. Any state that has folded the record's event and still holds its episode
//! gives the same body: answered steps, lesson versions and stored texts never change.

use super::cache::{LessonLine, PromptCache};
use super::forms;
use crate::domain::{
    DroppedSegment, MessageRole, Prompt, PromptRecord, Segment, SegmentLabel, SegmentOrigin, hex,
};
use crate::engine::State;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Renders the prompt of a record. A part that covers several steps becomes one segment per line; text that the state
/// does not hold (a record of an episode that is no longer open) is empty, which the hash reveals.
pub fn render(state: &State, record: &PromptRecord) -> Prompt {
    render_with(state, record, &mut PromptCache::with_capacity(1), |hash| state.texts.get(hash).cloned())
}

/// Returns the SHA-256 of a prompt's body in hexadecimal, as stored in its record.
pub fn body_hash(prompt: &Prompt) -> String {
    let mut hash = Sha256::new();
    for segment in &prompt.segments {
        hash.update(segment.text.as_bytes());
    }
    hex(&hash.finalize())
}

/// Returns the key of a stored text: the first 16 hexadecimal digits of its SHA-256.
pub fn text_hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..8])
}

/// Renders like [`render`], with a cache and a lookup for stored texts, because those of a draft are not in the state
/// yet.
pub(super) fn render_with(
    state: &State,
    record: &PromptRecord,
    cache: &mut PromptCache,
    stored: impl Fn(&str) -> Option<Arc<str>>,
) -> Prompt {
    cache.set_version(record.text_forms);
    let mut segments = Vec::with_capacity(record.segments.len() + estimate_segments(record));
    let (mut rejections, mut next_lesson) = (0, 0);
    let episode = state.episode.as_deref().filter(|e| e.number == record.episode);
    for part in &record.segments {
        let mut push =
            |label: SegmentLabel, origin: SegmentOrigin, message_role: MessageRole, text: Arc<str>| {
                segments.push(Segment { label, origin, message_role, text });
            };
        match &part.origin {
            SegmentOrigin::Text(hash) => {
                push(part.label, part.origin.clone(), part.message_role, stored(hash).unwrap_or_default());
            }
            SegmentOrigin::Lesson { id, version } => {
                let found = state.pool.find_from(next_lesson, id);
                let line = found.and_then(|(index, lesson)| {
                    next_lesson = index + 1;
                    if *version == lesson.version() {
                        return Some(cache.lesson_line(lesson).text.clone());
                    }
                    let earlier = lesson.versions.get(version.checked_sub(1)? as usize)?;
                    Some(LessonLine::new(lesson, &earlier.text, record.text_forms).text)
                });
                push(part.label, part.origin.clone(), part.message_role, line.unwrap_or_default());
            }
            SegmentOrigin::Task => {
                let text = episode.map(forms::task_text).unwrap_or_default();
                push(part.label, SegmentOrigin::Task, part.message_role, text.into());
            }
            SegmentOrigin::Step(number) => {
                // The i-th rejection segment of a record is the i-th rejection of its step. Later rejections have no
                // segment in it.
                let rejection =
                    episode.and_then(|e| e.step(*number)).and_then(|s| s.rejections.get(rejections));
                rejections += 1;
                let line = rejection
                    .map(|(proposal, reason)| forms::rejection_line(proposal, reason))
                    .unwrap_or_default();
                push(part.label, SegmentOrigin::Step(*number), part.message_role, line.into());
            }
            SegmentOrigin::Attempt { episode, from, to } => {
                let text = state
                    .episode_by_number(*episode)
                    .map(|e| forms::attempt_text(e, *from, *to, record.text_forms))
                    .unwrap_or_default();
                push(part.label, part.origin.clone(), part.message_role, text.into());
            }
            SegmentOrigin::Steps { from, to } => {
                // A manipulated record may name more steps than there are.
                let last = episode.map_or(0, |e| e.steps.len() as u32).min(*to);
                let steps = (*from..=last).filter_map(|n| episode?.step_arc(n));
                for step in steps.filter(|s| forms::is_shown(s, *to)) {
                    for (label, line) in &cache.step_lines(record.episode, step).lines {
                        push(
                            *label,
                            SegmentOrigin::Step(step.number),
                            line_role(part.message_role, *label),
                            line.clone(),
                        );
                    }
                }
            }
        }
    }
    Prompt { segments }
}

/// Estimates the number of segments that the steps of a record expand to. A manipulated record may name any number of
/// steps, so the estimate is limited.
fn estimate_segments(record: &PromptRecord) -> usize {
    let steps = record.segments.iter().map(|s| match s.origin {
        SegmentOrigin::Steps { from, to } => to.saturating_sub(from) as usize + 1,
        _ => 0,
    });
    steps.sum::<usize>().min(2048) * 2
}

/// Returns the message role of a line of the steps. If a template gives the steps the role `assistant`, observations
/// and human edits still get the role `user`.
fn line_role(steps_role: MessageRole, label: SegmentLabel) -> MessageRole {
    match (steps_role, label) {
        (MessageRole::Assistant, SegmentLabel::Observation | SegmentLabel::HumanEdit) => MessageRole::User,
        _ => steps_role,
    }
}

/// Returns the steps dropped from a record as (first step, last step, estimated tokens).
pub(super) fn dropped_steps(dropped: &[DroppedSegment]) -> Option<(u32, u32, u32)> {
    dropped.iter().find_map(|d| match d.origin {
        SegmentOrigin::Steps { from, to } => Some((from, to, d.tokens)),
        _ => None,
    })
}
