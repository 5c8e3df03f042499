//! Interprets a mentor's reply: a list for list-valued kinds and for summaries, otherwise one text.

use super::read;
use crate::domain::{LessonText, Purpose, Question, ReflectionItem, ReflectionKind, Truncation};
use crate::engine::ParsedMentorReply;

/// Parses a mentor's reply to a question (`docs/REPLIES.md`). Never fails; what could not be used becomes a complaint.
/// Of a reply that was cut off (`truncated`) only complete parts count, and nothing of a summary: it would replace a
/// list.
pub fn read_mentor(question: Question, text: &str, truncated: Option<Truncation>) -> ParsedMentorReply {
    if truncated == Some(Truncation::Refusal) {
        return read_refusal(text);
    }
    let listed = question.purpose == Purpose::Summarise
        || matches!(
            question.kind,
            ReflectionKind::Abstract | ReflectionKind::Error | ReflectionKind::Progress
        );
    if listed { read_list(question, text, truncated) } else { read_prose(question, text, truncated) }
}

/// The model declined to answer: its words are no answer to any question.
fn read_refusal(text: &str) -> ParsedMentorReply {
    let words = text.trim();
    let mut reply = ParsedMentorReply {
        complaints: vec![format!(
            "the model refused to answer, so nothing was used: {}",
            read::quote_start(words)
        )],
        ..ParsedMentorReply::default()
    };
    if !words.is_empty() {
        reply.dropped.push(LessonText::plain(words));
    }
    reply
}

fn read_list(question: Question, text: &str, truncated: Option<Truncation>) -> ParsedMentorReply {
    let read = match truncated {
        None => read::read_items(text),
        Some(by) => read::read_truncated_items(text, by.name()),
    };
    let mut items: Vec<ReflectionItem> = read.items.into_iter().map(read::ReadItem::into_item).collect();
    let mut complaints: Vec<String> = read.complaints.into_iter().map(|c| c.message).collect();
    let mut dropped = read.dropped;
    if let Some(by) = truncated {
        let by = by.name();
        // The reply was cut off, which explains its open bracket.
        complaints.retain(|words| !words.starts_with(read::OPEN_BRACKET_COMPLAINT));
        if question.purpose == Purpose::Summarise {
            dropped.splice(..0, items.drain(..).map(|item| item.text));
            complaints.insert(0, format!("the summary was cut off by {by} and was not used"));
        } else {
            let kept = items.len();
            let items = if kept == 1 { "item" } else { "items" };
            complaints.insert(0, format!("the reply was cut off by {by}; {kept} complete {items} kept"));
        }
    }
    ParsedMentorReply { items, complaints, dropped }
}

fn read_prose(question: Question, text: &str, truncated: Option<Truncation>) -> ParsedMentorReply {
    // A line of a plan of actions is an action; in other texts every sentence is complete by itself.
    let sentences = question.purpose != Purpose::PlanActions;
    let (whole, rest) = truncated.map_or((text, ""), |_| read::split_truncated_text(text, sentences));
    let mut plan = read::read_plan(whole);
    // `Lesson 2: ...` is not a label when the question asks for a lesson's number: the number is part of the answer.
    let label = plan.sections.first().filter(|_| question.purpose == Purpose::Choose);
    let number = label.and_then(|(name, _)| name.rsplit(' ').next().and_then(|n| n.parse::<u32>().ok()));
    if let Some(number) = number {
        plan.text = format!("{number}: {}", plan.text);
    }
    let item = (!plan.text.trim().is_empty())
        .then(|| ReflectionItem { text: LessonText::plain(plan.text), ..ReflectionItem::default() });
    let mut complaints: Vec<String> = plan.complaints.into_iter().map(|c| c.message).collect();
    let mut dropped = Vec::new();
    if let Some(by) = truncated {
        let by = by.name();
        let rest = rest.trim();
        if rest.is_empty() {
            complaints.insert(0, format!("the reply was cut off by {by}, behind the words that count"));
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
