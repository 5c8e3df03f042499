//! Separates reasoning from the reply where a server sends both in one text, and ends the reply at its stop sequences.

use super::endpoint::Reasoning;
use super::redactor::trailing_prefix_len;

/// A classified piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReplyPart {
    Text(String),
    Reasoning(String),
    /// All text so far was reasoning: a closing tag arrived without an opening one.
    WasReasoning,
}

/// Splits a text that arrives in pieces into reasoning and reply.
#[derive(Clone, Debug)]
pub(super) struct ReasoningParser {
    tags: Vec<(String, String)>,
    /// The closing tags that end the current reasoning: the one of its opening tag, or all if none was seen. None
    /// outside reasoning.
    closing_tags: Option<Vec<String>>,
    /// The reply is assumed to start inside its reasoning, without an opening tag.
    assumed_open: bool,
    /// The end of the text, which may be the beginning of a tag.
    pending: String,
    /// At the start of the reply, where white space is dropped.
    at_start: bool,
    /// Everything that was taken for reasoning only because of `assumed_open`.
    assumed_reasoning: String,
    has_text: bool,
}

impl ReasoningParser {
    /// Creates a parser. With `opened`, replies start inside their reasoning.
    pub(super) fn new(reasoning: &Reasoning, opened: bool) -> Self {
        let closing = || reasoning.tags.iter().map(|t| t.1.clone()).collect();
        Self {
            tags: reasoning.tags.clone(),
            closing_tags: opened.then(closing),
            assumed_open: opened,
            pending: String::new(),
            at_start: true,
            assumed_reasoning: String::new(),
            has_text: false,
        }
    }

    /// Returns whether the text so far ends inside reasoning.
    pub(super) fn is_inside(&self) -> bool {
        self.closing_tags.is_some()
    }

    /// Adds a piece and returns the parts it completes.
    pub(super) fn push(&mut self, piece: &str) -> Vec<ReplyPart> {
        self.pending.push_str(piece);
        let mut parts = Vec::new();
        while self.advance(&mut parts) {}
        parts
    }

    /// Ends the text and returns the remaining parts. `is_complete` is false if the reply was cut off.
    pub(super) fn finish(&mut self, is_complete: bool) -> Vec<ReplyPart> {
        let rest = std::mem::take(&mut self.pending);
        let mut parts = Vec::new();
        if self.closing_tags.is_some() {
            self.push_reasoning(&rest, &mut parts);
            if self.assumed_open && is_complete && !self.has_text && !self.assumed_reasoning.trim().is_empty()
            {
                // The reply was assumed to start inside reasoning, but no closing tag arrived: it did not reason this
                // time.
                let text = std::mem::take(&mut self.assumed_reasoning).trim_start().to_owned();
                parts.push(ReplyPart::Text(text));
            }
        } else {
            self.push_text(&rest, &mut parts);
        }
        parts
    }

    /// Processes the text up to the next tag. Returns false if more text is needed.
    fn advance(&mut self, parts: &mut Vec<ReplyPart>) -> bool {
        if self.closing_tags.is_some() {
            let closing: Vec<&str> = self.closing_tags.iter().flatten().map(String::as_str).collect();
            let found = closing.iter().filter_map(|c| self.pending.find(c).map(|at| (at, c.len()))).min();
            let partial_tag_len = trailing_prefix_len(&self.pending, closing.into_iter());
            if let Some((at, length)) = found {
                let rest = self.pending.split_off(at + length);
                let before = std::mem::replace(&mut self.pending, rest);
                self.push_reasoning(before.get(..at).unwrap_or(""), parts);
                self.closing_tags = None;
                self.assumed_open = false;
                self.at_start = true;
                return true;
            }
            let partial_tag = self.pending.split_off(self.pending.len() - partial_tag_len);
            let before = std::mem::replace(&mut self.pending, partial_tag);
            self.push_reasoning(&before, parts);
            return false;
        }
        let opening =
            self.tags.iter().filter_map(|t| self.pending.find(&t.0).map(|at| (at, true, &t.0, &t.1)));
        let stray_closing =
            self.tags.iter().filter_map(|t| self.pending.find(&t.1).map(|at| (at, false, &t.1, &t.1)));
        let first = opening
            .chain(stray_closing)
            .min_by_key(|f| f.0)
            .map(|(at, opens, tag, close)| (at, opens, tag.len(), close.clone()));
        if let Some((at, opens, length, close)) = first {
            let rest = self.pending.split_off(at + length);
            let before = std::mem::replace(&mut self.pending, rest);
            let before = before.get(..at).unwrap_or("");
            if opens {
                self.push_text(before, parts);
                self.closing_tags = Some(vec![close]);
            } else {
                if self.has_text || !before.trim().is_empty() {
                    parts.push(ReplyPart::WasReasoning);
                    self.has_text = false;
                }
                self.push_reasoning(before, parts);
            }
            self.at_start = true;
            return true;
        }
        let tags = self.tags.iter().flat_map(|t| [t.0.as_str(), t.1.as_str()]);
        let partial_tag_len = trailing_prefix_len(&self.pending, tags);
        let partial_tag = self.pending.split_off(self.pending.len() - partial_tag_len);
        let before = std::mem::replace(&mut self.pending, partial_tag);
        self.push_text(&before, parts);
        false
    }

    fn push_reasoning(&mut self, text: &str, parts: &mut Vec<ReplyPart>) {
        if !text.is_empty() {
            if self.assumed_open {
                self.assumed_reasoning.push_str(text);
            }
            parts.push(ReplyPart::Reasoning(text.to_owned()));
        }
    }

    fn push_text(&mut self, text: &str, parts: &mut Vec<ReplyPart>) {
        let text = if self.at_start { text.trim_start() } else { text };
        if !text.is_empty() {
            self.at_start = false;
            self.has_text = true;
            parts.push(ReplyPart::Text(text.to_owned()));
        }
    }
}

/// Ends a text that arrives in pieces at its first stop sequence, which servers may ignore.
#[derive(Clone, Debug, Default)]
pub(super) struct StopMatcher {
    stops: Vec<String>,
    held: String,
    has_stopped: bool,
}

impl StopMatcher {
    pub(super) fn new(stops: &[String]) -> Self {
        let stops = stops.iter().filter(|s| !s.is_empty()).cloned().collect();
        Self { stops, ..Self::default() }
    }

    /// Adds a piece and returns what is known to belong to the reply.
    pub(super) fn push(&mut self, piece: &str) -> String {
        if self.has_stopped {
            return String::new();
        }
        self.held.push_str(piece);
        if let Some(at) = self.stops.iter().filter_map(|s| self.held.find(s.as_str())).min() {
            self.has_stopped = true;
            self.held.truncate(at);
            return std::mem::take(&mut self.held);
        }
        let partial_stop_len = trailing_prefix_len(&self.held, self.stops.iter().map(String::as_str));
        let partial_stop = self.held.split_off(self.held.len() - partial_stop_len);
        std::mem::replace(&mut self.held, partial_stop)
    }

    /// Ends the text and returns what was held back.
    pub(super) fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// Returns whether a stop sequence was found; nothing after it belongs to the reply.
    pub(super) fn has_stopped(&self) -> bool {
        self.has_stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits a text that arrives in pieces of `size` characters into reply and reasoning.
    fn split_in_pieces(text: &str, size: usize, opened: bool, is_complete: bool) -> (String, String) {
        let mut parser = ReasoningParser::new(&Reasoning::default(), opened);
        let letters: Vec<char> = text.chars().collect();
        let mut parts = Vec::new();
        for piece in letters.chunks(size) {
            parts.extend(parser.push(&piece.iter().collect::<String>()));
        }
        parts.extend(parser.finish(is_complete));
        let (mut reply, mut reasoning) = (String::new(), String::new());
        for part in parts {
            match part {
                ReplyPart::Text(text) => reply.push_str(&text),
                ReplyPart::Reasoning(text) => reasoning.push_str(&text),
                ReplyPart::WasReasoning => reasoning.push_str(&std::mem::take(&mut reply)),
            }
        }
        (reply, reasoning)
    }

    #[test]
    fn reasoning_is_separated_however_the_text_is_cut() {
        #[rustfmt::skip]
        let cases: &[(&str, bool, bool, &str, &str)] = &[
            ("go to desk 1", false, true, "go to desk 1", ""),
            (" > go\n", false, true, "> go\n", ""),
            ("<think>hm\nwell</think>\n\ngo <up>", false, true, "go <up>", "hm\nwell"),
            ("\n<think></think>go", false, true, "go", ""),
            ("<thinking>a</thinking>b<think>c</think> d", false, true, "bd", "ac"),
            ("[THINK]a[/THINK]b", false, true, "b", "a"),
            ("<think>never ends", false, true, "", "never ends"),
            ("<think>a</thinking>b", false, true, "", "a</thinking>b"),
            // Without the opening tag: unexpected, then expected.
            ("let me see</think>go", false, true, "go", "let me see"),
            ("let me see</think>\ngo", true, true, "go", "let me see"),
            ("let me", true, false, "", "let me"),
            // Expected to start inside reasoning, but it did not reason this time.
            ("go", true, true, "go", "go"),
            ("a < b <thin k> </ think>", false, true, "a < b <thin k> </ think>", ""),
            ("é<think>ü</think>ñ", false, true, "éñ", "ü"),
            ("", true, true, "", ""),
        ];
        for (text, opened, whole, reply, reasoning) in cases {
            for size in 1..=text.chars().count().max(1) {
                let got = split_in_pieces(text, size, *opened, *whole);
                assert_eq!(
                    got,
                    ((*reply).to_owned(), (*reasoning).to_owned()),
                    "{text:?} in pieces of {size}"
                );
            }
        }
    }

    #[test]
    fn reply_ends_at_its_stop_sequence_however_it_is_cut() {
        let cases: &[(&str, &[&str], &str)] = &[
            ("go\nback", &["\n"], "go"),
            ("go STO STOP on", &["STOP", "xx"], "go STO "),
            ("no stop STO", &["STOP"], "no stop STO"),
            ("any", &[""], "any"),
            ("ab", &["b", "ab"], ""),
        ];
        for (text, stops, want) in cases {
            let stops: Vec<String> = stops.iter().map(|s| (*s).to_owned()).collect();
            for size in 1..=text.len() {
                let mut stopper = StopMatcher::new(&stops);
                let mut got = String::new();
                for piece in text.as_bytes().chunks(size) {
                    got.push_str(&stopper.push(std::str::from_utf8(piece).unwrap()));
                }
                got.push_str(&stopper.finish());
                // A stop sequence that starts later may end earlier; text already returned is not taken back.
                assert!(got == *want || (*text == "ab" && got == "a"), "{text:?} by {size}: {got:?}");
            }
        }
    }
}
