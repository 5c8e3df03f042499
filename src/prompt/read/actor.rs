//! Parses an actor's reply. Parsing never fails, and every word of the result occurs in the reply.

use super::label::strip_bullet;
use super::parsed_reply::{ParsedReply, action_in_line};
use super::{Complaint, ParseLog, has_words, json_action, lines};
use crate::domain::ActionVerbs;
use crate::engine::ParsedActorReply;
use std::borrow::Cow;

/// The complaint about prose that is read as a thought.
const UNLABELLED: &str = "a line without a label was read as a thought";

/// Parses a reply in any of the forms that models use: a bare line, `> line`, `think: ...`, pairs of `Thought:` and
/// `Action:`, or JSON, with or without code fences (`docs/REPLIES.md` has the rules). The first action counts;
/// everything else becomes a complaint. Takes time linear in the length of the reply.
///
/// `verbs` are those of the environment: where it lists its actions, a line is read as an action after prose only if it
/// begins like one of them.
pub fn read_reply_with(verbs: &ActionVerbs, reply: &str) -> ParsedActorReply {
    let (parsed, complaints) = parse_reply(reply, verbs);
    ParsedActorReply {
        is_unlabelled: parsed.action.is_none()
            && complaints.iter().any(|c| c.message.starts_with(UNLABELLED)),
        thought: parsed.thought,
        action: parsed.action,
        planned: Vec::new(),
        complete: parsed.complete,
        complaints: complaints.into_iter().map(|c| c.message).collect(),
    }
}

/// Parses a reply of an unknown environment ([`read_reply_with`]).
pub fn read_reply(reply: &str) -> ParsedActorReply {
    read_reply_with(&ActionVerbs::default(), reply)
}

/// Returns whether a reply that was stopped at a newline may have been cut off before its action. That is so in two
/// cases: it has no action and begins a form that takes several lines (`Thought:` before `Action:`, an empty
/// `Action:`, a repeated observation, a fence, JSON), or it is a single line of prose, after which the action may
/// come. A line that begins with `think:` is a complete step.
pub fn is_cut_short(reply: &str, verbs: &ActionVerbs) -> bool {
    let parsed = parse_reply(reply, verbs).0;
    let text = ParseLog::new(reply).after_reasoning().trim();
    let rows = parse_rows(text);
    if let [row] = rows.as_slice()
        && (is_prose_line(row) || is_sentence(row, verbs))
    {
        return true;
    }
    if parsed.action.is_some() || text.is_empty() {
        return false;
    }
    match rows.first().map(|row| row.mark) {
        Some(LineMark::Thought | LineMark::Action | LineMark::Observation) => true,
        // No line has words. A fence may have content on the next line; other decoration has none.
        None => text.lines().any(lines::is_fence),
        Some(LineMark::Think) => false,
        Some(LineMark::None) => text.starts_with(['{', '[']) && !text.ends_with(['}', ']']),
    }
}

/// Returns whether a reply begins with prose and marks no action. If the token limit cut it off, it may be reasoning
/// whose opening tag is in the prompt and whose closing tag had not arrived.
pub fn can_be_reasoning(reply: &str) -> bool {
    let rows = parse_rows(ParseLog::new(reply).after_reasoning());
    rows.first().is_some_and(is_prose_line) && marked_action_row(&rows).is_none()
}

/// Returns the content of a reply, and complaints about what was not used.
pub(super) fn parse_reply(reply: &str, verbs: &ActionVerbs) -> (ParsedReply, Vec<Complaint>) {
    let mut log = ParseLog::new(reply);
    let text = log.after_reasoning();
    let mut parsed = json_action::read_dict(text, &mut log).unwrap_or_else(|| {
        let rows = parse_rows(text);
        let marked = marked_action_row(&rows);
        let action_row = marked.or_else(|| action_after_prose(&rows, verbs)).unwrap_or(0);
        let mut reader = ReplyReader {
            reply: ParsedReply::default(),
            log: &mut log,
            text,
            unused_lines: None,
            in_thought: false,
            expects_action: false,
        };
        for (n, row) in rows.iter().enumerate() {
            if marked.is_none() && n < action_row {
                reader.log.complain(UNLABELLED, row.words);
                reader.add_thought(row.words);
                continue;
            }
            if !reader.read_row(row, n, marked) {
                break;
            }
        }
        reader.finish()
    });
    // Invisible characters are not executed.
    if let Some(action) = &mut parsed.action
        && let Cow::Owned(visible) = crate::text::clean(action)
    {
        log.complain("control characters in the action were not used", text);
        parsed.action = has_words(&visible).then(|| visible.trim().to_owned());
    }
    if parsed.thought.is_none() && parsed.action.is_none() {
        log.complain(
            if reply.trim().is_empty() { "the reply is empty" } else { "the reply has no action" },
            "",
        );
    }
    (parsed, log.complaints)
}

/// A line of a reply, split into its mark and its text.
struct ReplyLine<'a> {
    line: &'a str,
    /// Whether the line is inside a code fence.
    fenced: bool,
    mark: LineMark,
    /// The text after the mark, without decoration.
    words: &'a str,
}

/// Returns the lines that are not empty without their decoration, each split into its mark and the words after it.
fn parse_rows(text: &str) -> Vec<ReplyLine<'_>> {
    let mut fenced = false;
    let mut rows = Vec::new();
    for line in text.lines() {
        if lines::is_fence(line) {
            fenced = !fenced;
        }
        let bare = strip_decoration(line);
        if !bare.is_empty() {
            let (mark, words) = split_mark(bare);
            rows.push(ReplyLine { line: line.trim(), fenced, mark, words });
        }
    }
    rows
}

/// Returns the index of the line that is marked as the action: by its label or, after prose, by a code fence.
fn marked_action_row(rows: &[ReplyLine<'_>]) -> Option<usize> {
    let labelled = rows.iter().position(|r| r.mark == LineMark::Action);
    let fenced = rows.iter().position(|r| r.fenced).filter(|n| *n > 0);
    let after_observation = rows.iter().skip(1).position(|r| r.mark == LineMark::Observation).map(|n| n + 1);
    labelled
        .or(fenced)
        .filter(|n| after_observation.is_none_or(|m| n < &m || rows[0].mark == LineMark::Observation))
}

struct ReplyReader<'a, 'r> {
    reply: ParsedReply,
    log: &'r mut ParseLog<'a>,
    text: &'a str,
    /// The first and the last line after the action, and the number of these lines.
    unused_lines: Option<(&'a str, &'a str, usize)>,
    /// Whether a `Thought:` was read, which may continue on the next lines.
    in_thought: bool,
    /// Whether an empty `Action:` was read; the action is on the next line.
    expects_action: bool,
}

/// What the beginning of a line says about its text.
#[derive(Clone, Copy, PartialEq)]
enum LineMark {
    Think,
    Thought,
    Action,
    Observation,
    None,
}

impl<'a> ReplyReader<'a, '_> {
    /// Reads a line. Returns `false` if the following lines must be ignored. `marked` is the index of the line marked
    /// as the action.
    fn read_row(&mut self, row: &ReplyLine<'a>, index: usize, marked: Option<usize>) -> bool {
        if self.reply.action.is_some() {
            let (first, count) = self.unused_lines.map_or((row.line, 0), |(first, _, count)| (first, count));
            self.unused_lines = Some((first, row.line, count + 1));
            return true;
        }
        let before_action = marked.is_some_and(|marked| index < marked);
        let words = row.words;
        match row.mark {
            LineMark::Observation if before_action && self.reply.thought.is_none() => {
                self.log.complain("an observation that the model repeated was not used", row.line);
            }
            LineMark::Observation => {
                let start = self.log.span_of(row.line).start;
                let end = self.log.span_of(self.text).end;
                let rest = self.log.reply.get(start..end).unwrap_or(row.line);
                self.log.complain("an observation that the model made up was not used", rest);
                return false;
            }
            LineMark::Think | LineMark::Thought => {
                self.in_thought = row.mark == LineMark::Thought;
                self.expects_action = false;
                // `think:` is a complete step once its line ends.
                let line_ended = row.mark == LineMark::Think && self.is_followed_by_text(row.line);
                self.reply.complete = line_ended && self.reply.thought.is_none();
                match inline_action(words) {
                    Some((thought, action)) => {
                        self.add_thought(thought);
                        self.set_action(action);
                    }
                    None => self.add_thought(words),
                }
            }
            LineMark::Action => match split_mark(words) {
                (LineMark::Think | LineMark::Thought, thought) => self.add_thought(thought),
                _ if words.is_empty() => self.expects_action = true,
                _ => self.set_action(words),
            },
            LineMark::None if self.reply.thought.is_some() && words.eq_ignore_ascii_case("ok.") => {
                self.log.complain("an answer to the thought that the model made up was not used", words);
            }
            LineMark::None
                if (self.in_thought || before_action) && marked.is_some() && !self.expects_action =>
            {
                self.add_thought(words);
            }
            LineMark::None if !self.expects_action && is_prose_line(row) => {
                self.log.complain(UNLABELLED, words);
                self.add_thought(words);
            }
            LineMark::None => self.set_action(words),
        }
        true
    }

    /// Returns whether anything but spaces and tabs follows these words in the reply, such as a line end.
    fn is_followed_by_text(&self, words: &str) -> bool {
        let end = self.log.span_of(words).end;
        self.log.reply.get(end..).is_some_and(|rest| !rest.trim_matches([' ', '\t']).is_empty())
    }

    fn add_thought(&mut self, words: &str) {
        if words.is_empty() {
            return;
        }
        match &mut self.reply.thought {
            None => self.reply.thought = Some(words.to_owned()),
            Some(thought) => {
                thought.push(' ');
                thought.push_str(words);
            }
        }
    }

    fn set_action(&mut self, words: &'a str) {
        if words.starts_with('{')
            && let Some(parsed) = json_action::read_dict(words, self.log)
        {
            if let Some(thought) = &parsed.thought {
                self.add_thought(thought);
            }
            (self.reply.action, self.reply.complete) = (parsed.action, parsed.complete);
            return;
        }
        let action = action_in_line(words, self.log);
        if has_words(action) {
            self.reply.action = Some(action.to_owned());
            self.reply.complete = self.is_followed_by_text(action);
        } else if !action.is_empty() {
            self.log.complain("a line without words was not used", action);
        }
    }

    fn finish(self) -> ParsedReply {
        if let Some((first, last, count)) = self.unused_lines {
            let (start, end) = (self.log.span_of(first).start, self.log.span_of(last).end);
            let part = self.log.reply.get(start..end).unwrap_or(first);
            let complaint = match count {
                1 => "one more line after the action was not used".to_owned(),
                n => format!("{n} more lines after the action were not used"),
            };
            self.log.complain(&complaint, part);
        }
        self.reply
    }
}

/// Splits the line of a thought, `find it. Action: go to desk 1`, into thought and action.
fn inline_action(words: &str) -> Option<(&str, &str)> {
    let label = words.find(" Action").or_else(|| words.find(" ACTION"))?;
    let after = words[label + " Action".len()..].trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
    let action = strip_decoration(after.strip_prefix(':')?);
    has_words(action).then(|| (words[..label].trim_end(), action))
}

/// Returns whether a line is about the model itself, unlike any action: `I ...`, `Let me ...`.
fn is_reasoning(words: &str) -> bool {
    const STARTS: &[&str] = &["i ", "i'", "i’", "we ", "let me ", "let us ", "let's ", "let’s "];
    let start = words.chars().take(8).collect::<String>().to_lowercase();
    STARTS.iter().any(|s| start.starts_with(s))
}

/// Returns the index of the first line after unmarked prose, if that line can be an action. After a line that only
/// looks like a sentence (see [`is_sentence`]), it must begin with the verb of an action.
fn action_after_prose(rows: &[ReplyLine<'_>], verbs: &ActionVerbs) -> Option<usize> {
    let prose_lines = rows.iter().take_while(|row| is_prose_line(row) || is_sentence(row, verbs)).count();
    let only_prose = rows.iter().take(prose_lines).all(is_prose_line);
    let row = rows.get(prose_lines).filter(|_| prose_lines > 0)?;
    let is_action = is_plausible_action(row.words) && (only_prose || begins_with_verb(row.words, verbs));
    (row.mark == LineMark::None && !row.fenced && is_action).then_some(prose_lines)
}

/// Interjections. A line that begins with one is prose even if it has no other words.
const INTERJECTIONS: &[&str] = &[
    "absolutely",
    "alright",
    "certainly",
    "great",
    "hm",
    "hmm",
    "ok",
    "okay",
    "sorry",
    "sure",
    "understood",
    "well",
];

/// Words that begin sentences but no actions. They count only in lines of three or more words, because a shorter line
/// may be a name or a direction.
const SENTENCE_OPENERS: &[&str] = &[
    "a",
    "after",
    "alternatively",
    "an",
    "as",
    "based",
    "because",
    "before",
    "considering",
    "finally",
    "first",
    "firstly",
    "given",
    "here",
    "here's",
    "here’s",
    "however",
    "if",
    "in",
    "it",
    "it's",
    "it’s",
    "looking",
    "maybe",
    "my",
    "next",
    "now",
    "our",
    "perhaps",
    "searching",
    "since",
    "so",
    "that",
    "the",
    "then",
    "there",
    "therefore",
    "these",
    "they",
    "this",
    "thinking",
    "to",
    "unfortunately",
    "when",
    "where",
    "which",
    "while",
    "you",
    "your",
];

/// Returns the first word in lower case, without punctuation around it.
fn first_word(words: &str) -> String {
    let words = strip_bullet(words).unwrap_or(words);
    let word = words.split_whitespace().next().unwrap_or_default();
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// Returns whether a line, with or without a bullet, begins like an action.
fn begins_with_verb(words: &str, verbs: &ActionVerbs) -> bool {
    verbs.begin(strip_bullet(words).unwrap_or(words))
}

/// Returns whether a line without a mark is a tool call, an expression or JSON: `search[who is ...]`, `(pick ball1)`.
fn is_call(words: &str) -> bool {
    words.split_whitespace().next().is_some_and(|word| word.contains(['[', '(', '{']))
}

/// Returns whether a line without a mark is prose and so can't be an action. Prose is about the model itself (`I ...`,
/// `Let me ...`), begins with an interjection (`Okay, ...`) or another word that begins no action (`The ...`, `To
/// ...`), or begins with a capital letter and has at least four words, one of which occurs in no action (`should`,
/// `is`, ...).
fn is_prose_line(row: &ReplyLine<'_>) -> bool {
    const NOT_IN_ACTIONS: &[&str] = &[
        "i", "i'll", "i’ll", "i'm", "i’m", "i've", "i’ve", "we", "should", "need", "needs", "must", "will",
        "is", "are", "was", "were", "because", "probably", "likely", "so", "let's", "let’s", "it's", "it’s",
        "since",
    ];
    if row.mark != LineMark::None || row.fenced {
        return false;
    }
    if is_reasoning(row.words) {
        return true;
    }
    if is_call(row.words) {
        return false;
    }
    let first = first_word(row.words);
    let has_words_at_least = |count: usize| row.words.split_whitespace().nth(count - 1).is_some();
    if INTERJECTIONS.contains(&first.as_str())
        || SENTENCE_OPENERS.contains(&first.as_str()) && has_words_at_least(3)
    {
        return true;
    }
    if !row.words.starts_with(|c: char| c.is_uppercase()) {
        return false;
    }
    let bare = |word: &str| word.trim_matches(|c: char| ".,;:!?()".contains(c)).to_lowercase();
    let mut words = row.words.split_whitespace().take(64);
    has_words_at_least(4) && words.any(|word| NOT_IN_ACTIONS.contains(&bare(word).as_str()))
}

/// Returns whether a line without a mark may be a sentence instead of an action: it begins with no known verb and has a
/// full stop, a comma, a label or a tag. Actions of unknown environments can look the same, so such a line is a thought
/// only if an action follows it; otherwise it is the action.
fn is_sentence(row: &ReplyLine<'_>, verbs: &ActionVerbs) -> bool {
    if row.mark != LineMark::None || row.fenced || is_call(row.words) || begins_with_verb(row.words, verbs) {
        return false;
    }
    let words = row.words.trim_end_matches(['*', '"', '”', '\'', '’', ')']);
    let ends_sentence = words.ends_with(['.', '!', '?', ':', '…', ';']);
    has_words(words)
        && (ends_sentence || words.starts_with('<') || words.contains(", ") || words.contains(": "))
}

/// Returns whether a line can be an action: at most 16 words, not ending in a colon or question mark.
fn is_plausible_action(words: &str) -> bool {
    const MAX_WORDS: usize = 16;
    words.split_whitespace().take(MAX_WORDS + 1).count() <= MAX_WORDS && !words.ends_with([':', '?'])
}

/// Removes decoration from a line: prompt marks, code fences, backticks, bold.
fn strip_decoration(line: &str) -> &str {
    let mut line = line.trim();
    while let Some(rest) = line.strip_prefix('>') {
        line = rest.trim_start();
    }
    line = line.strip_suffix("```").unwrap_or(line).trim_end();
    if let Some(rest) = line.strip_prefix("```") {
        // A single word after the fence is the name of a language.
        let rest = rest.trim();
        line = if rest.contains(' ') { rest } else { "" };
    }
    for quote in ["**", "`"] {
        if let Some(inner) = line.strip_prefix(quote).and_then(|l| l.strip_suffix(quote)) {
            line = inner.trim();
        }
    }
    line
}

/// Splits off the mark before a line's words, in any case: `think:`, `Thought 3:`, `**Action:**`, `Observation:`,
/// `<action>`.
fn split_mark(line: &str) -> (LineMark, &str) {
    for (tag, end, mark) in [
        ("<action>", "</action>", LineMark::Action),
        ("<answer>", "</answer>", LineMark::Action),
        ("<thought>", "</thought>", LineMark::Thought),
    ] {
        if let Some(words) = line.strip_prefix(tag) {
            return (mark, strip_decoration(words.strip_suffix(end).unwrap_or(words)));
        }
    }
    let Some((head, words)) = line.split_once(':').filter(|(head, _)| head.len() <= 32) else {
        return (LineMark::None, line);
    };
    let name = head.trim_start_matches(['*', '#', ' ', '-']);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || " *.#".contains(c));
    let mark = match name.to_ascii_lowercase().as_str() {
        "think" => LineMark::Think,
        "thought" | "thoughts" | "reasoning" => LineMark::Thought,
        "action" | "act" | "next action" | "my action" | "command" => LineMark::Action,
        "step" if head.ends_with(|c: char| c.is_ascii_digit()) => LineMark::Action,
        "observation" => LineMark::Observation,
        _ => return (LineMark::None, line),
    };
    (mark, strip_decoration(words.trim_start_matches('*')))
}
