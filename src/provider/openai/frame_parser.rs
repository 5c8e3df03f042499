//! From the bytes of a body to the JSON values in it. An event stream as the standard has it, and what servers make of it:
//! events without a blank line between them, JSON lines without `data:`, one plain JSON text in place of a stream.
//!
//! Lines are cut out of bytes and decoded one by one, so that a character may be cut between two pieces of the body, and a
//! byte that is no UTF-8 spoils itself alone.
//!
//! The work is linear in the body's length, whatever it holds: JSON over several lines is parsed once, when its brackets
//! match, and each byte is looked at once to find that out.

use serde_json::Value;

/// The longest line. No honest piece of an answer comes near it; longer ones would take too long to read in one go.
pub(super) const MAX_LINE_BYTES: usize = 1 << 20;

/// Something found in a body.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Frame {
    /// A JSON value; true when its event was called an error.
    Json(Value, bool),
    /// `[DONE]`.
    Done,
    /// Something that begins as JSON does and is none.
    InvalidJson(String),
}

/// A line, or JSON over several lines, is longer than [`LONGEST_LINE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineTooLong;

/// Cuts a body into frames.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about where the reading stands")]
pub(super) struct FrameParser {
    line: Vec<u8>,
    /// The last byte was a carriage return that ended a line.
    after_carriage_return: bool,
    has_begun: bool,
    /// Data of an event that is no whole JSON yet.
    event_data: PartialJson,
    is_error_event: bool,
    /// JSON outside of any event, as far as it has come.
    bare_json: PartialJson,
    /// Other text that belongs to no event.
    other_text: String,
    /// The body had something of an event stream.
    is_event_stream: bool,
    /// Bytes that were parsed.
    #[cfg(test)]
    parsed_bytes: usize,
}

/// Text that may become a JSON value.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about the text")]
struct PartialJson {
    text: String,
    /// Brackets that are open.
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// It begins with a bracket.
    starts_with_bracket: bool,
    /// Its brackets matched, and it was no JSON.
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

    /// All brackets match; whether it is JSON is not known yet.
    fn may_be_complete(&self) -> bool {
        self.starts_with_bracket && !self.is_invalid && self.depth == 0 && !self.in_string
    }
}

impl FrameParser {
    /// Takes bytes; adds what they complete.
    pub(super) fn push(&mut self, mut bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), LineTooLong> {
        while let Some(at) = bytes.iter().position(|b| *b == b'\n' || *b == b'\r') {
            let (before, rest) = bytes.split_at(at);
            let newline = rest.first() == Some(&b'\n');
            bytes = rest.get(1..).unwrap_or_default();
            // The second half of a line end of two bytes ends no line of its own.
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
        let held = self.line.len().max(self.event_data.text.len()).max(self.bare_json.text.len());
        if held > MAX_LINE_BYTES { Err(LineTooLong) } else { Ok(()) }
    }

    /// The body is over: what stands in its last line counts if it is whole.
    pub(super) fn finish(&mut self, frames: &mut Vec<Frame>) -> Result<(), LineTooLong> {
        self.end_line(frames)?;
        self.dispatch_event(frames);
        self.discard_bare_json();
        Ok(())
    }

    /// What came outside of any event, for an error's words.
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
            // Comments and what else the standard knows and an answer does not need.
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

    /// A piece of data is handed on as soon as it is whole, for servers that forget the blank line.
    fn push_event_data(&mut self, value: &str, frames: &mut Vec<Frame>) {
        if value.trim().eq_ignore_ascii_case("[done]") {
            self.dispatch_event(frames);
            frames.push(Frame::Done);
            return;
        }
        let first = self.event_data.is_empty();
        self.event_data.push(value);
        // Without brackets only the first line can be a value by itself.
        if !(self.event_data.may_be_complete() || first && !self.event_data.starts_with_bracket) {
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
            // `data: ping` and the like are signs of life.
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

    /// What looked like JSON outside of events and is none.
    fn discard_bare_json(&mut self) {
        let open = std::mem::take(&mut self.bare_json);
        if !open.is_empty() {
            self.keep_other_text(&open.text);
        }
    }

    fn keep_other_text(&mut self, text: &str) {
        const MAX_OTHER_TEXT_BYTES: usize = 64 << 10;
        let room = MAX_OTHER_TEXT_BYTES.saturating_sub(self.other_text.len());
        if room > 0 {
            let end = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
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
        let (mut framer, mut found) = (FrameParser::default(), Vec::new());
        for piece in body.chunks(size) {
            framer.push(piece, &mut found).unwrap();
        }
        framer.finish(&mut found).unwrap();
        (found, framer.other_text().to_owned())
    }

    #[test]
    fn the_same_frames_come_of_a_body_however_it_is_cut() {
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
            // No blank lines; a last line without its end; a mark at the beginning.
            (
                format!("\u{feff}data: {{\"a\":1}}\ndata: {b}\ndata: [done]"),
                vec![one.clone(), two.clone(), Frame::Done],
            ),
            // One event in several lines, comments, other fields.
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
            // No event stream at all.
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
    fn a_byte_that_is_no_utf8_spoils_itself_alone() {
        let (found, _) = parse_in_pieces(b"data: {\"a\":\"x\xffy\"}\n\n", 4);
        assert_eq!(found, [Frame::Json(json!({"a": "x\u{fffd}y"}), false)]);
    }

    /// 63 kB of JSON that was never finished, in short lines, were parsed anew with each line: 49 seconds for 1 MB.
    #[test]
    fn the_work_is_linear_whatever_a_body_holds() {
        const SIZE: usize = MAX_LINE_BYTES - 100;
        let lines = |line: &str| line.repeat(SIZE / line.len());
        let bodies: Vec<(&str, String)> = vec![
            ("unfinished JSON", format!("{{\n{}", lines("\"a\": {}\n}\n{\n"))),
            ("unfinished JSON, every line a closing one", format!("{{{{{{\n{}", lines("{}}\n{{\n"))),
            ("an open string", format!("{{\"a\": \"\n{}", lines("}\n"))),
            ("lines of nothing but closing brackets", lines("}\n")),
            ("unfinished data", format!("data: {{\n{}", lines("data: {}\n"))),
            ("data that is no JSON", lines("data: }\n")),
            ("data that is words", lines("data: word\n")),
            ("whole and spoilt", format!("data: {{}} x\n{}", lines("data: {}\n"))),
            ("deep", lines("[")),
            ("deep data", format!("data: {}", lines("["))),
            ("comments", lines(": alive\n")),
            ("empty lines", lines("\r\n")),
            ("spaces", lines(" ")),
            ("empty events", lines("data: {}\n\n")),
            ("text", lines("<html>\n")),
        ];
        for (what, body) in &bodies {
            let (mut framer, mut found) = (FrameParser::default(), Vec::new());
            for piece in body.as_bytes().chunks(100) {
                framer.push(piece, &mut found).unwrap();
            }
            framer.finish(&mut found).unwrap();
            assert!(
                framer.parsed_bytes <= 2 * body.len(),
                "{what}: {} bytes parsed of {}",
                framer.parsed_bytes,
                body.len()
            );
            let loose = framer.other_text().len();
            assert!(loose <= (64 << 10) + 8, "{what}: {loose} bytes kept");
        }
    }

    #[test]
    fn data_without_an_end_is_given_up() {
        for (begin, line) in [("data: {\n", "data: 1,\n"), ("{\n", "1,\n")] {
            let mut framer = FrameParser::default();
            framer.push(begin.as_bytes(), &mut Vec::new()).unwrap();
            let piece = line.repeat((1 << 20) / line.len());
            let ended = (0..20).find(|_| framer.push(piece.as_bytes(), &mut Vec::new()).is_err());
            assert!(ended.is_some(), "{begin}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_given_up() {
        let mut framer = FrameParser::default();
        let piece = vec![b'x'; 1 << 20];
        let ended = (0..10).find(|_| framer.push(&piece, &mut Vec::new()).is_err());
        assert_eq!(ended, Some(1));
    }
}
