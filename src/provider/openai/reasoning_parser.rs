//! Tells reasoning from the answer where a server leaves both in one text, and ends the answer at its stop texts.

use super::endpoint::Reasoning;
use super::redactor::trailing_prefix_len;

/// A piece of an answer after it was told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReplyPart {
    Text(String),
    Reasoning(String),
    /// All text so far was reasoning: a closing mark came without an opening one.
    WasReasoning,
}

/// Splits a text that comes in pieces.
#[derive(Clone, Debug)]
pub(super) struct ReasoningParser {
    tags: Vec<(String, String)>,
    /// The closing mark that is waited for; any of them where no opening one was seen.
    closing_marks: Option<Vec<String>>,
    /// Began inside of reasoning without a mark.
    assumed_open: bool,
    pending: String,
    /// White space before the answer's first word is left away.
    at_start: bool,
    /// All that an answer that began inside was taken for.
    assumed_reasoning: String,
    has_text: bool,
}

impl ReasoningParser {
    /// A splitter; `opened` says that answers begin inside of reasoning.
    pub(super) fn new(reasoning: &Reasoning, opened: bool) -> Self {
        let closing = || reasoning.tags.iter().map(|t| t.1.clone()).collect();
        Self {
            tags: reasoning.tags.clone(),
            closing_marks: opened.then(closing),
            assumed_open: opened,
            pending: String::new(),
            at_start: true,
            assumed_reasoning: String::new(),
            has_text: false,
        }
    }

    /// Reasoning is open, or was all there was.
    pub(super) fn is_inside(&self) -> bool {
        self.closing_marks.is_some()
    }

    /// Takes a piece.
    pub(super) fn push(&mut self, piece: &str) -> Vec<ReplyPart> {
        self.pending.push_str(piece);
        let mut parts = Vec::new();
        while self.advance(&mut parts) {}
        parts
    }

    /// The text is over; `whole` says that it came to its own end.
    pub(super) fn finish(&mut self, whole: bool) -> Vec<ReplyPart> {
        let rest = std::mem::take(&mut self.pending);
        let mut parts = Vec::new();
        if self.closing_marks.is_some() {
            self.push_reasoning(&rest, &mut parts);
            if self.assumed_open && whole && !self.has_text && !self.assumed_reasoning.trim().is_empty() {
                // It was thought to begin inside of reasoning, and no mark came: then it did not reason this time.
                let words = std::mem::take(&mut self.assumed_reasoning).trim_start().to_owned();
                parts.push(ReplyPart::Text(words));
            }
        } else {
            self.push_text(&rest, &mut parts);
        }
        parts
    }

    /// Does the next bit of work; false when more text is needed.
    fn advance(&mut self, parts: &mut Vec<ReplyPart>) -> bool {
        if self.closing_marks.is_some() {
            let closing: Vec<&str> = self.closing_marks.iter().flatten().map(String::as_str).collect();
            let found = closing.iter().filter_map(|c| self.pending.find(c).map(|at| (at, c.len()))).min();
            let open = trailing_prefix_len(&self.pending, closing.into_iter());
            if let Some((at, length)) = found {
                let rest = self.pending.split_off(at + length);
                let before = std::mem::replace(&mut self.pending, rest);
                self.push_reasoning(before.get(..at).unwrap_or(""), parts);
                self.closing_marks = None;
                self.assumed_open = false;
                self.at_start = true;
                return true;
            }
            let open = self.pending.split_off(self.pending.len() - open);
            let before = std::mem::replace(&mut self.pending, open);
            self.push_reasoning(&before, parts);
            return false;
        }
        let opening =
            self.tags.iter().filter_map(|t| self.pending.find(&t.0).map(|at| (at, true, &t.0, &t.1)));
        let stray =
            self.tags.iter().filter_map(|t| self.pending.find(&t.1).map(|at| (at, false, &t.1, &t.1)));
        let first = opening
            .chain(stray)
            .min_by_key(|f| f.0)
            .map(|(at, opens, mark, close)| (at, opens, mark.len(), close.clone()));
        if let Some((at, opens, length, close)) = first {
            let rest = self.pending.split_off(at + length);
            let before = std::mem::replace(&mut self.pending, rest);
            let before = before.get(..at).unwrap_or("");
            if opens {
                self.push_text(before, parts);
                self.closing_marks = Some(vec![close]);
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
        let marks = self.tags.iter().flat_map(|t| [t.0.as_str(), t.1.as_str()]);
        let open = trailing_prefix_len(&self.pending, marks);
        let open = self.pending.split_off(self.pending.len() - open);
        let before = std::mem::replace(&mut self.pending, open);
        self.push_text(&before, parts);
        false
    }

    fn push_reasoning(&mut self, words: &str, parts: &mut Vec<ReplyPart>) {
        if !words.is_empty() {
            if self.assumed_open {
                self.assumed_reasoning.push_str(words);
            }
            parts.push(ReplyPart::Reasoning(words.to_owned()));
        }
    }

    fn push_text(&mut self, words: &str, parts: &mut Vec<ReplyPart>) {
        let words = if self.at_start { words.trim_start() } else { words };
        if !words.is_empty() {
            self.at_start = false;
            self.has_text = true;
            parts.push(ReplyPart::Text(words.to_owned()));
        }
    }
}

/// Ends a text that comes in pieces at the first of its stop texts, which servers may ignore.
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

    /// Takes a piece; what belongs to the answer.
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
        let open = trailing_prefix_len(&self.held, self.stops.iter().map(String::as_str));
        let open = self.held.split_off(self.held.len() - open);
        std::mem::replace(&mut self.held, open)
    }

    /// What was held back, at the end.
    pub(super) fn end(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// A stop text has come: nothing more belongs to the answer.
    pub(super) fn has_stopped(&self) -> bool {
        self.has_stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text and reasoning in the end.
    fn split_in_pieces(text: &str, size: usize, opened: bool, whole: bool) -> (String, String) {
        let mut splitter = ReasoningParser::new(&Reasoning::default(), opened);
        let letters: Vec<char> = text.chars().collect();
        let mut parts = Vec::new();
        for piece in letters.chunks(size) {
            parts.extend(splitter.push(&piece.iter().collect::<String>()));
        }
        parts.extend(splitter.finish(whole));
        let (mut said, mut reasoned) = (String::new(), String::new());
        for part in parts {
            match part {
                ReplyPart::Text(words) => said.push_str(&words),
                ReplyPart::Reasoning(words) => reasoned.push_str(&words),
                ReplyPart::WasReasoning => reasoned.push_str(&std::mem::take(&mut said)),
            }
        }
        (said, reasoned)
    }

    #[test]
    fn reasoning_is_told_apart_however_the_text_is_cut() {
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
            // Without the opening mark: by surprise, and where it is known.
            ("let me see</think>go", false, true, "go", "let me see"),
            ("let me see</think>\ngo", true, true, "go", "let me see"),
            ("let me", true, false, "", "let me"),
            // Known to begin inside, but it did not reason this time.
            ("go", true, true, "go", "go"),
            ("a < b <thin k> </ think>", false, true, "a < b <thin k> </ think>", ""),
            ("é<think>ü</think>ñ", false, true, "éñ", "ü"),
            ("", true, true, "", ""),
        ];
        for (text, opened, whole, said, reasoned) in cases {
            for size in 1..=text.chars().count().max(1) {
                let got = split_in_pieces(text, size, *opened, *whole);
                assert_eq!(got, ((*said).to_owned(), (*reasoned).to_owned()), "{text:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn an_answer_ends_at_its_stop_text_however_it_is_cut() {
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
                got.push_str(&stopper.end());
                // A stop text that begins later may end earlier; what was passed on is not taken back.
                assert!(got == *want || (*text == "ab" && got == "a"), "{text:?} by {size}: {got:?}");
            }
        }
    }
}
