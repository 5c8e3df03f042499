//! Extracts the JSON values from the bytes of a body: a standard event stream, and the variants that servers send, such
//! as events without a blank line between them, JSON lines without `data:`, or plain JSON instead of a stream.
//!
//! Bytes are split into lines before they are decoded. A character may therefore be split between two pieces of the
//! body, and invalid UTF-8 affects only the invalid bytes.
//!
//! The work is linear in the body's length, whatever it contains: JSON over several lines is parsed once, when its
//! brackets match, and finding that out looks at each byte once.

use serde_json::Value;

/// Maximum length of a line, in bytes. Real replies never come near it, and longer lines would block for too long.
pub(super) const MAX_LINE_BYTES: usize = 1 << 20;

/// An element of a body.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Frame {
    /// A JSON value, and whether it came in an event named `error`.
    Json(Value, bool),
    /// `[DONE]`.
    Done,
    /// Text that starts like JSON but is not valid.
    InvalidJson(String),
}

/// The error for a line, or JSON over several lines, longer than [`MAX_LINE_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineTooLong;

/// Splits a body into frames.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about the parser's position")]
pub(super) struct FrameParser {
    line: Vec<u8>,
    /// The last byte was a carriage return that ended a line.
    after_carriage_return: bool,
    has_begun: bool,
    /// Data of an event that is not complete JSON yet.
    event_data: PartialJson,
    is_error_event: bool,
    /// Incomplete JSON outside of events.
    bare_json: PartialJson,
    /// Other text outside of events.
    other_text: String,
    /// The body has lines of an event stream.
    is_event_stream: bool,
    /// Number of bytes passed to the JSON parser.
    #[cfg(test)]
    parsed_bytes: usize,
}

/// Text that may become a JSON value.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about the text")]
struct PartialJson {
    text: String,
    /// Number of open brackets.
    depth: u32,
    in_string: bool,
    escaped: bool,
    starts_with_bracket: bool,
    /// All brackets matched, but the text was not valid JSON.
    is_invalid: bool,
}

impl PartialJson {
    fn push(&mut self, line: &str) {
        if self.text.is_empty() {
            self.starts_with_bracket = line.trim_start().starts_with(['{', '[']);
        } else {
            self.text.push('\n');
        }
        self.text.push_str(line);
        for byte in line.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = self.in_string,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns whether all brackets match; the text may still not be valid JSON.
    fn may_be_complete(&self) -> bool {
        self.starts_with_bracket && !self.is_invalid && self.depth == 0 && !self.in_string
    }
}

impl FrameParser {
    /// Adds bytes, and appends the frames that they complete.
    pub(super) fn push(&mut self, mut bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), LineTooLong> {
        while let Some(at) = bytes.iter().position(|b| *b == b'\n' || *b == b'\r') {
            let (before, rest) = bytes.split_at(at);
            let newline = rest.first() == Some(&b'\n');
            bytes = rest.get(1..).unwrap_or_default();
            // The line feed of a CR LF pair does not end another line.
            if newline && at == 0 && std::mem::take(&mut self.after_carriage_return) {
                continue;
            }
            self.after_carriage_return = !newline;
            self.line.extend_from_slice(before);
            self.end_line(frames)?;
        }
        if !bytes.is_empty() {
            self.after_carriage_return = false;
            self.line.extend_from_slice(bytes);
        }
        let held_len = self.line.len().max(self.event_data.text.len()).max(self.bare_json.text.len());
        if held_len > MAX_LINE_BYTES { Err(LineTooLong) } else { Ok(()) }
    }

    /// Ends the body. The last line counts if it is complete.
    pub(super) fn finish(&mut self, frames: &mut Vec<Frame>) -> Result<(), LineTooLong> {
        self.end_line(frames)?;
        self.dispatch_event(frames);
        self.discard_bare_json();
        Ok(())
    }

    /// Returns the text outside of events, for error messages.
    pub(super) fn other_text(&self) -> &str {
        &self.other_text
    }

    fn end_line(&mut self, frames: &mut Vec<Frame>) -> Result<(), LineTooLong> {
        let bytes = std::mem::take(&mut self.line);
        if bytes.len() > MAX_LINE_BYTES {
            return Err(LineTooLong);
        }
        let line = String::from_utf8_lossy(&bytes);
        let mut line = line.as_ref();
        if !std::mem::replace(&mut self.has_begun, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch_event(frames);
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            // Comments, and standard fields that replies do not use.
            "" | "id" | "retry" => self.is_event_stream = true,
            "event" => {
                self.is_event_stream = true;
                self.dispatch_event(frames);
                self.is_error_event = value.trim() == "error";
            }
            "data" => {
                self.is_event_stream = true;
                self.push_event_data(value, frames);
            }
            _ if !self.is_event_stream || !self.bare_json.is_empty() || line.starts_with(['{', '[']) => {
                self.push_bare_line(line, frames);
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds data of an event, and emits it as soon as it is complete, for servers that omit the blank line.
    fn push_event_data(&mut self, value: &str, frames: &mut Vec<Frame>) {
        if value.trim().eq_ignore_ascii_case("[done]") {
            self.dispatch_event(frames);
            frames.push(Frame::Done);
            return;
        }
        let is_first_line = self.event_data.is_empty();
        self.event_data.push(value);
        // Without brackets, only the first line can be a value by itself.
        if !(self.event_data.may_be_complete() || is_first_line && !self.event_data.starts_with_bracket) {
            return;
        }
        if let Some(json) = self.parse(&self.event_data.text.clone()) {
            self.event_data = PartialJson::default();
            frames.push(Frame::Json(json, std::mem::take(&mut self.is_error_event)));
        } else {
            self.event_data.is_invalid = true;
        }
    }

    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "tests count the work"))]
    fn parse(&mut self, text: &str) -> Option<Value> {
        #[cfg(test)]
        {
            self.parsed_bytes += text.len();
        }
        serde_json::from_str(text).ok()
    }

    fn dispatch_event(&mut self, frames: &mut Vec<Frame>) {
        let data = std::mem::take(&mut self.event_data);
        let error = std::mem::take(&mut self.is_error_event);
        let text = data.text.trim();
        if text.is_empty() {
            return;
        }
        let json = if data.is_invalid { None } else { self.parse(text) };
        match json {
            Some(json) => frames.push(Frame::Json(json, error)),
            None if error => frames.push(Frame::Json(Value::String(text.to_owned()), true)),
            // `data: ping` and the like only keep the connection alive.
            None if data.starts_with_bracket => frames.push(Frame::InvalidJson(text.to_owned())),
            None => self.keep_other_text(text),
        }
    }

    fn push_bare_line(&mut self, line: &str, frames: &mut Vec<Frame>) {
        if self.bare_json.is_empty() && !line.trim_start().starts_with(['{', '[']) {
            return self.keep_other_text(line);
        }
        self.bare_json.push(line);
        if !self.bare_json.may_be_complete() {
            return;
        }
        match self.parse(&self.bare_json.text.clone()) {
            Some(json @ Value::Object(_)) => {
                self.bare_json = PartialJson::default();
                frames.push(Frame::Json(json, false));
            }
            _ => self.discard_bare_json(),
        }
    }

    /// Treats incomplete or invalid JSON outside of events as other text.
    fn discard_bare_json(&mut self) {
        let open = std::mem::take(&mut self.bare_json);
        if !open.is_empty() {
            self.keep_other_text(&open.text);
        }
    }

    fn keep_other_text(&mut self, text: &str) {
        const MAX_OTHER_TEXT_BYTES: usize = 64 << 10;
        let remaining = MAX_OTHER_TEXT_BYTES.saturating_sub(self.other_text.len());
        if remaining > 0 {
            let end = (0..=remaining.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
            self.other_text.push_str(&text[..end.unwrap_or(0)]);
            self.other_text.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse_in_pieces(body: &[u8], size: usize) -> (Vec<Frame>, String) {
        let (mut parser, mut frames) = (FrameParser::default(), Vec::new());
        for piece in body.chunks(size) {
            parser.push(piece, &mut frames).unwrap();
        }
        parser.finish(&mut frames).unwrap();
        (frames, parser.other_text().to_owned())
    }

    #[test]
    fn frames_do_not_depend_on_how_a_body_is_cut() {
        let one = Frame::Json(json!({"a": 1}), false);
        let two = Frame::Json(json!({"b": "é€𝄞"}), false);
        let b = r#"{"b": "é€𝄞"}"#;
        let cases: Vec<(String, Vec<Frame>)> = vec![
            (
                format!("data: {{\"a\":1}}\n\ndata: {b}\n\ndata: [DONE]\n\n"),
                vec![one.clone(), two.clone(), Frame::Done],
            ),
            (
                format!("data:{{\"a\":1}}\r\n\r\ndata: {b}\r\n\r\ndata: [DONE]\r\n\r\n"),
                vec![one.clone(), two.clone(), Frame::Done],
            ),
            (format!("data:{{\"a\":1}}\r\rdata: {b}\r\r"), vec![one.clone(), two.clone()]),
            // No blank lines; a last line without a line end; a byte order mark.
            (
                format!("\u{feff}data: {{\"a\":1}}\ndata: {b}\ndata: [done]"),
                vec![one.clone(), two.clone(), Frame::Done],
            ),
            // An event over several lines, comments, other fields.
            (
                "id: 7\nretry: 10\n: alive\ndata: {\"a\":\ndata: 1}\nother\n\n: x\n\n".to_owned(),
                vec![one.clone()],
            ),
            (
                "event: error\ndata: {\"a\":1}\n\ndata: {\"a\":1}\n\n".to_owned(),
                vec![Frame::Json(json!({"a": 1}), true), one.clone()],
            ),
            ("event: error\ndata: it broke\n\n".to_owned(), vec![Frame::Json(json!("it broke"), true)]),
            ("data: ping\n\ndata: {\"a\":1\n\n".to_owned(), vec![Frame::InvalidJson("{\"a\":1".to_owned())]),
            // Not an event stream.
            ("{\"a\":1}".to_owned(), vec![one.clone()]),
            ("{\n  \"a\": 1\n}\n".to_owned(), vec![one.clone()]),
            (format!("{{\"a\":1}}\n{b}\n"), vec![one, two]),
            ("<html>\nno\n</html>".to_owned(), vec![]),
            (String::new(), vec![]),
        ];
        for (body, want) in &cases {
            for size in 1..=body.len().max(1) {
                assert_eq!(&parse_in_pieces(body.as_bytes(), size).0, want, "{body:?} in pieces of {size}");
            }
        }
        assert_eq!(parse_in_pieces(b"<html>\nno\n</html>", 3).1, "<html>\nno\n</html>\n");
    }

    #[test]
    fn invalid_utf8_affects_only_the_invalid_bytes() {
        let (found, _) = parse_in_pieces(b"data: {\"a\":\"x\xffy\"}\n\n", 4);
        assert_eq!(found, [Frame::Json(json!({"a": "x\u{fffd}y"}), false)]);
    }

    /// Regression: unfinished JSON in short lines was parsed again with each line, which took 49 seconds for 1 MB.
    #[test]
    fn work_is_linear_whatever_a_body_contains() {
        const SIZE: usize = MAX_LINE_BYTES - 100;
        let lines = |line: &str| line.repeat(SIZE / line.len());
        let bodies: Vec<(&str, String)> = vec![
            ("unfinished JSON", format!("{{\n{}", lines("\"a\": {}\n}\n{\n"))),
            ("unfinished JSON, every line a closing one", format!("{{{{{{\n{}", lines("{}}\n{{\n"))),
            ("an open string", format!("{{\"a\": \"\n{}", lines("}\n"))),
            ("only closing brackets", lines("}\n")),
            ("unfinished data", format!("data: {{\n{}", lines("data: {}\n"))),
            ("data that is not JSON", lines("data: }\n")),
            ("data that is words", lines("data: word\n")),
            ("complete JSON followed by other text", format!("data: {{}} x\n{}", lines("data: {}\n"))),
            ("deep", lines("[")),
            ("deep data", format!("data: {}", lines("["))),
            ("comments", lines(": alive\n")),
            ("empty lines", lines("\r\n")),
            ("spaces", lines(" ")),
            ("empty events", lines("data: {}\n\n")),
            ("text", lines("<html>\n")),
        ];
        for (name, body) in &bodies {
            let (mut parser, mut frames) = (FrameParser::default(), Vec::new());
            for piece in body.as_bytes().chunks(100) {
                parser.push(piece, &mut frames).unwrap();
            }
            parser.finish(&mut frames).unwrap();
            assert!(
                parser.parsed_bytes <= 2 * body.len(),
                "{name}: {} bytes parsed of {}",
                parser.parsed_bytes,
                body.len()
            );
            let kept = parser.other_text().len();
            assert!(kept <= (64 << 10) + 8, "{name}: {kept} bytes kept");
        }
    }

    #[test]
    fn endless_data_is_an_error() {
        for (begin, line) in [("data: {\n", "data: 1,\n"), ("{\n", "1,\n")] {
            let mut parser = FrameParser::default();
            parser.push(begin.as_bytes(), &mut Vec::new()).unwrap();
            let piece = line.repeat((1 << 20) / line.len());
            let failed_at = (0..20).find(|_| parser.push(piece.as_bytes(), &mut Vec::new()).is_err());
            assert!(failed_at.is_some(), "{begin}");
        }
    }

    #[test]
    fn endless_line_is_an_error() {
        let mut parser = FrameParser::default();
        let piece = vec![b'x'; 1 << 20];
        let failed_at = (0..10).find(|_| parser.push(&piece, &mut Vec::new()).is_err());
        assert_eq!(failed_at, Some(1));
    }
}
