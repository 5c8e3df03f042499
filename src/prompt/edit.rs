//! Edits by a person to one segment of a drafted prompt before it is sent.

use super::cache::PromptCache;
use super::render::{body_hash, render_with};
use super::{forms, render, text_hash};
use crate::domain::{PromptRecord, Segment, SegmentOrigin, SegmentRecord};
use crate::engine::{PromptDraft, State};
use std::sync::Arc;

/// Replaces the text of a segment, given by its index among those that [`render()`] returns, and keeps the line breaks
/// around it. Returns the new record together with the texts that are new to the session, or `None` if there is no such
/// segment.
///
/// The edited segment becomes a stored text. All lines of a step share one origin, as do all rejections of a step, so
/// all of them become stored texts if one is edited.
pub fn edit_segment(
    state: &State,
    record: &PromptRecord,
    edited_index: usize,
    new_text: &str,
) -> Option<PromptDraft> {
    let rendered = render(state, record).segments;
    let spans = segment_spans(state, record);
    // The part of the record that contains the segment, and the part's first segment.
    let (edited_part, first) = spans.iter().enumerate().find_map(|(part, (first, count))| {
        (*first <= edited_index && edited_index < first + count).then_some((part, *first))
    })?;
    let mut texts: Vec<(String, Arc<str>)> = Vec::new();
    let edited_text = replace_body(&rendered.get(edited_index)?.text, new_text);
    let mut to_stored_text = |index: usize, segment: &Segment| {
        let text = if index == edited_index { Arc::from(edited_text.as_str()) } else { segment.text.clone() };
        let hash = text_hash(&text);
        let record = SegmentRecord {
            label: segment.label,
            origin: SegmentOrigin::Text(hash.as_str().into()),
            message_role: segment.message_role,
            tokens: forms::estimate_tokens(&text),
        };
        texts.push((hash, text));
        record
    };
    let mut segments: Vec<SegmentRecord> = Vec::with_capacity(record.segments.len() + 4);
    for (index, (part, (part_first, _))) in record.segments.iter().zip(&spans).enumerate() {
        match (&part.origin, rendered.get(edited_index).map(|s| &s.origin)) {
            (SegmentOrigin::Steps { from, to }, Some(SegmentOrigin::Step(step))) if index == edited_part => {
                let tokens = |keep: &dyn Fn(u32) -> bool| {
                    let lines = rendered.iter().skip(first).take(spans[edited_part].1);
                    let kept = lines.filter(|s| matches!(s.origin, SegmentOrigin::Step(n) if keep(n)));
                    kept.map(|s| forms::estimate_tokens(&s.text)).sum()
                };
                let range = |from: u32, to: u32, tokens: u32| SegmentRecord {
                    origin: SegmentOrigin::Steps { from, to },
                    tokens,
                    ..part.clone()
                };
                if from < step {
                    segments.push(range(*from, step - 1, tokens(&|n| n < *step)));
                }
                let lines = rendered.iter().enumerate().skip(first).take(spans[edited_part].1);
                let step_lines = lines.filter(|(_, s)| s.origin == SegmentOrigin::Step(*step));
                segments.extend(step_lines.map(|(n, s)| to_stored_text(n, s)));
                if step < to {
                    segments.push(range(step + 1, *to, tokens(&|n| n > *step)));
                }
            }
            // A rejection's text is looked up by its index among the rejections, so all of them become texts.
            (SegmentOrigin::Step(_), _)
                if matches!(record.segments[edited_part].origin, SegmentOrigin::Step(_)) =>
            {
                segments.extend(rendered.get(*part_first).map(|s| to_stored_text(*part_first, s)));
            }
            _ if index == edited_part => {
                segments.extend(rendered.get(edited_index).map(|s| to_stored_text(edited_index, s)));
            }
            _ => segments.push(part.clone()),
        }
    }
    let mut record = PromptRecord { segments, edited: true, ..record.clone() };
    let previous_tokens = u64::from(record.tokens.max(1));
    record.tokens = record.segments.iter().fold(0, |sum, s| sum.saturating_add(s.tokens));
    let corrected =
        u64::from(record.corrected_tokens).saturating_mul(u64::from(record.tokens)) / previous_tokens;
    record.corrected_tokens = u32::try_from(corrected).unwrap_or(u32::MAX);
    let prompt = render_with(state, &record, &mut PromptCache::with_capacity(1), |hash| {
        let new = texts.iter().find(|(name, _)| name == hash).map(|(_, text)| text.clone());
        new.or_else(|| state.texts.get(hash).cloned())
    });
    record.sha256 = body_hash(&prompt);
    texts.sort_by(|a, b| a.0.cmp(&b.0));
    texts.dedup_by(|a, b| a.0 == b.0);
    let new = texts.into_iter().filter(|(hash, _)| !state.texts.contains_key(hash));
    Some(PromptDraft { record, texts: new.map(|(hash, text)| (hash, text.to_string())).collect() })
}

/// For each part of a record, returns the index of the first segment it renders to and the number of those segments.
fn segment_spans(state: &State, record: &PromptRecord) -> Vec<(usize, usize)> {
    let mut first = 0;
    let count = |part: &SegmentRecord| {
        let part_only = PromptRecord {
            segments: vec![part.clone()],
            episode: record.episode,
            text_forms: record.text_forms,
            ..PromptRecord::default()
        };
        match part.origin {
            SegmentOrigin::Steps { .. } => render(state, &part_only).segments.len(),
            _ => 1,
        }
    };
    let mut spans = Vec::with_capacity(record.segments.len());
    for part in &record.segments {
        let count = count(part);
        spans.push((first, count));
        first += count;
    }
    spans
}

/// Replaces a text, keeping its leading and trailing line breaks.
fn replace_body(text: &str, new_body: &str) -> String {
    let body = text.trim_matches('\n');
    let lead = text.len() - text.trim_start_matches('\n').len();
    if body.is_empty() {
        return format!("{new_body}{text}");
    }
    format!("{}{new_body}{}", &text[..lead], &text[lead + body.len()..])
}
