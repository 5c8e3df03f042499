//! Reads what models write: an actor's reply ([`read()`]), a mentor's list of lessons ([`items`]), a mentor's free text
//! ([`plan()`]).
//!
//! Promises, each held by a property test: every text is read, in time that grows with its length; every word of what was
//! read stands in the reply, in its order; every word of the reply is in what was read, in a complaint, or in markup that is
//! known to say nothing (brackets, labels, headings, "Here is the list:"). The rules are in `docs/REPLIES.md`. Not here:
//! what a lesson is worth, and whether an action exists; that is for the method and the world to say.

mod actor;
mod cut;
mod dict;
mod json_action;
mod label;
mod lines;
mod list;
mod plan;
mod prose;
mod quoted;
mod said;
mod value;

pub use actor::{cut_short, may_be_reasoning, read};
pub use cut::{whole_items, whole_text};
pub use list::items;
pub use plan::plan;

use crate::domain::{LessonText, ReflectionItem};
use std::ops::Range;

/// The complaint about a bracket that the reply does not close begins so.
pub(super) const OPEN_BRACKET: &str = "the reply ends before this bracket is closed";

/// What of a reply could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// What happened, with the beginning of the words it is about.
    pub words: String,
    /// Where those words stand in the reply, in bytes.
    pub at: Range<usize>,
}

/// A lesson as a mentor's reply gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadItem {
    /// The words; with a solution where a mistake and its solution were given.
    pub text: LessonText,
    /// The priority as it was said (`7`, `high`), if one was.
    pub priority: Option<String>,
    /// The heading or key it stood under, if it did.
    pub under: Option<String>,
    /// Where it stands in the reply, in bytes.
    pub at: Range<usize>,
}

/// A mentor's list, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Items {
    /// The lessons, in the order of the reply. None at all is an answer too: "no mistakes so far".
    pub items: Vec<ReadItem>,
    /// What could not be used. A list that was written as asked for has no complaints.
    pub complaints: Vec<Complaint>,
    /// What was not kept though it has words of its own, each as the lesson it would have been: it is too long, cut off,
    /// or no list at all. Each has its complaint; a person may still want it.
    pub dropped: Vec<LessonText>,
    /// What says nothing: labels, headings, fences, opening and closing phrases, in bytes of the reply.
    pub markup: Vec<Range<usize>>,
}

/// A mentor's free text, read: Reflexion's plan, FCRF's experience, lesson or plan, Sweet&Sour's reflection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The text without fences and without the label at its beginning; lines are kept.
    pub text: String,
    /// Where the reply has labels (`Experience:`, `Lesson:`, `Plan:`): each label as it was said, and the text after it.
    pub sections: Vec<(String, String)>,
    /// What could not be used.
    pub complaints: Vec<Complaint>,
    /// Fences and labels, in bytes of the reply.
    pub markup: Vec<Range<usize>>,
}

impl ReadItem {
    /// The item of a reflection: its words alone.
    pub fn into_item(self) -> ReflectionItem {
        ReflectionItem { text: self.text, ..ReflectionItem::default() }
    }
}

impl Items {
    /// No list could be made out, though the reply says something: a summary like this must not replace anything.
    pub fn unusable(&self) -> bool {
        self.items.is_empty() && !self.complaints.is_empty()
    }
}

/// What is said about a reply beside what is read from it.
struct Remarks<'a> {
    reply: &'a str,
    complaints: Vec<Complaint>,
    dropped: Vec<LessonText>,
    markup: Vec<Range<usize>>,
}

impl<'a> Remarks<'a> {
    fn new(reply: &'a str) -> Self {
        Self { reply, complaints: Vec::new(), dropped: Vec::new(), markup: Vec::new() }
    }

    /// Where a part of the reply stands in it.
    fn place(&self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).saturating_sub(self.reply.as_ptr() as usize);
        start..start + part.len()
    }

    /// Complains about a part: `what`, and how the part begins.
    fn complain(&mut self, what: &str, part: &str) {
        const MOST: usize = 64;
        let at = self.place(part);
        // A reply of a million brackets has one thing wrong with it, not a million.
        if self.complaints.len() > MOST
            && let Some(last) = self.complaints.last_mut()
        {
            "and more that could not be used".clone_into(&mut last.words);
            last.at = last.at.start.min(at.start)..last.at.end.max(at.end);
            return;
        }
        let words = if part.trim().is_empty() { what.to_owned() } else { format!("{what}: {}", quote(part)) };
        self.complaints.push(Complaint { words, at });
    }

    /// Does not keep a part as a lesson; `what` says why, `text` is the lesson it would have been.
    fn drop_lesson(&mut self, what: &str, part: &str, text: LessonText) {
        const MOST: usize = 64;
        self.complain(what, part);
        if self.dropped.len() < MOST && says_something(&text.text) && !self.dropped.contains(&text) {
            self.dropped.push(text);
        }
    }

    /// A part says nothing.
    fn skip(&mut self, part: &str) {
        if !part.trim().is_empty() {
            self.markup.push(self.place(part));
        }
    }

    /// What follows the reasoning of a model that writes it into its reply; an unfinished reasoning leaves nothing.
    fn after_reasoning(&mut self) -> &'a str {
        if let Some(end) = self.reply.rfind("</think>") {
            let (before, after) = self.reply.split_at(end + "</think>".len());
            let at = self.place(before);
            self.complaints
                .push(Complaint { words: "reasoning before </think> was not used".to_owned(), at });
            return after;
        }
        if self.reply.trim_start().starts_with("<think>") {
            self.complain("reasoning that did not come to its end was not used", self.reply);
            return &self.reply[self.reply.len()..];
        }
        self.reply
    }
}

/// The beginning of a text in quotes, on one line.
pub(super) fn quote(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut line = String::from("\"");
    for (n, word) in text.split_whitespace().take(SHOWN).enumerate() {
        if n > 0 {
            line.push(' ');
        }
        line.extend(word.chars().take(SHOWN));
        if line.chars().count() > SHOWN {
            line = line.chars().take(SHOWN).collect();
            line.push('…');
            break;
        }
    }
    line.push('"');
    line
}

/// A text with one blank between its words.
fn squeeze(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Whether a text has a letter or a digit of any script: without one it says nothing.
fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests;
