//! From the bytes of a body to the JSON values in it. An event stream as the standard has it, and what servers make of it:
//! events without a blank line between them, JSON lines without `data:`, one plain JSON text in place of a stream.
//!
//! Lines are cut out of bytes and decoded one by one, so that a character may be cut between two pieces of the body, and a
//! byte that is no UTF-8 spoils itself alone.

use serde_json::Value;

/// The longest line. No honest piece of an answer comes near it.
pub(super) const LONGEST_LINE: usize = 4 << 20;

/// Something found in a body.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Frame {
    /// A JSON value; true when its event was called an error.
    Json(Value, bool),
    /// `[DONE]`.
    Done,
    /// Something that begins as JSON does and is none.
    Broken(String),
}

/// A line is longer than [`LONGEST_LINE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Cuts a body into frames.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about where the reading stands")]
pub(super) struct Framer {
    line: Vec<u8>,
    /// The last byte was a carriage return that ended a line.
    after_return: bool,
    begun: bool,
    /// Data of an event that is no whole JSON yet.
    data: String,
    error: bool,
    /// Text that belongs to no event.
    loose: String,
    /// The body had something of an event stream.
    events: bool,
}

impl Framer {
    /// Takes bytes; adds what they complete.
    pub(super) fn push(&mut self, mut bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), TooLong> {
        while let Some(at) = bytes.iter().position(|b| *b == b'\n' || *b == b'\r') {
            let (before, rest) = bytes.split_at(at);
            let newline = rest.first() == Some(&b'\n');
            bytes = rest.get(1..).unwrap_or_default();
            // The second half of a line end of two bytes ends no line of its own.
            if newline && at == 0 && std::mem::take(&mut self.after_return) {
                continue;
            }
            self.after_return = !newline;
            self.line.extend_from_slice(before);
            self.end_line(frames)?;
        }
        if !bytes.is_empty() {
            self.after_return = false;
            self.line.extend_from_slice(bytes);
        }
        if self.line.len() > LONGEST_LINE { Err(TooLong) } else { Ok(()) }
    }

    /// The body is over: what stands in its last line counts if it is whole.
    pub(super) fn end(&mut self, frames: &mut Vec<Frame>) -> Result<(), TooLong> {
        self.end_line(frames)?;
        self.dispatch(frames);
        Ok(())
    }

    /// What came outside of any event, for an error's words.
    pub(super) fn loose(&self) -> &str {
        &self.loose
    }

    fn end_line(&mut self, frames: &mut Vec<Frame>) -> Result<(), TooLong> {
        let bytes = std::mem::take(&mut self.line);
        if bytes.len() > LONGEST_LINE {
            return Err(TooLong);
        }
        let line = String::from_utf8_lossy(&bytes);
        let mut line = line.as_ref();
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(frames);
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            // Comments and what else the standard knows and an answer does not need.
            "" | "id" | "retry" => self.events = true,
            "event" => {
                self.events = true;
                self.dispatch(frames);
                self.error = value.trim() == "error";
            }
            "data" => {
                self.events = true;
                self.data(value, frames);
            }
            _ if !self.events || line.starts_with(['{', '[']) => self.loose_line(line, frames),
            _ => {}
        }
        Ok(())
    }

    /// A piece of data is handed on as soon as it is whole, for servers that forget the blank line.
    fn data(&mut self, value: &str, frames: &mut Vec<Frame>) {
        if value.trim().eq_ignore_ascii_case("[done]") {
            self.dispatch(frames);
            frames.push(Frame::Done);
            return;
        }
        if !self.data.is_empty() {
            self.data.push('\n');
        }
        self.data.push_str(value);
        if let Ok(json) = serde_json::from_str::<Value>(&self.data) {
            self.data.clear();
            frames.push(Frame::Json(json, std::mem::take(&mut self.error)));
        }
    }

    fn dispatch(&mut self, frames: &mut Vec<Frame>) {
        let data = std::mem::take(&mut self.data);
        let error = std::mem::take(&mut self.error);
        let text = data.trim();
        if text.is_empty() {
            return;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(json) => frames.push(Frame::Json(json, error)),
            Err(_) if error => frames.push(Frame::Json(Value::String(text.to_owned()), true)),
            // `data: ping` and the like are signs of life.
            Err(_) if text.starts_with(['{', '[']) => frames.push(Frame::Broken(text.to_owned())),
            Err(_) => self.keep_loose(text),
        }
    }

    fn loose_line(&mut self, line: &str, frames: &mut Vec<Frame>) {
        if let Ok(json @ Value::Object(_)) = serde_json::from_str::<Value>(line) {
            frames.push(Frame::Json(json, false));
            return;
        }
        self.keep_loose(line);
        if line.trim_end().ends_with('}')
            && let Ok(json @ Value::Object(_)) = serde_json::from_str::<Value>(&self.loose)
        {
            self.loose.clear();
            frames.push(Frame::Json(json, false));
        }
    }

    fn keep_loose(&mut self, text: &str) {
        const KEPT: usize = 64 << 10;
        if self.loose.len() + text.len() < KEPT {
            self.loose.push_str(text);
            self.loose.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn frames(body: &[u8], size: usize) -> (Vec<Frame>, String) {
        let (mut framer, mut found) = (Framer::default(), Vec::new());
        for piece in body.chunks(size) {
            framer.push(piece, &mut found).unwrap();
        }
        framer.end(&mut found).unwrap();
        (found, framer.loose().to_owned())
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
            ("data: ping\n\ndata: {\"a\":1\n\n".to_owned(), vec![Frame::Broken("{\"a\":1".to_owned())]),
            // No event stream at all.
            ("{\"a\":1}".to_owned(), vec![one.clone()]),
            ("{\n  \"a\": 1\n}\n".to_owned(), vec![one.clone()]),
            (format!("{{\"a\":1}}\n{b}\n"), vec![one, two]),
            ("<html>\nno\n</html>".to_owned(), vec![]),
            (String::new(), vec![]),
        ];
        for (body, want) in &cases {
            for size in 1..=body.len().max(1) {
                assert_eq!(&frames(body.as_bytes(), size).0, want, "{body:?} in pieces of {size}");
            }
        }
        assert_eq!(frames(b"<html>\nno\n</html>", 3).1, "<html>\nno\n</html>\n");
    }

    #[test]
    fn a_byte_that_is_no_utf8_spoils_itself_alone() {
        let (found, _) = frames(b"data: {\"a\":\"x\xffy\"}\n\n", 4);
        assert_eq!(found, [Frame::Json(json!({"a": "x\u{fffd}y"}), false)]);
    }

    #[test]
    fn a_line_without_an_end_is_given_up() {
        let mut framer = Framer::default();
        let piece = vec![b'x'; 1 << 20];
        let ended = (0..10).find(|_| framer.push(&piece, &mut Vec::new()).is_err());
        assert_eq!(ended, Some(4));
    }
}
