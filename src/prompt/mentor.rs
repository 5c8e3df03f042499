//! Interprets a mentor's reply in the form that its question asks for.

use super::read;
use crate::domain::{LessonText, ReflectionItem, Truncation};
use crate::engine::ParsedMentorReply;

/// The form of the reply that a question asks for, which decides how the reply is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyForm {
    /// One text; if it was cut off, its complete sentences are used.
    #[default]
    Text,
    /// A text that begins with the number of the chosen lesson.
    Choice,
    /// One text whose lines the method reads; if it was cut off, its complete lines are used.
    Lines,
    /// The actions of an attempt, one a line.
    Program,
    /// A list with one lesson an item; if it was cut off, its complete items are used.
    List,
    /// A list that replaces another, so that nothing is used if it was cut off.
    WholeList,
}

/// Parses a mentor's reply (`docs/REPLIES.md`). Never fails; what could not be used becomes a complaint.
/// If the reply was cut off (`truncated`), only its complete parts are used. A text also ends at a line that begins like
/// an episode ([`episode_openings`](super::interface::EnvironmentTexts::episode_openings)).
pub fn read_mentor(
    form: ReplyForm,
    text: &str,
    truncated: Option<Truncation>,
    episode_openings: &[&str],
) -> ParsedMentorReply {
    if truncated == Some(Truncation::Refusal) {
        return read_refusal(text);
    }
    match form {
        ReplyForm::List | ReplyForm::WholeList => read_list(form, text, truncated),
        ReplyForm::Text | ReplyForm::Choice | ReplyForm::Lines | ReplyForm::Program => {
            read_prose(form, text, truncated, episode_openings)
        }
    }
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

fn read_list(form: ReplyForm, text: &str, truncated: Option<Truncation>) -> ParsedMentorReply {
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
        if form == ReplyForm::WholeList {
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

fn read_prose(
    form: ReplyForm,
    text: &str,
    truncated: Option<Truncation>,
    episode_openings: &[&str],
) -> ParsedMentorReply {
    let by_sentence = !matches!(form, ReplyForm::Lines | ReplyForm::Program);
    let (complete, rest) = truncated.map_or((text, ""), |_| read::split_truncated_text(text, by_sentence));
    let mut parsed = match form {
        ReplyForm::Program => read::read_program(complete, episode_openings),
        _ => read::read_free_text(complete, episode_openings),
    };
    // When the question asks for a lesson's number, `Lesson 2: ...` is not just a label: the number is part of the
    // answer.
    let label = parsed.sections.first().filter(|_| form == ReplyForm::Choice);
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
