//! Parses model output: an actor's reply ([`read_reply()`]), a mentor's list of lessons ([`read_items`]), a mentor's free text
//! ([`read_free_text`]).
//!
//! Guarantees, each checked by a property test:
//! - Parsing never fails and takes time linear in the length of the reply.
//! - Every word of the result occurs in the reply, in the same order.
//! - Every word of the reply is in the result, in a complaint, or in markup known to carry no content (brackets,
//!   labels, headings, "Here is the list:").
//!
//! `docs/REPLIES.md` lists the rules. The method and the environment, not this module, decide whether a lesson is
//! useful and whether an action exists.

mod actor;
mod dict;
mod json_action;
mod label;
mod lines;
mod list;
mod parsed_reply;
mod plan;
mod prose;
mod quoted;
mod screen_plan;
mod truncated;
mod value;
mod whole;

pub use actor::{can_be_reasoning, is_cut_short, read_reply, read_reply_with};
pub use list::read_items;
pub use plan::{read_free_text, read_program};
pub use truncated::{read_truncated_items, split_truncated_text};
pub use whole::read_actor_reply;

use crate::domain::{LessonText, ReflectionItem};
use std::ops::Range;

/// Prefix of the complaint about a bracket that the reply does not close.
pub(super) const OPEN_BRACKET_COMPLAINT: &str = "the reply ends before this bracket is closed";

/// A part of a reply that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The problem, with the beginning of the text concerned.
    pub message: String,
    /// Byte range of that text in the reply.
    pub span: Range<usize>,
}

/// A lesson parsed from a mentor's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadItem {
    /// The text, with a solution if the reply gave a mistake and its solution.
    pub text: LessonText,
    /// The priority as written (`7`, `high`), if any.
    pub priority: Option<String>,
    /// The heading or key it was listed under, if any.
    pub heading: Option<String>,
    /// Byte range in the reply.
    pub span: Range<usize>,
}

/// A parsed list of lessons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Items {
    /// The lessons, in the order of the reply. An empty list is a valid answer: "no mistakes so far".
    pub items: Vec<ReadItem>,
    /// What could not be used. A list in the requested format has no complaints.
    pub complaints: Vec<Complaint>,
    /// Rejected items, each as the lesson it would have been: too long, cut off, or not part of a list. Each has its
    /// complaint; a person may still keep it.
    pub dropped: Vec<LessonText>,
    /// Byte ranges without content: labels, headings, fences, opening and closing phrases.
    pub markup: Vec<Range<usize>>,
}

/// A mentor's parsed free text: a plan, an experience, a lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FreeText {
    /// The text without fences and without a leading label; line breaks are kept.
    pub text: String,
    /// If the reply has labels (`Experience:`, `Lesson:`, `Plan:`), each label as written with the text after it.
    pub sections: Vec<(String, String)>,
    /// What could not be used.
    pub complaints: Vec<Complaint>,
    /// Byte ranges of fences and labels.
    pub markup: Vec<Range<usize>>,
}

impl ReadItem {
    /// Converts the lesson into a reflection item, keeping only its text.
    pub fn into_item(self) -> ReflectionItem {
        ReflectionItem { text: self.text, ..ReflectionItem::default() }
    }
}

/// What the parsers record about a reply besides its content.
struct ParseLog<'a> {
    reply: &'a str,
    complaints: Vec<Complaint>,
    dropped: Vec<LessonText>,
    markup: Vec<Range<usize>>,
}

impl<'a> ParseLog<'a> {
    fn new(reply: &'a str) -> Self {
        Self { reply, complaints: Vec::new(), dropped: Vec::new(), markup: Vec::new() }
    }

    /// Returns the byte range of a part of the reply.
    fn span_of(&self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).saturating_sub(self.reply.as_ptr() as usize);
        start..start + part.len()
    }

    /// Adds a complaint: the problem, and the beginning of the part of the reply that has it.
    fn complain(&mut self, problem: &str, part: &str) {
        const MAX_COMPLAINTS: usize = 64;
        let span = self.span_of(part);
        // Beyond the maximum, the last complaint covers all further parts.
        if self.complaints.len() > MAX_COMPLAINTS
            && let Some(last) = self.complaints.last_mut()
        {
            "more text that could not be used".clone_into(&mut last.message);
            last.span = last.span.start.min(span.start)..last.span.end.max(span.end);
            return;
        }
        let message = if part.trim().is_empty() {
            problem.to_owned()
        } else {
            format!("{problem}: {}", quote_start(part))
        };
        self.complaints.push(Complaint { message, span });
    }

    /// Rejects a part as a lesson because of a problem; `text` is the lesson it would have been.
    fn drop_lesson(&mut self, problem: &str, part: &str, text: LessonText) {
        const MAX_DROPPED: usize = 64;
        self.complain(problem, part);
        if self.dropped.len() < MAX_DROPPED && has_words(&text.text) && !self.dropped.contains(&text) {
            self.dropped.push(text);
        }
    }

    /// Marks a part as markup without content.
    fn mark_as_markup(&mut self, part: &str) {
        if !part.trim().is_empty() {
            self.markup.push(self.span_of(part));
        }
    }

    /// Returns the reply after its `<think>` block, if it has one; empty if the block isn't closed.
    fn after_reasoning(&mut self) -> &'a str {
        if let Some(end) = self.reply.rfind("</think>") {
            let (before, after) = self.reply.split_at(end + "</think>".len());
            let span = self.span_of(before);
            self.complaints
                .push(Complaint { message: "reasoning before </think> was not used".to_owned(), span });
            return after;
        }
        if self.reply.trim_start().starts_with("<think>") {
            self.complain("unfinished reasoning was not used", self.reply);
            return &self.reply[self.reply.len()..];
        }
        self.reply
    }
}

/// Quotes the beginning of a text on one line.
pub(super) fn quote_start(text: &str) -> String {
    const MAX_CHARS: usize = 80;
    let mut line = String::from("\"");
    for (n, word) in text.split_whitespace().take(MAX_CHARS).enumerate() {
        if n > 0 {
            line.push(' ');
        }
        line.extend(word.chars().take(MAX_CHARS));
        if line.chars().count() > MAX_CHARS {
            line = line.chars().take(MAX_CHARS).collect();
            line.push('…');
            break;
        }
    }
    line.push('"');
    line
}

/// Collapses runs of whitespace to single spaces.
fn collapse_whitespace(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns whether a text has a letter or digit of any script; without one it has no content.
fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests;
