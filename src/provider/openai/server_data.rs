//! What came from a server, as types whose text can only be had redacted: whoever cuts it, joins it or shows it has no secret in
//! his hands. A new field of an answer is read from these too and needs no thought of its own.

use super::redactor::{FRAGMENT_LEN, Redactor};
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Deref;

/// JSON from a server. It reads as its redacted self; a stream's text, which may hold a part of a secret, is had as [`Piece`]s.
#[derive(Debug)]
pub(super) struct ServerJson {
    redacted: Value,
    raw: Value,
}

impl Deref for ServerJson {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.redacted
    }
}

impl ServerJson {
    /// The same JSON for whoever collects a stream's text.
    pub(super) fn unredacted(&self) -> UnredactedJson<'_> {
        UnredactedJson(&self.raw)
    }
}

/// JSON whose texts can only be taken as [`Piece`]s.
#[derive(Clone, Copy)]
pub(super) struct UnredactedJson<'a>(&'a Value);

impl<'a> UnredactedJson<'a> {
    /// The value of a field.
    pub(super) fn get(self, name: &str) -> Option<Self> {
        self.0.get(name).map(Self)
    }

    /// The elements of a list; of anything else there are none.
    pub(super) fn elements(self) -> impl Iterator<Item = Self> + 'a {
        self.0.as_array().into_iter().flatten().map(Self)
    }

    /// The text of a string.
    pub(super) fn text(self) -> Option<UnredactedText> {
        self.0.as_str().map(UnredactedText::new)
    }
}

/// A piece of a stream's text. Only a `StreamRedactor` gives it back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnredactedText(String);

impl UnredactedText {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Adds another piece.
    pub(super) fn push(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As it came; for the `StreamRedactor` alone.
    pub(super) fn unredacted(&self) -> &str {
        &self.0
    }
}

/// A redacted text of a server: the body of an error, a line that is no JSON.
#[derive(Clone, Debug)]
pub(super) struct RedactedText(String);

impl Deref for RedactedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl RedactedText {
    /// An error in JSON with these words, which are redacted already.
    pub(super) fn from_error_message(words: &str) -> Self {
        Self(serde_json::json!({"error": {"message": words}}).to_string())
    }
}

/// The headers of an answer by their names in small letters, redacted.
pub(super) type Headers = BTreeMap<String, String>;

impl Redactor {
    /// Takes JSON in.
    pub(super) fn redact_json(&self, raw: Value) -> ServerJson {
        ServerJson { redacted: self.redact_value(&raw), raw }
    }

    /// Takes a text in, JSON or not.
    pub(super) fn redact_body(&self, bytes: &[u8]) -> RedactedText {
        let text = String::from_utf8_lossy(bytes);
        // A secret may be escaped in JSON in ways that a look at the text alone does not resolve.
        let json = serde_json::from_str::<Value>(text.trim());
        RedactedText(json.map_or_else(|_| self.redact(&text), |value| self.redact_value(&value).to_string()))
    }

    /// Takes headers in; one that is no text is left away.
    pub(super) fn redact_headers(&self, raw: &HeaderMap) -> Headers {
        let text = |value: &[u8]| self.redact(&String::from_utf8_lossy(value));
        raw.iter().map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes()))).collect()
    }

    fn redact_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact(text)),
            Value::Array(all) => all.iter().map(|v| self.redact_value(v)).collect(),
            Value::Object(all) => all.iter().map(|(k, v)| (self.redact(k), self.redact_value(v))).collect(),
            // A number can be a key too; one of fewer digits is a count.
            Value::Number(number) if number.to_string().len() >= FRAGMENT_LEN => {
                let text = number.to_string();
                let clean = self.redact(&text);
                if clean == text { value.clone() } else { Value::String(clean) }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}
