//! Reads an actor's reply. Total: any text gives a reading, and every word of it stands in the reply.

use crate::engine::Reading;

/// Reads a reply in any of the forms that models give: a bare line, `> line`, `think: ...`, `Thought:` and `Action:`
/// pairs, inside code fences or not. The first action counts; whatever else was said becomes a complaint.
pub fn read(reply: &str) -> Reading {
    let mut reader = Reader::default();
    let mut text = reply;
    if let Some((_, after)) = reply.rsplit_once("</think>") {
        text = after;
        reader.complain("reasoning before </think> was not used");
    }
    let lines: Vec<&str> = text.lines().map(bare).filter(|l| !l.is_empty()).collect();
    let pairs = lines.iter().any(|l| matches!(mark(l), (Mark::Action, _)));
    for line in lines {
        if !reader.take(line, pairs) {
            break;
        }
    }
    reader.finish(reply)
}

#[derive(Default)]
struct Reader {
    thought: Option<String>,
    action: Option<String>,
    complaints: Vec<String>,
    unused: usize,
    /// A `Thought:` was opened whose next lines may go on with it.
    thinking: bool,
    /// An `Action:` stood alone; its words are on the next line.
    expecting: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Think,
    Thought,
    Action,
    Observation,
    None,
}

impl Reader {
    /// Takes a line; false when nothing after it can count.
    fn take(&mut self, line: &str, pairs: bool) -> bool {
        if self.action.is_some() {
            self.unused += 1;
            return true;
        }
        let (mark, words) = mark(line);
        match mark {
            Mark::Observation => {
                self.complain("an observation that the model made up was not used");
                return false;
            }
            Mark::Think | Mark::Thought => {
                self.think(words);
                self.thinking = mark == Mark::Thought;
                self.expecting = false;
            }
            Mark::Action => match self::mark(words) {
                (Mark::Think | Mark::Thought, thought) => self.think(thought),
                _ if words.is_empty() => self.expecting = true,
                _ => self.action = Some(words.to_owned()),
            },
            Mark::None if self.thinking && pairs && !self.expecting => self.think(words),
            Mark::None if self.thought.is_some() && words.eq_ignore_ascii_case("ok.") => {
                self.complain("an answer to the thought that the model made up was not used");
            }
            Mark::None => self.action = Some(words.to_owned()),
        }
        true
    }

    fn think(&mut self, words: &str) {
        if words.is_empty() {
            return;
        }
        match &mut self.thought {
            None => self.thought = Some(words.to_owned()),
            Some(thought) => {
                thought.push(' ');
                thought.push_str(words);
            }
        }
    }

    fn complain(&mut self, what: &str) {
        self.complaints.push(what.to_owned());
    }

    fn finish(mut self, reply: &str) -> Reading {
        match self.unused {
            0 => {}
            1 => self.complain("one more line after the action was not used"),
            n => self.complaints.push(format!("{n} more lines after the action were not used")),
        }
        if self.thought.is_none() && self.action.is_none() {
            self.complain(if reply.trim().is_empty() {
                "the reply is empty"
            } else {
                "the reply holds no action"
            });
        }
        Reading { thought: self.thought, action: self.action, complaints: self.complaints }
    }
}

/// A line without what only decorates it: prompt marks, code fences, back-quotes, bold.
fn bare(line: &str) -> &str {
    let mut line = line.trim();
    while let Some(rest) = line.strip_prefix('>') {
        line = rest.trim_start();
    }
    if line.starts_with("```") {
        return "";
    }
    for quote in ["**", "`"] {
        if let Some(inner) = line.strip_prefix(quote).and_then(|l| l.strip_suffix(quote)) {
            line = inner.trim();
        }
    }
    line
}

/// The mark before a line's words, in any case: `think:`, `Thought 3:`, `**Action:**`, `Observation:`.
fn mark(line: &str) -> (Mark, &str) {
    let Some((head, words)) = line.split_once(':') else { return (Mark::None, line) };
    let name =
        head.trim_start_matches('*').trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ' || c == '*');
    let mark = match name.to_ascii_lowercase().as_str() {
        "think" => Mark::Think,
        "thought" => Mark::Thought,
        "action" | "act" => Mark::Action,
        "observation" => Mark::Observation,
        _ => return (Mark::None, line),
    };
    (mark, bare(words.trim_start_matches('*')))
}
