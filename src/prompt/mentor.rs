//! Interprets a mentor's reply: a list for list-valued kinds and for summaries, otherwise one text.

use super::read;
use crate::domain::{LessonText, Purpose, Question, ReflectionItem, ReflectionKind, Truncation};
use crate::engine::ParsedMentorReply;

/// Parses a mentor's reply to a question (`docs/REPLIES.md`). Never fails; what could not be used becomes a complaint.
/// If the reply was cut off (`truncated`), only its complete parts are used. A summary that was cut off is discarded
/// entirely, because it would replace the whole list.
pub fn read_mentor(question: Question, text: &str, truncated: Option<Truncation>) -> ParsedMentorReply {
    if truncated == Some(Truncation::Refusal) {
        return read_refusal(text);
    }
    let is_of_list_kind =
        matches!(question.kind, ReflectionKind::Abstract | ReflectionKind::Error | ReflectionKind::Progress);
    // Other questions about these kinds are answered with operations, which the method parses.
    let is_list =
        question.purpose == Purpose::Summarise || (question.purpose == Purpose::Reflect && is_of_list_kind);
    if is_list { read_list(question, text, truncated) } else { read_prose(question, text, truncated) }
}

/// Handles a refusal to answer: nothing is used as an item, and the text is kept in `dropped`.
fn read_refusal(text: &str) -> ParsedMentorReply {
    let text = text.trim();
    let mut reply = ParsedMentorReply {
        complaints: vec![format!(
            "the model refused to answer, so nothing was used: {}",
            read::quote_start(text)
        )],
        ..ParsedMentorReply::default()
    };
    if !text.is_empty() {
        reply.dropped.push(LessonText::plain(text));
    }
    reply
}

fn read_list(question: Question, text: &str, truncated: Option<Truncation>) -> ParsedMentorReply {
    let read = match truncated {
        None => read::read_items(text),
        Some(truncation) => read::read_truncated_items(text, truncation.name()),
    };
    let mut items: Vec<ReflectionItem> = read.items.into_iter().map(read::ReadItem::into_item).collect();
    let mut complaints: Vec<String> = read.complaints.into_iter().map(|c| c.message).collect();
    let mut dropped = read.dropped;
    if let Some(truncation) = truncated {
        let by = truncation.name();
        // The truncation explains an open bracket.
        complaints.retain(|message| !message.starts_with(read::OPEN_BRACKET_COMPLAINT));
        if question.purpose == Purpose::Summarise {
            dropped.splice(..0, items.drain(..).map(|item| item.text));
            complaints.insert(0, format!("the summary was cut off by {by} and was not used"));
        } else {
            let count = items.len();
            let noun = if count == 1 { "item" } else { "items" };
            complaints.insert(0, format!("the reply was cut off by {by}; {count} complete {noun} kept"));
        }
    }
    ParsedMentorReply { items, complaints, dropped }
}

fn read_prose(question: Question, text: &str, truncated: Option<Truncation>) -> ParsedMentorReply {
    // Actions and operations can be cut only between lines, any other text also after a sentence.
    let has_lines = question.purpose == Purpose::PlanActions || question.kind == ReflectionKind::Abstract;
    let by_sentence = !has_lines;
    let (complete, rest) = truncated.map_or((text, ""), |_| read::split_truncated_text(text, by_sentence));
    let mut parsed = match question.purpose {
        Purpose::PlanActions => read::read_program(complete),
        _ => read::read_free_text(complete),
    };
    // When the question asks for a lesson's number, `Lesson 2: ...` is not just a label: the number is part of the
    // answer.
    let label = parsed.sections.first().filter(|_| question.purpose == Purpose::Choose);
    let number = label.and_then(|(name, _)| name.rsplit(' ').next().and_then(|n| n.parse::<u32>().ok()));
    if let Some(number) = number {
        parsed.text = format!("{number}: {}", parsed.text);
    }
    let item = (!parsed.text.trim().is_empty())
        .then(|| ReflectionItem { text: LessonText::plain(parsed.text), ..ReflectionItem::default() });
    let mut complaints: Vec<String> = parsed.complaints.into_iter().map(|c| c.message).collect();
    let mut dropped = Vec::new();
    if let Some(truncation) = truncated {
        let by = truncation.name();
        let rest = rest.trim();
        if rest.is_empty() {
            complaints.insert(0, format!("the reply was cut off by {by}, after the part that was used"));
        } else {
            complaints.insert(
                0,
                format!(
                    "the reply was cut off by {by}; its unfinished end was not used: {}",
                    read::quote_start(rest)
                ),
            );
            dropped.push(LessonText::plain(rest));
        }
    }
    ParsedMentorReply { items: item.into_iter().collect(), complaints, dropped }
}
